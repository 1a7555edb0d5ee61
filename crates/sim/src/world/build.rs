//! Builds a runnable network from its description. Refuses descriptions that are not valid.

use super::basis::Basis;
use super::error::BuildError;
use super::flows::connections::Connections;
use super::flows::{self, Flow, Supply};
use super::frames::conventions;
use super::nodes::generations::Generations;
use super::nodes::infrastructure::Infrastructure;
use super::nodes::{self, Node, channels, motion, port_names, roaming, sites};
use super::notes::Posted;
use super::roaming::Roaming;
use super::routing::{self, Routing};
use super::state::{Event, World};
use super::{radio, tmac};
use crate::config::Network;
use crate::engine::{Arena, EventQueue, List, NodeId};
use crate::mac::Conventions;
use crate::motion::{Motion, Presence};
use crate::radio::{Ends, Judge, Links, Medium};
use crate::record::{Distances, Overflows, Recorder};
use control::Controller as _;
use std::collections::VecDeque;
use units::{Duration, Instant, Length};

pub(super) fn build(network: &Network, seed: u64) -> Result<World, BuildError> {
    let network = &*network.of_generations();
    check_times(network)?;
    let mut sites = sites::sites(network, seed)?;
    let families = roaming::families(&mut sites)?;
    let mut rules = conventions::conventions(network)?;
    let generations = Generations::new(network, &sites)?;
    rules.formats = generations.formats();
    tmac::set_rules(network, &mut rules)?;
    let asks = rules.rts_threshold.is_some() || rules.tmac.as_ref().is_some_and(|tmac| tmac.requests);
    network.mac.marks.read_where(&[(asks, &["long_retry_limit", "answer_rts"])]);
    radio::check_radio(&network.radio)?;
    let infrastructure = Infrastructure::new(network, &sites, &families)?;
    let motion = motion::motion(network, infrastructure.with_radio(&sites), &families, seed)?;
    let names: Vec<String> = sites.iter().map(|site| site.name.clone()).collect();
    let (infrastructure, generations) = (&infrastructure, &generations);
    let basis = Basis { network, sites: &sites, names: &names, infrastructure, generations, rules: &rules, seed };
    let bands = channels::bands(&basis)?;
    let extended = generations.extend(network);
    let ends = radio::ends(network, infrastructure.with_radio(&sites))?;
    let noise = ends.as_ref().and_then(Ends::noise);
    radio::check_rooms(&network.radio, motion.top_speed > 0.0 || !motion.changes.is_empty())?;
    // A roaming station has the same shadowing at each access point.
    let channel = radio::channel(&network.radio, &roaming::alike(&names, &families), seed)?
        .extended(extended)
        .tuned(bands.as_deref().unwrap_or_default())
        .between(ends);
    let (motion, turns) = roaming::turns(network, (&sites, &families), motion, &channel)?;
    let distances = distances(network, &motion)?;
    let presence = (0..).map_while(|node| motion.presence(node).cloned()).collect::<Vec<_>>();
    let links = Links::new(&channels::radio(network), motion, &channel);
    let judge = Judge::new(&channel, &links.reception, &names, generations.ldpc(network, names.len()), seed);
    let mut medium = Medium::new(links, judge);
    if rules.shares_downlink() {
        medium.expect_parts();
    }
    if extended {
        medium.extend_range();
    }
    if let Some(noise) = noise {
        medium.hear_noise(noise);
    }
    if let Some(standards) = generations.standards() {
        medium.tell_apart(standards);
    }
    if let Some(bands) = bands {
        let reuse = channels::reuse(&basis)?;
        medium.tune(bands, rules.timing.sifs + rules.timing.slot, reuse);
    }
    infrastructure.check_range(&names, &medium, generations, network)?;
    let nodes = nodes::build::nodes(&basis)?;
    if rules.shares_downlink() {
        conventions::check_sharing(&nodes, &basis)?;
    }
    let flows = flows::build::flows(&basis, &medium)?;
    let routing = routing::build::routing(&basis, &nodes, &flows, &medium)?;
    let mut roaming = Roaming::new(&families, turns, nodes.len());
    roaming.add_ways(&flows, &infrastructure.neighbours(&medium), &names)?;
    let finds = !matches!(routing, Routing::Static(_));
    let recorder = recorder(network, &flows, &nodes, &rules, finds);
    let broadcasts = network.flow.iter().any(|flow| flow.to == "broadcast");
    network.marks.read_where(&[(broadcasts, &["record.reception"]), (finds, &["record.hops"])]);
    let overheard = rules.tmac.is_some() || routing.overhears();
    let mut world = World {
        now: Instant::ZERO,
        until: Instant::ZERO,
        end: Instant::ZERO + network.duration,
        warmup: Instant::ZERO + network.warmup,
        events: EventQueue::default(),
        handled: 0,
        medium,
        rules,
        wires: infrastructure.wires(network, &nodes, seed).into(),
        nodes,
        flows: flows.into(),
        routing,
        roaming,
        packets: Arena::default(),
        connections: Connections::default(),
        posted: Posted::default(),
        asked: Vec::new(),
        arrivals: VecDeque::new(),
        statuses: VecDeque::new(),
        broadcasts_in_air: 0,
        recorder,
        record: network.record.clone(),
        distances,
        overflows: network.record.overflows.map(|within| Box::new(Overflows::new(within, sites.len()))),
        last_step: Instant::ZERO,
        watch: None,
        overheard,
        frequency: network.radio.carrier(),
        purged: Vec::new(),
        numbered: Vec::new(),
        laid_out: Vec::new(),
        sharers: Vec::new(),
        done_with: Vec::new(),
    };
    world.come_and_go(presence);
    world.prepare();
    Ok(world)
}

fn check_times(network: &Network) -> Result<(), BuildError> {
    if network.warmup >= network.duration {
        return Err(BuildError::new("warmup", "the warm-up must be shorter than the run"));
    }
    if network.record.series.is_some_and(Duration::is_zero) {
        return Err(BuildError::new("record.series", "the spacing of a series must be above zero"));
    }
    Ok(())
}

/// Returns the recorder of time series, if any are requested. `finds`: a routing protocol searches for routes.
fn recorder(
    network: &Network,
    flows: &[Flow],
    nodes: &List<NodeId, Node>,
    rules: &Conventions,
    finds: bool,
) -> Option<Recorder> {
    let step = network.record.series?;
    let flows = flows.iter().filter(|flow| flow.role.is_described()).map(|flow| flow.identity.name.clone());
    let mut recorder = Recorder::new(step, network.duration, flows, port_names(nodes, rules).into_iter());
    if finds {
        recorder.follow_routes(nodes.len());
    }
    Some(recorder)
}

/// Largest number of distance classes in a run.
const MOST_CLASSES: f64 = 10_000.0;

/// Returns the record of distances between nodes if receptions are recorded by distance.
fn distances(network: &Network, motion: &Motion) -> Result<Option<Box<Distances>>, BuildError> {
    let Some(width) = network.record.reception else { return Ok(None) };
    let least = motion.extent() / MOST_CLASSES;
    if width.as_metres() < least {
        let message = format!("distance classes must be at least {} wide", Length::metres(least.ceil()));
        return Err(BuildError::new("record.reception", message));
    }
    Ok(Some(Box::new(Distances { motion: motion.clone(), width })))
}

impl World {
    /// Schedules when nodes begin and cease to be present.
    fn come_and_go(&mut self, presence: Vec<Presence>) {
        for (node, presence) in self.nodes.numbers().zip(presence).collect::<Vec<_>>() {
            self.nodes[node].absent = !presence.at(Instant::ZERO);
            for change in presence.changes().filter(|&change| change > Instant::ZERO) {
                self.events.push(change, Event::Presence { node });
            }
        }
    }

    /// Schedules the first events.
    fn prepare(&mut self) {
        for node in self.nodes.numbers() {
            for port in self.nodes[node].egress.ports.numbers() {
                let described = &self.nodes[node].egress.ports[port];
                let begin = described.controller.begin();
                if let Some(interval) = described.interval() {
                    self.events.push(Instant::ZERO + interval, Event::Control { node, port });
                }
                if let Some(due) = self.nodes[node].obey(port, &begin, Instant::ZERO, &self.rules) {
                    self.events.push(due, Event::Note { node });
                }
            }
            self.tell(node, |_, _| ());
        }
        if let Some(recorder) = &self.recorder {
            self.events.push(Instant::ZERO + recorder.step, Event::Step);
        }
        if self.warmup > Instant::ZERO {
            self.events.push(self.warmup, Event::WarmedUp);
        }
        for flow in self.flows.numbers() {
            match &self.flows[flow].supply {
                Supply::Source(source) => {
                    if let Some(packet) = source.next() {
                        self.events.push(packet.at, Event::Emit { flow });
                    }
                }
                &Supply::Saturated { start, stop, .. } if start < stop => {
                    if start == Instant::ZERO {
                        self.fill(flow);
                    } else {
                        self.events.push(start, Event::Saturate { flow });
                    }
                    if stop < self.end {
                        self.events.push(stop, Event::Cease { flow });
                    }
                }
                Supply::Transfers { transfers, .. } => {
                    if let Some(at) = transfers.next() {
                        self.events.push(at, Event::Emit { flow });
                    }
                    if let Some(stop) = transfers.ceases().filter(|&stop| stop < self.end) {
                        self.events.push(stop, Event::Cease { flow });
                    }
                }
                Supply::Saturated { .. } | Supply::Outside(_) | Supply::Answers { .. } => {}
            }
        }
        for node in self.nodes.numbers() {
            if let Some(power) = &mut self.nodes[node].power_save {
                self.events.push(power.begin(), Event::PowerSave { node });
            }
        }
        for node in self.nodes.numbers() {
            self.serve(node);
        }
    }
}
