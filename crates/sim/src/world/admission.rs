//! Admission control of flows: probes, answers, and requests to regulate, hop by hop (SWAN, section III-B and C).

use super::error::BuildError;
use super::flows::supply::Traffic;
use super::flows::{Flow, Role, Supply};
use super::state::{Event, World};
use super::watch::Witness;
use crate::config::{self, Class, Dscp, Refused};
use crate::engine::{FlowId, NodeId, Number as _, Purpose, Stream};
use crate::net::{Load, Packet, network_bytes};
use crate::record::{FlowRecord, Identity};
use crate::results;
use crate::trace::{AdmissionStep, TraceEventKind};
use control::{Act, FlowGate, Gate as _};
use queue::Ecn;
use units::{Bytes, Duration, Instant, Rate};

/// Additional state of a flow that asks for admission.
pub(crate) struct Admission {
    pub(crate) gate: FlowGate,
    /// Requested rate, in network-layer bytes.
    pub(crate) rate: Rate,
    pub(crate) refused: Refused,
    /// Flows of its messages: probes, answers, and requests to regulate.
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

/// Standing of a flow that asks for admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No request yet.
    NotYet,
    /// Waiting for the first answer; sends nothing.
    Waiting,
    /// Admitted.
    RealTime,
    /// Refused; sends as best effort.
    BestEffort,
    /// Refused; sends nothing.
    Nothing,
}

/// A probe under way. The bottleneck travels in the packet; it is stored here because a flow has only one probe that
/// matters.
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
    /// Random time before a probe, after the first request to regulate.
    pub(crate) waited: Option<Duration>,
}

impl Admission {
    /// DSCP of its packets now; none if it sends nothing.
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

/// UDP payload of a probe, an answer or a request to regulate: kind, flow, number and bottleneck, of 4, 4, 8 and 8 B.
pub(crate) const MESSAGE: Bytes = Bytes::new(24);

/// Shortest time between two requests to regulate. A flow with fifty packets per second would otherwise get as many
/// requests, all with the same content.
const REGULATION_EVERY: Duration = Duration::from_millis(100);

impl World {
    /// True if a flow may send a packet now; its packets then get the class to which it was admitted. The first packet
    /// starts the admission.
    pub(super) fn ask(&mut self, flow: FlowId) -> bool {
        let now = self.now;
        let Some(admission) = &mut self.flows[flow].admission else { return true };
        if admission.standing == Standing::NotYet {
            admission.standing = Standing::Waiting;
            let act = admission.gate.open(now, admission.rate);
            self.follow_gate(flow, act);
        }
        let Flow { admission, dscp, ecn, .. } = &mut self.flows[flow];
        let Some(allowed) = admission.as_ref().and_then(|admission| admission.dscp(now)) else { return false };
        *dscp = allowed;
        *ecn = if allowed.is_real_time() { Ecn::Ect0 } else { Ecn::NotEct };
        true
    }

    /// Carries out an order of a flow's gate.
    fn follow_gate(&mut self, flow: FlowId, act: Act) {
        let (now, from) = (self.now, self.flows[flow].from);
        let available = self.available(from);
        let Some(admission) = &mut self.flows[flow].admission else { return };
        let step = match act {
            Act::Keep => None,
            Act::Probe { number } => {
                admission.record.unanswered += u64::from(admission.probe.is_some());
                admission.probe = Some(Probe { sent: now, number, bottleneck: available });
                admission.record.probes += 1;
                Some(AdmissionStep::Probe)
            }
            Act::Admit => {
                admission.standing = Standing::RealTime;
                admission.record.admitted = Some(now);
                Some(AdmissionStep::Admit)
            }
            Act::Refuse => {
                let was_admitted = admission.standing == Standing::RealTime;
                admission.standing = match admission.refused {
                    Refused::Stop => Standing::Nothing,
                    Refused::BestEffort => Standing::BestEffort,
                };
                admission.record.unanswered += u64::from(admission.probe.take().is_some());
                admission.record.refused = Some(now);
                Some(if was_admitted { AdmissionStep::Stop } else { AdmissionStep::Refuse })
            }
        };
        let (deadline, probes) = (admission.gate.deadline(), admission.probes);
        if deadline < admission.armed {
            admission.armed = deadline;
            self.events.push(deadline, Event::Gate { flow });
        }
        if let Some(step) = step {
            self.trace_admission(from, flow, step);
        }
        if let Act::Probe { .. } = act {
            self.launch_message(probes, now);
        }
    }

    /// Sends a message of a flow's admission.
    fn launch_message(&mut self, messages: FlowId, created: Instant) {
        self.flows[messages].record.sent += 1;
        let dscp = self.flows[messages].dscp;
        self.launch(messages, Packet { dscp, ..Packet::new(Load::Flow(messages), created, network_bytes(MESSAGE)) });
        self.serve(self.flows[messages].from);
    }

    /// Handles a `Gate` event.
    pub(crate) fn gate_deadline(&mut self, flow: FlowId) {
        let now = self.now;
        let Some(admission) = &mut self.flows[flow].admission else { return };
        if admission.armed != now {
            return;
        }
        admission.armed = Instant::NEVER;
        let act = admission.gate.elapsed(now);
        self.follow_gate(flow, act);
    }

    /// Rate that a node can still admit: the least of those that controllers of its queues give; unlimited if none
    /// gives one.
    fn available(&self, node: NodeId) -> Rate {
        let ports = self.nodes[node].egress.ports().iter();
        ports.filter_map(crate::egress::Port::available).min().unwrap_or(Rate::bps(u64::MAX))
    }

    /// Lowers the bottleneck of a flow's probe at a node on its way; its packet was made at `sent`.
    pub(super) fn lower_bottleneck(&mut self, node: NodeId, of: FlowId, sent: Instant) {
        let available = self.available(node);
        if let Some(probe) = under_way(&mut self.flows[of].admission, sent) {
            probe.bottleneck = probe.bottleneck.min(available);
        }
    }

    /// Handles an arriving message of a flow's admission.
    pub(super) fn take_admission(&mut self, node: NodeId, role: Role, packet: &Packet) {
        self.trace_delivered(node, packet);
        let (now, sent) = (self.now, packet.created);
        match role {
            Role::Probe { of } => {
                if let Some(admission) = &self.flows[of].admission {
                    self.launch_message(admission.answers, sent);
                }
            }
            Role::Answer { of } => {
                let Some(admission) = &mut self.flows[of].admission else { return };
                let Some(probe) = admission.probe.take_if(|probe| probe.sent == sent) else { return };
                let act = admission.gate.answered(now, probe.number, probe.bottleneck);
                self.follow_gate(of, act);
            }
            Role::Regulation { of } => {
                self.trace_admission(node, of, AdmissionStep::Regulate);
                let Some(admission) = &mut self.flows[of].admission else { return };
                admission.record.regulations += 1;
                let idle = admission.gate.deadline() == Instant::NEVER;
                let act = admission.gate.regulated(now);
                if idle && act == Act::Keep && admission.record.waited.is_none() {
                    let deadline = admission.gate.deadline();
                    admission.record.waited = (deadline < Instant::NEVER).then(|| deadline.since(now));
                }
                self.follow_gate(of, act);
            }
            _ => {}
        }
    }

    /// Handles a marked packet at its flow's destination.
    pub(super) fn see_mark(&mut self, flow: FlowId) {
        let now = self.now;
        let Some(admission) = &mut self.flows[flow].admission else { return };
        admission.record.marked += 1;
        if admission.asked.is_none_or(|asked| asked + REGULATION_EVERY <= now) {
            admission.asked = Some(now);
            let messages = admission.regulations;
            self.launch_message(messages, now);
        }
    }

    fn trace_admission(&mut self, node: NodeId, flow: FlowId, step: AdmissionStep) {
        let Self { watch, now, .. } = self;
        Witness { watch, now: *now, node }.saw(|| TraceEventKind::Admission { flow: flow.into(), step });
    }
}

/// The last probe of a flow, if it set out at this time.
fn under_way(admission: &mut Option<Box<Admission>>, sent: Instant) -> Option<&mut Probe> {
    admission.as_mut()?.probe.as_mut().filter(|probe| probe.sent == sent)
}

/// Checks the admission of a described flow; returns the rate that it asks for.
///
/// # Errors
/// A flow that cannot ask for admission.
pub(super) fn check(described: &config::Flow, traffic: &Traffic) -> Result<Option<Rate>, BuildError> {
    let Some(admission) = &described.admission else { return Ok(None) };
    let refuse = |key: &str, message: &str| {
        let key = if key.is_empty() { String::new() } else { format!(".{key}") };
        Err(BuildError::new(format!("flow.{}.admission{key}", described.name), message))
    };
    if described.class != Class::RealTime {
        return refuse("", "best effort needs no admission: add `class = \"real-time\"`, or leave the table out");
    }
    if described.to == "broadcast" {
        return refuse("", "a probe has one destination, and this flow goes to all");
    }
    if !traffic.asks() {
        return refuse(
            "",
            "admission is for flows over UDP that send at times of their own, not for this kind of traffic",
        );
    }
    let rate = admission.rate.map(units::Positive::<Rate>::get).or_else(|| traffic.network_rate());
    match rate {
        Some(rate) => Ok(Some(rate)),
        None => {
            refuse("rate", "this traffic has no constant rate: say what it asks for, headers of UDP and IP included")
        }
    }
}

/// Lets `flow`, the `index`-th, ask for admission at this rate. Returns the flows of its messages, the first of which
/// is the `next`-th.
pub(super) fn admit(
    flow: &mut Flow,
    index: FlowId,
    next: FlowId,
    described: &config::Admission,
    rate: Rate,
    seed: u64,
) -> [Flow; 3] {
    let mut chance = Stream::new(seed, &flow.identity.name, Purpose::Admission);
    let mut gate = FlowGate::new(&described.gate, chance.up_to(u64::MAX));
    let [probes, answers, regulations] = [0, 1, 2].map(|step| FlowId::at(next.place() + step));
    let mut standing = Standing::NotYet;
    if described.presumed {
        // Long enough ago not to count as new, whenever its first packet comes.
        gate.presume(rate);
        standing = Standing::RealTime;
    }
    let record = AdmissionRecord::default();
    flow.admission = Some(Box::new(Admission {
        gate,
        rate,
        refused: described.refused,
        probes,
        answers,
        regulations,
        standing,
        probe: None,
        armed: Instant::NEVER,
        asked: None,
        record,
    }));
    let message = |what: &str, role: Role, is_back: bool| {
        let Identity { name, from, to, .. } = &flow.identity;
        let (from_name, to_name) = if is_back { (to, from) } else { (from, to) };
        let (from, to) = if is_back { (flow.to.into(), flow.from.into()) } else { (flow.from, flow.to) };
        let identity = Identity {
            name: format!("{name}-{what}"),
            from: from_name.clone(),
            to: to_name.clone(),
            kind: "message",
            class: Class::RealTime,
            drawn: false,
            left_out: None,
            deadline: None,
        };
        Flow {
            identity,
            from,
            to,
            category: flow.category,
            dscp: Dscp::SIGNALLING,
            role,
            supply: Supply::Answers { longest: network_bytes(MESSAGE) },
            ecn: Ecn::NotEct,
            admission: None,
            waiting: 0,
            record: FlowRecord::default(),
        }
    };
    let of = index;
    [
        message("probe", Role::Probe { of }, false),
        message("answer", Role::Answer { of }, true),
        message("regulate", Role::Regulation { of }, true),
    ]
}
