//! A FIFO that drops or marks packets on arrival by a law, before it is full.

use super::fifo::{End, Fifo};
use crate::account::{Account, Waiting};
use crate::discipline::{Discipline, Setup};
use crate::packet::{Ecn, Packet};
use control::{Count, Invalid, Random};
use units::{Duration, Instant};

/// Fate of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Enqueue.
    Keep,
    /// Enqueue, marked; without ECN, drop.
    Mark,
    Drop,
}

/// A law that judges arriving packets. Calls come in order of time.
pub(crate) trait Law: Sized {
    /// Its parameter table in a scenario, with defaults.
    type Params: Default;

    /// The law at the start of the run.
    ///
    /// # Errors
    /// The first parameter that cannot be used, by its key.
    fn new(params: &Self::Params) -> Result<Self, Invalid>;

    /// Judges a packet that arrives at this backlog; `draw` is uniform on [0, 1).
    fn arrives(&mut self, now: Instant, waiting: Count, draw: impl FnOnce() -> f64) -> Verdict;

    /// Tells the law that a packet which it passed was dropped because the queue was full.
    fn overflows(&mut self);

    /// Tells the law that a packet leaves after it `waited`; the queue may be empty behind it.
    fn leaves(&mut self, now: Instant, waited: Duration, empty: bool);
}

/// A FIFO under such a law.
#[derive(Clone, Debug)]
pub(crate) struct EarlyDrop<P, L> {
    fifo: Fifo<P>,
    law: L,
    random: Random,
}

impl<P: Packet, L: Law> Discipline<P> for EarlyDrop<P, L> {
    type Params = L::Params;

    fn new(params: &L::Params, setup: &Setup) -> Result<Self, Invalid> {
        let fifo = Fifo::new(setup.room, End::Tail, setup.purge);
        Ok(Self { fifo, law: L::new(params)?, random: Random::new(setup.seed) })
    }

    fn enqueue(&mut self, account: &mut Account, now: Instant, mut packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        let backlog = account.backlog();
        if !account.fits(len) {
            self.law.overflows();
            self.fifo.enqueue(account, now, packet, dropped);
            return;
        }
        let verdict = self.law.arrives(now, backlog, || self.random.unit());
        match verdict {
            Verdict::Keep => {}
            Verdict::Mark if packet.ecn() != Ecn::NotEct => {
                packet.mark();
                account.marked(len);
            }
            Verdict::Mark | Verdict::Drop => {
                return account.refuse(packet, dropped);
            }
        }
        self.fifo.enqueue(account, now, packet, dropped);
    }

    fn make_way(&mut self, account: &mut Account, now: Instant, dropped: &mut impl FnMut(P)) {
        self.fifo.make_way(account, now, dropped);
    }

    /// It is not judged.
    fn put_first(&mut self, waiting: Waiting<P>) {
        self.fifo.put_first(waiting);
    }

    fn peek(&mut self, _: &mut Account, _: Instant, index: usize, _: &mut impl FnMut(P)) -> Option<&P> {
        self.fifo.peek(index)
    }

    fn remove(&mut self, _: &mut Account, now: Instant, index: usize, _: &mut impl FnMut(P)) -> Option<Waiting<P>> {
        let waiting = self.fifo.remove(index)?;
        debug_assert!(waiting.since <= now, "it has arrived");
        self.law.leaves(now, now.since(waiting.since), self.fifo.len() == 0);
        Some(waiting)
    }

    fn purge(&mut self, account: &mut Account, now: Instant, dropped: &mut impl FnMut(P)) {
        self.fifo.purge(account, now, dropped);
    }

    fn discard_where(
        &mut self,
        account: &mut Account,
        unwanted: &mut impl FnMut(&P) -> bool,
        dropped: &mut impl FnMut(P),
    ) {
        self.fifo.discard_where(account, unwanted, dropped);
    }
}
