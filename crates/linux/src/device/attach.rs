//! Chooses the device that serves a queue, and says why not another.

use crate::device::contract::Device;
use crate::device::driver::{self, Idle};
use crate::device::fifo::{Fifo, Kind};
use crate::device::looks::Looks;
use crate::device::observed::Observed;
use crate::device::txq::{self, Txq};
use crate::device::wish::{Backend, Start, Wish};
use crate::error::{Error, Unfit, Unforced};
use crate::kernel::rtnetlink::ROOT;

/// A queue that was taken up.
pub struct Attached {
    /// Device that measures, limits and restores the queue.
    pub device: Box<dyn Device>,
    /// Remarks for the user: that nothing ever waits in the queue, and why a better device is not possible.
    pub remarks: Vec<String>,
}

/// Takes up a queue. [`Backend::Auto`] tries Sluice's own discipline first, then the queues of mac80211 if it holds the
/// interface's packets, else the kernel's FIFO.
///
/// # Errors
/// There is no such interface, the privilege is missing, the device cannot hold the settings, another agent is there,
/// or (unless forced) the former queue could not be restored or nothing ever waits in the queue.
pub fn attach(wish: &Wish, start: &Start, looks: &Looks) -> Result<Attached, Error> {
    let mut attached = choose(wish, start, looks)?;
    if let Some(segments) = wish.gso_segments {
        attached.device.limit_segments(segments.get())?;
    }
    Ok(attached)
}

fn choose(wish: &Wish, start: &Start, looks: &Looks) -> Result<Attached, Error> {
    let Wish { place, settings, backend, dry_run, force, gso_segments: _, classes, notes: _ } = wish;
    let idle = driver::idle(place)?;
    if *classes && (*dry_run || matches!(backend, Backend::Fifo | Backend::Txq)) {
        return Err(Unfit::Classes.into());
    }
    if *dry_run {
        let remarks = idle.into_iter().map(|idle| idle.why).collect();
        return Ok(Attached { device: Box::new(Observed::new(place, start, looks)?), remarks });
    }
    let own = in_vain(idle.as_ref().filter(|idle| !idle.but_by_credit), *force)?;
    let better = match backend {
        Backend::Fifo => None,
        Backend::Bpf => return Ok(Attached { device: bpf(wish, start)?, remarks: own }),
        Backend::Txq => return Ok(Attached { device: txq(wish, start)?, remarks: Vec::new() }),
        Backend::Auto => match bpf(wish, start) {
            Ok(device) => return Ok(Attached { device, remarks: own }),
            Err(error) if *classes => return Err(error),
            Err(error) => Some(format!("not by our own BPF discipline: {error}")),
        },
    };
    if *backend == Backend::Auto && place.parent == ROOT && txq::holds(&place.device)? {
        return Ok(Attached { device: txq(wish, start)?, remarks: better.into_iter().collect() });
    }
    let mut remarks = in_vain(idle.as_ref(), *force)?;
    remarks.extend(better);
    Ok(Attached { device: Box::new(Fifo::attach(place, Kind::of(settings)?, start, looks, *force)?), remarks })
}

/// Takes up a queue in which nothing ever waits only if it is `force`d, and then returns that remark. If a user's queue
/// would be lost, the device refuses and says that instead.
fn in_vain(idle: Option<&Idle>, force: bool) -> Result<Vec<String>, Error> {
    match idle {
        Some(idle) if !force && !idle.is_precious => Err(Unforced::Idle { why: idle.why.clone() }.into()),
        idle => Ok(idle.map(|idle| idle.why.clone()).into_iter().collect()),
    }
}

fn txq(wish: &Wish, start: &Start) -> Result<Box<dyn Device>, Error> {
    // mac80211 has its own order and its own choice of drops.
    Kind::of(&wish.settings)?;
    Ok(Box::new(Txq::attach(&wish.place, start)?))
}

#[cfg(feature = "bpf")]
fn bpf(wish: &Wish, start: &Start) -> Result<Box<dyn Device>, Error> {
    let device = crate::device::bpf::Governed::attach(
        &wish.place,
        crate::device::bpf::Mechanism::of(&wish.settings)?,
        start,
        wish.force,
    )?;
    Ok(Box::new(device))
}

#[cfg(not(feature = "bpf"))]
fn bpf(_: &Wish, _: &Start) -> Result<Box<dyn Device>, Error> {
    Err(crate::error::Unsupported::BuildWithoutBpf.into())
}
