//! Signals of the agent.

use crate::error::Error;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::os::fd::{AsFd, BorrowedFd};

/// The signals that end the agent. They are blocked for this thread and those that it starts, and read by
/// [`govern`](crate::agent::govern::govern).
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Takes over SIGINT, SIGTERM, SIGQUIT and SIGHUP. Call it before anything is changed, so that no signal comes
    /// between a change and its undoing.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn take_over() -> Result<Self, Error> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGHUP] {
            set.add(signal);
        }
        let failed = |errno: nix::Error| Error::Kernel { what: "take over signals".into(), source: errno.into() };
        set.thread_block().map_err(failed)?;
        SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map(Self).map_err(failed)
    }

    /// Returns the signal that has come, if any.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&self) -> Result<Option<Signal>, Error> {
        let failed = |errno: nix::Error| Error::Kernel { what: "read a signal".into(), source: errno.into() };
        let told = self.0.read_signal().map_err(failed)?;
        Ok(told.and_then(|told| Signal::try_from(told.ssi_signo.cast_signed()).ok()))
    }
}

/// Readable when a signal has come.
impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
