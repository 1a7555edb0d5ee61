//! The keys that are the lab's.

use crate::study::{Answer, Chart, Claim, Models, Rulings, Table};
use schemars::JsonSchema;
use serde::Deserialize;

/// The keys of a scenario that are the lab's; all others are the network's.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// What the scenario is, in a line.
    pub(super) title: String,
    /// The experiment's id, which names its folder of results. Default: the file's name.
    #[serde(default)]
    pub(super) id: Option<String>,
    /// What the scenario shows, in a paragraph or two of plain text.
    #[serde(default)]
    pub(super) about: String,
    /// The file that this one inherits from, relative to it. Tables are merged key by key; other values and lists (also of
    /// tables) replace those of the base. `id` is not inherited, and a base has no base itself. In a folder, a file that
    /// another one names as its base and that has no `id` is not an experiment. `sluice check --expand FILE` prints the whole.
    #[serde(default)]
    #[expect(dead_code, reason = "it is read before the other keys")]
    base: Option<String>,
    /// What the report and the terminal say first.
    #[serde(default)]
    pub(super) answer: Answer,
    /// Statements about the results that are checked.
    #[serde(default)]
    pub(super) claim: Vec<Claim>,
    /// Within what claims are ruled on, and which other choices are looked at beside them.
    #[serde(default)]
    pub(super) rulings: Rulings,
    /// Analytic models that are computed beside every run.
    #[serde(default)]
    pub(super) model: Models,
    /// Pictures for the report.
    #[serde(default)]
    pub(super) chart: Vec<Chart>,
    /// Tables for the report and the terminal.
    #[serde(default)]
    pub(super) table: Vec<Table>,
}

impl Head {
    /// What speaks of the file's own sweep goes.
    pub(super) fn forget_variations(&mut self) {
        self.answer = Answer::default();
        self.claim.clear();
        self.rulings = Rulings::default();
        self.chart.clear();
        self.table.clear();
    }
}

/// The keys that [`Head`] reads, `vary` and `quick`.
pub(super) const LAB_KEYS: [&str; 12] =
    ["title", "id", "about", "base", "answer", "vary", "quick", "claim", "rulings", "model", "chart", "table"];

/// The others. They stand here so that a scenario without a fault is read without the schema, which takes longer to build than
/// a short network to simulate.
pub(super) const NETWORK_KEYS: [&str; 17] = [
    "conventions",
    "duration",
    "warmup",
    "radio",
    "mac",
    "routing",
    "mobility",
    "nodes",
    "node",
    "wired",
    "queue",
    "category_queue",
    "class_queue",
    "consumption",
    "tcp",
    "flow",
    "record",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Tables;
    use std::collections::BTreeSet;

    #[test]
    fn the_keys_of_a_scenario_are_those_of_its_schema() {
        let keys: BTreeSet<&str> = LAB_KEYS.into_iter().chain(NETWORK_KEYS).collect();
        let table = Tables::get().at("").expect("the top level");
        assert_eq!(keys, table.keys.iter().map(|key| key.name.as_str()).collect());
        assert_eq!(keys.len(), LAB_KEYS.len() + NETWORK_KEYS.len());
    }
}
