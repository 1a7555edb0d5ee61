//! A test that docs/add-a-controller.md is right: a copy of the whole workspace takes the controller of this page by one file
//! and one registry entry. The command built from the copy simulates with it, observes an interface, and replays a recording.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

const PAGE: &str = include_str!("../../../../docs/add-a-controller.md");
const FIXED_DRAIN: &str = include_str!("../../../control/tests/add_a_controller/fixed_drain.rs");
const PROBE: &str = include_str!("probe.rs");

/// Name of the copy's command. It differs from `sluice`, so that it does not replace the command that other tests run.
const COMMAND: &str = "sluice-with-additions";

/// Returns the only code block of the page that contains `text`.
fn block(text: &str) -> &'static str {
    let block = |rest: &'static str| rest.split_once("```").expect("a fence is closed").0;
    let found: Vec<_> = PAGE.split("```rust\n").skip(1).map(block).filter(|block| block.contains(text)).collect();
    assert_eq!(found.len(), 1, "blocks with {text:?}");
    found[0]
}

/// Adds a file and its registry entry to the copy of crate `control`.
fn register(copy: &Path, module: &str, text: &str, entry: &str, declared: &str) {
    let source = copy.join("crates/control/src");
    fs::write(source.join(module).with_extension("rs"), text).unwrap();
    let list = fs::read_to_string(source.join("lib.rs")).unwrap();
    let start = list.find("registry::controllers! {").expect("the file has the registry");
    let end = start + list[start..].find("\n}").expect("the registry ends") + 1;
    let registered =
        format!("{}{entry}{}", &list[..end], &list[end..]).replacen("pub mod", &format!("{declared}pub mod"), 1);
    fs::write(source.join("lib.rs"), registered).unwrap();
}

/// A discipline's page has the discipline's name, or a heading with that name in backquotes.
#[test]
fn every_discipline_with_a_table_has_a_page() {
    let folders = ["docs/disciplines", "docs"].map(|folder| workspace().join(folder));
    let pages = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let pages: Vec<_> = pages.filter(|page| page.extension().is_some_and(|end| end == "md")).collect();
    let plain = [queue::DisciplineName::DropTail, queue::DisciplineName::DropHead];
    for name in queue::DisciplineName::ALL.iter().filter(|name| !plain.contains(name)) {
        let named = |page: &PathBuf| page.file_stem().is_some_and(|stem| stem == name.as_str());
        let heading = format!("`{}`", name.as_str());
        let headed = |page: &PathBuf| {
            let text = fs::read_to_string(page).unwrap();
            text.lines().any(|line| line.starts_with('#') && line.contains(&heading))
        };
        assert!(pages.iter().any(|page| named(page) || headed(page)), "docs has no page on {}", name.as_str());
    }
}

#[test]
#[ignore = "make nightly: it compiles a copy of the workspace"]
fn one_file_and_one_entry_are_all_that_a_controller_takes() {
    let _machine = crate::namespace::machine_to_itself();
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("additions");
    copy_workspace(&copy).unwrap();
    register(&copy, "fixed_drain", FIXED_DRAIN, block("    fixed_drain"), block("pub mod fixed_drain;"));
    let entry = "    /// Looks at all that there is.\n    probe: Probe,\n";
    register(&copy, "probe", PROBE, entry, "pub mod probe;\n");

    // The tests that every controller must pass, and the example's own tests.
    cargo(&copy, "test --quiet -p sluice-control --lib --test all --features sluice-control/schema");
    let command = built(&copy);
    let folder = tempfile::tempdir().unwrap();
    simulates(&command, folder.path());
    attaches(&command);
    replays(&command, folder.path());
    measures(&command, folder.path());
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Copies the crates and the files that they embed to `copy`.
fn copy_workspace(copy: &Path) -> io::Result<()> {
    if copy.exists() {
        fs::remove_dir_all(copy)?;
    }
    for folder in ["crates", "packaging", "scenarios"] {
        copy_folder(&workspace().join(folder), &copy.join(folder))?;
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(workspace().join(file), copy.join(file))?;
    }
    // The copy has no pages for these tests to read.
    let tests = copy.join("crates/control/tests");
    fs::remove_dir_all(tests.join("add_a_controller"))?;
    fs::write(tests.join("main.rs"), "mod every_controller;\n")?;
    let manifest = copy.join("crates/cli/Cargo.toml");
    let renamed = fs::read_to_string(&manifest)?.replacen("name = \"sluice\"", &format!("name = \"{COMMAND}\""), 1);
    fs::write(manifest, renamed)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            // Keeps the modification time, so that Cargo does not recompile unchanged files of an earlier run.
            let file = fs::File::open(entry.path())?;
            fs::copy(entry.path(), &target)?;
            fs::File::options().write(true).open(&target)?.set_modified(file.metadata()?.modified()?)?;
        }
    }
    Ok(())
}

/// Runs Cargo in the copy. It shares the dependencies that were built for the workspace's own tests.
fn cargo(copy: &Path, words: &str) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let output = Command::new(env!("CARGO"))
        .args(words.split(' '))
        .arg("--target-dir")
        .arg(target)
        .current_dir(copy)
        // Short compile times matter most here.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Builds the copy's command and returns its path.
fn built(copy: &Path) -> PathBuf {
    cargo(copy, "build --quiet -p sluice-cli");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("../debug").join(COMMAND)
}

fn run(command: &Path, folder: &Path, words: &[&str]) -> String {
    let output = Command::new(command).args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Two nodes, with an offered load above the link's capacity.
const NETWORK: &str = r#"
title = "A full queue"
duration = "3 s"
[radio]
standard = "802.11b"
[[node]]
name = "a"
position = ["0 m", "0 m"]
[[node]]
name = "b"
position = ["10 m", "0 m"]
[[flow]]
name = "load"
from = "a"
to = "b"
traffic = { kind = "cbr", rate = "9 Mb/s", packet = "1000 B" }
"#;

/// Simulates with the controller, chosen by its name as in any scenario.
fn simulates(command: &Path, folder: &Path) {
    fs::write(folder.join("full.toml"), NETWORK).unwrap();
    let by = ["--set", "queue.controller=fixed_drain", "--set", "queue.fixed_drain.target_delay=50 ms"];
    let words = [&["run", "full.toml", "--json", "--record-intervals", "a.jsonl", "--node", "a"][..], &by].concat();
    let ran: serde_json::Value = serde_json::from_str(&run(command, folder, &words)).unwrap();
    let queue = &ran["nodes"][0]["queues"][0];
    assert!(queue["dropped_packets"].as_u64().unwrap() > 100, "{queue}");
    let delay = queue["sojourn_s"]["mean"].as_f64().unwrap();
    assert!((0.03..0.07).contains(&delay), "{queue}");
}

/// Observes an existing queue without changing it.
fn attaches(command: &Path) {
    let words = "attach lo --controller fixed_drain --target-delay 50ms --dry-run";
    let mut child = Command::new(command).args(words.split(' ')).stderr(Stdio::piped()).spawn().unwrap();
    let first = BufReader::new(child.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(first, "lo: observing the present queue, with fixed_drain; nothing is changed");
}

fn replays(command: &Path, folder: &Path) {
    let recording = fs::read_to_string(folder.join("a.jsonl")).unwrap();
    assert!(recording.lines().count() > 10);
    let words = ["replay", "a.jsonl", "--controller", "fixed_drain", "--target-delay", "50ms", "--json"];
    assert_eq!(run(command, folder, &words), recording);
}

/// Simulates a chain of three nodes whose ends hear only the middle one. The recording holds what the middle node's
/// radio measured and its neighbours sent; replayed over it, the controller gives the same orders.
fn measures(command: &Path, folder: &Path) {
    let nodes = "[nodes]\ncount = 3\nplacement = \"chain\"\nspacing = \"20 m\"\n";
    let flow = "[[flow]]\nname = \"call\"\nfrom = \"n0\"\nto = \"n2\"\nclass = \"real-time\"\n\
                traffic = { kind = \"cbr\", rate = \"160 kb/s\", packet = \"1000 B\" }\n";
    let chain = "title = \"A chain\"\nduration = \"3 s\"\n[radio]\nrange = \"30 m\"\n[queue]\ncontroller = \"probe\"\n";
    fs::write(folder.join("chain.toml"), format!("{chain}{nodes}{flow}")).unwrap();
    let words = "run chain.toml --json --record-intervals n1.jsonl --trace n1.trace --node n1";
    run(command, folder, &words.split(' ').collect::<Vec<_>>());
    let recording = fs::read_to_string(folder.join("n1.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 29, "one each 100 ms");
    let last = &lines[28];
    // Two packets of 1028 B are sent and received in 100 ms.
    let radio = &last["radio"];
    assert_eq!([&radio["frames"], &radio["hops"], &radio["contenders"]], [2, 2, 2]);
    assert_eq!([&radio["real_time"], &radio["phy_rate"]], ["4112 B", "11 Mb/s"]);
    let heard: Vec<_> = last["heard"].as_array().unwrap().iter().map(|heard| heard["from"].clone()).collect();
    assert_eq!(heard, [0, 2]);
    assert_eq!((&last["rate"], &last["note"]["domain"]), (&"11 Mb/s".into(), &3.into()));
    let replayed = ["replay", "n1.jsonl", "--controller", "probe", "--json"];
    assert_eq!(run(command, folder, &replayed), recording);
    let trace = fs::read_to_string(folder.join("n1.trace")).unwrap();
    for node in ["n0", "n1", "n2"] {
        let told = format!("\"event\":\"note\",\"from\":\"{node}\"");
        assert!(trace.lines().filter(|line| line.contains(&told)).count() > 10, "{told}: {trace}");
    }

    // Neither an agent that hears no others nor a recording without a radio can serve this controller.
    for (words, why) in [
        ("attach lo --controller probe --dry-run", "probe needs the notes of neighbours' agents"),
        ("replay a.jsonl --controller probe", "holds no readings of a radio, but probe needs"),
    ] {
        let output = Command::new(command).args(words.split(' ')).current_dir(folder).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{words}: {said}");
    }
}
