//! Ends a governed queue from outside: ends its agent, or does the work of one that was killed.

use crate::device::claim::put_back;
use crate::device::state::{AgentProcess, State, agent_at, detach_command, other_places};
use crate::device::wish::{Place, shown_place};
use crate::error::{Error, Taken};
use crate::kernel::rtnetlink::Route;
use crate::telemetry::ask;
use rustix::io::Errno;
use std::path::Path;
use units::Duration;

/// Longest time that an agent may take to restore the former queue.
const PATIENCE: Duration = Duration::from_secs(3);

/// Restores the former queue of a place: ends the agent that governs it, or does the work of one that was killed.
/// Returns whether there was anything to do.
///
/// # Errors
/// There is no such interface, the privilege is missing, the agent does not end, or the former queue cannot be
/// restored.
pub fn detach(place: &Place) -> Result<bool, Error> {
    let Place { device, parent, state_folder } = place;
    ask::forget_killed(state_folder);
    if let Some(agent) = agent_at(state_folder, device, *parent)? {
        return end(agent, state_folder, device, *parent).map(|()| true);
    }
    if restore_left(state_folder, device, *parent)? {
        return Ok(true);
    }
    if let [other, ..] = other_places(state_folder, device, *parent)?[..] {
        let (here, there) = (shown_place(*parent), shown_place(other));
        let (device, detach) = (device.clone(), detach_command(device, other));
        return Err(Taken::Elsewhere { device, here, there, detach }.into());
    }
    // An interface that is gone may have been governed, and has been cleaned up; a name that nothing has is a mistake.
    Route::open()?.link(device).map(|_| false)
}

fn end(agent: AgentProcess, folder: &Path, device: &str, parent: u32) -> Result<(), Error> {
    let what = format!("end process {}, which governs {device}", agent.process);
    match agent.terminate() {
        Ok(()) => {}
        Err(Errno::PERM) => return Err(Error::NotPermitted { what, needs: "its user or CAP_KILL" }),
        Err(errno) => return Err(Error::Kernel { what, source: errno.into() }),
    }
    let pause = rustix::time::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    for _ in 0..PATIENCE.as_nanos() / 10_000_000 {
        if agent_at(folder, device, parent)?.is_none() {
            return Ok(());
        }
        // If a signal cuts the pause short, it is only shorter.
        let _ = rustix::thread::nanosleep(&pause);
    }
    Err(Taken::Stays { process: agent.process, device: device.into(), waited: PATIENCE }.into())
}

/// Restores what a killed agent left. Returns whether there was anything.
fn restore_left(folder: &Path, device: &str, parent: u32) -> Result<bool, Error> {
    let left = State::left(folder, device, parent)?;
    let is_left = left.is_some();
    if let Some((state, left)) = left {
        put_back(&state, &left.former, &mut Route::open()?)?;
        state.forget()?;
    }
    #[cfg(feature = "bpf")]
    crate::device::bpf::Discipline::unload_unused(Path::new(crate::device::bpf::FOLDER))?;
    Ok(is_left)
}
