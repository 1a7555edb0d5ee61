//! Uplink OFDMA: stations send side by side in HE TB PPDUs when their access point asks (IEEE 802.11ax-2021, 26.5.2).
//!
//! The exchange: a basic trigger, after SIFS the data of its stations at once, after SIFS one multi-STA `BlockAck`. An access
//! point knows a station's backlog from the queue size in its last data frame (9.2.4.5.6). Of a station to which it has sent
//! since, it does not; such stations are polled first: a BSRP trigger, their QoS Null frames, and after SIFS the trigger for
//! data. [One that has nothing](super::backlogs) is polled at intervals. A station that MU EDCA keeps from contending is asked
//! alone if no other has anything; two that contend are asked together.
//!
//! Downlink and uplink have equal airtime while both have something. Those stations go first that have used the
//! least airtime of such PPDUs. All RUs are of one size; the largest backlog, as far as it fits, sets the duration for all.

use super::airtime::UsedAirtime;
use super::backlogs::{Backlog, Backlogs, Known};
use super::buffer::Size;
use super::frame::multi_block_ack_length;
use super::station::{Cleared, Station, Step};
use super::{
    Access, Answer, Asks, Assembly, BROADCAST, Conventions, Due, Frame, Kind, LONGEST_MSDU, Scoreboard, Unanswered,
};
use crate::config::{GuardInterval, MissedBlockAck};
use crate::radio::{Mimo, Mode, Ru};
use units::{Bytes, Duration, Instant};

/// Unit of the queue size field, and the size that counts as more than it can tell.
const QUEUE_UNIT: u64 = 256;
pub(crate) const QUEUE_MOST: Bytes = Bytes::new(254 * QUEUE_UNIT);

/// When it looks again whether the channel is wide enough for what it has to ask for.
const LOOK_AGAIN: Duration = Duration::from_millis(4);

/// State of a station of a network with uplink OFDMA.
#[derive(Debug, Default)]
pub(crate) struct Uplink {
    /// True at an access point.
    asks: bool,
    /// What an access point knows of its stations.
    backlogs: Backlogs,
    used: UsedAirtime,
    /// By category, whose turn it is.
    turns: [Turns; super::CATEGORIES],
    /// The exchange under way, the stations that its last frame is for, and those that have answered, with data, with data all
    /// of which have arrived, or at all.
    round: Option<Round>,
    users: Vec<u32>,
    delivered: Vec<u32>,
    whole: u8,
    answered: usize,
    /// When all answers are over.
    end: Instant,
    /// What a station was asked for, until that is over.
    asked: Option<Round>,
    /// By category, until when the parameters of MU EDCA hold, if they do.
    managed: [Option<Instant>; super::CATEGORIES],
}

/// Airtime of the frames of an access point, and of those that it asked for. A direction without frames gains nothing on the
/// other meanwhile.
#[derive(Clone, Copy, Debug, Default)]
struct Turns {
    down: Duration,
    up: Duration,
}

impl Turns {
    /// Is it the uplink's turn?
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
    /// The downlink has the medium, or its turn.
    Downlink,
    /// No station is known to have something, or only one that contends by itself.
    NobodyKnown,
    /// The rest of the TXOP is too short for the longest packet. In the next one it may go.
    TxopTooShort,
    /// The longest packet is too long in a channel as narrow as it is now, also with a TXOP of its own.
    TooLong,
}

/// Frames of several stations that a trigger asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) asks: Asks,
    /// The access point.
    pub(crate) of: u32,
    pub(crate) users: u8,
    ru: Ru,
    /// Duration of the PPDUs, and of the longest preamble.
    pub(crate) lasts: Duration,
    header: Duration,
    /// Mode of an answer without data.
    response: Mode,
}

impl Round {
    /// A round whose frames have no duration yet. `slowest`: the mode of the slowest station alone.
    fn new(asks: Asks, of: u32, users: u8, ru: Ru, slowest: Mimo) -> Self {
        let response = Mode::Mimo(slowest.response(ru));
        Self { asks, of, users, ru, lasts: Duration::ZERO, header: response.header(), response }
    }

    /// The longest PPDUs whose exchange ends within this time.
    fn longest(&self, time: Duration, rules: &Conventions) -> Duration {
        let timing = &rules.timing;
        let trigger = timing.sifs * 2 + timing.duration(timing.basic, self.asks.length(self.users.into()));
        rules.aggregation.duration.min(time.saturating_sub(trigger + self.acknowledgement(rules)))
    }

    /// Does the longest packet fit into a part of a PPDU of this duration?
    fn fits(&self, mode: Mimo, longest: Duration, rules: &Conventions) -> bool {
        self.room(mode, longest, rules) >= rules.mpdu(LONGEST_MSDU)
    }

    /// What follows the answers: SIFS and a multi-STA BlockAck, for data.
    fn acknowledgement(&self, rules: &Conventions) -> Duration {
        if self.asks != Asks::Data {
            return Duration::ZERO;
        }
        let timing = &rules.timing;
        let length = multi_block_ack_length(self.users, 0, rules.long_bitmaps());
        timing.sifs + timing.duration(timing.responses(self.response).mode, length)
    }

    /// Duration after the preamble.
    pub(crate) fn payload(&self) -> Duration {
        self.lasts.saturating_sub(self.header)
    }
}

/// Mode of a station's data in an RU of an HE TB PPDU, where alone it sends in this one.
fn within(mode: Mimo, ru: Ru) -> Mimo {
    mode.guarded(GuardInterval::Double).within(ru, 1)
}

impl Uplink {
    /// What it has asked its stations for, while that exchange is under way.
    #[inline]
    pub(crate) fn round(&self) -> Option<Round> {
        self.round
    }

    /// What it was asked for, while it answers and awaits the acknowledgement.
    #[inline]
    pub(crate) fn asked(&self) -> Option<Round> {
        self.asked
    }

    /// True if its last trigger or multi-STA BlockAck is for this station too.
    pub(crate) fn serves(&self, station: u32) -> bool {
        self.users.contains(&station)
    }
}

impl Station {
    /// From now on it takes part in uplink OFDMA, at an access point as the one that asks.
    pub(crate) fn share_uplink(&mut self, asks: bool) {
        self.uplink = Some(Box::new(Uplink { asks, ..Uplink::default() }));
    }

    /// Notes what a station told of its backlog in a data frame, or in the answer to a poll.
    pub(crate) fn told(
        &mut self,
        now: Instant,
        (station, category): (u32, u8),
        mode: Mimo,
        queued: Bytes,
        polled: bool,
        rules: &Conventions,
    ) {
        debug_assert_ne!(station, self.address, "others tell");
        let shares = self.fits_beside(mode, category, rules);
        let Some(uplink) = self.uplink.as_mut().filter(|uplink| uplink.asks) else { return };
        // The field counts units that have begun.
        let queued = Bytes::new(queued.count().next_multiple_of(QUEUE_UNIT));
        uplink.backlogs.tell(now, (station, category), (mode, shares), queued, polled);
        self.contention.look_again = uplink.backlogs.next_poll;
        if self.step == Step::Access && self.contention.wanting & 1 << category == 0 && self.seeks(category.into()) {
            self.seek(category.into());
            self.contend(now, category.into(), rules);
        }
    }

    /// A station is sent data that take this long: it may have answers.
    pub(crate) fn may_answer_to(&mut self, now: Instant, station: u32, airtime: Duration, rules: &Conventions) {
        let category = self.holder;
        let mode = self.rates.widest_shared_mode(station, rules);
        let mode = mode.map(|mode| (mode, self.fits_beside(mode, category, rules)));
        let Some(uplink) = self.uplink.as_mut().filter(|uplink| uplink.asks) else { return };
        uplink.turns[usize::from(category)].down += airtime;
        if station != BROADCAST {
            uplink.backlogs.sends_to(now, (station, category), mode);
            self.contention.look_again = uplink.backlogs.next_poll;
        }
        debug_assert!(self.step == Step::Sending, "data are about to be sent");
        debug_assert!(!airtime.is_zero(), "data take time");
    }

    /// Does the longest packet of a station fit beside that of another one, in a TXOP of its own?
    fn fits_beside(&self, mode: Mimo, category: u8, rules: &Conventions) -> bool {
        let Some(ru) = Ru::split(mode.width(), 2) else { return false };
        let mut round = Round::new(Asks::Data, self.address, 2, ru, mode);
        let part = within(mode, ru);
        round.header = round.header.max(part.header());
        let txop = self.contention.access[usize::from(category)].txop_limit;
        round.fits(part, round.longest(if txop.is_zero() { Duration::MAX } else { txop }, rules), rules)
    }

    /// Are there stations to ask in a category that has no frames?
    fn seeks(&self, category: usize) -> bool {
        let index = u8::try_from(category).expect("there are four categories");
        let asks = self.uplink.as_ref().is_some_and(|uplink| uplink.asks && uplink.backlogs.are_askable(index));
        asks && self.held.buffers[category].is_empty() && !self.held.has_aside(index)
    }

    /// A category's exchange is over: does it contend for a trigger?
    pub(super) fn seek(&mut self, category: usize) {
        let bit = 1 << category;
        if self.seeks(category) {
            self.contention.wanting |= bit;
            self.soliciting |= bit;
        } else if self.soliciting & bit != 0 {
            self.contention.wanting &= !bit;
            self.soliciting &= !bit;
        }
        debug_assert_eq!(self.soliciting & !self.contention.wanting, 0, "who contends for a trigger contends");
        debug_assert!(
            self.soliciting & bit == 0 || self.held.buffers[category].is_empty(),
            "its frames would go first"
        );
    }

    /// It is time to look again whether stations are to be asked.
    pub(super) fn looks_again(&mut self, now: Instant, rules: &Conventions) {
        debug_assert!(self.step == Step::Access && !self.contention.busy, "it could send");
        if let Some(uplink) = &mut self.uplink {
            uplink.backlogs.refresh(now);
            self.contention.look_again = uplink.backlogs.next_poll;
        }
        for category in 0..rules.categories {
            if self.contention.wanting & 1 << category == 0 && self.seeks(category) {
                self.seek(category);
                self.contend(now, category, rules);
            }
        }
        self.schedule(now, rules);
        debug_assert!(self.contention.look_again > now, "it does not look again at once");
    }

    /// A category that contended for a trigger alone, and has won, has none to send now.
    pub(crate) fn forgoes(&mut self, now: Instant, why: NotNow, rules: &Conventions) -> bool {
        let bit = 1 << self.holder;
        if self.soliciting & bit == 0 {
            return false;
        }
        debug_assert_ne!(why, NotNow::Downlink, "it has no frames");
        self.contention.wanting &= !bit;
        self.soliciting &= !bit;
        self.step = Step::Access;
        match why {
            NotNow::TxopTooShort | NotNow::NobodyKnown | NotNow::Downlink => self.seek(self.holder.into()),
            // The channel may be as wide as always then.
            NotNow::TooLong => self.contention.look_again = self.contention.look_again.min(now + LOOK_AGAIN),
        }
        self.begins_later(now, rules);
        debug_assert!(self.soliciting & bit != 0 || why != NotNow::TxopTooShort, "what it put off comes");
        true
    }

    /// The trigger that is due, if it is the uplink's turn in the category that has won the medium.
    pub(crate) fn solicit(&mut self, now: Instant, rules: &Conventions) -> Result<Frame, NotNow> {
        let category = self.holder;
        let idle = self.soliciting & 1 << category != 0;
        let free = self.fixed.is_none() && !self.downlink.as_ref().is_some_and(|downlink| downlink.is_under_way());
        let uplink = self.uplink.as_mut().filter(|uplink| uplink.asks && free).ok_or(NotNow::Downlink)?;
        let polled = uplink.round.take().is_some();
        let Uplink { backlogs, used, users, turns, .. } = &mut **uplink;
        backlogs.refresh(now);
        self.contention.look_again = backlogs.next_poll;
        backlogs.choose(category, polled, used, users);
        let turn = polled || turns[usize::from(category)].is_uplinks(!idle, !users.is_empty());
        if users.is_empty() {
            return Err(NotNow::NobodyKnown);
        }
        if !turn {
            return Err(NotNow::Downlink);
        }
        let unknown = |&station: &u32| backlogs.of(station, category).is_none_or(|it| it.backlog == Backlog::Unknown);
        let asks = if users.iter().any(unknown) { Asks::Backlog } else { Asks::Data };
        let round = self.round(now, asks, rules)?;
        debug_assert!(round.users > 0 && !round.lasts.is_zero(), "somebody sends something");
        let uplink = self.uplink.as_mut().ok_or(NotNow::Downlink)?;
        let Uplink { backlogs, used, users, turns, .. } = &mut **uplink;
        users.truncate(round.users.into());
        backlogs.ask(now, users, category, rules.short_retry_limit);
        self.contention.look_again = backlogs.next_poll;
        turns[usize::from(category)].up += round.lasts;
        if asks == Asks::Data {
            let share = round.lasts / u64::from(round.users);
            for &station in &*users {
                used.charge(station, share);
            }
        }
        uplink.round = Some(round);
        uplink.delivered.clear();
        (uplink.whole, uplink.answered) = (0, 0);
        self.step = Step::Sending;
        let reserves = rules.timing.sifs + round.lasts + round.acknowledgement(rules);
        debug_assert!(self.txop.is_zero() || now + reserves <= self.txop_end, "the exchange ends with the TXOP");
        let kind = Kind::Trigger { asks, users: round.users, response: round.response };
        Ok(self.control(kind, BROADCAST, reserves, rules))
    }

    /// The finest split among the first stations that it could ask in which each can send the longest packet, within the time
    /// that is left of a TXOP.
    fn round(&self, now: Instant, asks: Asks, rules: &Conventions) -> Result<Round, NotNow> {
        let (whole, left) = match self.txop {
            Duration::ZERO => (Duration::MAX, Duration::MAX),
            txop => (txop, self.txop_end.since(now)),
        };
        let too_long = if left < whole { NotNow::TxopTooShort } else { NotNow::TooLong };
        let uplink = self.uplink.as_ref().ok_or(NotNow::NobodyKnown)?;
        let modes = |most: usize| {
            let known = |&station: &u32| uplink.backlogs.of(station, self.holder);
            let narrowed = |known: &Known| (self.rates.within_limit(known.mode), known.backlog);
            uplink.users[..most].iter().filter_map(known).map(narrowed)
        };
        let all = uplink.users.len();
        let width = modes(all).next().ok_or(NotNow::NobodyKnown)?.0.width();
        let timing = &rules.timing;
        let mut most = all;
        loop {
            // One that is asked alone has all of the channel.
            let ru = if all == 1 { Some(Ru::widest(width)) } else { Ru::split(width, most) };
            let ru = ru.ok_or(too_long)?;
            most = most.min(ru.count(width));
            let users = u8::try_from(most).map_err(|_| NotNow::NobodyKnown)?;
            let slowest = modes(most).map(|(mode, _)| mode).min_by_key(|mode| mode.coding());
            let mut round = Round::new(asks, self.address, users, ru, slowest.ok_or(NotNow::NobodyKnown)?);
            if asks == Asks::Backlog {
                round.lasts = timing.duration(round.response, rules.queue_size_frame());
                return if round.lasts <= round.longest(left, rules) { Ok(round) } else { Err(too_long) };
            }
            let parts = || modes(most).map(move |(mode, backlog)| (within(mode, ru), backlog));
            round.header = parts().map(|(mode, _)| mode.header()).max().unwrap_or_default().max(round.header);
            let limit = round.longest(left, rules);
            // Alone a station is asked for what it can send in a whole TXOP, be it shorter than the longest packet.
            let alone = all == 1 && left == whole && limit > round.header;
            if alone || parts().all(|(mode, _)| round.fits(mode, limit, rules)) {
                let needs = |(mode, backlog): (Mimo, Backlog)| match backlog {
                    Backlog::Is(bytes) if bytes < QUEUE_MOST => round.header + timing.payload(Mode::Mimo(mode), bytes),
                    _ => limit,
                };
                round.lasts = parts().map(needs).max().unwrap_or(limit).min(limit);
                return Ok(round);
            }
            if most <= 2 {
                return Err(too_long);
            }
            most -= 1;
        }
    }

    /// Handles the end of its trigger, or of its multi-STA BlockAck.
    pub(super) fn uplink_sent(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        let timing = &rules.timing;
        let Some(uplink) = &mut self.uplink else { return };
        if let (Kind::Trigger { .. }, Some(round)) = (frame.kind, uplink.round) {
            self.step = Step::AwaitParts;
            uplink.end = now + timing.sifs + round.lasts + timing.slot;
            self.deadline = now + timing.sifs + timing.slot + round.header;
        } else {
            uplink.round = None;
            if let Some(managed) = &rules.mu_edca {
                for &station in &uplink.users {
                    uplink.backlogs.restrain(now, station, self.holder, now + managed.timer);
                }
                self.contention.look_again = uplink.backlogs.next_poll;
            }
            self.finish(now, rules);
        }
    }

    /// Handles an answer to its trigger, with data or without.
    pub(super) fn part_received(&mut self, now: Instant, frame: &Frame, rules: &Conventions) -> Answer {
        let (Some(uplink), Kind::Triggered { frames, .. }) = (&mut self.uplink, frame.kind) else {
            return Answer::default();
        };
        self.deadline = now + rules.timing.sifs;
        uplink.answered += 1;
        if frames > 0 {
            uplink.delivered.push(frame.from);
        }
        Answer { takes: frames > 0, ..Answer::default() }
    }

    /// All data of the answer that it has just received have arrived.
    pub(crate) fn part_is_whole(&mut self) {
        if let Some(uplink) = &mut self.uplink {
            uplink.whole += 1;
            debug_assert!(usize::from(uplink.whole) <= uplink.delivered.len(), "once for each answer with data");
        }
    }

    /// Handles the deadline of the answers: when none has begun, when all are over, and SIFS after the last good one.
    pub(super) fn uplink_due(&mut self, now: Instant, receiving: bool, rules: &Conventions) -> Due {
        let Some(uplink) = &mut self.uplink else { return Due::Wait };
        let Some(round) = uplink.round else { return Due::Wait };
        if receiving && now < uplink.end {
            self.deadline = uplink.end;
            return Due::Wait;
        }
        if uplink.answered == 0 {
            uplink.round = None;
            self.end_failed(now, false, rules);
        } else if round.asks == Asks::Backlog {
            self.step = Step::Cleared;
            return Due::Begin(self.holder);
        } else if uplink.delivered.is_empty() {
            uplink.round = None;
            self.finish(now, rules);
            self.schedule(now, rules);
        } else {
            std::mem::swap(&mut uplink.users, &mut uplink.delivered);
            let stations = u8::try_from(uplink.users.len()).unwrap_or(u8::MAX);
            self.step = Step::Sending;
            debug_assert!(uplink.whole <= stations, "of those that it acknowledges");
            let kind = Kind::MultiBlockAck { stations, whole: uplink.whole, long: rules.long_bitmaps() };
            let frame = self.control(kind, BROADCAST, Duration::ZERO, rules);
            return Due::Send(Frame { mode: rules.timing.responses(round.response).mode, ..frame });
        }
        Due::Failed(Answer::default())
    }

    /// Prepares an answer. True if it may have data: its category has frames for who asks, or none.
    pub(crate) fn prepare_part(&mut self, round: Round, category: u8) -> bool {
        self.holder = category;
        self.cleared = Cleared::No;
        let Some(uplink) = &mut self.uplink else { return false };
        uplink.asked = Some(round);
        let buffer = &self.held.buffers[usize::from(category)];
        let may = round.asks == Asks::Data && (buffer.is_empty() || buffer.to == round.of && buffer.request.is_none());
        // From now on it takes no other packet.
        self.contention.wanting |= u8::from(may) << category;
        may
    }

    /// The longest frame in the answer that it prepares; none if it prepares none.
    pub(super) fn longest_answer(&self, rules: &Conventions) -> Option<Bytes> {
        let round = self.uplink.as_ref()?.asked?;
        let mode = self.rates.shared_mode(round.of, rules)?;
        Some(round.room(within(mode, round.ru), round.lasts, rules))
    }

    /// The answer with data, of the frames that were put together; none if not even the first fits.
    pub(crate) fn answer_with_data(
        &mut self,
        now: Instant,
        assembly: Option<Assembly>,
        answer: &Frame,
        rules: &Conventions,
    ) -> Option<Frame> {
        if let Some(assembly) = &assembly {
            self.held.assembled(assembly);
        }
        let holder = usize::from(self.holder);
        let round = self.uplink.as_ref()?.asked?;
        let mode = self.rates.shared_mode(round.of, rules).map(|mode| Mode::Mimo(within(mode, round.ru)));
        let Size { frames, psdu, .. } = assembly.map_or_else(|| self.selected(now, rules), |assembly| assembly.size);
        let mode = mode.filter(|_| self.longest_answer(rules).is_some_and(|longest| psdu <= longest));
        let mode = mode?;
        let buffer = &mut self.held.buffers[holder];
        buffer.in_flight = frames;
        for mpdu in buffer.mpdus.iter_mut().take(frames) {
            mpdu.retry = std::mem::replace(&mut mpdu.sent, true);
        }
        let first = buffer.mpdus.front()?;
        let kind = Kind::Triggered { psdu, frames: u16::try_from(frames).ok()? };
        Some(Frame { kind, mode, sequence: first.sequence, retry: first.retry, ..*answer })
    }

    /// Handles the end of its answer.
    pub(super) fn answer_sent(&mut self, now: Instant, frames: u16, rules: &Conventions) {
        if frames > 0 {
            self.step = Step::AwaitBlockAck;
            self.deadline = now + rules.timing.response_timeout(rules.timing.basic);
            return;
        }
        if self.held.buffers[usize::from(self.holder)].is_empty() {
            self.contention.wanting &= !(1 << self.holder);
        }
        if let Some(uplink) = &mut self.uplink {
            uplink.asked = None;
        }
    }

    /// Handles the BlockAck for what it was asked for.
    pub(super) fn answer_acknowledged(&mut self, now: Instant, reported: &Scoreboard, rules: &Conventions) -> Answer {
        let holder = usize::from(self.holder);
        let report = self.settle_reported(now, holder, reported, rules);
        if let (Some(managed), Some(uplink)) = (&rules.mu_edca, &mut self.uplink) {
            uplink.managed[holder] = Some(now + managed.timer);
            let contender = &mut self.contention.contenders[holder];
            match &managed.access {
                // An AIFSN of zero: no contention until then.
                None => contender.earliest = now + managed.timer,
                Some(access) => {
                    let Access { cw_min, cw_max, .. } = access[holder];
                    self.contention.access[holder] = access[holder];
                    contender.cw = contender.cw.clamp(cw_min, cw_max);
                }
            }
        }
        self.end_answer(now, rules);
        Answer { report, ..Answer::default() }
    }

    /// Handles the missing BlockAck. Back-off and window stay as they are (10.23.2.2).
    pub(super) fn answer_failed(&mut self, now: Instant, rules: &Conventions) -> Answer {
        let holder = usize::from(self.holder);
        let mut report = None;
        match rules.aggregation.missed {
            MissedBlockAck::Request => self.held.ask_again(now, holder, rules),
            MissedBlockAck::Retransmit => report = self.settle(now, holder, rules, |_| false),
        }
        self.end_answer(now, rules);
        Answer { failed: Some(Unanswered::Data), report, ..Answer::default() }
    }

    fn end_answer(&mut self, now: Instant, rules: &Conventions) {
        if let Some(uplink) = &mut self.uplink {
            uplink.asked = None;
        }
        self.step = Step::Access;
        self.deadline = Instant::NEVER;
        let holder = usize::from(self.holder);
        if self.held.buffers[holder].is_empty() {
            self.contention.wanting &= !(1 << holder);
        } else {
            self.contention.wanting |= 1 << holder;
        }
        if self.held.buffers[holder].request.is_some() {
            // A BlockAckReq goes alone, whatever MU EDCA says.
            self.contention.contenders[holder].earliest = now;
        }
        if self.contention.contenders[holder].backoff.is_none() {
            self.contention.draw(holder);
        }
        self.pause(holder);
        self.schedule(now, rules);
    }

    /// It has won the medium by itself: parameters of MU EDCA whose time is over are its own again.
    pub(super) fn end_managed(&mut self, now: Instant, rules: &Conventions) {
        let holder = usize::from(self.holder);
        if let Some(uplink) = &mut self.uplink
            && uplink.managed[holder].is_some_and(|until| now >= until)
        {
            uplink.managed[holder] = None;
            self.contention.access[holder] = rules.access[holder];
        }
    }
}

impl Round {
    /// The longest PSDU of a part whose PPDU lasts at most `time`: its preamble counts as the longest.
    fn room(&self, mode: Mimo, time: Duration, rules: &Conventions) -> Bytes {
        rules.timing.longest(Mode::Mimo(mode), time.saturating_sub(self.header) + mode.header())
    }
}
