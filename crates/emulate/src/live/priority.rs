//! Real-time priority of the process that paces the network.

use nix::libc;
use std::io;

/// Lowest of the priorities in use: above all normal processes, below the kernel's threads.
const PRIORITY: libc::c_int = 10;

/// Gives this process real-time priority (`SCHED_FIFO`). Its children inherit the priority.
///
/// # Errors
/// The kernel refuses the priority, for example without `CAP_SYS_NICE` or a limit for it (`ulimit -r`).
pub fn raise() -> io::Result<()> {
    set(libc::SCHED_FIFO)
}

/// If this process has real-time priority, keeps it from threads and processes that it starts from now on. A command
/// that computes without end must not stop the machine.
pub(super) fn keep() {
    // SAFETY: the call reads the scheduling policy of this thread and nothing else.
    #[expect(unsafe_code, reason = "no crate of ours has a safe call")]
    let policy = unsafe { libc::sched_getscheduler(0) };
    if policy == libc::SCHED_FIFO {
        // A reset of the priority on fork is always permitted.
        let _ = set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK);
    }
}

fn set(policy: libc::c_int) -> io::Result<()> {
    let priority = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the kernel reads the structure, and keeps no pointer.
    #[expect(unsafe_code, reason = "no crate of ours has a safe call")]
    let done = unsafe { libc::sched_setscheduler(0, policy, &raw const priority) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
