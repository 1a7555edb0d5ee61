//! Frames of several stations at once: what their access point knows of them, and the packets in their parts.

use crate::engine::{Bitmap, NodeId};
use crate::mac::{Asks, Frame, Kind, NotNow};
use crate::radio::Mode;
use crate::world::nodes::Node;
use crate::world::state::World;
use units::Duration;

impl World {
    /// The trigger for data, or for the sizes of queues, that is due instead of the node's own frames.
    #[inline(never)]
    pub(super) fn solicit(&mut self, node: NodeId) -> Result<Frame, NotNow> {
        let Node { station, record, .. } = &mut self.nodes[node];
        let frame = station.solicit(self.now, &self.rules)?;
        if let (Some(round), Kind::Trigger { asks: Asks::Data, response: Mode::Mimo(mode), .. }) =
            (station.uplink.as_ref().and_then(|uplink| uplink.round()), frame.kind)
        {
            record.triggered.get_or_insert_default().begin(mode.alone().subcarriers(), round.payload());
        }
        Ok(frame)
    }

    /// A station's answer to a trigger: data, if it was asked for them and has some that fit, else the size of its queue.
    #[inline(never)]
    pub(super) fn answer_trigger(&mut self, node: NodeId, answer: &Frame) -> Frame {
        let (of, category) = (NodeId::from(answer.to), answer.category);
        let Some(round) = self.nodes[of].station.uplink.as_ref().and_then(|uplink| uplink.round()) else {
            return *answer;
        };
        let reserves = answer.reserves.saturating_sub(self.rules.timing.sifs + round.lasts);
        let answer = Frame { reserves, ..*answer };
        if !self.nodes[node].station.prepare_part(round, category)
            || !self.nodes[node].station.held.holds(category) && !self.begin_part(node, category, answer.to)
        {
            return answer;
        }
        let assembly = self.aggregate(node);
        let data = self.nodes[node].station.answer_with_data(self.now, assembly, &answer, &self.rules);
        if let Some(Frame { kind: Kind::Triggered { psdu, .. }, mode, .. }) = data {
            let record = &mut self.nodes[of].record;
            record.triggered.get_or_insert_default().add(mode, self.rules.timing.payload(mode, psdu), round.payload());
        }
        data.unwrap_or(answer)
    }

    /// An access point reads the size of a station's queue in a data frame, of which all or some MPDUs are intact.
    #[inline(never)]
    pub(super) fn learn_backlog(&mut self, node: NodeId, frame: &Frame, intact: &Bitmap) {
        let polled = match frame.kind {
            Kind::Triggered { frames: 0, .. } => true,
            Kind::Triggered { frames, .. } => {
                let Node { station, egress, .. } = &mut self.nodes[node];
                if (0..usize::from(frames)).all(|index| intact.has(index)) {
                    station.part_is_whole();
                }
                let share = station
                    .uplink
                    .as_ref()
                    .and_then(|uplink| uplink.round())
                    .map_or(Duration::ZERO, |round| round.lasts / u64::from(round.users));
                egress.on_air(self.now, frame.from, frame.category, true, || share);
                false
            }
            Kind::Data { .. } | Kind::Aggregate { .. } => false,
            _ => return,
        };
        let from = NodeId::from(frame.from);
        let Some(mode) = self.nodes[from].station.rates.widest_shared_mode(frame.to, &self.rules) else { return };
        let queued = self.nodes[from].queued(frame.to, frame.category, &self.rules);
        let what = (frame.from, frame.category);
        self.nodes[node].station.told(self.now, what, mode, queued, polled, &self.rules);
    }
}
