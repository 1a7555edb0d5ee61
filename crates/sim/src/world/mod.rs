//! A network that runs: it joins sources, queues, controllers, stations and the air, and hands events round.

mod build;
mod error;
mod handlers;
mod outcome;
mod state;
mod trace;

pub use error::{BuildError, Unknown};

use crate::config::Network;
use crate::egress::{Egress, Port};
use crate::engine::{Arena, EventQueue, FlowId, Handle, List, NodeId, Slot, WireId};
use crate::mac::{BROADCAST, Conventions, Finished, Frame, Mpdu, Station};
use crate::net::{Load, Packet, Transit, network_bytes};
use crate::radio::Medium;
use crate::record::{FlowRecord, Identity, NodeRecord, Recorder};
use crate::results::Outcome;
use crate::trace::What;
use crate::traffic::Emission;
use handlers::routing::Routing;
use handlers::transport::{Role, Supply};
use handlers::wired::Wire;
use state::connections::Connections;
use trace::Witness;
use units::{Bytes, Duration, Frequency, Instant};

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Event {
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
    /// The sender has sent all of a frame.
    Sent { of: Handle },
    /// The tail of a frame leaves its `listener`-th listener, and perhaps more.
    Tail { of: Handle, listener: u32 },
    /// The interval of the controller of a node's port is over.
    Control { node: NodeId, port: u32 },
    /// A port that held its packets back may let one go, unless that has moved.
    Ready { node: NodeId, port: u32 },
    /// The last bit of a packet has been sent over a wired link.
    WireSent { wire: WireId },
    /// The last bit of a packet has arrived over a wired link.
    WireArrives { wire: WireId, packet: Handle },
    /// The deadline of a node's routing protocol, unless it has moved.
    Route { node: NodeId },
    /// The random delay of a routing message is over.
    Message { node: NodeId, packet: Handle },
    /// A step of the time series is over.
    Step,
    /// Results count from here.
    WarmedUp,
}

/// A node: its station, its egress, and what was counted.
struct Node {
    name: String,
    access_point: bool,
    station: Station,
    /// When the earliest pending `Deadline` event of the station fires; later ones are stale.
    armed: Instant,
    egress: Egress,
    /// By port: saturated flows that begin there, while they last, with their payload. A packet that leaves is replaced at
    /// once, one that is discarded with the next that leaves.
    saturated: Vec<Vec<(FlowId, Bytes)>>,
    /// By port: when the earliest pending `Ready` event fires; later ones are stale.
    ready: Vec<Instant>,
    /// Ports of the nodes before this one.
    ports_before: usize,
    record: NodeRecord,
}

/// A flow: what it sends, and what was counted.
struct Flow {
    identity: Identity,
    from: NodeId,
    /// [`BROADCAST`] for all in range.
    to: u32,
    /// The index of its access category.
    category: u8,
    role: Role,
    supply: Supply,
    /// Its packets that wait, for a route or at a port, at the node where it begins.
    waiting: u32,
    record: FlowRecord,
}

/// How many packets of a saturated flow wait at its source: one to hand over and one behind it.
const SATURATION: u32 = 2;

/// So many events take a millisecond or a few.
const A_LITTLE: u64 = 4096;

/// A network and its state at a moment.
pub struct World {
    now: Instant,
    /// Where the current call of [`advance`](Self::advance) ends.
    until: Instant,
    end: Instant,
    warmup: Instant,
    events: EventQueue<Event>,
    handled: u64,
    medium: Medium<Frame>,
    rules: Conventions,
    nodes: List<NodeId, Node>,
    flows: List<FlowId, Flow>,
    routing: Routing,
    packets: Arena<Packet>,
    connections: Connections,
    /// Two a link, one a direction.
    wires: List<WireId, Wire>,
    broadcasts_in_air: u64,
    recorder: Option<Recorder>,
    /// Results tell how times are distributed.
    distributions: bool,
    last_step: Instant,
    /// What is watched; mostly nothing.
    watch: Option<Box<trace::Watch>>,
    frequency: Frequency,
    /// Scratch space for the frames of an aggregate.
    mpdus: Vec<Mpdu>,
    /// Where they lie in it.
    laid_out: Vec<crate::radio::Mpdu>,
}

impl World {
    /// Builds a network and prepares its run.
    ///
    /// # Errors
    /// When the description contradicts itself or the standard; the error names the key.
    pub fn new(network: &Network, seed: u64) -> Result<Self, BuildError> {
        build::build(network, seed)
    }

    /// Simulated time that has passed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Has it run to its end?
    pub fn finished(&self) -> bool {
        self.now >= self.end
    }

    /// Runs on for `span` of simulated time, but not beyond the end. The results do not depend on the spans.
    pub fn advance(&mut self, span: Duration) {
        self.handle_until((self.now + span).min(self.end), u64::MAX);
    }

    /// Runs on for some milliseconds of real time: to the end, but for a few thousand events at most. They are counted
    /// because any number of them may share a moment of simulated time.
    pub fn advance_a_little(&mut self) {
        self.handle_until(self.end, self.handled + A_LITTLE);
    }

    /// Handles the events before `until`, until so many have been handled since the start.
    fn handle_until(&mut self, until: Instant, most: u64) {
        self.until = until;
        while self.events.next_time().is_some_and(|time| time < self.until)
            && let Some((now, event)) = self.events.pop()
        {
            self.now = now;
            self.handled += 1;
            match event {
                Event::Emit { flow } => self.emit(flow),
                Event::Saturate { flow } => self.saturate(flow),
                Event::Cease { flow } => self.cease(flow),
                Event::Timer { connection } => self.timer(connection),
                Event::Deadline { node } => self.deadline(node),
                Event::Front { of, listener } => self.front(of, listener),
                Event::Sent { of } => self.sent(of),
                Event::Tail { of, listener } => self.tail(of, listener),
                Event::Control { node, port } => self.control(node, port),
                Event::Ready { node, port } => self.ready(node, port),
                Event::WireSent { wire } => self.wire_sent(wire),
                Event::WireArrives { wire, packet } => self.wire_arrives(wire, packet),
                Event::Route { node } => self.routing_deadline(node),
                Event::Message { node, packet } => self.delay_ends(node, packet),
                Event::Step => self.step(),
                Event::WarmedUp => self.restart_statistics(),
            }
            if self.handled >= most {
                return;
            }
        }
        self.now = self.until;
    }

    /// Runs to the end and gives the results.
    pub fn finish(mut self) -> Outcome {
        while !self.finished() {
            self.advance(Duration::MAX);
        }
        outcome::outcome(self)
    }

    /// A source makes a packet.
    fn emit(&mut self, flow: FlowId) {
        let Supply::Source(source) = &mut self.flows[flow].supply else { return self.begin_transfer(flow) };
        let Some(Emission { payload, .. }) = source.next() else { return };
        source.advance();
        if let Some(next) = source.next() {
            self.events.push(next.at, Event::Emit { flow });
        }
        let from = self.flows[flow].from;
        self.make_packet(flow, payload);
        self.serve(from);
    }

    /// A saturated flow starts.
    fn saturate(&mut self, flow: FlowId) {
        self.fill(flow);
        self.serve(self.flows[flow].from);
    }

    /// The first packets of a saturated flow join the port; from now on it asks for more.
    fn fill(&mut self, flow: FlowId) {
        let Flow { from, supply: Supply::Saturated { payload, .. }, .. } = self.flows[flow] else { return };
        let port = self.first_port(flow);
        self.nodes[from].saturated[port].push((flow, payload));
        (0..SATURATION).for_each(|_| self.make_packet(flow, payload));
    }

    /// A saturated or greedy flow stops; what waits is still sent.
    fn cease(&mut self, flow: FlowId) {
        let Flow { from, role, .. } = self.flows[flow];
        if matches!(role, Role::Stream { .. }) {
            return self.close_stream(flow);
        }
        let port = self.first_port(flow);
        self.nodes[from].saturated[port].retain(|&(other, _)| other != flow);
    }

    /// A new packet of a flow sets out from its source.
    fn make_packet(&mut self, flow: FlowId, payload: Bytes) {
        let record = &mut self.flows[flow].record;
        record.sent += 1;
        record.offered += payload;
        self.launch(flow, Packet::new(Load::Flow(flow), self.now, network_bytes(payload)));
    }

    /// A packet of a flow sets out from where the flow begins.
    #[inline]
    fn launch(&mut self, flow: FlowId, packet: Packet) {
        let Flow { from, waiting, record, .. } = &mut self.flows[flow];
        #[expect(clippy::cast_possible_truncation, reason = "a number in a trace may come round again")]
        let serial = record.ledger.made as u32;
        record.ledger.made += 1;
        *waiting += 1;
        let from = *from;
        self.route(from, None, Packet { serial, ..packet });
    }

    /// Sees to it that an event comes at the station's deadline. An event that is already pending before it will do:
    /// when it comes it is set again, so that a back-off that freezes often costs no event each time.
    #[inline]
    fn arm(&mut self, node: NodeId) {
        let Node { station, armed, .. } = &mut self.nodes[node];
        if station.deadline < *armed {
            *armed = station.deadline;
            self.events.push(station.deadline, Event::Deadline { node });
        }
    }

    /// A `Deadline` event of a station has come.
    fn deadline(&mut self, node: NodeId) {
        let Node { station, armed, .. } = &mut self.nodes[node];
        if *armed != self.now {
            return;
        }
        *armed = Instant::NEVER;
        if station.deadline > self.now {
            self.arm(node);
        } else {
            self.act(node);
        }
    }

    /// Sees to the frames that a station is done with.
    #[inline]
    fn finish_frames(&mut self, node: NodeId) {
        while let Some(finished) = self.nodes[node].station.next_finished() {
            self.finish_frame(node, finished);
        }
    }

    /// A station is done with a data frame.
    fn finish_frame(&mut self, node: NodeId, finished: Finished) {
        let mut next = Some(finished.packet);
        while let Some(handle) = next {
            next = self.packets.get(handle).transit.next;
            self.finish_packet(node, handle, finished);
        }
    }

    /// A station is done with a packet.
    fn finish_packet(&mut self, node: NodeId, handle: Handle, finished: Finished) {
        let Finished { to, category, delivered, .. } = finished;
        let Transit { waited, taken, expected, .. } = self.packets.get(handle).transit;
        let service = self.now.since(taken);
        let Node { egress, record, .. } = &mut self.nodes[node];
        record.service.record(service);
        record.delivered += u64::from(delivered && to != BROADCAST);
        record.given_up += u64::from(!delivered);
        if to != BROADCAST {
            record.hops.to(to).complete(delivered, waited, service);
        }
        let port = egress.port_to(to, category);
        self.complete(node, port, waited, service, expected);
        if delivered {
            let packet = self.packets.get(handle);
            let Self { connections, watch, now, .. } = self;
            Witness { watch, now: *now, node }.saw(|| What::Acknowledged(connections.picture(&packet)));
        }
        if to == BROADCAST {
            return;
        }
        if delivered {
            self.drop_packet(node, handle);
        } else {
            self.link_failed(node, handle, to);
        }
    }

    /// A node has got the packets of a data frame by radio: a first one and those chained to it.
    fn take(&mut self, node: NodeId, from: u32, first: Handle) {
        let mut next = Some(first);
        while let Some(handle) = next {
            next = self.packets.get(handle).transit.next;
            self.take_packet(node, from, handle);
        }
    }

    /// A node has got a packet, which belongs to its sender as yet.
    fn take_packet(&mut self, node: NodeId, from: u32, handle: Handle) {
        self.packets.get_mut(handle).transit.accepted = true;
        let packet = self.packets.get(handle);
        let Load::Flow(index) = packet.load else {
            self.take_message(node, from, handle);
            return;
        };
        self.hear_neighbour(node, from);
        self.deliver(node, from, (index, packet));
    }

    /// A node has got a packet of a flow: the application's, or one to pass on.
    fn deliver(&mut self, node: NodeId, from: u32, (index, packet): (FlowId, Packet)) {
        let flow = &mut self.flows[index];
        if flow.to != BROADCAST {
            if flow.to != u32::from(node) {
                let (ttl, transit) = (packet.ttl.saturating_sub(1), Transit::NONE);
                self.route(node, Some(from), Packet { ttl, transit, ..packet });
                return;
            }
            flow.record.ledger.finished += 1;
        }
        if flow.role != Role::Data {
            return self.arrive(node, (index, packet));
        }
        self.take_data(node, (index, packet));
    }

    /// A packet has reached the application that it is for.
    fn take_data(&mut self, node: NodeId, (index, packet): (FlowId, Packet)) {
        let flow = &mut self.flows[index];
        let payload = packet.payload();
        flow.record.bytes += payload;
        let delay = self.now.since(packet.created);
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(index, delay);
            recorder.got(index, payload);
        }
        if packet.created >= self.warmup {
            flow.record.receive(delay, flow.identity.deadline, packet.transmissions);
        }
        self.note_delivered(node, &packet);
    }

    /// A step of the time series ends.
    fn step(&mut self) {
        self.end_step();
        if let Some(recorder) = &self.recorder {
            self.events.push(self.now + recorder.step, Event::Step);
        }
    }

    /// Appends what was measured since the last step to the time series, if they are recorded.
    fn end_step(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        let length = self.now.since(self.last_step);
        let levels = self.nodes.iter().flat_map(|node| node.egress.ports()).map(Port::level);
        recorder.end_step(length, levels);
        self.record_windows();
        self.last_step = self.now;
    }

    /// Results count from here.
    fn restart_statistics(&mut self) {
        self.medium.restart_statistics(self.now);
        for node in self.nodes.iter_mut() {
            node.egress.restart_statistics(self.now);
            node.record = NodeRecord::default();
        }
        for wire in self.wires.iter_mut() {
            wire.restart_statistics(self.now);
        }
        for flow in self.flows.iter_mut() {
            flow.record.restart();
        }
        if let Routing::Aodv(mesh) = &mut self.routing {
            mesh.nodes.iter_mut().for_each(|node| node.counts = crate::results::Routing::default());
        }
    }
}
