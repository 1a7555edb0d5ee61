//! Settings that have an effect only with certain values of others, even if the network reads them.

use super::reasons::Reason;
use super::{At, ENTRY};
use control::{Controller as _, Name, Sets};
use queue::{DisciplineName, Settings};
use sim::config::{
    Capture, ErrorModel, Flow, Load, Network, Node, Propagation, Radio, RateAlgorithm, Role, Shape, Standard,
    TrafficKind,
};
use units::Duration;

/// Returns why the setting at `path` has no effect here.
pub(super) fn of(path: &[&str], at: &At) -> Option<Reason> {
    match *path {
        ["queue", key, ref rest @ ..] => of_queue(key, rest, at.queue?),
        ["radio", key] => of_radio(key, at.network),
        ["nodes", "count"] if places_no_node(at.network) => {
            Some(Reason::new("`[nodes]` places no node", "leave the table out"))
        }
        ["node", "count"] if at.node?.count == Some(0) && !at.changed && !is_named(at.node?, at.network) => {
            Some(Reason::new("it makes no node", "leave the table out, or write at least 1"))
        }
        ["node", "waypoints", ENTRY] => late(at.node?.waypoints.get(at.index)?.time, at.network.duration),
        ["wired", "at", ENTRY] => late(at.wired?.at.get(at.index)?.time, at.network.duration),
        ["flow", ref key @ ..] => of_flow(key, at.flow?, at),
        _ => None,
    }
}

fn of_flow(key: &[&str], flow: &Flow, at: &At) -> Option<Reason> {
    let run = at.network.duration;
    let end = flow.stop.unwrap_or(run).min(run);
    match key {
        ["count"] if flow.count == Some(0) && !at.changed => {
            Some(Reason::new("it makes no flow", "leave the table out, or write at least 1"))
        }
        ["stop"] if flow.stop? > run => late(flow.stop?, run),
        ["at", ENTRY] if flow.at.get(at.index)?.time >= end && end < run => {
            Some(Reason::new(format!("the flow stops at {end}"), "write an earlier time or a later `stop`"))
        }
        ["at", ENTRY] => late(flow.at.get(at.index)?.time, run),
        ["traffic", "rate"] if !at.changed && is_silent(flow) => Some(Reason::new(
            "at a rate of zero the flow never sends",
            "write a rate above zero, or leave the flow out",
        )),
        _ => None,
    }
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
    let orders = |order| {
        queue.controller != Name::None
            && queue.build_controller(0).map_or(true, |controller| controller.needs().sets.contains(order))
    };
    match (key, rest, of) {
        (_, [], Some((kind, name, own))) if name != own => Some(Reason::new(
            format!("no queue with these settings uses the {kind} `{name}`"),
            format!("the {kind} is `{own}`; set `{kind} = \"{name}\"`, or leave the parameters out"),
        )),
        ("own", [name, ..], _) if *name != queue.discipline.as_str() => {
            Some(Reason::needs(&format!("discipline = \"{name}\"")))
        }
        ("purge", ..) if !orders(Sets::LIMIT) => Some(Reason::new(
            "no controller lowers the limit of this queue",
            "set a `controller` of the limit, or leave `purge` out",
        )),
        ("shaper_burst", ..) if !orders(Sets::RATE) => Some(Reason::new(
            "no controller sets a rate for this queue",
            "set a `controller` of the rate, or leave `shaper_burst` out",
        )),
        ("pie", ["mark_ecnth"], _) if !queue.pie.as_ref()?.ecn => Some(Reason::needs("ecn = true")),
        ("red", ["interval"], _) if !queue.red.as_ref()?.adaptive => Some(Reason::needs("adaptive = true")),
        ("red", ["target_delay"], _) if queue.red.as_ref()?.min_th.is_some() => Some(Reason::new(
            "`min_th` is set instead of following from the target",
            "leave `min_th` or `target_delay` out",
        )),
        (table, [key], Some(("controller", ..))) => {
            let [why, instead] = queue.parameters().idle(table, key)?;
            Some(Reason::new(why, instead))
        }
        _ => None,
    }
}

/// True if bit errors follow from signal powers and noise.
fn has_noise(radio: &Radio) -> bool {
    let by_default = radio.propagation != Propagation::Range && radio.nominal_rate.is_none();
    radio.errors.model.map_or(by_default, |model| matches!(model, ErrorModel::Nist | ErrorModel::Yans))
}

fn of_radio(key: &str, network: &Network) -> Option<Reason> {
    let radio = &network.radio;
    let ranges = radio.propagation == Propagation::Range;
    match key {
        "carrier_sense_range" | "carrier_sense_threshold" if senses_less_than_it_decodes(radio) => Some(Reason::new(
            "decoded frames count as sensed, and this value detects no further frames",
            "write a longer range or a lower threshold than that of decoding, or leave this key out",
        )),
        // 802.11n and 802.11ax have times that depend on the band.
        "frequency" if ranges && !radio.standard.high_throughput() => Some(no_powers()),
        "capture_threshold" if ranges && radio.capture_threshold?.as_db() > 0.0 => Some(no_powers()),
        "tx_power"
            if radio.range.is_some() && !has_noise(radio) && radio.carrier_sense_threshold.is_none() && !ranges =>
        {
            Some(Reason::new(
                "`range` and `carrier_sense_range` set the thresholds relative to it, and no error model compares it \
                 with noise",
                "write `receive_threshold` instead of `range`, or leave `tx_power` out",
            ))
        }
        "data_rate" | "mcs" if network.mac.rate_control.algorithm != RateAlgorithm::Fixed => {
            // Rate control may take its number of streams from this.
            let streams = match radio.standard {
                Standard::N => true,
                Standard::Ac | Standard::Ax => key == "data_rate" && radio.streams.is_none(),
                Standard::B | Standard::A | Standard::G => false,
            };
            let sets_power = radio.range.is_some() && radio.tx_power.is_none() && has_noise(radio);
            (!streams && network.mac.turns.is_none() && !sets_power).then(|| {
                Reason::new(
                    "rate control chooses the mode of data frames",
                    "write `algorithm = \"fixed\"` in `[mac.rate_control]`, or leave this key out",
                )
            })
        }
        _ => None,
    }
}

fn no_powers() -> Reason {
    Reason::new(
        "with `propagation = \"range\"` signals have no power",
        "choose a `propagation` with powers, or leave this key out",
    )
}

/// True if carrier sense detects no further frames than decoding does, and decoded frames count as sensed.
fn senses_less_than_it_decodes(radio: &Radio) -> bool {
    let sensed_anyway = radio.propagation == Propagation::Range || radio.capture == Capture::StrongestPreamble;
    let is_shorter = radio.carrier_sense_range.zip(radio.range).is_some_and(|(sensed, decoded)| sensed < decoded);
    let thresholds = radio.carrier_sense_threshold.zip(radio.receive_threshold);
    sensed_anyway && (is_shorter || thresholds.is_some_and(|(sensed, decoded)| sensed.as_dbm() > decoded.as_dbm()))
}
