//! ADTH's testbed on a real kernel. It prints a scenario's plan for the guest of `tests/live`, and judges the
//! scenario's claims on the measurements there, and on simulated runs. `tests/live/testbed.py` calls both.
//!
//! `cargo run -p sluice-lab --example testbed -- plan SCENARIO SEEDS SECONDS [AXIS=LABEL|LABEL...]...`
//! `cargo run -p sluice-lab --example testbed -- judge SCENARIO MEASURED SIMULATED`: files with one run per line

use experiment::claims;
use experiment::scenario::{Case, Scenario, Wishes};
use experiment::study::{Extent, Run, Verdict};
use lab::files;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sim::config::{Lengths, Load, LoadRange};
use sim::results::{Flow, Level, Mac, Node, Outcome, QueueResult, Times, Totals};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use units::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["plan", file, seeds, seconds, ref chosen @ ..] => plan(file, seeds.parse()?, seconds.parse()?, chosen),
        ["judge", file, measured, simulated] => judge(file, measured, simulated),
        _ => Err(
            "usage: testbed plan SCENARIO SEEDS SECONDS [AXIS=LABEL|LABEL...]... | judge SCENARIO MEASURED SIMULATED"
                .into(),
        ),
    }
}

fn load(file: &str) -> Result<Scenario, Box<dyn Error>> {
    let wishes = Wishes::default();
    Ok(files::load(Path::new(file), &wishes)?)
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn say(line: &serde_json::Value) {
    println!("{line}");
}

/// Prints a line for each run: the nodes' queues in their order along the chain, and the flows.
fn plan(file: &str, seeds: u64, seconds: u64, chosen: &[&str]) -> Result<(), Box<dyn Error>> {
    let scenario = load(file)?;
    let chosen: Vec<(&str, Vec<&str>)> = chosen
        .iter()
        .map(|word| word.split_once('=').map(|(axis, labels)| (axis, labels.split('|').collect())))
        .collect::<Option<_>>()
        .ok_or("a choice is AXIS=LABEL|LABEL")?;
    for (axis, labels) in &chosen {
        let known = scenario.axes.iter().find(|known| known.name == *axis).ok_or_else(|| format!("no axis {axis}"))?;
        for label in labels {
            known.labels.iter().find(|known| known == label).ok_or_else(|| format!("no {label} of {axis}"))?;
        }
    }
    let wanted = |case: &&Case| chosen.iter().all(|(axis, labels)| labels.contains(&case.labels[*axis].as_str()));
    for case in scenario.cases.iter().filter(wanted) {
        for seed in 1..=seeds {
            say(&entry(&scenario.id, case, seed, seconds)?);
        }
    }
    Ok(())
}

fn entry(id: &str, case: &Case, seed: u64, seconds: u64) -> Result<serde_json::Value, Box<dyn Error>> {
    let network = &case.network;
    let place = |name: &str| network.node.iter().position(|node| node.name == name);
    let nodes = network
        .node
        .iter()
        .map(|node| json!({ "name": node.name, "queue": node.queue.as_ref().unwrap_or(&network.queue) }));
    let flow = |flow: &sim::config::Flow| -> Option<serde_json::Value> {
        let every = match &flow.traffic.rate {
            Some(Load::Drawn(LoadRange { every: Some(every), .. })) => *every,
            _ => Duration::from_secs(seconds),
        };
        let steps = Duration::from_secs(seconds).div_floor(every) + 1;
        let rates: Vec<f64> = match flow.traffic.rate.as_ref()? {
            Load::One(rate) => vec![rate.as_bps() as f64; usize::try_from(steps).ok()?],
            Load::Drawn(range) => {
                let rates = range.rates(seed, &flow.name).map(|rate| rate.as_bps() as f64);
                rates.take(usize::try_from(steps).ok()?).collect()
            }
        };
        let (from, to) = match flow.traffic.packet.as_ref()? {
            Lengths::One(length) => (*length, *length),
            Lengths::Between(range) => (range.from, range.to),
            Lengths::Any(_) => return None,
        };
        Some(json!({
            "name": flow.name, "from": place(&flow.from)?, "to": place(&flow.to)?, "rates_bps": rates,
            "every_s": every.as_secs_f64(), "frame_bytes": [from.count(), to.count()],
            "overhead_bytes": flow.traffic.overhead?.count(), "jitter_s": flow.phase_jitter.as_secs_f64(),
            "deadline_s": flow.deadline?.as_secs_f64(),
        }))
    };
    let flows: Option<Vec<_>> = network.flow.iter().map(flow).collect();
    let flows = flows.ok_or("a flow that the guest does not know how to send")?;
    let nodes: Vec<_> = nodes.collect();
    Ok(json!({ "scenario": id, "case": case.labels, "seed": seed, "seconds": seconds, "nodes": nodes, "flows": flows }))
}

/// A run, as the guest reports it.
#[derive(Deserialize)]
struct Measured {
    scenario: String,
    case: BTreeMap<String, String>,
    seed: u64,
    seconds: f64,
    flows: Vec<MeasuredFlow>,
    nodes: Vec<MeasuredNode>,
}

#[derive(Deserialize)]
struct MeasuredFlow {
    name: String,
    sent: u64,
    received: u64,
    late: u64,
    goodput_bps: f64,
    delay_mean_s: f64,
    delay_max_s: f64,
    deadline_s: f64,
}

#[derive(Deserialize)]
struct MeasuredNode {
    name: String,
    controller: String,
    target_s: Option<f64>,
    arrived: u64,
    sent: u64,
    dropped: u64,
    backlog_max: f64,
    limit_mean: f64,
    sojourn_mean_s: f64,
    service_mean_s: f64,
}

impl Measured {
    /// Converts the run to the form of a simulated one. Values that were not measured are zero; no claim uses them.
    fn run(self) -> Run {
        let ratio = |part: u64, all: u64| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        let sum = |of: fn(&MeasuredFlow) -> u64| self.flows.iter().map(of).sum::<u64>();
        let (sent, received, late) = (sum(|flow| flow.sent), sum(|flow| flow.received), sum(|flow| flow.late));
        let totals = Totals {
            goodput_bps: self.flows.iter().map(|flow| flow.goodput_bps).sum(),
            loss_ratio: 1.0 - ratio(received, sent),
            deadline_miss_ratio: ratio(late, received),
            data_yield: ratio(received - late, sent),
            ..Totals::default()
        };
        let flow = |flow: MeasuredFlow| Flow {
            name: flow.name,
            kind: "cbr".into(),
            sent_packets: flow.sent,
            received_packets: flow.received,
            goodput_bps: flow.goodput_bps,
            loss_ratio: 1.0 - ratio(flow.received, flow.sent),
            delay_s: times(flow.delay_mean_s, flow.delay_max_s),
            deadline_s: Some(flow.deadline_s),
            deadline_miss_ratio: ratio(flow.late, flow.received),
            deadline_use_ratio: flow.delay_max_s / flow.deadline_s,
            data_yield: ratio(flow.received - flow.late, flow.sent),
            ..Flow::default()
        };
        let flows = self.flows.into_iter().map(flow).collect();
        let nodes = self.nodes.into_iter().map(MeasuredNode::node).collect();
        let outcome = Outcome { simulated_s: self.seconds, flows, nodes, totals, ..Outcome::default() };
        Run { scenario: self.scenario, seed: self.seed, case: self.case, outcome, ..Run::default() }
    }
}

fn times(mean: f64, max: f64) -> Times {
    Times { mean, max, ..Times::default() }
}

impl MeasuredNode {
    fn node(self) -> Node {
        let queue = QueueResult {
            name: "be".into(),
            controller: self.controller,
            arrived_packets: self.arrived,
            sent_packets: self.sent,
            dropped_packets: self.dropped,
            limit_packets: Some(Level { mean: self.limit_mean, ..Level::default() }),
            backlog_packets: Level { max: self.backlog_max, ..Level::default() },
            sojourn_s: times(self.sojourn_mean_s, 0.0),
            target_delay_s: self.target_s,
            ..QueueResult::default()
        };
        let mac = Mac { service_s: times(self.service_mean_s, 0.0), ..Mac::default() };
        Node { name: self.name, queues: vec![queue], mac, ..Node::default() }
    }
}

/// Prints a line for each claim that these runs decide: the verdict on the measured runs, and that on the simulated
/// runs of the same cases.
fn judge(file: &str, measured: &str, simulated: &str) -> Result<(), Box<dyn Error>> {
    let scenario = load(file)?;
    let measured: Vec<Run> = lines(measured)?
        .map(|line| Ok(serde_json::from_str::<Measured>(&line)?.run()))
        .collect::<Result<_, serde_json::Error>>()?;
    let simulated: Vec<Run> = lines(simulated)?.map(|line| serde_json::from_str(&line)).collect::<Result<_, _>>()?;
    for ours in &measured {
        let twin = simulated.iter().find(|run| run.case == ours.case && run.seed == ours.seed);
        is_offered_alike(ours, twin.ok_or_else(|| format!("{:?} was not simulated", ours.case))?)?;
    }
    let measured = verdicts(&scenario, measured, &[]);
    let cases = measured.1;
    let simulated = verdicts(&scenario, simulated, &cases).0;
    for (ours, theirs) in measured.0.iter().zip(&simulated) {
        if ours.measured.is_nan() || theirs.measured.is_nan() {
            continue;
        }
        say(&json!(Row { measured: ours, simulated: theirs }));
    }
    Ok(())
}

/// Refuses runs that cannot be compared because their offered loads differ. Measurement and simulation draw packet
/// lengths separately, so the packets of a run of some seconds differ by a few per cent.
fn is_offered_alike(measured: &Run, simulated: &Run) -> Result<(), String> {
    for (ours, theirs) in measured.outcome.flows.iter().zip(&simulated.outcome.flows) {
        let (here, there) = (ours.sent_packets, theirs.sent_packets);
        if here.abs_diff(there) * 10 > there {
            return Err(format!("{}, {:?}: {here} packets measured, {there} simulated", ours.name, measured.case));
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Row<'a> {
    measured: &'a Verdict,
    simulated: &'a Verdict,
}

/// Returns the verdicts on all claims that runs of these cases (or of all cases) decide, and the cases. All of them
/// have the seeds of the first.
fn verdicts(
    scenario: &Scenario,
    runs: Vec<Run>,
    cases: &[BTreeMap<String, String>],
) -> (Vec<Verdict>, Vec<BTreeMap<String, String>>) {
    let order = |run: &Run| (scenario.cases.iter().position(|case| case.labels == run.case), run.seed);
    let mut runs: Vec<Run> = runs.into_iter().filter(|run| cases.is_empty() || cases.contains(&run.case)).collect();
    runs.sort_by_key(order);
    let first = runs.first().map(|run| run.case.clone()).unwrap_or_default();
    let seeds: Vec<u64> = runs.iter().filter(|run| run.case == first).map(|run| run.seed).collect();
    let mut known: Vec<_> = runs.iter().map(|run| run.case.clone()).collect();
    known.dedup();
    let sweep = claims::Sweep { seeds: &seeds, runs: &runs, extent: Extent::Full, left_out: &[] };
    (claims::judge(&scenario.claims, &scenario.rulings, &sweep), known)
}

fn lines(file: &str) -> Result<impl Iterator<Item = String>, std::io::Error> {
    let text = std::fs::read_to_string(file)?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>().into_iter())
}
