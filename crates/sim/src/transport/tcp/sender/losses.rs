//! Loss detection of a sender: by counting later segments that have arrived (RFC 6675), or by time (RFC 8985).

use super::state::Sender;
use crate::transport::tcp::{Block, Segment, rack::Rack};
use units::Instant;

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
        // A repetition of after the last reduction that is lost is one more sign of congestion (RFC 5681, 4.3; RFC 8985, 3.4).
        if self.reduced_when < now && found.repetition.is_some_and(|sent| sent >= self.reduced_when) {
            self.reduce(now, self.flight_size());
        }
        debug_assert!(self.reordering > now, "the deadline is in the future");
    }
}
