//! Bursts whose sizes are Pareto-distributed, with random reading times between them.

use super::{Emission, Pareto, Times};
use crate::engine::Stream;
use std::ops::Range;
use units::{Bytes, Duration, Instant, Rate};

/// A reader of pages: a burst of packets, a reading time, the next burst, and so on.
///
/// A cycle lasts for the burst's size at its rate (no time if there is no rate) and a reading time. A source starts
/// within a reading time.
#[derive(Debug)]
pub(crate) struct Web {
    packet: Bytes,
    rate: Option<Rate>,
    size: Pareto,
    reading: Times,
    random: Stream,
    stop: Instant,
    burst_start: Instant,
    /// Size of the present burst, in bytes.
    burst_size: u64,
    burst_made: u64,
    next: Instant,
}

impl Web {
    /// Makes a source of bursts while `active`, in packets of `packet` bytes. `rate` spreads a burst out; without it
    /// the packets of a burst are emitted at once. `size` is in bytes.
    pub(crate) fn new(
        packet: Bytes,
        rate: Option<Rate>,
        size: Pareto,
        reading: Times,
        active: Range<Instant>,
        mut random: Stream,
    ) -> Self {
        let burst_start = active.start + reading.residual(&mut random);
        let burst_size = draw_size(size, &mut random);
        let (burst_made, next) = (0, burst_start);
        Self { packet, rate, size, reading, random, stop: active.end, burst_start, burst_size, burst_made, next }
    }

    pub(crate) fn next(&self) -> Option<Emission> {
        let payload = Bytes::new(self.packet.count().min(self.burst_size - self.burst_made));
        (self.next < self.stop).then_some(Emission { at: self.next, payload })
    }

    pub(crate) fn advance(&mut self) {
        self.burst_made = self.burst_size.min(self.burst_made.saturating_add(self.packet.count()));
        // The next packet follows after the time that the previous packets take at the rate.
        let made = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(Bytes::new(self.burst_made)));
        self.next = self.burst_start + made;
        if self.burst_made == self.burst_size {
            self.next += self.reading.draw(&mut self.random);
            self.burst_start = self.next;
            self.burst_size = draw_size(self.size, &mut self.random);
            self.burst_made = 0;
        }
    }
}

/// Draws the size of a burst in whole bytes, at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
pub(super) fn draw_size(size: Pareto, random: &mut Stream) -> u64 {
    (libm::round(size.draw(random)) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Purpose;

    const SECOND: u64 = 1_000_000_000;

    fn web(size: Pareto, rate: Option<Rate>, seconds: u64) -> Web {
        let reading = Times::Exponential(Duration::from_secs(5));
        let active = Instant::ZERO..Instant::from_nanos(seconds * SECOND);
        Web::new(Bytes::new(1000), rate, size, reading, active, Stream::new(1, "f", Purpose::TRAFFIC))
    }

    fn packets(mut web: Web) -> Vec<Emission> {
        let mut found = Vec::new();
        while let Some(packet) = web.next() {
            found.push(packet);
            web.advance();
        }
        found
    }

    #[test]
    fn bursts_come_at_one_time_and_are_split_into_packets() {
        let found = packets(web(Pareto::with_mean(12_000.0, 1.2), None, 10_000));
        let bursts: Vec<&[Emission]> = found.chunk_by(|a, b| a.at == b.at).collect();
        // A Poisson process of a burst each 5 s: 2000, standard deviation 45.
        assert!(bursts.len().abs_diff(2_000) < 180, "{} bursts", bursts.len());
        for burst in &bursts {
            let (last, full) = burst.split_last().expect("a burst has packets");
            assert!(full.iter().all(|packet| packet.payload == Bytes::new(1000)));
            assert!((1..=1000).contains(&last.payload.count()));
        }
        // Sizes from 2000 B on; Hill's estimator has a relative standard deviation of 1 / sqrt(2000) = 2.2 %.
        let logs = bursts.iter().map(|burst| {
            let size: u64 = burst.iter().map(|packet| packet.payload.count()).sum();
            (size as f64 / 2_000.0).ln()
        });
        let shape = bursts.len() as f64 / logs.sum::<f64>();
        assert!((shape / 1.2 - 1.0).abs() < 0.09, "{shape}");
    }

    #[test]
    fn the_mean_rate_is_the_mean_size_over_the_mean_cycle() {
        // Shape 3 and mean 15 kB at 120 kb/s take 1 s on average: 15 kB each 6 s. Per cycle a standard deviation of
        // 5 s / 6 s from reading and 0.58 from sizes (less where both compensate): below 1.1 of the mean.
        let seconds = 200_000;
        let rate = Some(Rate::kbps(120));
        let found = packets(web(Pareto::with_mean(15_000.0, 3.0), rate, seconds));
        let bytes: u64 = found.iter().map(|packet| packet.payload.count()).sum();
        let expected = 15_000.0 / 6.0 * seconds as f64;
        let tolerance = 4.0 * 1.1 / (seconds as f64 / 6.0).sqrt();
        assert!((bytes as f64 / expected - 1.0).abs() < tolerance, "{bytes} bytes, {expected} expected");
        assert!(found.is_sorted_by_key(|packet| packet.at));
    }

    #[test]
    fn a_paced_burst_is_evenly_spaced() {
        // 10 000 packets of 1000 B at 8 Mb/s: 1 ms apart. A shape this high makes every size the mean.
        let found = packets(web(Pareto::with_mean(1e7, 1e9), Some(Rate::mbps(8)), 100));
        let gaps: Vec<Duration> = found[..10_000].windows(2).map(|pair| pair[1].at.since(pair[0].at)).collect();
        assert!(gaps.iter().all(|gap| gap.as_nanos().abs_diff(1_000_000) <= 1), "{gaps:?}");
    }

    #[test]
    fn sizes_beyond_all_bounds_saturate() {
        let mut web = web(Pareto::with_mean(1e300, 1.001), Some(Rate::bps(1)), 10_000);
        for _ in 0..10 {
            web.advance();
        }
    }
}
