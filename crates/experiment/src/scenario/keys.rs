//! The keys that belong to the lab and not to the network.

use crate::study::{Answer, Chart, Claim, Models, Rulings, Table};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The keys of a scenario that the lab reads; all other keys are the network's.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// Title in one line.
    pub(super) title: String,
    /// Id of the experiment, and its folder of results. Default: the file's name.
    pub(super) id: Option<String>,
    /// Purpose, in a paragraph or two of plain text.
    #[serde(default)]
    pub(super) about: String,
    /// File whose keys this scenario inherits.
    #[expect(dead_code, reason = "it is read before the other keys")]
    base: Option<String>,
    /// First sentences of the report and of the terminal's output.
    #[serde(default)]
    pub(super) answer: Answer,
    /// Testable statements about the results.
    #[serde(default)]
    pub(super) claim: Vec<Claim>,
    /// Settings that the document leaves open, with verdicts for each, and neighbouring values.
    #[serde(default)]
    pub(super) rulings: Rulings,
    /// Keys whose values were chosen to match printed numbers, each with the claims that follow from it. These claims
    /// are no evidence: their `statement` must not be the document's.
    #[serde(default)]
    pub(super) chosen_by: BTreeMap<String, Vec<String>>,
    /// Analytic models computed for every run.
    #[serde(default)]
    pub(super) model: Models,
    /// Charts of the report.
    #[serde(default)]
    pub(super) chart: Vec<Chart>,
    /// Tables of report and terminal.
    #[serde(default)]
    pub(super) table: Vec<Table>,
}

impl Head {
    /// Drops the parts that refer to the file's sweep.
    pub(super) fn forget_variations(&mut self) {
        self.answer = Answer::default();
        self.claim.clear();
        self.rulings = Rulings::default();
        self.chosen_by.clear();
        self.chart.clear();
        self.table.clear();
    }
}

/// The keys that [`Head`] reads, `vary` and `quick`.
pub(super) const LAB_KEYS: [&str; 13] = [
    "title", "id", "about", "base", "answer", "vary", "quick", "claim", "rulings", "chosen_by", "model", "chart",
    "table",
];

/// The keys of the network. They are listed here so that a valid scenario is read without the schema, because building
/// the schema takes longer than simulating a short network.
pub(super) const NETWORK_KEYS: [&str; 17] = [
    "conventions", "duration", "warmup", "radio", "mac", "routing", "mobility", "nodes", "node", "wired", "queue",
    "category_queue", "class_queue", "consumption", "tcp", "flow", "record",
];

#[cfg(test)]
mod tests {
    use super::super::schema::Tables;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_keys_of_a_scenario_are_those_of_its_schema() {
        let keys: BTreeSet<&str> = LAB_KEYS.into_iter().chain(NETWORK_KEYS).collect();
        let table = Tables::get().at("").expect("the top level");
        assert_eq!(keys, table.keys.iter().map(|key| key.name.as_str()).collect());
        assert_eq!(keys.len(), LAB_KEYS.len() + NETWORK_KEYS.len());
    }
}
