//! Model B (section IV-B): the largest busy share of best effort with which real time still meets its target delay.
//!
//! The method is equilibrium point analysis (EPA): the random number of busy class-2 devices is replaced by its mean
//! `n̄_2`. (12), corrected (S4), requires that class 1 succeeds as often as its packets arrive:
//!
//! `n_1 S_1 = P_s1 P_tr / ((1 - P_tr) sigma + P_tr (P_s T_s + (1 - P_s) T_c))`,
//!
//! with `p_on,1 = D_tgt S_1` (7). The right side of (12) falls as `n̄_2` grows, so bisection finds `n̄_2`. It does not
//! depend on `n_2`, and `p̄_on,2 = n̄_2 / n_2` (13) is inversely proportional to `n_2`.
//!
//! # Where it holds
//!
//! **If at least one class-2 device is busy on average** ([`Equilibrium::is_valid`]). An `n̄_2` below 1 is the mean of
//! states with 0 and with 1 busy device, and resembles neither. In (8) such a device competes with `n̄_2 - 1` others of
//! its class, a negative number. Then `p_2` is too small, at last below 0 (here it is held at 0).

use super::{Channel, Contention, MAX_DEVICES};
use crate::Error;
use units::{Duration, refuse_if};

/// Traffic of class 1, and its target delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// `n_1`: number of class-1 devices; 1 to [`MAX_DEVICES`].
    pub devices: u32,
    /// `S_1`: packets per second of **one** of these devices, above 0. None of them is lost.
    pub packets_per_second: f64,
    /// `D_tgt`: target of their mean MAC delay.
    pub mac_delay: Duration,
}

/// The channel if class 1 has exactly its target delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// `p_on,1`: share of the time in which a class-1 device is busy.
    pub busy_real_time: f64,
    /// `n̄_2`, the mean number of busy class-2 devices; up to [`MAX_DEVICES`].
    pub backlogged: f64,
    /// `tau_1` and `tau_2`: probabilities that a busy device transmits in a slot.
    pub tau: [f64; 2],
    /// `p_1` and `p_2`: probabilities that a transmission collides.
    pub collision_probability: [f64; 2],
}

impl Equilibrium {
    /// True if at least one class-2 device is busy on average; otherwise the method does not hold.
    pub fn is_valid(&self) -> bool {
        self.backlogged >= 1.0
    }

    /// Returns `p̄_on,2` of (13): the share of the time for which each of `devices` may be busy. It is 1 if they may
    /// always be busy: the delay is then below its target for any load.
    pub fn busy(&self, devices: u32) -> f64 {
        (self.backlogged / f64::from(devices)).min(1.0)
    }
}

impl Target {
    /// Returns `p_on,1` of (7) if it is a probability.
    fn busy(&self) -> Result<f64, Error> {
        let arrive = self.packets_per_second > 0.0 && self.packets_per_second.is_finite();
        Error::first([((1..=MAX_DEVICES).contains(&self.devices), Error::Stations), (arrive, Error::Arrivals)])?;
        let busy = self.mac_delay.as_secs_f64() * self.packets_per_second;
        // Far below this bound, products of probabilities vanish.
        let usable = (1e-90..=1.0).contains(&busy);
        usable.then_some(busy).ok_or(Error::Probability)
    }

    /// Returns by how much class 1's successes per second exceed its packets per second, the two sides of (12).
    fn surplus(&self, channel: &Channel, contention: &Contention) -> f64 {
        contention.successes()[0] / contention.mean_slot_s(channel) - f64::from(self.devices) * self.packets_per_second
    }

    /// Returns the value from 0 to `most` at which the falling surplus vanishes; `None` if there is none.
    fn bisect(&self, channel: &Channel, most: f64, contention: impl Fn(f64) -> Contention) -> Option<f64> {
        let exceeds = |x: f64| self.surplus(channel, &contention(x)) > 0.0;
        if !exceeds(0.0) || exceeds(most) {
            return None;
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            if exceeds(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(f64::midpoint(low, high))
    }
}

/// Solves (1) and (7) to (12) for `n̄_2`.
///
/// # Errors
///
/// Class 1 has no devices or no packets. The target is longer than the time between two packets of a device (`p_on,1`
/// above 1). Windows or times are outside their ranges. [`Error::Target`] if class 1 misses its target even alone, or
/// meets it beside [`MAX_DEVICES`] that are always busy.
pub fn equilibrium(channel: &Channel, target: &Target) -> Result<Equilibrium, Error> {
    channel.check()?;
    let busy = target.busy()?;
    let contention = |backlogged| channel.settle([f64::from(target.devices), backlogged], [busy, 1.0]);
    let backlogged = target.bisect(channel, MAX_DEVICES.into(), contention).ok_or(Error::Target)?;
    let settled = contention(backlogged);
    Ok(Equilibrium {
        busy_real_time: busy,
        backlogged,
        tau: settled.tau,
        collision_probability: settled.collision_probabilities(),
    })
}

/// Returns `p_on,2` of each of `devices` of class 2, with (2) in place of (8): `n_2` devices are sometimes busy,
/// instead of `n̄_2` that always are. It needs no equilibrium point, and is 1 if they may always be busy. The document
/// finds this variant slightly less accurate.
///
/// # Errors
///
/// Those of [`equilibrium`]. There is no device of class 2, or there are too many. [`Error::Target`] only if class 1
/// misses its target even alone.
pub fn busy_of_each(channel: &Channel, target: &Target, devices: u32) -> Result<f64, Error> {
    channel.check()?;
    let busy = target.busy()?;
    refuse_if!(devices == 0 || devices > MAX_DEVICES - target.devices, Err(Error::Stations));
    let contention = |best_effort| channel.settle([target.devices, devices].map(f64::from), [busy, best_effort]);
    if target.surplus(channel, &contention(1.0)) > 0.0 {
        return Ok(1.0);
    }
    target.bisect(channel, 1.0, contention).ok_or(Error::Target)
}
