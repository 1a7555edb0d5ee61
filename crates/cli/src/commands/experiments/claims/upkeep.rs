//! Maintains the record of claims: writes it from full runs, and checks it against scenarios, runs and pages.

use super::{Records, records, scenarios};
use crate::console::{complain, print};
use crate::failure::{DIFFERS, Failure, HOLDS};
use evidence::{Named, Row};
use experiment::scenario::{Scenario, Wishes};
use experiment::study::{Study, Verdict};
use lab::files;
use lab::home::FOLDER;
use lab::store::{self, Store, make_folder, write_whole};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Marks in a page, before and after a table of the record.
const MARKED: (&str, &str) = ("<!-- headline table: sluice claims", "<!-- end -->");

/// Checks the record against the scenarios and pages, and against the runs in `folders`. Simulates nothing.
pub(super) fn check(folders: &[PathBuf]) -> Result<u8, Failure> {
    let records = records()?;
    let scenarios = scenarios()?;
    let mut found = Vec::new();
    let others = with_other_conventions(&scenarios, &records)?;
    let named: Vec<Named> = scenarios.into_iter().map(|(_, named)| named).collect();
    found.extend(evidence::problems(&named, &others, &records));
    found.extend(evidence::untried(&evidence::unstated(&super::texts()?)));
    for folder in of_studies(folders) {
        let ran = Ran::read(&folder)?;
        let rows: Vec<Row> = records.values().flatten().cloned().collect();
        if let Some(conventions) = ran.conventions(&named) {
            found.extend(evidence::contradictions(&rows, &ran.verdicts, &conventions, ran.full));
        }
    }
    found.extend(outdated(Path::new("docs"), &records)?);
    for problem in &found {
        complain(problem);
    }
    let rows: Vec<&Row> = records.values().flatten().collect();
    let claims: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    print(&format!("claims: {} on record, {} rows, {} problems\n", claims.len(), rows.len(), found.len()))?;
    Ok(if found.is_empty() { HOLDS } else { DIFFERS })
}

/// Returns the scenarios with the conventions of rows on record that differ from the files' own.
fn with_other_conventions(scenarios: &[(PathBuf, Named)], records: &Records) -> Result<Vec<Named>, Failure> {
    let mut others = Vec::new();
    for (file, named) in scenarios {
        let rows = records.get(&named.document).into_iter().flatten();
        let of_scenario = rows.filter(|row| row.experiment() == named.scenario.id);
        let other: BTreeSet<&String> =
            of_scenario.map(|row| &row.conventions).filter(|name| **name != named.scenario.conventions).collect();
        for name in other {
            let scenario = files::skim(file, &with_conventions(name))?;
            others.push(Named { document: named.document.clone(), scenario });
        }
    }
    Ok(others)
}

fn with_conventions(name: &str) -> Wishes {
    Wishes { set: vec![format!("conventions={name}")], ..Wishes::default() }
}

/// A folder of results, read without the runs.
struct Ran {
    id: String,
    verdicts: Vec<Verdict>,
    /// True for runs of full length with all seeds, and no keys set on the command line except the conventions.
    full: bool,
    set: Option<String>,
}

impl Ran {
    fn read(folder: &Path) -> Result<Self, Failure> {
        let (id, command, verdicts) = Store::verdicts(folder)?;
        let words: Vec<&str> = command.split(' ').collect();
        let set: Vec<&str> = words.windows(2).filter(|pair| pair[0] == "--set").map(|pair| pair[1]).collect();
        let conventions = set.first().and_then(|set| set.strip_prefix("conventions="));
        let short = words.iter().any(|word| matches!(*word, "--quick" | "--seeds"));
        let full = !short && (set.is_empty() || set.len() == 1 && conventions.is_some());
        Ok(Self { id, verdicts, full, set: conventions.map(str::to_owned) })
    }

    /// Returns the conventions of the runs; `None` if no scenario with claims has this id.
    fn conventions(&self, scenarios: &[Named]) -> Option<String> {
        let named = scenarios.iter().find(|named| named.scenario.id == self.id)?;
        Some(self.set.clone().unwrap_or_else(|| named.scenario.conventions.clone()))
    }
}

/// Returns the folders, each replaced by the result folders in it, if any.
fn of_studies(folders: &[PathBuf]) -> Vec<PathBuf> {
    let one = |folder: &PathBuf| {
        let below = store::folders(folder);
        if below.is_empty() { vec![folder.clone()] } else { below }
    };
    folders.iter().flat_map(one).collect()
}

/// Rewrites the record. Rows of full runs in `folders` replace old rows; rows without such runs stay. All rows get the
/// scenarios' present texts.
pub(super) fn record(folders: &[PathBuf]) -> Result<(), Failure> {
    if !Path::new(FOLDER).is_dir() {
        return Err(Failure::wrong("run this in the folder that contains `scenarios`; it writes the record there"));
    }
    let old = records()?;
    let scenarios = scenarios()?;
    let mut new: Vec<Row> = Vec::new();
    for folder in of_studies(folders) {
        let ran = Ran::read(&folder)?;
        let Some((file, _)) = scenarios.iter().find(|(_, named)| named.scenario.id == ran.id) else { continue };
        if !ran.full {
            complain(format_args!("{}: left out, because its runs were shortened", folder.display()));
            continue;
        }
        let wishes = ran.set.as_deref().map_or_else(Wishes::default, with_conventions);
        let scenario = files::skim(file, &wishes)?;
        match of_runs(&scenario, &Store::load(&folder)?, &wishes, &folder) {
            Ok(rows) => {
                // If two folders have the same runs, the later one counts.
                new.retain(|row| !rows.iter().any(|other| other.id == row.id && other.conventions == row.conventions));
                new.extend(rows);
            }
            Err(why) => complain(format_args!("{}: left out, {why}", folder.display())),
        }
    }
    let mut by_document: BTreeMap<String, Vec<Scenario>> = BTreeMap::new();
    // A claim with other conventions than the file's belongs to the scenario with these conventions.
    let others = with_other_conventions(&scenarios, &old)?;
    for named in scenarios.into_iter().map(|(_, named)| named).chain(others) {
        by_document.entry(named.document).or_default().push(named.scenario);
    }
    let folder = Path::new(evidence::FOLDER);
    make_folder(folder)?;
    for (document, scenarios) in by_document {
        let rows = evidence::merged(&scenarios, &new, old.get(&document).map_or(&[], Vec::as_slice));
        write_whole(&folder.join(format!("{document}.csv")), evidence::write(&rows).as_bytes())?;
    }
    print(&format!("{} rows are new\n", new.len()))
}

/// Returns the rows of a folder's runs if the scenario still defines exactly these runs.
fn of_runs(scenario: &Scenario, study: &Study, wishes: &Wishes, folder: &Path) -> Result<Vec<Row>, String> {
    let then = Scenario::networks("scenario.toml", study.text.as_bytes(), wishes);
    let made = fs::metadata(folder.join("manifest.json")).and_then(|file| file.modified());
    let seconds = made.ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    let day = evidence::day(seconds.unwrap_or_default().as_secs());
    evidence::rows(scenario, &then.map_err(|refusal| refusal.to_string())?, study, &day)
}

/// Writes the tables of the record between the marks in a folder's pages.
pub(super) fn pages(folder: &Path) -> Result<(), Failure> {
    let records = records()?;
    for page in markdown_files(folder)? {
        let text = read(&page)?;
        let written = filled(&text, &records).map_err(|why| Failure::wrong(format!("{}: {why}", page.display())))?;
        if written != text {
            write_whole(&page, written.as_bytes())?;
            print(&format!("{}\n", page.display()))?;
        }
    }
    Ok(())
}

/// Returns the pages whose tables differ from the record.
fn outdated(folder: &Path, records: &Records) -> Result<Vec<String>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for page in markdown_files(folder)? {
        let text = read(&page)?;
        let wrong = match filled(&text, records) {
            Ok(written) if written == text => continue,
            Ok(_) => "a table differs from the record; run `sluice claims --pages docs`".to_owned(),
            Err(why) => why,
        };
        found.push(format!("{}: {wrong}", page.display()));
    }
    Ok(found)
}

/// Returns a page's text with the tables of the record between the marks.
fn filled(text: &str, records: &Records) -> Result<String, String> {
    let (begin, end) = MARKED;
    let mut written = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(begin) {
        let (before, marked) = rest.split_at(at);
        let (mark, _) = marked.split_once("-->\n").ok_or("the comment that marks a table has no `-->`")?;
        let (_, after) = marked.split_once(end).ok_or("no `<!-- end -->` follows the comment that marks a table")?;
        let (options, targets): (Vec<&str>, Vec<&str>) =
            mark[begin.len()..].split_whitespace().partition(|word| word.starts_with("--"));
        let targets: Vec<String> = targets.into_iter().map(str::to_owned).collect();
        let table = super::markdown(records, &targets, options.contains(&"--all"))?;
        written += before;
        written += &[mark, "-->\n\n", &table, "\n", end].concat();
        rest = after;
    }
    Ok(written + rest)
}

fn read(page: &Path) -> Result<String, Failure> {
    fs::read_to_string(page).map_err(|error| Failure::wrong(format!("cannot read {}: {error}", page.display())))
}

/// Returns the Markdown files in a folder and in the folders below.
fn markdown_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::wrong(format!("cannot read {}: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            files.extend(markdown_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
