//! Discard priorities that a sender assigns (BQM thesis, sections 3.1 and 4.1).

use super::Settings;
use super::pattern::PRIORITIES;
use std::collections::BTreeMap;

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
