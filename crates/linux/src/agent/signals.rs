//! Signals of the agent.

use crate::error::Error;
use crate::kernel::descriptor_of;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// All signals that would end the agent before it has restored the former queues. They are blocked in this thread and
/// in threads that it starts; [`govern`](crate::agent::govern::govern) reads them.
#[derive(Debug)]
pub struct Signals {
    read: SignalFd,
    taken: SigSet,
}

/// What a signal asks the agent to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Read the settings again.
    Reload,
    /// End.
    End,
    /// No action: the signal says that a file has reached its largest size, but the failing write reports that too.
    Nothing,
}

/// Signals that an agent survives: of children, of the terminal, and stops.
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
    /// Blocks every signal that can be caught and would end the process, including real-time signals. Call it before
    /// any change, so that no signal arrives between a change and its undoing. A fault of this program (SIGSEGV and the
    /// like) still ends it at once; sent by another process, the same signal asks it to end.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn take_over() -> Result<Self, Error> {
        let mut taken = SigSet::all();
        for signal in HARMLESS {
            taken.remove(signal);
        }
        let failed = Error::kernel("catch signals");
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

    /// Returns what the next signal asks for, if one has arrived.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&self) -> Result<Option<Told>, Error> {
        let failed = Error::kernel("read a signal");
        let told = self.read.read_signal().map_err(failed)?;
        Ok(told.map(|told| match Signal::try_from(told.ssi_signo.cast_signed()) {
            Ok(Signal::SIGHUP) => Told::Reload,
            Ok(Signal::SIGXFSZ | Signal::SIGPIPE) => Told::Nothing,
            // Signals without a name are real-time signals.
            _ => Told::End,
        }))
    }
}

// The descriptor is readable when a signal has arrived.
descriptor_of!(Signals, read);

/// Lets signals end the process again: all is restored, and the remaining output may have to wait for a reader.
impl Drop for Signals {
    fn drop(&mut self) {
        while let Ok(Some(_)) = self.read() {}
        let _ = self.taken.thread_unblock();
    }
}
