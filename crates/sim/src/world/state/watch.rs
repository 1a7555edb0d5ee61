//! Events of watched nodes, reported as they happen.

use crate::egress::Port;
use crate::engine::{List, NodeId};
use crate::trace::{TraceEvent, TraceEventKind};
use units::{Duration, Instant};

/// Length of the intervals reported for a port without a controller.
const UNCONTROLLED: Duration = Duration::from_secs(1);

/// Time between two intervals of a port.
pub(crate) fn told_every(port: &Port) -> Duration {
    port.interval().unwrap_or(UNCONTROLLED)
}

/// The nodes that are watched, and what happened there since the last call of [`take_events`](crate::World::take_events).
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) nodes: List<NodeId, bool>,
    pub(crate) events: Vec<TraceEvent>,
}

impl Watch {
    pub(crate) fn watches(&self, node: NodeId) -> bool {
        self.nodes[node]
    }
}

/// Sees what happens at a node at a moment.
pub(crate) struct Witness<'a> {
    pub(crate) watch: &'a mut Option<Box<Watch>>,
    pub(crate) now: Instant,
    pub(crate) node: NodeId,
}

impl Witness<'_> {
    /// Tells it, if the node is watched.
    #[inline]
    pub(crate) fn saw(&mut self, what: impl FnOnce() -> TraceEventKind) {
        if let Some(watch) = self.watch
            && watch.watches(self.node)
        {
            watch.events.push(TraceEvent { at: self.now, node: self.node.into(), what: what() });
        }
    }
}
