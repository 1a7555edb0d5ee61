//! Judges schemes in random homes by measures that users notice, each divided by that of today's default.

use super::{ARMS, AXIS, Home, ID};
use crate::study::{Finding, Origin, Ruling, Run, Spread, Study, Verdict};
use sim::results::{Flow, Outcome};
use std::collections::BTreeMap;

/// Measures that users notice: name, first word of the flows' names, true if more is better, and the bounds on the
/// median ratio of `turns`: in each group, and in all homes.
const FELT: [(&str, &str, bool, f64, f64); 9] = [
    ("own goodput", "", true, 0.99, 0.99),
    ("worst bulk", "", true, 1.0, 1.0),
    ("page", "page", false, 1.0, 1.0),
    ("film", "film", false, 1.0, 1.0),
    ("call", "call", false, 1.0, 1.0),
    ("video call", "video", false, 1.0, 0.6),
    ("game", "game", false, 1.0, 1.0),
    ("ping busy", "ping busy", false, 1.0, 0.55),
    ("ping idle", "ping idle", false, 1.0, 1.0),
];
/// Groups of homes with a common trait, each judged on its own; the first group has all homes.
const GROUPS: [&str; 6] = ["all", "heavy neighbour", "no neighbour", "walker", "few stations", "many stations"];
const ALL: &str = GROUPS[0];
const OURS: &str = ARMS[1];
const CHANCE: &str = ARMS[3];
/// Share of lost packets above which losses count as delay: 10 s times the excess are added to the 99th percentile.
const LOST: f64 = 0.02;

/// A home's ratios to today's default for each arm (scheme) and measure; only for activities that the home has.
struct Row<'h> {
    home: &'h Home,
    arms: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
}

impl Row<'_> {
    fn is_in(&self, group: &str) -> bool {
        group == ALL || self.home.traits.contains(&group)
    }
}

/// Returns the ratios of each home.
fn rows<'h>(homes: &'h [Home], runs: &[Run]) -> Vec<Row<'h>> {
    let row = |home: &'h Home| {
        let number = home.number.to_string();
        let own: Vec<&Run> = runs.iter().filter(|run| run.case[AXIS] == number).collect();
        let felt = |arm: &str, what: &str| -> Option<f64> {
            let seeds = own.iter().filter(|run| run.case["scheme"] == arm);
            seeds.map(|run| felt(&run.outcome, what)).sum()
        };
        let ratio = |arm: &str, what| Some((what, felt(arm, what)? / felt(ARMS[0], what).filter(|base| *base > 0.0)?));
        let arms = ARMS[1..].iter().filter(|arm| own.iter().any(|run| run.case["scheme"] == **arm));
        let arms = arms.map(|&arm| (arm, FELT.iter().filter_map(|(what, ..)| ratio(arm, *what)).collect()));
        Row { home, arms: arms.collect() }
    };
    homes.iter().map(row).collect()
}

/// Returns a measure of a run: a rate in bit/s, the mean time of pages or film segments, or the largest 99th percentile
/// of a user's delays.
fn felt(outcome: &Outcome, what: &str) -> Option<f64> {
    let (_, kind, ..) = FELT.iter().find(|(felt, ..)| *felt == what)?;
    let flows: Vec<&Flow> = outcome.flows.iter().filter(|flow| flow.name.starts_with(kind)).collect();
    match what {
        "own goodput" => {
            let own = outcome.totals.cells.iter().find(|cell| cell.name == "ap");
            Some(own.map_or(outcome.totals.goodput_bps, |cell| cell.goodput_bps))
        }
        "worst bulk" => {
            let mut stations: BTreeMap<&str, f64> = BTreeMap::new();
            for flow in flows {
                let ends = [("download", &flow.to), ("upload", &flow.from)];
                if let Some(&(_, station)) = ends.iter().find(|(kind, _)| flow.name.starts_with(kind)) {
                    *stations.entry(station).or_default() += flow.goodput_bps;
                }
            }
            stations.into_values().min_by(f64::total_cmp)
        }
        "page" | "film" => {
            // A flow that completed nothing counts as if it took the whole run.
            let mean = |flow: &&Flow| {
                let times = flow.completion_s.filter(|times| times.mean > 0.0);
                times.map_or(outcome.simulated_s, |times| times.mean)
            };
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
    /// Homes with their ratios, sorted by ratio.
    ratios: Vec<(&'r Row<'r>, f64)>,
    /// Median of the ratios, rounded to hundredths as shown.
    median: f64,
    /// Homes that are worse than with the default by more than a tenth.
    worse: Vec<&'r Row<'r>>,
}

/// Returns the results of an arm (scheme); `None` if no home of the group has a ratio for the measure.
fn found<'r>(rows: &'r [Row], arm: &str, what: &str, group: &str) -> Option<Found<'r>> {
    let of_group = rows.iter().filter(|row| row.is_in(group));
    let mut ratios: Vec<(&Row, f64)> = of_group.filter_map(|row| Some((row, *row.arms.get(arm)?.get(what)?))).collect();
    let (_, _, more, ..) = FELT.iter().find(|(felt, ..)| *felt == what)?;
    let is_worse = |ratio: f64| if *more { ratio < 0.9 } else { ratio > 1.1 };
    let worse = ratios.iter().filter(|(_, ratio)| is_worse(*ratio)).map(|(row, _)| *row).collect();
    ratios.sort_by(|a, b| a.1.total_cmp(&b.1));
    let last = ratios.len().checked_sub(1)?;
    let middle = f64::midpoint(ratios[last / 2].1, ratios[last.div_ceil(2)].1);
    Some(Found { median: (middle * 100.0).round() / 100.0, ratios, worse })
}

/// Rules on `turns`, by the medians of groups and by comparison with the null control. Adds the ratios of all arms.
pub(crate) fn judge(study: &mut Study) {
    debug_assert!(study.claims.is_empty(), "an experiment of homes has no claims but these");
    let labels = study.axes.iter().filter(|axis| axis.name == AXIS).flat_map(|axis| &axis.labels);
    let homes: Vec<Home> = labels.filter_map(|label| Some(Home::draw(label.parse().ok()?))).collect();
    let rows = rows(&homes, &study.runs);
    let rows = rows.as_slice();
    for (what, _, more, in_group, in_all) in FELT {
        for group in GROUPS {
            let Some(ours) = found(rows, OURS, what, group) else { continue };
            let says = format!("{what}: {OURS}'s value divided by that of {}, median over homes", ARMS[0]);
            let bound = if group == ALL { in_all } else { in_group };
            study.claims.push(verdict(what, group, says, ours.median, (more, bound)));
        }
        if let (Some(ours), Some(chance)) = (found(rows, OURS, what, ALL), found(rows, CHANCE, what, ALL)) {
            let says = format!("{what}: homes over 10 % worse are no more than in the null control");
            let [ours, chance] = [ours, chance].map(|found| found.worse.len() as f64);
            study.claims.push(verdict(&format!("{what} worse"), ALL, says, ours, (false, chance)));
        }
        let line = |arm: &str| {
            let ratios = found(rows, arm, what, ALL).map_or_else(Vec::new, |found| found.ratios);
            let named = ratios.into_iter().map(|(row, ratio)| (row.home.number.to_string(), ratio));
            (arm.to_owned(), named.collect::<Vec<_>>())
        };
        let lines: Vec<_> = ARMS[1..].iter().map(|arm| line(arm)).collect();
        if lines.iter().any(|(_, values)| !values.is_empty()) {
            study.spreads.push(Spread { title: what.to_owned(), lines });
        }
    }
    study.findings = ARMS[1..].iter().filter_map(|arm| medians(rows, arm)).chain(losers(rows)).collect();
}

/// Returns the verdict on a value. The value must be at least the bound if `bound.0` is true, else at most the bound.
fn verdict(part: &str, group: &str, says: String, measured: f64, bound: (bool, f64)) -> Verdict {
    let (sign, holds) = if bound.0 { (">=", measured >= bound.1) } else { ("<=", measured <= bound.1) };
    Verdict {
        id: format!("{ID}.{}", part.replace(' ', "-")),
        setting: Some(group.to_owned()),
        says,
        source: "our own bound".to_owned(),
        holds: format!("{sign} {}", bound.1),
        measured,
        low: measured,
        high: measured,
        verdict: if holds { Ruling::Holds } else { Ruling::Differs },
        headline: true,
        statement: Some(Origin::Ours),
        ..Verdict::default()
    }
}

/// Returns an arm's medians in each group, and how many homes are worse by over a tenth; `None` if the arm was not run.
fn medians(rows: &[Row], arm: &str) -> Option<Finding> {
    rows.iter().find(|row| row.arms.contains_key(arm))?;
    let count = |group: &&str| format!("{group} {}", rows.iter().filter(|row| row.is_in(group)).count());
    let cell = |what: &str, group: &str| {
        let told = |found: Found| format!("{:.2}\u{a0}({})", found.median, found.worse.len());
        found(rows, arm, what, group).map_or_else(|| "-".to_owned(), told)
    };
    let row = |what: &str| [what.to_owned()].into_iter().chain(GROUPS.iter().map(|group| cell(what, group))).collect();
    Some(Finding {
        title: format!("{arm} to {}: median ratio over homes (number worse by over 10 %)", ARMS[0]),
        head: [arm.to_owned()].into_iter().chain(GROUPS.iter().map(count)).collect(),
        rows: FELT.iter().map(|(what, ..)| row(what)).collect(),
    })
}

/// Returns the homes in which `turns` is worse by over a tenth but the null control is not. Also returns the trait in
/// which these homes differ most from all homes.
fn losers(rows: &[Row]) -> Option<Finding> {
    let row = |what: &str| {
        let ours = found(rows, OURS, what, ALL)?;
        let chance = found(rows, CHANCE, what, ALL).map_or_else(Vec::new, |found| found.worse);
        let is_ours = |row: &&Row| chance.iter().all(|other| other.home != row.home);
        let lost: Vec<&Row> = ours.worse.into_iter().filter(is_ours).collect();
        let all: Vec<&Row> = ours.ratios.into_iter().map(|(row, _)| row).collect();
        let count = |rows: &[&Row], what: &str| rows.iter().filter(|row| row.is_in(what)).count();
        let share = |rows: &[&Row], what: &str| count(rows, what) as f64 / rows.len() as f64;
        let more_often = |what: &str| share(&lost, what) - share(&all, what);
        let traits = lost.iter().flat_map(|row| &row.home.traits);
        let shared = traits.max_by(|a, b| more_often(a).total_cmp(&more_often(b)).then(b.cmp(a)))?;
        let [of_lost, of_all] = [&lost, &all].map(|rows| format!("{} of {}", count(rows, shared), rows.len()));
        let homes = lost.iter().map(|row| row.home.number.to_string()).collect::<Vec<_>>().join(" ");
        Some(vec![what.to_owned(), homes, format!("{shared}: {of_lost}, in all {of_all}")])
    };
    let rows: Vec<Vec<String>> = FELT.iter().filter_map(|(what, ..)| row(what)).collect();
    let head = [OURS, "homes", "what they share"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then(|| Finding { title: "Homes worse by 10 %, but not by chance".to_owned(), head, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::results::{CellTotals, Times};

    fn home(number: u64, traits: &[&'static str]) -> Home {
        Home { number, text: String::new(), traits: traits.to_vec() }
    }

    #[test]
    fn what_is_worse_by_chance_is_no_loss_and_what_losers_share_is_told() {
        let homes =
            [home(1, &["heavy neighbour"]), home(2, &["heavy neighbour"]), home(3, &["film"]), home(4, &["film"])];
        let goodputs = [(0.5, 1.0), (0.8, 0.85), (1.0, 1.0), (1.1, 1.0)];
        let ratio = |value| BTreeMap::from([("own goodput", value)]);
        let row =
            |(home, (ours, chance))| Row { home, arms: BTreeMap::from([(OURS, ratio(ours)), (CHANCE, ratio(chance))]) };
        let rows: Vec<Row> = homes.iter().zip(goodputs).map(row).collect();
        let all = found(&rows, OURS, "own goodput", ALL).unwrap();
        assert!((all.median - 0.9).abs() < 1e-9, "{}", all.median);
        assert_eq!(all.worse.iter().map(|row| row.home.number).collect::<Vec<_>>(), [1, 2]);
        assert!((found(&rows, OURS, "own goodput", "heavy neighbour").unwrap().median - 0.65).abs() < 1e-9);
        assert!(found(&rows, OURS, "page", ALL).is_none() && found(&rows, OURS, "own goodput", "walker").is_none());
        let lost = losers(&rows).unwrap().rows;
        assert_eq!(lost, [["own goodput", "1", "heavy neighbour: 1 of 1, in all 2 of 4"].map(str::to_owned)]);
        assert!(medians(&rows, "knobs").is_none());
        assert_eq!(medians(&rows, CHANCE).unwrap().rows[0][1], "1.00\u{a0}(1)");
    }

    /// The first table of the arena wrongly had the sum over both cells.
    #[test]
    fn own_goodput_is_that_of_the_own_cell_and_lost_packets_are_late() {
        let flow = |name: &str, to: &str, goodput_bps: f64, loss_ratio: f64| Flow {
            name: name.to_owned(),
            to: to.to_owned(),
            goodput_bps,
            loss_ratio,
            delay_s: Times { p99: 0.05, ..Times::default() },
            ..Flow::default()
        };
        let text = Home::draw(1).text;
        let network =
            crate::scenario::Scenario::parse("home.toml", text.as_bytes(), &crate::scenario::Wishes::default())
                .unwrap()
                .base;
        let mut outcome = sim::World::new(&network, 1).unwrap().names();
        outcome.flows = vec![
            flow("download s1-1", "s1", 3.0, 0.0),
            flow("download s1-2", "s1", 2.0, 0.0),
            flow("download s2", "s2", 4.0, 0.0),
            flow("call s3", "s3", 1.0, 0.03),
            flow("foreign", "guest", 9.0, 0.0),
        ];
        outcome.totals.goodput_bps = 19.0;
        outcome.totals.cells.clear();
        let told = |outcome: &Outcome, what: &str, value: f64| {
            let found = felt(outcome, what).unwrap();
            assert!((found - value).abs() < 1e-9, "{what}: {found}");
        };
        told(&outcome, "own goodput", 19.0);
        outcome.totals.cells = vec![CellTotals { name: "ap".to_owned(), goodput_bps: 10.0, ..CellTotals::default() }];
        told(&outcome, "own goodput", 10.0);
        told(&outcome, "worst bulk", 4.0);
        told(&outcome, "call", 0.05 + 10.0 * 0.01);
        assert_eq!(felt(&outcome, "page"), None);
        outcome.flows[0].name = "page s1".to_owned();
        told(&outcome, "page", outcome.simulated_s);
    }
}
