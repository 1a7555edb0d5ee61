//! Learning from packets that are forwarded or overheard (RFC 4728, 3.3.1), and automatic route shortening (3.4.3).

use super::action::Context;
use super::header::{Content, Header, Message};
use super::node::Dsr;
use super::route::Route;
use units::Duration;

impl Dsr {
    /// Learns a route from this node that it did not request.
    pub(super) fn notice(&mut self, route: &Route, cx: &Context) {
        self.learnt |= self.cache.notice(route, cx);
    }

    /// Learns from the source route of a packet passed on by this node, at index `at`; the part ahead only if `ahead`.
    pub(super) fn learn_from(&mut self, header: &Header, ahead: bool, cx: &Context) {
        if ahead {
            self.notice(&header.route.rest_from(header.at), cx);
        }
        if cx.given.learn_reverse {
            self.notice(&header.route.back_from(header.at), cx);
        }
    }

    /// Sends the packets for which a route was learnt without a request (4.1).
    pub(super) fn settle(&mut self, cx: &mut Context) {
        if std::mem::take(&mut self.learnt) && self.held() > 0 && cx.given.buffer_check.is_zero() {
            self.release(Duration::ZERO, cx);
            self.rearm(cx);
        }
    }

    /// Learns from a route, if this node is on it.
    pub(super) fn learn_route(&mut self, route: &Route, cx: &Context) {
        if let Some(own) = route.position(self.address) {
            self.learn_from(&Header { at: own, ..Header::new(*route) }, true, cx);
        }
    }

    /// Learns from a packet that a neighbour sends to another.
    fn overhear(&mut self, header: &Header, ahead: bool, cx: &Context) {
        if let Some(at) = header.route.position(self.address) {
            return self.learn_from(&Header { at, ..*header }, ahead, cx);
        }
        let Some(me) = Route::of([self.address]) else { return };
        let ways = [
            ahead.then(|| header.route.rest_from(header.at)),
            cx.given.learn_reverse.then(|| header.route.back_from(header.at)),
        ];
        for way in ways.iter().flatten() {
            if let Some(route) = me.then(way) {
                self.notice(&route, cx);
            }
        }
    }

    /// Handles an overheard data packet for another node. If this node is farther on in the route, those between are
    /// not needed.
    pub(crate) fn overhear_data(&mut self, header: &Header, cx: &mut Context) {
        self.overhear(header, true, cx);
        self.settle(cx);
        let Some(own) = header.route.position(self.address) else { return };
        let (Some(heard), Some(&first)) = (header.sender(), header.route.nodes().first()) else { return };
        if own <= header.at.saturating_add(1) || !self.shortened.is_new(first, heard, cx) {
            return;
        }
        let (begin, end) = (header.route.first(header.at + 1), header.route.rest_from(own));
        let (Some(shorter), Some(me)) = (begin.then(&end), Route::of([self.address])) else { return };
        if let Some(back) = me.then(&header.route.back_from(header.at)) {
            self.counts.shortenings += 1;
            self.send_reply(back, shorter, Duration::ZERO, cx);
        }
    }

    /// Handles an overheard message for another node.
    pub(crate) fn overhear_message(&mut self, message: &Message, cx: &mut Context) {
        match &message.content {
            Content::Error { broken } => self.cache.remove(*broken),
            Content::Reply { route } => self.learn_route(route, cx),
            Content::Request { .. } => return,
        }
        self.overhear(&message.header, teaches_ahead(message, cx), cx);
        self.settle(cx);
    }
}

/// True if nodes learn the part of a route ahead of a message: this part is not known to work in both directions while
/// the reporting message is still on it (3.3.1).
pub(super) fn teaches_ahead(message: &Message, cx: &Context) -> bool {
    !cx.given.learn_reverse || !matches!(message.content, Content::Reply { .. })
}
