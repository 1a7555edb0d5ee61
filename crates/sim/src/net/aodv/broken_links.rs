//! Detects broken links (RFC 3561, 6.8 to 6.10), and reports them with errors (6.11, 6.12).

use super::action::{Action, Context, Ends};
use super::message::{List, Message, Unreachable};
use super::node::Aodv;
use super::settings::{HELLO_INTERVAL, HELLO_LIFETIME};
use super::table::{Route, State};
use crate::config::{ErrorsTo, RepairWithin};
use crate::engine::Handle;
use units::Duration;

/// Largest number of destinations in a route error: `DestCount` has eight bits.
const MOST_UNREACHABLE: usize = 255;

impl Aodv {
    /// Records that a neighbour was heard: any packet shows that its link works (6.10).
    pub(crate) fn heard(&mut self, from: u32, cx: &Context) {
        if let Some((_, until)) = self.links.greeted.iter_mut().find(|(known, _)| *known == from) {
            *until = cx.now + HELLO_LIFETIME;
        }
    }

    /// Handles a message that the MAC has given up. A neighbour that gets no replies cannot use this node's links
    /// (6.8). True if the link now counts as broken.
    pub(crate) fn message_failed(&mut self, message: &Message, to: u32, cx: &mut Context) -> bool {
        if matches!(message, Message::Reply(_)) {
            self.blacklist(to, cx);
        }
        if cx.settings.given.message_failures {
            self.link_failed(to, None, cx);
        }
        cx.settings.given.message_failures
    }

    /// Handles a data packet that the MAC has given up; its link counts as broken. True if the node keeps the packet to
    /// send it by another route. `packet` is `None` if the neighbour has received the packet nevertheless.
    pub(crate) fn packet_failed(&mut self, packet: Option<Handle>, to: u32, ends: &Ends, cx: &mut Context) -> bool {
        if !cx.settings.given.packet_failures {
            return false;
        }
        let repaired = self.link_failed(to, Some(ends), cx);
        match packet {
            Some(packet) if repaired => self.buffer.hold(packet, ends.destination, cx),
            _ => return false,
        }
        true
    }

    /// Invalidates all routes over a link. True if the route of `of`, a packet to that neighbour, is being repaired.
    fn link_failed(&mut self, neighbour: u32, of: Option<&Ends>, cx: &mut Context) -> bool {
        let now = cx.now;
        let mut repaired = None;
        begin_error(cx);
        let mut any = false;
        for route in self.table.routes() {
            if route.state != State::Valid || route.expires <= now || route.next != neighbour {
                continue;
            }
            any = true;
            route.invalidate(None);
            let repair = of.filter(|ends| {
                let wanted = cx.settings.given.local_repair && ends.origin != self.address;
                let within = match cx.settings.given.repair_within {
                    RepairWithin::MaxRepairTtl => route.hops <= cx.settings.max_repair_ttl,
                    RepairWithin::NearerHalf => route.hops < ends.travelled,
                };
                wanted && ends.destination == route.destination && within
            });
            if repair.is_some() {
                repaired = repair;
            } else {
                report(route, cx);
            }
        }
        self.counts.link_failures += u64::from(any);
        self.end_error(false, cx);
        if let Some(ends) = repaired {
            self.repair(ends.destination, ends.origin, cx);
        }
        self.rearm();
        let state = of.and_then(|ends| self.table.find(ends.destination)).map(|route| route.state);
        state == Some(State::Repairing)
    }

    /// Ignores requests of a neighbour for a while.
    fn blacklist(&mut self, neighbour: u32, cx: &Context) {
        self.table.entry(neighbour, cx.now).blacklisted = cx.now + cx.settings.blacklist_timeout;
    }

    /// Handles a packet from `previous` for which there is no route (6.11, case ii). Its sender is told even if it is
    /// not a known precursor.
    pub(super) fn no_route(&mut self, destination: u32, previous: u32, cx: &mut Context) {
        begin_error(cx);
        let route = self.table.entry(destination, cx.now);
        route.invalidate(None);
        route.add_precursor(previous);
        report(route, cx);
        self.end_error(false, cx);
    }

    /// Reports the end of a repair (6.12): it failed, or with `no_delete` it found a route longer than the old one.
    pub(super) fn repair_ends(&mut self, destination: u32, no_delete: bool, cx: &mut Context) {
        begin_error(cx);
        report(self.table.entry(destination, cx.now), cx);
        self.end_error(no_delete, cx);
    }

    /// Handles a route error. This node's routes through the neighbour to the listed destinations are now invalid, too
    /// (6.11, case iii).
    pub(super) fn receive_error(&mut self, list: List, no_delete: bool, from: u32, cx: &mut Context) {
        let now = cx.now;
        begin_error(cx);
        for at in 0..cx.out.lists.get(list).len() {
            let Unreachable { destination, sequence } = cx.out.lists.get(list)[at];
            let Some(route) = self.table.valid(destination, now).filter(|route| route.next == from) else { continue };
            if !no_delete {
                route.invalidate(sequence);
            }
            report(route, cx);
        }
        self.end_error(no_delete, cx);
    }

    /// Sends the collected route error unless the rate limit is reached: to the only neighbour concerned, or to all.
    fn end_error(&mut self, no_delete: bool, cx: &mut Context) {
        let now = cx.now;
        let unreachable = std::mem::take(&mut cx.out.unreachable);
        for part in unreachable.chunks(MOST_UNREACHABLE) {
            if self.errors.next(now) > now {
                break;
            }
            self.errors.count(now);
            self.counts.errors_sent += 1;
            let message = Message::Error { unreachable: cx.out.lists.insert(part), no_delete };
            match cx.out.precursors[..] {
                [to] if cx.settings.given.errors_to == ErrorsTo::Precursors => {
                    cx.out.actions.push(Action::Send { message, to, after: Duration::ZERO });
                }
                _ => self.broadcast(message, cx),
            }
            if !no_delete {
                for lost in part {
                    self.table.entry(lost.destination, now).precursors.clear();
                }
            }
        }
        cx.out.unreachable = unreachable;
    }

    /// Sends a hello if one is due, and detects neighbours that have become silent.
    pub(super) fn check_links(&mut self, cx: &mut Context) {
        let now = cx.now;
        while let Some(at) = self.links.awaited.iter().position(|&(_, until)| until <= now) {
            let (neighbour, _) = self.links.awaited.swap_remove(at);
            self.blacklist(neighbour, cx);
        }
        while let Some(at) = self.links.greeted.iter().position(|&(_, until)| until <= now) {
            let (neighbour, _) = self.links.greeted.swap_remove(at);
            self.link_failed(neighbour, None, cx);
        }
        if self.links.hello <= now {
            let active = |route: &Route| route.state == State::Valid && route.expires > now;
            // 6.9: only nodes on active routes send hellos, and only if they have sent no other broadcast meanwhile.
            if self.links.broadcast + HELLO_INTERVAL <= now && self.table.routes().iter().any(active) {
                self.counts.hellos_sent += 1;
                self.broadcast(Message::Hello { sequence: self.sequence }, cx);
            }
            self.links.hello = now + HELLO_INTERVAL;
        }
    }
}

fn begin_error(cx: &mut Context) {
    cx.out.unreachable.clear();
    cx.out.precursors.clear();
}

/// Adds a lost route to the route error if any neighbour uses the route.
fn report(route: &Route, cx: &mut Context) {
    if route.precursors.is_empty() {
        return;
    }
    cx.out.unreachable.push(Unreachable { destination: route.destination, sequence: route.sequence });
    for &precursor in &route.precursors {
        if !cx.out.precursors.contains(&precursor) {
            cx.out.precursors.push(precursor);
        }
    }
}
