//! Tail loss probes: without an acknowledgement, one segment is sent to make the receiver answer (RFC 8985, section 7).

use super::state::{Sender, State, Tail};
use crate::transport::tcp::{Block, Segment};
use units::{Duration, Instant};

/// Longest time for which a receiver delays the acknowledgement of one segment (`TLP.max_ack_delay`; Linux: 200 ms).
const LONGEST_DELAYED_ACK: Duration = Duration::from_millis(200);
/// Timeout of the probe without a round-trip time (RFC 8985, 7.2).
const WITHOUT_RTT: Duration = Duration::from_secs(1);

impl Sender {
    /// Sets the probe timer after new data were sent or acknowledged: it expires when the next acknowledgement is late,
    /// but before a timeout (RFC 8985, 7.2).
    pub(super) fn watch_tail(&mut self, now: Instant) {
        let quiet = self.recovery.is_open() && self.board.nothing_sacked() && self.reordering == Instant::NEVER;
        let flight = self.board.flight();
        let possible = self.rack.is_some() && self.state == State::Established && flight > 0;
        self.tail.at = if possible && quiet && self.tail.out.is_none() {
            let held = if flight <= self.settings.segment.count() { LONGEST_DELAYED_ACK } else { Duration::ZERO };
            let timeout = self.rto.srtt.map_or(WITHOUT_RTT, |srtt| srtt * 2 + held);
            (now + timeout).min(self.timer)
        } else {
            Instant::NEVER
        };
        debug_assert!(self.tail.at == Instant::NEVER || self.tail.at <= self.timer, "before a timeout");
        debug_assert!(self.tail.at == Instant::NEVER || flight > 0);
    }

    /// The probe: new data if there are any, otherwise the last segment again, whatever the congestion window allows
    /// (RFC 8985, 7.3).
    pub(super) fn tail_probe(&mut self, now: Instant) -> Option<Segment> {
        let (segment, again) = if let Some(block) = self.fresh_block() {
            (self.send_new(now, block), false)
        } else {
            let last = self.rack.as_ref()?.last()?;
            (self.repeat(now, last), true)
        };
        self.counts.probes += 1;
        self.tail = Tail { at: Instant::NEVER, out: Some((self.board.nxt, again)) };
        // The timeout stays the last resort.
        self.timer = now + self.rto.timeout();
        debug_assert!(self.board.flight() > 0, "something waits for the answer");
        Some(segment)
    }

    /// Handles an acknowledgement of the probe (RFC 8985, 7.4); `duplicate`: octets that arrived twice, `bare`: the
    /// segment carries nothing else.
    pub(super) fn judge_probe(&mut self, now: Instant, ack: u64, duplicate: Option<Block>, bare: bool) {
        let Some((end, again)) = self.tail.out.filter(|&(end, _)| ack >= end) else { return };
        let both_came = duplicate.is_some_and(|block| block.end == end);
        if !again || both_came {
            self.tail.out = None;
        } else if ack > end {
            // The probe has repaired a loss that was not detected otherwise.
            self.tail.out = None;
            if self.board.una >= self.reduced_at {
                self.reduce(now, self.flight_size());
            }
        } else if bare {
            self.tail.out = None;
        }
    }
}
