//! The ends of a connection under biased queue management (BQM thesis, chapter 3). Section numbers are the thesis'.
//!
//! The sender assigns each packet a discard priority ([`Marks`], section 3.1), and a queue in the network drops packets
//! of priority 0 first (the discipline `biased`). From the missing packets the receiver therefore sees whether a queue
//! dropped them and how full it was ([`Settings::judge`], sections 3.2 to 3.4 and 3.6). The receiver reports this
//! verdict to the sender, whose window reacts (`congestion/bqm.rs`, section 3.5).
//!
//! The thesis shows positions in a pattern of priorities only in figures; these are derived.

use crate::config;
use crate::config::bqm::{DiscardPattern as Pattern, Discriminator, Growth, Measure, Threshold, WirelessLoss};
use crate::transport::tcp::segment::{Block, Report};
use std::collections::BTreeMap;

/// The settings of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) pattern: Pattern,
    /// True if each retransmission raises a packet's priority by one, so that the packet is not dropped for ever.
    pub(crate) raise: bool,
    /// Way in which a receiver distinguishes losses, if at all: by equation (3.2) and the rule on bursts.
    pub(crate) discriminator: Discriminator,
    /// `K`: one packet in this number has priority 0, for the receiver. `None`: no packet has priority 0.
    pub(crate) every: Option<u32>,
    /// A receiver's estimate of a path's overload. Modified BQM (section 3.6) has an estimate without a gap.
    pub(crate) measure: Measure,
    /// Sender's reaction to a loss without congestion: a reduction by one packet in section 3.5, none in section 6.1.
    pub(crate) wireless_loss: WirelessLoss,
    /// Time for which the window grows at the reduced speed after a reaction.
    pub(crate) growth: Growth,
    /// Slow start threshold after a reaction; the value `half` follows equation 4 of RFC 5681.
    pub(crate) threshold: Threshold,
    /// True if one duplicate acknowledgement shows the loss of a packet of priority 0 (section 3.5).
    pub(crate) single_duplicate: bool,
    /// True if all packets of priority 0 of a window are repeated once it is known to have lost several (section 3.5).
    pub(crate) lowest_at_once: bool,
}

impl From<&config::Bqm> for Settings {
    fn from(described: &config::Bqm) -> Self {
        let pattern = described.pattern.unwrap_or_default();
        Self {
            pattern,
            raise: described.raise.unwrap_or(true),
            discriminator: described.discriminator.unwrap_or_default(),
            every: described.every.or(pattern.every()),
            measure: described.measure.unwrap_or_default(),
            wireless_loss: described.wireless_loss.unwrap_or_default(),
            growth: described.growth.unwrap_or_default(),
            threshold: described.threshold.unwrap_or_default(),
            single_duplicate: described.single_duplicate.unwrap_or(false),
            lowest_at_once: described.lowest_at_once.unwrap_or(false),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::from(&config::Bqm::default())
    }
}

/// Number of discard priorities, `k`.
pub(crate) const PRIORITIES: u8 = 4;

// A batch of packets with their priorities, repeated over the packets of a connection, of which the first has number 1.
impl Pattern {
    /// Priorities of the packets 0, 1, 2, ... of a batch.
    fn batch(self) -> &'static [u8] {
        match self {
            // No two neighbours are alike, and the packets below each priority are spaced evenly; no other arrangement is so.
            Self::Eight => &[2, 3, 0, 3, 2, 3, 1, 3],
            // With two packets of priority 0 five apart, as the example of section 3.4 has them.
            Self::Sixteen => &[3, 3, 0, 3, 2, 3, 2, 0, 3, 2, 3, 1, 3, 2, 3, 1],
            Self::SixteenSparse => &[3, 3, 0, 3, 3, 3, 2, 3, 3, 3, 1, 3, 3, 3, 2, 3],
            Self::Highest => &[PRIORITIES - 1],
        }
    }

    /// Discard priority of a packet by its number, from 1.
    pub(crate) fn priority(self, packet: u64) -> u8 {
        let batch = self.batch();
        #[expect(clippy::cast_possible_truncation, reason = "a remainder of a batch's length")]
        let place = (packet % batch.len() as u64) as usize;
        batch[place]
    }

    /// Counts the packets from `first` to `last` of each priority.
    fn count(self, first: u64, last: u64) -> [u64; PRIORITIES as usize] {
        let batch = self.batch();
        let packets = (last + 1).saturating_sub(first);
        let (whole, rest) = (packets / batch.len() as u64, packets % batch.len() as u64);
        let mut counts = [0; PRIORITIES as usize];
        for &priority in batch {
            counts[usize::from(priority)] += whole;
        }
        for packet in first..first + rest {
            counts[usize::from(self.priority(packet))] += 1;
        }
        counts
    }

    /// Period of priority 0, in packets; none if no packet has it.
    pub(crate) fn every(self) -> Option<u32> {
        let (zeros, batch) = (self.up_to(0), self.batch().len());
        u32::try_from(batch).ok()?.checked_div(zeros)
    }

    /// Share of packets with at most this priority, in sixteenths: the overload of the path if no higher priority is
    /// lost (Table 3.1).
    pub(crate) fn overload(self, priority: u8) -> u64 {
        u64::from(self.up_to(priority)) * 16 / self.batch().len() as u64
    }

    /// Returns the number of packets of a batch with this priority or a lower one.
    fn up_to(self, priority: u8) -> u32 {
        self.batch().iter().map(|&of| u32::from(of <= priority)).sum()
    }
}

/// Discard priorities of a sender's packets.
#[derive(Debug)]
pub(super) struct Marks {
    settings: Settings,
    segment: u64,
    /// End of the octets that were sent.
    sent_to: u64,
    /// Number of retransmissions of each unacknowledged packet, by the number of its first octet.
    repeated: BTreeMap<u64, u8>,
}

impl Marks {
    pub(super) fn new(settings: Settings, segment: u64) -> Self {
        Self { settings, segment, sent_to: 0, repeated: BTreeMap::new() }
    }

    /// Priority without the increase for retransmissions.
    pub(super) fn base(&self, start: u64) -> u8 {
        self.settings.pattern.priority(number(start, self.segment))
    }

    /// Priority of the segment that begins with octet `start`, which is sent now. A retransmission has a higher
    /// priority; otherwise it would be dropped again and again where priority 0 never gets through.
    pub(super) fn send(&mut self, start: u64) -> u8 {
        let mut raised = 0;
        if start >= self.sent_to {
            self.sent_to = start + 1;
        } else if self.settings.raise {
            let times = self.repeated.entry(start).or_default();
            *times = times.saturating_add(1);
            raised = *times;
        }
        self.base(start).saturating_add(raised).min(PRIORITIES - 1)
    }

    /// Forgets acknowledged octets, which lie below `una`.
    pub(super) fn acknowledge(&mut self, una: u64) {
        while self.repeated.first_key_value().is_some_and(|(&start, _)| start < una) {
            self.repeated.pop_first();
        }
    }
}

/// Number of the packet with an octet, both from 1.
fn number(octet: u64, segment: u64) -> u64 {
    octet.saturating_sub(1) / segment + 1
}

/// Number of consecutive losses that always count as congestion, whatever equation (3.2) says (section 3.2).
const BURST: u64 = 3;

/// Missing packets between the next packet in order and the highest received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// Number of missing packets by discard priority. Number of all missing packets: `r`; with priority 0: `x`.
    counts: [u64; PRIORITIES as usize],
    /// True if at least [`BURST`] consecutive packets are among the missing.
    burst: bool,
}

impl Settings {
    /// The packets with missing octets, for segments of `segment` octets.
    pub(super) fn missing(&self, gaps: impl Iterator<Item = Block>, segment: u64) -> Missing {
        gaps.fold(Missing::default(), |all, gap| {
            let (first, last) = (number(gap.start, segment), number(gap.end - 1, segment));
            let counts = self.pattern.count(first, last);
            let sums = std::array::from_fn(|priority| all.counts[priority] + counts[priority]);
            Missing { counts: sums, burst: all.burst || last - first + 1 >= BURST }
        })
    }

    /// Verdict: wireless loss, or congestion with the path's overload. `None` if no packet is missing.
    pub(super) fn judge(&self, missing: &Missing) -> Option<Report> {
        let Missing { counts, burst } = *missing;
        let lost: u64 = counts.iter().sum();
        // F = 1 - floor(K x / r) is below zero (3.2).
        let biased = self.every.is_some_and(|every| u64::from(every) * counts[0] >= 2 * lost);
        let congestion = self.discriminator == Discriminator::None || burst || biased;
        (lost > 0)
            .then(|| if congestion { Report::Congestion { reached: self.reached(counts) } } else { Report::Wireless })
    }

    /// The continuous congestion measure.
    fn reached(&self, counts: [u64; PRIORITIES as usize]) -> u8 {
        let lost = |priority: &u8| counts[usize::from(*priority)] > 0;
        let lowest = (0..PRIORITIES).find(lost).unwrap_or_default();
        match self.measure {
            Measure::Highest => (lowest..PRIORITIES).rev().find(lost),
            Measure::WithoutGap => (lowest..PRIORITIES).take_while(lost).last(),
        }
        .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::bqm::DiscardPattern as Pattern;
    use core::num::NonZeroU32;

    #[test]
    fn shares_are_those_of_table_3_1() {
        let overloads = |pattern: Pattern| [0, 1, 2, 3].map(|priority| pattern.overload(priority));
        assert_eq!(overloads(Pattern::Eight), [2, 4, 8, 16]);
        assert_eq!(overloads(Pattern::Sixteen), [2, 4, 8, 16]);
        assert_eq!(overloads(Pattern::SixteenSparse), [1, 2, 4, 16]);
        assert_eq!(overloads(Pattern::Highest), [0, 0, 0, 16]);
        let every = [Pattern::Eight, Pattern::Sixteen, Pattern::SixteenSparse, Pattern::Highest].map(Pattern::every);
        assert_eq!(every, [Some(8), Some(8), Some(16), None]);
    }

    /// Successive packets do not get close priorities (section 3.1): of those that go first, any two are three apart.
    #[test]
    fn low_priorities_are_apart() {
        for pattern in [Pattern::Eight, Pattern::Sixteen, Pattern::SixteenSparse] {
            let low: Vec<u64> = (1..=64).filter(|&packet| pattern.priority(packet) <= 1).collect();
            assert!(low.windows(2).all(|pair| pair[1] - pair[0] >= 3), "{pattern:?}: {low:?}");
        }
    }

    /// Section 3.4 has priority 0 at packets 2 and 7 of 1 to 9 (E8).
    #[test]
    fn priority_0_is_where_the_example_has_it() {
        let zeros =
            |pattern: Pattern| (1..=18).filter(move |&packet| pattern.priority(packet) == 0).collect::<Vec<_>>();
        assert_eq!(zeros(Pattern::Sixteen), [2, 7, 18]);
        assert_eq!(zeros(Pattern::Eight), [2, 10, 18]);
    }

    #[test]
    fn counts_are_those_of_the_packets_one_by_one() {
        for pattern in [Pattern::Eight, Pattern::Sixteen, Pattern::SixteenSparse, Pattern::Highest] {
            for (first, last) in (1..40).flat_map(|first| (first - 1..60).map(move |last| (first, last))) {
                let mut counts = [0; 4];
                for packet in first..=last {
                    counts[usize::from(pattern.priority(packet))] += 1;
                }
                assert_eq!(pattern.count(first, last), counts, "{pattern:?} from {first} to {last}");
            }
        }
    }

    /// Packet 2 has priority 0, packet 1 has 3.
    #[test]
    fn a_packet_that_is_sent_again_rises_by_one_each_time() {
        let mut marks = Marks::new(Settings::default(), 1000);
        assert_eq!([1, 1001, 2001].map(|start| marks.send(start)), [3, 0, 3]);
        assert_eq!([1001, 1001, 1, 1001, 1001].map(|start| marks.send(start)), [1, 2, 3, 3, 3]);
        marks.acknowledge(2001);
        assert!(marks.repeated.is_empty());
        let mut marks = Marks::new(Settings { raise: false, ..Settings::default() }, 1000);
        assert_eq!([1001, 1001, 1001].map(|start| marks.send(start)), [0, 0, 0]);
    }

    /// Verdict on these missing packets of one octet each, by number.
    fn said(settings: &Settings, packets: &[u64]) -> Option<Report> {
        let gaps = packets.chunk_by(|packet, next| packet + 1 == *next);
        let gaps = gaps.map(|gap| Block { start: gap[0], end: gap[gap.len() - 1] + 1 });
        settings.judge(&settings.missing(gaps, 1))
    }

    const fn of(counts: [u64; 4]) -> Missing {
        Missing { counts, burst: false }
    }

    /// Of packets 1 to 9, of which 2 and 7 have priority 0: both lost, or two others.
    #[test]
    fn the_example_of_section_3_4() {
        let settings = Settings { pattern: Pattern::Sixteen, ..Settings::default() };
        assert_eq!(said(&settings, &[2, 7]), Some(Report::Congestion { reached: 0 }));
        for (first, second) in (1..=9).flat_map(|first| (first + 1..=9).map(move |second| (first, second))) {
            if ![first, second].iter().any(|packet| [2, 7].contains(packet)) {
                assert_eq!(said(&settings, &[first, second]), Some(Report::Wireless), "{first} and {second}");
            }
        }
    }

    #[test]
    fn three_in_a_row_are_lost_by_congestion() {
        let settings = Settings::default();
        // 3, 4 and 5 have the priorities 3, 2 and 3.
        assert_eq!(said(&settings, &[3, 4]), Some(Report::Wireless));
        assert_eq!(said(&settings, &[3, 4, 5]), Some(Report::Congestion { reached: 3 }));
        assert_eq!(said(&settings, &[3, 4, 7]), Some(Report::Wireless));
        // A whole batch has F = 0: only this rule sees it.
        assert_eq!(said(&settings, &[1, 2, 3, 4, 5, 6, 7, 8]), Some(Report::Congestion { reached: 3 }));
        assert_eq!(said(&settings, &[]), None);
    }

    /// Section 3.6: lost {0, 0, 0, 3} and {0, 1, 3}.
    #[test]
    fn modified_bqm_stops_at_the_first_gap() {
        let (bqm, modified) = (Settings::default(), Settings { measure: Measure::WithoutGap, ..Settings::default() });
        let reached = |settings: &Settings, counts| settings.judge(&of(counts));
        for (counts, highest, without_gap) in [([3, 0, 0, 1], 3, 0), ([1, 1, 0, 1], 3, 1), ([3, 1, 3, 4], 3, 3)] {
            assert_eq!(reached(&bqm, counts), Some(Report::Congestion { reached: highest }));
            assert_eq!(reached(&modified, counts), Some(Report::Congestion { reached: without_gap }));
        }
        // A burst without priority 0: from the lowest that is missing.
        let burst = Missing { counts: [0, 1, 1, 0], burst: true };
        assert_eq!(modified.judge(&burst), Some(Report::Congestion { reached: 2 }));
        let burst = Missing { counts: [0, 1, 0, 2], burst: true };
        assert_eq!(modified.judge(&burst), Some(Report::Congestion { reached: 1 }));
    }

    #[test]
    fn the_rule_is_that_of_the_model() {
        for every in [4, 8, 16] {
            let settings = Settings { every: Some(every), ..Settings::default() };
            for (lost, zeros) in (1..=64).flat_map(|lost| (0..=lost).map(move |zeros| (lost, zeros))) {
                let model = theory::bqm::discriminator(NonZeroU32::new(every).expect("above zero"), lost, zeros);
                let judged = settings.judge(&of([zeros.into(), (lost - zeros).into(), 0, 0])).expect("some are lost");
                assert_eq!(judged == Report::Wireless, model.is_some_and(|f| f >= 0), "{zeros} of {lost}, K = {every}");
            }
        }
    }

    /// Of all ways to lose `lost` packets of a window of 24, which has three of priority 0: the number that equation
    /// (3.2) takes for congestion.
    fn misjudged(lost: u32) -> (u32, u32) {
        let settings = Settings::default();
        let (mut all, mut wrong) = (0, 0);
        for set in (0_u32..1 << 24).filter(|set| set.count_ones() == lost) {
            let packets = (1..=24).filter(|packet| set >> (packet - 1) & 1 == 1);
            let gaps = packets.map(|packet: u64| Block { start: packet, end: packet + 1 });
            let missing = Missing { burst: false, ..settings.missing(gaps, 1) };
            all += 1;
            wrong += u32::from(settings.judge(&missing) != Some(Report::Wireless));
        }
        (all, wrong)
    }

    #[test]
    fn chance_is_misjudged_as_often_as_the_model_says() {
        let every = NonZeroU32::new(8).expect("above zero");
        for (lost, [all, wrong]) in (1..).zip([[24, 3], [276, 66], [2024, 694]]) {
            assert_eq!(misjudged(lost), (all, wrong));
            let model = theory::bqm::Losses { window: 24, every, lost }.misjudged();
            assert!((model - f64::from(wrong) / f64::from(all)).abs() < 1e-9, "{model} for {lost} lost");
        }
    }

    #[test]
    fn without_a_discriminator_or_without_priority_0() {
        let all = Settings { discriminator: Discriminator::None, ..Settings::default() };
        assert_eq!(said(&all, &[4]), Some(Report::Congestion { reached: 2 }));
        let highest = Pattern::Highest;
        let greedy = Settings { pattern: highest, every: highest.every(), ..Settings::default() };
        assert_eq!(said(&greedy, &[4, 6]), Some(Report::Wireless));
    }
}
