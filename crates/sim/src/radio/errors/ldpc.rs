//! Low-density parity-check (LDPC) codes of HT, VHT and HE by curves that are fitted to link simulations: Patidar, Roy,
//! Henderson and Chandramohan, Link-to-system mapping for ns-3 Wi-Fi OFDM error models (2017), continued to MCS 11 in
//! ns-3.44 (PSDUs of 1458 B, white noise, the decoder of MATLAB's WLAN Toolbox).
//!
//! `ln(-ln(share received))` of such a PSDU is a straight line over the SINR in dB where at most a tenth is lost, and a
//! parabola that touches it where more is. Other lengths follow by the rule of IEEE 802.11-14/0803r1: bits are lost
//! independently.

/// Bits of the PSDU of the simulations.
const BITS: f64 = 8.0 * 1458.0;
/// `ln(-ln(0.9))`: a tenth is lost.
const TENTH: f64 = -2.250_367_327_312_445_4;
/// `ln(-ln(0.001))`: of 1000 PSDUs 999 are lost. At a lower SINR the decoder fails, however short the frame.
const DEAF: f64 = 1.932_644_733_916_065_5;

/// By MCS of a stream: SINR in dB at which a tenth is lost, slope of the line per dB, and curvature of the parabola per dB
/// squared.
const CURVES: [(f64, f64, f64); 12] = [
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

/// -ln of the probability that a bit survives at this SINR; infinite where the decoder fails.
pub(super) fn failures(mcs: u8, ratio: f64) -> f64 {
    let (tenth, slope, curvature) = CURVES[usize::from(mcs)];
    debug_assert!(slope * slope > 4.0 * curvature * (DEAF - TENTH), "the parabola rises to the end of the curve");
    let above = 10.0 * libm::log10(ratio) - tenth;
    let bend = above.min(0.0);
    let lost = TENTH - slope * above - curvature * bend * bend;
    // The parabola has its vertex beyond this point.
    if lost > DEAF || above < -slope / (2.0 * curvature) { f64::INFINITY } else { libm::exp(lost) / BITS }
}
