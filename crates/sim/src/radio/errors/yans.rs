//! OFDM according to Lacage and Henderson, Yet another network simulator (2006): the first terms of the union bound on
//! the output of a hard-decision Viterbi decoder.

use super::coding::{CodeRate, Coding};

/// Returns the bit error ratio after the decoder. `ratio` is a coded bit's energy over the noise density (Eb/N0).
pub(super) fn bit_error(coding: Coding, ratio: f64) -> f64 {
    let raw = raw_bit_error(coding.points, ratio);
    // The free distance, and the numbers of code words at this distance and at the next one.
    let (free, at_free, at_next) = match (coding.points, coding.code) {
        (_, CodeRate::Half) => (10, 11.0, 0.0),
        (_, CodeRate::TwoThirds) => (6, 1.0, 16.0),
        (2, CodeRate::ThreeQuarters) => (5, 8.0, 0.0),
        (_, CodeRate::ThreeQuarters) => (5, 8.0, 31.0),
        (_, CodeRate::FiveSixths) => (4, 14.0, 69.0),
    };
    (at_free * wrong_path(raw, free) + at_next * wrong_path(raw, free + 1)).min(1.0)
}

/// Returns the bit error ratio of the modulation (Proakis, Digital communications, section 5.2).
fn raw_bit_error(points: u32, ratio: f64) -> f64 {
    if points == 2 {
        return 0.5 * libm::erfc(libm::sqrt(ratio));
    }
    let points = f64::from(points);
    let bits = libm::log2(points);
    let axis = (1.0 - 1.0 / libm::sqrt(points)) * libm::erfc(libm::sqrt(1.5 * bits * ratio / (points - 1.0)));
    (1.0 - (1.0 - axis) * (1.0 - axis)) / bits
}

/// Returns the probability that the decoder prefers a path at distance `d`: most differing bits are wrong.
fn wrong_path(raw: f64, d: u32) -> f64 {
    let mut binomial = 1.0;
    let mut sum = 0.0;
    for wrong in 0..=d {
        if wrong > 0 {
            binomial *= f64::from(d - wrong + 1) / f64::from(wrong);
        }
        let weight = match (2 * wrong).cmp(&d) {
            core::cmp::Ordering::Less => continue,
            core::cmp::Ordering::Equal => 0.5,
            core::cmp::Ordering::Greater => 1.0,
        };
        let power = |base: f64, times: u32| (0..times).fold(1.0, |power, _| power * base);
        sum += weight * binomial * power(raw, wrong) * power(1.0 - raw, d - wrong);
    }
    sum
}
