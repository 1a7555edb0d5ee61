//! Ends a governed queue from outside: ends its agent, or restores the queue that a killed agent left.

use crate::device::claim::put_back;
use crate::device::former::Former;
use crate::device::lock::FileLock;
use crate::device::state::{AgentProcess, State, agent_at, detach_command, other_name, other_place};
use crate::device::wish::{Place, shown_place};
use crate::error::{Error, Taken};
use crate::kernel::Patience;
use crate::kernel::nl80211::Wireless;
use crate::kernel::rtnetlink::Route;
use crate::telemetry::ask;
use std::path::Path;
use units::Duration;

/// Longest time that an agent may take to restore the former queue.
const LONGEST: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(10);

/// What `detach` restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The former queue.
    Queue,
    /// The settings of mac80211's scheduler.
    Settings,
}

impl Restored {
    fn of(former: &Former) -> Self {
        if former.phy().is_some() { Self::Settings } else { Self::Queue }
    }
}

/// Restores the former queue of an attachment point: ends the agent that governs it, or restores what a killed agent
/// left. Returns what was restored; `None` if there was nothing to restore.
///
/// # Errors
/// There is no such interface, the privilege is missing, the agent does not end, or the queue cannot be restored.
pub fn detach(place: &Place) -> Result<Option<Restored>, Error> {
    let Place { device, parent, state_folder } = place;
    ask::forget_killed(state_folder);
    if let Some(agent) = agent_at(state_folder, device, *parent)? {
        let restored = if agent.has_phy { Restored::Settings } else { Restored::Queue };
        return end(agent, state_folder, device, *parent).map(|()| Some(restored));
    }
    if let Some(restored) = restore_left(state_folder, device, *parent)? {
        return Ok(Some(restored));
    }
    if let Some(other) = other_place(state_folder, device, *parent)? {
        let (here, there) = (shown_place(*parent), shown_place(other));
        let (device, detach) = (device.clone(), detach_command(device, other));
        return Err(Taken::Elsewhere { device, here, there, detach }.into());
    }
    // An interface that is gone may have been governed and cleaned up. A name that no interface has is a mistake.
    let index = Route::open()?.link(device)?.index;
    let before = other_name(place, |former| former.index == index)?;
    before.map_or(Ok(None), |before| restore_left(state_folder, &before, *parent))
}

fn end(agent: AgentProcess, folder: &Path, device: &str, parent: u32) -> Result<(), Error> {
    let what = format!("end process {}, which governs {device}", agent.process);
    agent.terminate().map_err(Error::refused(&what, "its user or CAP_KILL"))?;
    let patience = Patience::new(LONGEST, PAUSE);
    loop {
        if agent_at(folder, device, parent)?.is_none() {
            return Ok(());
        }
        if !patience.lasts() {
            return Err(Taken::Stays { process: agent.process, device: device.into(), waited: LONGEST }.into());
        }
    }
}

/// Removes the lock of a phy if an agent was killed before it recorded any state.
fn forget_lock(folder: &Path, device: &str) {
    if let Ok(link) = Route::open().and_then(|mut route| route.link(device))
        && let Ok(Some(phy)) = Wireless::open().and_then(|mut wireless| wireless.phy_of(link.index))
    {
        FileLock::forget(folder, phy.number);
    }
}

/// Restores what a killed agent left, and returns what was restored; `None` if nothing was left.
pub(super) fn restore_left(folder: &Path, device: &str, parent: u32) -> Result<Option<Restored>, Error> {
    let left = State::left(folder, device, parent)?;
    forget_lock(folder, device);
    let restored = left.as_ref().map(|(_, left)| Restored::of(&left.former));
    if let Some((state, left)) = left {
        put_back(&state, &left.former, &mut Route::open()?)?;
        state.forget()?;
    }
    #[cfg(feature = "bpf")]
    crate::device::bpf::Discipline::unload_unused(Path::new(crate::device::bpf::FOLDER))
        .map_err(|source| Error::Remains { source: source.into() })?;
    Ok(restored)
}
