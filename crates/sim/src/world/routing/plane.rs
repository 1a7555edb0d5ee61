//! Common state of the protocols that discover routes: pending events, counts of messages, and actions to execute.

use crate::config::{Dscp, RoutingPriority};
use crate::engine::{Arena, Handle, List, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Load, LossCause, Packet};
use crate::record::Ledger;
use crate::results::Routing as Counts;
use units::{Bytes, Duration, Instant};

/// Acts that a protocol orders at a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A packet goes to a neighbour, or to all, after a delay.
    Send { packet: Handle, to: u32, after: Duration },
    /// A packet is lost; `refills`: the ports of the node refill.
    Discard { packet: Handle, why: LossCause, refills: bool },
}

/// The called node, the time, and the packets of its network.
pub(crate) struct Desk<'a> {
    pub(crate) node: NodeId,
    pub(crate) now: Instant,
    pub(crate) packets: &'a mut Arena<Packet>,
}

/// State of a protocol, without its nodes' states.
pub(crate) struct Plane {
    /// By node: time at which the earliest pending `Route` event fires; later events are stale.
    pub(super) armed: List<NodeId, Instant>,
    pub(crate) ledger: Ledger,
    /// Number of packets that wait for their delay to end.
    pub(super) delayed: u64,
    /// True if packets that wait for the other end of a broken link are removed.
    pub(super) purges: bool,
    /// Index of the access category of messages.
    pub(crate) category: u8,
    /// True if messages go to the head of their queue.
    pub(crate) goes_first: bool,
    /// Acts that are due now.
    pub(crate) steps: Vec<Step>,
}

impl Plane {
    pub(super) fn new(nodes: usize, purges: bool, category: u8, priority: RoutingPriority) -> Self {
        let goes_first = priority == RoutingPriority::HeadOfQueue;
        let armed = vec![Instant::NEVER; nodes].into();
        Self { armed, ledger: Ledger::default(), delayed: 0, purges, category, goes_first, steps: Vec::new() }
    }

    /// A packet with a stored message of this length goes to one neighbour or all after a delay. `counts`: of its
    /// sender.
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

    /// A packet goes to a neighbour, or to all, after a delay.
    pub(super) fn send(&mut self, packet: Handle, to: u32, after: Duration) {
        self.delayed += u64::from(!after.is_zero());
        self.steps.push(Step::Send { packet, to, after });
    }

    /// A packet is lost; `refills`: the ports of the node refill.
    pub(super) fn discard(&mut self, packet: Handle, why: LossCause, refills: bool) {
        self.steps.push(Step::Discard { packet, why, refills });
    }

    pub(crate) fn put_back(&mut self, steps: Vec<Step>) {
        debug_assert!(steps.is_empty() && self.steps.is_empty(), "all steps have been done");
        self.steps = steps;
    }
}
