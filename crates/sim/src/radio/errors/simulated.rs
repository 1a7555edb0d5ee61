//! Error curves of codes, fitted to link simulations: Patidar, Roy, Henderson and Chandramohan, Link-to-system mapping
//! for ns-3 Wi-Fi OFDM error models (2017), continued to MCS 11 in ns-3.44 (white noise, the decoder of MATLAB's WLAN
//! Toolbox). There are curves for the low-density parity-check (LDPC) codes of HT, VHT and HE with PSDUs of 1458 B, and
//! for the convolutional code of OFDM's rates with 32 B.
//!
//! `ln(-ln(share received))` of such a PSDU is a straight line up to a loss of a tenth. Above that it is a parabola
//! that touches the line. The abscissa is the SINR, in dB for LDPC and as a ratio for the convolutional code. For other
//! lengths, bits are lost independently, as IEEE 802.11-14/0803r1 says.

use crate::radio::mode::OfdmRate;

/// `ln(-ln(0.9))`: the value if a tenth of the PSDUs is lost.
const TENTH: f64 = -2.250_367_327_312_445_4;
/// `ln(-ln(0.001))`: the value if 999 of 1000 PSDUs are lost. Below this SINR the decoder fails for any frame.
const DEAF: f64 = 1.932_644_733_916_065_5;

/// For each MCS of a stream: SINR in dB at which a tenth is lost, slope of the line per dB, and curvature of the
/// parabola per dB squared.
const LDPC: [(f64, f64, f64); 12] = [
    (-0.67, 7.0, 1.5),
    (2.34, 7.3, 2.2),
    (4.81, 8.3, 2.9),
    (7.88, 6.4, 2.0),
    (10.88, 7.5, 2.4),
    (15.09, 6.7, 2.3),
    (16.46, 6.6, 2.2),
    (17.99, 6.1, 1.7),
    (21.64, 6.1, 1.9),
    (23.46, 5.5, 1.3),
    (26.78, 5.3, 1.3),
    (28.85, 5.2, 1.5),
];

/// The same values for each rate of the convolutional code, over the SINR as a multiple of the SINR at which a tenth is
/// lost. There is no simulation for 9 Mb/s: as in ns-3, this rate has the values of YANS.
const CONVOLUTIONAL: [(f64, f64, f64); 8] = [
    (-0.38, 10.6, 5.4),
    (1.27, 7.8, 0.0),
    (2.63, 10.6, 5.0),
    (5.11, 10.5, 4.2),
    (8.08, 8.7, 1.9),
    (11.27, 9.3, 3.2),
    (15.3, 7.6, 0.4),
    (16.6, 7.6, 0.1),
];

/// Returns -ln of the probability that a bit survives at this SINR with LDPC; infinite if the decoder fails.
pub(super) fn ldpc(mcs: u8, ratio: f64) -> f64 {
    let (tenth, slope, curvature) = LDPC[usize::from(mcs)];
    lost(10.0 * libm::log10(ratio) - tenth, slope, curvature) / (8.0 * 1458.0)
}

/// Returns the same value for the convolutional code.
pub(super) fn convolutional(rate: OfdmRate, ratio: f64) -> f64 {
    let (tenth, slope, curvature) = CONVOLUTIONAL[rate as usize];
    lost(ratio / libm::pow(10.0, tenth / 10.0) - 1.0, slope, curvature) / (8.0 * 32.0)
}

/// Returns -ln of the probability that the simulations' PSDU survives, `above` the SINR at which a tenth is lost.
fn lost(above: f64, slope: f64, curvature: f64) -> f64 {
    debug_assert!(slope * slope > 4.0 * curvature * (DEAF - TENTH), "the parabola rises to the end of the curve");
    let bend = above.min(0.0);
    let lost = TENTH - slope * above - curvature * bend * bend;
    // The vertex of the parabola lies beyond this point.
    if lost > DEAF || above < -slope / (2.0 * curvature) { f64::INFINITY } else { libm::exp(lost) }
}
