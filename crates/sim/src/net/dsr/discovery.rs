//! Route discovery (RFC 4728): route requests (3.1, 3.3.3, 4.3) and their back-off. Also route maintenance with the
//! MAC's acknowledgements (8.3.4), and packet salvaging (8.3.6).

use super::action::{Action, Context};
use super::header::{Broken, Content, Header, Message};
use super::node::Dsr;
use super::route::Route;
use super::search::{Held, Search, Stage};
use super::settings::NearRequest;
use crate::engine::Handle;
use units::{Duration, Instant};

/// `DiscoveryHopLimit`: number of hops that a network-wide request may travel beyond the neighbours.
const DISCOVERY_HOP_LIMIT: u8 = 15;
/// `NonpropRequestTimeout`: time to wait after a request that neighbours do not pass on.
const NEAR_TIMEOUT: Duration = Duration::from_millis(30);

impl Dsr {
    /// Requests a route to a destination, now or after its back-off. For other nodes' packets it asks only neighbours.
    pub(super) fn search(&mut self, destination: u32, own: bool, cx: &mut Context) {
        let now = cx.now;
        let known = self.searches.iter().position(|search| search.destination == destination);
        if let Some(index) = known {
            let search = &mut self.searches[index];
            if own && search.stage == Stage::Near {
                search.due = search.due.min(now.max(search.began + NEAR_TIMEOUT));
            } else if search.due == Instant::NEVER {
                search.due = now.max(search.began + search.wait);
            }
            return self.continue_search(index, cx);
        }
        self.counts.searches += 1;
        let mut search = Search { destination, stage: Stage::Far, due: now, wait: cx.given.request_period, began: now };
        self.begin_try(&mut search, true, cx);
        self.searches.push(search);
    }

    /// Begins an attempt: if `near`, with a request that neighbours do not pass on (3.3.3); else a network-wide one.
    fn begin_try(&mut self, search: &mut Search, near: bool, cx: &mut Context) {
        search.began = cx.now;
        if near {
            (search.stage, search.due) = (Stage::Near, cx.now + NEAR_TIMEOUT);
            self.request(search.destination, 0, cx);
        } else {
            (search.stage, search.due) = (Stage::Far, cx.now + search.wait);
            self.request(search.destination, DISCOVERY_HOP_LIMIT, cx);
        }
    }

    fn request(&mut self, target: u32, hops_left: u8, cx: &mut Context) {
        self.request_id = self.request_id.wrapping_add(1);
        let Some(route) = Route::of([self.address]) else { return };
        // The report is at most a second old. It is sent to the whole network only once.
        let fresh = |&(_, told): &(_, Instant)| cx.now.since(told) < Duration::from_secs(1);
        let broken = self.told.filter(fresh).map(|(broken, _)| broken);
        if hops_left > 0 {
            self.told = None;
        }
        let content = Content::Request { id: self.request_id, target, hops_left, broken };
        self.counts.requests_sent += 1;
        self.send(Message { header: Header::new(route), content }, cx.given.jitter, cx);
    }

    pub(super) fn check_searches(&mut self, cx: &mut Context) {
        for index in 0..self.searches.len() {
            self.continue_search(index, cx);
        }
    }

    fn continue_search(&mut self, index: usize, cx: &mut Context) {
        let mut search = self.searches[index];
        if search.due > cx.now {
            return;
        }
        let waits = self.buffer.waits(search.destination);
        match search.stage {
            Stage::Near if waits => {
                search.stage = Stage::Far;
                search.due = search.began + search.wait;
                self.request(search.destination, DISCOVERY_HOP_LIMIT, cx);
            }
            // Packets of other nodes cause no network-wide request. They wait until a route is overheard.
            Stage::Near if cx.now < search.began + search.wait => search.due = search.began + search.wait,
            _ if waits => {
                search.back_off(cx.given);
                self.begin_try(&mut search, cx.given.near_request == NearRequest::Each, cx);
            }
            _ if self.buffer.give_up_other(search.destination, cx) => {
                search.back_off(cx.given);
                (search.stage, search.began, search.due) = (Stage::Far, cx.now, cx.now + search.wait);
            }
            // The next packet will begin another attempt.
            _ => (search.stage, search.due) = (Stage::Far, Instant::NEVER),
        }
        self.searches[index] = search;
    }

    /// Sends the packets for which a route has been found, one in each `interval`.
    pub(super) fn release(&mut self, interval: Duration, cx: &mut Context) {
        let mut after = Duration::ZERO;
        for _ in 0..self.buffer.packets.len() {
            let Some(held) = self.buffer.packets.pop_front() else { break };
            let Held { packet, destination, salvaged, own, .. } = held;
            if let Some(route) = self.cache.find(destination, own, cx) {
                let header = Header { salvaged, ..Header::new(route) };
                cx.out.actions.push(Action::Forward { packet, header, after });
                after += interval;
            } else {
                self.buffer.packets.push_back(held);
            }
        }
    }
}

/// A data packet that could not be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    /// The packet; `None` if the next hop has received it nevertheless.
    pub(crate) packet: Option<Handle>,
    pub(crate) header: Header,
    pub(crate) destination: u32,
    /// True if this node made the packet.
    pub(crate) own: bool,
}

impl Dsr {
    /// Handles a packet for the neighbour `to` that the MAC has given up.
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

    /// Handles a data packet that could not be sent. True if the node keeps it to send it by another route.
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

    /// Handles a message that could not be sent. It takes another known route, unless the message itself reports this
    /// link.
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
