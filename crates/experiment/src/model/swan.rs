//! SWAN's models A and B (crate `theory`) for a run. Their inputs are the run's measurements and the channel times of
//! its packets, with RTS/CTS if the run has it (S18 in the reproduction of SWAN).

use super::{Fault, described};
use crate::measure::means;
use crate::study::{Devices, Equilibrium, Swan};
use sim::config::{Access, Flow, Lengths, Network, RateAlgorithm, Transport};
use sim::radio::Exchange;
use sim::results::{Node, Outcome};
use std::collections::BTreeMap;
use theory::swan::{Channel, Class, Target, busy_of_each, equilibrium, mac_delay};
use units::{Bytes, Duration};

/// Bytes of the IP and LLC/SNAP headers.
const NETWORK_HEADERS: Bytes = Bytes::new(20 + 8);
const UDP_HEADER: Bytes = Bytes::new(8);
const TCP_HEADER: Bytes = Bytes::new(20);
/// Bytes that timestamps add to every segment.
const TIMESTAMPS: Bytes = Bytes::new(12);

/// Computes the models for a run of `network`. Errors: a class has no nodes, or two classes have common nodes. Or the
/// models do not cover the network: another access than the DCF, variable rates, or packets of different lengths from
/// one node to another.
pub(super) fn of(settings: &Swan, network: &Network, outcome: &Outcome) -> Result<Equilibrium, Fault> {
    let [first, second] = classes(settings, outcome)?;
    let nodes: Vec<&Node> = first.iter().chain(&second).copied().collect();
    let exchanges = exchanges(network, outcome, &nodes)?;
    let seconds = outcome.simulated_s;
    let (class_1, class_2) = (devices(&first, seconds), devices(&second, seconds));
    let measured = Equilibrium { class_1, class_2, mac_delay_s: delay(&nodes), ..Equilibrium::default() };
    let Some(channel) = channel(&exchanges, &nodes) else { return Ok(measured) };
    let busy = |class: Devices| class.busy_ratio.map(|busy| Class { devices: class.devices, busy });
    let both = busy(class_1).zip(busy(class_2));
    let model_a = both.and_then(|(one, two)| mac_delay(&channel, [one, two]).ok());
    let target = class_1.mac_delay_s.zip(class_1.packets_per_second).map(|(delay, packets_per_second)| Target {
        devices: class_1.devices,
        packets_per_second,
        mac_delay: Duration::from_secs_f64(delay),
    });
    let model_b = target.and_then(|target| equilibrium(&channel, &target).ok());
    let with_2 = target.and_then(|target| busy_of_each(&channel, &target, class_2.devices).ok());
    Ok(Equilibrium {
        success_s: Some(channel.success.as_secs_f64()),
        collision_s: Some(channel.collision.as_secs_f64()),
        model_a_delay_s: model_a.map(|outcome| outcome.mac_delay_s),
        model_b_busy_ratio: model_b.map(|point| point.busy(class_2.devices)),
        model_b_backlogged: model_b.map(|point| point.backlogged),
        model_b_valid: model_b.map(|point| f64::from(u8::from(point.is_valid()))),
        model_b_with_2_busy_ratio: with_2,
        ..measured
    })
}

/// Returns the nodes of each of the two classes.
fn classes<'o>(settings: &Swan, outcome: &'o Outcome) -> Result<[Vec<&'o Node>; 2], Fault> {
    let of = |key, pattern: &str| {
        let nodes: Vec<&Node> = outcome.nodes.iter().filter(|node| means(pattern, &node.name)).collect();
        if nodes.is_empty() {
            let message = format!("no node is called `{pattern}`");
            return Err(Fault { key, message });
        }
        Ok(nodes)
    };
    let both = [of("swan.class_1", &settings.class_1)?, of("swan.class_2", &settings.class_2)?];
    match both[1].iter().find(|node| both[0].iter().any(|other| other.name == node.name)) {
        None => Ok(both),
        Some(node) => {
            let message = format!("`{}` is in class_1 and in class_2", node.name);
            Err(Fault { key: "swan.class_2", message })
        }
    }
}

/// A node that sends, and the neighbour to which it sends.
type Way<'o> = (&'o str, &'o str);

/// Returns the channel times of these nodes' packets, for each sender and neighbour.
fn exchanges<'o>(
    network: &Network,
    outcome: &'o Outcome,
    nodes: &[&Node],
) -> Result<BTreeMap<Way<'o>, Exchange>, Fault> {
    let refuse = |message: String| Err(Fault { key: "swan", message });
    if network.access() != Access::Dcf || network.mac.rate_control.algorithm != RateAlgorithm::default() {
        return refuse(
            "SWAN's models need the DCF and a fixed rate: no `mac.access = \"edca\"`, no rate control".to_owned(),
        );
    }
    let mut found: BTreeMap<Way, Exchange> = BTreeMap::new();
    for flow in &outcome.flows {
        let (there, back) = ((flow.from.as_str(), flow.to.as_str()), (flow.to.as_str(), flow.from.as_str()));
        let Some(described) = described(network, flow) else { continue };
        let Some(lengths) = lengths(network, described) else {
            let name = &described.name;
            return refuse(format!(
                "`{name}` sends packets of several lengths: the models need one length, `packet` or `tcp.segment`"
            ));
        };
        let ways = [Some((there, lengths.0)), lengths.1.map(|length| (back, length))];
        for (way, length) in ways.into_iter().flatten().filter(|(way, _)| nodes.iter().any(|node| node.name == way.0)) {
            let exchange = match Exchange::new(&network.radio, &network.mac, length) {
                Ok(exchange) => exchange,
                Err(why) => return refuse(why),
            };
            if found.insert(way, exchange).is_some_and(|other| other != exchange) {
                let message =
                    format!("`{}` sends packets of several lengths to `{}`: the model needs one length", way.0, way.1);
                return refuse(message);
            }
        }
    }
    Ok(found)
}

/// Returns the lengths of a flow's packets without the MAC header, and the lengths in the reverse direction.
fn lengths(network: &Network, flow: &Flow) -> Option<(Bytes, Option<Bytes>)> {
    match flow.transport {
        Transport::Udp => match flow.traffic.packet {
            Some(Lengths::One(payload)) => Some((payload + UDP_HEADER + NETWORK_HEADERS, None)),
            _ => None,
        },
        Transport::Tcp => {
            let own = flow.tcp.unwrap_or_default();
            let timestamps = own.timestamps.or(network.tcp.timestamps).unwrap_or(true);
            let headers = TCP_HEADER + NETWORK_HEADERS + if timestamps { TIMESTAMPS } else { Bytes::new(0) };
            Some((own.segment.or(network.tcp.segment)? + headers, Some(headers)))
        }
    }
}

/// Returns the number of a node's packets that were acknowledged or given up.
fn packets(node: &Node) -> f64 {
    (node.mac.delivered + node.mac.retry_drops) as f64
}

fn devices(nodes: &[&Node], seconds: f64) -> Devices {
    let count = nodes.len() as f64;
    let sent: f64 = nodes.iter().map(|node| packets(node)).sum();
    let busy = |node: &&Node| (packets(node) * node.mac.service_s.mean / seconds).min(1.0);
    let busy: f64 = nodes.iter().map(busy).sum::<f64>() / count;
    let some = sent > 0.0 && seconds > 0.0;
    Devices {
        devices: u32::try_from(nodes.len()).unwrap_or(u32::MAX),
        busy_ratio: some.then_some(busy),
        mac_delay_s: delay(nodes),
        packets_per_second: some.then(|| sent / count / seconds),
    }
}

/// Returns the mean MAC delay of these nodes' packets.
fn delay(nodes: &[&Node]) -> Option<f64> {
    let sent: f64 = nodes.iter().map(|node| packets(node)).sum();
    let total: f64 = nodes.iter().map(|node| packets(node) * node.mac.service_s.mean).sum();
    (sent > 0.0).then(|| total / sent)
}

/// Returns `T_s` averaged over the packets that the nodes sent, and `T_c` averaged over all pairs of these packets, for
/// the longer of the pair. `None` if no packet was sent, or one went to a neighbour that has no flow.
fn channel(exchanges: &BTreeMap<Way, Exchange>, nodes: &[&Node]) -> Option<Channel> {
    let mut sent: Vec<(Exchange, f64)> = Vec::new();
    for (node, hop) in nodes.iter().flat_map(|node| node.hops.iter().map(move |hop| (node, hop))) {
        let count = (hop.delivered + hop.retry_drops) as f64;
        if count > 0.0 {
            sent.push((*exchanges.get(&(node.name.as_str(), hop.name.as_str()))?, count));
        }
    }
    let (any, _) = sent.first()?;
    let total: f64 = sent.iter().map(|(_, count)| count).sum();
    let share = |count: f64| count / total;
    let success: f64 = sent.iter().map(|(of, count)| share(*count) * of.success.as_secs_f64()).sum();
    let longer = |(a, of_a): &(Exchange, f64), (b, of_b): &(Exchange, f64)| {
        share(*of_a) * share(*of_b) * a.collision.max(b.collision).as_secs_f64()
    };
    let collision: f64 = sent.iter().flat_map(|a| sent.iter().map(move |b| longer(a, b))).sum();
    Some(Channel {
        cw_min: any.cw_min.into(),
        cw_max: any.cw_max.into(),
        slot: any.slot,
        success: Duration::from_secs_f64(success),
        collision: Duration::from_secs_f64(collision),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: &str = r#"
duration = "1 ns"
[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
basic_rate = "1 Mb/s"
range = "250 m"
[tcp]
segment = "512 B"
timestamps = false
[[node]]
name = "video"
count = 2
position = ["0 m", "0 m"]
[[node]]
name = "sink"
position = ["0 m", "0 m"]
[[node]]
name = "ftp"
count = 3
position = ["0 m", "0 m"]
[[flow]]
name = "video"
from = "video*"
to = "sink"
traffic = { kind = "cbr", rate = "200 kb/s", packet = "512 B" }
[[flow]]
name = "tcp"
from = "ftp*"
to = "next"
transport = "tcp"
traffic = { kind = "greedy" }
"#;

    fn network(more: &str) -> Network {
        toml::from_str(&format!("{CELL}{more}")).unwrap()
    }

    fn settings(class_1: &str, class_2: &str) -> Swan {
        Swan { class_1: class_1.to_owned(), class_2: class_2.to_owned() }
    }

    /// Makes a run of 10 s. Each real-time device sent 100 packets in 4 ms each. Each best-effort device sent 99
    /// segments and 100 acknowledgements in 10 ms each, and gave up a segment after 10 ms.
    fn measured(network: &Network) -> Outcome {
        let mut outcome = sim::World::new(network, 1).unwrap().finish();
        outcome.simulated_s = 10.0;
        let hop = |name: &str, delivered, retry_drops| sim::results::Hop {
            name: name.to_owned(),
            delivered,
            retry_drops,
            ..sim::results::Hop::default()
        };
        for node in &mut outcome.nodes {
            let (hops, delay) = match node.name.as_str() {
                "sink" => continue,
                "ftp1" => (vec![hop("ftp2", 99, 1), hop("ftp3", 100, 0)], 0.01),
                "ftp2" => (vec![hop("ftp3", 99, 1), hop("ftp1", 100, 0)], 0.01),
                "ftp3" => (vec![hop("ftp1", 99, 1), hop("ftp2", 100, 0)], 0.01),
                _ => (vec![hop("sink", 100, 0)], 0.004),
            };
            node.mac.delivered = hops.iter().map(|hop| hop.delivered).sum();
            node.mac.retry_drops = hops.iter().map(|hop| hop.retry_drops).sum();
            node.mac.service_s.mean = delay;
            node.hops = hops;
        }
        outcome
    }

    fn near(left: Option<f64>, right: f64) {
        assert!(left.is_some_and(|left| (left - right).abs() < 1e-9), "{left:?} is not {right}");
    }

    #[test]
    fn what_is_measured_and_the_times_of_packets_by_hand() {
        let network = network("");
        let seen = of(&settings("video*", "ftp*"), &network, &measured(&network)).unwrap();
        assert_eq!((seen.class_1.devices, seen.class_2.devices), (2, 3));
        // 100 packets of 4 ms, and 200 of 10 ms, in 10 s; 200 and 600 packets together.
        near(seen.class_1.busy_ratio, 0.04);
        near(seen.class_2.busy_ratio, 0.2);
        near(seen.class_1.mac_delay_s, 0.004);
        near(seen.class_1.packets_per_second, 10.0);
        near(seen.mac_delay_s, (200.0 * 0.004 + 600.0 * 0.01) / 800.0);
        // Frames of 576, 588 and 76 B: 611, 620 and 248 us; SIFS, ACK and DIFS are 364 us more, DIFS alone 50 us. A quarter
        // of the packets is video, three eighths are segments, and as many acknowledgements.
        near(seen.success_s, (0.25 * 975.0 + 0.375 * 984.0 + 0.375 * 612.0) * 1e-6);
        // The longer of two packets is a segment unless neither is one, and an acknowledgement if both are.
        let (segment, acknowledgement) = (1.0 - 0.625 * 0.625, 0.375 * 0.375);
        let video = 1.0 - segment - acknowledgement;
        near(seen.collision_s, (segment * 670.0 + video * 661.0 + acknowledgement * 298.0) * 1e-6);
    }

    #[test]
    fn with_rts_and_cts_requests_collide() {
        let network = network("[mac]\nrts_threshold = \"0 B\"\n");
        let seen = of(&settings("video*", "ftp*"), &network, &measured(&network)).unwrap();
        // RTS, CTS and two SIFS take 676 us more; a collision takes an RTS of 352 us, and DIFS.
        near(seen.success_s, (0.25 * 1651.0 + 0.375 * 1660.0 + 0.375 * 1288.0) * 1e-6);
        near(seen.collision_s, 402e-6);
    }

    #[test]
    fn the_models_are_those_of_the_measured_inputs() {
        let network = network("");
        let seen = of(&settings("video*", "ftp*"), &network, &measured(&network)).unwrap();
        // T_s = 842.25 us and T_c = 615.4375 us, here compared to the nanosecond.
        let near = |left: Option<f64>, right: f64| {
            assert!(left.is_some_and(|left| (left / right - 1.0).abs() < 1e-5), "{left:?} is not {right}");
        };
        let channel = Channel {
            cw_min: 31,
            cw_max: 1023,
            slot: Duration::from_micros(20),
            success: Duration::from_nanos(842_250),
            collision: Duration::from_nanos(615_438),
        };
        let classes = [Class { devices: 2, busy: 0.04 }, Class { devices: 3, busy: 0.2 }];
        near(seen.model_a_delay_s, mac_delay(&channel, classes).unwrap().mac_delay_s);
        let mac_delay = Duration::from_millis(4);
        let target = Target { devices: 2, packets_per_second: 10.0, mac_delay };
        let point = equilibrium(&channel, &target).unwrap();
        near(seen.model_b_busy_ratio, point.busy(3));
        near(seen.model_b_backlogged, point.backlogged);
        near(seen.model_b_valid, if point.backlogged >= 1.0 { 1.0 } else { 0.0 });
        near(seen.model_b_with_2_busy_ratio, busy_of_each(&channel, &target, 3).unwrap());
    }

    #[test]
    fn without_packets_there_is_nothing_to_say() {
        let network = network("");
        let blank = sim::World::new(&network, 1).unwrap().finish();
        let seen = of(&settings("video*", "ftp*"), &network, &blank).unwrap();
        assert_eq!((seen.class_1.devices, seen.mac_delay_s, seen.model_a_delay_s), (2, None, None));
    }

    #[test]
    fn what_the_models_do_not_have_is_refused() {
        let refused = |class_1: &str, class_2: &str, network: &Network| {
            let blank = sim::World::new(network, 1).unwrap().finish();
            let fault = of(&settings(class_1, class_2), network, &blank).unwrap_err();
            format!("{}: {}", fault.key, fault.message)
        };
        let plain = network("");
        assert_eq!(refused("audio*", "ftp*", &plain), "swan.class_1: no node is called `audio*`");
        assert_eq!(refused("video*", "*", &plain), "swan.class_2: `video1` is in class_1 and in class_2");
        assert!(refused("video*", "ftp*", &network("[mac]\naccess = \"edca\"\n")).contains("DCF"));
        assert!(
            refused("video*", "ftp*", &network("[mac.rate_control]\nalgorithm = \"arf\"\n")).contains("fixed rate")
        );
        let mut several = plain.clone();
        several.flow[0].traffic.packet = Some(Lengths::Any(vec![Bytes::new(100), Bytes::new(200)]));
        assert!(refused("video*", "ftp*", &several).contains("several lengths"));
        let mut unknown = plain.clone();
        unknown.tcp.segment = None;
        assert!(refused("video*", "ftp*", &unknown).contains("`tcp.segment`"));
        // In a ring of two each node sends segments and acknowledgements to the other.
        let mut two = plain;
        two.node[2].count = Some(2);
        assert!(refused("video*", "ftp*", &two).contains("of several lengths"));
    }
}
