//! The original convention: every slot, idle or busy, decrements every counter.

use super::backoff::Backoff;
use super::{Cell, Saturation};

pub(super) fn solve(cell: &Cell) -> Saturation {
    let backoff = Backoff::of(cell);
    let stations = f64::from(cell.stations);
    // (32): an attempt takes one slot, and before it the mean number of slots drawn.
    let tau_of = |p: f64| 1.0 / (1.0 + backoff.mean(p));
    // (33), equation (9) of Bianchi: a frame collides if any other station transmits in its slot. The right-hand side
    // falls with `p`, because the windows grow with `p`. So the two sides meet once.
    let collides = |tau: f64| 1.0 - libm::pow(1.0 - tau, stations - 1.0);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p = f64::midpoint(low, high);
        if collides(tau_of(p)) > p {
            low = p;
        } else {
            high = p;
        }
    }
    let tau = tau_of(f64::midpoint(low, high));

    // (13) of Bianchi, with its P_tr and P_s written out.
    let idle = libm::pow(1.0 - tau, stations);
    let success = stations * tau * libm::pow(1.0 - tau, stations - 1.0);
    let mean_slot = idle * cell.slot.as_secs_f64()
        + success * cell.success.as_secs_f64()
        + (1.0 - idle - success) * cell.collision.as_secs_f64();
    cell.saturation(tau, collides(tau), success / mean_slot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Duration};

    fn cell(stations: u32, attempts: Option<u32>) -> Cell {
        let us = Duration::from_micros;
        let (success, collision, payload) = (us(1330), us(1016), Bytes::new(1000));
        Cell { stations, cw_min: 31, cw_max: 1023, attempts, slot: us(20), success, collision, payload }
    }

    #[test]
    fn without_a_retry_limit_it_is_the_closed_form() {
        // (35), equation (7) of Bianchi, with W = 32 and m = 5.
        for stations in [1, 2, 5, 20, 50] {
            let found = solve(&cell(stations, None));
            let p = found.collision_probability;
            let closed = 2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * 33.0 + p * 32.0 * (1.0 - libm::pow(2.0 * p, 5.0)));
            assert!((found.tau / closed - 1.0).abs() < 1e-9, "{stations} stations: {} beside {closed}", found.tau);
        }
    }

    #[test]
    fn with_a_retry_limit_it_is_the_closed_form() {
        // (36), for at most m retries: R + 1 = 5 attempts.
        for stations in [1, 2, 5, 20, 50] {
            let found = solve(&cell(stations, Some(5)));
            let p = found.collision_probability;
            let kept = (1.0 - 2.0 * p) * (1.0 - libm::pow(p, 5.0));
            let closed = 2.0 * kept / (kept + 32.0 * (1.0 - p) * (1.0 - libm::pow(2.0 * p, 5.0)));
            assert!((found.tau / closed - 1.0).abs() < 1e-9, "{stations} stations: {} beside {closed}", found.tau);
        }
    }
}
