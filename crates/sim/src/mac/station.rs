//! A station: the frames that it holds, what it receives and what it sends when (IEEE 802.11-2016, 10.3 for the DCF,
//! 10.22.2 for EDCA).
//!
//! A station has one radio, hence one view of the medium and at most one exchange at a time; up to four access
//! categories contend for it. The DCF is the case of one category. `docs/mac-conventions.md` gives the reasons for
//! every choice that the standard leaves open, and its effect.

use super::buffer::{Buffer, Request, Size};
use super::contention::Contender;
use super::downlink::Downlink;
use super::peers::Peers;
pub(super) use super::step::{Cleared, Step};
use super::tmac::TmacState;
use super::uplink::Uplink;
use super::{
    Access, Agreement, Answer, Asks, BROADCAST, CATEGORIES, Conventions, Costs, Due, Finished, Frame, Kind, Mpdu, Msdu,
    Rates, Reorder, Report, SEQUENCES, Scoreboard, Tells,
};
use crate::config::{AnswerRts, Eifs};
use crate::engine::{Handle, Stream};
use crate::radio::{Mode, Timing};
use units::{Duration, Instant};

/// A station.
#[derive(Debug)]
pub(crate) struct Station {
    pub(super) address: u32,
    /// Mode with which it sends data to one receiver.
    pub(super) rates: Rates,
    pub(super) step: Step,
    /// Category of the present or last exchange.
    pub(super) holder: u8,
    /// Bitmask of categories whose moment to send is the deadline.
    pub(super) due: u8,
    /// Bitmask of categories that have a frame to send.
    pub(super) wanting: u8,
    /// Bitmask of those that want to send a trigger alone.
    pub(super) soliciting: u8,
    /// Bitmask of all its categories.
    categories: u8,
    pub(super) busy: bool,
    /// True while the radio turns from reception to transmission: the deadline stands, whatever the medium does.
    pub(super) turning: bool,
    pub(super) cleared: Cleared,
    /// The response that goes out at the deadline.
    pub(super) response: Option<Frame>,
    /// When to call [`timer`](Self::timer); `NEVER` for not at all. The host reads it after every call.
    pub(crate) deadline: Instant,
    /// When it looks again whether stations are to be asked for data, though nothing is to be sent; `NEVER` for not at all.
    pub(super) look_again: Instant,
    pub(super) idle_from: Instant,
    /// Extension of DIFS or AIFS to EIFS after a bad frame; otherwise zero.
    pub(super) eifs_surplus: Duration,
    pub(super) nav: Instant,
    /// The station whose exchange set the NAV last, under EDCA.
    txop_holder: u32,
    /// Time at which a response was last given up.
    pub(super) timed_out: Instant,
    /// Contention parameters of its categories.
    pub(super) access: [Access; CATEGORIES],
    /// New contention parameters, from the back-off after the next attempt on.
    pub(super) ordered: Vec<(usize, Access)>,
    pub(super) contenders: [Contender; CATEGORIES],
    /// By category, the frames that it sends next.
    pub(super) buffers: Vec<Buffer>,
    /// Frames for other receivers, with their category, that wait until it is their receiver's turn.
    pub(super) aside: Vec<(u8, Buffer)>,
    /// Buffers without frames, so that those set aside cost no memory each time.
    pub(super) spare: Vec<Buffer>,
    /// Bit by bit, the categories that hold frames after an exchange: it may be another receiver's turn.
    paused: u8,
    /// False as long as it cannot be: all packets come from one queue.
    takes_turns: bool,
    /// The frame that the announced exchange is for.
    pub(super) fixed: Option<Size>,
    /// Limit of the holder's TXOP; zero for one frame exchange.
    pub(super) txop: Duration,
    /// End of the TXOP.
    pub(super) txop_end: Instant,
    /// End of the last exchange, at which its TXOP goes on if a packet that fits is offered; `NEVER` if it does not.
    pub(super) may_go_on: Instant,
    next_sequence: u16,
    pub(super) peers: Peers,
    pub(super) random: Stream,
    pub(super) finished: Vec<Finished>,
    /// State of T-MAC, if it is used.
    pub(super) tmac: Option<Box<TmacState>>,
    /// Frames to several stations at once, if it sends any.
    pub(super) downlink: Option<Box<Downlink>>,
    /// Frames of several stations at once, if there are any.
    pub(super) uplink: Option<Box<Uplink>>,
}

impl Station {
    /// A station with nothing to send, on an idle medium.
    pub(crate) fn new(address: u32, rates: Rates, conventions: &Conventions, random: Stream) -> Self {
        Self {
            address,
            rates,
            step: Step::Access,
            holder: 0,
            due: 0,
            wanting: 0,
            soliciting: 0,
            categories: (1 << conventions.categories) - 1,
            busy: false,
            turning: false,
            cleared: Cleared::No,
            response: None,
            deadline: Instant::NEVER,
            look_again: Instant::NEVER,
            idle_from: Instant::ZERO,
            eifs_surplus: Duration::ZERO,
            nav: Instant::ZERO,
            txop_holder: BROADCAST,
            timed_out: Instant::ZERO,
            access: conventions.access,
            ordered: Vec::new(),
            contenders: conventions.access.map(|access| Contender::new(&access)),
            buffers: (0..conventions.categories).map(|_| Buffer::default()).collect(),
            aside: Vec::new(),
            spare: Vec::new(),
            paused: 0,
            takes_turns: false,
            fixed: None,
            txop: Duration::ZERO,
            txop_end: Instant::ZERO,
            may_go_on: Instant::NEVER,
            next_sequence: 0,
            peers: Peers::default(),
            random,
            finished: Vec::new(),
            tmac: conventions.tmac.map(|_| Box::default()),
            downlink: None,
            uplink: None,
        }
    }

    /// Bitmask of categories in which it takes a packet.
    #[inline]
    pub(crate) fn free(&self) -> u8 {
        (!self.wanting | self.soliciting) & self.categories
    }

    /// The frames that it holds.
    pub(crate) fn mpdus(&self) -> impl Iterator<Item = &Mpdu> {
        self.mpdus_but(0)
    }

    /// The frames in the aggregate that it is sending, or whose response it awaits.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &Mpdu> {
        let buffer = &self.buffers[usize::from(self.holder)];
        buffer.mpdus.iter().take(buffer.in_flight)
    }

    /// The first packets of the frames that it holds, and of those that it is done with and has not [told](Self::take_finished).
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = Handle> {
        self.mpdus().map(|mpdu| mpdu.packet).chain(self.finished.iter().map(|finished| finished.packet))
    }

    /// The frames that it holds, except the first `without` of the category whose exchange goes on.
    pub(crate) fn mpdus_but(&self, without: usize) -> impl Iterator<Item = &Mpdu> {
        let holder = usize::from(self.holder);
        let skipped = move |index: usize| if index == holder { without } else { 0 };
        let next = self.buffers.iter().enumerate();
        let next = next.flat_map(move |(index, buffer)| buffer.mpdus.iter().skip(skipped(index)));
        let aside = self.aside.iter().map(|(_, buffer)| buffer);
        next.chain(
            aside.chain(self.downlink.iter().flat_map(|downlink| downlink.buffers())).flat_map(|buffer| &buffer.mpdus),
        )
    }

    /// Does a category hold frames after an exchange that has ended, so that the host has to decide whose turn it is?
    #[inline]
    pub(crate) fn is_paused(&self) -> bool {
        self.paused != 0
    }

    /// Takes the [paused](Self::is_paused) categories, bit by bit. The host [resumes](Self::resume) the frames of each for
    /// one receiver, or [sets aside](Self::set_aside) what is next and offers another packet.
    pub(crate) fn take_paused(&mut self) -> u8 {
        std::mem::take(&mut self.paused)
    }

    /// Does a category hold frames that are set aside?
    #[inline]
    pub(crate) fn has_aside(&self, category: u8) -> bool {
        self.aside.iter().any(|&(other, _)| other == category)
    }

    /// The receivers for which a category holds frames, the one that is next first, each with the first packet.
    pub(crate) fn receivers(&self, category: u8) -> impl Iterator<Item = (u32, Option<Handle>)> + Clone {
        let next = Some(&self.buffers[usize::from(category)]).filter(|buffer| !buffer.is_empty());
        let aside = self.aside.iter().filter(move |&&(other, _)| other == category).map(|(_, buffer)| buffer);
        next.into_iter().chain(aside).map(|buffer| (buffer.to, buffer.mpdus.front().map(|mpdu| mpdu.packet)))
    }

    /// The frames that a category would send next wait until their receiver's turn comes again.
    pub(crate) fn set_aside(&mut self, category: u8) {
        let index = usize::from(category);
        if self.buffers[index].is_empty() {
            return;
        }
        let next = self.spare.pop().unwrap_or_default();
        self.aside.push((category, std::mem::replace(&mut self.buffers[index], next)));
        self.wanting &= !(1 << category);
        if self.step == Step::Cleared && category == self.holder {
            self.step = Step::Access;
            self.deadline = Instant::NEVER;
        }
    }

    /// The frames that a category holds for a receiver are next.
    pub(crate) fn resume(&mut self, now: Instant, category: u8, to: u32, rules: &Conventions) {
        let Some(place) = self.aside.iter().position(|(other, buffer)| *other == category && buffer.to == to) else {
            return;
        };
        self.set_aside(category);
        let (_, buffer) = self.aside.swap_remove(place);
        let empty = std::mem::replace(&mut self.buffers[usize::from(category)], buffer);
        self.spare.push(empty);
        self.is_next(now, category, rules);
    }

    /// A category has frames to send that it had not before. In a TXOP that can go on with them they go out after SIFS.
    #[expect(clippy::inline_always, reason = "once a packet: the call costs a chain 1 %")]
    #[inline(always)]
    fn is_next(&mut self, now: Instant, category: u8, rules: &Conventions) {
        self.wanting |= 1 << category;
        self.soliciting &= !(1 << category);
        let goes_on = self.may_go_on == now && category == self.holder && self.response.is_none();
        if !(goes_on && self.go_on(now, rules)) {
            self.contend(now, category.into(), rules);
        }
    }

    /// From now on categories that hold frames after an exchange are [paused](Self::is_paused).
    pub(crate) fn take_turns(&mut self) {
        self.takes_turns = true;
    }

    /// An exchange of a category is over: does it hold frames?
    #[inline]
    pub(super) fn pause(&mut self, category: usize) {
        if !self.takes_turns {
            return;
        }
        if self.uplink.is_some() {
            self.seek(category);
        }
        let index = u8::try_from(category).expect("there are four categories");
        if self.wanting & !self.soliciting & 1 << category != 0 || self.has_aside(index) {
            self.paused |= 1 << category;
        }
    }

    /// True while it sends a broadcast.
    pub(crate) fn broadcasts(&self) -> bool {
        let buffer = &self.buffers[usize::from(self.holder)];
        self.step == Step::Sending && buffer.to == BROADCAST && !buffer.mpdus.is_empty()
    }

    /// True if it is done with data frames. The host asks after every call except those about the medium's edges.
    #[inline]
    pub(crate) fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Puts the data frames that it is done with into an empty list, whose memory it takes for the next ones.
    #[inline]
    pub(crate) fn take_finished(&mut self, list: &mut Vec<Finished>) {
        std::mem::swap(&mut self.finished, list);
    }

    /// State of T-MAC.
    pub(crate) fn tmac(&self) -> Option<&TmacState> {
        self.tmac.as_deref()
    }

    /// Sets what the frame that it begins to send tells of its packets (T-MAC).
    pub(crate) fn tell(&mut self, tells: Tells) {
        if let Some(tmac) = &mut self.tmac {
            tmac.tell(tells);
        }
    }

    /// Returns the received sequence numbers of a station and category.
    pub(crate) fn reorder(&mut self, from: u32, category: u8, rules: &Conventions) -> &mut Reorder {
        let window = self.agreement(from, rules).window;
        self.peers.reorder(from, category, window)
    }

    /// What its BlockAck to another station reports.
    pub(crate) fn scoreboard(&self, to: u32, category: u8) -> Scoreboard {
        self.peers.scoreboard(to, category)
    }

    /// Reordering of frames from all stations.
    pub(crate) fn reorders(&self) -> impl Iterator<Item = &Reorder> {
        self.peers.reorders()
    }

    /// Takes a packet for `to` in a free category. On a medium that has been idle for DIFS or AIFS it is sent at once
    /// (10.3.4.2), and in a TXOP that can go on with it, after SIFS.
    #[expect(clippy::inline_always, reason = "once a packet and hop: the call costs a chain 0.1 %")]
    #[inline(always)]
    pub(crate) fn offer(&mut self, now: Instant, to: u32, category: u8, msdu: Msdu, rules: &Conventions) {
        self.hold(to, category, msdu, rules);
        self.is_next(now, category, rules);
    }

    /// Holds a packet for `to` as the first frame of a category.
    #[expect(clippy::inline_always, reason = "once a packet: the call costs a chain 1 %")]
    #[inline(always)]
    pub(super) fn hold(&mut self, to: u32, category: u8, msdu: Msdu, rules: &Conventions) {
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
    }

    /// True if its TXOP may go on after the frame exchange that is due.
    pub(crate) fn bursts(&self) -> bool {
        !self.txop.is_zero()
    }

    /// Sequence number of the next frame for `to`. QoS data are numbered by receiver and category (10.3.2.11.2).
    #[expect(clippy::inline_always, reason = "once a packet: the call costs a chain 0.4 %")]
    #[inline(always)]
    fn number(&mut self, to: u32, category: usize, rules: &Conventions) -> u16 {
        if rules.edca() && to != BROADCAST {
            return self.peers.next_sequence(to, category);
        }
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) % SEQUENCES;
        sequence
    }

    /// Handles the deadline. `receiving`: a frame whose PHY header was read is being received; of no effect on a
    /// station that does not [listen](Self::listens).
    pub(crate) fn timer(&mut self, now: Instant, receiving: bool, rules: &Conventions) -> Due {
        self.deadline = Instant::NEVER;
        if let Some(response) = self.response.take() {
            let unavailable = self.busy || now < self.nav;
            let withheld = match response.kind {
                Kind::Cts => rules.answer_rts == AnswerRts::UnlessBusy && unavailable,
                // 26.5.2.5: whoever is asked to send data or a CTS senses the medium, until others may answer too.
                Kind::Triggered { .. } | Kind::SharedCts => {
                    let busy = self.busy && self.idle_from + rules.timing.sifs < now;
                    busy || now < self.nav && self.txop_holder != response.to
                }
                _ => false,
            };
            if withheld {
                self.schedule(now, rules);
                return Due::Wait;
            }
            self.step = Step::Responding;
            return Due::Send(response);
        }
        match self.step {
            Step::Access if self.due == 0 => {
                self.looks_again(now, rules);
                Due::Wait
            }
            Step::Access => {
                self.win(now, rules);
                Due::Begin(self.holder)
            }
            Step::Cleared => Due::Begin(self.holder),
            // 10.3.2.9: a frame that has begun within the time-out may be the ACK; its end decides.
            Step::AwaitParts => self.uplink_due(now, receiving, rules),
            Step::AwaitCts | Step::AwaitBlockAck if self.shares() => self.downlink_due(now, receiving, rules),
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

    /// True if only the duration field of a received frame matters to the station.
    #[inline]
    pub(crate) fn only_overhears(&self, frame: &Frame) -> bool {
        frame.to != self.address && frame.to != BROADCAST && !self.awaits_response()
    }

    /// Handles an intact frame that it [only overhears](Self::only_overhears).
    #[inline]
    pub(crate) fn overhears(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        self.end_eifs(rules);
        self.reserve(now, frame, rules);
    }

    /// A frame for others reserves the medium.
    #[inline]
    fn reserve(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        let end = now + frame.reserves;
        if end > self.nav {
            self.nav = end;
            if rules.edca() {
                self.txop_holder = match frame.kind {
                    Kind::Cts
                    | Kind::SharedCts
                    | Kind::Ack
                    | Kind::BlockAck { .. }
                    | Kind::Grant
                    | Kind::Triggered { .. }
                        if frame.to != frame.from =>
                    {
                        frame.to
                    }
                    _ => frame.from,
                };
            }
        }
    }

    /// Ends EIFS: after a good frame DIFS or AIFS suffice (10.3.2.3.7).
    #[inline]
    pub(super) fn end_eifs(&mut self, rules: &Conventions) {
        if rules.eifs != Eifs::AnySignalKept {
            self.eifs_surplus = Duration::ZERO;
        }
    }

    /// True if it waits for something that may be arriving.
    #[inline]
    pub(crate) fn listens(&self) -> bool {
        self.awaits_response() || self.step == Step::AwaitGrants
    }

    #[inline]
    fn awaits_response(&self) -> bool {
        matches!(self.step, Step::AwaitAck | Step::AwaitCts | Step::AwaitBlockAck | Step::AwaitParts)
    }

    /// True if this is the BlockAck that it awaits.
    #[inline]
    pub(crate) fn awaits_block_ack(&self, frame: &Frame) -> bool {
        let reports = matches!(frame.kind, Kind::BlockAck { .. } | Kind::MultiBlockAck { .. });
        reports && self.step == Step::AwaitBlockAck && frame.to == self.address
    }

    /// Handles another received frame, intact, or an aggregate of which at least one MPDU is.
    #[inline]
    pub(crate) fn received(&mut self, now: Instant, frame: &Frame, rules: &Conventions) -> Answer {
        let timing = &rules.timing;
        self.end_eifs(rules);
        let mine = frame.to == self.address;
        match (self.step, frame.kind) {
            (Step::AwaitAck, Kind::Ack) if mine => return self.acknowledged(now, rules),
            (Step::AwaitCts, Kind::Cts | Kind::SharedCts) if mine => {
                self.step = Step::Cleared;
                self.cleared = Cleared::ByRts;
                self.deadline = now + timing.sifs;
                return Answer::default();
            }
            (Step::AwaitGrants, Kind::Grant) if mine => {
                self.granted(frame.from);
                return Answer::default();
            }
            (Step::AwaitParts, _) if mine => return self.part_received(now, frame, rules),
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
            self.reserve(now, frame, rules);
        }
        if matches!(frame.kind, Kind::Data { .. }) && (mine || frame.to == BROADCAST) {
            // Under a BlockAck agreement it is the window that knows.
            answer.takes = !mine
                || rules.block_ack()
                || self.peers.is_new(frame.from, frame.category, frame.sequence, frame.retry);
            answer.duplicate = !answer.takes;
        }
        answer.takes |= matches!(frame.kind, Kind::Aggregate { .. } | Kind::MultiUser { .. }) && mine;
        answer
    }

    /// Handles a received frame with errors.
    pub(crate) fn spoilt(&mut self, now: Instant, header_read: bool, rules: &Conventions) -> Answer {
        self.overhears_spoilt(now, header_read, rules);
        if header_read { self.missed_response(now, rules) } else { Answer::default() }
    }

    /// Handles a received frame with errors while no response is awaited.
    #[inline]
    pub(crate) fn overhears_spoilt(&mut self, now: Instant, header_read: bool, rules: &Conventions) {
        match rules.eifs {
            Eifs::BadFrame if header_read => self.eifs_surplus = rules.timing.eifs - rules.timing.difs,
            Eifs::BadFrame | Eifs::Never => {}
            Eifs::AnySignal | Eifs::AnySignalKept => self.noise(now, rules),
        }
    }

    /// Handles the end of a signal that could not be decoded.
    #[inline]
    pub(crate) fn noise(&mut self, now: Instant, rules: &Conventions) {
        match rules.eifs {
            Eifs::AnySignal => self.eifs_surplus = rules.timing.eifs - rules.timing.difs,
            Eifs::AnySignalKept => self.nav = self.nav.max(now + rules.timing.eifs),
            Eifs::BadFrame | Eifs::Never => {}
        }
    }

    /// Ends the wait for a response after another frame has arrived instead (10.3.2.9).
    pub(super) fn missed_response(&mut self, now: Instant, rules: &Conventions) -> Answer {
        // Of several stations each has its own response.
        if !self.awaits_response() || self.step == Step::AwaitParts || self.shares() {
            return Answer::default();
        }
        self.fail(now, rules)
    }

    /// Answers a frame for this station after SIFS: data always, an RTS unless the medium is reserved (10.3.2.7), under
    /// EDCA unless it is reserved by another than who sent the RTS (10.22.2.4).
    fn respond(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        let timing = &rules.timing;
        // Of a TXOP that goes on, what is left is reserved by the response too (9.2.5.2).
        let left = |response| frame.reserves.saturating_sub(timing.sifs + response);
        let responses = timing.responses(frame.mode);
        let (kind, reserves) = match frame.kind {
            Kind::Data { .. } => (Kind::Ack, left(responses.ack)),
            // All responses to it end together, and with them the exchange.
            Kind::Trigger { asks: Asks::Backlog | Asks::Data, .. } => {
                (Kind::Triggered { psdu: rules.queue_size_frame(), frames: 0 }, frame.reserves)
            }
            Kind::Trigger { asks: Asks::Clear, .. } => (Kind::SharedCts, left(timing.cts)),
            Kind::Trigger { asks: Asks::BlockAcks, .. } => {
                (Kind::BlockAck { long: self.agreement(frame.from, rules).window > Agreement::SHORT }, Duration::ZERO)
            }
            Kind::Aggregate { .. } | Kind::BlockAckReq { .. } => {
                let agreement = self.agreement(frame.from, rules);
                let block_ack = Kind::BlockAck { long: agreement.window > Agreement::SHORT };
                (block_ack, left(rules.block_ack_duration(frame.mode, agreement)))
            }
            Kind::Rts if now >= self.nav || rules.edca() && self.txop_holder == frame.from => {
                (Kind::Cts, left(timing.cts))
            }
            // What a request gets is settled before, by its key, and an HE MU PPDU's trigger follows.
            Kind::Rts
            | Kind::Cts
            | Kind::SharedCts
            | Kind::Ack
            | Kind::BlockAck { .. }
            | Kind::Request { .. }
            | Kind::Grant
            | Kind::Triggered { .. }
            | Kind::MultiBlockAck { .. }
            | Kind::MultiUser { .. } => return,
        };
        let mode = match frame.kind {
            Kind::Trigger { response, .. } => response,
            _ if matches!(kind, Kind::Cts) => timing.announcing,
            _ => responses.mode,
        };
        let (from, to, category) = (self.address, frame.from, frame.category);
        self.response = Some(Frame { kind, from, to, category, mode, reserves, sequence: 0, retry: false });
        self.turning = false;
        self.deadline = now + timing.sifs;
    }

    /// Returns the mode with which it sends data to this receiver.
    pub(crate) fn mode_to(&self, to: u32, timing: &Timing) -> Mode {
        if to == BROADCAST { timing.basic } else { self.rates.mode(to) }
    }

    /// Selects the low mode of [two](Rates::of_two), or the high one, for its next data frames.
    pub(crate) fn set_low(&mut self, is_low: bool) {
        self.rates.set_low(is_low);
    }

    /// Mode of its data frames to a receiver, without rate control.
    pub(crate) fn fixed_mode(&self, to: u32) -> Option<Mode> {
        self.rates.fixed_mode(to)
    }

    /// Expected throughput towards a receiver in bit/s: see [`Rates::expected_throughput`].
    pub(crate) fn expected_throughput(&self, to: u32, costs: &Costs, mpdus: f64) -> f64 {
        self.rates.expected_throughput(to, costs, mpdus)
    }

    /// Updates the mode of the next data frames from the outcome of the last ones.
    pub(crate) fn learn(&mut self, now: Instant, report: Report) {
        self.rates.learn(now, report);
    }
}
