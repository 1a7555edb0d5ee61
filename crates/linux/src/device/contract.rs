//! The contract between the agent and a device: an interface's queue, in the kernel, mac80211 or BPF.

use crate::device::wish::{Start, Wish};
use crate::error::{Error, Unfit};
use control::{Interval, Limit, Orders, Radio, Reads, Sets};
use units::{Bytes, Duration, Instant};

/// Longest time between two calls of a live queue's controller. The calls also show a device that its agent lives.
pub(crate) const LONGEST_INTERVAL: Duration = Duration::from_secs(2);

/// Kinds of Sluice's own discipline with turns: turns of the stations of a Wi-Fi interface, and turns without stations.
pub(crate) const TURNS_OF_STATIONS: &str = "turns of stations";
pub(crate) const TURNS_OF_ONE: &str = "turns";
/// Kind of Sluice's own discipline that discards by priority.
#[cfg(feature = "bpf")]
pub(crate) const BIASED: &str = "biased";

/// An interface whose queue is measured and limited.
pub trait Device {
    /// Returns the interface's name, as `ip link` shows it.
    fn name(&self) -> &str;

    /// Returns the measurements since the last call, or since the device was made. Values that the device cannot
    /// measure are zero or absent; see [`capabilities`](Self::capabilities).
    ///
    /// # Errors
    /// The interface does not exist any more, or its queue is no longer the installed one.
    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error>;

    /// Returns the measurements from outside the queue in the last interval of [`take_interval`](Self::take_interval).
    fn beside(&self) -> Beside {
        Beside::default()
    }

    /// Returns the real-time queue's measurements since the last call, and those from outside the queue; `None` if
    /// there is no real-time queue.
    ///
    /// # Errors
    /// As for [`take_interval`](Self::take_interval).
    fn take_real_time(&mut self, now: Instant) -> Result<Option<(Interval, Beside)>, Error> {
        let _ = now;
        Ok(None)
    }

    /// Returns the decision of a device with its own law after its last interval. `None`: the device has no law, and a
    /// controller decides.
    fn own(&self) -> Option<Own> {
        None
    }

    /// Carries out orders from now on. A lower limit discards waiting packets only if [`Capabilities::purges`] is set.
    ///
    /// # Errors
    /// As for [`take_interval`](Self::take_interval). Or an order is not in [`Capabilities::sets`]; then no order is
    /// carried out. Or the device cannot hold a limit in this unit.
    fn apply(&mut self, orders: &Orders) -> Result<(), Error>;

    /// Restores the former queue. Does nothing if the queue is restored already.
    ///
    /// # Errors
    /// The former queue cannot be restored, or differs from the recorded one. Or it is restored, but other state of
    /// Sluice [remains](Error::Remains).
    fn restore(&mut self) -> Result<(), Error>;

    /// Returns what the device can measure and do; this never changes.
    fn capabilities(&self) -> Capabilities;

    /// Returns the privileges that the device needs until the queue is restored.
    fn keeps(&self) -> Keeps {
        Keeps::Queues
    }

    /// Limits the interface's packets to this number of segments (GSO) until [`restore`](Self::restore): a limit in
    /// packets then counts the link's packets. A device that changes nothing ignores the call.
    ///
    /// # Errors
    /// The kernel refuses the limit.
    fn limit_segments(&mut self, segments: u32) -> Result<(), Error> {
        let _ = segments;
        Ok(())
    }

    /// Changes settings and keeps waiting packets; `start` as for a new device. Returns false if the device cannot do
    /// so: a new queue must then replace this one, and its waiting packets are lost.
    ///
    /// # Errors
    /// As for [`apply`](Self::apply).
    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        let _ = (wish, start);
        Ok(false)
    }

    /// Reads the counters of a queue that is measured by polling, see [`Capabilities::look_every`].
    ///
    /// # Errors
    /// As for [`take_interval`](Self::take_interval).
    fn look(&mut self, now: Instant) -> Result<(), Error> {
        let _ = now;
        Ok(())
    }
}

/// The decision of a device that has its own law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Limit until the next decision.
    pub limit: Limit,
    /// Time until the next decision.
    pub every: Duration,
    /// Queueing delay at which the law aims.
    pub target_delay: Duration,
}

/// Measurements from outside the queue. What the device does not measure is zero or absent; see
/// [`Capabilities::reads`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    /// Like [`Radio::late`]: number of packets whose MAC delay exceeded the controller's bound.
    pub late: u64,
    /// Like [`Radio::real_time`], but only for packets that this interface sends: it overhears no other nodes.
    pub real_time: Bytes,
    /// Like [`Radio::real_time_new`], but only for packets that this interface sends.
    pub real_time_new: Bytes,
    /// Like [`Radio::hops`], for packets that arrive at the queue, if their headers show the hops.
    pub hops: u8,
    /// Measurements of the real-time queue; `None` if there is none.
    pub class: Option<Interval>,
}

impl Beside {
    /// Returns the radio's readings with these measurements added.
    pub(crate) fn radio(&self, told: Option<Radio>) -> Radio {
        let Self { late, real_time, real_time_new, hops, class: _ } = *self;
        Radio { late, real_time, real_time_new, hops, ..told.unwrap_or_default() }
    }
}

/// Privileges that a device needs while it governs a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keeps {
    /// No privilege: the device only reads.
    Nothing,
    /// `CAP_NET_ADMIN`: the device changes queues through rtnetlink or nl80211.
    Queues,
    /// Also `CAP_BPF` and `CAP_PERFMON`: the device loads and reads BPF programs.
    QueuesAndBpf,
}

impl Keeps {
    /// Returns the privileges of an agent that may attach to any queue later.
    pub(crate) const fn most() -> Self {
        if cfg!(feature = "bpf") { Self::QueuesAndBpf } else { Self::Queues }
    }
}

/// How a quantity of [`Interval`] is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Counted or timed per packet.
    Measured,
    /// Estimated from counters that are read from time to time; the text says how.
    Estimated(&'static str),
    /// Not known: zero or absent in every interval.
    Absent,
}

/// Abilities of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Kind of queue, as `tc qdisc` calls it: `pfifo_head_drop`, `sluice`.
    pub kind: &'static str,
    /// True if packets above a lowered limit are discarded at once. If false, the link sends them.
    pub purges: bool,
    /// Interval at which [`Device::look`] must be called for estimates to hold; `None` if every packet is measured.
    pub look_every: Option<Duration>,
    /// Quantities that a controller can read on this device, measured or estimated.
    pub reads: Reads,
    /// Estimated readings, and the method of each.
    pub estimates: &'static [(Reads, &'static str)],
    /// Orders that the device can carry out.
    pub sets: Sets,
}

impl Capabilities {
    /// Returns the quality of a quantity, one bit of [`Reads`].
    pub fn quality(&self, of: Reads) -> Quality {
        match self.estimates.iter().find(|(reads, _)| reads.contains(of)) {
            _ if !self.reads.contains(of) => Quality::Absent,
            Some((_, how)) => Quality::Estimated(how),
            None => Quality::Measured,
        }
    }

    /// Refuses orders if the device cannot carry out one of them.
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
        assert_eq!(refused, "the controller sets a sending rate, which pfifo cannot apply");
    }
}
