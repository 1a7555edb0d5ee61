//! Uplink OFDMA: stations send side by side in HE TB PPDUs if their access point asks (IEEE 802.11ax-2021, 26.5.2).
//!
//! An exchange consists of a basic trigger, after SIFS the data of its stations at once, and after SIFS one multi-STA
//! `BlockAck`. An access point knows a station's backlog from the queue size in its last data frame (9.2.4.5.6). If it
//! has sent to the station since, it polls the station first: a BSRP trigger, QoS Null frames, and after SIFS the
//! trigger for data. [A station without backlog](super::backlogs) is polled at intervals. A station that MU EDCA keeps
//! from contending is asked alone if no other has packets. Stations that contend are asked at least in pairs.
//!
//! Downlink and uplink get equal airtime while both have packets. Stations that have used the least airtime of such
//! PPDUs go first. All RUs have one size. The largest backlog, as far as it fits, sets the duration for all stations.

use super::airtime::UsedAirtime;
use super::backlogs::{Backlog, Backlogs, Known};
use super::buffer::{Assembly, Size};
use super::contention::Contention;
use super::frame::multi_block_ack_length;
use super::held::Held;
use super::step::{Act, Cleared, Context, Step};
use super::{
    Access, Answer, Asks, BROADCAST, Conventions, Due, Frame, Kind, LONGEST_MSDU, Rates, Report, Scoreboard, Unanswered,
};
use crate::config::{GuardInterval, MissedBlockAck};
use crate::radio::{Mimo, Mode, Ru};
use units::{Bytes, Duration, Instant, refuse_if};

/// Unit of the queue size field, and the size that the field can no longer report.
const QUEUE_UNIT: u64 = 256;
pub(crate) const QUEUE_MOST: Bytes = Bytes::new(254 * QUEUE_UNIT);

/// Time after which the access point checks again whether the channel is wide enough for its triggers.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(4);

/// State of a station in a network with uplink OFDMA.
#[derive(Debug, Default)]
pub(crate) struct Uplink {
    /// True if the station is an access point.
    asks: bool,
    /// What an access point knows of its stations' queues.
    backlogs: Backlogs,
    used: UsedAirtime,
    /// For each category, the airtime that decides whose turn it is, the downlink's or the uplink's.
    turns: [Turns; super::CATEGORIES],
    /// The access point's request to its stations, as long as that exchange lasts.
    pub(crate) round: Option<Round>,
    /// The stations to which the last trigger or multi-STA BlockAck was addressed.
    pub(crate) users: Vec<u32>,
    /// Stations that answered with data; `whole`: answers all of whose data arrived; `answered`: all answers.
    delivered: Vec<u32>,
    whole: u8,
    answered: usize,
    /// Time at which all answers are over.
    end: Instant,
    /// The request that the station answers, until its answer is acknowledged.
    pub(crate) asked: Option<Round>,
    /// For each category, the time until which the parameters of MU EDCA apply; `None` if they do not apply.
    managed: [Option<Instant>; super::CATEGORIES],
}

/// Airtime of an access point's frames, and of frames that it triggered. A direction without packets gains no credit.
#[derive(Clone, Copy, Debug, Default)]
struct Turns {
    down: Duration,
    up: Duration,
}

impl Turns {
    fn is_uplinks(&mut self, down_waits: bool, up_waits: bool) -> bool {
        if !down_waits {
            self.down = self.down.max(self.up);
        }
        if !up_waits {
            self.up = self.up.max(self.down);
        }
        up_waits && (!down_waits || self.up < self.down)
    }
}

/// Why no trigger is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotNow {
    /// The downlink uses the medium, or it is the downlink's turn.
    Downlink,
    /// No station, or only one that contends itself, is known to have packets.
    NobodyKnown,
    /// The rest of the TXOP is too short for the longest packet. The packet may fit into the next TXOP.
    TxopTooShort,
    /// The longest packet is too long for the present channel width, even with a TXOP of its own.
    TooLong,
}

/// A request for frames of several stations, made with a trigger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) asks: Asks,
    /// The access point that asks.
    pub(crate) of: u32,
    pub(crate) users: u8,
    ru: Ru,
    /// Duration of the stations' PPDUs, and of the longest preamble among them.
    pub(crate) lasts: Duration,
    header: Duration,
    /// Mode of an answer without data.
    response: Mode,
}

impl Round {
    /// Makes a round without a duration. `slowest`: the mode in which the slowest station sends alone.
    fn new(asks: Asks, of: u32, users: u8, ru: Ru, slowest: Mimo) -> Self {
        let response = Mode::Mimo(slowest.response(ru));
        Self { asks, of, users, ru, lasts: Duration::ZERO, header: response.header(), response }
    }

    /// Returns the duration of the longest PPDUs with which the exchange ends within this time.
    fn longest(&self, time: Duration, rules: &Conventions) -> Duration {
        let timing = &rules.timing;
        let trigger = timing.sifs * 2 + timing.duration(timing.basic, self.asks.length(self.users.into()));
        rules.aggregation.duration.min(time.saturating_sub(trigger + self.acknowledgement(rules)))
    }

    /// True if the longest packet fits into a station's part of a PPDU with this duration.
    fn fits(&self, mode: Mimo, longest: Duration, rules: &Conventions) -> bool {
        self.room(mode, longest, rules) >= rules.mpdu(LONGEST_MSDU)
    }

    /// Returns the time after the answers: for data, SIFS and a multi-STA BlockAck.
    fn acknowledgement(&self, rules: &Conventions) -> Duration {
        if self.asks != Asks::Data {
            return Duration::ZERO;
        }
        let timing = &rules.timing;
        let length = multi_block_ack_length(self.users, 0, rules.long_bitmaps());
        timing.sifs + timing.duration(timing.responses(self.response).mode, length)
    }

    /// True if a station's longest packet fits into an RU beside another station's, in a TXOP of its own.
    fn fits_beside(mode: Mimo, txop: Duration, rules: &Conventions) -> bool {
        let Some(ru) = Ru::split(mode.width(), 2) else { return false };
        let mut round = Self::new(Asks::Data, BROADCAST, 2, ru, mode);
        let part = within(mode, ru);
        round.header = round.header.max(part.header());
        round.fits(part, round.longest(if txop.is_zero() { Duration::MAX } else { txop }, rules), rules)
    }

    /// Returns the duration of the PPDUs without the preamble.
    pub(crate) fn payload(&self) -> Duration {
        self.lasts.saturating_sub(self.header)
    }
}

/// Returns a station's mode in an RU of an HE TB PPDU. `mode` is its mode when it sends alone.
fn within(mode: Mimo, ru: Ru) -> Mimo {
    mode.guarded(GuardInterval::Double).within(ru, 1)
}

impl Uplink {
    /// Makes the initial state; `asks` is true for an access point.
    pub(crate) fn new(asks: bool) -> Self {
        Self { asks, ..Self::default() }
    }

    /// Records the backlog that a station reported in a data frame, or in the answer to a poll.
    pub(super) fn told(&mut self, of: (u32, u8), mode: Mimo, (queued, polled): (Bytes, bool), cx: &mut Context) {
        if self.asks {
            let txop = cx.contention.access[usize::from(of.1)].txop_limit;
            let shares = Round::fits_beside(mode, txop, cx.rules);
            // The field counts in units, rounded up.
            let queued = Bytes::new(queued.count().next_multiple_of(QUEUE_UNIT));
            self.backlogs.tell(cx.now, of, (mode, shares), queued, polled);
            cx.contention.look_again = self.backlogs.next_poll;
        }
    }

    /// Records that data of this airtime are being sent to a station. The station may then have data to send back.
    pub(super) fn may_answer(&mut self, station: u32, airtime: Duration, cx: &mut Context) {
        if !self.asks {
            return;
        }
        debug_assert!(!airtime.is_zero(), "data take time");
        let category = cx.held.holder;
        self.turns[usize::from(category)].down += airtime;
        if station != BROADCAST {
            let txop = cx.contention.access[usize::from(category)].txop_limit;
            let mode = cx.rates.widest_shared_mode(station, cx.rules);
            let mode = mode.map(|mode| (mode, Round::fits_beside(mode, txop, cx.rules)));
            self.backlogs.sends_to(cx.now, (station, category), mode);
            cx.contention.look_again = self.backlogs.next_poll;
        }
        debug_assert!(self.round.is_none(), "it asks for nothing meanwhile");
    }

    /// True if a category has no frames of its own, but stations to ask for data.
    pub(super) fn seeks(&self, category: usize, held: &Held) -> bool {
        let index = u8::try_from(category).expect("there are four categories");
        let asks = self.asks && self.backlogs.are_askable(index);
        asks && held.buffers[category].is_empty() && !held.has_aside(index)
    }

    /// Decides, after a category's exchange, whether the category contends for a trigger.
    pub(super) fn seek(&self, category: usize, held: &Held, contention: &mut Contention) {
        let bit = 1 << category;
        if self.seeks(category, held) {
            contention.wanting |= bit;
            contention.soliciting |= bit;
        } else if contention.soliciting & bit != 0 {
            contention.wanting &= !bit;
            contention.soliciting &= !bit;
        }
        debug_assert_eq!(contention.soliciting & !contention.wanting, 0, "who contends for a trigger contends");
        debug_assert!(
            contention.soliciting & bit == 0 || held.buffers[category].is_empty(),
            "its frames would go first"
        );
    }

    /// Checks again, at `look_again`, whether stations are to be asked for data.
    pub(super) fn look_again(&mut self, now: Instant, contention: &mut Contention) {
        self.backlogs.refresh(now);
        contention.look_again = self.backlogs.next_poll;
    }

    /// Returns the trigger that is due if it is the uplink's turn in the category that has won the medium.
    pub(super) fn solicit(&mut self, cx: &mut Context) -> Result<Frame, NotNow> {
        let (now, category, rules) = (cx.now, cx.held.holder, cx.rules);
        let idle = cx.contention.soliciting & 1 << category != 0;
        refuse_if!(!self.asks || cx.txop.fixed.is_some() || !cx.held.users.is_empty(), Err(NotNow::Downlink));
        let polled = self.round.take().is_some();
        let Self { backlogs, used, users, turns, .. } = self;
        backlogs.refresh(now);
        cx.contention.look_again = backlogs.next_poll;
        backlogs.choose(category, polled, used, users);
        let turn = polled || turns[usize::from(category)].is_uplinks(!idle, !users.is_empty());
        refuse_if!(users.is_empty(), Err(NotNow::NobodyKnown));
        refuse_if!(!turn, Err(NotNow::Downlink));
        let unknown = |&station: &u32| backlogs.of(station, category).is_none_or(|it| it.backlog == Backlog::Unknown);
        let asks = if users.iter().any(unknown) { Asks::Backlog } else { Asks::Data };
        let round = self.round_of(asks, cx)?;
        debug_assert!(round.users > 0 && !round.lasts.is_zero(), "somebody sends something");
        let Self { backlogs, used, users, turns, .. } = self;
        users.truncate(round.users.into());
        backlogs.ask(now, users, category, rules.short_retry_limit);
        cx.contention.look_again = backlogs.next_poll;
        turns[usize::from(category)].up += round.lasts;
        if asks == Asks::Data {
            let share = round.lasts / u64::from(round.users);
            for &station in &*users {
                used.charge(station, share);
            }
        }
        self.round = Some(round);
        self.delivered.clear();
        (self.whole, self.answered) = (0, 0);
        let reserves = rules.timing.sifs + round.lasts + round.acknowledgement(rules);
        debug_assert!(!cx.txop.bursts() || now + reserves <= cx.txop.end, "the exchange ends with the TXOP");
        let kind = Kind::Trigger { asks, users: round.users, response: round.response };
        Ok(cx.control(kind, BROADCAST, reserves))
    }

    /// Returns the finest split among the first stations that can be asked, if the longest packet of each fits into the
    /// rest of the TXOP.
    fn round_of(&self, asks: Asks, cx: &Context) -> Result<Round, NotNow> {
        let (category, rules) = (cx.held.holder, cx.rules);
        let (whole, left) =
            if cx.txop.bursts() { (cx.txop.limit, cx.txop.left(cx.now)) } else { (Duration::MAX, Duration::MAX) };
        let too_long = if left < whole { NotNow::TxopTooShort } else { NotNow::TooLong };
        let modes = |most: usize| {
            let known = |&station: &u32| self.backlogs.of(station, category);
            let narrowed = |known: &Known| (cx.rates.within_limit(known.mode), known.backlog);
            self.users[..most].iter().filter_map(known).map(narrowed)
        };
        let all = self.users.len();
        let width = modes(all).next().ok_or(NotNow::NobodyKnown)?.0.width();
        let timing = &rules.timing;
        let mut most = all;
        loop {
            // A station that is asked alone gets the whole channel.
            let ru = if all == 1 { Some(Ru::widest(width)) } else { Ru::split(width, most) };
            let ru = ru.ok_or(too_long)?;
            most = most.min(ru.count(width));
            let users = u8::try_from(most).map_err(|_| NotNow::NobodyKnown)?;
            let slowest = modes(most).map(|(mode, _)| mode).min_by_key(|mode| mode.coding());
            let mut round = Round::new(asks, cx.address, users, ru, slowest.ok_or(NotNow::NobodyKnown)?);
            if asks == Asks::Backlog {
                round.lasts = timing.duration(round.response, rules.queue_size_frame());
                return if round.lasts <= round.longest(left, rules) { Ok(round) } else { Err(too_long) };
            }
            let parts = || modes(most).map(move |(mode, backlog)| (within(mode, ru), backlog));
            round.header = parts().map(|(mode, _)| mode.header()).max().unwrap_or_default().max(round.header);
            let limit = round.longest(left, rules);
            // A single station is asked for all it can send in a TXOP, even if that is less than the longest packet.
            let alone = all == 1 && left == whole && limit > round.header;
            if alone || parts().all(|(mode, _)| round.fits(mode, limit, rules)) {
                let needs = |(mode, backlog): (Mimo, Backlog)| match backlog {
                    Backlog::Is(bytes) if bytes < QUEUE_MOST => round.header + timing.payload(Mode::Mimo(mode), bytes),
                    _ => limit,
                };
                round.lasts = parts().map(needs).max().unwrap_or(limit).min(limit);
                return Ok(round);
            }
            refuse_if!(most <= 2, Err(too_long));
            most -= 1;
        }
    }

    /// Handles the end of the access point's trigger or multi-STA BlockAck. Returns what it awaits, and until when;
    /// `None` at the end of the exchange.
    pub(super) fn sent(&mut self, frame: &Frame, cx: &mut Context) -> Option<(Step, Instant)> {
        let (now, timing) = (cx.now, &cx.rules.timing);
        if let (Kind::Trigger { .. }, Some(round)) = (frame.kind, self.round) {
            self.end = now + timing.sifs + round.lasts + timing.slot;
            return Some((Step::AwaitParts, now + timing.sifs + timing.slot + round.header));
        }
        self.round = None;
        if let Some(managed) = &cx.rules.mu_edca {
            for &station in &self.users {
                self.backlogs.restrain(now, station, cx.held.holder, now + managed.timer);
            }
            cx.contention.look_again = self.backlogs.next_poll;
        }
        None
    }

    /// Handles an answer to the access point's trigger, with data or without.
    pub(super) fn part_received(&mut self, from: u32, frames: u16) -> Answer {
        debug_assert!(self.round.is_some(), "it has asked");
        self.answered += 1;
        if frames > 0 {
            self.delivered.push(from);
        }
        Answer { takes: frames > 0, ..Answer::default() }
    }

    /// Records that all data of the last answer have arrived.
    pub(crate) fn part_is_whole(&mut self) {
        self.whole += 1;
        debug_assert!(usize::from(self.whole) <= self.delivered.len(), "once for each answer with data");
    }

    /// Handles the deadline of the answers: if none has begun, when all are over, or SIFS after the last good answer.
    pub(super) fn due(&mut self, receiving: bool, cx: &mut Context) -> Act {
        let Some(round) = self.round else { return Act::On(Step::AwaitParts, Instant::NEVER, Due::Wait) };
        if receiving && cx.now < self.end {
            return Act::On(Step::AwaitParts, self.end, Due::Wait);
        }
        if self.answered > 0 && round.asks == Asks::Backlog {
            return Act::On(Step::Cleared, Instant::NEVER, Due::Begin(cx.held.holder));
        }
        if self.delivered.is_empty() {
            self.round = None;
            return Act::Over { answered: self.answered > 0, answer: Answer::default() };
        }
        std::mem::swap(&mut self.users, &mut self.delivered);
        // The reservation includes bitmaps. Stations that did not answer wait for them even if none is sent. The access
        // point waits too; otherwise those stations would never win the medium.
        cx.contention.nav = cx.contention.nav.max(self.end + round.acknowledgement(cx.rules));
        let stations = u8::try_from(self.users.len()).unwrap_or(u8::MAX);
        debug_assert!(self.whole <= stations, "of those that it acknowledges");
        let kind = Kind::MultiBlockAck { stations, whole: self.whole, long: cx.rules.long_bitmaps() };
        let mode = cx.rules.timing.responses(round.response).mode;
        let frame = Frame { mode, ..cx.control(kind, BROADCAST, Duration::ZERO) };
        Act::On(Step::Sending, Instant::NEVER, Due::Send(frame))
    }

    /// Prepares an answer. True if it may contain data: its category holds frames for the asker, or no frames.
    pub(crate) fn prepare(&mut self, round: Round, category: u8, cx: &mut Context) -> bool {
        cx.held.holder = category;
        cx.txop.cleared = Cleared::No;
        self.asked = Some(round);
        let buffer = cx.held.present();
        let may = round.asks == Asks::Data && (buffer.is_empty() || buffer.to == round.of && buffer.request.is_none());
        // From now on the category accepts no other packet.
        cx.contention.wanting |= u8::from(may) << category;
        may
    }

    /// Returns the longest frame in the answer that the station prepares; `None` if it prepares none.
    pub(super) fn longest_answer(&self, rates: &Rates, rules: &Conventions) -> Option<Bytes> {
        let round = self.asked?;
        let mode = rates.shared_mode(round.of, rules)?;
        Some(round.room(within(mode, round.ru), round.lasts, rules))
    }

    /// Returns the answer with the assembled data frames; `None` if not even the first frame fits.
    pub(crate) fn answer(&self, assembly: Option<Assembly>, answer: &Frame, cx: &mut Context) -> Option<Frame> {
        let round = self.asked?;
        let longest = self.longest_answer(cx.rates, cx.rules);
        let Size { frames, psdu, .. } = cx.settled(assembly, longest.unwrap_or_default());
        let mode = cx.rates.shared_mode(round.of, cx.rules).map(|mode| Mode::Mimo(within(mode, round.ru)));
        let mode = mode.filter(|_| longest.is_some_and(|longest| psdu <= longest))?;
        let buffer = cx.held.present_mut();
        buffer.in_flight = frames;
        for mpdu in buffer.mpdus.iter_mut().take(frames) {
            mpdu.retry = std::mem::replace(&mut mpdu.sent, true);
        }
        let first = buffer.mpdus.front()?;
        let kind = Kind::Triggered { psdu, frames: u16::try_from(frames).ok()? };
        Some(Frame { kind, mode, sequence: first.sequence, retry: first.retry, ..*answer })
    }

    /// Ends the station's answer to a trigger.
    pub(super) fn end_answer(&mut self, cx: &mut Context) {
        self.asked = None;
        if cx.held.present().is_empty() {
            cx.contention.wanting &= !(1 << cx.held.holder);
        }
    }

    /// Handles the BlockAck for the station's answer.
    pub(super) fn answer_acknowledged(&mut self, reported: &Scoreboard, cx: &mut Context) -> Option<Report> {
        let (now, holder) = (cx.now, cx.held.category());
        let report = cx.held.settle_reported(now, cx.txop.attempt(), reported, cx.rules);
        if let Some(managed) = &cx.rules.mu_edca {
            let contender = &mut cx.contention.contenders[holder];
            match &managed.access {
                // An AIFSN of zero forbids contention until then.
                None => contender.earliest = now + managed.timer,
                Some(access) => {
                    self.managed[holder] = Some(now + managed.timer);
                    let Access { cw_min, cw_max, .. } = access[holder];
                    cx.contention.access[holder] = access[holder];
                    contender.cw = contender.cw.clamp(cw_min, cw_max);
                }
            }
        }
        report
    }

    /// Handles a missing BlockAck. Back-off and window stay as they are (IEEE 802.11-2020, 10.23.2.2).
    pub(super) fn answer_failed(cx: &mut Context) -> Answer {
        let mut report = None;
        match cx.rules.aggregation.missed {
            MissedBlockAck::Request => cx.held.ask_again(cx.now, cx.held.category(), cx.rules),
            MissedBlockAck::Retransmit => {
                report = cx.held.settle(cx.now, cx.txop.attempt(), cx.rules, |_| false);
            }
        }
        Answer { failed: Some(Unanswered::Data), report, ..Answer::default() }
    }

    /// Restores the configured parameters of each category whose time of MU EDCA is over (26.2.7).
    pub(super) fn end_managed(&mut self, now: Instant, contention: &mut Contention) {
        for (holder, until) in self.managed.iter_mut().enumerate() {
            if until.take_if(|until| now >= *until).is_some() {
                contention.access[holder] = contention.configured[holder];
                contention.contenders[holder].cw = contention.configured[holder].cw_min;
            }
        }
    }
}

impl Round {
    /// Returns the longest PSDU of a part whose PPDU lasts at most `time` with the longest preamble.
    fn room(&self, mode: Mimo, time: Duration, rules: &Conventions) -> Bytes {
        rules.timing.longest(Mode::Mimo(mode), time.saturating_sub(self.header) + mode.header())
    }
}
