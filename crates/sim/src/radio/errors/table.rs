//! Error models as tables, so that the cost of a decision about a frame does not depend on its formula.
//!
//! A curve gives, over the SINR, the logarithm of `-ln(success of a bit)`. It is nearly a straight line wherever a code
//! fails exponentially. There are 128 knots per octave of the ratio; the bits of the ratio itself locate them. The
//! formula gives the value at a knot, with `libm` only, when the knot is first needed. Between knots the curve is a
//! straight line. No probability differs from the formula's by more than [`MOST_ERROR`], for any number of bits.

use super::coding::{bandwidth, coded_rate, coding, ldpc};
use super::snr::{Formula, Snr};
use crate::radio::mode::{DsssRate, Mode};

/// Largest error of a success probability compared with the formula.
#[cfg(test)]
pub(super) const MOST_ERROR: f64 = 1e-4;
/// Logarithm of a bit's failure probability, 1e-13, below which nothing counts as lost: 1 in 20 million of the longest
/// frames (65535 B) fails.
const LN_CERTAIN: f64 = -29.933_606_208_922_594;
/// Logarithm of a coded bit's failure probability, one in twenty. Above it, near the bound's pole, no table is used.
const LN_POLE: f64 = -3.0;
/// Smallest failure that can be distinguished; curves end there.
const LEAST: f64 = 1e-30;

/// Number of bits of the mantissa that select the knot within an octave: 128 knots.
const PARTS: u32 = 7;
const SHIFT: u32 = 52 - PARTS;
/// The first knot is at a ratio of 2^-28 (-84 dB), the last at 2^15 (45 dB).
const FIRST: u64 = (1023 - 28) << PARTS;
const CELLS: usize = 43 << PARTS;
/// Divisor of LDPC's squared ratios, so that they lie within the knots.
const LDPC_SCALE: f64 = 1024.0;

#[derive(Clone, Debug)]
pub(in crate::radio) struct Tables {
    model: Snr,
    /// Curves, indexed as [`curve`] says; empty until they are used. A knot is NaN until it is computed.
    curves: [Vec<f64>; 29],
}

impl Tables {
    pub(in crate::radio) fn new(model: Snr, simulated: bool) -> Self {
        Self { model: Snr { simulated, ..model }, curves: Default::default() }
    }

    /// Returns the probability that `bits` consecutive bits survive at this SINR.
    pub(in crate::radio) fn success(&mut self, mode: Mode, ratio: f64, bits: f64) -> f64 {
        if bits <= 0.0 {
            return 1.0;
        }
        let (curve, (index, part)) = (curve(mode), cell(self.over(mode, ratio)));
        let from = self.knot(mode, curve, index);
        if from <= LN_CERTAIN {
            return 1.0;
        }
        let to = self.knot(mode, curve, (index + 1).min(CELLS));
        if to == f64::INFINITY {
            return 0.0;
        }
        if from > LN_POLE && !matches!(mode, Mode::Dsss { .. }) {
            return self.model.success(mode, ratio, bits);
        }
        libm::exp(-bits * libm::exp(from + part * (to - from)))
    }

    /// Returns the SINR above which nothing is lost, whatever the frame's length is; or the SINR of the next knot.
    pub(in crate::radio) fn least_certain(&mut self, mode: Mode) -> f64 {
        let (curve, mut lost, mut certain) = (curve(mode), 0, CELLS);
        while certain - lost > 1 {
            let middle = usize::midpoint(lost, certain);
            *(if self.knot(mode, curve, middle) <= LN_CERTAIN { &mut certain } else { &mut lost }) = middle;
        }
        self.ratio(mode, certain)
    }

    /// Returns the argument of a curve: the SINR, for LDPC its square, or a coded bit's energy over the noise density.
    #[inline]
    fn over(&self, mode: Mode, ratio: f64) -> f64 {
        match (mode, self.model.formula) {
            // LDPC's curves are the steepest. Their cells are half as wide, from -27 to 37 dB.
            _ if ldpc(mode).is_some() => ratio * ratio / LDPC_SCALE,
            (Mode::Dsss { .. }, _) | (_, Formula::Nist) => ratio,
            (_, Formula::Yans) => ratio * bandwidth(mode) / coded_rate(mode, coding(mode)),
        }
    }

    /// Returns the SINR at a knot of a curve.
    fn ratio(&self, mode: Mode, index: usize) -> f64 {
        let over = f64::from_bits((FIRST + index as u64) << SHIFT);
        if ldpc(mode).is_some() { libm::sqrt(over * LDPC_SCALE) } else { over / self.over(mode, 1.0) }
    }

    fn knot(&mut self, mode: Mode, curve: usize, index: usize) -> f64 {
        match self.curves[curve].get(index) {
            Some(&known) if !known.is_nan() => known,
            _ => self.compute(mode, curve, index),
        }
    }

    #[cold]
    fn compute(&mut self, mode: Mode, curve: usize, index: usize) -> f64 {
        let ratio = self.ratio(mode, index);
        let knots = &mut self.curves[curve];
        if knots.is_empty() {
            knots.resize(CELLS + 1, f64::NAN);
        }
        knots[index] = libm::log(self.model.failures(mode, ratio).max(LEAST));
        knots[index]
    }
}

/// Returns the knot at or below a ratio, and the ratio's position between this knot and the next one, 0 to 1.
#[inline]
fn cell(ratio: f64) -> (usize, f64) {
    let bits = ratio.to_bits();
    match (bits >> SHIFT).checked_sub(FIRST) {
        None => (0, 0.0),
        Some(cell) if cell >= CELLS as u64 => (CELLS, 0.0),
        Some(cell) => {
            let part = bits & ((1 << SHIFT) - 1);
            (usize::try_from(cell).expect("below CELLS"), part as f64 / (1_u64 << SHIFT) as f64)
        }
    }
}

/// Returns the index of a mode's curve: DSSS has one for each rate, OFDM for modulation and code, LDPC for each MCS.
#[inline]
fn curve(mode: Mode) -> usize {
    match mode {
        Mode::Dsss { rate: DsssRate::K1000, .. } => 0,
        Mode::Dsss { rate: DsssRate::K2000, .. } => 1,
        Mode::Dsss { rate: DsssRate::K5500, .. } => 2,
        Mode::Dsss { rate: DsssRate::K11000, .. } => 3,
        Mode::Ofdm(rate) => 4 + rate as usize,
        Mode::Mimo(mimo) if mimo.has_ldpc() => 17 + usize::from(mimo.coding()),
        // The curves of OFDM, without BPSK 3/4, and of higher orders.
        Mode::Mimo(mimo) => [4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16][usize::from(mimo.coding())],
        Mode::Nominal { .. } => unreachable!("a nominal rate has no modulation"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mimo::Mimo;
    use crate::radio::mode::OfdmRate;

    #[test]
    fn the_logarithm_is_that_of_the_rate() {
        assert!((libm::log(1e-13) - LN_CERTAIN).abs() < 1e-12);
    }

    #[test]
    fn modes_with_one_modulation_and_code_share_a_curve() {
        let mimo = || Mimo::all().into_iter().flat_map(|mimo| [false, true].map(|ldpc| mimo.coded(ldpc)));
        let modes = || OfdmRate::ALL.map(Mode::Ofdm).into_iter().chain(mimo().map(Mode::Mimo));
        let same = |one, other| (coding(one), ldpc(one)) == (coding(other), ldpc(other));
        for mode in modes() {
            assert!(modes().all(|other| (curve(mode) == curve(other)) == same(mode, other)), "{mode:?}");
        }
    }

    #[test]
    fn a_cell_begins_at_its_knot() {
        assert_eq!(cell(1.0), (28 << PARTS, 0.0));
        assert_eq!(cell(1.0 + 1.0 / 256.0), (28 << PARTS, 0.5));
        assert_eq!(cell(0.0), (0, 0.0));
        assert_eq!(cell(1e9), (CELLS, 0.0));
        assert_eq!(cell(f64::INFINITY), (CELLS, 0.0));
        for index in [0, 1, 777, CELLS - 1] {
            assert_eq!(cell(f64::from_bits((FIRST + index as u64) << SHIFT)), (index, 0.0));
        }
    }
}
