//! Packets, without their bytes, and the lengths of headers.

use crate::config::Dscp;
use crate::engine::{FlowId, Handle};
use crate::mac::LONGEST_MSDU;
use queue::Ecn;
use units::{Bytes, Duration, Instant};

/// UDP header (RFC 768), as long as an ICMP echo's header (RFC 792).
const UDP: Bytes = Bytes::new(8);
/// IPv4 header without options (RFC 791).
const IP: Bytes = Bytes::new(20);
/// LLC and SNAP in front of an IP packet in 802.11 (IEEE 802.2; RFC 1042).
const LLC_SNAP: Bytes = Bytes::new(8);

/// Largest payload of an IP packet in one frame.
pub(crate) const MOST_SEGMENT: Bytes = Bytes::new(LONGEST_MSDU.count() - LLC_SNAP.count() - IP.count());
/// Largest payload of a UDP packet in one frame.
pub(crate) const MOST_PAYLOAD: Bytes = Bytes::new(MOST_SEGMENT.count() - UDP.count());

/// Largest IP packet of a real program: the usual MTU of a Wi-Fi interface (Ethernet's, RFC 894).
pub(crate) const MTU: Bytes = Bytes::new(1_500);

/// Initial TTL of a data packet (64, as RFC 1700 recommends).
pub(crate) const TTL: u8 = 64;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// Data of this flow.
    Flow(FlowId),
    /// A message of the routing protocol, to one neighbour or to all neighbours.
    Routing { message: Handle, to_all: bool },
    /// A note to all neighbours, with its content.
    Note(Handle),
    /// A null frame without data, by which a station tells its access point whether it sleeps from now on.
    Null { sleeps: bool },
}

impl Load {
    /// True for a packet of the MAC itself, which waits in no port.
    pub(crate) fn is_signal(self) -> bool {
        matches!(self, Self::Note(_) | Self::Null { .. })
    }
}

/// Cause of a packet's loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// Discarded by a queue.
    Queue,
    /// Given up by the MAC.
    Retries,
    /// No route to its destination.
    NoRoute,
    /// Waited for a route for too long, or was displaced by later packets.
    Buffer,
    /// Waited in a queue for a next hop when the link there broke.
    Link,
    /// TTL exceeded.
    Ttl,
    /// Damaged on a wired link.
    Damage,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) load: Load,
    /// Number within the flow, for traces.
    pub(crate) serial: u32,
    /// Hops left (TTL).
    pub(crate) ttl: u8,
    pub(crate) dscp: Dscp,
    /// Number of radio transmissions so far, over all hops.
    pub(crate) transmissions: u16,
    /// Time at which the application or a protocol made the packet; for a ping's reply, the time of the request.
    pub(crate) created: Instant,
    /// Length with all headers from the IP header on.
    pub(crate) length: Bytes,
    /// TCP segment that the packet carries, if any.
    pub(crate) segment: Option<Handle>,
    pub(crate) ecn: Ecn,
    pub(crate) transit: Transit,
}

impl Packet {
    /// True while the packet is still at its origin.
    pub(crate) fn is_fresh(&self) -> bool {
        self.ttl == TTL
    }

    /// True if two packets that arrive at the same time are alike for their application.
    pub(crate) fn arrives_like(&self, other: &Self) -> bool {
        let same_flow = matches!((self.load, other.load), (Load::Flow(own), Load::Flow(others)) if own == others);
        same_flow
            && (self.created, self.length, self.ttl, self.transmissions, self.ecn)
                == (other.created, other.length, other.ttl, other.transmissions, other.ecn)
    }

    /// Hops that a data packet has travelled.
    pub(crate) fn travelled(&self) -> u8 {
        TTL.saturating_sub(self.ttl)
    }
}

/// Number of a packet: the count of packets that its flow made earlier.
#[expect(clippy::cast_possible_truncation, reason = "a number in a trace may come round again")]
pub(crate) fn serial(made: u64) -> u32 {
    made as u32
}

/// State of a packet in the node that holds it, for the MAC; by default, the MAC has not taken the packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transit {
    /// Time in the queue.
    pub(crate) waited: Duration,
    /// Time at which the packet left its port for the MAC or for the hardware queue.
    pub(crate) taken: Instant,
    /// Airtime estimated at the packet's release by the access point's scheduler; zero elsewhere.
    pub(crate) expected: Duration,
    /// Part of a hardware queue's depth that the packet takes; zero without such a queue.
    pub(crate) load: u32,
    /// True once the receiver has the packet, whether the sender knows or not.
    pub(crate) accepted: bool,
    /// Next packet of the same A-MSDU.
    pub(crate) next: Option<Handle>,
}

impl Packet {
    /// A best-effort packet without a segment, made now and still at its origin.
    pub(crate) fn new(load: Load, created: Instant, length: Bytes) -> Self {
        let (dscp, segment, ecn, transit) = (Dscp::default(), None, Ecn::NotEct, Transit::default());
        Self { load, serial: 0, ttl: TTL, dscp, transmissions: 0, created, length, segment, ecn, transit }
    }

    /// Length of the application's payload over UDP.
    pub(crate) fn payload(&self) -> Bytes {
        Bytes::new(self.length.count() - UDP.count() - IP.count())
    }
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) packet: Handle,
    /// Next hop.
    pub(crate) to: u32,
    pub(crate) length: Bytes,
    /// Hash of the packet's transport flow and direction.
    pub(crate) flow: u32,
    pub(crate) dscp: Dscp,
    pub(crate) ecn: Ecn,
    /// Time at which the packet was made.
    pub(crate) created: Instant,
}

impl queue::Packet for Waiting {
    fn len(&self) -> Bytes {
        self.length
    }

    fn flow(&self) -> u64 {
        self.flow.into()
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn stamp(&self) -> Option<Instant> {
        Some(self.created)
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    fn discard_priority(&self) -> Option<u8> {
        self.dscp.discard_priority()
    }
}

/// Length at the network layer of a UDP packet with this payload, as queues count it. An ICMP echo header is as long as
/// UDP's (RFC 792).
pub(crate) fn network_bytes(payload: Bytes) -> Bytes {
    ip_bytes(payload + UDP)
}

/// Length of an IP packet with this payload, transport headers included.
pub(crate) fn ip_bytes(carried: Bytes) -> Bytes {
    carried + IP
}

/// Length of the MSDU of a packet of `length` at the network layer.
pub(crate) fn msdu_bytes(length: Bytes) -> Bytes {
    length + LLC_SNAP
}
