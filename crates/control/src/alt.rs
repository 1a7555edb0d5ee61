//! ALT, Adaptive Limit Tuning: the limit grows while the queue is idle and shrinks while it is busy. The link then
//! idles for a chosen share of time, with the smallest buffer that allows this share (sections V-A and V-B, Algorithm
//! 2, of the document in `docs/controllers/buffer-sizing.md`).
//!
//! Names in parentheses are the document's. Choices where the document contradicts itself or says nothing:
//!
//! - B9: idle is 'at or below' the threshold in one place and 'below' it in another; ALT takes 'at or below'.
//! - B10: the algorithm sets neither the threshold nor the interval; both are parameters.
//! - The initial size is not stated. Here it is the largest, or a size that the host gives once it knows the link.

use crate::{Controller, Invalid, Limit, Measures, Needs, Orders, Period, Reads, Scheme, Seen, Sets, Site, Warning};
use core::num::NonZeroU32;
use units::{Duration, Positive, refuse_if, with_defaults};

with_defaults! {
    /// Parameters of ALT.
    pub struct Params as "Alt" {
        /// Growth of the limit in packets per idle second (the paper's `a_1`); for an `a1` of `10 + b1` or more the
        /// limit may oscillate (the paper's equation 9). Default 10.
        pub a1: Positive<f64> => 10.0,
        /// Decrease of the limit in packets per busy second (the paper's `b_1`); utilisation is at least `1 / (1 + b1 /
        /// a1)`. Default 1.
        pub b1: Positive<f64> => 1.0,
        /// Control interval (`t`), at least 100 us. Default 1 s.
        pub interval: Period => Duration::from_secs(1),
        /// Smallest limit in packets (`q_min`). Default 5.
        pub q_min: NonZeroU32 => 5,
        /// Largest limit in packets (`q_max`), clamped to the queue's `limit`. Default 1600.
        pub q_max: NonZeroU32 => 1_600,
        /// Backlog in packets up to which the queue is idle (`q_thr`). Default 0.
        pub idle_threshold: u32,
        /// Initial limit in packets. Default: `q_max`; live, what the link sends in 200 ms, once measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<NonZeroU32>,
    }
}

/// The controller. Its state is the size (`q_ALT`) in packets, with a fraction.
#[derive(Clone, Debug)]
pub struct Alt {
    params: Params,
    hard_limit: Limit,
    size: f64,
}

impl Scheme for Alt {
    type Params = Params;

    /// # Errors
    /// The smallest limit is above the largest.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        refuse_if!(params.q_min > params.q_max, Err(Invalid::new("q_min", "must not be above q_max")));
        let initial = params.initial.unwrap_or(params.q_max);
        if initial < params.q_min || initial > params.q_max {
            return Err(Invalid::new("initial", "must be from q_min to q_max"));
        }
        let mut alt = Self { params: params.clone(), hard_limit: site.hard_limit, size: 0.0 };
        alt.set(f64::from(initial.get()));
        Ok(alt)
    }

    fn begin_from(&mut self, limit: Limit) -> bool {
        let is_free = self.params.initial.is_none();
        if is_free {
            self.set(limit.in_packets());
        }
        is_free
    }
}

impl Alt {
    /// Clamps a size to `q_min`, `q_max` and the hard limit: a larger size would take minutes to return.
    fn set(&mut self, size: f64) {
        let least = f64::from(self.params.q_min.get());
        let most = f64::from(self.params.q_max.get()).min(self.hard_limit.in_packets());
        self.size = size.max(least).min(most);
    }
}

impl Controller for Alt {
    fn needs(&self) -> Needs {
        let measures = Measures { idle_threshold: self.params.idle_threshold, ..Measures::default() };
        Needs { measures, ..Needs::new(self.params.interval.get(), Reads::OCCUPANCY, Sets::LIMIT) }
    }

    fn begin(&self) -> Orders {
        self.hard_limit.below(self.size).into()
    }

    /// Moves the size to `q_ALT + a_1 t_i - b_1 (t - t_i)`.
    fn update(&mut self, seen: &Seen) -> Orders {
        let (a1, b1) = (self.params.a1.get(), self.params.b1.get());
        self.set(self.size + a1 * seen.queue.idle.as_secs_f64() - b1 * seen.queue.busy.as_secs_f64());
        self.begin()
    }

    fn warning(&self) -> Option<Warning> {
        let stable = self.params.a1.get() < 10.0 + self.params.b1.get();
        (!stable).then_some(Warning {
            parameter: "a1".into(),
            why: "is not below 10 + b1: with a single flow and a round trip of 200 ms the limit may oscillate \
                  (equation (9), a < 2 alpha_T + b with alpha_T = 5 packets/s)",
        })
    }
}

#[cfg(test)]
#[path = "alt_tests.rs"]
mod tests;
