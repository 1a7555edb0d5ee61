//! When an agent works, what wakes it, and what stands in its way.

use crate::device::contract::{Device, Error};
use control::{AnyController, Controller as _, Lacking, Sets};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::time::{ClockId, clock_gettime};
use std::os::fd::{AsFd, BorrowedFd};
use units::{Duration, Instant};

/// How often what goes on is told where the controller never needs to be called.
const WITHOUT_CONTROLLER: Duration = Duration::from_secs(1);
/// Looks in an interval, where a queue must be looked at.
const LOOKS: u64 = 16;

/// The time since the machine started, without the time that it slept: a suspended machine sees no long interval.
pub fn now() -> Instant {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    Instant::from_nanos(seconds * 1_000_000_000 + nanos)
}

/// Time between two calls of the controller.
pub fn interval(controller: &AnyController) -> Duration {
    let interval = controller.needs().interval;
    if interval == Duration::MAX { WITHOUT_CONTROLLER } else { interval }
}

/// Time between two looks at a queue that is measured by looking: a sixteenth of the controller's interval, from 10 to
/// 50 ms. To wake up and look costs some 60 µs, nearly all of it the kernel's and hardly more with many queues: a hundred
/// a second take about half a percent of a core.
pub fn look_every(controller: &AnyController) -> Duration {
    let part = Duration::from_nanos(interval(controller).as_nanos() / LOOKS);
    part.clamp(Duration::from_millis(10), Duration::from_millis(50))
}

/// Why a controller cannot work with a device, if so: it needs what is not measured there, or orders what is not possible.
pub fn obstacle(controller: &AnyController, device: &dyn Device) -> Option<String> {
    let able = device.capabilities();
    let (name, kind) = (controller.name(), able.kind);
    Some(match controller.needs().obstacle(able.reads(), Sets::LIMIT)? {
        Lacking::Reading(what) => format!("{name} needs the {what}, which {kind} cannot measure"),
        Lacking::Setting(what) => format!("{name} orders a {what}, which {kind} cannot carry out"),
    })
}

/// The signals that end the agent, blocked for this thread and those that it starts, so that they come to
/// [`govern`](crate::agent::govern::govern).
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Takes over SIGINT, SIGTERM, SIGQUIT and SIGHUP. Before anything is changed: a signal must not come between a change and
    /// its undoing.
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

    /// The signal that has come, if one has.
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
