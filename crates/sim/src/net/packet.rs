//! Packets, without their bytes, and lengths of headers.

use crate::config::Dscp;
use crate::engine::{FlowId, Handle};
use crate::mac::LONGEST_MSDU;
use queue::Ecn;
use units::{Bytes, Duration, Instant};

/// Length of a UDP header (RFC 768). The header of an ICMP echo has the same length (RFC 792).
const UDP: Bytes = Bytes::new(8);
/// Length of an IPv4 header without options (RFC 791).
const IP: Bytes = Bytes::new(20);
/// Length of LLC and SNAP before an IP packet in 802.11 (IEEE 802.2; RFC 1042).
const LLC_SNAP: Bytes = Bytes::new(8);

/// Largest payload of an IP packet in one frame.
pub(crate) const MOST_SEGMENT: Bytes = Bytes::new(LONGEST_MSDU.count() - LLC_SNAP.count() - IP.count());
/// Largest payload of a UDP packet in one frame.
pub(crate) const MOST_PAYLOAD: Bytes = Bytes::new(MOST_SEGMENT.count() - UDP.count());

/// Largest IP packet of a real program: the usual MTU of a Wi-Fi interface (that of Ethernet, RFC 894).
pub(crate) const MTU: Bytes = Bytes::new(1_500);

/// Initial TTL of a data packet (64, as RFC 1700 recommends).
pub(crate) const TTL: u8 = 64;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// Data of this flow.
    Flow(FlowId),
    /// A message of the routing protocol, to one neighbour or to all.
    Routing { message: Handle, to_all: bool },
    /// A note to all neighbours, with its content.
    Note(Handle),
    /// A null frame: without data, it tells an access point whether the station sleeps from now on.
    Null { sleeps: bool },
}

impl Load {
    /// True for a packet of the MAC itself. Such a packet waits in no port.
    pub(crate) fn is_signal(self) -> bool {
        matches!(self, Self::Note(_) | Self::Null { .. })
    }
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// A queue discarded it.
    Queue,
    /// The MAC gave it up.
    Retries,
    /// There was no route to its destination.
    NoRoute,
    /// The packet waited for a route for too long, or made room for later packets.
    Buffer,
    /// It waited in a queue for a next hop when the link there broke.
    Link,
    /// Its TTL was exceeded.
    Ttl,
    /// A wired link damaged it.
    Damage,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) load: Load,
    /// Number of the packet within its flow, for traces.
    pub(crate) serial: u32,
    /// Number of hops left (TTL).
    pub(crate) ttl: u8,
    pub(crate) dscp: Dscp,
    /// Number of times that the packet was sent by radio so far, over all hops.
    pub(crate) transmissions: u16,
    /// Time at which an application or a protocol made the packet. For a ping's reply: when the request was made.
    pub(crate) created: Instant,
    /// Length from the IP header on.
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

    /// True if two packets that arrive at the same time are alike to their application.
    pub(crate) fn arrives_like(&self, other: &Self) -> bool {
        let same_flow = matches!((self.load, other.load), (Load::Flow(own), Load::Flow(others)) if own == others);
        same_flow
            && (self.created, self.length, self.ttl, self.transmissions, self.ecn)
                == (other.created, other.length, other.ttl, other.transmissions, other.ecn)
    }

    /// Returns the number of hops that a data packet has travelled.
    pub(crate) fn travelled(&self) -> u8 {
        TTL.saturating_sub(self.ttl)
    }
}

/// Returns the number of a packet: how many packets its flow had made before this one.
#[expect(clippy::cast_possible_truncation, reason = "a number in a trace may come round again")]
pub(crate) fn serial(made: u64) -> u32 {
    made as u32
}

/// State of a packet at the node that holds it, for the MAC. By default the MAC has not taken it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transit {
    /// Time that the packet spent in the queue.
    pub(crate) waited: Duration,
    /// Time at which the packet left its port for the MAC or for the hardware queue.
    pub(crate) taken: Instant,
    /// Airtime that the access point's scheduler estimated when it released the packet; zero at other nodes.
    pub(crate) expected: Duration,
    /// How much of a hardware queue's depth the packet takes; zero without such a queue.
    pub(crate) load: u32,
    /// True after the receiver got the packet, whether or not the sender knows.
    pub(crate) accepted: bool,
    /// Next packet of the same A-MSDU.
    pub(crate) next: Option<Handle>,
}

impl Packet {
    /// Makes a best-effort packet without a segment, created now and still at its origin.
    pub(crate) fn new(load: Load, created: Instant, length: Bytes) -> Self {
        let (dscp, segment, ecn, transit) = (Dscp::default(), None, Ecn::NotEct, Transit::default());
        Self { load, serial: 0, ttl: TTL, dscp, transmissions: 0, created, length, segment, ecn, transit }
    }

    /// Returns the length of the application's payload over UDP.
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

/// Returns the network-layer length, as queues count it, of a UDP packet with this payload. The header of an ICMP echo
/// is as long as UDP's (RFC 792).
pub(crate) fn network_bytes(payload: Bytes) -> Bytes {
    ip_bytes(payload + UDP)
}

/// Returns the length of an IP packet with this payload, which includes transport headers.
pub(crate) fn ip_bytes(carried: Bytes) -> Bytes {
    carried + IP
}

/// Returns the length of the MSDU of a packet with `length` at the network layer.
pub(crate) fn msdu_bytes(length: Bytes) -> Bytes {
    length + LLC_SNAP
}
