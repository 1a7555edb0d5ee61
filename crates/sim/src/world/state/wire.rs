//! A wired link as it runs: store and forward, with a queue of its own in each direction.

use crate::config;
use crate::engine::{Handle, NodeId, Place, PortId, Stream};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant, Rate};

const NANOS: u128 = 1_000_000_000;

/// One direction of a wired link.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) from: NodeId,
    /// Its port at `from`.
    pub(crate) port: PortId,
    pub(crate) to: NodeId,
    pub(crate) rate: Rate,
    /// Later rates, in order of time.
    pub(crate) steps: Vec<(Instant, Rate)>,
    pub(crate) delay: Duration,
    /// The share of packets that it damages, and its luck; where it is said.
    pub(crate) loss: Option<(f64, Stream)>,
    /// Length and time of the packet that was last sent, if at a rate for all time: most are as long as the one before.
    last: (Bytes, Duration),
    pub(crate) sending: Option<Sending>,
    /// Packets sent that have not arrived, and when each does. They arrive in this order: only the first is an event.
    pub(crate) under_way: VecDeque<(Place, Handle)>,
    /// Time spent sending since `counted_from`, without the packet that is being sent.
    pub(crate) busy: Duration,
    pub(crate) counted_from: Instant,
}

/// A packet that is being sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) packet: Handle,
    pub(crate) waited: Duration,
    pub(crate) since: Instant,
}

impl Wire {
    /// An idle link from a node's port to another node, as it is described, with the random numbers of its losses.
    pub(crate) fn new(from: NodeId, port: PortId, to: NodeId, described: &config::Wired, luck: Stream) -> Self {
        let config::Wired { rate, delay, loss, .. } = *described;
        let loss = loss.map(|share| (share.get(), luck));
        let steps = described.at.iter().map(|step| (Instant::ZERO + step.time, step.rate)).collect();
        let (under_way, busy, counted_from) = (VecDeque::new(), Duration::ZERO, Instant::ZERO);
        let last = (Bytes::default(), Duration::ZERO);
        Self { from, port, to, rate, steps, delay, loss, last, sending: None, under_way, busy, counted_from }
    }

    /// When the last bit of a packet has been sent whose first bit is sent at `start`, rounded up to a nanosecond.
    #[inline]
    pub(crate) fn sent(&mut self, start: Instant, length: Bytes) -> Instant {
        if !self.steps.is_empty() || self.rate.is_zero() {
            return self.sent_by_steps(start, length);
        }
        if self.last.0 != length {
            self.last = (length, self.rate.time_for(length));
        }
        start + self.last.1
    }

    /// The same at rates that change.
    fn sent_by_steps(&self, start: Instant, length: Bytes) -> Instant {
        let later = self.steps.partition_point(|(at, _)| *at <= start);
        let mut rate = later.checked_sub(1).map_or(self.rate, |index| self.steps[index].1);
        let mut left = u128::from(length.bits()) * NANOS;
        let mut now = start;
        for &(at, next) in &self.steps[later..] {
            let by_then = u128::from(rate.as_bps()) * u128::from(at.since(now).as_nanos());
            if by_then >= left {
                break;
            }
            (left, now, rate) = (left - by_then, at, next);
        }
        let nanos = left.div_ceil(u128::from(rate.as_bps().max(1)));
        now + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Does it damage the packet that arrives now?
    pub(crate) fn damages(&mut self) -> bool {
        self.loss.as_mut().is_some_and(|(share, luck)| luck.happens(*share))
    }

    /// Packets that it holds.
    pub(crate) fn packets(&self) -> u64 {
        self.under_way.len() as u64 + u64::from(self.sending.is_some())
    }

    /// Time spent sending until `now`, since the start or the last restart.
    pub(crate) fn busy_time(&self, now: Instant) -> Duration {
        self.busy + self.sending.map_or(Duration::ZERO, |sending| now.since(sending.since.max(self.counted_from)))
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        (self.busy, self.counted_from) = (Duration::ZERO, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Purpose;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// 1 Mb/s, from 10 ms on 4 Mb/s, from 11 ms on 500 kb/s. A packet of 1000 bytes takes 8, 2 and 16 ms.
    fn stepped() -> Wire {
        let step = |millis, rate| config::RateStep { time: Duration::from_millis(millis), rate };
        let steps = vec![step(10, Rate::mbps(4)), step(11, Rate::kbps(500))];
        Wire::new(0.into(), 0.into(), 1.into(), &config::Wired { at: steps, ..plain() }, luck())
    }

    #[test]
    fn what_is_left_of_a_packet_goes_at_the_new_rate() {
        let mut wire = stepped();
        let length = Bytes::new(1_000);
        assert_eq!(wire.sent(at(0), length), at(8));
        assert_eq!(wire.sent(at(2), length), at(10));
        // 4000 bits before the step, 4000 in the millisecond after it.
        assert_eq!(wire.sent(at(6), length), at(11));
        // 3000 bits before it, 4000 in that millisecond, and 1000 at 500 kb/s.
        assert_eq!(wire.sent(at(7), length), at(13));
        assert_eq!(wire.sent(at(11), length), at(27));
        assert_eq!(wire.sent(at(1_000), Bytes::new(0)), at(1_000));
    }

    #[test]
    fn a_link_of_one_rate_takes_what_the_rate_says() {
        let described = config::Wired { rate: Rate::bps(3_000_001), at: Vec::new(), ..plain() };
        let mut wire = Wire::new(0.into(), 0.into(), 1.into(), &described, luck());
        for bytes in [0, 1, 28, 28, 1_500, 65_535, 28] {
            let length = Bytes::new(bytes);
            assert_eq!(wire.sent(at(5), length), at(5) + described.rate.time_for(length));
        }
    }

    fn luck() -> Stream {
        Stream::new(1, "a b", Purpose::Damage)
    }

    fn plain() -> config::Wired {
        let between = ["a".into(), "b".into()];
        let queue = queue::Settings::default();
        config::Wired { between, rate: Rate::mbps(1), at: Vec::new(), delay: Duration::ZERO, loss: None, queue }
    }
}
