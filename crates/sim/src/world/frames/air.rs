//! Delivers the fronts and tails of frames in the air to the stations that hear them.
//!
//! A front or tail passes its listeners in order of distance, each at its own time. If no other event lies between two
//! listeners, or between the sender and the first, the next listener is served at once, without the event queue. The
//! order of events is the same as with a queued event per listener, and the cost is a fraction.

use super::sending::{Sort, count_transmission};
use crate::config::ChannelWidth;
use crate::engine::{Handle, NodeId};
use crate::mac::{Answer, BROADCAST, Due, Frame, Kind};
use crate::net::Load;
use crate::radio::{Heard, Shape, Signal};
use crate::world::nodes::Node;
use crate::world::state::{Event, World};
use units::Instant;

/// Why a tail stops passing listeners.
enum Stop {
    /// The listener with this index has received a frame that concerns its node.
    At(u32, Heard, NodeId),
    /// Another event comes before the tail reaches the listener with this index.
    Before(Instant, u32),
    /// The tail has passed all listeners.
    End,
}

impl World {
    /// Lets a station act at its deadline.
    #[inline(always)] // once an access
    pub(crate) fn act(&mut self, node: NodeId) {
        // Only a station that waits for an answer needs to know this.
        let station = &mut self.nodes[node].station;
        let receiving = station.listens() && self.medium.receives(node.into(), self.now);
        match station.timer(self.now, receiving, &self.rules) {
            Due::Send(frame) if self.medium.has_bands() || matches!(frame.kind, Kind::Triggered { .. }) => {
                let Self { nodes, medium, rules, events, now, .. } = self;
                if medium.has_bands() && !nodes[node].may_answer(node, &frame, medium, *now, rules) {
                    return nodes[node].arm(node, events);
                }
                let triggered = matches!(frame.kind, Kind::Triggered { .. });
                let frame = if triggered { self.answer_trigger(node, &frame) } else { frame };
                self.send(node, &frame);
            }
            Due::Send(frame) => self.send(node, &frame),
            Due::Begin(category) => {
                if self.nodes[node].egress.driver.is_some() {
                    self.outside().follow_driver(node, category);
                }
                if self.medium.has_bands() {
                    let Self { nodes, medium, rules, now, .. } = self;
                    if !nodes[node].settles_width(node, medium, *now, rules) {
                        self.finish_frames(node);
                        self.serve(node);
                        return;
                    }
                }
                if self.nodes[node].station.downlink.is_some() && self.begin_for_several(node, category) {
                    return;
                }
                let begun = self.nodes[node].station.assemble(self.now, &self.rules);
                let assembly = begun.map(|begun| self.filled_up(node, begun));
                let bursts = self.nodes[node].station.txop.bursts();
                let ahead = if bursts {
                    let (of, rules, mut accounts) = self.node_and_accounts(node);
                    of.ahead(category, rules, &mut accounts)
                } else {
                    None
                };
                let frame = self.nodes[node].station.begin(self.now, assembly, ahead, &self.rules);
                self.send(node, &frame);
            }
            Due::Failed(answer) => {
                self.count_outcome(node, answer);
                if self.nodes[node].station.tmac.is_some() {
                    let (of, rules, mut accounts) = self.node_and_accounts(node);
                    of.take_turn(rules, &mut accounts);
                }
                self.serve(node);
            }
            // A station that may not answer keeps its own time for sending.
            Due::Wait => self.nodes[node].arm(node, &mut self.events),
        }
    }

    /// Begins a frame to several stations or a trigger for their frames, or gives up the access to the medium. False if
    /// a frame to one station is due.
    #[cold]
    fn begin_for_several(&mut self, node: NodeId, category: u8) -> bool {
        let solicited =
            self.nodes[node].station.uplink.is_some().then(|| self.nodes[node].solicit(self.now, &self.rules));
        if let Some(Ok(trigger)) = solicited {
            self.send(node, &trigger);
        } else if let Some(Err(why)) = solicited
            && self.nodes[node].station.forgoes(self.now, why, &self.rules)
        {
            self.finish_frames(node);
            self.serve(node);
        } else if let Some(frame) = self.share_downlink(node, category) {
            self.send(node, &frame);
        } else {
            return false;
        }
        true
    }

    fn send(&mut self, node: NodeId, frame: &Frame) {
        let psdu = frame.psdu(self.rules.key);
        let (sort, lasts) = self.nodes[node].begins(frame, self.now, &self.rules);
        let duration = lasts.unwrap_or_else(|| self.rules.timing.duration(frame.mode, psdu));
        self.broadcasts_in_air += u64::from(sort == Sort::Broadcast);
        let aggregate = matches!(sort, Sort::Held | Sort::Parts);
        let control = matches!(sort, Sort::Response | Sort::Control);
        let answers = frame.answers_beside_others().unwrap_or(Shape::NOBODY);
        let (width, limited) = (ChannelWidth::Mhz20, false);
        let mut shape = Shape { mode: frame.mode, psdu, duration, aggregate, control, answers, width, limited };
        if self.medium.has_bands() {
            shape = self.nodes[node].in_band(node, frame, shape, &self.medium, &self.rules);
        }
        let Self { nodes, packets, flows, warmup, .. } = self;
        let mut count = |first| count_transmission(first, packets, flows, *warmup);
        let Node { station, egress, record, gauge, energy, .. } = &mut nodes[node];
        let observed = gauge.is_some() || energy.is_some() || self.watch.is_some();
        record.airtime += duration;
        if frame.to != BROADCAST {
            record.hops.to(frame.to).airtime += duration;
            if sort != Sort::Response {
                let asked = station.uplink.as_ref().and_then(|uplink| uplink.asked);
                let own = || asked.map_or(duration, |round| duration / u64::from(round.users));
                egress.on_air(self.now, frame.to, frame.category, false, own);
            }
        }
        match sort {
            Sort::Packet(packet) => {
                let hop = record.hops.to(frame.to);
                hop.attempts += 1;
                hop.repeated += u64::from(frame.retry);
                count(packet);
            }
            Sort::Held => {
                let hop = record.hops.to(frame.to);
                hop.attempts += 1;
                // Frames that are sent again come first.
                hop.repeated += station.held.in_flight().take_while(|mpdu| mpdu.retry).count() as u64;
                station.held.in_flight().for_each(|mpdu| count(mpdu.packet));
            }
            Sort::Parts => {
                let mpdus = station.held.parts().flat_map(|part| station.held.in_flight_to(part.to));
                mpdus.for_each(|mpdu| count(mpdu.packet));
            }
            Sort::Response | Sort::Control | Sort::Broadcast => {}
        }
        if self.nodes[node].station.tmac.is_some() {
            let (of, _, mut accounts) = self.node_and_accounts(node);
            of.tell_key(frame, &mut accounts);
        }
        if observed {
            self.trace(node, frame, None);
            self.nodes[node].measure_sent(self.now, frame, duration);
        }
        let (of, turned_busy) = self.medium.start(node.into(), *frame, self.now, shape);
        if turned_busy {
            self.nodes[node].station.turned_busy(self.now, &self.rules);
        }
        if self.medium.has_bands()
            && let Some(time) = self.medium.colour_time(of)
        {
            self.events.push(time, Event::Colour { of });
        }
        self.pass_on(of, self.now + duration);
    }

    /// Starts the way of a frame that is being sent until `end`. If no other event comes before the frame has been
    /// sent, its front passes all listeners at once, without an event.
    #[inline]
    fn pass_on(&mut self, of: Handle, end: Instant) {
        let (first, last) = self.medium.front_times(of).unzip();
        let until = self.until.min(self.events.next_time());
        let undisturbed = end < until && last.is_none_or(|last| last < end);
        if !undisturbed {
            self.events.push(end, Event::Sent { of });
        }
        match first {
            Some(time) if self.goes_on(time) => self.front(of, 0),
            Some(time) => self.events.push(time, Event::Front { of, listener: 0 }),
            None => {}
        }
        if undisturbed && self.goes_on(end) {
            self.sent(of);
        }
    }

    /// Ends the sending of a frame at its sender.
    pub(crate) fn sent(&mut self, of: Handle) {
        if self.broadcasts_in_air > 0 {
            self.expect_receptions(of);
        }
        let Self { medium, nodes, rules, now, .. } = self;
        let (transmission, turned_idle) = medium.end(of);
        let from = NodeId::from(transmission.from);
        let station = &mut nodes[from].station;
        station.sent(*now, &transmission.frame, rules);
        if turned_idle {
            station.turned_idle(*now, rules);
        }
        self.finish_frames(from);
        self.serve(from);
        match self.medium.tail_time(of) {
            Some(time) if self.goes_on(time) => self.tail(of, 0),
            Some(time) => self.events.push(time, Event::Tail { of, listener: 0 }),
            None => self.clear(of),
        }
    }

    /// Counts the nodes in range of a broadcast that was sent. They should receive its packets.
    #[inline(never)]
    fn expect_receptions(&mut self, of: Handle) {
        let frame = self.medium.frame(of);
        let Kind::Data { packet, .. } = frame.kind else { return };
        if frame.to != BROADCAST {
            return;
        }
        let mut next = Some(packet);
        while let Some(handle) = next {
            let packet = self.packets.get(handle);
            next = packet.transit.next;
            let Load::Flow(flow) = packet.load else { continue };
            let Some(receptions) = &mut self.flows[flow].record.receptions else { continue };
            if packet.created >= self.warmup {
                receptions.expect(self.medium.neighbours(frame.from).count() as u64);
                if let Some(distances) = &mut self.distances {
                    distances.classes(frame.from, self.now).for_each(|class| receptions.expect_at(class));
                }
            }
        }
    }

    /// Lets the front of a frame pass its listeners, from `listener` on.
    pub(crate) fn front(&mut self, of: Handle, listener: u32) {
        // A front causes no event, so the time of the next event stays the same.
        let until = self.until.min(self.events.next_time());
        let Self { medium, nodes, rules, events, now, handled, .. } = self;
        let (frame, links, receivers) = medium.listeners(of);
        for (link, index) in links[listener as usize..].iter().zip(listener..) {
            let time = frame.sent.start + link.delay;
            if index > listener {
                if time >= until {
                    events.push(time, Event::Front { of, listener: index });
                    break;
                }
                *now = time;
                *handled += 1;
            }
            if receivers.front(frame, link, time) {
                nodes[NodeId::from(link.to)].station.turned_busy(time, rules);
            }
        }
    }

    /// Lets the tail of a frame pass its listeners, from `listener` on.
    pub(crate) fn tail(&mut self, of: Handle, listener: u32) {
        if self.rules.block_ack() {
            let frame = self.medium.frame(of);
            if matches!(frame.kind, Kind::MultiUser { .. }) {
                return self.tail_of_parts(of, listener);
            }
            self.nodes[frame.from.into()].lay_out(&frame, &mut self.laid_out);
        }
        let mut from = listener;
        loop {
            match self.passes(of, from, listener) {
                Stop::At(index, heard, node) => {
                    let frame = self.medium.frame(of);
                    self.heard(node, of, &frame, &heard);
                    from = index + 1;
                }
                Stop::Before(time, listener) => return self.events.push(time, Event::Tail { of, listener }),
                Stop::End => return self.clear(of),
            }
        }
    }

    /// Fast path of a tail over listeners, from index `from` on, for which only the medium becomes idle. It ends at a
    /// listener that the frame concerns otherwise, at another event, or after the last. The tail is at `due` now.
    #[inline]
    fn passes(&mut self, of: Handle, from: u32, due: u32) -> Stop {
        let Self { medium, nodes, rules, events, now, handled, laid_out, overheard, .. } = self;
        let mut until = self.until.min(events.next_time());
        let (passing, links, receivers) = medium.listeners(of);
        let frame = &passing.sent.frame;
        for (link, index) in links[from as usize..].iter().zip(from..) {
            let time = passing.sent.end + link.delay;
            if index > due {
                if time >= until {
                    return Stop::Before(time, index);
                }
                *now = time;
                *handled += 1;
            }
            let heard = receivers.tail(passing, link, time, laid_out);
            if matches!(heard, Heard { what: Signal::Nothing, turned_idle: false, .. }) {
                continue;
            }
            let node = NodeId::from(link.to);
            let bystander = &mut nodes[node];
            let Node { station, egress, gauge, .. } = bystander;
            let stays =
                station.only_overhears(frame) && !egress.has_moved() && station.contention.free() & egress.filled == 0;
            if *overheard || !stays || gauge.is_some() {
                return Stop::At(index, heard, node);
            }
            match heard.what {
                Signal::Good { .. } => {
                    station.contention.overhears(time + frame.reserves, || frame.txop_holder(), rules);
                }
                Signal::Bad { header_read } => station.contention.overhears_spoilt(time, header_read, rules),
                Signal::Noise => station.contention.noise(time, rules),
                Signal::Foreign | Signal::Nothing => {}
            }
            if heard.turned_idle {
                station.turned_idle(time, rules);
            }
            if let Some(deadline) = bystander.newly_due() {
                until = until.min(deadline);
                events.push(deadline, Event::Deadline { node });
            }
        }
        Stop::End
    }

    /// Handles the tail of a frame at a listener.
    #[inline(always)] // once a listener: the call costs a chain 1 %
    pub(super) fn heard(&mut self, node: NodeId, of: Handle, frame: &Frame, heard: &Heard) {
        let by_age = self.nodes[node].station.tmac.is_some();
        let is_for_it = || self.medium.frame(of).to == u32::from(node);
        if self.watch.as_ref().is_some_and(|watch| watch.hears(node, is_for_it)) {
            self.trace(node, &self.medium.frame(of), Some(heard));
        }
        match heard.what {
            Signal::Good { whole } => {
                let told = if by_age { self.nodes[frame.from.into()].told(node.into()) } else { None };
                if let Some(told) = told {
                    let (of, rules, mut accounts) = self.node_and_accounts(node);
                    of.hear_key(frame, heard.power, told, rules, &mut accounts);
                }
                match frame.kind {
                    Kind::MultiUser { .. } | Kind::Trigger { .. } | Kind::MultiBlockAck { .. } => {
                        self.receive(node, &self.addressed(node, frame), whole);
                    }
                    _ => self.receive(node, frame, whole),
                }
                if by_age {
                    let (of, rules, mut accounts) = self.node_and_accounts(node);
                    of.take_turn(rules, &mut accounts);
                }
            }
            Signal::Bad { header_read } => {
                let answer = self.nodes[node].station.spoilt(self.now, header_read, &self.rules);
                self.count_outcome(node, answer);
            }
            Signal::Noise => self.nodes[node].station.contention.noise(self.now, &self.rules),
            Signal::Foreign => {
                let answer = self.nodes[node].station.missed_response(self.now, &self.rules);
                self.count_outcome(node, answer);
            }
            Signal::Nothing => {}
        }
        if heard.turned_idle {
            self.nodes[node].station.turned_idle(self.now, &self.rules);
        }
        self.serve(node);
    }

    /// Removes a frame after its last tail, and a broadcast's packet. Other packets belong to their senders.
    #[inline(always)] // once a frame
    pub(super) fn clear(&mut self, of: Handle) {
        let frame = self.medium.frame(of);
        self.medium.clear(of);
        if frame.to == BROADCAST
            && let Kind::Data { packet, .. } = frame.kind
        {
            match self.packets.get(packet).load {
                Load::Note(content) => self.posted.finish(&mut self.packets, packet, content),
                _ => self.accounts(frame.from.into()).finish_broadcast(packet),
            }
            self.broadcasts_in_air -= 1;
        }
    }

    /// Moves the time on to `time` if no other event comes before it.
    #[inline]
    fn goes_on(&mut self, time: Instant) -> bool {
        let first = time < self.until && time < self.events.next_time();
        if first {
            self.now = time;
            self.handled += 1;
        }
        first
    }

    /// Lets a station receive an intact frame, or those MPDUs of an aggregate that have arrived. A frame to several
    /// stations is for this station if one of the parts is.
    #[inline(never)]
    fn receive(&mut self, node: NodeId, frame: &Frame, whole: bool) {
        if let Some(mut gauge) = self.nodes[node].gauge.take() {
            gauge.hears_frame(frame, &self.nodes[frame.from.into()].station, &self.medium.intact(whole), &self.packets);
            self.nodes[node].gauge = Some(gauge);
        }
        let answer = if self.nodes[node].station.awaits_block_ack(frame) {
            let reported = self.nodes[NodeId::from(frame.from)].station.held.scoreboard(frame.to, frame.category);
            self.nodes[node].station.block_ack_received(self.now, frame.from, &reported, &self.rules)
        } else {
            self.nodes[node].station.received(self.now, frame, &self.rules)
        };
        let record = &mut self.nodes[node].record;
        record.mac.duplicates += u64::from(answer.duplicate);
        self.count_outcome(node, answer);
        match frame.kind {
            Kind::Data { .. } | Kind::Aggregate { .. } | Kind::MultiUser { .. } | Kind::Triggered { .. }
                if answer.takes && frame.to != BROADCAST && self.rules.block_ack_of(frame.from, frame.to) =>
            {
                self.take_in_order(node, frame, &self.medium.intact(whole));
            }
            Kind::Data { packet, .. } if answer.takes => self.take(node, frame.from, packet),
            Kind::Data { packet, .. } if frame.to != u32::from(node) && self.routing.overhears() => {
                self.overhear(node, packet);
            }
            Kind::BlockAckReq { start } if frame.to == u32::from(node) => {
                self.nodes[node].station.reorder(frame.from, frame.category, &self.rules).forget_before(start);
                self.release(node, frame.from, frame.category);
            }
            // The station sends its data and the rest of its TXOP no wider than this CTS.
            Kind::Cts if self.medium.has_bands() && frame.to == u32::from(node) => {
                self.nodes[node].station.narrow_to(self.medium.heard_width(node.into()), &self.rules);
            }
            _ => {}
        }
        if self.nodes[node].station.uplink.is_some() && frame.to == u32::from(node) && self.nodes[node].access_point {
            let told = self.nodes[frame.from.into()].tells_backlog(frame, &self.rules);
            let intact = self.medium.intact(whole);
            self.nodes[node].learn_backlog(frame, told, &intact, self.now, &self.rules);
        }
        if frame.to == u32::from(node) && matches!(frame.kind, Kind::Data { .. } | Kind::Aggregate { .. }) {
            let airtime = || self.rules.timing.duration(frame.mode, frame.psdu(self.rules.key));
            self.nodes[node].egress.on_air(self.now, frame.from, frame.category, true, airtime);
            if self.rules.power_save {
                let (of, _, mut accounts) = self.node_and_accounts(node);
                of.hear_power_state(frame, &mut accounts);
            }
        }
    }

    /// Counts the outcome of a station's own frames, if `answer` has one.
    pub(super) fn count_outcome(&mut self, node: NodeId, answer: Answer) {
        if answer.failed.is_some() || answer.report.is_some() {
            self.nodes[node].count_own(self.now, &answer);
            self.finish_frames(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    const EIFS: [&str; 4] = ["bad-frame", "any-signal", "any-signal-kept", "never"];

    const CELL: &str = "[nodes]\ncount = 8\nplacement = \"circle\"\nspacing = \"5 m\"\n[[flow]]\nname = \"up\"\nfrom = \"*\"\n\
                        to = \"n0\"\ntraffic = { kind = \"saturated\", packet = \"500 B\" }\n";
    const CHAIN: &str = "[nodes]\ncount = 6\nplacement = \"chain\"\nspacing = \"20 m\"\n[[flow]]\nname = \"on\"\nfrom = \"n0\"\n\
                         to = \"n5\"\ntraffic = { kind = \"saturated\", packet = \"500 B\" }\n";
    const PAIR: &str = "[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"20 m\"\n[[flow]]\nname = \"on\"\nfrom = \"n0\"\n\
                        to = \"n1\"\ntraffic = { kind = \"saturated\", packet = \"500 B\" }\n";

    fn world(network: &str, seconds: u32, eifs: &str) -> World {
        let text = format!("duration = \"{seconds} s\"\n[mac]\neifs = \"{eifs}\"\n{network}");
        let network = toml::from_str(&text).expect("a description");
        World::new(&network, 1).expect("a network that can be built")
    }

    /// Events so far, and the frames and airtime of every node.
    fn account(world: &World) -> (u64, Vec<(u64, Duration)>) {
        let sent = world.nodes.iter().map(|node| (node.record.mac.attempts, node.record.airtime));
        (world.handled, sent.collect())
    }

    /// Bystanders of a frame take the fast path. In a world that is watched, all stations take the plain path.
    #[test]
    fn bystanders_give_the_same_on_either_path() {
        for (network, eifs) in [CELL, CHAIN].iter().flat_map(|network| EIFS.map(|eifs| (network, eifs))) {
            let run = |watched: bool| {
                let mut world = world(network, 2, eifs);
                if watched {
                    world.watch(&[]);
                }
                world.advance(Duration::from_secs(2));
                account(&world)
            };
            assert_eq!(run(false), run(true), "{eifs}, {network}");
        }
    }

    /// Between distant events a frame continues without the event queue, in which it waits if a step of the run ends.
    #[test]
    fn a_run_in_steps_comes_to_the_same_as_at_once() {
        for (network, nanos) in
            [CELL, CHAIN, PAIR].iter().flat_map(|network| [1_300, 77_000].map(|nanos| (network, nanos)))
        {
            let mut at_once = world(network, 1, "bad-frame");
            let mut in_steps = world(network, 1, "bad-frame");
            let (step, whole) = (Duration::from_nanos(nanos), Duration::from_millis(100));
            for _ in 0..whole.as_nanos() / nanos {
                in_steps.advance(step);
            }
            in_steps.advance(Duration::from_nanos(whole.as_nanos() % nanos));
            at_once.advance(whole);
            assert_eq!(account(&in_steps), account(&at_once), "steps of {nanos} ns, {network}");
        }
    }
}
