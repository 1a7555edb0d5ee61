//! One descriptor for everything that the agent waits for: deadlines, signals, interface changes, clients, messages of
//! other agents.

use crate::error::Error;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::os::fd::{AsFd, OwnedFd};
use units::Instant;

/// Sources that wake the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "several can be true at once")]
pub(super) struct Woken {
    pub(super) by_signal: bool,
    pub(super) by_links: bool,
    pub(super) by_clients: bool,
    pub(super) by_admission: bool,
    pub(super) by_notes: bool,
}

/// The epoll and its members.
pub(super) struct Wakes {
    epoll: OwnedFd,
    timer: OwnedFd,
    until: Instant,
    events: Vec<epoll::Event>,
}

impl Wakes {
    const TIMER: u64 = 0;
    const SIGNALS: u64 = 1;
    const LINKS: u64 = 2;
    const CLIENTS: u64 = 3;
    const ADMISSION: u64 = 4;
    const NOTES: u64 = 5;

    pub(super) fn new(signals: impl AsFd, links: impl AsFd) -> Result<Self, Error> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(failed)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        // Edge-triggered: the timer is set anew each time and need not be read.
        let once = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(Self::TIMER), once).map_err(failed)?;
        epoll::add(&epoll, signals, EventData::new_u64(Self::SIGNALS), EventFlags::IN).map_err(failed)?;
        epoll::add(&epoll, links, EventData::new_u64(Self::LINKS), EventFlags::IN).map_err(failed)?;
        Ok(Self { epoll, timer, until: Instant::ZERO, events: Vec::with_capacity(8) })
    }

    /// Adds a descriptor of clients, until it is closed.
    pub(super) fn add_clients(&self, of: impl AsFd) -> Result<(), Error> {
        epoll::add(&self.epoll, of, EventData::new_u64(Self::CLIENTS), EventFlags::IN).map_err(failed)
    }

    /// Adds a descriptor of admission.
    pub(super) fn add_admission(&self, at: impl AsFd) -> Result<(), Error> {
        epoll::add(&self.epoll, at, EventData::new_u64(Self::ADMISSION), EventFlags::IN).map_err(failed)
    }

    /// Adds a descriptor of notes.
    pub(super) fn add_notes(&self, at: impl AsFd) -> Result<(), Error> {
        epoll::add(&self.epoll, at, EventData::new_u64(Self::NOTES), EventFlags::IN).map_err(failed)
    }

    /// Waits until an instant, or until a source wakes the agent.
    pub(super) fn wait(&mut self, until: Instant) -> Result<Woken, Error> {
        if until != self.until {
            self.set(until)?;
        }
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(failed(errno)),
        }
        let has = |who: u64| self.events.iter().any(|event| event.data.u64() == who);
        if has(Self::TIMER) {
            // It has expired: the same instant wakes the agent again only if it is set again.
            self.until = Instant::ZERO;
        }
        Ok(Woken {
            by_signal: has(Self::SIGNALS),
            by_links: has(Self::LINKS),
            by_clients: has(Self::CLIENTS),
            by_admission: has(Self::ADMISSION),
            by_notes: has(Self::NOTES),
        })
    }

    fn set(&mut self, until: Instant) -> Result<(), Error> {
        // A time in the past wakes at once; zero would never wake.
        let moment = std::time::Duration::from_nanos(until.as_nanos().max(1));
        let moment = Timespec::try_from(moment).expect("2^64 nanoseconds are fewer than 2^63 seconds");
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let spec = Itimerspec { it_interval: once, it_value: moment };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &spec).map_err(failed)?;
        self.until = until;
        Ok(())
    }
}

/// Returns the next instant after `now` on a grid of `every`: tasks on one grid wake the agent together.
pub(super) fn on_grid(now: Instant, every: units::Duration) -> Instant {
    let every = every.as_nanos().max(1);
    Instant::from_nanos((now.as_nanos() / every + 1).saturating_mul(every))
}

fn failed(errno: Errno) -> Error {
    Error::Kernel { what: "wait for the next interval".into(), source: errno.into() }
}
