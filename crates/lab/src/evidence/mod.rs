//! The record of what was measured for every claim: `evidence/DOCUMENT.csv`, one row per verdict of a full run.
//!
//! Measured values come from runs. The words beside them (statement, source, cause) are those of the scenario and are
//! updated whenever the record is written.

mod audit;
mod show;
mod sources;

pub use audit::{Named, contradictions, problems};
pub use show::{claim, counts, data, documents, headline, json, markdown, table};
pub use sources::{SOURCES, Source, sources};

use experiment::claims;
use experiment::csv;
use experiment::scenario::{Case, Scenario};
use experiment::study::{Cause, Claim, Extent, Origin, Reported, Ruling, Run, Study, Unit, Verdict};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A verdict on record.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The claim's id.
    pub id: String,
    /// The setting within which it was ruled on, if a claim has several verdicts: "RTS/CTS".
    pub setting: String,
    /// The simulator whose conventions the network followed: "standard", "ns-2".
    pub conventions: String,
    /// One of the statements for which the document stands.
    pub headline: bool,
    /// The origin of the statement; `None` if it is the document's.
    pub kind: Option<Origin>,
    /// The statement, in words.
    pub statement: String,
    /// The place in the document.
    pub source: String,
    /// The document's value: a number in the unit of the row, or words.
    pub document: Option<Reported>,
    /// Our value; NaN if there is none.
    pub ours: f64,
    /// Lower end of its 95 % interval, or the smallest value of the seeds.
    pub low: f64,
    /// Upper end, or the largest.
    pub high: f64,
    /// The unit of these values.
    pub unit: Unit,
    /// The case and seed that decided, among several values.
    pub at: String,
    /// The condition under which the claim holds.
    pub window: String,
    /// The verdict.
    pub verdict: Ruling,
    /// Values and verdicts with neighbouring choices of parameters.
    pub neighbours: String,
    /// The parameters with a neighbouring choice that has another verdict.
    pub depends_on: String,
    /// The cause of the difference.
    pub cause: Option<Cause>,
    /// The day on which the runs were made, in UTC: `2026-05-09`.
    pub date: String,
    /// The command that makes them again.
    pub command: String,
    /// The hash of everything that determines the ruling.
    pub hash: String,
}

/// The columns of the file, in their order.
const COLUMNS: [&str; 21] = [
    "id",
    "setting",
    "conventions",
    "headline",
    "kind",
    "statement",
    "source",
    "document",
    "ours",
    "low",
    "high",
    "unit",
    "at",
    "window",
    "verdict",
    "neighbours",
    "depends_on",
    "cause",
    "date",
    "command",
    "hash",
];

/// The entry in the column `kind` for a statement of the document.
const DOCUMENTS_OWN: &str = "document";

/// Reads a file of the record.
///
/// # Errors
/// The first line that this version would write differently.
pub fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = csv::parsed(text)?.into_iter();
    if lines.next().is_none_or(|head| head != COLUMNS) {
        return Err(format!("the columns are not {}", COLUMNS.join(", ")));
    }
    let row = |(number, cells): (usize, Vec<String>)| {
        Row::from_cells(cells).ok_or_else(|| format!("row {}: a value is not one that this version writes", number + 1))
    };
    lines.enumerate().map(row).collect()
}

/// Writes a file of the record.
pub fn write(rows: &[Row]) -> String {
    let mut text = csv::line(COLUMNS.into_iter());
    for row in rows {
        text.push_str(&csv::line(row.cells().iter().map(String::as_str)));
    }
    text
}

impl Row {
    fn cells(&self) -> [String; 21] {
        [
            self.id.clone(),
            self.setting.clone(),
            self.conventions.clone(),
            if self.headline { "yes" } else { "" }.to_owned(),
            self.kind.map_or_else(|| DOCUMENTS_OWN.to_owned(), |kind| word(&kind)),
            self.statement.clone(),
            self.source.clone(),
            match &self.document {
                None => String::new(),
                Some(Reported::Number(value)) => number(*value),
                Some(Reported::Words(words)) => words.clone(),
            },
            number(self.ours),
            number(self.low),
            number(self.high),
            word(&self.unit),
            self.at.clone(),
            self.window.clone(),
            word(&self.verdict),
            self.neighbours.clone(),
            self.depends_on.clone(),
            self.cause.map_or_else(String::new, |cause| word(&cause)),
            self.date.clone(),
            self.command.clone(),
            self.hash.clone(),
        ]
    }

    fn from_cells(cells: Vec<String>) -> Option<Self> {
        let mut cells = <[String; 21]>::try_from(cells).ok()?.into_iter();
        let mut next = move || cells.next().unwrap_or_default();
        let number = |text: String| if text.is_empty() { Some(f64::NAN) } else { text.parse().ok() };
        let some = |text: String| (!text.is_empty()).then_some(text);
        Some(Self {
            id: next(),
            setting: next(),
            conventions: next(),
            headline: !next().is_empty(),
            kind: some(next()).filter(|kind| kind != DOCUMENTS_OWN).map(unword).transpose().ok()?,
            statement: next(),
            source: next(),
            document: some(next()).map(|text| match text.parse() {
                Ok(value) => Reported::Number(value),
                Err(_) => Reported::Words(text),
            }),
            ours: number(next())?,
            low: number(next())?,
            high: number(next())?,
            unit: unword(next()).ok()?,
            at: next(),
            window: next(),
            verdict: unword(next()).ok()?,
            neighbours: next(),
            depends_on: next(),
            cause: some(next()).map(unword).transpose().ok()?,
            date: next(),
            command: next(),
            hash: next(),
        })
    }

    /// Returns the row with the scenario's present words for the claim.
    #[must_use]
    fn reworded(self, claim: &Claim) -> Self {
        Self {
            headline: claim.headline,
            kind: claim.statement,
            statement: claim.says.clone(),
            source: claim.source.clone(),
            document: claim.reported.clone().map(|document| match document {
                Reported::Number(value) => Reported::Number(rounded(value)),
                words @ Reported::Words(_) => words,
            }),
            cause: claim.cause,
            unit: claims::unit(claim),
            ..self
        }
    }

    /// Returns the experiment from whose runs the row comes.
    pub fn experiment(&self) -> &str {
        self.command.split(' ').nth(2).unwrap_or_default()
    }
}

/// Returns the name that serde gives to a value of an enumeration.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}

fn unword<T: DeserializeOwned>(word: String) -> serde_json::Result<T> {
    serde_json::from_value(Value::String(word))
}

/// Rounds to six significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Formats a number with six significant digits; empty for NaN.
fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { rounded(value).to_string() }
}

/// Returns the command that makes an experiment's full runs.
pub fn command(scenario: &Scenario) -> String {
    let set = scenario.set.iter().map(|(key, value)| format!(" --set {key}={}", value.trim_matches('"')));
    format!("sluice reproduce {}{}", scenario.id, set.collect::<String>())
}

/// Returns the rows of a scenario's full runs, by claim in the scenario's order. Claims are ruled on again from the
/// runs that are kept, so that a claim may be newer than the runs. `then` is the scenario with which the runs were
/// made: runs of the same network with the same seed are taken, whatever their labels were.
///
/// # Errors
/// When a run is missing.
pub fn rows(scenario: &Scenario, then: &Scenario, study: &Study, date: &str) -> Result<Vec<Row>, String> {
    let network = |case: &Case| serde_json::to_string(&case.network).map_err(|error| error.to_string());
    let mut made: BTreeMap<(String, u64), &Run> = BTreeMap::new();
    for (case, runs) in then.cases.iter().zip(study.runs.chunks(then.seeds.len().max(1))) {
        if runs.iter().any(|run| run.case != case.labels) {
            return Err("its runs are not those of its scenario".to_owned());
        }
        let network = network(case)?;
        made.extend(runs.iter().map(|run| ((network.clone(), run.seed), run)));
    }
    let mut runs = Vec::new();
    for case in &scenario.cases {
        let network = network(case)?;
        for seed in &scenario.seeds {
            let Some(run) = made.get(&(network.clone(), *seed)) else {
                let labels: Vec<&str> = case.labels.values().map(String::as_str).collect();
                return Err(format!("no run with seed {seed} of the network that is {} today", labels.join(", ")));
            };
            runs.push(Run { case: case.labels.clone(), ..(*run).clone() });
        }
    }
    let sweep = claims::Sweep { seeds: &scenario.seeds, runs: &runs, extent: Extent::Full, left_out: &[] };
    let verdicts = claims::judge(&scenario.claims, &scenario.rulings, &sweep);
    let row = |verdict: Verdict| {
        let claim = scenario.claims.iter().find(|claim| claim.id == verdict.id)?;
        let neighbours = verdict.neighbours.iter().map(|beside| {
            let verdict = beside.verdict.map_or_else(|| "left out".to_owned(), |verdict| word(&verdict));
            format!("{}: {} {verdict}", beside.label, number(beside.measured))
        });
        let row = Row {
            neighbours: neighbours.collect::<Vec<_>>().join("; "),
            hash: scenario.hashes.get(&verdict.id).cloned().unwrap_or_default(),
            id: verdict.id,
            setting: verdict.setting.unwrap_or_default(),
            conventions: scenario.conventions.clone(),
            headline: false,
            kind: None,
            statement: String::new(),
            source: String::new(),
            document: None,
            ours: rounded(verdict.measured),
            low: rounded(verdict.low),
            high: rounded(verdict.high),
            unit: verdict.unit,
            at: verdict.at,
            window: verdict.holds,
            verdict: verdict.verdict,
            depends_on: verdict.depends_on.join(", "),
            cause: None,
            date: date.to_owned(),
            command: command(scenario),
        };
        Some(row.reworded(claim))
    };
    Ok(verdicts.into_iter().filter_map(row).collect())
}

/// Merges new rows into a document's record: for every claim of its scenarios, in their order, the new rows, or else
/// those on record. Claims that no scenario has any more are left out.
/// The scenarios may contain one file once for each of the conventions that it has claims for.
pub fn merged(scenarios: &[Scenario], new: &[Row], old: &[Row]) -> Vec<Row> {
    let mut merged = Vec::new();
    let mut seen = BTreeSet::new();
    for scenario in scenarios {
        for claim in scenario.claims.iter().filter(|claim| seen.insert(&claim.id)) {
            let of = |rows: &[Row]| -> Vec<Row> { rows.iter().filter(|row| row.id == claim.id).cloned().collect() };
            let (new, old) = (of(new), of(old));
            let mut conventions: Vec<&String> = new.iter().chain(&old).map(|row| &row.conventions).collect();
            // The scenario's own conventions come first.
            conventions.sort_by_key(|name| (**name != scenario.conventions, (*name).clone()));
            conventions.dedup();
            for name in conventions {
                let with = |rows: &[Row]| -> Vec<Row> {
                    rows.iter().filter(|row| row.conventions == *name).cloned().collect()
                };
                let rows = Some(with(&new)).filter(|new| !new.is_empty()).unwrap_or_else(|| with(&old));
                merged.extend(rows.into_iter().map(|row| row.reworded(claim)));
            }
        }
    }
    merged
}

/// Returns the day of a time in seconds since 1970, in UTC: `2026-05-09`.
pub fn day(seconds: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut days, mut year) = (seconds / 86_400, 1970);
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests;
