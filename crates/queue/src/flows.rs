//! Flow queues: a hash assigns packets to flows. The flows take turns in a deficit round robin in bytes, new flows
//! first (RFC 8290, section 4).

use crate::account::Waiting;
use crate::discipline::Context;
use crate::packet::Packet;
use crate::pool::{Chain, Pool};
use control::mix;

const NONE: u32 = u32::MAX;
/// Number of flows that are searched for the longest, so that a drop costs the same for any number of flows.
const LOOKED_AT: usize = 16;
/// Quanta per turn in a crowd, about a full packet: flows share buckets, and a debt's round is as long as the queue.
const OF_CROWD: i64 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    No,
    New,
    Old,
}

/// A queue to which flows are hashed, with the state of its discipline.
#[derive(Clone, Debug)]
pub(crate) struct Flow<S> {
    pub(crate) queue: Chain,
    pub(crate) state: S,
    /// Bytes that the flow may still send in this turn.
    deficit: i64,
    listed: Listed,
    next: u32,
}

/// A list of flows in round-robin order.
#[derive(Clone, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// Packets of all flows.
#[derive(Clone, Debug)]
pub(crate) struct Flows<P, S> {
    quantum: i64,
    /// Perturbation of the hash; it differs from run to run.
    perturbation: u64,
    /// Number of flows. Memory is taken with the first packet, because most queues of most networks never get one.
    count: u32,
    buckets: Vec<Flow<S>>,
    new: List,
    old: List,
    /// Number of flows in the lists.
    pub(crate) listed: u32,
    /// Number of listed flows above which a new flow has no precedence over old ones, and turns are longer.
    crowd: u32,
    pool: Pool<P>,
}

impl<P: Packet, S: Clone + Default> Flows<P, S> {
    /// Makes empty flow queues that send `quantum` bytes in a turn.
    pub(crate) fn new(flows: u32, quantum: u64, seed: u64) -> Self {
        Self {
            quantum: i64::try_from(quantum).unwrap_or(i64::MAX),
            perturbation: mix(seed),
            count: flows,
            buckets: Vec::new(),
            new: List { first: NONE, last: NONE },
            old: List { first: NONE, last: NONE },
            listed: 0,
            crowd: u32::MAX,
            pool: Pool::new(),
        }
    }

    /// Gives new flows precedence only while fewer than `crowd` flows are listed: with more, old flows would wait long.
    pub(crate) fn with_crowd(self, crowd: u32) -> Self {
        Self { crowd, ..self }
    }

    pub(crate) fn hash(&mut self, packet: &P) -> usize {
        if self.buckets.is_empty() {
            let idle = Flow { queue: Chain::EMPTY, state: S::default(), deficit: 0, listed: Listed::No, next: NONE };
            self.buckets.resize(self.count as usize, idle);
        }
        let hash = mix(packet.flow() ^ self.perturbation);
        let index = (u128::from(hash) * self.buckets.len() as u128) >> 64;
        usize::try_from(index).expect("below the number of flows")
    }

    pub(crate) fn flow_mut(&mut self, index: usize) -> &mut Flow<S> {
        &mut self.buckets[index]
    }

    /// Returns a flow, and the memory of all packets.
    pub(crate) fn flow_and_pool(&mut self, index: usize) -> (&mut Flow<S>, &mut Pool<P>) {
        (&mut self.buckets[index], &mut self.pool)
    }

    /// Adds a packet at the end of a flow's queue. A flow in no list becomes a new flow or, in a crowd, an old one.
    pub(crate) fn append(&mut self, index: usize, waiting: Waiting<P>) {
        let Self { buckets, pool, quantum, .. } = self;
        let flow = &mut buckets[index];
        flow.queue.push(pool, waiting);
        if flow.listed == Listed::No {
            flow.deficit = *quantum;
            self.listed += 1;
            self.put(index, if self.listed > self.crowd { Listed::Old } else { Listed::New });
        }
        debug_assert!(self.buckets[index].listed != Listed::No, "who has packets gets turns");
        debug_assert!(self.buckets[index].queue.packets > 0);
    }

    /// Returns the next packet of the flow whose turn it is, as `dequeue` takes it from the flow; `None` if no flow has
    /// a packet (section 4.2).
    pub(crate) fn next(
        &mut self,
        mut dequeue: impl FnMut(&mut S, &mut Chain, &mut Pool<P>) -> Option<Waiting<P>>,
    ) -> Option<Waiting<P>> {
        loop {
            let (from, index) = self.front();
            let Self { buckets, pool, quantum, .. } = self;
            let flow = buckets.get_mut(index)?;
            debug_assert!(flow.listed == from && flow.deficit <= quantum.saturating_mul(OF_CROWD));
            if flow.deficit > 0
                && let Some(waiting) = dequeue(&mut flow.state, &mut flow.queue, pool)
            {
                flow.deficit -= i64::try_from(waiting.packet.len().count()).unwrap_or(i64::MAX);
                return Some(waiting);
            }
            self.pass(from, index);
        }
    }

    /// Returns the flow whose turn is next, and its list.
    fn front(&self) -> (Listed, usize) {
        let from = if self.new.first == NONE { Listed::Old } else { Listed::New };
        let List { first, .. } = if from == Listed::New { &self.new } else { &self.old };
        (from, *first as usize)
    }

    /// Skips the flow whose turn is next, because it is in debt or empty.
    fn pass(&mut self, from: Listed, index: usize) {
        let flow = &mut self.buckets[index];
        let is_in_debt = flow.deficit <= 0;
        debug_assert!(is_in_debt || flow.queue.packets == 0, "who may send and has packets is not passed over");
        if is_in_debt {
            let quanta = if self.listed > self.crowd { OF_CROWD } else { 1 };
            flow.deficit = flow.deficit.saturating_add(self.quantum.saturating_mul(quanta));
        }
        // A new flow passes through the old ones once, so that it cannot return at once and starve them.
        let stays = is_in_debt || from == Listed::New && self.old.first != NONE;
        self.move_first(from, if stays { Listed::Old } else { Listed::No });
    }

    /// Returns the flow with the most bytes, the first among equals. It counts the packet that is `arriving`: its flow
    /// and its bytes. A flow whose packets have zero bytes counts as longer than an empty one. `None` before the first
    /// packet. It visits every flow.
    pub(crate) fn fattest(&self, arriving: Option<(usize, u64)>) -> Option<usize> {
        let size = |index: usize| {
            let Chain { bytes, packets, .. } = self.buckets[index].queue;
            match arriving {
                Some((to, len)) if to == index => (bytes + len, true),
                _ => (bytes, packets > 0),
            }
        };
        (0..self.buckets.len()).rev().max_by_key(|&index| size(index))
    }

    /// Returns the flow with the most bytes, the first among equals, of `known` and the first [`LOOKED_AT`] flows in
    /// order of their turns; `None` without packets. If none of these has packets, it skips the next flows until one
    /// has. Each is skipped only once, so the cost of a drop does not grow with the number of empty flows.
    pub(crate) fn fattest_listed(&mut self, known: Option<usize>) -> Option<usize> {
        let size = |flow: &Flow<S>| (flow.queue.bytes, flow.queue.packets > 0);
        let of_known = known.map_or((0, false), |index| size(&self.buckets[index]));
        let (mut fattest, mut most, mut looked) = (None, (0, false), 0);
        for mut index in [self.new.first, self.old.first] {
            while looked < LOOKED_AT
                && let Some(flow) = self.buckets.get(index as usize)
            {
                if size(flow) > most {
                    (fattest, most) = (Some(index as usize), size(flow));
                }
                looked += 1;
                index = flow.next;
            }
        }
        debug_assert!(fattest.is_none() || most.1, "it has packets");
        if most.max(of_known).1 {
            return if of_known > most { known } else { fattest };
        }
        loop {
            let (from, index) = self.front();
            if self.buckets.get(index)?.queue.packets > 0 {
                return Some(index);
            }
            self.pass(from, index);
        }
    }

    /// Returns the next flow in a flow's list.
    pub(crate) fn after(&self, index: usize) -> Option<usize> {
        let next = self.buckets[index].next;
        (next != NONE).then_some(next as usize)
    }

    /// Discards the packets that are `unwanted`, one flow after the other.
    pub(crate) fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        let Self { buckets, pool, .. } = self;
        for flow in buckets {
            flow.queue.discard_where(pool, unwanted, cx);
        }
    }

    fn list(&mut self, which: Listed) -> &mut List {
        if which == Listed::New { &mut self.new } else { &mut self.old }
    }

    /// Moves the first flow of a list to the end of another list, or removes it from both.
    fn move_first(&mut self, from: Listed, to: Listed) {
        let index = self.list(from).first;
        let flow = &mut self.buckets[index as usize];
        debug_assert!(flow.listed == from && (to != Listed::No || flow.queue.packets == 0));
        flow.listed = Listed::No;
        let next = std::mem::replace(&mut flow.next, NONE);
        let list = self.list(from);
        list.first = next;
        if next == NONE {
            list.last = NONE;
        }
        if to == Listed::No {
            self.listed -= 1;
        } else {
            self.put(index as usize, to);
        }
    }

    fn put(&mut self, index: usize, to: Listed) {
        let before = std::mem::replace(&mut self.buckets[index].listed, to);
        debug_assert!(before == Listed::No && to != Listed::No && self.buckets[index].next == NONE);
        let number = u32::try_from(index).expect("at most 65536 flows");
        let last = std::mem::replace(&mut self.list(to).last, number);
        match self.buckets.get_mut(last as usize) {
            Some(before) => before.next = number,
            None => self.list(to).first = number,
        }
    }
}
