//! Flows and their sources.

use super::super::{BuildError, Flow};
use crate::config::{self, Network, TrafficKind};
use crate::engine::{Purpose, Stream};
use crate::mac::BROADCAST;
use crate::net::MOST_PAYLOAD;
use crate::record::{FlowRecord, Identity};
use crate::traffic::{Segment, Source};
use units::{Duration, Instant};

pub(super) fn flows(network: &Network, names: &[String], seed: u64) -> Result<Vec<Flow>, BuildError> {
    let mut flows: Vec<Flow> = Vec::new();
    for described in &network.flow {
        let path = |key: &str| format!("flow.{}.{key}", described.name);
        let find = |name: &str, key: &str| match names.iter().position(|known| known == name) {
            Some(index) => Ok(u32::try_from(index).expect("nodes were counted before")),
            None => Err(BuildError::unknown_node(path(key), name, names.to_vec())),
        };
        let to = if described.to == "broadcast" { BROADCAST } else { find(&described.to, "to")? };
        if described.from == "*" {
            for (index, name) in names.iter().enumerate() {
                let from = u32::try_from(index).expect("nodes were counted before");
                if from != to {
                    flows.push(flow(
                        described,
                        format!("{}-{name}", described.name),
                        (from, to),
                        (network, names, seed),
                    )?);
                }
            }
            continue;
        }
        let from = find(&described.from, "from")?;
        if from == to {
            return Err(BuildError::new(path("to"), format!("flow `{}` ends where it starts", described.name)));
        }
        flows.push(flow(described, described.name.clone(), (from, to), (network, names, seed))?);
    }
    for (index, flow) in flows.iter().enumerate() {
        if flows[..index].iter().any(|other| other.identity.name == flow.identity.name) {
            let name = &flow.identity.name;
            return Err(BuildError::new(format!("flow.{name}"), format!("two flows are called `{name}`")));
        }
    }
    Ok(flows)
}

/// A flow called `name` between two nodes.
fn flow(
    described: &config::Flow,
    name: String,
    (from, to): (u32, u32),
    (network, names, seed): (&Network, &[String], u64),
) -> Result<Flow, BuildError> {
    let kind = match described.traffic.kind {
        TrafficKind::Cbr => "cbr",
        TrafficKind::Poisson => "poisson",
        TrafficKind::Saturated => "saturated",
    };
    let identity = Identity {
        from: names[from as usize].clone(),
        to: names.get(to as usize).map_or("broadcast", String::as_str).to_owned(),
        kind,
        deadline: described.deadline,
        name,
    };
    let payload = described.traffic.packet;
    let path = || format!("flow.{}.traffic.packet", described.name);
    if payload.count() == 0 {
        return Err(BuildError::new(path(), "a packet without payload has no rate"));
    }
    if payload > MOST_PAYLOAD {
        let message = format!("a packet in one 802.11 frame carries at most {MOST_PAYLOAD}; there are no fragments");
        return Err(BuildError::new(path(), message));
    }
    let source = source(described, &identity.name, network.duration, seed)?;
    Ok(Flow { identity, from, to, payload, source, waiting: 0, record: FlowRecord::default() })
}

/// The source of a flow; `None` where it is saturated.
fn source(flow: &config::Flow, name: &str, duration: Duration, seed: u64) -> Result<Option<Source>, BuildError> {
    let path = |key: &str| format!("flow.{}.{key}", flow.name);
    let saturated = flow.traffic.kind == TrafficKind::Saturated;
    let rate = match (saturated, flow.traffic.rate) {
        (false, Some(rate)) => rate,
        (false, None) => return Err(BuildError::new(path("traffic"), "this kind of traffic needs a `rate`")),
        (true, None) if flow.at.is_empty() && flow.start.is_zero() && flow.stop.is_none() => return Ok(None),
        (true, None) => {
            return Err(BuildError::new(path("traffic"), "saturated traffic lasts from start to end, without steps"));
        }
        (true, Some(_)) => return Err(BuildError::new(path("traffic.rate"), "saturated traffic has no `rate`")),
    };
    let mut random = Stream::new(seed, name, Purpose::Traffic);
    let jitter = match flow.phase_jitter.as_nanos() {
        0 => Duration::ZERO,
        most => Duration::from_nanos(random.up_to(most - 1)),
    };
    let mut segments = vec![Segment { start: Instant::ZERO + flow.start + jitter, rate }];
    for step in &flow.at {
        let new = match (step.rate, step.scale) {
            (Some(new), None) => new,
            (None, Some(scale)) if scale >= 0.0 && scale.is_finite() => rate.scaled(scale),
            (None, Some(_)) => return Err(BuildError::new(path("at"), "a `scale` is zero or more")),
            _ => return Err(BuildError::new(path("at"), "a step has a `rate` or a `scale`")),
        };
        let start = Instant::ZERO + step.time + jitter;
        if segments.last().is_some_and(|last| start <= last.start) {
            return Err(BuildError::new(path("at"), "steps come one after another, after the flow's start"));
        }
        segments.push(Segment { start, rate: new });
    }
    let stop = Instant::ZERO + flow.stop.unwrap_or(duration).min(duration);
    let random = (flow.traffic.kind == TrafficKind::Poisson).then_some(random);
    Ok(Some(Source::new(segments, stop, flow.traffic.packet, random)))
}
