//! Uplink OFDMA: stations send side by side in HE TB PPDUs when their access point asks (IEEE 802.11ax-2021, 26.5.2).
//!
//! The exchange: a basic trigger, after SIFS the data of its stations at once, after SIFS one multi-STA `BlockAck`. An access
//! point knows a station's backlog from the queue size in its last data frame (9.2.4.5.6). Of a station to which it has sent
//! since, it does not; such stations are polled first: a BSRP trigger, their QoS Null frames, and after SIFS the trigger for
//! data. One that has nothing then is not polled again before it has sent.
//!
//! Downlink and uplink take turns, frame by frame, while both have something. Those stations go first that have used the
//! least airtime of such PPDUs. All RUs are of one size; the largest backlog, as far as it fits, sets the duration for all.

use super::airtime::UsedAirtime;
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

/// State of a station of a network with uplink OFDMA.
#[derive(Debug, Default)]
pub(super) struct Uplink {
    /// True at an access point.
    asks: bool,
    /// What an access point knows of its stations' backlogs.
    told: Vec<Told>,
    used: UsedAirtime,
    /// True if it is the uplink's turn.
    next: bool,
    /// The exchange under way, the stations that its last frame is for, and those that have answered, with data or at all.
    round: Option<Round>,
    users: Vec<u32>,
    delivered: Vec<u32>,
    answered: usize,
    /// When all answers are over.
    end: Instant,
    /// What a station was asked for, until that is over.
    asked: Option<Round>,
    /// By category, until when the parameters of MU EDCA hold, if they do.
    managed: [Option<Instant>; super::CATEGORIES],
}

/// What is known of a station's backlog in a category.
#[derive(Clone, Copy, Debug)]
struct Told {
    station: u32,
    category: u8,
    /// The mode in which it sent last.
    mode: Mimo,
    backlog: Backlog,
    /// How often it was asked since it told something.
    asked: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backlog {
    /// As it has told.
    Is(Bytes),
    /// It may have answers to what it was sent since.
    Unknown,
    /// It had nothing when it was polled, or does not answer.
    Nothing,
}

impl Backlog {
    fn may_be(self) -> bool {
        match self {
            Self::Is(bytes) => bytes.count() > 0,
            Self::Unknown => true,
            Self::Nothing => false,
        }
    }
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
    /// What follows the answers: SIFS and a multi-STA BlockAck, for data.
    fn acknowledgement(&self, rules: &Conventions) -> Duration {
        if self.asks != Asks::Data {
            return Duration::ZERO;
        }
        let timing = &rules.timing;
        let length = multi_block_ack_length(self.users.into(), rules.long_bitmaps());
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
    /// The stations that could be asked in a category: those with the widest channel, if there are two.
    fn candidates(&self, category: u8) -> impl Iterator<Item = &Told> + Clone {
        let may = move |told: &&Told| told.category == category && told.backlog.may_be();
        let widest = self.told.iter().filter(may).map(|told| told.mode.width()).max();
        self.told.iter().filter(may).filter(move |told| Some(told.mode.width()) == widest)
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
        let Some(uplink) = self.uplink.as_mut().filter(|uplink| uplink.asks) else { return };
        // The field counts units that have begun.
        let queued = Bytes::new(queued.count().next_multiple_of(QUEUE_UNIT));
        let backlog = if polled && queued.count() == 0 { Backlog::Nothing } else { Backlog::Is(queued) };
        let told = Told { station, category, mode, backlog, asked: 0 };
        match uplink.told.iter_mut().find(|told| (told.station, told.category) == (station, category)) {
            Some(before) => *before = told,
            None => uplink.told.push(told),
        }
        let bit = 1 << category;
        if self.step == Step::Access && self.wanting & bit == 0 && self.seeks(category.into()) {
            self.wanting |= bit;
            self.soliciting |= bit;
            self.contend(now, category.into(), rules);
        }
    }

    /// A station was sent data: it may have answers.
    pub(crate) fn may_answer_to(&mut self, station: u32, rules: &Conventions) {
        let category = self.holder;
        let mode = self.widest_shared_mode(station, rules);
        let Some(uplink) = self.uplink.as_mut().filter(|uplink| uplink.asks) else { return };
        match uplink.told.iter_mut().find(|told| (told.station, told.category) == (station, category)) {
            Some(told) if told.backlog == Backlog::Is(Bytes::new(0)) => told.backlog = Backlog::Unknown,
            Some(_) => {}
            None => {
                let told = |mode| Told { station, category, mode, backlog: Backlog::Unknown, asked: 0 };
                let told = mode.map(told);
                uplink.told.extend(told);
            }
        }
    }

    /// Are there stations to ask in a category that has no frames?
    fn seeks(&self, category: usize) -> bool {
        let index = u8::try_from(category).expect("there are four categories");
        let asks = self.uplink.as_ref().is_some_and(|uplink| uplink.candidates(index).nth(1).is_some());
        asks && self.buffers[category].is_empty() && !self.has_aside(index)
    }

    /// A category's exchange is over: does it contend for a trigger?
    pub(super) fn seek(&mut self, category: usize) {
        let bit = 1 << category;
        if self.seeks(category) {
            self.wanting |= bit;
            self.soliciting |= bit;
        } else if self.soliciting & bit != 0 {
            self.wanting &= !bit;
            self.soliciting &= !bit;
        }
    }

    /// A category that contended for a trigger alone, and has won, has none to send.
    pub(crate) fn forgoes(&mut self, now: Instant, rules: &Conventions) -> bool {
        let bit = 1 << self.holder;
        if self.soliciting & bit == 0 {
            return false;
        }
        self.wanting &= !bit;
        self.soliciting &= !bit;
        self.step = Step::Access;
        self.begins_later(now, rules);
        true
    }

    /// The trigger that is due, if it is the uplink's turn in the category that has won the medium.
    pub(crate) fn solicit(&mut self, now: Instant, rules: &Conventions) -> Option<Frame> {
        let category = self.holder;
        let idle = self.soliciting & 1 << category != 0;
        let free = self.fixed.is_none() && !self.shares();
        let uplink = self.uplink.as_mut().filter(|uplink| uplink.asks && free)?;
        let polled = uplink.round.take().is_some();
        if !std::mem::replace(&mut uplink.next, true) && !idle && !polled {
            return None;
        }
        let left = if self.txop.is_zero() { Duration::MAX } else { self.txop_end.since(now) };
        let unknown = uplink.candidates(category).any(|told| told.backlog == Backlog::Unknown);
        let asks = if unknown && !polled { Asks::Backlog } else { Asks::Data };
        let mut users = std::mem::take(&mut uplink.users);
        users.clear();
        let askable =
            uplink.candidates(category).filter(|told| asks == Asks::Backlog || told.backlog != Backlog::Unknown);
        users.extend(askable.map(|told| told.station));
        uplink.users = users;
        if uplink.users.len() < 2 {
            return None;
        }
        let Uplink { users, used, .. } = &mut **uplink;
        used.wait(users.iter().copied());
        users.sort_by_key(|&station| used.of(station));
        let Some(round) = self.round(asks, left, rules) else {
            // Their packets may be too long for any part.
            let Uplink { told, users, .. } = &mut **self.uplink.as_mut()?;
            let is_user = |told: &&mut Told| told.category == category && users.contains(&told.station);
            told.iter_mut().filter(is_user).for_each(|told| told.backlog = Backlog::Nothing);
            return None;
        };
        let uplink = self.uplink.as_mut()?;
        uplink.users.truncate(round.users.into());
        let Uplink { told, users, .. } = &mut **uplink;
        for told in told.iter_mut().filter(|told| told.category == category && users.contains(&told.station)) {
            told.asked += 1;
            if told.asked >= rules.short_retry_limit {
                told.backlog = Backlog::Nothing;
            }
        }
        if asks == Asks::Data {
            uplink.next = false;
            let share = round.lasts / u64::from(round.users);
            let Uplink { users, used, .. } = &mut **uplink;
            for &station in users.iter() {
                used.charge(station, share);
            }
        }
        uplink.round = Some(round);
        uplink.delivered.clear();
        uplink.answered = 0;
        self.step = Step::Sending;
        let reserves = rules.timing.sifs + round.lasts + round.acknowledgement(rules);
        let kind = Kind::Trigger { asks, users: round.users, response: round.response };
        Some(self.control(kind, BROADCAST, reserves, rules))
    }

    /// The finest split among the first stations that it could ask in which each can send the longest packet, within the time
    /// that is left of a TXOP. None if there is none for two.
    fn round(&self, asks: Asks, left: Duration, rules: &Conventions) -> Option<Round> {
        let uplink = self.uplink.as_ref()?;
        let category = self.holder;
        let modes = |most: usize| {
            let told = move |&station: &u32| uplink.candidates(category).find(|told| told.station == station);
            let narrowed = |told: &Told| Told { mode: self.within_limit(told.mode), ..*told };
            uplink.users[..most].iter().filter_map(told).map(narrowed)
        };
        let width = modes(uplink.users.len()).next()?.mode.width();
        let timing = &rules.timing;
        let mut most = uplink.users.len();
        while let Some(ru) = Ru::split(width, most) {
            most = ru.count(width);
            let slowest = modes(most).map(|told| told.mode).min_by_key(|mode| mode.coding())?;
            let response = Mode::Mimo(slowest.response(ru));
            let header = response.header();
            let users = u8::try_from(most).ok()?;
            let mut round = Round { asks, of: self.address, users, ru, lasts: Duration::ZERO, header, response };
            if asks == Asks::Backlog {
                round.lasts = timing.duration(response, rules.queue_size_frame());
                return Some(round);
            }
            let parts = || modes(most).map(move |told| (within(told.mode, ru), told.backlog));
            round.header = parts().map(|(mode, _)| mode.header()).max()?.max(header);
            let trigger = timing.sifs * 2 + timing.duration(timing.basic, asks.length(users.into()));
            let after = trigger + round.acknowledgement(rules);
            let limit = rules.aggregation.duration.min(left.saturating_sub(after));
            let fits = |(mode, _): (Mimo, Backlog)| round.room(mode, limit, rules) >= rules.mpdu(LONGEST_MSDU);
            if parts().all(fits) {
                let needs = |(mode, backlog): (Mimo, Backlog)| match backlog {
                    Backlog::Is(bytes) if bytes < QUEUE_MOST => round.header + timing.payload(Mode::Mimo(mode), bytes),
                    _ => limit,
                };
                round.lasts = parts().map(needs).max()?.min(limit);
                return Some(round);
            }
            most -= 1;
        }
        None
    }

    /// Is an exchange under way in which other stations send when it asks?
    #[inline]
    pub(super) fn solicits(&self) -> bool {
        self.uplink.as_ref().is_some_and(|uplink| uplink.round.is_some())
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
            let kind = Kind::MultiBlockAck { stations, long: rules.long_bitmaps() };
            let frame = self.control(kind, BROADCAST, Duration::ZERO, rules);
            return Due::Send(Frame { mode: rules.timing.responses(round.response).mode, ..frame });
        }
        Due::Failed(Answer::default())
    }

    /// True if its last trigger or multi-STA BlockAck is for this station too.
    pub(super) fn asks(&self, station: u32) -> bool {
        self.uplink.as_ref().is_some_and(|uplink| uplink.users.contains(&station))
    }

    /// What it has asked its stations for.
    pub(crate) fn asked_for(&self) -> Option<Round> {
        self.uplink.as_ref()?.round
    }

    /// Prepares an answer. True if it may have data: its category has frames for who asks, or none.
    pub(crate) fn prepare_part(&mut self, round: Round, category: u8) -> bool {
        self.holder = category;
        self.cleared = Cleared::No;
        let Some(uplink) = &mut self.uplink else { return false };
        uplink.asked = Some(round);
        let buffer = &self.buffers[usize::from(category)];
        let may = round.asks == Asks::Data && (buffer.is_empty() || buffer.to == round.of && buffer.request.is_none());
        // From now on it takes no other packet.
        self.wanting |= u8::from(may) << category;
        may
    }

    /// True if its category holds frames.
    pub(crate) fn holds(&self, category: u8) -> bool {
        !self.buffers[usize::from(category)].is_empty()
    }

    /// Bytes of its frames for a receiver in a category, without those in flight.
    pub(crate) fn waiting_for(&self, to: u32, category: u8) -> Bytes {
        let next = Some(&self.buffers[usize::from(category)]).filter(|buffer| buffer.to == to);
        let aside = self.aside.iter().filter(|(other, buffer)| *other == category && buffer.to == to);
        let buffers = next.into_iter().chain(aside.map(|(_, buffer)| buffer));
        let waiting = buffers.flat_map(|buffer| buffer.mpdus.iter().skip(buffer.in_flight));
        waiting.fold(Bytes::new(0), |sum, mpdu| sum + mpdu.psdu)
    }

    /// The longest frame in the answer that it prepares; none if it prepares none.
    pub(super) fn longest_answer(&self, rules: &Conventions) -> Option<Bytes> {
        let round = self.uplink.as_ref()?.asked?;
        let mode = self.shared_mode(round.of, rules)?;
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
            self.assembled(assembly);
        }
        let holder = usize::from(self.holder);
        let round = self.uplink.as_ref()?.asked?;
        let mode = self.shared_mode(round.of, rules).map(|mode| Mode::Mimo(within(mode, round.ru)));
        let Size { frames, psdu, .. } = assembly.map_or_else(|| self.selected(now, rules), |assembly| assembly.size);
        let mode = mode.filter(|_| self.longest_answer(rules).is_some_and(|longest| psdu <= longest));
        let mode = mode?;
        let buffer = &mut self.buffers[holder];
        buffer.in_flight = frames;
        for mpdu in buffer.mpdus.iter_mut().take(frames) {
            mpdu.retry = std::mem::replace(&mut mpdu.sent, true);
        }
        let first = buffer.mpdus.front()?;
        let kind = Kind::Triggered { psdu, frames: u16::try_from(frames).ok()? };
        Some(Frame { kind, mode, sequence: first.sequence, retry: first.retry, ..*answer })
    }

    /// What it was asked for, while it answers.
    pub(crate) fn answers(&self) -> Option<Round> {
        self.uplink.as_ref()?.asked
    }

    /// Does it await the acknowledgement of what it was asked for?
    #[inline]
    pub(super) fn has_answered(&self) -> bool {
        self.uplink.as_ref().is_some_and(|uplink| uplink.asked.is_some())
    }

    /// Handles the end of its answer.
    pub(super) fn answer_sent(&mut self, now: Instant, frames: u16, rules: &Conventions) {
        if frames > 0 {
            self.step = Step::AwaitBlockAck;
            self.deadline = now + rules.timing.response_timeout(rules.timing.basic);
            return;
        }
        if self.buffers[usize::from(self.holder)].is_empty() {
            self.wanting &= !(1 << self.holder);
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
            let contender = &mut self.contenders[holder];
            match &managed.access {
                // An AIFSN of zero: no contention until then.
                None => contender.earliest = now + managed.timer,
                Some(access) => {
                    let Access { cw_min, cw_max, .. } = access[holder];
                    self.access[holder] = access[holder];
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
            MissedBlockAck::Request => self.ask_again(now, holder, rules),
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
        if self.buffers[holder].is_empty() {
            self.wanting &= !(1 << holder);
        } else {
            self.wanting |= 1 << holder;
        }
        if self.buffers[holder].request.is_some() {
            // A BlockAckReq goes alone, whatever MU EDCA says.
            self.contenders[holder].earliest = now;
        }
        if self.contenders[holder].backoff.is_none() {
            self.draw(holder);
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
            self.access[holder] = rules.access[holder];
        }
    }
}

impl Round {
    /// The longest PSDU of a part whose PPDU lasts at most `time`: its preamble counts as the longest.
    fn room(&self, mode: Mimo, time: Duration, rules: &Conventions) -> Bytes {
        rules.timing.longest(Mode::Mimo(mode), time.saturating_sub(self.header) + mode.header())
    }
}
