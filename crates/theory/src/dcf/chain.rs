//! How often each cycle occurs in the long run, under the standard's convention.

use super::cycle::{Contention, Cycle};

/// Means of a cycle over the long run.
pub(super) struct Means {
    /// Frames transmitted at the end of a cycle.
    pub(super) attempts: f64,
    /// Probability that exactly one frame is transmitted.
    pub(super) successes: f64,
    /// Slots counted down by all stations together.
    pub(super) slots_counted: f64,
    /// Time from the bystanders' resumption to the next transmission, in s.
    pub(super) idle_s: f64,
}

impl Means {
    /// Returns the share of the frames that are not transmitted alone.
    pub(super) fn collision_probability(&self) -> f64 {
        (1.0 - self.successes / self.attempts).max(0.0)
    }
}

/// Iterates the chain until its distribution stays. The state is the number of stations that transmitted last, and
/// whether a pre-empted collider holds a draw of 0.
pub(super) fn stationary(contention: &Contention) -> Means {
    let stations = contention.stations;
    let plain: Vec<Cycle> = core::iter::once(contention.after_success())
        .chain((2..=stations).map(|colliders| contention.after_collision(colliders)))
        .collect();
    // A collider needs two to exist.
    let held: Vec<Cycle> = (1..=stations).filter(|_| stations > 1).map(|k| contention.after_pre_emption(k)).collect();

    // Index k - 1 for k stations.
    let mut state = Mix { plain: vec![0.0; stations], held: vec![0.0; stations] };
    state.plain[0] = 1.0;
    for _ in 0..10_000 {
        let next = state.after(&plain, &held);
        let moved = next.distance(&state);
        state = next;
        if moved < 1e-13 {
            break;
        }
    }

    let of_each = |value: fn(&Cycle) -> f64| {
        state.plain.iter().zip(&plain).map(|(share, cycle)| share * value(cycle)).sum::<f64>()
    };
    let transmitted = |k: usize| state.plain[k - 1] + state.held[k - 1];
    Means {
        attempts: (1..=stations).map(|k| k as f64 * transmitted(k)).sum(),
        successes: transmitted(1),
        // In a cycle after a pre-emption both are zero.
        slots_counted: of_each(|cycle| cycle.slots_counted),
        idle_s: of_each(|cycle| cycle.idle) / 1e9,
    }
}

/// A distribution over the states.
struct Mix {
    plain: Vec<f64>,
    held: Vec<f64>,
}

impl Mix {
    fn after(&self, plain: &[Cycle], held: &[Cycle]) -> Self {
        let mut next = Self { plain: vec![0.0; self.plain.len()], held: vec![0.0; self.held.len()] };
        let now = self.plain.iter().zip(plain).chain(self.held.iter().zip(held));
        for (share, cycle) in now.filter(|(share, _)| **share > 0.0) {
            for (k, (all, with_zero)) in cycle.next.iter().zip(&cycle.next_with_zero).enumerate().skip(1) {
                next.plain[k - 1] += share * (all - with_zero);
                next.held[k - 1] += share * with_zero;
            }
        }
        // The cycles leave out improbable courses of events, so the sum is restored to 1.
        let total: f64 = next.plain.iter().chain(&next.held).sum();
        next.plain.iter_mut().chain(&mut next.held).for_each(|share| *share /= total);
        next
    }

    fn distance(&self, other: &Self) -> f64 {
        let pairs = self.plain.iter().zip(&other.plain).chain(self.held.iter().zip(&other.held));
        pairs.map(|(a, b)| (a - b).abs()).sum()
    }
}
