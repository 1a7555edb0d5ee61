//! The reference of the scenario's format: an index and a page for each group of tables, `docs/scenario/*.md`.

use super::Tables;
use super::tables::{Key, Table};
use itertools::Itertools as _;
use std::fmt::Write as _;

/// A page of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// File of the page: `radio.md`. The index is `README.md`.
    pub file: String,
    /// The Markdown.
    pub text: String,
}

const INDEX: &str = "README";
const MARK: &str = "<!-- Written by `sluice docs` from doc comments. -->";

/// Tables that share a page. Every other table has its own page, with its inner tables.
const GROUPS: &[(&str, &[&str])] = &[
    ("radio", &["radio"]),
    ("nodes", &["nodes", "node", "wired", "mobility", "consumption"]),
    ("flow", &["flow", "tcp"]),
    ("queue", &["queue", "category_queue", "class_queue"]),
    ("claim", &["claim", "rulings"]),
    ("report", &["answer", "chart", "table", "record", "model"]),
];

/// Texts before the tables of a page: of the index, of claims, and of the list of conventions.
const PREFACE: &str = include_str!("preface.txt");
const ABOUT_CLAIMS: &str = include_str!("claims.txt");
const ABOUT_CONVENTIONS: &str = include_str!("conventions.txt");
const ABOUT_REPORTS: &str =
    "`where`, `together`, `against` and `compare` are those of [a claim](claim.md), with `choose = \"largest\"`.";

/// Returns the reference: the index, and the other pages in the order of their first tables.
pub fn pages() -> Vec<Page> {
    let tables = Tables::get();
    let names = tables.iter().filter(|table| !table.path.is_empty()).map(page_of).unique();
    let mut pages = vec![page(INDEX, "The scenario file", &format!("{PREFACE}\n{}", sections(tables, INDEX)))];
    pages.extend(names.map(|name| page(name, &title(tables, name), &sections(tables, name))));
    pages
}

fn page(name: &str, title: &str, text: &str) -> Page {
    Page { file: format!("{name}.md"), text: format!("# {title}\n\n{MARK}\n\n{}\n", text.trim_end()) }
}

fn page_of(table: &Table) -> &str {
    let outermost = table.path.split('.').next().unwrap_or_default();
    match GROUPS.iter().find(|(_, tables)| tables.contains(&outermost)) {
        Some((page, _)) => page,
        None if outermost.is_empty() => INDEX,
        None => outermost,
    }
}

/// Returns the tables of a page that are not nested in another: `[queue]`, `[category_queue]`.
fn title(tables: &Tables, page: &str) -> String {
    let outermost = tables.iter().filter(|table| page_of(table) == page && !table.path.contains('.'));
    outermost.map(|table| format!("`{}`", table.header)).join(", ")
}

fn sections(tables: &Tables, page: &str) -> String {
    let mut text = match page {
        "claim" => format!("{ABOUT_CLAIMS}\n"),
        "report" => format!("{ABOUT_REPORTS}\n\n"),
        _ => String::new(),
    };
    for table in tables.iter().filter(|table| page_of(table) == page) {
        section(&mut text, tables, table);
    }
    if page == "radio" {
        let _ = write!(text, "## Conventions\n\n{ABOUT_CONVENTIONS}\n{}", super::super::conventions::markdown());
    }
    text
}

fn section(page: &mut String, tables: &Tables, table: &Table) {
    let header = if table.path.is_empty() { "Top level".to_owned() } else { format!("`{}`", table.header) };
    let _ = write!(page, "## {header}\n\n");
    if !table.about.is_empty() {
        let _ = write!(page, "{}\n\n", table.about);
    }
    for key in &table.keys {
        item(page, tables, table, key);
    }
    page.push('\n');
}

/// Returns the described choices of a key, except types, and choices that another key of the same table describes.
fn told<'k>(table: &'k Table, key: &'k Key) -> impl Iterator<Item = &'k (String, String)> {
    let elsewhere = move |about: &str| table.keys.iter().any(|key| key.about == about);
    key.choices.iter().filter(move |(value, about)| value.starts_with('`') && !about.is_empty() && !elsewhere(about))
}

/// Returns an earlier key that lists the same choices.
fn first_with<'t>(tables: &'t Tables, key: &Key) -> Option<(&'t Table, &'t Key)> {
    let mut keys = tables.iter().flat_map(|table| table.keys.iter().map(move |key| (table, key)));
    keys.find(|(_, other)| other.choices == key.choices).filter(|(_, other)| !std::ptr::eq(*other, key))
}

/// Length of choices that stand in the line of their key.
const ONE_LINE: usize = 240;

/// Writes a key of the list: name, kind unless the default implies it, default, meaning, and choices.
fn item(page: &mut String, tables: &Tables, table: &Table, key: &Key) {
    let (about, default) = match (key.required, key.default.as_str()) {
        (true, _) => (key.about.as_str(), "required".to_owned()),
        (false, "") => short_default(&key.about),
        (false, default) => (without_default(&key.about), format!("default `{default}`")),
    };
    let kind = match key.name.as_str() {
        "vary" => "table, see above".to_owned(),
        _ if key.choices.is_empty() && shows_kind(&default) => String::new(),
        _ => linked(tables, table, key),
    };
    let facts: Vec<&str> = [kind.as_str(), &default].into_iter().filter(|fact| !fact.is_empty()).collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    let _ = write!(page, "- {}{facts}: {about}", name(tables, key));
    if first_with(tables, key).is_none() {
        let choices: Vec<String> = told(table, key).map(|(value, about)| format!("{value}: {about}")).collect();
        let between = if choices.iter().map(String::len).sum::<usize>() <= ONE_LINE { " " } else { "\n  - " };
        page.extend(choices.iter().flat_map(|choice| [between, choice]));
    }
    page.push('\n');
}

/// True if a default shows the kind of a key's value: a quantity, a number, `true` or `false`.
fn shows_kind(default: &str) -> bool {
    let written = default.strip_prefix("default ").unwrap_or_default();
    let in_words = written.contains('`') && !(written.starts_with('`') && written.ends_with('`'));
    let value = written.trim_start_matches(['`', '"', '[', '-']);
    !in_words
        && (value.starts_with(|c: char| c.is_ascii_digit()) || matches!(value.trim_end_matches('`'), "true" | "false"))
}

/// Returns the name of a key, as a link if the key is a table with its own keys.
fn name(tables: &Tables, key: &Key) -> String {
    match table_of(tables, key) {
        Some(inner) => format!("[`{}`]({})", key.name, link(inner)),
        None => format!("`{}`", key.name),
    }
}

/// Returns the table that has the keys of a table.
fn table_of<'t>(tables: &'t Tables, key: &Key) -> Option<&'t Table> {
    let of_header = |header: &str| tables.iter().find(|table| table.header == header);
    key.kind.split('`').find_map(of_header).filter(|_| key.is_table)
}

/// Returns a description without its last sentence on the default.
fn without_default(about: &str) -> &str {
    about.rfind(". Default").map_or(about, |dot| &about[..=dot])
}

/// Returns a description, and the default in its last sentence if that takes only a few words.
fn short_default(about: &str) -> (&str, String) {
    const SHORT: usize = 40;
    let rest = without_default(about);
    match about[rest.len()..].trim().strip_prefix("Default").map(|text| text.trim_matches([':', '.', ' '])) {
        Some(text) if text.len() <= SHORT => (rest, format!("default {text}")),
        _ => (about, String::new()),
    }
}

/// Returns the kind of a key's value; for choices that another key lists, a link to that key. Empty for a table
/// with keys, or if the choices follow.
fn linked(tables: &Tables, table: &Table, key: &Key) -> String {
    let quoted = key.choices.iter().all(|(value, _)| value.starts_with("`\""));
    if quoted && !key.choices.is_empty() && told(table, key).count() == key.choices.len() {
        let of_other = |(other, same): (&Table, &Key)| format!("as [`{}.{}`]({})", other.path, same.name, link(other));
        return first_with(tables, key).map(of_other).unwrap_or_default();
    }
    if table_of(tables, key).is_some() {
        return String::new();
    }
    // The example of a quantity is for hints: the page on scenarios has one for each kind.
    let kind = key.kind.split(", as `").next().unwrap_or_default();
    kind.replace("`true` or `false`", "boolean").replace("whole number", "integer")
}

/// Returns the address of a table, with the anchor that GitHub and mdBook give its heading.
fn link(table: &Table) -> String {
    let anchor: String = table.header.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("{}.md#{anchor}", page_of(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_stands_on_one_page() {
        let pages = pages();
        for table in Tables::get().iter().filter(|table| !table.path.is_empty()) {
            let heading = format!("\n## `{}`\n", table.header);
            let on: Vec<&str> =
                pages.iter().filter(|page| page.text.contains(&heading)).map(|page| page.file.as_str()).collect();
            assert_eq!(on, [format!("{}.md", page_of(table))], "{}", table.header);
        }
    }
}
