//! A queue in order of arrival that drops or marks packets when they come, as a law says, before it is full.

use crate::account::{Account, Waiting};
use crate::fifo::{End, Fifo};
use crate::random::Random;
use crate::{Ecn, Packet, Purge};
use units::{Duration, Instant};

/// What becomes of a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It joins.
    Keep,
    /// It joins, marked; where its ends do not understand ECN it is dropped.
    Mark,
    /// It is dropped.
    Drop,
}

/// Decides about packets that come. Calls come in order of time.
pub(crate) trait Law {
    /// A packet comes to a queue where so many packets and bytes wait; `draw` is uniform on [0, 1).
    fn arrives(&mut self, now: Instant, waiting: (u64, u64), draw: impl FnOnce() -> f64) -> Verdict;

    /// A packet that passed was dropped for want of room.
    fn overflows(&mut self);

    /// A packet leaves after it `waited`; behind it the queue may be empty.
    fn leaves(&mut self, now: Instant, waited: Duration, empty: bool);
}

/// Packets in order of arrival under such a law.
#[derive(Clone, Debug)]
pub(crate) struct EarlyDrop<P, L> {
    fifo: Fifo<P>,
    law: L,
    random: Random,
}

impl<P: Packet, L: Law> EarlyDrop<P, L> {
    pub(crate) fn new(room: usize, law: L, purge: Purge, seed: u64) -> Self {
        Self { fifo: Fifo::new(room, End::Tail, purge), law, random: Random::new(seed) }
    }

    pub(crate) fn enqueue(&mut self, account: &mut Account, now: Instant, mut packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        let backlog = account.backlog();
        if !account.fits(len) {
            self.law.overflows();
            self.fifo.enqueue(account, now, packet, dropped);
            return;
        }
        let verdict = self.law.arrives(now, (backlog.packets, backlog.bytes.count()), || self.random.unit());
        match verdict {
            Verdict::Keep => {}
            Verdict::Mark if packet.ecn() != Ecn::NotEct => {
                packet.mark();
                account.marked(len);
            }
            Verdict::Mark | Verdict::Drop => {
                account.refused(len);
                dropped(packet);
                return;
            }
        }
        self.fifo.enqueue(account, now, packet, dropped);
    }

    /// A packet goes before all others, without being judged.
    pub(crate) fn enqueue_first(
        &mut self,
        account: &mut Account,
        now: Instant,
        packet: P,
        dropped: &mut impl FnMut(P),
    ) {
        self.fifo.enqueue_first(account, now, packet, dropped);
    }

    pub(crate) fn peek(&self, index: usize) -> Option<&P> {
        self.fifo.peek(index)
    }

    pub(crate) fn remove(&mut self, now: Instant, index: usize) -> Option<Waiting<P>> {
        let waiting = self.fifo.remove(index)?;
        self.law.leaves(now, now.since(waiting.since), self.fifo.len() == 0);
        Some(waiting)
    }

    pub(crate) fn purge(&mut self, account: &mut Account, dropped: &mut impl FnMut(P)) {
        self.fifo.purge(account, dropped);
    }

    pub(crate) fn discard_where(
        &mut self,
        account: &mut Account,
        unwanted: &mut impl FnMut(&P) -> bool,
        dropped: &mut impl FnMut(P),
    ) {
        self.fifo.discard_where(account, unwanted, dropped);
    }
}
