//! The queue of `turns`: round robin over flows without CoDel, thin packets first, and a bound on waiting times.
//!
//! At an access point the scheduler's [`Law`] determines which packets are thin (those of flows that send little), and
//! how much may wait. On its own the queue serves one station, and measures the time that a byte takes.

mod host;
mod law;
mod medium;
pub use host::{Pace, Ports, Rule, Turn};
pub use law::Law;

use crate::account::{Account, Waiting};
use crate::discipline::{Context, Discipline, LOOK_AHEAD, Purge, Setup};
use crate::flows::{Flow, Flows};
use crate::packet::{Ecn, Packet};
use control::Invalid;
use law::{KEPT, SPARSE};
use medium::OVERHEAD;
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant, Positive, Within, refuse_if, with_defaults};

with_defaults! {
    /// `turns` with one station: for a driver that pushes back, or under a shaper.
    pub struct Params as "TurnsQueue" {
        /// Longest wait of packets, above zero, at most 60 s. Default 100 ms.
        pub target_delay: Positive<Duration> = Self::TARGET_DELAY,
        /// Hash buckets of flows: 1 to 65536. Default 1024.
        pub flows: Within<u32, 1, 65_536> => 1024,
    }
}

impl Params {
    /// Default of `target_delay`.
    pub const TARGET_DELAY: Positive<Duration> =
        Positive::<Duration>::new(Duration::from_millis(100)).expect("above zero");
}

/// Factor by which packets of flows with short packets may wait longer than other packets.
const ACKS: u64 = 10;
/// Longest ACK with options, in bytes.
const SHORT: u64 = 128;
/// Bytes that each flow sends in a round, as in mac80211.
const QUANTUM: u64 = 300;
/// Part of the target (1/64) in which departing packets are measured together: drivers take packets in bursts.
const BURST: u64 = 64;

/// Number of flows above which flows with new packets have no precedence. Precedence of thin packets is bounded, that
/// of new flows is not.
const CROWD: u32 = 64;
/// Largest target. Until a 64th of the target has passed, no flow is known to be fat.
const LONGEST: Duration = Duration::from_secs(60);

/// State of a flow.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Time at which the flow's last packet arrived.
    last: Option<Instant>,
    /// Number of the flow's packets that go before all flows: thin packets, and packets that are already scheduled.
    ahead: u32,
}

/// Where the bounds come from.
#[derive(Clone, Debug)]
enum Bounds {
    /// The host has set them.
    Ordered(Pace),
    /// The queue measures the time that a byte takes while other packets wait behind it.
    Measured(Meter),
}

/// Measures the time of a byte, and the time on the link that thin packets may use.
#[derive(Clone, Debug)]
struct Meter {
    target: Duration,
    /// Time on the link that thin packets may use, in ns, and the time of the last count.
    credit: i64,
    counted: Instant,
    /// Average wall time of a byte in ps; `None` before the first packet with another behind it has left.
    per_byte: Option<u64>,
    /// Departure time of the last measured packet, if others waited behind it, and the bytes that have left since.
    busy_since: Option<Instant>,
    bytes: u64,
}

/// Packets of each flow, and thin packets apart.
#[derive(Clone, Debug)]
pub(crate) struct Turns<P> {
    bounds: Bounds,
    purges: bool,
    flows: Flows<P, Seen>,
    /// The longest flow when a packet last came or was dropped. Other flows may have become longer since.
    fattest: Option<usize>,
    /// Time since which more than two turns of packets have waited.
    full_since: Instant,
    /// Thin packets, and packets that were ordered to go first. Both go before all flows.
    first: VecDeque<Waiting<P>>,
    /// Packets that are already scheduled because the host has looked ahead.
    passed: VecDeque<Waiting<P>>,
}

impl<P: Packet> Discipline<P> for Turns<P> {
    type Params = Params;
    // It drops at the heads of flows, which share no tail.
    const PURGES_TAIL: bool = false;

    fn new(params: &Params, setup: &Setup) -> Result<Self, Invalid> {
        let target = params.target_delay.get();
        refuse_if!(target > LONGEST, Err(Invalid::new("target_delay", "must be at most 60 s")));
        Ok(Self {
            bounds: Bounds::Measured(Meter::new(target)),
            purges: setup.purge != Some(Purge::None),
            flows: Flows::new(params.flows.get(), QUANTUM, setup.seed).with_crowd(CROWD),
            fattest: None,
            full_since: Instant::ZERO,
            first: VecDeque::new(),
            passed: VecDeque::new(),
        })
    }

    /// Takes an arriving packet; thin ones go first. If a bound is exceeded, packets are dropped from the head of the
    /// longest flow.
    fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
        let len = packet.len().count();
        if !cx.account.fits_alone(len) {
            return cx.account.refuse(packet, cx.dropped);
        }
        let Pace { gap, most, patience, longest, .. } = self.pace(cx.now, packet.len());
        let waiting = u64::from(self.flows.listed).max(1);
        let gap = gap.map(|gap| (gap.min(SPARSE) * waiting).min(SPARSE).max(gap));
        let index = self.flows.hash(&packet);
        let Flow { queue, state, .. } = self.flows.flow_mut(index);
        let before = state.last.replace(cx.now);
        let is_rare = gap.is_some_and(|gap| before.is_none_or(|before| cx.now.since(before) >= gap));
        let is_thin = is_rare && queue.packets == 0 && state.ahead == 0;
        while !cx.account.fits(len) {
            if !self.shed(0, cx) {
                cx.account.refuse(packet, cx.dropped);
                return cx.account.settle(cx.now);
            }
        }
        let waiting = Waiting { packet, since: cx.now };
        debug_assert!(cx.account.fits(len));
        if is_thin {
            self.flows.flow_mut(index).state.ahead = 1;
            self.first.push_back(waiting);
            if let Bounds::Measured(meter) = &mut self.bounds {
                meter.spend(len);
            }
        } else {
            self.append(index, waiting);
        }
        cx.account.joins(cx.now, len);
        if longest.is_some() {
            return cx.account.settle(cx.now);
        }
        // This is the least that has waited since the last packet arrived.
        let before = cx.account.backlog().bytes.count().saturating_sub(len);
        if patience.is_some_and(|(stays, time)| {
            before <= stays.count() || cx.now.since(self.full_since) >= time && self.shed(SHORT, cx)
        }) {
            self.full_since = cx.now;
        }
        // ACKs are short. Their wait makes a station pay for what it sends, and their loss would slow no sender.
        for (times, least) in [(1, SHORT), (ACKS, 0)] {
            while cx.account.backlog().bytes.count() / times > most.count() && self.shed(least, cx) {}
        }
        cx.account.settle(cx.now);
    }

    /// Drops a packet. If no flow has any, drops the last scheduled packet.
    fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        if self.shed(0, cx) {
            return;
        }
        let last = self.passed.pop_back().or_else(|| self.first.pop_back());
        let waiting = last.expect("only a queue that holds something exceeds a limit");
        leaves(&mut self.flows, &waiting.packet);
        cx.account.discard(waiting.packet, cx.dropped);
    }

    fn put_first(&mut self, waiting: Waiting<P>) {
        let index = self.flows.hash(&waiting.packet);
        self.flows.flow_mut(index).state.ahead += 1;
        self.first.push_front(waiting);
    }

    fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P> {
        let Self { bounds, flows, first, passed, .. } = self;
        let Some(behind) = index.checked_sub(first.len()) else {
            return first.get(index).map(|waiting| &waiting.packet);
        };
        while passed.len() <= behind && behind < LOOK_AHEAD {
            let next = flows.next(|_, queue, pool| {
                loop {
                    let next = queue.pop(pool)?;
                    if !bounds.is_late(cx.account, cx.now, &next) {
                        return Some(next);
                    }
                    cx.account.discard(next.packet, cx.dropped);
                    cx.account.settle(cx.now);
                }
            })?;
            let index = flows.hash(&next.packet);
            flows.flow_mut(index).state.ahead += 1;
            passed.push_back(next);
        }
        debug_assert!((first.len() + passed.len()) as u64 <= cx.account.backlog().packets);
        passed.get(behind).map(|waiting| &waiting.packet)
    }

    fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        self.peek(index, cx)?;
        let mut waiting = match index.checked_sub(self.first.len()) {
            Some(behind) => self.passed.remove(behind)?,
            None => self.first.remove(index)?,
        };
        leaves(&mut self.flows, &waiting.packet);
        if let Bounds::Ordered(Pace { mark: Some(mark), .. }) = self.bounds
            && mark.hits(waiting.packet.ecn(), cx.now.since(waiting.since), cx.account.backlog().bytes)
        {
            waiting.packet.mark();
            cx.account.marked(waiting.packet.len().count());
        }
        if let Bounds::Measured(meter) = &mut self.bounds {
            meter.leaves(cx.now, waiting.packet.len(), cx.account.backlog().packets > 1);
        }
        Some(waiting)
    }

    /// Discards packets above the limit after the limit has shrunk.
    fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        while self.purges && cx.account.is_over() {
            self.make_way(cx);
        }
        debug_assert!(!self.purges || !cx.account.is_over(), "the limit holds");
    }

    fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        let Self { flows, first, passed, .. } = self;
        let ahead = &mut |packet: &P| {
            let goes = unwanted(packet);
            if goes {
                leaves(flows, packet);
            }
            goes
        };
        for line in [first, passed] {
            cx.account.discard_where(line, ahead, cx.dropped);
        }
        self.flows.discard_where(unwanted, cx);
        debug_assert!((self.first.len() + self.passed.len()) as u64 <= cx.account.backlog().packets);
    }
}

impl<P: Packet> Turns<P> {
    /// Sets the bounds for packets that arrive from now on, as the host orders.
    pub(crate) fn set_pace(&mut self, pace: Pace) {
        self.bounds = Bounds::Ordered(pace);
    }

    /// Returns the number of packets that go before all flows.
    pub(crate) fn thin_packets(&self) -> usize {
        self.first.len()
    }

    /// Returns the bounds for a packet of this length.
    fn pace(&mut self, now: Instant, len: Bytes) -> Pace {
        match &mut self.bounds {
            Bounds::Ordered(pace) => *pace,
            Bounds::Measured(meter) => {
                meter.count(now);
                meter.pace(len)
            }
        }
    }

    /// Adds a packet at the end of a flow.
    fn append(&mut self, index: usize, waiting: Waiting<P>) {
        let bytes = |flows: &mut Flows<P, Seen>, index| flows.flow_mut(index).queue.bytes;
        self.flows.append(index, waiting);
        let most = self.fattest.map_or(0, |fattest| bytes(&mut self.flows, fattest));
        if bytes(&mut self.flows, index) > most {
            self.fattest = Some(index);
        }
    }

    /// Drops the packet at the head of the longest known flow. False if no flow has any packet, or if its packets are
    /// shorter than `least` on average.
    fn shed(&mut self, least: u64, cx: &mut Context<impl FnMut(P)>) -> bool {
        let Some(fattest) = self.flows.fattest_listed(self.fattest) else { return false };
        self.fattest = Some(fattest);
        let (flow, pool) = self.flows.flow_and_pool(fattest);
        if flow.queue.bytes < least * u64::from(flow.queue.packets) {
            return false;
        }
        let Some(waiting) = flow.queue.pop(pool) else { return false };
        if flow.queue.packets == 0 {
            // If all flows are alike, the next one is as long, and those before it are empty.
            self.fattest = self.flows.after(fattest);
        }
        cx.account.discard(waiting.packet, cx.dropped);
        true
    }
}

/// Records that a packet no longer goes before all flows.
fn leaves<P: Packet>(flows: &mut Flows<P, Seen>, packet: &P) {
    let index = flows.hash(packet);
    let ahead = &mut flows.flow_mut(index).state.ahead;
    debug_assert!(*ahead > 0, "it went before all flows");
    *ahead = ahead.saturating_sub(1);
}

impl Bounds {
    /// True if a packet must be dropped on departure, because it has waited too long.
    fn is_late<P: Packet>(&self, account: &Account, now: Instant, Waiting { packet, since }: &Waiting<P>) -> bool {
        let Self::Ordered(Pace { most, longest: Some(longest), .. }) = self else { return false };
        let times = if packet.len().count() < SHORT { ACKS } else { 1 };
        account.backlog().bytes > *most && now.since(*since) > *longest * times
    }
}

impl Meter {
    fn new(target: Duration) -> Self {
        Self { target, credit: 0, counted: Instant::ZERO, per_byte: None, busy_since: None, bytes: 0 }
    }

    /// Adds half of the time since the last count to the time for thin packets: their share beside one station.
    fn count(&mut self, now: Instant) {
        debug_assert!(self.counted <= now, "time does not run back");
        let earned = i64::try_from(now.since(self.counted).as_nanos() / 2).unwrap_or(i64::MAX);
        let most = i64::try_from(self.target.as_nanos() / 2).unwrap_or(i64::MAX);
        self.credit = self.credit.saturating_add(earned).min(most);
        self.counted = now;
        debug_assert!(earned >= 0 && self.credit <= most);
    }

    /// Records that a thin packet of this length joins.
    fn spend(&mut self, len: u64) {
        let wall = self.per_byte.unwrap_or(0).saturating_mul(len) / 1_000;
        self.credit = self.credit.saturating_sub(i64::try_from(wall).unwrap_or(i64::MAX));
    }

    /// Records that a packet leaves. `more`: others wait behind it.
    fn leaves(&mut self, now: Instant, len: Bytes, more: bool) {
        debug_assert!(self.busy_since.is_none_or(|since| since <= now), "time does not run back");
        if let Some(since) = self.busy_since {
            self.bytes += len.count();
            let time = now.since(since);
            if time >= self.target / BURST {
                let seen = time.as_nanos().saturating_mul(1_000) / self.bytes.max(1);
                self.per_byte = Some(self.per_byte.map_or(seen, |before| before - before / 16 + seen / 16));
            } else if more {
                return;
            }
        }
        (self.busy_since, self.bytes) = (more.then_some(now), 0);
    }

    /// Returns the bounds of the law for one station.
    fn pace(&self, len: Bytes) -> Pace {
        let Some(per_byte) = self.per_byte else {
            let most = Bytes::new(u64::MAX);
            return Pace { gap: Some(OVERHEAD * 2), most, patience: None, longest: None, mark: None };
        };
        let most = self.target.as_nanos().saturating_mul(1_000) / per_byte.max(1);
        let wall = Duration::from_nanos(per_byte.saturating_mul(len.count()) / 1_000);
        let gap = (self.credit >= 0).then(|| (OVERHEAD + wall) * 2);
        Pace { gap, most: Bytes::new(most.max(KEPT)), patience: None, longest: None, mark: None }
    }
}

/// When a packet is marked. A station with less than a turn of waiting data gets shorter aggregates, so marks leave it
/// a turn. Flow queues separate L4S from other flows, as a dual queue would (RFC 9330, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Time for which packets may wait (D in `docs/turns.md`).
    pub target: Duration,
    /// Number of bytes in a turn of the station.
    pub turn: Bytes,
}

impl Mark {
    /// True if a packet must be marked that leaves after the wait `waited`; `backlog` includes the packet. A sender of
    /// L4S (RFC 9331) reduces its window only a little, so that a turn remains. CUBIC's window falls to 0.7 times its
    /// size, so one and a half turns must wait.
    pub fn hits(self, ecn: Ecn, waited: Duration, backlog: Bytes) -> bool {
        let (waits, turn) = (backlog.count(), self.turn.count());
        match ecn {
            Ecn::Ect1 => waits > turn && waited > self.target / 2,
            Ecn::Ect0 => waits > turn.saturating_add(turn / 2) && waited > self.target,
            Ecn::NotEct | Ecn::Ce => false,
        }
    }
}
