//! Choice of the next segment to send: retransmissions first, then new data, probes, and acknowledgements of their own.

use super::state::{Sender, State};
use crate::transport::tcp::rto::Backoff;
use crate::transport::tcp::{Block, Recovery, Segment};
use queue::Ecn;
use std::mem::take;
use units::Instant;

impl Sender {
    /// The next segment to send; to be called until none is left, after every other call.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Segment> {
        match self.state {
            State::Closed => None,
            State::SynSent => take(&mut self.due.syn).then(|| self.syn(now)),
            State::Established => {
                if take(&mut self.due.tail)
                    && let Some(probe) = self.tail_probe(now)
                {
                    return Some(probe);
                }
                self.next_of_many(now)
            }
        }
    }

    /// The next segment by order of precedence. Each kind is returned separately, because a chain of choices would copy
    /// the long segment from each to the next.
    #[inline]
    fn next_of_many(&mut self, now: Instant) -> Option<Segment> {
        if self.pacer.waits(now) {
            return take(&mut self.due.ack).then(|| self.empty(now));
        }
        if let Some(hole) = self.hole() {
            return Some(self.repeat(now, hole));
        }
        // The scoreboard knows repetitions in order of their octets only.
        if let Some(block) = self.rescue().or_else(|| self.next_of_lowest()) {
            self.counts.retransmits += 1;
            return Some(self.data(now, block));
        }
        if let Some(block) = self.fresh(now) {
            return Some(self.send_new(now, block));
        }
        if let Some(block) = self.probe() {
            return Some(self.data(now, block));
        }
        take(&mut self.due.ack).then(|| self.empty(now))
    }

    fn syn(&mut self, now: Instant) -> Segment {
        let syn = Block { start: 0, end: 1 };
        if self.board.nxt == 0 {
            self.record_sent(now, syn);
        } else if let Some(rack) = &mut self.rack {
            rack.repeat(syn, now);
        }
        if self.counts.timeouts == 0 {
            self.timed = Some((0, now));
        }
        Segment {
            syn: true,
            sack_permitted: self.settings.recovery == Recovery::Sack,
            // ECN is offered by both flags (RFC 3168, 6.1.1).
            ece: self.settings.ecn,
            cwr: self.settings.ecn,
            reports: self.settings.reports().is_some(),
            ack: None,
            start: 0,
            ..self.empty(now)
        }
    }

    /// Repeats the first segment of `hole`.
    pub(super) fn repeat(&mut self, now: Instant, hole: Block) -> Segment {
        let block = self.cut(hole);
        self.record_repeated(now, block);
        self.counts.retransmits += 1;
        // Only the first segment restarts the timer, as in Linux: otherwise no timeout would follow if it is lost
        // again. Without SACK, acknowledgements restart the timer.
        if self.settings.recovery == Recovery::Sack && block.start == self.board.una {
            self.timer = now + self.rto.timeout();
        }
        self.tail.cancel();
        debug_assert!(block.len() > 0 && block.len() <= self.settings.segment.count() + 1);
        self.data(now, block)
    }

    /// The retransmission by rules (1) and (3) of `NextSeg` (RFC 6675, section 4), or in slow start after a timeout.
    fn hole(&mut self) -> Option<Block> {
        if take(&mut self.due.first) {
            return Some(self.first_lost());
        }
        let bound = self.recovery.repeat_below()?;
        if self.room() < self.settings.segment.count() {
            return None;
        }
        let lost = self.lost(bound);
        // Rule (2), new data, comes before the rules without certainty.
        if lost.is_none() && self.is_out_of_data() { self.board.doubtful_hole() } else { lost }
    }

    /// The next packet of priority 0 that is retransmitted without waiting for its turn.
    fn next_of_lowest(&mut self) -> Option<Block> {
        let marks = self.marks.as_ref()?;
        while self.lowest.start < self.lowest.end {
            let block = Block { start: self.lowest.start.max(self.board.una), end: self.lowest.end };
            self.lowest.start = block.start + self.settings.segment.count();
            if block.len() > 0 && marks.base(block.start) == 0 {
                return Some(self.cut(block));
            }
        }
        None
    }

    /// The retransmission by rule (4) of `NextSeg`.
    fn rescue(&mut self) -> Option<Block> {
        let possible = self.is_out_of_data() && self.room() >= self.settings.segment.count();
        if possible { self.board.rescue() } else { None }
    }

    /// True in a recovery with SACK that counts losses, if there is no new data to send. RACK retransmits nothing
    /// without certainty.
    fn is_out_of_data(&self) -> bool {
        let counts = self.settings.recovery == Recovery::Sack && self.rack.is_none();
        self.recovery.is_fast() && counts && self.fresh_block().is_none()
    }

    /// Data sent for the first time.
    fn fresh(&mut self, now: Instant) -> Option<Block> {
        let block = self.fresh_block();
        self.limited = false;
        if self.held >= self.most_held() {
            return None;
        }
        let Some(block) = block else {
            self.watch_closed_window(now);
            return None;
        };
        let idle = self.board.flight() == 0;
        if idle && now.since(self.last_sent) > self.rto.timeout() {
            self.window.restart(now);
        }
        let segment = self.settings.segment.count();
        let needed = if self.recovery.is_open() { block.len().min(segment) } else { segment };
        if self.room() < needed {
            self.limited = true;
            return None;
        }
        Some(block)
    }

    /// Maximum number of octets below TCP, as in Linux (`tcp_small_queue_check`): those of two handovers, each of as
    /// many segments as the pacing rate sends in the time, and at least two (`tcp_tso_autosize`).
    fn most_held(&self) -> u64 {
        let (Some(time), Some(srtt)) = (self.settings.small_queue, self.rto.srtt) else { return u64::MAX };
        let paced = self.window.pace().map_or_else(
            || {
                // Linux paces twice as fast as the window per round trip in slow start, else a fifth faster.
                let fifths = if self.window.cwnd < self.window.ssthresh / 2 { 10 } else { 6 };
                self.window.cwnd.saturating_mul(time.as_nanos()) / srtt.as_nanos().max(1) * fifths / 5
            },
            |pace| pace.within(time),
        );
        let segment = self.settings.segment.count();
        2 * segment * (paced / segment).max(2)
    }

    /// Records that the sender's node is done with octets. Returns true if the sender may have waited for that.
    pub(crate) fn left(&mut self, octets: u32) -> bool {
        let (before, most) = (self.held, self.most_held());
        // A packet may come back on a detour, and leave the node once more.
        self.held = self.held.saturating_sub(u64::from(octets));
        before >= most && self.held < most
    }

    /// Sends `block`, which follows all data sent before.
    pub(super) fn send_new(&mut self, now: Instant, block: Block) -> Segment {
        debug_assert!(block.end <= self.allowed, "within the receiver's window");
        if self.board.flight() == 0 {
            self.probes = Backoff::default();
            self.timer = now + self.rto.timeout();
        }
        self.record_sent(now, block);
        debug_assert!(self.timer != Instant::NEVER && self.board.nxt <= self.last());
        self.watch_tail(now);
        if self.timed.is_none() && self.recovery.is_open() {
            self.timed = Some((block.start, now));
        }
        let mut segment = self.data(now, block);
        segment.cwr = take(&mut self.due.cwr);
        if self.ecn && !self.settings.counts_marks() {
            segment.ecn = Ecn::Ect0;
        }
        segment
    }

    /// The octets that may be sent next by the receiver's window; a part of a segment only if it is at least half of
    /// the largest window ever seen (RFC 9293, 3.8.6.2.1).
    pub(super) fn fresh_block(&self) -> Option<Block> {
        let start = self.board.nxt;
        if start >= self.last() {
            return None;
        }
        let block = self.cut(Block { start, end: self.last() });
        let usable = self.allowed.saturating_sub(start);
        if block.len() <= usable {
            return Some(block);
        }
        (usable > 0 && usable >= self.most_allowed / 2).then_some(Block { start, end: start + usable })
    }

    /// Free octets of the congestion window.
    fn room(&self) -> u64 {
        let sack = self.settings.recovery == Recovery::Sack;
        let limited_transmit = self.settings.limited_transmit;
        let by_pipe = self.recovery.is_timed_out() || sack && (limited_transmit || self.recovery.is_fast());
        let outstanding = if by_pipe { self.pipe() } else { self.board.flight() };
        let beyond = if limited_transmit { self.recovery.limited_transmit() } else { 0 };
        let allowed = self.window.cwnd.saturating_add(beyond * self.settings.segment.count());
        allowed.saturating_sub(outstanding)
    }

    /// True if only probes can show that the window opens: data to send, nothing outstanding and a window too small
    /// (RFC 9293, 3.8.6.1).
    fn watch_closed_window(&mut self, now: Instant) {
        let waiting = self.board.nxt < self.last() && self.board.flight() == 0;
        if waiting && self.timer == Instant::NEVER {
            self.timer = now + self.probes.stretch(self.rto.timeout());
        }
        debug_assert!(!waiting || self.timer != Instant::NEVER, "it does not wait for ever");
    }

    /// A probe of one octet, or of the octets that a small window takes, ignoring the rule against small segments.
    fn probe(&mut self) -> Option<Block> {
        if !take(&mut self.due.probe) || self.board.nxt >= self.last() {
            return None;
        }
        let start = self.board.nxt;
        self.probed = true;
        Some(Block { start, end: start + 1 })
    }

    /// At most a segment from the start of `block`; a FIN that is next is included.
    fn cut(&self, block: Block) -> Block {
        let end = block.end.min(block.start.saturating_add(self.settings.segment.count()));
        let fin = end == self.end && block.end > end;
        Block { start: block.start, end: end + u64::from(fin) }
    }

    fn data(&mut self, now: Instant, block: Block) -> Segment {
        debug_assert!(self.state == State::Established && self.last_sent <= now);
        self.last_sent = now;
        self.due.ack = false;
        let length = block.end.min(self.end).saturating_sub(block.start);
        self.held += length;
        if let Some(delivery) = &mut self.delivery {
            delivery.send(block, now);
        }
        if let Some(pace) = self.window.pace() {
            self.pacer.send(now, block.len(), pace);
        }
        Segment {
            start: block.start,
            length: u32::try_from(length).expect("a segment is shorter than 4 GB"),
            fin: self.closing && block.end > self.end,
            // With L4S also for retransmissions, so that all packets pass the same queue (Linux with RFC 9768).
            ecn: if self.ecn && self.settings.counts_marks() { Ecn::Ect1 } else { Ecn::NotEct },
            discard_priority: self.marks.as_mut().map(|marks| marks.send(block.start)),
            ..self.empty(now)
        }
    }

    fn empty(&self, now: Instant) -> Segment {
        Segment {
            start: self.board.nxt,
            ack: Some(1),
            window: self.settings.advertised_window.count(),
            stamp: self.settings.timestamps.then_some(now),
            echo: self.echo,
            ..Segment::default()
        }
    }
}
