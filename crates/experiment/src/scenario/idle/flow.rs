//! Settings of flows and of TCP without effect.

use super::{At, ENTRY, Reason, late, needs, reason};
use sim::config::{Access, Congestion, Flow, Load, Network, Recovery, Tcp, TrafficKind, Transport};

/// Checks a key of `[[flow]]`.
pub(super) fn of(rest: &[&str], flow: &Flow, at: &At) -> Option<Reason> {
    let end = flow.stop.unwrap_or(at.network.duration).min(at.network.duration);
    match rest {
        ["count"] if flow.count == Some(0) && !at.changed => {
            reason("it makes no flow", "leave the table out, or write at least 1")
        }
        ["stop"] if flow.stop.is_some_and(|stop| stop > at.network.duration) => late(flow.stop?, at.network.duration),
        ["at", ENTRY] => {
            let time = flow.at.get(at.index)?.time;
            if time >= end && end < at.network.duration {
                return reason(format!("the flow stops at {end}"), "write an earlier time or a later `stop`");
            }
            late(time, at.network.duration)
        }
        ["traffic", "rate"] if matches!(flow.traffic.rate, Some(Load::One(rate)) if rate.is_zero()) => {
            let begins = flow.at.iter().any(|step| step.rate.is_some_and(|rate| !rate.is_zero()));
            let is_other = !matches!(flow.traffic.kind, TrafficKind::Cbr | TrafficKind::Poisson);
            if begins || is_other || at.changed {
                return None;
            }
            reason("at a rate of zero the flow never sends", "write a rate above zero, or leave the flow out")
        }
        ["tcp", key, rest @ ..] => {
            let merged = flow.tcp?.over(&at.network.tcp);
            of_tcp(key, rest, &merged, at)
        }
        _ => None,
    }
}

/// Returns the flows that TCP carries.
pub(super) fn with_tcp(network: &Network) -> impl Iterator<Item = &Flow> {
    network.flow.iter().filter(|flow| flow.transport == Transport::Tcp)
}

/// Checks a key of `[tcp]`, which acts if a flow takes it from there.
pub(super) fn of_shared_tcp(key: &str, rest: &[&str], at: &At) -> Option<Reason> {
    let mut last = None;
    for flow in with_tcp(at.network) {
        let own = flow.tcp.unwrap_or_default();
        // A flow's own table is merged with the shared one.
        let has = |of: &serde_json::Value| {
            rest.iter().try_fold(&of[key], |of, key| of.get(key)).is_some_and(|of| !of.is_null())
        };
        if (key, rest) != ("bqm", &[]) && serde_json::to_value(own).as_ref().is_ok_and(has) {
            continue;
        }
        last = Some(of_tcp(key, rest, &own.over(&at.network.tcp), at)?);
    }
    last.or_else(|| reason("every flow has its own in `[flow.tcp]`", "leave it out here or there"))
}

/// Checks a key of a flow's TCP, merged with the shared one.
fn of_tcp(key: &str, rest: &[&str], tcp: &Tcp, at: &At) -> Option<Reason> {
    let sack = tcp.recovery.unwrap_or_default() == Recovery::Sack;
    let follows = tcp.congestion == Some(Congestion::Bqm);
    match (key, rest) {
        ("loss_detection", []) if !sack => needs("recovery = \"sack\""),
        ("friendly_growth", []) if tcp.congestion != Some(Congestion::Cubic) => needs("congestion = \"cubic\""),
        ("ecn", []) if tcp.congestion == Some(Congestion::Prague) => {
            reason("with `congestion = \"prague\"` the ends always use ECN", "leave it out")
        }
        ("rtt_samples", []) if tcp.timestamps == Some(false) => needs("timestamps = true"),
        ("ack_category", []) if at.network.access() != Access::Edca => needs("mac.access = \"edca\""),
        ("bqm", ["pattern" | "raise"]) => None,
        ("bqm", [_, ..]) if !follows => needs("congestion = \"bqm\""),
        ("bqm", ["lowest_at_once"]) if tcp.recovery != Some(Recovery::NewReno) => needs("recovery = \"newreno\""),
        _ => None,
    }
}
