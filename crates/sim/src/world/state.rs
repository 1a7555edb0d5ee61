//! State of a running network: pending events, and the accounts that the end of a packet updates.

use super::flows::connections::Connections;
use super::flows::{Flow, Supply};
use super::nodes::Node;
use super::notes::Posted;
use super::outside::Arrival;
use super::routing::Routing;
use super::steering::Asked;
use super::watch::{Watch, Witness};
use super::wired::Wire;
use crate::engine::{Arena, EventQueue, FlowId, Handle, List, NodeId, PortId, Slot, WireId};
use crate::mac::{Conventions, Finished, Frame};
use crate::net::{Load, LossCause, Packet, Waiting};
use crate::radio::{self, Medium};
use crate::record::{Distances, Overflows, Recorder};
use crate::trace::TraceEventKind;
use std::collections::VecDeque;
use units::{Frequency, Instant};

/// A network and its state at one moment.
pub struct World {
    pub(crate) now: Instant,
    /// End of the current call of [`advance`](Self::advance).
    pub(crate) until: Instant,
    pub(crate) end: Instant,
    pub(crate) warmup: Instant,
    pub(crate) events: EventQueue<Event>,
    pub(crate) handled: u64,
    pub(crate) medium: Medium<Frame>,
    pub(crate) rules: Conventions,
    pub(crate) nodes: List<NodeId, Node>,
    pub(crate) flows: List<FlowId, Flow>,
    pub(crate) routing: Routing,
    pub(crate) packets: Arena<Packet>,
    pub(crate) connections: Connections,
    /// Notes in flight.
    pub(crate) posted: Posted,
    /// Two per link, one for each direction.
    pub(crate) wires: List<WireId, Wire>,
    /// Decisions that an outside program has to make.
    pub(crate) asked: Vec<Asked>,
    /// Real packets that have arrived and that nobody has taken yet.
    pub(crate) arrivals: VecDeque<Arrival>,
    pub(crate) broadcasts_in_air: u64,
    pub(crate) recorder: Option<Recorder>,
    /// True if results contain distributions of times.
    pub(crate) distributions: bool,
    /// True if results contain packets by their number of hops.
    pub(crate) hop_counts: bool,
    /// How far nodes are apart, if receptions are recorded by distance.
    pub(crate) distances: Option<Box<Distances>>,
    /// Overflows of queues, if recorded.
    pub(crate) overflows: Option<Box<Overflows>>,
    pub(crate) last_step: Instant,
    /// Observers; mostly none.
    pub(crate) watch: Option<Box<Watch>>,
    /// True if a frame concerns bystanders, too: they read its key (T-MAC) or its source route (DSR), or are observed.
    pub(crate) overheard: bool,
    pub(crate) frequency: Frequency,
    /// Scratch space for the data frames of an aggregate that have arrived: sequence numbers and packets.
    pub(crate) numbered: Vec<(u16, Handle)>,
    /// Positions of the data frames in an aggregate.
    pub(crate) laid_out: Vec<radio::Mpdu>,
    /// Stations that could share the PPDU that is due.
    pub(crate) sharers: Vec<u32>,
    /// Data frames that a station is done with.
    pub(crate) done_with: Vec<Finished>,
}

impl World {
    /// Simulated time that has passed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// True at the end of the run.
    pub fn finished(&self) -> bool {
        self.now >= self.end
    }

    /// Accounts for a packet that ends at `node`.
    pub(crate) fn accounts(&mut self, node: NodeId) -> Accounts<'_> {
        let Self { packets, connections, flows, routing, overflows, watch, now, .. } = self;
        Accounts { packets, connections, flows, routing, overflows, witness: Witness { watch, now: *now, node } }
    }

    /// A node, the rules of its MAC, and the accounts for packets that its egress drops.
    #[inline]
    pub(crate) fn node_and_accounts(&mut self, node: NodeId) -> (&mut Node, &Conventions, Accounts<'_>) {
        let Self { nodes, rules, packets, connections, flows, routing, overflows, watch, now, .. } = self;
        let witness = Witness { watch, now: *now, node };
        let accounts = Accounts { packets, connections, flows, routing, overflows, witness };
        (&mut nodes[node], rules, accounts)
    }
}

/// Kind of event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A source makes a packet, or begins a transfer.
    Emit { flow: FlowId },
    /// A saturated flow starts.
    Saturate { flow: FlowId },
    /// A saturated or greedy flow stops.
    Cease { flow: FlowId },
    /// A timer of a connection expires, unless it has moved.
    Timer { connection: Slot },
    /// A station's deadline, unless it has moved.
    Deadline { node: NodeId },
    /// The front of a frame reaches its `listener`-th listener, and perhaps more.
    Front { of: Handle, listener: u32 },
    /// All listeners have read the colour of a frame.
    Colour { of: Handle },
    /// The sender has sent all of a frame.
    Sent { of: Handle },
    /// The tail of a frame leaves its `listener`-th listener, and perhaps more.
    Tail { of: Handle, listener: u32 },
    /// The interval of the controller of a node's port is over.
    Control { node: NodeId, port: PortId },
    /// A port that held its packets back may let one go, unless that has moved.
    Ready { node: NodeId, port: PortId },
    /// The last bit of a packet has been sent over a wired link.
    WireSent { wire: WireId },
    /// The last bit of the first packet under way on a wired link has arrived.
    WireArrives { wire: WireId },
    /// The deadline of a node's routing protocol, unless it has moved.
    Route { node: NodeId },
    /// The random delay of a routing message is over.
    Message { node: NodeId, packet: Handle },
    /// What the gate of a flow waits for comes or fails to, unless it has moved.
    Gate { flow: FlowId },
    /// A note of a node is due.
    Note { node: NodeId },
    /// A station that can sleep has been idle for long, or wakes for a beacon, unless that has moved.
    PowerSave { node: NodeId },
    /// A node comes or goes.
    Presence { node: NodeId },
    /// A step of the time series ends.
    Step,
    /// The warm-up ends.
    WarmedUp,
}

/// Accounts that a packet's end changes.
pub(crate) struct Accounts<'a> {
    pub(crate) packets: &'a mut Arena<Packet>,
    pub(crate) connections: &'a mut Connections,
    pub(crate) flows: &'a mut List<FlowId, Flow>,
    pub(crate) routing: &'a mut Routing,
    pub(crate) overflows: &'a mut Option<Box<Overflows>>,
    pub(crate) witness: Witness<'a>,
}

impl Accounts<'_> {
    /// Discards a packet that waits for a queue or a route.
    pub(crate) fn discard(&mut self, handle: Handle, why: LossCause) {
        let packet = self.packets.remove(handle);
        if let Load::Flow(flow) = packet.load {
            self.flows[flow].waiting -= u32::from(packet.is_fresh());
        }
        self.lose(&packet, why);
        self.release(&packet);
    }

    /// A function that discards packets dropped by a port.
    #[inline]
    pub(crate) fn dropping(&mut self) -> impl FnMut(Waiting) {
        |dropped| {
            if self.overflows.is_some() {
                self.overflow(dropped.packet);
            }
            self.discard(dropped.packet, LossCause::Queue);
        }
    }

    /// Records a packet without room in a queue as part of an overflow, if it is a flow's.
    fn overflow(&mut self, handle: Handle) {
        let Packet { load, segment, .. } = self.packets.get(handle);
        let (Some(overflows), Load::Flow(flow)) = (self.overflows.as_mut(), load) else { return };
        if self.flows[flow].role.is_described() {
            let window = segment.map(|segment| self.connections.window(segment));
            overflows.hit(self.witness.node, self.witness.now, flow, window);
        }
    }

    /// Counts a packet as lost.
    pub(crate) fn lose(&mut self, packet: &Packet, why: LossCause) {
        self.witness.saw(|| TraceEventKind::Dropped(self.connections.picture(packet), why));
        match (packet.load, &mut *self.routing) {
            (Load::Flow(flow), _) => {
                let bare = packet.segment.is_some_and(|segment| !self.connections.has_data(segment));
                let Flow { record, supply, .. } = &mut self.flows[flow];
                if let Supply::Outside(passage) = supply {
                    passage.forget(packet);
                }
                record.lose(why, bare);
                let losses = record.transport.as_mut().and_then(|transport| transport.losses.as_mut());
                if let (Some(losses), Some(segment)) = (losses, packet.segment) {
                    let (connection, start) = self.connections.origin(segment);
                    losses.lose(connection, start, why);
                }
            }
            (Load::Routing { .. }, routing) => routing.ledger().lost += 1,
            (Load::Note(_) | Load::Null { .. }, _) => unreachable!("signals have accounts of their own"),
        }
    }

    /// Ends a broadcast packet that has passed all listeners.
    pub(crate) fn finish_broadcast(&mut self, handle: Handle) {
        let packet = self.packets.remove(handle);
        match (packet.load, &mut *self.routing) {
            (Load::Flow(flow), _) => self.flows[flow].record.ledger.finished += 1,
            (Load::Routing { .. }, routing) => routing.ledger().finished += 1,
            (Load::Note(_) | Load::Null { .. }, _) => unreachable!("signals have accounts of their own"),
        }
        self.release(&packet);
    }

    /// Frees a packet with its message, or with its segment if it was the last to carry it.
    #[inline]
    pub(crate) fn release(&mut self, packet: &Packet) {
        self.connections.packet_gone(packet.segment);
        let Load::Routing { message, .. } = packet.load else { return };
        match &mut *self.routing {
            Routing::Aodv(mesh) => {
                let message = mesh.messages.remove(message);
                mesh.out.lists.release(&message);
            }
            Routing::Dsr(mesh) => drop(mesh.messages.remove(message)),
            Routing::Static(_) => {}
        }
    }
}
