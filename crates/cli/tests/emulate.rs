//! Real programs over a simulated network: `sluice emulate` and `sluice enter`.

use crate::command::{scenario, sluice, stderr, stdout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto, recv, sendto, socket};
use std::env::current_exe;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A laptop at an access point beside two downloads, and a server; names of nodes begin with `prefix`, because tests
/// run at the same time.
fn home(prefix: &str) -> String {
    format!(
        "title = \"A home\"\nduration = \"60 s\"\nradio.standard = \"802.11n\"\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nname = \"{prefix}-laptop\"\nposition = [\"5 m\", \"0 m\"]\nreal = true\n\
         [[node]]\nname = \"neighbour\"\ncount = 2\nposition = [\"0 m\", \"5 m\"]\n\
         [[node]]\nname = \"{prefix}-server\"\nrole = \"wired\"\nreal = true\n\
         [[wired]]\nbetween = [\"{prefix}-server\", \"ap\"]\nrate = \"1 Gb/s\"\ndelay = \"2 ms\"\n\
         [[flow]]\nname = \"download\"\nfrom = \"{prefix}-server\"\nto = \"neighbour*\"\ntransport = \"tcp\"\n\
         traffic.kind = \"greedy\"\n"
    )
}

const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 5);
const PORT: u16 = 9_000;
const TRANSFER: usize = 300_000;
const PINGS: u16 = 10;

/// Returns an empty folder if this machine lets us make namespaces and devices; else says why not.
pub(crate) fn allowed() -> Option<TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let output = emulate(folder.path(), "probe", &["true"]).output().unwrap();
    let told = stderr(&output);
    let refused = told.contains("may not make namespaces") || told.contains("cannot make a TUN device");
    if refused {
        eprintln!("skipped: {told}");
    } else {
        assert!(output.status.success(), "{told}");
    }
    fs::remove_file(folder.path().join("chain.toml")).unwrap();
    (!refused).then_some(folder)
}

/// `sluice emulate` with this command; the scenario is written to `folder`.
fn emulate(folder: &Path, prefix: &str, words: &[&str]) -> Command {
    scenario(folder, &home(prefix));
    let mut command = sluice(folder);
    command.args(["emulate", "chain.toml", "--json"]);
    if !words.is_empty() {
        command.arg("--").args(words);
    }
    command
}

/// Starts an emulation without a command and waits until its nodes are ready.
pub(crate) fn started(folder: &Path, prefix: &str) -> Child {
    let mut child = emulate(folder, prefix, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    for expected in [format!("{prefix}-laptop: 10.0.0.2 "), format!("{prefix}-server: {SERVER} ")] {
        let line = told.next().unwrap().unwrap();
        assert!(line.starts_with(&expected), "{line}");
    }
    // What is told later must not block.
    std::thread::spawn(move || told.for_each(drop));
    child
}

/// `sluice enter`: runs the ignored test `inner` of this file in a node.
fn enter(folder: &Path, node: &str, inner: &str) -> Command {
    let mut command = sluice(folder);
    command.args(["enter", node, "--"]).arg(current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", &format!("emulate::{inner}")]);
    command
}

fn signal(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

fn passed(output: &Output) {
    assert!(stdout(output).contains("1 passed"), "{}{}", stdout(output), stderr(output));
}

#[test]
fn programs_in_two_nodes_ping_and_transfer_over_tcp() {
    let Some(folder) = allowed() else { return };
    let emulation = started(folder.path(), "tcp");
    let mut server = enter(folder.path(), "tcp-server", "serve").stdout(Stdio::piped()).spawn().unwrap();
    passed(&enter(folder.path(), "tcp-laptop", "fetch").output().unwrap());
    passed(&enter(folder.path(), "tcp-laptop", "ping").output().unwrap());
    let mut told = String::new();
    server.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(server.wait().unwrap().success(), "{told}");
    signal(&emulation, "-INT");
    let output = emulation.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let results: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let flows = results["flows"].as_array().unwrap();
    let received = |name: &str| {
        let flow = flows.iter().find(|flow| flow["name"] == name).unwrap();
        assert_eq!(flow["kind"], "real");
        flow["received_packets"].as_u64().unwrap()
    };
    let (up, down) = (received("tcp-laptop-tcp-server"), received("tcp-server-tcp-laptop"));
    assert!(up > u64::from(PINGS) && down > TRANSFER as u64 / 1_460, "{up} {down}");
    assert!(flows[0]["goodput_bps"].as_f64().unwrap() > 0.0, "the neighbours go on");
    // The kernels send to groups, too.
    let real = flows.iter().filter(|flow| flow["kind"] == "real");
    let all: u64 = real.filter_map(|flow| flow["received_packets"].as_u64()).sum();
    assert_eq!(results["emulation"]["packets"].as_u64(), Some(all));
    assert_eq!(results["emulation"]["refused_packets"]["not_ip"].as_u64(), Some(0));
}

#[test]
#[ignore = "runs in a node"]
fn serve() {
    let listener = TcpListener::bind(SocketAddrV4::new(SERVER, PORT)).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(&vec![0x5a; TRANSFER]).unwrap();
}

#[test]
#[ignore = "runs in a node"]
fn fetch() {
    // The server may begin to listen later.
    let connected = (0..100).find_map(|_| {
        let stream = TcpStream::connect(SocketAddrV4::new(SERVER, PORT)).ok();
        if stream.is_none() {
            wait(Duration::from_millis(50));
        }
        stream
    });
    let mut got = Vec::new();
    connected.unwrap().read_to_end(&mut got).unwrap();
    assert_eq!(got.len(), TRANSFER);
    assert!(got.iter().all(|&byte| byte == 0x5a));
}

#[test]
#[ignore = "runs in a node"]
fn ping() {
    let socket = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP)).unwrap();
    for number in 1..=PINGS {
        // An echo request of eight bytes; the checksum covers type and number.
        let sum = !(0x0800 + number);
        let request = [&[8, 0], &sum.to_be_bytes()[..], &[0, 0], &number.to_be_bytes()].concat();
        sendto(&socket, &request, SendFlags::empty(), &SocketAddrV4::new(SERVER, 0)).unwrap();
        let mut packet = [0; 100];
        let (length, _) = recv(&socket, &mut packet, RecvFlags::empty()).unwrap();
        // A reply without options, in order; no router lies between.
        assert_eq!((length, packet[8], packet[20]), (28, 64, 0));
        assert_eq!(packet[26..28], number.to_be_bytes());
    }
}

#[expect(clippy::disallowed_methods, reason = "the test waits for another program")]
fn wait(span: Duration) {
    std::thread::sleep(span);
}

#[test]
fn the_status_of_the_command_is_passed_on() {
    let Some(folder) = allowed() else { return };
    let run = |words: &[&str]| emulate(folder.path(), "status", words).output().unwrap();
    let output = run(&["sh", "-c", "echo from-inside; exit 7"]);
    assert_eq!(output.status.code(), Some(7));
    assert!(stdout(&output).starts_with("from-inside\n{"), "{}", stdout(&output));
    assert_eq!(run(&["sh", "-c", "kill -9 $$"]).status.code(), Some(137));
    let missing = run(&["./no-such-program"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(stderr(&missing).contains("cannot run ./no-such-program: No such file"), "{}", stderr(&missing));
    // The end of the scenario ends it too.
    let words = ["--set", "duration=300 ms", "--late", "10 s"];
    let output = emulate(folder.path(), "status", &[]).args(words).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).lines().count()), (Some(0), 2));
}

/// A program in a node sees the node's devices and all nodes' names, asks no name server outside, and enters nodes.
/// A command that outlasts the scenario is asked to end, and its own programs can be ended, too.
#[test]
fn programs_hear_signals_also_at_the_end_of_the_scenario() {
    let Some(folder) = allowed() else { return };
    let script = "sleep 60 & kill $!; wait $!; [ $? = 143 ] || exit 9; trap 'exit 7' TERM; sleep 60 & wait";
    let words = ["--set", "duration=3 s", "--", "sh", "-c", script];
    let output = emulate(folder.path(), "heard", &[]).args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert!(stderr(&output).contains("the scenario ended before the command"), "{}", stderr(&output));
}

#[test]
fn a_program_in_a_node_sees_the_node() {
    let Some(folder) = allowed() else { return };
    let script = format!(
        "ls /sys/class/net; grep sight-server /etc/hosts; wc -c < /etc/resolv.conf; \
         {} enter sight-server -- grep -c {SERVER} /proc/net/fib_trie",
        env!("CARGO_BIN_EXE_sluice")
    );
    let output = emulate(folder.path(), "sight", &["sh", "-c", &script]).output().unwrap();
    let told = stdout(&output);
    let lines: Vec<&str> = told.lines().collect();
    let four = format!("{SERVER} sight-server");
    let expected = ["air0", "lo", &four, "fd73:6c75:6963::5 sight-server", "0"];
    assert_eq!(lines[..5], expected, "{told}{}", stderr(&output));
    assert_ne!(lines[5], "0", "{told}{}", stderr(&output));
}

/// A run that stands still for a while is over at the end of its simulated time, and gives the real one.
#[test]
fn the_time_of_a_run_is_the_real_one() {
    let Some(folder) = allowed() else { return };
    scenario(folder.path(), &home("pause").replace("60 s", "3 s"));
    let mut command = sluice(folder.path());
    command.args(["emulate", "chain.toml", "--json", "--late", "10 s", "--", "sh", "-c", "touch begun; sleep 60"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let begun = folder.path().join("begun");
    while !begun.exists() {
        wait(Duration::from_millis(20));
    }
    let inner = child_of(child.id()).unwrap();
    assert!(kill(inner, "-STOP"));
    wait(Duration::from_millis(3_500));
    assert!(kill(inner, "-CONT"));
    let results: serde_json::Value = serde_json::from_str(&stdout(&child.wait_with_output().unwrap())).unwrap();
    let [real, simulated] = ["wall_s", "simulated_s"].map(|key| results[key].as_f64().unwrap());
    assert!(real > 3.5 && simulated < 3.001, "{real} s, {simulated} s simulated");
}

/// A run whose packets come late says so, and what helps, and its share of a core.
#[test]
fn late_packets_are_told() {
    let Some(folder) = allowed() else { return };
    scenario(folder.path(), &home("late"));
    let told = |words: &[&str]| {
        let mut command = sluice(folder.path());
        command.args(["emulate", "chain.toml", "--late"]).args(words).arg("--").arg(current_exe().unwrap());
        let output = command.args(["--ignored", "--exact", "emulate::send"]).output().unwrap();
        assert!(stdout(&output).ends_with(" % of a core\n"), "{}", stdout(&output));
        stderr(&output)
    };
    let [strict, patient, first] = [&["1 ns"][..], &["10 s"], &["1 ns", "--most-late", "100"]].map(told);
    assert!(strict.contains("try `--fifo`") && !patient.contains("--fifo"), "{strict} {patient}");
    let digits = first.split(" ms late").next().and_then(|told| told.rsplit('.').next()).map_or(0, str::len);
    assert!(first.contains("a packet was delivered ") && digits == 3, "{first}");
}

#[test]
#[ignore = "runs in a node"]
fn send() {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    for _ in 0..10 {
        socket.send_to(b"x", (SERVER, PORT)).unwrap();
        wait(Duration::from_millis(20));
    }
}

#[test]
fn what_cannot_be_emulated_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, arguments: &[&str]| {
        scenario(folder.path(), text);
        let output = sluice(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let none = refused(&home("none").replace("real = true\n", ""), &["emulate", "chain.toml"]);
    assert!(none.contains("no node of the network is real: give two of its nodes `real = true`"), "{none}");
    let share = ["emulate", "chain.toml", "--most-late", "101"];
    assert!(refused(&home("none"), &share).contains("expected 0 to 100"));
    let gateway = refused(&home("none"), &["emulate", "chain.toml", "--gateway", "ap"]);
    assert!(gateway.contains("`ap` is not a real node; real are `none-laptop`, `none-server`"), "{gateway}");
    let lost = refused(&home("none"), &["enter", "nowhere", "--", "true"]);
    assert!(lost.contains("this user runs no emulation") || lost.contains("is called `nowhere`"), "{lost}");
}

#[test]
fn a_node_of_two_emulations_is_not_entered() {
    let Some(folder) = allowed() else { return };
    let both = [started(folder.path(), "twin"), started(folder.path(), "twin")];
    let output = sluice(folder.path()).args(["enter", "twin-server", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("several running emulations have a node `twin-server`"), "{}", stderr(&output));
    for mut emulation in both {
        signal(&emulation, "-TERM");
        assert_eq!(emulation.wait().unwrap().code(), Some(130));
    }
}

/// Whom a kill hits.
#[derive(Clone, Copy, Debug)]
enum Victim {
    /// The process that was started.
    Launcher,
    /// The first process within the namespaces.
    Emulation,
    /// The command.
    Command,
}

/// Ends emulations in which a command has started others, at many moments and in many ways, and looks for what is left.
fn kills(times: u32) {
    let Some(folder) = allowed() else { return };
    let ways = [
        (Victim::Launcher, "-KILL"),
        (Victim::Emulation, "-KILL"),
        (Victim::Command, "-KILL"),
        (Victim::Launcher, "-TERM"),
        (Victim::Launcher, "-INT"),
        (Victim::Emulation, "-TERM"),
        (Victim::Launcher, "-HUP"),
    ];
    let mark = format!("9{}.25", std::process::id());
    let before = (devices(), mounted_namespaces());
    let mut hit = [0; 7];
    for number in 0..times {
        let script = format!("setsid sleep {mark} & sleep {mark} & sleep {mark}");
        let mut command = emulate(folder.path(), "kill", &["sh", "-c", &script]);
        for variable in ["TMPDIR", "HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
            command.env(variable, folder.path());
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait(Duration::from_millis(u64::from(number * 37 % 250)));
        let way = number as usize % ways.len();
        let (victim, by) = ways[way];
        let inner = || child_of(child.id());
        let found = match victim {
            Victim::Launcher => Some(child.id()),
            Victim::Emulation => inner(),
            Victim::Command => inner().and_then(child_of),
        };
        // It may not have begun, or end just now.
        let is_hit = found.is_some_and(|process| kill(process, by));
        hit[way] += u32::from(is_hit);
        if !is_hit {
            kill(child.id(), "-KILL");
        }
        child.wait().unwrap();
        let left = (0..100).all(|_| {
            wait(Duration::from_millis(20));
            is_running(&mark)
        });
        assert!(!left, "after kill {number} ({victim:?} {by}) something is left");
    }
    let told: Vec<String> = ways.iter().zip(hit).map(|((victim, by), hit)| format!("{victim:?} {by} {hit}")).collect();
    eprintln!("{times} kills, by whom they hit: {}", told.join(", "));
    assert_eq!((devices(), mounted_namespaces()), before);
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["chain.toml"]);
}

fn kill(process: u32, by: &str) -> bool {
    Command::new("kill").args([by, &process.to_string()]).stderr(Stdio::null()).status().unwrap().success()
}

/// A child of a process, if it has one.
fn child_of(parent: u32) -> Option<u32> {
    let line = format!("PPid:\t{parent}");
    let is_child = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        status.lines().any(|other| other == line)
    };
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.into_iter().find(is_child)
}

/// The network devices of this namespace.
fn devices() -> Vec<String> {
    let text = fs::read_to_string("/proc/net/dev").unwrap();
    text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
}

/// Namespaces that a mount keeps alive.
fn mounted_namespaces() -> usize {
    fs::read_to_string("/proc/self/mountinfo").unwrap().lines().filter(|line| line.contains(" - nsfs ")).count()
}

/// Tells whether a process has this word in its command line.
fn is_running(word: &str) -> bool {
    let lines =
        fs::read_dir("/proc").unwrap().filter_map(|process| fs::read(process.ok()?.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).split('\0').any(|found| found.contains(word)))
}

#[test]
fn ten_kills_leave_nothing() {
    kills(10);
}

#[test]
#[ignore = "make nightly: a hundred emulations"]
fn a_hundred_kills_leave_nothing() {
    kills(100);
}
