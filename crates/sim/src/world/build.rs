//! From the description of a network to one that can run, refusing what cannot be meant.

use super::{BuildError, Event, Flow, Node, World};
use crate::config::{self, Network, RtsThreshold, Shape, TrafficKind};
use crate::engine::{Arena, EventQueue, Purpose, Stream};
use crate::mac::{BROADCAST, Conventions, Dcf};
use crate::net::{MOST_PAYLOAD, RouteError, Routes};
use crate::radio::{Links, Medium, Timing, TimingError};
use crate::record::{FlowRecord, Identity, NodeRecord, Recorder};
use crate::traffic::{Segment, Source};
use control::LimitController;
use units::{Duration, Instant, Length, Rate};

/// How many packets of a saturated flow wait at its source: one to hand over and one behind it.
const SATURATION: u32 = 2;

/// A node as described: name, place and own queue.
struct Site {
    name: String,
    position: [Length; 2],
    queue: Option<queue::Settings>,
}

pub(super) fn build(network: &Network, seed: u64) -> Result<World, BuildError> {
    if network.warmup >= network.duration {
        return Err(BuildError::new("warmup", "the warm-up is not shorter than the run"));
    }
    if network.record.series.is_some_and(Duration::is_zero) {
        return Err(BuildError::new("record.series", "the spacing of a series is above zero"));
    }
    let sites = sites(network)?;
    let rules = conventions(network)?;
    check_radio(&network.radio)?;
    let positions: Vec<_> = sites.iter().map(|site| site.position).collect();
    let medium = Medium::new(Links::new(&network.radio, &positions));
    let names: Vec<String> = sites.iter().map(|site| site.name.clone()).collect();
    let mut nodes = Vec::with_capacity(sites.len());
    for (index, site) in sites.iter().enumerate() {
        nodes.push(node(index, site, network, &rules, seed)?);
    }
    let flows = flows(network, &names, seed)?;
    let routes = routes(network, &names, &flows, &medium)?;
    check_delays(&names, &flows, (&routes, &medium), rules.timing.slot)?;
    let end = Instant::ZERO + network.duration;
    let recorder = network.record.series.map(|step| {
        let flows = flows.iter().map(|flow| flow.identity.name.clone());
        Recorder::new(step, flows, names.iter().cloned())
    });
    let mut world = World {
        now: Instant::ZERO,
        until: Instant::ZERO,
        end,
        warmup: Instant::ZERO + network.warmup,
        events: EventQueue::default(),
        handled: 0,
        medium,
        rules,
        nodes,
        flows,
        routes,
        packets: Arena::default(),
        broadcasts_in_air: 0,
        recorder,
        last_step: Instant::ZERO,
        trace: None,
    };
    world.prepare();
    Ok(world)
}

impl World {
    /// Puts the first events into the queue.
    fn prepare(&mut self) {
        for index in 0..self.nodes.len() {
            let node = u32::try_from(index).expect("fewer than 2^32 nodes");
            let interval = self.nodes[index].controller.interval();
            if interval < Duration::MAX {
                self.events.push(Instant::ZERO + interval, Event::Control { node });
            }
        }
        if let Some(recorder) = &self.recorder {
            self.events.push(Instant::ZERO + recorder.step, Event::Step);
        }
        if self.warmup > Instant::ZERO {
            self.events.push(self.warmup, Event::WarmedUp);
        }
        for index in 0..self.flows.len() {
            let flow = u32::try_from(index).expect("fewer than 2^32 flows");
            if let Some(source) = &self.flows[index].source {
                if let Some(time) = source.next_time() {
                    self.events.push(time, Event::Emit { flow });
                }
            } else {
                let from = self.flows[index].from;
                self.nodes[from as usize].saturated.push(flow);
                (0..SATURATION).for_each(|_| self.make_packet(flow));
            }
        }
        for node in 0..self.nodes.len() {
            self.serve(u32::try_from(node).expect("fewer than 2^32 nodes"));
        }
    }
}

/// All nodes: those placed by rule, then those placed one by one.
fn sites(network: &Network) -> Result<Vec<Site>, BuildError> {
    let mut sites: Vec<Site> = Vec::new();
    if let Some(placement) = &network.nodes {
        let count = placement.count;
        sites.extend((0..count).map(|index| Site {
            name: format!("n{index}"),
            position: position(placement.placement, index, count, placement.spacing.as_metres()),
            queue: None,
        }));
    }
    for node in &network.node {
        let path = format!("node.{}", node.name);
        if network.node.iter().filter(|other| other.name == node.name).count() > 1 {
            return Err(BuildError::new(path, format!("two nodes are called `{}`", node.name)));
        }
        if node.name.is_empty() || node.name == "*" || node.name == "broadcast" {
            return Err(BuildError::new(path, format!("a node cannot be called `{}`", node.name)));
        }
        match (sites.iter_mut().find(|site| site.name == node.name), node.position) {
            (Some(site), given) => {
                site.position = given.unwrap_or(site.position);
                site.queue.clone_from(&node.queue);
            }
            (None, Some(position)) => {
                sites.push(Site { name: node.name.clone(), position, queue: node.queue.clone() });
            }
            (None, None) => return Err(BuildError::new(path, format!("node `{}` has no position", node.name))),
        }
    }
    if sites.is_empty() {
        return Err(BuildError::new("", "there is no node: write `[nodes]` or `[[node]]`"));
    }
    Ok(sites)
}

/// Where the `index`-th of `count` nodes stands.
fn position(shape: Shape, index: u32, count: u32, spacing: f64) -> [Length; 2] {
    let (index, count) = (f64::from(index), f64::from(count));
    let [x, y] = match shape {
        Shape::Chain => [index * spacing, 0.0],
        Shape::Grid => {
            let columns = libm::ceil(libm::sqrt(count));
            let row = libm::floor(index / columns);
            [(index - row * columns) * spacing, row * spacing]
        }
        Shape::Circle if index < 0.5 => [0.0, 0.0],
        Shape::Circle => {
            let angle = 2.0 * core::f64::consts::PI * (index - 1.0) / (count - 1.0);
            [libm::cos(angle) * spacing, libm::sin(angle) * spacing]
        }
    };
    [Length::metres(x), Length::metres(y)]
}

/// Thresholds are given as powers or as ranges, not as both.
fn check_radio(radio: &config::Radio) -> Result<(), BuildError> {
    let both = [
        (radio.range.is_some() && radio.receive_threshold.is_some(), "range", "receive_threshold"),
        (
            radio.carrier_sense_range.is_some() && radio.carrier_sense_threshold.is_some(),
            "carrier_sense_range",
            "carrier_sense_threshold",
        ),
    ];
    for (given, one, other) in both {
        if given {
            return Err(BuildError::new(format!("radio.{other}"), format!("give `{one}` or `{other}`, not both")));
        }
    }
    let lengths = [
        ("range", radio.range),
        ("carrier_sense_range", radio.carrier_sense_range),
        ("antenna_height", radio.antenna_height),
    ];
    for (key, length) in lengths {
        if length.is_some_and(|length| length.as_metres() <= 0.0) {
            return Err(BuildError::new(format!("radio.{key}"), format!("`{key}` must be above zero")));
        }
    }
    if radio.path_loss_exponent.is_some_and(|exponent| !(exponent > 0.0 && exponent.is_finite())) {
        return Err(BuildError::new("radio.path_loss_exponent", "`path_loss_exponent` must be above zero"));
    }
    if radio.frequency.is_some_and(|frequency| frequency.as_hertz() == 0) {
        return Err(BuildError::new("radio.frequency", "`frequency` must be above zero"));
    }
    Ok(())
}

fn conventions(network: &Network) -> Result<Conventions, BuildError> {
    let mac = &network.mac;
    let timing = Timing::new(&network.radio).map_err(|error| match error {
        TimingError::NoShortPreamble => {
            BuildError::new("radio.preamble", "the short preamble belongs to 802.11b; leave `preamble` out")
        }
        TimingError::NoSuchRate { key, rates } => {
            let rates: Vec<String> = rates.iter().map(|&rate| Rate::kbps(rate).to_string()).collect();
            BuildError::new(key, format!("the standard has no such rate; it has {}", rates.join(", ")))
        }
    })?;
    let limits = [("short_retry_limit", mac.short_retry_limit), ("long_retry_limit", mac.long_retry_limit)];
    for (key, limit) in limits {
        if limit == Some(0) {
            return Err(BuildError::new(format!("mac.{key}"), format!("`{key}` counts attempts: at least 1")));
        }
    }
    let cw_min = mac.cw_min.unwrap_or(timing.cw_min);
    let cw_max = mac.cw_max.unwrap_or(timing.cw_max.max(cw_min));
    if cw_min > cw_max {
        return Err(BuildError::new("mac.cw_max", format!("`cw_max` is below `cw_min` ({cw_min})")));
    }
    Ok(Conventions {
        timing,
        cw_min,
        cw_max,
        // dot11ShortRetryLimit and dot11LongRetryLimit have these defaults (IEEE 802.11-2016, annex C).
        short_retry_limit: mac.short_retry_limit.unwrap_or(7),
        long_retry_limit: mac.long_retry_limit.unwrap_or(4),
        rts_threshold: match mac.rts_threshold {
            RtsThreshold::Off => None,
            RtsThreshold::Above(bytes) => Some(bytes),
        },
        eifs: mac.eifs,
        timeout_deferral: mac.timeout_deferral,
    })
}

fn node(index: usize, site: &Site, network: &Network, rules: &Conventions, seed: u64) -> Result<Node, BuildError> {
    let settings = site.queue.as_ref().unwrap_or(&network.queue);
    let (queue, controller) = settings.build().map_err(|invalid| {
        let table = if site.queue.is_some() { format!("node.{}.queue", site.name) } else { "queue".to_owned() };
        BuildError::new(format!("{table}.{}", invalid.parameter), format!("`{}` {}", invalid.parameter, invalid.why))
    })?;
    let address = u32::try_from(index).map_err(|_| BuildError::new("nodes.count", "there are too many nodes"))?;
    let random = Stream::new(seed, &site.name, Purpose::Backoff);
    Ok(Node {
        name: site.name.clone(),
        station: Dcf::new(address, rules, random),
        armed: Instant::NEVER,
        queue,
        controller,
        saturated: Vec::new(),
        record: NodeRecord::default(),
    })
}

fn flows(network: &Network, names: &[String], seed: u64) -> Result<Vec<Flow>, BuildError> {
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

fn routes(
    network: &Network,
    names: &[String],
    flows: &[Flow],
    medium: &Medium<crate::mac::Frame>,
) -> Result<Routes, BuildError> {
    let count = u32::try_from(names.len()).expect("nodes were counted before");
    // In the scenario's order, so that ties between routes do not depend on distances.
    let neighbours: Vec<Vec<u32>> = (0..count)
        .map(|node| {
            let mut reached: Vec<u32> = medium.neighbours(node).collect();
            reached.sort_unstable();
            reached
        })
        .collect();
    let by_hand = paths_by_hand(network, names)?;
    let mut routes = Routes::default();
    for flow in flows {
        if flow.to == BROADCAST {
            routes.add(&[]);
            continue;
        }
        let name = |node: u32| &names[node as usize];
        let given = by_hand.iter().find(|path| (path.first(), path.last()) == (Some(&flow.from), Some(&flow.to)));
        let path = match given {
            Some(path) => Routes::check(&neighbours, path).map(|()| path.clone()),
            None => Routes::shortest(&neighbours, flow.from, flow.to),
        };
        let path = path.map_err(|error| match error {
            RouteError::Unreachable => {
                let (from, to) = (name(flow.from), name(flow.to));
                let message = format!("no route from `{from}` to `{to}`: no chain of nodes within range of each other");
                BuildError::new(format!("flow.{}.to", flow.identity.name), message)
            }
            RouteError::TooFar { from, to } => {
                let message = format!("`{}` and `{}` are not within range of each other", name(from), name(to));
                BuildError::new("routing.route", message)
            }
            RouteError::Twice { node } => {
                BuildError::new("routing.route", format!("the path comes by `{}` twice", name(node)))
            }
        })?;
        routes.add(&path);
    }
    Ok(routes)
}

/// A response must begin within the time-out, which has a slot for the way there and back (10.3.2.9). Over a longer hop
/// every packet would be given up; and beyond the whole time-out, before it has arrived.
fn check_delays(
    names: &[String],
    flows: &[Flow],
    (routes, medium): (&Routes, &Medium<crate::mac::Frame>),
    slot: Duration,
) -> Result<(), BuildError> {
    for (flow, index) in flows.iter().zip(0..) {
        for &(from, to) in routes.hops(index) {
            let delay = medium.delay(from, to).expect("routes go over links");
            if delay * 2 > slot {
                let [from, to] = [from, to].map(|node| &names[node as usize]);
                let message = format!(
                    "`{from}` and `{to}` are too far apart: an answer takes {} longer by distance, a slot is {slot}",
                    delay * 2
                );
                return Err(BuildError::new(format!("flow.{}.to", flow.identity.name), message));
            }
        }
    }
    Ok(())
}

/// The paths given by hand, ends included.
fn paths_by_hand(network: &Network, names: &[String]) -> Result<Vec<Vec<u32>>, BuildError> {
    let find = |name: &String| match names.iter().position(|known| known == name) {
        Some(index) => Ok(u32::try_from(index).expect("nodes were counted before")),
        None => Err(BuildError::unknown_node("routing.route", name, names.to_vec())),
    };
    network
        .routing
        .route
        .iter()
        .map(|route| std::iter::once(&route.from).chain(&route.via).chain([&route.to]).map(find).collect())
        .collect()
}
