//! A FIFO whose packets CoDel's law judges at the head.

use super::codel::{Law, Params, Source, State};
use super::fifo::{End, Fifo};
use crate::account::Waiting;
use crate::discipline::{Context, Discipline, LOOK_AHEAD, Purge, Setup};
use crate::packet::Packet;
use control::Invalid;

/// Packets in order of arrival. If the host has looked ahead, packets at the head have passed the law already.
#[derive(Clone, Debug)]
pub(crate) struct CodelQueue<P> {
    fifo: Fifo<P>,
    /// Number of packets at the head that the law has passed.
    passed: usize,
    law: Law,
    state: State,
}

impl<P: Packet> Discipline<P> for CodelQueue<P> {
    type Params = Params;

    fn new(params: &Params, setup: &Setup) -> Result<Self, Invalid> {
        // CoDel drops at the head.
        let fifo = Fifo::new(End::Tail, Some(setup.purge.unwrap_or(Purge::Head)));
        Ok(Self { fifo, passed: 0, law: Law::new(params), state: State::default() })
    }

    fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
        self.fifo.enqueue(packet, cx);
    }

    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        self.fifo.make_way(cx);
        self.passed = self.passed.min(self.fifo.len());
        debug_assert_eq!(self.fifo.len() as u64, cx.account.backlog().packets);
    }

    /// Puts a packet before all waiting packets. Packets that the law has passed remain so, and the new packet counts
    /// among them without a decision.
    fn put_first(&mut self, waiting: Waiting<P>) {
        self.fifo.put_first(waiting);
        self.passed += 1;
    }

    fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P> {
        while self.passed <= index && index < LOOK_AHEAD {
            let next = self.next(cx)?;
            self.fifo.put_back(self.passed, next);
            self.passed += 1;
        }
        debug_assert!(self.passed <= self.fifo.len());
        if index < self.passed { self.fifo.peek(index, cx) } else { None }
    }

    fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        if index == self.passed {
            return self.next(cx);
        }
        self.peek(index, cx)?;
        debug_assert!(index < self.passed && self.passed <= self.fifo.len());
        self.passed -= 1;
        self.fifo.remove(index, cx)
    }

    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        let before = self.fifo.len();
        self.fifo.purge(cx);
        let gone = before - self.fifo.len();
        self.passed = match self.fifo.purge {
            Purge::Head => self.passed.saturating_sub(gone),
            Purge::Tail | Purge::None => self.passed.min(self.fifo.len()),
        };
        debug_assert!(self.passed <= self.fifo.len());
    }

    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        let (mut index, mut passed) = (0, self.passed);
        let seen = &mut |packet: &P| {
            let goes = unwanted(packet);
            passed -= usize::from(goes && index < self.passed);
            index += 1;
            goes
        };
        self.fifo.discard_where(seen, cx);
        self.passed = passed;
        debug_assert!(self.passed <= self.fifo.len());
    }
}

impl<P: Packet> CodelQueue<P> {
    /// Removes and returns the next packet that the law passes.
    fn next(&mut self, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        let Self { fifo, passed, law, state } = self;
        let passed_bytes: u64 = fifo.iter().take(*passed).map(|packet| packet.len().count()).sum();
        debug_assert!(*passed <= fifo.len() && passed_bytes <= cx.account.backlog().bytes.count());
        let bytes = cx.account.backlog().bytes.count() - passed_bytes;
        law.dequeue(state, cx.now, &mut Head { fifo, passed: *passed, bytes, cx })
    }
}

/// The packets behind those that the law has passed.
struct Head<'a, 'c, P, D> {
    fifo: &'a mut Fifo<P>,
    passed: usize,
    bytes: u64,
    cx: &'a mut Context<'c, D>,
}

impl<P: Packet, D: FnMut(P)> Source<P> for Head<'_, '_, P, D> {
    fn next(&mut self) -> Option<Waiting<P>> {
        let next = self.fifo.remove(self.passed, self.cx)?;
        self.bytes -= next.packet.len().count();
        Some(next)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn drop(&mut self, packet: P) {
        self.cx.account.discard(packet, self.cx.dropped);
        self.cx.account.settle(self.cx.now);
    }

    fn marked(&mut self, packet: &P) {
        self.cx.account.marked(packet.len().count());
    }
}
