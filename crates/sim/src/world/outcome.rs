//! Results of a finished run, and checks that its counts balance.

use super::flows::{Flow, Role, Supply};
use super::nodes::roaming::Turn;
use super::nodes::{self, port_name, port_names};
use super::routing::Routing;
use super::state::World;
use super::wired::Wire;
use crate::engine::{FlowId, List, NodeId, PortId};
use crate::mac::{BROADCAST, Reorder};
use crate::net::Load;
use crate::record::{Fates, FlowRecord, ratio, share};
use crate::results::{self, CellTotals, Distributions, Lost, Node, Outcome, QueueResult, Roam, Totals, shares};
use control::Controller as _;
use units::{Bytes, Duration, Instant};

pub(super) fn outcome(mut world: World) -> Outcome {
    if world.now > world.last_step {
        world.end_step();
    }
    if cfg!(debug_assertions) {
        check_packets(&world);
        check_airtime(&world);
        check_pending(&world);
    }
    let covered = world.end.since(world.warmup);
    let told = || world.flows.iter().filter(|flow| flow.is_told());
    let fates = fates(&world);
    let results = told().zip(&fates).map(|(flow, &fates)| flow.record.result(&flow.identity, fates, covered));
    let mut flows: Vec<_> = results.collect();
    for (flow, result) in told().zip(&mut flows) {
        result.player = flow.record.player.as_ref().map(|player| player.result(world.end));
        result.admission = flow.admission.as_ref().map(|admission| admission.result(world.end));
        if let (Some(receptions), Some(distances)) = (&flow.record.receptions, &world.distances) {
            result.by_distance = receptions.by_distance(distances.width);
        }
        if let Supply::Transfers { drawn_start, .. } = flow.supply {
            result.started_s = drawn_start.map(|start| start.since(Instant::ZERO).as_secs_f64());
        }
    }
    let mut routing_packets = None;
    if !matches!(world.routing, Routing::Static(_)) {
        let counts = world.nodes.numbers().filter_map(|node| world.routing.counts(node).map(|counts| counts.packets));
        routing_packets = Some(counts.sum::<u64>());
        for (flow, result) in told().zip(&mut flows) {
            result.lost_packets = Some(flow.record.lost);
            result.hops = Some(flow.record.hops.result(world.record.hops));
        }
    }
    if world.wires.iter().any(|wire| wire.loss.is_some()) {
        for (flow, result) in told().zip(&mut flows) {
            let lost = flow.record.lost;
            result.lost_packets = Some(Lost { damage: lost.damage.or(Some(0)), ..lost });
        }
    }
    let nodes: Vec<_> = world.nodes.numbers().map(|number| node(&world, number, covered)).collect();
    let goodputs = flows.iter().map(|flow| flow.goodput_bps);
    let sum = total(goodputs.clone());
    let squares: f64 = goodputs.map(|goodput| goodput * goodput).sum();
    let sum_of = |of: fn(&FlowRecord) -> u64| told().map(|flow| of(&flow.record)).sum::<u64>();
    let sent = sum_of(|record| record.sent);
    let received = sum_of(|record| record.received);
    let late = sum_of(|record| record.late);
    let in_time = told().map(|flow| flow.record.in_time()).sum();
    let transmissions = sum_of(|record| record.transmissions);
    let useful = sum_of(|record| record.useful_transmissions);
    let totals = Totals {
        goodput_bps: sum,
        // If nothing was received, all shares are equal.
        jain_index: if squares > 0.0 { sum * sum / (flows.len() as f64 * squares) } else { 1.0 },
        // This is computed for each flow: a broadcast that several nodes receive must not offset another flow's losses.
        loss_ratio: share(fates.iter().map(|fates| fates.lost).sum(), sent),
        deadline_miss_ratio: ratio(late, received),
        data_yield: share(in_time, fates.iter().map(|fates| fates.decided).sum()),
        channel_busy_ratio: world.medium.on_air_time(world.end).as_secs_f64() / covered.as_secs_f64(),
        wasted_transmission_ratio: ratio(transmissions - useful, transmissions),
        routing_packets,
        routing_overhead: routing_packets.map(|packets| ratio(packets, received)),
        cells: cells(&world, &flows, &nodes),
    };
    let (warnings, simulated_s) = (warnings(&mut world), covered.as_secs_f64());
    let distributions = world.record.distributions.then(|| distributions(&world));
    let series = world.recorder.map(crate::record::Recorder::into_series);
    Outcome { simulated_s, events: world.handled, warnings, flows, nodes, totals, series, distributions }
}

/// Returns the totals of the flows of each access point if there are several access points.
fn cells(world: &World, flows: &[results::Flow], nodes: &[Node]) -> Vec<CellTotals> {
    let numbered = world.nodes.numbers().zip(nodes);
    let access_points: Vec<(NodeId, &Node)> = numbered.filter(|&(node, _)| world.nodes[node].access_point).collect();
    let Routing::Static(routes) = &world.routing else { return Vec::new() };
    if access_points.len() < 2 {
        return Vec::new();
    }
    let cell = |(at, node): (NodeId, &Node)| {
        let told = world.flows.numbers().filter(|&flow| world.flows[flow].is_told()).zip(flows);
        let own = told.filter(|&(flow, _)| routes.hops(flow).iter().any(|&(from, to)| [from, to].contains(&at.into())));
        let own: Vec<&results::Flow> = own.map(|(_, flow)| flow).collect();
        CellTotals {
            name: node.name.clone(),
            goodput_bps: total(own.iter().map(|flow| flow.goodput_bps)),
            delay_p99_max_s: own.iter().map(|flow| flow.delay_s.p99).fold(0.0, f64::max),
            busy_ratio: node.mac.busy_ratio,
        }
    };
    access_points.into_iter().map(cell).collect()
}

/// Returns a sum that is 0 if there are no values; `sum` itself would give -0.
fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// Returns what became of the packets of each described flow.
fn fates(world: &World) -> Vec<Fates> {
    let mut older: List<FlowId, u64> = vec![0; world.flows.len()].into();
    for packet in world.packets.iter().filter(|packet| packet.created < world.warmup && !packet.transit.accepted) {
        let bare = packet.segment.is_some_and(|segment| !world.connections.has_data(segment));
        if let (Load::Flow(flow), false) = (packet.load, bare) {
            older[flow] += 1;
        }
    }
    let of = |index: FlowId, flow: &Flow| {
        let record = &flow.record;
        let fates = record.fates(older[index]);
        if world.record.in_flight_lost {
            return Fates { decided: record.sent, lost: record.missing(0), ..fates };
        }
        let (Role::Request { back }, Some(transport)) = (flow.role, &record.transport) else { return fates };
        // A ping counts as lost if its reply is lost, but not if the reply is in flight.
        let answers = transport.replies + world.flows[back].record.fates(older[back]).in_flight;
        debug_assert!(answers <= record.received, "each request is answered once");
        Fates { lost: fates.lost + (record.received - answers) as f64, ..fates }
    };
    let flows = world.flows.numbers().zip(world.flows.iter());
    flows.filter(|(_, flow)| flow.is_told()).map(|(index, flow)| of(index, flow)).collect()
}

/// Returns the distributions of delays of flows and queues.
fn distributions(world: &World) -> Distributions {
    let shares = shares();
    let flows = world.flows.iter().filter(|flow| flow.is_told());
    let ports = world.nodes.iter().flat_map(|node| &node.egress.ports);
    let names = port_names(&world.nodes, &world.rules);
    Distributions {
        flows: flows.map(|flow| flow.record.distribution(&flow.identity.name, &shares)).collect(),
        nodes: ports.zip(names).map(|(port, name)| port.record.distribution(name, &shares)).collect(),
    }
}

/// Largest number of nodes that a warning names. The warning only counts further nodes.
const NAMED: usize = 6;

/// Returns all warnings, each once: those of controllers; about flows that no node receives, and controllers that
/// starve TCP; about results that depend on the capture threshold; about weak links, and OFDMA without effect.
fn warnings(world: &mut World) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for port in world.nodes.iter().flat_map(|node| &node.egress.ports) {
        if let Some(warning) = port.controller.warning().map(|warning| format!("queue.{warning}"))
            && !told.contains(&warning)
        {
            told.push(warning);
        }
    }
    told.extend(unheard_warning(world));
    told.extend(starving_warning(world));
    told.extend(capture_warning(world));
    told.extend(noise_warning(world));
    told.extend(ofdma_warning(world));
    told.extend(world.flows.iter().filter_map(forwarded_warning));
    told
}

/// Names the first entries of a list and gives the number of further entries.
fn listed(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED { format!("{first} and {} more", names.len() - NAMED) } else { first }
}

/// Warns of flows of which no packet arrived and at least three were lost. The usual causes are wrong positions, powers
/// or routes.
fn unheard_warning(world: &World) -> Option<String> {
    // Broadcasts that have no node in range are not counted as lost.
    let gone = |flow: &Flow| if flow.to == BROADCAST { flow.record.sent } else { flow.record.lost_so_far() };
    let is_unheard = |flow: &&Flow| flow.record.bytes == Bytes::new(0) && gone(flow) >= 3;
    let described = world.flows.iter().filter(|flow| flow.role.is_described());
    let names: Vec<&str> = described.filter(is_unheard).map(|flow| flow.identity.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("flow: no packet of {} arrived", listed(&names)))
}

/// Warns of OFDMA without effect. Stations that empty their queues in each TXOP report no backlog and are not asked.
fn ofdma_warning(world: &World) -> Option<String> {
    let told = "mac.ofdma: no effect: no access point sent a frame to several stations or asked for data; it asks \
                stations to which it has sent data, or whose last frame reported a backlog";
    let used = world.nodes.iter().any(|node| node.record.shared.is_some() || node.record.triggered.is_some());
    (!used && world.nodes.iter().any(|node| node.station.downlink.is_some())).then(|| told.to_owned())
}

/// Warns of a recording that contains the same packets more than once because they were forwarded.
fn forwarded_warning(flow: &Flow) -> Option<String> {
    let forwarded = flow.identity.left_out?.forwarded;
    let told = format!(
        "flow.{}.traffic.file: {forwarded} packets were recorded twice, on arrival and on departure (`tcpdump -i any` on a \
         bridge or router), and are replayed twice: record one interface",
        flow.identity.name
    );
    (forwarded > 0).then_some(told)
}

/// If a radio or wired link is busy for a smaller share of time, a rate limit counts as the cause of low traffic.
const BUSY: f64 = 0.5;

/// Warns of controllers that leave their link idle although TCP could use it. The cause is a limit below an aggregate
/// or the bandwidth-delay product, or a rate.
fn starving_warning(world: &World) -> Option<String> {
    let covered = world.end.since(world.warmup).as_secs_f64();
    let carries_tcp = |at: NodeId, wire: bool| {
        let passes = |(flow, of): (FlowId, &Flow)| {
            let Role::Stream { .. } = of.role else { return false };
            match &world.routing {
                Routing::Static(routes) => {
                    let is_here = |&(from, to): &(u32, u32)| {
                        NodeId::from(from) == at && world.nodes[at].egress.is_wired_to(to) == wire
                    };
                    routes.hops(flow).iter().any(is_here)
                }
                Routing::Found(_) => true,
            }
        };
        world.flows.numbers().zip(world.flows.iter()).any(passes)
    };
    let mut found = Vec::new();
    for at in world.nodes.numbers() {
        let node = &world.nodes[at];
        for port in node.egress.ports.numbers() {
            let (controller, idling) = node.egress.ports[port].idling();
            let wire = node.egress.layout.wire(port).map(|wire| &world.wires[wire]);
            let busy = wire.map_or_else(|| busy_time(world, at), |wire| wire.busy_time(world.end));
            let busy = busy.as_secs_f64() / covered;
            let how = match idling.by_limit() {
                Some((dropped, idle)) => format!(
                    "dropped {:.1} % of the packets while its queue was empty {:.0} % of the time",
                    100.0 * dropped,
                    100.0 * idle
                ),
                None if idling.by_rate() && world.rules.aggregates() && wire.is_none() => {
                    "held the traffic to its rate, packet by packet, so that hardly any aggregates form".to_owned()
                }
                None if idling.by_rate() && busy < BUSY => {
                    format!(
                        "held the traffic to its rate while the link was idle {:.0} % of the time",
                        100.0 * (1.0 - busy)
                    )
                }
                None => continue,
            };
            if carries_tcp(at, wire.is_some()) {
                found.push(format!("{controller} at {} {how}", node.name));
            }
        }
    }
    let (first, others) = found.split_first()?;
    let others = if others.is_empty() { String::new() } else { format!(" (and {} more such queues)", others.len()) };
    Some(format!(
        "queue.controller: {first}{others}: TCP flows pass it and send less than the link could carry; a fixed limit, \
         `discipline = \"fq-codel\"` or `queues = \"mac80211\"` suits them"
    ))
}

/// Length, in bits, of the frame with which links are assessed.
const FRAME_BITS: f64 = 8_000.0;
/// If noise alone lets a smaller share of frames survive, a link is probably a mistake in routes or rates.
const FEW: f64 = 0.9;

/// Warns of used links on which noise alone corrupts many frames. Moving nodes get no warning: their links come and go
/// anyway.
fn noise_warning(world: &mut World) -> Option<String> {
    if world.medium.is_moving() {
        return None;
    }
    let mut weak = Vec::new();
    for (from, node) in world.nodes.iter().enumerate() {
        for to in node.record.hops.neighbours() {
            let Some(mode) = node.station.rates.fixed_mode(to) else { continue };
            let from = u32::try_from(from).expect("fewer than 2^32 nodes");
            if let Some(chance) = world.medium.chance_alone(from, to, mode, FRAME_BITS).filter(|&chance| chance < FEW) {
                weak.push((chance, &node.name, &world.nodes[to.into()].name, mode.rate()));
            }
        }
    }
    let (chance, from, to, rate) = weak.iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let others = if weak.len() == 1 { String::new() } else { format!(" (the worst of {} such links)", weak.len()) };
    Some(format!(
        "radio.errors: noise alone corrupts {:.0} % of the frames of 1000 B from {from} to {to} at {rate}{others}: a lower \
         `data_rate`, a greater `tx_power`, a stated `range` or rate control would help",
        100.0 * (1.0 - chance),
    ))
}

/// Warns if a node would decode or lose many other frames with a capture threshold 1 dB higher or lower. The result
/// then depends on the threshold more than on the network.
fn capture_warning(world: &World) -> Option<String> {
    let (margins, capture) = world.medium.margins();
    let noticed: Vec<_> =
        margins.iter().zip(world.nodes.iter()).filter(|(margins, _)| margins.is_noticeable()).collect();
    let decibels = |ratio: f64| 10.0 * libm::log10(ratio);
    let distance = |ratio: f64| libm::fabs(decibels(ratio) - decibels(capture));
    let nearest = noticed.iter().filter_map(|(margins, _)| margins.nearest);
    let nearest = nearest.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))?;
    let verdicts = noticed.iter().map(|(margins, _)| margins.verdicts).sum();
    let share = 100.0 * ratio(noticed.iter().map(|(margins, _)| margins.near).sum(), verdicts);
    let names: Vec<&str> = noticed.iter().map(|(_, node)| node.name.as_str()).collect();
    Some(format!(
        "radio.capture_threshold: {share:.0} % of the overlapping frames at {} were received or lost by a margin below 1 dB: \
         in the closest case the frame is {:.2} dB above the interference and the threshold is {:.2} dB; half a decibel \
         would change the outcome (`radio.errors.model = \"nist\"` decides such frames by chance)",
        listed(&names),
        decibels(nearest),
        decibels(capture),
    ))
}

fn node(world: &World, index: NodeId, covered: Duration) -> Node {
    let node = &world.nodes[index];
    let queues = node.egress.ports.numbers().map(|port| queue_result(world, node, port, covered)).collect();
    let busy = busy_time(world, index);
    let radio_ports = node.egress.ports.iter().take(node.egress.layout.radio_ports()).map(|port| &port.record);
    let routing = world.routing.counts(index).copied();
    Node {
        name: node.name.clone(),
        queues,
        mac: node.record.mac_result(radio_ports, busy, covered, world.rules.aggregates(), node.station.tmac.is_some()),
        hops: node.record.hops.results(|to| world.nodes[to.into()].name.clone()),
        roams: roams(world, index),
        routing,
        overflows: world.overflows.as_ref().map(|overflows| overflows.result(index)),
        energy: node
            .energy
            .as_ref()
            .map(|account| account.result(world.end, world.medium.busy_from_start(index.into(), world.end))),
    }
}

/// Returns the moves of a roaming station.
fn roams(world: &World, index: NodeId) -> Vec<Roam> {
    let seconds = |at: Instant| at.since(Instant::ZERO).as_secs_f64();
    let roam = |turn: &Turn| Roam {
        left_s: seconds(turn.leaves),
        joined_s: seconds(turn.comes),
        access_point: world.nodes[turn.access_point.into()].name.clone(),
    };
    world.roaming.moved(index.into()).iter().map(roam).collect()
}

/// Returns the time for which a node sensed the medium busy; zero for a wired node.
fn busy_time(world: &World, index: NodeId) -> Duration {
    if world.nodes[index].egress.layout.radio_ports() == 0 {
        return Duration::ZERO;
    }
    world.medium.busy_time(index.into(), world.end)
}

fn queue_result(world: &World, node: &nodes::Node, port: PortId, covered: Duration) -> QueueResult {
    let wire = node.egress.layout.wire(port).map(|wire| &world.wires[wire]);
    let utilisation_ratio = wire.map(|wire| wire.busy_time(world.end).as_secs_f64() / covered.as_secs_f64());
    QueueResult {
        utilisation_ratio,
        ..node.egress.result(port, port_name(&world.nodes, node, port, &world.rules), world.end)
    }
}

/// Checks that every packet has arrived, was lost, or is in flight: in a port, in a station whose receiver lacks it, in
/// a receiver that waits for an earlier packet, on a wire, as a broadcast in the air or delayed, or waiting for a
/// route.
fn check_packets(world: &World) {
    let data: u64 = world.flows.iter().map(|flow| flow.record.ledger.on_their_way()).sum();
    let (messages, routing) = match &world.routing {
        Routing::Static(_) => (0, 0),
        Routing::Found(found) => (found.plane.ledger.on_their_way(), found.waiting()),
    };
    let expected = data + messages + world.posted.ledger.on_their_way();
    let queued: u64 = world.nodes.iter().map(|node| node.egress.waiting()).sum();
    let sending = world.nodes.iter().filter(|node| node.station.broadcasts()).count() as u64;
    let chain = |first| std::iter::successors(Some(first), |&packet| world.packets.get(packet).transit.next);
    let stations = || world.nodes.iter().map(|node| &node.station);
    let taken = || stations().flat_map(|station| station.held.unsettled()).flat_map(chain);
    let accepted = taken().filter(|&packet| world.packets.get(packet).transit.accepted).count() as u64;
    let missing = taken().count() as u64 - accepted;
    let arrived = stations().flat_map(|station| station.held.reorders()).flat_map(Reorder::held);
    let held = arrived.flat_map(chain).count() as u64;
    let wired: u64 = world.wires.iter().map(Wire::packets).sum();
    let found = queued + missing + held + wired - sending + world.broadcasts_in_air + routing;
    assert_eq!(expected, found, "packets on their way by the flows' accounts and by looking for them");
    assert_eq!(world.packets.live() as u64, found + accepted, "packets alive");
    let (said, segments) = world.connections.segments();
    assert_eq!(said, segments, "segments on their way, by their connections and by looking for them");
}

/// Checks that the pending airtime in the schedulers and the load of the hardware queues equal the sums over the
/// packets that stations hold.
fn check_pending(world: &World) {
    let packets = &world.packets;
    for node in &world.nodes {
        let chain = |first| std::iter::successors(Some(first), |&packet| packets.get(packet).transit.next);
        let taken = || node.station.held.unsettled().flat_map(chain).map(|packet| packets.get(packet).transit);
        let expected = taken().fold(Duration::ZERO, |sum, transit| sum + transit.expected);
        let load = taken().map(|transit| u64::from(transit.load)).sum();
        assert!(node.egress.balances(expected, load), "airtime and load of what {} has handed over", node.name);
    }
}

/// Checks that no node was busy for longer than the run, or sent for longer than it was busy. The channel was in use no
/// longer than all nodes together sent.
fn check_airtime(world: &World) {
    let covered = world.end.since(world.warmup);
    // A frame that is still being sent has been counted whole.
    let timing = &world.rules.timing;
    let frame = timing.duration(timing.basic, Bytes::new(65_535)) * 2;
    let mut sent = Duration::ZERO;
    for (index, node) in world.nodes.numbers().zip(world.nodes.iter()) {
        let busy = busy_time(world, index);
        assert!(busy <= covered, "{} was busy for {busy:?} of {covered:?}", node.name);
        assert!(node.record.airtime <= busy + frame, "{} sent for longer than it was busy", node.name);
        sent += node.record.airtime;
    }
    let on_air = world.medium.on_air_time(world.end);
    assert!(on_air <= covered && on_air <= sent + frame, "the channel was in use for {on_air:?}");
    debug_assert!(world.now >= Instant::ZERO + covered);
}
