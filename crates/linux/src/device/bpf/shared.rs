//! What the discipline and the agent share, see `shared.h`, from which the build makes the structs.

use super::mechanism::{LONGEST_SILENCE, Mechanism, limits};
use control::{Limit, Mark, Measures};
use units::{Bytes, Duration, Instant, Rate};

include!(concat!(env!("OUT_DIR"), "/shared.rs"));

/// After a pause, or when the device came late for a packet, so much may leave faster than the rate: the longest packet of
/// Wi-Fi, as in the simulator.
const BURST: Bytes = Bytes::new(2_304);
/// Of the average service time: its weight counts in 1/32768.
const WEIGHT_ONE: f64 = 32_768.0;

impl Settings {
    /// Of a queue that is about to be installed, whose agent lives at `now`.
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
            burst: BURST.bits(),
            ..Self::default()
        };
        settings.alive(now);
        settings
    }

    /// The agent lives: the settings hold for [`LONGEST_SILENCE`] from `now`, then the discipline falls back.
    pub(super) fn alive(&mut self, now: Instant) {
        self.valid_until = now.as_nanos().saturating_add(LONGEST_SILENCE.as_nanos());
    }

    /// Packets leave by credit; without, the device takes as many as it likes.
    pub(super) fn set_credit(&mut self, credit: Option<Credit>) {
        let most = credit.map_or(0, |credit| credit.packets.into());
        let Credit { time, expiry, look_every, .. } = credit.unwrap_or_default();
        self.credit_packets = most;
        (self.credit_time, self.credit_expiry) = (time.as_nanos(), expiry.as_nanos());
        self.credit_poll = look_every.as_nanos();
    }

    /// As those of an agent before, whose packets may be below.
    pub(super) fn keep_credit(&mut self, former: &Self) {
        self.secret = former.secret;
        self.credit_packets = former.credit_packets;
        self.credit_time = former.credit_time;
        self.credit_expiry = former.credit_expiry;
        self.credit_poll = former.credit_poll;
    }

    pub(super) fn set_limit(&mut self, limit: Limit, hard: Limit) {
        (self.limit_packets, self.limit_bytes) = limits(limit, hard);
    }

    /// At a rate of zero no packet would ever leave, and no queue be seen to move: one bit a second is the least.
    pub(super) fn set_rate(&mut self, rate: Option<Rate>) {
        self.rate = rate.map_or(0, |rate| rate.as_bps().max(1));
    }

    /// As [`Mark::hits`], by the kernel's hash of a flow.
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

    /// Those of the queue of real time beside one with these: never shaped, and its limit is the hard one.
    pub(super) fn of_real_time(&self, hard: Limit) -> Self {
        let mut settings = Self { rate: 0, ..*self };
        settings.set_limit(hard, hard);
        settings
    }
}

/// A weight as the discipline takes it: at least the smallest step, so that an average that was asked for is kept.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 32768")]
fn weight(of_newest: Option<f64>) -> u64 {
    of_newest.map_or(0, |weight| ((weight * WEIGHT_ONE + 0.5) as u64).clamp(1, WEIGHT_ONE as u64))
}

/// How much such a device may have: packets that were handed down to it and that it has not done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// So many packets at most, up to 256.
    pub packets: u32,
    /// And no more than the device is done with in this time, by its service times of late; two always.
    pub time: Duration,
    /// A packet that the device is not done with after this time is given up: a lost completion stops nothing.
    pub expiry: Duration,
    /// How often a queue that waits for credit looks for it.
    pub look_every: Duration,
}

impl Default for Credit {
    /// The longest frame of Wi-Fi lasts 5.5 ms (IEEE 802.11-2016, table 19-25): with 8 ms a whole one waits while another is
    /// on the air. A look every millisecond comes before the device runs dry. A retry chain is over long before 250 ms.
    fn default() -> Self {
        let [time, expiry, look_every] = [8, 250, 1].map(Duration::from_millis);
        Self { packets: 192, time, expiry, look_every }
    }
}

/// Packets of a queue that leave by credit, counted since the discipline was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// The device took them.
    pub taken: u64,
    /// It is done with them, whatever became of them.
    pub completed: u64,
    /// Given up without a completion. What is neither is with the device.
    pub lost: u64,
}
