//! Evolution of the buffer that ALT sizes under TCP, from one congestion event to the next.
//!
//! Source: the document that proposes ALT (Li, Leith, Malone), sections V-A to V-F; equation numbers are its own. B2 is
//! one of the contradictions that `docs/controllers/buffer-sizing.md` lists. Symbols, with the names used here:
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
//! Packets are a fluid, and all losses within a round trip are one event. An empty queue is idle. `alpha_i` is
//! constant, although a real window grows by one packet per round trip *with* its queue. Back-off does not depend on
//! windows. Round trips and windows differ little.

/// A parameter is not finite or not above zero, or a back-off or a probability is outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rates, times and steps must be above zero and finite; a back-off must be above 0 and at most 1")]
pub struct OutOfRange;

fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// What the model needs to know of the traffic on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// `alpha_T`, in packets/s: sum of the growth of all flows' windows.
    pub growth: f64,
    /// `A_T`, in packets/s^2: sum of the growth of all flows' rates.
    pub acceleration: f64,
    /// `T_T`, in s: harmonic mean of the flows' round trips.
    pub round_trip_s: f64,
    /// `rho`; from 1/n to 1 for n flows whose windows grow by one packet per round trip.
    pub spread: f64,
}

impl Traffic {
    /// Makes flows with round trips `times_s`, in s. Each window grows by a packet a round trip: `alpha_i = 1 / T_i`.
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

/// The buffer that ALT sizes under TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    growth: f64,
    spread: f64,
    backoff: f64,
    a: f64,
    b: f64,
}

impl Buffer {
    /// Makes a buffer that grows by `a` packets per second of idle time and shrinks by `b` per second of busy time. Its
    /// flows have `alpha_T = growth`, `rho = spread` and `beta_T = backoff`.
    ///
    /// # Errors
    /// A value is not above zero and finite; `spread` or `backoff` is above 1.
    pub fn new([a, b]: [f64; 2], growth: f64, spread: f64, backoff: f64) -> Result<Self, OutOfRange> {
        let usable = [a, b, growth, spread, backoff].into_iter().all(positive) && spread <= 1.0 && backoff <= 1.0;
        usable.then_some(Self { growth, spread, backoff, a, b }).ok_or(OutOfRange)
    }

    /// Returns `lambda_e = (alpha_T - a beta_T rho) / (alpha_T + b)`: the weight of a size in the next size, if the
    /// queue emptied between the two.
    pub fn lambda_emptied(&self) -> f64 {
        (self.growth - self.a * self.backoff * self.spread) / (self.growth + self.b)
    }

    /// Returns `lambda_f = (alpha_T + b delta) / (alpha_T + b)`: the same weight if the queue did not empty. After the
    /// back-off, `delta` of the size is still occupied.
    pub fn lambda_filled(&self, delta: f64) -> f64 {
        (self.growth + self.b * delta) / (self.growth + self.b)
    }

    /// Returns `gamma_e = a (1 - beta_T) rho / (alpha_T + b)`: the weight of the BDP if the queue emptied.
    pub fn gamma_emptied(&self) -> f64 {
        self.a * (1.0 - self.backoff) * self.spread / (self.growth + self.b)
    }

    /// True if the queue empties after a congestion event at this size. According to (5) it does if the senders then
    /// send less than the link can carry: `(1 - beta_T) E[B] T_T > beta_T Q`.
    pub fn empties(&self, size: f64, bdp: f64) -> bool {
        self.idle_share(size, bdp) > 0.0
    }

    /// Returns the size at the next congestion event, in packets, at least zero; `beta_T` is the same at each event. If
    /// the queue empties, (5) and (6) give the size. Otherwise (7) does, with the occupancy `beta_T (E[B] T_T + Q) -
    /// E[B] T_T` after the back-off.
    pub fn next(&self, size: f64, bdp: f64) -> f64 {
        if self.empties(size, bdp) {
            (self.lambda_emptied() * size + self.gamma_emptied() * bdp).max(0.0)
        } else {
            let delta = -self.idle_share(size, bdp) / size;
            self.lambda_filled(delta) * size
        }
    }

    /// Returns by how many packets the senders' windows fall short of the bandwidth-delay product after a back-off.
    /// Below zero if a queue remains.
    fn idle_share(&self, size: f64, bdp: f64) -> f64 {
        (1.0 - self.backoff) * bdp - self.backoff * size
    }

    /// True if `a < 2 alpha_T + b`, the condition from which (9) follows. The condition is sufficient for exponential
    /// stability, but not necessary.
    pub fn is_stable(&self) -> bool {
        self.a < 2.0 * self.growth + self.b
    }

    /// Returns the size, divided by the bandwidth-delay product, at which (8) settles if the queue always empties
    /// (`p_e = 1`, B2): `(1 - beta_T) / ((b / a) / rho + beta_T)`.
    pub fn fixed_point(&self) -> f64 {
        (1.0 - self.backoff) / (self.b / self.a / self.spread + self.backoff)
    }

    /// Returns the bound of (11): the mean utilisation of the link is at least `1 / (1 + (b / a) rho)`. It rests on
    /// (10); with the exact fixed point the utilisation is that of [`utilisation`].
    pub fn utilisation(&self) -> f64 {
        1.0 / (1.0 + self.b / self.a * self.spread)
    }
}

/// Returns (2), `1 / (1 + b / a)`: the share of busy time at which ALT's size stays as it is, for any traffic.
pub fn utilisation(a: f64, b: f64) -> f64 {
    1.0 / (1.0 + b / a)
}
