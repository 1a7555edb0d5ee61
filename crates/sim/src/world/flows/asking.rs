//! Builds the admission control of flows, and the flows of its messages.

use super::admission::{Admission, AdmissionRecord, MESSAGE, Standing};
use super::supply::Traffic;
use super::{Flow, Role, Supply};
use crate::config::{self, Class, Dscp};
use crate::engine::{FlowId, Number as _, Purpose, Stream};
use crate::net::network_bytes;
use crate::record::Identity;
use crate::world::error::BuildError;
use control::FlowGate;
use units::{Instant, Rate, refuse_if};

/// Checks the admission of a described flow and returns the requested rate. Errors: the flow cannot ask for admission.
pub(super) fn check(described: &config::Flow, traffic: &Traffic) -> Result<Option<Rate>, BuildError> {
    let Some(admission) = &described.admission else { return Ok(None) };
    let refuse = |key: &str, message: &str| {
        let key = if key.is_empty() { String::new() } else { format!(".{key}") };
        Err(BuildError::new(format!("flow.{}.admission{key}", described.name), message))
    };
    if described.class != Class::RealTime {
        return refuse("", "best effort needs no admission: add `class = \"real-time\"`, or leave the table out");
    }
    refuse_if!(described.to == "broadcast", refuse("", "a probe has one destination, but this flow is broadcast"));
    if !traffic.asks() {
        return refuse("", "admission is for UDP flows that set their own sending times, not for this kind of traffic");
    }
    let rate = admission.rate.map(units::Positive::<Rate>::get).or_else(|| traffic.network_rate());
    match rate {
        Some(rate) => Ok(Some(rate)),
        None => {
            refuse("rate", "this traffic has no constant rate: give the rate to request, UDP and IP headers included")
        }
    }
}

/// Makes the flow `index` ask for admission at this rate. Returns its messages' flows, numbered from `next` on.
pub(super) fn admit(
    flow: &mut Flow,
    index: FlowId,
    next: FlowId,
    described: &config::Admission,
    rate: Rate,
    seed: u64,
) -> [Flow; 3] {
    let mut chance = Stream::new(seed, &flow.identity.name, Purpose::ADMISSION);
    let mut gate = FlowGate::new(&described.gate, chance.up_to(u64::MAX));
    let [probes, answers, regulations] = [0, 1, 2].map(|step| FlowId::at(next.place() + step));
    let mut standing = Standing::NotYet;
    if described.presumed {
        // The presumed admission lies so far back that the flow never counts as new.
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
            kind: "message".to_owned(),
            class: Class::RealTime,
            ..Identity::default()
        };
        let supply = Supply::Answers { longest: network_bytes(MESSAGE) };
        Flow::new(identity, (from, to), (flow.category, Dscp::SIGNALLING), role, supply)
    };
    let of = index;
    [
        message("probe", Role::Probe { of }, false),
        message("answer", Role::Answer { of }, true),
        message("regulate", Role::Regulation { of }, true),
    ]
}
