//! The agent's loop: one thread, one timer, one descriptor for signals. Nothing else wakes it.

use crate::device::{Device, Error, Quality};
use crate::recording::Decision;
use control::{Controller, Limit, LimitController as _, Name};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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
pub fn interval(controller: &Controller) -> Duration {
    controller.interval().min(WITHOUT_CONTROLLER)
}

/// Time between two looks at a queue that is measured by looking: a sixteenth of the controller's interval, from 1 to
/// 50 ms. A look costs some microseconds.
pub fn look_every(controller: &Controller) -> Duration {
    let part = Duration::from_nanos(interval(controller).as_nanos() / LOOKS);
    part.clamp(Duration::from_millis(1), Duration::from_millis(50))
}

/// Why a controller cannot work with a device, if so: it needs what is not measured there.
pub fn obstacle(name: Name, device: &dyn Device) -> Option<String> {
    let seen = device.capabilities();
    let (delay, gap) = (("queuing delay", seen.sojourn), ("time between departures", seen.departure_gap));
    let (service, idle) = (("average service time", seen.service_ewma), ("idle and busy time", seen.occupancy));
    let all = [("packets", seen.counts), delay, gap, service, idle, ("service time", seen.service)];
    let needed: &[(&str, Quality)] = match name {
        Name::None => &[],
        Name::Adth => &[all[0], delay, gap],
        Name::Ebdp => &[service],
        Name::Alt => &[idle],
        Name::Astar => &[service, idle],
        // A controller that is not known here may look at anything.
        #[allow(unreachable_patterns, reason = "there may be more controllers than these")]
        _ => &all,
    };
    let absent = needed.iter().find(|(_, quality)| *quality == Quality::Absent)?;
    Some(format!("{} needs the {}, which {} cannot measure", name.as_str(), absent.0, seen.kind))
}

/// The signals that end the agent, blocked for this thread and those that it starts, so that they come to [`govern`].
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Takes over SIGINT, SIGTERM and SIGHUP. Before anything is changed: a signal must not come between a change and
    /// its undoing.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn take_over() -> Result<Self, Error> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            set.add(signal);
        }
        let failed = |errno: nix::Error| Error::Kernel { what: "take over signals".into(), source: errno.into() };
        set.thread_block().map_err(failed)?;
        SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map(Self).map_err(failed)
    }
}

/// Readable when a signal has come.
impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Lets `controller` move the device's limit until a signal comes or `tell` breaks off, then puts the former queue back,
/// also after an error. `limit` is the one that the device begins with.
///
/// # Errors
/// Those of the device.
pub fn govern(
    device: &mut dyn Device,
    controller: &mut Controller,
    limit: Limit,
    signals: &Signals,
    tell: &mut dyn FnMut(&Decision) -> ControlFlow<()>,
) -> Result<(), Error> {
    let governed = run(device, controller, limit, signals, tell);
    let restored = device.restore();
    governed.and(restored)
}

fn run(
    device: &mut dyn Device,
    controller: &mut Controller,
    mut limit: Limit,
    signals: &Signals,
    tell: &mut dyn FnMut(&Decision) -> ControlFlow<()>,
) -> Result<(), Error> {
    let interval = interval(controller);
    let tick = device.capabilities().look_every.map_or(interval, |every| every.min(interval));
    let wakes = Wakes::new(tick, signals)?;
    let start = now();
    let mut next = Instant::from_nanos(start.as_nanos() + interval.as_nanos());
    while wakes.wait()? {
        let now = now();
        if now < next {
            device.look(now)?;
            continue;
        }
        next = Instant::from_nanos(now.as_nanos() + interval.as_nanos());
        let seen = device.take_interval(now)?;
        let decided = controller.update(&seen);
        if decided != limit {
            device.set_limit(decided)?;
            limit = decided;
        }
        if tell(&Decision { at: now.since(start), seen, limit }).is_break() {
            break;
        }
    }
    Ok(())
}

/// What the loop waits for.
struct Wakes {
    epoll: OwnedFd,
    timer: OwnedFd,
}

impl Wakes {
    const TIMER: u64 = 1;

    fn new(tick: Duration, signals: &Signals) -> Result<Self, Error> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)
            .map_err(failed)?;
        let seconds = i64::try_from(tick.as_nanos() / 1_000_000_000).expect("at most a second");
        let nanos = i64::try_from(tick.as_nanos() % 1_000_000_000).expect("less than a second");
        let period = Timespec { tv_sec: seconds, tv_nsec: nanos };
        let every = Itimerspec { it_interval: period, it_value: period };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &every).map_err(failed)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        let flags = epoll::EventFlags::IN;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(Self::TIMER), flags).map_err(failed)?;
        epoll::add(&epoll, &signals.0, epoll::EventData::new_u64(Self::TIMER + 1), flags).map_err(failed)?;
        Ok(Self { epoll, timer })
    }

    /// Waits; false when a signal asks for the end.
    fn wait(&self) -> Result<bool, Error> {
        let mut events = Vec::with_capacity(2);
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let mut expirations = [0; 8];
        match rustix::io::read(&self.timer, &mut expirations) {
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Err(failed(errno)),
        }
        Ok(events.iter().all(|event| event.data.u64() == Self::TIMER))
    }
}

fn failed(errno: Errno) -> Error {
    Error::Kernel { what: "wait for the next interval".into(), source: errno.into() }
}
