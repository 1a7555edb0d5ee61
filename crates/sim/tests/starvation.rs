//! A receiver that does not answer, beside one that does: with every combination of queues, aggregates, RTS, access, role and
//! rate control.

use crate::networks::run;
use sim::results::Outcome;

/// Settings of an access point, or of another node, that sends to two receivers.
#[derive(Clone, Copy, Debug)]
struct Case {
    role: &'static str,
    queues: &'static str,
    aggregates: &'static str,
    rts: bool,
    edca: bool,
    rate: &'static str,
    /// Keys of a hardware queue.
    hardware: &'static str,
}

/// A hardware queue for all receivers; then one for each.
const SHARED: &str = "hardware_queue = \"16 packets\"\n";
const OWN: &str = "hardware_queue = \"16 packets\"\nhardware_queue_per = \"station\"\n";

/// Returns all combinations. Aggregates need categories, and several queues need an access point.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (role, queues) in [
        ("access-point", "one"),
        ("access-point", "per-station"),
        ("access-point", "mac80211"),
        ("access-point", "turns"),
        ("ad-hoc", "turns"),
        ("ad-hoc", "one"),
        ("mesh", "one"),
    ] {
        for (edca, aggregates) in [(false, "none"), (true, "none"), (true, "amsdu"), (true, "ampdu"), (true, "both")] {
            for rts in [false, true] {
                for rate in ["fixed", "minstrel-ht"] {
                    for hardware in ["", SHARED, OWN] {
                        // Rate control does not matter for this.
                        if hardware.is_empty() || rate == "fixed" {
                            cases.push(Case { role, queues, aggregates, rts, edca, rate, hardware });
                        }
                    }
                }
            }
        }
    }
    cases
}

impl Case {
    /// Writes the scenario: 130 Mb/s without rate control; the far station is out of reach from 1 s on.
    fn text(self, near: &str, far: &str) -> String {
        let Self { role, queues, aggregates, rts, edca, rate, hardware } = self;
        let role = if role == "access-point" { "role = \"access-point\"\n" } else { "" };
        let queues = if queues == "one" { String::new() } else { format!("queues = \"{queues}\"\n") };
        let routing = if self.role == "mesh" { "[routing]\nprotocol = \"aodv\"\n" } else { "" };
        let aggregation = match aggregates {
            "none" => "",
            "amsdu" => "[mac.aggregation]\namsdu = \"3839 B\"\n",
            "ampdu" => "[mac.aggregation]\nampdu = \"65535 B\"\n",
            _ => "[mac.aggregation]\nampdu = \"65535 B\"\namsdu = \"3839 B\"\n",
        };
        let mut text = format!(
            "duration = \"4 s\"\nwarmup = \"2 s\"\n[radio]\nstandard = \"802.11n\"\n{}propagation = \"range\"\n\
             range = \"100 m\"\n[mac]\n{hardware}access = \"{}\"\nrts_threshold = \"{}\"\n[mac.rate_control]\nalgorithm = \"{rate}\"\n\
             {aggregation}{routing}\
             [[node]]\nname = \"hub\"\n{role}{queues}position = [\"0 m\", \"0 m\"]\n\
             [[node]]\nname = \"near\"\nposition = [\"5 m\", \"0 m\"]\n\
             [[node]]\nname = \"far\"\nposition = [\"6 m\", \"0 m\"]\n\
             waypoints = [{{ time = \"1 s\", position = [\"150 m\", \"0 m\"], speed = \"1000 m/s\" }}]\n",
            if rate == "fixed" { "mcs = 15\n" } else { "" },
            if edca { "edca" } else { "dcf" },
            if rts { "0 B" } else { "off" },
        );
        for (to, load) in [("near", near), ("far", far)] {
            let flow = format!("[[flow]]\nname = \"{to}\"\nfrom = \"hub\"\nto = \"{to}\"\ntraffic = {{ {load} }}\n");
            text += &flow;
        }
        text
    }
}

/// What a run's sender did for its two receivers after the warm-up.
struct Shares {
    /// Goodput of the near receiver in bit/s, and number of packets that it acknowledged.
    goodput: f64,
    delivered: f64,
    /// Number of packets for the far receiver that were given up.
    given_up: f64,
    /// The near receiver's share of the airtime of frames for both.
    airtime: f64,
    /// The near receiver's share of the attempts; an RTS without CTS is one.
    attempts: f64,
}

impl Shares {
    fn of(outcome: &Outcome) -> Self {
        let hub = outcome.nodes.iter().find(|node| node.name == "hub").expect("a hub");
        let of = |name: &str| hub.hops.iter().find(|hop| hop.name == name);
        let airtime = |name: &str| of(name).map_or(0.0, |hop| hop.airtime_s);
        let attempts = |name: &str| of(name).map_or(0.0, |hop| hop.attempts as f64);
        let near = outcome.flows.iter().find(|flow| flow.name == "near").expect("such a flow");
        // An RTS had no CTS if no attempt at its data is counted.
        let unanswered = hub.mac.rts_attempts.saturating_sub(hub.mac.attempts) as f64;
        Self {
            goodput: near.goodput_bps,
            delivered: of("near").map_or(0.0, |hop| hop.delivered as f64),
            given_up: of("far").map_or(0.0, |hop| hop.retry_drops as f64),
            airtime: airtime("near") / (airtime("near") + airtime("far")),
            attempts: attempts("near") / (attempts("near") + attempts("far") + unanswered),
        }
    }
}

#[test]
fn a_station_keeps_its_share_beside_one_that_does_not_answer() {
    let poisson = |mbps: u32| format!("kind = \"poisson\", rate = \"{mbps} Mb/s\", packet = \"1000 B\"");
    let saturated = || "kind = \"saturated\", packet = \"1000 B\"".to_owned();
    let loads = [(poisson(5), poisson(2), Some(5e6), 2.5), (saturated(), saturated(), None, 1.0)];
    let mut wrong = Vec::new();
    for case in cases() {
        for (near, far, wants, ratio) in &loads {
            let found = Shares::of(&run(&case.text(near, far), 1));
            let satisfied = wants.is_some_and(|wants| found.goodput > 0.95 * wants);
            let keeps = match case.queues {
                // Packets enter a FIFO of the hardware in turn; those of the dead station are at its head half of the time.
                "per-station" if case.hardware == SHARED => found.delivered > 0.85 * found.given_up,
                // A FIFO, above the hardware or in it, serves packets in the order of their arrival.
                "one" => found.delivered > 0.85 * ratio * found.given_up,
                // A turn is one attempt. Frames at other rates have other durations.
                "per-station" => found.attempts.max(found.airtime) > 0.45,
                _ => found.airtime > 0.48,
            };
            let served = found.goodput > 0.0;
            if !(satisfied || keeps && served) {
                let Shares { goodput, delivered, given_up, airtime, attempts } = found;
                wrong.push(format!(
                    "{case:?}, {near}: {goodput} bit/s, {delivered} delivered and {given_up} given up, {airtime:.2} of \
                     airtime, {attempts:.2} of attempts"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} combinations:\n{}", wrong.len(), wrong.join("\n"));
}

/// If all frames for the far station are lost and there are always some, mac80211 and turns charge the attempts.
#[test]
fn attempts_at_a_station_are_charged_to_it() {
    let full = "kind = \"saturated\", packet = \"1000 B\"";
    for (queues, aggregates) in ["mac80211", "turns"]
        .into_iter()
        .flat_map(|queues| ["none", "amsdu", "ampdu"].map(|aggregates| (queues, aggregates)))
    {
        let case =
            Case { role: "access-point", queues, aggregates, rts: false, edca: true, rate: "fixed", hardware: "" };
        let found = Shares::of(&run(&case.text(full, full), 1));
        // Each turn is an exchange of at most 2.5 ms in some 1 s: less than 0.01. Under turns, frames that are sent again wait
        // for their turn one by one, so that others may get more.
        let most = if queues == "turns" { 1.0 } else { 0.51 };
        assert!(found.airtime > 0.49 && found.airtime < most, "{queues}, {aggregates}: {}", found.airtime);
    }
}
