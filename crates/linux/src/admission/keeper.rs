//! A process that outlives `sluice admit` for as long as processes of its command live. These processes inherited the
//! filter, and can open no sockets unless a process answers its requests.

use crate::admission::filter::{let_through, receive};
use crate::error::Error;
use nix::libc;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

/// Lowest number of the descriptors that the keeper keeps. It closes all lower ones, because a program that waits for
/// the end of a pipe must not wait for the keeper.
const KEPT: i32 = 100;

/// Holds the keeper back. The keeper begins its work when this value is dropped or this process ends.
#[derive(Debug)]
pub(super) struct Keeper {
    _alive: std::io::PipeWriter,
}

impl Keeper {
    /// Starts the keeper, which answers a filter's requests. Call it in a thread without the filter. Errors: the kernel
    /// gives no process or no descriptors.
    pub(super) fn start(listener: &OwnedFd) -> Result<Self, Error> {
        let failed = Error::kernel("start a process");
        let (ended, alive) = std::io::pipe().map_err(failed)?;
        // SAFETY: the other threads of this process are parked and hold no lock. The child calls nothing of Rust's that
        // needs another thread, and never returns.
        #[expect(unsafe_code, reason = "there is no program to execute")]
        match unsafe { libc::fork() } {
            -1 => Err(failed(std::io::Error::last_os_error())),
            0 => {
                let kept = fcntl_dupfd_cloexec(&ended, KEPT).and_then(|ended| {
                    let listener = fcntl_dupfd_cloexec(listener, KEPT)?;
                    leave(ended.as_raw_fd(), listener.as_raw_fd())?;
                    keep(&ended, &listener)
                });
                // SAFETY: it only ends the process, and skips the exit handlers of the parent.
                unsafe { libc::_exit(i32::from(kept.is_err())) }
            }
            _ => Ok(Self { _alive: alive }),
        }
    }
}

/// Releases everything that a user may need or wait for: the terminal, its signals, the folder, and all files.
fn leave(ended: i32, listener: i32) -> Result<(), Errno> {
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    drop(nothing);
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
    let _ = nix::sys::signal::SigSet::empty().thread_set_mask();
    let (first, second) = (ended.min(listener), ended.max(listener));
    for (from, to) in [(3, first - 1), (first + 1, second - 1), (second + 1, i32::MAX)] {
        if from <= to {
            // SAFETY: this process no longer uses these descriptors.
            #[expect(unsafe_code, reason = "no crate of ours closes descriptors that it does not own")]
            unsafe {
                libc::syscall(libc::SYS_close_range, from, to, 0);
            }
        }
    }
    Ok(())
}

/// Waits for the end of the supervising process, then lets all requests through until no process remains.
fn keep(ended: &OwnedFd, listener: &OwnedFd) -> Result<(), Errno> {
    let wait = |of: &OwnedFd| loop {
        let mut polled = [PollFd::from_borrowed_fd(of.as_fd(), PollFlags::IN)];
        match poll(&mut polled, None) {
            Ok(_) => return Ok(polled[0].revents()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    };
    wait(ended)?;
    while !wait(listener)?.contains(PollFlags::HUP) {
        if let Some(wanted) = receive(listener)? {
            let_through(listener, &wanted);
        }
    }
    Ok(())
}
