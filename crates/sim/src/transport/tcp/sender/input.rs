//! Handling of arriving segments and expired timers.

use super::state::{Sender, State, Tail};
use crate::transport::tcp::congestion::{Ack, Growth, Heard};
use crate::transport::tcp::pacer::Pacer;
use crate::transport::tcp::recovery::{Duplicate, Progress};
use crate::transport::tcp::{Block, Recovery, RecoveryEnd, RttSamples, Segment};
use units::Instant;

impl Sender {
    /// Opens the connection: the first segment is a SYN. A second call does nothing.
    pub(crate) fn open(&mut self, now: Instant) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.due.syn = true;
            self.timer = now + self.rto.timeout();
        }
    }

    /// Supplies more octets to send; `None`: without end.
    pub(crate) fn supply(&mut self, bytes: Option<u64>) {
        let pipe = self.pipe();
        if let Some(delivery) = self.delivery.as_mut().filter(|_| self.board.nxt >= self.end && pipe < self.window.cwnd)
        {
            delivery.limit(pipe);
        }
        self.end = bytes.map_or(u64::MAX, |more| self.end.saturating_add(more));
    }

    /// Ends the supply: a FIN follows the last octet; for a source without end, the last octet sent.
    pub(crate) fn close(&mut self) {
        self.closing = true;
        if self.end == u64::MAX {
            self.end = self.board.nxt.max(1);
        }
    }

    /// Takes a segment from the receiver.
    pub(crate) fn receive(&mut self, now: Instant, segment: &Segment) {
        self.sample = None;
        self.pacer.wake(now);
        let Some(ack) = segment.ack else { return };
        let unexpected = match self.state {
            State::Closed => true,
            State::SynSent => !segment.syn,
            State::Established => false,
        };
        if unexpected || ack < self.board.una || ack > self.board.nxt + u64::from(self.probed) {
            return;
        }
        if self.settings.timestamps {
            self.echo = segment.stamp.or(self.echo);
        }
        self.report = segment.report.or(self.report);
        let duplicate = segment.twice();
        if let Some(rack) = &mut self.rack {
            rack.hear(ack, self.board.nxt, duplicate.is_some_and(|block| !self.tail.sent(block)));
        }
        let before = self.delivery.as_ref().map(|delivery| (delivery.delivered, self.pipe()));
        let news = self.board.news_below(ack);
        let fresh = self.settings.recovery == Recovery::Sack && self.update(now, segment);
        let repeats = segment.window == self.offered && self.board.flight() > 0;
        self.offer(ack, segment.window);
        let (una, flight) = (self.board.una, self.flight_size());
        let marked = segment.marked.saturating_sub(self.marked);
        self.marked += marked;
        if ack > una {
            self.advance(now, ack, news.saturating_sub(marked), segment);
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
            self.shake(now, segment, ack > una);
        } else if self.settings.counts_marks() {
            self.hear(now, ack - una, marked);
        } else if segment.ece && self.ecn && ack >= self.reduced_at {
            self.counts.marks += 1;
            self.reduce(now, flight);
        }
        if let Some((delivered, pipe)) = before.filter(|_| !segment.syn) {
            self.follow(now, delivered, pipe);
        }
        if ack > una {
            self.watch_tail(now);
        }
        debug_assert_eq!(self.board.una, ack);
        debug_assert!(self.window.cwnd >= self.settings.segment.count(), "a segment may always be sent");
    }

    /// Reports to Prague the acknowledged octets, and the number of them that arrived with a mark.
    fn hear(&mut self, now: Instant, acked: u64, marked: u64) {
        let (una, nxt) = (self.board.una, self.board.nxt);
        let before = self.window.cwnd;
        let may_reduce = self.recovery.is_open();
        if self.window.hear(&Heard { now, una, nxt, acked, marked, may_reduce }) {
            self.counts.marks += 1;
            self.count_halving(before);
        }
    }

    /// Reports an acknowledgement to BBR, before which these octets were `delivered` and `before` in the network.
    fn follow(&mut self, now: Instant, delivered: u64, before: u64) {
        let pipe = self.pipe();
        let conserves = self.recovery.is_fast() && self.settings.recovery == Recovery::Sack;
        let Some(delivery) = &mut self.delivery else { return };
        let acked = delivery.delivered - delivered;
        let ack = Ack {
            now,
            sample: delivery.sample(now),
            delivered: delivery.delivered,
            acked,
            lost: before.saturating_sub(pipe + acked),
            before,
            pipe,
            recovering: !self.recovery.is_open(),
            conserves,
        };
        if self.window.follow(&ack) {
            delivery.limit(pipe);
        }
    }

    fn offer(&mut self, ack: u64, window: u64) {
        self.allowed = ack.saturating_add(window);
        self.offered = window;
        self.most_allowed = self.most_allowed.max(window);
    }

    /// Handles the SYN of the receiver; `new` for the first such SYN.
    fn shake(&mut self, now: Instant, segment: &Segment, new: bool) {
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
        self.window.open(now, self.rto.srtt);
    }

    /// Handles acknowledged octets, of which `news` were not SACKed before and, if marks are counted, not marked.
    fn advance(&mut self, now: Instant, ack: u64, news: u64, segment: &Segment) {
        self.measure(now, ack, segment);
        let below = ack - self.board.una;
        if let Some(delivery) = &mut self.delivery {
            self.board.news(Block { start: self.board.una, end: ack }).for_each(|part| delivery.arrive(part, now));
            delivery.acknowledge(ack);
        }
        self.board.acknowledge(ack);
        if let Some(marks) = &mut self.marks {
            marks.acknowledge(ack);
        }
        if let Some(rack) = &mut self.rack {
            rack.acknowledge(ack, now);
        }
        self.probed = false;
        self.due.first = false;
        let mut restart = true;
        let (recovering, timed_out) = (!self.recovery.is_open(), self.recovery.is_timed_out());
        let progress = self.recovery.progress(ack);
        if let Some(rack) = self.rack.as_mut().filter(|_| recovering && self.recovery.is_open()) {
            rack.recovered();
        }
        if self.recovery.is_open() {
            self.report = None;
        }
        match progress {
            Progress::Normal if segment.syn || segment.ece && self.ecn && !self.settings.counts_marks() => {}
            Progress::Normal => {
                let (srtt, limited) = (self.rto.srtt, self.limited);
                self.window.grow(Growth { now, srtt, acked: news, limited, timed_out });
            }
            Progress::Continue => {}
            Progress::Partial { first, point } => {
                self.window.deflate(below);
                self.due.first = true;
                restart = first;
                if first && self.settings.reports().is_some_and(|bqm| bqm.lowest_at_once) {
                    self.lowest = Block { start: ack + self.settings.segment.count(), end: point };
                }
            }
            Progress::Over => {
                self.lowest.end = 0;
                self.end_recovery();
                let acked = match self.settings.recovery_end {
                    RecoveryEnd::Threshold => 0,
                    RecoveryEnd::Counted => below,
                    RecoveryEnd::News => news,
                };
                if acked > 0 {
                    self.window.grow(Growth { now, srtt: self.rto.srtt, acked, limited: true, timed_out });
                }
            }
        }
        if self.board.flight() == 0 {
            self.timer = Instant::NEVER;
        } else if restart {
            self.timer = now + self.rto.timeout();
        }
        debug_assert!((self.board.flight() == 0) == (self.timer == Instant::NEVER), "what is outstanding is timed");
        debug_assert!(self.board.una == ack && !self.probed);
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
        let una = self.board.una;
        match self.recovery.duplicate(una, self.board.nxt, self.board.first_is_lost() || self.first_goes_first()) {
            Duplicate::Pass => {}
            Duplicate::Departure if self.settings.recovery == Recovery::Sack => {}
            Duplicate::Departure => self.window.inflate(1),
            Duplicate::Loss => {
                self.begin_recovery(now);
                if self.settings.recovery != Recovery::Sack {
                    self.window.inflate(self.recovery.duplicates());
                    // This prevents a timeout while the repetition is on its way.
                    self.timer = now + self.rto.timeout();
                }
            }
        }
    }

    /// True if queues drop the first unacknowledged segment before others, so that one duplicate suffices (BQM thesis,
    /// section 3.5).
    fn first_goes_first(&self) -> bool {
        let marks = self.marks.as_ref().filter(|_| self.settings.reports().is_some_and(|bqm| bqm.single_duplicate));
        marks.is_some_and(|marks| marks.base(self.board.una) == 0)
    }

    /// Begins a fast recovery with a retransmission.
    pub(super) fn begin_recovery(&mut self, now: Instant) {
        self.counts.recoveries += 1;
        self.board.begin_recovery();
        // A mark in this window of data has reduced it already (RFC 3168, 6.1.2).
        if self.board.una >= self.reduced_at {
            self.reduce(now, self.flight_size());
        }
        self.due.first = true;
        self.timed = None;
        self.tail = Tail::NONE;
        debug_assert!(self.recovery.is_fast() && self.board.flight() > 0);
    }

    /// Handles congestion with `flight` octets outstanding: reduces the window once for all of them.
    pub(super) fn reduce(&mut self, now: Instant, flight: u64) {
        let before = self.window.cwnd;
        self.window.reduce(flight, self.report);
        self.count_halving(before);
        self.reduced_when = now;
        self.reduced_at = self.board.nxt;
        self.due.cwr = self.ecn && !self.settings.counts_marks();
        debug_assert!(self.reduced_at >= self.board.una);
    }

    fn count_halving(&mut self, before: u64) {
        self.counts.halvings += u64::from(2 * self.window.cwnd <= before);
    }

    /// Octets that count as outstanding in a reduction: `FlightSize`, bounded by the window. So segments of limited
    /// transmit do not count (RFC 5681, 3.2, step 2), nor octets sent before the last reduction that are still
    /// unacknowledged.
    pub(super) fn flight_size(&self) -> u64 {
        self.board.flight().min(self.window.cwnd)
    }

    /// Returns the time at which [`Self::expire`] is to be called.
    pub(crate) fn deadline(&self) -> Instant {
        self.timer.min(self.reordering).min(self.tail.at).min(self.pacer.deadline)
    }

    /// Handles the deadline; does nothing before it.
    pub(crate) fn expire(&mut self, now: Instant) {
        self.pacer.wake(now);
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
        debug_assert!(self.deadline() > now || self.reordering != Instant::NEVER);
    }

    /// Handles a retransmission timeout (RFC 6298, 5.4 to 5.6).
    fn time_out(&mut self, now: Instant) {
        self.counts.timeouts += 1;
        let una = self.board.una;
        if una > self.timed_out_at {
            // In a recovery with SACK a repetition was lost, and the threshold falls twice (RFC 5681, 4.3). Without
            // SACK there may only be more to repeat than the time allowed.
            let slow = self.recovery.is_fast() && self.settings.recovery != Recovery::Sack;
            self.window.lower_threshold(self.flight_size(), slow);
        }
        if let Some(rack) = &mut self.rack {
            rack.time_out(now, self.rto.srtt, self.board.is_reneged());
        }
        self.board.time_out();
        self.pacer = Pacer::new();
        let before = self.window.cwnd;
        self.window.collapse(self.pipe());
        self.count_halving(before);
        self.timed_out_at = una;
        self.tail = Tail::NONE;
        self.reordering = Instant::NEVER;
        self.recovery.time_out(self.board.nxt);
        self.reduced_at = self.board.nxt;
        self.reduced_when = now;
        self.timed = None;
        self.due.first = false;
        self.lowest.end = 0;
        self.due.cwr = self.ecn && !self.settings.counts_marks();
        debug_assert!(self.recovery.is_timed_out() && self.board.flight() > 0);
        debug_assert!(self.pipe() < self.window.cwnd, "a segment may be sent");
    }
}
