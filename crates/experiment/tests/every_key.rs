//! Tests that every choice of every key in the schema is accepted by a scenario that needs it, as `sluice check` reads it.

use experiment::scenario::{Files, Scenario, Wishes, schema};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The networks in which keys are changed, and the keys, each with a network in which it has an effect.
const WORLDS: &str = include_str!("../src/scenario/idle/worlds.txt");
const KEYS: &str = include_str!("../src/scenario/idle/keys.txt");
/// Networks for the choices that their key's own network refuses.
const CHOICES: &str = include_str!("every_key/choices.txt");
/// The choices of keys that are no part of the network.
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

/// Checks the network of a choice of a key: that of the choice, or else that of the key.
fn of_network(key: &str, row: &str, choice: &str) -> Result<(), String> {
    if let Some(own) = rows(CHOICES).get(format!("{key}={choice}").as_str()) {
        assert!(own.contains(choice), "{key}={choice} is not in its network");
        let (name, sets) = network(own);
        return checked(world(name), sets);
    }
    let columns: Vec<&str> = row.split(" | ").collect();
    let (name, mut sets) = network(columns[0]);
    let mut values = columns[1..3].iter().flat_map(|values| values.split(" & ")).filter_map(|set| set.split_once('='));
    let last = key.rsplit('.').next();
    let (path, _) = values.find(|(path, _)| path.trim().rsplit('.').next() == last).expect("a value of the key");
    sets.push(format!("{}={}", path.trim(), Value::from(choice)));
    checked(world(name), sets)
}

/// The tables below a sweep over `rate`: a header, and the lines that a table has without the key.
const REPORT: [(&str, &str, &str); 4] = [
    (
        "claim",
        "[[claim]]",
        "id = \"choice.1\"\nsays = \"so\"\nsource = \"none\"\nmeasure = \"flows.*.goodput_bps\"\nholds = \">= 0\"",
    ),
    (
        "chart",
        "[[chart]]",
        "title = \"a chart\"\nx = \"rate\"\ny = [\"flows.*.goodput_bps\"]\ny_title = \"goodput (b/s)\"",
    ),
    ("table", "[[table]]", "title = \"a table\"\nrows = \"rate\""),
    ("table", "[[table.cell]]", "title = \"goodput\"\nmeasure = \"flows.f.goodput_bps\""),
];

/// Checks a sweep with a claim, a chart and a table, of which one has this choice.
fn of_report(key: &str, lines: &str, choice: &str) -> Result<(), String> {
    let own = rows(REPORTS).get(format!("{key}={choice}").as_str()).copied();
    let refused = own == Some("refused");
    let lines = own.filter(|_| !refused).unwrap_or(lines).replace("{}", choice);
    let rates = ["1 Mb/s", "2 Mb/s", "4 Mb/s"];
    let rates = rates.map(|rate| format!("{{ label = \"{rate}\", set = {{ \"flow.f.traffic.rate\" = \"{rate}\" }} }}"));
    let vary = format!("[vary]\nrate = [{}]\n[record]\nseries = \"50 ms\"\n", rates.join(", "));
    let mut text = format!("{}{vary}", world("cell"));
    for (name, header, usual) in REPORT {
        let is_its = key.starts_with(name) && key.contains(".cell.") == header.contains(".cell");
        let own: Vec<&str> = lines.split(" & ").filter(|_| is_its).collect();
        let name_of = |line: &&str| line.split(" = ").next().map(str::to_owned);
        let written: BTreeSet<_> = own.iter().map(name_of).collect();
        let kept = usual.lines().filter(|line| !written.contains(&name_of(line)));
        text.extend([header, "\n", &kept.chain(own.iter().copied()).collect::<Vec<_>>().join("\n"), "\n"]);
    }
    match checked(&text, Vec::new()) {
        Err(_) if refused => Ok(()),
        Ok(()) if refused => Err("it is accepted".to_owned()),
        read => read,
    }
}

/// Adds the keys below a part of the schema that have choices, by their paths without lists. `above`: outer types.
fn collect(part: &Value, all: &Value, path: &str, above: &[String], found: &mut BTreeMap<String, BTreeSet<String>>) {
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
    let several = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| part[key].as_array()).flatten();
    for inner in several.chain(part.get("items")) {
        collect(inner, all, path, &above, found);
    }
    for (key, value) in part["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        collect(value, all, &path, &above, found);
    }
}

/// The row of a key, or of the same key in another table: queues, TCP and consumption have theirs in several.
fn row_of<'t>(table: &BTreeMap<&'t str, &'t str>, path: &str) -> Option<(&'t str, &'t str)> {
    let ends = [path].into_iter().chain(path.match_indices('.').map(|(dot, _)| &path[dot + 1..]));
    let mut names = ends.flat_map(|end| [end.to_owned(), format!("queue.{end}")]);
    names.find_map(|name| table.get_key_value(name.as_str()).map(|(key, row)| (*key, *row)))
}

#[test]
fn every_choice_of_every_key_is_accepted_somewhere() {
    let (schema, mut found) = (schema::json(), BTreeMap::new());
    collect(&schema, &schema, "", &[], &mut found);
    found.retain(|_, choices| !choices.is_empty());
    let (keys, reports, mut seen, mut faults) = (rows(KEYS), rows(REPORTS), BTreeSet::new(), Vec::new());
    for (path, choices) in &found {
        let (row, own) = (row_of(&keys, path), reports.get(path.as_str()));
        let Some((key, row)) = own.map(|row| (path.as_str(), *row)).or(row) else {
            faults.push(format!("{path}: no network for its choices"));
            continue;
        };
        if !seen.insert(key.to_owned()) {
            continue;
        }
        let read = |choice: &String| {
            if own.is_some() { of_report(key, row, choice) } else { of_network(key, row, choice) }
        };
        faults.extend(choices.iter().filter_map(|choice| Some(format!("{key}={choice}: {}", read(choice).err()?))));
    }
    assert!(seen.len() > 80, "{}", seen.len());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// `file` was refused beside `model = "fcd"`: it was said to belong to `setdest`.
#[test]
fn floating_car_data_of_a_file_move_nodes() {
    let text = "title = \"a ride\"\nduration = \"2 s\"\n[radio]\nrange = \"50 m\"\n\
        [mobility]\nmodel = \"fcd\"\nfile = \"ride.xml\"\n[nodes]\ncount = 3\n\
        [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = { kind = \"cbr\", rate = \"1 Mb/s\", packet = \"500 B\" }\n";
    assert_eq!(checked(text, Vec::new()), Ok(()));
    let walk = "\"random-waypoint\"\narea = [\"40 m\", \"40 m\"]\nspeed = { from = \"1 m/s\", to = \"2 m/s\" }";
    let told = checked(&text.replace("\"fcd\"", walk), Vec::new()).expect_err("no effect");
    assert!(told.contains("`file` has no effect: it belongs to `model = \"setdest\"` or `\"fcd\"`"), "{told}");
}
