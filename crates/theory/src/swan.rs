//! SWAN's analytic models: real-time and best-effort devices on one DCF channel, each busy for a share of the time.
//!
//! Source: section IV of the document that proposes SWAN (Ahn, Campbell, Veres, Sun, "SWAN: Service Differentiation in
//! Stateless Wireless Ad Hoc Networks", INFOCOM 2002); equation numbers are its own. S2 and the like are its
//! contradictions, listed in `docs/controllers/swan.md`. Symbols, with the names used here:
//!
//! | symbol | name | unit |
//! |---|---|---|
//! | `n_1`, `n_2` | devices of class 1 (real-time UDP) and class 2 (best-effort TCP), one session each | |
//! | `p_on,i` | `busy`: part of the time in which the MAC of a class-`i` device or its queue holds a packet | |
//! | `tau_i` | `tau`: probability that a *busy* device transmits in a slot | |
//! | `p_i` | `collision_probability` of a transmission | |
//! | `W`, `m` | first window `W = cw_min + 1`, largest `2^m W = cw_max + 1` | slots |
//! | `P_tr` | `transmission_probability`: at least one device transmits in a slot | |
//! | `P_s` | `success_probability`: exactly one does, given that one does (S17) | |
//! | `sigma`, `T_s`, `T_c` | `slot`, `success`, `collision` | time |
//! | `S`, `S_1` | `packets_per_second`: of all devices; of **one** device of class 1 (S4) | 1/s |
//! | `D_mac`, `D_tgt` | `mac_delay`: mean; target of class 1 (S7) | time |
//! | `n̄_2` | `backlogged`: mean number of busy class-2 devices | |
//!
//! # What is solved
//!
//! There are two classes of `n_i` devices. Each device transmits in a slot with probability `p_on,i tau_i`:
//!
//! - (1) `tau_i = 2 (1 - 2 p_i) / ((1 - 2 p_i)(W + 1) + p_i W (1 - (2 p_i)^m))`, Bianchi's law without a retry limit;
//! - (2) `p_i = 1 - (1 - p_on,i tau_i)^(n_i - 1) (1 - p_on,j tau_j)^(n_j)`, `j` the other class;
//! - (3) `P_tr = 1 - (1 - p_on,1 tau_1)^(n_1) (1 - p_on,2 tau_2)^(n_2)`;
//! - (4) `P_s P_tr`, the sum over both classes of `n_i p_on,i tau_i (1 - p_on,i tau_i)^(n_i - 1) (1 - p_on,j
//!   tau_j)^(n_j)`. The document prints `tau_1` in class 2's term (S2), and again in (11) (S3);
//! - (5) `S = P_s P_tr / ((1 - P_tr) sigma + P_tr (P_s T_s + (1 - P_s) T_c))`.
//!
//! [`mac_delay`], section IV-A of the document, takes measured `p_on,1` and `p_on,2` and adds Little's law.
//! [`equilibrium`], section IV-B, takes a target for class 1 and finds `n̄_2`. Its (8) to (11) are (2) to (4), with
//! `n̄_2` devices of class 2 that are always busy.
//!
//! # What is assumed
//!
//! Slots are as in [`Freezing::Bianchi`](crate::dcf::Freezing::Bianchi). All devices are in range, there is no retry
//! limit, and transmissions are independent from slot to slot and of each other. All packets take `T_s` or `T_c`. The
//! devices are busy independently of each other.

mod delay;
mod target;

pub use delay::{Attempts, Class, Outcome, mac_delay};
pub use target::{Equilibrium, Target, busy_of_each, equilibrium};

use crate::Error;
use crate::dcf::backoff::Backoff;
use crate::error::{are_windows, takes_time};
use crate::fixed_point::settle;
use units::Duration;

/// The largest number of devices in the two classes together.
pub const MAX_DEVICES: u32 = 1000;

/// Parameters common to all devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// `W - 1`: a back-off is drawn uniformly from `0..=cw_min` slots. At least 1.
    pub cw_min: u32,
    /// `2^m W - 1`, the largest window, `cw_min` to 65535: each collision changes `CW` to `2 CW + 1` up to it.
    pub cw_max: u32,
    /// `sigma`: duration of a back-off slot.
    pub slot: Duration,
    /// `T_s`: duration of a frame without overlap and of its exchange, up to the end of the DIFS after its ACK. It is
    /// the mean over the packets' lengths.
    pub success: Duration,
    /// `T_c`: duration of the longer of two frames that overlap and of its DIFS; the mean over the packets' lengths.
    pub collision: Duration,
}

impl Channel {
    fn check(&self) -> Result<(), Error> {
        let times = [self.slot, self.success, self.collision];
        let windows = (are_windows(self.cw_min, self.cw_max), Error::Windows);
        Error::first([windows, (times.into_iter().all(takes_time), Error::Times)])
    }

    /// Solves (1) and (2). `devices[i]` of class `i`, maybe with a fraction, are busy for `busy[i]` of the time each.
    fn settle(&self, devices: [f64; 2], busy: [f64; 2]) -> Contention {
        let law = Backoff::new(self.cw_min, self.cw_max, None);
        let at = |p: &[f64]| {
            // (1), where an attempt takes the slots drawn and its own; this avoids 0/0 at p = 1/2.
            let tau = [p[0], p[1]].map(|p| 1.0 / (1.0 + law.mean(p)));
            Contention { devices, tau, attempt: [busy[0] * tau[0], busy[1] * tau[1]] }
        };
        at(&settle(vec![0.1; 2], |p| at(p).collision_probabilities().to_vec()))
    }
}

/// A slot in which each of `devices[i]` transmits with probability `attempt[i]`.
struct Contention {
    devices: [f64; 2],
    tau: [f64; 2],
    /// `p_on,i tau_i`.
    attempt: [f64; 2],
}

impl Contention {
    /// Returns the logarithm of the probability of an idle slot. It is exact even if transmissions are very rare.
    fn log_idle(&self) -> f64 {
        self.devices[0] * libm::log1p(-self.attempt[0]) + self.devices[1] * libm::log1p(-self.attempt[1])
    }

    /// Returns (2). With less than one device in a class and no other device, (8) would be below zero; here it is 0.
    fn collision_probabilities(&self) -> [f64; 2] {
        self.attempt.map(|attempt| -libm::expm1((self.log_idle() - libm::log1p(-attempt)).min(0.0)))
    }

    /// Returns (3).
    fn transmission(&self) -> f64 {
        -libm::expm1(self.log_idle())
    }

    /// Returns the terms of (4): for each class, the probability that a slot is its success.
    fn successes(&self) -> [f64; 2] {
        let of =
            |i: usize| self.devices[i] * self.attempt[i] * libm::exp(self.log_idle() - libm::log1p(-self.attempt[i]));
        [of(0), of(1)]
    }

    /// Returns the denominator of (5) and (12), in s.
    fn mean_slot_s(&self, channel: &Channel) -> f64 {
        let (transmission, success) = (self.transmission(), self.successes().iter().sum::<f64>());
        (1.0 - transmission) * channel.slot.as_secs_f64()
            + success * channel.success.as_secs_f64()
            + (transmission - success).max(0.0) * channel.collision.as_secs_f64()
    }
}
