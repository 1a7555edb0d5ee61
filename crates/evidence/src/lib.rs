//! The record of the values and verdicts of claims: `evidence/DOCUMENT.csv`, with a row for each verdict of a full run.
//!
//! This crate reads, writes and checks the record and makes tables of it; it simulates nothing. The record itself is
//! built into the command `sluice`. Programs that only run experiments or govern queues do not need this crate.
//!
//! Measured values come from runs. Statement, source and cause come from the scenario whenever a record is written.
//! Begin with [`read`].
#![cfg_attr(not(test), warn(clippy::exit, clippy::print_stdout, clippy::print_stderr))]

mod again;
mod audit;
mod show;
mod sources;
mod unstated;

pub use audit::{Named, contradictions, problems};
pub use show::{claim, counts, data, documents, headline, json, markdown, table};
pub use sources::{SOURCES, Source, sources};
pub use unstated::{Text, Unstated, unstated, untried};

use experiment::claims;
use experiment::csv;
use experiment::scenario::{Case, Scenario};
use experiment::study::{Cause, Claim, Extent, Origin, Reported, Ruling, Run, Study, Unit, Verdict};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

/// A verdict on record. Its fields are the columns of the file, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Id of the claim.
    pub id: String,
    /// Setting to which the verdict applies, if the claim has several verdicts: "RTS/CTS".
    pub setting: String,
    /// Simulator whose conventions the network followed: "standard", "ns-2".
    pub conventions: String,
    /// True for one of the document's main statements.
    pub headline: bool,
    /// Origin of the statement; `None` if it is the document's.
    pub kind: Option<Origin>,
    /// The statement, in words.
    pub statement: String,
    /// Where the document makes the statement.
    pub source: String,
    /// Value of the document: a number in the unit of the row, or words.
    pub document: Option<Reported>,
    /// Value of Sluice; NaN if there is none.
    #[serde(deserialize_with = "number_or_nan")]
    pub ours: f64,
    /// Lower end of the value's 95 % interval, or smallest value of the seeds.
    #[serde(deserialize_with = "number_or_nan")]
    pub low: f64,
    /// Upper end of the interval, or largest value of the seeds.
    #[serde(deserialize_with = "number_or_nan")]
    pub high: f64,
    /// Unit of these values.
    pub unit: Unit,
    /// The case and seed that decided, if there were several values.
    pub at: String,
    /// Condition that the value must fulfil for the claim to hold.
    pub window: String,
    /// The verdict.
    pub verdict: Ruling,
    /// Values and verdicts for neighbouring choices of parameters.
    pub neighbours: String,
    /// Parameters for which a neighbouring choice has another verdict.
    pub depends_on: String,
    /// Cause of the difference.
    pub cause: Option<Cause>,
    /// Day of the runs, in UTC: `2026-05-09`.
    pub date: String,
    /// Command that repeats the runs.
    pub command: String,
    /// Hash of everything that determines the verdict.
    pub hash: String,
}

const COLUMNS: &str = "id,setting,conventions,headline,kind,statement,source,document,ours,low,high,unit,at,window,verdict,\
    neighbours,depends_on,cause,date,command,hash";

/// Text in the column `kind` if the statement is the document's.
const DOCUMENTS_OWN: &str = "document";

/// Folder of the record, next to the folder of the scenarios.
pub const FOLDER: &str = "evidence";

/// The record of the repository: each file's path below `evidence`, and its content.
const BUILT_IN: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/recorded.rs"));

/// Returns the name and text of each document's record: from the working directory if it also has scenarios, otherwise
/// from this program.
///
/// # Errors
/// A file cannot be read.
pub fn texts() -> io::Result<Vec<(String, String)>> {
    let named = |name: &str, text: &[u8]| {
        let document = name.strip_suffix(".csv")?.to_owned();
        Some((document, String::from_utf8_lossy(text).into_owned()))
    };
    if !Path::new("scenarios").is_dir() || !Path::new(FOLDER).is_dir() {
        return Ok(BUILT_IN.iter().filter_map(|(name, text)| named(name, text)).collect());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let entry = entry?;
        found.extend(named(&entry.file_name().to_string_lossy(), &fs::read(entry.path())?));
    }
    Ok(found)
}

/// Reads a file of the record.
///
/// # Errors
/// This version of Sluice would write a line differently; the error is the first such line.
pub fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = csv::parsed(text)?.into_iter();
    if lines.next().is_none_or(|head| head.join(",") != COLUMNS) {
        return Err(format!("the columns are not {COLUMNS}"));
    }
    let row = |(number, cells): (usize, Vec<String>)| {
        Row::from_cells(cells).ok_or_else(|| format!("row {}: Sluice now writes a value in another form", number + 1))
    };
    lines.enumerate().map(row).collect()
}

/// Writes a file of the record.
pub fn write(rows: &[Row]) -> String {
    let mut text = format!("{COLUMNS}\n");
    for row in rows {
        text.push_str(&csv::line(row.cells().iter().map(String::as_str)));
    }
    text
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else { return Vec::new() };
        // JSON has no infinite numbers.
        let measured = |name: &str| match name {
            "ours" => self.ours,
            "low" => self.low,
            "high" => self.high,
            _ => f64::NAN,
        };
        let cell = |(name, value): (String, Value)| match value {
            Value::Null if name == "kind" => DOCUMENTS_OWN.to_owned(),
            Value::Bool(true) => "yes".to_owned(),
            Value::String(text) => text,
            value => number(value.as_f64().unwrap_or_else(|| measured(&name))),
        };
        fields.into_iter().map(cell).collect()
    }

    fn from_cells(cells: Vec<String>) -> Option<Self> {
        let value = |name: &str, cell: String| match name {
            "headline" => Value::Bool(!cell.is_empty()),
            "kind" if cell == DOCUMENTS_OWN => Value::Null,
            "kind" | "document" | "cause" if cell.is_empty() => Value::Null,
            "document" => cell.parse::<f64>().map_or(Value::String(cell), Value::from),
            _ => Value::String(cell),
        };
        let is_whole = cells.len() == COLUMNS.split(',').count();
        let fields = COLUMNS.split(',').zip(cells).map(|(name, cell)| (name.to_owned(), value(name, cell)));
        let fields: Map<String, Value> = fields.collect();
        serde_json::from_value(fields.into()).ok().filter(|_| is_whole)
    }

    /// Returns the row with the claim's present texts in the scenario.
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

/// Reads a number that [`number`] wrote.
fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() { Ok(f64::NAN) } else { text.parse().map_err(D::Error::custom) }
}

/// Rounds to six significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Formats a number with six significant digits; empty for NaN.
fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { rounded(value).to_string() }
}

/// Returns the command for an experiment's full runs.
pub fn command(scenario: &Scenario) -> String {
    let set = scenario.set.iter().map(|(key, value)| format!(" --set {key}={}", value.trim_matches('"')));
    format!("sluice reproduce {}{}", scenario.id, set.collect::<String>())
}

/// Returns the rows of a scenario's full runs, in the order of its claims. Verdicts are computed again from the stored
/// runs, so a claim may be newer than its runs. `then` is the scenario as it was run: a run is used if its network and
/// seed are the same, whatever its labels were.
///
/// # Errors
/// A run is missing.
pub fn rows(scenario: &Scenario, then: &Scenario, study: &Study, date: &str) -> Result<Vec<Row>, String> {
    let network = |case: &Case| serde_json::to_string(&case.network).map_err(|error| error.to_string());
    let mut made: BTreeMap<(String, u64), &Run> = BTreeMap::new();
    for (case, runs) in then.cases.iter().zip(study.runs.chunks(then.seeds.len().max(1))) {
        if runs.iter().any(|run| run.case != case.labels) {
            return Err("the results are from a different scenario".to_owned());
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
                return Err(format!("the results lack seed {seed} of {} in the present scenario", labels.join(", ")));
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
            hash: scenario.hashes.get(&verdict.id).unwrap_or_default(),
            id: verdict.id,
            setting: verdict.setting.unwrap_or_default(),
            conventions: scenario.conventions.clone(),
            ours: rounded(verdict.measured),
            low: rounded(verdict.low),
            high: rounded(verdict.high),
            unit: verdict.unit,
            at: verdict.at,
            window: verdict.holds,
            verdict: verdict.verdict,
            depends_on: verdict.depends_on.join(", "),
            date: date.to_owned(),
            command: command(scenario),
            ..Row::default()
        };
        Some(row.reworded(claim))
    };
    Ok(verdicts.into_iter().filter_map(row).collect())
}

/// Merges new rows into a document's record. Each claim of its scenarios, in their order, gets its new rows, or else
/// keeps its old ones. Claims that are in no scenario are left out. A file may occur several times among the scenarios:
/// once for each set of conventions with claims.
pub fn merged(scenarios: &[Scenario], new: &[Row], old: &[Row]) -> Vec<Row> {
    let mut merged = Vec::new();
    let mut seen = BTreeSet::new();
    for scenario in scenarios {
        for claim in scenario.claims.iter().filter(|claim| seen.insert(&claim.id)) {
            let of = |rows: &[Row]| -> Vec<Row> { rows.iter().filter(|row| row.id == claim.id).cloned().collect() };
            let (new, old) = (of(new), of(old));
            let mut conventions: Vec<&String> = new.iter().chain(&old).map(|row| &row.conventions).collect();
            // Rows with the scenario's own conventions come first.
            conventions.sort_by_key(|name| (**name != scenario.conventions, (*name).clone()));
            conventions.dedup();
            for name in conventions {
                let with = |rows: &[Row]| -> Vec<Row> {
                    rows.iter().filter(|row| row.conventions == *name).cloned().collect()
                };
                let rows = Some(with(&new)).filter(|new| !new.is_empty()).unwrap_or_else(|| with(&old));
                let has = |other: &&Scenario| other.id == scenario.id && other.conventions == *name;
                let ruled = scenarios.iter().find(has).unwrap_or(scenario);
                merged.extend(rows.into_iter().map(|row| again::ruled(row, claim, ruled).reworded(claim)));
            }
        }
    }
    merged
}

/// Returns the day in UTC of a time in seconds since 1970: `2026-05-09`.
pub fn day(seconds: u64) -> String {
    let [year, month, day] = units::date(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests;
