//! Judges schemes by what people in random homes feel, as ratios to today's default.

use super::{ARMS, AXIS, Home, ID};
use crate::study::{Origin, OverSeeds, Ruling, Run, Spread, Study, Unit, Verdict};
use crate::tables::{Columns, table};
use serde::Serialize;
use sim::results::{Flow, Outcome};
use std::collections::BTreeMap;

/// What people feel: its name, the first word of its flows, whether more is better, and what the median ratio of `turns` has
/// to reach: in each group, and in all homes.
const FELT: [(&str, &str, bool, f64, f64); 9] = [
    ("own goodput", "", true, 0.99, 0.99),
    ("worst bulk station", "", true, 1.0, 1.0),
    ("page", "page", false, 1.0, 1.0),
    ("film", "film", false, 1.0, 1.0),
    ("call", "call", false, 1.0, 1.0),
    ("video call", "video", false, 1.0, 0.6),
    ("game", "game", false, 1.0, 1.0),
    ("ping busy", "ping busy", false, 1.0, 0.55),
    ("ping idle", "ping idle", false, 1.0, 1.0),
];
/// Groups of homes that are judged by themselves, by a trait; the first has all.
const GROUPS: [&str; 6] = ["all", "heavy neighbour", "no neighbour", "walker", "few stations", "many stations"];
const ALL: &str = GROUPS[0];
const OURS: &str = ARMS[1];
const CHANCE: &str = ARMS[3];
/// Above this share lost packets count as late: 10 s times the rest are added to the 99th percentile.
const LOST: f64 = 0.02;

/// A home's ratios to today's default, by arm and by what is felt: only what somebody in the home does.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    home: u64,
    traits: Vec<&'static str>,
    arms: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
}

/// Returns the ratios of all homes.
pub fn rows(homes: &[Home], runs: &[Run]) -> Vec<Row> {
    let row = |home: &Home| {
        let number = home.number.to_string();
        let own: Vec<&Run> = runs.iter().filter(|run| run.case[AXIS] == number).collect();
        let felt = |arm: &str, what: &str| -> Option<f64> {
            let seeds = own.iter().filter(|run| run.case["scheme"] == arm);
            seeds.map(|run| felt(&run.outcome, what)).sum::<Option<f64>>()
        };
        let ratio = |arm: &str, what| Some((what, felt(arm, what)? / felt(ARMS[0], what).filter(|base| *base > 0.0)?));
        let arms = ARMS[1..].iter().filter(|arm| own.iter().any(|run| run.case["scheme"] == **arm));
        let arms = arms.map(|&arm| (arm, FELT.iter().filter_map(|(what, ..)| ratio(arm, *what)).collect()));
        Row { home: home.number, traits: home.traits.clone(), arms: arms.collect() }
    };
    homes.iter().map(row).collect()
}

/// Returns what is felt in a run: bit/s, seconds of the mean page or piece of film, or the largest 99th percentile of what
/// comes to somebody.
fn felt(outcome: &Outcome, what: &str) -> Option<f64> {
    let (_, kind, ..) = FELT.iter().find(|(felt, ..)| *felt == what)?;
    let flows: Vec<&Flow> = outcome.flows.iter().filter(|flow| flow.name.starts_with(kind)).collect();
    match what {
        "own goodput" => {
            let own = outcome.totals.cells.iter().find(|cell| cell.name == "ap");
            Some(own.map_or(outcome.totals.goodput_bps, |cell| cell.goodput_bps))
        }
        "worst bulk station" => {
            let mut stations: BTreeMap<&str, f64> = BTreeMap::new();
            for flow in flows {
                let ends = [("download", &flow.to), ("upload", &flow.from)];
                if let Some((_, station)) = ends.iter().find(|(kind, _)| flow.name.starts_with(kind)) {
                    *stations.entry(station).or_default() += flow.goodput_bps;
                }
            }
            stations.into_values().min_by(f64::total_cmp)
        }
        "page" | "film" => {
            // None in time is no better than the whole run.
            let mean = |flow: &&Flow| flow.completion_s.map_or(0.0, |times| times.mean);
            let mean = |flow| Some(mean(flow)).filter(|mean| *mean > 0.0).unwrap_or(outcome.simulated_s);
            (!flows.is_empty()).then(|| flows.iter().map(mean).sum::<f64>() / flows.len() as f64)
        }
        _ => {
            let late = |flow: &Flow| flow.rtt_s.unwrap_or(flow.delay_s).p99 + 10.0 * (flow.loss_ratio - LOST).max(0.0);
            flows.into_iter().map(late).max_by(f64::total_cmp)
        }
    }
}

/// An arm in a group of homes.
struct Found<'r> {
    /// Sorted.
    ratios: Vec<f64>,
    /// In hundredths, as it is shown.
    median: f64,
    /// Homes that are worse by a tenth.
    worse: Vec<&'r Row>,
    rows: Vec<&'r Row>,
}

/// Returns how an arm does; `None` if no home of the group has such a ratio.
fn found<'r>(rows: &'r [Row], arm: &str, what: &str, group: &str) -> Option<Found<'r>> {
    let of_group = rows.iter().filter(|row| group == ALL || row.traits.contains(&group));
    let of_arm = of_group.filter_map(|row| Some((*row.arms.get(arm)?.get(what)?, row)));
    let (mut ratios, rows): (Vec<f64>, Vec<&Row>) = of_arm.unzip();
    let (_, _, more, ..) = FELT.iter().find(|(felt, ..)| *felt == what)?;
    let is_worse = |ratio: f64| if *more { ratio < 0.9 } else { ratio > 1.1 };
    let worse = ratios.iter().zip(&rows).filter(|(ratio, _)| is_worse(**ratio)).map(|(_, row)| *row).collect();
    ratios.sort_by(f64::total_cmp);
    let middle = f64::midpoint(*ratios.get(ratios.len().checked_sub(1)? / 2)?, ratios[ratios.len() / 2]);
    Some(Found { median: (middle * 100.0).round() / 100.0, ratios, worse, rows })
}

/// Rules on `turns`, and draws the distributions of all arms.
pub fn judge(study: &mut Study, rows: &[Row]) {
    debug_assert!(study.id == ID && study.claims.is_empty(), "an experiment of homes has no claims but these");
    let mut claims = Vec::new();
    let mut claim = |part: &str, group: &str, says: &str, measured: f64, more: bool, bound: f64| {
        let holds = if more { measured >= bound } else { measured <= bound };
        claims.push(Verdict {
            id: format!("{ID}.{}", part.replace(' ', "-")),
            setting: Some(group.to_owned()),
            says: says.to_owned(),
            source: "our own bound".to_owned(),
            reported: None,
            holds: format!("{} {bound}", if more { ">=" } else { "<=" }),
            measured,
            low: measured,
            high: measured,
            unit: Unit::Number,
            seeds: OverSeeds::Mean,
            at: String::new(),
            verdict: if holds { Ruling::Holds } else { Ruling::Differs },
            headline: true,
            statement: Some(Origin::Ours),
            why: None,
            cause: None,
            neighbours: Vec::new(),
            depends_on: Vec::new(),
        });
    };
    for (what, _, more, in_group, in_all) in FELT {
        for group in GROUPS {
            let Some(ours) = found(rows, OURS, what, group) else { continue };
            let says = format!("{what}: median ratio of {OURS} to {}", ARMS[0]);
            claim(what, group, &says, ours.median, more, if group == ALL { in_all } else { in_group });
        }
        if let (Some(ours), Some(chance)) = (found(rows, OURS, what, ALL), found(rows, CHANCE, what, ALL)) {
            let says = format!("{what}: homes worse by 10 %, at most as many as by chance");
            let [ours, chance] = [ours, chance].map(|found| found.worse.len() as f64);
            claim(&format!("{what} worse"), ALL, &says, ours, false, chance);
        }
    }
    study.claims = claims;
    let line = |arm: &str, what: &str| {
        (arm.to_owned(), found(rows, arm, what, ALL).map_or_else(Vec::new, |found| found.ratios))
    };
    let panel = |what: &str| (what.to_owned(), ARMS[1..].iter().map(|arm| line(arm, what)).collect());
    study.spreads = vec![Spread {
        title: "Ratios in all homes".to_owned(),
        about: format!("Share of homes with at most this ratio to {}", ARMS[0]),
        x_title: "ratio".to_owned(),
        panels: FELT.iter().map(|(what, ..)| panel(what)).collect(),
    }];
    let told = |[what, homes, shared]: [String; 3]| format!("{what} worse by 10 %: homes {homes}; {shared}.\n\n");
    study.about = losers(rows).into_iter().map(told).collect();
}

/// Returns what is felt, the homes in which only `turns` is worse by a tenth and not the null control, and the trait by which
/// they differ most from the others.
fn losers(rows: &[Row]) -> Vec<[String; 3]> {
    let of = |what: &str| {
        let ours = found(rows, OURS, what, ALL)?;
        let chance = found(rows, CHANCE, what, ALL).map_or_else(Vec::new, |found| found.worse);
        let is_ours = |row: &&Row| chance.iter().all(|other| other.home != row.home);
        let lost: Vec<&Row> = ours.worse.into_iter().filter(is_ours).collect();
        let count = |rows: &[&Row], what: &str| rows.iter().filter(|row| row.traits.contains(&what)).count();
        let share = |rows: &[&Row], what: &str| count(rows, what) as f64 / rows.len() as f64;
        let more_often = |what: &str| share(&lost, what) - share(&ours.rows, what);
        let traits = lost.iter().flat_map(|row| &row.traits);
        let shared = traits.max_by(|a, b| more_often(a).total_cmp(&more_often(b)).then(b.cmp(a)))?;
        let [of_lost, of_all] = [&lost, &ours.rows].map(|rows| format!("{} of {}", count(rows, shared), rows.len()));
        let homes = lost.iter().map(|row| row.home.to_string()).collect::<Vec<_>>().join(" ");
        Some([what.to_owned(), homes, format!("{shared}: {of_lost}, in all {of_all}")])
    };
    FELT.iter().filter_map(|(what, ..)| of(what)).collect()
}

/// Formats the medians of each arm by group with the numbers of homes worse by a tenth, and the homes that lose.
pub fn text(rows: &[Row], width: usize) -> String {
    let mut text = format!("Median ratio to {} (homes worse by 10 %)\n", ARMS[0]);
    for arm in ARMS[1..].iter().filter(|arm| rows.iter().any(|row| row.arms.contains_key(**arm))) {
        let in_group = |group: &str| rows.iter().filter(|row| group == ALL || row.traits.contains(&group)).count();
        let head = GROUPS.iter().map(|group| format!("{group}: {}", in_group(group)));
        let cell = |what: &str, group: &str| {
            let told = |found: Found| format!("{:.2} ({})", found.median, found.worse.len());
            found(rows, arm, what, group).map_or_else(|| "-".to_owned(), told)
        };
        let line = |what: &str| -> Vec<String> {
            [what.to_owned()].into_iter().chain(GROUPS.iter().map(|group| cell(what, group))).collect()
        };
        let head: Vec<String> = [(*arm).to_owned()].into_iter().chain(head).collect();
        let lines: Vec<Vec<String>> = FELT.iter().map(|(what, ..)| line(what)).collect();
        text += &format!("\n{}", table(&head, &lines, &Columns { right: &[1, 2, 3, 4, 5, 6], prose: &[] }, width));
    }
    let (lost, columns) = (losers(rows), Columns { right: &[], prose: &[1, 2] });
    let head = ["worse by 10 %", "homes, without those of the null control", "what they share most"];
    if lost.is_empty() { text } else { text + "\n" + &table(&head, &lost, &columns, width) }
}
