//! What the agent asks of an interface, whatever holds its queue.

use crate::device::wish::{Start, Wish};
use crate::error::Error;
use control::{Interval, Limit, Reads};
use units::{Duration, Instant};

/// An interface whose queue is measured and limited.
pub trait Device {
    /// The interface, as `ip link` calls it.
    fn name(&self) -> &str;

    /// What was measured since the last call, or since the device was made. What the device cannot measure is zero or
    /// absent; [`capabilities`](Self::capabilities) says which.
    ///
    /// # Errors
    /// The interface is gone, or its queue is no longer the one that was installed.
    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error>;

    /// Moves the limit. What waits above a lower one goes only where [`Capabilities::purges`] says so.
    ///
    /// # Errors
    /// As [`take_interval`](Self::take_interval); and a limit in a unit that the device cannot hold.
    fn set_limit(&mut self, limit: Limit) -> Result<(), Error>;

    /// Puts the former queue back. Does nothing where it is back already.
    ///
    /// # Errors
    /// The former queue cannot be put back, or what the kernel made of it differs.
    fn restore(&mut self) -> Result<(), Error>;

    /// What the device can measure and do. Constant over its life.
    fn capabilities(&self) -> Capabilities;

    /// What it needs of the process's powers from now on until it is back.
    fn keeps(&self) -> Keeps {
        Keeps::Queues
    }

    /// Packets of the interface hold at most so many segments (GSO) until [`restore`](Self::restore), so that a limit in
    /// packets counts what the link carries. A device that changes nothing does nothing.
    ///
    /// # Errors
    /// The kernel refuses.
    fn limit_segments(&mut self, segments: u32) -> Result<(), Error> {
        let _ = segments;
        Ok(())
    }

    /// Takes other settings over and touches no packet that waits; `start` as for a new device. False where that cannot be
    /// done: then the queue must be made anew, and what waits is lost.
    ///
    /// # Errors
    /// As [`set_limit`](Self::set_limit).
    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        let _ = (wish, start);
        Ok(false)
    }

    /// Looks at a queue that is only seen by looking, see [`Capabilities::look_every`].
    ///
    /// # Errors
    /// As [`take_interval`](Self::take_interval).
    fn look(&mut self, now: Instant) -> Result<(), Error> {
        let _ = now;
        Ok(())
    }
}

/// What a device needs while it is governed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keeps {
    /// It only looks.
    Nothing,
    /// It changes queues.
    Queues,
    /// It also loads and reads BPF programs.
    QueuesAndBpf,
}

impl Keeps {
    /// What an agent needs that may take up any queue later.
    pub(crate) const fn most() -> Self {
        if cfg!(feature = "bpf") { Self::QueuesAndBpf } else { Self::Queues }
    }
}

/// How well a device knows a quantity of [`Interval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Counted or timed, a packet at a time.
    Measured,
    /// Computed from counters that were read now and then; how, in a few words.
    Estimated(&'static str),
    /// Not known: zero or absent in every interval.
    Absent,
}

/// What a device can measure and do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What holds the packets, as `tc qdisc` calls it: `pfifo_head_drop`, `sluice`.
    pub kind: &'static str,
    /// Whether packets above a lowered limit are discarded at once. Otherwise they leave as the link takes them.
    pub purges: bool,
    /// How often [`Device::look`] must be called for estimates to hold; absent where packets are measured one at a time.
    pub look_every: Option<Duration>,
    /// Of [`Interval::arrived`], `sent`, `dropped` and `backlog`.
    pub counts: Quality,
    /// Of [`Interval::sojourn`].
    pub sojourn: Quality,
    /// Of [`Interval::departure_gap`].
    pub departure_gap: Quality,
    /// Of [`Interval::service`] and [`Interval::nodal`].
    pub service: Quality,
    /// Of [`Interval::service_ewma`].
    pub service_ewma: Quality,
    /// Of [`Interval::idle`] and [`Interval::busy`].
    pub occupancy: Quality,
}

impl Capabilities {
    /// What a controller can look at here.
    pub fn reads(&self) -> Reads {
        let known = [
            (Reads::COUNTS, self.counts),
            (Reads::SOJOURN, self.sojourn),
            (Reads::GAP, self.departure_gap),
            (Reads::SERVICE, self.service),
            (Reads::AVERAGE, self.service_ewma),
            (Reads::OCCUPANCY, self.occupancy),
        ];
        let known = known.into_iter().filter(|(_, quality)| *quality != Quality::Absent);
        known.fold(Reads::NONE, |all, (reads, _)| all.and(reads))
    }
}
