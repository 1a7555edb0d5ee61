//! Networks that route by AODV: their nodes, and their messages in flight.

use super::plane::{Desk, Plane};
use crate::engine::{Arena, Handle, List, NodeId};
use crate::mac::BROADCAST;
use crate::net::aodv::{Action, Aodv, Context, Ends, Message, Output, Settings};
use crate::net::{LossCause, network_bytes};
use units::{Duration, Instant};

pub(super) struct Mesh {
    settings: Settings,
    pub(super) nodes: List<NodeId, Aodv>,
    messages: Arena<Message>,
    out: Output,
    /// True if a data packet that the MAC gives up breaks a link.
    pub(super) packet_failures: bool,
}

impl Mesh {
    pub(super) fn new(described: &crate::config::Aodv, settings: Settings, nodes: Vec<Aodv>) -> Self {
        let (messages, out) = (Arena::default(), Output::default());
        Self { settings, nodes: nodes.into(), messages, out, packet_failures: described.packet_failures }
    }

    /// Returns the next hop of a data packet if a route is known.
    pub(super) fn route(&mut self, node: NodeId, ends: &Ends, now: Instant) -> Option<u32> {
        self.nodes[node].route(ends, now, &self.settings)
    }

    /// Makes a call of a node's state machine that orders no actions.
    pub(super) fn tell<R>(&mut self, node: NodeId, now: Instant, act: impl FnOnce(&mut Aodv, &mut Context) -> R) -> R {
        let Self { settings, nodes, out, .. } = self;
        act(&mut nodes[node], &mut Context { now, settings, out })
    }

    /// Makes a call of a node's state machine, and turns the actions that it orders into steps.
    pub(super) fn call<R>(
        &mut self,
        desk: &mut Desk,
        plane: &mut Plane,
        act: impl FnOnce(&mut Aodv, &mut Context) -> R,
    ) -> R {
        debug_assert!(self.out.actions.is_empty(), "what was wanted before is being done");
        let result = self.tell(desk.node, desk.now, act);
        let Self { nodes, messages, out: Output { actions, lists, .. }, .. } = self;
        for action in actions.drain(..) {
            match action {
                Action::Send { message, to, after } => {
                    let stored = (messages.insert(message), network_bytes(message.length(lists)));
                    let way = (to, to == BROADCAST, after);
                    plane.send_message(stored, way, &mut nodes[desk.node].counts, desk);
                }
                Action::Forward { packet, to } => plane.send(packet, to, Duration::ZERO),
                Action::Discard { packet, why } => plane.discard(packet, why, true),
                // No port refills: a packet in the removed packet's place would have to make way again.
                Action::Displace { packet } => plane.discard(packet, LossCause::Buffer, false),
            }
        }
        result
    }

    pub(super) fn message(&self, message: Handle) -> Message {
        self.messages.get(message)
    }

    /// Frees a message whose packet has been freed.
    pub(super) fn release(&mut self, message: Handle) {
        debug_assert!(self.messages.live() > 0, "what is freed was stored");
        let message = self.messages.remove(message);
        self.out.lists.release(&message);
    }
}
