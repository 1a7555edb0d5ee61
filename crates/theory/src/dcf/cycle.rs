//! One cycle under the standard's convention: which stations transmit next, and when.

pub(super) struct Contention {
    pub(super) stations: usize,
    pub(super) cw_min: u32,
    /// Duration of a slot, in ns.
    pub(super) slot: i64,
    /// Time from the bystanders' resumption to the colliders', in ns.
    pub(super) lag: i64,
    /// Probability that a bystander transmits in a slot that it may use (any but the first after a busy period).
    pub(super) tau: f64,
    /// At index `b`: the probability that a collider's draw is `b`, given that it is at least `b`.
    pub(super) fresh: Vec<f64>,
}

/// Means of a cycle from a given state to the next busy period.
pub(super) struct Cycle {
    /// At index `j`: the probability that `j` stations transmit next.
    pub(super) next: Vec<f64>,
    /// The part of `next` in which the colliders were pre-empted and one of them holds a draw of 0.
    pub(super) next_with_zero: Vec<f64>,
    /// Slots counted down by all stations together.
    pub(super) slots_counted: f64,
    /// Time from the bystanders' resumption to the next transmission, in ns. Negative if colliders resume first.
    pub(super) idle: f64,
}

/// Courses of events with a smaller probability than this are not followed further.
const NEGLIGIBLE: f64 = 1e-13;

impl Contention {
    pub(super) fn after_success(&self) -> Cycle {
        let zero = self.winner_draws_zero();
        let mut next = binomial(self.stations, self.tau);
        let in_a_slot = 1.0 - core::mem::take(&mut next[0]);
        // Only the winner may use the first slot. All stations may use the next ones, until one of them does.
        for chance in &mut next {
            *chance *= (1.0 - zero) / in_a_slot;
        }
        next[1] += zero;
        let slots = (1.0 - zero) / in_a_slot;
        Cycle {
            next_with_zero: vec![0.0; next.len()],
            next,
            slots_counted: self.stations as f64 * slots,
            idle: slots * self.slot as f64,
        }
    }

    /// Returns the cycle after a collision of `colliders` stations, at least two. Bystanders may transmit `1, 2, ...`
    /// slots after their resumption, colliders `0, 1, ...` slots after theirs.
    pub(super) fn after_collision(&self, colliders: usize) -> Cycle {
        let others = self.stations - colliders;
        let of_others = binomial(others, self.tau);
        let zero_drawn = 1.0 - libm::pow(1.0 - self.fresh[0], colliders as f64);
        let mut cycle = Cycle {
            next: vec![0.0; self.stations + 1],
            next_with_zero: vec![0.0; self.stations + 1],
            slots_counted: 0.0,
            idle: 0.0,
        };
        let (mut other_turn, mut collider_turn) = (self.slot, self.lag);
        // Beyond the widest window no draw is left.
        let mut hazards = self.fresh.iter().copied().chain(core::iter::repeat(1.0));
        let mut silent = 1.0;
        while silent > NEGLIGIBLE {
            let others_may = others > 0 && other_turn <= collider_turn;
            let colliders_may = others == 0 || collider_turn <= other_turn;
            let now = if others_may { other_turn } else { collider_turn };
            let mut transmit = vec![1.0];
            if others_may {
                transmit.clone_from(&of_others);
                other_turn += self.slot;
            }
            if colliders_may {
                let hazard = hazards.next().expect("the tail repeats for ever");
                transmit = sum_of(&transmit, &binomial(colliders, hazard));
                collider_turn += self.slot;
            }

            let nobody = core::mem::take(&mut transmit[0]);
            let zero_held = if now < self.lag { zero_drawn } else { 0.0 };
            for (count, chance) in transmit.into_iter().enumerate() {
                cycle.next[count] += silent * chance;
                cycle.next_with_zero[count] += silent * chance * zero_held;
            }
            let ends = silent * (1.0 - nobody);
            let (by_others, by_colliders) = (self.whole_slots(now), self.whole_slots(now - self.lag));
            cycle.slots_counted += ends * (others as f64 * by_others + colliders as f64 * by_colliders);
            cycle.idle += ends * now as f64;
            silent *= nobody;
        }
        cycle
    }

    /// Returns the cycle in which a pre-empted collider transmits in the very first slot, alone unless the winner has
    /// also drawn 0. `transmitted` stations sent in the busy period before. No slot is counted.
    pub(super) fn after_pre_emption(&self, transmitted: usize) -> Cycle {
        let mut next = vec![0.0; self.stations + 1];
        let mut next_with_zero = next.clone();
        if transmitted == 1 {
            let winner_too = self.winner_draws_zero();
            next[1] = 1.0 - winner_too;
            next[2] = winner_too;
        } else {
            // The new colliders are pre-empted too: this state occurs only if they resume after bystanders.
            next[1] = 1.0;
            next_with_zero[1] = 1.0 - libm::pow(1.0 - self.fresh[0], transmitted as f64);
        }
        Cycle { next, next_with_zero, slots_counted: 0.0, idle: 0.0 }
    }

    fn winner_draws_zero(&self) -> f64 {
        1.0 / (f64::from(self.cw_min) + 1.0)
    }

    /// Returns the number of whole slots in a span; zero if the span is negative.
    fn whole_slots(&self, span: i64) -> f64 {
        (span.max(0) / self.slot) as f64
    }
}

/// Returns the distribution of the number of successes in independent trials.
fn binomial(trials: usize, chance: f64) -> Vec<f64> {
    let mut distribution = vec![0.0; trials + 1];
    if chance >= 1.0 {
        distribution[trials] = 1.0;
        return distribution;
    }
    let odds = chance / (1.0 - chance);
    distribution[0] = libm::pow(1.0 - chance, trials as f64);
    for k in 0..trials {
        distribution[k + 1] = distribution[k] * odds * (trials - k) as f64 / (k + 1) as f64;
    }
    distribution
}

/// Returns the distribution of the sum of two independent counts.
fn sum_of(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; left.len() + right.len() - 1];
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            sum[i + j] += a * b;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contention(stations: usize, lag: i64) -> Contention {
        // Colliders draw 0 or 1, each with one half.
        Contention { stations, cw_min: 3, slot: 10, lag, tau: 0.5, fresh: vec![0.5, 1.0] }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn a_binomial_by_hand() {
        let found = binomial(3, 0.5);
        for (found, expected) in found.into_iter().zip([0.125, 0.375, 0.375, 0.125]) {
            assert_near(found, expected);
        }
        assert_near(binomial(4, 1.0)[4], 1.0);
        assert_near(binomial(0, 0.3)[0], 1.0);
    }

    #[test]
    fn after_a_success_the_winner_has_the_first_slot() {
        // The winner goes at once with 1/4; else two stations try each slot with 1/2: used with 3/4, by both with 1/4.
        let cycle = contention(2, 0).after_success();
        assert_near(cycle.next[1], 0.25 + 0.75 * 2.0 / 3.0);
        assert_near(cycle.next[2], 0.75 / 3.0);
        assert_near(cycle.idle, 0.75 * 10.0 * 4.0 / 3.0);
        assert_near(cycle.slots_counted, 2.0 * 0.75 * 4.0 / 3.0);
    }

    #[test]
    fn when_all_collided_the_cycle_is_theirs() {
        // Draws (0,0), (0,1), (1,0), (1,1): alone in two of four; the first transmission waits one slot in one of four.
        let cycle = contention(2, 7).after_collision(2);
        assert_near(cycle.next[1], 0.5);
        assert_near(cycle.next[2], 0.5);
        assert_near(cycle.idle, 7.0 + 10.0 / 4.0);
        assert_near(cycle.slots_counted, 2.0 / 4.0);
    }

    #[test]
    fn colliders_off_the_grid_do_not_meet_bystanders() {
        // Times: bystander at 10, 20, ...; two colliders at 15 and 25. The bystander goes first with 1/2 (both zeros or
        // one are then held with 3/4), else the colliders' (0,0), (0,1), (1,0) end it at 15, else 20, else 25.
        let cycle = contention(3, 15).after_collision(2);
        assert_near(cycle.next_with_zero[1], 0.5 * 0.75);
        assert_near(cycle.next[1], 0.5 + 0.5 * (0.5 + 0.25 * 0.5));
        assert_near(cycle.next[2], 0.5 * (0.25 + 0.25 * 0.5));
        assert_near(cycle.next[3], 0.0);
        assert_near(cycle.idle, 0.5 * 10.0 + 0.375 * 15.0 + 0.0625 * 20.0 + 0.0625 * 25.0);
        // At 10 and 15 the bystander has counted one slot, at 20 and 25 two; the colliders one at 25, none before.
        assert_near(cycle.slots_counted, 0.875 + 0.0625 * 2.0 + 0.0625 * (2.0 + 2.0));
    }

    #[test]
    fn colliders_on_the_grid_do() {
        // At 10 all three may transmit.
        let cycle = contention(3, 10).after_collision(2);
        assert!(cycle.next[3] > 0.125);
        assert_near(cycle.next.iter().sum(), 1.0);
        assert_near(cycle.next_with_zero.iter().sum(), 0.0);
    }

    #[test]
    fn colliders_ahead_go_first() {
        let cycle = contention(3, -15).after_collision(2);
        assert_near(cycle.idle, 0.75 * -15.0 + 0.25 * -5.0);
        assert_near(cycle.slots_counted, 0.25 * 2.0);
    }
}
