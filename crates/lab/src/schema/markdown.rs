//! The reference of the scenario's format, `docs/scenario.md`.

use super::Tables;
use super::tables::{Key, Table};
use std::fmt::Write as _;

const PREFACE: &str = "\
# The scenario file

<!-- Written by `sluice docs`; edit the comments of the structs that read the file instead. -->

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

The file describes a whole network without `[vary]` too: that is what `sluice run` runs. Claims and charts speak of an
axis by its name and of its values by their labels (a plain value is its own label).

## `[quick]`

Keys, by their dotted paths, that have other values when `sluice reproduce --quick` is short of time, as in
`duration = \"60 s\"`. `--set` comes after them.

## Conventions

`conventions` sets every key below that the scenario leaves out, so that the rules are those of one simulator:
`--set conventions=ns-2`, or an axis `conventions = [\"standard\", \"ns-3\", \"ns-2\"]`. A key that is written in the file, set by
`--set` or varied wins. What is covered and what each rule changes: `docs/mac-conventions.md`, `docs/routing.md`,
`docs/tcp.md`.

";

/// The reference, as Markdown.
pub fn markdown() -> String {
    let mut page = format!("{PREFACE}{}\n", crate::scenario::conventions());
    for table in Tables::get().iter() {
        section(&mut page, table);
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn section(page: &mut String, table: &Table) {
    let header = if table.path.is_empty() { "Top level".to_owned() } else { format!("`{}`", table.header) };
    let _ = write!(page, "## {header}\n\n");
    if !table.about.is_empty() {
        let _ = write!(page, "{}\n\n", table.about);
    }
    page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in &table.keys {
        row(page, key);
    }
    page.push('\n');
    for key in table.keys.iter().filter(|key| key.choices.iter().any(|(_, about)| !about.is_empty())) {
        let _ = write!(page, "`{}`:\n\n", key.name);
        for (value, about) in &key.choices {
            let _ = writeln!(page, "- {value}: {about}");
        }
        page.push('\n');
    }
}

fn row(page: &mut String, key: &Key) {
    let default = match (key.required, key.default.as_str()) {
        (true, _) => "*required*".to_owned(),
        (false, "") => String::new(),
        (false, default) => format!("`{default}`"),
    };
    let cell = |text: &str| text.replace('|', "\\|");
    let kind = if key.name == "vary" { "table, see above".to_owned() } else { key.kind.clone() };
    let _ = writeln!(page, "| `{}` | {} | {} | {} |", key.name, cell(&kind), cell(&default), cell(&key.about));
}
