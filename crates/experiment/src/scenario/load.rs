//! Reads a text as a scenario to run.

use super::cases::{Scenario, Wishes};
use super::draft::Draft;
use super::file::{Files, utf8};
use super::refusal::Refusal;
use super::source::Source;
use super::{attachments, base, check};

impl Scenario {
    /// Reads a scenario and checks that it can be run: builds each network once, and looks up the results of each claim
    /// and chart. Refusals call the text `name`; `stem` is the default id; `files` reads the files that the text names.
    ///
    /// # Errors
    /// The text has a fault; the refusal gives its place in the text.
    pub fn read(name: &str, stem: &str, bytes: &[u8], files: &dyn Files, wishes: &Wishes) -> Result<Self, Refusal> {
        drafted(name, bytes, files, wishes, |draft| {
            let mut scenario = draft.scenario(stem)?;
            let networks = scenario.cases.iter_mut().map(|case| &mut case.network);
            attachments::attach(draft, files, networks.chain([&mut scenario.base]))?;
            let idle = check::check(draft, &scenario, files)?;
            if !idle.is_empty() {
                scenario.alone = draft.alone(&scenario.id, &idle);
            }
            Ok(scenario)
        })
    }

    /// Like [`read`](Self::read), without the check that it can be run: builds no network and reads no attached file.
    ///
    /// # Errors
    /// The text has a fault; the refusal gives its place in the text.
    pub fn skim(name: &str, stem: &str, bytes: &[u8], files: &dyn Files, wishes: &Wishes) -> Result<Self, Refusal> {
        drafted(name, bytes, files, wishes, |draft| draft.scenario(stem))
    }

    /// Reads the networks of a text that was written for an earlier version. Its claims, charts and tables may be
    /// invalid in this version.
    ///
    /// # Errors
    /// The text has a fault; the refusal gives its place in the text.
    pub fn networks(name: &str, bytes: &[u8], wishes: &Wishes) -> Result<Self, Refusal> {
        let sets = wishes.changes();
        let source = Source::alone(name, utf8(name, bytes)?, &sets);
        let about_results = |key: &str| matches!(key, "claim" | "rulings" | "chosen_by" | "chart" | "table" | "answer");
        let root = base::parse(&source)?.into_iter().filter(|(key, _)| !about_results(key.get_ref())).collect();
        Draft::of(&source, root, wishes)?.scenario(name)
    }

    /// Reads a scenario without a base from bytes, without building its networks. Refusals call the scenario `name`;
    /// the name's stem is the default id.
    ///
    /// # Errors
    /// The fault in the text, and its place.
    pub fn parse(name: &str, bytes: &[u8], wishes: &Wishes) -> Result<Self, Refusal> {
        Self::skim(name, name.strip_suffix(".toml").unwrap_or(name), bytes, &(), wishes)
    }
}

/// Builds a value from a text merged with its base, if it has one.
fn drafted<T>(
    name: &str,
    bytes: &[u8],
    files: &dyn Files,
    wishes: &Wishes,
    make: impl FnOnce(&Draft) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let sets = wishes.changes();
    let source = base::source(name, utf8(name, bytes)?, &sets, files)?;
    make(&Draft::read(&source, wishes)?)
}
