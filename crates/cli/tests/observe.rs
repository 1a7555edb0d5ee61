//! The commands that look at running agents, with a server in place of an agent.

use crate::command::{sluice, stderr, stdout};
use control::{AnyController, Count, Interval, Limit, Name, Parameters, Stat};
use linux::Beside;
use linux::kernel::now;
use linux::telemetry::ask;
use linux::telemetry::serve::{Address, Listener, Serves};
use linux::telemetry::status::{State, Status};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use units::{Bytes, Duration};

/// A thread that serves the reports of an agent, with values that keep changing.
struct Agent {
    enough: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Agent {
    fn start(folder: &Path) -> Self {
        let address = Address::Path(ask::socket(folder, std::process::id()));
        let mut server = Listener::open(address, Serves::Everything).unwrap().listen().unwrap();
        let enough = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let enough = Arc::clone(&enough);
            move || {
                let mut statuses = vec![governed("wlan0"), governed("eth0")];
                while !enough.load(Ordering::Relaxed) {
                    for status in &mut statuses {
                        // At any speed the reports are less than a second old.
                        let at = (status.at + Duration::from_millis(20)).min(Duration::from_millis(980));
                        let seen = status.last.unwrap();
                        status.advance(at, &seen, &Beside::default(), &Limit::Packets(31).into());
                    }
                    server.ready(now(), &statuses);
                    server.tell(now(), &statuses);
                    std::thread::yield_now();
                }
            }
        });
        Self { enough, thread: Some(thread) }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn governed(device: &str) -> Status {
    let controller = AnyController::new(Name::Adth, &Parameters::default(), &Limit::Packets(1_000).into()).unwrap();
    let mut status = Status::new(device, "root", &controller, Limit::Packets(1_000));
    status.state = State::Governing;
    status.kind = "pfifo".into();
    let count = |packets| Count { packets, bytes: Bytes::new(packets * 1_500) };
    let seen = Interval {
        length: Duration::from_millis(20),
        arrived: count(20),
        sent: count(10),
        dropped: count(10),
        backlog: count(31),
        sojourn: Stat { n: 10, mean: Duration::from_micros(47_940), ..Stat::default() },
        ..Interval::default()
    };
    status.advance(Duration::from_millis(20), &seen, &Beside::default(), &Limit::Packets(31).into());
    status
}

#[test]
fn where_no_agent_runs_that_is_said_in_clear_words() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["status", "watch"] {
        let output = sluice(folder.path()).args([command, "--state", "none"]).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(stdout(&output), "");
        let message =
            "error: no agent runs (none has a socket in none); `sluice attach DEV` or `sluice agent` starts one\n";
        assert_eq!(stderr(&output), message);
    }
    let output = sluice(folder.path()).args(["status", "--json", "--state", "none"]).output().unwrap();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), "[]\n"));
}

#[test]
fn status_tells_of_every_queue_as_a_table_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let _agent = Agent::start(folder.path());
    let output = sluice(folder.path()).args(["status", "--state", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = stdout(&output);
    assert!(table.contains("wlan0") && table.contains("eth0") && table.contains("47.9 ms"), "{table}");
    let output = sluice(folder.path()).args(["status", "--json", "--state", "."]).output().unwrap();
    let read: Vec<Status> = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(read.iter().map(|status| status.device.as_str()).collect::<Vec<_>>(), ["wlan0", "eth0"]);
}

#[test]
fn status_and_watch_take_the_same_name_and_refuse_one_that_no_agent_governs() {
    let folder = tempfile::tempdir().unwrap();
    let _agent = Agent::start(folder.path());
    let output = sluice(folder.path()).args(["status", "eth0", "--json", "--state", "."]).output().unwrap();
    let read: Vec<Status> = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(read.iter().map(|status| status.device.as_str()).collect::<Vec<_>>(), ["eth0"]);
    let table = stdout(&sluice(folder.path()).args(["status", "eth0", "--state", "."]).output().unwrap());
    assert!(table.contains("eth0") && !table.contains("wlan0"), "{table}");
    for (name, meant) in [("nosuch", ""), ("eht0", "; did you mean `eth0`?")] {
        for command in ["status", "watch"] {
            let mut refused = Command::new("timeout");
            refused.args(["10", env!("CARGO_BIN_EXE_sluice"), command, name, "--state", "."]);
            let output = refused.current_dir(folder.path()).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{command} {name}");
            let message = format!("error: no agent governs \"{name}\", but agents govern eth0, wlan0{meant}\n");
            assert_eq!(stderr(&output), message);
        }
    }
}

#[test]
fn watch_prints_lines_into_a_pipe_until_it_is_told_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let _agent = Agent::start(folder.path());
    let mut command = sluice(folder.path());
    command.args(["watch", "eth0", "--state", "."]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().take(5);
    for line in lines {
        let line = line.unwrap();
        assert!(line.starts_with("eth0 (root) ") && line.contains("limit 31 packets"), "{line}");
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Runs `sluice watch` on a terminal of 80 x 24, waits until it has drawn, ends it by `end`; what it wrote.
fn on_a_terminal(end: impl FnOnce(&mut File, rustix::process::Pid)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let _agent = Agent::start(folder.path());
    let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&outer).unwrap();
    unlockpt(&outer).unwrap();
    let name = ptsname(&outer, Vec::new()).unwrap().into_string().unwrap();
    let inner = OpenOptions::new().read(true).write(true).open(name).unwrap();
    tcsetwinsize(&inner, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let before = tcgetattr(&inner).unwrap().local_modes;
    let mut command = sluice(folder.path());
    command.args(["watch", "--state", "."]);
    command.stdin(inner.try_clone().unwrap()).stdout(inner.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    let (mut outer, mut seen) = (File::from(outer), Vec::new());
    while !String::from_utf8_lossy(&seen).contains("q ends") {
        let mut part = [0; 4_096];
        let length = outer.read(&mut part).unwrap();
        seen.extend_from_slice(&part[..length]);
    }
    assert!(!tcgetattr(&inner).unwrap().local_modes.contains(LocalModes::ICANON));
    end(&mut outer, rustix::process::Pid::from_child(&child));
    let reader = std::thread::spawn(move || {
        // The end of a terminal reads as an error.
        let _ = outer.read_to_end(&mut seen);
        seen
    });
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(tcgetattr(&inner).unwrap().local_modes, before, "the terminal is as it was");
    drop(inner);
    String::from_utf8(reader.join().unwrap()).unwrap()
}

#[test]
fn watch_takes_the_whole_terminal_and_gives_it_back() {
    let by_key = on_a_terminal(|terminal, _| terminal.write_all(b"q").unwrap());
    let by_signal = on_a_terminal(|_, process| {
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    });
    for seen in [by_key, by_signal] {
        assert!(seen.starts_with("\u{1b}[?1049h\u{1b}[?25l\u{1b}[H"), "{seen:?}");
        assert!(seen.contains("wlan0 (root)  governing  pfifo, adth, for 0 s"), "{seen:?}");
        assert!(seen.contains("47.9 ms") && seen.contains('█'), "{seen:?}");
        assert!(seen.ends_with("\u{1b}[?25h\u{1b}[?1049l"), "{seen:?}");
    }
}

/// A dry run needs no privilege: the loopback interface's queue is looked at.
#[test]
fn a_real_agent_answers_status_and_serves_metrics_on_a_socket_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let metrics = folder.path().join("metrics.sock");
    let config = format!("[interface.lo]\ndry_run = true\nqueue = {{ limit = 77 }}\n[metrics]\nlisten = {metrics:?}\n");
    std::fs::write(folder.path().join("agent.toml"), config).unwrap();
    let mut command = sluice(folder.path());
    command.args(["agent", "--config", "agent.toml", "--state", "state"]).stderr(Stdio::piped());
    let mut agent = command.spawn().unwrap();
    let asked = || {
        let output = sluice(folder.path()).args(["status", "--json", "--state", "state"]).output().unwrap();
        serde_json::from_str::<Vec<Status>>(&stdout(&output)).unwrap_or_default()
    };
    let status = loop {
        assert!(agent.try_wait().unwrap().is_none(), "it has ended");
        match asked().pop() {
            Some(status) if status.last.is_some() => break status,
            _ => std::thread::yield_now(),
        }
    };
    assert_eq!((status.device.as_str(), &status.state, status.limit), ("lo", &State::DryRun, Limit::Packets(77)));
    let mut client = std::os::unix::net::UnixStream::connect(&metrics).unwrap();
    client.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    let line = "sluice_queue_limit_packets{device=\"lo\",place=\"root\",controller=\"none\"} 77\n";
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(line), "{answer}");
    rustix::process::kill_process(rustix::process::Pid::from_child(&agent), rustix::process::Signal::TERM).unwrap();
    assert_eq!(agent.wait().unwrap().code(), Some(0));
    assert!(!metrics.exists() && !linux::telemetry::ask::socket(&folder.path().join("state"), agent.id()).exists());
}
