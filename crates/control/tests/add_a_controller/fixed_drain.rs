//! Fixed drain: a queue holds the packets that leave it within a target delay, at the rate of the last interval.
//!
//! `limit = target_delay * sent / length`. While nothing waits, packets leave as they arrive: the rate is then that of
//! the traffic, not of the link, there is no delay to bound, and the limit is the hard limit.

use crate::{Controller, Interval, Invalid, Limit, Needs, Orders, Period, Reads, Scheme, Seen, Sets, Site};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Positive};

/// Parameters of fixed drain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "FixedDrain"))]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Time in which a full queue drains. Default 100 ms.
    pub target_delay: Positive<Duration>,
    /// Time between two runs of the controller, at least 100 us. Default 50 ms.
    pub interval: Period,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target_delay: const { Positive::<Duration>::new(Duration::from_millis(100)).expect("above zero") },
            interval: const { Period::new(Duration::from_millis(50)).expect("long enough") },
        }
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct FixedDrain {
    params: Params,
    hard_limit: Limit,
    limit: Limit,
}

impl Scheme for FixedDrain {
    type Params = Params;
    const TARGET: Option<&'static str> = Some("target_delay");

    /// # Errors
    /// A target below the interval: the queue would have drained before the next decision.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        if params.target_delay.get() < params.interval.get() {
            return Err(Invalid::new("target_delay", "must not be below interval"));
        }
        Ok(Self { params: params.clone(), hard_limit: site.hard_limit, limit: site.hard_limit })
    }
}

impl Controller for FixedDrain {
    fn needs(&self) -> Needs {
        Needs::new(self.params.interval.get(), Reads::COUNTS, Sets::LIMIT)
    }

    fn begin(&self) -> Orders {
        self.hard_limit.into()
    }

    fn update(&mut self, seen: &Seen) -> Orders {
        if seen.queue.backlog.packets == 0 {
            self.limit = self.hard_limit;
        } else if seen.queue.sent.packets > 0 {
            self.limit = self.drained(&seen.queue);
        }
        self.limit.into()
    }

    fn target_delay(&self) -> Option<Duration> {
        Some(self.params.target_delay.get())
    }
}

impl FixedDrain {
    /// Returns the packets that drain within the target if `sent` left in `length`, rounded down, but at least one.
    fn drained(&self, seen: &Interval) -> Limit {
        let target = u128::from(self.params.target_delay.get().as_nanos());
        let length = u128::from(seen.length.as_nanos().max(1));
        let scale = |sent: u64| u64::try_from(target * u128::from(sent) / length).unwrap_or(u64::MAX);
        match self.hard_limit {
            Limit::Packets(most) => {
                let packets = u32::try_from(scale(seen.sent.packets)).unwrap_or(u32::MAX);
                Limit::Packets(packets.max(1).min(most))
            }
            Limit::Bytes(most) => {
                let bytes = Bytes::new(scale(seen.sent.bytes.count()));
                Limit::Bytes(bytes.max(Bytes::new(1_500)).min(most))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Count;

    /// 50 ms in which `sent` packets of 1000 B left, with `waiting` packets in the queue.
    fn seen(sent: u64, waiting: u64) -> Interval {
        let count = |packets| Count { packets, bytes: Bytes::new(1_000) * packets };
        Interval {
            length: Duration::from_millis(50),
            sent: count(sent),
            backlog: count(waiting),
            ..Interval::default()
        }
    }

    fn fixed_drain(hard_limit: Limit) -> FixedDrain {
        FixedDrain::new(&Params::default(), &hard_limit.into()).unwrap()
    }

    #[test]
    fn holds_what_leaves_within_the_target() {
        // 20 packets in 50 ms are 400 a second; 0.1 s * 400/s = 40.
        let mut controller = fixed_drain(Limit::Packets(1_000));
        assert_eq!(controller.update(&seen(20, 5).into()).limit, Limit::Packets(40));
        // 0.1 s * 400 000 B/s = 40 000 B.
        let mut controller = fixed_drain(Limit::Bytes(Bytes::new(64_000)));
        let limit = controller.update(&seen(20, 5).into()).limit;
        assert_eq!(limit, Limit::Bytes(Bytes::new(40_000)));
    }

    #[test]
    fn an_empty_queue_gets_the_hard_limit_back() {
        let mut controller = fixed_drain(Limit::Packets(1_000));
        controller.update(&seen(20, 5).into());
        assert_eq!(controller.update(&seen(20, 0).into()).limit, Limit::Packets(1_000));
    }

    #[test]
    fn an_interval_in_which_nothing_left_changes_nothing() {
        let mut controller = fixed_drain(Limit::Packets(1_000));
        assert_eq!(controller.update(&seen(0, 5).into()).limit, Limit::Packets(1_000));
        controller.update(&seen(20, 5).into());
        assert_eq!(controller.update(&seen(0, 5).into()).limit, Limit::Packets(40));
    }

    #[test]
    fn the_hard_limit_holds_and_one_packet_always_fits() {
        // 0.1 s * 20 000/s = 2000, above the hard limit.
        let mut controller = fixed_drain(Limit::Packets(1_000));
        assert_eq!(controller.update(&seen(1_000, 5).into()).limit, Limit::Packets(1_000));
        // One packet in 50 s: 0.1 s * 0.02/s = 0.002.
        let slow = Interval { length: Duration::from_secs(50), ..seen(1, 5) };
        assert_eq!(controller.update(&slow.into()).limit, Limit::Packets(1));
    }

    #[test]
    fn a_target_below_the_interval_is_refused() {
        let target_delay = Positive::<Duration>::new(Duration::from_millis(49)).unwrap();
        let params = Params { target_delay, ..Params::default() };
        let refused = FixedDrain::new(&params, &Limit::Packets(9).into()).unwrap_err();
        assert_eq!(refused, Invalid::new("target_delay", "must not be below interval"));
    }
}
