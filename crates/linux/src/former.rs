//! The queue that an interface had before, and how it gets it back, even from an agent that was killed.

use crate::Error;
use crate::fifo::Place;
use crate::nl80211::Wireless;
use crate::options::to_make_again;
use crate::rtnetlink::{Link, Qdisc, ROOT, Route};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// Where agents write down what to put back.
pub const STATE_FOLDER: &str = "/run/sluice";

/// Disciplines that the kernel makes again, equal, from the options that it shows. All but codel and fq are tested so; of
/// those the kernel's source says it.
const RESTORABLE: [&str; 9] =
    ["pfifo", "bfifo", "pfifo_head_drop", "pfifo_fast", "noqueue", "fq_codel", "codel", "fq", "cake"];

/// What stood in a place before, and what stands there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Former {
    /// The interface's name, for messages.
    device: String,
    index: u32,
    parent: u32,
    /// Absent where the kernel's default stood there, which comes back by itself.
    qdisc: Option<Saved>,
    /// The handle of ours.
    ours: u32,
    /// How many segments a packet of the interface's could hold, where the agent changed that.
    #[serde(default)]
    segments: Option<u32>,
    /// Where no discipline is replaced: the limit that was moved.
    #[serde(default)]
    phy: Option<FormerPhy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    kind: String,
    handle: u32,
    options: Option<Vec<u8>>,
}

/// The limit that the queues of a phy had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormerPhy {
    number: u32,
    limit: u32,
}

impl Former {
    /// What stands at `parent` of an interface, and why it could not be put back as it is, if so.
    pub(crate) fn read(route: &mut Route, link: &Link, parent: u32) -> Result<(Self, Option<String>), Error> {
        let qdiscs = route.qdiscs(link.index)?;
        let here = qdiscs.iter().find(|qdisc| qdisc.parent == parent);
        let own = here.filter(|qdisc| qdisc.handle != 0);
        let obstacle = match own {
            None if parent == ROOT => default_obstacle(&qdiscs),
            None => Some("nothing with a handle stands in that class; put a pfifo with a handle there first".into()),
            Some(qdisc) => obstacle(qdisc, &qdiscs, route)?,
        };
        let saved =
            |qdisc: &Qdisc| Saved { kind: qdisc.kind.clone(), handle: qdisc.handle, options: qdisc.options.clone() };
        let ours = our_handle(parent);
        let former = Self {
            device: link.name.clone(),
            index: link.index,
            parent,
            qdisc: own.map(saved),
            ours,
            segments: None,
            phy: None,
        };
        Ok((former, obstacle))
    }

    /// The limit of a phy's queues: no discipline is replaced.
    pub(crate) fn of_phy(link: &Link, number: u32, limit: u32) -> Self {
        let (device, index, phy) = (link.name.clone(), link.index, Some(FormerPhy { number, limit }));
        Self { device, index, parent: ROOT, qdisc: None, ours: 0, segments: None, phy }
    }

    /// The handle that our discipline gets.
    pub(crate) fn ours(&self) -> u32 {
        self.ours
    }

    /// Our discipline gets a handle of its own choice.
    #[cfg(feature = "bpf")]
    pub(crate) fn governed_by(self, ours: u32) -> Self {
        Self { ours, ..self }
    }

    /// Writes down what to put back, then puts our discipline in its place.
    pub(crate) fn make_way(
        &self,
        mut state: State,
        route: &mut Route,
        kind: &str,
        options: Option<Vec<u8>>,
    ) -> Result<State, Error> {
        state.keep(self)?;
        let Self { index, parent, ours: handle, .. } = *self;
        let new = Qdisc { index, handle, parent, kind: kind.into(), options, ..Qdisc::default() };
        if let Err(error) = route.replace(&new) {
            state.forget()?;
            return Err(error);
        }
        Ok(state)
    }

    /// The kernel's default is to come back instead.
    fn give_up(&mut self) {
        self.qdisc = None;
    }

    /// Puts it back, and looks whether it is as it was. A discipline that is not ours is left alone.
    pub(crate) fn restore(&self, route: &mut Route) -> Result<(), Error> {
        let restored = self.restore_queue(route);
        let Some(segments) = self.segments else { return restored };
        match route.set_segments(self.index, segments) {
            // With its interface.
            Err(Error::Gone { .. }) => restored,
            set => restored.and(set),
        }
    }

    fn restore_queue(&self, route: &mut Route) -> Result<(), Error> {
        if let Some(FormerPhy { number, limit }) = self.phy {
            return restore_phy(number, limit);
        }
        let now = match route.qdisc(self.index, self.parent) {
            Err(Error::Gone { .. }) => return Ok(()),
            now => now?,
        };
        if self.is_back(now.as_ref()) {
            return Ok(());
        }
        if now.as_ref().is_none_or(|now| now.handle != self.ours) {
            return Err(Error::Replaced { name: self.device.clone(), found: shown(now.as_ref()) });
        }
        match &self.qdisc {
            None => route.delete(self.index, self.parent)?,
            Some(Saved { kind, handle, options }) => {
                let (index, parent, handle) = (self.index, self.parent, *handle);
                let (kind, options) = (kind.clone(), options.as_deref().map(|shown| to_make_again(kind, shown)));
                route.replace(&Qdisc { index, handle, parent, kind, options, ..Qdisc::default() })?;
            }
        }
        let now = route.qdisc(self.index, self.parent)?;
        if self.is_back(now.as_ref()) {
            return Ok(());
        }
        let (name, found) = (&self.device, shown(now.as_ref()));
        Err(Error::Unsuitable(format!("the former queue of {name} could not be put back; it has {found} now")))
    }

    fn is_back(&self, now: Option<&Qdisc>) -> bool {
        match (&self.qdisc, now.filter(|now| now.handle != 0)) {
            (None, now) => now.is_none(),
            (Some(saved), Some(now)) => {
                (&saved.kind, saved.handle, &saved.options) == (&now.kind, now.handle, &now.options)
            }
            (Some(_), None) => false,
        }
    }
}

/// A phy that is gone needs nothing.
fn restore_phy(number: u32, limit: u32) -> Result<(), Error> {
    let mut wireless = Wireless::open()?;
    match wireless.phy(number)? {
        Some(phy) if phy.limit != Some(limit) => wireless.set_limit(number, limit),
        _ => Ok(()),
    }
}

/// `Qu` with a place's number: nothing else gives such handles, and a child's differs from its parent's.
const fn our_handle(parent: u32) -> u32 {
    if parent == ROOT { 0x51ce_0000 } else { 0x5100_0000 | ((parent & 0x7f) << 16) }
}

/// A discipline as `tc` shows it.
pub(crate) fn shown(qdisc: Option<&Qdisc>) -> String {
    qdisc.map_or_else(|| "none".into(), |qdisc| format!("{} {:x}:", qdisc.kind, qdisc.handle >> 16))
}

/// Under a root that the kernel made by itself (`mq`) somebody may have put a queue of his own.
fn default_obstacle(qdiscs: &[Qdisc]) -> Option<String> {
    let own = qdiscs.iter().find(|qdisc| qdisc.handle != 0 && qdisc.parent < 0xffff_0000)?;
    Some(format!("{} stands below its root and would be lost", shown(Some(own))))
}

fn obstacle(qdisc: &Qdisc, qdiscs: &[Qdisc], route: &mut Route) -> Result<Option<String>, Error> {
    let child = qdiscs.iter().find(|child| child.parent != ROOT && child.parent >> 16 == qdisc.handle >> 16);
    if let Some(child) = child {
        return Ok(Some(format!("{} stands below {} and would be lost", shown(Some(child)), shown(Some(qdisc)))));
    }
    if !RESTORABLE.contains(&qdisc.kind.as_str()) {
        let known = RESTORABLE.join(", ");
        return Ok(Some(format!("{} cannot be made again from what the kernel shows of it; {known} can", qdisc.kind)));
    }
    let filters = route.has_filters(qdisc.index, qdisc.handle)?;
    Ok(filters.then(|| format!("the filters of {} would be lost", shown(Some(qdisc)))))
}

/// Locks a place and reads what stands there. What a killed agent left is put back first. A queue that could not be put
/// back later is refused, unless `force`d: then the kernel's default is to come back.
pub(crate) fn claim(place: &Place, route: &mut Route, link: &Link, force: bool) -> Result<(Former, State), Error> {
    let (state, left) = State::lock(&place.state_folder, &place.device, place.parent)?;
    claim_locked((state, left), route, link, place.parent, force)
}

/// As [`claim`]; but where a killed agent left a discipline of `kind` in its place, that stays, and what stood there before
/// it is still what is to come back. True in that case.
#[cfg(feature = "bpf")]
pub(crate) fn claim_or_keep(
    place: &Place,
    route: &mut Route,
    link: &Link,
    force: bool,
    kind: &str,
) -> Result<(Former, State, bool), Error> {
    let (state, left) = State::lock(&place.state_folder, &place.device, place.parent)?;
    let here = route.qdisc(link.index, place.parent)?;
    let stands = |kept: &Kept| {
        let former = &kept.former;
        let is_ours = here.as_ref().is_some_and(|here| here.handle == former.ours && here.kind == kind);
        former.index == link.index && former.phy.is_none() && is_ours
    };
    match left {
        Some(kept) if stands(&kept) => Ok((kept.former, state, true)),
        left => {
            claim_locked((state, left), route, link, place.parent, force).map(|(former, state)| (former, state, false))
        }
    }
}

fn claim_locked(
    (state, left): (State, Option<Kept>),
    route: &mut Route,
    link: &Link,
    parent: u32,
    force: bool,
) -> Result<(Former, State), Error> {
    if let Some(left) = left {
        put_back(&left.former, route)?;
    }
    let (mut former, obstacle) = Former::read(route, link, parent)?;
    if let Some(obstacle) = obstacle {
        if !force {
            state.forget()?;
            let name = &link.name;
            let message = format!("the queue of {name} could not be put back as it is: {obstacle}. --force goes on");
            return Err(Error::Unsuitable(message));
        }
        former.give_up();
    }
    Ok((former, state))
}

/// Puts back what a killed agent left. Where another program has put a queue there since, that one stays.
pub(crate) fn put_back(former: &Former, route: &mut Route) -> Result<(), Error> {
    match former.restore(route) {
        Err(Error::Replaced { .. }) => Ok(()),
        done => done,
    }
}

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
    pub(crate) former: Former,
}

impl State {
    /// Opens and locks the file for a place; also what a killed agent left in it.
    pub(crate) fn lock(folder: &Path, device: &str, parent: u32) -> Result<(Self, Option<Kept>), Error> {
        let path = path(folder, device, parent)?;
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(|error| failed(&path, error))?;
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| failed(&path, error))?;
        let kept: Option<Kept> = serde_json::from_str(&text).ok();
        match locked {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let process = kept.map_or_else(String::new, |kept| format!(" (process {})", kept.process));
                let message = format!("{device} is governed already{process}; `sluice detach {device}` ends that");
                return Err(Error::Unsuitable(message));
            }
            Err(errno) => return Err(failed(&path, errno.into())),
        }
        if kept.is_none() && !text.is_empty() {
            let path = path.display();
            return Err(Error::Unsuitable(format!(
                "{path} is damaged: look at `tc qdisc`, mend it and remove the file"
            )));
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
        let kept = Kept { process: std::process::id(), former: former.clone() };
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
        former.segments.get_or_insert(link.gso_max_segs);
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
        let Ok(text) = fs::read_to_string(path) else { return Ok(()) };
        let Ok(kept) = serde_json::from_str::<Kept>(&text) else { return Ok(()) };
        if kept.process != std::process::id() {
            return Ok(());
        }
        kept.former.restore(&mut Route::open()?)?;
        fs::remove_file(path).map_err(|error| failed(path, error))
    }
}

/// The process that governs a place now, if one does.
pub(crate) fn governor(folder: &Path, device: &str, parent: u32) -> Result<Option<u32>, Error> {
    let path = path(folder, device, parent)?;
    let mut file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| failed(&path, error))?,
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => return Ok(None),
        Err(Errno::WOULDBLOCK) => {}
        Err(errno) => return Err(failed(&path, errno.into())),
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| failed(&path, error))?;
    match serde_json::from_str::<Kept>(&text) {
        Ok(kept) => Ok(Some(kept.process)),
        // The agent has locked the file and not written it yet.
        Err(_) => Err(Error::Unsuitable(format!("{device} is being attached at this moment; try again"))),
    }
}

/// Interfaces of different network namespaces may have one name.
fn path(folder: &Path, device: &str, parent: u32) -> Result<PathBuf, Error> {
    let namespace = rustix::fs::stat("/proc/thread-self/ns/net")
        .map_err(|errno| failed(Path::new("/proc/thread-self/ns/net"), errno.into()))?;
    let place = if parent == ROOT { "root".into() } else { format!("{parent:x}") };
    Ok(folder.join(format!("{device}.{}.{place}.json", namespace.st_ino)))
}

fn failed(path: &Path, source: io::Error) -> Error {
    let what = format!("keep the former queue in {}", path.display());
    match source.kind() {
        io::ErrorKind::PermissionDenied => Error::NotPermitted { what },
        _ => Error::Kernel { what, source },
    }
}
