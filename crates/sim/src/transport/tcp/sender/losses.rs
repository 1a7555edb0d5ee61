//! Loss detection of a sender: by counting later segments that have arrived (RFC 6675), or by time (RFC 8985). Tail loss
//! probes: without an acknowledgement, one segment is sent to make the receiver answer (RFC 8985, section 7).

use super::state::{Sender, State, Tail};
use crate::transport::tcp::rack::Rack;
use crate::transport::tcp::{Block, Segment};
use units::{Duration, Instant};

impl Sender {
    /// Records the first transmission of `block`.
    pub(super) fn record_sent(&mut self, now: Instant, block: Block) {
        debug_assert!(block.start == self.board.nxt && block.len() > 0, "what follows");
        self.board.sent(block.end);
        if let Some(rack) = &mut self.rack {
            rack.send(block, now);
        }
    }

    /// Records the repetition of `block`.
    pub(super) fn record_repeated(&mut self, now: Instant, block: Block) {
        debug_assert!(block.start >= self.board.una && block.end <= self.board.nxt, "outstanding");
        match &mut self.rack {
            Some(rack) => rack.repeat(block, now),
            None => self.board.repeat(block),
        }
    }

    /// `Update` of RFC 6675: true if a SACK option has news.
    pub(super) fn update(&mut self, now: Instant, segment: &Segment) -> bool {
        let mut news = false;
        for &block in segment.sacks.blocks() {
            if let Some(rack) = &mut self.rack {
                self.board.news(block).for_each(|part| rack.arrive(part, now));
            }
            if let Some(delivery) = &mut self.delivery {
                self.board.news(block).for_each(|part| delivery.arrive(part, now));
            }
            news |= self.board.mark(block);
        }
        news
    }

    /// Octets in the network, as far as known.
    pub(super) fn pipe(&self) -> u64 {
        self.rack.as_ref().map_or_else(|| self.board.pipe(), Rack::pipe)
    }

    /// The next lost segment to be retransmitted, below `bound` if losses are counted.
    pub(super) fn lost(&mut self, bound: u64) -> Option<Block> {
        match &mut self.rack {
            Some(rack) => rack.lost(),
            None => self.board.lost_hole(bound),
        }
    }

    /// True if a fast recovery must begin.
    pub(super) fn first_lost(&mut self) -> Block {
        let lost = self.rack.as_mut().and_then(Rack::lost);
        lost.unwrap_or_else(|| self.board.first_hole())
    }

    /// Runs RACK's loss detection, after an acknowledgement or when the reordering window has passed.
    pub(super) fn look_for_losses(&mut self, now: Instant) {
        let (recovering, srtt) = (!self.recovery.is_open(), self.rto.srtt);
        let Some(rack) = &mut self.rack else { return };
        let found = rack.detect(now, recovering, srtt);
        self.reordering = found.again.unwrap_or(Instant::NEVER);
        if self.reordering != Instant::NEVER {
            self.tail.cancel();
        }
        let repetition = found.repetition.is_some();
        if (repetition || rack.lost().is_some()) && self.recovery.begin_by_time(self.board.nxt, repetition) {
            self.begin_recovery(now);
        }
        // A repetition sent since the last reduction, and lost, shows congestion (RFC 5681, 4.3; RFC 8985, 3.4).
        if self.reduced_when < now && found.repetition.is_some_and(|sent| sent >= self.reduced_when) {
            self.reduce(now, self.flight_size());
        }
        debug_assert!(self.reordering > now, "the deadline is in the future");
    }
}

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
