//! Frames to and from several stations at once: which stations share a PPDU, and which packets are in their parts. Also
//! what each station decodes, and what an access point learns of its stations.

use crate::config::Class;
use crate::engine::{Bitmap, Handle, NodeId};
use crate::mac::{Asks, Conventions, Frame, Kind, NotNow, Part};
use crate::radio::{Mimo, Mode, Shape};
use crate::world::nodes::Node;
use crate::world::state::{Event, World};
use units::{Bytes, Duration, Instant};

impl Node {
    /// Counts a PPDU to several stations and returns its duration. Each station has a part, and a share of the airtime
    /// that follows from its RU.
    #[cold]
    pub(super) fn count_parts(&mut self, frame: &Frame, now: Instant, rules: &Conventions) -> Duration {
        let Self { station, egress, record, gauge, .. } = self;
        let lasts =
            station.downlink.as_ref().map_or(Duration::ZERO, |downlink| downlink.duration(&station.held, rules));
        let parts = station.held.parts().count() as u64;
        let payload = lasts.saturating_sub(frame.mode.header());
        let shared = record.shared.get_or_insert_default();
        if let Mode::Mimo(mode) = frame.mode {
            shared.begin(mode.alone().subcarriers(), payload);
        }
        for Part { to, mode, psdu, frames, repeated } in station.held.parts() {
            record.mac.attempts += 1;
            let hop = record.hops.to(to);
            hop.attempts += 1;
            hop.repeated += repeated as u64;
            hop.airtime += lasts / parts;
            shared.add(mode, rules.timing.payload(mode, psdu), payload);
            egress.on_air(now, to, frame.category, false, || lasts / parts);
            if let Some(gauge) = gauge {
                gauge.sends_data(mode, psdu, frames as u64);
            }
        }
        lasts
    }
}

impl World {
    /// Returns the frame to several stations that is due: their data, or the trigger for their `BlockAck`s. `None` if
    /// the data are for one station.
    pub(crate) fn share_downlink(&mut self, node: NodeId, category: u8) -> Option<Frame> {
        let station = &mut self.nodes[node].station;
        if let Some(next) = station.next_to_several(self.now, &self.rules) {
            return Some(next);
        }
        let first = station.several(self.now, &self.rules).2.may_share()?;
        let mut users = std::mem::take(&mut self.sharers);
        users.clear();
        users.push(first);
        let mut joins = |to: u32| {
            if !users.contains(&to) {
                users.push(to);
            }
        };
        let now = self.now;
        self.nodes[node].station.held.receivers(category).for_each(|(to, _)| joins(to));
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        egress.receivers(now, category, &mut joins, &mut accounts.dropping());
        let (downlink, _, cx) = self.nodes[node].station.several(now, &self.rules);
        if downlink.is_some_and(|downlink| downlink.split(&mut users, &cx)) {
            for (place, &to) in users.iter().enumerate() {
                if place == 0 || self.begin_part(node, category, to) {
                    let begun = self.nodes[node].station.assemble(self.now, &self.rules);
                    let assembly = begun.map(|begun| self.filled_up(node, begun));
                    let (downlink, _, mut cx) = self.nodes[node].station.several(now, &self.rules);
                    if let Some(downlink) = downlink {
                        downlink.join(assembly, &mut cx);
                    }
                }
            }
        }
        self.sharers = users;
        self.nodes[node].station.next_to_several(now, &self.rules)
    }

    /// Begins a station's part of a PPDU with the frames that are held for it, or with a packet. False if there is no
    /// such frame or packet.
    fn begin_part(&mut self, node: NodeId, category: u8, to: u32) -> bool {
        if self.nodes[node].station.held.bring(category, to) {
            return true;
        }
        let now = self.now;
        let port = self.nodes[node].egress.layout.port(to, category, Class::BestEffort);
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        let mut index = 0;
        loop {
            match egress.peek(now, port, to, index, &mut accounts.dropping()) {
                Some(waiting) if waiting.to == to => break,
                Some(_) => index += 1,
                None => return false,
            }
        }
        let Some(taken) = egress.take(now, port, to, index, &mut accounts.dropping()) else { return false };
        let msdu = self.taken(node, &taken);
        self.nodes[node].station.held.hold(to, category, msdu, &self.rules);
        if let Some(port) = taken.left {
            self.left(node, port, &taken.packet);
        }
        true
    }

    /// Returns the frame as `node` sees it: addressed to `node` if `node` is a receiver.
    pub(in crate::world) fn addressed(&self, node: NodeId, frame: &Frame) -> Frame {
        let to = u32::from(node);
        let station = &self.nodes[NodeId::from(frame.from)].station;
        let is_mine = match frame.kind {
            Kind::Trigger { asks: Asks::Backlog | Asks::Data, .. } | Kind::MultiBlockAck { .. } => {
                station.uplink.as_ref().is_some_and(|uplink| uplink.users.contains(&to))
            }
            _ => station.held.part(to).is_some(),
        };
        if is_mine { Frame { to, ..*frame } } else { *frame }
    }

    /// Lets the tail of a PPDU to several stations pass its listeners, from `listener` on. Each of the stations decodes
    /// its own part of the data, all other nodes none.
    pub(super) fn tail_of_parts(&mut self, of: Handle, listener: u32) {
        let mut index = listener;
        loop {
            let until = self.until.min(self.events.next_time());
            let Self { medium, nodes, laid_out, .. } = self;
            let (passing, links, receivers) = medium.listeners(of);
            let Some(link) = links.get(index as usize) else { break };
            let time = passing.sent.end + link.delay;
            if index > listener {
                if time >= until {
                    return self.events.push(time, Event::Tail { of, listener: index });
                }
                self.now = time;
                self.handled += 1;
            }
            laid_out.clear();
            let frame = passing.sent.frame;
            let station = &nodes[NodeId::from(frame.from)].station;
            let nothing = Shape { psdu: Bytes::new(0), aggregate: false, control: true, ..passing.sent.shape };
            let own = station.held.part(link.to).map_or(nothing, |(mode, psdu)| {
                let mpdus = crate::mac::places(station.held.in_flight_to(link.to));
                laid_out.extend(mpdus.map(|(start, length)| crate::radio::Mpdu { start, length }));
                Shape { mode, psdu, aggregate: true, ..passing.sent.shape }
            });
            let node = NodeId::from(link.to);
            let heard = receivers.tail_of_part(passing, own, link, time, laid_out);
            self.heard(node, of, &frame, &heard);
            index += 1;
        }
        self.clear(of);
    }
}

impl Node {
    /// Returns the trigger that is due before the node's own frames, for data or for the sizes of queues.
    #[inline(never)]
    pub(super) fn solicit(&mut self, now: Instant, rules: &Conventions) -> Result<Frame, NotNow> {
        let Self { station, record, .. } = self;
        let frame = station.solicit(now, rules)?;
        if let (Some(round), Kind::Trigger { asks: Asks::Data, response: Mode::Mimo(mode), .. }) =
            (station.uplink.as_ref().and_then(|uplink| uplink.round), frame.kind)
        {
            record.triggered.get_or_insert_default().begin(mode.alone().subcarriers(), round.payload());
        }
        Ok(frame)
    }

    /// Returns what a data frame tells the node's access point: the widest mode for its part, and its queue size.
    pub(super) fn tells_backlog(&self, frame: &Frame, rules: &Conventions) -> Option<(Mimo, Bytes)> {
        let (Kind::Data { .. } | Kind::Aggregate { .. } | Kind::Triggered { .. }) = frame.kind else { return None };
        let mode = self.station.rates.widest_shared_mode(frame.to, rules)?;
        Some((mode, self.queued(frame.to, frame.category, rules)))
    }

    /// At an access point: reads a station's [report](Self::tells_backlog). `intact`: which MPDUs have arrived.
    #[inline(never)]
    pub(super) fn learn_backlog(
        &mut self,
        frame: &Frame,
        told: Option<(Mimo, Bytes)>,
        intact: &Bitmap,
        now: Instant,
        rules: &Conventions,
    ) {
        let Self { station, egress, .. } = self;
        let polled = matches!(frame.kind, Kind::Triggered { frames: 0, .. });
        if let Kind::Triggered { frames: frames @ 1.., .. } = frame.kind
            && let Some(uplink) = &mut station.uplink
        {
            if (0..usize::from(frames)).all(|index| intact.has(index)) {
                uplink.part_is_whole();
            }
            let round = uplink.round;
            let share = round.map_or(Duration::ZERO, |round| round.lasts / u64::from(round.users));
            egress.on_air(now, frame.from, frame.category, true, || share);
        }
        if let Some((mode, queued)) = told {
            station.told(now, (frame.from, frame.category), mode, (queued, polled), rules);
        }
    }
}

impl World {
    /// Returns a station's answer to a trigger: data if they were asked for and some fit, else the size of its queue.
    #[inline(never)]
    pub(super) fn answer_trigger(&mut self, node: NodeId, answer: &Frame) -> Frame {
        let (of, category) = (NodeId::from(answer.to), answer.category);
        let Some(round) = self.nodes[of].station.uplink.as_ref().and_then(|uplink| uplink.round) else {
            return *answer;
        };
        let reserves = answer.reserves.saturating_sub(self.rules.timing.sifs + round.lasts);
        let answer = Frame { reserves, ..*answer };
        let (_, uplink, mut cx) = self.nodes[node].station.several(self.now, &self.rules);
        if !uplink.is_some_and(|uplink| uplink.prepare(round, category, &mut cx))
            || !self.nodes[node].station.held.holds(category) && !self.begin_part(node, category, answer.to)
        {
            return answer;
        }
        let begun = self.nodes[node].station.assemble(self.now, &self.rules);
        let assembly = begun.map(|begun| self.filled_up(node, begun));
        let (_, uplink, mut cx) = self.nodes[node].station.several(self.now, &self.rules);
        let data = uplink.and_then(|uplink| uplink.answer(assembly, &answer, &mut cx));
        if let Some(Frame { kind: Kind::Triggered { psdu, .. }, mode, .. }) = data {
            let record = &mut self.nodes[of].record;
            record.triggered.get_or_insert_default().add(mode, self.rules.timing.payload(mode, psdu), round.payload());
        }
        data.unwrap_or(answer)
    }
}
