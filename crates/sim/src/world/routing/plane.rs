//! What the protocols that discover routes have in common: pending events, counts of messages, and actions to execute.

use crate::config::{Dscp, RoutingPriority};
use crate::engine::{Arena, Handle, List, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Load, LossCause, Packet};
use crate::record::Ledger;
use crate::results::Routing as Counts;
use units::{Bytes, Duration, Instant};

/// Actions that a protocol orders at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Send a packet to a neighbour or to all, after a delay.
    Send { packet: Handle, to: u32, after: Duration },
    /// Discard a packet as lost. `refills`: the node's ports then refill.
    Discard { packet: Handle, why: LossCause, refills: bool },
}

/// The node of a call, the time, and the packets of its network.
pub(crate) struct Desk<'a> {
    pub(crate) node: NodeId,
    pub(crate) now: Instant,
    pub(crate) packets: &'a mut Arena<Packet>,
}

/// State of a protocol, apart from the states of its nodes.
pub(crate) struct Plane {
    /// For each node, the time of the earliest pending `Route` event; later events are ignored.
    pub(super) armed: List<NodeId, Instant>,
    pub(crate) ledger: Ledger,
    /// Number of packets that wait for their delay to end.
    pub(super) delayed: u64,
    /// True if packets that wait for the other end of a broken link are to be removed.
    pub(super) purges: bool,
    /// Index of the access category of messages.
    pub(crate) category: u8,
    /// True if messages go to the head of their queue.
    pub(crate) goes_first: bool,
    /// Actions to execute now.
    pub(crate) steps: Vec<Step>,
}

impl Plane {
    pub(super) fn new(nodes: usize, purges: bool, category: u8, priority: RoutingPriority) -> Self {
        let goes_first = priority == RoutingPriority::HeadOfQueue;
        let armed = vec![Instant::NEVER; nodes].into();
        Self { armed, ledger: Ledger::default(), delayed: 0, purges, category, goes_first, steps: Vec::new() }
    }

    /// Sends a packet with a stored message of this length to one neighbour or to all, after a delay. `counts`: the
    /// counts of its sender.
    pub(super) fn send_message(
        &mut self,
        (message, length): (Handle, Bytes),
        (to, to_all, after): (u32, bool, Duration),
        counts: &mut Counts,
        desk: &mut Desk,
    ) {
        debug_assert!(!to_all || to == BROADCAST, "what is for all is sent to all");
        counts.packets += 1;
        counts.bytes += length.count();
        self.ledger.made += 1;
        let load = Load::Routing { message, to_all };
        let packet = Packet { ttl: 1, dscp: Dscp::ROUTING, ..Packet::new(load, desk.now, length) };
        let packet = desk.packets.insert(packet);
        self.send(packet, to, after);
    }

    /// Sends a packet to a neighbour or to all, after a delay.
    pub(super) fn send(&mut self, packet: Handle, to: u32, after: Duration) {
        self.delayed += u64::from(!after.is_zero());
        self.steps.push(Step::Send { packet, to, after });
    }

    /// Discards a packet as lost. `refills`: the node's ports then refill.
    pub(super) fn discard(&mut self, packet: Handle, why: LossCause, refills: bool) {
        self.steps.push(Step::Discard { packet, why, refills });
    }

    pub(crate) fn put_back(&mut self, steps: Vec<Step>) {
        debug_assert!(steps.is_empty() && self.steps.is_empty(), "all steps have been done");
        self.steps = steps;
    }
}
