//! A FIFO with a law that drops or marks arriving packets before the queue is full.

use super::fifo::{End, Fifo};
use crate::account::Waiting;
use crate::discipline::{Context, Discipline, Setup};
use crate::packet::{Ecn, Packet};
use control::{Count, Invalid, Random};
use units::{Duration, Instant};

/// Decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Enqueue the packet.
    Keep,
    /// Mark and enqueue the packet; drop it if it does not support ECN.
    Mark,
    Drop,
}

/// A law that decides about arriving packets. Calls come in order of time.
pub(crate) trait Law: Sized {
    /// The law's parameter table in a scenario, with its defaults.
    type Params: Default;

    /// Builds the law at the start of the run.
    ///
    /// # Errors
    /// Names the key of the first parameter that cannot be used.
    fn new(params: &Self::Params) -> Result<Self, Invalid>;

    /// Decides about a packet that arrives with this backlog. `draw` returns a number uniform on [0, 1).
    fn arrives(&mut self, now: Instant, waiting: Count, draw: impl FnOnce() -> f64) -> Verdict;

    /// Tells the law that a packet was dropped because the queue was full, although the law had accepted it.
    fn overflows(&mut self);

    /// Tells the law that a packet leaves after the wait `waited`. `empty`: no packet waits behind it.
    fn leaves(&mut self, now: Instant, waited: Duration, empty: bool);
}

/// A FIFO with a law that decides about arriving packets.
#[derive(Clone, Debug)]
pub(crate) struct EarlyDrop<P, L> {
    fifo: Fifo<P>,
    law: L,
    random: Random,
}

impl<P: Packet, L: Law> Discipline<P> for EarlyDrop<P, L> {
    type Params = L::Params;

    fn new(params: &L::Params, setup: &Setup) -> Result<Self, Invalid> {
        Ok(Self { fifo: Fifo::new(End::Tail, setup.purge), law: L::new(params)?, random: Random::new(setup.seed) })
    }

    fn enqueue(&mut self, mut packet: P, cx: &mut Context<impl FnMut(P)>) {
        let len = packet.len().count();
        let backlog = cx.account.backlog();
        if !cx.account.fits(len) {
            self.law.overflows();
            self.fifo.enqueue(packet, cx);
            return;
        }
        let verdict = self.law.arrives(cx.now, backlog, || self.random.unit());
        match verdict {
            Verdict::Keep => {}
            Verdict::Mark if packet.ecn() != Ecn::NotEct => {
                packet.mark();
                cx.account.marked(len);
            }
            Verdict::Mark | Verdict::Drop => {
                return cx.account.refuse(packet, cx.dropped);
            }
        }
        self.fifo.enqueue(packet, cx);
    }

    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        self.fifo.make_way(cx);
    }

    /// Puts a packet first. The law does not judge it.
    fn put_first(&mut self, waiting: Waiting<P>) {
        self.fifo.put_first(waiting);
    }

    fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P> {
        self.fifo.peek(index, cx)
    }

    fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        let waiting = self.fifo.remove(index, cx)?;
        debug_assert!(waiting.since <= cx.now, "it has arrived");
        self.law.leaves(cx.now, cx.now.since(waiting.since), self.fifo.len() == 0);
        Some(waiting)
    }

    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        self.fifo.purge(cx);
    }

    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        self.fifo.discard_where(unwanted, cx);
    }
}
