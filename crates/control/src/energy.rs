//! Energy saved by a threshold: a node serves packets at a low rate and power while few wait, and at a high rate and
//! power when more wait (section 2.5 of the document, the slides of a talk; see `docs/energy.md`).
//!
//! According to the document, the rate of an energy-critical node depends on its own queue alone, a threshold is
//! optimal, and a decentralised algorithm finds it. The document has no formula. The formulas are reconstructed:
//!
//! - The instantaneous cost is the number of packets at the node (`n`) plus `w` times the node's power above its idle
//!   power: `eta = L + w (p_lo P_lo + p_hi P_hi)`. The low level serves while `n <= theta`, the high level above.
//! - Arrivals (`lambda`) and services (`mu_lo`, `mu_hi`) are random. Then `eta(theta)` has a closed form, with `a = lambda /
//!   mu_lo`, `b = lambda / mu_hi`, `A = sum of a^n, n = 0 to theta`, `T = a^theta b / (1 - b)`, `G = A + T`, `L = [sum of n
//!   a^n, n = 0 to theta, + a^theta (theta b / (1 - b) + b / (1 - b)^2)] / G`, `P_lo = (A - 1) / G`, `P_hi = T / G`.
//! - After each epoch the node takes `lambda`, the rates and the powers from its own measurements. It moves `theta` by
//!   one towards the least cost if that saves more than a share (`gain`). Each measurement counts half as much one
//!   epoch later.
//! - If a level has no measurements yet, `theta` moves by one so that it is used. The high level serves if `lambda >
//!   0.9 mu_lo`, or if more than `most` packets are at the node.
//!
//! Names in parentheses are those of the reconstruction; `theory::energy` has the models and the closed form's tests.

use crate::{Controller, Invalid, Needs, Orders, Period, Reads, Scheme, Seen, Served, Sets, Site};
use core::num::NonZeroU64;
use units::{Duration, Positive, Share, Within, with_defaults};

/// Largest rate of arrivals at which the low level is used, as a share of that level's service rate.
const SAFE: f64 = 0.9;

with_defaults! {
    /// Parameters of the energy scheme (`docs/energy.md`). Needs `[consumption.low]`.
    pub struct Params as "EnergyThreshold" {
        /// Fixed threshold (`theta`): packets at the node, the MAC's included, up to which the low level sends.
        /// Default: found by the node.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub threshold: Option<u32>,
        /// Cost of one watt, in waiting packets (`w`). Default 1.
        pub weight: Positive<f64> => 1.0,
        /// Packets served per epoch (`E`). Default 5000, reconstructed.
        pub services: NonZeroU64 => 5_000,
        /// Longest epoch. Default 30 s, reconstructed.
        pub epoch: Positive<Duration> => Duration::from_secs(30),
        /// Measurement interval, at least 100 us. Default 1 s, reconstructed.
        pub interval: Period => Duration::from_secs(1),
        /// Smallest relative saving that moves the threshold, 0 to 1. Default 0.02, reconstructed.
        pub gain: Share => 0.02,
        /// Largest threshold (`n_max`): 1 to 1000. Default 64, reconstructed.
        pub most: Within<u32, 1, 1_000> => 64,
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Energy {
    params: Params,
    site: Site,
    /// Threshold (`theta`), in packets.
    threshold: u32,
    /// Length of this epoch until now, in seconds; arrived packets; service at either level.
    length: f64,
    arrived: f64,
    served: [Sum; 2],
    /// Measurements at each level over this epoch and earlier ones.
    known: [Sum; 2],
}

/// Sums over services at one level: packets, seconds and joules.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    packets: f64,
    time: f64,
    energy: f64,
}

/// What the model needs to know of a level: packets per second, and watts while it serves.
#[derive(Clone, Copy, Debug)]
struct Level {
    rate: f64,
    power: f64,
}

impl Sum {
    /// Adds `more`, multiplied by `share`.
    fn and(self, more: Self, share: f64) -> Self {
        Self {
            packets: share * self.packets + more.packets,
            time: share * self.time + more.time,
            energy: share * self.energy + more.energy,
        }
    }

    fn level(self) -> Option<Level> {
        let served = self.packets > 0.0 && self.time > 0.0;
        served.then(|| Level { rate: self.packets / self.time, power: self.energy / self.time })
    }
}

impl From<Served> for Sum {
    fn from(served: Served) -> Self {
        let (time, energy) = (served.time.as_secs_f64(), served.energy.as_joules());
        Self { packets: served.packets as f64, time, energy }
    }
}

impl Scheme for Energy {
    type Params = Params;

    /// With a fixed threshold, the keys of the search have no effect.
    fn idle(params: &Params, key: &str) -> Option<[&'static str; 2]> {
        (key != "threshold" && params.threshold.is_some()).then_some([
            "the `threshold` is fixed",
            "leave `threshold` out, so that the node finds it, or leave this key out",
        ])
    }

    /// Builds the controller; every parameter set is valid.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        let (params, none) = (params.clone(), [Sum::default(); 2]);
        let threshold = params.threshold.unwrap_or(0);
        Ok(Self { params, site: *site, threshold, length: 0.0, arrived: 0.0, served: none, known: none })
    }
}

impl Controller for Energy {
    fn needs(&self) -> Needs {
        match self.params.threshold {
            Some(_) => Needs::new(Duration::MAX, Reads::NONE, Sets::LEVEL),
            None => Needs::new(self.params.interval.get(), Reads::COUNTS.and(Reads::LEVELS), Sets::LEVEL),
        }
    }

    fn begin(&self) -> Orders {
        Orders { low_up_to: Some(self.threshold), ..self.site.hard_limit.into() }
    }

    fn update(&mut self, seen: &Seen) -> Orders {
        if self.params.threshold.is_none() {
            self.observe(seen);
        }
        self.begin()
    }
}

impl Energy {
    fn observe(&mut self, seen: &Seen) {
        self.length += seen.queue.length.as_secs_f64();
        self.arrived += seen.queue.arrived.packets as f64;
        for (sum, served) in self.served.iter_mut().zip(seen.radio.unwrap_or_default().levels) {
            *sum = sum.and(served.into(), 1.0);
        }
        let services = self.served[0].packets + self.served[1].packets;
        if services >= self.params.services.get() as f64 || self.length >= self.params.epoch.get().as_secs_f64() {
            self.decide();
            (self.length, self.arrived, self.served) = (0.0, 0.0, [Sum::default(); 2]);
        }
    }

    /// Ends an epoch and moves the threshold.
    fn decide(&mut self) {
        if self.served.iter().all(|sum| sum.level().is_none()) || self.length <= 0.0 {
            return;
        }
        for (known, served) in self.known.iter_mut().zip(self.served) {
            *known = known.and(served, 0.5);
        }
        let arrivals = self.arrived / self.length;
        self.threshold = match self.known.map(Sum::level) {
            [Some(low), _] if arrivals > SAFE * low.rate => 0,
            [Some(low), Some(high)] => self.towards_the_best(arrivals, low, high),
            [None, _] => (self.threshold + 1).min(self.params.most.get()),
            [_, None] => self.threshold.saturating_sub(1),
        };
    }

    /// Returns the threshold, moved by at most one towards the one with the least cost.
    fn towards_the_best(&self, arrivals: f64, low: Level, high: Level) -> u32 {
        let (a, b) = (arrivals / low.rate, arrivals / high.rate);
        if b >= 1.0 {
            return 0;
        }
        let (mut power, mut sum, mut held) = (1.0, 1.0, 0.0);
        let (mut best, mut least, mut now) = (0, f64::INFINITY, f64::INFINITY);
        for threshold in 0..=self.params.most.get() {
            let theta = f64::from(threshold);
            if threshold > 0 {
                power *= a;
                sum += power;
                held += theta * power;
            }
            let tail = power * b / (1.0 - b);
            let all = sum + tail;
            let length = (held + power * (theta * b / (1.0 - b) + b / ((1.0 - b) * (1.0 - b)))) / all;
            let cost = length + self.params.weight.get() * (low.power * (sum - 1.0) + high.power * tail) / all;
            if cost < least {
                (best, least) = (threshold, cost);
            }
            if threshold == self.threshold {
                now = cost;
            }
        }
        if least >= (1.0 - self.params.gain.get()) * now {
            return self.threshold;
        }
        if best > self.threshold { self.threshold + 1 } else { self.threshold.saturating_sub(1) }
    }
}

#[cfg(test)]
#[path = "energy_tests.rs"]
mod tests;
