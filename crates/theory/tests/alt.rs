//! ALT's dynamics: the test vectors of the document's analysis, worked out from its equations, and its invariants.

use proptest::prelude::*;
use theory::alt::{Buffer, OutOfRange, Traffic, utilisation};

#[track_caller]
fn to_four_digits(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.5e-4, "{found} is not {expected}");
}

/// (`alpha_T`, a, b, `beta_T`, rho), `lambda_e`, `gamma_e`, fixed point, (10) as printed, `lambda_f` at 0 and at 0.5.
type Vector = ([f64; 5], f64, f64, f64, f64, [f64; 2]);

const VECTORS: [Vector; 5] = [
    ([5.0, 10.0, 1.0, 0.5, 1.0], 0.0, 0.8333, 0.8333, 0.8333, [0.8333, 0.9167]),
    ([5.0, 100.0, 1.0, 0.5, 1.0], -7.5, 8.3333, 0.9804, 0.9804, [0.8333, 0.9167]),
    ([50.0, 10.0, 1.0, 0.5, 1.0], 0.8824, 0.0980, 0.8333, 0.8333, [0.9804, 0.9902]),
    ([5.0, 10.0, 1.0, 0.75, 1.0], -0.4167, 0.4167, 0.2941, 0.2941, [0.8333, 0.9167]),
    ([17.5, 10.0, 1.0, 0.5, 0.8], 0.7297, 0.2162, 0.8000, 0.8333, [0.9459, 0.9730]),
];

/// Returns the mean size at the next congestion event, in packets, after a mean of `size` (equation (8)). The queue
/// empties with probability `emptied` (`p_e`); where it does not, `delta` of the size stay occupied.
fn mean_next(buffer: &Buffer, size: f64, bdp: f64, emptied: f64, delta: f64) -> f64 {
    let lambda = emptied * buffer.lambda_emptied() + (1.0 - emptied) * buffer.lambda_filled(delta);
    lambda * size + emptied * buffer.gamma_emptied() * bdp
}

/// Equation (9): the stability condition for a single flow with a round trip of 200 ms, whose `alpha_T` is 5 packets/s: the
/// least growth that the document reckons with.
fn is_stable_for_any(a: f64, b: f64) -> bool {
    a < 10.0 + b
}

/// Returns the fixed point as (10) prints it, which is the case of equal round trips (B3).
fn printed_fixed_point([_, a, b, backoff, _]: [f64; 5]) -> f64 {
    (1.0 - backoff) / (b / a + backoff)
}

/// Returns how many congestion events shrink the distance to the fixed point to `share` of itself while the queue
/// always empties; infinite where the distance does not shrink.
fn events_to_settle(buffer: &Buffer, share: f64) -> f64 {
    let lambda = buffer.lambda_emptied().abs();
    if lambda < 1.0 { share.ln() / lambda.ln() } else { f64::INFINITY }
}

fn buffer([growth, a, b, backoff, spread]: [f64; 5]) -> Buffer {
    Buffer::new([a, b], growth, spread, backoff).expect("the vectors are in range")
}

#[test]
fn the_recursion_has_the_documents_coefficients() {
    for (parameters, lambda, gamma, fixed_point, printed, filled) in VECTORS {
        let buffer = buffer(parameters);
        to_four_digits(buffer.lambda_emptied(), lambda);
        to_four_digits(buffer.gamma_emptied(), gamma);
        to_four_digits(buffer.fixed_point(), fixed_point);
        to_four_digits(printed_fixed_point(parameters), printed);
        to_four_digits(buffer.lambda_filled(0.0), filled[0]);
        to_four_digits(buffer.lambda_filled(0.5), filled[1]);
    }
}

#[test]
fn only_the_vector_with_a_of_100_is_unstable() {
    for (parameters, lambda, ..) in VECTORS {
        let [_, a, b, ..] = parameters;
        assert_eq!(buffer(parameters).is_stable(), lambda.abs() < 1.0);
        assert_eq!(is_stable_for_any(a, b), a < 50.0);
    }
    assert!(is_stable_for_any(10.999, 1.0) && !is_stable_for_any(11.0, 1.0));
}

/// Returns the sizes of one flow of 1690 packets/s and 200 ms, from 1000 packets on.
fn sizes(a: f64) -> impl Iterator<Item = f64> {
    let buffer = buffer([5.0, a, 1.0, 0.5, 1.0]);
    std::iter::successors(Some(1_000.0), move |&size| Some(buffer.next(size, 338.0)))
}

#[test]
fn one_flow_settles_at_five_sixths_of_the_product_and_empties_the_queue_each_time() {
    let buffer = buffer([5.0, 10.0, 1.0, 0.5, 1.0]);
    let settled: Vec<f64> = sizes(10.0).skip(50).take(50).collect();
    for size in settled {
        to_four_digits(size / 338.0, 0.8333);
        assert!(buffer.empties(size, 338.0));
    }
}

/// Returns the least, largest and mean of a sequence of sizes, as products of 338 packets, and the share of events
/// after which the queue empties.
fn summary(buffer: &Buffer, sizes: &[f64]) -> [f64; 4] {
    let n = sizes.len() as f64;
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sizes.iter().copied().fold(0.0, f64::max);
    let emptied = sizes.iter().filter(|&&size| buffer.empties(size, 338.0)).count() as f64;
    [least / 338.0, most / 338.0, sizes.iter().sum::<f64>() / n / 338.0, emptied / n]
}

/// The list of vectors has a cycle between 0.84 and 2.03 products with a mean of 439 packets, in which 1 event in 4
/// empties the queue. The equations have no cycle: sizes just below a product are thrown 7.5 times as far apart as they
/// were, so that the smallest rounding decides which are visited. Whole packets make a cycle with the list's extremes.
#[test]
fn with_a_of_100_the_size_swings_around_400_packets_without_coming_to_rest() {
    let buffer = buffer([5.0, 100.0, 1.0, 0.5, 1.0]);
    let exact: Vec<f64> = sizes(100.0).skip(2_000).take(200_000).collect();
    let [least, most, mean, emptied] = summary(&buffer, &exact);
    // The largest follows the least, which follows a queue that just does not empty: 5.5/6 - 0.5/6 = 5/6 and 8.3333 -
    // 7.5 * 5/6 = 25/12.
    assert!(least > 0.8333 && least < 0.834, "least {least}");
    assert!(most < 2.0834 && most > 2.083, "most {most}");
    assert!((mean * 338.0 - 423.0).abs() < 1.0, "mean {mean}");
    assert!((emptied - 0.267).abs() < 0.001, "emptied {emptied}");

    let whole = |size: &f64| Some(libm::round(buffer.next(*size, 338.0)));
    let rounded: Vec<f64> = std::iter::successors(Some(1_000.0), whole).skip(2_000).take(20_000).collect();
    let [least, most, mean, emptied] = summary(&buffer, &rounded);
    assert!((least - 0.84).abs() < 0.005 && (most - 2.03).abs() < 0.005, "{least} to {most}");
    assert!((mean * 338.0 - 430.0).abs() < 1.0, "mean {mean}");
    assert!((emptied - 0.25).abs() < 0.001, "emptied {emptied}");
}

#[test]
fn different_round_trips_spread() {
    let traffic = Traffic::standard(&[0.1, 0.2]).unwrap();
    to_four_digits(traffic.growth, 15.0);
    to_four_digits(traffic.acceleration, 125.0);
    to_four_digits(traffic.round_trip_s, 0.1333);
    to_four_digits(traffic.spread, 0.9);
    to_four_digits(Traffic::standard(&[0.2; 10]).unwrap().spread, 1.0);
    assert_eq!(Traffic::standard(&[]), Err(OutOfRange));
    assert_eq!(Traffic::standard(&[0.1, 0.0]), Err(OutOfRange));
}

#[test]
fn the_steps_bound_utilisation() {
    for (ratio, bound) in [(0.001, 0.999), (0.01, 0.990), (0.1, 0.909), (0.2, 0.833), (0.5, 0.667), (1.0, 0.5)] {
        assert!((utilisation(10.0, 10.0 * ratio) - bound).abs() < 0.5e-3, "{ratio}");
    }
    let one = buffer([5.0, 10.0, 1.0, 0.5, 1.0]);
    to_four_digits(one.utilisation(), 0.9091);
    to_four_digits(buffer([15.0, 10.0, 1.0, 0.5, 0.9]).utilisation(), 1.0 / 1.09);
}

#[test]
fn the_mean_follows_both_branches() {
    // Half of the events empty the queue: (0 + 0.9167) / 2 * 600 + 0.8333 / 2 * 338 = 275 + 140.83.
    let buffer = buffer([5.0, 10.0, 1.0, 0.5, 1.0]);
    to_four_digits(mean_next(&buffer, 600.0, 338.0, 0.5, 0.5), 415.833_333);
    // With p_e = 0 the mean shrinks to nothing, whatever (10) says of it (B2).
    let shrunk = (0..1_000).fold(338.0, |size, _| mean_next(&buffer, size, 338.0, 0.0, 0.5));
    assert!(shrunk < 1e-6, "{shrunk}");
}

#[test]
fn settling_takes_the_logarithm_of_what_is_left_over_that_of_lambda() {
    // lambda_e = 0.88235: ln 0.1 / ln 0.88235 = 18.4 events make the distance ten times smaller.
    let many = buffer([50.0, 10.0, 1.0, 0.5, 1.0]);
    assert!((events_to_settle(&many, 0.1) - 18.397).abs() < 0.001, "{}", events_to_settle(&many, 0.1));
    assert!(events_to_settle(&buffer([5.0, 100.0, 1.0, 0.5, 1.0]), 0.1).is_infinite());
}

#[test]
fn what_is_out_of_range_is_refused() {
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Buffer::new([wrong, 1.0], 5.0, 1.0, 0.5), Err(OutOfRange));
        assert_eq!(Buffer::new([10.0, wrong], 5.0, 1.0, 0.5), Err(OutOfRange));
        assert_eq!(Buffer::new([10.0, 1.0], wrong, 1.0, 0.5), Err(OutOfRange));
        assert_eq!(Buffer::new([10.0, 1.0], 5.0, wrong, 0.5), Err(OutOfRange));
        assert_eq!(Buffer::new([10.0, 1.0], 5.0, 1.0, wrong), Err(OutOfRange));
    }
    assert_eq!(Buffer::new([10.0, 1.0], 5.0, 1.1, 0.5), Err(OutOfRange));
    assert_eq!(Buffer::new([10.0, 1.0], 5.0, 1.0, 1.1), Err(OutOfRange));
}

proptest! {
    #[test]
    fn the_condition_suffices_and_the_fixed_point_is_one(
        a in 0.01_f64..200.0, b in 0.01_f64..200.0, growth in 0.1_f64..500.0, spread in 0.01_f64..=1.0,
        backoff in 0.01_f64..=1.0, delta in 0.0_f64..0.999,
    ) {
        let buffer = Buffer::new([a, b], growth, spread, backoff).unwrap();
        prop_assert!(buffer.lambda_filled(delta) > 0.0 && buffer.lambda_filled(delta) < 1.0);
        prop_assert!(buffer.lambda_emptied() < 1.0);
        if buffer.is_stable() {
            prop_assert!(buffer.lambda_emptied() > -1.0);
        }
        let size = buffer.fixed_point() * 338.0;
        prop_assert!((mean_next(&buffer, size, 338.0, 1.0, 0.0) - size).abs() < 1e-6 * size.max(1.0));
        prop_assert!(buffer.utilisation() >= utilisation(a, b));
    }

    #[test]
    fn round_trips_spread_by_at_most_their_number(times in prop::collection::vec(0.001_f64..10.0, 1..20)) {
        let traffic = Traffic::standard(&times).unwrap();
        prop_assert!(traffic.spread <= 1.0 + 1e-9 && traffic.spread >= 1.0 / times.len() as f64 - 1e-9);
    }
}
