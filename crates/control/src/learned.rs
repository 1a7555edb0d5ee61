//! A learned policy: a table of factors. Every interval it looks up a factor by two ratios, delay to target and backlog
//! to limit, and multiplies the limit by the factor.
//!
//! The policy is an agent of `sluice.learn` (crate `python`), reduced to a table that needs no Python. It sees the
//! agent's values, rounded to 32 bits, and acts as the agent's environment did. No document describes it.

use crate::{Controller, Interval, Invalid, Limit, List, Needs, Orders, Period, Reads, Scheme, Seen, Sets, Site};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Positive, with_defaults};

/// Largest number of bins on either side of a table.
pub const MOST_BINS: usize = 8;
/// Largest delay that an agent distinguishes, as a multiple of the target.
const FAR: f64 = 10.0;
/// Number of bytes that a packet counts in a limit in bytes.
const PACKET_BYTES: u64 = 1_500;

/// Edges between bins; a value at an edge belongs to the bin above.
pub type Edges = List<f64, { MOST_BINS - 1 }>;
/// A row for each bin of the delay, with a factor for each bin of the backlog.
pub type Factors = List<List<f64, MOST_BINS>, MOST_BINS>;

with_defaults! {
    /// Parameters of a learned policy. The first bin ends at the first edge, the last begins at the last edge.
    pub struct Params as "Learned" {
        /// Target by which the measured delay is divided. Default 200 ms.
        pub target_delay: Positive<Duration> => Duration::from_millis(200),
        /// Time between decisions, at least 100 us, as in training. Default 100 ms.
        pub interval: Period => Duration::from_millis(100),
        /// Delay that is compared with the target.
        pub delay: Delay = Delay::NodalDelayMax,
        /// At most 7 ascending edges of delay over target, each at most 10.
        pub delay_edges: Edges = List::new(&[0.25, 0.5, 0.8, 1.0, 1.5]).unwrap_or_default(),
        /// At most 7 ascending edges of backlog over limit, each at most 1.
        pub backlog_edges: Edges = List::new(&[0.05, 0.5, 0.9]).unwrap_or_default(),
        /// Factors of the limit, above zero: a row per bin of the delay, a value per bin of the backlog. Default: the
        /// table that `docs/python/learn.py` learned.
        pub factors: Factors = List::new(&FACTORS.map(|row| List::new(&row).unwrap_or_default())).unwrap_or_default(),
    }
}

/// Statistic of an interval's delays; each has the same name in `sluice.learn.OBSERVATION`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "LearnedDelay"))]
#[serde(rename_all = "snake_case")]
pub enum Delay {
    /// Largest nodal delay.
    #[default]
    NodalDelayMax,
    /// Mean time in the queue, for live interfaces whose queue is only estimated.
    SojournMean,
}

impl Delay {
    const fn of(self, seen: &Interval) -> Duration {
        match self {
            Self::NodalDelayMax => seen.nodal.max,
            Self::SojournMean => seen.sojourn.mean,
        }
    }

    const fn reads(self) -> Reads {
        match self {
            Self::NodalDelayMax => Reads::SERVICE,
            Self::SojournMean => Reads::SOJOURN,
        }
    }
}

/// The controller. Its state is the limit, in packets or in bytes.
#[derive(Clone, Debug)]
pub struct Learned {
    params: Params,
    hard_limit: Limit,
    limit: u64,
}

impl Scheme for Learned {
    type Params = Params;
    const TARGET: Option<&'static str> = Some("target_delay");

    /// # Errors
    /// Edges do not ascend, the shape of the table does not match the bins, or a value is not a valid factor.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        for (key, edges) in [("delay_edges", &params.delay_edges), ("backlog_edges", &params.backlog_edges)] {
            if !edges.iter().all(|edge| edge.is_finite() && *edge > 0.0) || !edges.is_sorted_by(|one, next| one < next)
            {
                return Err(Invalid::new(key, "must be numbers above zero that ascend"));
            }
        }
        if params.factors.len() != params.delay_edges.len() + 1 {
            return Err(Invalid::new(
                "factors",
                "must have a row for each bin of the delay: one more than delay_edges",
            ));
        }
        if params.factors.iter().any(|row| row.len() != params.backlog_edges.len() + 1) {
            let why = "must have in each row a factor for each bin of the backlog: one more than backlog_edges";
            return Err(Invalid::new("factors", why));
        }
        let mut factors = params.factors.iter().flat_map(|row| row.iter());
        if !factors.all(|factor| factor.is_finite() && *factor > 0.0) {
            return Err(Invalid::new("factors", "must be numbers above zero"));
        }
        Ok(Self { params: params.clone(), hard_limit: site.hard_limit, limit: site.hard_limit.count() })
    }
}

impl Learned {
    /// Returns the factor for the bins of an interval.
    fn factor(&self, seen: &Interval) -> f64 {
        let waiting = match self.hard_limit {
            Limit::Packets(_) => seen.backlog.packets,
            Limit::Bytes(_) => seen.backlog.bytes.count(),
        };
        let delay = self.params.delay.of(seen).as_secs_f64() / self.params.target_delay.get().as_secs_f64();
        let row = bin(&self.params.delay_edges, delay.min(FAR));
        let column = bin(&self.params.backlog_edges, (waiting as f64 / self.limit as f64).min(1.0));
        self.params.factors.get(row).and_then(|row| row.get(column)).copied().unwrap_or(1.0)
    }

    /// Multiplies the limit by `factor`. The result is rounded away from the present limit to whole packets or bytes,
    /// and lies between one packet and the hard limit.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast floors and saturates")]
    fn multiply(&mut self, factor: f64) {
        let least = match self.hard_limit {
            Limit::Packets(_) => 1,
            Limit::Bytes(_) => PACKET_BYTES,
        };
        let moved = self.limit as f64 * factor;
        let floor = moved as u64;
        let grows = factor > 1.0 && (floor as f64) < moved;
        self.limit = floor.saturating_add(u64::from(grows)).max(least).min(self.hard_limit.count());
    }
}

/// Returns the bin of a value, which is first rounded to 32 bits as an agent sees it.
#[expect(clippy::cast_possible_truncation, reason = "agents see 32 bits")]
fn bin(edges: &[f64], value: f64) -> usize {
    let seen = f64::from(value as f32);
    edges.iter().take_while(|edge| seen >= **edge).count()
}

impl Controller for Learned {
    fn needs(&self) -> Needs {
        let reads = Reads::COUNTS.and(self.params.delay.reads());
        Needs::new(self.params.interval.get(), reads, Sets::LIMIT)
    }

    fn begin(&self) -> Orders {
        match self.hard_limit {
            Limit::Packets(most) => Limit::Packets(u32::try_from(self.limit).unwrap_or(most)),
            Limit::Bytes(_) => Limit::Bytes(Bytes::new(self.limit)),
        }
        .into()
    }

    fn update(&mut self, seen: &Seen) -> Orders {
        self.multiply(self.factor(&seen.queue));
        self.begin()
    }

    fn target_delay(&self) -> Option<Duration> {
        Some(self.params.target_delay.get())
    }
}

/// The policy that `docs/python/learn.py` prints: a row for each bin of delay, a column for each bin of backlog.
const FACTORS: [[f64; 4]; 6] = [
    [1.0, 1.0, 0.5, 2.0],
    [0.95, 0.5, 0.5, 0.8],
    [0.8, 2.0, 0.5, 1.0],
    [0.5, 1.25, 0.5, 0.8],
    [0.5, 0.8, 0.5, 1.05],
    [0.5, 0.5, 0.5, 0.5],
];

#[cfg(test)]
#[path = "learned_tests.rs"]
mod tests;
