//! Bandwidth of a TXOP where secondary channels may be busy (IEEE 802.11-2020, 10.23.2.5): all its frames are as wide as the
//! channels that are idle when it begins and, by the CTS, at the receiver, or it begins when all are. Also what spatial
//! reuse makes of others' frames.

use super::buffer::Limits;
use super::station::{Station, Step};
use super::{Answer, BROADCAST, Conventions};
use crate::config::ChannelWidth;
use crate::radio::Mode;
use units::Instant;

impl Station {
    /// True if it has just won the medium, so that a TXOP begins.
    pub(crate) fn has_won(&self) -> bool {
        self.step == Step::Access
    }

    /// The width that its frames would have if all channels were idle; none if it asks stations for data.
    pub(crate) fn wanted_width(&self) -> Option<ChannelWidth> {
        let buffer = &self.held.buffers[usize::from(self.holder)];
        let is_data = !buffer.is_empty() && buffer.to != BROADCAST;
        is_data.then(|| width_of(self.rates.widest(buffer.to)))
    }

    /// The width of a frame without a width of its own to the receiver of its present exchange: as wide as the data.
    pub(crate) fn exchange_width(&self, rules: &Conventions) -> ChannelWidth {
        if let Some(width) = self.downlink.as_ref().and_then(|downlink| downlink.width()) {
            return width;
        }
        let to = self.held.buffers[usize::from(self.holder)].to;
        if to == BROADCAST { ChannelWidth::Mhz20 } else { width_of(self.rates.mode_to(to, &rules.timing)) }
    }

    /// Its data after the CTS that it has got are no wider than this, and end when they were to end.
    pub(crate) fn narrow_to(&mut self, width: ChannelWidth, rules: &Conventions) {
        let (Step::Cleared, Some(size)) = (self.step, self.fixed) else { return };
        let to = self.held.buffers[usize::from(self.holder)].to;
        let reserved = self.rates.exchange(to, size, rules);
        self.rates.limit(width);
        let mode = self.rates.mode_to(to, &rules.timing);
        if size.frames > 1 && self.rates.exchange(to, size, rules) > reserved {
            let response = rules.timing.sifs + self.rates.block_ack(to, mode, rules);
            let longest = rules.timing.longest(mode, reserved.saturating_sub(response));
            let limits = Limits { agreement: *self.rates.agreement(to, rules), longest };
            self.fixed = Some(self.held.buffers[usize::from(self.holder)].select(&limits));
        }
    }

    /// It does not begin the TXOP that it has won, but draws a new back-off. The slot that has begun counts for every category
    /// as passed.
    pub(crate) fn begins_later(&mut self, now: Instant, rules: &Conventions) {
        for contender in &mut self.contention.contenders {
            contender.earliest = contender.earliest.max(now + rules.timing.slot);
        }
        self.contention.draw(self.holder.into());
        self.schedule(now, rules);
    }

    /// Handles a frame that it ignores: a response that it awaits does not come.
    pub(crate) fn ignores(&mut self, now: Instant, rules: &Conventions) -> Answer {
        self.missed_response(now, rules)
    }

    /// It does not answer the trigger that it would answer now.
    pub(crate) fn withholds(&mut self, now: Instant, rules: &Conventions) {
        self.step = Step::Access;
        self.schedule(now, rules);
    }
}

/// The width of a frame in a mode.
fn width_of(mode: Mode) -> ChannelWidth {
    if let Mode::Mimo(mimo) = mode { mimo.width() } else { ChannelWidth::Mhz20 }
}
