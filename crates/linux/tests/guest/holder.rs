//! Queues compared with each other: our discipline under a controller, or one of the kernel's.

use super::governor::Governor;
use super::{load, now, shell};
use control::{Interval, Limit, Name, Parameters};
use linux::device::bpf::Discipline;
use units::{Duration, Instant};

/// Interval at which a test looks if nothing governs.
const IDLE: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Sluice's discipline, drop-tail, at most 1000 packets.
    Ours(Name, Box<Parameters>),
    /// A discipline of the kernel, as `tc qdisc` has it.
    Kernel(&'static str),
}

impl Kind {
    pub(super) fn ours(name: Name, parameters: Parameters) -> Self {
        Self::Ours(name, Box::new(parameters))
    }
}

pub(super) enum Holder {
    Ours(Box<(Governor, Discipline)>),
    Kernel { next: Instant },
}

impl Holder {
    /// Installs it on an interface. Commands are done when it returns.
    pub(super) fn new(kind: &Kind, interface: &str) -> Self {
        match kind {
            Kind::Ours(name, parameters) => {
                let discipline = load();
                Self::Ours(Box::new((Governor::new(&discipline, *name, parameters, interface), discipline)))
            }
            Kind::Kernel(words) => {
                shell(&format!("modprobe -a sch_fq_codel sch_cake; tc qdisc replace dev {interface} root {words}"));
                Self::Kernel { next: now() }
            }
        }
    }

    /// Decides if it is time to; returns what was seen then.
    pub(super) fn turn(&mut self) -> Option<Interval> {
        match self {
            Self::Ours(ours) => ours.0.turn(),
            Self::Kernel { next } => {
                if now() >= *next {
                    *next = now() + IDLE;
                }
                None
            }
        }
    }

    /// Time of the next decision.
    pub(super) fn next(&self) -> Instant {
        match self {
            Self::Ours(ours) => ours.0.next(),
            Self::Kernel { next } => *next,
        }
    }

    /// The last decision, if a controller decides.
    pub(super) fn limit(&self) -> Option<Limit> {
        match self {
            Self::Ours(ours) => Some(ours.0.limit()),
            Self::Kernel { .. } => None,
        }
    }

    /// After its interface is gone.
    pub(super) fn end(self) {
        if let Self::Ours(ours) = self {
            ours.1.unload().unwrap();
        }
    }
}
