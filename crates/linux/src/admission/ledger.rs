//! Rates of all flows through this node. A probe that this node can admit reserves its rate for a short time, and later
//! messages of the flow's source extend this time. So the sum of all flows stays below a bound.

use crate::admission::message::{Kind, Message, UNBOUNDED};
use std::net::IpAddr;
use units::{Duration, Instant, Rate};

/// Largest number of flows. A node with a bound admits no more than these.
const MOST_FLOWS: usize = 256;
/// Time for which a probe reserves its rate: longer than its source waits for the answer, with all repetitions.
pub(super) const PROBED_FOR: Duration = Duration::from_secs(3);

/// Silence after which a program or a flow is forgotten. A flow's program sends three `Present` messages in that time.
pub(crate) const FORGOTTEN_AFTER: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(crate) struct Ledger(Vec<Entry>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    flow: u64,
    source: IpAddr,
    /// Port of the flow at its destination; zero if it is not known.
    port: u16,
    /// Rate that the flow takes from this node's links: zero at the flow's destination.
    rate: Rate,
    until: Instant,
}

impl Entry {
    fn is_of(&self, message: &Message) -> bool {
        (self.flow, self.source) == (message.flow, message.source)
    }
}

impl Ledger {
    /// True if this node has let the message's flow through.
    pub(crate) fn knows(&self, now: Instant, message: &Message) -> bool {
        let mut passing = self.0.iter().filter(|entry| entry.rate != Rate::bps(0) && now < entry.until);
        passing.any(|entry| entry.is_of(message))
    }

    /// Returns the rate that a bound leaves for a message's flow, next to all other flows.
    pub(crate) fn left(&mut self, now: Instant, message: &Message, bound: Rate) -> Rate {
        self.0.retain(|entry| now < entry.until);
        let others = self.0.iter().filter(|entry| !entry.is_of(message));
        let sum = others.fold(0_u64, |sum, entry| sum.saturating_add(entry.rate.as_bps()));
        if bound == UNBOUNDED {
            return bound;
        }
        let is_full = self.0.len() == MOST_FLOWS && !self.knows(now, message);
        Rate::bps(if is_full { 0 } else { bound.as_bps().saturating_sub(sum) })
    }

    /// Reserves a probe's rate until its answer has arrived.
    pub(crate) fn reserve(&mut self, now: Instant, probe: &Message) {
        self.set(probe, probe.rate, now + PROBED_FOR);
    }

    /// Keeps a flow's rate, also of an unknown flow, because agents restart. Forgets a flow that has ended.
    pub(crate) fn keep(&mut self, now: Instant, present: &Message) {
        if present.rate == Rate::bps(0) {
            self.0.retain(|entry| !entry.is_of(present));
        } else {
            self.set(present, present.rate, now + FORGOTTEN_AFTER);
        }
    }

    /// Records a flow that ends at this node, or forgets it.
    pub(crate) fn arrive(&mut self, now: Instant, message: &Message) {
        match message.kind {
            Kind::Probe => self.set(message, Rate::bps(0), now + PROBED_FOR),
            _ if message.rate == Rate::bps(0) => self.keep(now, message),
            _ => self.set(message, Rate::bps(0), now + FORGOTTEN_AFTER),
        }
    }

    /// Returns the numbers of flows from `source` that end at this node at `port` or at an unknown port.
    pub(crate) fn numbers(&self, now: Instant, source: IpAddr, port: u16) -> impl Iterator<Item = u64> {
        let is_one = move |entry: &&Entry| {
            let is_port = [entry.port, port].contains(&0) || entry.port == port;
            entry.source == source && entry.rate == Rate::bps(0) && is_port && now < entry.until
        };
        self.0.iter().filter(is_one).map(|entry| entry.flow)
    }

    fn set(&mut self, message: &Message, rate: Rate, until: Instant) {
        let Message { flow, source, port, .. } = *message;
        let is_full = self.0.len() >= MOST_FLOWS;
        match self.0.iter_mut().find(|entry| entry.is_of(message)) {
            Some(entry) => (entry.rate, entry.until) = (rate, entry.until.max(until)),
            None if !is_full => self.0.push(Entry { flow, source, port, rate, until }),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::message::Kind;
    use std::net::Ipv4Addr;

    const START: Instant = Instant::from_nanos(1_000_000_000_000);

    fn message(flow: u64, kbps: u64) -> Message {
        let (source, destination) = (Ipv4Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into());
        let (kind, rate) = (Kind::Probe, Rate::kbps(kbps));
        Message { kind, hops: 0, number: 0, bottleneck: UNBOUNDED, source, destination, port: 0, flow, rate }
    }

    #[test]
    fn the_bound_is_of_the_sum_and_of_no_flow_itself() {
        let (mut ledger, bound) = (Ledger::default(), Rate::kbps(500));
        for (flow, left) in [(1, 500), (2, 300), (3, 100)] {
            assert_eq!(ledger.left(START, &message(flow, 200), bound), Rate::kbps(left));
            ledger.reserve(START, &message(flow, 200));
        }
        // A flow that probes again does not count against itself: next to 2 and 3, it may have 100 kb/s.
        assert_eq!(ledger.left(START, &message(1, 200), bound), Rate::kbps(100));
        assert_eq!(ledger.left(START, &message(4, 1), bound), Rate::bps(0));
        assert_eq!(ledger.left(START, &message(4, 1), UNBOUNDED), UNBOUNDED);
    }

    #[test]
    fn a_probe_keeps_its_rate_for_3_s_and_the_sources_word_for_30_s_or_until_its_end() {
        let (mut ledger, bound) = (Ledger::default(), Rate::kbps(500));
        let at = |millis| START + Duration::from_millis(millis);
        ledger.reserve(START, &message(1, 200));
        assert_eq!(ledger.left(at(2_999), &message(2, 1), bound), Rate::kbps(300));
        assert_eq!(ledger.left(at(3_000), &message(2, 1), bound), bound);
        ledger.keep(at(3_000), &message(1, 200));
        // A probe does not shorten the time for which a rate is kept.
        ledger.reserve(at(3_000), &message(1, 200));
        assert!(ledger.knows(at(32_999), &message(1, 0)) && !ledger.knows(at(33_000), &message(1, 0)));
        assert_eq!(ledger.left(at(32_999), &message(2, 1), bound), Rate::kbps(300));
        ledger.keep(at(32_999), &message(1, 0));
        assert_eq!(ledger.left(at(32_999), &message(2, 1), bound), bound);
    }

    #[test]
    fn flows_that_are_too_many_are_not_admitted_where_a_sum_is_bounded() {
        let mut ledger = Ledger::default();
        (0..1_000).for_each(|flow| ledger.keep(START, &message(flow, 1)));
        assert_eq!(ledger.0.len(), MOST_FLOWS);
        assert_eq!(ledger.left(START, &message(5_000, 1), Rate::mbps(100)), Rate::bps(0));
        assert_eq!(ledger.left(START, &message(5, 1), Rate::kbps(300)), Rate::kbps(45));
    }
}
