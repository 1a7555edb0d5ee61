//! Error models by tables, so that the cost of deciding about a frame does not depend on its formula.
//!
//! A curve gives, over the SINR, the logarithm of `-ln(success of a bit)`, which is nearly a straight line wherever a
//! code fails exponentially. Knots lie at 128 ratios per octave and are located by the bits of the ratio itself; each
//! is computed by the formula, by `libm` alone, when it is first needed. Between knots the curve is a straight line. No
//! probability differs from the formula's by more than [`MOST_ERROR`], for any number of bits.

use super::coding::{bandwidth, coded_rate, coding, ldpc};
use super::snr::{Formula, Snr};
use crate::radio::mode::{DsssRate, Mode};

/// Largest error of a success probability against the formula.
#[cfg(test)]
pub(super) const MOST_ERROR: f64 = 1e-4;
/// Logarithm of the failure of a bit, 1e-13, below which nothing is lost: 1 in 20 million of the longest frames (65535
/// B).
const LN_CERTAIN: f64 = -29.933_606_208_922_594;
/// Failure of a coded bit, one in twenty, above which the union bound nears its pole and is computed without a table.
const LN_POLE: f64 = -3.0;
/// Failure below which values cannot be distinguished; curves end there.
const LEAST: f64 = 1e-30;

/// Bits of the mantissa that select the knot within an octave: 128 knots.
const PARTS: u32 = 7;
const SHIFT: u32 = 52 - PARTS;
/// The first knot is at a ratio of 2^-28 (-84 dB), the last at 2^15 (45 dB).
const FIRST: u64 = (1023 - 28) << PARTS;
const CELLS: usize = 43 << PARTS;
/// Divisor of LDPC's squared ratios, by which the knots lie around them.
const LDPC_SCALE: f64 = 1024.0;

#[derive(Clone, Debug)]
pub(in crate::radio) struct Tables {
    model: Snr,
    /// Curves by the index from [`curve`]; empty until used, with knots NaN until computed.
    curves: [Vec<f64>; 29],
}

impl Tables {
    pub(in crate::radio) fn new(model: Snr, simulated: bool) -> Self {
        Self { model: Snr { simulated, ..model }, curves: Default::default() }
    }

    /// Probability that `bits` in a row survive at this SINR.
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

    /// SINR above which nothing is lost, whatever the frame's length, or the next knot's SINR.
    pub(in crate::radio) fn least_certain(&mut self, mode: Mode) -> f64 {
        let (curve, mut lost, mut certain) = (curve(mode), 0, CELLS);
        while certain - lost > 1 {
            let middle = usize::midpoint(lost, certain);
            *(if self.knot(mode, curve, middle) <= LN_CERTAIN { &mut certain } else { &mut lost }) = middle;
        }
        self.ratio(mode, certain)
    }

    /// Argument of a curve: the SINR, for LDPC its square, or the ratio of a coded bit's energy to the noise density.
    #[inline]
    fn over(&self, mode: Mode, ratio: f64) -> f64 {
        match (mode, self.model.formula) {
            // LDPC's curves are the steepest: cells half as wide, from -27 to 37 dB.
            _ if ldpc(mode).is_some() => ratio * ratio / LDPC_SCALE,
            (Mode::Dsss { .. }, _) | (_, Formula::Nist) => ratio,
            (_, Formula::Yans) => ratio * bandwidth(mode) / coded_rate(mode, coding(mode)),
        }
    }

    /// The SINR at a knot of a curve.
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

/// The knot at or below a ratio, and the ratio's position between it and the next knot: 0 to 1.
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

/// Curve of a mode: DSSS by its rate, OFDM by modulation and code, LDPC by its MCS.
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
