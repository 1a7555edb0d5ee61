//! The discipline in the kernel: loaded once a machine, found again by the next agent, and one queue of it.

use super::completions;
use super::credit::{Below, Credit};
use super::reading::{Reading, room};
use super::shared::{FIRST_MAJOR, MOST_QUEUES, Measured, Settings};
use crate::Error;
use control::{Count, Interval, Limit, Measures};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Func;
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapMut, Object, ObjectBuilder, OpenObject};
use queue::{End, Purge};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::thread::{Timespec, nanosleep};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use units::{Bytes, Duration, Instant};

/// What a queue does without its agent, and how it drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// The hard limit: never exceeded, and the limit until [`Slot::set_limit`].
    pub hard: Limit,
    /// The limit that holds while the agent is silent.
    pub fallback: Limit,
    /// What makes way when a packet comes and the limit is reached.
    pub overflow: End,
    /// Which packets go when the limit was lowered.
    pub purge: Purge,
}

/// Packets that the queue of a silent agent holds: enough for traffic to go on, and not more than some tens of
/// milliseconds at the rates of today's links.
const FALLBACK_PACKETS: u32 = 100;

impl Mechanism {
    /// What crate `queue` would do with these settings.
    ///
    /// # Errors
    /// A discipline whose limit does not move.
    pub fn of(settings: &queue::Settings) -> Result<Self, Error> {
        let hard = settings.limit;
        let fallback = match hard {
            Limit::Packets(packets) => Limit::Packets(packets.min(FALLBACK_PACKETS)),
            Limit::Bytes(bytes) => Limit::Bytes(bytes.min(Bytes::new(u64::from(FALLBACK_PACKETS) * 1_500))),
        };
        let (overflow, purge) = match settings.discipline {
            queue::DisciplineName::DropTail => (End::Tail, Purge::Tail),
            queue::DisciplineName::DropHead => (End::Head, Purge::Head),
            other => return Err(crate::device::fifo::unmoved(other)),
        };
        Ok(Self { hard, fallback, overflow, purge: settings.purge.unwrap_or(purge) })
    }
}

/// How often, a millisecond apart, an agent asks for what others hold for a small part of a second each.
const LONGEST_WAIT: u32 = 30_000;

/// The kind as `tc qdisc` calls it.
pub(super) const KIND: &str = "sluice";
/// An agent that is silent for longer has died: it is heard at each interval, of some 20 ms to a second.
pub(super) const LONGEST_SILENCE: Duration = Duration::from_secs(5);

/// The discipline as `tc qdisc` knows it, and the maps that its queues share with the agent.
///
/// It outlives the agent: the kernel keeps it under a folder of a file system of type `bpf` until
/// [`unload`](Self::unload).
#[derive(Debug)]
pub struct Discipline {
    folder: PathBuf,
    settings: MapHandle,
    measured: MapHandle,
}

impl Discipline {
    /// Whether this kernel takes queue disciplines in BPF.
    ///
    /// # Errors
    /// The kernel tells no types (BTF), or those that a discipline needs are not among them. The message has the cure.
    pub fn is_possible() -> Result<(), Error> {
        let types = Btf::from_vmlinux().map_err(|_| {
            Error::Unsuitable("the kernel tells no types: it was built without CONFIG_DEBUG_INFO_BTF".into())
        })?;
        match types.type_by_name::<Func<'_>>("bpf_qdisc_bstats_update") {
            Some(_) => Ok(()),
            None => Err(Error::Unsuitable(
                "the kernel has no queue disciplines in BPF: it is older than 6.16 or built without \
                 CONFIG_NET_SCH_BPF"
                    .into(),
            )),
        }
    }

    /// The discipline that is loaded, or else loads it with room for `most` in each queue. `folder` is in a file system
    /// of type `bpf`.
    ///
    /// # Errors
    /// The kernel does not take it; what is loaded is of another version or has not enough room.
    pub fn load(folder: &Path, most: Limit) -> Result<Self, Error> {
        let places = places(most)?;
        let loaded = || Self::find(folder);
        if !folder.join(LINK).exists() {
            Self::is_possible()?;
            let object = prepared(places).and_then(OpenObject::load).map_err(|error| refused("load", &error))?;
            pin(object, folder)?;
        }
        let found = loaded()?;
        let ring = MapHandle::from_pinned_path(folder.join(RING)).map_err(|error| refused("find", &error))?;
        if ring.max_entries() < places * QUEUES {
            let room = ring.max_entries() / QUEUES;
            return Err(Error::Unsuitable(format!(
                "the queue discipline that is loaded has room for {room} packets in a queue, and {most} need more: stop \
                 all agents, so that it is unloaded, or ask for a smaller hard limit"
            )));
        }
        Ok(found)
    }

    /// Takes the kind away where it serves no interface any more: agents that were killed leave it, or a part of it where
    /// they were killed while they loaded or unloaded it.
    ///
    /// # Errors
    /// The maps cannot be read, or the folder not be removed.
    pub fn unload_unused(folder: &Path) -> Result<(), Error> {
        if !folder.exists() {
            return Ok(());
        }
        let _alone = alone(folder)?;
        // Where the link is, all is.
        if folder.join(LINK).exists() && !Self::find(folder)?.is_unused()? {
            return Ok(());
        }
        take_away(folder)
    }

    fn find(folder: &Path) -> Result<Self, Error> {
        let open = |name: &str, size: usize| {
            let map = MapHandle::from_pinned_path(folder.join(name)).map_err(|error| refused("find", &error))?;
            if map.value_size() as usize == size && map.max_entries() == QUEUES {
                Ok(map)
            } else {
                Err(Error::Unsuitable(
                    "the queue discipline that is loaded is of another version: stop its agent".into(),
                ))
            }
        };
        let settings = open(SETTINGS, size_of::<Settings>())?;
        let measured = open(MEASURED, size_of::<Measured>())?;
        Ok(Self { folder: folder.into(), settings, measured })
    }

    /// Takes the first slot that serves no interface, for a queue that measures as its controller asks for. The queue is
    /// then to be made: kind `sluice`, handle [`Slot::handle`].
    ///
    /// `now` is the kernel's monotonic clock, here and in all that follows.
    ///
    /// # Errors
    /// All are in use.
    pub fn free_slot(&self, mechanism: Mechanism, measures: Measures, now: Instant) -> Result<Slot, Error> {
        for number in 0..QUEUES {
            if read_measured(&self.measured, number)?.interface == 0 {
                return self.slot(number, mechanism, measures, now);
            }
        }
        Err(Error::Unsuitable(format!("the queue discipline serves at most {QUEUES} interfaces")))
    }

    /// Takes over the queue with this handle, which goes on under other settings.
    ///
    /// # Errors
    /// It is no handle of ours.
    pub fn take_over(
        &self,
        handle: u32,
        mechanism: Mechanism,
        measures: Measures,
        now: Instant,
    ) -> Result<Slot, Error> {
        match (handle >> 16).checked_sub(FIRST) {
            Some(number) if number < QUEUES => self.slot(number, mechanism, measures, now),
            _ => Err(Error::Unsuitable(format!("{:x}: is no handle of a queue of kind {KIND}", handle >> 16))),
        }
    }

    fn slot(&self, number: u32, mechanism: Mechanism, measures: Measures, now: Instant) -> Result<Slot, Error> {
        let copy = |map: &MapHandle| MapHandle::try_from(map).map_err(|error| refused("find", &error));
        let (settings_map, measured_map) = (copy(&self.settings)?, copy(&self.measured)?);
        let seen = read_measured(&measured_map, number)?;
        let mut settings = Settings::new(mechanism, measures, now);
        settings.epoch = seen.epoch.wrapping_add(1);
        if seen.interface == 0 {
            settings.secret = random()?;
        } else {
            let former = settings_map.lookup(&number.to_ne_bytes(), MapFlags::ANY);
            let former = former.map_err(|error| refused("read", &error))?;
            settings.keep_credit(&former.as_deref().and_then(Settings::from_bytes).unwrap_or_default());
        }
        let reading = Reading::new(now, &seen);
        let slot = Slot { number, hard: mechanism.hard, settings, settings_map, measured_map, reading };
        slot.write()?;
        Ok(slot)
    }

    /// From now on packets of this queue leave by credit: its device never pushes back. Without `credit` the device takes
    /// as many as it likes. What waits stays where it is.
    ///
    /// # Errors
    /// The kernel does not say when packets are freed: it was built without tracepoints for BPF.
    pub fn release_by(&self, slot: &mut Slot, credit: Option<Credit>) -> Result<(), Error> {
        if credit.is_some() {
            completions::watch(&self.folder)?;
        }
        slot.settings.set_credit(credit);
        slot.write()
    }

    /// True where it serves no interface.
    ///
    /// # Errors
    /// The maps cannot be read.
    pub fn is_unused(&self) -> Result<bool, Error> {
        for number in 0..QUEUES {
            if read_measured(&self.measured, number)?.interface != 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the kind away. Queues of it that are installed still pass packets, by their fall-back limit.
    ///
    /// # Errors
    /// The folder cannot be removed.
    pub fn unload(self) -> Result<(), Error> {
        take_away(&self.folder)
    }
}

/// One queue of the discipline: an element of each map.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    hard: Limit,
    settings: Settings,
    settings_map: MapHandle,
    measured_map: MapHandle,
    reading: Reading,
}

impl Slot {
    /// The handle that the queue must have: `51c0:` is `0x51c0_0000`.
    pub fn handle(&self) -> u32 {
        (FIRST + self.number) << 16
    }

    /// The number of the interface whose queue it is; none before the queue is made and after it is gone.
    ///
    /// # Errors
    /// The maps cannot be read.
    pub fn interface(&self) -> Result<Option<u64>, Error> {
        let interface = read_measured(&self.measured_map, self.number)?.interface;
        Ok((interface != 0).then_some(interface))
    }

    /// What waits now. Unlike [`take_interval`](Self::take_interval) this does not tell the discipline that its agent
    /// lives.
    ///
    /// # Errors
    /// The maps cannot be read.
    pub fn backlog(&self) -> Result<Count, Error> {
        let Measured { backlog_packets, backlog_bytes, .. } = read_measured(&self.measured_map, self.number)?;
        Ok(Count { packets: backlog_packets, bytes: Bytes::new(backlog_bytes) })
    }

    /// How packets fared that the device took, where they leave by credit.
    ///
    /// # Errors
    /// The maps cannot be read.
    pub fn below(&self) -> Result<Below, Error> {
        let is = read_measured(&self.measured_map, self.number)?;
        let (taken, completed, lost) = (is.handed_packets, is.completed_packets, is.lost_packets);
        Ok(Below { taken, completed, lost })
    }

    /// What was measured since the last call; and the agent lives. A maximum that falls between the two is lost.
    ///
    /// # Errors
    /// The maps cannot be read or written.
    pub fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        let seen = read_measured(&self.measured_map, self.number)?;
        let interval = self.reading.interval(now, &seen, self.settings.epoch);
        self.settings.epoch = self.settings.epoch.wrapping_add(1);
        self.settings.alive(now);
        self.write()?;
        Ok(interval)
    }

    /// Moves the limit, never above the hard one. What no longer fits goes when the next packet comes or leaves.
    ///
    /// # Errors
    /// The settings cannot be written.
    pub fn set_limit(&mut self, limit: Limit) -> Result<(), Error> {
        self.settings.set_limit(limit, self.hard);
        self.write()
    }

    /// Counts go on from the last reading of `before`, of the same queue.
    pub(super) fn following(self, before: &Self) -> Self {
        Self { reading: before.reading, ..self }
    }

    fn write(&self) -> Result<(), Error> {
        let bytes = self.settings.to_bytes();
        let update = self.settings_map.update(&self.number.to_ne_bytes(), &bytes, MapFlags::ANY);
        update.map_err(|error| refused("set", &error))
    }
}

/// Major number of the first queue's handle.
#[expect(clippy::cast_possible_truncation, reason = "a major number has 16 bits")]
const FIRST: u32 = FIRST_MAJOR as u32;
/// Queues that there is room for.
#[expect(clippy::cast_possible_truncation, reason = "there are 16")]
pub(super) const QUEUES: u32 = MOST_QUEUES as u32;
/// Places in the ring of each: what the maps hold then is 25 MB.
const MOST_PLACES: u32 = 1 << 16;
const FEWEST_PLACES: u32 = 1 << 10;
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sluice.bpf.o"));
const LINK: &str = "link";
const SETTINGS: &str = "settings";
pub(super) const MEASURED: &str = "measured";
pub(super) const FLIGHTS: &str = "flights";
const RING: &str = "ring";
/// The maps that outlive the agent.
const SHARED: [&str; 4] = [SETTINGS, MEASURED, RING, FLIGHTS];
/// Places for packets of each queue that the device has; as in `flight.h`.
const MOST_BELOW: u32 = 256;

/// How many places a ring has for this hard limit: a power of two.
fn places(most: Limit) -> Result<u32, Error> {
    let packets = match most {
        Limit::Packets(packets) => packets,
        Limit::Bytes(bytes) => room(bytes),
    };
    match packets.max(FEWEST_PLACES).checked_next_power_of_two() {
        Some(places) if places <= MOST_PLACES => Ok(places),
        _ => Err(Error::Unsuitable(format!(
            "a queue of a live interface has room for {MOST_PLACES} packets: {most} are more"
        ))),
    }
}

/// The program with rings of so many places.
fn prepared(places: u32) -> libbpf_rs::Result<OpenObject> {
    // Its messages are for developers of BPF; ours say what the user can do.
    libbpf_rs::set_print(None);
    let mut open = ObjectBuilder::default().name("sluice")?.open_memory(PROGRAM)?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        match name.as_str() {
            SETTINGS | MEASURED => map.set_max_entries(QUEUES)?,
            RING => map.set_max_entries(QUEUES * places)?,
            FLIGHTS => map.set_max_entries(QUEUES * MOST_BELOW)?,
            _ if name.ends_with(".rodata") => {
                map.initial_value_mut()
                    .and_then(|constants| constants.get_mut(..4))
                    .expect("the program has one constant of four bytes")
                    .copy_from_slice(&(places - 1).to_ne_bytes());
            }
            _ => {}
        }
    }
    Ok(open)
}

/// Registers the kind and keeps it, and what the agent needs, under `folder`.
/// Waits until no other agent loads the discipline, takes a slot, makes a queue or unloads, and keeps all others from it for
/// as long as this is held: a slot is another's until its queue stands, and what one has just pinned another must not take
/// away. The lock is on the folder above, which stays.
pub(super) fn alone(folder: &Path) -> Result<File, Error> {
    let above = folder.parent().unwrap_or(folder);
    let failed = |source: io::Error| Error::Kernel { what: format!("lock {}", above.display()), source };
    let lock = File::open(above).map_err(failed)?;
    let pause = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    for _ in 0..LONGEST_WAIT {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(lock),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
        // A pause that a signal cuts short is short, no more.
        let _ = nanosleep(&pause);
    }
    let above = above.display();
    Err(Error::Unsuitable(format!("another program holds the lock on {above}; `lsof {above}` says which")))
}

/// The kind, as far as it is there. The link goes first: without it nobody takes the rest for whole.
fn take_away(folder: &Path) -> Result<(), Error> {
    let is_gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let mut names = [LINK].iter().chain(&SHARED);
    completions::forget(folder)
        .and_then(|()| names.try_for_each(|name| is_gone(std::fs::remove_file(folder.join(name)))))
        .and_then(|()| is_gone(std::fs::remove_dir(folder)))
        .map_err(|source| Error::Kernel { what: "unload the queue discipline".into(), source })
}

fn pin(mut object: Object, folder: &Path) -> Result<(), Error> {
    let make = |source| Error::Kernel {
        what: format!("make {} (is a file system of type bpf there?)", folder.display()),
        source,
    };
    std::fs::create_dir_all(folder).map_err(make)?;
    // Of one that was killed while it did this.
    for name in SHARED {
        if let Err(source) = std::fs::remove_file(folder.join(name))
            && source.kind() != io::ErrorKind::NotFound
        {
            return Err(make(source));
        }
    }
    // The link comes last: where it is, the maps are.
    let keep = |map: &mut MapMut<'_>| match map.name().to_str() {
        Some(name) if SHARED.contains(&name) => map.pin(folder.join(name)),
        _ => Ok(()),
    };
    let register = |map: &mut MapMut<'_>| match map.name().to_str() {
        Some(KIND) => map.attach_struct_ops()?.pin(folder.join(LINK)),
        _ => Ok(()),
    };
    let kept = object.maps_mut().try_for_each(|mut map| keep(&mut map));
    let registered = kept.and_then(|()| object.maps_mut().try_for_each(|mut map| register(&mut map)));
    registered.map_err(|error| refused("register", &error))
}

/// A number that nobody can guess.
fn random() -> Result<u64, Error> {
    let mut number = [0; 8];
    // So few bytes come whole, or not at all.
    getrandom(&mut number, GetRandomFlags::empty())
        .map_err(|errno| Error::Kernel { what: "take a random number".into(), source: errno.into() })?;
    Ok(u64::from_ne_bytes(number))
}

/// The counters while no packet moves them: read twice alike.
fn read_measured(map: &MapHandle, number: u32) -> Result<Measured, Error> {
    let read = || {
        let bytes = map.lookup(&number.to_ne_bytes(), MapFlags::ANY).map_err(|error| refused("read", &error))?;
        Ok(bytes.as_deref().and_then(Measured::from_bytes).unwrap_or_default())
    };
    let mut last = read()?;
    for _ in 0..16 {
        let next = read()?;
        if next == last {
            break;
        }
        last = next;
    }
    Ok(last)
}

pub(super) fn refused(what: &str, error: &libbpf_rs::Error) -> Error {
    let what = format!("{what} the queue discipline");
    match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => Error::NotPermitted { what },
        _ => Error::Kernel { what, source: io::Error::other(format!("{error:#}")) },
    }
}
