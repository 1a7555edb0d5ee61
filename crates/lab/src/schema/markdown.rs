//! The reference of the scenario's format: an index and a page for each group of tables, `docs/scenario/*.md`.

use super::tables::{Key, Table};
use super::{Tables, claim};
use std::fmt::Write as _;

/// A page of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its file: `radio.md`. The index is `README.md`.
    pub file: String,
    /// The Markdown.
    pub text: String,
}

const INDEX: &str = "README";
const MARK: &str = "<!-- Written by `sluice docs`; edit the comments of the structs that read the file instead. -->";

/// Tables that share a page, and what it is about. Every other one has a page of its own, with the tables in it.
const GROUPS: &[(&str, &[&str], &str)] = &[
    ("radio", &["radio"], "The radio, its errors and fading, and the conventions of other simulators."),
    (
        "nodes",
        &["nodes", "node", "wired", "mobility", "consumption"],
        "Nodes, placed by rule or one by one, links beside the radio, movement, and the power that radios draw.",
    ),
    ("flow", &["flow", "tcp"], "Flows, and how TCP behaves."),
    (
        "queue",
        &["queue", "category_queue", "class_queue"],
        "Queues: discipline, limit, and the controller that moves it.",
    ),
    (
        "claim",
        &["claim", "rulings"],
        "Statements about the results that are checked, and within what they are ruled on.",
    ),
    (
        "report",
        &["answer", "chart", "table", "record", "model"],
        "The answer, charts and tables of the report, what runs record for them, and models beside runs.",
    ),
];

const PREFACE: &str = "\
A scenario is one TOML file: a network, its traffic and its queues, what to vary, and what is claimed about the results.
`sluice run FILE` runs the network once; `sluice reproduce FILE` runs the sweep and rules on the claims.

- A quantity is a string with a number and a unit: `\"100 ms\"`, `\"1.8 Mb/s\"`, `\"1000 B\"`, `\"30 m\"`, `\"15 dBm\"`.
- A key that is not listed here, or a value that does not fit, is refused with its line and the nearest right name.
- Editors that know JSON Schema complete and check scenarios with `docs/scenario.schema.json` (or `sluice schema`): put
  `#:schema <path to scenario.schema.json>` in the first line.
- The queue of a `[[node]]` inherits `[queue]` key by key.

## Changing a key from outside

`--set KEY=VALUE` and the keys of `[vary]` name a key of the network by its dotted path. Tables of an array are addressed
by their name, all of them by `*`: `queue.adth.target_delay`, `flow.forward.traffic.rate`, `node.n1.queue.limit`,
`flow.*.deadline`. A key that the file leaves out can be set too. A table is laid over the file's table key by key;
anything else replaces what the file says. On the command line, words and quantities need no inner quotes:
`--set 'queue.adth.target_delay=200 ms'`.

## `base`

A scenario inherits from another file with `base = \"other.toml\"`, relative to its own. Its keys are laid over those of the
base, tables key by key; a list, also one of tables such as `[[flow]]`, replaces the base's. There is one level only.
`sluice check --expand FILE` prints the two as one file.

## `[vary]`

A sweep. `seeds` is the number of seeds (`10` means 1 to 10) or a list of them. Every other key is an axis; the sweep is
the cross product of all axes, in the file's order, times the seeds. An axis is either a dotted path with the list of its
values, or a name of your choice with a list of labelled sets:

```toml
[vary]
seeds = 10
\"queue.adth.target_delay\" = [\"200 ms\", \"400 ms\"]
scheme = [
    { label = \"FIFO-DF\", set = { \"queue.controller\" = \"none\" } },
    { label = \"ADTH-DF\", set = { \"queue.controller\" = \"adth\" } },
]
```

A label occurs in all cases, or with `only` in those that have the labels of other axes that it names. A label may be
written again for other cases, if its settings depend on another axis:

```toml
[vary]
rate = [
    { label = \"light\", set = { \"flow.forward.traffic.rate\" = \"0.5 Mb/s\" } },
    { label = \"heavy\", set = { \"flow.forward.traffic.rate\" = \"2.5 Mb/s\" } },
]
scheme = [
    { label = \"FIFO\", set = { \"queue.controller\" = \"none\" } },
    { label = \"ADTH\", only = { rate = \"light\" }, set = { \"queue.adth.target_delay\" = \"50 ms\" } },
    { label = \"ADTH\", only = { rate = \"heavy\" }, set = { \"queue.adth.target_delay\" = \"200 ms\" } },
    { label = \"CoDel\", only = { rate = [\"heavy\"] }, set = { \"queue.discipline\" = \"codel\" } },
]
```

A case that lacks what a claim compares it with (`against`, or the label before it on the axis of `steps`) takes no part
in that claim; a table shows `-` where there is no case.

The file describes a whole network without `[vary]` too: that is what `sluice run` runs. Claims and charts speak of an
axis by its name and of its values by their labels (a plain value is its own label).

## `[quick]`

Keys, by their dotted paths, that have other values when `sluice reproduce --quick` is short of time, as in
`duration = \"60 s\"`. `--set` comes after them. `vary.AXIS = [labels]` keeps only these labels of an axis, and `vary.seeds = 2`
takes fewer seeds than the three of `--quick`. A claim that speaks of a case that is left out needs full runs.

## Settings and neighbours

Where a document leaves a setting open, `each = \"access\"` rules on every claim within each label of that axis, and shows the
verdicts side by side under one id. A choice that is not the document's can have neighbours: claims that name it are evaluated
with each neighbour in its place, the range of the values is shown beside the verdict, and a claim whose verdict changes
\"depends on\" the parameter. Neighbours never change a verdict.

```toml
[rulings]
each = \"access\"

[[rulings.neighbour]]
parameter = \"T\"
axis = \"scheme\"
label = \"SWAN\"
instead = [\"SWAN, T = 0.1 s\", \"SWAN, T = 0.5 s\"]
```
";

const ABOUT_CONVENTIONS: &str = "\
`conventions` sets every key below that the scenario leaves out, so that the rules are those of one simulator:
`--set conventions=ns-2`, or an axis `conventions = [\"standard\", \"ns-3\", \"ns-2\"]`. A key that is written in the file, set by
`--set` or varied wins. What is covered and what each rule changes: [MAC conventions](../mac-conventions.md),
[routing](../routing.md), [TCP](../tcp.md).
";

const ABOUT_REPORTS: &str = "\
What the report and the terminal show besides verdicts, and what runs record for it. `where`, `together`, `against` and
`compare` mean what they mean in [a claim](claim.md), with `choose = \"largest\"`.
";

/// The reference: the index, and the other pages in the order of their first tables.
pub fn pages() -> Vec<Page> {
    let tables = Tables::get();
    let mut names: Vec<&str> = Vec::new();
    for table in tables.iter().filter(|table| !table.path.is_empty()) {
        let name = page_of(table);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut pages = vec![page(INDEX, "The scenario file", &index(tables, &names))];
    pages.extend(names.into_iter().map(|name| page(name, &title(tables, name), &sections(tables, name))));
    pages
}

fn page(name: &str, title: &str, text: &str) -> Page {
    Page { file: format!("{name}.md"), text: format!("# {title}\n\n{MARK}\n\n{}\n", text.trim_end()) }
}

/// The page that a table stands on.
fn page_of(table: &Table) -> &str {
    let outermost = table.path.split('.').next().unwrap_or_default();
    match GROUPS.iter().find(|(_, tables, _)| tables.contains(&outermost)) {
        Some((page, ..)) => page,
        None if outermost.is_empty() => INDEX,
        None => outermost,
    }
}

/// The tables of a page that stand in no other: `[queue]`, `[category_queue]`.
fn title(tables: &Tables, page: &str) -> String {
    let outermost = tables.iter().filter(|table| page_of(table) == page && !table.path.contains('.'));
    outermost.map(|table| format!("`{}`", table.header)).collect::<Vec<_>>().join(", ")
}

fn index(tables: &Tables, names: &[&str]) -> String {
    let mut text = format!("{PREFACE}\n## Pages\n\n");
    for name in names {
        let of_group = GROUPS.iter().find(|(page, ..)| page == name).map(|(_, _, about)| *about);
        let of_table = tables.at(name).and_then(|table| table.about.split_inclusive(". ").next());
        let about = of_group.or(of_table).unwrap_or_default().trim_end();
        let _ = writeln!(text, "- [{}]({name}.md): {about}", title(tables, name));
    }
    text.push('\n');
    text.push_str(&sections(tables, INDEX));
    text
}

fn sections(tables: &Tables, page: &str) -> String {
    let mut text = match page {
        "claim" => claim::ABOUT.to_owned(),
        "report" => format!("{ABOUT_REPORTS}\n"),
        _ => String::new(),
    };
    for table in tables.iter().filter(|table| page_of(table) == page) {
        section(&mut text, tables, table);
    }
    if page == "radio" {
        let _ = write!(text, "## Conventions\n\n{ABOUT_CONVENTIONS}\n{}", crate::scenario::conventions());
    }
    text
}

fn section(page: &mut String, tables: &Tables, table: &Table) {
    let header = if table.path.is_empty() { "Top level".to_owned() } else { format!("`{}`", table.header) };
    let _ = write!(page, "## {header}\n\n");
    if !table.about.is_empty() {
        let _ = write!(page, "{}\n\n", table.about);
    }
    page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in &table.keys {
        row(page, tables, key);
    }
    page.push('\n');
    // A choice that has a table of its own is described there.
    let told = |about: &str| about.is_empty() || table.keys.iter().any(|key| key.is_table && key.about == about);
    for key in table.keys.iter().filter(|key| key.choices.iter().any(|(_, about)| !told(about))) {
        let mut list = format!("`{}`:\n\n", key.name);
        for (value, about) in key.choices.iter().filter(|(_, about)| !told(about)) {
            let _ = writeln!(list, "- {value}: {about}");
        }
        list.push('\n');
        // Another table of the page may have the same key.
        if !page.contains(&list) {
            page.push_str(&list);
        }
    }
}

fn row(page: &mut String, tables: &Tables, key: &Key) {
    let default = match (key.required, key.default.as_str()) {
        (true, _) => "*required*".to_owned(),
        (false, "") => String::new(),
        (false, default) => format!("`{default}`"),
    };
    let cell = |text: &str| text.replace('|', "\\|");
    let kind = if key.name == "vary" { "table, see above".to_owned() } else { linked(tables, key) };
    let about = if default.starts_with('`') { without_default(&key.about) } else { &key.about };
    let _ = writeln!(page, "| `{}` | {} | {} | {} |", key.name, cell(&kind), cell(&default), cell(about));
}

/// A description without a last sentence that only repeats the default, which has a column of its own.
fn without_default(about: &str) -> &str {
    let last = about.trim_end_matches('.').rfind(". Default ").map(|dot| dot + 1);
    match last.filter(|&at| !about[at..].contains(':') && !about[at..].contains(';')) {
        Some(at) => about[..at].trim_end(),
        None => about,
    }
}

/// What may stand at a key; a table as a link to its keys.
fn linked(tables: &Tables, key: &Key) -> String {
    let of_header = |header: &str| tables.iter().find(|table| table.header == header);
    let Some(table) = key.kind.split('`').find_map(of_header).filter(|_| key.is_table) else {
        // The example of a quantity is for hints: the page on scenarios has one for each kind.
        return key.kind.split(", as `").next().unwrap_or_default().to_owned();
    };
    let header = format!("`{}`", table.header);
    // As GitHub and mdBook name a heading.
    let anchor: String = table.header.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    key.kind.replace(&header, &format!("[{header}]({}.md#{anchor})", page_of(table)))
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
