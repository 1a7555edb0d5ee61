//! A study: everything that is known after a scenario was run, and what the report is made from.

mod model;
mod verdict;

pub use model::{Bqm, Call, Devices, Equilibrium, Expectation, Modelled, Models, Rated, Swan, Voice};
pub use verdict::{Beside, Extent, Neighbour, Ruling, Rulings, Unit, Verdict};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use units::Duration;

/// A scenario, its runs and the verdicts on its claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The experiment's id: `adth-s1a`.
    pub id: String,
    /// The scenario's title.
    pub title: String,
    /// Purpose, in a paragraph or two of plain text.
    pub about: String,
    /// The name of the scenario's file, as it was given.
    pub file: String,
    /// What the file holds, word for word.
    pub text: String,
    /// Version of Sluice that made the runs.
    pub version: String,
    /// The command that makes these runs again.
    pub command: String,
    /// What was varied, in the scenario's order; a run's `case` has one label for each.
    pub axes: Vec<Axis>,
    /// The seeds of every case.
    pub seeds: Vec<u64>,
    /// All runs: by case in the scenario's order, then by seed.
    pub runs: Vec<Run>,
    /// The verdicts, in the scenario's order.
    pub claims: Vec<Verdict>,
    /// The pictures that the scenario asks for.
    pub charts: Vec<Chart>,
    /// The tables that the scenario asks for.
    pub tables: Vec<Table>,
    /// First sentences of report and terminal.
    pub answer: Answer,
}

impl Study {
    /// What the runs warn of, each warning once.
    pub fn warnings(&self) -> BTreeSet<&str> {
        warnings(&self.runs)
    }
}

/// What runs warn of, each warning once.
pub fn warnings(runs: &[Run]) -> BTreeSet<&str> {
    runs.iter().flat_map(|run| &run.outcome.warnings).map(String::as_str).collect()
}

/// One thing that a scenario varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name: `scheme`, `target`, `queue.adth.target_delay`.
    pub name: String,
    /// The labels of its values, in order: `FIFO-DF`, `200 ms`.
    pub labels: Vec<String>,
}

/// A run of one case with one seed, and its results: a line of `results.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The scenario's id.
    pub scenario: String,
    /// The seed that all its random numbers follow from.
    pub seed: u64,
    /// Label of the value of every axis.
    pub case: BTreeMap<String, String>,
    /// Every key that was set differently from the file, and its value as TOML text.
    pub set: BTreeMap<String, String>,
    /// Version of Sluice that made the run.
    pub version: String,
    /// Time on the wall clock, in seconds.
    pub wall_s: f64,
    /// Processor time, in seconds.
    pub cpu_s: f64,
    /// What it measured.
    #[serde(flatten)]
    pub outcome: sim::results::Outcome,
    /// What analytic models say of it; absent where the scenario asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Modelled>,
}

/// One checkable statement about a scenario's results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its id: the experiment's and a number, `adth-s1a.1`.
    pub id: String,
    /// The statement, in words.
    pub says: String,
    /// Where the document says so: "ADTH section 4.2.1".
    pub source: String,
    /// The result that it speaks of: `flows.*.deadline_miss_ratio`, `nodes.n1.queues.*.nodal_delay_s.p999`,
    /// `totals.loss_ratio`. A name of a flow or node, or `*` for all; `down*` for all whose names begin so, `down* be` for
    /// those that end so, too. With `series`: the key of a time series. Or arithmetic on results, with spaces around `+ - * /`: `a / sum(b)`, with `sum`, `mean`,
    /// `max`, `min`, `jain` (over flows or nodes; `max(a, b)` of two), `abs` and `before(series)`, the series one step earlier.
    /// Values of several flows or nodes are taken one by one, a single value with each; in it a name that has spaces stands
    /// in quotes: `'nodes.ap be.limit'`.
    pub measure: String,
    /// The claim speaks of a time series, of which one value is taken.
    #[serde(default)]
    pub series: Option<Window>,
    /// The values of a case (of several flows or nodes) become one before cases are compared. Default: each stands by itself.
    #[serde(default)]
    pub together: Option<Together>,
    /// Instead of the values: where along an axis they first come near the largest of them, or fulfil a condition.
    #[serde(default)]
    pub first: Option<First>,
    /// The cases that it speaks of: axis = label, or axis = a list of labels, as `{ scheme = "ADTH" }`. Default: all.
    #[serde(default, rename = "where")]
    pub cases: BTreeMap<String, Labels>,
    /// Compare each case with the one that differs from it only in these labels. With several labels (a list, or `*` for
    /// all of the axis) it is compared with one of those: see `choose` and `reaching`.
    #[serde(default)]
    pub against: BTreeMap<String, Labels>,
    /// Which of the cases of `against`: that with the `largest` or `smallest` value (of several, by their sum).
    #[serde(default)]
    pub choose: Choose,
    /// Which of the cases of `against`, instead: the first, in the order of the labels, in which this result is as large as
    /// in ours, or as the largest among them where that is less.
    #[serde(default)]
    pub reaching: Option<String>,
    /// Compare with this other result of the same case, or of the case of `against`: each value with each.
    #[serde(default)]
    pub than: Option<String>,
    /// With `against` or `than`: `difference` (ours - theirs) or `ratio` (ours / theirs); of two series also `correlation`, of two results over all cases `rank-correlation`.
    #[serde(default)]
    pub compare: Compare,
    /// Several cases make one value: groups of them by name, each with its labels, laid over `where`. All cases that differ
    /// only in the axes that groups name belong together. Each case has one value, if need be by `together`.
    #[serde(default)]
    pub groups: BTreeMap<String, BTreeMap<String, Labels>>,
    /// The value that the groups make, arithmetic as in `measure` on their names: `max(c) - min(c)`. A group of several cases
    /// stands within `max`, `min`, `mean` or `sum`.
    #[serde(default)]
    pub formula: Option<String>,
    /// Each value becomes its difference from that of the label before it on this axis, with the same seed; with `compare =
    /// "ratio"` and nothing else to compare with, its ratio to it.
    #[serde(default)]
    pub steps: Option<String>,
    /// How the values of the matching flows or nodes and cases become one a seed; or that each stands by itself.
    #[serde(default)]
    pub statistic: Statistic,
    /// Each seed's value becomes 1 where this condition holds and 0 elsewhere: their mean is the share of runs.
    #[serde(default)]
    pub share_of_runs: Option<String>,
    /// How the seeds' values are ruled on.
    #[serde(default)]
    pub seeds: OverSeeds,
    /// What the document reports: a number, or words where it gives none.
    #[serde(default)]
    pub reported: Option<Reported>,
    /// When the claim holds: "<= 400 ms", "> 4", "1.5 % .. 4.5 %", "!= 1"; a number without a unit is in SI units, a share without
    /// `%` is one of 1. `zero`: no packet. Of each value the median over the seeds is 0 and their mean at most 0.003 %.
    pub holds: String,
    /// It takes all seeds and the full length of the runs: `--quick` does not rule on it.
    #[serde(default)]
    pub full: bool,
    /// The side of the window on which ours is better than the document says: there the verdict is `better` instead of
    /// `differs`.
    #[serde(default)]
    pub better: Option<Side>,
    /// One of the six to ten statements for which the document stands. They come first in lists of claims.
    #[serde(default)]
    pub headline: bool,
    /// Whose statement it is. Default: the document's.
    #[serde(default)]
    pub statement: Option<Origin>,
    /// Why it does not hold, in one or two sentences, with the experiment that shows it (a command, or a claim's id).
    #[serde(default)]
    pub why: Option<String>,
    /// Where the difference comes from. Goes with `why`.
    #[serde(default)]
    pub cause: Option<Cause>,
}

/// A side of the window in which a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Values below it.
    Below,
    /// Values above it.
    Above,
}

/// Whose statement a claim is, where it is not the document's. Such claims are not counted among the document's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Our own: an inference, or a check of the model.
    Ours,
    /// Another paper's.
    Other,
    /// The document's, but another claim has it already.
    Duplicate,
}

/// Where a difference from the document comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Our model, or a choice of ours.
    Ours,
    /// A value that the document leaves open.
    Open,
    /// The document, which contradicts itself, or its simulator.
    Document,
    /// Not known.
    Unknown,
}

/// The first sentences of report and terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Sentences. `{1}` is the measured value, with unit, of claim 1 of this experiment, `{adth-s1a.3}` that of the
    /// claim with this id. A sentence about a claim without a verdict is left out.
    #[serde(default)]
    pub says: Vec<String>,
}

/// How the values of the seeds are ruled on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OverSeeds {
    /// By the 95 % interval of their mean: it holds if all of it lies where the claim says, differs if none does, and else
    /// is not confirmed.
    #[default]
    Mean,
    /// As by the mean, but it holds as long as the interval reaches where the claim says.
    NotRefuted,
    /// Every seed must hold: the worst decides. For never, always, within, largest.
    Every,
    /// One seed that holds is enough: the best decides.
    Some,
    /// By their standard deviation.
    Deviation,
    /// By their standard deviation over their mean.
    RelativeDeviation,
}

/// A value of a time series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Which value.
    #[serde(default)]
    pub take: Take,
    /// From this time on. Default: the start.
    #[serde(default)]
    pub from: Duration,
    /// Up to this time. Default: the end.
    #[serde(default)]
    pub to: Option<Duration>,
    /// Only in the steps in which this series of the same run, or what is computed of several, is above zero:
    /// `nodes.ap.dropped_packets`.
    #[serde(default)]
    pub during: Option<String>,
    /// Every series is averaged over bins of this length first, from time 0 on.
    #[serde(default)]
    pub bin: Option<Duration>,
    /// `reaches`, `stays` and `share`: the condition, as in `holds`.
    #[serde(default)]
    pub when: Option<String>,
    /// Divide by this other value of the same series: with `when` the series, else the value.
    #[serde(default)]
    pub relative_to: Option<Base>,
    /// `reaches`, `stays` and `settling`: count not seconds but the sum of this series of the same run.
    #[serde(default)]
    pub counting: Option<String>,
    /// `settling`: near means closer to the final value than this share of it.
    #[serde(default)]
    pub within: Option<f64>,
    /// `settling`, instead: near means that this share of the way from the first to the final value is covered.
    #[serde(default)]
    pub covered: Option<f64>,
    /// `fall`: within so long. Default: the whole window.
    #[serde(default)]
    pub over: Option<Duration>,
}

/// Which value of a time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// The mean of its steps.
    #[default]
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The last.
    Last,
    /// The largest less the smallest, over the mean.
    Swing,
    /// Their sum.
    Sum,
    /// The 5th percentile.
    P5,
    /// The median.
    P50,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The largest fall from a step to a later one, at most `over` later where that is given; zero where nothing falls.
    Fall,
    /// Change per second, by least squares.
    Slope,
    /// Seconds from `from` until it is first near its final value, the mean of the last fifth of the window.
    Settling,
    /// Seconds from `from` until the end of the first step that fulfils `when`.
    Reaches,
    /// Seconds from `from` after which every step of the window fulfils `when`.
    Stays,
    /// The share of the steps that fulfil `when`.
    Share,
    /// The largest autocorrelation beyond the first lag at which it is below zero, up to half the window: 1 for a series
    /// that repeats.
    Periodicity,
}

/// A value of a series that others are divided by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// Which value: one that needs no further keys.
    #[serde(default)]
    pub take: Take,
    /// From this time on. Default: the start.
    #[serde(default)]
    pub from: Duration,
    /// Up to this time. Default: the end.
    #[serde(default)]
    pub to: Option<Duration>,
}

/// How the values of a case become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Together {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

/// Where along an axis values first come near the largest of them, or fulfil a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct First {
    /// The axis; its labels are numbers or quantities (`50 packets`). The value is the number, a quantity's in its SI unit.
    pub axis: String,
    /// Near means at least this share of the largest value along the axis, above 0 and at most 1.
    #[serde(default)]
    pub share: Option<f64>,
    /// Instead: the condition that the value (of several flows or nodes their sum) fulfils, as in `holds`.
    #[serde(default)]
    pub when: Option<String>,
}

/// Which of several cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Choose {
    /// That with the largest value.
    #[default]
    Largest,
    /// That with the smallest.
    Smallest,
}

/// One label or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a label or a list of labels")]
pub enum Labels {
    /// A single label.
    One(String),
    /// Any of these.
    Any(Vec<String>),
}

/// A reported value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or words in quotes")]
pub enum Reported {
    /// A number in the measure's unit.
    Number(f64),
    /// Words: "below the target".
    Words(String),
}

/// How a case is compared with another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Ours minus theirs.
    #[default]
    Difference,
    /// Ours over theirs.
    Ratio,
    /// Of two series: their correlation coefficient, step by step of the window.
    Correlation,
    /// Of two results with one value a case: Spearman's coefficient over all cases, the correlation of their ranks.
    RankCorrelation,
}

/// How several values become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Their mean.
    #[default]
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Their sum.
    Sum,
    /// The middle one: above a border if more than half of them are.
    Median,
    /// The largest less the smallest.
    Range,
    /// None: each value is ruled on by itself, with its own interval, and all must hold. With `steps` or `against` this is
    /// an order.
    Each,
}

/// A chart of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// The document's figure or table, or a remark.
    #[serde(default)]
    pub about: String,
    /// Chart that stands first in the report.
    #[serde(default)]
    pub first: bool,
    /// `time`, an axis of `[vary]`, or `cdf`: share of packets with at most this delay, with `log` above it.
    pub x: String,
    /// Series over `time` (`flows.*.delay_max_s`, `nodes.n1.limit`; first seed), measures over an axis as in a claim
    /// (`flows.*.delay_s.max`; mean and 95 % interval over the seeds), or distributions for `cdf` (`flows.*.delay_s`,
    /// `rtt_s`, `completion_s`; `nodes.*.sojourn_s`, `nodal_delay_s`; quantiles averaged over the seeds).
    pub y: Vec<String>,
    /// Title and unit of the y axis: "goodput (Mb/s)". `(s)`, `(b/s)` and `(bit/s)` are scaled to the values.
    pub y_title: String,
    /// Cases shown: axis = label, or a list of labels. Default: all.
    #[serde(default, rename = "where")]
    pub cases: BTreeMap<String, Labels>,
    /// Axis with a panel per label, on common scales.
    #[serde(default)]
    pub panels: Option<String>,
    /// Axis with a colour per label. Default: one per line.
    #[serde(default)]
    pub colour: Option<String>,
    /// Line at the flows' deadline.
    #[serde(default)]
    pub deadline: bool,
    /// Line at the controllers' target delay.
    #[serde(default)]
    pub target: bool,
    /// Logarithmic y axis.
    #[serde(default)]
    pub log: bool,
    /// Scale of the x axis, for `cdf` and for axes of positive numbers or quantities.
    #[serde(default)]
    pub x_scale: Spacing,
    /// Over an axis: one value per case, as in a claim.
    #[serde(default)]
    pub together: Option<Together>,
    /// Over an axis: comparison of cases, as in a claim.
    #[serde(default)]
    pub against: BTreeMap<String, Labels>,
    /// With `against`: `difference` or `ratio`.
    #[serde(default)]
    pub compare: Compare,
}

/// How numbers are spaced on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
}

/// A table of report and terminal: means over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Title.
    pub title: String,
    /// Remark.
    #[serde(default)]
    pub about: String,
    /// Axis of `[vary]` with a row per label.
    pub rows: String,
    /// Axes with a column per combination of labels. Other axes are averaged, unless `where` fixes them.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Cases shown: axis = label, or a list of labels. Default: all.
    #[serde(default, rename = "where")]
    pub cases: BTreeMap<String, Labels>,
    /// Figures of each case, side by side.
    pub cell: Vec<Cell>,
}

/// A figure of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Title and unit: "throughput (%)", "p95 (ms)"; SI without one.
    pub title: String,
    /// Result, as in a claim; the mean of several flows or nodes.
    pub measure: String,
    /// One value per case, as in a claim.
    #[serde(default)]
    pub together: Option<Together>,
    /// Comparison of cases, as in a claim.
    #[serde(default)]
    pub against: BTreeMap<String, Labels>,
    /// With `against`: `difference` or `ratio`.
    #[serde(default)]
    pub compare: Compare,
}
