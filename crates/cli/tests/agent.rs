//! `sluice agent` on this machine's own kernel, in network namespaces that need no privilege.

use crate::command::{sluice, stderr, stdout};
use crate::namespace::{end, is_own, ran_in_namespace, run, shell};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

/// Packets never wait in these queues. This does not matter where the queues are only put in place and removed.
const CONFIG: &str = "
[interface.v0]
force = true
[interface.v0.queue]
controller = \"adth\"
limit = 500
adth.target_delay = \"50 ms\"

[interface.v1]
force = true
backend = \"fifo\"
queue = { controller = \"alt\", limit = 300 }
";

/// A running agent, and what it says.
pub(crate) struct Agent {
    pub(crate) child: Child,
    pub(crate) log: std::io::Lines<BufReader<ChildStderr>>,
}

impl Agent {
    pub(crate) fn start(folder: &Path, adapt: impl FnOnce(&mut Command)) -> Self {
        let mut command = sluice(folder);
        command.args(["agent", "--config", "agent.toml", "--state", "state", "--json"]);
        adapt(&mut command);
        Self::of(&mut command)
    }

    /// Starts a command that logs as an agent does.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, log }
    }

    /// Reads the log until this happened to an interface; the words.
    pub(crate) fn until(&mut self, device: &str, what: &str) -> String {
        for line in self.log.by_ref() {
            let line = line.unwrap();
            let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            if event["device"] == device && event["what"] == what {
                return event["words"].as_str().unwrap().to_owned();
            }
            assert!(event["device"] != device || event["what"] != "failed", "{line}");
        }
        panic!("{device} was never {what}");
    }
}

/// Ends the agent, so that a failed test does not leave one behind that keeps its output open.
impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

pub(crate) fn make(name: &str) -> bool {
    is_own();
    let made = shell(&format!("ip link add {name} type veth peer name p{name}")).status.success();
    if !made {
        eprintln!("skipped: no veth interface can be made here");
    }
    made
}

pub(crate) fn queue(name: &str) -> String {
    stdout(&shell(&format!("tc -j qdisc show dev {name}")))
}

pub(crate) fn governed(name: &str, limit: u32) -> bool {
    let queue = queue(name);
    queue.contains("\"pfifo\",\"handle\":\"51ce:\"") && queue.contains(&format!("{{\"limit\":{limit}}}"))
}

/// Returns memory of a process as the kernel names it, in kB.
fn memory(child: &Child, name: &str) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("state")).unwrap().count()
}

#[test]
fn interfaces_that_go_come_back_change_their_name_or_their_queue_are_followed() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.toml"), CONFIG).unwrap();
    let mut agent = Agent::start(folder.path(), |_| ());
    agent.until("v0", "attached");
    assert!(governed("v0", 500), "{}", queue("v0"));
    assert_eq!(agent.until("v1", "waiting"), "no interface v1");
    let mode = std::fs::metadata(folder.path().join("state")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o711, "the folder is the agent's, and others may ask there");

    make("v1");
    agent.until("v1", "attached");
    assert!(governed("v1", 300), "{}", queue("v1"));
    run("ip link del v0");
    agent.until("v0", "gone");
    assert_eq!(agent.until("v0", "waiting"), "no interface v0");
    make("v0");
    agent.until("v0", "attached");
    assert!(governed("v0", 500), "{}", queue("v0"));

    // The name is free: another interface takes it.
    run("ip link set v1 name w1");
    assert_eq!(agent.until("v1", "renamed"), "v1 is called w1 now");
    agent.until("v1", "waiting");
    assert!(!queue("w1").contains("51ce"), "{}", queue("w1"));
    run("ip link set w1 name v1");
    agent.until("v1", "attached");

    run("tc qdisc replace dev v1 root handle 9: pfifo limit 99");
    assert!(agent.until("v1", "replaced").contains("queue of v1 by pfifo 9:"));
    // The agent's socket, and the state to restore at v0.
    assert_eq!(files(folder.path()), 2);
    assert!(governed("v0", 500), "{}", queue("v0"));
    run(&format!("kill -HUP {}", agent.child.id()));
    agent.until("v1", "attached");
    assert!(governed("v1", 300), "{}", queue("v1"));

    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
    assert!(queue("v1").contains("\"options\":{\"limit\":99}"), "{}", queue("v1"));
    assert!(!queue("v0").contains("51ce"), "{}", queue("v0"));
    assert_eq!(files(folder.path()), 0, "nothing is left behind");
}

#[test]
fn settings_that_are_read_again_hold_at_once_and_wrong_ones_change_nothing() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    // Without a link-local address: the kernel's first packets would be traffic from which ADTH decides another limit.
    run("ip link set v0 addrgenmode none up gso_max_segs 1");
    run("ip link set pv0 up");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.toml");
    std::fs::write(&file, CONFIG).unwrap();
    let mut agent = Agent::start(folder.path(), |_| ());
    agent.until("v0", "attached");
    let hang_up = format!("kill -HUP {}", agent.child.id());

    // A table that is wrong leaves itself out, with its line and the nearest right name.
    std::fs::write(&file, CONFIG.replace("limit = 500", "limt = 400")).unwrap();
    run(&hang_up);
    let why = agent.until("", "failed");
    assert!(why.contains("agent.toml:6:1: unknown key `limt`") && why.contains("did you mean `limit`?"), "{why}");
    agent.until("v0", "restored");
    std::fs::write(&file, CONFIG).unwrap();
    run(&hang_up);
    agent.until("v0", "attached");

    // What is wrong outside of the interfaces' tables is wrong for all.
    std::fs::write(&file, CONFIG.replace("limit = 500", "limit = 400") + "\n[metrix]\n").unwrap();
    run(&hang_up);
    let why = agent.until("", "failed");
    assert!(why.contains("unknown key `metrix`") && why.contains("did you mean `metrics`?"), "{why}");
    assert!(governed("v0", 500), "{}", queue("v0"));

    std::fs::write(&file, CONFIG.replace("limit = 500", "limit = 400")).unwrap();
    run(&hang_up);
    assert!(agent.until("v0", "changed").contains("without losing waiting packets"));
    assert!(governed("v0", 400), "{}", queue("v0"));

    let one = CONFIG.split("[interface.v1]").next().unwrap().replace("v0", "v2");
    std::fs::write(&file, one).unwrap();
    run(&hang_up);
    // What is no longer wanted goes once the rest is settled.
    assert_eq!(agent.until("v2", "waiting"), "no interface v2");
    agent.until("v0", "restored");
    assert!(!queue("v0").contains("51ce"), "{}", queue("v0"));
    assert_eq!(end(&mut agent.child, "INT"), Some(0));
}

#[test]
fn a_queue_in_which_nothing_ever_waits_is_left_alone_and_the_others_are_governed() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") || !make("v1") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.toml");
    let (before, unforced) = (queue("v1"), CONFIG.replace("force = true\nbackend", "backend"));
    std::fs::write(&file, &unforced).unwrap();
    let mut agent = Agent::start(folder.path(), |_| ());
    agent.until("v0", "attached");
    let why = agent.until("v1", "waiting");
    assert!(why.contains("no packet ever waits in this queue of v1") && why.contains("force = true"), "{why}");
    assert!(governed("v0", 500) && queue("v1") == before, "{}", queue("v1"));
    std::fs::write(&file, CONFIG).unwrap();
    run(&format!("kill -HUP {}", agent.child.id()));
    let words = agent.until("v1", "attached");
    assert!(words.contains("no packet ever waits"), "{words}");
    assert!(governed("v1", 300), "{}", queue("v1"));
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
    // A controller that does not suit the queue is not tried again: each attempt would lose the packets that wait.
    let of_v0 = &unforced[..unforced.find("[interface.v1]").unwrap()];
    let unfit = "[interface.v1]\nforce = true\nbackend = \"fifo\"\nqueue.controller = \"wqm\"\n";
    std::fs::write(&file, format!("{of_v0}{unfit}")).unwrap();
    let mut agent = Agent::start(folder.path(), |_| ());
    let why = agent.until("v1", "waiting");
    assert!(why.contains("wqm needs"), "{why}");
    let changes = stdout(&shell("timeout 11 tc monitor qdisc"));
    assert!(!changes.contains(" v1 "), "{changes}");
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
    // A radio may come, although nothing can be governed at the start.
    std::fs::write(&file, "[interface.v1]\n[interface.\"*wifi\"]\n").unwrap();
    let mut agent = Agent::start(folder.path(), |_| ());
    agent.until("v1", "waiting");
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
}

#[test]
fn a_section_that_is_wrong_disables_itself_and_a_pattern_waits_for_what_comes() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") || !make("v1") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("agent.toml");
    let wrong = "[interface.v1]\nbackend = \"bfp\"\n[interface.v2.queue]\ncontroller = \"adth\"\nadth.phi_min = 7\n";
    let good = "force = true\nbackend = \"fifo\"\nqueue = { controller = \"alt\", limit = 300 }\n";
    let broken = "[interface.v3]\n[interface.v3.queue]\ndiscipline = drop-tail\n";
    std::fs::write(&config, format!("{wrong}{broken}[interface.v0]\n{good}[interface.\"*\"]\n{good}")).unwrap();
    let mut agent = Agent::start(folder.path(), |_| ());
    for why in ["interface.v3: not TOML: ", "unknown variant `bfp`", "interface.v2.queue: adth.phi_min"] {
        let words = agent.until("", "failed");
        assert!(words.contains(why) && words.ends_with("the agent ignores this table"), "{words}");
    }
    agent.until("v0", "attached");
    assert!(governed("v0", 300));
    // Neither of the two is for all: packets never wait in veth.
    assert!(!governed("v1", 300));
    if !shell("ip link add i0 type ifb && ip link set i0 up").status.success() {
        eprintln!("skipped: no ifb interface can be made here");
        return;
    }
    agent.until("i0", "attached");
    assert!(governed("i0", 300));
    // As at the start, when the file is read again: the others apply, and what is wrong now is let go.
    let other = good.replace("300", "200");
    std::fs::write(&config, format!("{wrong}[interface.v0]\n{other}[interface.i0]\nbackend = \"bfp\"\n")).unwrap();
    run(&format!("kill -HUP {}", agent.child.id()));
    for _ in 0..3 {
        let words = agent.until("", "failed");
        assert!(words.ends_with("the agent ignores this table"), "{words}");
    }
    agent.until("i0", "restored");
    assert!(governed("v0", 200) && !governed("i0", 300));
    // None is right: nothing is changed.
    std::fs::write(&config, wrong).unwrap();
    run(&format!("kill -HUP {}", agent.child.id()));
    let words = agent.until("", "failed");
    assert!(words.starts_with("nothing is changed: ") && words.contains("did you mean `bpf`?"), "{words}");
    assert!(governed("v0", 200));
    std::fs::write(&config, format!("[interface.v0]\n{good}[interface.\"*\"]\n{good}")).unwrap();
    run(&format!("kill -HUP {}", agent.child.id()));
    agent.until("i0", "attached");
    std::fs::write(&config, format!("[interface.v0]\n{good}")).unwrap();
    run(&format!("kill -HUP {}", agent.child.id()));
    agent.until("i0", "restored");
    assert!(governed("v0", 300) && !governed("i0", 300));
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
}

#[test]
fn the_service_manager_hears_of_the_agent_and_a_stop_of_seconds_makes_no_interval() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.toml"), CONFIG).unwrap();
    let path = folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let hear = || {
        let mut text = [0; 256];
        let length = manager.recv(&mut text).unwrap();
        String::from_utf8_lossy(&text[..length]).into_owned()
    };
    let mut agent = Agent::start(folder.path(), |command| {
        command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "400000");
    });
    assert_eq!(hear(), "READY=1\nSTATUS=governs 1 of 2 queues");
    assert_eq!(hear(), "WATCHDOG=1");
    assert_eq!(hear(), "WATCHDOG=1");
    // Its own is 1.9 MB; with the unoptimised program's file, of which the page cache decides how much counts, 23 to 25.
    let used = ["RssAnon:", "VmHWM:"].map(|name| memory(&agent.child, name));
    assert!(used[0] < 2_500 && used[1] < 32_000, "{used:?} kB");
    run(&format!("kill -STOP {}", agent.child.id()));
    shell("sleep 1.5");
    run(&format!("kill -CONT {}", agent.child.id()));
    let words = agent.until("v0", "resumed");
    // The stop of 1.5 s, which is longer where the machine has other work.
    let skipped =
        words.strip_prefix("skipped an interval of ").and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    let skipped = skipped.filter(|seconds| *seconds >= 1.0).unwrap_or_else(|| panic!("{words}"));
    let status = sluice(folder.path()).args(["status", "--json", "--state", "state"]).output().unwrap();
    let status: serde_json::Value =
        serde_json::from_str(&stdout(&status)).unwrap_or_else(|_| panic!("{}", stderr(&status)));
    assert!(status[0]["last"]["length_s"].as_f64().unwrap() < skipped, "{status}");
    run(&format!("kill -TERM {}", agent.child.id()));
    while hear() != "STOPPING=1" {}
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_agent_pings_and_governs_while_a_reload_takes_up_many_queues_and_corrects_its_status() {
    const MANY: usize = 80;
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    let links = (1..=MANY).map(|number| format!("link add w{number} type veth peer name x{number}\n"));
    let folder = tempfile::tempdir().unwrap();
    let (batch, file) = (folder.path().join("batch"), folder.path().join("agent.toml"));
    std::fs::write(&batch, links.collect::<String>()).unwrap();
    run(&format!("ip -batch {}", batch.display()));
    let table = |name: &str| format!("[interface.{name}]\nforce = true\nbackend = \"fifo\"\nqueue.limit = 500\n");
    let others = (1..=MANY).map(|number| table(&format!("w{number}")));
    let all = table("v0") + &others.collect::<String>();
    // Only the agent's own deadlines wake it, and it takes interfaces in the order of their names.
    std::fs::write(&file, &all).unwrap();
    let mut alone = Agent::start(folder.path(), |_| ());
    alone.until("w9", "attached");
    assert_eq!(end(&mut alone.child, "TERM"), Some(0));
    std::fs::write(&file, table("v0")).unwrap();
    let path = folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let hear = || {
        let mut text = [0; 256];
        let length = manager.recv(&mut text).unwrap();
        String::from_utf8_lossy(&text[..length]).into_owned()
    };
    let mut agent = Agent::start(folder.path(), |command| {
        command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "20000");
    });
    while hear() != "READY=1\nSTATUS=governs 1 of 1 queues" {}
    std::fs::write(&file, &all).unwrap();
    run(&format!("kill -HUP {}", agent.child.id()));
    while !hear().starts_with("RELOADING=1") {}
    let mut pings = 0;
    let last = loop {
        match hear() {
            ping if ping == "WATCHDOG=1" => pings += 1,
            news if news.starts_with("READY=1") => break news,
            _ => {}
        }
    };
    assert_eq!(last, format!("READY=1\nSTATUS=governs {} of {} queues", MANY + 1, MANY + 1));
    assert!(pings > 0, "no ping between reload and the last queue");
    run("ip link del w7");
    while hear() != format!("STATUS=governs {MANY} of {} queues", MANY + 1) {}
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
}

/// A table as `sluice.learn.toml` writes it; a test of the Python package compares the two.
const LEARNED: &str = include_str!("fixtures/learned.toml");

/// With no packets the delay and the backlog are in their first bins, where the factor is 0.8.
#[test]
fn a_table_that_was_exported_from_python_governs_an_interface() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let interface = "[interface.v0]\nforce = true\nbackend = \"fifo\"\nrecord = \"v0.jsonl\"";
    let config = format!("{interface}\n[interface.v0.queue]\nlimit = 1000\n{LEARNED}");
    std::fs::write(folder.path().join("agent.toml"), &config).unwrap();
    let mut agent = Agent::start(folder.path(), |_| ());
    agent.until("v0", "attached");
    let reached = (0..200).any(|_| {
        shell("sleep 0.1");
        governed("v0", 1)
    });
    assert!(reached, "{}", queue("v0"));
    assert_eq!(end(&mut agent.child, "TERM"), Some(0));
    assert!(!queue("v0").contains("51ce:"), "{}", queue("v0"));
    let recording = std::fs::read_to_string(folder.path().join("v0.jsonl")).unwrap();
    let lines = recording.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let limits: Vec<u64> = lines.filter_map(|line| line["limit"].as_u64()).collect();
    assert!(limits.starts_with(&[800, 640, 512, 409, 327, 261, 208, 166, 132, 105]), "{limits:?}");
    // The FIFO cannot time individual packets, so a table of their delays is refused.
    std::fs::write(folder.path().join("agent.toml"), config.replace("sojourn_mean", "nodal_delay_max")).unwrap();
    let mut agent = Agent::start(folder.path(), |_| ());
    let words = agent.until("v0", "waiting");
    assert!(words.contains("learned needs the service time"), "{words}");
}

#[test]
fn the_packages_configurations_and_scripts_are_sound() {
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    let read = |file: &str| std::fs::read_to_string(packaging.join(file)).unwrap();
    // The unit lets the agent write recordings there and nowhere else.
    let unit = read("systemd/sluice.service");
    let logs = unit.lines().find_map(|line| line.strip_prefix("LogsDirectory=")).unwrap();
    let logs = Path::new("/var/log").join(logs);
    // As it is shipped it names nobody's interface; its examples are those of a configuration.
    let folder = tempfile::tempdir().unwrap();
    let config = |text: &str| -> linux::agent::config::Config {
        let path = folder.path().join("agent.toml");
        std::fs::write(&path, text).unwrap();
        lab::files::config(&path).unwrap()
    };
    let shipped = read("agent.toml");
    assert!(config(&shipped).wishes(Path::new("/run/sluice")).unwrap_err().contains("no interface is named"));
    let example =
        |line: &str| line.strip_prefix('#').filter(|rest| !rest.starts_with([' ', '#'])).unwrap_or(line).to_owned();
    let examples = config(&shipped.lines().map(example).collect::<Vec<_>>().join("\n"));
    let wishes = examples.wishes(Path::new("/run/sluice")).unwrap();
    assert_eq!((wishes.len(), examples.interface.len()), (4, 4));
    let recordings = examples.interface.values().filter_map(|interface| interface.record.as_deref());
    recordings.for_each(|recording| assert_eq!(recording.parent(), Some(&*logs)));
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("debian/changelog").starts_with(&format!("sluice ({version}-")));
    for name in ["sluice", "luci-app-sluice"] {
        assert!(read(&format!("openwrt/{name}/Makefile")).contains(&format!("PKG_VERSION:={version}\n")));
    }
    let script = packaging.join("openwrt/sluice/files/sluice.init");
    assert!(Command::new("sh").arg("-n").arg(&script).status().unwrap().success());
}

/// A router's functions for settings, for the sections of the packaged file, with everything switched on.
const UCI: &str = r#"
config_load() { :; }
config_get_bool() { case $2.$3 in main.enabled) v=1 ;; *) v=$4 ;; esac; eval "$1=$v"; }
config_get() {
	case $2.$3 in
		wifi.device) v='*wifi eth0' ;; wifi.backend) v=knobs ;; wifi.target_delay) v=$DELAY ;;
		wan.device) v='* wan eth0' ;; wan.parent) v=1:10 ;; wan.limit) v=1000 ;; wan.controller) v=ebdp ;;
		main.metrics) v=127.0.0.1:9477 ;; *) v=${4-} ;;
	esac
	eval "$1=\$v"
}
config_list_foreach() { [ "$1" = wan ] && "$3" 'discipline = "drop-tail"'; return 0; }
config_foreach() { "$1" wifi; "$1" wan; }
procd_open_instance() { :; }
procd_set_param() { :; }
procd_close_instance() { :; }
"#;

#[test]
fn openwrt_settings_become_a_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/openwrt/sluice/files/sluice.init");
    let made = folder.path().join("etc/sluice.toml");
    let (root, knobs) = (linux::class("root").unwrap(), linux::Backend::Knobs);
    let auto = linux::Backend::Auto;
    let expected = [("*", 0x1_0010, auto), ("*wifi", root, knobs), ("eth0", root, knobs), ("wan", 0x1_0010, auto)];
    // As a person writes it: a number is of milliseconds.
    for delay in ["100", "100ms", "0.1 s", "100 ms"] {
        let run = format!("DELAY='{delay}'\n{UCI}\n. {script:?}\nCONFIG={made:?}\nstart_service");
        let output = Command::new("sh").args(["-euc", &run]).current_dir("/").output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let config: linux::agent::config::Config = lab::files::config(&made).unwrap();
        let wishes = config.wishes(Path::new("/run/sluice")).unwrap();
        let of: Vec<(&str, u32, linux::Backend)> =
            wishes.iter().map(|wish| (wish.place.device.as_str(), wish.place.parent, wish.backend)).collect();
        assert_eq!(of, expected);
        assert_eq!(wishes[1].target_delay.unwrap().get(), units::Duration::from_millis(100));
        assert_eq!(config.metrics.unwrap().listen, "127.0.0.1:9477".parse().unwrap());
    }
}

#[test]
fn an_agent_that_cannot_begin_says_why_and_changes_nothing() {
    if ran_in_namespace(|| ()) {
        return;
    }
    if !make("v0") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, code: i32, why: &str| {
        std::fs::write(folder.path().join("agent.toml"), text).unwrap();
        let before = queue("v0");
        let output =
            sluice(folder.path()).args(["agent", "--config", "agent.toml", "--state", "state"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert_eq!(queue("v0"), before);
    };
    refused("[interface]", 2, "no interface is named");
    refused("[interface.v0]\nbackend = \"bfp\"", 2, "did you mean `bpf`?");
    refused("[interface.v0]\nparent = \"1:\"", 2, "expected root, or a class as tc writes it: 1:10");
    refused("[interface.\"a/b\"]", 2, "an interface's name has 1 to 15 bytes");
    refused("[interface.v0.queue]\ncontroller = \"adth\"\nadth.phi_min = 7", 2, "phi_min");
    refused("[metrics]\nlisten = \"0.0.0.0:9477\"\n[interface.v0]", 2, "can be reached from other hosts");
    refused("[interface.v0]\nforce = true\nqueue.discipline = \"codel\"", 2, "use drop-tail or drop-head");
    refused("[interface.v0]", 2, "no packet ever waits in this queue of v0");
    let mut powerless = Command::new("setpriv");
    powerless.current_dir(folder.path()).args(["--bounding-set=-all", env!("CARGO_BIN_EXE_sluice")]);
    std::fs::write(folder.path().join("agent.toml"), CONFIG).unwrap();
    let output = powerless.args(["agent", "--config", "agent.toml", "--state", "state"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("needs CAP_NET_ADMIN"), "{}", stderr(&output));
}
