//! Tests that each key of the schema changes the results in one network, and is refused where it has no effect.

use super::super::cases::{Scenario, Wishes};
use super::super::draft::Draft;
use super::super::file::Beside;
use super::super::refusal::Refusal;
use super::super::schema::Tables;
use super::super::source::Source;
use rayon::prelude::*;
use sim::World;
use std::collections::BTreeMap;

/// Networks in which keys are changed, each with its name.
const WORLDS: &str = include_str!("worlds.txt");
/// For each key of the network, a change that affects the results, and one that cannot.
const KEYS: &str = include_str!("keys.txt");

/// A change of one key: the key, and two of its values in the same network.
struct Change {
    key: &'static str,
    acts: Network,
    idle: Option<Network>,
    values: [Vec<&'static str>; 2],
}

/// Name of a network, and settings that are added to it.
struct Network {
    name: &'static str,
    set: Vec<&'static str>,
}

/// Reads `key | network: settings | one value | another | network: settings`.
fn change(line: &'static str) -> Change {
    let columns: Vec<&str> = line.split(" | ").map(str::trim).collect();
    let [key, acts, one, another, idle] = columns[..] else { panic!("five columns: {line}") };
    let idle = (idle != "always").then(|| network(idle));
    Change { key, acts: network(acts), idle, values: [list(one), list(another)] }
}

fn network(text: &'static str) -> Network {
    let (name, set) = text.split_once(':').unwrap_or((text, ""));
    Network { name: name.trim(), set: list(set) }
}

fn list(text: &'static str) -> Vec<&'static str> {
    text.split(" & ").map(str::trim).filter(|set| !set.is_empty()).collect()
}

fn changes() -> Vec<Change> {
    KEYS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(change).collect()
}

fn worlds() -> BTreeMap<&'static str, &'static str> {
    WORLDS
        .split("#### ")
        .skip(1)
        .map(|world| world.split_once(':').expect("a name, and what it is"))
        .map(|(name, world)| (name, world.split_once('\n').expect("lines below it").1))
        .collect()
}

fn wishes(network: &Network, values: &[&str]) -> Wishes {
    let set = network.set.iter().chain(values).map(|&set| set.to_owned()).collect();
    Wishes { set, base_only: true, ..Wishes::default() }
}

fn text(network: &Network) -> &'static str {
    worlds().get(network.name).unwrap_or_else(|| panic!("no network `{}`", network.name))
}

/// The files that the networks name.
const FILES: Beside = Beside(&[
    ("movement.txt", include_bytes!("movement.txt")),
    ("later.txt", include_bytes!("later.txt")),
    ("one.pcap", include_bytes!("one.pcap")),
    ("two.pcap", include_bytes!("two.pcap")),
]);

/// Reads the scenario as `sluice run` does.
fn checked(network: &Network, values: &[&str]) -> Result<Scenario, Refusal> {
    Scenario::read("keys.toml", "keys", text(network).as_bytes(), &FILES, &wishes(network, values))
}

/// Returns the results of a network, as bytes.
fn results(scenario: &Scenario) -> Result<String, String> {
    let network = &scenario.base;
    let world = World::new(network, 1).map_err(|error| error.to_string())?;
    Ok(serde_json::to_string(&world.finish()).expect("results are JSON"))
}

/// Reads the scenario without checking that it makes sense.
fn unchecked(network: &Network, values: &[&str]) -> Result<Scenario, String> {
    let wishes = wishes(network, values);
    let sets = wishes.changes();
    let source = Source::alone("keys.toml", text(network), &sets);
    let draft = Draft::read(&source, &wishes).map_err(|r| r.to_string())?;
    let mut scenario = draft.scenario("keys").map_err(|refusal| refusal.to_string())?;
    super::super::attachments::attach(&draft, &FILES, [&mut scenario.base].into_iter()).map_err(|r| r.to_string())?;
    Ok(scenario)
}

fn moves(Change { key, acts, values: [one, another], .. }: &Change) -> Option<String> {
    let of = |values: &Vec<&str>| results(&checked(acts, values).map_err(|refusal| refusal.to_string())?);
    match (of(one), of(another)) {
        (Ok(one), Ok(another)) if one == another => Some(format!("{key}: the results are the same")),
        (Ok(_), Ok(_)) => None,
        (Err(why), _) | (_, Err(why)) => Some(format!("{key}: {why}")),
    }
}

fn says(Change { key, idle, values, .. }: &Change) -> Option<String> {
    let idle = idle.as_ref()?;
    // The first value may be the key's default.
    let changed = &values[1];
    match checked(idle, changed) {
        Ok(_) => return Some(format!("{key}: nothing is said of {changed:?} in `{}`", idle.name)),
        Err(refusal) if !refusal.change().is_some_and(|set| changed.contains(&set)) => {
            return Some(format!("{key}: not its own refusal: {refusal}"));
        }
        Err(_) => {}
    }
    // The refusal must be true: if the network can be built, both values give the same results.
    let [one, another] =
        values.each_ref().map(|values| unchecked(idle, values).and_then(|scenario| results(&scenario)));
    (one.is_ok() && another.is_ok() && one != another).then(|| format!("{key}: it is said to have no effect, and has"))
}

#[test]
fn every_key_moves_the_results_or_something_is_said() {
    let changes = changes();
    let faults: Vec<String> =
        changes.par_iter().flat_map_iter(|change| moves(change).into_iter().chain(says(change))).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_key_of_the_network_is_tried() {
    let tried: Vec<&str> = changes().iter().map(|change| change.key).collect();
    let missing: Vec<String> = Tables::get()
        .iter()
        .filter(|table| of_network(&table.path))
        .flat_map(|table| {
            // A table is only the sum of its keys.
            let keys = table.keys.iter().filter(|key| !key.is_table && key.kind != "table");
            keys.map(
                |key| if table.path.is_empty() { key.name.clone() } else { format!("{}.{}", table.path, key.name) },
            )
        })
        .filter(|key| of_network(key) && !tried.contains(&key.as_str()))
        .collect();
    assert!(missing.is_empty(), "no line for:\n{}", missing.join("\n"));
}

/// True for the keys of the network, and for the top level.
fn of_network(path: &str) -> bool {
    let first = path.split('.').next().unwrap_or_default();
    first.is_empty() || super::super::keys::NETWORK_KEYS.contains(&first)
}

const CELL: &str =
    "title = \"t\"\nduration = \"1 s\"\nnodes = { count = 3, placement = \"chain\", spacing = \"20 m\" }\n";
const FLOW: &str = "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\n\
    traffic = { kind = \"saturated\", packet = \"1 kB\" }\n";

fn said(text: &str, set: &[&str]) -> Option<String> {
    let wishes = Wishes { set: set.iter().map(|&set| set.to_owned()).collect(), ..Wishes::default() };
    let read = Scenario::read("a.toml", "a", format!("{CELL}{text}{FLOW}").as_bytes(), &FILES, &wishes);
    read.err().map(|refusal| refusal.to_string())
}

#[test]
fn an_idle_setting_is_refused_with_its_line_the_reason_and_what_to_do() {
    assert_eq!(
        said("radio = { propagation = \"free-space\", antenna_height = \"2 m\" }\n", &[]).unwrap(),
        [
            "a.toml:4:56: `antenna_height` has no effect: it belongs to `propagation = \"two-ray\"`",
            "  |",
            "4 | radio = { propagation = \"free-space\", antenna_height = \"2 m\" }",
            "  |                                                        ^^^^^",
            "   = set `propagation = \"two-ray\"`, or leave it out",
        ]
        .join("\n")
    );
    for (text, line) in [
        (
            "[[flow]]\nname = \"g\"\nfrom = \"n1\"\nto = \"n0\"\ncount = 0\ntraffic.kind = \"ping\"\n",
            "a.toml:8:9: `count`",
        ),
        (
            "[[node]]\nname = \"x\"\nrole = \"wired\"\nposition = [\"0 m\", \"0 m\"]\n[[wired]]\nbetween = [\"x\", \"n0\"]\nrate = \"1 Mb/s\"\n",
            "a.toml:7:1: `position`",
        ),
        ("[queue.codel]\ntarget = \"9 ms\"\n", "a.toml:4:8: `codel`"),
        ("[tcp]\nsegment = \"500 B\"\n", "a.toml:4:2: `tcp`"),
        ("[routing.aodv]\nhello = true\n", "a.toml:4:10: `aodv`"),
        ("[[node]]\nname = \"n0\"\nqueues = \"turns\"\nturns.without = \"received-airtime\"\n", "`without`"),
        ("[[node]]\nname = \"n0\"\nqueues = \"turns\"\nturns.without = \"wide-window\"\n", "`without`"),
        ("[[routing.route]]\nfrom = \"n2\"\nto = \"n0\"\nvia = [\"n1\"]\n", "`route`"),
        ("conventions = \"ns-3\"\nrecord.hops = true\n", "a.toml:5:15: `hops`"),
    ] {
        let refusal = said(text, &[]).unwrap_or_else(|| panic!("nothing is said of {text}"));
        assert!(refusal.contains(line) && refusal.contains("has no effect: "), "{text}: {refusal}");
    }
}

/// Three cars that stand still, in the format of SUMO.
const CARS: &[u8] = br#"<fcd-export><timestep time="0.00"><vehicle id="a" x="0" y="0" speed="0"/>
    <vehicle id="b" x="20" y="0" speed="0"/><vehicle id="c" x="40" y="0" speed="0"/></timestep></fcd-export>"#;

#[test]
fn a_movement_file_has_an_effect_in_each_of_its_formats() {
    let cell = CELL.replace(", placement = \"chain\", spacing = \"20 m\"", "");
    let read = |mobility: &str| {
        let text = format!("{cell}mobility = {{ {mobility} }}\n{FLOW}");
        let read = Scenario::read("a.toml", "a", text.as_bytes(), &Beside(&[("cars", CARS)]), &Wishes::default());
        read.map(drop).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(read("model = \"fcd\", file = \"cars\""), Ok(()));
    let said = read("model = \"fcd\", file = \"cars\", pause = \"1 s\"").unwrap_err();
    assert!(said.contains("`pause` has no effect: it belongs to `model = \"random-waypoint\"`"), "{said}");
}

#[test]
fn a_setting_of_tcp_acts_where_one_flow_takes_it() {
    let tcp = |own: &str| {
        format!(
            "[tcp]\nsegment = \"500 B\"\nrecovery = \"newreno\"\n[[flow]]\nname = \"g\"\nfrom = \"n0\"\nto = \"n1\"\n\
             transport = \"tcp\"\ntraffic.kind = \"greedy\"\n{own}"
        )
    };
    assert_eq!(said(&tcp(""), &[]), None);
    let refusal = said(&tcp("tcp.segment = \"700 B\"\n"), &[]).unwrap();
    assert!(refusal.contains("a.toml:5:11: `segment` has no effect: every flow sets it"), "{refusal}");
    let tables = tcp("tcp.bqm.raise = false\n").replace("[[flow]]", "congestion = \"bqm\"\nbqm.every = 9\n[[flow]]");
    assert_eq!(said(&tables, &[]), None, "a flow takes single keys of a table");
    let refusal = said(&tables.replace("raise = false", "every = 8"), &[]).unwrap();
    assert!(refusal.contains("`every` has no effect: every flow sets it"), "{refusal}");
    let refusal = said(&tcp(""), &["tcp.loss_detection=duplicate-acks"]).unwrap();
    assert!(refusal.contains("it belongs to `recovery = \"sack\"`"), "{refusal}");
    assert_eq!(
        said(&tcp("tcp.recovery = \"sack\"\n"), &["tcp.loss_detection=duplicate-acks", "tcp.segment=9 B"])
            .map(|said| said.contains("recovery")),
        Some(true)
    );
}

#[test]
fn a_setting_that_one_case_or_the_file_alone_uses_stays() {
    let codel = "queue.codel.target = \"9 ms\"\nvary.\"queue.discipline\" = [\"drop-tail\", \"codel\"]\n";
    assert_eq!(said(codel, &[]), None);
    let own = "queue = { discipline = \"codel\", codel.target = \"9 ms\" }\n";
    assert_eq!(said(own, &["queue.discipline=pie"]), None);
    let refusal = said(own, &["queue.discipline=pie", "queue.red.max_p=0.1"]).unwrap();
    assert!(refusal.starts_with("--set 'queue.red.max_p=0.1': `"), "{refusal}");
    // A flow of the file is disabled from outside, or in some cases.
    assert_eq!(said("", &["flow.f.count=0"]), None);
    assert_eq!(said("vary.background = [{ label = \"none\", set = { \"flow.f.count\" = 0 } }]\n", &[]), None);
    // Keys that follow from a simulator's conventions are not in the file.
    assert_eq!(said("conventions = \"ns-2\"\n", &[]), None);
    // A shorter run may end before a change that the file's own run reaches.
    let text = format!("quick.duration = \"1 s\"\n{}", CELL.replace("duration = \"1 s\"", "duration = \"9 s\""));
    let step =
        "wired = [{ between = [\"n0\", \"n2\"], rate = \"1 Mb/s\", at = [{ time = \"2 s\", rate = \"2 Mb/s\" }] }]\n";
    let quick = Wishes { quick: true, ..Wishes::default() };
    Scenario::read("a.toml", "a", (text + step + FLOW).as_bytes(), &FILES, &quick).unwrap();
}
