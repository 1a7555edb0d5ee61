//! One descriptor for all that the agent waits for: deadlines, signals, interface changes, clients and messages.

use crate::error::Error;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::os::fd::{AsFd, OwnedFd};
use units::Instant;

/// What can wake the agent; several can do so at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Timer,
    Signals,
    Links,
    Clients,
    Admission,
    Notes,
}

pub(super) struct Wakes {
    epoll: OwnedFd,
    timer: OwnedFd,
    until: Instant,
    events: Vec<epoll::Event>,
}

impl Wakes {
    pub(super) fn new(signals: impl AsFd, links: impl AsFd) -> Result<Self, Error> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(failed)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        // With edge triggering the timer need not be read: it is set anew each time.
        let once = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(Source::Timer as u64), once).map_err(failed)?;
        let new = Self { epoll, timer, until: Instant::ZERO, events: Vec::with_capacity(8) };
        new.add(signals, Source::Signals)?;
        new.add(links, Source::Links)?;
        Ok(new)
    }

    /// Adds a descriptor until it is closed.
    pub(super) fn add(&self, at: impl AsFd, source: Source) -> Result<(), Error> {
        epoll::add(&self.epoll, at, EventData::new_u64(source as u64), EventFlags::IN).map_err(failed)
    }

    /// Waits until an instant, or until a source wakes the agent.
    pub(super) fn wait(&mut self, until: Instant) -> Result<(), Error> {
        if until != self.until {
            self.set(until)?;
        }
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(failed(errno)),
        }
        if self.woke(Source::Timer) {
            // The timer has expired. It wakes the agent at the same instant again only if it is set again.
            self.until = Instant::ZERO;
        }
        Ok(())
    }

    /// True if this source ended the last wait.
    pub(super) fn woke(&self, source: Source) -> bool {
        self.events.iter().any(|event| event.data.u64() == source as u64)
    }

    fn set(&mut self, until: Instant) -> Result<(), Error> {
        // A past instant wakes at once, but zero would disarm the timer.
        let moment = std::time::Duration::from_nanos(until.as_nanos().max(1));
        let moment = Timespec::try_from(moment).expect("2^64 nanoseconds are fewer than 2^63 seconds");
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let spec = Itimerspec { it_interval: once, it_value: moment };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &spec).map_err(failed)?;
        self.until = until;
        Ok(())
    }
}

/// Returns the next multiple of `every` after `now`. Tasks with the same multiples wake the agent together.
pub(super) fn on_grid(now: Instant, every: units::Duration) -> Instant {
    let every = every.as_nanos().max(1);
    Instant::from_nanos((now.as_nanos() / every + 1).saturating_mul(every))
}

fn failed(errno: Errno) -> Error {
    Error::kernel("wait for the next interval")(errno)
}
