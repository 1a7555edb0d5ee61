//! Structs through which the discipline and the agent communicate; the build makes them from `shared.h`.

use super::mechanism::{LONGEST_SILENCE, Mechanism, limits};
use crate::device::wish::Wish;
use control::{Limit, Mark, Measures};
use units::{Duration, Instant, Positive, Rate};

include!(concat!(env!("OUT_DIR"), "/shared.rs"));

/// Share of a link that signalling has with priority, in 1/256: 5 %.
const SIGNALLING_SHARE: u64 = 13;
/// Share of a link that real time has with priority while best effort waits, in 1/256: 75 %.
const REAL_TIME_SHARE: u64 = 192;
/// The unit in which the weight of the average service time is stored: 1/32768.
const WEIGHT_ONE: f64 = 32_768.0;

impl Settings {
    /// Makes the settings of a queue to be installed; its agent lives at `now`.
    pub(super) fn new(mechanism: Mechanism, measures: Measures, now: Instant) -> Self {
        let (limit_packets, limit_bytes) = limits(mechanism.hard, mechanism.hard);
        let (fallback_packets, fallback_bytes) = limits(mechanism.fallback, mechanism.hard);
        let mut settings = Self {
            limit_packets,
            limit_bytes,
            fallback_packets,
            fallback_bytes,
            drop_head: u64::from(mechanism.overflow == queue::End::Head),
            purge: match mechanism.purge {
                queue::Purge::None => 0,
                queue::Purge::Head => 1,
                queue::Purge::Tail => 2,
            },
            idle_threshold: measures.idle_threshold.into(),
            weight: weight(measures.service_weight),
            burst: mechanism.burst.bits(),
            signalling_share: SIGNALLING_SHARE,
            real_time_share: REAL_TIME_SHARE,
            ..Self::default()
        };
        settings.alive(now);
        settings
    }

    /// Records that the agent lives: the settings apply for [`LONGEST_SILENCE`] from `now`, and then the fall-back.
    pub(super) fn alive(&mut self, now: Instant) {
        self.valid_until = now.as_nanos().saturating_add(LONGEST_SILENCE.as_nanos());
    }

    /// Releases packets by credit; with `None` the device takes packets without a bound.
    pub(super) fn set_credit(&mut self, credit: Option<Credit>) {
        let most = credit.map_or(0, |credit| credit.packets.into());
        let Credit { time, expiry, look_every, .. } = credit.unwrap_or_default();
        self.credit_packets = most;
        (self.credit_time, self.credit_expiry) = (time.as_nanos(), expiry.as_nanos());
        self.credit_poll = look_every.as_nanos();
    }

    /// Copies the credit and turns of a former agent, because its packets may still be below.
    pub(super) fn keep_former(&mut self, former: &Self) {
        (self.key_first, self.key_second) = (former.key_first, former.key_second);
        (self.discipline, self.target_delay) = (former.discipline, former.target_delay);
        self.bulk_delay = former.bulk_delay;
        (self.radio, self.phy) = (former.radio, former.phy);
        self.credit_packets = former.credit_packets;
        self.credit_time = former.credit_time;
        self.credit_expiry = former.credit_expiry;
        self.credit_poll = former.credit_poll;
    }

    /// Sets the discipline. It is fixed once the queue is made, except for the times of turns.
    pub(super) fn set_order(&mut self, order: Order) {
        self.discipline = order.number();
        self.target_delay = order.turns().map_or(0, |turns| turns.target.get().as_nanos());
        let bulk = order.turns().and_then(|turns| turns.bulk);
        self.bulk_delay = bulk.map_or(0, |bulk| bulk.get().min(LONGEST_ROUND).as_nanos());
    }

    /// True if the queue has turns.
    pub(super) fn has_turns(&self) -> bool {
        self.target_delay > 0
    }

    pub(super) fn set_limit(&mut self, limit: Limit, hard: Limit) {
        (self.limit_packets, self.limit_bytes) = limits(limit, hard);
    }

    /// Sets the rate, at least one bit per second: at zero no packet would leave, and no queue would end.
    pub(super) fn set_rate(&mut self, rate: Option<Rate>) {
        self.rate = rate.map_or(0, |rate| rate.as_bps().max(1));
    }

    /// Sets which packets are marked: like [`Mark::hits`], but with the kernel's hash of a flow.
    pub(super) fn set_mark(&mut self, mark: Mark) {
        let (sets, index, only_new) = match mark {
            Mark::None => (0, 0, false),
            Mark::All => (1, 0, false),
            Mark::Set { of, index } => (of, index, false),
            Mark::NewOfSet { of, index } => (of, index, true),
        };
        (self.mark_sets, self.mark_index, self.mark_new) = (sets.into(), index.into(), only_new.into());
    }

    pub(super) fn set_late_after(&mut self, late_after: Option<Duration>) {
        self.late_after = late_after.map_or(0, |time| time.as_nanos().max(1));
    }

    /// Returns the settings of the real-time queue next to this queue: without a rate, and with the hard limit.
    pub(super) fn of_real_time(&self, hard: Limit) -> Self {
        let mut settings = Self { rate: 0, ..*self };
        settings.set_limit(hard, hard);
        settings
    }
}

/// Returns a weight in the discipline's unit: at least the smallest step, so that a requested average is kept.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 32768")]
fn weight(of_newest: Option<f64>) -> u64 {
    of_newest.map_or(0, |weight| ((weight * WEIGHT_ONE + 0.5) as u64).clamp(1, WEIGHT_ONE as u64))
}

/// Longest round of turns that the discipline can compute with; real rounds are shorter.
const LONGEST_ROUND: Duration = Duration::from_secs(1_000);

/// Parameters of turns, as in crate `queue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// Time for which packets may wait.
    pub target: Positive<Duration>,
    /// Longest round of the stations' turns; `None`: unbounded.
    pub bulk: Option<Positive<Duration>>,
    /// True if stations have turns; otherwise all packets count as one station's.
    pub by_station: bool,
}

impl Turns {
    /// Maximum number of packets below the queue. The table has an entry for each; two turns of 802.11ax need fewer.
    const CREDIT_PACKETS: u32 = 960;
}

/// Disciplines of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// First in, first out.
    #[default]
    Arrival,
    /// First in, first out, but a full queue discards by priority.
    Biased,
    /// Turns of stations or flows.
    Turns(Turns),
}

impl Order {
    /// Returns the requested discipline; `by_station` matters only with turns.
    pub(crate) fn of(wish: &Wish, by_station: bool) -> Self {
        match wish.turns() {
            Some(target) => Self::Turns(Turns { target, bulk: wish.bulk_delay, by_station }),
            None if wish.is_biased() => Self::Biased,
            None => Self::Arrival,
        }
    }

    /// Returns the discipline's number in the kernel.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Arrival => 0,
            Self::Biased => BIASED,
            Self::Turns(Turns { by_station: false, .. }) => ONE_STATION,
            Self::Turns(Turns { by_station: true, .. }) => MANY_STATIONS,
        }
    }

    pub(super) fn turns(self) -> Option<Turns> {
        if let Self::Turns(turns) = self { Some(turns) } else { None }
    }

    /// Returns the queue's credit. With stations it allows more packets, because turns bound the airtime below.
    pub(super) fn credit(self) -> Credit {
        let all = Credit::default();
        match self.turns() {
            Some(Turns { by_station: true, .. }) => Credit { packets: Turns::CREDIT_PACKETS, ..all },
            _ => all,
        }
    }
}

/// Release by credit: bounds the packets below the queue, for a device that never pushes back, such as mac80211.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Maximum number of packets below the queue, up to 256.
    pub packets: u32,
    /// Longest time that the packets below take at the recent service times; two packets are always allowed.
    pub time: Duration,
    /// Time after which a packet without a completion is given up, so that a lost completion does not stop the queue.
    pub expiry: Duration,
    /// Time between two checks by a queue that waits for credit.
    pub look_every: Duration,
}

impl Default for Credit {
    /// The longest Wi-Fi frame takes 5.5 ms (IEEE 802.11-2016, table 19-25): with 8 ms a frame waits while another is
    /// sent. With a check each millisecond the device does not run dry. Retries end long before 250 ms.
    fn default() -> Self {
        let [time, expiry, look_every] = [8, 250, 1].map(Duration::from_millis);
        Self { packets: 768, time, expiry, look_every }
    }
}

/// Packets that left a queue by credit, counted since the discipline was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// Packets handed to the device.
    pub taken: u64,
    /// Packets that the device completed, sent or dropped.
    pub completed: u64,
    /// Packets given up without a completion. Packets counted only in `taken` are still with the device.
    pub lost: u64,
}
