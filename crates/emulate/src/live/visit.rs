//! Commands in the nodes of an emulation that runs.

use super::namespaces::INSIDE;
use super::node::THREAD;
use nix::sched::{CloneFlags, setns};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a node cannot be entered.
#[derive(Debug, Error)]
pub enum NoVisit {
    /// No emulation of this user runs.
    #[error("no emulation of this user runs: start one by `sluice emulate SCENARIO` in another terminal")]
    NoEmulation,
    /// No emulation has the node.
    #[error("no node of a running emulation is called `{name}`; there are {}", .known.join(", "))]
    NoNode {
        /// The name given.
        name: String,
        /// Names of the real nodes.
        known: Vec<String>,
    },
    /// Several emulations have the node.
    #[error("several running emulations have a node `{name}`: end all but one, or call their nodes differently")]
    Several {
        /// The name given.
        name: String,
    },
    /// The system refuses.
    #[error("cannot enter node `{name}`: {error}")]
    System {
        /// The name given.
        name: String,
        /// The system's reason.
        error: io::Error,
    },
}

/// Moves this process into the namespaces of the node `name` of an emulation that runs; what it starts from now on is
/// there. It must have one thread.
///
/// # Errors
/// There is no such node, or the system refuses.
pub fn visit(name: &str) -> Result<(), NoVisit> {
    let (mut found, mut known) = (Vec::new(), Vec::new());
    for (process, nodes) in emulations() {
        found.extend(nodes.iter().position(|node| node == name).map(|place| (process, place)));
        known.extend(nodes);
    }
    let name = name.to_owned();
    match &found[..] {
        [(process, place)] => enter(process, *place).map_err(|error| NoVisit::System { name, error }),
        [] if known.is_empty() => Err(NoVisit::NoEmulation),
        [] => Err(NoVisit::NoNode { name, known }),
        _ => Err(NoVisit::Several { name }),
    }
}

fn enter(process: &Path, place: usize) -> io::Result<()> {
    let keeps = |thread: &PathBuf| {
        fs::read_to_string(thread.join("comm")).is_ok_and(|name| name.trim_end() == format!("{THREAD}{place}"))
    };
    let threads = fs::read_dir(process.join("task"))?.filter_map(|entry| Some(entry.ok()?.path()));
    let node = threads.into_iter().find(keeps).ok_or(io::ErrorKind::NotFound)?;
    let spaces = [
        (process.join("ns/user"), CloneFlags::CLONE_NEWUSER),
        (process.join("ns/mnt"), CloneFlags::CLONE_NEWNS),
        (process.join("ns/pid"), CloneFlags::CLONE_NEWPID),
        (node.join("ns/net"), CloneFlags::CLONE_NEWNET),
    ];
    // All are opened before the first is entered: from then on `/proc` may be another.
    let spaces = spaces.map(|(path, kind)| File::open(path).map(|file| (file, kind)));
    let folder = std::env::current_dir();
    for space in spaces {
        let (file, kind) = space?;
        setns(file, kind)?;
    }
    // Another mount namespace begins at its root.
    folder.and_then(std::env::set_current_dir)
}

/// The processes of this user that keep nodes, by their folders in `/proc`, and the names of their nodes.
fn emulations() -> Vec<(PathBuf, Vec<String>)> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let told = |process: PathBuf| {
        // Commands within have the variable too, but no such thread.
        let is_keeper = fs::read_dir(process.join("task"))
            .ok()?
            .filter_map(Result::ok)
            .any(|thread| fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.starts_with(THREAD)));
        let variables = if is_keeper { fs::read(process.join("environ")).ok()? } else { return None };
        let variables = String::from_utf8_lossy(&variables).into_owned();
        let value = variables.split('\0').find_map(|variable| variable.strip_prefix(INSIDE)?.strip_prefix('='))?;
        let nodes = value.lines().skip(1).map(str::to_owned).collect();
        Some((process, nodes))
    };
    processes.filter_map(|process| told(process.ok()?.path())).collect()
}
