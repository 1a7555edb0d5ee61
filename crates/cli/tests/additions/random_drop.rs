//! Random drop: when the queue is full, an arriving packet replaces a random one of those that wait.
//!
//! A flow then loses packets in proportion to its share of the queue. The packets at the head can be spared, because
//! the MAC may have built its next frames from them.

use crate::account::{Account, Waiting};
use crate::discipline::{Discipline, Setup};
use crate::{Packet, Purge};
use control::{Invalid, Random};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Instant, Within};

/// Parameters of random drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RandomDrop"))]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Number of packets at the head that are never dropped: 0 to 1000. Default 1.
    pub spared: Within<u32, 0, 1_000>,
}

impl Default for Params {
    fn default() -> Self {
        Self { spared: const { Within::<u32, 0, 1_000>::new(1).expect("at most 1000") } }
    }
}

/// Packets in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct RandomDrop<P> {
    ring: VecDeque<Waiting<P>>,
    spared: usize,
    purge: Purge,
    random: Random,
}

impl<P: Packet> Discipline<P> for RandomDrop<P> {
    type Params = Params;

    /// Creates an empty queue; every setting is valid.
    fn new(params: &Params, setup: &Setup) -> Result<Self, Invalid> {
        Ok(Self {
            ring: VecDeque::with_capacity(setup.room),
            spared: params.spared.get() as usize,
            purge: setup.purge.unwrap_or(Purge::Tail),
            random: Random::new(setup.seed),
        })
    }

    fn enqueue(&mut self, account: &mut Account, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        if !account.fits_alone(len) || !self.make_room(len, account, dropped) {
            account.refuse(packet, dropped);
            // Some packets may have been dropped in vain.
            return account.settle(now);
        }
        self.ring.push_back(Waiting { packet, since: now });
        account.joins(now, len);
    }

    fn make_way(&mut self, account: &mut Account, _now: Instant, dropped: &mut impl FnMut(P)) {
        self.discard(Purge::Tail, account, dropped);
    }

    fn put_first(&mut self, waiting: Waiting<P>) {
        self.ring.push_front(waiting);
    }

    fn peek(
        &mut self,
        _account: &mut Account,
        _now: Instant,
        index: usize,
        _dropped: &mut impl FnMut(P),
    ) -> Option<&P> {
        self.ring.get(index).map(|waiting| &waiting.packet)
    }

    fn remove(
        &mut self,
        _account: &mut Account,
        _now: Instant,
        index: usize,
        _dropped: &mut impl FnMut(P),
    ) -> Option<Waiting<P>> {
        self.ring.remove(index)
    }

    fn purge(&mut self, account: &mut Account, _now: Instant, dropped: &mut impl FnMut(P)) {
        while self.purge != Purge::None && account.is_over() {
            self.discard(self.purge, account, dropped);
        }
    }

    fn discard_where(
        &mut self,
        account: &mut Account,
        unwanted: &mut impl FnMut(&P) -> bool,
        dropped: &mut impl FnMut(P),
    ) {
        account.discard_where(&mut self.ring, unwanted, dropped);
    }
}

impl<P: Packet> RandomDrop<P> {
    /// Drops waiting packets until one of this length fits. False if the spared packets leave no room.
    fn make_room(&mut self, len: u64, account: &mut Account, dropped: &mut impl FnMut(P)) -> bool {
        while !account.fits(len) {
            let Some(Waiting { packet, .. }) = self.draw().and_then(|index| self.ring.remove(index)) else {
                return false;
            };
            account.discard(packet, dropped);
        }
        true
    }

    /// Draws the index of the packet to drop; `None` if all are spared.
    fn draw(&mut self) -> Option<usize> {
        let drawn_from = self.ring.len().checked_sub(self.spared).filter(|&packets| packets > 0)?;
        Some(self.spared + (self.random.unit() * drawn_from as f64) as usize)
    }

    /// Drops the packet at one end.
    fn discard(&mut self, end: Purge, account: &mut Account, dropped: &mut impl FnMut(P)) {
        let gone = if end == Purge::Head { self.ring.pop_front() } else { self.ring.pop_back() };
        if let Some(Waiting { packet, .. }) = gone {
            account.discard(packet, dropped);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Ecn, Packet, Queue, Settings};
    use units::{Bytes, Instant};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Numbered(u64);

    impl Packet for Numbered {
        fn len(&self) -> Bytes {
            Bytes::new(1_000)
        }

        fn flow(&self) -> u64 {
            0
        }

        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }

        fn mark(&mut self) {}
    }

    /// Enqueues packets 0 to 10 in a queue of ten and counts how often each is dropped, over 10 000 seeds.
    fn drawn(spared: u32) -> [u32; 11] {
        let mut counts = [0; 11];
        for seed in 0..10_000 {
            let table = format!("discipline = \"random-drop\"\nlimit = 10\n[random_drop]\nspared = {spared}");
            let settings: Settings = toml::from_str(&table).unwrap();
            let (mut queue, _): (Queue<Numbered>, _) = settings.build(seed).unwrap();
            (0..=10).for_each(|number| {
                queue.enqueue(Instant::ZERO, Numbered(number), &mut |gone| counts[gone.0 as usize] += 1);
            });
            assert_eq!(queue.backlog().packets, 10);
        }
        counts
    }

    #[test]
    fn each_that_is_not_spared_goes_as_often() {
        let [first, rest @ .., last] = drawn(1);
        assert_eq!((first, last), (0, 0), "the head is spared, and the packet that comes joins");
        // 10 000 draws from nine: 1111 each, with a standard deviation of 31.
        assert!(rest.iter().all(|count| count.abs_diff(1_111) < 5 * 31), "{rest:?}");
    }

    #[test]
    fn where_all_are_spared_the_packet_that_comes_goes() {
        assert_eq!(drawn(10), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10_000]);
    }
}
