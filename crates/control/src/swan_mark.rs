//! SWAN's regulation, for the real-time port (section III-C of the document in `docs/controllers/swan.md`). It marks
//! packets while there is too much real-time traffic within range, so that some flows ask for admission again or stop.
//! The same average gives the rate that can still be admitted, `max(0, B_adm - rho)`.
//!
//! Names in parentheses are the document's. Choices where the document contradicts itself or says nothing:
//!
//! - S6: `T` is both the control period of rates and the time for which a set is marked. Here `set_time` is the latter.
//! - S13: marks begin above the admission rate in one place, and above a threshold rate in another. Here marks begin
//!   above the threshold and end below the admission rate.
//! - S15: the threshold applies to all traffic in one place, and to real time in another. Here it applies to real time.
//! - S27: packets of real time are recognised by their DSCP, not by UDP.
//! - The kind of average is not stated; it moves by `length / (memory + length)` of the difference.
//! - Newly admitted flows 'can be marked first', without a rule; see `new_first`.

use crate::{Controller, Invalid, Mark, Needs, Orders, Period, Random, Reads, Scheme, Seen, Sets, Site};
use core::num::NonZeroU8;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Positive, Rate, with_defaults};

with_defaults! {
    /// Parameters of SWAN's regulation.
    pub struct Params as "SwanMark" {
        /// Real-time traffic in range (IP bytes) up to which flows are admitted, and below which marking ends
        /// (`B_adm`). Default 2 Mb/s: the document's for a channel of 11 Mb/s.
        pub admission_rate: Positive<Rate> => Rate::mbps(2),
        /// Real-time traffic above which marking begins (`B_thr`), at least `admission_rate`. Default 3.5 Mb/s, the
        /// document's.
        pub threshold_rate: Positive<Rate> => Rate::kbps(3_500),
        /// Control interval, at least 100 us. Default 100 ms.
        pub interval: Period => Duration::from_millis(100),
        /// Time constant of the exponential average of traffic. Default 300 ms: five packets of a session of 200 kb/s
        /// with 1500 B each.
        pub memory: Positive<Duration> => Duration::from_millis(300),
        /// Flows that are marked.
        pub regulation: Regulation = Regulation::Network,
        /// SWAN-2: number of sets of flows. Default 8.
        pub sets: NonZeroU8 => 8,
        /// SWAN-2: time per set (`T_set`). Default 1 s.
        pub set_time: Positive<Duration> => Duration::from_secs(1),
        /// SWAN-2: whether newly admitted flows are marked first.
        pub new_first: NewFirst = NewFirst::All,
    }
}

/// Ways to keep flows from asking for admission all at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Regulation {
    /// SWAN-1: all flows.
    Source,
    /// SWAN-2: one set at a time.
    #[default]
    Network,
}

/// Precedence in marking of newly admitted flows while there are some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NewFirst {
    /// All new flows, and no old flows.
    #[default]
    All,
    /// Only new flows of the current set.
    Set,
    /// New flows have no precedence.
    Never,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct SwanMark {
    params: Params,
    site: Site,
    random: Random,
    /// Average rate of real-time traffic (`rho`), in bit/s.
    heard: f64,
    chosen: Option<Chosen>,
    mark: Mark,
}

/// The set that is marked now.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    set: u8,
    since: Duration,
}

impl Scheme for SwanMark {
    type Params = Params;

    /// # Errors
    /// The admission rate is above the threshold rate.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        if params.admission_rate > params.threshold_rate {
            return Err(Invalid::new("admission_rate", "must not be above threshold_rate"));
        }
        let random = Random::new(site.seed);
        Ok(Self { params: params.clone(), site: *site, random, heard: 0.0, chosen: None, mark: Mark::None })
    }

    /// Only SWAN-2 has sets of flows, so keys about sets have no effect with SWAN-1.
    fn idle(params: &Params, key: &str) -> Option<[&'static str; 2]> {
        (matches!(key, "sets" | "set_time" | "new_first") && params.regulation != Regulation::Network)
            .then_some(["it belongs to `regulation = \"network\"`", "set `regulation = \"network\"`, or leave it out"])
    }

    /// Returns `max(0, B_adm - rho)`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast floors and saturates")]
    fn available(&self) -> Option<Rate> {
        Some(Rate::bps((self.params.admission_rate.get().as_bps() as f64 - self.heard) as u64))
    }

    /// Returns `rho`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast floors and saturates")]
    fn real_time_rate(&self) -> Option<Rate> {
        Some(Rate::bps(self.heard as u64))
    }
}

impl SwanMark {
    /// Moves the average by the traffic that was heard in an interval.
    fn hear(&mut self, bytes: Bytes, length: Duration) {
        let (length, memory) = (length.as_secs_f64(), self.params.memory.get().as_secs_f64());
        self.heard += (bytes.bits() as f64 / length - self.heard) * length / (memory + length);
    }

    /// Returns the set that is marked at this time (S13).
    fn choose(&mut self, length: Duration) -> Option<Chosen> {
        let sets = self.params.sets.get();
        match self.chosen {
            None if self.heard > self.params.threshold_rate.get().as_bps() as f64 => {
                Some(Chosen { set: self.random.below(sets), since: Duration::ZERO })
            }
            Some(_) if self.heard < self.params.admission_rate.get().as_bps() as f64 => None,
            Some(Chosen { set, since }) if since + length >= self.params.set_time.get() => {
                let further = u16::from(self.random.below(sets - 1)) + 1;
                let another = (u16::from(set) + further) % u16::from(sets);
                Some(Chosen { set: another.to_le_bytes()[0], since: Duration::ZERO })
            }
            chosen => chosen.map(|Chosen { set, since }| Chosen { set, since: since + length }),
        }
    }

    fn orders(&self) -> Orders {
        Orders { mark: self.mark, ..self.site.hard_limit.into() }
    }
}

impl Controller for SwanMark {
    fn needs(&self) -> Needs {
        Needs::new(self.params.interval.get(), Reads::OVERHEARD, Sets::MARK)
    }

    fn begin(&self) -> Orders {
        self.orders()
    }

    fn update(&mut self, seen: &Seen) -> Orders {
        let length = seen.queue.length;
        if length.is_zero() {
            return self.orders();
        }
        let radio = seen.radio.unwrap_or_default();
        self.hear(radio.real_time, length);
        self.chosen = self.choose(length);
        let (of, new_heard) = (self.params.sets.get(), radio.real_time_new > Bytes::new(0));
        self.mark = match (self.chosen, self.params.regulation, self.params.new_first) {
            (None, ..) => Mark::None,
            (Some(_), Regulation::Source, _) => Mark::All,
            (Some(_), Regulation::Network, NewFirst::All) if new_heard => Mark::NewOfSet { of: 1, index: 0 },
            (Some(Chosen { set, .. }), Regulation::Network, NewFirst::Set) if new_heard => {
                Mark::NewOfSet { of, index: set }
            }
            (Some(Chosen { set, .. }), Regulation::Network, _) => Mark::Set { of, index: set },
        };
        self.orders()
    }
}

#[cfg(test)]
#[path = "swan_mark_tests.rs"]
mod tests;
