//! Flows ask for admission: probes, answers, and messages that ask to regulate, hop by hop (SWAN, section III-B and C).

use crate::config::Refused;
use crate::engine::{FlowId, NodeId};
use crate::net::{Load, Packet, network_bytes};
use crate::trace::{AdmissionStep, TraceEventKind};
use crate::world::state::{Admission, Event, Flow, Probe, Role, Standing, Witness, World};
use control::{Act, Gate as _};
use queue::Ecn;
use units::{Bytes, Duration, Instant, Rate};

/// UDP payload of a probe, an answer or a message that asks to regulate: kind, flow, number and bottleneck, of 4, 4, 8 and
/// 8 B.
pub(crate) const MESSAGE: Bytes = Bytes::new(24);

/// A destination that gets marked packets asks to regulate so often at most: a flow with fifty packets a second would get as
/// many messages otherwise, which say the same.
const REGULATION_EVERY: Duration = Duration::from_millis(100);

impl World {
    /// May a flow that asks for admission send a packet now? Its packets are then of the class that it was admitted to. The
    /// first one asks.
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
        *ecn = if allowed.is_real_time() { Ecn::Ect } else { Ecn::NotEct };
        true
    }

    /// Carries out what the gate of a flow says.
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
            self.note_admission(from, flow, step);
        }
        if let Act::Probe { .. } = act {
            self.launch_message(probes, now);
        }
    }

    /// A message of a flow's admission sets out.
    fn launch_message(&mut self, messages: FlowId, created: Instant) {
        self.flows[messages].record.sent += 1;
        let dscp = self.flows[messages].dscp;
        self.launch(messages, Packet { dscp, ..Packet::new(Load::Flow(messages), created, network_bytes(MESSAGE)) });
        self.serve(self.flows[messages].from);
    }

    /// A `Gate` event of a flow has come.
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

    /// What a node can still admit: the least that a controller of its queues says. A node where none says anything sets no
    /// bound.
    fn available(&self, node: NodeId) -> Rate {
        let ports = self.nodes[node].egress.ports().iter();
        ports.filter_map(crate::egress::Port::available).min().unwrap_or(Rate::bps(u64::MAX))
    }

    /// A probe of a flow comes by a node on its way, with a packet that was made at `sent`.
    pub(super) fn lower_bottleneck(&mut self, node: NodeId, of: FlowId, sent: Instant) {
        let available = self.available(node);
        if let Some(probe) = under_way(&mut self.flows[of].admission, sent) {
            probe.bottleneck = probe.bottleneck.min(available);
        }
    }

    /// A message of a flow's admission has arrived.
    pub(super) fn take_admission(&mut self, node: NodeId, role: Role, packet: &Packet) {
        self.note_delivered(node, packet);
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
                self.note_admission(node, of, AdmissionStep::Regulate);
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

    /// The destination of a flow has got a marked packet of it.
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

    fn note_admission(&mut self, node: NodeId, flow: FlowId, step: AdmissionStep) {
        let Self { watch, now, .. } = self;
        Witness { watch, now: *now, node }.saw(|| TraceEventKind::Admission { flow: flow.into(), step });
    }
}

/// The probe of a flow that set out then, if it is still the last one.
fn under_way(admission: &mut Option<Box<Admission>>, sent: Instant) -> Option<&mut Probe> {
    admission.as_mut()?.probe.as_mut().filter(|probe| probe.sent == sent)
}
