//! The files in which running agents write down what to put back, and who may be believed about them.
//!
//! The folder belongs to the agents: nobody else may enter it, except the group, which may ask agents there. A file is
//! accepted as ours only if it is a plain file of our user and was not reached by a link. A process is signalled only
//! if it is still the one that wrote its number down.

use crate::device::former::Former;
use crate::device::wish::shown_place;
use crate::error::{Error, Taken};
use crate::kernel::rtnetlink::{Link, ROOT, Route};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, fchmod, flock, fstat, lstat};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Where agents write down what to put back.
pub const STATE_FOLDER: &str = "/run/sluice";

/// Of that folder: its owner's, and the group may open the sockets in it.
pub(crate) const FOLDER_MODE: u32 = 0o710;
/// The longest name of an interface (`IFNAMSIZ` less one).
const LONGEST_NAME: usize = 15;

/// The file in which a running agent keeps a [`Former`]. It is locked while the agent lives, so that one that is not
/// locked was left by an agent that was killed.
#[derive(Debug)]
pub(crate) struct State {
    path: PathBuf,
    file: File,
}

/// What a state file says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    /// The agent's process.
    pub(crate) process: u32,
    /// When it started, in the kernel's ticks since boot: numbers are given again.
    #[serde(default)]
    started: Option<u64>,
    pub(crate) former: Former,
}

impl State {
    /// Opens and locks the file for a place; also what a killed agent left in it.
    pub(crate) fn lock(folder: &Path, device: &str, parent: u32) -> Result<(Self, Option<Kept>), Error> {
        let path = path(folder, device, parent)?;
        make_state_folder(folder)?;
        let mut file = open(&path, OFlags::RDWR | OFlags::CREATE)?;
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| failed(&path, error))?;
        let kept: Option<Kept> = serde_json::from_str(&text).ok();
        match locked {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let process = kept.map(|kept| kept.process);
                let (device, detach) = (device.into(), detach_command(device, parent));
                return Err(Taken::Governed { device, process, detach }.into());
            }
            Err(errno) => return Err(failed(&path, errno.into())),
        }
        if kept.is_none() && !text.is_empty() {
            let why = "is damaged: look at `tc qdisc`, repair the queue and remove the file";
            return Err(Error::Distrusted { path, why });
        }
        let mut state = Self { path, file };
        if let Some(left) = &kept {
            // From now on the process in the file is this one: `detach` must not signal a number that is anybody's now.
            state.keep(&left.former)?;
        }
        Ok((state, kept))
    }

    /// Writes down what to put back, before anything is changed.
    pub(crate) fn keep(&mut self, former: &Former) -> Result<(), Error> {
        let process = std::process::id();
        let kept = Kept { process, started: started(process), former: former.clone() };
        let text = serde_json::to_vec(&kept).map_err(|error| failed(&self.path, error.into()))?;
        let write = |file: &mut File| {
            file.rewind()?;
            file.set_len(0)?;
            file.write_all(&text)?;
            file.sync_all()
        };
        write(&mut self.file).map_err(|error| failed(&self.path, error))
    }

    /// Packets of the interface hold at most so many segments from now on. What it was is written down first.
    pub(crate) fn limit_segments(
        &mut self,
        former: &mut Former,
        route: &mut Route,
        link: &Link,
        segments: u32,
    ) -> Result<(), Error> {
        // Of a killed agent whose queue goes on it stands there already.
        // Read now: `link` may be older than what a killed agent changed and this one has put back.
        former.remember_segments(route.link(&link.name)?.gso_max_segs);
        self.keep(former)?;
        route.set_segments(link.index, segments)
    }

    /// Puts the former queue back and takes the file away. Where another program has put a queue there, that one stays, and
    /// there is nothing to put back later.
    pub(crate) fn end(self, former: &Former, route: &mut Route) -> Result<(), Error> {
        let restored = former.restore(route);
        match restored {
            Ok(()) | Err(Error::Replaced { .. }) => self.forget().and(restored),
            failed => failed,
        }
    }

    /// Takes the file away: there is nothing to put back any more.
    pub(crate) fn forget(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(|error| failed(&self.path, error))
    }
}

/// Puts a former queue back from outside the device that replaced it: for a panic, when the device is out of reach.
#[derive(Debug)]
pub struct Restorer(Result<PathBuf, Error>);

impl Restorer {
    /// For the queue at `parent` of a device.
    pub fn new(folder: &Path, device: &str, parent: u32) -> Self {
        Self(path(folder, device, parent))
    }

    /// Puts back what this process wrote down when it attached. Does nothing where nothing was replaced.
    ///
    /// # Errors
    /// The former queue cannot be put back.
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
        kept.former.restore(&mut Route::open()?)?;
        fs::remove_file(path).map_err(|error| failed(path, error))
    }
}

/// A process that governs a place, as it wrote itself down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgentProcess {
    /// The number of its process.
    pub(crate) process: u32,
    started: Option<u64>,
}

impl AgentProcess {
    /// Asks it to end. A process that has taken its number since is left alone.
    pub(crate) fn terminate(self) -> Result<(), Errno> {
        let pid = i32::try_from(self.process).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        // From here on the descriptor means this very process, so that the start time that is read is that of the one that
        // gets the signal.
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

/// The process that governs a place now, if one does.
pub(crate) fn agent_at(folder: &Path, device: &str, parent: u32) -> Result<Option<AgentProcess>, Error> {
    let path = path(folder, device, parent)?;
    if matches!(lstat(&path), Err(Errno::NOENT)) {
        return Ok(None);
    }
    let mut file = open(&path, OFlags::RDONLY)?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => return Ok(None),
        Err(Errno::WOULDBLOCK) => {}
        Err(errno) => return Err(failed(&path, errno.into())),
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| failed(&path, error))?;
    match serde_json::from_str::<Kept>(&text) {
        Ok(Kept { process, started, .. }) => Ok(Some(AgentProcess { process, started })),
        // The agent has locked the file and not written it yet.
        Err(_) => Err(Taken::Attaching { device: device.into() }.into()),
    }
}

/// The other places of a device that are written down: governed ones, and what killed agents left.
pub(crate) fn other_places(folder: &Path, device: &str, parent: u32) -> Result<Vec<u32>, Error> {
    let this = path(folder, device, parent)?;
    let namespace = format!("{device}.{}.", namespace()?);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| failed(folder, error))?,
    };
    let place = |path: PathBuf| {
        let name = path.file_name()?.to_str()?;
        let place = name.strip_prefix(&namespace)?.strip_suffix(".json")?;
        if place == "root" { Some(ROOT) } else { u32::from_str_radix(place, 16).ok() }
    };
    let others = entries.flatten().map(|entry| entry.path()).filter(|path| *path != this);
    let mut places: Vec<u32> = others.filter_map(place).collect();
    places.sort_unstable();
    Ok(places)
}

/// How a user ends what governs a place.
pub(crate) fn detach_command(device: &str, parent: u32) -> String {
    let place = if parent == ROOT { String::new() } else { format!(" --parent {}", shown_place(parent)) };
    format!("sluice detach {device}{place}")
}

/// When a process started, in the kernel's ticks since boot (`proc(5)`, stat, field 22).
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the program's name in parentheses, with whatever characters it has.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Makes the folder, for this user and the sockets' group; refuses one in which others could put files.
///
/// # Errors
/// It cannot be made, or is not for this user alone to write to.
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
        return refuse("is not a folder: no state is kept there");
    }
    match (stat.st_uid, geteuid().as_raw()) {
        (owner, user) if owner == user => {}
        // There is nothing wrong with it: it is this user who may not.
        (0, _) => return Err(failed(folder, io::ErrorKind::PermissionDenied.into())),
        _ => return refuse("belongs to another user: no state is kept there"),
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return refuse("may be written by others: no state is kept there");
    }
    Ok(())
}

/// Opens a state file, which must be a plain file of this user's. Neither a link nor a pipe holds it up.
pub(crate) fn open(path: &Path, flags: OFlags) -> Result<File, Error> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let refuse = |why| Err(Error::Distrusted { path: path.into(), why });
    let file = match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Err(Errno::LOOP) => return refuse("is a symbolic link: it is not our state"),
        // A pipe that nobody reads, or a socket.
        Err(Errno::NXIO) => return refuse("is not a plain file: it is not our state"),
        file => file.map_err(|errno| failed(path, errno.into()))?,
    };
    let stat = fstat(&file).map_err(|errno| failed(path, errno.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return refuse("is not a plain file: it is not our state");
    }
    if stat.st_uid != geteuid().as_raw() {
        return refuse("belongs to another user: it is not our state");
    }
    if stat.st_nlink > 1 {
        return refuse("has another name: it is not our state");
    }
    // Whoever may read a file may lock it, and would keep it from being put back.
    fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(|errno| failed(path, errno.into()))?;
    Ok(File::from(file))
}

/// Interfaces of different network namespaces may have one name.
fn path(folder: &Path, device: &str, parent: u32) -> Result<PathBuf, Error> {
    let is_name = !matches!(device, "" | "." | "..")
        && device.len() <= LONGEST_NAME
        && device.bytes().all(|byte| byte != b'/' && byte != b':' && byte.is_ascii_graphic());
    if !is_name {
        return Err(Error::NoName { name: device.into() });
    }
    let place = if parent == ROOT { "root".into() } else { format!("{parent:x}") };
    Ok(folder.join(format!("{device}.{}.{place}.json", namespace()?)))
}

/// The number of this thread's network namespace.
fn namespace() -> Result<u64, Error> {
    const NAMESPACE: &str = "/proc/thread-self/ns/net";
    let stat = rustix::fs::stat(NAMESPACE).map_err(|errno| failed(Path::new(NAMESPACE), errno.into()))?;
    Ok(stat.st_ino)
}

fn failed(path: &Path, source: io::Error) -> Error {
    let what = format!("keep the former queue in {}", path.display());
    match source.kind() {
        io::ErrorKind::PermissionDenied => Error::NotPermitted { what },
        _ => Error::Kernel { what, source },
    }
}
