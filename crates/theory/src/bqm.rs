//! Model of losses in biased queue management (BQM): which packets of a window random losses hit, and which losses a
//! receiver takes for congestion.
//!
//! Source: sections 3.2 and 3.3 of the thesis of 2006 that proposes BQM; equation numbers are its own. Symbols, with the names
//! used here:
//!
//! | symbol | name | |
//! |---|---|---|
//! | `W` | `window`: packets from the next expected one to the highest received | written `W_set` where it is not the congestion window (E1) |
//! | `K` | `every`: one packet in so many has discard priority 0 | printed `k`, which is also the number of priorities (E2) |
//! | `r` | `lost`: missing packets of the window | |
//! | `x` | `of_zero`: those of them with priority 0 | |
//!
//! A random loss hits every set of `r` packets with the same probability. A biased queue first drops priority 0. So:
//!
//! - (3.1) `P(X = x) = C(N_0, x) C(W - N_0, r - x) / C(W, r)`, with `N_0 = floor(W / K)` packets of priority 0;
//! - (3.2) `F = 1 - floor(K x / r)`: below zero the loss is by congestion. For random losses `x / r` is near `1 / K`,
//!   so that `F` is 0.
//!
//! If a whole batch is lost, `x = 1` of `r = K`, `F` is 0 too. The document's rule for bursts is not modelled.

use core::num::NonZeroU32;

/// Returns `F` of (3.2), `1 - K` to 1. The further below zero, the likelier congestion. `None` if nothing is lost.
pub fn discriminator(every: NonZeroU32, lost: u32, of_zero: u32) -> Option<i64> {
    let share = (u64::from(every.get()) * u64::from(of_zero)).checked_div(lost.into())?;
    Some(1 - i64::try_from(share).unwrap_or(i64::MAX))
}

/// Random losses in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Losses {
    /// `W`, at most a million.
    pub window: u32,
    /// `K`.
    pub every: NonZeroU32,
    /// `r`, at most `W`.
    pub lost: u32,
}

impl Losses {
    /// Returns `P(X = x)` of (3.1): the probability that `x` of the lost packets have priority 0. Zero if impossible.
    pub fn probability(&self, of_zero: u32) -> f64 {
        let zeros = self.window / self.every;
        let (Some(others), Some(rest)) = (self.window.checked_sub(zeros), self.lost.checked_sub(of_zero)) else {
            return 0.0;
        };
        if of_zero > zeros || rest > others {
            return 0.0;
        }
        libm::exp(ways(zeros, of_zero) + ways(others, rest) - ways(self.window, self.lost))
    }

    /// Returns the probability that [`discriminator`] takes random losses for congestion.
    pub fn misjudged(&self) -> f64 {
        let congestion = |x: &u32| discriminator(self.every, self.lost, *x).is_some_and(|f| f < 0);
        (0..=self.lost).filter(congestion).map(|x| self.probability(x)).sum()
    }
}

/// Returns the logarithm of the number of ways to choose `k` of `n`.
fn ways(n: u32, k: u32) -> f64 {
    libm::lgamma(f64::from(n) + 1.0) - libm::lgamma(f64::from(k) + 1.0) - libm::lgamma(f64::from(n - k) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn every(packets: u32) -> NonZeroU32 {
        NonZeroU32::new(packets).expect("above zero")
    }

    /// The document's example, with its 0.65 as 0.657 (E14).
    #[test]
    fn three_of_24_are_all_of_priority_0_once_in_2024_times() {
        let losses = Losses { window: 24, every: every(8), lost: 3 };
        let exact = [1330.0, 630.0, 63.0, 1.0].map(|ways| ways / 2024.0);
        for (x, exact) in (0..).zip(exact) {
            assert!((losses.probability(x) / exact - 1.0).abs() < 1e-12, "{x}: {}", losses.probability(x));
        }
        assert_eq!(losses.probability(4).to_bits(), 0.0_f64.to_bits());
        assert!((losses.misjudged() - 694.0 / 2024.0).abs() < 1e-12, "one of three is already above two in eight");
    }

    #[test]
    fn the_discriminator_by_its_definition() {
        let row = |k: u32, r: u32| (0..=r).map(|x| discriminator(every(k), r, x).expect("some")).collect::<Vec<_>>();
        assert_eq!(row(8, 1), [1, -7]);
        assert_eq!(row(8, 2), [1, -3, -7]);
        assert_eq!(row(8, 3), [1, -1, -4, -7]);
        assert_eq!(row(8, 4), [1, -1, -3, -5, -7]);
        assert_eq!(row(8, 8), [1, 0, -1, -2, -3, -4, -5, -6, -7]);
        assert_eq!(row(4, 3), [1, 0, -1, -3]);
        assert_eq!(row(4, 8), [1, 1, 0, 0, -1, -1, -2, -2, -3]);
        assert_eq!(row(16, 4), [1, -3, -7, -11, -15]);
        assert_eq!(discriminator(every(8), 0, 0), None);
        assert_eq!(discriminator(every(u32::MAX), 1, u32::MAX).map(i64::is_negative), Some(true));
    }

    #[test]
    fn probabilities_sum_to_one() {
        for (window, k, lost) in [(24, 8, 3), (7, 8, 4), (100, 16, 60), (1_000_000, 8, 5), (5, 1, 5), (0, 8, 0)] {
            let losses = Losses { window, every: every(k), lost };
            let sum: f64 = (0..=lost).map(|x| losses.probability(x)).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{losses:?}: {sum}");
        }
    }
}
