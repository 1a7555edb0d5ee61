//! Assembly of data frames: which packets join a frame, within the limits of aggregation and of the TXOP.
//!
//! Also the bandwidth of a TXOP if secondary channels may be busy (IEEE 802.11-2020, 10.23.2.5). Either all its frames
//! are as wide as the channels that are idle at its start and, according to the CTS, at the receiver. Or it begins only
//! when all channels are idle. Also the treatment of other cells' frames under spatial reuse.

use super::buffer::{Assembly, Limits, Size, parts, room, share};
use super::station::Station;
use super::step::{Cleared, Step};
use super::{BROADCAST, Conventions};
use crate::config::{Bandwidth, ChannelWidth};
use crate::radio::Mode;
use units::{Bytes, Instant};

impl Station {
    /// Returns the frame that is due, if more packets may join it; `None` if no packet can join.
    pub(crate) fn assemble(&self, now: Instant, rules: &Conventions) -> Option<Assembly> {
        if rules.aggregates() { self.aggregated(now, rules) } else { None }
    }

    #[inline(never)]
    fn aggregated(&self, now: Instant, rules: &Conventions) -> Option<Assembly> {
        let buffer = self.held.present();
        if self.txop.fixed.is_some() || buffer.request.is_some() || buffer.to == BROADCAST {
            return None;
        }
        let limits = self.limits(now, rules);
        let size = buffer.select(&limits);
        let in_turn = buffer.mpdus.iter().any(|mpdu| mpdu.tried);
        (size.frames == buffer.mpdus.len()).then_some(Assembly {
            to: buffer.to,
            category: self.held.holder,
            in_turn,
            size,
            limits,
        })
    }

    /// Returns by how much the end of a TXOP has cut this frame, as a share of a full frame in units of `whole`. Zero
    /// if a packet of `length` could not join even an uncut frame.
    pub(crate) fn cut_off(&self, assembly: &Assembly, length: Bytes, whole: u32, rules: &Conventions) -> u32 {
        if self.txop.cleared != Cleared::Yes || !self.txop.bursts() {
            return 0;
        }
        let size = assembly.size;
        let fresh = self.largest_frame_to(assembly.to, assembly.category, rules);
        let buffer = self.held.present();
        let agreement = assembly.limits.agreement;
        let limits = Limits { agreement, longest: fresh };
        if fresh <= size.psdu || buffer.joins(length, size, rules, &limits).is_none() {
            return 0;
        }
        let psdu = size.psdu.count();
        // An aggregate can reach its largest number of frames before its longest duration.
        let most = match rules.aggregation.ampdu {
            Some(_) => psdu * u64::from(agreement.frames) / u64::try_from(size.frames.max(1)).expect("at most 256"),
            None => fresh.count(),
        };
        let full = fresh.count().min(most).max(psdu);
        u32::try_from((full - psdu) * u64::from(whole) / full.max(1)).expect("a part of the whole")
    }

    /// Returns the aggregate to send if no aggregate is fixed yet.
    #[inline(always)] // once a frame: the call costs a chain half a percent
    pub(super) fn selected(&self, now: Instant, rules: &Conventions) -> Size {
        let buffer = self.held.present();
        // A single frame is sent however long it lasts.
        if buffer.mpdus.len() == 1 {
            return self.rates.single(buffer.to, buffer.mpdus[0].psdu, rules);
        }
        buffer.select(&self.limits(now, rules))
    }

    /// Returns the limits of a data frame that begins now, its announcement included.
    fn limits(&self, now: Instant, rules: &Conventions) -> Limits {
        let to = self.held.present().to;
        let mut agreement = *self.rates.agreement(to, rules);
        if self.rates.sends_alone(to) {
            agreement.frames = 1;
        }
        let left = self.txop.left(now);
        let part = self.downlink.as_ref().and_then(|downlink| downlink.longest_part(to, left, &self.rates, rules));
        let answer = || self.uplink.as_ref().and_then(|uplink| uplink.longest_answer(&self.rates, rules));
        let shared = part.or_else(answer);
        if let Some(longest) = shared {
            return Limits { agreement, longest };
        }
        let mode = self.rates.mode_to(to, &rules.timing);
        let after = rules.timing.sifs + self.rates.block_ack(to, mode, rules);
        let time = left.saturating_sub(after);
        let alone = || rules.timing.longest(mode, time.min(rules.aggregation.duration));
        let longest = if self.txop.cleared == Cleared::No { rules.longest(mode, time) } else { alone() };
        Limits { agreement, longest }
    }

    /// Returns the longest data frame of a category to a station of the newest generation.
    pub(crate) fn largest_frame(&self, category: u8, mode: Option<Mode>, rules: &Conventions) -> Bytes {
        let limit = self.contention.access[usize::from(category)].txop_limit;
        rules.largest_frame(limit, mode, &rules.agreements[rules.newest as usize])
    }

    /// Returns the longest data frame of a category to a receiver in the present mode.
    fn largest_frame_to(&self, to: u32, category: u8, rules: &Conventions) -> Bytes {
        let limit = self.contention.access[usize::from(category)].txop_limit;
        rules.largest_frame(limit, Some(self.rates.mode_to(to, &rules.timing)), self.rates.agreement(to, rules))
    }

    /// Returns the share, in units of `whole`, that a packet of `length` has in the longest frame to its receiver.
    pub(crate) fn share_of_frame(&self, to: u32, category: u8, length: Bytes, whole: u32, rules: &Conventions) -> u32 {
        if to == BROADCAST || !self.rates.aggregates(to, rules) {
            return whole;
        }
        let frames = self.rates.agreement(to, rules).frames;
        share(length, self.largest_frame_to(to, category, rules), frames, whole, rules)
    }

    /// Returns how many packets of `length` fit into the longest frame of a category to a station.
    pub(crate) fn room_of_frame(&self, to: u32, category: u8, length: Bytes, rules: &Conventions) -> u64 {
        room(length, self.largest_frame_to(to, category, rules), self.rates.agreement(to, rules).frames, rules)
    }

    /// Returns the largest number of packets of `length` in an aggregate to a station, as far as MPDUs limit it.
    pub(crate) fn packets_of_frame(&self, to: u32, length: Bytes, rules: &Conventions) -> u32 {
        let parts = if self.rates.aggregates(to, rules) { parts(length, rules) } else { 1 };
        u32::from(self.rates.agreement(to, rules).frames).saturating_mul(parts)
    }

    /// Begins the TXOP of a station that has just won the medium, on the channels that are `idle`. Delays a TXOP that
    /// needs more channels: the width of its data, or `whole` if it asks stations for data. Returns true if a TXOP
    /// begins, and `None` if a TXOP continues.
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

    /// Returns the width of control frames in the present exchange: that of the data to its receiver.
    pub(crate) fn exchange_width(&self, rules: &Conventions) -> ChannelWidth {
        if let Some(user) = self.held.users.first() {
            return width_of(user.mode);
        }
        let to = self.held.present().to;
        if to == BROADCAST { ChannelWidth::Mhz20 } else { width_of(self.rates.mode_to(to, &rules.timing)) }
    }

    /// Limits the width of the data to that of the CTS just received. The data still end at the planned time.
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

    /// Draws a new back-off instead of beginning the TXOP that the station has won. The slot that has begun counts for
    /// all categories.
    pub(crate) fn begins_later(&mut self, now: Instant, rules: &Conventions) {
        for contender in &mut self.contention.contenders {
            contender.earliest = contender.earliest.max(now + rules.timing.slot);
        }
        self.contention.draw(self.held.category());
        self.schedule(now, rules);
    }

    /// Drops the answer to a trigger that is due now.
    pub(crate) fn withholds(&mut self, now: Instant, rules: &Conventions) {
        self.step = Step::Access;
        self.schedule(now, rules);
    }
}

fn width_of(mode: Mode) -> ChannelWidth {
    if let Mode::Mimo(mimo) = mode { mimo.width() } else { ChannelWidth::Mhz20 }
}
