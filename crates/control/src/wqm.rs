//! WQM, Wireless Queue Management: the limit is what drains within a target time at the link's rate and the node's
//! share of the channel, but at least an aggregate (section 2.3 of the document, slides of a talk).
//!
//! The document has two formulas: `B_initial = R ARTT`, and `T_drain = (BL / R) / F(N)`. The corresponding patent (US
//! 9,276,832) adds that `R ARTT` is the link rate times the round trip of a single data unit. ARTT is thus the time for
//! one aggregate and its acknowledgement. The size moves once `T_drain` was outside a least and a largest time in two
//! consecutive periods. What both leave open is reconstructed (see `docs/controllers/wqm-dnb.md`):
//!
//! - `F(N)`, the node's share of the channel: the time that other nodes leave, at least `1/N`; see [`Shares`].
//! - The least and the largest drain time, the period, and the change of the size; see [`Step`].
//! - The size is never below an aggregate at the current rate, nor below two packets. It is never above the packets
//!   that drain within the largest time if no other node sends. The size grows only if it limits the queue.
//! - `R` is the mean PHY rate of the data frames sent. Losses are not reported, so they are not subtracted.
//! - The size is reset after the rate has changed by more than a factor of two, and after a time without packets.
//!
//! Names in parentheses are the document's.

use crate::{Controller, Invalid, Limit, Needs, Orders, Period, Radio, Reads, Scheme, Seen, Sets, Site, frames};
use serde::{Deserialize, Serialize};
use units::{Duration, Positive, Share, refuse_if, with_defaults};

/// Smallest size in packets: one packet may arrive while another leaves.
const LEAST: f64 = 2.0;
/// Number of consecutive periods after which the size moves, from the patent.
const PERIODS: u8 = 2;
/// Packet length in bytes that is assumed until a packet has left the queue.
const FULL: f64 = 1_500.0;

with_defaults! {
    /// Parameters of WQM. The queue's `limit` is the upper bound.
    pub struct Params as "Wqm" {
        /// Drain time below which a full queue grows (`T_min`), at most `t_max`. Default 5 ms, reconstructed.
        pub t_min: Positive<Duration> => Duration::from_millis(5),
        /// Drain time above which the queue shrinks (`T_max`). Default 10 ms, reconstructed.
        pub t_max: Positive<Duration> => Duration::from_millis(10),
        /// Control period, at least 100 us. Default 100 ms, reconstructed: the interval of Linux's rate control.
        pub interval: Period => Duration::from_millis(100),
        /// Channel time of an aggregate besides its data: interframe space, mean backoff, preamble, acknowledgement.
        /// Default 190 us, reconstructed: 802.11n at 5 GHz.
        pub overhead: Positive<Duration> => Duration::from_micros(190),
        /// Weight of the newest period in the mean link rate, above 0 and at most 1. Default 0.25, reconstructed.
        pub rate_weight: Positive<Share> => 0.25,
        /// Smallest size in aggregates (`B_min`). Default 1, reconstructed: a shorter queue cannot fill an aggregate.
        pub least_aggregates: Positive<f64> => 1.0,
        /// Estimate of the node's share of the channel (`F(N)`).
        pub share: Shares = Shares::Measured,
        /// Change of the queue size.
        pub step: Step = Step::Gap,
        /// Time without packets after which the size is reset. Default 1 s, reconstructed.
        pub idle_after: Positive<Duration> => Duration::from_secs(1),
    }
}

/// Readings of `F(N)`, which the document does not define.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WqmShare"))]
#[serde(rename_all = "snake_case")]
pub enum Shares {
    /// Share of time in which other nodes did not keep the channel busy; at least the equal share.
    #[default]
    Measured,
    /// `1/N` for N stations heard in the period, the node included.
    Equal,
}

/// Change of the queue size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WqmStep"))]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Shrinks by the excess over `t_max`, at most by half; grows by half of the gap to `t_min`.
    #[default]
    Gap,
    /// Shrinks or grows by one packet.
    Unit,
}

/// The controller. Sizes are in packets, lengths in bits, times in seconds.
#[derive(Clone, Debug)]
pub struct Wqm {
    params: Params,
    hard_limit: Limit,
    /// The link; `None` until the node has sent data.
    link: Option<Link>,
    /// `B`, in whole packets; the hard limit while the link is unknown.
    size: f64,
    /// Numbers of consecutive periods in which the queue drained too slowly, and in which it drained too fast.
    slow: u8,
    fast: u8,
    idle: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// `R`, in bit/s.
    rate: f64,
    /// `R` at the last reset of the size.
    rate_at_start: f64,
    /// Mean length of packets with their framing, in bits.
    packet: f64,
    /// Number of packets in the largest aggregate.
    aggregate: f64,
}

impl Scheme for Wqm {
    type Params = Params;
    const TARGET: Option<&'static str> = Some("t_max");

    /// # Errors
    /// The least drain time is above the largest one.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        refuse_if!(params.t_min > params.t_max, Err(Invalid::new("t_min", "must not be above t_max")));
        let (hard_limit, idle) = (site.hard_limit, Duration::ZERO);
        Ok(Self { params: params.clone(), hard_limit, link: None, size: 0.0, slow: 0, fast: 0, idle })
    }
}

impl Controller for Wqm {
    fn needs(&self) -> Needs {
        let of_share = match self.params.share {
            Shares::Measured => Reads::MEDIUM.and(Reads::CONTENDERS),
            Shares::Equal => Reads::CONTENDERS,
        };
        let reads = Reads::COUNTS.and(of_share).and(Reads::LINK).and(Reads::AGGREGATES);
        Needs::new(self.params.interval.get(), reads, Sets::LIMIT)
    }

    fn begin(&self) -> Orders {
        self.hard_limit.into()
    }

    fn update(&mut self, seen: &Seen) -> Orders {
        let radio = seen.radio.unwrap_or_default();
        let Some(link) = self.observe(seen, &radio) else { return self.begin() };
        let waited = seen.queue.sent.packets > 0 || seen.queue.backlog.packets > 0;
        self.idle = if waited { Duration::ZERO } else { self.idle + seen.queue.length };
        let factor = link.rate / link.rate_at_start;
        if self.size <= 0.0 || !(0.5..=2.0).contains(&factor) || self.idle > self.params.idle_after.get() {
            self.initial(link);
        } else {
            self.adjust(seen, &link, self.share(seen.queue.length, &radio));
        }
        self.size = self.size.min(whole(link.rate * self.t_max() / link.packet)).max(self.least(&link));
        self.hard_limit.below(self.size).into()
    }

    fn target_delay(&self) -> Option<Duration> {
        Some(self.params.t_max.get())
    }
}

impl Wqm {
    fn t_max(&self) -> f64 {
        self.params.t_max.get().as_secs_f64()
    }

    /// Updates the link with the measurements of this period; `None` as long as the node has sent nothing.
    fn observe(&mut self, seen: &Seen, radio: &Radio) -> Option<Link> {
        let (now, sent) = (radio.phy_rate.as_bps() as f64, seen.queue.sent);
        if now > 0.0 {
            let former = self.link.unwrap_or(Link { rate: now, rate_at_start: now, packet: 0.0, aggregate: 1.0 });
            let rate = former.rate + self.params.rate_weight.get() * (now - former.rate);
            let bytes = if sent.packets > 0 { sent.bytes.count() as f64 / sent.packets as f64 } else { FULL };
            let packet = frames::bits(bytes);
            self.link = Some(Link { rate, packet, aggregate: frames::in_largest(radio, packet), ..former });
        }
        self.link
    }

    /// Sets the size to `B_initial = R ARTT`, where ARTT is the time for one aggregate and its acknowledgement.
    fn initial(&mut self, link: Link) {
        let artt = self.params.overhead.get().as_secs_f64() + link.aggregate * link.packet / link.rate;
        self.size = whole(link.rate * artt / link.packet);
        self.link = Some(Link { rate_at_start: link.rate, ..link });
        (self.slow, self.fast, self.idle) = (0, 0, Duration::ZERO);
    }

    /// Returns `B_min`.
    fn least(&self, link: &Link) -> f64 {
        whole(self.params.least_aggregates.get() * link.aggregate).max(LEAST)
    }

    /// Returns `F(N)`.
    fn share(&self, length: Duration, radio: &Radio) -> f64 {
        let equal = 1.0 / (1.0 + f64::from(radio.contenders));
        match self.params.share {
            Shares::Equal => equal,
            Shares::Measured if length.is_zero() => equal,
            Shares::Measured => equal.max(1.0 - radio.busy.as_secs_f64() / length.as_secs_f64()),
        }
    }

    /// Computes `T_drain = (BL / R) / F(N)`. Moves the size if `T_drain` was too long, or too short, in two consecutive
    /// periods.
    fn adjust(&mut self, seen: &Seen, link: &Link, share: f64) {
        let backlog = seen.queue.backlog_max as f64;
        let per_second = link.rate * share / link.packet;
        let drain = backlog / per_second;
        let binds = seen.queue.dropped.packets > 0 || backlog >= self.size - link.aggregate;
        let t_min = self.params.t_min.get().as_secs_f64();
        self.slow = if drain > self.t_max() { self.slow + 1 } else { 0 };
        self.fast = if drain < t_min && binds { self.fast + 1 } else { 0 };
        if self.slow >= PERIODS {
            self.size -= match self.params.step {
                Step::Gap => whole(backlog - self.t_max() * per_second).min(whole(self.size / 2.0)),
                Step::Unit => 1.0,
            };
            self.slow = 0;
        }
        if self.fast >= PERIODS {
            self.size += match self.params.step {
                Step::Gap => whole((t_min * per_second - backlog) / 2.0),
                Step::Unit => 1.0,
            };
            self.fast = 0;
        }
    }
}

/// Rounds a non-negative number up to a whole one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast floors and saturates")]
fn whole(packets: f64) -> f64 {
    let floor = f64::from(packets as u32);
    if floor < packets { floor + 1.0 } else { floor }
}

#[cfg(test)]
#[path = "wqm_tests.rs"]
mod tests;
