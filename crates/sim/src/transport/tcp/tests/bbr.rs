//! Tests of BBR's model against numbers computed by hand.

use super::*;

const SEGMENT: u64 = 1000;

/// A path of 100 segments per second with a round trip of 100 ms, which a sender fills: one acknowledgement per segment.
struct Fed {
    bbr: Bbr,
    cwnd: u64,
    now: Instant,
    delivered: u64,
}

impl Fed {
    fn new() -> Self {
        let mut bbr = Bbr::new(SEGMENT, 10 * SEGMENT);
        bbr.open(10 * SEGMENT, Instant::ZERO, Some(Duration::from_millis(100)));
        Self { bbr, cwnd: 10 * SEGMENT, now: Instant::ZERO, delivered: 0 }
    }

    /// An acknowledgement of a segment after so many milliseconds, at a rate in segments per second; `pipe` segments stay.
    fn ack(&mut self, millis: u64, rate: u64, pipe: u64) -> Ack {
        self.now += Duration::from_millis(millis);
        self.delivered += SEGMENT;
        let rtt = Some(Duration::from_millis(101));
        let delivered = rate * SEGMENT;
        let prior_delivered = self.delivered.saturating_sub((pipe + 1) * SEGMENT);
        let sample = Sample { prior_delivered, delivered, interval: Duration::from_secs(1), limited: false, rtt };
        Ack {
            now: self.now,
            sample: Some(sample),
            delivered: self.delivered,
            acked: SEGMENT,
            lost: 0,
            before: (pipe + 1) * SEGMENT,
            pipe: pipe * SEGMENT,
            recovering: false,
            conserves: false,
        }
    }

    fn hear(&mut self, ack: &Ack) -> u64 {
        self.cwnd = self.bbr.hear(self.cwnd, ack);
        self.cwnd / SEGMENT
    }

    /// Startup at 100 segments per second, until a cycle begins.
    fn filled() -> Self {
        let mut fed = Self::new();
        for _ in 0..100 {
            let ack = fed.ack(10, 100, 10);
            fed.hear(&ack);
        }
        assert!(matches!(fed.bbr.state, State::ProbeBw { .. }));
        fed
    }
}

#[test]
fn startup_ends_after_three_round_trips_without_growth_and_drains_to_the_bandwidth_delay_product() {
    let mut fed = Fed::new();
    // 2.89 windows of ten segments per 100 ms, at first.
    assert!((fed.bbr.pace - 289e3).abs() < 1.0);
    let mut ends = Vec::new();
    for number in 0..600 {
        // The rate rises to 400 segments per second; the queue stays until it is drained.
        let ack = fed.ack(10, (100 + number).min(400), if number < 580 { 60 } else { 40 });
        let before = fed.bbr.state;
        fed.hear(&ack);
        if fed.bbr.state != before {
            ends.push((number, fed.bbr.state, (fed.bbr.pace / 1e3).round()));
        }
    }
    let [(filled, State::Drain, drained), (580, State::ProbeBw { .. }, _), ..] = ends[..] else { panic!("{ends:?}") };
    // A round trip has 61 acknowledgements: in the last with growth the rate is 400, and three follow.
    assert!((300 + 3 * 61..300 + 4 * 61).contains(&filled), "{filled}");
    // 0.99 / 2.89 of 400 segments per second.
    assert!((drained - 137.0).abs() < 1e-9);
}

#[test]
fn a_cycle_has_its_gains_and_a_window_of_twice_the_product() {
    let mut fed = Fed::filled();
    let mut gains = Vec::new();
    for _ in 0..200 {
        let ack = fed.ack(10, 100, 16);
        // Twice 100 segments per second times 100 ms, and three quanta of a segment.
        assert_eq!(fed.hear(&ack), 23);
        let gain = (fed.bbr.pace / 99.0).round() / 1e3;
        if gains.last() != Some(&gain) {
            gains.push(gain);
        }
    }
    let high = gains.iter().position(|&gain| gain > 1.0).expect("it probes");
    assert_eq!(gains[high..high + 4], [1.25, 0.75, 1.0, 1.25]);
}

#[test]
fn a_sample_without_enough_data_counts_only_if_it_is_higher() {
    let mut fed = Fed::filled();
    for (limited, rate, expected) in [(true, 50, 100e3), (true, 120, 120e3), (false, 50, 50e3)] {
        // More than ten round trips of eleven acknowledgements.
        for _ in 0..140 {
            let mut ack = fed.ack(10, rate, 10);
            ack.sample.as_mut().unwrap().limited = limited;
            fed.hear(&ack);
        }
        assert!((fed.bbr.rate() - expected).abs() < 1.0, "{limited}, {rate}: {}", fed.bbr.rate());
    }
}

#[test]
fn an_interval_below_the_round_trip_is_no_sample() {
    let mut fed = Fed::filled();
    let mut ack = fed.ack(10, 100, 10);
    ack.sample.as_mut().unwrap().interval = Duration::from_millis(99);
    fed.hear(&ack);
    assert!((fed.bbr.rate() - 100e3).abs() < 1.0);
}

#[test]
fn without_a_new_minimum_for_ten_seconds_the_window_is_four_segments_for_a_fifth_of_a_second() {
    let mut fed = Fed::filled();
    let (mut low, mut left) = (Vec::new(), None);
    for _ in 0..1100 {
        let pipe = (fed.cwnd / SEGMENT).min(16) - 1;
        let ack = fed.ack(10, 100, pipe);
        let window = fed.hear(&ack);
        if fed.bbr.is_probing_rtt() {
            assert_eq!(window, 4);
            low.push(fed.now.as_secs_f64());
        } else if !low.is_empty() {
            left.get_or_insert(window);
        }
    }
    let time = low.last().unwrap() - low[0];
    assert!((10.0..10.02).contains(&low[0]) && (0.2..0.22).contains(&time), "{low:?}");
    assert_eq!(left, Some(23));
    // The samples since are longer, and the time without a queue follows them.
    assert_eq!(fed.bbr.round_trip, Some(Duration::from_millis(101)));
}

#[test]
fn a_recovery_sends_what_is_delivered_for_a_round_trip_and_then_restores_the_window() {
    let mut fed = Fed::filled();
    assert_eq!(fed.cwnd / SEGMENT, 23);
    let mut windows = Vec::new();
    for number in 0..24 {
        let ack = fed.ack(10, 100, 9);
        let lost = if number == 0 { 3 * SEGMENT } else { 0 };
        windows.push(fed.hear(&Ack { lost, recovering: number < 15, conserves: number < 15, ..ack }));
    }
    assert_eq!(windows[..10], [10; 10]);
    // The next round trip grows by what is acknowledged, and the end of the recovery restores.
    assert_eq!(windows[10..15], [11, 12, 13, 14, 15]);
    assert_eq!(windows[15..], [23; 9]);
}

#[test]
fn the_window_before_a_timeout_comes_back_after_the_repair() {
    let mut fed = Fed::filled();
    fed.bbr.time_out(fed.cwnd);
    fed.cwnd = SEGMENT;
    let ack = fed.ack(10, 100, 0);
    // At least four segments, and never conservation.
    assert_eq!(fed.hear(&Ack { recovering: true, conserves: true, ..ack }), 4);
    let ack = fed.ack(10, 100, 3);
    assert_eq!(fed.hear(&ack), 23);
}

#[test]
fn the_quantum_grows_with_the_rate() {
    let mut bbr = Bbr::new(SEGMENT, 10 * SEGMENT);
    let quanta = [1.1e6, 1.3e6, 23e6, 25e6, 1e9].map(|bps| {
        bbr.pace = bps / 8.0;
        bbr.pace().quantum
    });
    assert_eq!(quanta, [1000, 2000, 2000, 3125, 64_000]);
}
