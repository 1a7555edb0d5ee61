//! Settings that have an effect only with certain values of other settings, even if the network reads them.

use super::reasons::{self, Reason};
use super::{At, ENTRY};
use control::{Controller as _, Name, Sets};
use queue::{DisciplineName, Settings};
use sim::config::{
    Capture, ErrorModel, Flow, Load, Network, Node, Propagation, Radio, RateAlgorithm, Role, Shape, Standard,
    TrafficKind,
};
use units::Duration;

/// Returns why the setting at `path` has no effect in this network.
pub(super) fn of(path: &[&str], at: &At) -> Option<Reason> {
    let of_value = || reasons::of_value(path).filter(|_| is_void(path, at) == Some(true)).cloned();
    in_words(path, at).or_else(of_value)
}

/// Returns a reason that names times or other settings.
fn in_words(path: &[&str], at: &At) -> Option<Reason> {
    let run = at.network.duration;
    match *path {
        ["queue", key, ref rest @ ..] => of_queue(key, rest, at.queue?),
        ["node", "waypoints", ENTRY] => late(at.node?.waypoints.get(at.index)?.time, run),
        ["wired", "at", ENTRY] => late(at.wired?.at.get(at.index)?.time, run),
        ["flow", "stop"] if at.flow?.stop? > run => late(at.flow?.stop?, run),
        ["flow", "at", ENTRY] => {
            let (time, end) = (at.flow?.at.get(at.index)?.time, at.flow?.stop.unwrap_or(run).min(run));
            let stops = || Reason::new(format!("the flow stops at {end}"), "write an earlier time or a later `stop`");
            if time >= end && end < run { Some(stops()) } else { late(time, run) }
        }
        _ => None,
    }
}

/// True if the value at `path` does nothing beside other settings, for a reason in `reasons.toml`; `None` without a
/// rule.
fn is_void(path: &[&str], at: &At) -> Option<bool> {
    let radio = &at.network.radio;
    let ranges = radio.propagation == Propagation::Range;
    Some(match *path {
        ["nodes", "count"] => places_no_node(at.network),
        ["node", "count"] => at.node?.count == Some(0) && !at.changed && !is_named(at.node?, at.network),
        ["flow", "count"] => at.flow?.count == Some(0) && !at.changed,
        ["flow", "traffic", "rate"] => !at.changed && is_silent(at.flow?),
        ["queue", "purge"] => !orders(at.queue?, Sets::LIMIT),
        ["queue", "shaper_burst"] => !orders(at.queue?, Sets::RATE),
        ["queue", "pie", "mark_ecnth"] => !at.queue?.pie.as_ref()?.ecn,
        ["queue", "red", "interval"] => !at.queue?.red.as_ref()?.adaptive,
        ["queue", "red", "target_delay"] => at.queue?.red.as_ref()?.min_th.is_some(),
        ["radio", "carrier_sense_range" | "carrier_sense_threshold"] => senses_less_than_it_decodes(radio),
        // The times of 802.11n and ax depend on the band.
        ["radio", "frequency"] => ranges && !radio.standard.high_throughput(),
        ["radio", "capture_threshold"] => ranges && radio.capture_threshold?.as_db() > 0.0,
        ["radio", "tx_power"] => {
            radio.range.is_some() && !has_noise(radio) && radio.carrier_sense_threshold.is_none() && !ranges
        }
        ["radio", key @ ("data_rate" | "mcs")] => is_left_to_rate_control(key, at.network),
        _ => false,
    })
}

/// True if a flow sends at a rate of zero, and no step changes that.
fn is_silent(flow: &Flow) -> bool {
    matches!(flow.traffic.rate, Some(Load::One(rate)) if rate.is_zero())
        && matches!(flow.traffic.kind, TrafficKind::Cbr | TrafficKind::Poisson)
        && flow.at.iter().all(|step| step.rate.is_none_or(units::Rate::is_zero))
}

/// Returns a reason if `time` is after the end of the run.
fn late(time: Duration, end: Duration) -> Option<Reason> {
    let why = || format!("the run ends at {end}");
    (time >= end).then(|| Reason::new(why(), "write an earlier time or a longer `duration`, or leave the key out"))
}

/// True if `[nodes]` has no nodes and places no others by random placement.
fn places_no_node(network: &Network) -> bool {
    let is_placed = |node: &Node| node.position.is_none() && node.role != Role::Wired;
    network.nodes.as_ref().is_some_and(|nodes| {
        nodes.count == 0 && (nodes.placement != Some(Shape::Random) || !network.node.iter().any(is_placed))
    })
}

/// True if a flow or a link names the nodes of a table by a pattern that may match no node: `up*`.
fn is_named(node: &Node, network: &Network) -> bool {
    let ends = network.flow.iter().flat_map(|flow| [&flow.from, &flow.to]);
    let mut patterns = ends.chain(network.wired.iter().flat_map(|wired| &wired.between));
    patterns.any(|pattern| pattern.strip_suffix('*').is_some_and(|beginning| node.name.starts_with(beginning)))
}

fn of_queue(key: &str, rest: &[&str], queue: &Settings) -> Option<Reason> {
    let controllers = Name::ALL.iter().map(|name| ("controller", name.as_str(), queue.controller.as_str()));
    let disciplines = DisciplineName::ALL.iter().map(|name| ("discipline", name.as_str(), queue.discipline.as_str()));
    let of = controllers.chain(disciplines).find(|(_, name, _)| name.replace('-', "_") == key);
    match (key, rest, of) {
        (_, [], Some((kind, name, own))) if name != own => Some(Reason::new(
            format!("no queue with these settings uses the {kind} `{name}`"),
            format!("the {kind} is `{own}`; set `{kind} = \"{name}\"`, or leave the parameters out"),
        )),
        ("own", [name, ..], _) if *name != queue.discipline.as_str() => {
            Some(Reason::needs(&format!("discipline = \"{name}\"")))
        }
        (table, [key], Some(("controller", ..))) => {
            let [why, instead] = queue.parameters().idle(table, key)?;
            Some(Reason::new(why, instead))
        }
        _ => None,
    }
}

/// True if a queue has a controller that gives this kind of orders.
fn orders(queue: &Settings, kind: Sets) -> bool {
    queue.controller != Name::None
        && queue.build_controller(0).map_or(true, |controller| controller.needs().sets.contains(kind))
}

/// True if bit errors follow from powers and noise.
fn has_noise(radio: &Radio) -> bool {
    let by_default = radio.propagation != Propagation::Range && radio.nominal_rate.is_none();
    radio.errors.model.map_or(by_default, |model| matches!(model, ErrorModel::Nist | ErrorModel::Yans))
}

/// True if rate control chooses the mode of data frames, and nothing else follows from the key.
fn is_left_to_rate_control(key: &str, network: &Network) -> bool {
    let Network { radio, mac, .. } = network;
    // The streams of rate control may follow from it.
    let streams = match radio.standard {
        Standard::N => true,
        Standard::Ac | Standard::Ax => key == "data_rate" && radio.streams.is_none(),
        Standard::B | Standard::A | Standard::G => false,
    };
    let sets_power = radio.range.is_some() && radio.tx_power.is_none() && has_noise(radio);
    mac.rate_control.algorithm != RateAlgorithm::Fixed && !streams && mac.turns.is_none() && !sets_power
}

/// True if carrier sense detects no further frames than decoding does, and decoded frames count as sensed.
fn senses_less_than_it_decodes(radio: &Radio) -> bool {
    let sensed_anyway = radio.propagation == Propagation::Range || radio.capture == Capture::StrongestPreamble;
    let is_shorter = radio.carrier_sense_range.zip(radio.range).is_some_and(|(sensed, decoded)| sensed < decoded);
    let thresholds = radio.carrier_sense_threshold.zip(radio.receive_threshold);
    sensed_anyway && (is_shorter || thresholds.is_some_and(|(sensed, decoded)| sensed.as_dbm() > decoded.as_dbm()))
}
