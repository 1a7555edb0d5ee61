//! State of a running network.

use super::accounts::Accounts;
pub(crate) use super::event::Event;
use super::flows::Flow;
use super::flows::connections::Connections;
use super::nodes::Node;
use super::notes::Posted;
use super::places::Asked;
use super::real::{Arrival, Status};
use super::roaming::Roaming;
use super::routing::Routing;
use super::wired::Wire;
use super::witness::{Watch, Witness};
use crate::config::Record;
use crate::engine::{Arena, EventQueue, FlowId, Handle, List, NodeId, WireId};
use crate::mac::{Conventions, Finished, Frame};
use crate::net::Packet;
use crate::radio::{self, Medium};
use crate::record::{Distances, Overflows, Recorder};
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
    pub(crate) roaming: Roaming,
    pub(crate) packets: Arena<Packet>,
    pub(crate) connections: Connections,
    /// Notes that are in flight.
    pub(crate) posted: Posted,
    /// Wires: two for each link, one for each direction.
    pub(crate) wires: List<WireId, Wire>,
    /// Decisions that an outside program has to make.
    pub(crate) asked: Vec<Asked>,
    /// Real packets that have arrived and were not taken yet.
    pub(crate) arrivals: VecDeque<Arrival>,
    /// Outcomes of drivers' frames that were not taken yet.
    pub(crate) statuses: VecDeque<Status>,
    pub(crate) broadcasts_in_air: u64,
    pub(crate) recorder: Option<Recorder>,
    /// Records for the results.
    pub(crate) record: Record,
    /// Distances between nodes, if receptions are recorded by distance.
    pub(crate) distances: Option<Box<Distances>>,
    /// Overflows of queues, if they are recorded.
    pub(crate) overflows: Option<Box<Overflows>>,
    pub(crate) last_step: Instant,
    /// Observers of nodes; most runs have none.
    pub(crate) watch: Option<Box<Watch>>,
    /// True if nodes also handle frames for other nodes: to read a key (T-MAC) or source route (DSR), or for a trace.
    pub(crate) overheard: bool,
    pub(crate) frequency: Frequency,
    /// Scratch space for packets whose link has broken.
    pub(crate) purged: Vec<Handle>,
    /// Scratch space for the data frames of an aggregate that have arrived: their sequence numbers and packets.
    pub(crate) numbered: Vec<(u16, Handle)>,
    /// Positions of the data frames in an aggregate.
    pub(crate) laid_out: Vec<radio::Mpdu>,
    /// Stations that could share the PPDU that is due.
    pub(crate) sharers: Vec<u32>,
    /// Data frames that a station has finished.
    pub(crate) done_with: Vec<Finished>,
}

impl World {
    /// Returns the simulated time that has passed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// True if the run has ended.
    pub fn finished(&self) -> bool {
        self.now >= self.end
    }

    /// Returns the accounts in which the end of a packet at `node` is written.
    pub(crate) fn accounts(&mut self, node: NodeId) -> Accounts<'_> {
        let Self { packets, connections, flows, routing, overflows, watch, now, .. } = self;
        Accounts { packets, connections, flows, routing, overflows, witness: Witness { watch, now: *now, node } }
    }

    /// Returns a node, the rules of its MAC, and the accounts for packets that its egress drops.
    pub(crate) fn node_and_accounts(&mut self, node: NodeId) -> (&mut Node, &Conventions, Accounts<'_>) {
        let Self { nodes, rules, packets, connections, flows, routing, overflows, watch, now, .. } = self;
        let witness = Witness { watch, now: *now, node };
        let accounts = Accounts { packets, connections, flows, routing, overflows, witness };
        (&mut nodes[node], rules, accounts)
    }
}
