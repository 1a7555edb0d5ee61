//! A receiver's judgement of missing packets (BQM thesis, sections 3.2 to 3.4 and 3.6).

use super::Settings;
use super::pattern::PRIORITIES;
use super::pattern::number;
use crate::config::bqm::{Discriminator, Measure};
use crate::transport::tcp::segment::{Block, Report};

/// Number of consecutive losses that always count as congestion, whatever equation (3.2) says (section 3.2).
const BURST: u64 = 3;

/// Missing packets between the next packet in order and the highest received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::transport::tcp) struct Missing {
    /// Number of missing packets by discard priority. Number of all missing packets: `r`; with priority 0: `x`.
    counts: [u64; PRIORITIES as usize],
    /// True if at least [`BURST`] consecutive packets are among the missing.
    burst: bool,
}

impl Settings {
    /// The packets with missing octets, for segments of `segment` octets.
    pub(in crate::transport::tcp) fn missing(&self, gaps: impl Iterator<Item = Block>, segment: u64) -> Missing {
        gaps.fold(Missing::default(), |all, gap| {
            let (first, last) = (number(gap.start, segment), number(gap.end - 1, segment));
            let counts = self.pattern.count(first, last);
            let sums = std::array::from_fn(|priority| all.counts[priority] + counts[priority]);
            Missing { counts: sums, burst: all.burst || last - first + 1 >= BURST }
        })
    }

    /// Verdict: wireless loss, or congestion with the path's overload. `None` if no packet is missing.
    pub(in crate::transport::tcp) fn judge(&self, missing: &Missing) -> Option<Report> {
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
