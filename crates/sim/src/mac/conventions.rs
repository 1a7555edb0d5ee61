//! Conventions shared by all stations of a network: the rules of access and the choices that the standard leaves open.

use super::{BLOCK_ACK, TmacRules};
use crate::config::{AnswerRts, Category, Eifs, FirstAccess, MissedBlockAck};
use crate::radio::{Mode, Timing};
use units::{Bytes, Duration};

/// The most access categories that a station contends with.
pub(crate) const CATEGORIES: usize = 4;

/// The longest MSDU (9.2.3, table 9-19), LLC and SNAP included.
pub(crate) const LONGEST_MSDU: Bytes = Bytes::new(2304);
/// The numbers of data frames count modulo this: 12 bits.
pub(crate) const SEQUENCES: u16 = 4096;
/// The most frames between the oldest one that is not acknowledged and the newest (a compressed BlockAck has 64 bits).
pub(crate) const WINDOW: u16 = 64;

/// Contention parameters of one access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The medium has to be idle for this long before slots count: DIFS or AIFS.
    pub(crate) space: Duration,
    /// Back-off is drawn from 0 to this many slots,
    pub(crate) cw_min: u16,
    /// and at most from 0 to this many.
    pub(crate) cw_max: u16,
    /// How long after a missing response slots count at the earliest.
    pub(crate) after_timeout: Duration,
    /// How long it may hold the medium once it has won it; zero for one exchange of frames.
    pub(crate) txop_limit: Duration,
}

/// Limits of aggregation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregation {
    /// The longest A-MPDU; none at all.
    pub(crate) ampdu: Option<Bytes>,
    /// The most MPDUs in one, at most [`WINDOW`].
    pub(crate) frames: u8,
    /// The longest an aggregate may last.
    pub(crate) duration: Duration,
    /// The longest A-MSDU; none at all.
    pub(crate) amsdu: Option<Bytes>,
    pub(crate) missed: MissedBlockAck,
}

impl Aggregation {
    /// The most MPDUs in a frame: one where there are no A-MPDUs.
    pub(crate) fn most_mpdus(&self) -> u8 {
        if self.ampdu.is_some() { self.frames } else { 1 }
    }
}

/// Settings shared by all stations of a network.
#[derive(Clone, Debug)]
pub(crate) struct Conventions {
    pub(crate) timing: Timing,
    /// As configured: of the first [`categories`](Self::categories) entries, each is an access category, the highest first.
    pub(crate) access: [Access; CATEGORIES],
    /// Four under EDCA, one under the DCF.
    pub(crate) categories: usize,
    /// Attempts at a frame that needs no RTS, or at the RTS.
    pub(crate) short_retry_limit: u8,
    /// Attempts at a frame after its RTS was answered.
    pub(crate) long_retry_limit: u8,
    /// Data frames longer than this are announced.
    pub(crate) rts_threshold: Option<Bytes>,
    /// A CTS to itself precedes each data frame for one receiver that is not announced.
    pub(crate) cts_to_self: bool,
    pub(crate) aggregation: Aggregation,
    pub(crate) eifs: Eifs,
    pub(crate) first_access: FirstAccess,
    pub(crate) answer_rts: AnswerRts,
    /// How stations order themselves by the age of their packets; none where they do not.
    pub(crate) tmac: Option<TmacRules>,
    /// Length of the key that data and acknowledgements carry for that; else zero.
    pub(crate) key: Bytes,
}

impl Conventions {
    /// Does every station contend with four categories? Else by the DCF.
    #[inline]
    pub(crate) fn edca(&self) -> bool {
        self.categories > 1
    }

    /// Are there aggregates of any kind?
    #[inline]
    pub(crate) fn aggregates(&self) -> bool {
        self.aggregation.ampdu.is_some() || self.aggregation.amsdu.is_some()
    }

    /// Is there a BlockAck agreement between any two stations? It is taken as made before the start.
    #[inline]
    pub(crate) fn block_ack(&self) -> bool {
        self.aggregation.ampdu.is_some()
    }

    /// Returns the duration of a BlockAck.
    pub(crate) fn block_ack_time(&self) -> Duration {
        self.timing.duration(self.timing.basic, BLOCK_ACK + self.key)
    }

    /// The index of a category at every station.
    pub(crate) fn index(&self, category: Category) -> u8 {
        match category {
            _ if !self.edca() => 0,
            Category::Voice => 0,
            Category::Video => 1,
            Category::BestEffort => 2,
            Category::Background => 3,
        }
    }

    /// The category of this index; none under the DCF.
    pub(crate) fn category(&self, index: u8) -> Option<Category> {
        const CATEGORIES: [Category; 4] =
            [Category::Voice, Category::Video, Category::BestEffort, Category::Background];
        self.edca().then(|| CATEGORIES[usize::from(index)])
    }

    /// How a category contends that is ordered to contend so; without orders as configured. An AIFSN of zero counts as one,
    /// and a largest window below the smallest as the smallest.
    pub(crate) fn ordered(&self, category: u8, orders: Option<control::Access>) -> Access {
        let configured = self.access[usize::from(category)];
        let Some(control::Access { aifsn, cw_min, cw_max, txop }) = orders else { return configured };
        let space = self.timing.sifs + self.timing.slot * u64::from(aifsn.max(1));
        let after_timeout = if configured.after_timeout.is_zero() { Duration::ZERO } else { space };
        Access { space, cw_min, cw_max: cw_max.max(cw_min), after_timeout, txop_limit: txop }
    }

    /// The name of a category's queue in the results.
    pub(crate) fn queue_name(&self, index: usize) -> &'static str {
        if self.edca() { ["vo", "vi", "be", "bk"][index] } else { "be" }
    }

    /// How long what announces a data frame of this length lasts, with the space behind it.
    pub(super) fn announcement(&self, psdu: Bytes) -> Duration {
        let timing = &self.timing;
        match (self.rts_threshold.is_some_and(|threshold| psdu > threshold), self.cts_to_self) {
            (true, _) => timing.rts + timing.cts + timing.sifs * 2,
            (false, true) => timing.cts + timing.sifs,
            (false, false) => Duration::ZERO,
        }
    }

    /// The longest data frame in a mode that is over within `time`, with what announces it; zero where none is.
    pub(super) fn longest(&self, mode: Mode, time: Duration) -> Bytes {
        let with = |psdu| self.timing.longest(mode, time.saturating_sub(self.announcement(psdu)));
        let Some(threshold) = self.rts_threshold else { return with(Bytes::new(0)) };
        let announced = with(threshold + Bytes::new(1));
        if announced > threshold { announced } else { with(threshold).min(threshold) }
    }

    /// Length of the MAC frame of an MSDU: header (with QoS control under EDCA, 9.2.4.1.1), check sum, and
    /// the key where stations tell one.
    pub(crate) fn mpdu(&self, msdu: Bytes) -> Bytes {
        let qos_control = Bytes::new(if self.edca() { 2 } else { 0 });
        msdu + crate::radio::MAC_OVERHEAD + qos_control + self.key
    }
}
