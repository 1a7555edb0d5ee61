//! Watched nodes, and what is reported of their events and packets.

use crate::egress::Port;
use crate::engine::{List, NodeId};
use crate::net::{Load, Packet};
use crate::trace::{self, Owner, Report, Segment, TraceEvent, TraceEventKind};
use crate::transport::tcp;
use units::{Bytes, Duration, Instant};

/// Length of the intervals reported for a port without a controller.
const UNCONTROLLED: Duration = Duration::from_secs(1);

/// Returns the time between two traced intervals of a port.
pub(crate) fn told_every(port: &Port) -> Duration {
    port.interval().unwrap_or(UNCONTROLLED)
}

/// The watched nodes, and their events since the last call of [`take_events`](crate::World::take_events).
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) nodes: List<NodeId, bool>,
    /// True if a frame is traced only at its receiver, not at other nodes that hear it.
    pub(crate) addressed_only: bool,
    pub(crate) events: Vec<TraceEvent>,
}

impl Watch {
    pub(crate) fn watches(&self, node: NodeId) -> bool {
        self.nodes[node]
    }

    /// True if a frame that a node hears is traced.
    pub(crate) fn hears(&self, node: NodeId, is_for_it: impl FnOnce() -> bool) -> bool {
        self.watches(node) && (!self.addressed_only || is_for_it())
    }
}

/// Traces events at a node at one moment.
pub(crate) struct Witness<'a> {
    pub(crate) watch: &'a mut Option<Box<Watch>>,
    pub(crate) now: Instant,
    pub(crate) node: NodeId,
}

impl Witness<'_> {
    /// Traces an event if the node is watched.
    #[inline]
    pub(crate) fn saw(&mut self, what: impl FnOnce() -> TraceEventKind) {
        if let Some(watch) = self.watch
            && watch.watches(self.node)
        {
            watch.events.push(TraceEvent { at: self.now, node: self.node.into(), what: what() });
        }
    }
}

impl Packet {
    /// Returns the packet as traces show it, with the segment that it carries.
    pub(super) fn picture(&self, segment: Option<Box<trace::Segment>>) -> trace::Packet {
        let of = match self.load {
            Load::Flow(flow) => Owner::Flow(flow.into()),
            Load::Routing { .. } => Owner::Routing,
            Load::Note(_) => Owner::Note,
            Load::Null { sleeps } => Owner::Null { sleeps },
        };
        let Self { length, dscp, ecn, serial, .. } = *self;
        trace::Packet { id: u64::from(serial), of, length, dscp, ecn, segment, options: None, real: None }
    }
}

impl From<tcp::Report> for Report {
    fn from(report: tcp::Report) -> Self {
        match report {
            tcp::Report::Wireless => Self::Wireless,
            tcp::Report::Congestion { reached } => Self::Congestion { reached },
        }
    }
}

impl Segment {
    /// Describes, for traces, a segment of this connection of its flow. `most`: the largest segment in octets.
    pub(super) fn new(segment: &tcp::Segment, connection: u32, most: Bytes) -> Self {
        let flags = [
            (segment.fin, Self::FIN),
            (segment.syn, Self::SYN),
            (segment.ack.is_some(), Self::ACK),
            (segment.ece, Self::ECE),
            (segment.cwr, Self::CWR),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).fold(0, |flags, (_, flag)| flags | flag);
        Self {
            connection,
            sequence: segment.start,
            payload: Bytes::new(segment.length.into()),
            most,
            ack: segment.ack,
            window: segment.window,
            sacks: segment.sacks.blocks().iter().map(|block| (block.start, block.end)).collect(),
            sack_permitted: segment.sack_permitted,
            stamp: segment.stamp.map(|stamp| (stamp, segment.echo)),
            report: segment.report.map(Report::from).or(segment.reports.then_some(Report::Permitted)),
            flags,
        }
    }
}
