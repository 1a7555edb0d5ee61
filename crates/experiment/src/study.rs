//! A study: everything known after a scenario was run, from which the report is made.

mod emulation;
mod model;
mod verdict;

pub use emulation::{Emulation, Refused};
pub use model::{Bqm, Call, Devices, Equilibrium, Expectation, Modelled, Models, Rated, Swan, Voice};
pub use verdict::{Beside, Extent, Neighbour, Ruling, Rulings, Unit, Verdict};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use units::{Duration, apply, choice, settings, table};

/// A scenario, its runs and the verdicts on its claims. File, runs and verdicts are stored apart from the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// The experiment's id: `adth-s1a`.
    pub id: String,
    /// The scenario's title.
    pub title: String,
    /// The scenario's purpose, in a paragraph or two of plain text.
    pub about: String,
    /// The name of the scenario's file, as it was given.
    pub file: String,
    /// Version of Sluice that made the runs.
    pub version: String,
    /// The command line that makes these runs again.
    pub command: String,
    /// The axes of the sweep, in the scenario's order; a run's `case` has one label for each.
    pub axes: Vec<Axis>,
    /// The seeds of every case.
    pub seeds: Vec<u64>,
    /// The charts that the scenario asks for.
    pub charts: Vec<Chart>,
    /// The tables that the scenario asks for.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// Tables of an experiment that brings its own judge.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Distributions over cases.
    #[serde(default)]
    pub spreads: Vec<Spread>,
    /// First sentences of the report and of the terminal's output.
    #[serde(default)]
    pub answer: Answer,
    /// Access points that stand still, with x and y in metres.
    #[serde(default)]
    pub places: BTreeMap<String, [f64; 2]>,
    /// The scenario, merged with its bases, as one text.
    #[serde(default)]
    pub text: String,
    /// The scenario as a file that is valid on its own.
    #[serde(skip)]
    pub alone: String,
    /// All runs: by case in the scenario's order, then by seed.
    #[serde(skip)]
    pub runs: Vec<Run>,
    /// The verdicts, in the scenario's order.
    #[serde(skip)]
    pub claims: Vec<Verdict>,
}

impl Study {
    /// Returns the [warnings] of the runs.
    pub fn warnings(&self) -> Vec<String> {
        warnings(&self.runs)
    }
}

/// Returns the warnings of runs; of warnings that differ only in words with digits (quantities, `n0`), the first and
/// the number of the others.
pub fn warnings(runs: &[Run]) -> Vec<String> {
    let told: BTreeSet<&str> = runs.iter().flat_map(|run| &run.outcome.warnings).map(String::as_str).collect();
    let mut kinds: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for warning in told {
        let kind = warning.split(' ').filter(|word| !word.contains(|letter: char| letter.is_ascii_digit()));
        kinds.entry(kind.collect()).or_default().push(warning);
    }
    let folded = |alike: Vec<&str>| match alike.len() {
        1 => alike[0].to_owned(),
        count => format!("{} ({} more like this)", alike[0], count - 1),
    };
    kinds.into_values().map(folded).collect()
}

/// A table of texts: rows of labels and figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Title.
    pub title: String,
    /// Titles of the columns.
    pub head: Vec<String>,
    /// Rows, each with its label.
    pub rows: Vec<Vec<String>>,
}

/// A distribution over cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Title of its panel.
    pub title: String,
    /// Lines, each with its name and its values by case, in order of the values.
    pub lines: Vec<(String, Vec<(String, f64)>)>,
}

/// An axis of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name: `scheme`, `target`, `queue.adth.target_delay`.
    pub name: String,
    /// The labels of its values, in order: `FIFO-DF`, `200 ms`.
    pub labels: Vec<String>,
}

/// A run of one case with one seed, and its results: a line of `results.jsonl`.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The scenario's id.
    pub scenario: String,
    /// The seed from which all its random numbers follow.
    pub seed: u64,
    /// Label of the value of every axis.
    pub case: BTreeMap<String, String>,
    /// Every key whose value differs from the file, and the value as TOML text.
    pub set: BTreeMap<String, String>,
    /// Version of Sluice that made the run.
    pub version: String,
    /// Time on the wall clock, in seconds.
    pub wall_s: f64,
    /// Processor time, in seconds.
    pub cpu_s: f64,
    /// The measured results.
    #[serde(flatten)]
    pub outcome: sim::results::Outcome,
    /// The results of analytic models; absent if the scenario asks for none.
    pub model: Option<Modelled>,
    /// Lateness of real packets, and those not carried; absent unless the run was an emulation.
    pub emulation: Option<Emulation>,
}

/// A testable statement about the results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Id: the experiment's and a number, `adth-s1a.1`.
    pub id: String,
    /// Statement, in words.
    pub says: String,
    /// Place in the document: "ADTH section 4.2.1".
    pub source: String,
    /// The document's value, shown next to the measured value.
    pub reported: Option<Reported>,
    /// Cases of the claim: axis = label, or a list of labels: `{ scheme = "ADTH" }`. Default: all.
    #[serde(default, rename = "where")]
    pub cases: BTreeMap<String, Labels>,
    /// Result: `flows.*.deadline_miss_ratio`, `nodes.n1.queues.*.nodal_delay_s.p999`. `*` stands for all flows or
    /// nodes, `down*` for all whose names begin with `down`, `down* be` for those that also end with ` be`; each value
    /// counts separately. Or arithmetic with spaces around `+ - * /`: `a / sum(b)`, with `sum`, `mean`, `max`, `min`,
    /// `jain`, `abs`, `max(a, b)` and `before(series)`, the series one step earlier. Names with spaces are quoted:
    /// `'nodes.ap be.limit'`.
    pub measure: String,
    /// Unit to show with a computed value, if `measure` does not imply it.
    pub unit: Option<Unit>,
    /// Take one value of the time series that `measure` names.
    pub series: Option<Window>,
    /// Combine the values of a case into one. Default: not combined.
    pub together: Option<Together>,
    /// Combine the values of all cases along an axis, or of all `steps` along it, into one.
    pub first: Option<First>,
    /// Compare each case with the case of the same seed that differs only in these labels. If several cases match (a
    /// list, or `*`), the key `choose` or `reaching` picks one.
    #[serde(default)]
    pub against: BTreeMap<String, Labels>,
    /// Which of several cases of `against` is compared, by its value or sum.
    #[serde(default)]
    pub choose: Choose,
    /// Instead of `choose`: picks the first case of `against` with at least our value of this result, else the largest.
    pub reaching: Option<String>,
    /// Compare with this result of the same case, or of the case of `against`: every value with every value.
    pub than: Option<String>,
    /// Comparison, with `against` or `than`.
    #[serde(default)]
    pub compare: Compare,
    /// Combine several cases into one value: groups by name, each with labels that override `where`. Cases that differ
    /// in other axes give separate values.
    #[serde(default)]
    pub groups: BTreeMap<String, BTreeMap<String, Labels>>,
    /// Arithmetic on the names of the groups: `max(c) - min(c)`.
    pub formula: Option<String>,
    /// Subtract from each value the value of the previous label on this axis. With `compare = "ratio"`, but no
    /// `against` or `than`, divide by it.
    pub steps: Option<String>,
    /// Combine all values of a seed into one number.
    #[serde(default)]
    pub statistic: Statistic,
    /// Replace each number by 1 if this condition holds, else by 0; the mean is the share of runs.
    pub share_of_runs: Option<String>,
    /// How the numbers of the seeds decide the claim.
    #[serde(default)]
    pub seeds: OverSeeds,
    /// Window: "<= 400 ms", "> 4", "1.5 % .. 4.5 %", "!= 1". A number without a unit is in SI units, a share without
    /// `%` is a fraction of 1. `zero`: share 0 in the median seed, and at most 0.003 % over all seeds.
    pub holds: String,
    /// Side of the window on which our value is better than the document's, so that the verdict is `better`.
    pub better: Option<Side>,
    /// Judge the claim only by full runs, not with `--quick`.
    #[serde(default)]
    pub full: bool,
    /// One of the six to ten main statements of the document, listed first.
    #[serde(default)]
    pub headline: bool,
    /// Origin of the statement. Default: the document. Statements of other origin are counted apart.
    pub statement: Option<Origin>,
    /// Reason why the claim does not hold, in a sentence or two with the command or claim that shows it.
    pub why: Option<String>,
    /// Cause of the difference.
    pub cause: Option<Cause>,
}

/// A side of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Values below the window.
    Below,
    /// Values above the window.
    Above,
}

/// Origin of a statement that is not the document's. Such claims are not counted among the document's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A statement of ours: an inference, or a check of the model.
    Ours,
    /// A statement of another paper.
    Other,
    /// A repetition of another claim.
    Duplicate,
}

/// Cause of a difference from the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Sluice's model, or a choice that we made.
    Ours,
    /// A value that the document leaves open.
    Open,
    /// The document, by a contradiction, or its simulator.
    Document,
    /// The cause is not known.
    Unknown,
}

impl Cause {
    /// Returns the cause in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ours => "our model, or a choice of ours",
            Self::Open => "a value that the document leaves open",
            Self::Document => "the document, or its simulator",
            Self::Unknown => "not known",
        }
    }
}

/// The first sentences of report and terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Sentences. `{1}` stands for our value, with unit, of claim 1 of this experiment, `{adth-s1a.3}` for our value of
    /// claim `adth-s1a.3`. A sentence about a claim without a verdict is left out.
    #[serde(default)]
    pub says: Vec<String>,
}

/// Ruling on the values of the seeds.
#[apply(choice)]
pub enum OverSeeds {
    /// The claim holds if the 95 % interval of their mean lies in the window.
    #[default]
    Mean,
    /// As `mean`, but the claim also holds if the interval only overlaps the window.
    NotRefuted,
    /// The worst seed decides. For statements with "never", "always", "within", "largest".
    Every,
    /// The best seed decides.
    Some,
    /// The standard deviation of the numbers decides.
    Deviation,
    /// The standard deviation divided by the mean decides.
    RelativeDeviation,
}

/// A value of a time series.
#[apply(settings)]
#[derive(PartialEq)]
pub struct Window {
    /// The value.
    pub take: Take,
    /// Start of the window. Default: the run's start.
    pub from: Duration,
    /// End of the window. Default: the run's end.
    pub to: Option<Duration>,
    /// Only steps in which this series is above zero: `nodes.ap.dropped_packets`.
    pub during: Option<String>,
    /// Average the series over bins of this length first.
    pub bin: Option<Duration>,
    /// The condition of `reaches`, `stays` and `share`, as in `holds`.
    pub when: Option<String>,
    /// Divide the value, or with `when` each step, by this other value of the same series.
    pub relative_to: Option<Base>,
    /// Count this series instead of seconds, in `reaches`, `stays` and `settling`.
    pub counting: Option<String>,
    /// The share of the way to the final value that `settling` waits for.
    pub covered: Option<f64>,
    /// The longest time that a `fall` takes. Default: the whole window.
    pub over: Option<Duration>,
}

/// A value of a time series.
#[apply(choice)]
pub enum Take {
    /// The mean of the steps.
    #[default]
    Mean,
    /// The largest step.
    Max,
    /// The smallest step.
    Min,
    /// The last step.
    Last,
    /// The largest step minus the smallest, divided by the mean.
    Swing,
    /// The sum of the steps.
    Sum,
    /// The median step.
    P50,
    /// The steps' 99th percentile.
    P99,
    /// The largest fall from a step to a later step; zero without a fall.
    Fall,
    /// Change per second, by least squares.
    Slope,
    /// Seconds from `from` until the series is near its final value, the mean of the last fifth.
    Settling,
    /// Seconds from `from` until the end of the first step that fulfils `when`.
    Reaches,
    /// Seconds from `from` after which every step of the window fulfils `when`.
    Stays,
    /// The share of the steps that fulfil `when`.
    Share,
    /// The largest autocorrelation after the first negative one, up to half the window; 1 if the series repeats.
    Periodicity,
}

/// A value of a series by which other values are divided.
#[apply(settings)]
#[derive(PartialEq)]
pub struct Base {
    /// The value: one of the choices that need no other key.
    pub take: Take,
    /// Start of the window. Default: the run's start.
    pub from: Duration,
    /// End of the window. Default: the run's end.
    pub to: Option<Duration>,
}

/// Reduction of the values of a case to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Together {
    /// The values' sum.
    Sum,
    /// The values' mean.
    Mean,
    /// The largest value.
    Max,
    /// The smallest value.
    Min,
}

/// The label along an axis at which values first come near the largest, or fulfil a condition.
#[apply(table)]
#[derive(PartialEq)]
pub struct First {
    /// Axis; its labels are numbers or quantities (`50 packets`), taken in SI units.
    pub axis: String,
    /// Smallest share of the largest value that counts as near it: above 0 and at most 1.
    pub share: Option<f64>,
    /// Instead of `share`: condition on the value (summed over flows or nodes), as in `holds`.
    pub when: Option<String>,
}

/// Choice among several cases.
#[apply(choice)]
pub enum Choose {
    /// The case with the largest value is compared.
    #[default]
    Largest,
    /// The case with the smallest value is compared.
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

/// Comparison of a case with another.
#[apply(choice)]
pub enum Compare {
    /// The value minus the value compared with.
    #[default]
    Difference,
    /// The value divided by the value compared with.
    Ratio,
    /// The correlation coefficient of two series, step by step.
    Correlation,
    /// Spearman's coefficient of two results over all cases.
    RankCorrelation,
}

/// Reduction of several values to one.
#[apply(choice)]
pub enum Statistic {
    /// The values' mean.
    #[default]
    Mean,
    /// The largest value.
    Max,
    /// The smallest value.
    Min,
    /// The middle value, or the larger of two middle values.
    Median,
    /// The largest value minus the smallest.
    Range,
    /// Each value is judged separately, and all must hold.
    Each,
}

/// A chart of the report.
#[allow(clippy::struct_excessive_bools, reason = "each is a key of the scenario")]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// Title.
    pub title: String,
    /// The document's figure or table, or a remark.
    #[serde(default)]
    pub about: String,
    /// Show this chart first in the report.
    #[serde(default)]
    pub first: bool,
    /// `time`, an axis of `[vary]`, or `cdf`: share of packets with at most this delay (with `log`: above it). With
    /// `x_title`: a result; each case is a point with its intervals.
    pub x: String,
    /// Title and unit of the x axis where `x` is a result: "delay (ms)".
    pub x_title: Option<String>,
    /// With `x_title`: names the cases that no other case beats along both axes (Pareto front).
    pub front: Option<Front>,
    /// Series over `time` (`flows.*.delay_max_s`, `nodes.n1.limit`; first seed), measures over an axis
    /// (`flows.*.delay_s.max`; mean and 95 % interval), or distributions for `cdf` (`flows.*.delay_s`, `rtt_s`,
    /// `completion_s`; `nodes.*.sojourn_s`, `nodal_delay_s`; quantiles averaged over the seeds).
    pub y: Vec<String>,
    /// Title and unit of the y axis: "goodput (Mb/s)". `(s)`, `(b/s)` and `(bit/s)` are scaled to the values.
    pub y_title: String,
    /// Cases shown. Default: all.
    #[serde(default, rename = "where")]
    pub cases: BTreeMap<String, Labels>,
    /// Axis with a panel per label; the panels share scales, except with `x_title`.
    pub panels: Option<String>,
    /// Axis with a colour per label. Default: a colour per line.
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
    /// Scale of the x axis, for `cdf`, results, and axes of positive numbers or quantities.
    #[serde(default)]
    pub x_scale: Spacing,
    /// Over an axis: one value per case, as in a claim.
    pub together: Option<Together>,
    /// Over an axis: comparison of cases, as in a claim.
    #[serde(default)]
    pub against: BTreeMap<String, Labels>,
    /// With `against`: `difference` or `ratio`.
    #[serde(default)]
    pub compare: Compare,
}

impl Chart {
    /// The `x` of a chart of distributions.
    pub(crate) const CDF: &str = "cdf";
}

/// Cases that no other case beats along both axes of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Front {
    /// The better side along the x axis.
    pub x: Side,
    /// The better side along the y axis.
    pub y: Side,
    /// Result whose mean must fulfil `when`: `flows.ping.loss_ratio`; all other cases are drawn hollow.
    pub of: Option<String>,
    /// Condition of `of`: "<= 2 %".
    pub when: Option<String>,
}

/// Spacing of numbers on an axis.
#[apply(choice)]
pub enum Spacing {
    /// Equal distances for equal differences.
    #[default]
    Linear,
    /// Equal distances for equal ratios.
    Log,
}

/// A table of report and terminal: means over the seeds.
#[apply(table)]
#[derive(PartialEq)]
pub struct Table {
    /// Title.
    pub title: String,
    /// Remark.
    #[serde(default)]
    pub about: String,
    /// In the report only, not on the terminal.
    #[serde(default)]
    pub report_only: bool,
    /// Axis of `[vary]` with a row per label.
    pub rows: String,
    /// Axes with a column per combination of labels. Other axes are averaged, unless `where` fixes them.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Cases shown. Default: all.
    #[serde(default, rename = "where")]
    pub cases: BTreeMap<String, Labels>,
    /// Figures of each case, side by side.
    pub cell: Vec<Cell>,
}

/// A figure of a table.
#[apply(table)]
#[derive(PartialEq)]
pub struct Cell {
    /// Title and unit: "throughput (%)", "p95 (ms)"; without a unit, SI units.
    pub title: String,
    /// Result, as in a claim; averaged over several flows or nodes.
    pub measure: String,
    /// One value per case, as in a claim.
    pub together: Option<Together>,
    /// Comparison of cases, as in a claim.
    #[serde(default)]
    pub against: BTreeMap<String, Labels>,
    /// With `against`: `difference` or `ratio`.
    #[serde(default)]
    pub compare: Compare,
}
