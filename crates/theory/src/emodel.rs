//! The E-model: predicts how users rate a telephone call from its delay and its losses.
//!
//! Source: ITU-T Recommendation G.107, section 7: `R = Ro - Is - Id - Ie,eff + A`, with equations (7-1) to (7-29).
//! Delay, codec and loss are inputs; all else has the defaults of section 7.7 (Table 3): handsets, room noise of 35
//! dB(A) at both ends, no echo canceller, `A = 0`. Losses are random (`BurstR = 1`). A digital path without hybrids has
//! one delay: `T = Ta`, `Tr = 2 Ta`.
//!
//! Symbols are those of the recommendation. Levels are in decibels, delays in milliseconds, `Ppl` is in per cent.

use units::Duration;

/// How well a codec bears losses (section 7.5); values from ITU-T G.113, Appendix I.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    /// `Ie`: the impairment without losses.
    pub impairment: f64,
    /// `Bpl`: the robustness against losses, in per cent; above zero.
    pub robustness: f64,
}

/// G.711 whose receiver replaces missing packets by silence.
pub const G711: Codec = Codec { impairment: 0.0, robustness: 4.3 };
/// G.711 whose receiver conceals losses (G.711 Appendix I), as is usual today.
pub const G711_CONCEALED: Codec = Codec { impairment: 0.0, robustness: 25.1 };

/// `SLR` and `RLR`: loudness ratings of sender and receiver.
const SENDER: f64 = 8.0;
const RECEIVER: f64 = 2.0;
/// `OLR`: overall loudness rating.
const OVERALL: f64 = SENDER + RECEIVER;
/// `STMR`: sidetone masking. With `Dr` = 3 it also gives the listener's sidetone rating, `LSTR`.
const SIDETONE: f64 = 15.0;
const LISTENER_SIDETONE: f64 = SIDETONE + 3.0;
/// `TELR`: the loss of the talker's echo.
const ECHO: f64 = 65.0;
/// `WEPL`: the loss of the listener's echo.
const ECHO_PATH: f64 = 110.0;
/// `Ds`, `Ps` and `Pr`: how the handset weights room noise, and that noise at both ends.
const SEND_SIDE: f64 = 3.0;
const ROOM: f64 = 35.0;
/// `Nc` and `Nfor`: noise of the circuit, and the noise floor at the receiver.
const CIRCUIT: f64 = -70.0;
const FLOOR: f64 = -64.0;
/// `Q` for `qdu` = 1: one G.711 coder and decoder.
const QUANTISATION: f64 = 37.0;

/// Returns `R` of a call with this mouth-to-ear delay and this share of packets missing for any cause: 0 to 100, and
/// 93.2 without delay and loss. Above 80 users are satisfied, below 60 nearly all are dissatisfied (Annex B). A
/// negative `R` is returned as zero.
pub fn rating(mouth_to_ear: Duration, missing: f64, codec: Codec) -> f64 {
    let delay = mouth_to_ear.as_secs_f64() * 1e3;
    let noise = noise();
    let ratio = 15.0 - 1.5 * (SENDER + noise);
    let impairments = simultaneous(ratio, noise, delay) + delayed(ratio, noise, delay) + equipment(missing, codec);
    (ratio - impairments).max(0.0)
}

/// Returns `No`, (7-3) to (7-7): the sum of all noise.
fn noise() -> f64 {
    let of_room = |loss: f64| ROOM - loss;
    let sent = of_room(SENDER) - SEND_SIDE - 100.0 + 0.004 * square(of_room(OVERALL) - SEND_SIDE - 14.0);
    let room = ROOM + 10.0 * libm::log10(1.0 + power((10.0 - LISTENER_SIDETONE) / 10.0));
    let received = RECEIVER - 121.0 + room + 0.008 * square(room - 35.0);
    let sum: f64 = [CIRCUIT, sent, received, FLOOR + RECEIVER].iter().map(|level| power(level / 10.0)).sum();
    10.0 * libm::log10(sum)
}

/// Returns `Is`, (7-8) to (7-17): impairments that occur together with speech (loudness, sidetone, quantisation).
fn simultaneous(ratio: f64, noise: f64, delay: f64) -> f64 {
    let loudness = (OVERALL + 0.2 * (64.0 + noise - RECEIVER)) / 8.0;
    let too_loud = 20.0 * (norm(loudness, 8.0) - loudness);
    let echo = libm::exp(-delay / 4.0) * power(-ECHO / 10.0);
    let sidetone = -10.0 * libm::log10(power(-SIDETONE / 10.0) + echo);
    let by_sidetone = 12.0 * norm((sidetone - 13.0) / 6.0, 8.0)
        - 28.0 * norm((sidetone + 1.0) / 19.4, 35.0)
        - 13.0 * norm((sidetone - 3.0) / 33.0, 13.0)
        + 29.0;
    let g = 1.07 + 0.258 * QUANTISATION + 0.0602 * square(QUANTISATION);
    let (y, z) = ((ratio - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0, 46.0 / 30.0 - g / 40.0);
    too_loud + by_sidetone + 15.0 * libm::log10(1.0 + power(y) + power(z))
}

/// Returns `Id`, (7-18) to (7-28): impairments from the echoes of talker and listener, and from the delay itself.
fn delayed(ratio: f64, noise: f64, delay: f64) -> f64 {
    let talker = if delay < 1.0 {
        0.0
    } else {
        let loss = ECHO - 40.0 * libm::log10((1.0 + delay / 10.0) / (1.0 + delay / 150.0))
            + 6.0 * libm::exp(-0.3 * square(delay));
        let half = (-1.5 * (noise - RECEIVER) - (80.0 + 2.5 * (loss - 14.0))) / 2.0;
        (half + libm::sqrt(square(half) + 100.0) - 1.0) * (1.0 - libm::exp(-delay))
    };
    let half = (ratio - 10.5 * (ECHO_PATH + 7.0) * libm::pow(2.0 * delay + 1.0, -0.25)) / 2.0;
    let listener = half + libm::sqrt(square(half) + 169.0);
    let long = if delay <= 100.0 {
        0.0
    } else {
        let x = libm::log2(delay / 100.0);
        25.0 * (norm(x, 6.0) - 3.0 * norm(x / 3.0, 6.0) + 2.0)
    };
    talker + listener + long
}

/// Returns `Ie,eff`, (7-29): the impairment from the codec and from losses.
fn equipment(missing: f64, codec: Codec) -> f64 {
    let percent = 100.0 * missing.clamp(0.0, 1.0);
    codec.impairment + (95.0 - codec.impairment) * percent / (percent + codec.robustness)
}

fn square(x: f64) -> f64 {
    x * x
}

fn power(exponent: f64) -> f64 {
    libm::pow(10.0, exponent)
}

/// Returns `(1 + x^n)^(1/n)`: the n-norm of the vector (1, x).
fn norm(x: f64, n: f64) -> f64 {
    libm::pow(1.0 + libm::pow(x, n), 1.0 / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(value: f64, expected: f64, within: f64) {
        assert!((value - expected).abs() <= within, "{value}, expected {expected}");
    }

    fn clean(millis: u64) -> f64 {
        rating(Duration::from_millis(millis), 0.0, G711_CONCEALED)
    }

    /// Section 7.7: with all parameters at their defaults R = 93.2.
    #[test]
    fn a_call_without_delay_and_loss_has_the_recommendations_default() {
        near(clean(0), 93.2, 0.05);
    }

    /// By hand. Nos = 35 - 8 - 3 - 100 + 0.004 * 8^2 = -75.744. Pre = 35 + 10 lg(1 + 10^-0.8) = 35.639, and
    /// Nor = 2 - 121 + 35.639 + 0.008 * 0.639^2 = -83.358. Nfo = -62. As powers: 1.000e-7 + 2.664e-8 + 4.615e-9 + 6.310e-7 =
    /// 7.622e-7, so that No = -61.179 and Ro = 15 - 1.5 (8 - 61.179) = 94.769.
    #[test]
    fn the_signal_to_noise_ratio_is_that_of_the_default_noise() {
        near(noise(), -61.179, 5e-4);
        near(15.0 - 1.5 * (SENDER + noise()), 94.769, 5e-4);
    }

    /// By hand. Xolr = 10 + 0.2 * 0.8208 = 10.164, Iolr = 20 ((1 + 1.27050^8)^(1/8) - 1.27050) = 20 * 0.02201 = 0.440. G = 1.07 +
    /// 9.546 + 82.414 = 93.03; Y = -0.3488 + 5.4762 - 10.3366 = -5.209, Z = 1.5333 - 2.3257 = -0.7924, Iq = 15 lg 1.16129 = 0.974.
    /// The sidetone of 15 dB costs -0.0007.
    #[test]
    fn loudness_sidetone_and_quantisation_cost_1_4() {
        near(simultaneous(94.769, -61.179, 0.0), 0.440 + 0.974 - 0.0007, 1e-3);
    }

    /// By hand, at 200 ms. Talker: TERV = 65 - 40 lg(21 / 2.3333) = 26.83, Re = 112.08, Roe = 94.77; half of the difference is
    /// -8.653, sqrt(74.87 + 100) = 13.224, less 1: 3.571. Listener: Rle = 1228.5 * 401^-0.25 = 274.53, half of the difference is
    /// -89.88, sqrt(8078.5 + 169) = 90.815: 0.935. Delay: X = 1, 25 (2^(1/6) - 3 (1 + 1/729)^(1/6) + 2) = 25 * 0.12178 = 3.044.
    #[test]
    fn a_delay_of_200_ms_costs_its_echoes_and_itself() {
        near(delayed(94.769, -61.179, 200.0), 3.571 + 0.935 + 3.044, 2e-3);
        near(clean(200), 85.80, 0.01);
        // Up to 100 ms only the echoes count: Idd begins there.
        near(clean(100) - clean(101), clean(99) - clean(100), 1e-3);
    }

    /// By hand: 95 * 1 / (1 + 25.1) = 3.640 at one per cent, 95 * 5 / 30.1 = 15.781 at five; without concealment 95 / 5.3 = 17.925.
    #[test]
    fn losses_cost_what_the_codec_makes_of_them() {
        let lost = |missing, codec| clean(0) - rating(Duration::ZERO, missing, codec);
        near(lost(0.01, G711_CONCEALED), 3.640, 1e-3);
        near(lost(0.05, G711_CONCEALED), 15.781, 1e-3);
        near(lost(0.01, G711), 17.925, 1e-3);
    }

    proptest! {
        /// From 1 ms on: below it there is no talker's echo, and at 1 ms the formula of `Idte` is slightly below zero.
        #[test]
        fn more_delay_or_loss_is_never_better(millis in 1_u64..5_000, more in 0_u64..500, missing in 0.0..1.0, worse in 0.0..1.0) {
            let of = |millis, missing| rating(Duration::from_millis(millis), missing, G711_CONCEALED);
            prop_assert!(of(millis + more, missing) <= of(millis, missing) + 1e-9);
            prop_assert!(of(millis, f64::max(missing, worse)) <= of(millis, missing));
            prop_assert!((0.0..=93.3).contains(&of(millis, missing)));
        }
    }
}
