//! Route maintenance by the MAC's acknowledgements (RFC 4728, 8.3.4) and packet salvaging (8.3.6).

use super::action::{Action, Context};
use super::header::{Broken, Content, Header, Message};
use super::node::Dsr;
use crate::engine::Handle;
use units::Duration;

/// A data packet that could not be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    /// The packet; none if the next hop has received it nevertheless.
    pub(crate) packet: Option<Handle>,
    pub(crate) header: Header,
    pub(crate) destination: u32,
    /// True if this node made the packet.
    pub(crate) own: bool,
}

impl Dsr {
    /// Handles a packet for this neighbour that the MAC has given up.
    pub(crate) fn link_failed(&mut self, to: u32) -> Broken {
        let broken = Broken { from: self.address, to };
        self.cache.remove(broken);
        self.counts.link_failures += 1;
        broken
    }

    /// Reports a broken link to the sender of a packet.
    pub(crate) fn tell_of(&mut self, broken: Broken, header: &Header, cx: &mut Context) {
        self.send_error(header, broken, cx);
    }

    /// Handles a data packet that could not be sent. True if the node keeps the packet, to send it by another route.
    pub(crate) fn packet_failed(&mut self, failed: &Failed, cx: &mut Context) -> bool {
        let &Failed { packet, header, destination, own } = failed;
        let Some(packet) = packet else { return false };
        if own {
            self.originate(packet, destination, cx);
            return true;
        }
        if header.salvaged >= cx.given.max_salvage_count {
            return false;
        }
        if let Some(route) = self.cache.find(destination, false, cx) {
            let header = Header { salvaged: header.salvaged + 1, ..Header::new(route) };
            self.counts.salvaged += 1;
            cx.out.actions.push(Action::Forward { packet, header, after: Duration::ZERO });
            return true;
        }
        if cx.given.salvage_search {
            self.hold(packet, destination, header.salvaged + 1, false, cx);
            self.rearm(cx);
        }
        cx.given.salvage_search
    }

    /// Handles a message that could not be sent: it takes another route, if one is known and the message does not
    /// itself report this link.
    pub(crate) fn message_failed(&mut self, message: &Message, broken: Broken, cx: &mut Context) {
        self.tell_of(broken, &message.header, cx);
        self.salvage_message(message, broken.to, cx);
    }

    /// Sends a message by a route that avoids a neighbour.
    pub(crate) fn salvage_message(&mut self, message: &Message, over: u32, cx: &mut Context) {
        let Some(destination) = message.destination() else { return };
        if let Content::Reply { route } = message.content
            && (route.uses(self.address, over) || route.uses(over, self.address))
        {
            return;
        }
        if message.header.salvaged >= cx.given.max_salvage_count {
            return;
        }
        if let Some(route) = self.cache.find(destination, false, cx) {
            let header = Header { salvaged: message.header.salvaged + 1, ..Header::new(route) };
            cx.out.actions.push(Action::Send { message: Message { header, ..*message }, after: Duration::ZERO });
        }
    }
}
