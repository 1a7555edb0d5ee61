//! Scenario files: read, refused with the place and the nearest right name, or turned into cases to run.

mod attachments;
mod ceilings;
mod check;
mod conditions;
mod conventions;
mod document;
mod explanations;
mod hints;
pub mod missing;
mod other;
mod source;
mod vary;

pub(crate) use conventions::{Choice as ConventionsKey, markdown as conventions};
pub use explanations::Explanation;
pub use hints::nearest;
pub use other::{load, parse};
pub use source::Refusal;

use crate::schema::Tables;
use crate::study::{Axis, Chart, Claim, Extent, Table};
use document::Change;
use schemars::JsonSchema;
use serde::Deserialize;
use sim::config::Network;
use source::Source;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use toml::Spanned;
use toml::de::DeTable;
use units::Duration;
use vary::Vary;

/// No scenario is larger, in bytes.
const LARGEST_FILE: u64 = 16 << 20;

/// A sweep of more cases than this was hardly meant; every case's network is built before the first run.
const MOST_CASES: usize = 10_000;

/// Each run keeps a file.
const MOST_RUNS: usize = 100_000;

/// The id names a folder, and systems allow names of 255 bytes.
const LONGEST_ID: usize = 100;

/// A scenario, ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its id: `adth-s1a`. Without one in the file, the file's name.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows.
    pub about: String,
    /// The file's name, as it was given.
    pub file: String,
    /// What the file holds, word for word.
    pub text: String,
    /// The network as the file has it, without the variations.
    pub base: Network,
    /// The keys of the base that were set from outside, and their values.
    pub set: BTreeMap<String, String>,
    /// What is varied, in the file's order.
    pub axes: Vec<Axis>,
    /// The seeds of every case.
    pub seeds: Vec<u64>,
    /// Whether that is all that the file asks for.
    pub extent: Extent,
    /// Every combination of the axes' values, the last axis changing fastest.
    pub cases: Vec<Case>,
    /// What is claimed.
    pub claims: Vec<Claim>,
    /// What is drawn.
    pub charts: Vec<Chart>,
    /// What is tabled.
    pub tables: Vec<Table>,
    /// What is written about claims, by their ids.
    pub explanations: BTreeMap<String, Explanation>,
}

/// One combination of the values of all axes.
#[derive(Clone, Debug)]
pub struct Case {
    /// The label of the value of every axis.
    pub labels: BTreeMap<String, String>,
    /// Every key that differs from the file, and its value as it was written.
    pub set: BTreeMap<String, String>,
    /// The network with these values.
    pub network: Network,
}

/// What is asked of a scenario beyond its file.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Keys set from outside: `queue.limit=50`.
    pub set: Vec<String>,
    /// How many seeds instead of the file's: 1, 2, ...; of a file that lists its seeds, the first so many.
    pub seeds: Option<usize>,
    /// With the keys of the table `quick`, for a shorter run.
    pub quick: bool,
    /// Only the network as it stands in the file will be run: keys that `[vary]` sets may be set from outside too.
    pub base_only: bool,
}

/// The keys of a scenario that are the lab's; all others are the network's.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// What the scenario is, in a line.
    title: String,
    /// The experiment's id, which names its folder of results. Default: the file's name.
    #[serde(default)]
    id: Option<String>,
    /// What the scenario shows, in a paragraph or two of plain text.
    #[serde(default)]
    about: String,
    /// Statements about the results that are checked.
    #[serde(default)]
    claim: Vec<Claim>,
    /// Pictures for the report.
    #[serde(default)]
    chart: Vec<Chart>,
    /// Tables for the report and the terminal.
    #[serde(default)]
    table: Vec<Table>,
}

/// The keys that [`Head`] reads, `vary` and `quick`.
const LAB_KEYS: [&str; 8] = ["title", "id", "about", "vary", "quick", "claim", "chart", "table"];

impl Scenario {
    /// Reads a scenario's file and makes sure that everything in it can be run: every network is built once, every claim
    /// and chart is looked up in the results that it will have.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn load(path: &Path, wishes: &Wishes) -> Result<Self, Refusal> {
        let name = path.display().to_string();
        let bytes = opened(path, &name, LARGEST_FILE)?;
        let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let source = Source { name: &name, text: utf8(&name, &bytes)?, sets: &wishes.set };
        let draft = Draft::read(source, wishes)?;
        let mut scenario = draft.scenario(&stem)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let networks = scenario.cases.iter_mut().map(|case| &mut case.network);
        attachments::attach(&draft, folder, networks.chain([&mut scenario.base]))?;
        check::check(&draft, &scenario)?;
        scenario.explanations = explanations::of(folder, scenario.claims.iter().map(|claim| claim.id.as_str()));
        Ok(scenario)
    }

    /// The network as the file has it, with one seed. Claims and charts stay where they do not speak of variations.
    #[must_use]
    pub fn without_variations(mut self, seed: u64) -> Self {
        if !self.axes.is_empty() {
            self.axes.clear();
            self.claims.clear();
            self.charts.clear();
            self.tables.clear();
        }
        if self.seeds.len() > 1 {
            self.extent = Extent::Reduced;
        }
        self.seeds = vec![seed];
        self.cases = vec![Case { labels: BTreeMap::new(), set: self.set.clone(), network: self.base.clone() }];
        self
    }

    /// The one case that has these labels, `axis=label` each, with one seed; claims, charts and tables, which are about all
    /// cases, go. An axis that is not named keeps its only label.
    ///
    /// # Errors
    /// A label that there is not, or labels that several cases have.
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
                return Err(format!("--case '{choice}': no such label; {known}"));
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
            let open: Vec<&str> = self.axes.iter().filter(open).map(|axis| axis.name.as_str()).collect();
            return Err(format!(
                "--case: {} cases have these labels; say which by {}",
                self.cases.len(),
                open.join(", ")
            ));
        }
        self.base = self.cases[0].network.clone();
        self.claims.clear();
        self.charts.clear();
        self.tables.clear();
        self.seeds = vec![seed];
        Ok(self)
    }

    /// Reads a scenario from bytes without building its networks. `name` stands in refusals; its stem is the default id.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn parse(name: &str, bytes: &[u8], wishes: &Wishes) -> Result<Self, Refusal> {
        let source = Source { name, text: utf8(name, bytes)?, sets: &wishes.set };
        Draft::read(source, wishes)?.scenario(name.strip_suffix(".toml").unwrap_or(name))
    }
}

/// The file, or as much of it as shows that it is too large: a device may have no end.
fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a file that is called `name` in refusals.
fn opened(path: &Path, name: &str, most: u64) -> Result<Vec<u8>, Refusal> {
    let bytes = read(path, most).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => Refusal::file(name, "is a folder, not a scenario file"),
        io::ErrorKind::NotFound => {
            Refusal::file(name, missing::sentence(path).trim_start_matches(name).trim_start_matches(": "))
        }
        _ => Refusal::file(name, format!("cannot be read: {error}")),
    })?;
    if bytes.len() as u64 > most {
        return Err(Refusal::file(name, "is too large to be a scenario: more than 16 MiB"));
    }
    Ok(bytes)
}

fn text<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, Refusal> {
    str::from_utf8(bytes).map_err(|error| {
        let line = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).matches('\n').count() + 1;
        Refusal::file(name, format!("is not text: line {line} is not UTF-8"))
    })
}

fn utf8<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, Refusal> {
    let text = text(name, bytes)?;
    if text.trim().is_empty() {
        return Err(
            Refusal::file(name, "is empty").note("a scenario has at least `title`, `duration`, nodes and a flow")
        );
    }
    Ok(text)
}

/// A scenario whose words still know their places.
struct Draft<'s> {
    source: Source<'s>,
    /// The whole file.
    root: DeTable<'s>,
    /// The network's part of it, with the keys set from outside.
    network: DeTable<'s>,
    set: Vec<Change<'s>>,
    extent: Extent,
    head: Head,
    vary: Vary<'s>,
    tables: &'static Tables,
}

impl<'s> Draft<'s> {
    fn read(source: Source<'s>, wishes: &Wishes) -> Result<Self, Refusal> {
        let root = table(&source)?;
        let tables = Tables::get();
        known_at_top(&source, &root, tables)?;
        ceilings::few_tables(&source, &root)?;
        let (mut lab, mut network) = (root.clone(), root.clone());
        for key in root.keys().map(|key| key.get_ref().as_ref()) {
            if LAB_KEYS.contains(&key) {
                network.remove(key)
            } else {
                lab.remove(key)
            };
        }
        lab.remove("vary");
        lab.remove("quick");
        conditions::as_labels(&source, &mut lab);
        let head = deserialize(&source, lab, tables)?;
        let mut vary = vary::read(&source, &root, tables)?;
        let mut extent = Extent::Full;
        if let Some(count) = wishes.seeds {
            // A short run has no more seeds than the file.
            let count = if wishes.quick { count.min(vary.seeds.len()) } else { count };
            if count < vary.seeds.len() {
                extent = Extent::Reduced;
            }
            vary.limit_seeds(count);
        }
        let mut set = if wishes.quick { vary::quick(&source, &root)? } else { Vec::new() };
        if !set.is_empty() {
            extent = Extent::Reduced;
        }
        for change in &set {
            apply(&source, &mut network, change)?;
        }
        for k in 0..source.sets.len() {
            let change = vary::read_set(&source, k)?;
            apply(&source, &mut network, &change)?;
            set.push(change);
        }
        let draft = Self { source, root, network, set, extent, head, vary, tables };
        if !wishes.base_only {
            draft.no_change_is_lost()?;
        }
        Ok(draft)
    }

    /// What an axis sets anew in every case cannot be set from outside or by an axis before it: the wish would be lost in
    /// silence, and the case's label be wrong.
    fn no_change_is_lost(&self) -> Result<(), Refusal> {
        for (index, axis) in self.vary.axes.iter().enumerate() {
            let before = self.vary.axes[..index].iter().flat_map(|axis| &axis.choices);
            for earlier in self.set.iter().chain(before.flat_map(|choice| &choice.changes)) {
                if axis.choices.iter().flat_map(|choice| &choice.changes).any(|change| change.covers(earlier)) {
                    let message = format!("`{}` is varied by `{}` in this scenario", earlier.path, axis.name);
                    return Err(self.source.refuse(earlier.span.clone(), message));
                }
            }
        }
        Ok(())
    }

    fn scenario(&self, stem: &str) -> Result<Scenario, Refusal> {
        let base = self.deserialize_network(self.network_with(&[])?)?;
        let set = self.set.iter().map(|change| (change.path.clone(), change.text.clone())).collect();
        let axes = self.vary.axes.iter().map(|axis| Axis {
            name: axis.name.clone(),
            labels: axis.choices.iter().map(|choice| choice.label.clone()).collect(),
        });
        Ok(Scenario {
            id: self.id(stem)?,
            title: self.head.title.clone(),
            about: self.head.about.trim().to_owned(),
            file: self.source.name.to_owned(),
            text: self.source.text.to_owned(),
            set,
            axes: axes.collect(),
            seeds: self.vary.seeds.clone(),
            extent: if base.duration < self.duration() { Extent::Reduced } else { self.extent },
            base,
            cases: self.cases()?,
            claims: self.head.claim.clone(),
            charts: self.head.chart.clone(),
            tables: self.head.table.clone(),
            explanations: BTreeMap::new(),
        })
    }

    /// The duration that the file asks for; without one that can be read, zero.
    fn duration(&self) -> Duration {
        let text = self.root.get("duration").and_then(|duration| duration.get_ref().as_str());
        text.and_then(|text| text.parse().ok()).unwrap_or(Duration::ZERO)
    }

    /// The id names a folder, so it is a plain word.
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
                Err(self.refuse_at("id", format!("an id names a folder: {LONGEST_ID} letters at most")))
            }
            Some(id) => {
                let message =
                    format!("`{id}` cannot be an id: it names a folder; use letters, digits, `-`, `_` and `.`");
                Err(self.refuse_at("id", message))
            }
        }
    }

    fn cases(&self) -> Result<Vec<Case>, Refusal> {
        let product = |count: usize, axis: &vary::Axis| count.checked_mul(axis.choices.len());
        let count = self.vary.axes.iter().try_fold(1_usize, product);
        let Some(count) = count.filter(|&count| count <= MOST_CASES) else {
            return Err(self.refuse_at("vary", format!("the sweep has more than {MOST_CASES} cases")));
        };
        let seeds = self.vary.seeds.len();
        if count * seeds > MOST_RUNS {
            let message = format!("{count} cases with {seeds} seeds each are more than {MOST_RUNS} runs");
            return Err(self.refuse_at("vary", message));
        }
        let mut cases = Vec::new();
        for chosen in self.combinations() {
            let labels = self.vary.axes.iter().zip(&chosen);
            let labels = labels.map(|(axis, &index)| (axis.name.clone(), axis.choices[index].label.clone())).collect();
            let network = self.deserialize_network(self.network_with(&chosen)?)?;
            let changes = self.vary.axes.iter().zip(&chosen).flat_map(|(axis, &index)| &axis.choices[index].changes);
            let set = self.set.iter().chain(changes).map(|change| (change.path.clone(), change.text.clone())).collect();
            cases.push(Case { labels, set, network });
        }
        Ok(cases)
    }

    /// The index of a value for every axis, the last axis changing fastest.
    fn combinations(&self) -> Vec<Vec<usize>> {
        self.vary.axes.iter().fold(vec![Vec::new()], |chosen, axis| {
            let extended = |above: &Vec<usize>| {
                let above = above.clone();
                (0..axis.choices.len()).map(move |index| [above.as_slice(), &[index]].concat())
            };
            chosen.iter().flat_map(extended).collect()
        })
    }

    /// The network's tables with the chosen value of every axis; of none, the base.
    fn network_with(&self, chosen: &[usize]) -> Result<DeTable<'s>, Refusal> {
        self.with(self.network.clone(), chosen)
    }

    /// The network's tables as the file has them, without the keys set from outside.
    fn file_with(&self, chosen: &[usize]) -> Result<DeTable<'s>, Refusal> {
        self.with(self.root.clone(), chosen)
    }

    fn with(&self, mut network: DeTable<'s>, chosen: &[usize]) -> Result<DeTable<'s>, Refusal> {
        for (axis, &index) in self.vary.axes.iter().zip(chosen) {
            for change in &axis.choices[index].changes {
                apply(&self.source, &mut network, change)?;
            }
        }
        document::inherit_queue(&mut network);
        self.follow_conventions(&mut network)?;
        Ok(network)
    }

    /// Gives the keys that the network leaves out the values of the simulator whose conventions it follows.
    fn follow_conventions(&self, network: &mut DeTable<'s>) -> Result<(), Refusal> {
        let Some((key, value)) = network.remove_entry(conventions::KEY) else { return Ok(()) };
        let span = value.span();
        let chosen: ConventionsKey = deserialize(&self.source, DeTable::from_iter([(key, value)]), self.tables)?;
        conventions::fill(network, chosen.conventions, &span);
        Ok(())
    }

    fn deserialize_network(&self, table: DeTable<'s>) -> Result<Network, Refusal> {
        deserialize(&self.source, table, self.tables)
    }

    /// A refusal that points at the key at `path`, or at what is around it.
    fn refuse_at(&self, path: &str, message: impl Into<String>) -> Refusal {
        match document::locate(&self.root, path) {
            Some(span) => self.source.refuse(span, message),
            None => self.source.refuse_file(message),
        }
    }
}

impl Vary<'_> {
    fn limit_seeds(&mut self, count: usize) {
        let next = self.seeds.iter().max().map_or(1, |seed| seed.saturating_add(1));
        let missing = count.saturating_sub(self.seeds.len());
        self.seeds.truncate(count);
        self.seeds.extend((next..).take(missing));
    }
}

/// "in the case scheme = ADTH-DF, target = 200 ms"; nothing where nothing varies.
fn in_case(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let labels: Vec<String> = labels.iter().map(|(axis, label)| format!("{axis} = {label}")).collect();
    format!("in the case {}", labels.join(", "))
}

fn known_at_top(source: &Source, root: &DeTable, tables: &Tables) -> Result<(), Refusal> {
    let known = tables.top_level();
    let mut unknown: Vec<_> = root.keys().filter(|key| !known.contains(&key.get_ref().as_ref())).collect();
    unknown.sort_by_key(|key| key.span().start);
    let Some(key) = unknown.first() else { return Ok(()) };
    let refusal = source.refuse(key.span(), format!("unknown key `{key}`"));
    Err(hints::unknown_key(key.get_ref(), "", &known, tables).into_iter().fold(refusal, Refusal::note))
}

fn apply<'s>(source: &Source, root: &mut DeTable<'s>, change: &Change<'s>) -> Result<(), Refusal> {
    document::apply(root, change).map_err(|miss| {
        let known: Vec<&str> = miss.known.iter().map(String::as_str).collect();
        hints::with_names(source.refuse(change.span.clone(), miss.message), &miss.name, &known)
    })
}

fn table<'s>(source: &Source<'s>) -> Result<DeTable<'s>, Refusal> {
    let root = DeTable::parse(source.text).map_err(|error| {
        let end = source.text.len()..source.text.len();
        let deep = error.message().contains("recurs");
        let message = if deep { "tables or keys within each other, too many deep" } else { error.message() };
        source.refuse(error.span().unwrap_or(end), format!("not TOML: {message}"))
    })?;
    Ok(root.into_inner())
}

/// Reads a struct from its table; every error is told in the words of scenarios, with hints.
fn deserialize<'s, T: Deserialize<'s>>(source: &Source, table: DeTable<'s>, tables: &Tables) -> Result<T, Refusal> {
    let whole = 0..source.text.len();
    let kept = table.clone();
    let reader = toml::de::Deserializer::from(Spanned::new(whole.clone(), table));
    T::deserialize(reader).map_err(|error| {
        let span = error.span().unwrap_or_else(|| whole.clone());
        let paths = if span == whole { Vec::new() } else { document::paths_at(&kept, &span) };
        let (message, notes) = hints::explain(error.message(), &paths, tables);
        let refusal = if span == whole { source.refuse_file(message) } else { source.refuse(span, message) };
        notes.into_iter().fold(refusal, Refusal::note)
    })
}

#[cfg(test)]
mod tests;
