//! The congestion window.

use super::bbr::Bbr;
use super::bqm::{Bqm, Reaction};
use super::cubic::Cubic;
use super::prague::{Heard, Prague};
use super::reno::Reno;
use super::{Ack, Growth};
use crate::transport::tcp::{Congestion, Pace, RecoveryEnd, Report, Settings, SlowStart};
use units::{Duration, Instant};

/// Growth of the window beyond slow start, and its reduction.
#[derive(Debug)]
enum Law {
    Reno(Reno),
    Cubic(Cubic),
    Bqm(Bqm),
    Prague(Prague),
    Bbr(Bbr),
}

/// Congestion window and slow start threshold, in octets.
#[derive(Debug)]
pub(crate) struct Window {
    segment: u64,
    initial: u64,
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    /// Window at the end of a fast recovery.
    settled: u64,
    slow_start: SlowStart,
    law: Law,
}

impl Window {
    /// The initial window (RFC 6928), with a threshold that does not limit the window (RFC 5681, 3.1).
    pub(crate) fn new(settings: &Settings) -> Self {
        let segment = settings.segment.count();
        let initial = segment.saturating_mul(u64::from(settings.initial_window));
        let law = match settings.congestion {
            Congestion::Reno => Law::Reno(Reno { counted: settings.recovery_end == RecoveryEnd::Counted, acked: 0 }),
            Congestion::Cubic => Law::Cubic(Cubic::new(segment, settings.friendly_growth)),
            Congestion::Bqm => Law::Bqm(Bqm::new(settings.bqm.unwrap_or_default())),
            Congestion::Prague => Law::Prague(Prague::new(segment)),
            Congestion::Bbr => Law::Bbr(Bbr::new(segment, initial)),
        };
        let (ssthresh, slow_start) = (u64::MAX, settings.slow_start);
        Self { segment, initial, cwnd: initial, ssthresh, settled: initial, slow_start, law }
    }

    /// Handles an acknowledgement of new data outside of fast recovery. A window that was not fully used stays (RFC
    /// 9438, 5.8; RFC 7661, 4.4).
    pub(crate) fn grow(&mut self, growth: Growth) {
        if self.is_modelled() {
            return;
        }
        if !growth.limited {
            if let Law::Cubic(cubic) = &mut self.law {
                cubic.pause(growth.now);
            }
            return;
        }
        let mut growth = growth;
        if self.cwnd < self.ssthresh {
            // An acknowledgement of what was outstanding at a timeout may cover a whole window that had arrived before.
            let counts_bytes = self.slow_start == SlowStart::Bytes && !growth.timed_out;
            let most = if counts_bytes { self.ssthresh - self.cwnd } else { self.segment };
            let more = growth.acked.min(most);
            self.cwnd += more;
            debug_assert!(!counts_bytes || self.cwnd <= self.ssthresh, "slow start ends at the threshold");
            growth.acked -= more;
            // Octets beyond the threshold count for congestion avoidance, as in Linux.
            if self.cwnd < self.ssthresh || growth.acked == 0 || !counts_bytes {
                return;
            }
        }
        let more = match &mut self.law {
            Law::Reno(reno) => reno.increase(self.cwnd, growth.acked, self.segment),
            Law::Cubic(cubic) => cubic.increase(self.cwnd, growth),
            Law::Bqm(bqm) => bqm.increase(self.cwnd, growth.acked, self.segment),
            Law::Prague(prague) => prague.increase(self.cwnd, growth),
            Law::Bbr(_) => 0,
        };
        self.cwnd = self.cwnd.saturating_add(more);
        debug_assert!(self.cwnd >= self.segment && self.ssthresh >= self.segment);
    }

    /// Handles congestion, detected by loss or by a mark, with `flight` octets outstanding and the receiver's report.
    pub(crate) fn reduce(&mut self, flight: u64, report: Option<Report>) {
        if self.is_modelled() {
            return;
        }
        if let Law::Bqm(bqm) = &mut self.law {
            let now = Reaction { cwnd: self.cwnd, ssthresh: self.ssthresh };
            let Reaction { cwnd, ssthresh } = bqm.react(now, flight, self.segment, report);
            // No law goes below RFC 5681's equation 4.
            let least = 2 * self.segment;
            (self.settled, self.ssthresh) = (cwnd.max(least), ssthresh.max(least));
        } else {
            self.lower_threshold(flight, false);
        }
        self.cwnd = self.settled;
        debug_assert!(self.cwnd >= 2 * self.segment && self.ssthresh >= 2 * self.segment);
    }

    /// True if a model of the path sets the window (BBR), which ignores other signs of congestion.
    fn is_modelled(&self) -> bool {
        matches!(self.law, Law::Bbr(_))
    }

    /// Handles the end of the handshake, with its round-trip time.
    pub(crate) fn open(&mut self, now: Instant, rtt: Option<Duration>) {
        if let Law::Bbr(bbr) = &mut self.law {
            bbr.open(self.cwnd, now, rtt);
        }
    }

    /// Lets the model set the window after an acknowledgement. True if the model keeps the sender from using the path.
    pub(crate) fn follow(&mut self, ack: &Ack) -> bool {
        let Law::Bbr(bbr) = &mut self.law else { return false };
        self.cwnd = bbr.hear(self.cwnd, ack);
        debug_assert!(self.cwnd >= self.segment);
        bbr.is_probing_rtt()
    }

    /// The rate at which data leave; `None`: at once.
    pub(crate) fn pace(&self) -> Option<Pace> {
        if let Law::Bbr(bbr) = &self.law { Some(bbr.pace()) } else { None }
    }

    /// Handles counted marks (Prague). True if marks reduce the window; no other law counts marks.
    pub(crate) fn hear(&mut self, heard: &Heard) -> bool {
        let is_slow_start = self.cwnd < self.ssthresh;
        let Law::Prague(prague) = &mut self.law else { return false };
        let Some(reduced) = prague.hear(self.cwnd, is_slow_start, heard) else { return false };
        debug_assert!(reduced <= self.cwnd && heard.marked > 0);
        self.cwnd = reduced.max(2 * self.segment);
        (self.ssthresh, self.settled) = (self.cwnd, self.cwnd);
        true
    }

    /// Sets the slow start threshold after congestion (RFC 5681, equation 4; RFC 9438, 4.6). The equation is an upper
    /// bound: if `again` says that the congestion is that of the last reduction, a lower threshold stays.
    pub(crate) fn lower_threshold(&mut self, flight: u64, again: bool) {
        let threshold = match &mut self.law {
            Law::Reno(reno) => reno.decrease(flight),
            Law::Cubic(cubic) => cubic.decrease(self.cwnd, flight),
            Law::Bqm(bqm) => bqm.decrease(self.cwnd, flight),
            // As Reno (RFC 5681, equation 4).
            Law::Prague(_) => flight / 2,
            Law::Bbr(_) => u64::MAX,
        };
        let threshold = threshold.max(2 * self.segment);
        self.ssthresh = if again { threshold.min(self.ssthresh) } else { threshold };
        self.settled = self.ssthresh;
        debug_assert!(self.ssthresh <= threshold && self.ssthresh >= 2 * self.segment);
    }

    /// Handles a timeout (RFC 5681, 3.1; RFC 9438, 4.8): back to slow start from one segment, in addition to `pipe`
    /// octets that count as still in the network (as in Linux).
    pub(crate) fn collapse(&mut self, pipe: u64) {
        match &mut self.law {
            Law::Cubic(cubic) => cubic.forget(),
            Law::Bbr(bbr) => bbr.time_out(self.cwnd),
            Law::Reno(_) | Law::Bqm(_) | Law::Prague(_) => {}
        }
        self.cwnd = pipe.saturating_add(self.segment);
        debug_assert!(self.cwnd >= self.segment);
    }

    /// Handles an idle time above the timeout (RFC 5681, 4.1).
    pub(crate) fn restart(&mut self, now: Instant) {
        if self.is_modelled() {
            return;
        }
        self.cwnd = self.cwnd.min(self.initial);
        debug_assert!(self.cwnd >= self.segment.min(self.initial));
        if let Law::Cubic(cubic) = &mut self.law {
            cubic.pause(now);
        }
    }

    /// Handles the loss of more than one SYN (RFC 6928, section 2).
    pub(crate) fn begin_with_one_segment(&mut self) {
        self.cwnd = self.segment;
    }

    /// Inflates the window: a duplicate acknowledgement means that a segment has left the network (RFC 5681, 3.2).
    pub(crate) fn inflate(&mut self, segments: u64) {
        self.cwnd = self.cwnd.saturating_add(segments * self.segment);
    }

    /// Deflates the window by the `acked` octets of a partial acknowledgement (RFC 6582, 3.2, step 3).
    pub(crate) fn deflate(&mut self, acked: u64) {
        let back = if acked >= self.segment { self.segment } else { 0 };
        self.cwnd = (self.cwnd.saturating_sub(acked) + back).max(self.segment);
    }

    /// Ends fast recovery, with at most `most` octets allowed (RFC 5681, 3.2; RFC 6582, 3.2, step 3).
    pub(crate) fn end_inflation(&mut self, most: u64) {
        if self.is_modelled() {
            return;
        }
        self.cwnd = self.settled.min(most);
        debug_assert!(self.cwnd >= self.segment && self.cwnd <= most);
    }
}
