//! FQ-CoDel (RFC 8290): deficit round robin over flows, new flows first, with a CoDel for each flow.

use super::codel::{self, Law, Source, State};
use crate::account::{Account, Waiting};
use crate::discipline::{Discipline, LOOK_AHEAD, Purge, Setup};
use crate::flows::{Flow, Flows};
use crate::packet::Packet;
use crate::pool::{Chain, Pool};
use control::Invalid;
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

/// Packets by flow, with a CoDel for each flow.
#[derive(Clone, Debug)]
pub(crate) struct FqCodel<P> {
    law: Law,
    drop_batch: u32,
    purges: bool,
    flows: Flows<P, State>,
    /// Packets already scheduled because the host looked ahead, or that go first.
    passed: VecDeque<Waiting<P>>,
}

impl<P: Packet> Discipline<P> for FqCodel<P> {
    type Params = Params;
    // It drops at the heads of flows: there is no end that all of them share.
    const PURGES_TAIL: bool = false;

    fn new(params: &Params, setup: &Setup) -> Result<Self, Invalid> {
        Ok(Self {
            law: params.law(),
            drop_batch: params.drop_batch.get(),
            purges: setup.purge != Some(Purge::None),
            flows: Flows::new(params.flows.get(), params.quantum.get().count(), setup.seed, setup.room),
            passed: VecDeque::with_capacity(LOOK_AHEAD),
        })
    }

    /// Takes an arriving packet. Without room, packets are dropped from the head of the longest queue, which includes
    /// it.
    fn enqueue(&mut self, account: &mut Account, now: Instant, packet: P, dropped: &mut impl FnMut(P)) {
        let len = packet.len().count();
        let index = self.flows.hash(&packet);
        if !account.fits_alone(len) {
            account.refused(len);
            dropped(packet);
            return;
        }
        while !account.fits(len) {
            let fattest = self.flows.fattest(index, len);
            if !self.shed(account, fattest, dropped) {
                account.refused(len);
                account.settle(now);
                dropped(packet);
                return;
            }
        }
        self.flows.append(index, Waiting { packet, since: now });
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
        self.passed.retain(|waiting| {
            let goes = unwanted(&waiting.packet);
            if goes {
                account.discarded(waiting.packet.len().count());
                dropped(waiting.packet);
            }
            !goes
        });
        self.flows.discard_where(account, unwanted, dropped);
    }
}

impl<P: Packet> FqCodel<P> {
    /// Sets other parameters of CoDel from the next packet on.
    pub(crate) fn follow(&mut self, params: &Params) {
        self.law = params.law();
    }

    /// The next packet that passes CoDel, of the flow whose turn it is (section 4.2).
    fn next(&mut self, account: &mut Account, now: Instant, dropped: &mut impl FnMut(P)) -> Option<Waiting<P>> {
        let Self { flows, law, .. } = self;
        flows.next(|codel, queue, pool| law.dequeue(codel, now, &mut Head { queue, pool, account, now, dropped }))
    }

    /// Drops packets from the head of a flow's queue: half of them, but no more than a batch. False if it has none.
    fn shed(&mut self, account: &mut Account, index: usize, dropped: &mut impl FnMut(P)) -> bool {
        let Self { flows, drop_batch, .. } = self;
        let (Flow { queue, state: codel, .. }, pool) = flows.flow_and_pool(index);
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
        let fattest = self.flows.fattest(0, 0);
        if !self.shed(account, fattest, dropped) {
            let waiting = self.passed.pop_back().expect("only a queue that holds something exceeds a limit");
            account.discarded(waiting.packet.len().count());
            dropped(waiting.packet);
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
