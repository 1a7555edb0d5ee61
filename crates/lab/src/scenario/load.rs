//! From a file to a scenario that can be run.

use super::draft::Draft;
use super::file::{LARGEST_FILE, opened, utf8};
use super::ready::{Scenario, Wishes};
use super::source::{Refusal, Source};
use super::{attachments, check, explanations};
use std::path::Path;

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
        Self::read(&name, &stem, &bytes, path.parent().unwrap_or(Path::new("")), wishes)
    }

    /// As [`load`](Self::load), of a text that need not be a file. `name` stands in refusals, `stem` is the default id, and
    /// the files that the text names are looked for in `folder`.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn read(name: &str, stem: &str, bytes: &[u8], folder: &Path, wishes: &Wishes) -> Result<Self, Refusal> {
        let source = Source { name, text: utf8(name, bytes)?, sets: &wishes.changes() };
        let draft = Draft::read(source, wishes)?;
        let mut scenario = draft.scenario(stem)?;
        let networks = scenario.cases.iter_mut().map(|case| &mut case.network);
        attachments::attach(&draft, folder, networks.chain([&mut scenario.base]))?;
        check::check(&draft, &scenario)?;
        scenario.explanations = explanations::of(folder, scenario.claims.iter().map(|claim| claim.id.as_str()));
        Ok(scenario)
    }

    /// Reads a scenario from bytes without building its networks. `name` stands in refusals; its stem is the default id.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn parse(name: &str, bytes: &[u8], wishes: &Wishes) -> Result<Self, Refusal> {
        let source = Source { name, text: utf8(name, bytes)?, sets: &wishes.changes() };
        Draft::read(source, wishes)?.scenario(name.strip_suffix(".toml").unwrap_or(name))
    }
}
