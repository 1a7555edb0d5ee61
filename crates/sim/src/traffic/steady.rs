//! Packets of one length, evenly or exponentially spaced, at a rate that changes in steps.

use super::Emission;
use crate::engine::Stream;
use units::{Bytes, Duration, Instant, Rate};

const NANOS: u128 = 1_000_000_000;

/// A part of a flow's life with one rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) start: Instant,
    pub(crate) rate: Rate,
}

/// Makes packets at a constant mean rate.
#[derive(Debug)]
pub(crate) struct Steady {
    segments: Vec<Segment>,
    stop: Instant,
    payload: Bytes,
    /// The segment of the next packet, and how many packets of it came before.
    segment: usize,
    made: u64,
    /// Gaps are exponential; constant without.
    random: Option<Stream>,
    next: Instant,
}

impl Steady {
    /// A source that makes packets of `payload` bytes from its first segment's start until `stop`. With a stream the
    /// gaps are exponential (Poisson), without constant (CBR).
    pub(crate) fn new(segments: Vec<Segment>, stop: Instant, payload: Bytes, random: Option<Stream>) -> Self {
        let start = segments.first().map_or(Instant::NEVER, |first| first.start);
        let mut source = Self { segments, stop, payload, segment: 0, made: 0, random, next: Instant::NEVER };
        source.next = source.find(start);
        source
    }

    pub(crate) fn next(&self) -> Option<Emission> {
        (self.next < self.stop).then_some(Emission { at: self.next, payload: self.payload })
    }

    pub(crate) fn advance(&mut self) {
        self.made += 1;
        self.next = self.find(self.next);
    }

    /// The first packet time in the current segment after `last`, or in one after it. A segment begins with a packet
    /// when gaps are constant; exponential gaps have no memory, so that they begin anew.
    fn find(&mut self, mut last: Instant) -> Instant {
        while let Some(&Segment { start, rate }) = self.segments.get(self.segment) {
            let time = self.in_segment(start, rate, last);
            match self.segments.get(self.segment + 1) {
                Some(next) if time >= next.start => {
                    last = next.start;
                    self.segment += 1;
                    self.made = 0;
                }
                _ => return time,
            }
        }
        Instant::NEVER
    }

    /// The next packet time if the current segment, which has this start and rate, went on for ever.
    fn in_segment(&mut self, start: Instant, rate: Rate, last: Instant) -> Instant {
        match &mut self.random {
            _ if rate.is_zero() => Instant::NEVER,
            Some(stream) => {
                let gap = stream.exponential() * self.payload.bits() as f64 / rate.as_bps() as f64;
                last + Duration::from_secs_f64(gap)
            }
            None => {
                // Counted from the segment's start, so that nothing is lost to rounding.
                let nanos = u128::from(self.made) * u128::from(self.payload.bits()) * NANOS / u128::from(rate.as_bps());
                start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Purpose;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn times(mut source: Steady) -> Vec<Instant> {
        let mut times = Vec::new();
        while let Some(Emission { at: time, .. }) = source.next() {
            times.push(time);
            source.advance();
        }
        times
    }

    #[test]
    fn cbr_packets_are_evenly_spaced_and_steps_take_effect_at_once() {
        // 1000 B at 0.8 Mb/s: 10 ms; from 35 ms on at 0.4 Mb/s: 20 ms.
        let segments =
            vec![Segment { start: at(0), rate: Rate::kbps(800) }, Segment { start: at(35), rate: Rate::kbps(400) }];
        let found = times(Steady::new(segments, at(80), Bytes::new(1000), None));
        assert_eq!(found, [0, 10, 20, 30, 35, 55, 75].map(at));
    }

    #[test]
    fn the_documents_time_line_emits_16875_packets() {
        // 1.8 Mb/s for 50 s and 0.9 Mb/s for 50 s are 135 Mb (ADTH, inference on the packet size in S1).
        let segments = vec![
            Segment { start: at(0), rate: Rate::kbps(1800) },
            Segment { start: at(50_000), rate: Rate::kbps(900) },
        ];
        assert_eq!(times(Steady::new(segments, at(100_000), Bytes::new(1000), None)).len(), 16_875);
    }

    #[test]
    fn a_rate_of_zero_pauses() {
        let segments = vec![
            Segment { start: at(0), rate: Rate::kbps(800) },
            Segment { start: at(15), rate: Rate::bps(0) },
            Segment { start: at(50), rate: Rate::kbps(800) },
        ];
        assert_eq!(times(Steady::new(segments, at(65), Bytes::new(1000), None)), [0, 10, 50, 60].map(at));
    }

    #[test]
    fn a_pause_of_many_segments_is_passed_without_depth() {
        let mut segments: Vec<Segment> = (0..1_000_000).map(|n| Segment { start: at(n), rate: Rate::bps(0) }).collect();
        segments.push(Segment { start: at(1_000_000), rate: Rate::kbps(800) });
        let random = Some(Stream::new(1, "f", Purpose::Traffic));
        for random in [None, random] {
            let first = Steady::new(segments.clone(), Instant::NEVER, Bytes::new(1000), random).next();
            assert!(
                first.is_some_and(|Emission { at: time, .. }| (at(1_000_000)..at(1_001_000)).contains(&time)),
                "{first:?}"
            );
        }
    }

    #[test]
    fn the_longest_run_at_the_highest_rate_does_not_overflow() {
        let segments = vec![Segment { start: at(0), rate: Rate::bps(1) }];
        let mut source = Steady::new(segments, Instant::NEVER, Bytes::new(65_507), None);
        source.made = u64::MAX - 1;
        source.advance();
        assert_eq!(source.next(), None);
    }

    #[test]
    fn poisson_packets_come_at_the_mean_rate() {
        let random = Some(Stream::new(1, "f", Purpose::Traffic));
        let segments = vec![Segment { start: at(0), rate: Rate::kbps(800) }];
        let found = times(Steady::new(segments, at(1_000_000), Bytes::new(1000), random)).len();
        // 100 000 expected, standard deviation 316.
        assert!(found.abs_diff(100_000) < 1_000, "{found}");
    }
}
