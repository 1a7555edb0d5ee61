//! The sender's state of the octets between the lowest unacknowledged and the highest sent (RFC 6675, sections 2 to 4).
//!
//! All octets below one number count as lost, and none above it, because both conditions of `IsLost` only fail upwards.
//! Hence two sums describe the whole window, and no call iterates over it.

use super::{Block, ranges::Ranges};

/// Duplicate acknowledgements, or ranges above a segment, that indicate its loss (RFC 5681, 3.2).
pub(super) const DUP_THRESH: u32 = 3;

#[derive(Debug)]
pub(super) struct Scoreboard {
    segment: u64,
    /// The lowest octet not acknowledged: `HighACK` + 1.
    pub(super) una: u64,
    /// The next octet never sent: `HighData` + 1.
    pub(super) nxt: u64,
    sacked: Ranges,
    /// End of the octets that were retransmitted since they were last marked lost: `HighRxt` + 1.
    repeated_to: u64,
    /// Octets below [`Self::repeated_to`] neither acknowledged nor SACKed: step (b) of `SetPipe`.
    repeated: u64,
    /// End of the octets that were sent before the last timeout, all of which count as lost.
    timed_out_to: u64,
    /// The rescue is possible when more than this number is acknowledged: `RescueRxt` + 1.
    rescue_above: u64,
}

impl Scoreboard {
    /// State with nothing sent; `segment` is the SMSS.
    pub(super) fn new(segment: u64) -> Self {
        let sacked = Ranges::default();
        Self { segment, una: 0, nxt: 0, sacked, repeated_to: 0, repeated: 0, timed_out_to: 0, rescue_above: 0 }
    }

    /// Octets sent and not cumulatively acknowledged (RFC 5681, section 2: `FlightSize`).
    pub(super) fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Returns the number of octets below `ack` that are neither acknowledged nor SACKed.
    pub(super) fn news_below(&self, ack: u64) -> u64 {
        self.sacked.missing(Block { start: self.una, end: ack })
    }

    /// True if all numbers lie between the lowest unacknowledged octet and the next.
    fn is_ordered(&self) -> bool {
        let known = [self.repeated_to, self.timed_out_to, self.sacked.descending().next().map_or(0, |range| range.end)];
        self.una <= self.nxt
            && known.into_iter().all(|number| number <= self.nxt)
            && self.sacked.first().is_none_or(|range| range.start >= self.una)
            && self.repeated <= self.flight()
    }

    /// Records the first transmission of octets up to `end`.
    pub(super) fn sent(&mut self, end: u64) {
        self.nxt = self.nxt.max(end);
        debug_assert!(self.nxt > self.una, "something is outstanding");
        debug_assert!(self.is_ordered());
    }

    /// Records the repetition of octets of a hole, up to `end`.
    pub(super) fn repeat(&mut self, block: Block) {
        self.repeated += self.sacked.missing(Block { start: block.start.max(self.repeated_to), end: block.end });
        self.repeated_to = self.repeated_to.max(block.end);
        debug_assert!(block.end <= self.nxt, "it was sent before");
        debug_assert!(self.is_ordered());
    }

    /// Handles the cumulative acknowledgement of all octets below `ack`.
    pub(super) fn acknowledge(&mut self, ack: u64) {
        debug_assert!(ack >= self.una, "acknowledgements do not go back");
        self.repeated -= self.sacked.missing(Block { start: self.una, end: ack.min(self.repeated_to) });
        self.sacked.remove_below(ack);
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.repeated_to = self.repeated_to.max(ack);
        self.timed_out_to = self.timed_out_to.max(ack);
        debug_assert!(self.is_ordered());
    }

    /// Marks a block of a SACK option (`Update`); true if any of its octets is new. Octets that were never sent, or
    /// that are acknowledged, are ignored.
    pub(super) fn mark(&mut self, block: Block) -> bool {
        if block.end > self.nxt || block.start >= block.end {
            return false;
        }
        let block = Block { start: block.start.max(self.una), end: block.end };
        if self.sacked.missing(block) == 0 {
            return false;
        }
        self.repeated -= self.sacked.missing(Block { start: block.start, end: block.end.min(self.repeated_to) });
        self.sacked.insert(block);
        debug_assert!(!self.nothing_sacked());
        debug_assert!(self.is_ordered());
        true
    }

    /// The new parts of a block of a SACK option, as [`Self::mark`] would take them.
    pub(super) fn news(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let valid = block.end <= self.nxt;
        let block = Block { start: block.start.max(self.una), end: if valid { block.end } else { 0 } };
        self.sacked.gaps(block)
    }

    /// True if no octet beyond the acknowledged octets is known to have arrived.
    pub(super) fn nothing_sacked(&self) -> bool {
        self.sacked.is_empty()
    }

    /// True if the receiver reports the octet for which it waits, and thus has dropped octets that it had reported (RFC
    /// 2018, section 8).
    pub(super) fn is_reneged(&self) -> bool {
        self.sacked.first().is_some_and(|range| range.start == self.una)
    }

    /// True if the first unacknowledged segment is lost: `IsLost(HighACK + 1)`.
    pub(super) fn first_is_lost(&self) -> bool {
        self.loss_edge().number > self.una
    }

    /// Estimate of the octets in the network (`SetPipe`).
    pub(super) fn pipe(&self) -> u64 {
        let edge = self.loss_edge();
        self.nxt - edge.number - edge.sacked_above + self.repeated
    }

    /// The lowest hole that is lost and not retransmitted, rule (1) of `NextSeg`, below `bound`.
    pub(super) fn lost_hole(&self, bound: u64) -> Option<Block> {
        self.hole_below(self.loss_edge().number.min(bound))
    }

    /// The lowest hole that is not retransmitted below the highest SACKed octet, rule (3) of `NextSeg`.
    pub(super) fn doubtful_hole(&self) -> Option<Block> {
        self.hole_below(self.sacked.descending().next()?.end)
    }

    fn hole_below(&self, edge: u64) -> Option<Block> {
        let hole = self.sacked.hole(self.repeated_to);
        (hole.start < edge).then_some(Block { start: hole.start, end: hole.end.min(edge) })
    }

    /// The highest octets that are outstanding and not SACKed, at most a segment, rule (4) of `NextSeg`: once per
    /// recovery, after its first retransmission has arrived.
    pub(super) fn rescue(&mut self) -> Option<Block> {
        if self.una <= self.rescue_above {
            return None;
        }
        self.rescue_above = u64::MAX;
        let highest = self.sacked.descending().next().filter(|range| range.end == self.nxt);
        let end = highest.map_or(self.nxt, |range| range.start);
        let below = self.sacked.descending().find(|range| range.end <= end).map_or(self.una, |range| range.end);
        let start = below.max(end.saturating_sub(self.segment));
        debug_assert!(start >= self.una && end <= self.nxt);
        (start < end).then_some(Block { start, end })
    }

    /// The lowest octets that are neither acknowledged nor SACKed.
    pub(super) fn first_hole(&self) -> Block {
        let hole = self.sacked.hole(self.una);
        Block { start: hole.start, end: hole.end.min(self.nxt) }
    }

    /// Begins a recovery: nothing has been retransmitted yet.
    pub(super) fn begin_recovery(&mut self) {
        self.rescue_above = self.una + self.segment;
        self.repeated_to = self.una;
        self.repeated = 0;
        debug_assert!(self.is_ordered());
    }

    /// Handles a timeout: all outstanding octets count as lost and not retransmitted. SACK marks stay (RFC 6675, 5.1),
    /// unless the receiver has dropped octets that it had reported (RFC 2018, section 8), which the left edge shows.
    pub(super) fn time_out(&mut self) {
        self.begin_recovery();
        self.timed_out_to = self.nxt;
        if self.is_reneged() {
            self.sacked.clear();
        }
        debug_assert!(!self.is_reneged(), "what is missing has not arrived");
        debug_assert!(self.is_ordered());
    }

    /// End of the lost octets: [`DUP_THRESH`] ranges, or more than `DUP_THRESH - 1` segments, are SACKed above them.
    fn loss_edge(&self) -> Edge {
        let floor = self.timed_out_to.max(self.una);
        let (mut ranges, mut octets) = (0, 0);
        for range in self.sacked.descending() {
            if range.start < floor {
                let above = range.end.saturating_sub(floor);
                return Edge { number: floor, sacked_above: octets + above };
            }
            ranges += 1;
            octets += range.len();
            if ranges >= DUP_THRESH || octets > u64::from(DUP_THRESH - 1) * self.segment {
                return Edge { number: range.start, sacked_above: octets };
            }
        }
        Edge { number: floor, sacked_above: octets }
    }
}

/// All octets below `number` that are not SACKed are lost; at or above it `sacked_above` octets are SACKed.
struct Edge {
    number: u64,
    sacked_above: u64,
}

#[cfg(test)]
#[path = "tests/scoreboard.rs"]
mod tests;
