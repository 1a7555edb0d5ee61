//! Limits that refuse valid but absurd scenarios: they would run for ever, fill the memory, or have no results.

use super::refusal::Refusal;
use super::source::Source;
use sim::config::{Flow, Lengths, Load, Network, Traffic, TrafficKind, Transport};
use toml::de::DeTable;
use units::{Bytes, Duration, refuse_if};

/// Largest number of nodes: a network is built and checked before it runs.
const MOST_NODES: u32 = 10_000;
/// Largest number of flows in the file. The simulator itself limits the flows for which `*` stands.
const MOST_FLOWS: usize = 10_000;
/// Largest size of a series: in steps, and in steps times the flows and nodes that have a series.
const MOST_STEPS: u64 = 1_000_000;
const MOST_VALUES: u64 = 20_000_000;
const MOST_TRANSFERS: u64 = 1_000_000;
/// Largest number of packets per second in one flow. A link of 10 Gb/s carries 15 million of the smallest packets.
const MOST_PACKETS: f64 = 2e7;
/// Largest burst without pacing, because its packets are all made at one instant.
const MOST_IN_A_BURST: u64 = 1_000_000;
/// Packet size of web traffic in the simulator.
const WEB_PACKET: Bytes = Bytes::new(1_000);

/// Path of the key at fault, and a description of the fault.
type Fault = (String, String);

/// Refuses a file with more nodes or flows than a network may have, before a network is built from it.
pub(super) fn few_tables(source: &Source, root: &DeTable) -> Result<(), Refusal> {
    for (key, most) in [("node", MOST_NODES as usize), ("flow", MOST_FLOWS)] {
        let elements = root.get(key).and_then(|elements| elements.get_ref().as_array());
        if let Some(first) = elements.and_then(|elements| elements.get(most)) {
            return Err(source.refuse(first.span(), format!("more than {most} tables `[[{key}]]`")));
        }
    }
    Ok(())
}

/// Refuses networks that exceed a limit of this module.
pub(super) fn check(network: &Network) -> Result<(), Fault> {
    let refuse = |key: &str, message: String| Err((key.to_owned(), message));
    let placed = network.nodes.as_ref().map_or(0, |nodes| nodes.count);
    refuse_if!(placed > MOST_NODES, refuse("nodes.count", format!("more than {MOST_NODES} nodes")));
    let described: u64 = network.node.iter().map(|node| u64::from(node.count.unwrap_or(1))).sum();
    refuse_if!(described > u64::from(MOST_NODES), refuse("node", format!("more than {MOST_NODES} nodes")));
    if let Some(step) = network.record.series {
        refuse_if!(step.is_zero(), refuse("record.series", "the spacing of a series must be above zero".to_owned()));
        let steps = network.duration.div_floor(step);
        if steps > MOST_STEPS {
            return refuse("record.series", format!("the series would have more than {MOST_STEPS} steps"));
        }
        let flows: u64 = network.flow.iter().map(|flow| u64::from(flow.count.unwrap_or(1))).sum();
        let each = u64::from(placed) + described + flows;
        if steps.saturating_mul(each) > MOST_VALUES {
            let message = format!(
                "the series would have {steps} steps for {each} nodes and flows, above the limit of {MOST_VALUES} values"
            );
            return refuse("record.series", message);
        }
    }
    for node in network.node.iter().filter(|node| node.roaming.is_some()) {
        let moves = node.roaming.iter().flat_map(|roaming| (0..).zip(&roaming.moves));
        if let Some((number, _)) = moves.into_iter().find(|(_, step)| step.time >= network.duration) {
            let path = format!("node.{}.roaming.moves.{number}.time", node.name);
            return Err((path, "the station must move before the end of the run".to_owned()));
        }
    }
    network.flow.iter().try_for_each(|flow| {
        of_flow(flow, network.duration).map_err(|(key, message)| (format!("flow.{}.{key}", flow.name), message))
    })
}

/// Checks a flow. The fault's path is relative to the flow's table.
fn of_flow(flow: &Flow, duration: Duration) -> Result<(), Fault> {
    let refuse = |key: &str, message: &str| Err((key.to_owned(), message.to_owned()));
    refuse_if!(flow.start >= duration, refuse("start", "the flow must start before the end of the run"));
    refuse_if!(flow.stop.is_some_and(|stop| stop <= flow.start), refuse("stop", "the flow stops before it starts"));
    refuse_if!(flow.deadline.is_some_and(Duration::is_zero), refuse("deadline", "a deadline of zero is always missed"));
    // Transfers do not wait for each other: if the network is too slow, all are open at once.
    let lasts = flow.stop.unwrap_or(duration).min(duration) - flow.start;
    let transfers = flow.traffic.every.map_or(0, |every| lasts.div_floor(every));
    if flow.traffic.kind == TrafficKind::Transfer && transfers > MOST_TRANSFERS {
        return refuse("traffic.every", "more than 1000000 transfers");
    }
    if flow.transport == Transport::Tcp { Ok(()) } else { packets(flow) }
}

/// Checks a flow's number of packets, as far as it does not depend on the network's speed.
fn packets(flow: &Flow) -> Result<(), Fault> {
    let Traffic { kind, size, .. } = flow.traffic;
    // For a random load this is its largest value.
    let rate = flow.traffic.rate.as_ref().map(Load::highest);
    let packet = flow.traffic.packet.as_ref().map_or(WEB_PACKET, Lengths::shortest).max(Bytes::new(1));
    let first = rate.map(|rate| ("traffic.rate".to_owned(), rate, 1.0));
    let steps = flow.at.iter().enumerate().filter_map(|(number, step)| match (step.rate, step.scale, rate) {
        (Some(rate), ..) => Some((format!("at.{number}.rate"), rate, 1.0)),
        (None, Some(scale), Some(rate)) => Some((format!("at.{number}.scale"), rate, scale)),
        _ => None,
    });
    for (key, rate, scale) in first.into_iter().chain(steps) {
        let each_second = rate.as_bps() as f64 * scale / packet.bits() as f64;
        if each_second > MOST_PACKETS {
            let times = if key.ends_with("scale") { format!(" times {scale:e}") } else { String::new() };
            let message = format!(
                "packets of {packet} at {rate}{times} exceed the limit of {} million per second (10 Gb/s Ethernet: \
                 15 million)",
                MOST_PACKETS / 1e6
            );
            return Err((key, message));
        }
    }
    if kind == TrafficKind::Web
        && let Some(size) = size
        && size.count() / packet.count() > MOST_IN_A_BURST
    {
        let message =
            format!("bursts have more than {MOST_IN_A_BURST} packets, too many for a queue; use `transport = \"tcp\"`");
        return Err(("traffic.size".to_owned(), message));
    }
    Ok(())
}
