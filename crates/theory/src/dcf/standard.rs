//! The convention of the standard: a counter goes down only at the end of an idle slot.
//!
//! # What is solved
//!
//! A *cycle* runs from the end of a busy period (the moment from which bystanders count slots) to the end of the next
//! one. The state at its start is the number `k` of stations that have just transmitted: `k = 1` after a success, `k >=
//! 2` after a collision. [`super::cycle`] gives each state's cycle, [`super::chain`] their stationary mix. Two unknowns
//! remain, as in (32) and (33): the bystanders' attempt probability `tau` and the collision probability `p`. The
//! unknowns follow from
//!
//! - `p = 1 - (successes per cycle) / (attempts per cycle)`, by definition;
//! - the balance of slots: each attempt used the slots drawn for it, so `attempts per cycle * (mean draw at p) = slots
//!   counted per cycle`, over all stations. This is (32) without the assumption that all stations count every slot.
//!
//! After a success the cycle is that of *Refinements*, (39) to (42): the winner transmits at once with probability
//! `1/(CWmin + 1)` and then succeeds; otherwise one slot passes in which no station can transmit, and from then on all
//! stations compete alike. After a collision *Refinements* lets colliders resume exactly one slot after the bystanders
//! (41); here they resume at any distance, earlier or later. That part is Sluice's own derivation.
//!
//! # What is approximate
//!
//! - A bystander transmits in each slot with the same `tau`, independently of its past and of the others (assumptions 1
//!   and 2 of the chapter). So does a winner that did not draw 0.
//! - A collider draws from the windows in the mix that colliders have at `p`, independently of who collided; until the
//!   next busy period its draw is followed slot by slot, not by `tau`, since a fresh draw from a doubled window is about
//!   half as likely to end in a given slot as an old one.
//! - If others take the medium before the colliders resume, a collider that had drawn 0 transmits in the first slot of
//!   the next cycle; at most one of them is assumed to, and bystanders' counters are otherwise taken as one or more.
//!
//! The reference is a slot-exact Monte Carlo of the same rules (`tests/dcf.rs`: 802.11b with four different lags, OFDM
//! with three; 1 to 50 stations; figures from 10^6 busy periods, the test in the tree plays 150 000). The collision
//! probability is at most 0.005 off for 802.11b and 0.011 for OFDM, the throughput at most 0.5 % and 1.1 %; both are
//! worst for many stations with small windows, where `p` is too high. These errors come from the first point above:
//! they are as large where colliders and bystanders resume together.
//!
//! # What is assumed of the MAC
//!
//! Carrier sense is immediate. Where the two grids of slots do not coincide, a station whose slot ends even a
//! nanosecond after another has begun to transmit senses it, freezes without counting that slot, and does not collide.
//! After the next busy period all stations, colliders that had not yet resumed included, count from the same moment.

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

    // More attempts than the slots counted can pay for: tau is too large.
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

/// The cycle's means at the collision probability that they lead to. Only the colliders' windows depend on it, so the
/// iteration contracts fast; the cap is for degenerate cells.
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
