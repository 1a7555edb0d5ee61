//! OFDM according to Pei and Henderson, Validation of OFDM error rate model in ns-3 (2010), after Miller, Validation of
//! 802.11a/UWB coexistence simulation (NIST, 2003): union bound on the output of a hard-decision Viterbi decoder.

use super::coding::{CodeRate, Coding};

/// Returns the bit error ratio after the decoder; 1 if the bound exceeds 1.
pub(super) fn bit_error(coding: Coding, ratio: f64) -> f64 {
    let raw = raw_bit_error(coding.points, ratio);
    decoded(raw, coding.code).min(1.0)
}

/// Returns the bit error ratio of the Gray-coded modulation; `ratio` is a symbol's energy over the noise density.
/// Square QAM of `m` points, `b` bits: `2 (1 - 1 / sqrt(m)) / b * erfc(sqrt(3 ratio / (2 (m - 1))))`.
fn raw_bit_error(points: u32, ratio: f64) -> f64 {
    let (factor, divisor) = match points {
        2 => (1.0 / 2.0, 1.0),
        4 => (1.0 / 2.0, 2.0),
        16 => (3.0 / 8.0, 10.0),
        64 => (7.0 / 24.0, 42.0),
        256 => (15.0 / 64.0, 170.0),
        _ => (31.0 / 160.0, 682.0),
    };
    factor * libm::erfc(libm::sqrt(ratio / divisor))
}

/// Returns the bound: for each bit that enters the encoder, half the sum of c(d) D^d over the distances d. D is the
/// Bhattacharyya parameter of the binary symmetric channel. The c(d) are the information weights of the code of
/// constraint length 7 (generators 133, 171), punctured as in the standard. Sources: Frenger, Orten and Ottosson,
/// Multi-rate convolutional codes (1998); for 5/6, Haccoun and Begin (1989).
fn decoded(raw: f64, code: CodeRate) -> f64 {
    let d = libm::sqrt(4.0 * raw * (1.0 - raw));
    // The tables of the papers; each line is one table.
    #[rustfmt::skip]
    let (inputs, lowest, step, weights): (f64, i32, f64, &[f64]) = match code {
        CodeRate::Half => (1.0, 10, d * d,
            &[36.0, 211.0, 1_404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0]),
        CodeRate::TwoThirds => (2.0, 6, d,
            &[3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0]),
        CodeRate::ThreeQuarters => (3.0, 5, d,
            &[42.0, 201.0, 1_492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0, 13_073_811.0, 75_152_755.0, 428_005_675.0]),
        CodeRate::FiveSixths => (5.0, 4, d,
            &[92.0, 528.0, 8_694.0, 79_453.0, 792_114.0, 7_375_573.0, 67_884_974.0, 610_875_423.0, 5_427_275_376.0,
              47_664_215_639.0]),
    };
    let sum = weights.iter().rev().fold(0.0, |sum, weight| sum * step + weight);
    let lead = (0..lowest).fold(1.0, |power, _| power * d);
    sum * lead / (2.0 * inputs)
}
