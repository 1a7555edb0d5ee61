//! What the agent asks of an interface, whatever holds its queue.

use crate::device::wish::{Start, Wish};
use crate::error::{Error, Unfit};
use control::{Interval, Orders, Radio, Reads, Sets};
use units::{Bytes, Duration, Instant};

/// A controller of a live queue is called at least so often: by that a device knows that its agent lives.
pub(crate) const LONGEST_INTERVAL: Duration = Duration::from_secs(2);

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

    /// What was measured beside the queue, in the interval that [`take_interval`](Self::take_interval) ended last.
    fn beside(&self) -> Beside {
        Beside::default()
    }

    /// Carries out orders, which hold from now on. What waits above a lower limit goes only where [`Capabilities::purges`]
    /// says so.
    ///
    /// # Errors
    /// As [`take_interval`](Self::take_interval); an order that is not among [`Capabilities::sets`], and then none of them is
    /// carried out; a limit in a unit that the device cannot hold.
    fn apply(&mut self, orders: &Orders) -> Result<(), Error>;

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
    /// As [`apply`](Self::apply).
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

/// What a device measures beside the queue of its controller. Zero or absent where it does not;
/// [`Capabilities::reads`] says which.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    /// As [`Radio::late`]: packets whose MAC delay was longer than the controller asked to be told of.
    pub late: u64,
    /// As [`Radio::real_time`], of what leaves by this interface: others are not heard.
    pub real_time: Bytes,
    /// As [`Radio::real_time_new`], likewise.
    pub real_time_new: Bytes,
    /// As [`Radio::hops`], of what came to the queue, as far as packets show it.
    pub hops: u8,
    /// By the queue of real time, where there is one.
    pub class: Option<Interval>,
}

impl Beside {
    /// What a controller sees of it, with what the radio itself told.
    pub(crate) fn radio(&self, told: Option<Radio>) -> Radio {
        let Self { late, real_time, real_time_new, hops, class: _ } = *self;
        Radio { late, real_time, real_time_new, hops, ..told.unwrap_or_default() }
    }
}

/// What a device needs while it is governed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keeps {
    /// No privilege: it only looks.
    Nothing,
    /// It changes queues through rtnetlink or nl80211.
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
    /// What a controller can look at here: measured or estimated.
    pub reads: Reads,
    /// Which of that is estimated, and how, in a few words.
    pub estimates: &'static [(Reads, &'static str)],
    /// Which orders the device can carry out.
    pub sets: Sets,
}

impl Capabilities {
    /// How well a quantity, one bit of [`Reads`], is known.
    pub fn quality(&self, of: Reads) -> Quality {
        match self.estimates.iter().find(|(reads, _)| reads.contains(of)) {
            _ if !self.reads.contains(of) => Quality::Absent,
            Some((_, how)) => Quality::Estimated(how),
            None => Quality::Measured,
        }
    }

    /// Refuses orders of which the device cannot carry out one.
    pub(crate) fn allow(&self, orders: &Orders) -> Result<(), Error> {
        match orders.kinds().without(self.sets).next() {
            None => Ok(()),
            Some(order) => Err(Unfit::Order { kind: self.kind, order }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Limit;
    use units::Rate;

    const FIFO: Capabilities = Capabilities {
        kind: "pfifo",
        purges: false,
        look_every: None,
        reads: Reads::COUNTS.and(Reads::SOJOURN),
        estimates: &[(Reads::SOJOURN.and(Reads::GAP), "Little's law")],
        sets: Sets::LIMIT,
    };

    #[test]
    fn a_quantity_is_measured_estimated_or_absent() {
        assert_eq!(FIFO.quality(Reads::COUNTS), Quality::Measured);
        assert_eq!(FIFO.quality(Reads::SOJOURN), Quality::Estimated("Little's law"));
        assert_eq!(FIFO.quality(Reads::GAP), Quality::Absent, "it is not read, however it would be estimated");
    }

    #[test]
    fn an_order_that_cannot_be_carried_out_is_refused_by_name() {
        let limit = Orders::from(Limit::Packets(9));
        FIFO.allow(&limit).unwrap();
        let refused = FIFO.allow(&Orders { rate: Some(Rate::mbps(1)), ..limit }).unwrap_err().to_string();
        assert_eq!(refused, "pfifo cannot carry out an order of a sending rate");
    }
}
