//! Tests that every choice of every key in the schema is accepted by a scenario that needs it, as `sluice check` reads it.

use experiment::scenario::{Files, Scenario, Wishes, schema};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The networks in which keys are changed, and the keys, each with a network in which it has an effect.
const WORLDS: &str = include_str!("../src/scenario/idle/worlds.txt");
const KEYS: &str = include_str!("../src/scenario/idle/keys.txt");
/// Networks for the choices that their key's own network refuses.
const CHOICES: &str = include_str!("every_key/choices.txt");
/// The tables of claims, charts and tables, in which keys that are no part of the network have choices.
const REPORTS: &str = include_str!("every_key/reports.txt");

/// The files that the networks name.
struct Beside;

impl Files for Beside {
    fn name(&self, path: &Path) -> String {
        path.display().to_string()
    }

    fn read(&self, path: &Path, _most: u64) -> io::Result<Vec<u8>> {
        Ok(match path.to_str() {
            Some("movement.txt") => include_bytes!("../src/scenario/idle/movement.txt").to_vec(),
            Some("ride.xml") => include_bytes!("every_key/ride.xml").to_vec(),
            Some("one.pcap") => include_bytes!("../src/scenario/idle/one.pcap").to_vec(),
            other => return Err(io::Error::other(format!("no file {other:?}"))),
        })
    }
}

/// The rows of a table of this test: what stands before the first ` | `, and the rest.
fn rows(table: &'static str) -> BTreeMap<&'static str, &'static str> {
    table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" | ")).collect()
}

/// The name of a network, and the settings added to it.
fn network(text: &str) -> (&str, Vec<String>) {
    let (name, sets) = text.split_once(':').unwrap_or((text, ""));
    let sets = sets.split(" & ").map(str::trim).filter(|set| !set.is_empty());
    (name.trim(), sets.map(str::to_owned).collect())
}

fn world(name: &str) -> &'static str {
    let world = WORLDS.split("#### ").find(|world| world.split(':').next() == Some(name));
    world.unwrap_or_else(|| panic!("no network `{name}`")).split_once('\n').expect("lines below its name").1
}

fn checked(text: &str, set: Vec<String>) -> Result<(), String> {
    let wishes = Wishes { set, ..Wishes::default() };
    let read = Scenario::read("choice.toml", "choice", text.as_bytes(), &Beside, &wishes);
    read.map(|_| ()).map_err(|refusal| refusal.to_string())
}

/// The network of a choice of a key, checked: that of the choice, or else that of the key.
fn of_network(key: &str, row: &str, choice: &str) -> Result<(), String> {
    if let Some(own) = rows(CHOICES).get(format!("{key}={choice}").as_str()) {
        let (name, sets) = network(own);
        assert!(own.contains(choice), "{key}={choice} is not in its network");
        return checked(world(name), sets);
    }
    let columns: Vec<&str> = row.split(" | ").collect();
    let (name, mut sets) = network(columns[0]);
    let values = columns[1..3].iter().flat_map(|values| values.split(" & "));
    let paths = values.filter_map(|value| Some(value.split_once('=')?.0.trim()));
    let last = key.rsplit('.').next();
    let path = paths.into_iter().find(|path| path.rsplit('.').next() == last).expect("a value of the key");
    sets.push(format!("{path}={}", Value::from(choice)));
    checked(world(name), sets)
}

/// A sweep with a claim, a chart and a table, of which one has this choice, checked.
fn of_report(key: &str, lines: &str, choice: &str) -> Result<(), String> {
    let table = |name: &str, header: &str, usual: &str| {
        let own: Vec<_> = lines.split(" & ").filter(|_| key.split('.').next() == Some(name)).collect();
        let written = |key: &str| own.iter().any(|line| line.split(" = ").next() == Some(key));
        let usual = usual.lines().filter(|line| !line.split(" = ").next().is_some_and(written));
        let cell = key.split('.').nth(1) == Some("cell");
        let (row, cells): (Vec<_>, Vec<_>) = own.iter().copied().partition(|_| !cell);
        let rows: Vec<&str> = usual.chain(row).collect();
        let cells =
            if name == "table" { format!("\n[[table.cell]]\n{CELL}{}", cells.join("\n")) } else { String::new() };
        format!("{header}\n{}{cells}\n", rows.join("\n"))
    };
    let sweep = "[vary]\nrate = [\n\
        { label = \"1 Mb/s\", set = { \"flow.f.traffic.rate\" = \"1 Mb/s\" } },\n\
        { label = \"2 Mb/s\", set = { \"flow.f.traffic.rate\" = \"2 Mb/s\" } },\n\
        { label = \"4 Mb/s\", set = { \"flow.f.traffic.rate\" = \"4 Mb/s\" } },\n]\n";
    let claim = table("claim", "[[claim]]", CLAIM);
    let (chart, of_cells) = (table("chart", "[[chart]]", CHART), table("table", "[[table]]", TABLE));
    let text = format!("{}{sweep}[record]\nseries = \"50 ms\"\n{claim}{chart}{of_cells}", world("cell"));
    checked(&text.replace("{}", choice), Vec::new())
}

const CLAIM: &str = "id = \"choice.1\"\nsays = \"something\"\nsource = \"none\"\nmeasure = \"flows.*.goodput_bps + 0\"\nholds = \">= 0\"";
const CHART: &str = "title = \"a chart\"\nx = \"rate\"\ny = [\"flows.*.goodput_bps\"]\ny_title = \"goodput (b/s)\"";
const TABLE: &str = "title = \"a table\"\nrows = \"rate\"";
const CELL: &str = "title = \"goodput\"\nmeasure = \"flows.f.goodput_bps\"\n";

/// Adds the keys below a part of the schema that have choices, by their paths without lists.
fn collect(part: &Value, all: &Value, path: &str, above: &[String], found: &mut BTreeMap<String, Vec<String>>) {
    let (mut part, mut above) = (part, above.to_vec());
    while let Some(name) = part["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        if above.iter().any(|known| known == name) {
            return;
        }
        above.push(name.to_owned());
        part = &all["$defs"][name];
    }
    let words = part["enum"].as_array().into_iter().flatten().chain([&part["const"]]).filter_map(Value::as_str);
    found.entry(path.to_owned()).or_default().extend(words.map(str::to_owned));
    for inner in
        ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| part[key].as_array()).flatten().chain(part.get("items"))
    {
        collect(inner, all, path, &above, found);
    }
    for (key, value) in part["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        collect(value, all, &path, &above, found);
    }
}

/// The longest end of a path that is a row of a table: queues and TCP have the same keys in several places.
fn end_in<'t>(table: &BTreeMap<&'t str, &'t str>, path: &str) -> Option<(&'t str, &'t str)> {
    let ends = path.match_indices('.').map(|(dot, _)| &path[dot + 1..]);
    [path].into_iter().chain(ends).find_map(|end| table.get_key_value(end).map(|(key, row)| (*key, *row)))
}

#[test]
fn every_choice_of_every_key_is_accepted_somewhere() {
    let mut found = BTreeMap::new();
    let schema = schema::json();
    collect(&schema, &schema, "", &[], &mut found);
    found.retain(|_, choices| !choices.is_empty());
    assert!(found.len() > 100, "{}", found.len());
    let (keys, reports, mut seen, mut faults) = (rows(KEYS), rows(REPORTS), BTreeMap::new(), Vec::new());
    for (path, choices) in &found {
        let (key, read): (_, Box<dyn Fn(&str) -> Result<(), String>>) =
            match (end_in(&reports, path), end_in(&keys, path)) {
                (Some((key, lines)), _) if key == path => (key, Box::new(move |choice| of_report(key, lines, choice))),
                (_, Some((key, row))) => (key, Box::new(move |choice| of_network(key, row, choice))),
                _ => {
                    faults.push(format!("{path}: no network for its choices"));
                    continue;
                }
            };
        if seen.insert(key, ()).is_some() {
            continue;
        }
        let refused = choices.iter().filter_map(|choice| Some(format!("{key}={choice}: {}", read(choice).err()?)));
        faults.extend(refused);
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
