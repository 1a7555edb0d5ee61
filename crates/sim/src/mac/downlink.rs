//! Downlink OFDMA: frames to several stations side by side in one HE MU PPDU (IEEE 802.11ax-2021, 27.3).
//!
//! An exchange has these frames, SIFS apart. Above the RTS threshold: a MU-RTS trigger, and a simultaneous CTS of all
//! stations, received as one (26.2.6). The PPDU. A MU-BAR trigger, and the simultaneous `BlockAck`s of all its stations
//! in HE TB PPDUs (26.4.4). The [host](crate::world) chooses the stations: the one whose frames won the medium, and
//! those that have used the least airtime of HE MU PPDUs. All RUs have one size, the finest that gives each station an
//! RU. The longest part is cut to the second longest, and shorter ones are padded. A station's frames are in a buffer
//! as for an A-MPDU. It replaces its category's buffer while the frame is assembled and while its outcome is settled.

use super::airtime::UsedAirtime;
use super::buffer::{Assembly, Size};
use super::held::{Attempt, Held, User};
use super::step::{Act, Cleared, Context, Step};
use super::{
    Answer, Asks, BROADCAST, Conventions, Due, Frame, Kind, LONGEST_MSDU, Rates, Report, Scoreboard, Unanswered,
};
use crate::config::{GuardInterval, MissedBlockAck};
use crate::radio::{BLOCK_ACK, Format, LONG_BLOCK_ACK, Mimo, Mode, Ru, sig_b_symbols};
use units::{Bytes, Duration, Instant};

/// State of a station that sends frames to several stations at once.
#[derive(Debug, Default)]
pub(crate) struct Downlink {
    /// How the channel is split among the stations of the PPDU that is being assembled or sent.
    split: Option<Split>,
    stage: Stage,
    answered: usize,
    /// Time at which all responses are over.
    end: Instant,
    /// Airtime that each station has used in PPDUs to several stations so far.
    used: UsedAirtime,
}

/// How far the exchange has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// The stations' frames are being assembled, or no PPDU is being sent.
    #[default]
    Gathers,
    /// The MU-RTS has been sent and no CTS has come yet.
    Announced,
    Sent,
}

/// A channel that is split into equal RUs.
#[derive(Clone, Copy, Debug)]
struct Split {
    users: u8,
    ru: Ru,
    /// Duration of the preamble's fields that all users share: guard interval, HE-SIG-B and training fields.
    header: Duration,
    /// Number of HE-SIG-B symbols, the same for every user.
    symbols: u8,
    guard: GuardInterval,
    /// Mode of the responses, and their duration.
    response: Mode,
    lasts: Duration,
    /// Time from the start of a MU-RTS to the start of the PPDU; zero without a MU-RTS.
    before: Duration,
    /// Time from the end of the PPDU to the end of the responses.
    after: Duration,
    longest: Duration,
}

impl Downlink {
    /// Returns the duration of the PPDU: its preamble and its longest part, to whose length all parts are padded.
    pub(crate) fn duration(&self, held: &Held, rules: &Conventions) -> Duration {
        let Some(split) = self.split else { return Duration::ZERO };
        let parts = held.users.iter().map(|user| split.header + rules.timing.payload(user.mode, user.psdu));
        parts.max().unwrap_or(Duration::ZERO)
    }

    /// Chooses the stations of a PPDU among those with frames; the frames of the first are due. It takes as many as the
    /// finest split has RUs that hold the longest packet, and stores them in `users`. False if no split fits.
    pub(crate) fn split(&mut self, users: &mut Vec<u32>, cx: &Context) -> bool {
        debug_assert!(self.stage == Stage::Gathers && cx.held.users.is_empty(), "the last exchange is over");
        let (category, rules) = (cx.held.holder, cx.rules);
        let Some(primary) = users.first().and_then(|&to| cx.rates.shared_mode(to, rules)) else { return false };
        let waits = |to: u32| {
            let mut aside = cx.held.aside.iter();
            let asks = aside.any(|(other, buffer)| *other == category && buffer.to == to && buffer.request.is_some());
            let mode = cx.rates.shared_mode(to, rules);
            !asks
                && mode.is_some_and(|mode| mode.width() == primary.width())
                && !cx.held.peers.knows_behind(to, category.into())
        };
        users.retain(|&to| waits(to));
        if let Some((_, others)) = users.split_first_mut() {
            others.sort_by_key(|&to| self.used.of(to));
        }
        self.used.wait(users.iter().copied());
        let mut most = users.len();
        while let Some(ru) = Ru::split(primary.width(), most) {
            most = ru.count(primary.width());
            if let Some(split) = Split::among(&users[..most], ru, cx) {
                users.truncate(most);
                self.split = Some(split);
                return true;
            }
            most -= 1;
        }
        false
    }

    /// Returns the longest frame to a station in the present PPDU, with `left` of the TXOP; `None` without a PPDU.
    pub(super) fn longest_part(&self, to: u32, left: Duration, rates: &Rates, rules: &Conventions) -> Option<Bytes> {
        let split = self.split?;
        let left = split.longest.min(left.saturating_sub(split.before + split.after));
        Some(split.room(split.mode_to(to, rates, rules), left, rules))
    }

    /// Adds the frames that the host has assembled to the PPDU.
    pub(crate) fn join(&mut self, assembly: Option<Assembly>, cx: &mut Context) {
        let Some(split) = self.split else { return };
        let to = cx.held.present().to;
        let longest = self.longest_part(to, cx.txop.left(cx.now), cx.rates, cx.rules).unwrap_or_default();
        let Size { frames, psdu, .. } = cx.settled(assembly, longest);
        let mode = split.mode_to(to, cx.rates, cx.rules);
        let empty = cx.held.spare.pop().unwrap_or_default();
        let mut buffer = std::mem::replace(cx.held.present_mut(), empty);
        buffer.in_flight = frames;
        debug_assert!(frames > 0 && to != BROADCAST, "a part has frames for one station");
        cx.held.users.push(User { buffer, mode, psdu });
    }

    /// Returns the frame that is due. After the frames of all stations have joined: the PPDU, or its MU-RTS first.
    /// After a PPDU: the trigger. `None` if there is no PPDU, or only one station; its frames are the category's again.
    pub(crate) fn next(&mut self, cx: &mut Context) -> Option<Frame> {
        if cx.held.users.is_empty() {
            return None;
        }
        match self.stage {
            Stage::Gathers => self.begin(cx),
            Stage::Announced => self.ppdu(cx),
            Stage::Sent => {
                let Split { users, response, lasts, .. } = self.split?;
                let kind = Kind::Trigger { asks: Asks::BlockAcks, users, response };
                Some(cx.control(kind, BROADCAST, cx.rules.timing.sifs + lasts))
            }
        }
    }

    fn begin(&mut self, cx: &mut Context) -> Option<Frame> {
        let split = self.split?;
        if cx.held.users.len() < 2 {
            self.split = None;
            if let Some(User { mut buffer, .. }) = cx.held.users.pop() {
                buffer.in_flight = 0;
                let empty = std::mem::replace(cx.held.present_mut(), buffer);
                cx.held.spare.push(empty);
            }
            return None;
        }
        self.answered = 0;
        level(&mut cx.held.users, cx.rules);
        let psdu = psdu(&cx.held.users);
        let announces = !split.before.is_zero() && cx.rules.rts_threshold.is_some_and(|threshold| psdu > threshold);
        if !announces {
            return self.ppdu(cx);
        }
        self.stage = Stage::Announced;
        let timing = &cx.rules.timing;
        let reserves = timing.sifs * 2 + timing.cts + self.duration(cx.held, cx.rules) + split.after;
        let kind = Kind::Trigger { asks: Asks::Clear, users: split.users, response: timing.announcing };
        Some(Frame { mode: timing.announcing, ..cx.control(kind, BROADCAST, reserves) })
    }

    fn ppdu(&mut self, cx: &mut Context) -> Option<Frame> {
        let share = self.share(cx.held, cx.rules);
        let split = self.split?;
        self.stage = Stage::Sent;
        for User { buffer, .. } in &mut cx.held.users {
            for mpdu in buffer.mpdus.iter_mut().take(buffer.in_flight) {
                mpdu.retry = std::mem::replace(&mut mpdu.sent, true);
            }
            self.used.charge(buffer.to, share);
        }
        let mode = cx.held.users.iter().map(|user| user.mode).max_by_key(|mode| mode.header())?;
        debug_assert!(mode.header() <= split.header, "the preamble has the fields of all users");
        let kind = Kind::MultiUser { psdu: psdu(&cx.held.users) };
        Some(Frame { mode, ..cx.control(kind, BROADCAST, split.after) })
    }

    /// Returns a station's share of the PPDU's airtime.
    pub(super) fn share(&self, held: &Held, rules: &Conventions) -> Duration {
        self.duration(held, rules) / u64::try_from(held.users.len().max(1)).expect("at most 74")
    }

    /// Handles the end of the station's own frame. Returns what the station awaits, and until when.
    pub(super) fn sent(&mut self, now: Instant, frame: &Frame, rules: &Conventions) -> (Step, Instant) {
        let timing = &rules.timing;
        match (self.stage, frame.kind, self.split) {
            (Stage::Announced, ..) => {
                self.end = now + timing.sifs + timing.cts + timing.slot;
                (Step::AwaitCts, now + timing.cts_timeout)
            }
            (_, Kind::Trigger { response, .. }, Some(split)) => {
                self.end = now + timing.sifs + split.lasts + timing.slot;
                (Step::AwaitBlockAck, now + timing.sifs + timing.slot + response.header())
            }
            _ => (Step::Cleared, now + timing.sifs),
        }
    }

    /// Handles the deadline of the responses, both if none has begun and after the last one. Stations that did not
    /// answer are handled one after another.
    pub(super) fn due(&mut self, receiving: bool, cx: &mut Context) -> Act {
        let now = cx.now;
        if receiving && now < self.end {
            let step = if self.stage == Stage::Announced { Step::AwaitCts } else { Step::AwaitBlockAck };
            return Act::On(step, self.end, Due::Wait);
        }
        let rules = cx.rules;
        if self.stage == Stage::Announced {
            // This counts as an attempt at the frames of all stations.
            while let Some(to) = cx.held.users.first().map(|user| user.buffer.to) {
                cx.held.settle_user(to, |held| _ = held.settle(now, Attempt::Announced, rules, |_| false));
            }
            let answer = Answer { failed: Some(Unanswered::Rts), ..Answer::default() };
            return Act::Over { answered: self.end(cx), answer };
        }
        let (silent, attempt) = (cx.held.users[0].buffer.to, cx.txop.attempt());
        let mut report = None;
        cx.held.settle_user(silent, |held| match rules.aggregation.missed {
            MissedBlockAck::Request => held.ask_again(now, held.category(), rules),
            MissedBlockAck::Retransmit => report = held.settle(now, attempt, rules, |_| false),
        });
        let answer = Answer { failed: Some(Unanswered::Data), report, ..Answer::default() };
        if !cx.held.users.is_empty() {
            return Act::On(Step::AwaitBlockAck, now, Due::Failed(answer));
        }
        Act::Over { answered: self.end(cx), answer }
    }

    /// Handles a station's BlockAck.
    pub(super) fn acknowledged(&mut self, from: u32, reported: &Scoreboard, cx: &mut Context) -> Option<Report> {
        let (now, attempt, mut report) = (cx.now, cx.txop.attempt(), None);
        cx.held.settle_user(from, |held| report = held.settle_reported(now, attempt, reported, cx.rules));
        self.answered += usize::from(report.is_some());
        report
    }

    /// Ends the exchange. False if the PPDU has failed because no station answered.
    pub(super) fn end(&mut self, cx: &mut Context) -> bool {
        debug_assert!(cx.held.users.is_empty(), "each station has answered, or is given up for this time");
        (self.split, self.stage) = (None, Stage::Gathers);
        // The frames that were not acknowledged now wait like frames for other stations.
        cx.contention.wanting &= !(1 << cx.held.holder);
        self.answered > 0
    }
}

/// Returns the sum of the lengths of all parts.
fn psdu(users: &[User]) -> Bytes {
    users.iter().fold(Bytes::new(0), |sum, user| sum + user.psdu)
}

/// Cuts the longest part to the duration of the second longest. The rest goes faster in a frame of its own.
fn level(users: &mut [User], rules: &Conventions) {
    let lasts = |user: &User| rules.timing.payload(user.mode, user.psdu);
    let (mut longest, mut second) = (Duration::ZERO, Duration::ZERO);
    for time in users.iter().map(lasts) {
        second = second.max(time.min(longest));
        longest = longest.max(time);
    }
    let Some(user) = users.iter_mut().find(|user| lasts(user) > second) else { return };
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

impl Split {
    /// Returns the split among these users if the longest packet of each fits.
    fn among(users: &[u32], ru: Ru, cx: &Context) -> Option<Self> {
        let rules = cx.rules;
        let modes = || users.iter().filter_map(|&to| cx.rates.shared_mode(to, rules));
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
        // Stations of 802.11b cannot read triggers.
        let knows = matches!(timing.announcing, Mode::Ofdm(_));
        let announces = knows && rules.rts_threshold.is_some() && cx.txop.cleared == Cleared::No;
        let request = timing.duration(timing.announcing, Asks::Clear.length(users.into()));
        let before = if announces { request + timing.cts + timing.sifs * 2 } else { Duration::ZERO };
        let limit = rules.aggregation.duration;
        let longest = if cx.txop.bursts() { limit.min(cx.txop.limit.saturating_sub(before + after)) } else { limit };
        let split = Self { users, ru, header, symbols, guard, response, lasts, before, after, longest };
        let fits = |mode: Mimo| split.room(Mode::Mimo(mode), longest, rules) >= rules.mpdu(LONGEST_MSDU);
        parts().all(fits).then_some(split)
    }

    /// Returns the mode of a station's part.
    fn mode_to(&self, to: u32, rates: &Rates, rules: &Conventions) -> Mode {
        match rates.mode_to(to, &rules.timing) {
            Mode::Mimo(mode) => Mode::Mimo(mode.guarded(self.guard).within(self.ru, self.symbols)),
            other => other,
        }
    }

    /// Returns the longest PSDU of a part whose PPDU, common preamble included, lasts at most `time`.
    fn room(&self, mode: Mode, time: Duration, rules: &Conventions) -> Bytes {
        rules.timing.longest(mode, time.saturating_sub(self.header) + mode.header())
    }
}
