//! Namespaces for this program, which need no privilege where the kernel allows them.

use super::host::Host;
use super::priority;
use super::unavailable::{Unavailable, failed};
use linux::agent::signals::{Signals, Told};
use nix::sched::{CloneFlags, unshare};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{
    Pid, PidfdFlags, Signal, getgid, getuid, kill_process, pidfd_open, set_parent_process_death_signal,
};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::{env, fs, io};

/// Environment variable that marks a process within the namespaces. [`visit`](super::visit) reads the nodes' names from
/// it: the outer process, then the nodes, one per line.
pub(super) const INSIDE: &str = "SLUICE_EMULATE";

/// Proof that this process runs within its own namespaces. Holds the device that leads out of the namespaces, if any.
#[derive(Debug)]
pub struct Inside(pub(super) Option<Host>);

/// Checks whether [`again`] started this process, and prepares it: the process ends with its parent, and sees its own
/// processes in `/proc` if the kernel allows it.
///
/// # Errors
/// The system refuses.
pub fn inside() -> Result<Option<Inside>, Unavailable> {
    #[expect(clippy::disallowed_methods, reason = "the same program sets it for itself")]
    let told = env::var(INSIDE);
    let Ok(told) = told else { return Ok(None) };
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed("end with the parent process"))?;
    // The parent may have ended before this call, as a zombie that the old `/proc` still shows.
    let (parent, device) = told.lines().next().and_then(|line| line.split_once(' ')).unwrap_or_default();
    let parent = Path::new("/proc").join(parent);
    if has_ended(&fs::read_to_string(parent.join("stat")).unwrap_or_default()) {
        return Err(failed("find the parent process")(io::Error::from(io::ErrorKind::NotFound)));
    }
    let host = device.parse().ok().map(taken).transpose()?;
    priority::keep();
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", alone).map_err(failed("separate mounts"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // A container may hide parts of `/proc` and so refuse this. Most programs do not need it.
    let _ = mount("proc", "/proc", "proc", flags, None);
    Ok(Some(Inside(host)))
}

/// Takes the open device that [`again`] has left to this process. Commands do not inherit it.
fn taken(number: i32) -> Result<Host, Unavailable> {
    // SAFETY: the process that started this one has left the number open, and no other code uses it.
    #[expect(unsafe_code, reason = "an open file comes from another process by its number")]
    let device = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl_setfd(&device, FdFlags::CLOEXEC).map_err(failed("close a device on exec"))?;
    Ok(Host(device))
}

/// True if the process with this line in `/proc/PID/stat` has ended. Its name, in parentheses, may be anything.
fn has_ended(stat: &str) -> bool {
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    state.is_empty() || state.starts_with(['Z', 'X'])
}

/// Runs this program again with the same arguments, within its own namespaces for users, mounts, processes and the
/// network, and waits for its end. `nodes`: names of the real nodes. `host`: the device that leads out of the
/// namespaces. This process must have only one thread.
///
/// # Errors
/// The system refuses.
pub fn again(nodes: &[String], host: Option<Host>) -> Result<ExitStatus, Unavailable> {
    let signals = Signals::take_over().map_err(|error| failed("catch signals")(io::Error::other(error)))?;
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let own = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNET;
    unshare(own).map_err(|errno| Unavailable::Namespaces(errno.into()))?;
    let write =
        |file: &str, text: String| fs::write(Path::new("/proc/self").join(file), text).map_err(Unavailable::Namespaces);
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("0 {user} 1"))?;
    write("gid_map", format!("0 {group} 1"))?;
    let left = |Host(device): &Host| fcntl_setfd(device, FdFlags::empty()).map(|()| device.as_raw_fd().to_string());
    let device = host.as_ref().map(left).transpose().map_err(failed("keep a device open on exec"))?.unwrap_or_default();
    let told = format!("{} {device}\n{}", std::process::id(), nodes.join("\n"));
    let program = fs::read_link("/proc/self/exe").map_err(failed("find this program"))?;
    let mut child = Command::new(program)
        .args(env::args_os().skip(1))
        .env(INSIDE, told)
        .spawn()
        .map_err(failed("start this program again"))?;
    drop(host);
    let ended = watch(&child)?;
    loop {
        let mut fds = [PollFd::new(&ended, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled.map_err(failed("wait for a process"))?,
        };
        if !fds[0].revents().is_empty() {
            return child.wait().map_err(failed("wait for a process"));
        }
        while let Ok(Some(told)) = signals.read() {
            if told != Told::Nothing {
                let _ = kill_process(Pid::from_child(&child), Signal::TERM);
            }
        }
    }
}

/// Opens a descriptor that becomes readable when the process has ended.
pub(super) fn watch(child: &Child) -> Result<OwnedFd, Unavailable> {
    pidfd_open(Pid::from_child(child), PidfdFlags::empty()).map_err(failed("watch a process"))
}

/// Returns the exit status that a shell gives a process with this end.
pub fn status(ended: ExitStatus) -> i32 {
    ended.code().or_else(|| ended.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::has_ended;

    #[test]
    fn a_process_that_nobody_has_waited_for_has_ended() {
        let ended = ["", "12 (sluice) Z 1 12", "12 (sluice) X 1", "12 (a) R (b) Z 1"].map(has_ended);
        assert_eq!(ended, [true; 4]);
        assert_eq!(["12 (sluice) S 1 12", "12 (Z) Z) R 1"].map(has_ended), [false; 2]);
    }
}
