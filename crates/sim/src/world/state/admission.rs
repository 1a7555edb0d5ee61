//! The source of a flow that asks for admission, and the probe that is under way for it.

use crate::config::{Dscp, Refused};
use crate::engine::FlowId;
use crate::results;
use control::{FlowGate, Gate as _};
use units::{Duration, Instant, Rate};

/// Additional state of a flow that asks for admission.
pub(crate) struct Admission {
    pub(crate) gate: FlowGate,
    /// Requested rate, in network-layer bytes.
    pub(crate) rate: Rate,
    pub(crate) refused: Refused,
    /// Its probes, the answers to them, and the messages that ask it to regulate: each a flow of its own.
    pub(crate) probes: FlowId,
    pub(crate) answers: FlowId,
    pub(crate) regulations: FlowId,
    pub(crate) standing: Standing,
    /// The last probe; the gate ignores answers to others.
    pub(crate) probe: Option<Probe>,
    /// Time at which the earliest pending event of the gate fires; later ones are stale.
    pub(crate) armed: Instant,
    /// Time at which the destination last asked to regulate.
    pub(crate) asked: Option<Instant>,
    pub(crate) record: AdmissionRecord,
}

/// Where a flow that asks for admission stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No request yet.
    NotYet,
    /// It sends nothing until the first answer.
    Waiting,
    /// Admitted.
    RealTime,
    /// Refused, it sends as best effort.
    BestEffort,
    /// Refused, it sends nothing.
    Nothing,
}

/// A probe under way. The bottleneck travels in the packet; as each flow has one probe that matters, it stands here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Time at which it set out, by which its packet and the answer are known.
    pub(crate) sent: Instant,
    pub(crate) number: u64,
    pub(crate) bottleneck: Rate,
}

/// Outcome of the admission, for the results.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdmissionRecord {
    pub(crate) probes: u64,
    pub(crate) unanswered: u64,
    pub(crate) regulations: u64,
    pub(crate) marked: u64,
    pub(crate) admitted: Option<Instant>,
    pub(crate) refused: Option<Instant>,
    /// The random time before a probe, when it was first asked to regulate.
    pub(crate) waited: Option<Duration>,
}

impl Admission {
    /// The code point of its packets now; none where it sends nothing.
    pub(crate) fn dscp(&self, now: Instant) -> Option<Dscp> {
        match self.standing {
            Standing::NotYet | Standing::Waiting | Standing::Nothing => None,
            Standing::BestEffort => Some(Dscp::default()),
            Standing::RealTime if self.gate.is_new(now) => Some(Dscp::REAL_TIME_NEW),
            Standing::RealTime => Some(Dscp::REAL_TIME),
        }
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.standing == Standing::RealTime
    }

    /// Its results in a run that ends now.
    pub(crate) fn result(&self, now: Instant) -> results::Admission {
        let AdmissionRecord { probes, unanswered, regulations, marked, admitted, refused, waited } = self.record;
        let seconds = |at: Instant| at.since(Instant::ZERO).as_secs_f64();
        results::Admission {
            probes,
            unanswered_probes: unanswered,
            regulations,
            marked_packets: marked,
            admitted_s: admitted.map(seconds),
            refused_s: refused.map(seconds),
            until_s: if self.is_admitted() { Some(now) } else { refused }.map(seconds),
            waited_s: waited.map(Duration::as_secs_f64),
            admitted: self.is_admitted(),
        }
    }
}
