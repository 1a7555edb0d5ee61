//! Handles received messages (RFC 3561): requests (6.5), replies (6.6, 6.7), errors (6.11), hellos (6.9).

use super::action::{Action, Context};
use super::message::{Message, Reply, Request};
use super::node::Aodv;
use super::settings::HELLO_LIFETIME;
use super::table::{Offer, newer, newest};
use units::{Duration, Instant};

impl Aodv {
    pub(crate) fn receive(&mut self, message: Message, from: u32, cx: &mut Context) {
        self.heard(from, cx);
        match message {
            Message::Request(request) => self.receive_request(request, from, cx),
            Message::Reply(reply) => self.receive_reply(reply, from, cx),
            Message::Hello { sequence } => self.receive_hello(sequence, from, cx),
            Message::Error { unreachable, no_delete } => self.receive_error(unreachable, no_delete, from, cx),
            Message::ReplyAck => self.links.acknowledged(from),
        }
        if !self.searches.is_empty() {
            self.end_searches(cx);
        }
        self.rearm();
    }

    fn receive_request(&mut self, mut request: Request, from: u32, cx: &mut Context) {
        let Context { now, settings, .. } = *cx;
        if request.originator == self.address || self.table.entry(from, now).blacklisted > now {
            return;
        }
        self.table.learn_neighbour(from, now, settings.given.active_route_timeout);
        let origin = self.table.entry(request.originator, now);
        if !origin.seen.is_first(request.id, now, settings.path_discovery_time) {
            return;
        }
        request.hops = request.hops.saturating_add(1);
        self.learn_way_back(&request, from, cx);
        if request.destination == self.address {
            self.reply_as_destination(&request, cx);
        } else if self.may_reply(&request, cx) {
            self.reply_for_destination(&request, from, cx);
        } else if request.ttl > 1 {
            request.ttl -= 1;
            let own = self.table.find(request.destination).and_then(|route| route.sequence);
            request.destination_sequence = newest(request.destination_sequence, own);
            self.table.entry(request.originator, now).asks_for(request.destination);
            self.counts.requests_forwarded += 1;
            self.broadcast(Message::Request(request), cx);
        }
    }

    /// Makes the reverse route, on which a reply can return (6.5).
    fn learn_way_back(&mut self, request: &Request, from: u32, cx: &mut Context) {
        let Context { now, settings, .. } = *cx;
        let covered = settings.given.node_traversal_time * 2 * u64::from(request.hops);
        let until = now + (settings.net_traversal_time * 2).saturating_sub(covered);
        let offer = Offer {
            destination: request.originator,
            sequence: request.originator_sequence,
            hops: request.hops,
            next: from,
            until,
        };
        if self.table.learn(offer, now).is_none()
            && let Some(known) = self.table.valid(request.originator, now)
        {
            known.extend(until);
        }
    }

    /// True if a route is fresh enough to reply in place of the destination (6.6).
    fn may_reply(&mut self, request: &Request, cx: &Context) -> bool {
        let Some(route) = self.table.valid(request.destination, cx.now) else { return false };
        let Some(own) = route.sequence.filter(|_| route.known) else { return false };
        !request.destination_only && request.destination_sequence.is_none_or(|asked| !newer(asked, own))
    }

    /// Replies as the destination (6.6.1; 6.1 for the sequence number).
    fn reply_as_destination(&mut self, request: &Request, cx: &mut Context) {
        self.sequence = newest(Some(self.sequence), request.destination_sequence).expect("one of them is known");
        let reply = Reply {
            hops: 0,
            destination: self.address,
            destination_sequence: self.sequence,
            originator: request.originator,
            lifetime: cx.settings.my_route_timeout,
            acknowledge: false,
        };
        self.send_reply(reply, cx);
    }

    /// Replies in place of the destination (6.6.2; with the G flag also 6.6.3).
    fn reply_for_destination(&mut self, request: &Request, from: u32, cx: &mut Context) {
        let now = cx.now;
        let Some(forward) = self.table.valid(request.destination, now) else { return };
        forward.add_precursor(from);
        let (toward, reply) = (
            forward.next,
            Reply {
                hops: forward.hops,
                destination: request.destination,
                destination_sequence: forward.sequence.expect("may_reply has seen it"),
                originator: request.originator,
                lifetime: forward.expires.since(now),
                acknowledge: false,
            },
        );
        let Some(back) = self.table.valid(request.originator, now) else { return };
        back.add_precursor(toward);
        let gratuitous = Reply {
            hops: back.hops,
            destination: request.originator,
            destination_sequence: request.originator_sequence,
            originator: request.destination,
            lifetime: back.expires.since(now),
            acknowledge: false,
        };
        self.send_reply(reply, cx);
        if request.gratuitous {
            self.send_reply(gratuitous, cx);
        }
    }

    /// Sends a reply, of this or another node, one hop towards the originator of the request.
    fn send_reply(&mut self, mut reply: Reply, cx: &mut Context) {
        let Some(back) = self.table.valid(reply.originator, cx.now) else { return };
        back.asked.retain(|&asked| asked != reply.destination);
        let to = back.next;
        reply.acknowledge = cx.settings.given.rrep_ack;
        if reply.acknowledge {
            self.links.awaited.push((to, cx.now + cx.settings.next_hop_wait));
        }
        self.counts.replies_sent += 1;
        cx.out.actions.push(Action::Send { message: Message::Reply(reply), to, after: Duration::ZERO });
    }

    /// Handles a reply (6.7).
    fn receive_reply(&mut self, mut reply: Reply, from: u32, cx: &mut Context) {
        let Context { now, settings, .. } = *cx;
        let active = settings.given.active_route_timeout;
        if reply.acknowledge {
            self.counts.acks_sent += 1;
            cx.out.actions.push(Action::Send { message: Message::ReplyAck, to: from, after: Duration::ZERO });
        }
        reply.hops = reply.hops.saturating_add(1);
        let offer = Offer {
            destination: reply.destination,
            sequence: reply.destination_sequence,
            hops: reply.hops,
            next: from,
            until: now + reply.lifetime,
        };
        // A node's reply about this node must not become a route to this node. The originator gets its own reply, too.
        let is_own = reply.destination == self.address;
        let taken = !is_own && self.table.learn(offer, now).map(|forward| forward.expires = offer.until).is_some();
        // If the destination itself sent the reply, its number comes first: a neighbour that is only heard has none.
        self.table.learn_neighbour(from, now, active);
        if is_own || !taken && (reply.originator == self.address || !self.replace(&mut reply, now)) {
            return;
        }
        if reply.originator == self.address {
            self.record_hop_time(reply.destination, reply.hops, now);
            return;
        }
        let Some(back) = self.table.valid(reply.originator, now) else { return };
        back.extend(now + active);
        let to = back.next;
        let forward = self.table.entry(reply.destination, now);
        forward.add_precursor(to);
        let next = forward.next;
        self.table.entry(next, now).add_precursor(to);
        self.send_reply(reply, cx);
    }

    /// If a reply brings no better route, but this node's own route is valid and a request still waits for a reply,
    /// replaces the reply by one about that route (as in 6.6.2). By section 6.7 the reply would end at this node, and
    /// its originator would never learn the route if all nodes on the way know it (van Glabbeek and others, 2016).
    fn replace(&mut self, reply: &mut Reply, now: Instant) -> bool {
        if !self.table.find(reply.originator).is_some_and(|origin| origin.asked.contains(&reply.destination)) {
            return false;
        }
        let Some(own) = self.table.valid(reply.destination, now).filter(|own| own.known) else { return false };
        let Some(sequence) = own.sequence else { return false };
        debug_assert!(!newer(reply.destination_sequence, sequence), "a newer route is taken");
        debug_assert!(own.expires > now, "a valid route has time left");
        (reply.hops, reply.destination_sequence, reply.lifetime) = (own.hops, sequence, own.expires.since(now));
        true
    }

    /// Handles a hello (6.9): there is a neighbour with this sequence number.
    fn receive_hello(&mut self, sequence: u32, from: u32, cx: &mut Context) {
        let now = cx.now;
        self.links.greeted(from, now + HELLO_LIFETIME);
        self.table.learn(Offer { destination: from, sequence, hops: 1, next: from, until: now }, now);
        self.table.learn_neighbour(from, now, HELLO_LIFETIME);
    }
}
