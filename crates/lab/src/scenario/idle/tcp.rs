//! Settings of TCP without effect.

use super::{At, Reason, needs, reason};
use sim::config::{Access, Congestion, Flow, Network, Recovery, Tcp, Transport};

/// Returns the flows that TCP carries.
pub(super) fn flows(network: &Network) -> impl Iterator<Item = &Flow> {
    network.flow.iter().filter(|flow| flow.transport == Transport::Tcp)
}

/// Checks a key of `[tcp]`, which acts if a flow takes it from there.
pub(super) fn of_shared(key: &str, rest: &[&str], at: &At) -> Option<Reason> {
    let mut last = None;
    for flow in flows(at.network) {
        let own = flow.tcp.unwrap_or_default();
        // A flow's own table is merged with the shared one.
        let has = |of: &serde_json::Value| {
            rest.iter().try_fold(&of[key], |of, key| of.get(key)).is_some_and(|of| !of.is_null())
        };
        if (key, rest) != ("bqm", &[]) && serde_json::to_value(own).as_ref().is_ok_and(has) {
            continue;
        }
        last = Some(of(key, rest, &own.over(&at.network.tcp), at)?);
    }
    last.or_else(|| reason("every flow has its own in `[flow.tcp]`", "leave it out here or there"))
}

/// Checks a key of a flow's TCP, merged with the shared one.
pub(super) fn of(key: &str, rest: &[&str], tcp: &Tcp, at: &At) -> Option<Reason> {
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
