//! Discard priorities that a sender assigns to packets (BQM thesis, sections 3.1 and 4.1). The thesis shows positions in a
//! pattern only in figures; these are derived.

use super::Settings;
use crate::config::bqm::DiscardPattern as Pattern;
use std::collections::BTreeMap;

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
    pub(super) fn count(self, first: u64, last: u64) -> [u64; PRIORITIES as usize] {
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
pub(in crate::transport::tcp) struct Marks {
    settings: Settings,
    segment: u64,
    /// End of the octets that were sent.
    sent_to: u64,
    /// Number of retransmissions of each unacknowledged packet, by the number of its first octet.
    repeated: BTreeMap<u64, u8>,
}

impl Marks {
    pub(in crate::transport::tcp) fn new(settings: Settings, segment: u64) -> Self {
        Self { settings, segment, sent_to: 0, repeated: BTreeMap::new() }
    }

    /// Priority without the increase for retransmissions.
    pub(in crate::transport::tcp) fn base(&self, start: u64) -> u8 {
        self.settings.pattern.priority(number(start, self.segment))
    }

    /// Priority of the segment that begins with octet `start`, which is sent now. A retransmission has a higher
    /// priority; otherwise it would be dropped again and again where priority 0 never gets through.
    pub(in crate::transport::tcp) fn send(&mut self, start: u64) -> u8 {
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
    pub(in crate::transport::tcp) fn acknowledge(&mut self, una: u64) {
        while self.repeated.first_key_value().is_some_and(|(&start, _)| start < una) {
            self.repeated.pop_first();
        }
    }
}

/// Number of the packet with an octet, both from 1.
pub(super) fn number(octet: u64, segment: u64) -> u64 {
    octet.saturating_sub(1) / segment + 1
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
