//! RACK: a segment is lost when a segment sent later has arrived and a reordering window has passed since the expected
//! arrival (RFC 8985, section 6). The rule also holds for retransmissions, so that a lost retransmission is detected
//! like any other loss.

use super::{Block, scoreboard::DUP_THRESH};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Recoveries after which a reordering window widened by D-SACK is reset (RFC 8985, 6.2, step 4).
const PERSIST: u32 = 16;
/// The widest reordering window, in quarters of the shortest round-trip time; Linux keeps it in an octet.
const WIDEST: u32 = 255;
/// Number of entries examined before a binary search of the rest: a delayed acknowledgement covers two segments.
const NEAR: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the network, as far as known.
    Flying,
    Lost,
    /// SACKed.
    Arrived,
}

/// Octets that were last sent in one segment.
#[derive(Clone, Copy, Debug)]
struct Sent {
    block: Block,
    at: Instant,
    repeated: bool,
    state: State,
}

/// The most recently sent segment among those that have arrived.
#[derive(Clone, Copy, Debug)]
struct Newest {
    /// `RACK.xmit_ts`.
    at: Instant,
    /// `RACK.end_seq`.
    end: u64,
    /// `RACK.rtt`.
    rtt: Duration,
}

/// Result of loss detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Send time of the latest newly lost retransmission, if any.
    pub(super) repetition: Option<Instant>,
    /// Time of the next loss detection, for segments that may only be late.
    pub(super) again: Option<Instant>,
}

/// Transmission times of outstanding segments, and the losses that follow from them.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// Outstanding segments without gaps, by number.
    sent: VecDeque<Sent>,
    /// Transmissions by time. Obsolete entries are removed only at the front.
    order: VecDeque<(Instant, Block)>,
    /// Octets in the network.
    flying: u64,
    /// SACKed segments (`RACK.segs_sacked`).
    arrived: u32,
    /// Below this number no lost octet waits for its retransmission.
    lost_from: u64,
    newest: Option<Newest>,
    min_rtt: Option<Duration>,
    /// The highest octet that has arrived (`RACK.fack`), and its value before this acknowledgement.
    highest: u64,
    highest_before: u64,
    /// `RACK.reordering_seen`.
    reordering: bool,
    /// `RACK.reo_wnd_mult` less one.
    wider: u32,
    /// `RACK.reo_wnd_persist`.
    persist: u32,
    /// D-SACK does not widen the window again until this is acknowledged (`RACK.dsack_round`).
    round: Option<u64>,
}

impl Rack {
    /// Records the first transmission of `block`, which follows all data sent before.
    pub(super) fn send(&mut self, block: Block, now: Instant) {
        self.sent.push_back(Sent { block, at: now, repeated: false, state: State::Flying });
        self.order.push_back((now, block));
        self.flying += block.len();
        debug_assert!(block.len() > 0 && self.order.iter().rev().nth(1).is_none_or(|&(at, _)| at <= now), "in time");
        debug_assert!(self.sent.iter().rev().nth(1).is_none_or(|before| before.block.end == block.start), "no gaps");
    }

    /// Records the repetition of `block`.
    pub(super) fn repeat(&mut self, block: Block, now: Instant) {
        self.cut(block.start);
        self.cut(block.end);
        for index in self.within(block) {
            let sent = &mut self.sent[index];
            if sent.state == State::Arrived {
                continue;
            }
            if sent.state == State::Lost {
                self.flying += sent.block.len();
            }
            *sent = Sent { at: now, repeated: true, state: State::Flying, ..*sent };
        }
        debug_assert!(self.order.back().is_none_or(|&(at, _)| at <= now), "in order of time");
        debug_assert!(!self.within(block).is_empty(), "it was sent before");
        self.order.push_back((now, block));
    }

    /// Begins an acknowledgement, whose content follows. `duplicate`: the acknowledgement reports octets that arrived
    /// twice (RFC 2883), of which `una` are acknowledged and `nxt` are sent.
    pub(super) fn hear(&mut self, una: u64, nxt: u64, duplicate: bool) {
        debug_assert!(una <= nxt);
        self.highest_before = self.highest;
        self.round = self.round.filter(|&end| una < end);
        // As in Linux, duplicates say nothing about reordering if none was ever seen.
        if duplicate && self.reordering && self.round.is_none() {
            self.round = Some(nxt);
            self.wider = (self.wider + 1).min(WIDEST);
            self.persist = PERSIST;
        }
        debug_assert!(self.round.is_none_or(|end| end <= nxt));
    }

    /// Records that `block` is SACKed; no part of it was already SACKed.
    pub(super) fn arrive(&mut self, block: Block, now: Instant) {
        self.cut(block.start);
        self.cut(block.end);
        for index in self.within(block) {
            let sent = self.sent[index];
            if sent.state != State::Arrived {
                self.take(&sent, now);
                self.sent[index].state = State::Arrived;
                self.arrived += 1;
            }
        }
        debug_assert!(self.arrived as usize <= self.sent.len());
        debug_assert!(self.highest >= self.highest_before);
    }

    /// Records that all octets below `una` are acknowledged.
    pub(super) fn acknowledge(&mut self, una: u64, now: Instant) {
        while let Some(&sent) = self.sent.front().filter(|sent| sent.block.start < una) {
            if sent.block.end > una {
                self.cut(una);
                continue;
            }
            self.sent.pop_front();
            // Without losses, transmissions are acknowledged in their order: loss detection does not meet them.
            if self.order.front() == Some(&(sent.at, sent.block)) {
                self.order.pop_front();
            }
            if sent.state == State::Arrived {
                self.arrived -= 1;
            } else {
                self.take(&sent, now);
            }
        }
        debug_assert!(self.sent.front().is_none_or(|sent| sent.block.start >= una));
        debug_assert!(!self.sent.is_empty() || (self.flying, self.arrived) == (0, 0));
    }

    /// Handles an arrived segment: steps 1 to 3 of RFC 8985, 6.2.
    fn take(&mut self, sent: &Sent, now: Instant) {
        debug_assert!(sent.at <= now && sent.state != State::Arrived);
        if sent.state == State::Flying {
            self.flying -= sent.block.len();
        }
        let end = sent.block.end;
        if !sent.repeated && end < self.highest_before {
            self.reordering = true;
        }
        self.highest = self.highest.max(end);
        let rtt = now.since(sent.at);
        if !sent.repeated {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        } else if self.min_rtt.is_none_or(|least| rtt < least) {
            // The segment that arrived was sent before the repetition.
            return;
        }
        if self.newest.is_none_or(|newest| (sent.at, end) > (newest.at, newest.end)) {
            self.newest = Some(Newest { at: sent.at, end, rtt });
        }
    }

    /// The reordering window (step 4 of RFC 8985, 6.2); `recovering`: in fast recovery or after a timeout.
    fn window(&self, recovering: bool, srtt: Option<Duration>) -> Duration {
        if !self.reordering && (recovering || self.arrived >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let least = self.min_rtt.unwrap_or(Duration::ZERO);
        (least / 4 * u64::from(self.wider + 1)).min(srtt.unwrap_or(Duration::ZERO))
    }

    /// Marks lost segments (step 5 of RFC 8985, 6.2).
    pub(super) fn detect(&mut self, now: Instant, recovering: bool, srtt: Option<Duration>) -> Found {
        let mut found = Found::default();
        let Some(newest) = self.newest else { return found };
        // Usually everything sent until then has arrived.
        if self.order.front().is_none_or(|&(at, _)| at > newest.at) {
            return found;
        }
        let patience = newest.rtt + self.window(recovering, srtt);
        let mut index = 0;
        while let Some(&(at, block)) = self.order.get(index) {
            if at > newest.at {
                break;
            }
            let flying = self.within(block).any(|index| self.sent[index].at == at && self.is_flying(index));
            let earlier = (at, block.end) < (newest.at, newest.end);
            let overdue = flying && earlier && at + patience <= now;
            if overdue {
                self.lose(block, at, &mut found);
            } else if flying && earlier {
                found.again = Some(at + patience);
            }
            if index == 0 && (overdue || !flying) {
                self.order.pop_front();
            } else {
                index += 1;
            }
        }
        debug_assert!(found.again.is_none_or(|again| again > now), "what is overdue is lost");
        debug_assert!(found.repetition.is_none_or(|sent| sent <= now));
        found
    }

    /// Marks the transmission of `block` at `at` as lost, if it is the last of these octets and they have not arrived.
    fn lose(&mut self, block: Block, at: Instant, found: &mut Found) {
        for index in self.within(block) {
            if self.sent[index].at == at && self.is_flying(index) {
                if self.sent[index].repeated {
                    found.repetition = found.repetition.max(Some(at));
                }
                self.mark_lost(index);
            }
        }
    }

    /// Handles a timeout: the first segment and overdue ones are lost (RFC 8985, 6.3); if `reneged`, all are, as the
    /// receiver dropped octets that it had reported.
    pub(super) fn time_out(&mut self, now: Instant, srtt: Option<Duration>, reneged: bool) {
        let rtt = self.newest.map_or(Duration::ZERO, |newest| newest.rtt);
        let patience = rtt + self.window(true, srtt);
        for index in 0..self.sent.len() {
            if reneged && self.sent[index].state == State::Arrived {
                self.arrived -= 1;
                self.flying += self.sent[index].block.len();
                self.sent[index].state = State::Flying;
            }
            if self.is_flying(index) && (index == 0 || reneged || self.sent[index].at + patience <= now) {
                self.mark_lost(index);
            }
        }
        debug_assert!(!reneged || (self.flying, self.arrived) == (0, 0), "all is lost");
        debug_assert!(self.sent.front().is_none_or(|first| first.state != State::Flying), "the first is lost");
    }

    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.wider = 0;
        }
    }

    /// Octets in the network: outstanding, neither arrived nor lost.
    pub(super) fn pipe(&self) -> u64 {
        self.flying
    }

    /// The lowest segment that is lost and not retransmitted.
    pub(super) fn lost(&mut self) -> Option<Block> {
        if self.lost_from == u64::MAX {
            return None;
        }
        let from = self.place(self.lost_from);
        let lost = self.sent.range(from..).find(|sent| sent.state == State::Lost).map(|sent| sent.block);
        self.lost_from = lost.map_or(u64::MAX, |block| block.start);
        lost
    }

    /// The highest segment sent, if it has not arrived.
    pub(super) fn last(&self) -> Option<Block> {
        self.sent.back().filter(|sent| sent.state != State::Arrived).map(|sent| sent.block)
    }

    fn is_flying(&self, index: usize) -> bool {
        self.sent[index].state == State::Flying
    }

    fn mark_lost(&mut self, index: usize) {
        let sent = &mut self.sent[index];
        debug_assert!(sent.state == State::Flying && self.flying >= sent.block.len());
        sent.state = State::Lost;
        self.flying -= sent.block.len();
        self.lost_from = self.lost_from.min(sent.block.start);
    }

    /// Index of the first entry in [`Self::sent`] that does not end by `number`. Most acknowledgements concern the
    /// first entries, which are examined before a binary search.
    fn place(&self, number: u64) -> usize {
        let search = || self.sent.partition_point(|sent| sent.block.end <= number);
        let near = self.sent.iter().take(NEAR).position(|sent| sent.block.end > number);
        debug_assert!(near.is_none_or(|near| near == search()), "entries are in order of their ends");
        near.unwrap_or_else(search)
    }

    /// Range of indices of the octets of `block` in [`Self::sent`].
    fn within(&self, block: Block) -> std::ops::Range<usize> {
        if self.sent.front().is_none_or(|first| block.end <= first.block.start) {
            return 0..0;
        }
        let first = self.place(block.start);
        first..first + self.sent.range(first..).take_while(|sent| sent.block.start < block.end).count()
    }

    /// Splits the entry across `number`, because acknowledgements need not keep to the bounds of segments.
    fn cut(&mut self, number: u64) {
        let index = self.place(number);
        if let Some(sent) = self.sent.get_mut(index).filter(|sent| sent.block.start < number) {
            debug_assert!(number < sent.block.end);
            let upper = Sent { block: Block { start: number, end: sent.block.end }, ..*sent };
            sent.block.end = number;
            self.arrived += u32::from(upper.state == State::Arrived);
            self.sent.insert(index + 1, upper);
        }
    }
}

#[cfg(test)]
#[path = "tests/rack.rs"]
mod tests;
