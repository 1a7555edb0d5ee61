//! A station: what it does about frames that it hears or misses, and its exchanges of frames (IEEE 802.11-2016, 10.3 for
//! the DCF, 10.22.2 for EDCA).
//!
//! A station has one radio, and so one view of the medium and at most one exchange at a time; up to four access
//! categories contend for it. The DCF is the case of one category. `docs/mac-conventions.md` gives the reasons for
//! every choice that the standard leaves, and what each changes.

use super::contention::Contender;
use super::peers::Peers;
use super::{Answer, BROADCAST, CATEGORIES, Conventions, Due, Finished, Frame, Job, Kind, Unanswered};
use crate::config::Eifs;
use crate::engine::{Handle, Stream};
use crate::radio::{Mode, Timing};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant};

/// What a station's own transmissions are waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The medium: for a packet, or to finish the back-off after the last one.
    Access,
    /// The end of a response (ACK or CTS) that it sends.
    Responding,
    /// The end of its own RTS or data frame.
    Sending,
    /// A CTS.
    AwaitCts,
    /// SIFS: after the CTS, or after an exchange in a TXOP that goes on.
    Cleared,
    /// An ACK.
    AwaitAck,
}

/// A station.
#[derive(Debug)]
pub(crate) struct Station {
    address: u32,
    /// How it sends data for one receiver.
    mode: Mode,
    pub(super) step: Step,
    /// The category whose exchange is going on, or was the last.
    holder: u8,
    /// Bit by bit, the categories whose moment to send is the deadline.
    pub(super) due: u8,
    /// Bit by bit, the categories that have a frame to send.
    pub(super) wanting: u8,
    pub(super) busy: bool,
    /// The radio is turning from reception to transmission: the deadline stands, whatever the medium does.
    pub(super) turning: bool,
    /// A response that goes out at the deadline.
    pub(super) response: Option<Frame>,
    /// When [`timer`](Self::timer) is to be called; `NEVER` for not at all. The host reads it after every call.
    pub(crate) deadline: Instant,
    pub(super) idle_from: Instant,
    /// What EIFS adds to DIFS or AIFS after a bad frame, else nothing.
    pub(super) eifs_surplus: Duration,
    pub(super) nav: Instant,
    /// When a response was last given up.
    pub(super) timed_out: Instant,
    pub(super) contenders: [Contender; CATEGORIES],
    /// By category, the packet that it holds.
    jobs: Vec<Option<Job>>,
    /// The TXOP of the holder ends here,
    txop_end: Instant,
    /// and goes on if at this very moment another packet is offered that fits.
    may_go_on: Instant,
    next_sequence: u16,
    peers: Peers,
    pub(super) random: Stream,
    finished: VecDeque<Finished>,
}

impl Station {
    /// A station that has nothing to send, on an idle medium.
    pub(crate) fn new(address: u32, mode: Mode, conventions: &Conventions, random: Stream) -> Self {
        Self {
            address,
            mode,
            step: Step::Access,
            holder: 0,
            due: 0,
            wanting: 0,
            busy: false,
            turning: false,
            response: None,
            deadline: Instant::NEVER,
            idle_from: Instant::ZERO,
            eifs_surplus: Duration::ZERO,
            nav: Instant::ZERO,
            timed_out: Instant::ZERO,
            contenders: conventions.access.map(|access| Contender::new(&access)),
            jobs: vec![None; conventions.categories],
            txop_end: Instant::ZERO,
            may_go_on: Instant::NEVER,
            next_sequence: 0,
            peers: Peers::default(),
            random,
            finished: VecDeque::new(),
        }
    }

    /// Bit by bit, the categories of which it would take a packet.
    #[inline]
    pub(crate) fn free(&self, rules: &Conventions) -> u8 {
        !self.wanting & ((1 << rules.categories) - 1)
    }

    /// The packets that it holds.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().flatten()
    }

    /// Is it sending a broadcast?
    pub(crate) fn broadcasts(&self) -> bool {
        self.step == Step::Sending && self.jobs[usize::from(self.holder)].is_some_and(|job| job.to == BROADCAST)
    }

    /// Its packet has reached the receiver.
    pub(crate) fn accept(&mut self, packet: Handle) {
        if let Some(job) = self.jobs.iter_mut().flatten().find(|job| job.packet == packet) {
            job.accepted = true;
        }
    }

    /// The next packet that it is done with. The host asks until there is none, after every call but the medium's edges.
    #[inline]
    pub(crate) fn next_finished(&mut self) -> Option<Finished> {
        self.finished.pop_front()
    }

    /// Takes a packet. On a medium that has been idle for DIFS or AIFS it goes out at once (10.3.4.2), and in a TXOP
    /// that can go on with it, after SIFS.
    pub(crate) fn offer(&mut self, now: Instant, mut job: Job, rules: &Conventions) {
        let category = usize::from(job.category);
        debug_assert!(self.jobs[category].is_none(), "a station holds one packet of a category");
        job.sequence = if rules.edca() && job.to != BROADCAST {
            self.peers.next_sequence(job.to, category)
        } else {
            let sequence = self.next_sequence;
            self.next_sequence = (sequence + 1) & 0x0fff;
            sequence
        };
        self.jobs[category] = Some(job);
        let goes_on = self.may_go_on == now && job.category == self.holder && self.response.is_none();
        if goes_on && now + rules.timing.sifs + self.exchange(job.to, job.psdu, &rules.timing) <= self.txop_end {
            self.wanting |= 1 << category;
            for other in (0..rules.categories).filter(|&other| other != category) {
                self.freeze(now, other, rules);
            }
            self.step = Step::Cleared;
            self.deadline = now + rules.timing.sifs;
        } else {
            self.contend(now, category, rules);
        }
    }

    /// The deadline has come. `receiving`: a frame whose PHY header was read is coming in.
    pub(crate) fn timer(&mut self, now: Instant, receiving: bool, rules: &Conventions) -> Due {
        self.deadline = Instant::NEVER;
        if let Some(response) = self.response.take() {
            self.step = Step::Responding;
            return Due::Send(response);
        }
        match self.step {
            Step::Access => {
                self.win(now, rules);
                let job = self.job();
                if announces(&job, rules) { Due::Send(self.announcement(&job, rules)) } else { Due::Begin(self.holder) }
            }
            Step::Cleared => Due::Begin(self.holder),
            // 10.3.2.9: a frame that has begun within the time-out may be the ACK; its end decides.
            Step::AwaitAck | Step::AwaitCts if receiving => Due::Wait,
            Step::AwaitAck | Step::AwaitCts => Due::Failed(self.fail(now, rules)),
            Step::Sending | Step::Responding => unreachable!("no deadline is set while a frame is being sent"),
        }
    }

    /// The data frame that is due. `ahead`: receiver and frame length of the packet of its category that comes next; a
    /// TXOP that can go on with it reserves the medium for it too (9.2.5.2).
    pub(crate) fn begin(&mut self, now: Instant, ahead: Option<(u32, Bytes)>, rules: &Conventions) -> Frame {
        self.step = Step::Sending;
        let timing = &rules.timing;
        let holder = usize::from(self.holder);
        let job = self.jobs[holder].as_mut().expect("data are sent for a packet");
        let retry = std::mem::replace(&mut job.sent, true);
        let job = *job;
        let own = self.exchange(job.to, job.psdu, timing);
        let rest = timing.sifs + ahead.map_or(Duration::ZERO, |(to, psdu)| self.exchange(to, psdu, timing));
        let goes_on = ahead.is_some() && now + own + rest <= self.txop_end;
        let response = if job.to == BROADCAST { Duration::ZERO } else { timing.sifs + timing.ack };
        Frame {
            kind: Kind::Data { packet: job.packet, psdu: job.psdu },
            from: self.address,
            to: job.to,
            category: self.holder,
            mode: self.mode_to(job.to, timing),
            reserves: if goes_on { response + rest } else { response },
            sequence: job.sequence,
            retry,
        }
    }

    /// Its own frame has been sent.
    pub(crate) fn sent(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        self.idle_from = now;
        self.eifs_surplus = Duration::ZERO;
        if self.step == Step::Responding {
            self.step = Step::Access;
        } else if frame.to == BROADCAST {
            self.finish(now, true, rules);
        } else {
            self.step = if frame.kind == Kind::Rts { Step::AwaitCts } else { Step::AwaitAck };
            self.deadline = now + rules.timing.response_timeout;
        }
    }

    /// A frame has come in, intact.
    pub(crate) fn received(&mut self, now: Instant, frame: &Frame, rules: &Conventions) -> Answer {
        let timing = &rules.timing;
        if rules.eifs != Eifs::AnySignalKept {
            self.eifs_surplus = Duration::ZERO;
        }
        let mine = frame.to == self.address;
        match (self.step, frame.kind) {
            (Step::AwaitAck, Kind::Ack) if mine => {
                self.finish(now, true, rules);
                return Answer::default();
            }
            (Step::AwaitCts, Kind::Cts) if mine => {
                self.step = Step::Cleared;
                self.deadline = now + timing.sifs;
                return Answer::default();
            }
            _ => {}
        }
        let mut answer = self.missed_response(now, rules);
        if mine {
            self.respond(now, frame, timing);
        } else {
            self.nav = self.nav.max(now + frame.reserves);
        }
        if matches!(frame.kind, Kind::Data { .. }) && (mine || frame.to == BROADCAST) {
            let number = (frame.sequence, frame.retry);
            answer.takes = !mine || self.peers.is_new(frame.from, frame.category, number);
            answer.duplicate = !answer.takes;
        }
        answer
    }

    /// A frame has come in, spoilt.
    pub(crate) fn spoilt(&mut self, now: Instant, header_read: bool, rules: &Conventions) -> Answer {
        match rules.eifs {
            Eifs::BadFrame if header_read => self.eifs_surplus = rules.timing.eifs - rules.timing.difs,
            Eifs::BadFrame | Eifs::Never => {}
            Eifs::AnySignal | Eifs::AnySignalKept => self.noise(now, rules),
        }
        if header_read { self.missed_response(now, rules) } else { Answer::default() }
    }

    /// A signal that could not be decoded is over.
    pub(crate) fn noise(&mut self, now: Instant, rules: &Conventions) {
        match rules.eifs {
            Eifs::AnySignal => self.eifs_surplus = rules.timing.eifs - rules.timing.difs,
            Eifs::AnySignalKept => self.nav = self.nav.max(now + rules.timing.eifs),
            Eifs::BadFrame | Eifs::Never => {}
        }
    }

    /// If it waits for an ACK or CTS, what has come in instead means that none will come (10.3.2.9).
    fn missed_response(&mut self, now: Instant, rules: &Conventions) -> Answer {
        if !matches!(self.step, Step::AwaitAck | Step::AwaitCts) {
            return Answer::default();
        }
        self.fail(now, rules)
    }

    /// Answers a frame for this station after SIFS: data always, an RTS unless the medium is reserved (10.3.2.7).
    fn respond(&mut self, now: Instant, frame: &Frame, timing: &Timing) {
        let (kind, reserves) = match frame.kind {
            // Of a TXOP that goes on, what is left is reserved by the ACK too (9.2.5.2).
            Kind::Data { .. } => (Kind::Ack, frame.reserves.saturating_sub(timing.sifs + timing.ack)),
            Kind::Rts if now >= self.nav => (Kind::Cts, frame.reserves - timing.sifs - timing.cts),
            Kind::Rts | Kind::Cts | Kind::Ack => return,
        };
        let (from, to, mode) = (self.address, frame.from, timing.basic);
        self.response = Some(Frame { kind, from, to, category: 0, mode, reserves, sequence: 0, retry: false });
        self.turning = false;
        self.deadline = now + timing.sifs;
    }

    /// How it sends data for this receiver.
    pub(crate) fn mode_to(&self, to: u32, timing: &Timing) -> Mode {
        if to == BROADCAST { timing.basic } else { self.mode }
    }

    /// How long a data frame and its acknowledgement take; a broadcast has none.
    pub(crate) fn exchange(&self, to: u32, psdu: Bytes, timing: &Timing) -> Duration {
        let data = timing.duration(self.mode_to(to, timing), psdu);
        if to == BROADCAST { data } else { data + timing.sifs + timing.ack }
    }

    /// The packet whose exchange is going on.
    fn job(&self) -> Job {
        self.jobs[usize::from(self.holder)].expect("an exchange is for a packet")
    }

    /// The highest category that is due holds the medium. One below that was due too has collided with it inside the
    /// station, and goes on as after a collision outside (10.22.2.2).
    fn win(&mut self, now: Instant, rules: &Conventions) {
        self.turning = false;
        let holder = self.due.trailing_zeros() as usize;
        for category in 0..rules.categories {
            if category == holder {
                self.contenders[category].backoff = None;
            } else if self.due & 1 << category == 0 {
                self.freeze(now, category, rules);
            } else {
                self.collide(category, rules);
            }
        }
        self.holder = u8::try_from(holder).expect("there are four categories");
        self.txop_end = now + rules.access[holder].txop_limit;
    }

    /// A category has lost an internal collision. The frame was not sent, but the attempt counts (10.22.2.11.1).
    fn collide(&mut self, category: usize, rules: &Conventions) {
        let job = self.jobs[category].as_mut().expect("a category that is due has a packet");
        job.short_failures += 1;
        if job.short_failures >= rules.short_retry_limit {
            self.release(category, false, rules);
        } else {
            self.widen(category, rules);
            self.draw(category);
        }
    }

    /// The RTS before a data frame.
    fn announcement(&mut self, job: &Job, rules: &Conventions) -> Frame {
        self.step = Step::Sending;
        let timing = &rules.timing;
        let reserves = timing.sifs * 2 + timing.cts + self.exchange(job.to, job.psdu, timing);
        Frame {
            kind: Kind::Rts,
            from: self.address,
            to: job.to,
            category: self.holder,
            mode: timing.basic,
            reserves,
            sequence: job.sequence,
            retry: false,
        }
    }

    /// No ACK or CTS has come: doubles the window and tries again, or gives up (10.3.4.4).
    fn fail(&mut self, now: Instant, rules: &Conventions) -> Answer {
        let failed = Some(if self.step == Step::AwaitCts { Unanswered::Rts } else { Unanswered::Data });
        let holder = usize::from(self.holder);
        let job = self.jobs[holder].as_mut().expect("a response is awaited for a packet");
        let after_rts = self.step == Step::AwaitAck && announces(job, rules);
        let (failures, limit) = if after_rts {
            (&mut job.long_failures, rules.long_retry_limit)
        } else {
            (&mut job.short_failures, rules.short_retry_limit)
        };
        *failures += 1;
        let last = *failures >= limit;
        self.timed_out = now;
        self.step = Step::Access;
        if last {
            self.deadline = Instant::NEVER;
            self.release(holder, false, rules);
        } else {
            self.widen(holder, rules);
            self.draw(holder);
        }
        self.schedule(now, rules);
        Answer { failed, ..Answer::default() }
    }

    /// The exchange is over, and with it perhaps the TXOP.
    fn finish(&mut self, now: Instant, delivered: bool, rules: &Conventions) {
        self.step = Step::Access;
        self.deadline = Instant::NEVER;
        self.may_go_on = if now < self.txop_end { now } else { Instant::NEVER };
        self.release(usize::from(self.holder), delivered, rules);
    }

    /// Done with the packet of a category. A back-off follows whether or not another one waits (10.3.4.3:
    /// post-backoff).
    fn release(&mut self, category: usize, delivered: bool, rules: &Conventions) {
        self.contenders[category].cw = rules.access[category].cw_min;
        self.wanting &= !(1 << category);
        self.draw(category);
        if let Some(job) = self.jobs[category].take() {
            self.finished.push_back(Finished { job, delivered });
        }
    }
}

/// Is this packet announced by an RTS?
fn announces(job: &Job, rules: &Conventions) -> bool {
    job.to != BROADCAST && rules.rts_threshold.is_some_and(|threshold| job.psdu > threshold)
}
