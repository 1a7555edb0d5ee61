//! The record as tables for a terminal, for a page and for programs.

use super::{Row, word};
use experiment::quantity::short_quantity;
use experiment::study::{Origin, Reported, Ruling};
use experiment::tables::{self, Columns};
use itertools::Itertools as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Formats a table of claims in at most `width` columns: statement, document's value, ours, verdict, cause.
pub fn table(rows: &[&Row], width: usize) -> String {
    let of_claim = |rows: &[&Row]| {
        let line = |(rank, row): (usize, &&Row)| {
            let once = |text: String| if rank == 0 { text } else { String::new() };
            let statement = once(format!("{} {}", row.id, row.statement));
            [statement, once(document(row)), together(&ours(row, rows)), verdict(row), once(cause(rows))]
        };
        rows.iter().enumerate().map(line).collect::<Vec<_>>()
    };
    let lines: Vec<[String; 5]> = rows.chunk_by(|a, b| a.id == b.id).flat_map(of_claim).collect();
    let head = ["statement", "document", "ours", "verdict", "cause"];
    tables::table(&head, &lines, &Columns { right: &[], prose: &[0, 1, 2, 3] }, width)
}

/// Puts no-break spaces between a value and its unit: "ns-2: 7.45 s".
fn together(value: &str) -> String {
    let (within, value) = value.rsplit_once(": ").map_or(("", value), |(within, value)| (within, value));
    let colon = if within.is_empty() { "" } else { ": " };
    format!("{within}{colon}{}", value.replace(' ', "\u{a0}"))
}

/// Returns the rows whose statements are the document's own.
pub fn headline(rows: &[Row]) -> Vec<&Row> {
    rows.iter().filter(|row| row.headline).collect()
}

/// Counts the verdicts on a document's statements, in lines of at most `width` columns. The document's statements are
/// counted apart from others, and the scenarios' conventions apart from other conventions.
pub fn counts(rows: &[&Row], width: usize) -> String {
    let mut text = String::new();
    let mut line = |whose: &str, rows: &[&Row]| {
        let tally = tables::tallied(rows.iter().map(|row| (row.id.as_str(), row.verdict)));
        text.push_str(&tables::wrapped(&format!("{whose}: {tally}"), width, 2));
        text.push('\n');
    };
    let own = |row: &&&Row| !other_conventions(row, rows);
    for (kind, whose) in KINDS {
        let of_kind: Vec<&Row> = rows.iter().filter(own).filter(|row| row.kind == kind).copied().collect();
        if !of_kind.is_empty() {
            line(whose, &of_kind);
        }
    }
    let mut others: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| other_conventions(row, rows) && row.kind.is_none()) {
        others.entry(&row.conventions).or_default().push(row);
    }
    for (conventions, rows) in others {
        line(&format!("with the conventions of {conventions}"), &rows);
    }
    text
}

/// Origins of statements, each with the words that the counts use.
const KINDS: [(Option<Origin>, &str); 4] = [
    (None, "statements of the document"),
    (Some(Origin::Ours), "statements of our own"),
    (Some(Origin::Other), "statements of other papers"),
    (Some(Origin::Duplicate), "repetitions"),
];

/// True if a row's runs had other conventions than the claim's first row, which has the scenario's.
fn other_conventions(row: &Row, rows: &[&Row]) -> bool {
    rows.iter().find(|other| other.id == row.id).is_some_and(|first| first.conventions != row.conventions)
}

/// Formats a table of the documents on record in at most `width` columns, with the counts of verdicts.
pub fn documents(records: &BTreeMap<String, Vec<Row>>, width: usize) -> String {
    let (head, rows) = overview(records);
    tables::table(&head, &rows, &Columns { right: &[1, 2, 3, 4, 5, 6], prose: &[] }, width)
}

const OVERVIEW: [Ruling; 5] =
    [Ruling::Holds, Ruling::NotRefuted, Ruling::Better, Ruling::Differs, Ruling::NotConfirmed];

/// Returns the head and the rows of the table of documents, which counts verdicts on the documents' own statements.
fn overview(records: &BTreeMap<String, Vec<Row>>) -> (Vec<String>, Vec<Vec<String>>) {
    let head = ["document", "verdicts"].into_iter().chain(OVERVIEW.iter().map(|ruling| ruling.word()));
    let line = |(document, rows): (&String, &Vec<Row>)| {
        let all: Vec<&Row> = rows.iter().collect();
        let own: Vec<&&Row> = all.iter().filter(|row| row.kind.is_none() && !other_conventions(row, &all)).collect();
        let count = |ruling: &Ruling| own.iter().filter(|row| row.verdict == *ruling).count().to_string();
        [document.clone(), own.len().to_string()].into_iter().chain(OVERVIEW.iter().map(count)).collect()
    };
    // An example without a document's statements is not a document.
    let with_own = records.iter().filter(|(_, rows)| rows.iter().any(|row| row.kind.is_none()));
    (head.map(str::to_owned).collect(), with_own.map(line).collect())
}

/// Formats tables in Markdown: with `all` every claim, sorted by document and experiment; otherwise the headline table
/// of one document, or the table of several documents.
pub fn markdown(records: &BTreeMap<String, Vec<Row>>, all: bool) -> String {
    match (all, records.len()) {
        (false, 1) => records.values().map(|rows| markdown_table(&headline(rows))).collect(),
        (false, _) => {
            let (head, rows) = overview(records);
            let mut text = markdown_line(&head);
            let _ = writeln!(text, "|---{}|", "|--:".repeat(head.len() - 1));
            text.extend(rows.iter().map(|row| markdown_line(row)));
            text
        }
        (true, _) => {
            let mut text = String::new();
            for (document, rows) in records {
                let _ = write!(text, "## {document}\n\n");
                for rows in rows.chunk_by(|a, b| a.experiment() == b.experiment()) {
                    let _ = write!(text, "### {}\n\n", rows[0].experiment());
                    text.push_str(&markdown_table(&rows.iter().collect::<Vec<_>>()));
                    text.push('\n');
                }
            }
            text
        }
    }
}

fn markdown_table(rows: &[&Row]) -> String {
    let mut text = "| statement | document | ours | verdict | cause |\n|---|---|---|---|---|\n".to_owned();
    for rows in rows.chunk_by(|a, b| a.id == b.id) {
        let first = rows[0];
        let each = |cell: &dyn Fn(&Row) -> String| rows.iter().map(|row| cell(row)).join("<br>");
        let statement = format!("{} (`{}`)", first.statement, first.id);
        let cells = [statement, document(first), each(&|row| ours(row, rows)), each(&verdict), cause(rows)];
        text.push_str(&markdown_line(&cells));
    }
    text
}

fn markdown_line(cells: &[String]) -> String {
    format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// Formats all that is on record about one claim, in at most `width` columns. `why` is the scenario's reason.
pub fn claim(rows: &[&Row], why: Option<&str>, width: usize) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = format!("{}\n", tables::wrapped(&format!("{}: {}", first.id, first.statement), width, 2));
    let whose = match first.kind {
        None => String::new(),
        Some(Origin::Ours) => "; a statement of our own".to_owned(),
        Some(Origin::Other) => "; a statement of another paper".to_owned(),
        Some(Origin::Duplicate) => "; repeats another claim".to_owned(),
    };
    let headline = if first.headline { "; one for which the document stands" } else { "" };
    let mut line = |key: &str, told: &str| {
        if !told.is_empty() {
            text.push_str(&tables::wrapped(&format!("  {key:<11} {told}"), width, 14));
            text.push('\n');
        }
    };
    line("source", &format!("{}{whose}{headline}", first.source));
    line("document", &document(first));
    line("holds if", &tables::window(&first.window, first.unit));
    for row in rows {
        line("ours", &measured(row, rows));
        line("verdict", &verdict(row));
        line("neighbours", &row.neighbours);
    }
    line("why", why.unwrap_or_default());
    line("cause", first.cause.map_or("", |cause| cause.words()));
    for row in rows.iter().filter(|row| row.setting == first.setting) {
        line("run", &format!("{} ({})", row.command, row.date));
    }
    text
}

/// Returns the rows as a JSON list of objects; keys are the names of the columns.
pub fn json(rows: &[&Row]) -> Value {
    let object = |row: &&Row| {
        let mut value = json!(row);
        for name in ["ours", "low", "high"] {
            value[name] = value[name].as_f64().map_or(Value::Null, |number| json!(super::rounded(number)));
        }
        value["kind"] = row.kind.map_or_else(|| json!(super::DOCUMENTS_OWN), |kind| json!(kind));
        value["setting"] = if row.setting.is_empty() { Value::Null } else { json!(row.setting) };
        value
    };
    rows.iter().map(object).collect()
}

/// Formats the rows as a table with the columns of the record.
pub fn data(rows: &[&Row]) -> String {
    super::write(&rows.iter().map(|row| (*row).clone()).collect::<Vec<_>>())
}

/// Formats the document's value with its unit, or the document's words.
fn document(row: &Row) -> String {
    match &row.document {
        None => "-".to_owned(),
        Some(Reported::Number(value)) => short_quantity(*value, row.unit),
        Some(Reported::Words(words)) => words.clone(),
    }
}

/// Formats our value with its unit, and with its setting if a claim has several rows.
fn ours(row: &Row, rows: &[&Row]) -> String {
    let value = short_quantity(row.ours, row.unit);
    let within = within(row, rows);
    if within.is_empty() { value } else { format!("{within}: {value}") }
}

/// Returns the setting and the conventions if they distinguish a row from other rows of its claim.
fn within(row: &Row, rows: &[&Row]) -> String {
    let conventions = if rows[0].conventions == row.conventions { "" } else { &row.conventions };
    [row.setting.as_str(), conventions].into_iter().filter(|word| !word.is_empty()).join(", ")
}

/// Formats our value, its interval, and the case that decided.
fn measured(row: &Row, rows: &[&Row]) -> String {
    let value = |value| short_quantity(value, row.unit);
    let mut text = ours(row, rows);
    if row.low.total_cmp(&row.high).is_ne() {
        let _ = write!(text, " ({} to {})", value(row.low), value(row.high));
    }
    if !row.at.is_empty() {
        let _ = write!(text, ", {}", row.at);
    }
    text
}

fn verdict(row: &Row) -> String {
    let depends = if row.depends_on.is_empty() { String::new() } else { format!(", depends on {}", row.depends_on) };
    row.verdict.word().to_owned() + &depends
}

/// Returns the cause of a difference; empty if the claim holds in all rows.
fn cause(rows: &[&Row]) -> String {
    let differs = rows.iter().any(|row| !matches!(row.verdict, Ruling::Holds | Ruling::NotRefuted));
    rows[0].cause.filter(|_| differs).map_or_else(String::new, |cause| word(&cause))
}
