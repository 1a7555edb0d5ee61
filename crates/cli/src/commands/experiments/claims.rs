mod upkeep;

use crate::args;
use crate::console::{print, print_json, width};
use crate::failure::{Failure, HOLDS};
use evidence::{Row, Text, Unstated};
use experiment::scenario::{Wishes, or_meant};
use experiment::tables::{self, Columns};
use lab::files;
use lab::home::{by_id, home, under};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Rows of each document, by its name.
type Records = BTreeMap<String, Vec<Row>>;

pub(super) fn claims(args: &args::Claims) -> Result<u8, Failure> {
    if let Some(folders) = &args.check {
        return upkeep::check(folders);
    }
    if let Some(folders) = &args.record {
        return upkeep::record(folders).map(|()| HOLDS);
    }
    if let Some(folder) = &args.pages {
        return upkeep::pages(folder).map(|()| HOLDS);
    }
    if args.unstated {
        return print(&open_values(&texts()?, &args.targets)?).map(|()| HOLDS);
    }
    let records = records()?;
    if args.markdown {
        return print(&markdown(&records, &args.targets, args.all).map_err(Failure::wrong)?).map(|()| HOLDS);
    }
    let chosen = chosen(&records, &args.targets)?;
    if args.bibtex {
        return print(&bibtex(&records, &chosen)).map(|()| HOLDS);
    }
    let rows: Vec<&Row> = chosen.iter().flat_map(|chosen| &chosen.rows).copied().collect();
    if args.json {
        return print_json(&format!("{}\n", evidence::json(&rows))).map(|()| HOLDS);
    }
    if args.csv {
        return print(&evidence::data(&rows)).map(|()| HOLDS);
    }
    if args.targets.is_empty() && !args.all {
        let documents = evidence::documents(&records, width());
        print(&format!(
            "{documents}\n`sluice claims DOCUMENT` shows the headline claims of a document, `sluice claims --all` shows all claims\n"
        ))?;
        return Ok(HOLDS);
    }
    for (rank, chosen) in chosen.iter().enumerate() {
        print(if rank > 0 { "\n" } else { "" })?;
        print(&chosen.text(args.all)?)?;
    }
    Ok(HOLDS)
}

/// Formats the tables of the named documents, or of all, as Markdown.
fn markdown(records: &Records, targets: &[String], all: bool) -> Result<String, String> {
    let mut chosen = Records::new();
    for name in targets {
        let rows = records.get(name).ok_or_else(|| format!("{name}: no document of this name has verdicts"))?;
        chosen.insert(name.clone(), rows.clone());
    }
    Ok(evidence::markdown(if targets.is_empty() { records } else { &chosen }, all))
}

/// Formats the values that the named documents do not state, or those of all documents.
fn open_values(texts: &[Text], targets: &[String]) -> Result<String, Failure> {
    if let Some(other) = targets.iter().find(|name| evidence::sources(name).next().is_none()) {
        return Err(Failure::wrong(format!("{other}: no document has this name")));
    }
    let meant = |text: &&Text| targets.is_empty() || targets.contains(&text.document);
    let texts: Vec<Text> = texts.iter().filter(meant).cloned().collect();
    let head = ["file", "key", "chosen", "tried", "rule", "range, or why no more"];
    let line = |one: Unstated| {
        let file = format!("{}/{}", one.document, one.file);
        vec![file, one.key, one.value, one.tried.join(", "), one.reason, one.range]
    };
    let lines: Vec<Vec<String>> = evidence::unstated(&texts).into_iter().map(line).collect();
    Ok(tables::table(&head, &lines, &Columns { right: &[], prose: &[1, 2, 3, 4, 5] }, width()))
}

/// Reads the scenarios of documents, including their bases.
fn texts() -> Result<Vec<Text>, Failure> {
    let mut found = Vec::new();
    let scenarios = under(&home()?)?;
    let folders: BTreeSet<&Path> = scenarios.iter().filter_map(|file| file.parent()).collect();
    for folder in folders {
        let document = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if evidence::sources(&document).next().is_none() {
            continue;
        }
        let unreadable = |error| Failure::wrong(format!("cannot read {}: {error}", folder.display()));
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(unreadable)?;
        let mut files: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).map_err(unreadable)?;
            let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.push(Text { document: document.clone(), file, text });
        }
    }
    Ok(found)
}

/// Returns BibTeX entries for the documents that the arguments name or whose claims they name; each entry once.
fn bibtex(records: &Records, chosen: &[Chosen]) -> String {
    let has = |document: &str| {
        let of = |chosen: &Chosen| chosen.rows.first().is_some_and(|row| records[document].contains(row));
        records.contains_key(document) && chosen.iter().any(of)
    };
    let entries = evidence::SOURCES.iter().filter(|source| has(&source.document)).map(evidence::Source::bibtex);
    entries.collect::<Vec<_>>().join("\n")
}

/// Kinds of names that an argument can have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Document,
    Experiment,
    Claim,
}

/// A document, experiment or claim named by an argument, with its rows.
struct Chosen<'r> {
    name: &'r str,
    what: What,
    rows: Vec<&'r Row>,
}

impl Chosen<'_> {
    fn text(&self, all: bool) -> Result<String, Failure> {
        let (name, width) = (self.name, width());
        let claims = evidence::table(&self.rows, width);
        Ok(match self.what {
            What::Claim => self.in_full()?,
            What::Experiment => format!("{claims}\n{}", evidence::counts(&self.rows, width)),
            What::Document if all => format!("{}\n{claims}\n{}", self.head(width), evidence::counts(&self.rows, width)),
            What::Document => {
                let headline: Vec<&Row> = self.rows.iter().filter(|row| row.headline).copied().collect();
                let table = if headline.is_empty() { String::new() } else { evidence::table(&headline, width) + "\n" };
                let more = format!("`sluice claims {name} --all` lists every claim; `sluice claims ID` shows one");
                format!("{}\n{table}{}\n{more}\n", self.head(width), evidence::counts(&self.rows, width))
            }
        })
    }

    /// Formats the document's name and its sources.
    fn head(&self, width: usize) -> String {
        let sources = evidence::sources(self.name).map(|source| tables::wrapped(&source.cited(), width, 2) + "\n");
        format!("{}\n{}", self.name, sources.collect::<String>())
    }

    /// Formats all that is on record about one claim.
    fn in_full(&self) -> Result<String, Failure> {
        let file = by_id(self.rows[0].experiment(), &home()?)?;
        let scenario = files::skim(&file, &Wishes::default())?;
        let claim = scenario.claims.iter().find(|claim| claim.id == self.name);
        Ok(evidence::claim(&self.rows, claim.and_then(|claim| claim.why.as_deref()), width()))
    }
}

/// Returns what the arguments name, or all documents without arguments.
fn chosen<'r>(records: &'r Records, targets: &'r [String]) -> Result<Vec<Chosen<'r>>, Failure> {
    let document =
        |(name, rows): (&'r String, &'r Vec<Row>)| Chosen { name, what: What::Document, rows: rows.iter().collect() };
    if targets.is_empty() {
        return Ok(records.iter().map(document).collect());
    }
    let one = |name: &'r String| {
        if let Some(found) = records.get_key_value(name) {
            return Ok(document(found));
        }
        let all = || records.values().flatten();
        let claim: Vec<&Row> = all().filter(|row| row.id == *name).collect();
        if !claim.is_empty() {
            return Ok(Chosen { name, what: What::Claim, rows: claim });
        }
        let of_id = |id: &'r str| id.rsplit_once('.').map_or(id, |(experiment, _)| experiment);
        let experiment: Vec<&Row> = all().filter(|row| row.experiment() == name || of_id(&row.id) == name).collect();
        if !experiment.is_empty() {
            return Ok(Chosen { name, what: What::Experiment, rows: experiment });
        }
        let known = records.keys().map(String::as_str).chain(all().flat_map(|row| [row.experiment(), row.id.as_str()]));
        let hint = or_meant(name, known);
        let documents: Vec<&str> = records.keys().map(String::as_str).collect();
        Err(Failure::wrong(format!(
            "{name}: no document ({}), experiment or claim on record has this name{hint}",
            documents.join(", ")
        )))
    };
    targets.iter().map(one).collect()
}

fn records() -> Result<Records, Failure> {
    let mut records = Records::new();
    let unreadable = |error| Failure::wrong(format!("cannot read {}: {error}", evidence::FOLDER));
    for (document, text) in evidence::texts().map_err(unreadable)? {
        let rows = evidence::read(&text).map_err(|why| Failure::wrong(format!("evidence/{document}.csv: {why}")))?;
        records.insert(document, rows);
    }
    Ok(records)
}

/// Reads the scenarios with claims. The document of each is the name of its folder.
fn scenarios() -> Result<Vec<(PathBuf, evidence::Named)>, Failure> {
    let mut found = Vec::new();
    for file in under(&home()?)? {
        let scenario = files::skim(&file, &Wishes::default())?;
        let folder = file.parent().and_then(|folder| folder.file_name());
        let document = folder.unwrap_or_default().to_string_lossy().into_owned();
        if !scenario.claims.is_empty() {
            found.push((file, evidence::Named { document, scenario }));
        }
    }
    Ok(found)
}
