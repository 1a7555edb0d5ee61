//! The real `sluice`, as a user runs it. `check_live.py` puts it beside the tests.

use super::chain::at;
use super::{now, pause_until, shell};
use linux::STATE_FOLDER;
use linux::device::bpf::FOLDER;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use units::Duration;

pub(super) const PROGRAM: &str = "/tmp/sluice";
const SAID: &str = "/tmp/said";
/// Longest time to begin or to end; both take a small part of it.
const LONGEST: Duration = Duration::from_secs(20);
/// Longest time for anything else that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Program(Child);

impl Program {
    /// Starts it; `words` as they are typed.
    pub(super) fn start(words: &str) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(words.split(' ')).stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.stderr(File::create(SAID).unwrap()).spawn().unwrap())
    }

    /// Starts it and waits until an interface has our queue.
    pub(super) fn attached(words: &str, interface: &str) -> Self {
        let mut program = Self::start(words);
        let until = now() + LONGEST;
        while !queue(interface).contains("sluice") {
            assert!(program.0.try_wait().unwrap().is_none() && now() < until, "{words}: {}", said());
            pause_until(now() + Duration::from_millis(10));
        }
        program
    }

    /// Starts it at a node of a chain, and waits until an interface of that node has our queue.
    pub(super) fn attached_at(node: usize, words: &str, interface: &str) -> Self {
        let said = format!("{SAID}{node}");
        let mut command = Command::new(if node == 0 { "sh" } else { "ip" });
        let line = if node == 0 {
            format!("exec {PROGRAM} {words}")
        } else {
            command.args(["netns", "exec", &format!("n{node}"), "sh"]);
            // Another network namespace has another /sys.
            format!("mount --bind /bpf /sys/fs/bpf; exec {PROGRAM} {words}")
        };
        command.args(["-ec", &line]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut program = Self(command.stderr(File::create(&said).unwrap()).spawn().unwrap());
        let until = now() + LONGEST;
        while !at(node, &format!("tc -j qdisc show dev {interface} root")).contains("sluice") {
            let goes_on = program.0.try_wait().unwrap().is_none() && now() < until;
            assert!(goes_on, "{words}: {}", std::fs::read_to_string(&said).unwrap());
            pause_until(now() + Duration::from_millis(10));
        }
        program
    }

    /// Returns the kernel's status of the process.
    pub(super) fn held(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap()
    }

    /// Returns the time that its first thread has run, in the kernel too.
    pub(super) fn ran(&self) -> Duration {
        let counts = std::fs::read_to_string(format!("/proc/{}/schedstat", self.0.id())).unwrap();
        Duration::from_nanos(counts.split(' ').next().unwrap().parse().unwrap())
    }

    pub(super) fn signal(&self, name: &str) {
        shell(&format!("kill -{name} {}", self.0.id()));
    }

    pub(super) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Ends it by SIGTERM, after which it restores all and succeeds.
    #[track_caller]
    pub(super) fn stop(self) {
        self.signal("TERM");
        assert_eq!(self.end(), Some(0), "{}", said());
    }

    /// Waits for its end; returns the exit status.
    pub(super) fn end(mut self) -> Option<i32> {
        let until = now() + LONGEST;
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(now() < until, "it does not end: {}", said());
            pause_until(now() + Duration::from_millis(10));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // After a failed test; one that has ended already is no error.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the messages of the program that was started last.
pub(super) fn said() -> String {
    std::fs::read_to_string(SAID).unwrap_or_default()
}

/// Waits until something is as wanted: an access point begins, a station joins.
pub(super) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let latest = now() + PATIENCE;
    while !is() {
        assert!(now() < latest, "{what}: {}", said());
        pause_until(now() + Duration::from_millis(20));
    }
}

/// Waits until it has said this so often.
pub(super) fn until_said(words: &str, times: usize) {
    until(words, || said().matches(words).count() >= times);
}

/// Runs it to its end; returns the exit status.
pub(super) fn run(words: &str) -> Option<i32> {
    Program::start(words).end()
}

/// Returns the queue at the root of an interface, as the kernel shows it.
pub(super) fn queue(interface: &str) -> String {
    shell(&format!("tc -j qdisc show dev {interface} root"))
}

/// Checks that nothing of an agent is left: no state, no socket, no discipline.
pub(super) fn nothing_is_left() {
    let left = |folder: &str| -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert!(left(STATE_FOLDER).is_empty(), "{:?}", left(STATE_FOLDER));
    assert!(!Path::new(FOLDER).exists(), "{:?}", left(FOLDER));
}
