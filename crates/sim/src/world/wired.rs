//! Wired links: they store and forward, with a separate queue for each direction.

use super::error::BuildError;
use crate::config::{self, Network, Node as Site, Wired};
use crate::engine::{EventKey, Handle, NodeId, PortId, Stream};
use crate::net::Waiting;
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant, Rate, refuse_if};

/// Rate of the fastest link in IEEE 802.3.
const FASTEST_WIRE: Rate = Rate::mbps(800_000);
/// Largest amount of data in flight on a wired link: two seconds at 1 Gb/s.
const MOST_UNDER_WAY: Bytes = Bytes::new(250_000_000);

#[derive(Debug)]
pub(super) struct Link {
    pub(super) ends: [u32; 2],
    /// Index of the table that describes the link.
    pub(super) table: usize,
}

const NANOS: u128 = 1_000_000_000;

/// One direction of a wired link.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) from: NodeId,
    /// Port of this direction at the node `from`.
    pub(crate) port: PortId,
    pub(crate) to: NodeId,
    pub(crate) rate: Rate,
    /// Rates that apply later, in order of time.
    pub(crate) steps: Vec<(Instant, Rate)>,
    pub(crate) delay: Duration,
    /// Share of packets that the link damages, with its random numbers; `None` without a `loss`.
    pub(crate) loss: Option<(f64, Stream)>,
    /// Length and duration of the last packet at a constant rate. Most packets are as long as their predecessor.
    last: (Bytes, Duration),
    pub(crate) sending: Option<Sending>,
    /// Packets in flight in order of arrival, with the keys of their arrivals. Only the first arrival is an event.
    pub(crate) under_way: VecDeque<(EventKey, Handle)>,
    /// Sending time since `counted_from`, without the packet that is being sent.
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
    /// Makes an idle link from a node's port to another node, as described, with random numbers for its losses.
    pub(crate) fn new(from: NodeId, port: PortId, to: NodeId, described: &config::Wired, luck: Stream) -> Self {
        let config::Wired { rate, delay, loss, .. } = *described;
        let loss = loss.map(|share| (share.get(), luck));
        let steps = described.at.iter().map(|step| (Instant::ZERO + step.time, step.rate)).collect();
        let (under_way, busy, counted_from) = (VecDeque::new(), Duration::ZERO, Instant::ZERO);
        let last = (Bytes::default(), Duration::ZERO);
        Self { from, port, to, rate, steps, delay, loss, last, sending: None, under_way, busy, counted_from }
    }

    /// Returns when the last bit of a packet is sent if its first bit is sent at `start`; rounded up to a nanosecond.
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

    /// Returns when a packet has been sent if the rate changes meanwhile.
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

    /// Begins to send a packet that has `waited` at its port. Returns when its last bit will have been sent.
    pub(crate) fn begin(&mut self, now: Instant, packet: &Waiting, waited: Duration) -> Instant {
        debug_assert!(self.sending.is_none(), "one packet at a time");
        self.sending = Some(Sending { packet: packet.packet, waited, since: now });
        let end = self.sent(now, packet.length);
        debug_assert!(end >= now, "time does not run back");
        end
    }

    /// Ends the sending of a packet. Returns the packet, its wait and its sending time.
    pub(crate) fn end(&mut self, now: Instant) -> Option<(Handle, Duration, Duration)> {
        let busy = self.busy_time(now);
        let Sending { packet, waited, since } = self.sending.take()?;
        debug_assert!(busy >= self.busy, "busy for longer by each packet");
        self.busy = busy;
        Some((packet, waited, now.since(since)))
    }

    /// Draws whether the packet that arrives now is damaged.
    pub(crate) fn damages(&mut self) -> bool {
        self.loss.as_mut().is_some_and(|(share, luck)| luck.happens(*share))
    }

    /// Returns the number of packets on the link.
    pub(crate) fn packets(&self) -> u64 {
        self.under_way.len() as u64 + u64::from(self.sending.is_some())
    }

    /// Returns the sending time until `now`, since the start or the last restart of statistics.
    pub(crate) fn busy_time(&self, now: Instant) -> Duration {
        self.busy + self.sending.map_or(Duration::ZERO, |sending| now.since(sending.since.max(self.counted_from)))
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        (self.busy, self.counted_from) = (Duration::ZERO, now);
    }
}

/// Refuses rates that no wire carries, and links that would hold too much data.
fn check_wire(wired: &Wired, table: usize) -> Result<(), BuildError> {
    let rates = std::iter::once(("rate".to_owned(), wired.rate));
    let steps = wired.at.iter().enumerate().map(|(step, at)| (format!("at.{step}.rate"), at.rate));
    for (key, rate) in rates.chain(steps) {
        if rate > FASTEST_WIRE {
            let message = format!("no wired link carries more than {FASTEST_WIRE}");
            return Err(BuildError::new(format!("wired.{table}.{key}"), message));
        }
        let under_way = rate.as_bps() as f64 / 8.0 * wired.delay.as_secs_f64();
        if under_way > MOST_UNDER_WAY.count() as f64 {
            let message = format!("at {rate} this link would hold more than {MOST_UNDER_WAY} in flight");
            return Err(BuildError::new(format!("wired.{table}.delay"), message));
        }
    }
    Ok(())
}

/// Returns the wired links: one for each node that a `*` stands for.
pub(super) fn links(network: &Network, sites: &[Site], access: bool) -> Result<Vec<Link>, BuildError> {
    let mut wires: Vec<Link> = Vec::new();
    for (wired, table) in network.wired.iter().zip(0..) {
        let refuse = |message: String| Err(BuildError::new(format!("wired.{table}.between"), message));
        let [a, b] = &wired.between;
        refuse_if!(a == b, refuse(format!("the link ends where it starts, at `{a}`")));
        check_wire(wired, table)?;
        if wired.at.windows(2).any(|pair| pair[1].time <= pair[0].time) {
            let message = "steps must be in order: each needs a later `time` than the previous step";
            return Err(BuildError::new(format!("wired.{table}.at"), message));
        }
        for ends in pairs(network, wired, table, sites)? {
            let [a, b] = ends.map(|end| &sites[end as usize]);
            if let Some(station) = [a, b].into_iter().find(|end| access && end.role == config::Role::Station) {
                return refuse(format!(
                    "`{}` is a station: in a network with access points, wired links join access points and nodes with \
                     `role = \"wired\"`",
                    station.name
                ));
            }
            if wires.iter().any(|other| ends.iter().all(|end| other.ends.contains(end))) {
                return refuse(format!("there is a link between `{}` and `{}` already", a.name, b.name));
            }
            wires.push(Link { ends, table });
        }
    }
    Ok(wires)
}

/// Returns the pairs of nodes that a table joins.
fn pairs(network: &Network, wired: &Wired, table: usize, sites: &[Site]) -> Result<Vec<[u32; 2]>, BuildError> {
    let path = || format!("wired.{table}.between");
    if wired.between.iter().all(|end| end.ends_with('*')) {
        return Err(BuildError::new(path(), "`*` stands for nodes at one end of links, not at both"));
    }
    let named = |end: &str| {
        let fits = |site: &Site| match end.strip_suffix('*') {
            Some(beginning) => site.name.starts_with(beginning),
            None => site.name == end,
        };
        let found: Vec<u32> = (0..).zip(sites).filter(|(_, site)| fits(site)).map(|(node, _)| node).collect();
        if found.is_empty() && end.strip_suffix('*').is_none_or(|beginning| !network.may_have_none(beginning)) {
            let known = sites.iter().map(|site| site.name.clone()).collect();
            return Err(BuildError::unknown_node(path(), end, known));
        }
        Ok(found)
    };
    let [a, b] = &wired.between;
    let (a, b) = (named(a)?, named(b)?);
    let all = a.iter().flat_map(|&a| b.iter().map(move |&b| [a, b]));
    Ok(all.filter(|[a, b]| a != b).collect())
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
        Stream::new(1, "a b", Purpose::DAMAGE)
    }

    fn plain() -> config::Wired {
        let between = ["a".into(), "b".into()];
        let queue = queue::Settings::default();
        config::Wired { between, rate: Rate::mbps(1), at: Vec::new(), delay: Duration::ZERO, loss: None, queue }
    }
}
