//! Privileges that each command needs and keeps, as docs/live.md lists them, in network namespaces.

use crate::command::{sluice, stderr};
use crate::namespace::{end, ran_in_namespace, run, shell};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the rows of the table: a command, the capabilities that it needs, and those that it keeps.
fn table() -> Vec<[String; 3]> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/live.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let section = docs.split("\n## Privileges\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    rows.map(|row| cells(row).try_into().unwrap()).collect()
}

/// Returns the capabilities in a cell of the table, in the spelling of `setpriv`.
fn named(cell: &str) -> Vec<String> {
    let words = cell.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter_map(|word| Some(word.strip_prefix("CAP_")?.to_lowercase())).collect()
}

/// Returns the capabilities of a process, as the kernel reports them.
fn held(process: u32) -> BTreeMap<String, String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let pairs = status.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(key, value)| (key.to_owned(), value.trim().to_owned())).collect()
}

/// Returns the command, limited to these capabilities.
fn with(folder: &Path, capabilities: &[String], words: &str) -> Command {
    let set = capabilities.iter().fold("-all".to_owned(), |set, name| format!("{set},+{name}"));
    let mut command = Command::new("setpriv");
    command.current_dir(folder).arg(format!("--bounding-set={set}")).arg(env!("CARGO_BIN_EXE_sluice"));
    command.args(words.split(' ')).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

#[test]
fn each_command_needs_and_keeps_what_the_table_says() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !shell("ip link add v0 type veth peer name v1").status.success() {
        eprintln!("skipped: no veth interface can be made here");
        return;
    }
    run("ip link set v0 up");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.toml"), "[interface.v0]\nforce = true\n").unwrap();
    // A recording to replay, and whether the command runs until it is ended.
    let words = |command: &str| match command {
        "`attach` by the kernel's FIFO or `txq`" => Some(("attach v0 --force --state s", true)),
        "`agent`" => Some(("agent --config agent.toml --state s", true)),
        "`attach --dry-run`" => Some(("attach v0 --dry-run", true)),
        "`record`" => Some(("record v0 v0.jsonl", true)),
        "`detach`" => Some(("detach v0 --state s", false)),
        "`doctor`" => Some(("doctor v0", false)),
        "`replay`, `scenario-from`, `forecast`" => Some(("replay v0.jsonl", false)),
        // Tested in the guest, by tests with running agents, and by those of trials.
        "`attach` by `knobs`" | "`attach` by Sluice's own discipline" | "`status`, `watch`" | "`trial`" => None,
        other => panic!("{other} is in the table and not here"),
    };
    let table = table();
    assert_eq!(table.len(), 11);
    let mut tried = 0;
    for [command, needs, keeps] in &table {
        let Some((words, goes_on)) = words(command) else { continue };
        tried += 1;
        let mut needs = named(needs);
        // This build has no BPF.
        needs.retain(|name| name == "net_admin");
        if command == "`detach`" {
            // A killed agent leaves a queue to restore.
            let mut killed = sluice(folder.path());
            killed.args("attach v0 --force --state s".split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
            let mut killed = killed.spawn().unwrap();
            while !crate::command::stdout(&shell("tc qdisc show dev v0")).contains("51ce:") {}
            end(&mut killed, "KILL");
        }
        if !needs.is_empty() {
            let output = with(folder.path(), &[], words).output().unwrap();
            let said = stderr(&output);
            assert!(output.status.code() == Some(3) && said.contains("CAP_NET_ADMIN"), "{command}: {said}");
        }
        if !goes_on {
            let output = with(folder.path(), &needs, words).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{command}: {}", stderr(&output));
            continue;
        }
        let mut child = with(folder.path(), &needs, words).spawn().unwrap();
        let expected = if named(keeps).contains(&"net_admin".to_owned()) { 1 << 12 } else { 0_u64 };
        let confined = loop {
            assert!(child.try_wait().unwrap().is_none(), "{command} has ended");
            let held = held(child.id());
            if held.get("Seccomp").is_some_and(|mode| mode == "2") {
                break held;
            }
        };
        for set in ["CapEff", "CapPrm", "CapInh", "CapAmb"] {
            let expected = if ["CapEff", "CapPrm"].contains(&set) { expected } else { 0 };
            assert_eq!(u64::from_str_radix(&confined[set], 16).unwrap(), expected, "{command}: {set}");
        }
        assert_eq!(confined["NoNewPrivs"], "1", "{command}");
        // One interval of a queue without a controller, so that there is something to write.
        #[expect(clippy::disallowed_methods, reason = "intervals of a real interface take real time")]
        std::thread::sleep(std::time::Duration::from_millis(1_200));
        assert_eq!(end(&mut child, "TERM"), Some(0), "{command}");
        let queues = crate::command::stdout(&shell("tc qdisc show dev v0"));
        assert!(!queues.contains("51ce:"), "{command}: {queues}");
    }
    assert_eq!(tried, 7);
}

/// The security page names only tests that exist.
#[test]
fn every_test_that_the_security_page_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let quoted: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let (mut names, mut found) = (Vec::new(), 0);
    for word in quoted {
        let has_letters_only = word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if has_letters_only && word.matches('_').count() > 3 {
            names.push(word);
        } else if Path::new(word).extension().is_some_and(|kind| kind == "rs") {
            let source = std::fs::read_to_string(root.join(word)).unwrap_or_else(|_| panic!("no file {word}"));
            for name in names.drain(..) {
                assert!(source.contains(&format!("fn {name}(")), "no {name} in {word}");
                found += 1;
            }
        }
    }
    assert!(names.is_empty() && found > 10, "{names:?}");
}
