//! The keys that are the lab's.

use crate::study::{Chart, Claim, Table};
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
    /// Statements about the results that are checked.
    #[serde(default)]
    pub(super) claim: Vec<Claim>,
    /// Pictures for the report.
    #[serde(default)]
    pub(super) chart: Vec<Chart>,
    /// Tables for the report and the terminal.
    #[serde(default)]
    pub(super) table: Vec<Table>,
}

/// The keys that [`Head`] reads, `vary` and `quick`.
pub(super) const LAB_KEYS: [&str; 8] = ["title", "id", "about", "vary", "quick", "claim", "chart", "table"];
