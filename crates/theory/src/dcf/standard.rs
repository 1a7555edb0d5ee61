//! The convention of the standard: a counter decreases only at the end of an idle slot.
//!
//! # What is solved
//!
//! A *cycle* runs from the end of a busy period (the moment from which bystanders count slots) to the end of the next
//! one. The state at its start is the number `k` of stations that have just transmitted: `k = 1` after a success, `k >=
//! 2` after a collision. [`super::cycle`] gives the cycle of each state, [`super::chain`] how often each state occurs.
//! Two unknowns remain, as in (32) and (33): the bystanders' attempt probability `tau` and the collision probability
//! `p`. They follow from
//!
//! - `p = 1 - (successes per cycle) / (attempts per cycle)`, by definition;
//! - the balance of slots: each attempt used the slots drawn for it. So `attempts per cycle * (mean draw at p) = slots
//!   counted per cycle`, over all stations. This is (32), but stations need not count every slot.
//!
//! After a success the cycle is that of *Refinements*, (39) to (42). The winner transmits at once with probability
//! `1/(CWmin + 1)` and then succeeds. Otherwise one slot passes in which no station can transmit; then all stations
//! compete alike. After a collision *Refinements* lets colliders resume exactly one slot after the bystanders (41).
//! Here the time between the two is arbitrary, also negative. That part is Sluice's own derivation.
//!
//! # What is approximate
//!
//! - A bystander transmits in each slot with the same `tau`, independently of its past and of the others (assumptions 1
//!   and 2 of *Chapter*). So does a winner that did not draw 0.
//! - A collider draws from the windows in the mix that colliders have at `p`, independently of who collided. Until the
//!   next busy period its draw is followed slot by slot, not replaced by `tau`: a fresh draw from a doubled window is
//!   about half as likely to end in a given slot as an old one.
//! - If others take the medium before the colliders resume, a collider that had drawn 0 transmits in the first slot of
//!   the next cycle. At most one collider is assumed to. Otherwise bystanders' counters are taken as at least one.
//!
//! The reference is a slot-exact Monte Carlo of the same rules (`tests/dcf.rs`: 802.11b with four lags, OFDM with
//! three; 1 to 50 stations). The figures are from 10^6 busy periods; the test plays 150 000. The error of the collision
//! probability is at most 0.005 for 802.11b and 0.011 for OFDM. That of the throughput is at most 0.5 % for 802.11b and
//! 1.1 % for OFDM. Both are worst for many stations with small windows, where `p` is too high. They come from the first
//! point above: they are as large if colliders and bystanders resume together.
//!
//! # What is assumed of the MAC
//!
//! Carrier sense is immediate. If the two grids of slots do not coincide, a station's slot may end a nanosecond after
//! another has begun to transmit. It then freezes without counting that slot, and does not collide. After the next busy
//! period all stations count from the same moment, also colliders that had not yet resumed.

use super::backoff::Backoff;
use super::chain::{Means, stationary};
use super::cycle::Contention;
use super::{Cell, Saturation};
use units::Duration;

pub(super) fn solve(cell: &Cell, colliders_resume: Duration) -> Saturation {
    let backoff = Backoff::of(cell);
    let nanos = |time: Duration| i64::try_from(time.as_nanos()).expect("a time of at most a minute was checked");
    let at = |tau: f64, p: f64| {
        stationary(&Contention {
            stations: cell.stations as usize,
            cw_min: cell.cw_min,
            slot: nanos(cell.slot),
            lag: nanos(colliders_resume) - nanos(cell.collision),
            tau,
            fresh: backoff.hazard_after_collision(p),
        })
    };

    // If there are more attempts than the counted slots allow, tau is too large.
    let (mut low, mut high, mut p) = (0.0, 1.0, 0.0);
    let mut means;
    loop {
        let tau = f64::midpoint(low, high);
        (means, p) = settle(|p| at(tau, p), p);
        if high - low < 1e-12 {
            break;
        }
        if means.attempts * backoff.mean(p) > means.slots_counted {
            high = tau;
        } else {
            low = tau;
        }
    }

    let mean_cycle = means.idle_s
        + means.successes * cell.success.as_secs_f64()
        + (1.0 - means.successes) * cell.collision.as_secs_f64();
    cell.saturation(f64::midpoint(low, high), p, means.successes / mean_cycle)
}

/// Returns the cycle's means, and the collision probability that both leads to them and follows from them. Only the
/// colliders' windows depend on it, so the iteration converges fast. The bound on rounds is for degenerate cells.
fn settle(means_at: impl Fn(f64) -> Means, mut p: f64) -> (Means, f64) {
    for _ in 0..50 {
        let means = means_at(p);
        let led_to = means.collision_probability();
        if (led_to - p).abs() < 1e-11 {
            return (means, led_to);
        }
        p = led_to;
    }
    (means_at(p), p)
}
