//! Downlink OFDMA: frames to several stations side by side in one HE MU PPDU (IEEE 802.11ax-2021, 27.3).
//!
//! The exchange: above the RTS threshold a MU-RTS trigger and, after SIFS, a CTS of all stations at once (26.2.6), which sound
//! like one; after SIFS the PPDU, after SIFS a MU-BAR trigger, after SIFS the `BlockAck`s of all its stations at once in HE TB PPDUs
//! (26.4.4). The [host](crate::world) chooses the stations: the one whose frames won the medium, and of the others that wait
//! those first that have used the least airtime of such PPDUs. All RUs are of one size, the smallest of which each station
//! has one. The longest part is cut to the second longest, and shorter ones are padded. Each station's frames are in a buffer
//! as those of an A-MPDU, which takes the place of its category's while it is put together and while its outcome is settled.

use super::airtime::UsedAirtime;
use super::buffer::{Buffer, Size};
use super::station::{Cleared, Station, Step};
use super::{
    Answer, Asks, Assembly, BROADCAST, Conventions, Due, Frame, Kind, LONGEST_MSDU, Mpdu, Scoreboard, Unanswered,
};
use crate::config::{ChannelWidth, GuardInterval, MissedBlockAck};
use crate::radio::{BLOCK_ACK, Format, LONG_BLOCK_ACK, Mimo, Mode, Ru, sig_b_symbols};
use units::{Bytes, Duration, Instant};

/// Frames to several stations.
#[derive(Debug, Default)]
pub(crate) struct Downlink {
    /// How the channel is split among the stations of the PPDU that is being put together or under way.
    split: Option<Split>,
    /// Its stations that have not answered.
    users: Vec<User>,
    /// True until a CTS has answered the MU-RTS.
    announced: bool,
    /// Those that have: so many.
    answered: usize,
    /// When all responses are over.
    end: Instant,
    /// Airtime in PPDUs so far.
    used: UsedAirtime,
}

/// A station's part of a PPDU.
#[derive(Debug)]
struct User {
    buffer: Buffer,
    mode: Mode,
    psdu: Bytes,
}

/// A channel split into equal RUs.
#[derive(Clone, Copy, Debug)]
struct Split {
    users: u8,
    ru: Ru,
    /// Guard interval, HE-SIG-B and training fields are those of all users.
    header: Duration,
    /// Of every user: its number of HE-SIG-B symbols.
    symbols: u8,
    guard: GuardInterval,
    /// The mode of the responses, and their duration.
    response: Mode,
    lasts: Duration,
    /// From the start of a MU-RTS to that of the PPDU; zero if there may be none.
    before: Duration,
    /// From the end of the PPDU to that of the responses.
    after: Duration,
    /// The longest PPDU.
    longest: Duration,
}

/// A part of an HE MU PPDU, as its sender tells of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) to: u32,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    pub(crate) frames: usize,
    /// How many of its frames were sent before.
    pub(crate) repeated: usize,
}

impl Downlink {
    /// The length of all parts together.
    fn psdu(&self) -> Bytes {
        self.users.iter().fold(Bytes::new(0), |sum, user| sum + user.psdu)
    }

    /// True while it puts a PPDU together, or has sent one that is not over.
    #[inline]
    pub(super) fn is_under_way(&self) -> bool {
        !self.users.is_empty()
    }

    /// The parts of the PPDU.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        self.users.iter().map(|User { buffer, mode, psdu }| Part {
            to: buffer.to,
            mode: *mode,
            psdu: *psdu,
            frames: buffer.in_flight,
            repeated: buffer.mpdus.iter().take(buffer.in_flight).filter(|mpdu| mpdu.retry).count(),
        })
    }

    /// The part of a station.
    pub(crate) fn part(&self, to: u32) -> Option<(Mode, Bytes)> {
        self.users.iter().find(|user| user.buffer.to == to).map(|user| (user.mode, user.psdu))
    }

    /// Duration of the PPDU: of its preamble and the longest part, to which all are padded.
    pub(crate) fn duration(&self, rules: &Conventions) -> Duration {
        let Some(split) = self.split else { return Duration::ZERO };
        let parts = self.users.iter().map(|user| split.header + rules.timing.payload(user.mode, user.psdu));
        parts.max().unwrap_or(Duration::ZERO)
    }

    /// Bandwidth of the PPDU, if there is one.
    pub(super) fn width(&self) -> Option<ChannelWidth> {
        if let Mode::Mimo(mode) = self.users.first()?.mode { Some(mode.width()) } else { None }
    }

    /// The frames of all users.
    pub(super) fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.users.iter().map(|user| &user.buffer)
    }

    /// The frames of one of them.
    pub(super) fn buffer(&self, to: u32) -> Option<&Buffer> {
        self.buffers().find(|buffer| buffer.to == to)
    }

    /// Cuts the longest part to the duration of the second longest: what it has beyond that would leave the others' RUs to
    /// padding, and goes faster alone.
    fn level(&mut self, rules: &Conventions) {
        let lasts = |user: &User| rules.timing.payload(user.mode, user.psdu);
        let (mut longest, mut second) = (Duration::ZERO, Duration::ZERO);
        for time in self.users.iter().map(lasts) {
            second = second.max(time.min(longest));
            longest = longest.max(time);
        }
        let Some(user) = self.users.iter_mut().find(|user| lasts(user) > second) else { return };
        let room = rules.timing.longest(user.mode, second + user.mode.header());
        let in_flight = std::mem::take(&mut user.buffer.in_flight);
        for (start, length) in super::places(user.buffer.mpdus.iter().take(in_flight)) {
            if user.buffer.in_flight > 0 && start + length > room {
                break;
            }
            user.buffer.in_flight += 1;
            user.psdu = start + length;
        }
    }
}

impl Station {
    /// From now on it sends to several stations at once.
    pub(crate) fn share_downlink(&mut self) {
        self.downlink = Some(Box::default());
        self.held.take_turns();
    }

    /// The receiver of the data that are due, if others could share the PPDU.
    pub(crate) fn may_share(&self, rules: &Conventions) -> Option<u32> {
        self.downlink.as_ref()?;
        let buffer = &self.held.buffers[usize::from(self.holder)];
        let is_data = self.fixed.is_none() && buffer.request.is_none() && !buffer.mpdus.is_empty();
        (is_data && buffer.to != BROADCAST && self.rates.shared_mode(buffer.to, rules).is_some()).then_some(buffer.to)
    }

    /// Chooses who shares a PPDU: of the stations that have frames, the first of which is due, as many as there are RUs in
    /// the finest split in which the longest packet fits. `users` are those then; false if there is no such split.
    pub(crate) fn split(&mut self, users: &mut Vec<u32>, rules: &Conventions) -> bool {
        let category = usize::from(self.holder);
        let Some(primary) = users.first().and_then(|&to| self.rates.shared_mode(to, rules)) else { return false };
        let waits = |station: &Self, to: u32| {
            let asks =
                station.held.aside.iter().any(|(other, buffer)| {
                    usize::from(*other) == category && buffer.to == to && buffer.request.is_some()
                });
            let mode = station.rates.shared_mode(to, rules);
            !asks
                && mode.is_some_and(|mode| mode.width() == primary.width())
                && !station.held.peers.knows_behind(to, category)
        };
        users.retain(|&to| waits(self, to));
        let Some(downlink) = &mut self.downlink else { return false };
        if let Some((_, others)) = users.split_first_mut() {
            others.sort_by_key(|&to| downlink.used.of(to));
        }
        downlink.used.wait(users.iter().copied());
        let mut most = users.len();
        while let Some(ru) = Ru::split(primary.width(), most) {
            most = ru.count(primary.width());
            if let Some(split) = self.split_into(&users[..most], ru, rules) {
                users.truncate(most);
                if let Some(downlink) = &mut self.downlink {
                    downlink.split = Some(split);
                }
                return true;
            }
            most -= 1;
        }
        false
    }

    /// The split among these users, if each can send the longest packet.
    fn split_into(&self, users: &[u32], ru: Ru, rules: &Conventions) -> Option<Split> {
        let modes = || users.iter().filter_map(|&to| self.rates.shared_mode(to, rules));
        let slowest = modes().min_by_key(|mode| mode.coding())?;
        let symbols = sig_b_symbols(slowest.width(), users.len(), slowest.coding());
        let guard = modes().map(Mimo::guard).max()?;
        let parts = || modes().map(|mode| mode.guarded(guard).within(ru, symbols));
        let header = parts().map(Mimo::header).max()?;
        let timing = &rules.timing;
        let (response, long) = (Mode::Mimo(slowest.response(ru)), rules.agreements[Format::He as usize].window > 64);
        let lasts = timing.duration(response, if long { LONG_BLOCK_ACK } else { BLOCK_ACK });
        let users = u8::try_from(users.len()).ok()?;
        let after = timing.sifs * 2 + timing.duration(timing.basic, Asks::BlockAcks.length(users.into())) + lasts;
        // 802.11b knows no triggers.
        let knows = matches!(timing.announcing, Mode::Ofdm(_));
        let announces = knows && rules.rts_threshold.is_some() && self.cleared == Cleared::No;
        let request = timing.duration(timing.announcing, Asks::Clear.length(users.into()));
        let before = if announces { request + timing.cts + timing.sifs * 2 } else { Duration::ZERO };
        let limit = rules.aggregation.duration;
        let longest = if self.txop.is_zero() { limit } else { limit.min(self.txop.saturating_sub(before + after)) };
        let split = Split { users, ru, header, symbols, guard, response, lasts, before, after, longest };
        let fits = |mode: Mimo| split.room(Mode::Mimo(mode), longest, rules) >= rules.mpdu(LONGEST_MSDU);
        parts().all(fits).then_some(split)
    }

    /// The longest frame to a station in the PPDU that is being put together; none if there is none.
    pub(super) fn longest_part(&self, now: Instant, to: u32, rules: &Conventions) -> Option<Bytes> {
        let split = self.downlink.as_ref()?.split?;
        let left = if self.txop.is_zero() {
            split.longest
        } else {
            split.longest.min(self.txop_end.since(now).saturating_sub(split.before + split.after))
        };
        Some(split.room(self.part_mode(to, &split, rules), left, rules))
    }

    /// The mode of a station's part.
    fn part_mode(&self, to: u32, split: &Split, rules: &Conventions) -> Mode {
        match self.rates.mode_to(to, &rules.timing) {
            Mode::Mimo(mode) => Mode::Mimo(mode.guarded(split.guard).within(split.ru, split.symbols)),
            other => other,
        }
    }

    /// The frames that were put together join the PPDU.
    pub(crate) fn join_downlink(&mut self, now: Instant, assembly: Option<Assembly>, rules: &Conventions) {
        if let Some(assembly) = &assembly {
            self.held.assembled(assembly);
        }
        let holder = usize::from(self.holder);
        let Size { frames, psdu, .. } = assembly.map_or_else(|| self.selected(now, rules), |assembly| assembly.size);
        let to = self.held.buffers[holder].to;
        let Some(split) = self.downlink.as_ref().and_then(|downlink| downlink.split) else { return };
        let mode = self.part_mode(to, &split, rules);
        let mut buffer = std::mem::replace(&mut self.held.buffers[holder], self.held.spare.pop().unwrap_or_default());
        buffer.in_flight = frames;
        if let Some(downlink) = &mut self.downlink {
            downlink.users.push(User { buffer, mode, psdu });
        }
    }

    /// The PPDU or the MU-RTS before it, once the frames of all its stations have joined. None where there is but one: its
    /// frames are the category's again.
    pub(crate) fn begin_downlink(&mut self, now: Instant, rules: &Conventions) -> Option<Frame> {
        let category = self.holder;
        let downlink = self.downlink.as_mut()?;
        let split = downlink.split?;
        if downlink.users.len() < 2 {
            downlink.split = None;
            if let Some(User { mut buffer, .. }) = downlink.users.pop() {
                buffer.in_flight = 0;
                self.held.spare.push(std::mem::replace(&mut self.held.buffers[usize::from(category)], buffer));
            }
            return None;
        }
        downlink.answered = 0;
        downlink.level(rules);
        let psdu = downlink.psdu();
        let announces = !split.before.is_zero() && rules.rts_threshold.is_some_and(|threshold| psdu > threshold);
        if !announces {
            return self.send_downlink(now, rules);
        }
        downlink.announced = true;
        self.step = Step::Sending;
        let timing = &rules.timing;
        let reserves = timing.sifs * 2 + timing.cts + downlink.duration(rules) + split.after;
        let kind = Kind::Trigger { asks: Asks::Clear, users: split.users, response: timing.announcing };
        Some(Frame { mode: timing.announcing, ..self.control(kind, BROADCAST, reserves, rules) })
    }

    /// The PPDU.
    fn send_downlink(&mut self, now: Instant, rules: &Conventions) -> Option<Frame> {
        let (from, category) = (self.address, self.holder);
        let downlink = self.downlink.as_mut()?;
        let lasts = downlink.duration(rules);
        let split = downlink.split?;
        downlink.announced = false;
        let share = lasts / u64::try_from(downlink.users.len()).expect("at most 74");
        for place in 0..downlink.users.len() {
            let buffer = &mut downlink.users[place].buffer;
            for mpdu in buffer.mpdus.iter_mut().take(buffer.in_flight) {
                mpdu.retry = std::mem::replace(&mut mpdu.sent, true);
            }
            let to = buffer.to;
            downlink.used.charge(to, share);
        }
        let psdu = downlink.psdu();
        let longest = downlink.users.iter().map(|user| user.mode).max_by_key(|mode| mode.header())?;
        self.step = Step::Sending;
        let users = downlink.users.len();
        for place in 0..users {
            let to = self.downlink.as_ref().map(|downlink| downlink.users[place].buffer.to);
            to.into_iter().for_each(|to| self.may_answer_to(now, to, share, rules));
        }
        let kind = Kind::MultiUser { psdu };
        let (to, mode, reserves) = (BROADCAST, longest, split.after);
        debug_assert!(mode.header() <= split.header, "the preamble has the fields of all users");
        Some(Frame { kind, from, to, category, mode, reserves, sequence: 0, retry: false })
    }

    /// The frame after the one that it has sent to several stations: the PPDU after a MU-RTS, the trigger after a PPDU.
    pub(crate) fn trigger(&mut self, now: Instant, rules: &Conventions) -> Option<Frame> {
        let downlink = self.downlink.as_ref().filter(|downlink| downlink.is_under_way())?;
        if downlink.announced {
            return self.send_downlink(now, rules);
        }
        let Split { users, response, lasts, .. } = downlink.split?;
        self.step = Step::Sending;
        let kind = Kind::Trigger { asks: Asks::BlockAcks, users, response };
        Some(self.control(kind, BROADCAST, rules.timing.sifs + lasts, rules))
    }

    /// Handles the end of its PPDU or its trigger.
    pub(super) fn downlink_sent(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        let timing = &rules.timing;
        let Some(downlink) = &mut self.downlink else { return };
        if downlink.announced {
            self.step = Step::AwaitCts;
            downlink.end = now + timing.sifs + timing.cts + timing.slot;
            self.deadline = now + timing.cts_timeout;
        } else if let (Kind::Trigger { response, .. }, Some(split)) = (frame.kind, downlink.split) {
            self.step = Step::AwaitBlockAck;
            downlink.end = now + timing.sifs + split.lasts + timing.slot;
            self.deadline = now + timing.sifs + timing.slot + response.header();
        } else {
            self.step = Step::Cleared;
            self.deadline = now + timing.sifs;
        }
    }

    /// Handles the deadline of the responses: when none has begun, and when all are over. Stations that did not answer are
    /// seen to one after another.
    pub(super) fn downlink_due(&mut self, now: Instant, receiving: bool, rules: &Conventions) -> Due {
        let Some(downlink) = &self.downlink else { return Due::Wait };
        if receiving && now < downlink.end {
            self.deadline = downlink.end;
            return Due::Wait;
        }
        if downlink.announced {
            return self.unanswered(now, rules);
        }
        let silent = downlink.users[0].buffer.to;
        let holder = usize::from(self.holder);
        let mut report = None;
        self.settle_user(silent, |station| match rules.aggregation.missed {
            MissedBlockAck::Request => station.held.ask_again(now, holder, rules),
            MissedBlockAck::Retransmit => report = station.settle(now, holder, rules, |_| false),
        });
        if self.downlink.as_ref().is_some_and(|downlink| downlink.is_under_way()) {
            self.deadline = now;
        } else {
            self.end_downlink(now, rules);
            self.schedule(now, rules);
        }
        Due::Failed(Answer { failed: Some(Unanswered::Data), report, ..Answer::default() })
    }

    /// Handles a MU-RTS without a CTS: an attempt at the frames of all stations.
    fn unanswered(&mut self, now: Instant, rules: &Conventions) -> Due {
        let holder = usize::from(self.holder);
        while let Some(to) =
            self.downlink.as_ref().and_then(|downlink| downlink.users.first()).map(|user| user.buffer.to)
        {
            self.settle_user(to, |station| _ = station.settle(now, holder, rules, |_| false));
        }
        self.end_downlink(now, rules);
        self.schedule(now, rules);
        Due::Failed(Answer { failed: Some(Unanswered::Rts), ..Answer::default() })
    }

    /// Handles a station's BlockAck.
    pub(super) fn user_acknowledged(
        &mut self,
        now: Instant,
        from: u32,
        reported: &Scoreboard,
        rules: &Conventions,
    ) -> Answer {
        let holder = usize::from(self.holder);
        let mut report = None;
        self.settle_user(from, |station| report = station.settle_reported(now, holder, reported, rules));
        if let Some(downlink) = &mut self.downlink {
            downlink.answered += usize::from(report.is_some());
        }
        if !self.downlink.as_ref().is_some_and(|downlink| downlink.is_under_way()) {
            self.end_downlink(now, rules);
        }
        Answer { report, ..Answer::default() }
    }

    /// Settles the frames of a station, which are the category's meanwhile; what is left of them waits for another turn.
    fn settle_user(&mut self, to: u32, settle: impl FnOnce(&mut Self)) {
        let holder = usize::from(self.holder);
        let Some(downlink) = &mut self.downlink else { return };
        let Some(place) = downlink.users.iter().position(|user| user.buffer.to == to) else { return };
        let User { buffer, .. } = downlink.users.swap_remove(place);
        let empty = std::mem::replace(&mut self.held.buffers[holder], buffer);
        settle(self);
        let settled = std::mem::replace(&mut self.held.buffers[holder], empty);
        if settled.is_empty() {
            self.held.spare.push(settled);
        } else {
            self.held.aside.push((self.holder, settled));
        }
    }

    /// Ends the exchange: it has failed if no station answered.
    fn end_downlink(&mut self, now: Instant, rules: &Conventions) {
        let Some(downlink) = &mut self.downlink else { return };
        (downlink.split, downlink.announced) = (None, false);
        let failed = downlink.answered == 0;
        // The frames that are left wait with those for other stations.
        self.contention.wanting &= !(1 << self.holder);
        if failed {
            self.end_failed(now, false, rules);
        } else {
            self.finish(now, rules);
        }
    }

    /// The frames in an aggregate to this receiver, perhaps as one of several, that is being sent or whose response is awaited.
    pub(crate) fn in_flight_to(&self, to: u32) -> impl Iterator<Item = &Mpdu> {
        let own = self.downlink.as_ref().and_then(|downlink| downlink.buffer(to));
        let buffer = own.unwrap_or(&self.held.buffers[usize::from(self.holder)]);
        buffer.mpdus.iter().take(buffer.in_flight)
    }
}

impl Split {
    /// The longest PSDU of a part whose PPDU lasts at most `time`: its preamble is that of all.
    fn room(&self, mode: Mode, time: Duration, rules: &Conventions) -> Bytes {
        rules.timing.longest(mode, time.saturating_sub(self.header) + mode.header())
    }
}
