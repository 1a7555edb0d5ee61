//! Oldest first: packets leave in the order in which they entered the network; at the limit the youngest is dropped.
//!
//! T-MAC needs this order (rule R1 of `docs/tmac.md`). The first node stamps a packet, relays keep the stamp, and a
//! node's queue is in the order of stamps. So a packet from afar does not wait behind fresh packets of the relay. That
//! the youngest is dropped is Sluice's choice: a packet from afar has cost the most airtime. A packet without a stamp
//! is younger than all other packets. Among packets with equal stamps the first to come is older.

use crate::account::Waiting;
use crate::discipline::{Context, Discipline, Setup};
use crate::{Packet, Purge};
use control::Invalid;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::Instant;

/// Oldest first has no parameters: packets leave in the order of their stamps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OldestFirst"))]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// Packets in order of age.
#[derive(Clone, Debug)]
pub(crate) struct OldestFirst<P> {
    /// Packets, each with the stamp that orders it.
    ring: VecDeque<(Instant, Waiting<P>)>,
    purge: Purge,
}

impl<P: Packet> OldestFirst<P> {
    fn discard(&mut self, end: Purge, cx: &mut Context<impl FnMut(P)>) {
        let gone = if end == Purge::Head { self.ring.pop_front() } else { self.ring.pop_back() };
        let (_, Waiting { packet, .. }) = gone.expect("only a queue that holds something exceeds a limit");
        cx.account.discard(packet, cx.dropped);
    }
}

impl<P: Packet> Discipline<P> for OldestFirst<P> {
    type Params = Params;

    /// Accepts every parameter set.
    fn new(_: &Params, setup: &Setup) -> Result<Self, Invalid> {
        Ok(Self { ring: VecDeque::new(), purge: setup.purge.unwrap_or(Purge::Tail) })
    }

    fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
        let len = packet.len().count();
        let stamp = packet.stamp().unwrap_or(Instant::NEVER);
        while cx.account.fits_alone(len) && !cx.account.fits(len) && self.ring.back().is_some_and(|last| last.0 > stamp)
        {
            self.discard(Purge::Tail, cx);
        }
        if cx.account.fits(len) {
            let place = self.ring.partition_point(|held| held.0 <= stamp);
            self.ring.insert(place, (stamp, Waiting { packet, since: cx.now }));
            debug_assert!(place == 0 || self.ring[place - 1].0 <= stamp, "in order of age");
            cx.account.joins(cx.now, len);
            debug_assert_eq!(self.ring.len() as u64, cx.account.backlog().packets);
        } else {
            cx.account.refuse(packet, cx.dropped);
            // Younger packets may already have been dropped.
            cx.account.settle(cx.now);
        }
    }

    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        self.discard(Purge::Tail, cx);
    }

    fn put_first(&mut self, waiting: Waiting<P>) {
        self.ring.push_front((Instant::ZERO, waiting));
    }

    fn peek(&mut self, index: usize, _: &mut Context<impl FnMut(P)>) -> Option<&P> {
        self.ring.get(index).map(|(_, waiting)| &waiting.packet)
    }

    fn remove(&mut self, index: usize, _: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        self.ring.remove(index).map(|(_, waiting)| waiting)
    }

    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        while self.purge != Purge::None && cx.account.is_over() {
            self.discard(self.purge, cx);
        }
        debug_assert!(self.purge == Purge::None || !cx.account.is_over(), "the limit holds");
        debug_assert_eq!(self.ring.len() as u64, cx.account.backlog().packets);
    }

    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        self.ring.retain(|(_, waiting)| {
            let goes = unwanted(&waiting.packet);
            if goes {
                cx.account.discard(waiting.packet, cx.dropped);
            }
            !goes
        });
        debug_assert_eq!(self.ring.len() as u64, cx.account.backlog().packets);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Ecn, Packet, Queue, Settings};
    use proptest::prelude::*;
    use units::{Bytes, Duration, Instant};

    /// A packet of 1000 B with a number and a stamp in ms.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Stamped(u64, Option<u64>);

    impl Packet for Stamped {
        fn len(&self) -> Bytes {
            Bytes::new(1_000)
        }

        fn flow(&self) -> u64 {
            0
        }

        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }

        fn stamp(&self) -> Option<Instant> {
            self.1.map(|millis| Instant::ZERO + Duration::from_millis(millis))
        }

        fn mark(&mut self) {}
    }

    /// Returns the packets that such a queue drops, and the packets that it then yields.
    fn passed(limit: usize, packets: &[Stamped]) -> (Vec<u64>, Vec<u64>) {
        let table = format!("discipline = \"oldest-first\"\nlimit = {limit}");
        let settings: Settings = toml::from_str(&table).expect("a table");
        let (mut queue, _): (Queue<Stamped>, _) = settings.build(1).expect("a queue");
        let (mut gone, mut left) = (Vec::new(), Vec::new());
        for &packet in packets {
            queue.enqueue(Instant::ZERO, packet, &mut |packet| gone.push(packet.0));
        }
        while let Some(departure) = queue.take(Instant::ZERO, 0, &mut |_| ()) {
            left.push(departure.packet.0);
        }
        (gone, left)
    }

    #[test]
    fn the_oldest_leaves_and_the_youngest_makes_way() {
        let packets = [(0, Some(5)), (1, Some(3)), (2, None), (3, Some(5)), (4, Some(1)), (5, None), (6, Some(9))];
        let packets = packets.map(|(number, stamp)| Stamped(number, stamp));
        assert_eq!(passed(10, &packets), (vec![], vec![4, 1, 0, 3, 6, 2, 5]));
        // The third takes the last place; the fourth is as old as the first, which stays, and takes the third's place.
        assert_eq!(passed(3, &packets), (vec![2, 3, 5, 6], vec![4, 1, 0]));
    }

    proptest! {
        /// For all arrivals: the oldest remain, in order, and among equals the first.
        #[test]
        fn what_remains_is_the_head_of_the_sorted_packets(stamps in prop::collection::vec(0_u64..20, 0..40), limit in 1_usize..20) {
            let packets: Vec<Stamped> = (0..).zip(&stamps).map(|(number, &stamp)| Stamped(number, Some(stamp))).collect();
            let (gone, left) = passed(limit, &packets);
            let mut sorted = packets.clone();
            sorted.sort_by_key(|packet| (packet.1, packet.0));
            let expected: Vec<u64> = sorted.iter().take(limit).map(|packet| packet.0).collect();
            prop_assert_eq!(&left, &expected);
            prop_assert_eq!(gone.len() + left.len(), packets.len());
        }
    }
}
