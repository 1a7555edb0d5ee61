//! A flow: its source, and what its packets are for.

use super::admission::{Admission, MESSAGE};
use super::passage::Passage;
use crate::config::Dscp;
use crate::engine::{FlowId, NodeId};
use crate::mac::{BROADCAST, Frame};
use crate::net::aodv::Ends;
use crate::net::{Load, MTU, Packet, ip_bytes, network_bytes};
use crate::radio::Medium;
use crate::record::{Distances, FlowRecord, Identity, Recorder};
use crate::traffic::{Source, Transfers};
use crate::transport::tcp::{Segment, Settings};
use queue::Ecn;
use units::{Bytes, Instant};

pub(crate) struct Flow {
    pub(crate) identity: Identity,
    pub(crate) from: NodeId,
    /// Address of the destination; [`BROADCAST`] for all nodes in range.
    pub(crate) to: u32,
    /// Index of the flow's access category.
    pub(crate) category: u8,
    /// DSCP of the flow's packets.
    pub(crate) dscp: Dscp,
    /// ECN field of the flow's packets over UDP.
    pub(crate) ecn: Ecn,
    /// Admission state, if the flow asks for admission.
    pub(crate) admission: Option<Box<Admission>>,
    pub(crate) role: Role,
    pub(crate) supply: Supply,
    /// Number of packets at the flow's first node that wait for a route or in a port.
    pub(crate) waiting: u32,
    pub(crate) record: FlowRecord,
}

impl Flow {
    /// Makes a flow that has no packets yet, from one node to another or to all.
    pub(super) fn new(
        identity: Identity,
        (from, to): (NodeId, u32),
        way: (u8, Dscp),
        role: Role,
        supply: Supply,
    ) -> Self {
        let ((category, dscp), ecn, record) = (way, Ecn::NotEct, FlowRecord::default());
        Self { identity, from, to, category, dscp, ecn, admission: None, role, supply, waiting: 0, record }
    }

    /// True if the results contain the flow. A flow to all nodes is in the results if it was used.
    pub(crate) fn is_told(&self) -> bool {
        self.role.is_described() || self.role == Role::ToAll && self.record.sent > 0
    }

    /// Returns the ends of a packet of this flow at a node that has received it from `previous`.
    pub(crate) fn ends(&self, previous: Option<u32>, packet: &Packet) -> Ends {
        Ends { origin: self.from.into(), destination: self.to, previous, travelled: packet.travelled() }
    }

    /// Makes a new packet of the flow over UDP, with this payload.
    pub(crate) fn packet(&mut self, index: FlowId, payload: Bytes, now: Instant) -> Packet {
        self.record.sent += 1;
        self.record.offered += payload;
        let Self { ecn, dscp, .. } = *self;
        Packet { dscp, ecn, ..Packet::new(Load::Flow(index), now, network_bytes(payload)) }
    }

    /// Gives the flow's packets the class to which it was admitted. False if the flow may not send now.
    pub(crate) fn take_class(&mut self, now: Instant) -> bool {
        let Some(allowed) = self.admission.as_ref().and_then(|admission| admission.dscp(now)) else { return false };
        self.dscp = allowed;
        self.ecn = if allowed.is_real_time() { Ecn::Ect0 } else { Ecn::NotEct };
        true
    }

    /// Handles a packet of this broadcast flow at a node that received it.
    #[inline(never)]
    pub(crate) fn reaches(
        &mut self,
        node: NodeId,
        from: u32,
        now: Instant,
        medium: &Medium<Frame>,
        distances: &mut Option<Box<Distances>>,
    ) {
        debug_assert_eq!(self.to, BROADCAST, "all other flows are for one node");
        let Some(receptions) = &mut self.record.receptions else { return };
        // Only with fading can a node decode frames that are too weak on average.
        if !medium.fades() || medium.neighbours(from).any(|near| near == u32::from(node)) {
            receptions.receive();
        }
        if let Some(distances) = distances {
            receptions.receive_at(distances.class(from, node.into(), now));
        }
    }

    /// Makes a new message of a flow's admission, if this flow carries such messages.
    pub(crate) fn message(&mut self, index: FlowId, created: Instant) -> Packet {
        debug_assert!(!self.role.is_described(), "messages have flows of their own");
        self.record.sent += 1;
        Packet { dscp: self.dscp, ..Packet::new(Load::Flow(index), created, network_bytes(MESSAGE)) }
    }

    /// Counts packets like this one, which have reached their application.
    #[inline(always)] // once a packet: such calls cost every network 1 % in all
    pub(crate) fn count(
        &mut self,
        index: FlowId,
        packet: &Packet,
        packets: u32,
        (now, warmup): (Instant, Instant),
        recorder: &mut Option<Recorder>,
    ) {
        let payload = packet.payload() * packets.into();
        self.record.bytes += payload;
        let delay = now.since(packet.created);
        if let Some(recorder) = recorder {
            recorder.arrived(index, delay, packets);
            recorder.got(index, payload);
        }
        if let Some(player) = &mut self.record.player {
            (0..packets).for_each(|_| player.receive(now, packet.created));
        }
        if packet.created >= warmup {
            self.record.receive_all(delay, self.identity.deadline, packet, packets);
        }
    }
}

/// Factor for the part of the key that distinguishes datagrams. It is odd, so that its multiples are far apart.
const KEY_STEP: u32 = 0x9e37_79b9;

impl Flow {
    /// Returns the bytes that a real program sent as this packet, for traces.
    pub(crate) fn bytes(&self, packet: &Packet) -> Option<Box<[u8]>> {
        let Supply::Outside(passage) = &self.supply else { return None };
        passage.bytes(packet)
    }

    /// Returns a real packet's category, false (it does not go to the head of the queue), and its key for queues.
    #[inline(never)]
    pub(crate) fn kept(&self, index: FlowId, packet: &Packet) -> (u8, bool, u32) {
        let kept = match &self.supply {
            Supply::Outside(passage) => passage.under_way.get(&packet.serial),
            _ => None,
        };
        let (category, key) = kept.map_or((self.category, 0), |kept| (kept.category, kept.key));
        (category, false, u32::from(index).wrapping_add(key.wrapping_mul(KEY_STEP)))
    }
}

/// Purpose of a flow's packets. The answers to a flow's packets form another flow, in the reverse direction, that is
/// not in the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Data over UDP for the application.
    Data,
    /// A packet of a real program.
    Outside,
    /// A packet of a real program to all nodes. Each hop has a copy of its own.
    ToAll,
    /// A request. The answer goes over the flow `back`.
    Request { back: FlowId },
    /// Answer to a request of the flow `of`.
    Reply { of: FlowId },
    /// A TCP segment for the receiver. The acknowledgements go over the flow `back`.
    Stream { back: FlowId },
    /// A TCP segment for the sender of the flow `of`.
    Acknowledgement { of: FlowId },
    /// Admission probe of the flow `of`.
    Probe { of: FlowId },
    /// Answer to a probe of the flow `of`.
    Answer { of: FlowId },
    /// Request to regulate by the destination of the flow `of`.
    Regulation { of: FlowId },
}

impl Role {
    pub(crate) fn answers(self) -> Option<FlowId> {
        match self {
            Self::Reply { of } | Self::Acknowledgement { of } | Self::Answer { of } | Self::Regulation { of } => {
                Some(of)
            }
            _ => None,
        }
    }

    /// True if the scenario describes the flow, so that it is in the results.
    pub(crate) fn is_described(self) -> bool {
        matches!(self, Self::Data | Self::Outside | Self::Request { .. } | Self::Stream { .. })
    }
}

/// Where a flow's packets come from.
pub(crate) enum Supply {
    /// A source that determines the times of its packets.
    Source(Source),
    /// A saturated source: the port asks for packets.
    Saturated { payload: Bytes, start: Instant, stop: Instant },
    /// TCP connections. If the first connection's start is drawn, the results report it.
    Transfers { transfers: Transfers, settings: Settings, opened: u32, drawn_start: Option<Instant> },
    /// Packets of real programs.
    Outside(Box<Passage>),
    /// Answers to the packets of another flow, with at most this length including the IP header.
    Answers { longest: Bytes },
}

impl Supply {
    /// Returns the first packet's length with the IP header; the longest length if lengths differ or are random.
    pub(crate) fn first(&self) -> Option<Bytes> {
        match self {
            Self::Source(source) => source.usual().map(network_bytes),
            Self::Saturated { payload, .. } => Some(network_bytes(*payload)),
            Self::Transfers { settings, .. } => {
                let stamp = settings.timestamps.then_some(Instant::ZERO);
                Some(ip_bytes(settings.segment + Segment { stamp, ..Segment::default() }.header()))
            }
            Self::Outside(_) => Some(MTU),
            Self::Answers { longest } => Some(*longest),
        }
    }
}
