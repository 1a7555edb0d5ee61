//! A scenario while it is read, with the span of every word.

use super::cases::{Case, Scenario, Wishes};
use super::change::Change;
use super::conventions::{self, Choice as ConventionsKey};
use super::digest::Hashes;
use super::document;
use super::keys::{Head, LAB_KEYS, NETWORK_KEYS};
use super::refusal::Refusal;
use super::schema::Tables;
use super::source::Source;
use super::vary::{self, Vary};
use super::{base, ceilings, conditions, hints, variants};
use crate::claims;
use crate::study::{Axis, Extent};
use itertools::Itertools as _;
use sim::config::Network;
use std::collections::{BTreeMap, BTreeSet};
use toml::de::DeTable;
use units::Duration;

/// Largest number of cases: the network of each is built before the first run.
const MOST_CASES: usize = 10_000;

/// Largest number of runs: each keeps a file.
const MOST_RUNS: usize = 100_000;

/// Largest length of an id: it names a folder, and systems allow names of 255 bytes.
const LONGEST_ID: usize = 100;

/// A scenario with the span of every word.
pub(super) struct Draft<'s> {
    pub(super) source: &'s Source,
    /// The whole file as written, together with its base.
    written: DeTable<'s>,
    /// The file without the parts for other conventions; each key and value has its span.
    pub(super) root: DeTable<'s>,
    /// The network's part of the file, with the keys set from outside.
    pub(super) network: DeTable<'s>,
    pub(super) set: Vec<Change<'s>>,
    pub(super) extent: Extent,
    pub(super) head: Head,
    pub(super) vary: Vary<'s>,
    /// True if only the network of the file is run.
    base_only: bool,
}

impl<'s> Draft<'s> {
    /// Reads a scenario: the lab's keys, the sweep, and the network with keys set from outside.
    pub(super) fn read(source: &'s Source, wishes: &Wishes) -> Result<Self, Refusal> {
        Self::of(source, base::parse(source)?, wishes)
    }

    /// Reads a scenario from parsed tables.
    pub(super) fn of(source: &'s Source, mut root: DeTable<'s>, wishes: &Wishes) -> Result<Self, Refusal> {
        known_at_top(source, &root)?;
        ceilings::few_tables(source, &root)?;
        let written = root.clone();
        let chosen = chosen_conventions(&root, &wishes.set);
        variants::leave_out(&mut root, &chosen);
        let (lab, network) = parted(&root);
        let head = lab_keys(source, lab)?;
        let vary = vary::read(source, &root)?;
        let (set, extent, base_only) = (Vec::new(), Extent::Full, wishes.base_only);
        let mut draft = Self { source, written, root, network, set, extent, head, vary, base_only };
        draft.shorten(wishes)?;
        for k in 0..wishes.set.len() {
            draft.set(Change::asked(source, k)?)?;
        }
        if let Some(over) = &wishes.over {
            draft.vary = vary::asked(source, over, wishes.set.len())?;
            draft.head.forget_variations();
        }
        if !wishes.base_only {
            draft.no_change_is_lost()?;
        }
        Ok(draft)
    }

    /// Limits the seeds as requested, and applies `[quick]` for a short run.
    fn shorten(&mut self, wishes: &Wishes) -> Result<(), Refusal> {
        let asked = self.vary.seeds.len();
        if let Some(count) = wishes.seeds {
            // A short run never has more seeds than the file.
            self.vary.limit_seeds(if wishes.quick { count.min(asked) } else { count });
        }
        if wishes.quick {
            for change in vary::quick(self.source, &self.root, &mut self.vary)? {
                self.set(change)?;
            }
        }
        if !self.set.is_empty() || self.vary.seeds.len() < asked {
            self.extent = Extent::Reduced;
        }
        Ok(())
    }

    /// Sets a key of the network from outside.
    fn set(&mut self, change: Change<'s>) -> Result<(), Refusal> {
        change.apply(self.source, &mut self.network)?;
        self.set.push(change);
        Ok(())
    }

    /// Refuses a key that is set from outside or by an earlier axis if another axis sets it in every case. That change
    /// would be lost silently, and the label of the case would be wrong.
    fn no_change_is_lost(&self) -> Result<(), Refusal> {
        for (index, axis) in self.vary.axes.iter().enumerate() {
            let before = self.vary.axes[..index].iter();
            let before = before.flat_map(|axis| axis.choices.iter().map(move |choice| (axis, choice)));
            for later in &axis.choices {
                let met = before.clone().filter(|(other, choice)| {
                    !later.excludes(&other.name, choice) && !choice.excludes(&axis.name, later)
                });
                let earlier = self.set.iter().chain(met.flat_map(|(_, choice)| &choice.changes));
                if let Some(lost) = earlier.into_iter().find(|lost| later.changes.iter().any(|c| c.covers(lost))) {
                    let message = format!("`{}` cannot be set: `{}` in `[vary]` sets it", lost.path, axis.name);
                    return Err(self.source.refuse(lost.span.clone(), message));
                }
            }
        }
        Ok(())
    }

    /// Checks that each label occurs in a case, that no two labels of one axis occur in the same case, and that a short
    /// run keeps a case.
    fn labels_have_cases(&self, combinations: &[Vec<usize>]) -> Result<(), Refusal> {
        let mut seen: BTreeMap<claims::Case, &Vec<usize>> = BTreeMap::new();
        for chosen in combinations {
            let Some(other) = seen.insert(self.labels(chosen), chosen) else { continue };
            let mut pairs = self.vary.axes.iter().zip(other.iter().zip(chosen));
            if let Some((axis, (_, &index))) = pairs.find(|(_, (one, two))| one != two) {
                let choice = &axis.choices[index];
                let message = format!("`{}` has two values called `{}`", axis.name, choice.label);
                let refusal = self.source.refuse(choice.span.clone(), message);
                return Err(refusal.note("two values may have the same label if `only` gives them different cases"));
            }
        }
        for (rank, axis) in self.vary.axes.iter().enumerate() {
            let occurs = |index: usize| combinations.iter().any(|chosen| chosen[rank] == index);
            if let Some((_, choice)) = axis.choices.iter().enumerate().find(|(index, _)| !occurs(*index)) {
                let message = format!("no case has the value `{}`: `only` excludes all cases with it", choice.label);
                return Err(self.source.refuse(choice.span.clone(), message));
            }
        }
        if combinations.iter().any(|chosen| self.vary.keeps(chosen)) {
            return Ok(());
        }
        Err(self.refuse_at("quick.vary", "no case has the labels that `--quick` keeps"))
    }

    /// Returns the case with these values: its label on each axis.
    fn labels(&self, chosen: &[usize]) -> claims::Case {
        let pairs = self.vary.axes.iter().zip(chosen);
        pairs.map(|(axis, &index)| (axis.name.clone(), axis.choices[index].label.clone())).collect()
    }

    pub(super) fn scenario(&self, stem: &str) -> Result<Scenario, Refusal> {
        let base = self.network_of(&[])?;
        let set = self.set.iter().map(|change| (change.path.clone(), change.text.clone())).collect();
        let axes = self.vary.axes.iter().map(|axis| Axis { name: axis.name.clone(), labels: axis.labels() });
        let (cases, left_out) = self.cases()?;
        let shorter = base.duration < self.duration() || !(left_out.is_empty() || self.base_only);
        let id = self.id(stem)?;
        Ok(Scenario {
            alone: self.alone(&id, &BTreeSet::new()),
            id,
            title: self.head.title.clone(),
            about: self.head.about.trim().to_owned(),
            file: self.source.name.clone(),
            text: self.text(&BTreeSet::new()),
            set,
            axes: axes.collect(),
            conventions: self.conventions().to_owned(),
            hashes: Hashes::of(&self.root, &self.network_with(&[])?),
            seeds: self.vary.seeds.clone(),
            extent: if shorter { Extent::Reduced } else { self.extent },
            base,
            cases,
            left_out,
            claims: self.head.claim.clone(),
            rulings: self.head.rulings.clone(),
            chosen_by: self.head.chosen_by.clone(),
            models: self.head.model.clone(),
            charts: self.head.chart.clone(),
            tables: self.head.table.clone(),
            answer: self.head.answer.clone(),
        })
    }

    /// Returns the file unchanged; with a base, returns both as one file, without the base's settings at these offsets.
    fn text(&self, without: &BTreeSet<usize>) -> String {
        match self.source.of_base() {
            Some(_) => base::expanded(self.source, &self.written, without),
            None => self.source.text[self.source.own()].to_owned(),
        }
    }

    /// Returns the same text with the scenario's id.
    pub(super) fn alone(&self, id: &str, without: &BTreeSet<usize>) -> String {
        let text = self.text(without);
        match base::outline(text.as_bytes()).id {
            Some(_) => text,
            None => format!("id = {id:?}\n{text}"),
        }
    }

    /// Returns the simulator whose conventions the network follows.
    fn conventions(&self) -> &str {
        let chosen = self.network.get(conventions::KEY).and_then(|chosen| chosen.get_ref().as_str());
        chosen.unwrap_or("standard")
    }

    /// Returns the duration in the file; zero if it cannot be read.
    pub(super) fn duration(&self) -> Duration {
        let text = self.root.get("duration").and_then(|duration| duration.get_ref().as_str());
        text.and_then(|text| text.parse().ok()).unwrap_or(Duration::ZERO)
    }

    /// Returns the id. It names a folder, so it must be a plain word.
    fn id(&self, stem: &str) -> Result<String, Refusal> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match &self.head.id {
            None => {
                let id: String = stem.chars().take(LONGEST_ID).map(|c| if plain(c) { c } else { '-' }).collect();
                Ok(if id.trim_matches('.').is_empty() { "scenario".to_owned() } else { id })
            }
            Some(id) if id.len() <= LONGEST_ID && id.chars().all(plain) && !id.trim_matches('.').is_empty() => {
                Ok(id.clone())
            }
            Some(id) if id.len() > LONGEST_ID => {
                Err(self.refuse_at("id", format!("an id has at most {LONGEST_ID} letters: it names a folder")))
            }
            Some(id) => {
                let message =
                    format!("`{id}` cannot be an id: it names a folder; use letters, digits, `-`, `_` and `.`");
                Err(self.refuse_at("id", message))
            }
        }
    }

    /// Returns the cases that are run, and the labels of cases that `--quick` leaves out.
    fn cases(&self) -> Result<(Vec<Case>, Vec<claims::Case>), Refusal> {
        let product = |count: usize, axis: &vary::Axis| count.checked_mul(axis.choices.len());
        let count = self.vary.axes.iter().try_fold(1_usize, product);
        if count.is_none_or(|count| count > MOST_CASES) {
            return Err(self.refuse_at("vary", format!("the sweep has more than {MOST_CASES} cases")));
        }
        let combinations = self.all_combinations();
        self.labels_have_cases(&combinations)?;
        let (kept, left_out): (Vec<_>, Vec<_>) = combinations.into_iter().partition(|chosen| self.runs(chosen));
        let (count, seeds) = (kept.len(), self.vary.seeds.len());
        if count * seeds > MOST_RUNS {
            let message = format!("{count} cases with {seeds} seeds each exceed the maximum of {MOST_RUNS} runs");
            return Err(self.refuse_at("vary", message));
        }
        let mut cases = Vec::new();
        for chosen in kept {
            let network = self.network_of(&chosen)?;
            let changes = self.vary.axes.iter().zip(&chosen).flat_map(|(axis, &index)| &axis.choices[index].changes);
            let set = self.set.iter().chain(changes).map(|change| (change.path.clone(), change.text.clone())).collect();
            cases.push(Case { labels: self.labels(&chosen), set, network, baseline: None });
        }
        Ok((cases, left_out.iter().map(|chosen| self.labels(chosen)).collect()))
    }

    /// Returns, for each case that is run, the index of its value on each axis. The last axis changes fastest.
    pub(super) fn combinations(&self) -> Vec<Vec<usize>> {
        self.all_combinations().into_iter().filter(|chosen| self.runs(chosen)).collect()
    }

    /// True if the case with these values is run.
    pub(super) fn runs(&self, chosen: &[usize]) -> bool {
        self.vary.keeps(chosen) && (chosen.is_empty() || !self.base_only)
    }

    /// Returns, for each case of the file, the index of its value on each axis.
    pub(super) fn all_combinations(&self) -> Vec<Vec<usize>> {
        let indices = self.vary.axes.iter().map(|axis| 0..axis.choices.len());
        indices.multi_cartesian_product().filter(|chosen| self.vary.occurs(chosen)).collect()
    }

    /// Returns the network's tables with the chosen value of each axis; with no choice, those of the base network.
    pub(super) fn network_with(&self, chosen: &[usize]) -> Result<DeTable<'s>, Refusal> {
        let mut network = self.written_with(chosen)?;
        self.follow_conventions(&mut network)?;
        Ok(network)
    }

    /// Returns the tables as written, without keys that follow from `conventions`.
    pub(super) fn written_with(&self, chosen: &[usize]) -> Result<DeTable<'s>, Refusal> {
        let mut network = self.network.clone();
        for (axis, &index) in self.vary.axes.iter().zip(chosen) {
            for change in &axis.choices[index].changes {
                change.apply(self.source, &mut network)?;
            }
        }
        document::name_turns(&mut network).map_err(|place| {
            let refusal =
                self.source.refuse(place, "`turns` is not a controller: write `queues = \"turns\"` at an access point");
            refusal.note("this queue belongs to no access point")
        })?;
        document::inherit_queue(&mut network);
        Ok(network)
    }

    /// Returns the network with the chosen value of each axis.
    pub(super) fn network_of(&self, chosen: &[usize]) -> Result<Network, Refusal> {
        self.source.read(self.network_with(chosen)?)
    }

    /// Returns the keys set from outside, and those of the sweep.
    pub(super) fn changes(&self) -> impl Iterator<Item = &Change<'s>> {
        let choices = self.vary.axes.iter().flat_map(|axis| &axis.choices);
        self.set.iter().chain(choices.flat_map(|choice| &choice.changes))
    }

    /// Adds the keys that the network leaves out, with the values of its conventions.
    fn follow_conventions(&self, network: &mut DeTable<'s>) -> Result<(), Refusal> {
        let Some((key, value)) = network.remove_entry(conventions::KEY) else { return Ok(()) };
        let span = value.span();
        let chosen: ConventionsKey = self.source.read(DeTable::from_iter([(key, value)]))?;
        conventions::fill(network, chosen.conventions, &span);
        Ok(())
    }

    /// Creates a refusal that points at the key at `path`, or at the table around it.
    pub(super) fn refuse_at(&self, path: &str, message: impl Into<String>) -> Refusal {
        match document::locate(&self.root, path) {
            Some(span) => self.source.refuse(span, message),
            None => self.source.refuse_file(message),
        }
    }
}

/// Separates the lab's keys from the network's; `[vary]` and `[quick]` are read separately.
fn parted<'s>(root: &DeTable<'s>) -> (DeTable<'s>, DeTable<'s>) {
    let (lab, network): (DeTable, DeTable) =
        root.clone().into_iter().partition(|(key, _)| LAB_KEYS.contains(&key.get_ref().as_ref()));
    let by_itself = |key: &str| matches!(key, "vary" | "quick");
    (lab.into_iter().filter(|(key, _)| !by_itself(key.get_ref())).collect(), network)
}

/// Returns the simulator whose conventions apply: as requested from outside, else as in the file.
fn chosen_conventions(root: &DeTable, sets: &[String]) -> String {
    let asked = sets.iter().rev().find_map(|set| set.split_once('=').filter(|(key, _)| key.trim() == conventions::KEY));
    let own = root.get(conventions::KEY).and_then(|own| own.get_ref().as_str());
    asked.map_or(own.unwrap_or("standard"), |(_, name)| name.trim().trim_matches('"')).to_owned()
}

fn lab_keys(source: &Source, mut lab: DeTable<'_>) -> Result<Head, Refusal> {
    conditions::as_labels(source, &mut lab);
    source.read(lab)
}

fn known_at_top(source: &Source, root: &DeTable) -> Result<(), Refusal> {
    let known: Vec<&str> = LAB_KEYS.into_iter().chain(NETWORK_KEYS).collect();
    let mut unknown: Vec<_> = root.keys().filter(|key| !known.contains(&key.get_ref().as_ref())).collect();
    unknown.sort_by_key(|key| key.span().start);
    let Some(key) = unknown.first() else { return Ok(()) };
    let refusal = source.refuse(key.span(), format!("unknown key `{key}`"));
    Err(hints::unknown_key(key.get_ref(), "", &known, None, Tables::get()).into_iter().fold(refusal, Refusal::note))
}
