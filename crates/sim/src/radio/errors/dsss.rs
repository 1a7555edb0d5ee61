//! DSSS and CCK according to Pei and Henderson, Validation of ns-3 802.11b PHY model (2009): differential phase-shift
//! keying, and CCK as orthogonal signals of 8 chips.

use super::super::mode::DsssRate;

/// Bandwidth of all rates, in Hz.
const BANDWIDTH: f64 = 22e6;
/// Number of steps of Simpson's rule.
const STEPS: u32 = 160;
/// CCK symbols per second.
const CCK_SYMBOLS: f64 = 1.375e6;

/// Returns -ln of the probability that a bit survives at this SINR. CCK loses whole symbols of 4 or 8 bits.
pub(super) fn failures(rate: DsssRate, ratio: f64) -> f64 {
    match rate {
        DsssRate::K1000 => -libm::log1p(-0.5 * libm::exp(-ratio * BANDWIDTH / 1e6)),
        DsssRate::K2000 => -libm::log1p(-dqpsk(ratio * BANDWIDTH / 2e6)),
        DsssRate::K5500 => -libm::log1p(-cck_4(ratio * BANDWIDTH / CCK_SYMBOLS / 2.0)) / 4.0,
        // Two signals of 5.5 Mb/s in parallel, each with half the energy.
        DsssRate::K11000 => -2.0 * libm::log1p(-cck_4(ratio * BANDWIDTH / CCK_SYMBOLS / 4.0)) / 8.0,
    }
}

/// Returns the bit error ratio of DQPSK, where its Marcum function is approximated for large arguments.
fn dqpsk(ratio: f64) -> f64 {
    let root = core::f64::consts::SQRT_2;
    let scale = (root + 1.0) / libm::sqrt(8.0 * core::f64::consts::PI * root);
    (scale / libm::sqrt(ratio) * libm::exp(-(2.0 - root) * ratio)).min(0.5)
}

/// Returns the symbol error ratio of CCK at 5.5 Mb/s: 16 biorthogonal signals, where `energy` is their energy divided
/// by the noise density (Proakis, Digital communications, equation 5.2-34).
fn cck_4(energy: f64) -> f64 {
    let edge = libm::sqrt(2.0 * energy);
    // 14 Q(edge / sqrt 2), which bounds the result, is below 1e-15.
    if edge > 12.0 {
        return 0.0;
    }
    // Beyond 8 the weight exp(-x^2 / 2) is below 1e-13.
    let (from, to) = (-edge.min(8.0), 8.0);
    let width = (to - from) / f64::from(STEPS);
    let term = |step: u32| {
        let x = from + width * f64::from(step);
        let right = libm::erf((x + edge) / core::f64::consts::SQRT_2);
        (0..7).fold(libm::exp(-x * x / 2.0), |product, _| product * right)
    };
    let inner: f64 = (1..STEPS).map(|step| if step % 2 == 1 { 4.0 } else { 2.0 } * term(step)).sum();
    let right = (term(0) + inner + term(STEPS)) * width / 3.0 / libm::sqrt(2.0 * core::f64::consts::PI);
    (1.0 - right).max(0.0)
}
