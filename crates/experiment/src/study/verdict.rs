//! Verdicts on claims, and the settings within which claims are ruled on.

use super::{Cause, Origin, OverSeeds, Reported};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{apply, settings, table};

/// Settings that a document leaves open, and neighbouring values.
#[apply(settings)]
pub struct Rulings {
    /// Axis of `[vary]`: claims are judged within each label, with the verdicts side by side under one id. A claim
    /// whose `where` names the axis is judged only within those labels.
    pub each: Option<String>,
    /// Neighbouring values of a parameter.
    pub neighbour: Vec<Neighbour>,
}

/// Neighbouring values of a parameter. Claims that name `label` in `where` or `against` are also evaluated with each
/// label of `instead`, and the report shows the range. A claim keeps its verdict even if a neighbouring value changes
/// it, but is shown to depend on the parameter.
#[apply(table)]
pub struct Neighbour {
    /// Name shown: "T".
    pub parameter: String,
    /// Axis of `[vary]`.
    pub axis: String,
    /// Label of the value that decides.
    pub label: String,
    /// Labels of neighbouring values. A label that lacks a case of a claim is skipped for this claim.
    pub instead: Vec<String>,
}

/// The verdict on a claim by the measured values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The claim's id.
    pub id: String,
    /// The label of the axis `each` of [`Rulings`] for this ruling; `None` if the claim has one verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// The statement, in words.
    pub says: String,
    /// The place in the document.
    pub source: String,
    /// The document's value.
    pub reported: Option<Reported>,
    /// The condition under which the claim holds.
    pub holds: String,
    /// Our value: the mean over the seeds, or the value of the decisive seed. NaN (in files `null`) without a value, as
    /// for a ratio to zero.
    #[serde(deserialize_with = "number_or_nan")]
    pub measured: f64,
    /// Lower end of the value's 95 % interval over the seeds, equal to `measured` with one seed; if one seed decides,
    /// the smallest seed's value.
    #[serde(deserialize_with = "number_or_nan")]
    pub low: f64,
    /// Upper end of this interval, or the largest seed's value.
    #[serde(deserialize_with = "number_or_nan")]
    pub high: f64,
    /// The unit of `measured`, `low` and `high`.
    pub unit: Unit,
    /// The ruling on the seeds.
    pub seeds: OverSeeds,
    /// The decisive value in words: "target = 400 ms, n1; seed 3". Empty if there is only one value.
    pub at: String,
    /// The ruling on the claim.
    pub verdict: Ruling,
    /// One of the document's main statements.
    #[serde(default)]
    pub headline: bool,
    /// The origin of the statement; `None` if it is the document's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<Origin>,
    /// The reason why the claim does not hold, from the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The cause of the difference, from the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The results with neighbouring choices of parameters, in the scenario's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<Beside>,
    /// The parameters for which a neighbouring choice changes the verdict, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

impl Verdict {
    /// Returns the smallest and the largest value measured with the document's choice and its neighbours, of one
    /// parameter or of all. `None` without a neighbour with a value.
    pub fn range(&self, parameter: Option<&str>) -> Option<(f64, f64)> {
        let meant = self.neighbours.iter().filter(|beside| parameter.is_none_or(|name| beside.parameter == name));
        let values: Vec<f64> = meant.map(|beside| beside.measured).filter(|value| !value.is_nan()).collect();
        if values.is_empty() || self.measured.is_nan() {
            return None;
        }
        let all = || values.iter().copied().chain([self.measured]);
        Some((all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)))
    }

    /// Returns the parameters that have neighbours, each once, in the scenario's order.
    pub fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.neighbours.iter().map(|beside| beside.parameter.as_str()).collect();
        names.dedup();
        names
    }
}

/// The result of a claim with a neighbouring choice instead of the choice that is ruled on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// The parameter: `T`.
    pub parameter: String,
    /// The label that replaced the ruled one: `SWAN, T = 0.1 s`.
    pub label: String,
    /// Our value, as in [`Verdict`].
    #[serde(deserialize_with = "number_or_nan")]
    pub measured: f64,
    /// Lower end of its interval.
    #[serde(deserialize_with = "number_or_nan")]
    pub low: f64,
    /// Upper end.
    #[serde(deserialize_with = "number_or_nan")]
    pub high: f64,
    /// The verdict with this choice. `None` if the choice was left out, because a case of the claim was not run.
    pub verdict: Option<Ruling>,
}

/// The unit of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bits per second.
    #[serde(rename = "bit/s")]
    BitsPerSecond,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Packets.
    #[serde(rename = "packets")]
    Packets,
    /// A share of 1.
    #[serde(rename = "share")]
    Share,
    /// No unit, or an unknown unit.
    #[default]
    #[serde(rename = "1")]
    Number,
}

/// Reads a number; JSON has no NaN, which is written as `null`.
fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// The ruling on a claim, or the reason why there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    /// The measured value lies in the window.
    Holds,
    /// The claim's 95 % interval overlaps the window, which suffices for this claim (`seeds = "not-refuted"`).
    NotRefuted,
    /// The interval lies on the side of the window on which our value is better than the document's.
    Better,
    /// The claim was not ruled on, because the run was a short one.
    NeedsFullRuns,
    /// The claim was not ruled on: seeds that a short run left out could change the result.
    TooFewSeeds,
    /// The claim's 95 % interval contains a bound of the window.
    #[default]
    NotConfirmed,
    /// The interval does not lie in the window.
    Differs,
}

impl Ruling {
    /// All verdicts, in the order in which they are counted.
    pub const ALL: [Self; 7] = [
        Self::Holds,
        Self::NotRefuted,
        Self::Better,
        Self::Differs,
        Self::NotConfirmed,
        Self::TooFewSeeds,
        Self::NeedsFullRuns,
    ];

    /// Returns the word for people, and the verb for one and for several such claims.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Holds => ("holds", "holds", "hold"),
            Self::NotRefuted => ("not refuted", "is not refuted", "are not refuted"),
            Self::Better => ("better", "is better", "are better"),
            Self::Differs => ("differs", "differs", "differ"),
            Self::NotConfirmed => ("not confirmed", "is not confirmed", "are not confirmed"),
            Self::NeedsFullRuns => ("needs full runs", "needs full runs", "need full runs"),
            Self::TooFewSeeds => ("too few seeds", "has too few seeds", "have too few seeds"),
        }
    }

    /// Formats a count: "1 differs", "3 are not confirmed".
    pub fn counted(self, count: usize) -> String {
        let (_, one, several) = self.words();
        format!("{count} {}", if count == 1 { one } else { several })
    }

    /// True if the document's statement does not hold, as the exit status reports.
    pub fn fails(self) -> bool {
        matches!(self, Self::NotConfirmed | Self::Differs)
    }

    /// Returns the word for people.
    pub fn word(self) -> &'static str {
        self.words().0
    }
}

/// The share of a scenario's runs that were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Full,
    /// Fewer seeds, or shorter runs.
    Reduced,
}
