//! Frames of several stations at once: their access point's knowledge of the stations, and the packets in their parts.

use crate::engine::{Bitmap, NodeId};
use crate::mac::{Asks, Conventions, Frame, Kind, NotNow};
use crate::radio::{Mimo, Mode};
use crate::world::nodes::Node;
use crate::world::state::World;
use units::{Bytes, Duration, Instant};

impl Node {
    /// Returns the trigger for data, or for the sizes of queues, that is due instead of the node's own frames.
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

    /// Contents of a data frame for the node's access point: the widest mode for its part, and its queue size.
    pub(super) fn tells_backlog(&self, frame: &Frame, rules: &Conventions) -> Option<(Mimo, Bytes)> {
        let (Kind::Data { .. } | Kind::Aggregate { .. } | Kind::Triggered { .. }) = frame.kind else { return None };
        let mode = self.station.rates.widest_shared_mode(frame.to, rules)?;
        Some((mode, self.queued(frame.to, frame.category, rules)))
    }

    /// Reads, at an access point, a station's [report](Self::tells_backlog) in a frame whose MPDUs are `intact` or not.
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
    /// A station's answer to a trigger: data, if data was asked for and some fits, else the size of its queue.
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
