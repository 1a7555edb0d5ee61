//! A network and its state at a moment.

use super::accounts::Accounts;
use super::asked::Asked;
use super::connections::Connections;
use super::event::Event;
use super::flow::Flow;
use super::node::Node;
use super::posted::Posted;
use super::routing::Routing;
use super::watch::{Watch, Witness};
use super::wire::Wire;
use crate::engine::{Arena, EventQueue, FlowId, Handle, List, NodeId, WireId};
use crate::mac::{Conventions, Frame};
use crate::net::Packet;
use crate::radio::{self, Medium};
use crate::record::{Distances, Overflows, Recorder};
use units::{Frequency, Instant};

/// A network and its state at a moment.
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
    /// Notes to neighbours.
    pub(crate) posted: Posted,
    /// Two a link, one a direction.
    pub(crate) wires: List<WireId, Wire>,
    /// Decisions that someone outside has to make.
    pub(crate) asked: Vec<Asked>,
    pub(crate) broadcasts_in_air: u64,
    pub(crate) recorder: Option<Recorder>,
    /// Results tell how times are distributed.
    pub(crate) distributions: bool,
    /// Results tell how many packets came over how many hops.
    pub(crate) hop_counts: bool,
    /// How far nodes are apart, if receptions are recorded by distance.
    pub(crate) distances: Option<Box<Distances>>,
    /// The overflows of queues, if they are recorded.
    pub(crate) overflows: Option<Box<Overflows>>,
    pub(crate) last_step: Instant,
    /// Observers; mostly none.
    pub(crate) watch: Option<Box<Watch>>,
    pub(crate) frequency: Frequency,
    /// Scratch space for those data frames of an aggregate that have arrived: their numbers and packets.
    pub(crate) numbered: Vec<(u16, Handle)>,
    /// Where the data frames of an aggregate lie in it.
    pub(crate) laid_out: Vec<radio::Mpdu>,
}

impl World {
    /// Simulated time that has passed.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Has it run to its end?
    pub fn finished(&self) -> bool {
        self.now >= self.end
    }

    /// The accounts, for a packet that ends at `node`.
    pub(crate) fn accounts(&mut self, node: NodeId) -> Accounts<'_> {
        let Self { packets, connections, flows, routing, overflows, watch, now, .. } = self;
        Accounts { packets, connections, flows, routing, overflows, witness: Witness { watch, now: *now, node } }
    }

    /// A node, the rules of its MAC, and the accounts for what its egress drops.
    #[inline]
    pub(crate) fn node_and_accounts(&mut self, node: NodeId) -> (&mut Node, &Conventions, Accounts<'_>) {
        let Self { nodes, rules, packets, connections, flows, routing, overflows, watch, now, .. } = self;
        let witness = Witness { watch, now: *now, node };
        let accounts = Accounts { packets, connections, flows, routing, overflows, witness };
        (&mut nodes[node], rules, accounts)
    }
}
