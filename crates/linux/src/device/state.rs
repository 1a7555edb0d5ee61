//! Files in which running agents record the state to restore. Checks that such a file can be trusted.
//!
//! Only agents use the folder: no other user may list it or put anything into it. A file is accepted only if it is a
//! regular file of this user and was not reached by a link. A process gets a signal only if it is still the one that
//! recorded its number.
//!
//! All governed queues of an interface share its limit of segments. The first of them records the former limit, later
//! ones copy it, and the last that is restored sets it again.
//!
//! A file is never overwritten: a new file, complete and on the disk, takes its name. At every moment, and on a full
//! disk, the name has either the former or the new contents. The new file is locked before it gets the name, so that
//! the name always belongs to a locked file while an agent lives; see [`lock`](crate::device::lock).

use crate::device::former::Former;
use crate::device::lock::{FileLock, failed, has_name, locked, open};
use crate::device::wish::{Place, is_name, quoted, shown_place};
use crate::error::{Error, Taken};
use crate::kernel::rtnetlink::{Link, ROOT, Route};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fsync, lstat, rename};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use units::refuse_if;

/// Default folder in which agents record the state to restore.
pub const STATE_FOLDER: &str = "/run/sluice";

/// Mode of the state folder: only its owner lists and changes it. Other users reach its sockets if their modes allow.
pub(crate) const FOLDER_MODE: u32 = 0o711;

/// The file in which a running agent keeps a [`Former`], and which is locked while the agent lives: a killed agent
/// leaves it unlocked. If nothing was recorded, the file is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct State {
    path: PathBuf,
    /// The open file, which holds the lock.
    file: File,
    /// True if there is something to restore.
    is_kept: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) process: u32,
    /// Start time of the process in clock ticks since boot, as the kernel counts them: process numbers are reused.
    started: Option<u64>,
    pub(crate) former: Former,
}

impl State {
    /// Opens and locks the state file of an attachment point; also returns what a killed agent recorded in it.
    pub(crate) fn lock(folder: &Path, device: &str, parent: u32) -> Result<(Self, Option<Kept>), Error> {
        make_state_folder(folder)?;
        let (mut state, left) = Self::take(folder, device, parent, OFlags::CREATE)?;
        if let Some(left) = &left {
            // From now on the file names this process: `detach` must not signal the old number, which may be reused.
            state.keep(&left.former)?;
        }
        Ok((state, left))
    }

    /// Locks what a killed agent recorded of an attachment point; `None` if it recorded nothing. Creates and writes no
    /// file, so the call works on a full disk.
    pub(crate) fn left(folder: &Path, device: &str, parent: u32) -> Result<Option<(Self, Kept)>, Error> {
        if matches!(lstat(path(folder, device, parent)?), Err(Errno::NOENT)) {
            return Ok(None);
        }
        let (state, left) = match Self::take(folder, device, parent, OFlags::empty()) {
            Err(Error::Kernel { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            taken => taken?,
        };
        // An empty file is removed when `state` is dropped.
        Ok(left.map(|left| (state, left)))
    }

    fn take(folder: &Path, device: &str, parent: u32, flags: OFlags) -> Result<(Self, Option<Kept>), Error> {
        let path = path(folder, device, parent)?;
        let Some((mut file, is_locked)) =
            locked(&path, OFlags::RDWR | flags, FlockOperation::NonBlockingLockExclusive)?
        else {
            return Err(Taken::Attaching { device: device.into() }.into());
        };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| failed(&path, error))?;
        let kept: Option<Kept> = serde_json::from_str(&text).ok();
        if !is_locked {
            let process = kept.map(|kept| kept.process);
            let (device, detach) = (device.into(), detach_command(device, parent));
            return Err(Taken::Governed { device, process, detach }.into());
        }
        if kept.is_none() && !text.is_empty() {
            let why = "is damaged: look at `tc qdisc`, repair the queue and remove the file";
            return Err(Error::Distrusted { path, why });
        }
        Ok((Self { path, file, is_kept: kept.is_some() }, kept))
    }

    /// Records what to restore, before any change. After a failure the file is unchanged.
    pub(crate) fn keep(&mut self, former: &Former) -> Result<(), Error> {
        let process = std::process::id();
        let kept = Kept { process, started: started(process), former: former.clone() };
        let text = serde_json::to_vec(&kept).map_err(|error| failed(&self.path, error.into()))?;
        let new = new_path(&self.path);
        // A killed agent may have left an incomplete file; only the owner of the lock writes it.
        let _ = fs::remove_file(&new);
        let write = || {
            let mut file = open(&new, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
            let mut named = || -> io::Result<()> {
                flock(&file, FlockOperation::NonBlockingLockExclusive)?;
                file.write_all(&text)?;
                file.sync_all()?;
                Ok(rename(&new, &self.path)?)
            };
            named().map_err(|error| failed(&self.path, error))?;
            Ok(file)
        };
        match write() {
            Ok(file) => (self.file, self.is_kept) = (file, true),
            Err(error) => {
                let _ = fs::remove_file(&new);
                return Err(error);
            }
        }
        // Now the new name is written to the disk, too. If this fails, the agent still governs: the file is complete,
        // and a power cut that loses its name ends the queue as well.
        if let Ok(folder) = rustix::fs::open(self.folder(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()) {
            let _ = fsync(folder);
        }
        Ok(())
    }

    /// Limits the interface's packets to this number of segments (GSO). The former number is recorded first.
    pub(crate) fn limit_segments(
        &mut self,
        former: &mut Former,
        route: &mut Route,
        link: &Link,
        limit: u32,
    ) -> Result<(), Error> {
        // A killed agent whose queue continues has recorded the number already. The present number is read anew: `link`
        // may be older than a change by the killed agent, or than its undoing by this agent.
        let now = route.link(&link.name)?.gso_max_segs;
        let noted = noted_by_others(&self.path, former);
        former.segments.get_or_insert(noted.unwrap_or(now));
        self.keep(former)?;
        // The lowest limit applies that any governed queue of the interface asks for.
        route.set_segments(link.index, if noted.is_some() { limit.min(now) } else { limit })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Restores the former queue and keeps the file.
    pub(crate) fn put_back(&self, former: &Former, route: &mut Route) -> Result<(), Error> {
        restore(&self.path, former, route)
    }

    /// Restores the former queue and removes the file. A queue that another program has installed since stays.
    pub(crate) fn end(self, former: &Former, route: &mut Route) -> Result<(), Error> {
        let restored = self.put_back(former, route);
        match restored {
            Ok(()) | Err(Error::Replaced { .. }) => self.forget().and(restored),
            failed => failed,
        }
    }

    /// Removes the file, because nothing remains to be restored.
    pub(crate) fn forget(mut self) -> Result<(), Error> {
        self.is_kept = false;
        let _ = fs::remove_file(new_path(&self.path));
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&self.path, error)),
            // If another process has removed the file, nothing is left to remove.
            _ => Ok(()),
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if !self.is_kept && has_name(&self.file, &self.path).unwrap_or(false) {
            // An empty file does no harm. A killed agent may have left an incomplete new file.
            let _ = fs::remove_file(new_path(&self.path));
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Restores a former queue after a panic, when the device that replaced it is out of reach.
#[derive(Debug)]
pub struct Restorer(Result<PathBuf, Error>);

impl Restorer {
    /// Makes a restorer for the queue at `parent` of a device.
    pub fn new(folder: &Path, device: &str, parent: u32) -> Self {
        Self(path(folder, device, parent))
    }

    /// Restores what this process recorded when it attached. Does nothing if nothing was replaced.
    ///
    /// # Errors
    /// The former queue cannot be restored.
    pub fn restore(&self) -> Result<(), Error> {
        let Ok(path) = &self.0 else { return Ok(()) };
        let mut text = String::new();
        let read = open(path, OFlags::RDONLY).map(|mut file| file.read_to_string(&mut text));
        if !matches!(read, Ok(Ok(_))) {
            return Ok(());
        }
        let Ok(kept) = serde_json::from_str::<Kept>(&text) else { return Ok(()) };
        if kept.process != std::process::id() {
            return Ok(());
        }
        restore(path, &kept.former, &mut Route::open()?)?;
        if let (Some(folder), Some(phy)) = (path.parent(), kept.former.phy()) {
            // This process holds the phy's lock.
            let _ = fs::remove_file(FileLock::path(folder, phy));
        }
        fs::remove_file(path).map_err(|error| failed(path, error))
    }
}

/// A process that governs an attachment point, as its state file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgentProcess {
    pub(crate) process: u32,
    started: Option<u64>,
    /// True if the process governs the queues of a phy, not a discipline.
    pub(crate) has_phy: bool,
}

impl AgentProcess {
    /// Asks the agent to end by a signal. Another process that has got its number since is left alone.
    pub(crate) fn terminate(self) -> Result<(), Errno> {
        let pid = i32::try_from(self.process).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        // The descriptor refers to one process, whose start time is read next, and which gets the signal.
        let process = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(Errno::SRCH) => return Ok(()),
            process => process?,
        };
        if self.started.is_some() && started(self.process) != self.started {
            return Ok(());
        }
        match pidfd_send_signal(process, Signal::TERM) {
            Err(Errno::SRCH) => Ok(()),
            sent => sent,
        }
    }
}

/// Returns the process that governs an attachment point now, if any.
pub(crate) fn agent_at(folder: &Path, device: &str, parent: u32) -> Result<Option<AgentProcess>, Error> {
    let path = path(folder, device, parent)?;
    let found = match locked(&path, OFlags::RDONLY, FlockOperation::NonBlockingLockShared) {
        Err(Error::Kernel { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let attaching = || Err(Taken::Attaching { device: device.into() }.into());
    let Some((mut file, is_free)) = found else { return attaching() };
    if is_free {
        return Ok(None);
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| failed(&path, error))?;
    // The agent has locked the file and will write it soon.
    let Ok(Kept { process, started, former }) = serde_json::from_str(&text) else { return attaching() };
    Ok(Some(AgentProcess { process, started, has_phy: former.phy().is_some() }))
}

/// Returns another attachment point of the device that has a state file, of a living or of a killed agent.
pub(crate) fn other_place(folder: &Path, device: &str, parent: u32) -> Result<Option<u32>, Error> {
    let namespace = format!("{device}.{}.", namespace()?);
    let place = |path: PathBuf| {
        let name = path.file_name()?.to_str()?;
        let place = name.strip_prefix(&namespace)?.strip_suffix(".json")?;
        if place == "root" { Some(ROOT) } else { u32::from_str_radix(place, 16).ok() }
    };
    Ok(files(folder)?.into_iter().filter_map(place).filter(|place| *place != parent).min())
}

/// Returns all paths in a folder; none if there is no such folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => Ok(entries.map_err(|error| failed(folder, error))?.flatten().map(|entry| entry.path()).collect()),
    }
}

/// Returns what the file of another attachment point records; `None` if the file is none of Sluice's.
fn kept_in(path: &Path) -> Option<Kept> {
    serde_json::from_reader(io::BufReader::new(open(path, OFlags::RDONLY).ok()?)).ok()
}

/// Returns another name under which an agent recorded this state: a renamed interface, or another one of a phy.
pub(crate) fn other_name(place: &Place, is_this: impl Fn(&Former) -> bool) -> Result<Option<String>, Error> {
    let end = end_of_name(place.parent)?;
    let recorded = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(&end)?.to_string();
        let kept = kept_in(&path)?;
        (name != place.device && is_this(&kept.former)).then_some(name)
    };
    Ok(files(&place.state_folder)?.into_iter().find_map(recorded))
}

/// Returns the command that ends the governing of an attachment point.
pub(crate) fn detach_command(device: &str, parent: u32) -> String {
    let place = if parent == ROOT { String::new() } else { format!(" --parent {}", shown_place(parent)) };
    format!("sluice detach {}{place}", quoted(device))
}

/// Returns when a process started, in clock ticks since boot (`proc(5)`, stat, field 22).
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the program's name in parentheses, and may contain any character.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Makes the folder for this user; refuses one in which other users could put files.
///
/// # Errors
/// The folder cannot be made, or other users may write to it.
pub fn make_state_folder(folder: &Path) -> Result<(), Error> {
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above).map_err(|error| failed(folder, error))?;
    }
    match DirBuilder::new().mode(FOLDER_MODE).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(folder, error)),
        _ => {}
    }
    let stat = lstat(folder).map_err(|errno| failed(folder, errno.into()))?;
    let refuse = |why| Err(Error::Distrusted { path: folder.into(), why });
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return refuse("is not a folder, so Sluice cannot keep state in it");
    }
    match (stat.st_uid, geteuid().as_raw()) {
        (owner, user) if owner == user => {}
        // The folder is safe, but this user may not use it.
        (0, _) => return Err(failed(folder, io::ErrorKind::PermissionDenied.into())),
        _ => return refuse("belongs to another user, so Sluice cannot keep state in it"),
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return refuse("can be written by other users, so Sluice cannot keep state in it");
    }
    Ok(())
}

/// Returns the former limit of segments that other queues of the interface recorded beside the state file `path`.
fn noted_by_others(path: &Path, former: &Former) -> Option<u32> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.strip_suffix(".json")?.to_string());
    // A file's name ends with the attachment point.
    let interface = |name: &str| Some(name.rsplit_once('.')?.0.to_string());
    let this = interface(&name(path)?)?;
    let others = files(path.parent()?).ok()?.into_iter().filter(|other| {
        other != path && name(other).and_then(|name| interface(&name)).is_some_and(|interface| interface == this)
    });
    let kept = others.filter_map(|other| kept_in(&other));
    kept.filter(|kept| kept.former.index == former.index).filter_map(|kept| kept.former.segments).max()
}

/// Restores the former queue of the state file `path`, and the limit of segments if no other queue needs it.
fn restore(path: &Path, former: &Former, route: &mut Route) -> Result<(), Error> {
    let mut former = former.clone();
    former.segments = former.segments.filter(|_| noted_by_others(path, &former).is_none());
    former.restore(route)
}

/// Returns the name under which a new state file is written.
fn new_path(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// The name has the namespace's number: interfaces of different network namespaces may share a name.
fn path(folder: &Path, device: &str, parent: u32) -> Result<PathBuf, Error> {
    refuse_if!(!is_name(device), Err(Error::NoName { name: device.into() }));
    Ok(folder.join(format!("{device}{}", end_of_name(parent)?)))
}

fn end_of_name(parent: u32) -> Result<String, Error> {
    let place = if parent == ROOT { "root".into() } else { format!("{parent:x}") };
    Ok(format!(".{}.{place}.json", namespace()?))
}

/// Returns the number of this thread's network namespace.
pub(crate) fn namespace() -> Result<u64, Error> {
    const NAMESPACE: &str = "/proc/thread-self/ns/net";
    let stat = rustix::fs::stat(NAMESPACE).map_err(|errno| failed(Path::new(NAMESPACE), errno.into()))?;
    Ok(stat.st_ino)
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
