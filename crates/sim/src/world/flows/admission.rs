//! Admission control of a flow: probes, answers, and requests to regulate, hop by hop (SWAN, section III-B and C).

use crate::config::{Dscp, Refused};
use crate::engine::FlowId;
use crate::results;
use crate::trace::AdmissionStep;
use control::{Act, FlowGate, Gate as _};
use units::{Bytes, Duration, Instant, Rate};

/// Additional state of a flow that asks for admission.
pub(crate) struct Admission {
    pub(crate) gate: FlowGate,
    /// Requested rate, in network-layer bytes.
    pub(crate) rate: Rate,
    pub(crate) refused: Refused,
    /// Flows of the admission's messages: probes, answers, and requests to regulate.
    pub(crate) probes: FlowId,
    pub(crate) answers: FlowId,
    pub(crate) regulations: FlowId,
    pub(crate) standing: Standing,
    /// The last probe. The gate ignores answers to earlier probes.
    pub(crate) probe: Option<Probe>,
    /// Time of the gate's earliest pending event; later events are ignored.
    pub(crate) armed: Instant,
    /// Time at which the destination last asked to regulate.
    pub(crate) asked: Option<Instant>,
    pub(crate) record: AdmissionRecord,
}

/// Events that concern a flow that asks for admission.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cue {
    /// The flow's first packet has been made.
    Asks,
    /// The flow's gate has reached its deadline.
    Due,
    /// The answer to the probe sent at this time has arrived.
    Answered { sent: Instant },
    /// The flow's destination asks to regulate.
    Regulated,
    /// The flow's destination has received the probe sent at this time.
    Probed { sent: Instant },
    /// The flow's destination has received a marked packet.
    Marked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    NotYet,
    /// The flow waits for the first answer, and sends nothing.
    Waiting,
    RealTime,
    /// The flow was refused and sends as best effort.
    BestEffort,
    /// The flow was refused and sends nothing.
    Nothing,
}

/// A probe in flight. The bottleneck travels in the packet; the flow keeps it, as it has only one valid probe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Time at which the probe was sent. It identifies the probe's packet and answer.
    pub(crate) sent: Instant,
    pub(crate) number: u64,
    pub(crate) bottleneck: Rate,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct AdmissionRecord {
    pub(crate) probes: u64,
    pub(crate) unanswered: u64,
    pub(crate) regulations: u64,
    pub(crate) marked: u64,
    pub(crate) admitted: Option<Instant>,
    pub(crate) refused: Option<Instant>,
    /// Random time that the gate waits before a probe, after the first request to regulate.
    pub(crate) waited: Option<Duration>,
}

impl Admission {
    /// Returns the DSCP of the flow's packets now; `None` if the flow sends nothing.
    pub(crate) fn dscp(&self, now: Instant) -> Option<Dscp> {
        match self.standing {
            Standing::NotYet | Standing::Waiting | Standing::Nothing => None,
            Standing::BestEffort => Some(Dscp::default()),
            Standing::RealTime if self.gate.is_new(now) => Some(Dscp::REAL_TIME_NEW),
            Standing::RealTime => Some(Dscp::REAL_TIME),
        }
    }

    /// Handles an event. Returns the step to trace, and the flow of a message to send now, with the time of its
    /// creation. `available`: the rate that the flow's node can still admit.
    pub(crate) fn learn(
        &mut self,
        now: Instant,
        cue: Cue,
        available: Rate,
    ) -> (Option<AdmissionStep>, Option<(FlowId, Instant)>) {
        let act = match cue {
            Cue::Probed { sent } => return (None, Some((self.answers, sent))),
            Cue::Marked => return (None, self.sees_mark(now).then_some((self.regulations, now))),
            Cue::Asks => {
                debug_assert_eq!(self.standing, Standing::NotYet, "it asks once");
                self.standing = Standing::Waiting;
                self.gate.open(now, self.rate)
            }
            Cue::Due if self.armed != now => Act::Keep,
            Cue::Due => {
                self.armed = Instant::NEVER;
                self.gate.elapsed(now)
            }
            Cue::Answered { sent } => {
                let probe = self.probe.take_if(|probe| probe.sent == sent);
                probe.map_or(Act::Keep, |probe| self.gate.answered(now, probe.number, probe.bottleneck))
            }
            Cue::Regulated => self.regulated(now),
        };
        match act {
            Act::Keep => (None, None),
            Act::Probe { number } => {
                self.record.unanswered += u64::from(self.probe.is_some());
                self.probe = Some(Probe { sent: now, number, bottleneck: available });
                self.record.probes += 1;
                (Some(AdmissionStep::Probe), Some((self.probes, now)))
            }
            Act::Admit => {
                self.standing = Standing::RealTime;
                self.record.admitted = Some(now);
                (Some(AdmissionStep::Admit), None)
            }
            Act::Refuse => {
                let was_admitted = self.is_admitted();
                self.standing = match self.refused {
                    Refused::Stop => Standing::Nothing,
                    Refused::BestEffort => Standing::BestEffort,
                };
                self.record.unanswered += u64::from(self.probe.take().is_some());
                self.record.refused = Some(now);
                (Some(if was_admitted { AdmissionStep::Stop } else { AdmissionStep::Refuse }), None)
            }
        }
    }

    fn regulated(&mut self, now: Instant) -> Act {
        self.record.regulations += 1;
        let idle = self.gate.deadline() == Instant::NEVER;
        let act = self.gate.regulated(now);
        if idle && act == Act::Keep && self.record.waited.is_none() {
            let deadline = self.gate.deadline();
            self.record.waited = (deadline < Instant::NEVER).then(|| deadline.since(now));
        }
        act
    }

    /// Returns the time of the gate's next event, unless a pending event is as early. The caller then schedules it.
    pub(crate) fn newly_due(&mut self) -> Option<Instant> {
        let deadline = self.gate.deadline();
        (deadline < self.armed).then(|| {
            self.armed = deadline;
            deadline
        })
    }

    /// Handles the probe sent at this time as it passes a node that can still admit this rate.
    pub(crate) fn passes(&mut self, sent: Instant, available: Rate) {
        if let Some(probe) = self.probe.as_mut().filter(|probe| probe.sent == sent) {
            probe.bottleneck = probe.bottleneck.min(available);
        }
    }

    /// Counts a marked packet at the destination. True if the destination asks to regulate now.
    fn sees_mark(&mut self, now: Instant) -> bool {
        debug_assert!(self.asked.is_none_or(|asked| asked <= now), "time does not run back");
        self.record.marked += 1;
        let asks = self.asked.is_none_or(|asked| asked + REGULATION_EVERY <= now);
        if asks {
            self.asked = Some(now);
        }
        asks
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.standing == Standing::RealTime
    }

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

/// UDP payload of a probe, an answer or a request to regulate: kind 4 B, flow 4 B, number 8 B and bottleneck 8 B.
pub(crate) const MESSAGE: Bytes = Bytes::new(24);

/// Shortest time between two requests to regulate, so that a flow with fifty packets per second does not get fifty
/// requests per second, all with the same content.
const REGULATION_EVERY: Duration = Duration::from_millis(100);
