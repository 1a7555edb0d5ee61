//! Running flows: their source, and the purpose of their packets.

mod answers;
pub(crate) mod build;
pub(crate) mod connections;
pub(crate) mod delivery;
mod emit;
mod ends;
pub(crate) mod supply;
mod transport;

use super::admission::Admission;
use crate::config::Dscp;
use crate::engine::{FlowId, NodeId};
use crate::net::{ip_bytes, network_bytes};
use crate::record::{FlowRecord, Identity};
use crate::traffic::{Source, Transfers};
use crate::transport::tcp::{Segment, Settings};
use queue::Ecn;
use units::{Bytes, Instant};

/// A flow: what it sends, and what was counted.
pub(crate) struct Flow {
    pub(crate) identity: Identity,
    pub(crate) from: NodeId,
    /// [`BROADCAST`] for all in range.
    pub(crate) to: u32,
    /// The index of its access category.
    pub(crate) category: u8,
    /// Of its packets.
    pub(crate) dscp: Dscp,
    /// Of its packets over UDP.
    pub(crate) ecn: Ecn,
    /// Where it asks for admission.
    pub(crate) admission: Option<Box<Admission>>,
    pub(crate) role: Role,
    pub(crate) supply: Supply,
    /// Its packets that wait, for a route or at a port, at the node where it begins.
    pub(crate) waiting: u32,
    pub(crate) record: FlowRecord,
}

/// Purpose of a flow's packets. Every flow that is answered has another one for the answers, which goes the way back
/// and is not in the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// For the application, over UDP.
    Data,
    /// To be sent back, over the flow `back`.
    Request { back: FlowId },
    /// The answer to a request of the flow `of`.
    Reply { of: FlowId },
    /// A TCP segment for the receiver, which answers over the flow `back`.
    Stream { back: FlowId },
    /// A TCP segment for the sender of the flow `of`.
    Acknowledgement { of: FlowId },
    /// What asks for admission of the flow `of`.
    Probe { of: FlowId },
    /// The answer to a probe of the flow `of`.
    Answer { of: FlowId },
    /// The destination of the flow `of` asks it to regulate.
    Regulation { of: FlowId },
}

impl Role {
    /// The flow that it answers, if it does.
    pub(crate) fn answers(self) -> Option<FlowId> {
        match self {
            Self::Data | Self::Request { .. } | Self::Stream { .. } | Self::Probe { .. } => None,
            Self::Reply { of } | Self::Acknowledgement { of } | Self::Answer { of } | Self::Regulation { of } => {
                Some(of)
            }
        }
    }

    /// Is its flow one of the scenario, and so in the results?
    pub(crate) fn is_described(self) -> bool {
        matches!(self, Self::Data | Self::Request { .. } | Self::Stream { .. })
    }
}

/// Source of a flow's packets.
pub(crate) enum Supply {
    /// A source, at times of its own.
    Source(Source),
    /// The queue asks for packets.
    Saturated { payload: Bytes, start: Instant, stop: Instant },
    /// TCP connections. Where the start of the first is drawn, it is kept for the results.
    Transfers { transfers: Transfers, settings: Settings, opened: u32, drawn_start: Option<Instant> },
    /// What arrives of another flow; answers are at most so long, with the IP header.
    Answers { longest: Bytes },
}

impl Supply {
    /// Length with the IP header of the first packet, or where that is shorter, or chance, of the longest.
    pub(crate) fn first(&self) -> Option<Bytes> {
        match self {
            Self::Source(source) => source.usual().map(network_bytes),
            Self::Saturated { payload, .. } => Some(network_bytes(*payload)),
            Self::Transfers { settings, .. } => {
                let stamp = settings.timestamps.then_some(Instant::ZERO);
                Some(ip_bytes(settings.segment + Segment { stamp, ..Segment::EMPTY }.header()))
            }
            Self::Answers { longest } => Some(*longest),
        }
    }
}
