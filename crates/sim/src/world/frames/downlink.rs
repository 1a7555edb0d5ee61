//! Frames to several stations at once: which of them share a PPDU, the packets in it, and what each of them decodes.

use crate::config::Class;
use crate::engine::{Handle, NodeId};
use crate::mac::{Frame, Kind, Part};
use crate::radio::{Mode, Shape};
use crate::world::nodes::Node;
use crate::world::state::{Event, World};
use units::{Bytes, Duration};

impl World {
    /// The frame to several stations that is due: their data, or the trigger that asks them for their `BlockAck`s. None if
    /// the data are for one station.
    pub(crate) fn share_downlink(&mut self, node: NodeId, category: u8) -> Option<Frame> {
        if let Some(next) = self.nodes[node].station.trigger(&self.rules) {
            self.note_receivers(node, &next);
            return Some(next);
        }
        let first = self.nodes[node].station.may_share(&self.rules)?;
        let mut users = std::mem::take(&mut self.sharers);
        users.clear();
        users.push(first);
        let mut joins = |to: u32| {
            if !users.contains(&to) {
                users.push(to);
            }
        };
        let now = self.now;
        self.nodes[node].station.receivers(category).for_each(|(to, _)| joins(to));
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        egress.receivers(now, category, &mut joins, &mut accounts.dropping());
        let splits = self.nodes[node].station.split(&mut users, &self.rules);
        if splits {
            for (place, &to) in users.iter().enumerate() {
                if place == 0 || self.begin_part(node, category, to) {
                    let assembly = self.aggregate(node);
                    self.nodes[node].station.join_downlink(self.now, assembly, &self.rules);
                }
            }
        }
        let frame = if splits { self.nodes[node].station.begin_downlink(&self.rules) } else { None };
        self.sharers = users;
        if let Some(frame) = &frame {
            self.note_receivers(node, frame);
        }
        frame
    }

    /// The stations of a PPDU may have answers to it.
    fn note_receivers(&mut self, node: NodeId, frame: &Frame) {
        if !self.rules.shares_uplink() || !matches!(frame.kind, Kind::MultiUser { .. }) {
            return;
        }
        let mut users = std::mem::take(&mut self.sharers);
        users.clear();
        users.extend(self.nodes[node].station.parts().map(|part| part.to));
        let station = &mut self.nodes[node].station;
        let airtime = station.downlink_duration(&self.rules) / u64::try_from(users.len()).expect("at most 74").max(1);
        for &to in &users {
            station.may_answer_to(self.now, to, airtime, &self.rules);
        }
        self.sharers = users;
    }

    /// Begins a station's part of a PPDU with the frames that are held for it, or with a packet. False if there is none.
    pub(super) fn begin_part(&mut self, node: NodeId, category: u8, to: u32) -> bool {
        if self.nodes[node].station.bring(category, to) {
            return true;
        }
        let now = self.now;
        let port = self.nodes[node].egress.port_to(to, category, Class::BestEffort);
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
        self.nodes[node].station.begin_part(to, category, msdu, &self.rules);
        if let Some(port) = taken.left {
            self.left(node, port, &taken.packet);
        }
        true
    }

    /// Counts a PPDU to several stations and gives its duration: each has a part, and a share of the airtime by its RU.
    #[cold]
    pub(super) fn count_parts(&mut self, node: NodeId, frame: &Frame) -> Duration {
        let Self { nodes, rules, now, .. } = self;
        let Node { station, egress, record, gauge, .. } = &mut nodes[node];
        let lasts = station.downlink_duration(rules);
        let parts = station.parts().count() as u64;
        let payload = lasts.saturating_sub(frame.mode.header());
        let shared = record.shared.get_or_insert_default();
        if let Mode::Mimo(mode) = frame.mode {
            shared.begin(mode.alone().subcarriers(), payload);
        }
        for Part { to, mode, psdu, frames, repeated } in station.parts() {
            record.attempts += 1;
            let hop = record.hops.to(to);
            hop.attempts += 1;
            hop.repeated += repeated as u64;
            hop.airtime += lasts / parts;
            shared.add(mode, rules.timing.payload(mode, psdu), payload);
            egress.on_air(*now, to, frame.category, false, || lasts / parts);
            if let Some(gauge) = gauge {
                gauge.sends_data(mode, psdu, frames as u64);
            }
        }
        lasts
    }

    /// The frame as its listener gets it: for it, if it is one of several stations.
    pub(in crate::world) fn addressed(&self, node: NodeId, frame: &Frame) -> Frame {
        let to = u32::from(node);
        let is_mine = self.nodes[NodeId::from(frame.from)].station.serves(to, frame.kind);
        if is_mine { Frame { to, ..*frame } } else { *frame }
    }

    /// Passes the tail of a PPDU to several stations over its listeners, from `listener` on: of its data each decodes its
    /// own part, and all others nothing.
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
            let own = station.part(link.to).map_or(nothing, |(mode, psdu)| {
                let mpdus = crate::mac::places(station.in_flight_to(link.to));
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

    /// The node whose trigger a frame answers beside others, if it does.
    #[inline]
    pub(super) fn answers(frame: &Frame) -> u32 {
        match (frame.kind, frame.mode) {
            (Kind::BlockAck { .. } | Kind::Triggered { .. }, Mode::Mimo(mode)) if mode.ru().is_some() => frame.to,
            (Kind::SharedCts, _) => frame.to,
            _ => Shape::NOBODY,
        }
    }
}
