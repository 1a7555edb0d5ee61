//! The receiving end: reassembly and acknowledgements.

use super::ranges::Ranges;
use super::rto::{self, Backoff};
use super::{Block, Recovery, Report, Sacks, Segment, Settings};
use std::mem::take;
use units::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Listen,
    SynReceived,
    Established,
}

/// The receiving end of a connection. The application takes octets as they come in order, so that the whole buffer is
/// always offered from the next octet on.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    settings: Settings,
    state: State,
    /// The next octet in order (RCV.NXT).
    nxt: u64,
    /// Octets received out of order.
    held: Ranges,
    /// An octet of each of the last changed ranges, latest first, for the blocks of a SACK option.
    recent: [Option<u64>; Sacks::MOST],
    /// Octets of data that have arrived, in order or not, each counted once.
    pub(crate) arrived: u64,
    /// Octets that arrived twice since the last acknowledgement, for its first block (D-SACK: RFC 2883, section 4).
    twice: Option<Block>,
    /// Number of the FIN, once it has arrived.
    fin: Option<u64>,
    /// True if an acknowledgement is due now.
    due: bool,
    /// Octets in order since the last acknowledgement.
    unacknowledged: u64,
    /// The acknowledgement number last sent (`Last.ACK.sent` of RFC 7323).
    acknowledged: u64,
    /// Time at which the delayed acknowledgement, or the repeated SYN, is due.
    timer: Instant,
    backoff: Backoff,
    /// The time stamp to echo (`TS.Recent` of RFC 7323, 4.3).
    echo: Option<Instant>,
    ecn: bool,
    /// True after a mark until the sender confirms it (RFC 3168, 6.1.3).
    echoes: bool,
    /// Octets of payload that arrived with a mark, if they are counted.
    marked: u64,
    /// Verdict on the missing packets, for the acknowledgement that is due.
    report: Option<Report>,
}

impl Receiver {
    /// A receiver that waits for a connection.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { settings: *settings, timer: Instant::NEVER, ..Self::default() }
    }

    /// Takes a segment from the sender, and whether the network marked it (CE). Returns the number of octets newly in
    /// order, for the application.
    pub(crate) fn receive(&mut self, now: Instant, segment: &Segment, congestion_experienced: bool) -> u64 {
        if segment.syn {
            self.listen(now, segment);
            return 0;
        }
        if self.state == State::Listen || segment.ack.is_none() {
            return 0;
        }
        if self.state == State::SynReceived {
            self.state = State::Established;
            self.timer = Instant::NEVER;
        }
        self.notice(segment, congestion_experienced);
        if segment.end() == segment.start { 0 } else { self.accept(now, segment) }
    }

    /// Handles a SYN: the first opens the connection, and each is answered.
    fn listen(&mut self, now: Instant, segment: &Segment) {
        if self.state == State::Listen {
            self.state = State::SynReceived;
            self.nxt = 1;
            self.ecn = self.settings.ecn && segment.ece && segment.cwr;
            self.timer = now + rto::INITIAL;
        }
        debug_assert!(self.state != State::Listen && self.nxt > 0);
        self.echo = segment.stamp;
        self.due = true;
    }

    /// Handles timestamps and congestion marks.
    fn notice(&mut self, segment: &Segment, congestion_experienced: bool) {
        if segment.start <= self.acknowledged && segment.stamp > self.echo {
            self.echo = segment.stamp;
        }
        if self.ecn && segment.cwr {
            self.echoes = false;
        }
        if self.ecn && congestion_experienced {
            if self.settings.counts_marks() {
                self.marked += u64::from(segment.length);
            } else {
                self.echoes = true;
            }
        }
    }

    /// Handles octets: orders them, and acknowledges at once unless a second segment may follow (RFC 5681, 4.2).
    fn accept(&mut self, now: Instant, segment: &Segment) -> u64 {
        let edge = self.nxt.saturating_add(self.settings.advertised_window.count());
        let block = Block { start: segment.start.max(self.nxt), end: segment.end().min(edge) };
        let known = block.start >= block.end;
        if known {
            if segment.end() <= self.nxt {
                self.twice = Some(Block { start: segment.start, end: segment.end() });
            }
            self.due = true;
            return 0;
        }
        let missing = self.held.missing(block);
        if missing == 0 {
            self.twice = Some(block);
        }
        self.arrived += missing;
        if segment.fin && block.end == segment.end() {
            self.arrived -= u64::from(self.fin.is_none());
            self.fin = Some(segment.end() - 1);
        }
        if block.start > self.nxt {
            let range = self.held.insert(block);
            debug_assert!(range.start > self.nxt && range.end <= edge, "within the window, and not next");
            self.remember(range);
            self.judge();
            self.due = true;
            return 0;
        }
        let hole = !self.held.is_empty();
        let before = self.nxt;
        self.nxt = if hole { self.held.insert(block).end } else { block.end };
        self.held.remove_below(self.nxt);
        debug_assert!(self.nxt > before && self.nxt <= edge);
        debug_assert!(self.held.first().is_none_or(|range| range.start > self.nxt), "what is next is not held");
        let finished = self.fin.is_some_and(|fin| fin < self.nxt);
        let fresh = self.nxt - before - u64::from(finished && self.fin >= Some(before));
        self.unacknowledged += fresh;
        self.delay(now, hole || finished);
        fresh
    }

    /// Judges whether the packets missing below the highest received octet were lost by congestion.
    fn judge(&mut self) {
        let Some(bqm) = self.settings.reports() else { return };
        let highest = self.held.descending().next().map_or(self.nxt, |range| range.end);
        let gaps = self.held.gaps(Block { start: self.nxt, end: highest });
        self.report = bqm.judge(&bqm.missing(gaps, self.settings.segment.count()));
    }

    /// Delays an acknowledgement: at least every second full segment is acknowledged, and no segment later than the
    /// setting allows (RFC 9293, 3.8.6.3).
    fn delay(&mut self, now: Instant, at_once: bool) {
        let Settings { segment, delayed_ack, ack_burst, .. } = self.settings;
        let second = self.unacknowledged >= 2 * segment.count();
        let wait = if second { ack_burst.unwrap_or(Duration::ZERO) } else { delayed_ack };
        if at_once || wait.is_zero() {
            self.due = true;
        } else {
            self.timer = self.timer.min(now + wait);
        }
        debug_assert!(self.due || self.timer != Instant::NEVER, "it is acknowledged in time");
    }

    /// Moves a range to the front of the ranges to report (RFC 2018, section 4).
    fn remember(&mut self, range: Block) {
        let others = self.recent.into_iter().flatten().filter(|octet| !(range.start..range.end).contains(octet));
        let mut recent = [None; Sacks::MOST];
        recent[0] = Some(range.start);
        recent[1..].iter_mut().zip(others).for_each(|(place, octet)| *place = Some(octet));
        self.recent = recent;
        debug_assert!(self.recent[0].is_some_and(|octet| self.held.containing(octet).is_some()));
    }

    /// Returns the time at which [`Self::expire`] is to be called.
    pub(crate) fn deadline(&self) -> Instant {
        self.timer
    }

    /// Handles the deadline; does nothing before it.
    pub(crate) fn expire(&mut self, now: Instant) {
        if now < self.timer {
            return;
        }
        self.due = true;
        self.timer = Instant::NEVER;
        if self.state == State::SynReceived {
            self.backoff.increase();
            self.timer = now + self.backoff.stretch(rto::INITIAL);
        }
        debug_assert!(self.timer > now, "the deadline is in the future");
    }

    /// Returns the next segment to send. To be called after every other call until it returns `None`.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Segment> {
        if !take(&mut self.due) {
            return None;
        }
        let syn = self.state == State::SynReceived;
        if !syn {
            self.timer = Instant::NEVER;
        }
        debug_assert!(self.acknowledged <= self.nxt, "acknowledgements do not go back");
        self.unacknowledged = 0;
        self.acknowledged = self.nxt;
        let report = take(&mut self.report);
        Some(Segment {
            start: u64::from(!syn),
            ack: Some(self.nxt),
            window: self.settings.advertised_window.count(),
            sacks: self.sacks(report.is_some()),
            sack_permitted: syn && self.settings.recovery == Recovery::Sack,
            stamp: self.settings.timestamps.then_some(now),
            echo: self.echo,
            syn,
            ece: if syn { self.ecn } else { self.echoes },
            marked: self.marked,
            reports: syn && self.settings.reports().is_some(),
            report,
            ..Segment::default()
        })
    }

    /// The last changed ranges, as many as fit next to the report, if there is one.
    fn sacks(&mut self, report: bool) -> Sacks {
        let mut sacks = Sacks::default();
        let twice = take(&mut self.twice).filter(|_| self.settings.has_rack());
        let something = twice.is_some() || !self.held.is_empty();
        if something && self.settings.recovery == Recovery::Sack {
            let room = Sacks::MOST - usize::from(self.settings.timestamps) - usize::from(report);
            let ranges = self.recent.iter().flatten().filter_map(|&octet| self.held.containing(octet));
            twice.into_iter().chain(ranges).take(room).for_each(|block| sacks.push(block));
        }
        sacks
    }
}
