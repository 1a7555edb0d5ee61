//! Packets of constant or random length, with constant or exponential gaps, at a rate that changes.

use super::{Emission, Lengths};
use crate::config::LoadRange;
use crate::engine::{Purpose, Stream};
use units::{Bytes, Duration, Instant, Rate};

const NANOS: u128 = 1_000_000_000;

/// A part of a flow's lifetime, with one rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) start: Instant,
    pub(crate) rate: Rate,
}

#[derive(Debug)]
pub(crate) enum RateSchedule {
    /// The rates of these segments. If gaps are constant, each segment begins with a packet.
    Steps(Vec<Segment>),
    /// From `start` on, a rate drawn uniformly between two rates, anew every `every`. The present gap, too, changes.
    Drawn { start: Instant, from: Rate, to: Rate, every: Duration, random: Stream },
}

impl RateSchedule {
    /// Returns the segment with this number, and its end.
    fn segment(&mut self, number: u64) -> Option<(Segment, Instant)> {
        match self {
            Self::Steps(segments) => {
                let at = |number: u64| segments.get(usize::try_from(number).ok()?).copied();
                Some((at(number)?, at(number + 1).map_or(Instant::NEVER, |next| next.start)))
            }
            Self::Drawn { start, from, to, every, random } => {
                let begins = *start + *every * number;
                Some((Segment { start: begins, rate: uniform(*from, *to, random) }, begins + *every))
            }
        }
    }
}

impl LoadRange {
    /// Returns the rates of a flow with this name in a run with this seed, in turn, each for the time `every`.
    pub fn rates(&self, seed: u64, flow: &str) -> impl Iterator<Item = Rate> + use<> {
        let (from, to) = (self.from, self.to);
        let mut random = self.stream(seed, flow);
        std::iter::repeat_with(move || uniform(from, to, &mut random))
    }

    /// Returns the random numbers of the rates. Flows whose draws have the same name have the same rate.
    pub(crate) fn stream(&self, seed: u64, flow: &str) -> Stream {
        Stream::new(seed, self.draw.as_deref().unwrap_or(flow), Purpose::LOAD)
    }
}

/// Draws a rate between two rates, uniform in bit/s.
pub(crate) fn uniform(from: Rate, to: Rate, random: &mut Stream) -> Rate {
    Rate::bps(from.as_bps() + random.up_to(to.as_bps().saturating_sub(from.as_bps())))
}

/// A source whose mean rate is constant within each segment.
///
/// The rate is one of bytes: after an evenly spaced packet the next follows when its length has passed at the rate.
/// Exponential gaps do not depend on lengths.
#[derive(Debug)]
pub(crate) struct Steady {
    schedule: RateSchedule,
    stop: Instant,
    lengths: Lengths,
    /// The part of a packet's length that is not payload.
    overhead: Bytes,
    /// Random numbers for lengths and exponential gaps.
    random: Stream,
    exponential: bool,
    /// Segment of the next packet: its number and its end.
    number: u64,
    segment: Segment,
    ends: Instant,
    /// If gaps are constant: the data sent in this segment before the next packet, in billionths of a bit (nanoseconds
    /// at one bit per second), so that rounding loses nothing.
    before: u128,
    length: Bytes,
    next: Instant,
}

impl Steady {
    /// Makes a source of packets of these lengths, of which `overhead` is not payload, with this schedule until `stop`.
    /// Gaps are `exponential` (Poisson) or constant (CBR).
    pub(crate) fn new(
        mut schedule: RateSchedule,
        stop: Instant,
        lengths: Lengths,
        overhead: Bytes,
        exponential: bool,
        mut random: Stream,
    ) -> Self {
        let nothing = (Segment { start: Instant::NEVER, rate: Rate::bps(0) }, Instant::NEVER);
        let (segment, ends) = schedule.segment(0).unwrap_or(nothing);
        let length = lengths.draw(&mut random);
        let (number, before, next) = (0, 0, Instant::NEVER);
        let mut source = Self {
            schedule,
            stop,
            lengths,
            overhead,
            random,
            exponential,
            number,
            segment,
            ends,
            before,
            length,
            next,
        };
        source.next = source.find(segment.start);
        source
    }

    pub(crate) fn next(&self) -> Option<Emission> {
        (self.next < self.stop).then(|| Emission { at: self.next, payload: self.length - self.overhead })
    }

    pub(crate) fn advance(&mut self) {
        self.before = self.before.saturating_add(u128::from(self.length.bits()) * NANOS);
        self.length = self.lengths.draw(&mut self.random);
        self.next = self.find(self.next);
    }

    /// Returns the payload of the longest packets.
    pub(crate) fn longest(&self) -> Bytes {
        self.lengths.longest() - self.overhead
    }

    /// Returns the time of the first packet after `last` in the present segment or a later one. Exponential gaps have
    /// no memory, so they can start anew with a segment.
    fn find(&mut self, mut last: Instant) -> Instant {
        loop {
            let time = self.in_segment(last);
            if time < self.ends || self.ends >= self.stop {
                return time;
            }
            last = self.ends;
            self.number += 1;
            let Some((segment, ends)) = self.schedule.segment(self.number) else { return Instant::NEVER };
            self.before = match self.schedule {
                RateSchedule::Steps(_) => 0,
                RateSchedule::Drawn { every, .. } => {
                    self.before.saturating_sub(u128::from(every.as_nanos()) * u128::from(self.segment.rate.as_bps()))
                }
            };
            (self.segment, self.ends) = (segment, ends);
        }
    }

    /// Returns the time of the next packet if the present segment had no end.
    fn in_segment(&mut self, last: Instant) -> Instant {
        let Segment { start, rate } = self.segment;
        if rate.is_zero() {
            return Instant::NEVER;
        }
        if self.exponential {
            let gap = self.random.exponential() * self.lengths.mean_bits() / rate.as_bps() as f64;
            return last + Duration::from_secs_f64(gap);
        }
        let nanos = self.before / u128::from(rate.as_bps());
        start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Purpose;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn cbr(segments: Vec<Segment>, stop: Instant) -> Steady {
        Steady::new(
            RateSchedule::Steps(segments),
            stop,
            Lengths::One(Bytes::new(1000)),
            Bytes::new(0),
            false,
            stream(1),
        )
    }

    fn stream(seed: u64) -> Stream {
        Stream::new(seed, "f", Purpose::TRAFFIC)
    }

    fn packets(mut source: Steady) -> Vec<Emission> {
        let mut packets = Vec::new();
        while let Some(packet) = source.next() {
            packets.push(packet);
            source.advance();
        }
        packets
    }

    fn times(source: Steady) -> Vec<Instant> {
        packets(source).into_iter().map(|packet| packet.at).collect()
    }

    #[test]
    fn cbr_packets_are_evenly_spaced_and_steps_take_effect_at_once() {
        // 1000 B at 0.8 Mb/s: 10 ms; from 35 ms on at 0.4 Mb/s: 20 ms.
        let segments =
            vec![Segment { start: at(0), rate: Rate::kbps(800) }, Segment { start: at(35), rate: Rate::kbps(400) }];
        let found = times(cbr(segments, at(80)));
        assert_eq!(found, [0, 10, 20, 30, 35, 55, 75].map(at));
    }

    #[test]
    fn the_documents_time_line_emits_16875_packets() {
        // 1.8 Mb/s for 50 s and 0.9 Mb/s for 50 s are 135 Mb (ADTH, inference on the packet size in S1).
        let segments = vec![
            Segment { start: at(0), rate: Rate::kbps(1800) },
            Segment { start: at(50_000), rate: Rate::kbps(900) },
        ];
        assert_eq!(times(cbr(segments, at(100_000))).len(), 16_875);
    }

    #[test]
    fn a_rate_of_zero_pauses() {
        let segments = vec![
            Segment { start: at(0), rate: Rate::kbps(800) },
            Segment { start: at(15), rate: Rate::bps(0) },
            Segment { start: at(50), rate: Rate::kbps(800) },
        ];
        assert_eq!(times(cbr(segments, at(65))), [0, 10, 50, 60].map(at));
    }

    #[test]
    fn a_pause_of_many_segments_is_passed_without_depth() {
        let mut segments: Vec<Segment> = (0..1_000_000).map(|n| Segment { start: at(n), rate: Rate::bps(0) }).collect();
        segments.push(Segment { start: at(1_000_000), rate: Rate::kbps(800) });
        for exponential in [false, true] {
            let (schedule, lengths) = (RateSchedule::Steps(segments.clone()), Lengths::One(Bytes::new(1000)));
            let first = Steady::new(schedule, Instant::NEVER, lengths, Bytes::new(0), exponential, stream(1)).next();
            assert!(
                first.is_some_and(|Emission { at: time, .. }| (at(1_000_000)..at(1_001_000)).contains(&time)),
                "{first:?}"
            );
        }
    }

    #[test]
    fn the_longest_run_at_the_highest_rate_does_not_overflow() {
        let mut source = cbr(vec![Segment { start: at(0), rate: Rate::bps(1) }], Instant::NEVER);
        source.before = u128::MAX - 1;
        source.advance();
        assert_eq!(source.next(), None);
    }

    #[test]
    fn poisson_packets_come_at_the_mean_rate_whatever_their_lengths() {
        for lengths in [Lengths::One(Bytes::new(1000)), Lengths::Between(Bytes::new(500), Bytes::new(1500))] {
            let schedule = RateSchedule::Steps(vec![Segment { start: at(0), rate: Rate::kbps(800) }]);
            let found = times(Steady::new(schedule, at(1_000_000), lengths, Bytes::new(0), true, stream(1))).len();
            // 100 000 expected, standard deviation 316.
            assert!(found.abs_diff(100_000) < 1_000, "{found}");
        }
    }

    #[test]
    fn a_packet_is_followed_by_the_time_that_it_takes_at_the_rate_with_its_headers() {
        // 128 B to 1518 B with 46 B of headers at 1.2 Mb/s: 20 B take 400/3 us.
        let schedule = RateSchedule::Steps(vec![Segment { start: at(0), rate: Rate::kbps(1_200) }]);
        let lengths = Lengths::Between(Bytes::new(128), Bytes::new(1518));
        let found = packets(Steady::new(schedule, at(100_000), lengths, Bytes::new(46), false, stream(1)));
        for pair in found.windows(2) {
            let took = (pair[0].payload.bits() + 46 * 8) * 1_000_000_000;
            let gap = pair[1].at.since(pair[0].at).as_nanos();
            assert!(gap.abs_diff(took / 1_200_000) <= 1, "{gap} ns after {:?}", pair[0]);
        }
        // 15 MB in packets of 823 B on average: 18 226; the lengths have a standard deviation of 401.5 B, so 66 packets.
        assert!(found.len().abs_diff(18_226) < 264, "{}", found.len());
        // Chi-square of ten equal classes of lengths, 139.1 each: below 27.9 with probability 0.999.
        let mut counts = [0_u32; 10];
        for packet in &found {
            counts[usize::try_from((packet.payload.count() - 82) * 10 / 1391).expect("a class")] += 1;
        }
        let expected = found.len() as f64 / 10.0;
        let chi2: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        assert!(chi2 < 27.9, "{chi2}");
    }

    #[test]
    fn a_list_of_lengths_is_drawn_from_evenly() {
        let schedule = RateSchedule::Steps(vec![Segment { start: at(0), rate: Rate::kbps(800) }]);
        let lengths = Lengths::Any([100, 100, 400, 1400].map(Bytes::new).to_vec());
        let found = packets(Steady::new(schedule, at(200_000), lengths, Bytes::new(0), false, stream(1)));
        let of = |length: u64| found.iter().filter(|packet| packet.payload == Bytes::new(length)).count() as f64;
        // 20 MB in packets of 500 B on average. Four standard deviations of a share of a half, and of a quarter.
        let n = found.len() as f64;
        assert!((of(100) / n - 0.5).abs() < 2.0 / n.sqrt() && (of(1400) / n - 0.25).abs() < 1.74 / n.sqrt(), "{n}");
        assert!((n - 40_000.0).abs() < 4.0 * 534.0 / 500.0 * n.sqrt(), "{n}");
    }

    #[test]
    fn a_drawn_rate_is_uniform_and_a_gap_that_it_meets_goes_on() {
        let mut rates = stream(7);
        let draws: Vec<u64> =
            (0..1000).map(|_| uniform(Rate::kbps(800), Rate::kbps(2400), &mut rates).as_bps()).collect();
        // Uniform on 0.8 to 2.4 Mb/s: mean 1.6, standard deviation of the mean 0.0146.
        let mean = draws.iter().sum::<u64>() as f64 / 1e9;
        assert!((mean - 1.6).abs() < 0.06 && draws.iter().all(|rate| (800_000..=2_400_000).contains(rate)), "{mean}");

        // The same draws, one each 30 ms: the rates add up to what is sent, except for the packet under way.
        let (from, to, every) = (Rate::kbps(800), Rate::kbps(2400), Duration::from_millis(30));
        let schedule = RateSchedule::Drawn { start: at(0), from, to, every, random: stream(7) };
        let lengths = Lengths::Between(Bytes::new(100), Bytes::new(1500));
        let found = packets(Steady::new(schedule, at(30_000), lengths, Bytes::new(0), false, stream(1)));
        let bits: u64 = found.iter().map(|packet| packet.payload.bits()).sum();
        let due = draws.iter().sum::<u64>() as f64 * 0.03;
        assert!((0.0..=12_000.0).contains(&(bits as f64 - due)), "{bits} bits, {due} due");
        assert!(found.is_sorted_by_key(|packet| packet.at));
    }
}
