//! A scenario that has been read: its axes, its cases and its claims.

use super::digest::Hashes;
use super::hints;
use crate::study::{Answer, Axis, Chart, Claim, Extent, Models, Rulings, Table};
use crate::watch::Outside;
use itertools::Itertools as _;
use sim::Governed;
use sim::config::{MostBytes, Network};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scenario, ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Id of the scenario: `adth-s1a`. If the file has no id, it is the file's name.
    pub id: String,
    /// Title of the scenario, one line.
    pub title: String,
    /// The experiment's purpose, in a paragraph or two of plain text; may be empty.
    pub about: String,
    /// The file's name, as it was given.
    pub file: String,
    /// Contents of the file, word for word; with a base, both files as one.
    pub text: String,
    /// Contents with the id and, once checked, without settings of the base that have no effect. They are a valid file
    /// on their own, with the same results in any folder.
    pub alone: String,
    /// The network of the file, without variations.
    pub base: Network,
    /// Keys of the base network that were set from outside (by `--set`), with their values.
    pub set: BTreeMap<String, String>,
    /// The axes of the sweep, in the file's order.
    pub axes: Vec<Axis>,
    /// Simulator whose conventions the network follows: "standard", "ns-3", "ns-2".
    pub conventions: String,
    /// For each claim's id, the hash of everything that determines its verdict.
    pub hashes: Hashes,
    /// The seeds of every case.
    pub seeds: Vec<u64>,
    /// Whether the file's runs are made in full, or reduced.
    pub extent: Extent,
    /// Combinations of the axes' values that are run; the last axis changes fastest.
    pub cases: Vec<Case>,
    /// Labels of cases that are not run, because of `--quick` or because only the file's network is run.
    pub left_out: Vec<BTreeMap<String, String>>,
    /// Claims on which verdicts are given, in the file's order.
    pub claims: Vec<Claim>,
    /// Settings for each of which claims get verdicts, and neighbouring choices.
    pub rulings: Rulings,
    /// Keys whose values were chosen to match printed numbers. Each has the claims that follow from it.
    pub chosen_by: BTreeMap<String, Vec<String>>,
    /// Analytic models that predict results of each run.
    pub models: Models,
    /// The charts of the report, in the file's order.
    pub charts: Vec<Chart>,
    /// The tables of the report and the terminal, in the file's order.
    pub tables: Vec<Table>,
    /// First sentences of the report and of the terminal's output.
    pub answer: Answer,
}

/// One combination of the values of all axes.
#[derive(Clone, Debug)]
pub struct Case {
    /// The label on each axis.
    pub labels: BTreeMap<String, String>,
    /// Keys whose values differ from the file, with these values as they are written.
    pub set: BTreeMap<String, String>,
    /// The network with these values.
    pub network: Network,
    /// Controllers outside Sluice that replace Sluice's; `None` except in the cases of a
    /// [baseline](Scenario::with_baseline).
    pub baseline: Option<Baseline>,
}

/// Controllers outside Sluice that replace those of a case.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The code that makes the decisions.
    pub outside: Arc<dyn Outside>,
    /// The queues whose controllers the baseline replaces.
    pub places: Vec<Governed>,
}

/// Settings for a scenario that come from outside its file.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Keys that are set, with their values: `queue.limit=50`.
    pub set: Vec<String>,
    /// Number of seeds to use instead of the file's: 1, 2, ...; if the file lists its seeds, the first of these.
    pub seeds: Option<usize>,
    /// True if the keys of the table `quick` apply, for a shorter run.
    pub quick: bool,
    /// True if only the file's network is run and checked, so that `set` may have keys of `[vary]`.
    pub base_only: bool,
    /// A sweep that replaces the file's `[vary]`. The file's claims, charts and tables are then dropped.
    pub over: Option<Over>,
}

/// A sweep requested from outside: every combination of the axes' values, with every seed.
#[derive(Clone, Debug, Default)]
pub struct Over {
    /// The axes; the last one changes fastest.
    pub axes: Vec<Varied>,
    /// The seeds of every case, each once.
    pub seeds: Vec<u64>,
}

/// An axis requested from outside.
#[derive(Clone, Debug)]
pub struct Varied {
    /// Name of the axis.
    pub name: String,
    /// The axis' values: the label of each, and its settings (`queue.limit=50`).
    pub values: Vec<(String, Vec<String>)>,
}

impl Wishes {
    /// Returns every requested `key=value`: those for all cases first, then those of the axes in their order.
    pub(super) fn changes(&self) -> Vec<String> {
        let over = self.over.iter().flat_map(|over| &over.axes).flat_map(|axis| &axis.values);
        self.set.iter().chain(over.flat_map(|(_, changes)| changes)).cloned().collect()
    }
}

impl Scenario {
    /// Describes defaults that depend on the standard, for keys that the file leaves out.
    pub fn defaults(&self) -> Option<&'static str> {
        let left_out = |Case { network, .. }: &Case| {
            let Network { mac, radio, .. } = network;
            let ampdu = mac.aggregation.ampdu.is_none() && network.ampdu() != MostBytes::Off;
            radio.standard.high_throughput() && (mac.access.is_none() || ampdu)
        };
        self.cases
            .iter()
            .any(left_out)
            .then_some("by default 802.11n, ac and ax have EDCA (`mac.access`) with A-MPDUs (`mac.aggregation`)")
    }

    /// Returns the network of the file alone, with one seed. Keeps claims and charts that do not refer to variations.
    #[must_use]
    pub fn without_variations(mut self, seed: u64) -> Self {
        if !self.axes.is_empty() {
            self.axes.clear();
            self.answer = Answer::default();
            self.claims.clear();
            self.charts.clear();
            self.tables.clear();
        }
        self.left_out.clear();
        if self.seeds.len() > 1 {
            self.extent = Extent::Reduced;
        }
        self.seeds = vec![seed];
        let (set, network) = (self.set.clone(), self.base.clone());
        self.cases = vec![Case { labels: BTreeMap::new(), set, network, baseline: None }];
        self
    }

    /// Returns the one case with these labels (each `axis=label`), with one seed. Drops claims, charts and tables,
    /// because they refer to all cases. An axis that is not named must have only one label.
    ///
    /// # Errors
    /// A label does not exist, or several cases have these labels.
    pub fn only(mut self, wanted: &[String], seed: u64) -> Result<Self, String> {
        for choice in wanted {
            let Some((name, label)) = choice.split_once('=') else {
                return Err(format!("--case '{choice}': expected AXIS=LABEL"));
            };
            let Some(axis) = self.axes.iter().find(|axis| axis.name == name.trim()) else {
                let known = hints::expected("one of", self.axes.iter().map(|axis| axis.name.as_str()));
                return Err(format!("--case '{choice}': this scenario varies no `{}`; {known}", name.trim()));
            };
            let label =
                axis.labels.iter().find(|known| **known == label.trim() || known.replace(' ', "") == label.trim());
            let Some(label) = label else {
                let known = hints::expected("one of", axis.labels.iter().map(String::as_str));
                return Err(format!("--case '{choice}': the axis has no such label; {known}"));
            };
            self.cases.retain(|case| case.labels.get(&axis.name) == Some(label));
        }
        if self.cases.is_empty() {
            return Err("--case: no case has all of these labels; name each axis once".to_owned());
        }
        if self.cases.len() != 1 {
            let open = |axis: &&Axis| {
                self.cases.iter().any(|case| case.labels[&axis.name] != self.cases[0].labels[&axis.name])
            };
            let open = self.axes.iter().filter(open).map(|axis| &axis.name).join(", ");
            return Err(format!("--case: {} cases have these labels; choose one by {open}", self.cases.len()));
        }
        self.base = self.cases[0].network.clone();
        self.answer = Answer::default();
        self.claims.clear();
        self.charts.clear();
        self.tables.clear();
        self.seeds = vec![seed];
        Ok(self)
    }
}
