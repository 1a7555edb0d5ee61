//! Reads a file as a scenario that can be run.

use super::cases::{Scenario, Wishes};
use super::draft::Draft;
use super::file::{LARGEST_FILE, opened, utf8};
use super::refusal::Refusal;
use super::source::Source;
use super::{attachments, base, check, idle};
use std::path::Path;

impl Scenario {
    /// Reads a scenario's file and checks that everything in it can be run: every network is built once, every claim
    /// and chart is looked up in the results that it will have.
    ///
    /// # Errors
    /// The fault in the file, and its place.
    pub fn load(path: &Path, wishes: &Wishes) -> Result<Self, Refusal> {
        let (name, stem) = names(path);
        let bytes = opened(path, &name, LARGEST_FILE)?;
        Self::read(&name, &stem, &bytes, folder_of(path), wishes)
    }

    /// Like [`load`](Self::load), for a text that need not be a file. Refusals call it `name`, `stem` is the default
    /// id, and the files that the text names are searched in `folder`.
    ///
    /// # Errors
    /// The fault in the text, and its place.
    pub fn read(name: &str, stem: &str, bytes: &[u8], folder: &Path, wishes: &Wishes) -> Result<Self, Refusal> {
        drafted(name, bytes, folder, wishes, |draft| {
            let mut scenario = draft.scenario(stem)?;
            let networks = scenario.cases.iter_mut().map(|case| &mut case.network);
            attachments::attach(draft, folder, networks.chain([&mut scenario.base]))?;
            check::check(draft, &scenario)?;
            Ok(scenario)
        })
    }

    /// Like [`load`](Self::load), without checking that it can be run: no network is built, no attached file is read.
    ///
    /// # Errors
    /// The fault in the file, and its place.
    pub fn skim(path: &Path, wishes: &Wishes) -> Result<Self, Refusal> {
        let (name, stem) = names(path);
        let bytes = opened(path, &name, LARGEST_FILE)?;
        drafted(&name, &bytes, folder_of(path), wishes, |draft| draft.scenario(&stem))
    }

    /// Makes a text that is accepted by itself of that of a scenario which was read from a file with a base: with its id,
    /// and without the base's settings that have no effect in it. The results are the same.
    ///
    /// # Errors
    /// The fault in the text, and its place.
    pub fn standalone(id: &str, text: &str, folder: &Path) -> Result<String, Refusal> {
        drafted(id, text.as_bytes(), folder, &Wishes::default(), |draft| {
            let mut scenario = draft.scenario(id)?;
            let networks = scenario.cases.iter_mut().map(|case| &mut case.network);
            attachments::attach(draft, folder, networks.chain([&mut scenario.base]))?;
            let places = idle::places(draft, &scenario)?;
            // Word for word, with its remarks, if everything has an effect.
            let text = if places.is_empty() { text.to_owned() } else { draft.without(&places) };
            Ok(if draft.head.id.is_some() { text } else { format!("id = {id:?}\n{text}") })
        })
    }

    /// Reads the networks of a text that an earlier version may have read. Its claims, charts and tables need not be
    /// valid in this version.
    ///
    /// # Errors
    /// The fault in the text, and its place.
    pub fn networks(name: &str, bytes: &[u8], wishes: &Wishes) -> Result<Self, Refusal> {
        let sets = wishes.changes();
        let source = Source::alone(name, utf8(name, bytes)?, &sets);
        let about_results = |key: &str| matches!(key, "claim" | "rulings" | "chart" | "table" | "answer");
        let root = source.parse()?.into_iter().filter(|(key, _)| !about_results(key.get_ref())).collect();
        Draft::of(source, root, wishes)?.scenario(name)
    }

    /// Reads a scenario without a base from bytes, without building its networks. Refusals call it `name`; the name's
    /// stem is the default id.
    ///
    /// # Errors
    /// The fault in the text, and its place.
    pub fn parse(name: &str, bytes: &[u8], wishes: &Wishes) -> Result<Self, Refusal> {
        let sets = wishes.changes();
        let source = Source::alone(name, utf8(name, bytes)?, &sets);
        base::refuse(&source)?;
        Draft::read(source, wishes)?.scenario(name.strip_suffix(".toml").unwrap_or(name))
    }
}

/// Returns the name of a file in refusals, and the default id of its scenario.
fn names(path: &Path) -> (String, String) {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    (path.display().to_string(), stem)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Builds a value from a text, laid over its base if it has one.
fn drafted<T>(
    name: &str,
    bytes: &[u8],
    folder: &Path,
    wishes: &Wishes,
    make: impl FnOnce(&Draft) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let sets = wishes.changes();
    let source = Source::alone(name, utf8(name, bytes)?, &sets);
    let base = base::of(&source, folder)?;
    let joined = base.as_ref().map(|base| base.before(source.text));
    let source = match (&base, &joined) {
        (Some(base), Some(text)) => Source { text, base: Some((&base.name, base.text.len())), ..source },
        _ => source,
    };
    make(&Draft::read(source, wishes)?)
}
