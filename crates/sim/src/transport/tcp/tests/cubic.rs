//! Tests of CUBIC against numbers from the formulas of RFC 9438, section 4, computed here independently.

use super::*;
use units::Duration;

const SEGMENT: u64 = 1000;

/// A window of `segments` that grows in congestion avoidance with one acknowledgement a segment, every `rtt`, for `seconds`;
/// gives (time, window in segments) at the end of each round.
fn grow(cubic: &mut Cubic, segments: u64, rtt: Duration, seconds: u64) -> Vec<(f64, f64)> {
    let (mut cwnd, mut now) = (segments * SEGMENT, Instant::ZERO);
    let mut rounds = Vec::new();
    while now < Instant::ZERO + Duration::from_secs(seconds) {
        for _ in 0..cwnd / SEGMENT {
            cwnd +=
                cubic.increase(cwnd, Growth { now, srtt: Some(rtt), acked: SEGMENT, limited: true, timed_out: false });
        }
        now += rtt;
        rounds.push((now.as_secs_f64(), cwnd as f64 / SEGMENT as f64));
    }
    rounds
}

#[test]
fn the_window_follows_the_cubic_to_its_plateau_and_beyond() {
    let mut cubic = Cubic::new(SEGMENT, FriendlyGrowth::CatchUp);
    assert_eq!(cubic.decrease(1_000_000, 1_000_000), 700_000);
    // K = cbrt(1000 * 0.3 / 0.4) = 9.0856 s.
    let rounds = grow(&mut cubic, 700, Duration::from_millis(100), 14);
    for (time, window) in rounds {
        let expected = 0.4 * (time - 9.085_603).powi(3) + 1000.0;
        // A round of acknowledgements reaches 1 - 1/e of the way to a target a round ahead: within two rounds' growth.
        let growth = 3.0 * 0.4 * (time - 9.085_603).powi(2) * 0.1 + 1.2 * 0.1 * 0.1 * 9.1;
        assert!((window - expected).abs() <= 2.0 * growth, "{time}: {window} instead of {expected}");
    }
}

#[test]
fn in_the_friendly_region_it_grows_like_reno_with_the_same_average() {
    let mut cubic = Cubic::new(SEGMENT, FriendlyGrowth::CatchUp);
    cubic.decrease(20_000, 20_000);
    // At 10 ms, K = cbrt(6 / 0.4) = 2.466 s; Reno's share is 9/17 = 0.529 segments a round until 20, then 1.
    let rounds = grow(&mut cubic, 14, Duration::from_millis(10), 1);
    let mut w_est = 14.0;
    for (time, window) in rounds {
        w_est += if w_est < 20.0 { 9.0 / 17.0 } else { 1.0 };
        // One part in sixteen: acknowledgements come by whole segments, W_est by parts of them.
        assert!((window - w_est).abs() <= w_est / 16.0, "{time}: {window} instead of {w_est}");
    }
}

/// Segments by which a window of 14, reduced from 20, grows in 20 round trips of 10 ms.
#[test]
fn beyond_the_last_window_the_friendly_region_may_stay_slow_or_be_left_out() {
    let grown = |friendly| {
        let mut cubic = Cubic::new(SEGMENT, friendly);
        cubic.decrease(20_000, 20_000);
        let rounds = grow(&mut cubic, 14, Duration::from_millis(10), 1);
        rounds[19].1 - 14.0
    };
    // 6 at 9/17 a round trip take 11.3 of them, and the other 8.7 give a segment each; 20 at 9/17; 0.4 (0.2 - 2.466)^3 + 6.
    for (friendly, expected) in
        [(FriendlyGrowth::CatchUp, 14.7), (FriendlyGrowth::Constant, 10.6), (FriendlyGrowth::None, 1.35)]
    {
        let grown = grown(friendly);
        assert!((grown - expected).abs() <= 1.0, "{friendly:?}: {grown} instead of {expected}");
    }
}

#[test]
fn fast_convergence_lowers_the_plateau_of_a_flow_that_got_less() {
    let mut cubic = Cubic::new(SEGMENT, FriendlyGrowth::CatchUp);
    cubic.decrease(100_000, 100_000);
    assert!((cubic.w_max - 100.0).abs() < 1e-9);
    assert_eq!(cubic.decrease(80_000, 80_000), 56_000);
    assert!((cubic.w_max - 80.0 * 0.85).abs() < 1e-9);
    cubic.decrease(90_000, 90_000);
    assert!((cubic.w_max - 90.0).abs() < 1e-9);
}

#[test]
fn after_a_timeout_the_plateau_is_where_congestion_avoidance_begins() {
    let mut cubic = Cubic::new(SEGMENT, FriendlyGrowth::CatchUp);
    cubic.decrease(100_000, 100_000);
    cubic.forget();
    // K = 0: the convex region from the start, 50 + 0.4 t^3.
    let rounds = grow(&mut cubic, 50, Duration::from_millis(500), 10);
    assert!((cubic.w_max - 50.0).abs() < 1e-9);
    let (time, window) = rounds[rounds.len() - 1];
    let [least, most] = [time - 0.5, time + 0.5].map(|t| 50.0 + 0.4 * t.powi(3));
    assert!((least..most).contains(&window), "{window}");
}

#[test]
fn a_target_is_at_most_half_a_window_away() {
    let mut cubic = Cubic::new(SEGMENT, FriendlyGrowth::CatchUp);
    let mut growth =
        Growth { now: Instant::ZERO, srtt: Some(Duration::ZERO), acked: SEGMENT, limited: true, timed_out: false };
    cubic.increase(100_000, growth);
    growth.now = Instant::ZERO + Duration::from_secs(1000);
    // (150 - 100) / 100 of a segment.
    assert_eq!(cubic.increase(100_000, growth), 500);
}

#[test]
fn time_without_use_does_not_count() {
    let after = |pause: bool| {
        let mut cubic = Cubic::new(SEGMENT, FriendlyGrowth::CatchUp);
        cubic.decrease(100_000, 100_000);
        let mut growth = Growth { now: Instant::ZERO, srtt: None, acked: SEGMENT, limited: true, timed_out: false };
        let cwnd = 70_000 + cubic.increase(70_000, growth);
        growth.now = Instant::ZERO + Duration::from_secs(3);
        if pause {
            cubic.pause(growth.now);
        }
        cubic.increase(cwnd, growth)
    };
    // At t = 0 the cubic is at the window itself.
    assert!(after(true) <= 8, "{}", after(true));
    assert!(after(false) > 100);
}
