//! The end that has data: what it does when segments arrive and when its timer expires. What it sends then is in `output`.

mod losses;
mod output;
mod tail;

use super::congestion::{Growth, Window};
use super::rack::Rack;
use super::recovery::{Duplicate, LossRecovery, Progress};
use super::rto::{Backoff, Rto};
use super::scoreboard::Scoreboard;
use super::{Recovery, RecoveryEnd, RttSamples, Segment, Settings};
use tail::Tail;
use units::{Duration, Instant};

/// What a sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Segments with data or a FIN that were sent, repetitions included.
    pub(crate) segments: u64,
    /// Those of them that were sent before.
    pub(crate) retransmits: u64,
    /// Times that the retransmission timer expired, for a SYN too.
    pub(crate) timeouts: u64,
    /// Times that fast recovery began.
    pub(crate) recoveries: u64,
    /// Times that a congestion mark reduced the window.
    pub(crate) marks: u64,
    /// Tail loss probes that were sent.
    pub(crate) probes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    SynSent,
    Established,
}

/// What the next call of [`Sender::next`] sends, whatever the windows say.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "any of them may be due at the same time")]
struct Due {
    syn: bool,
    /// The first segment that is not acknowledged, again.
    first: bool,
    /// A probe of a closed window.
    probe: bool,
    /// A tail loss probe.
    tail: bool,
    ack: bool,
    /// With the next new data: the window was reduced.
    cwr: bool,
}

/// The end of a connection that has data.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub(crate) struct Sender {
    settings: Settings,
    state: State,
    board: Scoreboard,
    /// Where losses are found by time.
    rack: Option<Rack>,
    window: Window,
    recovery: LossRecovery,
    rto: Rto,
    /// The number after the last octet supplied; `u64::MAX` for a source without end.
    end: u64,
    closing: bool,
    /// The receiver takes octets below this number.
    allowed: u64,
    /// The largest window that the receiver ever offered.
    most_allowed: u64,
    /// The window that the last acknowledgement offered.
    offered: u64,
    /// An octet at or above SND.NXT was sent as a probe.
    probed: bool,
    due: Due,
    /// The retransmission timer or, with nothing outstanding, the persist timer.
    timer: Instant,
    /// When the reordering window has passed of what may be lost.
    reordering: Instant,
    tail: Tail,
    /// When data were last sent.
    last_sent: Instant,
    /// How often in a row a closed window was probed.
    probes: Backoff,
    /// The first octet outstanding when the retransmission timer last expired.
    timed_out_at: u64,
    /// Only the congestion window kept data back when last asked.
    limited: bool,
    ecn: bool,
    /// One reduction a window: none until this is acknowledged (RFC 3168, 6.1.2).
    reduced_at: u64,
    /// When the window last fell because of a loss.
    reduced_when: Instant,
    /// Without timestamps: an octet and when it was sent, for the round-trip time of its acknowledgement.
    timed: Option<(u64, Instant)>,
    echo: Option<Instant>,
    sample: Option<Duration>,
    counts: Counts,
}

impl Sender {
    /// A connection that is not open yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            settings: *settings,
            state: State::Closed,
            board: Scoreboard::new(settings.segment.count()),
            rack: settings.has_rack().then(Rack::default),
            window: Window::new(settings),
            recovery: LossRecovery::new(settings.recovery),
            rto: Rto::new(settings.rto_min),
            end: 1,
            closing: false,
            allowed: 1,
            most_allowed: 0,
            offered: 0,
            probed: false,
            due: Due::default(),
            timer: Instant::NEVER,
            reordering: Instant::NEVER,
            tail: Tail::NONE,
            last_sent: Instant::ZERO,
            probes: Backoff::default(),
            timed_out_at: 0,
            limited: false,
            ecn: false,
            reduced_at: 0,
            reduced_when: Instant::ZERO,
            timed: None,
            echo: None,
            sample: None,
            counts: Counts::default(),
        }
    }

    /// Opens the connection: the first segment is a SYN. A second call does nothing.
    pub(crate) fn open(&mut self, now: Instant) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.due.syn = true;
            self.timer = now + self.rto.timeout();
        }
    }

    /// Gives more octets to send; `None`: always more.
    pub(crate) fn supply(&mut self, bytes: Option<u64>) {
        self.end = bytes.map_or(u64::MAX, |more| self.end.saturating_add(more));
    }

    /// Nothing more will be supplied: a FIN follows the last octet, of a source without end the last that was sent.
    pub(crate) fn close(&mut self) {
        self.closing = true;
        if self.end == u64::MAX {
            self.end = self.board.nxt().max(1);
        }
    }

    /// Takes a segment of the receiver.
    pub(crate) fn receive(&mut self, now: Instant, segment: &Segment) {
        self.sample = None;
        let Some(ack) = segment.ack else { return };
        let unexpected = match self.state {
            State::Closed => true,
            State::SynSent => !segment.syn,
            State::Established => false,
        };
        if unexpected || ack < self.board.una() || ack > self.board.nxt() + u64::from(self.probed) {
            return;
        }
        if self.settings.timestamps {
            self.echo = segment.stamp.or(self.echo);
        }
        let duplicate = segment.twice();
        if let Some(rack) = &mut self.rack {
            rack.hear(ack, self.board.nxt(), duplicate.is_some_and(|block| !self.tail.sent(block)));
        }
        let fresh = self.settings.recovery == Recovery::Sack && self.update(now, segment);
        let repeats = segment.window == self.offered && self.board.flight() > 0;
        self.offer(ack, segment.window);
        let (una, flight) = (self.board.una(), self.flight_size());
        if ack > una {
            self.advance(now, ack, segment);
        } else if self.rack.is_none()
            && !segment.syn
            && if self.settings.recovery == Recovery::Sack { fresh } else { repeats }
        {
            self.duplicate(now);
        }
        if self.rack.is_some() {
            let bare = ack == una && !fresh && repeats;
            self.judge_probe(now, ack, duplicate, bare);
            self.look_for_losses(now);
        }
        if segment.syn {
            self.shake(segment, ack > una);
        } else if segment.ece && self.ecn && ack >= self.reduced_at {
            self.counts.marks += 1;
            self.reduce(now, flight);
        }
        if ack > una {
            self.watch_tail(now);
        }
    }

    fn offer(&mut self, ack: u64, window: u64) {
        self.allowed = ack.saturating_add(window);
        self.offered = window;
        self.most_allowed = self.most_allowed.max(window);
    }

    /// The SYN of the receiver, `new` when it is the first.
    fn shake(&mut self, segment: &Segment, new: bool) {
        self.due.ack = true;
        if !new {
            return;
        }
        self.state = State::Established;
        self.ecn = self.settings.ecn && segment.ece && !segment.cwr;
        self.rto.begin_data(self.counts.timeouts > 0);
        if self.counts.timeouts > 1 {
            self.window.begin_with_one_segment();
        }
    }

    /// New octets are acknowledged.
    fn advance(&mut self, now: Instant, ack: u64, segment: &Segment) {
        self.measure(now, ack, segment);
        let acked = ack - self.board.una();
        self.board.acknowledge(ack);
        if let Some(rack) = &mut self.rack {
            rack.acknowledge(ack, now);
        }
        self.probed = false;
        self.due.first = false;
        let mut restart = true;
        let recovering = !self.recovery.is_open();
        let progress = self.recovery.progress(ack);
        if let Some(rack) = self.rack.as_mut().filter(|_| recovering && self.recovery.is_open()) {
            rack.recovered();
        }
        match progress {
            Progress::Normal if segment.syn || segment.ece && self.ecn => {}
            Progress::Normal => {
                let (srtt, limited) = (self.rto.srtt(), self.limited);
                self.window.grow(Growth { now, srtt, acked, limited });
            }
            Progress::Continue => {}
            Progress::Partial { first } => {
                self.window.deflate(acked);
                self.due.first = true;
                restart = first;
            }
            Progress::Over => {
                self.end_recovery();
                if self.settings.recovery_end == RecoveryEnd::Counted {
                    self.window.grow(Growth { now, srtt: self.rto.srtt(), acked, limited: true });
                }
            }
        }
        if self.board.flight() == 0 {
            self.timer = Instant::NEVER;
        } else if restart {
            self.timer = now + self.rto.timeout();
        }
    }

    fn end_recovery(&mut self) {
        let segment = self.settings.segment.count();
        // No burst after a NewReno recovery that left the network empty (RFC 6582, 3.2, step 3, choice 1).
        let most = match self.settings.recovery {
            Recovery::NewReno => self.board.flight().max(segment) + segment,
            Recovery::Reno | Recovery::Sack => u64::MAX,
        };
        self.window.end_inflation(most);
    }

    /// Takes the round-trip time of a new acknowledgement: from timestamps (RFC 7323, 4.3), or of a segment that was sent once
    /// (Karn's rule; RFC 6298, section 3).
    fn measure(&mut self, now: Instant, ack: u64, segment: &Segment) {
        let timed = self.timed.filter(|&(octet, _)| ack > octet);
        let (since, per_window) = if self.settings.timestamps {
            let per_window = match self.settings.rtt_samples {
                RttSamples::Window => self.board.flight().div_ceil(2 * self.settings.segment.count()),
                RttSamples::Each => 1,
            };
            (segment.echo, per_window)
        } else {
            (timed.map(|(_, sent)| sent), 1)
        };
        if timed.is_some() {
            self.timed = None;
        }
        if let Some(since) = since {
            let rtt = now.since(since);
            self.rto.measure(rtt, per_window);
            self.sample = Some(rtt);
        }
    }

    fn duplicate(&mut self, now: Instant) {
        let una = self.board.una();
        match self.recovery.duplicate(una, self.board.nxt(), self.board.first_is_lost()) {
            Duplicate::Pass => {}
            Duplicate::Departure if self.settings.recovery == Recovery::Sack => {}
            Duplicate::Departure => self.window.inflate(1),
            Duplicate::Loss => {
                self.begin_recovery(now);
                if self.settings.recovery != Recovery::Sack {
                    self.window.inflate(3);
                    // Against a timeout while the repetition is on its way.
                    self.timer = now + self.rto.timeout();
                }
            }
        }
    }

    /// Fast recovery begins with a repetition.
    fn begin_recovery(&mut self, now: Instant) {
        self.counts.recoveries += 1;
        self.board.begin_recovery();
        // A mark in this window of data has reduced it already (RFC 3168, 6.1.2).
        if self.board.una() >= self.reduced_at {
            self.reduce(now, self.flight_size());
        }
        self.due.first = true;
        self.timed = None;
        self.tail = Tail::NONE;
    }

    /// Congestion with `flight` octets outstanding: the window falls, once for all that is outstanding.
    fn reduce(&mut self, now: Instant, flight: u64) {
        self.window.reduce(flight);
        self.reduced_when = now;
        self.reduced_at = self.board.nxt();
        self.due.cwr = self.ecn;
    }

    /// What counts as outstanding for a reduction: `FlightSize`, but no more than the window. So segments of limited transmit do
    /// not count (RFC 5681, 3.2, step 2), nor what was sent before the window last fell and is still not acknowledged.
    fn flight_size(&self) -> u64 {
        self.board.flight().min(self.window.cwnd())
    }

    /// When [`Self::expire`] is to be called.
    pub(crate) fn deadline(&self) -> Instant {
        self.timer.min(self.reordering).min(self.tail.at)
    }

    /// The deadline has come; nothing happens before it.
    pub(crate) fn expire(&mut self, now: Instant) {
        if self.reordering <= now {
            self.reordering = Instant::NEVER;
            self.look_for_losses(now);
        }
        if self.tail.at <= now {
            self.tail.cancel();
            self.due.tail = true;
            return;
        }
        if now < self.timer || self.state == State::Closed {
            return;
        }
        if self.state == State::SynSent {
            self.counts.timeouts += 1;
            self.due.syn = true;
            self.timed = None;
        } else if self.board.flight() == 0 {
            self.due.probe = true;
            self.probes.increase();
            self.timer = now + self.probes.stretch(self.rto.timeout());
            return;
        } else {
            self.time_out(now);
        }
        self.rto.back_off();
        self.timer = now + self.rto.timeout();
    }

    /// The retransmission timer expired (RFC 6298, 5.4 to 5.6).
    fn time_out(&mut self, now: Instant) {
        self.counts.timeouts += 1;
        let una = self.board.una();
        if una > self.timed_out_at {
            // In a recovery with SACK a repetition was lost, and the threshold falls twice (RFC 5681, 4.3). Without it there may
            // only be more to repeat than there was time for.
            let slow = self.recovery.is_fast() && self.settings.recovery != Recovery::Sack;
            self.window.lower_threshold(self.flight_size(), slow);
        }
        if let Some(rack) = &mut self.rack {
            rack.time_out(now, self.rto.srtt(), self.board.is_reneged());
        }
        self.board.time_out();
        self.window.collapse(self.pipe());
        self.timed_out_at = una;
        self.tail = Tail::NONE;
        self.reordering = Instant::NEVER;
        self.recovery.time_out(self.board.nxt());
        self.reduced_at = self.board.nxt();
        self.reduced_when = now;
        self.timed = None;
        self.due.first = false;
        self.due.cwr = self.ecn;
    }

    /// All that was supplied is acknowledged, and the FIN if there is one.
    pub(crate) fn done(&self) -> bool {
        self.state == State::Established && self.board.una() == self.last()
    }

    /// What it has done so far.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// The round-trip time that the last segment received gave, once.
    pub(crate) fn take_sample(&mut self) -> Option<Duration> {
        self.sample.take()
    }

    /// The smoothed round-trip time (RFC 6298, section 2).
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rto.srtt()
    }

    /// The congestion window, in octets.
    pub(crate) fn cwnd(&self) -> u64 {
        self.window.cwnd()
    }

    #[cfg(test)]
    pub(super) fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    #[cfg(test)]
    pub(super) fn una(&self) -> u64 {
        self.board.una()
    }

    #[cfg(test)]
    pub(super) fn flight(&self) -> u64 {
        self.board.flight()
    }

    #[cfg(test)]
    pub(super) fn timeout(&self) -> Duration {
        self.rto.timeout()
    }

    /// The number after the last octet to send, the FIN counted.
    fn last(&self) -> u64 {
        self.end.saturating_add(u64::from(self.closing))
    }
}
