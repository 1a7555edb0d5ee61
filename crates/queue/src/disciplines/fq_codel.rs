//! FQ-CoDel (RFC 8290): deficit round robin over flows, new flows first, with a CoDel for each flow.

use super::codel::{self, Law, Source, State};
use crate::account::{Account, Waiting};
use crate::discipline::{Discipline, LOOK_AHEAD, Purge, Setup};
use crate::packet::Packet;
use crate::pool::{Chain, Pool};
use control::{Invalid, mix};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::num::NonZeroU32;
use units::{Bytes, Duration, Instant, Positive, Within};

/// FQ-CoDel (RFC 8290), under its names. The packet limit is `limit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "FqCodel"))]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Acceptable standing wait per flow (TARGET). Default 5 ms.
    pub target: Positive<Duration>,
    /// Time above TARGET before the first drop (INTERVAL). Default 100 ms.
    pub interval: Positive<Duration>,
    /// Backlog of a flow up to which CoDel drops nothing. Default 1514 B.
    pub mtu: Bytes,
    /// Bytes per flow and round, at least 256 B. Default 1514 B.
    pub quantum: Within<Bytes, 256>,
    /// Hash buckets: 1 to 65536. Default 1024.
    pub flows: Within<u32, 1, 65_536>,
    /// Most packets, up to half, dropped at once from the longest queue at the limit. Default 64.
    pub drop_batch: NonZeroU32,
    /// ECN marks instead of drops. Default true.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        let codel::Params { target, interval, mtu, .. } = codel::Params::default();
        Self {
            target,
            interval,
            mtu,
            quantum: const { Within::<Bytes, 256>::new(Bytes::new(1514)).expect("large enough") },
            flows: const { Within::<u32, 1, 65_536>::new(1024).expect("from 1 to 65536") },
            drop_batch: const { NonZeroU32::new(64).expect("above zero") },
            ecn: true,
        }
    }
}

impl Params {
    /// The parameters of each flow's CoDel.
    fn law(&self) -> Law {
        let Self { target, interval, mtu, ecn, .. } = *self;
        Law::new(&codel::Params { target, interval, mtu, ecn })
    }
}

/// No flow.
const NONE: u32 = u32::MAX;

/// The list that a flow is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    No,
    New,
    Old,
}

/// A queue to which flows are hashed.
#[derive(Clone, Debug)]
struct Flow {
    queue: Chain,
    /// Bytes that the flow may still send in this turn.
    deficit: i64,
    codel: State,
    listed: Listed,
    /// The next flow in its list.
    next: u32,
}

/// A list of flows in round-robin order.
#[derive(Clone, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// Packets by flow.
#[derive(Clone, Debug)]
pub(crate) struct FqCodel<P> {
    law: Law,
    quantum: i64,
    drop_batch: u32,
    /// Perturbation of the hash, different in every run.
    perturbation: u64,
    purges: bool,
    flows: Vec<Flow>,
    new: List,
    old: List,
    pool: Pool<P>,
    /// Packets already scheduled because the host looked ahead, or that go first.
    passed: VecDeque<Waiting<P>>,
}

impl<P: Packet> Discipline<P> for FqCodel<P> {
    type Params = Params;
    // It drops at the heads of flows: there is no end that all of them share.
    const PURGES_TAIL: bool = false;

    fn new(params: &Params, setup: &Setup) -> Result<Self, Invalid> {
        let idle = Flow { queue: Chain::EMPTY, deficit: 0, codel: State::default(), listed: Listed::No, next: NONE };
        Ok(Self {
            law: params.law(),
            quantum: i64::try_from(params.quantum.get().count()).unwrap_or(i64::MAX),
            drop_batch: params.drop_batch.get(),
            perturbation: mix(setup.seed),
            purges: setup.purge != Some(Purge::None),
            flows: vec![idle; params.flows.get() as usize],
            new: List { first: NONE, last: NONE },
            old: List { first: NONE, last: NONE },
            pool: Pool::new(setup.room),
            passed: VecDeque::with_capacity(LOOK_AHEAD),
        })
    }

    /// Takes an arriving packet. Without room, packets are dropped from the head of the longest queue, which includes
    /// it.
    fn enqueue(&mut self, account: &mut Account, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        let index = self.hash(&packet);
        if !account.fits_alone(len) {
            account.refused(len);
            dropped(packet);
            return;
        }
        while !account.fits(len) {
            let fattest = self.fattest(index, len);
            if !self.shed(account, fattest, dropped) {
                account.refused(len);
                account.settle(now);
                dropped(packet);
                return;
            }
        }
        self.append(index, Waiting { packet, since: now });
        account.joins(now, len);
    }

    /// Takes an arriving packet that goes before all others.
    fn enqueue_first(&mut self, account: &mut Account, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        if !account.fits_alone(len) {
            account.refused(len);
            dropped(packet);
            return;
        }
        while !account.fits(len) {
            self.make_way(account, dropped);
        }
        self.passed.push_front(Waiting { packet, since: now });
        account.joins(now, len);
    }

    fn peek(&mut self, account: &mut Account, now: Instant, index: usize, dropped: &mut impl FnMut(P)) -> Option<&P> {
        while self.passed.len() <= index && index < LOOK_AHEAD {
            let next = self.next(account, now, dropped)?;
            self.passed.push_back(next);
        }
        self.passed.get(index).map(|waiting| &waiting.packet)
    }

    fn remove(
        &mut self,
        account: &mut Account,
        now: Instant,
        index: usize,
        dropped: &mut impl FnMut(P),
    ) -> Option<Waiting<P>> {
        if index == self.passed.len() {
            return self.next(account, now, dropped);
        }
        self.peek(account, now, index, dropped)?;
        self.passed.remove(index)
    }

    /// Discards packets above the limit after it has shrunk.
    fn purge(&mut self, account: &mut Account, dropped: &mut impl FnMut(P)) {
        while self.purges && account.is_over() {
            self.make_way(account, dropped);
        }
    }

    /// Discards all packets that are `unwanted`: first among those already scheduled, then flow by flow.
    fn discard_where(
        &mut self,
        account: &mut Account,
        unwanted: &mut impl FnMut(&P) -> bool,
        dropped: &mut impl FnMut(P),
    ) {
        let Self { passed, flows, pool, .. } = self;
        passed.retain(|waiting| {
            let goes = unwanted(&waiting.packet);
            if goes {
                account.discarded(waiting.packet.len().count());
                dropped(waiting.packet);
            }
            !goes
        });
        for flow in flows {
            for _ in 0..flow.queue.packets {
                let Some(waiting) = flow.queue.pop(pool) else { break };
                if unwanted(&waiting.packet) {
                    account.discarded(waiting.packet.len().count());
                    dropped(waiting.packet);
                } else {
                    flow.queue.push(pool, waiting);
                }
            }
        }
    }
}

impl<P: Packet> FqCodel<P> {
    /// Sets other parameters of CoDel from the next packet on.
    pub(crate) fn follow(&mut self, params: &Params) {
        self.law = params.law();
    }

    /// The next packet that passes CoDel, of the flow whose turn it is (section 4.2).
    fn next(&mut self, account: &mut Account, now: Instant, dropped: &mut impl FnMut(P)) -> Option<Waiting<P>> {
        loop {
            let from = if self.new.first == NONE { Listed::Old } else { Listed::New };
            let index = self.list(from).first;
            let Self { flows, pool, law, quantum, .. } = self;
            let flow = flows.get_mut(index as usize)?;
            if flow.deficit <= 0 {
                flow.deficit = flow.deficit.saturating_add(*quantum);
                self.move_first(from, Listed::Old);
                continue;
            }
            let Flow { queue, codel, .. } = flow;
            let next = law.dequeue(codel, now, &mut Head { queue, pool, account, now, dropped });
            if let Some(waiting) = next {
                flow.deficit -= i64::try_from(waiting.packet.len().count()).unwrap_or(i64::MAX);
                return Some(waiting);
            }
            // A new flow passes through the old ones once, so that it cannot come back at once and starve them.
            let to = if from == Listed::New && self.old.first != NONE { Listed::Old } else { Listed::No };
            self.move_first(from, to);
        }
    }

    /// The queue of a packet's flow.
    fn hash(&self, packet: &P) -> usize {
        let hash = mix(packet.flow() ^ self.perturbation);
        let index = (u128::from(hash) * self.flows.len() as u128) >> 64;
        usize::try_from(index).expect("below the number of flows")
    }

    /// Adds a packet at the end of a flow's queue; a flow that is in no list becomes a new flow.
    fn append(&mut self, index: usize, waiting: Waiting<P>) {
        let Self { flows, pool, quantum, .. } = self;
        let flow = &mut flows[index];
        flow.queue.push(pool, waiting);
        if flow.listed == Listed::No {
            flow.deficit = *quantum;
            self.put(index, Listed::New);
        }
    }

    /// The flow with the most bytes (the first of equals), counting `len` bytes more for the flow `to`. Visits every
    /// flow.
    fn fattest(&self, to: usize, len: u64) -> usize {
        let bytes = |index: usize| self.flows[index].queue.bytes + if index == to { len } else { 0 };
        (1..self.flows.len()).fold(0, |fattest, index| if bytes(index) > bytes(fattest) { index } else { fattest })
    }

    /// Drops packets from the head of a flow's queue: half of them, but no more than a batch. False if it has none.
    fn shed(&mut self, account: &mut Account, index: usize, dropped: &mut impl FnMut(P)) -> bool {
        let Self { flows, pool, drop_batch, .. } = self;
        let Flow { queue, codel, .. } = &mut flows[index];
        let gone = queue.packets.div_ceil(2).min(*drop_batch);
        for waiting in (0..gone).map_while(|_| queue.pop(pool)) {
            account.discarded(waiting.packet.len().count());
            dropped(waiting.packet);
        }
        codel.overflowed(gone);
        gone > 0
    }

    /// Drops at least one packet: if no flow has any, the last of those already scheduled.
    fn make_way(&mut self, account: &mut Account, dropped: &mut impl FnMut(P)) {
        let fattest = self.fattest(0, 0);
        if !self.shed(account, fattest, dropped) {
            let waiting = self.passed.pop_back().expect("only a queue that holds something exceeds a limit");
            account.discarded(waiting.packet.len().count());
            dropped(waiting.packet);
        }
    }

    fn list(&mut self, which: Listed) -> &mut List {
        if which == Listed::New { &mut self.new } else { &mut self.old }
    }

    /// Moves the first flow of a list to the end of another, or out of both.
    fn move_first(&mut self, from: Listed, to: Listed) {
        let index = self.list(from).first;
        let flow = &mut self.flows[index as usize];
        flow.listed = Listed::No;
        let next = std::mem::replace(&mut flow.next, NONE);
        let list = self.list(from);
        list.first = next;
        if next == NONE {
            list.last = NONE;
        }
        if to != Listed::No {
            self.put(index as usize, to);
        }
    }

    /// Adds a flow at the end of a list.
    fn put(&mut self, index: usize, to: Listed) {
        self.flows[index].listed = to;
        let number = u32::try_from(index).expect("at most 65536 flows");
        let last = std::mem::replace(&mut self.list(to).last, number);
        match self.flows.get_mut(last as usize) {
            Some(before) => before.next = number,
            None => self.list(to).first = number,
        }
    }
}

/// The queue of the flow whose turn it is.
struct Head<'a, P, D> {
    queue: &'a mut Chain,
    pool: &'a mut Pool<P>,
    account: &'a mut Account,
    now: Instant,
    dropped: &'a mut D,
}

impl<P: Packet, D: FnMut(P)> Source<P> for Head<'_, P, D> {
    fn next(&mut self) -> Option<Waiting<P>> {
        self.queue.pop(self.pool)
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes
    }

    fn drop(&mut self, packet: P) {
        self.account.discarded(packet.len().count());
        self.account.settle(self.now);
        (self.dropped)(packet);
    }

    fn marked(&mut self, packet: &P) {
        self.account.marked(packet.len().count());
    }
}
