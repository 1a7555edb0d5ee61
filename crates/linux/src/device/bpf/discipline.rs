//! The discipline in the kernel: it is loaded once per machine, and later agents find it again.

use super::completions;
use super::load::{alone, pin, prepared, take_away};
use super::maps::{
    ELEMENTS, FIRST, KIND, LINK, MEASURED, QUEUES, RING, SETTINGS, STATIONS_MAP, places, read_measured, refused,
};
use super::marking;
use super::mechanism::Mechanism;
use super::shared::{Credit, Measured, Order, Settings};
use super::slot::Slot;
use super::stations::Stations;
use crate::error::{Error, Taken, Unfit, Unsupported};
use control::{Limit, Measures};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Func;
use libbpf_rs::{MapCore, MapFlags, MapHandle, OpenObject};
use std::path::{Path, PathBuf};
use units::Instant;

/// The discipline, as `tc qdisc` shows it, and the maps through which its queues and the agent communicate.
///
/// The discipline outlives the agent: the kernel keeps it under a folder of type `bpf` until [`unload`](Self::unload).
#[derive(Debug)]
pub struct Discipline {
    folder: PathBuf,
    settings: MapHandle,
    measured: MapHandle,
}

impl Discipline {
    /// Checks that this kernel supports queue disciplines in BPF. Errors: the kernel has no type information (BTF), or
    /// a discipline's types are missing. The message names the cure.
    fn is_possible() -> Result<(), Error> {
        let types = Btf::from_vmlinux().map_err(|_| Unsupported::KernelWithoutTypes)?;
        match types.type_by_name::<Func<'_>>("bpf_qdisc_bstats_update") {
            Some(_) => Ok(()),
            None => Err(Unsupported::KernelWithoutBpfQdiscs.into()),
        }
    }

    /// Opens the loaded discipline, or loads it with room for `most` packets a queue; `folder` is in a bpf file system.
    ///
    /// # Errors
    /// The kernel refuses the discipline; the loaded one is of another version or has too little room.
    pub fn load(folder: &Path, most: Limit) -> Result<Self, Error> {
        let places = places(most)?;
        let loaded = || Self::find(folder);
        if !folder.join(LINK).exists() {
            // Only a refusal leads to a search for the missing feature, because reading the kernel's types takes long.
            let object = prepared(places).and_then(OpenObject::load);
            let object =
                object.map_err(|error| Self::is_possible().err().unwrap_or_else(|| refused("load", &error)))?;
            pin(object, folder)?;
        }
        let found = loaded()?;
        let ring = MapHandle::from_pinned_path(folder.join(RING)).map_err(|error| refused("find", &error))?;
        if ring.max_entries() < places * ELEMENTS {
            let room = ring.max_entries() / ELEMENTS;
            return Err(Taken::Room { room, limit: most }.into());
        }
        Ok(found)
    }

    /// Unloads the discipline if it serves no interface any more. Killed agents leave it, or parts of it if they were
    /// killed during loading or unloading.
    ///
    /// # Errors
    /// The maps cannot be read, or the folder cannot be removed.
    pub fn unload_unused(folder: &Path) -> Result<(), Error> {
        if !folder.exists() {
            return Ok(());
        }
        let _alone = alone(folder)?;
        // The link is made last, so everything else exists.
        if folder.join(LINK).exists() {
            let found = Self::find(folder)?;
            if !found.is_unused()? {
                return found.forget_marking();
            }
        }
        take_away(folder)
    }

    /// Also unloads programs of queues that no longer exist.
    fn forget_marking(&self) -> Result<(), Error> {
        for number in 0..QUEUES {
            if read_measured(&self.measured, number)?.interface == 0 {
                marking::forget(&self.folder, number).map_err(Error::kernel("end the marking of packets"))?;
            }
        }
        Ok(())
    }

    fn find(folder: &Path) -> Result<Self, Error> {
        let open = |name: &str, size: usize| {
            let map = MapHandle::from_pinned_path(folder.join(name)).map_err(|error| refused("find", &error))?;
            if map.value_size() as usize == size && map.max_entries() == ELEMENTS {
                Ok(map)
            } else {
                Err(Error::from(Taken::Version))
            }
        };
        let settings = open(SETTINGS, size_of::<Settings>())?;
        let measured = open(MEASURED, size_of::<Measured>())?;
        Ok(Self { folder: folder.into(), settings, measured })
    }

    /// Takes the first slot that serves no interface, for a queue with the controller's measurements. The caller must
    /// then create the queue, of kind `sluice` and with handle [`Slot::handle`].
    ///
    /// `now` is the kernel's monotonic clock, here and in all other functions.
    ///
    /// # Errors
    /// All slots are in use.
    pub fn free_slot(&self, mechanism: Mechanism, measures: Measures, now: Instant) -> Result<Slot, Error> {
        for number in 0..QUEUES {
            if read_measured(&self.measured, number)?.interface == 0 {
                let mut slot = self.slot(number, mechanism, measures, now)?;
                self.share(&mut slot, None)?;
                return Ok(slot);
            }
        }
        Err(Taken::Slots { most: QUEUES }.into())
    }

    /// Takes over the queue with this handle, and applies other settings.
    ///
    /// # Errors
    /// The handle does not belong to Sluice.
    pub fn take_over(
        &self,
        handle: u32,
        mechanism: Mechanism,
        measures: Measures,
        now: Instant,
    ) -> Result<Slot, Error> {
        match (handle >> 16).checked_sub(FIRST) {
            Some(number) if number < QUEUES => self.slot(number, mechanism, measures, now),
            _ => Err(Unfit::Handle { handle, kind: KIND }.into()),
        }
    }

    fn slot(&self, number: u32, mechanism: Mechanism, measures: Measures, now: Instant) -> Result<Slot, Error> {
        let copy = |map: &MapHandle| MapHandle::try_from(map).map_err(|error| refused("find", &error));
        Slot::take(number, mechanism, measures, now, copy(&self.settings)?, copy(&self.measured)?)
    }

    /// Makes a queue that is not created yet share its credit with queues of the same phy; `None`: it has no phy. The
    /// caller keeps other agents away meanwhile.
    ///
    /// # Errors
    /// The BPF maps of the discipline cannot be read or written.
    pub fn share(&self, slot: &mut Slot, phy: Option<u32>) -> Result<(), Error> {
        let phy = phy.map_or(0, |phy| u64::from(phy) + 1);
        let mut taken = [false; QUEUES as usize];
        for number in 0..QUEUES {
            if number == slot.number() || read_measured(&self.measured, number)?.interface == 0 {
                continue;
            }
            let settings = self.settings.lookup(&number.to_ne_bytes(), MapFlags::ANY);
            let settings = settings.map_err(|error| refused("read", &error))?;
            let other = settings.as_deref().and_then(Settings::from_bytes).unwrap_or_default();
            if phy != 0 && other.phy == phy {
                return slot.belongs_to(other.radio, phy);
            }
            if let Some(taken) = usize::try_from(other.radio).ok().and_then(|radio| taken.get_mut(radio)) {
                *taken = true;
            }
        }
        // The other queues need at most one radio each, so one is free.
        let free = (0..).zip(taken).find_map(|(radio, taken)| (!taken).then_some(radio));
        slot.belongs_to(free.unwrap_or_default(), phy)
    }

    /// Releases this queue's packets by credit from now on, because its device never pushes back. Without `credit` the
    /// device takes packets without a bound. Waiting packets stay.
    ///
    /// # Errors
    /// The kernel does not report when packets are freed: it was built without tracepoints for BPF.
    pub fn release_by(&self, slot: &mut Slot, credit: Option<Credit>) -> Result<(), Error> {
        if credit.is_some() {
            completions::watch(&self.folder)?;
        }
        slot.set_credit(credit)
    }

    /// True if the queue with this handle has this discipline, with or without stations.
    pub(super) fn has_order(&self, handle: u32, order: Order) -> bool {
        let number = (handle >> 16).wrapping_sub(FIRST);
        let seen = if number < QUEUES { read_measured(&self.measured, number).ok() } else { None };
        seen.is_some_and(|seen| seen.discipline == order.number())
    }

    /// Opens the stations of an interface whose queue has turns.
    pub(super) fn stations(&self, slot: &Slot, interface: u32) -> Result<Stations, Error> {
        let map = MapHandle::from_pinned_path(self.folder.join(STATIONS_MAP));
        Stations::open(interface, map.map_err(|error| refused("find", &error))?, slot.number())
    }

    /// Marks real-time packets before they reach this queue, as its orders say; `None`: no packet is marked.
    /// `interface` is the number of the queue's interface.
    ///
    /// # Errors
    /// The kernel is older than 6.6 and has no programs at that point.
    pub fn mark(&self, slot: &Slot, interface: Option<u32>) -> Result<(), Error> {
        match interface {
            Some(interface) => marking::watch(&self.folder, slot.number(), interface),
            None => marking::forget(&self.folder, slot.number()).map_err(Error::kernel("end the marking of packets")),
        }
    }

    /// True if the discipline serves no interface.
    ///
    /// # Errors
    /// The BPF maps of the discipline cannot be read.
    pub fn is_unused(&self) -> Result<bool, Error> {
        for number in 0..QUEUES {
            if read_measured(&self.measured, number)?.interface != 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Unloads the discipline. Installed queues still pass packets, under their fall-back limit.
    ///
    /// # Errors
    /// The folder cannot be removed.
    pub fn unload(self) -> Result<(), Error> {
        take_away(&self.folder)
    }
}
