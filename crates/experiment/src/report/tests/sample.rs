//! Artificial studies like real ones: a load that rises and falls, a chain that grows, and hostile texts.

use crate::study::{Axis, Chart, Labels, Reported, Ruling, Run, Spacing, Study, Unit, Verdict};
use sim::results::{
    Distributions, Flow, FlowDistribution, FlowSeries, Mac, Node, NodeSeries, Outcome, QueueResult, Series, Times,
    Totals, shares,
};
use std::collections::BTreeMap;

/// A title that would break a page that trusts it.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror=alert(1)> & \"quotes\"";

const SEEDS: [u64; 3] = [1, 2, 3];
const STEPS: usize = 1000;

/// Makes a study of every kind.
pub(crate) fn studies() -> Vec<Study> {
    vec![targets(), hops(), hostile()]
}

/// A study of schemes and targets, with series over time.
pub(crate) fn targets() -> Study {
    let axes =
        [axis("scheme", &["FIFO-DF", "ADTH-DF"]), axis("target", &["200 ms", "400 ms", "600 ms", "800 ms", "1 s"])];
    let mut study = study("sample-targets", "Three-node chain, step-changing load both ways", &axes);
    for (scheme, delay) in [("FIFO-DF", None), ("ADTH-DF", Some(1.0))] {
        for (label, target) in [("200 ms", 0.2), ("400 ms", 0.4), ("600 ms", 0.6), ("800 ms", 0.8), ("1 s", 1.0)] {
            for seed in SEEDS {
                let bound = delay.map(|share: f64| share * target);
                let outcome = outcome(seed, bound, target, seed == 1);
                study.runs.push(run(&study.id, seed, &[("scheme", scheme), ("target", label)], outcome));
            }
        }
    }
    study.claims = claims();
    study.charts = target_charts();
    study.answer.says = vec![
        "ADTH-DF keeps the deadline: {1} of its packets are late.".to_owned(),
        "With FIFO-DF the delay reaches {2}.".to_owned(),
    ];
    study
}

fn target_charts() -> Vec<Chart> {
    let ends = || only("target", &["200 ms", "1 s"]);
    let adth = || only("scheme", &["ADTH-DF"]);
    let over = |x: &str, title: &str, y: &[&str], y_title: &str| chart(title, x, y, y_title);
    vec![
        Chart {
            about: "Compare the document's figure 2.".to_owned(),
            panels: Some("target".to_owned()),
            colour: Some("scheme".to_owned()),
            cases: ends(),
            deadline: true,
            ..over("time", "One-way delay over time", &["flows.*.delay_max_s"], "one-way delay (s)")
        },
        Chart {
            panels: Some("target".to_owned()),
            colour: Some("scheme".to_owned()),
            cases: ends(),
            log: true,
            deadline: true,
            ..over("time", "The same on a logarithmic axis", &["flows.*.delay_max_s"], "one-way delay (s)")
        },
        Chart {
            cases: both(adth(), only("target", &["200 ms"])),
            ..over(
                "time",
                "Limit and backlog of the first node",
                &["nodes.n0.limit", "nodes.n0.backlog_packets"],
                "packets",
            )
        },
        Chart {
            cases: both(adth(), only("target", &["200 ms"])),
            target: true,
            ..over("time", "Nodal delay", &["nodes.*.nodal_delay_max_s"], "nodal delay (s)")
        },
        Chart { cases: adth(), ..over("time", "Goodput of every flow", &["flows.*.goodput_bps"], "goodput (bit/s)") },
        Chart {
            first: true,
            cases: adth(),
            deadline: true,
            about: "The deadline is twice the target.".to_owned(),
            ..over("target", "Largest one-way delay over the target", &["flows.*.delay_s.max"], "one-way delay (s)")
        },
        Chart {
            panels: Some("target".to_owned()),
            colour: Some("scheme".to_owned()),
            cases: ends(),
            deadline: true,
            ..over("cdf", "How delays are distributed", &["flows.*.delay_s"], "share of packets (%)")
        },
        Chart {
            colour: Some("scheme".to_owned()),
            cases: only("target", &["1 s"]),
            log: true,
            x_scale: Spacing::Log,
            ..over("cdf", "Their tails", &["flows.*.delay_s"], "share of packets above")
        },
        Chart { ..over("time", "Nothing recorded", &["flows.sideways.delay_max_s"], "delay (s)") },
    ]
}

fn claims() -> Vec<Verdict> {
    let verdict = |n: usize, says: &str, reported, holds: &str, ((measured, low, high), unit), verdict| Verdict {
        id: format!("sample-targets.{n}"),
        says: says.to_owned(),
        source: "ADTH section 4.2.1".to_owned(),
        reported,
        holds: holds.to_owned(),
        measured,
        low,
        high,
        unit,
        verdict,
        ..Verdict::default()
    };
    vec![
        verdict(
            1,
            "no packet arrives after its deadline",
            Some(Reported::Number(0.0)),
            "<= 0.001",
            ((5.9e-5, 0.0, 1.3e-4), Unit::Share),
            Ruling::Holds,
        ),
        verdict(
            2,
            "the peak one-way delay of FIFO-DF is above 7 s",
            Some(Reported::Words("above 7 s".to_owned())),
            "> 7",
            ((4.213_4, 4.101, 4.325_9), Unit::Seconds),
            Ruling::Differs,
        ),
        verdict(
            3,
            "more packets are lost than with FIFO-DF, by 2 to 4 points",
            None,
            "0.02 .. 0.04",
            ((0.031, 0.031, 0.031), Unit::Share),
            Ruling::Holds,
        ),
    ]
}

/// A study of schemes over chains of growing length, without series.
fn hops() -> Study {
    let (lengths, schemes) =
        (["3 hops", "6 hops", "9 hops", "12 hops", "15 hops"], ["ADTH-DF", "FIFO-DF-50", "FIFO-DF-1000"]);
    let mut study = study("sample-hops", "Chains of 3 to 15 hops", &[axis("hops", &lengths), axis("scheme", &schemes)]);
    for (h, length) in lengths.iter().enumerate() {
        for (s, scheme) in schemes.iter().enumerate() {
            for seed in SEEDS {
                let mut outcome = outcome(seed, Some(0.2), 0.75, false);
                for flow in &mut outcome.flows {
                    let worst = [1.2, 1.1 + 0.9 * h as f64, 12.0 + 10.0 * h as f64][s];
                    flow.delay_s.max = worst * (1.0 + 0.1 * noise(seed, h * 3 + s));
                    flow.goodput_bps *= 0.5 / (h + 1) as f64;
                }
                study.runs.push(run(&study.id, seed, &[("hops", length), ("scheme", scheme)], outcome));
            }
        }
    }
    study.charts = vec![
        Chart {
            colour: Some("scheme".to_owned()),
            log: true,
            deadline: true,
            ..chart("Maximum one-way delay", "hops", &["flows.*.delay_s.max"], "one-way delay (s)")
        },
        Chart {
            cases: only("hops", &["3 hops"]),
            ..chart("Goodput", "scheme", &["flows.*.goodput_bps"], "goodput (bit/s)")
        },
        chart("One-way delay over time", "time", &["flows.*.delay_max_s"], "one-way delay (s)"),
    ];
    study
}

/// A study whose texts would be markup.
fn hostile() -> Study {
    let mut study = study("sample-hostile", HOSTILE, &[axis("<b>axis</b>", &["<i>one</i>", "it's"])]);
    HOSTILE.clone_into(&mut study.about);
    study.alone = format!("id = \"sample-hostile\"\ntitle = '{HOSTILE}'\n");
    for label in ["<i>one</i>", "it's"] {
        study.runs.push(run(&study.id, 1, &[("<b>axis</b>", label)], outcome(1, None, 0.2, true)));
    }
    study.runs[1].set.insert("title".to_owned(), "\"it's\"".to_owned());
    study.charts = vec![
        chart(HOSTILE, "<b>axis</b>", &["totals.loss_ratio"], "<u>loss</u> ratio"),
        chart(HOSTILE, "time", &["flows.*.delay_max_s"], "</script> (s)"),
    ];
    study
}

fn study(id: &str, title: &str, axes: &[Axis]) -> Study {
    Study {
        id: id.to_owned(),
        title: title.to_owned(),
        about: "Made-up numbers in the shapes of real ones.\n\nThe load rises at 25 s and falls at 50 s and 75 s."
            .to_owned(),
        file: format!("my scenarios/{id}.toml"),
        alone: format!("id = \"{id}\"\ntitle = \"{id}\"\nduration = \"100 s\"\n\n[radio]\nstandard = \"802.11b\"\n"),
        version: "0.2.0".to_owned(),
        command: format!("sluice reproduce 'my scenarios/{id}.toml' --quick"),
        axes: axes.to_vec(),
        seeds: SEEDS.to_vec(),
        ..Study::default()
    }
}

fn axis(name: &str, labels: &[&str]) -> Axis {
    Axis { name: name.to_owned(), labels: labels.iter().map(|&label| label.to_owned()).collect() }
}

fn only(axis: &str, labels: &[&str]) -> BTreeMap<String, Labels> {
    let labels = labels.iter().map(|&label| label.to_owned()).collect();
    BTreeMap::from([(axis.to_owned(), Labels::Any(labels))])
}

fn both(mut a: BTreeMap<String, Labels>, b: BTreeMap<String, Labels>) -> BTreeMap<String, Labels> {
    a.extend(b);
    a
}

fn chart(title: &str, x: &str, y: &[&str], y_title: &str) -> Chart {
    Chart {
        title: title.to_owned(),
        x: x.to_owned(),
        y: y.iter().map(|&key| key.to_owned()).collect(),
        y_title: y_title.to_owned(),
        ..Chart::default()
    }
}

fn run(scenario: &str, seed: u64, case: &[(&str, &str)], outcome: Outcome) -> Run {
    let case: BTreeMap<_, _> = case.iter().map(|(a, l)| ((*a).to_owned(), (*l).to_owned())).collect();
    Run {
        scenario: scenario.to_owned(),
        seed,
        set: case.iter().map(|(axis, label)| (format!("queue.{axis}"), format!("\"{label}\""))).collect(),
        case,
        version: "0.2.0".to_owned(),
        wall_s: 0.5,
        cpu_s: 0.5,
        model: None,
        emulation: None,
        outcome,
    }
}

/// Makes a run whose delays stay around `bound`, or grow with the load if there is no bound.
fn outcome(seed: u64, bound: Option<f64>, target: f64, with_series: bool) -> Outcome {
    let delay = |node: usize, k: usize| {
        let level = load(k) * bound.unwrap_or(4.0) * (1.0 - 0.1 * node as f64);
        (0.01 + level * (1.0 + 0.15 * noise(seed, k * 7 + node))).max(0.004)
    };
    let names = ["forward", "reverse"];
    let flow = |n: usize| Flow {
        name: names[n].to_owned(),
        from: format!("n{}", 2 * n),
        to: format!("n{}", 2 - 2 * n),
        kind: "cbr".to_owned(),
        sent_packets: 16_875,
        received_packets: 16_000,
        in_flight_packets: 0,
        goodput_bps: 1.28e6 * (1.0 + 0.05 * noise(seed, n)),
        loss_ratio: 0.05,
        delay_s: Times {
            mean: target / 2.0,
            max: (0..STEPS).map(|k| delay(n, k)).fold(0.0, f64::max),
            ..Times::default()
        },
        deadline_s: Some(2.0 * target),
        deadline_miss_ratio: 0.0,
        deadline_use_ratio: 0.6,
        data_yield: 0.95,
        ..Flow::default()
    };
    let series = Series {
        step_s: 0.1,
        flows: (0..2).map(|n| flow_series(names[n], seed, n, &delay)).collect(),
        nodes: (0..3).map(|n| node_series(seed, n, bound.is_some(), &delay)).collect(),
        emulation: None,
    };
    Outcome {
        simulated_s: 100.0,
        events: 1_000_000,
        warnings: Vec::new(),
        flows: vec![flow(0), flow(1)],
        nodes: (0..3).map(|n| node(n, bound.map(|_| target))).collect(),
        totals: Totals {
            goodput_bps: 2.56e6,
            jain_index: 0.99,
            loss_ratio: 0.05 + 0.01 * noise(seed, 9),
            channel_busy_ratio: 0.9,
            data_yield: 0.95,
            wasted_transmission_ratio: 0.1,
            ..Totals::default()
        },
        series: with_series.then_some(series),
        distributions: Some(Distributions {
            flows: (0..2).map(|n| flow_distribution(names[n], n, &delay)).collect(),
            nodes: Vec::new(),
        }),
    }
}

fn flow_distribution(name: &str, n: usize, delay: &dyn Fn(usize, usize) -> f64) -> FlowDistribution {
    let mut delays: Vec<f64> = (0..STEPS).map(|k| delay(n, k)).collect();
    delays.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the steps")]
    let at = |share: &f64| delays[((share * STEPS as f64) as usize).min(STEPS - 1)];
    FlowDistribution {
        name: name.to_owned(),
        delay_s: shares().iter().map(at).collect(),
        ..FlowDistribution::default()
    }
}

fn flow_series(name: &str, seed: u64, n: usize, delay: &dyn Fn(usize, usize) -> f64) -> FlowSeries {
    // The second flow starts at 25 s and receives nothing before; the first has a gap.
    let heard = |k: usize| (n == 0 && !(600..640).contains(&k)) || (n == 1 && k >= 250);
    let times = |scale: f64| (0..STEPS).map(|k| heard(k).then(|| scale * delay(n, k))).collect();
    FlowSeries {
        name: name.to_owned(),
        goodput_bps: (0..STEPS)
            .map(|k| if heard(k) { 1.3e6 * (1.0 + 0.1 * noise(seed, k + n)) } else { 0.0 })
            .collect(),
        delay_mean_s: times(0.7),
        delay_max_s: times(1.0),
        ..FlowSeries::default()
    }
}

fn node_series(seed: u64, n: usize, governed: bool, delay: &dyn Fn(usize, usize) -> f64) -> NodeSeries {
    let times: Vec<Option<f64>> = (0..STEPS).map(|k| Some(delay(n, k) * 0.6)).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 108")]
    let backlog = |k: usize| (load(k) * 90.0 * (1.0 + 0.2 * noise(seed, k + n))) as u64;
    NodeSeries {
        name: format!("n{n}"),
        limit: (0..STEPS)
            .map(|k| if governed && k > 260 { 110.0 + 8.0 * noise(seed, k / 5) } else { 1000.0 })
            .collect(),
        backlog_packets: (0..STEPS).map(backlog).collect(),
        arrived_packets: vec![20; STEPS],
        sent_packets: vec![20; STEPS],
        dropped_packets: vec![0; STEPS],
        sojourn_mean_s: times.clone(),
        nodal_delay_mean_s: times.clone(),
        nodal_delay_max_s: times,
        ..NodeSeries::default()
    }
}

fn node(n: usize, target: Option<f64>) -> Node {
    let queue = QueueResult {
        name: "be".to_owned(),
        scheduler: "drop-head".to_owned(),
        controller: "adth".to_owned(),
        arrived_packets: 16_875,
        sent_packets: 16_000,
        dropped_packets: 875,
        empty_ratio: 1.0,
        target_delay_s: target,
        ..QueueResult::default()
    };
    let mac = Mac {
        attempts: 20_000,
        collisions: 900,
        delivered: 19_000,
        retry_drops: 3,
        duplicates: 1,
        airtime_s: 30.0,
        busy_ratio: 0.8,
        collision_probability: 0.045,
        ..Mac::default()
    };
    Node { name: format!("n{n}"), queues: vec![queue], mac, ..Node::default() }
}

/// Returns the fill of the queues, from 0 to 1, at step `k`.
fn load(k: usize) -> f64 {
    let t = k as f64 / 10.0;
    match t {
        ..25.0 => 0.02,
        ..50.0 => (1.0 - (-(t - 25.0) / 4.0).exp()).max(0.02),
        ..75.0 => (1.0 - (t - 50.0) / 30.0).max(0.02),
        _ => (0.16 - (t - 75.0) / 20.0).max(0.02),
    }
}

/// Returns a number between -1 and 1 that looks random.
fn noise(seed: u64, k: usize) -> f64 {
    // The finaliser of SplitMix64.
    let mut mixed = (seed << 32 | k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (((mixed ^ (mixed >> 31)) >> 40) as f64 / f64::from(1 << 23)) - 1.0
}
