//! Echo requests: packets of equal length, with constant or exponential gaps.

use super::Emission;
use crate::engine::Stream;
use std::ops::Range;
use units::{Bytes, Duration, Instant};

#[derive(Debug)]
pub(crate) struct Ping {
    payload: Bytes,
    every: Duration,
    /// Random numbers for exponential gaps; `None` for constant ones.
    random: Option<Stream>,
    stop: Instant,
    next: Instant,
}

impl Ping {
    /// Makes a source of requests while `active`, with a mean gap of `every`. Evenly spaced requests begin at the
    /// start, random ones a gap later.
    pub(crate) fn new(payload: Bytes, every: Duration, active: Range<Instant>, random: Option<Stream>) -> Self {
        let mut ping = Self { payload, every, random, stop: active.end, next: active.start };
        if ping.random.is_some() {
            ping.advance();
        }
        ping
    }

    pub(crate) fn next(&self) -> Option<Emission> {
        (self.next < self.stop).then_some(Emission { at: self.next, payload: self.payload })
    }

    pub(crate) fn advance(&mut self) {
        self.next += match &mut self.random {
            Some(random) => Duration::from_secs_f64(self.every.as_secs_f64() * random.exponential()),
            None => self.every,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Purpose;

    const SECOND: u64 = 1_000_000_000;

    fn times(random: Option<Stream>, seconds: u64) -> Vec<u64> {
        let active = Instant::from_nanos(SECOND)..Instant::from_nanos(seconds * SECOND);
        let mut ping = Ping::new(Bytes::new(64), Duration::from_millis(300), active, random);
        let mut found = Vec::new();
        while let Some(request) = ping.next() {
            assert_eq!(request.payload, Bytes::new(64));
            found.push(request.at.as_nanos());
            ping.advance();
        }
        found
    }

    #[test]
    fn requests_are_evenly_spaced_from_the_start() {
        assert_eq!(times(None, 2), [1_000_000_000, 1_300_000_000, 1_600_000_000, 1_900_000_000]);
    }

    #[test]
    fn random_requests_are_a_poisson_process() {
        let found = times(Some(Stream::new(1, "p", Purpose::TRAFFIC)), 30_001);
        // 100 000 expected, standard deviation 316; the variance of a gap is its mean's square, here to 4 standard errors.
        assert!(found.len().abs_diff(100_000) < 1_265, "{}", found.len());
        let gaps: Vec<f64> = found.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 3e8).collect();
        let squares = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        assert!((squares - 2.0).abs() < 4.0 * (20.0_f64 / 1e5).sqrt(), "{squares}");
    }
}
