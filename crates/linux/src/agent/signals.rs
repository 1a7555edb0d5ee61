//! Signals of the agent.

use crate::error::Error;
use crate::kernel::descriptor_of;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// All signals that would end the agent before it has restored anything. The signals are blocked for this thread and
/// the threads that it starts, and read by [`govern`](crate::agent::govern::govern).
#[derive(Debug)]
pub struct Signals {
    read: SignalFd,
    taken: SigSet,
}

/// Meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Read the settings again.
    Reload,
    /// End.
    End,
    /// No action: a file has reached its largest size, which the write reports.
    Nothing,
}

/// Signals that end no process by default: of children, of the terminal, and stops, which an agent survives.
const HARMLESS: [Signal; 7] = [
    Signal::SIGCHLD,
    Signal::SIGCONT,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
    Signal::SIGURG,
    Signal::SIGWINCH,
];

impl Signals {
    /// Takes over every signal that can be caught and would end the process, real-time signals too. Call it before any
    /// change, so that no signal arrives between a change and its undoing. A fault of this program (SIGSEGV and the
    /// like) still ends it at once; the same signal from another process is an end like others.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn take_over() -> Result<Self, Error> {
        let mut taken = SigSet::all();
        for signal in HARMLESS {
            taken.remove(signal);
        }
        let failed = Error::kernel("take over signals");
        taken.thread_block().map_err(failed)?;
        let read = SignalFd::with_flags(&taken, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map_err(failed)?;
        Ok(Self { read, taken })
    }

    /// True if a signal waits to be read. Errors: the kernel refuses.
    pub(crate) fn has_come(&self) -> Result<bool, Error> {
        let mut ready = [PollFd::new(&self.read, PollFlags::IN)];
        let polled = poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        polled.map(|ready| ready > 0).map_err(Error::kernel("read a signal"))
    }

    /// Returns the meaning of the next signal, if one has arrived.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&self) -> Result<Option<Told>, Error> {
        let failed = Error::kernel("read a signal");
        let told = self.read.read_signal().map_err(failed)?;
        Ok(told.map(|told| match Signal::try_from(told.ssi_signo.cast_signed()) {
            Ok(Signal::SIGHUP) => Told::Reload,
            Ok(Signal::SIGXFSZ | Signal::SIGPIPE) => Told::Nothing,
            // Those without a name are real-time signals.
            _ => Told::End,
        }))
    }
}

// Readable when a signal has come.
descriptor_of!(Signals, read);

/// Lets signals end the process again: everything is restored, and the rest of the output may wait for a reader.
impl Drop for Signals {
    fn drop(&mut self) {
        while let Ok(Some(_)) = self.read() {}
        let _ = self.taken.thread_unblock();
    }
}
