//! SWAN's rate control, for the port of best effort: the rate at which traffic leaves grows by steps. It is reduced by
//! a share when a packet of the node had too long a MAC delay (section III-A and Fig. 3 of the document in
//! `docs/controllers/swan.md`). Real time is not shaped.
//!
//! Names in parentheses are the document's. Choices where the document contradicts itself or says nothing:
//!
//! - S5: `c` is a rate per control period in one place, and per second in another. `increase_per` chooses; by default
//!   it is per second.
//! - S11: if nothing was sent, the gap rule would set the rate to zero for ever. This controller keeps a floor.
//! - S16: the rate is reduced 'as soon as' a delay is too long, or once in a period. Here it is reduced at the end of
//!   the period, when the host calls. A shorter period reacts sooner.
//! - S20: Fig. 3 neither counts `n` nor resets it; here `n` is the number of late packets since the last call.
//! - The initial rate is not stated. This controller shapes nothing in the first period; after it the gap rule applies.
//! - The window of the actual rate (`a`) is not stated. This controller takes the period that ends.

use crate::{Controller, Invalid, Needs, Orders, Period, Reads, Scheme, Seen, Sets, Site, Warning};
use serde::{Deserialize, Serialize};
use units::{Duration, Positive, Rate, Share, with_defaults};

with_defaults! {
    /// Parameters of SWAN's rate control; `docs/controllers/swan.md` explains S5 and S11.
    pub struct Params as "SwanRate" {
        /// Control period (`T`), at least 100 us. Default 1 s: the only one for which both printed units of `c` agree
        /// (S5).
        pub interval: Period => Duration::from_secs(1),
        /// MAC delay, from hand-over to ACK, above which a packet is late (`d`); with RTS/CTS the paper's real-time
        /// load needs 20 ms. Default 10 ms: with basic access the document's real-time load alone needs less. The
        /// document says only that `d` follows from real-time traffic's needs.
        pub mac_delay: Positive<Duration> => Duration::from_millis(10),
        /// Rate increase after a period without late packets (`c`). Default 35 kb/s.
        pub increase: Positive<Rate> => Rate::kbps(35),
        /// Time unit of the increase (S5). Default a second.
        pub increase_per: Per = Per::Second,
        /// Share of the rate removed after a period with a late packet (`r`), above 0 and at most 1. Default 0.5.
        pub decrease: Positive<Share> => 0.5,
        /// Largest excess of the shaping rate over the actual rate, as a share of the actual rate (`g`). Default 0.1:
        /// the fairness between nodes falls below and above 0.1 (section V-A).
        pub gap: Positive<f64> => 0.1,
        /// Use of `gap`; without `gap` the rate grows even if little is sent (the paper's Fig. 7). Default true.
        pub gap_rule: bool = true,
        /// Minimum rate (S11). Default: one increase.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub floor: Option<Positive<Rate>>,
    }
}

/// The time in which a rate grows by a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// Growth per second (the paper's section V).
    #[default]
    Second,
    /// Growth per control period (the paper's Fig. 3).
    Period,
}

/// The controller. Its state is the shaping rate (`s`) in bit/s; `None` in the first period.
#[derive(Clone, Debug)]
pub struct SwanRate {
    params: Params,
    site: Site,
    rate: Option<f64>,
}

impl Scheme for SwanRate {
    type Params = Params;

    /// Builds the controller; every parameter set is valid.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        Ok(Self { params: params.clone(), site: *site, rate: None })
    }
}

impl SwanRate {
    /// Returns by how much the rate grows after a period of this length, in bit/s.
    fn step(&self, period: Duration) -> f64 {
        let periods = match self.params.increase_per {
            Per::Second => period.as_secs_f64(),
            Per::Period => 1.0,
        };
        self.params.increase.get().as_bps() as f64 * periods
    }

    /// Returns the floor in bit/s, at least 1: a queue with rate zero would never be measured again.
    fn floor(&self) -> f64 {
        let stated = self.params.floor.map(|floor| floor.get().as_bps() as f64);
        stated.unwrap_or_else(|| self.step(self.params.interval.get())).max(1.0)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast floors and saturates")]
    fn orders(&self) -> Orders {
        let rate = self.rate.map(|rate| Rate::bps(rate as u64));
        Orders { rate, ..self.site.hard_limit.into() }
    }
}

impl Controller for SwanRate {
    fn needs(&self) -> Needs {
        let reads = Reads::COUNTS.and(Reads::LATE);
        let late_after = Some(self.params.mac_delay.get());
        Needs { late_after, ..Needs::new(self.params.interval.get(), reads, Sets::RATE) }
    }

    fn begin(&self) -> Orders {
        self.orders()
    }

    /// Applies Fig. 3: `s = s (1 - r/100)` or `s = s + c`, then `s = a (1 + g/100)` if `s - a > a g/100`.
    fn update(&mut self, seen: &Seen) -> Orders {
        if seen.queue.length.is_zero() {
            return self.orders();
        }
        let late = seen.radio.is_some_and(|radio| radio.late > 0);
        let actual = seen.queue.sent.bytes.bits() as f64 / seen.queue.length.as_secs_f64();
        let highest = actual * (1.0 + self.params.gap.get());
        let rate = match self.rate {
            None => highest,
            Some(rate) if late => rate * (1.0 - self.params.decrease.get()),
            Some(rate) => rate + self.step(seen.queue.length),
        };
        let rate = if self.params.gap_rule { rate.min(highest) } else { rate };
        self.rate = Some(rate.max(self.floor()));
        self.orders()
    }

    fn warning(&self) -> Option<Warning> {
        let warning = |key: &'static str, why| Some(Warning { parameter: key.into(), why });
        if self.params.decrease.get() >= 1.0 {
            return warning(
                "decrease",
                "takes the whole rate away for a single late packet: best effort then starts again from the floor (75 % already \
                 had the least TCP throughput of all, section V-A and Fig. 13)",
            );
        }
        if self.params.gap_rule && self.params.gap.get() < 0.1 {
            return warning(
                "gap",
                "is below 0.1: the gap rule acts most of the time, so that the rate cannot grow by its steps and slow senders \
                 stay slow (section V-A and Fig. 9)",
            );
        }
        None
    }
}

#[cfg(test)]
#[path = "swan_rate_tests.rs"]
mod tests;
