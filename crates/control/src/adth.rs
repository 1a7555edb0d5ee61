//! ADTH, the Adaptive Dynamic Threshold: moves the queue's limit so that a packet's nodal delay (time in the queue and
//! in the MAC) stays at or below a target. In each interval ADTH estimates how many packets can leave within the target
//! (sections 3.2.1 and 3.2.3). It multiplies this number by a factor that follows the measured delay (section 3.2.2).
//!
//! The document is that of `docs/controllers/adth.md`; its names are in parentheses. The document's contradictions, and
//! this controller's choices:
//!
//! - A1, A2: Algorithm 1 takes MIN for the factor's lower and MAX for its upper bound; section 3.2.4 shows the
//!   opposite.
//! - A4: Algorithm 1 corrects the factor before the first threshold; by section 3.2.4 the factor is 1 at that time.
//! - A6: section 4.2.1 describes a threshold with memory, which Algorithm 1 lacks; `latch` adds it.
//! - A7: Algorithm 1 tests arrivals and divides by departures; this controller tests both.

use crate::{Controller, Interval, Invalid, Limit, Needs, Orders, Period, Reads, Scheme, Seen, Sets, Site, Stat};
use core::num::NonZeroU32;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Positive, refuse_if, with_defaults};

with_defaults! {
    /// Parameters of ADTH. Section numbers are those of its thesis (`docs/controllers/adth.md`).
    pub struct Params as "Adth" {
        /// Target of the time in queue and MAC (`D`). Default 200 ms.
        pub target_delay: Positive<Duration> => Duration::from_millis(200),
        /// Control interval (`Ts`), at least 100 us; section 5.4 advises at most a quarter of the target for real
        /// networks. Default: half the target (section 3.2.5).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub interval: Option<Period>,
        /// Lower bound of the limit in packets (`minQueLimit`), of 1500 B each if the limit is in bytes. Default 1.
        pub limit_min: NonZeroU32 => 1,
        /// Lower bound of the correction factor (`minQueLenFctr`). Default 0.1.
        pub phi_min: Positive<f64> => 0.1,
        /// Upper bound of the correction factor (`maxQueLenFctr`); from 2 on, a saturated queue oscillates above its
        /// target. Default 1.
        pub phi_max: Positive<f64> => 1.0,
        /// Statistic of an interval's nodal delays.
        pub statistic: Statistic = Statistic::Mean,
        /// Keeps the hard limit until the first late packet, then at most the largest estimate (section 4.2.1, A6).
        pub latch: bool,
    }
}

/// A statistic of the packets of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Mean delay of the packets.
    #[default]
    Mean,
    /// Largest delay of a packet.
    Max,
    /// Delay of the last packet.
    Last,
}

impl Statistic {
    const fn of(self, stat: &Stat) -> Duration {
        match self {
            Self::Mean => stat.mean,
            Self::Max => stat.max,
            Self::Last => stat.last,
        }
    }
}

/// The controller. Its state is the correction factor `phi` (`queLenFctr`) and the memory of `latch` (A6).
#[derive(Clone, Debug)]
pub struct Adth {
    params: Params,
    interval: Duration,
    hard_limit: Limit,
    phi: f64,
    first: bool,
    late_seen: bool,
    largest_estimate: f64,
}

impl Scheme for Adth {
    type Params = Params;
    const TARGET: Option<&'static str> = Some("target_delay");

    /// Builds the controller with the site's hard limit as `maxQueLimit`.
    ///
    /// # Errors
    /// Half of the target is below the shortest interval, or a lower bound of the factor is above the upper bound.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        let interval = params.interval.or_else(|| Period::new(params.target_delay.get() / 2));
        let Some(interval) = interval else {
            return Err(Invalid::new("target_delay", "must be at least 200 us, because the interval is half of it"));
        };
        refuse_if!(params.phi_min > params.phi_max, Err(Invalid::new("phi_min", "must not be above phi_max")));
        Ok(Self {
            params: params.clone(),
            interval: interval.get(),
            hard_limit: site.hard_limit,
            phi: 1.0,
            first: true,
            late_seen: false,
            largest_estimate: 0.0,
        })
    }
}

impl Adth {
    /// Returns `Lest`: a packet that finds this number of packets ahead leaves the node exactly at the target delay.
    fn estimate(&self, seen: &Interval) -> f64 {
        let bytes_sent = seen.sent.bytes.count() as f64;
        let size = bytes_sent / seen.sent.packets as f64;
        let throughput = bytes_sent / seen.length.as_secs_f64();
        let allowed = self.params.target_delay.get().as_secs_f64() - seen.departure_gap.mean.as_secs_f64();
        match self.hard_limit {
            Limit::Packets(_) => allowed * throughput / size,
            Limit::Bytes(_) => allowed * throughput,
        }
    }

    /// Moves `phi` by the error relative to the target. If packets are late it falls by the whole error (A1); if they
    /// are early it rises by half of it (A2).
    fn correct(&mut self, nodal_delay: Duration) {
        let target = self.params.target_delay.get();
        let beta = (target.as_secs_f64() - nodal_delay.as_secs_f64()) / target.as_secs_f64();
        self.phi = if nodal_delay >= target {
            self.params.phi_min.get().max(self.phi + beta)
        } else {
            self.params.phi_max.get().min(self.phi + beta / 2.0)
        };
    }

    /// Returns `Lstar`: `length` in whole packets or bytes, at least `Lmin` and at most `Lmax`; `Lmax` has precedence.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast floors and saturates")]
    fn limit(&self, length: f64) -> Limit {
        let least = self.params.limit_min.get();
        match self.hard_limit {
            Limit::Packets(most) => Limit::Packets((length as u32).max(least).min(most)),
            Limit::Bytes(most) => {
                let least = Bytes::new(1_500) * u64::from(least);
                Limit::Bytes(Bytes::new(length as u64).max(least).min(most))
            }
        }
    }
}

impl Controller for Adth {
    fn needs(&self) -> Needs {
        Needs::new(self.interval, Reads::COUNTS.and(Reads::SOJOURN).and(Reads::GAP), Sets::LIMIT)
    }

    fn begin(&self) -> Orders {
        self.hard_limit.into()
    }

    fn update(&mut self, seen: &Seen) -> Orders {
        let seen = &seen.queue;
        // A7: the document tests arrivals only, although it divides by the packets that were sent.
        let measured = seen.arrived.packets > 0 && seen.sent.packets > 0 && seen.sent.bytes > Bytes::new(0);
        let mut length = f64::INFINITY;
        if measured && !seen.length.is_zero() {
            let statistic = self.params.statistic;
            let nodal_delay = statistic.of(&seen.sojourn) + statistic.of(&seen.departure_gap);
            let estimate = self.estimate(seen);
            // A4: the first threshold has no correction factor.
            if !self.first {
                self.correct(nodal_delay);
            }
            self.first = false;
            self.late_seen |= nodal_delay >= self.params.target_delay.get();
            self.largest_estimate = self.largest_estimate.max(estimate);
            length = self.phi * estimate;
        }
        if self.params.latch {
            length = if self.late_seen { length.min(self.largest_estimate) } else { f64::INFINITY };
        }
        self.limit(length).into()
    }

    fn target_delay(&self) -> Option<Duration> {
        Some(self.params.target_delay.get())
    }
}

#[cfg(test)]
#[path = "adth_tests.rs"]
mod tests;
