//! A station: what it holds, what it hears, and what it sends when (IEEE 802.11-2016, 10.3 for the DCF, 10.22.2 for
//! EDCA).
//!
//! A station has one radio, and so one view of the medium and at most one exchange at a time; up to four access
//! categories contend for it. The DCF is the case of one category. `docs/mac-conventions.md` gives the reasons for
//! every choice that the standard leaves, and what each changes.

use super::buffer::{Buffer, Joins, Request, Size};
use super::contention::Contender;
use super::peers::Peers;
use super::tmac::TmacState;
use super::{
    Access, Answer, BROADCAST, CATEGORIES, Conventions, Costs, Due, Finished, Frame, Kind, LONGEST_MSDU, Mpdu, Msdu,
    Rates, Reorder, Report, SEQUENCES, Tells, Unanswered, WINDOW,
};
use crate::config::{AnswerRts, Eifs};
use crate::engine::{Handle, Stream};
use crate::radio::{Mode, Timing};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant};

/// Event that a station's own transmissions wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The medium: for a packet, or to finish the back-off after the last one.
    Access,
    /// The end of a response (ACK, CTS or BlockAck) that it sends.
    Responding,
    /// The end of its own frame.
    Sending,
    /// A CTS.
    AwaitCts,
    /// SIFS: after a CTS, or after an exchange in a TXOP that goes on.
    Cleared,
    /// An ACK.
    AwaitAck,
    /// A BlockAck.
    AwaitBlockAck,
    /// Grants, until all that are asked have had their time.
    AwaitGrants,
}

/// Do others know that the data of an exchange are coming?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cleared {
    /// Nothing has announced them.
    No,
    /// By a CTS of the station to itself, or by what it has sent in this TXOP.
    Yes,
    /// By RTS and CTS just before.
    ByRts,
}

/// A station.
#[derive(Debug)]
pub(crate) struct Station {
    pub(super) address: u32,
    /// Mode with which it sends data to one receiver.
    rates: Rates,
    pub(super) step: Step,
    /// The category whose exchange is going on, or was the last.
    pub(super) holder: u8,
    /// Bit by bit, the categories whose moment to send is the deadline.
    pub(super) due: u8,
    /// Bit by bit, the categories that have a frame to send.
    pub(super) wanting: u8,
    pub(super) busy: bool,
    /// The radio is turning from reception to transmission: the deadline stands, whatever the medium does.
    pub(super) turning: bool,
    pub(super) cleared: Cleared,
    /// A response that goes out at the deadline.
    pub(super) response: Option<Frame>,
    /// When [`timer`](Self::timer) is to be called; `NEVER` for not at all. The host reads it after every call.
    pub(crate) deadline: Instant,
    pub(super) idle_from: Instant,
    /// What EIFS adds to DIFS or AIFS after a bad frame, else nothing.
    pub(super) eifs_surplus: Duration,
    pub(super) nav: Instant,
    /// Time at which a response was last given up.
    pub(super) timed_out: Instant,
    /// How its categories contend,
    pub(super) access: [Access; CATEGORIES],
    /// and how some will from the back-off after their next attempt on.
    pub(super) ordered: Vec<(usize, Access)>,
    pub(super) contenders: [Contender; CATEGORIES],
    /// By category, the frames that it holds.
    pub(super) buffers: Vec<Buffer>,
    /// The frame whose medium has been cleared.
    pub(super) fixed: Option<Size>,
    /// How long the TXOP of the holder may last; zero for one exchange of frames.
    pub(super) txop: Duration,
    /// It ends here,
    pub(super) txop_end: Instant,
    /// and goes on if at this very moment another packet is offered that fits.
    pub(super) may_go_on: Instant,
    next_sequence: u16,
    pub(super) peers: Peers,
    pub(super) random: Stream,
    pub(super) finished: VecDeque<Finished>,
    /// Its part in the order of age, where there is one.
    pub(super) tmac: Option<Box<TmacState>>,
}

/// A frame that is being put together from the packets of a category.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assembly {
    /// Its receiver.
    pub(crate) to: u32,
    /// Its access category.
    pub(crate) category: u8,
    /// Only packets that no packet to another receiver precedes may join: what is repeated must not hold others back for
    /// ever.
    pub(crate) in_turn: bool,
    pub(super) size: Size,
    /// No frame may be longer than this, or its data would not be over in time.
    longest: Bytes,
}

/// How a packet has room in a frame that is being put together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    joins: Joins,
    /// The frame with the packet.
    size: Size,
}

impl Station {
    /// A station that has nothing to send, on an idle medium.
    pub(crate) fn new(address: u32, rates: Rates, conventions: &Conventions, random: Stream) -> Self {
        Self {
            address,
            rates,
            step: Step::Access,
            holder: 0,
            due: 0,
            wanting: 0,
            busy: false,
            turning: false,
            cleared: Cleared::No,
            response: None,
            deadline: Instant::NEVER,
            idle_from: Instant::ZERO,
            eifs_surplus: Duration::ZERO,
            nav: Instant::ZERO,
            timed_out: Instant::ZERO,
            access: conventions.access,
            ordered: Vec::new(),
            contenders: conventions.access.map(|access| Contender::new(&access)),
            buffers: (0..conventions.categories).map(|_| Buffer::default()).collect(),
            fixed: None,
            txop: Duration::ZERO,
            txop_end: Instant::ZERO,
            may_go_on: Instant::NEVER,
            next_sequence: 0,
            peers: Peers::default(),
            random,
            finished: VecDeque::new(),
            tmac: conventions.tmac.map(|_| Box::default()),
        }
    }

    /// Bit by bit, the categories of which it would take a packet.
    #[inline]
    pub(crate) fn free(&self, rules: &Conventions) -> u8 {
        !self.wanting & ((1 << rules.categories) - 1)
    }

    /// The frames that it holds.
    pub(crate) fn mpdus(&self) -> impl Iterator<Item = &Mpdu> {
        self.buffers.iter().flat_map(|buffer| &buffer.mpdus)
    }

    /// The frames in the aggregate that it is sending, or whose response it awaits.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &Mpdu> {
        let buffer = &self.buffers[usize::from(self.holder)];
        buffer.mpdus.iter().take(buffer.in_flight)
    }

    /// The frames that it holds, but for the first `without` of the category whose exchange goes on.
    pub(crate) fn mpdus_but(&self, without: usize) -> impl Iterator<Item = &Mpdu> {
        let holder = usize::from(self.holder);
        let skipped = move |index: usize| if index == holder { without } else { 0 };
        self.buffers.iter().enumerate().flat_map(move |(index, buffer)| buffer.mpdus.iter().skip(skipped(index)))
    }

    /// Is it sending a broadcast?
    pub(crate) fn broadcasts(&self) -> bool {
        let buffer = &self.buffers[usize::from(self.holder)];
        self.step == Step::Sending && buffer.to == BROADCAST && !buffer.mpdus.is_empty()
    }

    /// The next data frame that it is done with. The host asks until there is none, after every call but the medium's
    /// edges.
    #[inline]
    pub(crate) fn next_finished(&mut self) -> Option<Finished> {
        self.finished.pop_front()
    }

    /// Its part in the order of age.
    pub(crate) fn tmac(&self) -> Option<&TmacState> {
        self.tmac.as_deref()
    }

    /// It begins to send a frame that tells this.
    pub(crate) fn tell(&mut self, tells: Tells) {
        if let Some(tmac) = &mut self.tmac {
            tmac.tell(tells);
        }
    }

    /// Returns the received sequence numbers of a station and category.
    pub(crate) fn reorder(&mut self, from: u32, category: u8) -> &mut Reorder {
        self.peers.reorder(from, category)
    }

    /// All that has arrived from anybody.
    pub(crate) fn reorders(&self) -> impl Iterator<Item = &Reorder> {
        self.peers.reorders()
    }

    /// Takes a packet for `to` in a free category. On a medium that has been idle for DIFS or AIFS it goes out at once
    /// (10.3.4.2), and in a TXOP that can go on with it, after SIFS.
    pub(crate) fn offer(&mut self, now: Instant, to: u32, category: u8, msdu: Msdu, rules: &Conventions) {
        let index = usize::from(category);
        let sequence = self.number(to, index, rules);
        let behind = rules.block_ack() && to != BROADCAST && self.peers.is_behind(to, index);
        let buffer = &mut self.buffers[index];
        debug_assert!(buffer.mpdus.is_empty(), "a category takes a packet when it has none");
        buffer.to = to;
        buffer.push(msdu, sequence, rules);
        if behind {
            buffer.request = Some(Request { to, start: sequence, failures: 0 });
        }
        self.wanting |= 1 << category;
        let goes_on = self.may_go_on == now && category == self.holder && self.response.is_none();
        if !(goes_on && self.go_on(now, rules)) {
            self.contend(now, index, rules);
        }
    }

    /// May its TXOP go on after the exchange of frames that is due?
    pub(crate) fn bursts(&self) -> bool {
        !self.txop.is_zero()
    }

    /// The frame that more packets may join, now that one is due; none where nothing can join.
    pub(crate) fn assemble(&self, now: Instant, rules: &Conventions) -> Option<Assembly> {
        let buffer = &self.buffers[usize::from(self.holder)];
        if !rules.aggregates() || self.fixed.is_some() || buffer.request.is_some() || buffer.to == BROADCAST {
            return None;
        }
        let longest = self.longest(now, rules);
        let size = buffer.select(|size| fits(size, longest, rules));
        let in_turn = buffer.mpdus.iter().any(|mpdu| mpdu.sent);
        (size.frames == buffer.mpdus.len()).then_some(Assembly {
            to: buffer.to,
            category: self.holder,
            in_turn,
            size,
            longest,
        })
    }

    /// Can a packet of `length` to its receiver join?
    pub(crate) fn room(&self, assembly: &Assembly, length: Bytes, rules: &Conventions) -> Option<Room> {
        let fits = |size| fits(size, assembly.longest, rules);
        let (joins, size) = self.buffers[usize::from(self.holder)].joins(length, assembly.size, rules, fits)?;
        Some(Room { joins, size })
    }

    /// A packet joins that [has room](Self::room). Returns the packet that it follows in an A-MSDU, to be chained.
    pub(crate) fn join(
        &mut self,
        assembly: &mut Assembly,
        room: Room,
        msdu: Msdu,
        rules: &Conventions,
    ) -> Option<Handle> {
        assembly.size = room.size;
        let holder = usize::from(self.holder);
        match room.joins {
            Joins::Part => Some(self.buffers[holder].extend(msdu, rules)),
            Joins::Mpdu => {
                // It follows a frame to the same receiver.
                let buffer = &mut self.buffers[holder];
                buffer.push(msdu, buffer.next(), rules);
                None
            }
        }
    }

    /// As many packets of `length` join as frames of their own as have room. `next` gives one after another. Returns how many
    /// have joined.
    pub(crate) fn fill(
        &mut self,
        assembly: &mut Assembly,
        length: Bytes,
        rules: &Conventions,
        mut next: impl FnMut() -> Handle,
    ) -> u16 {
        let buffer = &mut self.buffers[usize::from(self.holder)];
        let fits = |size| fits(size, assembly.longest, rules);
        let (joined, size) = buffer.frames(rules.mpdu(length), WINDOW, assembly.size, rules, fits);
        assembly.size = size;
        for _ in 0..joined {
            buffer.push(Msdu { packet: next(), length }, buffer.next(), rules);
        }
        joined
    }

    /// All have joined that could: numbers go on after theirs.
    pub(super) fn assembled(&mut self, assembly: &Assembly) {
        let holder = usize::from(self.holder);
        self.peers.go_on(assembly.to, holder, self.buffers[holder].next());
    }

    /// The aggregate that is sent where nothing has been settled before.
    pub(super) fn selected(&self, now: Instant, rules: &Conventions) -> Size {
        let buffer = &self.buffers[usize::from(self.holder)];
        // A single frame goes, however long it lasts.
        if buffer.mpdus.len() == 1 {
            return Size::NONE.with(buffer.mpdus[0].psdu);
        }
        let longest = self.longest(now, rules);
        buffer.select(|size| fits(size, longest, rules))
    }

    /// The longest data frame that begins now, and that is over in time with what announces it.
    fn longest(&self, now: Instant, rules: &Conventions) -> Bytes {
        let mode = self.mode_to(self.buffers[usize::from(self.holder)].to, &rules.timing);
        let time = self.data_end(now, rules).since(now);
        if self.cleared == Cleared::No { rules.longest(mode, time) } else { rules.timing.longest(mode, time) }
    }

    /// Returns the time at which data that begin now have to be over in this TXOP.
    fn data_end(&self, now: Instant, rules: &Conventions) -> Instant {
        if self.txop.is_zero() {
            return now + rules.aggregation.duration;
        }
        let after = rules.timing.sifs + rules.block_ack_time();
        (now + rules.aggregation.duration).min(now + self.txop_end.since(now).saturating_sub(after))
    }

    /// The largest data frame of a category: an A-MPDU by its limits in bytes and, where data were sent in a mode, in time;
    /// without A-MPDUs the longest MPDU.
    pub(crate) fn largest_frame(&self, category: u8, mode: Option<Mode>, rules: &Conventions) -> Bytes {
        let aggregation = &rules.aggregation;
        let Some(most) = aggregation.ampdu else { return rules.mpdu(aggregation.amsdu.unwrap_or(LONGEST_MSDU)) };
        let Some(mode) = mode else { return most };
        let after = rules.timing.sifs + rules.block_ack_time();
        let in_txop = match self.access[usize::from(category)].txop_limit {
            Duration::ZERO => Duration::MAX,
            limit => limit.saturating_sub(after),
        };
        let time = aggregation.duration.min(in_txop);
        rules.longest(mode, time).min(most)
    }

    /// The number of the next frame for `to`. Data with QoS are numbered by receiver and category (10.3.2.11.2).
    #[inline]
    fn number(&mut self, to: u32, category: usize, rules: &Conventions) -> u16 {
        if rules.edca() && to != BROADCAST {
            return self.peers.next_sequence(to, category);
        }
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) % SEQUENCES;
        sequence
    }

    /// The deadline has come. `receiving`: a frame whose PHY header was read is coming in; of a station that does not
    /// [listen](Self::listens) that makes no difference.
    pub(crate) fn timer(&mut self, now: Instant, receiving: bool, rules: &Conventions) -> Due {
        self.deadline = Instant::NEVER;
        if let Some(response) = self.response.take() {
            let unavailable = self.busy || now < self.nav;
            if response.kind == Kind::Cts && rules.answer_rts == AnswerRts::UnlessBusy && unavailable {
                self.schedule(now, rules);
                return Due::Wait;
            }
            self.step = Step::Responding;
            return Due::Send(self.filled(response));
        }
        match self.step {
            Step::Access => {
                self.win(now, rules);
                Due::Begin(self.holder)
            }
            Step::Cleared => Due::Begin(self.holder),
            // 10.3.2.9: a frame that has begun within the time-out may be the ACK; its end decides.
            Step::AwaitAck | Step::AwaitCts | Step::AwaitBlockAck if receiving => Due::Wait,
            Step::AwaitAck | Step::AwaitCts | Step::AwaitBlockAck => Due::Failed(self.fail(now, rules)),
            Step::AwaitGrants => {
                if self.has_quorum(rules) {
                    Due::Begin(self.holder)
                } else {
                    Due::Failed(self.refused(now, rules))
                }
            }
            Step::Sending | Step::Responding => unreachable!("no deadline is set while a frame is being sent"),
        }
    }

    /// A BlockAck tells what has arrived up to the moment in which it is sent.
    fn filled(&mut self, mut response: Frame) -> Frame {
        if let Kind::BlockAck { start, arrived } = &mut response.kind {
            (*start, *arrived) = self.peers.reorder(response.to, response.category).report();
        }
        response
    }

    /// Is it all the same to the station what a frame that comes in contains, but for the time that it reserves?
    #[inline]
    pub(crate) fn only_overhears(&self, frame: &Frame) -> bool {
        frame.to != self.address && frame.to != BROADCAST && !self.awaits_response()
    }

    /// A frame has come in, intact, that it [only overhears](Self::only_overhears).
    #[inline]
    pub(crate) fn overhears(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        self.end_eifs(rules);
        self.nav = self.nav.max(now + frame.reserves);
    }

    /// After a good frame DIFS or AIFS do (10.3.2.3.7).
    #[inline]
    fn end_eifs(&mut self, rules: &Conventions) {
        if rules.eifs != Eifs::AnySignalKept {
            self.eifs_surplus = Duration::ZERO;
        }
    }

    /// Does it wait for something that may be coming in?
    #[inline]
    pub(crate) fn listens(&self) -> bool {
        self.awaits_response() || self.step == Step::AwaitGrants
    }

    #[inline]
    fn awaits_response(&self) -> bool {
        matches!(self.step, Step::AwaitAck | Step::AwaitCts | Step::AwaitBlockAck)
    }

    /// A frame has come in, intact, or an aggregate of which something is intact.
    pub(crate) fn received(&mut self, now: Instant, frame: &Frame, rules: &Conventions) -> Answer {
        let timing = &rules.timing;
        self.end_eifs(rules);
        let mine = frame.to == self.address;
        match (self.step, frame.kind) {
            (Step::AwaitAck, Kind::Ack) if mine => return self.acknowledged(now, rules),
            (Step::AwaitBlockAck, Kind::BlockAck { start, arrived }) if mine => {
                return self.block_acknowledged(now, start, arrived, rules);
            }
            (Step::AwaitCts, Kind::Cts) if mine => {
                self.step = Step::Cleared;
                self.cleared = Cleared::ByRts;
                self.deadline = now + timing.sifs;
                return Answer::default();
            }
            (Step::AwaitGrants, Kind::Grant) if mine => {
                self.granted(frame.from);
                return Answer::default();
            }
            // It has to answer.
            (Step::AwaitGrants, _) if mine => {
                self.refused(now, rules);
            }
            _ => {}
        }
        let mut answer = self.missed_response(now, rules);
        if mine {
            self.respond(now, frame, rules);
        } else {
            self.nav = self.nav.max(now + frame.reserves);
        }
        if matches!(frame.kind, Kind::Data { .. }) && (mine || frame.to == BROADCAST) {
            // Under a BlockAck agreement it is the window that knows.
            answer.takes = !mine
                || rules.block_ack()
                || self.peers.is_new(frame.from, frame.category, frame.sequence, frame.retry);
            answer.duplicate = !answer.takes;
        }
        answer.takes |= matches!(frame.kind, Kind::Aggregate { .. }) && mine;
        answer
    }

    /// A frame has come in, spoilt.
    pub(crate) fn spoilt(&mut self, now: Instant, header_read: bool, rules: &Conventions) -> Answer {
        self.overhears_spoilt(now, header_read, rules);
        if header_read { self.missed_response(now, rules) } else { Answer::default() }
    }

    /// A frame has come in, spoilt, while no response was awaited.
    #[inline]
    pub(crate) fn overhears_spoilt(&mut self, now: Instant, header_read: bool, rules: &Conventions) {
        match rules.eifs {
            Eifs::BadFrame if header_read => self.eifs_surplus = rules.timing.eifs - rules.timing.difs,
            Eifs::BadFrame | Eifs::Never => {}
            Eifs::AnySignal | Eifs::AnySignalKept => self.noise(now, rules),
        }
    }

    /// A signal that could not be decoded is over.
    #[inline]
    pub(crate) fn noise(&mut self, now: Instant, rules: &Conventions) {
        match rules.eifs {
            Eifs::AnySignal => self.eifs_surplus = rules.timing.eifs - rules.timing.difs,
            Eifs::AnySignalKept => self.nav = self.nav.max(now + rules.timing.eifs),
            Eifs::BadFrame | Eifs::Never => {}
        }
    }

    /// If it waits for a response, what has come in instead means that none will come (10.3.2.9).
    fn missed_response(&mut self, now: Instant, rules: &Conventions) -> Answer {
        if !self.awaits_response() {
            return Answer::default();
        }
        self.fail(now, rules)
    }

    /// Answers a frame for this station after SIFS: data always, an RTS unless the medium is reserved (10.3.2.7).
    fn respond(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        let timing = &rules.timing;
        // Of a TXOP that goes on, what is left is reserved by the response too (9.2.5.2).
        let left = |response| frame.reserves.saturating_sub(timing.sifs + response);
        let block_ack = Kind::BlockAck { start: 0, arrived: 0 };
        let (kind, reserves) = match frame.kind {
            Kind::Data { .. } => (Kind::Ack, left(timing.ack)),
            Kind::Aggregate { .. } | Kind::BlockAckReq { .. } => (block_ack, left(rules.block_ack_time())),
            Kind::Rts if now >= self.nav => (Kind::Cts, left(timing.cts)),
            // What a request gets is settled before, by its key.
            Kind::Rts | Kind::Cts | Kind::Ack | Kind::BlockAck { .. } | Kind::Request { .. } | Kind::Grant => return,
        };
        let mode = if kind == Kind::Cts { timing.announcing } else { timing.basic };
        let (from, to, category) = (self.address, frame.from, frame.category);
        self.response = Some(Frame { kind, from, to, category, mode, reserves, sequence: 0, retry: false });
        self.turning = false;
        self.deadline = now + timing.sifs;
    }

    /// Returns the mode with which it sends data to this receiver.
    pub(crate) fn mode_to(&self, to: u32, timing: &Timing) -> Mode {
        if to == BROADCAST { timing.basic } else { self.rates.mode(to) }
    }

    /// Its next data frames go in the low mode of [two](Rates::of_two), or in the high one.
    pub(crate) fn set_low(&mut self, is_low: bool) {
        self.rates.set_low(is_low);
    }

    /// The mode of all its data frames, where no rate control chooses.
    pub(crate) fn only_mode(&self) -> Option<Mode> {
        self.rates.only_mode()
    }

    /// The throughput that it expects towards a receiver, in bit/s: see [`Rates::expected_throughput`].
    pub(crate) fn expected_throughput(&self, to: u32, costs: &Costs, mpdus: f64) -> f64 {
        self.rates.expected_throughput(to, costs, mpdus)
    }

    /// Updates the mode of the next data frames from the outcome of the last ones.
    pub(crate) fn learn(&mut self, now: Instant, report: Report) {
        self.rates.learn(now, report);
    }
}

/// Does an aggregate of this size keep to all limits? `longest`: that of time.
fn fits(size: Size, longest: Bytes, rules: &Conventions) -> bool {
    let aggregation = &rules.aggregation;
    let short = size.frames == 1 || aggregation.ampdu.is_some_and(|most| size.psdu <= most);
    short && size.frames <= usize::from(aggregation.frames) && size.psdu <= longest
}

impl Unanswered {
    /// What is missing in this step.
    pub(super) fn of(step: Step, request: bool) -> Self {
        match step {
            Step::AwaitCts => Self::Rts,
            Step::AwaitBlockAck if request => Self::BlockAckReq,
            _ => Self::Data,
        }
    }
}
