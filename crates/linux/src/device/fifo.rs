//! The kernel's own FIFO disciplines as devices, for kernels without BPF disciplines; and any discipline, only looked at.

use crate::agent::confine::Keeps;
use crate::device::backend::{Backend, Wish};
use crate::device::contract::{Capabilities, Device, Error, Quality};
use crate::device::estimate::Estimator;
use crate::device::former::{Former, claim, put_back};
use crate::device::looks::Looks;
use crate::device::state::{Governor, State, detach_command, governor, other_places};
use crate::kernel::rtnetlink::{Counters, Link, Qdisc, ROOT, Route};
use crate::telemetry::ask;
use control::{Interval, Limit, Measures};
use queue::{DisciplineName, Settings};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use units::{Duration, Instant};

/// `ARPHRD_ETHER` (`linux/if_arp.h`).
const ETHERNET: u16 = 1;

/// A FIFO of the kernel. None of them discards what waits when its limit is lowered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Packets; the one that comes to a full queue goes.
    #[default]
    Pfifo,
    /// Bytes with link headers; the packet that comes to a full queue goes.
    Bfifo,
    /// Packets; the one that waited longest goes. A full queue stays as long as it is when its limit is lowered, until
    /// fewer come than leave.
    PfifoHeadDrop,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pfifo, Self::Bfifo, Self::PfifoHeadDrop];

    /// As `tc qdisc` calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pfifo => "pfifo",
            Self::Bfifo => "bfifo",
            Self::PfifoHeadDrop => "pfifo_head_drop",
        }
    }

    /// The one that holds a queue of these settings.
    ///
    /// # Errors
    /// There is none: what the kernel's FIFOs cannot hold, and what to ask for instead.
    pub fn of(settings: &Settings) -> Result<Self, Error> {
        match (settings.discipline, settings.limit) {
            (DisciplineName::DropTail, Limit::Packets(_)) => Ok(Self::Pfifo),
            (DisciplineName::DropTail, Limit::Bytes(_)) => Ok(Self::Bfifo),
            (DisciplineName::DropHead, Limit::Packets(_)) => Ok(Self::PfifoHeadDrop),
            (DisciplineName::DropHead, Limit::Bytes(_)) => {
                Err(Error::Unsuitable("the kernel's drop-head queue counts packets: give a limit in packets".into()))
            }
            (other, _) => Err(unmoved(other)),
        }
    }

    /// The options that set `limit`: `struct tc_fifo_qopt`.
    fn options(self, limit: Limit) -> Result<Vec<u8>, Error> {
        let number = match (self, limit) {
            (Self::Bfifo, Limit::Bytes(bytes)) => u32::try_from(bytes.count()).unwrap_or(u32::MAX),
            (Self::Pfifo | Self::PfifoHeadDrop, Limit::Packets(packets)) => packets,
            (kind, limit) => {
                let kind = kind.as_str();
                let cure = "give pfifo a number of packets, and bfifo a size such as \"64 kB\"";
                return Err(Error::Unsuitable(format!("{kind} cannot hold a limit of {limit}; {cure}")));
            }
        };
        Ok(number.to_ne_bytes().to_vec())
    }
}

/// Why a discipline is refused whatever is to hold the packets.
pub(crate) fn unmoved(discipline: DisciplineName) -> Error {
    let discipline = discipline.as_str();
    Error::Unsuitable(format!("{discipline} is not moved by a controller here; use drop-tail or drop-head"))
}

/// Which queue: of which interface, and where on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The interface's name.
    pub device: String,
    /// [`ROOT`], or the class of a shaper, `1:1` as `0x1_0001`.
    pub parent: u32,
    /// Where the agent writes down what to put back: [`STATE_FOLDER`](crate::STATE_FOLDER).
    pub state_folder: PathBuf,
}

/// How a queue begins, and how it is to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The limit that holds from the first moment.
    pub limit: Limit,
    /// What the controller asks for.
    pub measures: Measures,
    /// Time between two looks, where the queue is measured by looking.
    pub every: Duration,
    /// When it begins, by the kernel's monotonic clock.
    pub at: Instant,
}

/// A queue whose counters are read.
#[derive(Debug)]
struct Watched {
    looks: Looks,
    link: Link,
    parent: u32,
    /// The handle that must be found; absent where any may be.
    handle: Option<u32>,
    estimator: Estimator,
    every: Duration,
}

impl Watched {
    fn look(&mut self, now: Instant) -> Result<(), Error> {
        let counters = self.looks.counters(now, &self.link, self.parent, self.handle)?;
        self.estimator.look(now, counters);
        Ok(())
    }

    /// Measures as is asked for from now on.
    fn measure(&mut self, start: &Start) {
        self.every = start.every;
        self.estimator.measure(start.measures);
    }

    fn capabilities(&self, kind: &'static str) -> Capabilities {
        let gaps = Quality::Estimated("time between two looks by the packets that left, while packets waited");
        Capabilities {
            kind,
            purges: false,
            look_every: Some(self.every),
            counts: Quality::Measured,
            sojourn: Quality::Estimated("Little's law: bytes that waited, over time, by bytes that left"),
            departure_gap: gaps,
            service: Quality::Absent,
            service_ewma: gaps,
            occupancy: Quality::Estimated("each look stands for half the time to the next"),
        }
    }
}

fn header(link: &Link) -> u64 {
    if link.hardware == ETHERNET { 14 } else { 0 }
}

/// One of the kernel's FIFOs, put in place of what was there.
#[derive(Debug)]
pub struct Fifo {
    watched: Watched,
    route: Route,
    kind: Kind,
    former: Former,
    state: Option<State>,
}

impl Fifo {
    /// Puts a FIFO of `kind` in its place. What waited in the former queue is lost, as with any change of a
    /// discipline. What a killed agent left is put back first.
    ///
    /// # Errors
    /// No such interface; no privilege; another agent is there; a former queue that could not be put back, unless
    /// `force`d: then the kernel's default comes back in its place.
    pub fn attach(place: &Place, kind: Kind, start: &Start, looks: &Looks, force: bool) -> Result<Self, Error> {
        let options = kind.options(start.limit)?;
        let mut route = Route::open()?;
        let link = route.link(&place.device)?;
        let parent = place.parent;
        let (former, state) = claim(place, &mut route, &link, force)?;
        let handle = former.ours();
        let state = former.make_way(state, &mut route, kind.as_str(), Some(options))?;
        let first = (start.at, Counters::default());
        let estimator = Estimator::new(start.measures, header(&link), kind == Kind::PfifoHeadDrop, first);
        let looks = looks.clone();
        let watched = Watched { looks, link, parent, handle: Some(handle), estimator, every: start.every };
        Ok(Self { watched, route, kind, former, state: Some(state) })
    }
}

/// Puts back what stood in a place before it was governed: ends the agent that governs it, or does the work of one that
/// was killed. Tells whether there was anything to do.
///
/// # Errors
/// No such interface; no privilege; an agent that does not end; a former queue that could not be put back.
pub fn detach(place: &Place) -> Result<bool, Error> {
    let Place { device, parent, state_folder } = place;
    ask::forget_killed(state_folder);
    if let Some(governor) = governor(state_folder, device, *parent)? {
        return end(governor, state_folder, device, *parent).map(|()| true);
    }
    if restore_left(state_folder, device, *parent)? {
        return Ok(true);
    }
    if let [other, ..] = other_places(state_folder, device, *parent)?[..] {
        let (here, there) = (shown_place(*parent), shown_place(other));
        let command = detach_command(device, other);
        let message = format!("{device} is not governed at {here} but at {there}: `{command}` ends that");
        return Err(Error::Unsuitable(message));
    }
    // What governed an interface that is gone may be put back, and was; a name that nothing has is a mistake.
    Route::open()?.link(device).map(|_| false)
}

fn end(governs: Governor, folder: &Path, device: &str, parent: u32) -> Result<(), Error> {
    let what = format!("end process {}, which governs {device}", governs.process);
    match governs.terminate() {
        Ok(()) => {}
        Err(Errno::PERM) => return Err(Error::NotPermitted { what }),
        Err(errno) => return Err(Error::Kernel { what, source: errno.into() }),
    }
    let pause = rustix::time::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    for _ in 0..300 {
        if governor(folder, device, parent)?.is_none() {
            return Ok(());
        }
        // A pause that a signal cuts short is short, no more.
        let _ = rustix::thread::nanosleep(&pause);
    }
    Err(Error::Unsuitable(format!("asked to {what}, and it did not end within 3 s")))
}

/// What an agent that was killed has left is put back. Tells whether there was anything.
fn restore_left(folder: &Path, device: &str, parent: u32) -> Result<bool, Error> {
    let (state, left) = State::lock(folder, device, parent)?;
    if let Some(left) = &left {
        put_back(&left.former, &mut Route::open()?)?;
    }
    state.forget()?;
    #[cfg(feature = "bpf")]
    crate::device::bpf::Discipline::unload_unused(Path::new(crate::device::bpf::FOLDER))?;
    Ok(left.is_some())
}

impl Device for Fifo {
    fn name(&self) -> &str {
        &self.watched.link.name
    }

    fn look(&mut self, now: Instant) -> Result<(), Error> {
        self.watched.look(now)
    }

    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        self.watched.look(now)?;
        Ok(self.watched.estimator.take())
    }

    fn set_limit(&mut self, limit: Limit) -> Result<(), Error> {
        let Watched { link, parent, .. } = &self.watched;
        let (index, parent, handle) = (link.index, *parent, self.former.ours());
        let (kind, options) = (self.kind.as_str().to_owned(), Some(self.kind.options(limit)?));
        self.route.change(&Qdisc { index, handle, parent, kind, options, ..Qdisc::default() })
    }

    fn restore(&mut self) -> Result<(), Error> {
        let Some(state) = self.state.take() else { return Ok(()) };
        state.end(&self.former, &mut self.route)
    }

    fn limit_segments(&mut self, segments: u32) -> Result<(), Error> {
        match &mut self.state {
            Some(state) => state.limit_segments(&mut self.former, &mut self.route, &self.watched.link, segments),
            None => Ok(()),
        }
    }

    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        let serves = matches!(wish.backend, Backend::Auto | Backend::Fifo);
        if wish.dry_run || !serves || Kind::of(&wish.settings).ok() != Some(self.kind) {
            return Ok(false);
        }
        self.watched.measure(start);
        self.set_limit(start.limit).map(|()| true)
    }

    fn capabilities(&self) -> Capabilities {
        self.watched.capabilities(self.kind.as_str())
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        // Nobody is left to be told; the state file stays, and the next agent or `sluice detach` tries again.
        let _ = self.restore();
    }
}

/// The queue that is there, looked at and never changed.
#[derive(Debug)]
pub struct Observed(Watched);

impl Observed {
    /// Looks at the queue in a place. Needs no privilege.
    ///
    /// # Errors
    /// No such interface.
    pub fn new(place: &Place, start: &Start, looks: &Looks) -> Result<Self, Error> {
        let (link, looks) = (Route::open()?.link(&place.device)?, looks.clone());
        let first = (start.at, looks.counters(start.at, &link, place.parent, None)?);
        let estimator = Estimator::new(start.measures, header(&link), false, first);
        Ok(Self(Watched { looks, link, parent: place.parent, handle: None, estimator, every: start.every }))
    }
}

impl Device for Observed {
    fn name(&self) -> &str {
        &self.0.link.name
    }

    fn look(&mut self, now: Instant) -> Result<(), Error> {
        self.0.look(now)
    }

    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        self.0.look(now)?;
        Ok(self.0.estimator.take())
    }

    /// Nothing: the queue is only looked at.
    fn set_limit(&mut self, _: Limit) -> Result<(), Error> {
        Ok(())
    }

    fn keeps(&self) -> Keeps {
        Keeps::Nothing
    }

    fn restore(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        if wish.dry_run {
            self.0.measure(start);
        }
        Ok(wish.dry_run)
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities("as it is")
    }
}

/// A place as `tc` writes it: `root`, or a class such as `1:10`.
pub fn shown_place(parent: u32) -> String {
    if parent == ROOT { "root".into() } else { format!("{:x}:{:x}", parent >> 16, parent & 0xffff) }
}

/// `1:1` as `tc` writes a class.
///
/// # Errors
/// What is expected instead.
pub fn class(text: &str) -> Result<u32, String> {
    let number = |text: &str| if text.is_empty() { Ok(0) } else { u16::from_str_radix(text, 16) };
    if text == "root" {
        return Ok(ROOT);
    }
    let parts = text.split_once(':').and_then(|(major, minor)| Some((number(major).ok()?, number(minor).ok()?)));
    match parts {
        Some((major, minor)) if major > 0 && minor > 0 => Ok(u32::from(major) << 16 | u32::from(minor)),
        _ => Err("expected root, or a class as tc writes it: 1:10".into()),
    }
}
