//! Faults of the record that are found without simulating, and contradictions between the record and runs.

use super::{Row, number, word};
use experiment::claims;
use experiment::scenario::Scenario;
use experiment::study::{Claim, Ruling, Verdict};
use std::collections::BTreeMap;

/// A scenario and its document.
#[derive(Clone, Debug)]
pub struct Named {
    /// Name of the document, which is also the name of the scenario's folder: `adth`.
    pub document: String,
    /// The scenario as in its file, or with conventions that are not the file's.
    pub scenario: Scenario,
}

/// Returns the faults of documents' records: claims that are missing, out of date, without a scenario or worded
/// differently. Claims that do not hold must give a reason. `others` are scenarios with other conventions than their
/// files', if the record has rows of such runs.
pub fn problems(scenarios: &[Named], others: &[Named], records: &BTreeMap<String, Vec<Row>>) -> Vec<String> {
    let mut found = Vec::new();
    let mut owners: BTreeMap<&str, &Named> = BTreeMap::new();
    for named in scenarios {
        for claim in &named.scenario.claims {
            if let Some(other) = owners.insert(&claim.id, named) {
                let (one, two) = (&other.scenario.file, &named.scenario.file);
                found.push(format!("{}: {one} and {two} both contain the claim with this id", claim.id));
            }
        }
    }
    for named in others {
        for claim in &named.scenario.claims {
            owners.entry(&claim.id).or_insert(named);
        }
    }
    for named in scenarios {
        for (key, by) in &named.scenario.chosen_by {
            let unknown = by.iter().filter(|id| !owners.contains_key(id.as_str()));
            found.extend(unknown.map(|id| format!("{}: chosen_by.{key}: there is no claim {id}", named.scenario.file)));
        }
    }
    for (document, rows) in records {
        for (number, row) in rows.iter().enumerate() {
            let same = |other: &Row| {
                (&other.id, &other.setting, &other.conventions) == (&row.id, &row.setting, &row.conventions)
            };
            if rows[..number].iter().any(same) {
                found.push(format!("{}: twice on record", row.id));
            }
            if owners.get(row.id.as_str()).is_none_or(|named| named.document != *document) {
                found.push(format!("{}: recorded for {document}, none of whose scenarios has this claim", row.id));
            }
        }
    }
    for named in scenarios.iter().chain(others) {
        let rows = records.get(&named.document).map_or(&[][..], Vec::as_slice);
        let owned = |claim: &&Claim| owners.get(claim.id.as_str()).is_some_and(|owner| std::ptr::eq(*owner, named));
        for claim in named.scenario.claims.iter().filter(owned) {
            let of_claim: Vec<&Row> = rows.iter().filter(|row| row.id == claim.id).collect();
            let own: Vec<&&Row> = of_claim.iter().filter(|row| row.conventions == named.scenario.conventions).collect();
            if own.is_empty() {
                found.push(format!("{}: not on record", claim.id));
            }
            for row in &of_claim {
                let ruled_with = |other: &&Named| {
                    other.scenario.id == named.scenario.id && other.scenario.conventions == row.conventions
                };
                let ruled = std::iter::once(named).chain(others).find(ruled_with);
                let hash = ruled.and_then(|named| named.scenario.hashes.get(&claim.id));
                if hash.as_deref() != Some(&row.hash) {
                    found.push(format!("{}: the record is outdated: run and record `{}`", claim.id, row.command));
                }
                if (*row).clone().reworded(claim).cells() != row.cells() {
                    found.push(format!("{}: the claim's text has changed; run `sluice claims --record`", claim.id));
                }
            }
            found.extend(no_evidence(&named.scenario, claim, &own));
            let fails = own.iter().any(|row| row.verdict.fails());
            if fails && (claim.why.is_none() || claim.cause.is_none()) {
                found.push(format!("{}: the claim does not hold, and lacks `why` or `cause`", claim.id));
            }
        }
    }
    found.dedup();
    found
}

/// Words that show that a statement is about a scheme's cost.
const COSTS: [&str; 5] = ["cost", "costs", "drop", "penalty", "price"];

/// Returns why a document's claim is no evidence: a value was chosen to match it, or its window has only one end for a
/// printed number. Nor may a claim about a cost have a better side.
fn no_evidence(scenario: &Scenario, claim: &Claim, rows: &[&&Row]) -> Vec<String> {
    let mut found = Vec::new();
    if claim.statement.is_none() {
        let chosen = scenario.chosen_by.iter().filter(|(_, by)| by.contains(&claim.id));
        found.extend(chosen.map(|(key, _)| {
            format!("{}: `{key}` was chosen to make the claim hold (`chosen_by`): add `statement = \"ours\"`", claim.id)
        }));
        if claims::is_open(claim) && !rows.iter().all(|row| matches!(row.verdict, Ruling::Better | Ruling::Differs)) {
            found.push(format!(
                "{}: the document gives a number, but `{}` has one bound only: give both bounds",
                claim.id, claim.holds
            ));
        }
    }
    let mut words = claim.says.split(|letter: char| !letter.is_alphabetic());
    if claim.better.is_some() && words.any(|word| COSTS.contains(&word)) {
        found.push(format!("{}: the claim is about a cost, so leave `better` out", claim.id));
    }
    found
}

/// Returns contradictions between a run's verdicts and the record. A short run's verdicts may be weaker, but not
/// different; a full run must have the same verdicts and values.
pub fn contradictions(rows: &[Row], verdicts: &[Verdict], conventions: &str, full: bool) -> Vec<String> {
    let on_record: BTreeMap<(&str, &str), &Row> = rows
        .iter()
        .filter(|row| row.conventions == conventions)
        .map(|row| ((row.id.as_str(), row.setting.as_str()), row))
        .collect();
    let against = |verdict: &Verdict| {
        let setting = verdict.setting.as_deref().unwrap_or_default();
        let name = if setting.is_empty() { verdict.id.clone() } else { format!("{} ({setting})", verdict.id) };
        let Some(row) = on_record.get(&(verdict.id.as_str(), setting)) else {
            return Some(format!("{name}: not on record"));
        };
        let (ours, recorded) = (word(&verdict.verdict), word(&row.verdict));
        if full {
            let values = [(verdict.measured, row.ours), (verdict.low, row.low), (verdict.high, row.high)];
            let moved = values.iter().any(|(now, before)| number(*now) != number(*before));
            let told =
                format!("{name}: now {}, {ours}; recorded {}, {recorded}", number(verdict.measured), number(row.ours));
            return (verdict.verdict != row.verdict || moved).then_some(told);
        }
        let told =
            format!("{name}: {ours} in a short run, {recorded} on record: write `full = true`, or lengthen short runs");
        (!weaker(verdict.verdict, row.verdict)).then_some(told)
    };
    verdicts.iter().filter_map(against).collect()
}

/// True if a short run's verdict claims no more than the full run's. With few seeds an interval can be narrow by
/// chance, so a claim may hold that full runs only do not refute.
fn weaker(short: Ruling, full: Ruling) -> bool {
    let held = |ruling| matches!(ruling, Ruling::Holds | Ruling::NotRefuted);
    matches!(short, Ruling::NotConfirmed | Ruling::TooFewSeeds | Ruling::NeedsFullRuns)
        || short == full
        || held(short) && held(full)
}
