//! Networks that route by DSR: their nodes, their messages in flight, and their packets' source routes.

use super::plane::{Desk, Plane};
use crate::engine::{Arena, Beside, Handle, List, NodeId};
use crate::mac::BROADCAST;
use crate::net::dsr::{Action, Broken, Content, Context, Dsr, Header, Message, Output, Settings};
use crate::net::{Load, LossCause, Packet, Transit, ip_bytes};
use crate::trace::{DsrMessage, DsrOptions};

/// A network that routes by DSR.
pub(super) struct Sourced {
    pub(super) given: Settings,
    pub(super) nodes: List<NodeId, Dsr>,
    messages: Arena<Message>,
    /// Source routes of data packets.
    headers: Beside<Header>,
    /// Source route of the packet that a node is receiving now.
    pub(super) arriving: Header,
    /// Header for the next hop, if the packet goes on.
    pub(super) onward: Option<Header>,
    out: Output,
}

impl Sourced {
    pub(super) fn new(given: Settings, nodes: Vec<Dsr>) -> Self {
        let (messages, headers, out) = (Arena::default(), Beside::default(), Output::default());
        Self { given, nodes: nodes.into(), messages, headers, arriving: Header::NONE, onward: None, out }
    }

    /// Returns the source route of a data packet.
    pub(super) fn header(&self, packet: Handle) -> Header {
        self.headers.get(packet).unwrap_or(Header::NONE)
    }

    /// Returns a packet's DSR Options header as traces show it; `None` for packets of a broadcast flow.
    pub(super) fn picture(&self, handle: Handle, packet: &Packet) -> Option<Box<DsrOptions>> {
        let (header, message) = match packet.load {
            Load::Flow(_) => (self.header(handle), None),
            Load::Routing { message, .. } => {
                let Message { header, content } = self.messages.get(message);
                (header, Some(content))
            }
            Load::Note(_) | Load::Null { .. } => return None,
        };
        let ends = |Broken { from, to }| (from, to);
        let message = message.map(|content| match content {
            Content::Request { id, target, hops_left, broken } => {
                DsrMessage::Request { id, target, hops_left, broken: broken.map(ends) }
            }
            Content::Reply { route } => DsrMessage::Reply { route: route.nodes().to_vec() },
            Content::Error { broken } => DsrMessage::Error { broken: ends(broken) },
        });
        let Header { route, at, salvaged } = header;
        let route = route.nodes().to_vec();
        (message.is_some() || route.len() > 1).then(|| Box::new(DsrOptions { route, at, salvaged, message }))
    }

    /// Removes the source route from an arrived data packet.
    pub(super) fn open(&mut self, handle: Handle, packet: &mut Packet) {
        self.arriving = self.header(handle);
        debug_assert!(packet.length >= self.arriving.length(), "a packet is longer than its headers");
        packet.length = packet.length - self.arriving.length();
    }

    /// Gives a copy of a packet the same source route.
    pub(super) fn copy(&mut self, from: Handle, to: Handle) {
        self.headers.set(to, self.header(from));
    }

    /// Gives a data packet a source route. Returns the next hop.
    pub(super) fn put_on(&mut self, handle: Handle, header: Header, packets: &mut Arena<Packet>) -> u32 {
        self.headers.set(handle, header);
        let packet = packets.get_mut(handle);
        packet.length += header.length();
        packet.transit = Transit::default();
        header.next().unwrap_or(BROADCAST)
    }

    /// Removes the source route from a data packet that could not be sent.
    pub(super) fn take_off(&mut self, handle: Handle, packets: &mut Arena<Packet>) {
        let packet = packets.get_mut(handle);
        packet.length = packet.length - self.header(handle).length();
    }

    /// Returns the next hop of a data packet, or of a packet with this message.
    pub(super) fn next(&self, handle: Handle, message: Option<Handle>) -> u32 {
        let header = message.map_or_else(|| self.header(handle), |message| self.messages.get(message).header);
        header.next().unwrap_or(BROADCAST)
    }

    /// Makes a call of a node's state machine, and turns the actions that it orders into steps.
    pub(super) fn call<R>(
        &mut self,
        desk: &mut Desk,
        plane: &mut Plane,
        act: impl FnOnce(&mut Dsr, &mut Context) -> R,
    ) -> R {
        debug_assert!(self.out.actions.is_empty(), "what was wanted before is being done");
        let Self { given, nodes, out, .. } = self;
        let result = act(&mut nodes[desk.node], &mut Context { now: desk.now, given, out });
        let mut actions = std::mem::take(&mut self.out.actions);
        for action in actions.drain(..) {
            match action {
                Action::Send { message, after } => {
                    let stored = (self.messages.insert(message), ip_bytes(message.length(&self.given)));
                    let to_all = matches!(message.content, Content::Request { .. });
                    let to = if to_all { BROADCAST } else { message.header.next().unwrap_or(BROADCAST) };
                    let way = (to, to_all, after);
                    plane.send_message(stored, way, &mut self.nodes[desk.node].counts, desk);
                }
                Action::Forward { packet, header, after } => {
                    let to = self.put_on(packet, header, desk.packets);
                    plane.send(packet, to, after);
                }
                Action::Discard { packet, why } => plane.discard(packet, why, true),
                // No port refills: a packet in the removed packet's place would have to make way again.
                Action::Displace { packet } => plane.discard(packet, LossCause::Buffer, false),
            }
        }
        self.out.actions = actions;
        result
    }

    pub(super) fn message(&self, message: Handle) -> Message {
        self.messages.get(message)
    }

    /// Frees a message whose packet has been freed.
    pub(super) fn release(&mut self, message: Handle) {
        debug_assert!(self.messages.live() > 0, "what is freed was stored");
        self.messages.remove(message);
    }
}
