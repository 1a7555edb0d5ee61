//! Bandwidth of a TXOP if secondary channels may be busy (IEEE 802.11-2020, 10.23.2.5): all its frames are as wide as
//! the channels that are idle at its start and, by the CTS, at the receiver; or it begins only when all channels are
//! idle. Also the treatment of other cells' frames under spatial reuse.

use super::buffer::Limits;
use super::station::Station;
use super::step::Step;
use super::{BROADCAST, Conventions};
use crate::config::{Bandwidth, ChannelWidth};
use crate::radio::Mode;
use units::Instant;

impl Station {
    /// Begins the TXOP of a station that has just won the medium, as wide as its channels are `idle`; or delays the
    /// TXOP if it needs all channels: the width of its data, or `whole` if it asks for others' data. True if a TXOP
    /// begins; none if a TXOP continues.
    pub(crate) fn settles_width(
        &mut self,
        now: Instant,
        widths: [ChannelWidth; 2],
        rules: &Conventions,
    ) -> Option<bool> {
        let [idle, whole] = widths;
        if self.step != Step::Access {
            return None;
        }
        let buffer = self.held.present();
        let is_data = !buffer.is_empty() && buffer.to != BROADCAST;
        let wanted = if is_data { width_of(self.rates.widest(buffer.to)) } else { whole };
        if rules.bandwidth == Some(Bandwidth::Static) && idle < wanted {
            self.begins_later(now, rules);
            return Some(false);
        }
        self.rates.limit(idle);
        Some(true)
    }

    /// Width of a frame without its own width, to the receiver of the present exchange: the data's width.
    pub(crate) fn exchange_width(&self, rules: &Conventions) -> ChannelWidth {
        if let Some(user) = self.held.users.first() {
            return width_of(user.mode);
        }
        let to = self.held.present().to;
        if to == BROADCAST { ChannelWidth::Mhz20 } else { width_of(self.rates.mode_to(to, &rules.timing)) }
    }

    /// Limits the width of the station's data after the CTS that it has received; the data end at the planned time.
    pub(crate) fn narrow_to(&mut self, width: ChannelWidth, rules: &Conventions) {
        let (Step::Cleared, Some(size)) = (self.step, self.txop.fixed) else { return };
        let to = self.held.present().to;
        let reserved = self.rates.exchange(to, size, rules);
        self.rates.limit(width);
        let mode = self.rates.mode_to(to, &rules.timing);
        if size.frames > 1 && self.rates.exchange(to, size, rules) > reserved {
            let response = rules.timing.sifs + self.rates.block_ack(to, mode, rules);
            let longest = rules.timing.longest(mode, reserved.saturating_sub(response));
            let limits = Limits { agreement: *self.rates.agreement(to, rules), longest };
            self.txop.fixed = Some(self.held.present().select(&limits));
        }
    }

    /// Draws a new back-off instead of beginning the TXOP that it has won. The slot that has begun counts for all
    /// categories.
    pub(crate) fn begins_later(&mut self, now: Instant, rules: &Conventions) {
        for contender in &mut self.contention.contenders {
            contender.earliest = contender.earliest.max(now + rules.timing.slot);
        }
        self.contention.draw(self.held.category());
        self.schedule(now, rules);
    }

    /// Withholds the answer to a trigger that is due now.
    pub(crate) fn withholds(&mut self, now: Instant, rules: &Conventions) {
        self.step = Step::Access;
        self.schedule(now, rules);
    }
}

fn width_of(mode: Mode) -> ChannelWidth {
    if let Mode::Mimo(mimo) = mode { mimo.width() } else { ChannelWidth::Mhz20 }
}
