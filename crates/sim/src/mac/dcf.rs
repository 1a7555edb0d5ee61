//! The distributed coordination function (IEEE 802.11-2016, 10.3): when a station may send, and what it does about
//! frames that it hears or misses.
//!
//! There are no events for slots: while the medium is idle the moment of sending is known, and when it turns busy the
//! slots that have passed are counted. `docs/mac-conventions.md` gives the reasons for every choice that the standard
//! leaves, and what each changes.

use super::{BROADCAST, Frame, Kind};
use crate::config::{Eifs, TimeoutDeferral};
use crate::engine::{Handle, Stream};
use crate::radio::{Mode, Timing};
use units::{Bytes, Duration, Instant};

/// What is the same at every station of a network.
#[derive(Clone, Debug)]
pub(crate) struct Conventions {
    pub(crate) timing: Timing,
    pub(crate) cw_min: u16,
    pub(crate) cw_max: u16,
    /// Attempts at a frame that needs no RTS, or at the RTS.
    pub(crate) short_retry_limit: u8,
    /// Attempts at a frame after its RTS was answered.
    pub(crate) long_retry_limit: u8,
    /// Data frames longer than this are announced.
    pub(crate) rts_threshold: Option<Bytes>,
    pub(crate) eifs: Eifs,
    pub(crate) timeout_deferral: TimeoutDeferral,
}

/// A packet that the station has taken from its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) packet: Handle,
    pub(crate) to: u32,
    /// Length of its data frame, MAC header and check sum included.
    pub(crate) psdu: Bytes,
    /// Time that it waited in the queue.
    pub(crate) waited: Duration,
    /// When the station took it.
    pub(crate) taken: Instant,
    /// The receiver has it, whether the station knows or not.
    pub(crate) accepted: bool,
    sequence: u16,
    short_failures: u8,
    long_failures: u8,
}

impl Job {
    /// A packet that waited in the queue for `waited` and is taken now.
    pub(crate) fn new(packet: Handle, to: u32, psdu: Bytes, waited: Duration, taken: Instant) -> Self {
        Self { packet, to, psdu, waited, taken, accepted: false, sequence: 0, short_failures: 0, long_failures: 0 }
    }
}

/// A packet that the station is done with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) job: Job,
    /// Acknowledged, or a broadcast; otherwise given up.
    pub(crate) delivered: bool,
}

/// What a received frame means.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// The packet in the frame is for this station.
    pub(crate) takes: bool,
    /// The station is done with its own packet.
    pub(crate) finished: Option<Finished>,
    /// The station's own frame that will have no response.
    pub(crate) failed: Option<Unanswered>,
}

/// A frame that was sent in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// An RTS without CTS.
    Rts,
    /// Data without ACK.
    Data,
}

/// What a station does at its deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// It sends a frame.
    Send(Frame),
    /// It has waited for a response in vain.
    Failed(Answer),
    /// It waits for the end of what is coming in.
    Wait,
}

/// What a station's own transmissions are waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The medium: for a packet, or to finish the back-off after the last one.
    Access,
    /// The end of a response (ACK or CTS) that it sends.
    Responding,
    /// The end of its own RTS or data frame.
    Sending,
    /// A CTS.
    AwaitCts,
    /// SIFS after the CTS.
    Cleared,
    /// An ACK.
    AwaitAck,
}

/// A station.
#[derive(Debug)]
pub(crate) struct Dcf {
    address: u32,
    /// How it sends data for one receiver.
    mode: Mode,
    step: Step,
    job: Option<Job>,
    /// A response that goes out at the deadline.
    response: Option<Frame>,
    /// When [`timer`](Self::timer) is to be called; `NEVER` for not at all. The host reads it after every call.
    pub(crate) deadline: Instant,
    cw: u16,
    /// Slots still to wait; `None`: no back-off is due.
    backoff: Option<u16>,
    busy: bool,
    idle_from: Instant,
    /// DIFS, or EIFS after a bad frame: to be idle before the slots count.
    space: Duration,
    nav: Instant,
    /// Slots do not count before this.
    not_before: Instant,
    next_sequence: u16,
    random: Stream,
}

impl Dcf {
    /// A station that has nothing to send, on an idle medium.
    pub(crate) fn new(address: u32, mode: Mode, conventions: &Conventions, random: Stream) -> Self {
        Self {
            address,
            mode,
            step: Step::Access,
            job: None,
            response: None,
            deadline: Instant::NEVER,
            cw: conventions.cw_min,
            backoff: None,
            busy: false,
            idle_from: Instant::ZERO,
            space: conventions.timing.difs,
            nav: Instant::ZERO,
            not_before: Instant::ZERO,
            next_sequence: 0,
            random,
        }
    }

    /// Would it take a packet?
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.job.is_none()
    }

    /// The packet that it holds.
    pub(crate) fn job(&self) -> Option<&Job> {
        self.job.as_ref()
    }

    /// Is it sending a broadcast?
    pub(crate) fn broadcasts(&self) -> bool {
        self.step == Step::Sending && self.job.is_some_and(|job| job.to == BROADCAST)
    }

    /// Its packet has reached the receiver.
    pub(crate) fn accept(&mut self, packet: Handle) {
        if let Some(job) = &mut self.job
            && job.packet == packet
        {
            job.accepted = true;
        }
    }

    /// Takes a packet. On a medium that has been idle for DIFS it goes out at once (10.3.4.2).
    pub(crate) fn offer(&mut self, now: Instant, mut job: Job, rules: &Conventions) {
        debug_assert!(self.job.is_none(), "a station holds one packet");
        job.sequence = self.next_sequence;
        self.next_sequence = (self.next_sequence + 1) & 0x0fff;
        self.job = Some(job);
        if self.step != Step::Access || self.response.is_some() {
            if self.backoff.is_none() {
                self.draw();
            }
            return;
        }
        if self.busy || now < self.nav {
            if self.backoff.is_none() {
                self.draw();
            }
        } else if self.access_time(rules) <= now {
            self.backoff = None;
        }
        self.schedule(now, rules);
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
                self.backoff = None;
                self.step = Step::Sending;
                Due::Send(self.first_frame(rules))
            }
            Step::Cleared => {
                self.step = Step::Sending;
                Due::Send(self.data_frame(rules))
            }
            // 10.3.2.9: a frame that has begun within the time-out may be the ACK; its end decides.
            Step::AwaitAck | Step::AwaitCts if receiving => Due::Wait,
            Step::AwaitAck | Step::AwaitCts => Due::Failed(self.fail(now, rules)),
            Step::Sending | Step::Responding => unreachable!("no deadline is set while a frame is being sent"),
        }
    }

    /// Its own frame has been sent.
    pub(crate) fn sent(&mut self, now: Instant, frame: &Frame, rules: &Conventions) -> Option<Finished> {
        self.idle_from = now;
        self.space = rules.timing.difs;
        if self.step == Step::Responding {
            self.step = Step::Access;
            return None;
        }
        if frame.to == BROADCAST {
            return self.finish(true, rules);
        }
        self.step = if frame.kind == Kind::Rts { Step::AwaitCts } else { Step::AwaitAck };
        self.deadline = now + rules.timing.response_timeout;
        None
    }

    /// The medium has turned busy.
    #[inline]
    pub(crate) fn turned_busy(&mut self, now: Instant, rules: &Conventions) {
        self.busy = true;
        if self.step != Step::Access || self.response.is_some() {
            return;
        }
        let timing = &rules.timing;
        // Slots whose boundary is nearer than the turn-around time cannot be taken back.
        let seen = now + timing.turnaround;
        if self.deadline <= seen {
            return;
        }
        let start = self.start(timing);
        let Some(slots) = self.backoff else {
            if self.job.is_some() {
                self.draw();
                self.deadline = Instant::NEVER;
            }
            return;
        };
        if start > seen {
            self.deadline = Instant::NEVER;
            return;
        }
        let passed = seen.since(start).div_floor(timing.slot);
        if passed < u64::from(slots) {
            self.backoff = Some(slots - u16::try_from(passed).expect("fewer than the slots left"));
            self.deadline = Instant::NEVER;
        } else {
            self.backoff = None;
        }
    }

    /// The medium has turned idle.
    #[inline]
    pub(crate) fn turned_idle(&mut self, now: Instant, rules: &Conventions) {
        self.busy = false;
        self.idle_from = now;
        // A deadline that a busy medium has left standing is nearer than the turn-around time: the radio is turning.
        if self.step == Step::Access && self.response.is_none() && self.deadline == Instant::NEVER {
            self.schedule(now, rules);
        }
    }

    /// A frame has come in, intact.
    pub(crate) fn received(&mut self, now: Instant, frame: &Frame, rules: &Conventions) -> Answer {
        let timing = &rules.timing;
        if rules.eifs != Eifs::AnySignalKept {
            self.space = timing.difs;
        }
        let mine = frame.to == self.address;
        match (self.step, frame.kind) {
            (Step::AwaitAck, Kind::Ack) if mine => {
                return Answer { finished: self.finish(true, rules), ..Answer::default() };
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
        answer.takes = matches!(frame.kind, Kind::Data { .. }) && (mine || frame.to == BROADCAST);
        answer
    }

    /// A frame has come in, spoilt.
    pub(crate) fn spoilt(&mut self, now: Instant, header_read: bool, rules: &Conventions) -> Answer {
        match rules.eifs {
            Eifs::BadFrame if header_read => self.space = rules.timing.eifs,
            Eifs::BadFrame | Eifs::Never => {}
            Eifs::AnySignal | Eifs::AnySignalKept => self.noise(now, rules),
        }
        if header_read { self.missed_response(now, rules) } else { Answer::default() }
    }

    /// A signal that could not be decoded is over.
    pub(crate) fn noise(&mut self, now: Instant, rules: &Conventions) {
        match rules.eifs {
            Eifs::AnySignal => self.space = rules.timing.eifs,
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
            Kind::Data { .. } => (Kind::Ack, Duration::ZERO),
            Kind::Rts if now >= self.nav => (Kind::Cts, frame.reserves - timing.sifs - timing.cts),
            Kind::Rts | Kind::Cts | Kind::Ack => return,
        };
        let mode = timing.basic;
        let from = self.address;
        self.response = Some(Frame { kind, from, to: frame.from, mode, reserves, sequence: 0, retry: false });
        self.deadline = now + timing.sifs;
    }

    /// From when slots count, if the medium stays idle.
    #[inline]
    fn start(&self, timing: &Timing) -> Instant {
        (self.idle_from + self.space).max(self.nav + timing.difs).max(self.not_before)
    }

    /// When its back-off ends, if the medium stays idle.
    #[inline]
    fn access_time(&self, rules: &Conventions) -> Instant {
        self.start(&rules.timing) + rules.timing.slot * u64::from(self.backoff.unwrap_or(0))
    }

    #[inline]
    fn schedule(&mut self, now: Instant, rules: &Conventions) {
        self.deadline = match self.job {
            Some(_) if !self.busy => self.access_time(rules).max(now),
            _ => Instant::NEVER,
        };
    }

    /// Draws a back-off: uniform on 0 ..= CW (10.3.3).
    fn draw(&mut self) {
        let slots = self.random.up_to(u64::from(self.cw));
        self.backoff = Some(u16::try_from(slots).expect("a back-off lies within the window"));
    }

    fn first_frame(&self, rules: &Conventions) -> Frame {
        let data = self.data_frame(rules);
        let job = self.job.expect("access is sought for a packet");
        if !announces(&job, rules) {
            return data;
        }
        let timing = &rules.timing;
        let reserves = timing.sifs * 3 + timing.cts + timing.duration(data.mode, job.psdu) + timing.ack;
        Frame { kind: Kind::Rts, mode: timing.basic, reserves, ..data }
    }

    fn data_frame(&self, rules: &Conventions) -> Frame {
        let job = self.job.expect("data is sent for a packet");
        let timing = &rules.timing;
        let (mode, reserves) = match job.to {
            BROADCAST => (timing.basic, Duration::ZERO),
            _ => (self.mode, timing.sifs + timing.ack),
        };
        let kind = Kind::Data { packet: job.packet, psdu: job.psdu };
        let data_failures = if announces(&job, rules) { job.long_failures } else { job.short_failures };
        let retry = data_failures > 0;
        Frame { kind, from: self.address, to: job.to, mode, reserves, sequence: job.sequence, retry }
    }

    /// No ACK or CTS has come: doubles the window and tries again, or gives up (10.3.4.4).
    fn fail(&mut self, now: Instant, rules: &Conventions) -> Answer {
        let failed = Some(if self.step == Step::AwaitCts { Unanswered::Rts } else { Unanswered::Data });
        let job = self.job.as_mut().expect("a response is awaited for a packet");
        let after_rts = self.step == Step::AwaitAck && announces(job, rules);
        let (failures, limit) = if after_rts {
            (&mut job.long_failures, rules.long_retry_limit)
        } else {
            (&mut job.short_failures, rules.short_retry_limit)
        };
        *failures += 1;
        self.not_before = match rules.timeout_deferral {
            TimeoutDeferral::None => now,
            TimeoutDeferral::Difs => now + rules.timing.difs,
        };
        if *failures >= limit {
            return Answer { finished: self.finish(false, rules), failed, takes: false };
        }
        self.cw = self.cw.saturating_mul(2).saturating_add(1).min(rules.cw_max);
        self.step = Step::Access;
        self.draw();
        self.schedule(now, rules);
        Answer { failed, ..Answer::default() }
    }

    /// Done with the packet. A back-off follows whether or not another one waits (10.3.4.3: post-backoff).
    fn finish(&mut self, delivered: bool, rules: &Conventions) -> Option<Finished> {
        self.step = Step::Access;
        self.deadline = Instant::NEVER;
        self.cw = rules.cw_min;
        self.draw();
        self.job.take().map(|job| Finished { job, delivered })
    }
}

/// Is this packet announced by an RTS?
fn announces(job: &Job, rules: &Conventions) -> bool {
    job.to != BROADCAST && rules.rts_threshold.is_some_and(|threshold| job.psdu > threshold)
}
