//! Commands in the nodes of a running emulation.
//!
//! A namespace decides which files programs' names stand for. Root sees the processes of all users. If root entered a
//! namespace that another user made, that user's programs would run as root. So this module looks only at processes of
//! its caller, and enters only namespaces that the caller made.

use super::namespaces::INSIDE;
use super::node::THREAD;
use nix::libc;
use nix::sched::{CloneFlags, setns};
use rustix::process::geteuid;
use std::fs::{self, File};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{env, io};
use thiserror::Error;

/// Why a node cannot be entered.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum NoVisit {
    #[error(
        "this user runs no emulation: start one by `sluice emulate SCENARIO` in another terminal, or enter as the \
         user who started one"
    )]
    NoEmulation,
    #[error("no node of a running emulation is called `{name}`; there are {}", .known.join(", "))]
    NoNode { name: String, known: Vec<String> },
    #[error("several running emulations have a node `{name}`: end all but one, or rename their nodes")]
    Several { name: String },
    #[error("cannot enter node `{name}`: {error}")]
    System { name: String, error: io::Error },
}

/// Moves this process into the namespaces of the node `name` in a running emulation. Its children start there. This
/// process must have only one thread.
///
/// # Errors
/// There is no such node, or the system refuses a call.
pub fn visit(name: &str) -> Result<(), NoVisit> {
    let emulations: Vec<Emulation> =
        fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| Emulation::of(&entry.ok()?.path())).collect();
    let places = emulations.iter().filter_map(|found| Some((found, found.nodes.iter().position(|node| node == name)?)));
    let found: Vec<_> = places.collect();
    let name = name.to_owned();
    match found[..] {
        [(emulation, place)] => emulation.enter(place).map_err(|error| NoVisit::System { name, error }),
        [] if emulations.is_empty() => Err(NoVisit::NoEmulation),
        [] => Err(NoVisit::NoNode { name, known: emulations.into_iter().flat_map(|found| found.nodes).collect() }),
        _ => Err(NoVisit::Several { name }),
    }
}

/// A process of this user that keeps nodes. Its open folder in `/proc` identifies it: if the process ends and another
/// process gets its number, the open folder does not show the other process.
struct Emulation {
    process: File,
    /// The node's user namespace, which this user made.
    user: File,
    nodes: Vec<String>,
}

impl Emulation {
    fn of(process: &Path) -> Option<Self> {
        let process = File::open(process).ok()?;
        // This is checked first, because a read of another user's memory may block on that user.
        is_own(&fs::read_to_string(within(&process, "status")).ok()?).then_some(())?;
        let user = File::open(within(&process, "ns/user")).ok()?;
        is_made_here(&user).ok()?.then_some(())?;
        // Commands within have neither the variable nor such a thread.
        thread(&process, |name| name.starts_with(THREAD))?;
        let variables = fs::read(within(&process, "environ")).ok()?;
        let variables = String::from_utf8_lossy(&variables);
        let value = variables.split('\0').find_map(|variable| variable.strip_prefix(INSIDE)?.strip_prefix('='))?;
        let nodes = value.lines().skip(1).map(str::to_owned).collect();
        Some(Self { process, user, nodes })
    }

    fn enter(&self, place: usize) -> io::Result<()> {
        let own = format!("{THREAD}{place}");
        let node = thread(&self.process, |name| name == own).ok_or(io::ErrorKind::NotFound)?;
        let spaces = [
            (node.join("ns/mnt"), CloneFlags::CLONE_NEWNS),
            (within(&self.process, "ns/pid"), CloneFlags::CLONE_NEWPID),
            (node.join("ns/net"), CloneFlags::CLONE_NEWNET),
        ];
        // All namespaces are opened and their owners checked before one is entered: afterwards `/proc` may differ.
        let checked = |(path, kind)| {
            let space = File::open(path)?;
            let is_within = is_same(&related(&space, libc::NS_GET_USERNS)?, &self.user)?;
            if is_within { Ok((space, kind)) } else { Err(io::ErrorKind::PermissionDenied.into()) }
        };
        let spaces = spaces.into_iter().map(checked).collect::<io::Result<Vec<_>>>()?;
        let folder = env::current_dir();
        if !is_same(&self.user, &File::open("/proc/self/ns/user")?)? {
            setns(&self.user, CloneFlags::CLONE_NEWUSER)?;
        }
        for (space, kind) in spaces {
            setns(space, kind)?;
        }
        // A process enters another mount namespace at its root folder.
        folder.and_then(env::set_current_dir)
    }
}

/// Returns a file of a process that is held by its folder.
fn within(process: &File, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{file}", process.as_raw_fd()))
}

/// Returns the folder of a thread of `process` whose name `has_name` accepts.
fn thread(process: &File, has_name: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let threads = fs::read_dir(within(process, "task")).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    threads
        .into_iter()
        .find(|thread| fs::read_to_string(thread.join("comm")).is_ok_and(|name| has_name(name.trim_end())))
}

/// True if all user ids in this text of `/proc/PID/status` are this user's: else a program acts for two users.
fn is_own(status: &str) -> bool {
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    let own = geteuid().as_raw().to_string();
    ids.split_whitespace().count() == 4 && ids.split_whitespace().all(|id| id == own)
}

/// True if this user made the user namespace `space` from within this process's namespace. A namespace made within
/// another namespace is not this user's, even if its maker has the same number, as users of a container may have.
/// Programs in a node are in the emulation's own namespace, which has one user.
fn is_made_here(space: &File) -> io::Result<bool> {
    let here = File::open("/proc/self/ns/user")?;
    if is_same(space, &here)? {
        let map = fs::read_to_string("/proc/self/uid_map")?;
        return Ok(map.lines().count() == 1 && map.split_whitespace().nth(2) == Some("1"));
    }
    let mut owner: libc::uid_t = 0;
    // SAFETY: the kernel writes one user id to the place that it is given, which outlives the call.
    #[expect(unsafe_code, reason = "no crate of ours has a safe call")]
    let done = unsafe { libc::ioctl(space.as_raw_fd(), libc::NS_GET_OWNER_UID, &raw mut owner) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(owner == geteuid().as_raw() && is_same(&related(space, libc::NS_GET_PARENT)?, &here)?)
}

/// Returns the user namespace to which `what` refers: the owner of `space`, or its parent.
fn related(space: &File, what: libc::Ioctl) -> io::Result<File> {
    // SAFETY: both requests take no argument and return a file that no other code has.
    #[expect(unsafe_code, reason = "no crate of ours has a safe call")]
    match unsafe { libc::ioctl(space.as_raw_fd(), what) } {
        file if file < 0 => Err(io::Error::last_os_error()),
        // SAFETY: as above.
        file => Ok(unsafe { File::from_raw_fd(file) }),
    }
}

fn is_same(one: &File, other: &File) -> io::Result<bool> {
    let [one, other] = [one.metadata()?, other.metadata()?];
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}
