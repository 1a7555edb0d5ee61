//! Handles received messages (RFC 4728): requests (8.2.2, 8.2.4), replies (8.2.6) and errors (8.3.5). Learns from
//! packets that are forwarded or overheard (3.3.1), and shortens routes (3.4.3).

use super::action::{Action, Context};
use super::header::{Broken, Content, Header, Message};
use super::node::Dsr;
use super::route::Route;
use units::Duration;

impl Dsr {
    pub(crate) fn receive(&mut self, mut message: Message, cx: &mut Context) {
        if let Content::Request { id, target, hops_left, broken } = message.content {
            if let Some(broken) = broken {
                self.cache.remove(broken);
            }
            self.receive_request(message, (id, target, hops_left), cx);
        } else {
            message.header.at = message.header.at.saturating_add(1);
            if message.header.sender() == Some(self.address) {
                self.take(&message, cx);
            }
        }
        self.settle(cx);
        self.rearm(cx);
    }

    fn receive_request(&mut self, mut message: Message, asked: (u32, u32, u8), cx: &mut Context) {
        let (id, target, hops_left) = asked;
        let so_far = message.header.route;
        let Some(&initiator) = so_far.nodes().first() else { return };
        let mut with_me = so_far;
        if !with_me.push(self.address) {
            return;
        }
        if cx.given.learn_reverse {
            self.notice(&with_me.back_from(with_me.hops()), cx);
        }
        if target == self.address {
            return self.reply(with_me, with_me.hops(), cx.given.jitter, cx);
        }
        if !self.seen.is_first(initiator, id) {
            return;
        }
        if cx.given.replies_from_cache
            && let Some(rest) = self.cache.find(target, false, cx)
            && let Some(whole) = so_far.then(&rest)
        {
            return self.reply(whole, with_me.hops(), Duration::ZERO, cx);
        }
        if hops_left == 0 || with_me.is_full() {
            return;
        }
        message.header.route = with_me;
        if let Content::Request { hops_left, .. } = &mut message.content {
            *hops_left -= 1;
        }
        self.counts.requests_forwarded += 1;
        self.send(message, cx.given.jitter, cx);
    }

    /// Sends a reply along the reverse route, with a route in which this node has the index `own`.
    fn reply(&mut self, route: Route, own: u8, jitter: Duration, cx: &mut Context) {
        let back = route.back_from(own);
        self.learnt |= self.cache.add(&back, cx);
        self.send_reply(back, route, jitter, cx);
    }

    pub(super) fn send_reply(&mut self, back: Route, route: Route, jitter: Duration, cx: &mut Context) {
        self.counts.replies_sent += 1;
        self.send(Message { header: Header::new(back), content: Content::Reply { route } }, jitter, cx);
    }

    /// Takes a message that follows its source route. Passes it on if it is for another node.
    fn take(&mut self, message: &Message, cx: &mut Context) {
        let is_mine = message.destination() == Some(self.address);
        match message.content {
            Content::Reply { route } if is_mine => self.take_reply(&route, cx),
            Content::Reply { route } if cx.given.learn_forwarded_replies => self.learn_route(&route, cx),
            Content::Error { broken } => {
                self.cache.remove(broken);
                if is_mine {
                    self.told = Some((broken, cx.now));
                }
            }
            Content::Reply { .. } | Content::Request { .. } => {}
        }
        if is_mine {
            return;
        }
        self.learn_from(&message.header, teaches_ahead(message, cx), cx);
        match message.content {
            Content::Error { .. } => self.counts.errors_sent += 1,
            _ => self.counts.replies_sent += 1,
        }
        cx.out.actions.push(Action::Send { message: *message, after: Duration::ZERO });
    }

    /// Takes a reply to this node's request, or a report of a shorter route without a request.
    fn take_reply(&mut self, route: &Route, cx: &mut Context) {
        if route.nodes().first() != Some(&self.address) {
            return;
        }
        self.cache.add(route, cx);
        if let Some(&target) = route.nodes().last() {
            self.searches.retain(|search| search.destination != target);
        }
        self.release(cx.given.release_interval, cx);
    }

    /// Sends a route error to the first node of a route, because the node at `at` could not forward its packet.
    pub(super) fn send_error(&mut self, header: &Header, broken: Broken, cx: &mut Context) {
        let back = header.route.back_from(header.at);
        if back.hops() == 0 {
            return;
        }
        self.counts.errors_sent += 1;
        self.send(Message { header: Header::new(back), content: Content::Error { broken } }, Duration::ZERO, cx);
    }

    /// Learns a route from this node that it did not request.
    pub(super) fn notice(&mut self, route: &Route, cx: &Context) {
        self.learnt |= self.cache.notice(route, cx);
    }

    /// Learns from the source route of a packet that this node, at index `at`, passes on; `ahead`: also the part ahead.
    pub(super) fn learn_from(&mut self, header: &Header, ahead: bool, cx: &Context) {
        if ahead {
            self.notice(&header.route.rest_from(header.at), cx);
        }
        if cx.given.learn_reverse {
            self.notice(&header.route.back_from(header.at), cx);
        }
    }

    /// Sends the packets whose route was learnt without a request (4.1).
    pub(super) fn settle(&mut self, cx: &mut Context) {
        if std::mem::take(&mut self.learnt) && self.held() > 0 && cx.given.buffer_check.is_zero() {
            self.release(Duration::ZERO, cx);
            self.rearm(cx);
        }
    }

    /// Learns from a route, if this node is on it.
    fn learn_route(&mut self, route: &Route, cx: &Context) {
        if let Some(own) = route.position(self.address) {
            self.learn_from(&Header { at: own, ..Header::new(*route) }, true, cx);
        }
    }

    /// Learns from a packet that a neighbour sends to another node.
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

    /// Handles a data packet for another node that was overheard. If this node comes later in its route, the nodes
    /// between are not needed.
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

    /// Handles a message for another node that was overheard.
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

/// True if nodes learn from the part of the route that lies ahead of a message. This part may not work in both
/// directions if the reporting message has not passed it yet (3.3.1).
fn teaches_ahead(message: &Message, cx: &Context) -> bool {
    !cx.given.learn_reverse || !matches!(message.content, Content::Reply { .. })
}
