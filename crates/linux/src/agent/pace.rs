//! Measures the link's rate from the first packets that wait, and derives the controller's initial limit from it.

use control::{Interval, Limit};
use units::{Bytes, Duration};

/// Initial limit, as the time in which the link sends it: the longest round trip of most flows, for which eBDP also
/// sizes queues ([`control::ebdp::Params::t_max`]).
pub(super) const WORTH: Duration = Duration::from_millis(200);

/// State of the measurement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// Packets have left for less than [`WORTH`] in total while others waited.
    Learning {
        /// Time for which packets left while others waited.
        time: Duration,
        /// Packets and bytes that left in that time.
        packets: u64,
    },
    /// The limit that the link sends in [`WORTH`].
    Known(Limit),
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self::Learning { time: Duration::ZERO, packets: 0 }
    }

    /// Measures one interval. Once packets have left for [`WORTH`] in total while others waited, returns what the link
    /// sends in that time, in the unit of `hard`; only once.
    pub(super) fn learn(&mut self, seen: &Interval, hard: Limit) -> Option<Limit> {
        let Self::Learning { time, packets } = self else { return None };
        let gaps = seen.departure_gap;
        *time += gaps.mean * gaps.n;
        *packets = packets.saturating_add(gaps.n);
        if *time < WORTH {
            return None;
        }
        // The mean size is that of all packets, whether others waited or not.
        let size = seen.sent.bytes.count() / seen.sent.packets.max(1);
        let worth = *packets as f64 * WORTH.as_secs_f64() / time.as_secs_f64();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let worth = worth.ceil() as u32;
        let limit = match hard {
            Limit::Packets(_) => Limit::Packets(worth),
            Limit::Bytes(_) => Limit::Bytes(Bytes::new(u64::from(worth).saturating_mul(size))),
        };
        *self = Self::Known(limit);
        Some(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Count, Stat};

    fn seen(packets: u64, gap: Duration) -> Interval {
        let sent = Count { packets, bytes: Bytes::new(packets * 1_014) };
        let departure_gap = Stat { n: packets, mean: gap, max: gap, last: gap };
        Interval { sent, departure_gap, ..Interval::default() }
    }

    #[test]
    fn what_leaves_in_200_ms_is_told_once_as_soon_as_packets_have_waited_for_so_long() {
        let ms = Duration::from_millis;
        let (packets, bytes) = (Limit::Packets(1_000), Limit::Bytes(Bytes::new(1_500_000)));
        for (hard, expected) in [(packets, Limit::Packets(80)), (bytes, Limit::Bytes(Bytes::new(80 * 1_014)))] {
            let mut pace = Pace::new();
            assert_eq!(pace.learn(&seen(0, Duration::ZERO), hard), None, "nothing waited");
            // 50 packets leave in 100 ms, then 30 in 100 ms: 80 in 200 ms.
            assert_eq!(pace.learn(&seen(50, ms(2)), hard), None, "half of the time");
            assert_eq!(pace.learn(&seen(30, Duration::from_nanos(3_333_334)), hard), Some(expected));
            assert!(matches!(pace, Pace::Known(known) if known == expected));
            assert_eq!(pace.learn(&seen(10, ms(100)), hard), None, "it is told once");
        }
    }

    #[test]
    fn a_link_too_slow_for_a_packet_is_worth_one_and_nonsense_is_no_panic() {
        let mut pace = Pace::new();
        assert_eq!(pace.learn(&seen(1, Duration::from_secs(3)), Limit::Packets(9)), Some(Limit::Packets(1)));
        let mut pace = Pace::new();
        assert!(pace.learn(&seen(u64::MAX / 2_000, Duration::MAX), Limit::Packets(9)).is_some());
    }
}
