//! Running flows: their source, and the purpose of their packets.

mod answers;
pub(crate) mod build;
pub(crate) mod connections;
pub(crate) mod delivery;
mod emit;
mod ends;
pub(crate) mod passage;
pub(crate) mod supply;
mod transport;

use super::admission::Admission;
use crate::config::Dscp;
use crate::engine::{FlowId, NodeId};
use crate::net::{MTU, ip_bytes, network_bytes};
use crate::record::{FlowRecord, Identity};
use crate::traffic::{Source, Transfers};
use crate::transport::tcp::{Segment, Settings};
use passage::Passage;
use queue::Ecn;
use units::{Bytes, Instant};

/// A flow: its supply, and its record.
pub(crate) struct Flow {
    pub(crate) identity: Identity,
    pub(crate) from: NodeId,
    /// Destination; [`BROADCAST`] for all nodes in range.
    pub(crate) to: u32,
    /// Index of its access category.
    pub(crate) category: u8,
    /// DSCP of its packets.
    pub(crate) dscp: Dscp,
    /// ECN field of its packets over UDP.
    pub(crate) ecn: Ecn,
    /// Admission state, if it asks for admission.
    pub(crate) admission: Option<Box<Admission>>,
    pub(crate) role: Role,
    pub(crate) supply: Supply,
    /// Its packets at the node where it begins that wait for a route or in a port.
    pub(crate) waiting: u32,
    pub(crate) record: FlowRecord,
}

/// Purpose of a flow's packets. Every flow that is answered has another one for the answers, which goes the way back
/// and is not in the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Data over UDP for the application.
    Data,
    /// A packet of a real program.
    Outside,
    /// Request, to be answered over the flow `back`.
    Request { back: FlowId },
    /// Answer to a request of the flow `of`.
    Reply { of: FlowId },
    /// A TCP segment for the receiver, which answers over the flow `back`.
    Stream { back: FlowId },
    /// A TCP segment for the sender of the flow `of`.
    Acknowledgement { of: FlowId },
    /// Admission probe of the flow `of`.
    Probe { of: FlowId },
    /// Answer to a probe of the flow `of`.
    Answer { of: FlowId },
    /// Request of the flow `of`'s destination to regulate.
    Regulation { of: FlowId },
}

impl Role {
    /// The flow that it answers, if it does.
    pub(crate) fn answers(self) -> Option<FlowId> {
        match self {
            Self::Data | Self::Outside | Self::Request { .. } | Self::Stream { .. } | Self::Probe { .. } => None,
            Self::Reply { of } | Self::Acknowledgement { of } | Self::Answer { of } | Self::Regulation { of } => {
                Some(of)
            }
        }
    }

    /// True if its flow is one of the scenario, and so in the results.
    pub(crate) fn is_described(self) -> bool {
        matches!(self, Self::Data | Self::Outside | Self::Request { .. } | Self::Stream { .. })
    }
}

/// Source of a flow's packets.
pub(crate) enum Supply {
    /// A source with its own times.
    Source(Source),
    /// Saturated: the port asks for packets.
    Saturated { payload: Bytes, start: Instant, stop: Instant },
    /// TCP connections; with the start of the first if it is drawn, for the results.
    Transfers { transfers: Transfers, settings: Settings, opened: u32, drawn_start: Option<Instant> },
    /// Packets from outside.
    Outside(Box<Passage>),
    /// Answers to another flow, of at most this length with the IP header.
    Answers { longest: Bytes },
}

impl Supply {
    /// Length with the IP header of the first packet; of the longest if the first is shorter or random.
    pub(crate) fn first(&self) -> Option<Bytes> {
        match self {
            Self::Source(source) => source.usual().map(network_bytes),
            Self::Saturated { payload, .. } => Some(network_bytes(*payload)),
            Self::Transfers { settings, .. } => {
                let stamp = settings.timestamps.then_some(Instant::ZERO);
                Some(ip_bytes(settings.segment + Segment { stamp, ..Segment::EMPTY }.header()))
            }
            Self::Outside(_) => Some(MTU),
            Self::Answers { longest } => Some(*longest),
        }
    }
}
