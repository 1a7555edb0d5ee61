//! Flow queues (RFC 8290): deficit round robin over flows, new flows first, with a law for each flow.

use super::codel::Source;
use crate::account::Waiting;
use crate::discipline::{Context, Discipline, LOOK_AHEAD, Purge, Setup};
use crate::flows::{Flow, Flows};
use crate::packet::Packet;
use crate::pool::{Chain, Pool};
use control::Invalid;
use std::collections::VecDeque;
use std::fmt::Debug;
use units::Instant;

/// A law that decides about the packets at the head of each flow.
pub(crate) trait FlowLaw: Sized {
    /// The discipline's parameter table in a scenario, with its defaults.
    type Params: Default;
    type State: Clone + Debug + Default;

    /// Builds the law at the start of the run. `seed` determines its random numbers.
    fn new(params: &Self::Params, seed: u64) -> Self;

    fn shape(params: &Self::Params) -> Shape;

    /// Returns the next packet of a flow that the law does not drop.
    fn dequeue<P: Packet>(
        &mut self,
        state: &mut Self::State,
        now: Instant,
        source: &mut impl Source<P>,
    ) -> Option<Waiting<P>>;

    /// Tells the law that packets of a flow were dropped because the queue was full.
    fn overflowed(&mut self, state: &mut Self::State, now: Instant, packets: u32);
}

/// Number of flow queues, and their turns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) flows: u32,
    /// Number of bytes that a flow sends in each round.
    pub(crate) quantum: u64,
    /// Largest number of packets dropped at once from the longest queue at the limit; at most half of them.
    pub(crate) drop_batch: u32,
}

/// Packets of each flow, with a law for each flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowQueues<P, L: FlowLaw> {
    pub(super) law: L,
    drop_batch: u32,
    purges: bool,
    flows: Flows<P, L::State>,
    /// Packets that are already scheduled because the host has looked ahead, or that go first.
    passed: VecDeque<Waiting<P>>,
}

impl<P: Packet, L: FlowLaw> Discipline<P> for FlowQueues<P, L> {
    type Params = L::Params;
    // It drops at the heads of flows, which share no tail.
    const PURGES_TAIL: bool = false;

    fn new(params: &L::Params, setup: &Setup) -> Result<Self, Invalid> {
        let Shape { flows, quantum, drop_batch } = L::shape(params);
        Ok(Self {
            law: L::new(params, setup.seed),
            drop_batch,
            purges: setup.purge != Some(Purge::None),
            flows: Flows::new(flows, quantum, setup.seed),
            passed: VecDeque::new(),
        })
    }

    /// Takes an arriving packet. If there is no room, packets at the head of the longest queue are dropped; the new
    /// packet counts as queued.
    fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
        let len = packet.len().count();
        let index = self.flows.hash(&packet);
        if !cx.account.fits_alone(len) {
            return cx.account.refuse(packet, cx.dropped);
        }
        while !cx.account.fits(len) {
            if !self.shed(Some((index, len)), cx) {
                cx.account.refuse(packet, cx.dropped);
                return cx.account.settle(cx.now);
            }
        }
        self.flows.append(index, Waiting { packet, since: cx.now });
        cx.account.joins(cx.now, len);
    }

    /// Drops at least one packet. If no flow has any, drops the last scheduled packet.
    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        if !self.shed(None, cx) {
            let waiting = self.passed.pop_back().expect("only a queue that holds something exceeds a limit");
            cx.account.discard(waiting.packet, cx.dropped);
        }
    }

    fn put_first(&mut self, waiting: Waiting<P>) {
        self.passed.push_front(waiting);
    }

    fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P> {
        while self.passed.len() <= index && index < LOOK_AHEAD {
            let next = self.next(cx)?;
            self.passed.push_back(next);
        }
        debug_assert!(self.passed.len() as u64 <= cx.account.backlog().packets);
        self.passed.get(index).map(|waiting| &waiting.packet)
    }

    fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        if index == self.passed.len() {
            return self.next(cx);
        }
        self.peek(index, cx)?;
        self.passed.remove(index)
    }

    /// Discards packets above the limit after the limit has shrunk.
    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        while self.purges && cx.account.is_over() {
            self.make_way(cx);
        }
        debug_assert!(!self.purges || !cx.account.is_over(), "the limit holds");
    }

    /// Discards all packets that are `unwanted`: first those already scheduled, then those of each flow.
    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        cx.account.discard_where(&mut self.passed, unwanted, cx.dropped);
        self.flows.discard_where(unwanted, cx);
        debug_assert!(self.passed.len() as u64 <= cx.account.backlog().packets);
    }
}

impl<P: Packet, L: FlowLaw> FlowQueues<P, L> {
    /// Returns the next packet that the law passes, of the flow whose turn it is (section 4.2).
    fn next(&mut self, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        let Self { flows, law, .. } = self;
        flows.next(|state, queue, pool| law.dequeue(state, cx.now, &mut Head { queue, pool, cx }))
    }

    /// Drops packets from the head of the longest queue; the packet that is `arriving` counts, too. It drops half of
    /// them, but at most a batch. False if the queue has no packets.
    fn shed(&mut self, arriving: Option<(usize, u64)>, cx: &mut Context<impl FnMut(P)>) -> bool {
        let Self { flows, drop_batch, law, .. } = self;
        let Some(fattest) = flows.fattest(arriving) else { return false };
        let (Flow { queue, state, .. }, pool) = flows.flow_and_pool(fattest);
        let gone = queue.packets.div_ceil(2).min(*drop_batch);
        for waiting in (0..gone).map_while(|_| queue.pop(pool)) {
            cx.account.discard(waiting.packet, cx.dropped);
        }
        debug_assert!(gone * 2 <= queue.packets + gone + 1, "at most half");
        if gone > 0 {
            law.overflowed(state, cx.now, gone);
        }
        gone > 0
    }
}

/// The queue of the flow whose turn it is.
struct Head<'a, 'c, P, D> {
    queue: &'a mut Chain,
    pool: &'a mut Pool<P>,
    cx: &'a mut Context<'c, D>,
}

impl<P: Packet, D: FnMut(P)> Source<P> for Head<'_, '_, P, D> {
    fn next(&mut self) -> Option<Waiting<P>> {
        self.queue.pop(self.pool)
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes
    }

    fn drop(&mut self, packet: P) {
        self.cx.account.discard(packet, self.cx.dropped);
        self.cx.account.settle(self.cx.now);
    }

    fn marked(&mut self, packet: &P) {
        self.cx.account.marked(packet.len().count());
    }
}
