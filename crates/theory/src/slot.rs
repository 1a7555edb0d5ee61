//! Outcome of a slot in which several classes of stations may transmit, each station independently.

use units::Duration;

/// Stations of one class that may transmit in a slot.
pub(crate) struct Contender {
    pub(crate) stations: u32,
    /// Probability that one of these stations transmits.
    pub(crate) tau: f64,
    pub(crate) success: Duration,
    /// Duration of a collision whose longest frame is of this class.
    pub(crate) collision: Duration,
}

impl Contender {
    fn silent(&self) -> f64 {
        libm::pow(1.0 - self.tau, f64::from(self.stations))
    }

    /// Returns the probability that only one station of this class transmits. `idle`: probability of an idle slot.
    pub(crate) fn success(&self, idle: f64) -> f64 {
        f64::from(self.stations) * self.tau * idle / (1.0 - self.tau)
    }
}

/// Returns the probability that a slot is idle.
pub(crate) fn idle(contenders: &[Contender]) -> f64 {
    contenders.iter().map(Contender::silent).product()
}

/// Returns the mean duration of a slot, in s. A collision lasts as long as its longest frame.
pub(crate) fn mean_s(contenders: &[Contender], slot: Duration) -> f64 {
    let idle = idle(contenders);
    let mut longest_first: Vec<&Contender> = contenders.iter().collect();
    longest_first.sort_by_key(|contender| core::cmp::Reverse(contender.collision));
    let (mut mean, mut none_longer) = (idle * slot.as_secs_f64(), 1.0);
    for contender in longest_first {
        // Each busy slot first counts as a collision; then the successes are corrected.
        let none_as_long = none_longer * contender.silent();
        let (success_s, collision_s) = (contender.success.as_secs_f64(), contender.collision.as_secs_f64());
        mean += (none_longer - none_as_long) * collision_s + contender.success(idle) * (success_s - collision_s);
        none_longer = none_as_long;
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_by_hand() {
        let us = Duration::from_micros;
        let contender =
            |success, collision| Contender { stations: 1, tau: 0.5, success: us(success), collision: us(collision) };
        // Idle, the short one alone, the long one alone, both: a quarter each, and both last as long as the long one.
        let mean = mean_s(&[contender(100, 80), contender(300, 200)], us(20));
        assert!((mean - (20.0 + 100.0 + 300.0 + 200.0) / 4.0 * 1e-6).abs() < 1e-15, "{mean}");
    }
}
