//! Interfaces to observe runs, and to execute them outside this crate.

use sim::Governed;
use sim::config::Network;
use sim::results::Outcome;
use std::collections::BTreeMap;
use std::fmt;
use units::Duration;

/// An observer of a run. It is told the progress, and asked whether the run should continue.
pub trait Watch: Sync {
    /// True if the run should stop.
    fn stopped(&self) -> bool {
        false
    }

    /// Reports that this much more time has been simulated.
    fn advanced(&self, _by: Duration) {}
}

/// Observes nothing, and lets the run go on.
impl Watch for () {}

/// The outcome of a run, and how long the run took.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The measurements of the run.
    pub outcome: Outcome,
    /// Time on the wall clock, in seconds.
    pub wall_s: f64,
    /// Processor time, in seconds.
    pub cpu_s: f64,
}

/// The error of controllers [outside](Outside) Sluice that ended a run.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Controllers that are not part of Sluice, such as those written in Python.
pub trait Outside: fmt::Debug + Send + Sync {
    /// Runs `network` to its end and decides for the queues named in `places`; `None` if the watcher stopped the run.
    /// `case` has the labels of the varied values.
    ///
    /// # Errors
    /// A controller fails.
    fn run(
        &self,
        network: &Network,
        seed: u64,
        case: &BTreeMap<String, String>,
        places: &[Governed],
        watch: &dyn Watch,
    ) -> Result<Option<Timed>, Fault>;
}
