//! Evolution of the buffer that ALT sizes under TCP, from one congestion event to the next.
//!
//! Source: the document that proposes ALT (Li, Leith, Malone), sections V-A to V-F; equation numbers are its own. "B2" and
//! so on number its contradictions, listed in `docs/controllers/buffer-sizing.md`. Symbols, with the names used here:
//!
//! | symbol | name | unit |
//! |---|---|---|
//! | `a`, `b` | `a`, `b`: ALT's steps `a_1`, `b_1` | packets per second of idle and of busy time |
//! | `T_i`, `alpha_i` | round trip without queue, growth of a flow's window | s, packets/s |
//! | `alpha_T` | [`Traffic::growth`]: sum of the `alpha_i` | packets/s |
//! | `A_T` | [`Traffic::acceleration`]: sum of the `alpha_i / T_i` | packets/s^2 |
//! | `T_T` | [`Traffic::round_trip_s`]: harmonic mean of the `T_i` | s |
//! | `rho` | [`Traffic::spread`]: `alpha_T / (A_T T_T)`, 1 for equal round trips | |
//! | `beta_T` | `backoff`: share of the sending rate left after a congestion event | |
//! | `delta` | occupancy after the back-off over the size of the buffer | |
//! | `E[B] T_T` | `bdp`: the bandwidth-delay product | packets |
//!
//! # Assumptions
//!
//! Packets are a fluid and losses within a round trip are one event; idle means empty; `alpha_i` is constant, although
//! a real window grows by one packet per round trip *with* its queue. Back-off does not depend on windows; round trips
//! and windows differ little.

/// A parameter is not finite, not above zero, or a back-off or probability outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rates, times and steps must be above zero and finite; a back-off must be above 0 and at most 1")]
pub struct OutOfRange;

fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// Traffic on a link, as far as the model needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// `alpha_T`, in packets/s: growth of the windows of all flows together.
    pub growth: f64,
    /// `A_T`, in packets/s^2: growth of the rates of all flows together.
    pub acceleration: f64,
    /// `T_T`, in s: round trip of the flows together.
    pub round_trip_s: f64,
    /// `rho`; from 1/n to 1 if windows grow by one packet per round trip.
    pub spread: f64,
}

impl Traffic {
    /// Flows with the round trips `T_i`, `times_s` in s, whose windows grow by a packet a round trip: `alpha_i = 1 / T_i`.
    ///
    /// # Errors
    /// There is no flow, or a round trip is not above zero and finite.
    pub fn standard(times_s: &[f64]) -> Result<Self, OutOfRange> {
        if times_s.is_empty() || !times_s.iter().all(|&time| positive(time)) {
            return Err(OutOfRange);
        }
        let growth: f64 = times_s.iter().map(|time| 1.0 / time).sum();
        let acceleration = times_s.iter().map(|time| 1.0 / (time * time)).sum();
        let round_trip_s = times_s.len() as f64 / growth;
        Ok(Self { growth, acceleration, round_trip_s, spread: growth / (acceleration * round_trip_s) })
    }
}

/// ALT's buffer under TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    growth: f64,
    spread: f64,
    backoff: f64,
    a: f64,
    b: f64,
}

impl Buffer {
    /// A buffer that grows by `a` packets per second of idle time and shrinks by `b` per second of busy time, under
    /// flows with `alpha_T = growth`, `rho = spread` and `beta_T = backoff`.
    ///
    /// # Errors
    /// A value is not above zero and finite; `spread` or `backoff` is above 1.
    pub fn new([a, b]: [f64; 2], growth: f64, spread: f64, backoff: f64) -> Result<Self, OutOfRange> {
        let usable = [a, b, growth, spread, backoff].into_iter().all(positive) && spread <= 1.0 && backoff <= 1.0;
        usable.then_some(Self { growth, spread, backoff, a, b }).ok_or(OutOfRange)
    }

    /// `lambda_e = (alpha_T - a beta_T rho) / (alpha_T + b)`: weight of a size in the next one, if the queue emptied in
    /// between.
    pub fn lambda_emptied(&self) -> f64 {
        (self.growth - self.a * self.backoff * self.spread) / (self.growth + self.b)
    }

    /// `lambda_f = (alpha_T + b delta) / (alpha_T + b)`: the weight if it did not, with `delta` of the size still
    /// occupied after the back-off.
    pub fn lambda_filled(&self, delta: f64) -> f64 {
        (self.growth + self.b * delta) / (self.growth + self.b)
    }

    /// `gamma_e = a (1 - beta_T) rho / (alpha_T + b)`: the weight of the bandwidth-delay product, if the queue emptied.
    pub fn gamma_emptied(&self) -> f64 {
        self.a * (1.0 - self.backoff) * self.spread / (self.growth + self.b)
    }

    /// True if the queue empties after a congestion event at this size. By (5), if the senders then send less than the
    /// link can carry: `(1 - beta_T) E[B] T_T > beta_T Q`.
    pub fn empties(&self, size: f64, bdp: f64) -> bool {
        self.idle_share(size, bdp) > 0.0
    }

    /// The size at the next congestion event, in packets, with every event alike (`beta_T` constant): by (5) and (6) if
    /// the queue empties, otherwise by (7) with the occupancy `beta_T (E[B] T_T + Q) - E[B] T_T` after the back-off. Not
    /// below zero.
    pub fn next(&self, size: f64, bdp: f64) -> f64 {
        if self.empties(size, bdp) {
            (self.lambda_emptied() * size + self.gamma_emptied() * bdp).max(0.0)
        } else {
            let delta = -self.idle_share(size, bdp) / size;
            self.lambda_filled(delta) * size
        }
    }

    /// Packets by which the senders' windows fall short of the bandwidth-delay product after a back-off; below zero for
    /// a queue.
    fn idle_share(&self, size: f64, bdp: f64) -> f64 {
        (1.0 - self.backoff) * bdp - self.backoff * size
    }

    /// The condition from which (9) follows: `a < 2 alpha_T + b`. The condition is sufficient for exponential
    /// stability, not necessary.
    pub fn is_stable(&self) -> bool {
        self.a < 2.0 * self.growth + self.b
    }

    /// The size over the bandwidth-delay product at which (8) settles if the queue always empties (`p_e = 1`, B2):
    /// `(1 - beta_T) / ((b / a) / rho + beta_T)`.
    pub fn fixed_point(&self) -> f64 {
        (1.0 - self.backoff) / (self.b / self.a / self.spread + self.backoff)
    }

    /// Equation (11): the mean utilisation of the link is at least `1 / (1 + (b / a) rho)`. The bound rests on (10);
    /// with the exact fixed point it is [`utilisation`]'s.
    pub fn utilisation(&self) -> f64 {
        1.0 / (1.0 + self.b / self.a * self.spread)
    }
}

/// Equation (2), for any traffic: the share of busy time at which ALT's size is at rest, `1 / (1 + b / a)`.
pub fn utilisation(a: f64, b: f64) -> f64 {
    1.0 / (1.0 + b / a)
}
