//! SWAN's admission at the source of a real-time flow (section III-B and C of the document, see
//! `docs/controllers/swan.md`). A probe finds the minimum of the rates that the nodes of the path can still admit; a
//! flow that needs no more is admitted. When asked to regulate, the source probes again for its original rate, and
//! continues or stops.
//!
//! Names in parentheses are the document's. Choices where the document contradicts itself or says nothing:
//!
//! - S12: the random time is 'between (0, 7)'; in this gate its upper bound is the parameter `stagger`.
//! - S28: a flow that was 'just admitted' takes 'immediate corrective action'. In this gate the flow probes at once
//!   while it is new, for `new_for`. A flow that is admitted again after a request to regulate is not new again.
//! - Lost probes and answers are not covered. This gate repeats the probe. Without any answer it finally refuses the
//!   flow, even if it was admitted.

use crate::{Act, Gate, Random};
use units::{Duration, Instant, Positive, Rate, with_defaults};

with_defaults! {
    /// Parameters of SWAN's admission.
    pub struct Params as "SwanGate" {
        /// Wait for an answer. Default 500 ms: more than twice the one-way delay that voice may have (ITU-T G.114).
        pub patience: Positive<Duration> => Duration::from_millis(500),
        /// Repetitions of an unanswered probe. Default 2.
        pub retries: u32 = 2,
        /// Upper bound of the random wait before a probe to regulate (SWAN-1: 7 s; SWAN-2: 0). Default 0.
        pub stagger: Duration,
        /// Time for which a flow is newly admitted. Default 10 s: longer than SWAN-1's waits.
        pub new_for: Duration = Duration::from_secs(10),
    }
}

/// Admission at the source of one flow.
#[derive(Clone, Debug)]
pub struct SwanGate {
    params: Params,
    random: Random,
    rate: Rate,
    admitted: Admitted,
    awaits: Awaits,
}

/// Whether and since when the flow is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admitted {
    No,
    /// Admitted at this moment.
    Yes(Instant),
    /// Admitted at an unknown time, too long ago for a new flow.
    Long,
}

/// What the gate waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    Nothing,
    /// End of the random time before a probe.
    Turn {
        until: Instant,
    },
    Answer {
        number: u64,
        until: Instant,
        retries: u32,
    },
}

impl SwanGate {
    /// Makes the gate of a source that has not asked for anything yet. On a real network the seed should be secret. It
    /// determines the probes' numbers, and anyone who knows a number can forge the answer.
    pub fn new(params: &Params, seed: u64) -> Self {
        let random = Random::new(seed);
        let (rate, admitted, awaits) = (Rate::bps(0), Admitted::No, Awaits::Nothing);
        Self { params: params.clone(), random, rate, admitted, awaits }
    }

    /// Marks the flow as admitted long ago: the gate of another path had admitted it before it took this path.
    pub fn presume(&mut self, rate: Rate) {
        (self.rate, self.admitted) = (rate, Admitted::Long);
    }

    fn probe(&mut self, now: Instant, retries: u32) -> Act {
        let number = self.random.bits();
        self.awaits = Awaits::Answer { number, until: now + self.params.patience.get(), retries };
        Act::Probe { number }
    }

    fn refuse(&mut self) -> Act {
        (self.admitted, self.awaits) = (Admitted::No, Awaits::Nothing);
        Act::Refuse
    }
}

impl Gate for SwanGate {
    fn open(&mut self, now: Instant, rate: Rate) -> Act {
        (self.rate, self.admitted) = (rate, Admitted::No);
        self.probe(now, self.params.retries)
    }

    fn answered(&mut self, now: Instant, number: u64, bottleneck: Rate) -> Act {
        if !matches!(self.awaits, Awaits::Answer { number: awaited, .. } if awaited == number) {
            return Act::Keep;
        }
        if bottleneck < self.rate {
            return self.refuse();
        }
        self.awaits = Awaits::Nothing;
        match self.admitted {
            Admitted::Yes(_) | Admitted::Long => Act::Keep,
            Admitted::No => {
                self.admitted = Admitted::Yes(now);
                Act::Admit
            }
        }
    }

    fn regulated(&mut self, now: Instant) -> Act {
        if !self.is_admitted() || self.awaits != Awaits::Nothing {
            return Act::Keep;
        }
        let stagger = if self.is_new(now) { 0.0 } else { self.params.stagger.as_secs_f64() };
        let wait = Duration::from_secs_f64(stagger * self.random.unit());
        if wait.is_zero() {
            return self.probe(now, self.params.retries);
        }
        self.awaits = Awaits::Turn { until: now + wait };
        Act::Keep
    }

    fn deadline(&self) -> Instant {
        match self.awaits {
            Awaits::Nothing => Instant::NEVER,
            Awaits::Turn { until } | Awaits::Answer { until, .. } => until,
        }
    }

    fn elapsed(&mut self, now: Instant) -> Act {
        match self.awaits {
            Awaits::Nothing => Act::Keep,
            _ if now < self.deadline() => Act::Keep,
            Awaits::Turn { .. } => self.probe(now, self.params.retries),
            Awaits::Answer { retries: 0, .. } => self.refuse(),
            Awaits::Answer { retries, .. } => self.probe(now, retries - 1),
        }
    }

    fn is_admitted(&self) -> bool {
        self.admitted != Admitted::No
    }

    fn is_new(&self, now: Instant) -> bool {
        matches!(self.admitted, Admitted::Yes(since) if now.since(since) < self.params.new_for)
    }
}

#[cfg(test)]
#[path = "swan_gate_tests.rs"]
mod tests;
