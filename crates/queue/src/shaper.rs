//! How a rate is enforced: a leaky bucket that says when the next packet may leave.

use units::{Bytes, Duration, Instant, Rate};

const SECOND: u128 = 1_000_000_000;

/// A leaky bucket. Departing packets fill it, and it drains at a rate. No packet leaves while it holds more than a
/// burst. So in any span of time at most the rate's bytes, one burst and one packet leave.
///
/// Calls must come in order of time. Without a rate the shaper delays nothing and counts nothing.
#[derive(Clone, Debug)]
pub struct Shaper {
    /// Size of the bucket in bits, times [`SECOND`].
    burst: u128,
    rate: Option<Rate>,
    /// Level at `since` in bits, times [`SECOND`]: at a rate of `r` bit/s it drains by `r` per nanosecond.
    level: u128,
    since: Instant,
    ready_at: Instant,
}

impl Shaper {
    /// Makes an empty bucket without a rate. After a pause, or if the host was late for a packet, up to `burst` may
    /// leave at once. If `burst` is zero, each packet waits until the packet before it has drained.
    pub fn new(burst: Bytes) -> Self {
        let burst = u128::from(burst.bits()) * SECOND;
        Self { burst, rate: None, level: 0, since: Instant::ZERO, ready_at: Instant::ZERO }
    }

    /// Sets the rate from now on; `None`: no shaping. What is in the bucket drains at the new rate.
    pub fn set_rate(&mut self, now: Instant, rate: Option<Rate>) {
        if rate != self.rate {
            self.drain(now);
            self.rate = rate;
            self.look_ahead();
        }
        debug_assert!(rate.is_some() || self.ready_at <= now, "without a rate nothing waits");
    }

    /// Returns the present rate.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Returns the earliest time at which the next packet may leave. It is [`Instant::NEVER`] if the rate is zero and
    /// the bucket holds more than a burst.
    #[inline]
    pub fn ready_at(&self) -> Instant {
        self.ready_at
    }

    /// Adds a departing packet of this length to the bucket.
    #[inline]
    pub fn leaves(&mut self, now: Instant, length: Bytes) {
        if self.rate.is_some() {
            self.drain(now);
            self.level += u128::from(length.bits()) * SECOND;
            self.look_ahead();
        }
    }

    fn drain(&mut self, now: Instant) {
        debug_assert!(now >= self.since, "time does not run back");
        let drained = match self.rate {
            Some(rate) => u128::from(rate.as_bps()) * u128::from(now.since(self.since).as_nanos()),
            None => u128::MAX,
        };
        self.level = self.level.saturating_sub(drained);
        self.since = now;
    }

    fn look_ahead(&mut self) {
        let surplus = self.level.saturating_sub(self.burst);
        let nanos = match (surplus, self.rate) {
            (0, _) | (_, None) => 0,
            (_, Some(rate)) if rate.is_zero() => u64::MAX,
            (_, Some(rate)) => u64::try_from(surplus.div_ceil(rate.as_bps().into())).unwrap_or(u64::MAX),
        };
        self.ready_at = self.since + Duration::from_nanos(nanos);
        debug_assert!(self.ready_at >= self.since);
        debug_assert!(self.level > self.burst || self.ready_at == self.since, "a burst leaves at once");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    const PACKET: Bytes = Bytes::new(1_000);

    #[test]
    fn without_a_burst_each_packet_waits_until_the_one_before_it_has_drained() {
        let mut shaper = Shaper::new(Bytes::new(0));
        shaper.set_rate(ms(0), Some(Rate::mbps(1)));
        for packet in 0..3 {
            assert_eq!(shaper.ready_at(), ms(8 * packet));
            shaper.leaves(shaper.ready_at(), PACKET);
        }
        // A late packet does not make the next one early.
        shaper.leaves(ms(30), PACKET);
        assert_eq!(shaper.ready_at(), ms(38));
    }

    #[test]
    fn with_a_burst_a_late_packet_is_made_up_for() {
        let mut shaper = Shaper::new(PACKET * 2);
        shaper.set_rate(ms(0), Some(Rate::mbps(1)));
        for _ in 0..3 {
            assert_eq!(shaper.ready_at(), ms(0));
            shaper.leaves(ms(0), PACKET);
        }
        assert_eq!(shaper.ready_at(), ms(8));
        shaper.leaves(ms(13), PACKET);
        assert_eq!(shaper.ready_at(), ms(16));
    }

    #[test]
    fn what_it_holds_drains_at_the_rate_that_holds_now() {
        let mut shaper = Shaper::new(Bytes::new(0));
        shaper.leaves(ms(0), PACKET);
        assert_eq!(shaper.ready_at(), ms(0));
        shaper.set_rate(ms(0), Some(Rate::kbps(100)));
        shaper.leaves(ms(0), PACKET);
        assert_eq!(shaper.ready_at(), ms(80));
        // Of 8000 bits, 1000 have drained.
        shaper.set_rate(ms(10), Some(Rate::mbps(1)));
        assert_eq!(shaper.ready_at(), ms(17));
        shaper.set_rate(ms(12), Some(Rate::bps(0)));
        assert_eq!(shaper.ready_at(), Instant::NEVER);
        shaper.set_rate(ms(1_000), Some(Rate::mbps(1)));
        assert_eq!(shaper.ready_at(), ms(1_005));
        shaper.set_rate(ms(1_001), None);
        assert_eq!(shaper.ready_at(), ms(1_001));
    }

    proptest! {
        /// Packets of any length leave as soon as allowed, or later; up to each, all spans keep the bound.
        #[test]
        fn no_span_of_time_carries_more_than_the_rate_a_burst_and_a_packet(
            packets in prop::collection::vec((1_u64..2_304, 0_u64..20_000_000), 1..60),
            rate in 1_000_u64..100_000_000,
            burst in 0_u64..10_000,
        ) {
            let mut shaper = Shaper::new(Bytes::new(burst));
            shaper.set_rate(ms(0), Some(Rate::bps(rate)));
            let mut left = Vec::new();
            let mut now = ms(0);
            for (length, late) in packets {
                now = now.max(shaper.ready_at()) + Duration::from_nanos(late);
                shaper.leaves(now, Bytes::new(length));
                left.push((now, length));
            }
            for (first, &(start, _)) in left.iter().enumerate() {
                let mut bytes = 0;
                for &(end, length) in &left[first..] {
                    // The last packet is the one beyond the bound.
                    let nanos = u128::from(end.since(start).as_nanos());
                    prop_assert!((bytes * 8 * SECOND) <= u128::from(rate) * (nanos + 1) + u128::from(burst) * 8 * SECOND);
                    bytes += u128::from(length);
                }
            }
        }

        /// Packets that leave as soon as they may use up the rate to the last nanosecond.
        #[test]
        fn who_takes_all_gets_the_rate(lengths in prop::collection::vec(1_u64..2_304, 1..60), rate in 1_000_u64..100_000_000) {
            let mut shaper = Shaper::new(Bytes::new(0));
            shaper.set_rate(ms(0), Some(Rate::bps(rate)));
            let (mut bits, mut waits) = (0, 0);
            for length in lengths {
                shaper.leaves(shaper.ready_at(), Bytes::new(length));
                (bits, waits) = (bits + u128::from(length) * 8, waits + 1);
            }
            let least = (bits * SECOND).div_ceil(u128::from(rate));
            let took = u128::from(shaper.ready_at().as_nanos());
            prop_assert!((least..least + waits).contains(&took), "{took} ns, at least {least}");
        }
    }
}
