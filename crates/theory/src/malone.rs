//! The cell of stations that may all differ and do not always have a frame to send.
//!
//! Source: D. Malone, K. Duffy, D. Leith, "Modeling the 802.11 Distributed Coordination Function in Nonsaturated
//! Heterogeneous Conditions", IEEE/ACM Transactions on Networking 15(1), 2007. Its text was not available. The chain
//! below and the closed form for `tau` are the published ones as far as they are known. The solution is Sluice's own
//! derivation. The unit tests compare it with the closed form and with the chain's stationary distribution, found by
//! iteration. If two independent derivations agree, the algebra has no errors.
//!
//! # The chain
//!
//! The chain of one station has one step per slot, and a busy period is one slot (Bianchi's convention,
//! [`Freezing::Bianchi`](crate::dcf::Freezing::Bianchi)). States `(i, k)`: a frame waits, at stage `i` with counter `k`.
//! States `(0, k)e`: *post-backoff*, the counter runs and no frame waits. A frame arrives in a slot with probability `q`;
//! an attempt collides with `p`. Apart from the station itself the medium is idle with `1 - p`. Then:
//!
//! - `(i, k)` goes to `(i, k - 1)`; `(0, k)e` to `(0, k - 1)` with `q` and to `(0, k - 1)e` otherwise;
//! - `(i, 0)` transmits. With `p` the frame collides and draws at the next stage, the last one repeating: **no retry
//!   limit**. With `(1 - p) q` it draws at stage 0 for a frame that waits, with `(1 - p)(1 - q)` in post-backoff;
//! - `(0, 0)e` stays until a frame arrives. If the medium is then idle (`1 - p`), it is sent at once: with `p` it
//!   collides and draws at stage 1, otherwise post-backoff begins. If the medium is busy, the station draws at stage 0.
//!
//! So `tau = sum over i of b(i, 0) + q (1 - p) b(0, 0)e`. The stations depend on each other through `1 - p_l`, the
//! product of `1 - tau_j` over all others.
//!
//! # A queue behind the MAC
//!
//! With [`Buffer::Infinite`], a frame waits after a success in `(i, 0)` with probability `r` instead of `q`: K. R.
//! Duffy, A. J. Ganesh, "Modeling the Impact of Buffering on 802.11", IEEE Communications Letters 11(2), 2007 (only its
//! abstract was available). After a departure, a queue with Poisson arrivals is not empty with a probability equal to
//! its load. So `r` is the rate of arrivals times the mean time from a frame's first draw to its success. It is at most
//! 1: then the station is saturated.
//!
//! # What is assumed
//!
//! `q`, the probability that *at least one* frame is there when the station checks, is the same in every slot, long or
//! short. With [`Buffer::None`] there is no queue behind the MAC, and frames that arrive while one waits are lost. For
//! Poisson arrivals of rate `lambda`, `q = 1 - exp(-lambda * mean slot)`, see [`Arrivals::Poisson`]. At `q = 1` the
//! model is Bianchi's saturated cell without a retry limit.
//!
//! # What is approximate
//!
//! Stations are independent, and so are the slots that one station meets. The reference is a slot-exact Monte Carlo of
//! interacting stations (`tests/malone.rs`: 1 to 20 alike stations with `q` from 0.002 to 1, and three mixed cells).
//! The error is at most 0.014 in collision probability and 0.9 % of a station's throughput. Both peak half-way.
//!
//! In the simulator arrivals do not follow slots. Compared with it, a cell with queues is valid **up to 80 % of its
//! saturated throughput and again from 120 % on** (0.025 in collision probability, 4 % of throughput). Between these
//! loads, frames that arrive during a long busy slot meet after it. The model spreads arrivals evenly over all slots
//! and predicts too few collisions: 0.06 instead of 0.17 for 20 stations of 802.11b at 4.8 Mb/s. The published model
//! also takes `1 - p` as the probability of an idle medium, even where the medium is busy 80 % of the time.

use crate::Error;
use crate::dcf::backoff::Backoff;
use crate::error::{are_windows, takes_time};
use crate::fixed_point::settle;
use crate::slot::{self, Contender};
use units::{Bytes, Duration};

/// The largest number of stations in all groups together.
pub const MAX_STATIONS: u32 = 1000;

/// Smallest allowed `q` or arrival rate; its square must be above zero.
const RAREST: f64 = 1e-90;

/// Arrivals of frames at a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// `q`: the probability that a frame arrives in a slot, busy or idle; 1e-90 to 1 (saturated).
    PerSlot(f64),
    /// Frames per second, at least 1e-90; `q` follows from the cell's mean slot.
    Poisson(f64),
}

/// Treatment of frames that arrive while one waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Waiting frames are lost: there is room for one frame.
    None,
    /// The buffer holds any number of waiting frames.
    Infinite,
}

/// Stations that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Number of stations, at least 1.
    pub stations: u32,
    /// Arrivals of frames at each station.
    pub arrivals: Arrivals,
    /// The buffer behind each station's MAC.
    pub buffer: Buffer,
    /// The first window: a back-off is drawn uniformly from `0..=cw_min` slots. At least 1.
    pub cw_min: u32,
    /// Largest window, `cw_min` to 65535: a collision changes `CW` to `2 CW + 1`, but not above this value.
    pub cw_max: u32,
    /// Duration of a success: from the start of a frame without overlap to when back-off slots count again.
    pub success: Duration,
    /// Duration of a collision whose longest frame is of this group.
    pub collision: Duration,
    /// Payload of a success, as the throughput counts it.
    pub payload: Bytes,
}

/// Long-run outcome of the stations of one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// `q`: given with the arrivals, or found.
    pub q: f64,
    /// `r`: probability that a frame already waits after a success. Without a buffer it is `q`.
    pub r: f64,
    /// The probability that a station transmits in a slot.
    pub tau: f64,
    /// Share of a station's frames that collide, 0 to 1.
    pub collision_probability: f64,
    /// Successful frames of **one** station, in 1/s.
    pub successes_per_second: f64,
    /// Payload delivered by **one** station, in bit/s.
    pub throughput_bps: f64,
}

/// Solves the cell of these groups. Returns an outcome for each group, in the same order.
///
/// # Errors
///
/// A parameter is outside its range, see [`Error`].
pub fn solve(groups: &[Group], slot: Duration) -> Result<Vec<Outcome>, Error> {
    check(groups, slot)?;
    let laws: Vec<Backoff> = groups.iter().map(|group| Backoff::new(group.cw_min, group.cw_max, None)).collect();
    let flows = |p: &[f64], mean_slot_s: f64| -> Vec<Supply> {
        groups.iter().zip(&laws).zip(p).map(|((group, law), &p)| Supply::of(group, law, p, mean_slot_s)).collect()
    };
    let at = |p: &[f64], mean_slot_s: f64| {
        let supplies = flows(p, mean_slot_s);
        let taus = laws.iter().zip(supplies).zip(p).map(|((law, supply), &p)| tau(law, supply, p)).collect();
        Contention { groups, taus }
    };
    // The unknowns are the p of each group and, last, the logarithm of the mean slot.
    let mut start = vec![0.0; groups.len()];
    start.push(libm::log(slot.as_secs_f64()));
    let settled = settle(start, |unknowns| {
        let (p, log_slot) = unknowns.split_at(groups.len());
        let cell = at(p, libm::exp(log_slot[0]));
        let mut led_to = cell.collision_probabilities();
        led_to.push(libm::log(cell.mean_slot_s(slot)));
        led_to
    });
    let mean_slot_s = libm::exp(settled[groups.len()]);
    let p = &settled[..groups.len()];
    let cell = at(p, mean_slot_s);
    let supplies = flows(p, mean_slot_s);
    Ok(supplies.into_iter().enumerate().map(|(l, supply)| cell.outcome(l, supply, p[l], mean_slot_s)).collect())
}

/// How frames come to a station.
#[derive(Clone, Copy)]
struct Supply {
    /// Probability that a frame arrives in a slot.
    q: f64,
    /// Probability that a frame waits after a success.
    r: f64,
}

impl Supply {
    fn of(group: &Group, law: &Backoff, p: f64, mean_slot_s: f64) -> Self {
        let q = group.arrivals.per_slot(mean_slot_s);
        let r = match group.buffer {
            Buffer::None => q,
            // The mean number of arrivals in a slot is -ln(1 - q).
            Buffer::Infinite => (-libm::log1p(-q) * slots_of_a_frame(law, p)).min(1.0),
        };
        Self { q, r }
    }
}

/// Returns the mean number of slots from a frame's first draw to its success, including those of its transmissions.
fn slots_of_a_frame(law: &Backoff, p: f64) -> f64 {
    // An attempt takes the slots drawn and its own; there are 1 / (1 - p) attempts.
    (law.mean(p) + 1.0) / (1.0 - p)
}

impl Arrivals {
    fn per_slot(self, mean_slot_s: f64) -> f64 {
        match self {
            Self::PerSlot(q) => q,
            // For a very small rate q vanishes beside 1, but expm1 still gives it a value above zero.
            Self::Poisson(rate) => -libm::expm1(-rate * mean_slot_s),
        }
    }
}

/// Returns `tau` of a station with this back-off law and supply of frames. The chain is solved per transmission from
/// `(i, 0)`: the sum of `b(i, 0)` is 1 and normalised at the end. So `q = 1` (no post-backoff) is no special case.
fn tau(law: &Backoff, Supply { q, r }: Supply, p: f64) -> f64 {
    let idle = 1.0 - p;
    let windows = law.windows();
    let first_draws = f64::from(windows[0]) + 1.0;
    // With one entry into each (0, k)e, b(0,k)e is 1 + (1 - q) b(0,k+1)e.
    let (mut quiet, mut counting, mut still_to_count) = (0.0, 0.0, 0.0);
    for k in (1..=windows[0]).rev() {
        quiet = 1.0 + (1.0 - q) * quiet;
        counting += quiet;
        // If a frame arrives at counter k, the station passes the k slots from (0, k - 1) to (0, 0).
        still_to_count += q * f64::from(k) * quiet;
    }
    quiet = 1.0 + (1.0 - q) * quiet;

    // The station leaves (0, 0)e with q. Each draw in post-backoff enters it `quiet` times. Such a draw follows (1 -
    // p)(1 - r) of the transmissions and q (1 - p)^2 of the slots in (0, 0)e. Draws less `quiet` are q * counting.
    let waiting = quiet * (1.0 - r) * idle / (q * (q * counting + quiet * p * (1.0 + idle)));
    let entries = ((1.0 - r) * idle + q * idle * idle * waiting) / first_draws;

    // Stage 0 with a frame that was there at the draw, or that came during post-backoff.
    let drawn = r * idle + q * p * waiting;
    let at_first_stage = drawn + entries * q * counting;
    let mut slots = waiting + entries * (counting + still_to_count) + drawn * (first_draws + 1.0) / 2.0;
    // Later stages; the last one repeats and has the remaining transmissions.
    let (mut at_stage, mut left) = (p * at_first_stage + q * idle * p * waiting, 1.0 - at_first_stage);
    let last = windows.len() - 1;
    for window in windows.iter().take(last).skip(1) {
        slots += at_stage * (1.0 + f64::from(*window) / 2.0);
        left -= at_stage;
        at_stage *= p;
    }
    slots += left * (1.0 + f64::from(windows[last]) / 2.0);
    (1.0 + q * idle * waiting) / slots
}

/// The cell, with given attempt probabilities.
struct Contention<'a> {
    groups: &'a [Group],
    taus: Vec<f64>,
}

impl Contention<'_> {
    fn contenders(&self) -> Vec<Contender> {
        let one = |(group, &tau): (&Group, &f64)| {
            let Group { stations, success, collision, .. } = *group;
            Contender { stations, tau, success, collision }
        };
        self.groups.iter().zip(&self.taus).map(one).collect()
    }

    /// Returns, for each group, the probability that not all other stations are silent.
    fn collision_probabilities(&self) -> Vec<f64> {
        let idle = slot::idle(&self.contenders());
        self.taus.iter().map(|tau| (1.0 - idle / (1.0 - tau)).max(0.0)).collect()
    }

    fn mean_slot_s(&self, slot: Duration) -> f64 {
        slot::mean_s(&self.contenders(), slot)
    }

    fn outcome(&self, group: usize, supply: Supply, collision_probability: f64, mean_slot_s: f64) -> Outcome {
        let tau = self.taus[group];
        let successes_per_second = tau * (1.0 - collision_probability) / mean_slot_s;
        let throughput_bps = successes_per_second * self.groups[group].payload.bits() as f64;
        let Supply { q, r } = supply;
        Outcome { q, r, tau, collision_probability, successes_per_second, throughput_bps }
    }
}

fn check(groups: &[Group], slot: Duration) -> Result<(), Error> {
    let stations: u64 = groups.iter().map(|group| u64::from(group.stations)).sum();
    let somebody = !groups.is_empty() && groups.iter().all(|group| group.stations > 0);
    let arrivals = |group: &Group| match group.arrivals {
        Arrivals::PerSlot(q) => (RAREST..=1.0).contains(&q),
        Arrivals::Poisson(rate) => rate >= RAREST && rate.is_finite(),
    };
    let times = |group: &Group| takes_time(group.success) && takes_time(group.collision);
    Error::first([
        (somebody && stations <= u64::from(MAX_STATIONS), Error::Stations),
        (groups.iter().all(arrivals), Error::Arrivals),
        (groups.iter().all(|group| are_windows(group.cw_min, group.cw_max)), Error::Windows),
        (takes_time(slot) && groups.iter().all(times), Error::Times),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published closed form for `W` draws and `m` doublings, written with `1 - p` for an idle medium.
    fn closed_form(w: f64, m: i32, q: f64, p: f64) -> f64 {
        let quiet = 1.0 - (1.0 - q).powf(w);
        let later = 2.0 * w * (1.0 - p - p * (2.0 * p).powi(m - 1)) / (1.0 - 2.0 * p) + 1.0;
        let inverse = (1.0 - q)
            + q * q * w * (w + 1.0) / (2.0 * quiet)
            + q * (w + 1.0) / (2.0 * (1.0 - q)) * (q * q * w / quiet + p * (1.0 - q) - q * (1.0 - p) * (1.0 - p))
            + p * q * q / (2.0 * (1.0 - q) * (1.0 - p)) * (w / quiet - (1.0 - p) * (1.0 - p)) * later;
        (q * q * w / ((1.0 - p) * (1.0 - q) * quiet) - q * q * (1.0 - p) / (1.0 - q)) / inverse
    }

    /// The chain as the module states it, iterated. States: (0, k)e, then (i, k) stage by stage.
    fn iterated(windows: &[u32], Supply { q, r }: Supply, p: f64, steps: u32) -> f64 {
        let draws: Vec<usize> = windows.iter().map(|window| *window as usize + 1).collect();
        let start = |stage: usize| draws[0] + draws[..stage].iter().sum::<usize>();
        let states = start(draws.len());
        let draw = |next: &mut [f64], from: usize, count: usize, mass: f64| {
            next[from..from + count].iter_mut().for_each(|state| *state += mass / count as f64);
        };
        let mut now = vec![1.0 / states as f64; states];
        for _ in 0..steps {
            let mut next = vec![0.0; states];
            for k in 1..draws[0] {
                next[k - 1] += (1.0 - q) * now[k];
                next[start(0) + k - 1] += q * now[k];
            }
            let second = 1.min(draws.len() - 1);
            next[0] += (1.0 - q) * now[0];
            draw(&mut next, 0, draws[0], now[0] * q * (1.0 - p) * (1.0 - p));
            draw(&mut next, start(second), draws[second], now[0] * q * (1.0 - p) * p);
            draw(&mut next, start(0), draws[0], now[0] * q * p);
            for stage in 0..draws.len() {
                for k in 1..draws[stage] {
                    next[start(stage) + k - 1] += now[start(stage) + k];
                }
                let (sent, up) = (now[start(stage)], (stage + 1).min(draws.len() - 1));
                draw(&mut next, 0, draws[0], sent * (1.0 - p) * (1.0 - r));
                draw(&mut next, start(0), draws[0], sent * (1.0 - p) * r);
                draw(&mut next, start(up), draws[up], sent * p);
            }
            now = next;
        }
        (0..draws.len()).map(|stage| now[start(stage)]).sum::<f64>() + q * (1.0 - p) * now[0]
    }

    #[test]
    fn tau_is_the_published_closed_form() {
        for q in [0.001, 0.05, 0.4, 0.9] {
            for p in [0.01, 0.2, 0.45, 0.7] {
                let (found, expected) =
                    (tau(&Backoff::new(31, 1023, None), Supply { q, r: q }, p), closed_form(32.0, 5, q, p));
                assert!((found / expected - 1.0).abs() < 1e-9, "q {q}, p {p}: {found} beside {expected}");
            }
        }
    }

    #[test]
    fn tau_is_the_chains() {
        for (cw_min, cw_max) in [(3, 31), (7, 15), (7, 7)] {
            for (q, r, p) in [(0.02, 0.02, 0.1), (0.3, 0.3, 0.0), (0.3, 0.7, 0.5), (0.02, 0.9, 0.2), (1.0, 1.0, 0.3)] {
                let (law, supply) = (Backoff::new(cw_min, cw_max, None), Supply { q, r });
                let (found, expected) = (tau(&law, supply, p), iterated(law.windows(), supply, p, 20_000));
                assert!((found / expected - 1.0).abs() < 1e-9, "{q}, {r}, {p}: {found} beside {expected}");
            }
        }
    }

    #[test]
    fn tau_is_the_chains_with_the_windows_of_802_11b() {
        for (q, r, p) in [(0.01, 0.01, 0.2), (0.01, 0.5, 0.2), (0.1, 0.1, 0.4)] {
            let (law, supply) = (Backoff::new(31, 1023, None), Supply { q, r });
            let (found, expected) = (tau(&law, supply, p), iterated(law.windows(), supply, p, 60_000));
            assert!((found / expected - 1.0).abs() < 1e-9, "{q}, {r}, {p}: {found} beside {expected}");
        }
    }

    #[test]
    fn limits_by_hand() {
        let law = Backoff::new(31, 1023, None);
        let alone = |q| tau(&law, Supply { q, r: q }, 0.0);
        // Saturated and alone: one slot in 1 + 15.5. Hardly an arrival: each is sent in the slot of its arrival.
        assert!((alone(1.0) - 1.0 / 16.5).abs() < 1e-12);
        assert!((alone(1e-12) / 1e-12 - 1.0).abs() < 1e-9);
        // Half of the attempts are second ones or later: 16.5 and 32.5 slots twice as often as 64.5, and so on.
        assert!((slots_of_a_frame(&Backoff::new(31, 63, None), 0.5) - (16.5 + 32.5)).abs() < 1e-9);
    }
}
