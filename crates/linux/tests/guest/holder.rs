//! What holds the packets of an interface in a comparison: our discipline under a controller, or one of the kernel's.

use super::governor::Governor;
use super::{load, now, shell};
use control::{Interval, Limit, Name, Parameters};
use linux::device::bpf::Discipline;
use units::{Duration, Instant};

/// How often a test looks round while nothing governs.
const IDLE: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Our discipline, drop-tail, 1000 packets at most.
    Ours(Name, Box<Parameters>),
    /// As `tc qdisc` has it.
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
    /// Puts it on an interface. Commands are done when it returns.
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

    /// Decides where it is time to; what was seen then.
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

    /// When it decides next.
    pub(super) fn next(&self) -> Instant {
        match self {
            Self::Ours(ours) => ours.0.next(),
            Self::Kernel { next } => *next,
        }
    }

    /// What it decided last, where it decides.
    pub(super) fn limit(&self) -> Option<Limit> {
        match self {
            Self::Ours(ours) => Some(ours.0.limit()),
            Self::Kernel { .. } => None,
        }
    }

    /// After its interface has gone.
    pub(super) fn end(self) {
        if let Self::Ours(ours) = self {
            ours.1.unload().unwrap();
        }
    }
}
