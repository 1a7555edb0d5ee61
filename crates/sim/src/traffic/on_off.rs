//! Evenly spaced packets during random on-times, and silence during the random off-times between them.

use super::{Emission, Times};
use crate::engine::Stream;
use std::ops::Range;
use units::{Bytes, Duration, Instant, Rate};

const NANOS: u128 = 1_000_000_000;

/// Makes packets at a constant rate while the source is on.
///
/// Packets are spaced on a clock that runs only while the source is on. So the mean rate is exactly the rate times mean
/// on / (mean on + mean off), however short on-times are. The source starts in its stationary state: on with this
/// probability, at a random point of the present time and of the gap between two packets.
#[derive(Debug)]
pub(crate) struct OnOff {
    payload: Bytes,
    rate: Rate,
    on: Times,
    off: Times,
    random: Stream,
    stop: Instant,
    /// Offset of the first packet on the clock of on-times, and the number of packets before the next packet.
    phase: Duration,
    made: u64,
    /// The present or next on-time: its start, its length, and the length of all earlier ones.
    on_start: Instant,
    on_length: Duration,
    on_before: Duration,
    next: Instant,
}

impl OnOff {
    /// Makes a source of `payload` bytes per packet at `rate` in on-times while `active`. `share`: share of on-time.
    pub(crate) fn new(
        payload: Bytes,
        rate: Rate,
        on: Times,
        off: Times,
        share: f64,
        active: Range<Instant>,
        mut random: Stream,
    ) -> Self {
        let phase = Duration::from_secs_f64(rate.time_for(payload).as_secs_f64() * random.unit());
        let (on_start, on_length) = if random.unit() <= share {
            (active.start, on.residual(&mut random))
        } else {
            (active.start + off.residual(&mut random), on.draw(&mut random))
        };
        let (made, on_before, next) = (0, Duration::ZERO, Instant::NEVER);
        let mut source = Self {
            payload,
            rate,
            on,
            off,
            random,
            stop: active.end,
            phase,
            made,
            on_start,
            on_length,
            on_before,
            next,
        };
        source.next = source.find();
        source
    }

    pub(crate) fn next(&self) -> Option<Emission> {
        (self.next < self.stop).then_some(Emission { at: self.next, payload: self.payload })
    }

    pub(crate) fn advance(&mut self) {
        self.made += 1;
        self.next = self.find();
    }

    /// Returns the time of the next packet; after the end, any later time.
    fn find(&mut self) -> Instant {
        // The time is counted from the first packet, so that rounding loses nothing.
        let nanos = u128::from(self.made) * u128::from(self.payload.bits()) * NANOS / u128::from(self.rate.as_bps());
        let due = self.phase + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        while due >= self.on_before + self.on_length && self.on_start < self.stop {
            self.on_before += self.on_length;
            self.on_start += self.on_length + self.off.draw(&mut self.random);
            self.on_length = self.on.draw(&mut self.random);
        }
        self.on_start + due.saturating_sub(self.on_before)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pareto;
    use super::*;
    use crate::engine::Purpose;

    const SECOND: u64 = 1_000_000_000;

    fn times(mean_millis: u64, shape: Option<f64>) -> Times {
        let mean = Duration::from_millis(mean_millis);
        shape.map_or(Times::Exponential(mean), |shape| Times::Pareto(Pareto::with_mean(mean.as_secs_f64(), shape)))
    }

    /// The packet times of a source of 1000 B packets at 800 kb/s while on, so 10 ms apart.
    fn packets(on: Times, off: Times, share: f64, seconds: u64, seed: u64) -> Vec<Instant> {
        let active = Instant::ZERO..Instant::from_nanos(seconds * SECOND);
        let random = Stream::new(seed, "f", Purpose::TRAFFIC);
        let mut source = OnOff::new(Bytes::new(1000), Rate::kbps(800), on, off, share, active, random);
        let mut found = Vec::new();
        while let Some(packet) = source.next() {
            found.push(packet.at);
            source.advance();
        }
        found
    }

    #[test]
    fn the_mean_rate_is_the_share_of_time_on() {
        // Means of 400 and 600 ms: 100 packets a second for 40 % of the time. Over T the time on has a variance of
        // 2 (on off)^2 / (on + off)^3 * T (an alternating renewal process of exponential times): 0.1152 s^2 a second.
        let seconds = 100_000_u64;
        let found = packets(times(400, None), times(600, None), 0.4, seconds, 1).len() as f64;
        let expected = 40.0 * seconds as f64;
        let deviation = 100.0 * (0.1152 * seconds as f64).sqrt();
        assert!((found - expected).abs() < 4.0 * deviation, "{found} packets, {expected} expected");
    }

    #[test]
    fn times_on_and_off_have_the_means_asked_for() {
        let seconds = 100_000;
        let found = packets(times(400, None), times(600, None), 0.4, seconds, 2);
        // A gap above 10 ms has a time off in it; of exponential times off hardly any is shorter than a few us.
        let gaps: Vec<f64> = found.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64() - 0.01).collect();
        let offs: Vec<f64> = gaps.into_iter().filter(|&gap| gap > 1e-7).collect();
        // Times on without a packet join two times off: one packet is missed with probability 1 - exp(-10/400) at the
        // most, so runs of times off are seen as one in up to 2.5 % of the cases; the expectation is exact all the same:
        // a cycle lasts one second. A gap with a packet on both sides ends a geometric number of cycles.
        let seen = offs.len() as f64;
        let cycles = f64::from(u32::try_from(seconds).expect("small"));
        // Between two packets 10 ms of time on pass, in which exp(-25 ms / s) of the cases have no end of a time on.
        let expected = 40.0 * cycles * (1.0 - (-0.025_f64).exp());
        assert!((seen / expected - 1.0).abs() < 0.02, "{seen} gaps with a time off, {expected} expected");
        let mean = offs.iter().sum::<f64>() / seen;
        // The mean number of times off in such a gap: 0.025 / (1 - exp(-0.025)).
        let expected = 0.6 * 0.025 / (1.0 - (-0.025_f64).exp());
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean} s off, {expected} expected");
    }

    #[test]
    fn a_source_is_in_the_middle_of_its_life_when_it_starts() {
        // Pareto times, whose start could show for long: the first second has as many packets as any other.
        for (on, off) in [(times(400, Some(1.5)), times(600, Some(1.5))), (times(400, None), times(600, None))] {
            let runs = 10_000_u64;
            let made: usize = (0..runs).map(|seed| packets(on, off, 0.4, 1, seed).len()).sum();
            let found = made as f64 / runs as f64;
            // A run's number of packets lies between 0 and 101: its standard deviation is at most 50.
            assert!((found - 40.0).abs() < 4.0 * 50.0 / (runs as f64).sqrt(), "{found} packets, 40 expected");
        }
    }

    #[test]
    fn times_on_shorter_than_a_gap_still_give_the_mean_rate() {
        // 1 ms on, 1 ms off: a packet each 20 ms on average.
        let found = packets(times(1, None), times(1, None), 0.5, 2_000, 3).len();
        // 100 000 expected; the time on has a variance of 0.00025 s^2 a second: 0.7 s in 2000 s, 71 packets.
        assert!(found.abs_diff(100_000) < 284, "{found}");
    }

    #[test]
    fn without_an_end_times_saturate() {
        let random = Stream::new(1, "f", Purpose::TRAFFIC);
        let forever = times(1_000_000, Some(1.01));
        let active = Instant::from_nanos(u64::MAX - 10)..Instant::NEVER;
        let source = OnOff::new(Bytes::new(2_000), Rate::bps(1), forever, forever, 0.5, active, random);
        assert_eq!(source.next(), None);
    }
}
