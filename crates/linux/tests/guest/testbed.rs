//! ADTH's testbed on a real kernel: runs of a plan that `tests/live/testbed.py` makes from the scenarios `adth-e1`,
//! `e3`, `e4` and `e6`, and leaves in /tmp/plan.jsonl. Each run prints its measurements as a line of JSON.

use super::chain::{Chain, at, inside, install_at};
use super::medium::{FASTEST, draw};
use super::{load, now, pause_until};
use control::{AnyController, Controller as _, Interval, Limit};
use linux::device::bpf::{Credit, Discipline, Mechanism, Slot};
use linux::{Place, Wish};
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use units::{Duration, Instant};

/// Bytes by which a mesh frame is longer than an ad hoc one: two addresses less, mesh control and `QoS` more. Payloads
/// are shorter by it, so that frames have the scenario's length on the air.
const MESH: usize = 14;
const LARGEST: usize = 1_518;
const PORT: u16 = 4_100;

#[derive(Deserialize)]
struct Plan {
    scenario: String,
    case: Value,
    seed: u64,
    seconds: u64,
    nodes: Vec<NodePlan>,
    flows: Vec<FlowPlan>,
}

#[derive(Deserialize)]
struct NodePlan {
    name: String,
    queue: queue::Settings,
}

#[derive(Deserialize)]
struct FlowPlan {
    name: String,
    from: usize,
    to: usize,
    /// Rates, one after another, each for `every_s` seconds.
    rates_bps: Vec<f64>,
    every_s: f64,
    /// Shortest and longest packet; this many bytes are headers.
    frame_bytes: [u64; 2],
    overhead_bytes: usize,
    jitter_s: f64,
    deadline_s: f64,
}

/// A node's queue, its controller, and sums of measurements.
struct Station {
    slot: Slot,
    controller: AnyController,
    limit: Limit,
    next: Instant,
    seen: Interval,
    backlog_max: u64,
    /// Sums of seconds, and their counts.
    sojourn: (f64, u64),
    service: (f64, u64),
    /// Packets times seconds.
    limits: f64,
}

impl Station {
    fn new(discipline: &Discipline, node: usize, plan: &NodePlan) -> Self {
        let settings = &plan.queue;
        let mechanism = Mechanism::of(&Wish::new(Place::default(), settings.clone())).unwrap();
        let controller = settings.build_controller(0).unwrap();
        let mut slot = discipline.free_slot(mechanism, controller.needs().measures, now()).unwrap();
        discipline.release_by(&mut slot, Some(Credit::default())).unwrap();
        install_at(node, &mut slot);
        let (seen, backlog_max, sojourn, service, limits) = Default::default();
        Self { slot, controller, limit: settings.limit, next: now(), seen, backlog_max, sojourn, service, limits }
    }

    fn begin(&mut self) {
        self.slot.take_interval(now()).unwrap();
        self.next = now() + self.interval();
    }

    fn interval(&self) -> Duration {
        self.controller.needs().interval.min(Duration::from_secs(1))
    }

    fn turn(&mut self) {
        let interval = self.look();
        self.limit = self.controller.update(&interval.into()).limit;
        self.slot.set_limit(self.limit).unwrap();
        // A late turn does not make the next one earlier.
        self.next = now() + self.interval();
    }

    fn look(&mut self) -> Interval {
        let interval = self.slot.take_interval(now()).unwrap();
        self.seen.arrived.packets += interval.arrived.packets;
        self.seen.sent.packets += interval.sent.packets;
        self.seen.dropped.packets += interval.dropped.packets;
        self.backlog_max = self.backlog_max.max(interval.backlog_max);
        for (sum, stat) in [(&mut self.sojourn, interval.sojourn), (&mut self.service, interval.service)] {
            *sum = (sum.0 + stat.mean.as_secs_f64() * stat.n as f64, sum.1 + stat.n);
        }
        let Limit::Packets(limit) = self.limit else { unreachable!("the plan's limits are packets") };
        self.limits += f64::from(limit) * interval.length.as_secs_f64();
        interval
    }

    fn told(&self, plan: &NodePlan, seconds: f64) -> Value {
        let mean = |(sum, n): (f64, u64)| sum / n.max(1) as f64;
        json!({
            "name": plan.name,
            "controller": plan.queue.controller.as_str(),
            "target_s": self.controller.target_delay().map(Duration::as_secs_f64),
            "arrived": self.seen.arrived.packets, "sent": self.seen.sent.packets, "dropped": self.seen.dropped.packets,
            "backlog_max": self.backlog_max, "limit_mean": self.limits / seconds,
            "sojourn_mean_s": mean(self.sojourn), "service_mean_s": mean(self.service),
        })
    }
}

/// Result of a flow: send time, arrival time, and the scenario's payload of each packet.
type Came = Vec<(Instant, Instant, usize)>;

struct Source {
    socket: UdpSocket,
    next: Instant,
    begin: Instant,
    sent: u64,
}

fn receive(node: usize, port: u16, enough: &Arc<AtomicBool>) -> JoinHandle<Came> {
    let socket = inside(node, || UdpSocket::bind(("0.0.0.0", port)).unwrap());
    socket.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    let enough = Arc::clone(enough);
    spawn(move || {
        let (mut came, mut packet) = (Came::new(), [0; LARGEST]);
        while !enough.load(Ordering::Relaxed) {
            if let Ok(length) = socket.recv(&mut packet) {
                let sent = Instant::from_nanos(u64::from_be_bytes(packet[..8].try_into().unwrap()));
                came.push((sent, now(), length + MESH));
            }
        }
        came
    })
}

impl FlowPlan {
    /// Sends a packet; the next follows after the time that the rate gives it.
    fn send(&self, source: &mut Source, draws: &mut u64) {
        let [least, most] = self.frame_bytes;
        let frame = usize::try_from(least + draw(draws, most - least)).unwrap();
        let mut packet = [0; LARGEST];
        packet[..8].copy_from_slice(&now().as_nanos().to_be_bytes());
        source.socket.send(&packet[..frame - self.overhead_bytes - MESH]).unwrap();
        source.sent += 1;
        let step = source.next.since(source.begin).div_floor(Duration::from_secs_f64(self.every_s));
        let rate = self.rates_bps[usize::try_from(step).unwrap().min(self.rates_bps.len() - 1)];
        source.next += Duration::from_secs_f64(frame as f64 * 8.0 / rate);
    }

    fn told(&self, source: &Source, came: &[(Instant, Instant, usize)], run: Duration) -> Value {
        let delays: Vec<f64> = came.iter().map(|(sent, at, _)| at.since(*sent).as_secs_f64()).collect();
        let bytes: usize = came.iter().map(|(_, _, length)| length).sum();
        json!({
            "name": self.name, "sent": source.sent, "received": came.len(),
            "late": delays.iter().filter(|delay| **delay > self.deadline_s).count(),
            "goodput_bps": bytes as f64 * 8.0 / run.as_secs_f64(),
            "delay_mean_s": delays.iter().sum::<f64>() / delays.len().max(1) as f64,
            "delay_max_s": delays.iter().copied().fold(0.0, f64::max),
            "deadline_s": self.deadline_s,
        })
    }
}

/// Makes one run of the plan on a chain.
fn run(plan: &Plan) -> Value {
    let discipline = load();
    let mut stations: Vec<Station> =
        plan.nodes.iter().enumerate().map(|(node, of_node)| Station::new(&discipline, node, of_node)).collect();
    let (enough, mut draws, length) = (Arc::new(AtomicBool::new(false)), plan.seed, Duration::from_secs(plan.seconds));
    let port = |flow: usize| PORT + u16::try_from(flow).unwrap();
    let sinks: Vec<JoinHandle<Came>> =
        plan.flows.iter().enumerate().map(|(number, flow)| receive(flow.to, port(number), &enough)).collect();
    let start = now() + Duration::from_millis(50);
    let end = start + length;
    let mut sources: Vec<Source> = Vec::new();
    for (number, flow) in plan.flows.iter().enumerate() {
        let socket = inside(flow.from, || UdpSocket::bind("0.0.0.0:0").unwrap());
        socket.connect((format!("10.8.0.{}", flow.to + 1), port(number))).unwrap();
        let jitter = Duration::from_secs_f64(flow.jitter_s * draw(&mut draws, 1_000) as f64 / 1_000.0);
        sources.push(Source { socket, next: start + jitter, begin: start + jitter, sent: 0 });
    }
    pause_until(start);
    stations.iter_mut().for_each(Station::begin);
    loop {
        for (flow, source) in plan.flows.iter().zip(&mut sources) {
            if source.next <= now() {
                flow.send(source, &mut draws);
            }
        }
        for station in stations.iter_mut().filter(|station| station.next <= now()) {
            station.turn();
        }
        let next = sources.iter().map(|source| source.next).chain(stations.iter().map(|station| station.next)).min();
        let next = next.expect("there are flows");
        if next >= end {
            break;
        }
        pause_until(next);
    }
    pause_until(end);
    for station in &mut stations {
        station.look();
    }
    enough.store(true, Ordering::Relaxed);
    let came: Vec<Came> = sinks.into_iter().map(|sink| sink.join().unwrap()).collect();
    for node in 0..plan.nodes.len() {
        at(node, &format!("tc qdisc del dev wlan{node} root"));
    }
    discipline.unload().unwrap();
    // What the radios still have leaves.
    pause_until(now() + Duration::from_millis(500));
    let in_time = |came: Came| came.into_iter().filter(|(sent, at, _)| *sent >= start && *at < end).collect::<Came>();
    let flows: Vec<Value> = (plan.flows.iter().zip(&sources).zip(came))
        .map(|((flow, source), came)| flow.told(source, &in_time(came), length))
        .collect();
    let nodes: Vec<Value> =
        plan.nodes.iter().zip(&stations).map(|(node, station)| station.told(node, length.as_secs_f64())).collect();
    json!({
        "scenario": plan.scenario, "case": plan.case, "seed": plan.seed, "seconds": plan.seconds, "flows": flows, "nodes": nodes,
    })
}

#[test]
#[ignore = "for a table"]
fn runs_of_a_plan() {
    std::fs::write("/proc/sys/net/core/rmem_default", "4194304").unwrap();
    std::fs::write("/proc/sys/net/core/wmem_default", "16777216").unwrap();
    let text = std::fs::read_to_string("/tmp/plan.jsonl").unwrap();
    let plans: Vec<Plan> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let nodes = plans[0].nodes.len();
    let chain = Chain::of(nodes, FASTEST);
    for plan in &plans {
        assert_eq!(plan.nodes.len(), nodes, "a plan has one chain");
        println!("\nFIGURES {}", run(plan));
    }
    chain.end();
}
