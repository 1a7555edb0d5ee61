//! Conventions shared by all stations of a network: the rules of access and the choices that the standard leaves open.

use super::TmacRules;
use crate::config::{AnswerRts, Bandwidth, Category, Eifs, FirstAccess, MissedBlockAck, Ofdma, WindowReset};
use crate::radio::{Format, Mode, Timing};
use units::{Bytes, Duration};

/// Largest number of access categories of a station.
pub(crate) const CATEGORIES: usize = 4;

/// Longest MSDU (9.2.3, table 9-19), LLC and SNAP included.
pub(crate) const LONGEST_MSDU: Bytes = Bytes::new(2304);
/// Modulus of sequence numbers: 12 bits.
pub(crate) const SEQUENCES: u16 = 4096;

/// Length of the delimiter before each MPDU of an A-MPDU (9.7.1).
pub(super) const DELIMITER: u64 = 4;

/// Contention parameters of one access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// Interframe space before slots count: DIFS or AIFS.
    pub(crate) space: Duration,
    /// Smallest contention window: back-off is drawn from 0 to this number of slots.
    pub(crate) cw_min: u16,
    /// Largest contention window.
    pub(crate) cw_max: u16,
    /// Earliest time after a missing response at which slots count.
    pub(crate) after_timeout: Duration,
    /// Limit of a TXOP; zero for one frame exchange.
    pub(crate) txop_limit: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregation {
    /// Longest A-MPDU; none: no A-MPDUs.
    pub(crate) ampdu: Option<Bytes>,
    /// Largest number of MPDUs in an A-MPDU, at most 256.
    pub(crate) frames: u16,
    /// Longest duration of an aggregate.
    pub(crate) duration: Duration,
    /// Longest A-MSDU; none: no A-MSDUs.
    pub(crate) amsdu: Option<Bytes>,
    pub(crate) missed: MissedBlockAck,
    /// Time for which frames of A-MPDUs are retransmitted; none: the attempts of other frames apply.
    pub(crate) lifetime: Option<Duration>,
}

/// Limits of aggregation between two stations, and their BlockAck agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// Longest A-MPDU.
    pub(crate) ampdu: Bytes,
    /// Largest number of MPDUs in a frame; 1 without A-MPDUs.
    pub(crate) frames: u16,
    /// Largest span from the oldest unacknowledged frame to the newest: the frames that a BlockAck reports, 64 or 256.
    pub(crate) window: u16,
    /// Longest MPDU within an A-MPDU.
    pub(crate) mpdu: Bytes,
    /// Length of the delimiter before a single MPDU, which is an A-MPDU too in VHT and HE (9.7.1).
    pub(crate) single: Bytes,
    /// False if one of the stations is older than 802.11n, which has neither aggregates nor `BlockAck`s.
    pub(crate) aggregates: bool,
}

impl Agreement {
    /// No A-MPDUs.
    pub(crate) const NONE: Self = Self {
        ampdu: Bytes::new(0),
        frames: 1,
        window: Self::SHORT,
        mpdu: Bytes::new(4_095),
        single: Bytes::new(0),
        aggregates: false,
    };
    /// Number of frames that a BlockAck of 64 bits reports.
    pub(crate) const SHORT: u16 = 64;

    /// The agreement of stations with this common PPDU format, within `aggregation`.
    ///
    /// An A-MPDU has up to 65535 B in HT (IEEE 802.11-2020, table 9-185), 1048575 B in VHT (table 9-272) and 6500631 B in
    /// HE (`aPSDUMaxLength`, IEEE 802.11ax-2021, table 27-60). A delimiter has 12 bits for the length in HT; VHT and HE
    /// have MPDUs of up to 11454 B.
    pub(crate) fn new(format: Format, aggregation: &Aggregation) -> Self {
        let (longest, most, mpdu) = match format {
            Format::Ht => (65_535, Self::SHORT, 4_095),
            Format::Vht => (1_048_575, Self::SHORT, 11_454),
            Format::He => (6_500_631, 256, 11_454),
        };
        let frames = if aggregation.ampdu.is_some() { aggregation.frames.min(most) } else { 1 };
        Self {
            ampdu: aggregation.ampdu.unwrap_or(Bytes::new(0)).min(Bytes::new(longest)),
            frames,
            window: if frames > Self::SHORT { 256 } else { Self::SHORT },
            mpdu: Bytes::new(mpdu),
            single: Bytes::new(if format > Format::Ht { DELIMITER } else { 0 }),
            aggregates: true,
        }
    }
}

impl Aggregation {
    /// Largest number of MPDUs in a frame; 1 without A-MPDUs, and no more than controllers count.
    pub(crate) fn most_mpdus(&self) -> u8 {
        if self.ampdu.is_some() { u8::try_from(self.frames).unwrap_or(u8::MAX) } else { 1 }
    }
}

/// Contention parameters of stations that are asked for data (MU EDCA parameter set, IEEE 802.11ax-2021, 26.2.7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct MuEdca {
    /// Time for which these parameters hold after each answer.
    pub(crate) timer: Duration,
    /// Contention parameters during this time by category; none: no contention.
    pub(crate) access: Option<[Access; CATEGORIES]>,
}

/// Settings shared by all stations of a network.
#[derive(Clone, Debug)]
pub(crate) struct Conventions {
    pub(crate) timing: Timing,
    /// Contention parameters as configured: the first [`categories`](Self::categories) entries, highest priority first.
    pub(crate) access: [Access; CATEGORIES],
    /// Number of access categories: 4 under EDCA, 1 under the DCF.
    pub(crate) categories: usize,
    /// Retry limit of a frame that needs no RTS, or of the RTS.
    pub(crate) short_retry_limit: u8,
    /// Retry limit of a frame after its RTS was answered.
    pub(crate) long_retry_limit: u8,
    /// RTS threshold: longer data frames are announced. `None`: no RTS.
    pub(crate) rts_threshold: Option<Bytes>,
    /// True if a CTS to self precedes each unicast data frame without RTS.
    pub(crate) cts_to_self: bool,
    /// For networks with 802.11b stations: threshold and CTS to self for frames that these stations can read; other
    /// frames need protection.
    pub(crate) of_dsss: Option<(Option<Bytes>, bool)>,
    pub(crate) aggregation: Aggregation,
    /// Directions in which access points and several stations share frames (OFDMA).
    pub(crate) ofdma: Ofdma,
    /// True if there are stations that sleep.
    pub(crate) power_save: bool,
    /// Contention parameters of stations that were asked for data; none: the usual parameters.
    pub(crate) mu_edca: Option<MuEdca>,
    /// Effect of a busy secondary channel; none where all share one channel.
    pub(crate) bandwidth: Option<Bandwidth>,
    pub(crate) eifs: Eifs,
    pub(crate) first_access: FirstAccess,
    pub(crate) answer_rts: AnswerRts,
    pub(crate) window_reset: WindowReset,
    /// Agreements of two stations by the older station's format: HT and before, VHT, HE.
    pub(crate) agreements: [Agreement; 3],
    /// The agreement of two stations, one of them older than 802.11n, in a network with newer stations.
    pub(crate) old: Agreement,
    /// Format of each station by address, none before 802.11n; empty if all have the newest one.
    pub(crate) formats: Vec<Option<Format>>,
    /// Format of the newest stations; also HT before 802.11n, which has no other rules in this respect.
    pub(crate) newest: Format,
    /// Rules of T-MAC; none without T-MAC.
    pub(crate) tmac: Option<TmacRules>,
    /// Length of T-MAC's key in data frames and acknowledgements; zero without T-MAC.
    pub(crate) key: Bytes,
}

impl Access {
    /// Returns these rules with at least this smallest contention window for every category.
    pub(crate) fn with_window(self, window: Option<u16>) -> Self {
        let cw_min = self.cw_min.max(window.unwrap_or_default());
        Self { cw_min, cw_max: self.cw_max.max(cw_min), ..self }
    }
}

impl Conventions {
    /// True under EDCA, with four categories; false under the DCF.
    pub(crate) fn edca(&self) -> bool {
        self.categories > 1
    }

    /// True if access points send to several stations at once.
    pub(crate) fn shares_downlink(&self) -> bool {
        self.ofdma != Ofdma::Off
    }

    /// True if frames are aggregated in any way.
    pub(crate) fn aggregates(&self) -> bool {
        self.aggregation.ampdu.is_some() || self.aggregation.amsdu.is_some()
    }

    /// True if stations have BlockAck agreements; they count as made before the start.
    pub(crate) fn block_ack(&self) -> bool {
        self.aggregation.ampdu.is_some()
    }

    /// True if these two stations have an agreement.
    pub(crate) fn block_ack_of(&self, one: u32, other: u32) -> bool {
        self.block_ack() && (self.formats.is_empty() || self.agreement(one, other).aggregates)
    }

    /// Returns these rules with the agreements that follow from the limits of aggregation.
    #[must_use]
    pub(crate) fn agreed(self) -> Self {
        let agreements = [Format::Ht, Format::Vht, Format::He].map(|format| Agreement::new(format, &self.aggregation));
        let old = Agreement { ampdu: self.mpdu(LONGEST_MSDU), ..Agreement::NONE };
        Self { agreements, old, ..self }
    }

    #[inline]
    pub(crate) fn agreement(&self, one: u32, other: u32) -> &Agreement {
        if self.formats.is_empty() {
            return &self.agreements[self.newest as usize];
        }
        let format = |address: u32| self.formats.get(address as usize).copied().unwrap_or(Some(self.newest));
        format(one).min(format(other)).map_or(&self.old, |format| &self.agreements[format as usize])
    }

    /// Duration of a BlockAck between two stations for data of this mode.
    pub(crate) fn block_ack_duration(&self, mode: Mode, agreement: &Agreement) -> Duration {
        let responses = self.timing.responses(mode);
        if agreement.window > Agreement::SHORT { responses.long_block_ack } else { responses.block_ack }
    }

    /// Longest data frame in a TXOP of this limit: an A-MPDU by its limits in bytes and, after data were sent in a
    /// mode, in time; without A-MPDUs the longest MPDU.
    pub(crate) fn largest_frame(&self, txop_limit: Duration, mode: Option<Mode>, agreement: &Agreement) -> Bytes {
        let aggregation = &self.aggregation;
        let Some(_) = aggregation.ampdu else { return self.mpdu(aggregation.amsdu.unwrap_or(LONGEST_MSDU)) };
        let most = agreement.ampdu;
        let Some(mode) = mode else { return most };
        let after = self.timing.sifs + self.block_ack_duration(mode, agreement);
        let in_txop = match txop_limit {
            Duration::ZERO => Duration::MAX,
            limit => limit.saturating_sub(after),
        };
        self.longest(mode, in_txop).min(most)
    }

    /// True if `BlockAck`s of the newest stations report 256 frames.
    pub(crate) fn long_bitmaps(&self) -> bool {
        self.agreements[self.newest as usize].window > Agreement::SHORT
    }

    /// Length of a QoS Null frame that reports the size of the queue: an A-MPDU of one frame without a packet.
    pub(crate) fn queue_size_frame(&self) -> Bytes {
        self.mpdu(Bytes::new(0)) + Bytes::new(DELIMITER)
    }

    pub(crate) fn index(&self, category: Category) -> u8 {
        match category {
            _ if !self.edca() => 0,
            Category::Voice => 0,
            Category::Video => 1,
            Category::BestEffort => 2,
            Category::Background => 3,
        }
    }

    /// The category with this index; none under the DCF.
    pub(crate) fn category(&self, index: u8) -> Option<Category> {
        const CATEGORIES: [Category; 4] =
            [Category::Voice, Category::Video, Category::BestEffort, Category::Background];
        self.edca().then(|| CATEGORIES[usize::from(index)])
    }

    /// Contention parameters under these orders; without orders as configured. An AIFSN of zero counts as one, and a
    /// largest window below the smallest as the smallest.
    pub(crate) fn ordered(&self, configured: Access, orders: Option<control::Access>) -> Access {
        let Some(control::Access { aifsn, cw_min, cw_max, txop }) = orders else { return configured };
        let space = self.timing.sifs + self.timing.slot * u64::from(aifsn.max(1));
        let after_timeout = if configured.after_timeout.is_zero() { Duration::ZERO } else { space };
        Access { space, cw_min, cw_max: cw_max.max(cw_min), after_timeout, txop_limit: txop }
    }

    /// Name of a category's queue in the results.
    pub(crate) fn queue_name(&self, index: usize) -> &'static str {
        if self.edca() { ["vo", "vi", "be", "bk"][index] } else { "be" }
    }

    /// The RTS threshold of data frames in a mode, and whether a CTS to self precedes those without RTS.
    pub(super) fn announces(&self, mode: impl Fn() -> Mode) -> (Option<Bytes>, bool) {
        match self.of_dsss {
            Some(of_dsss) if matches!(mode(), Mode::Dsss { .. }) => of_dsss,
            _ => (self.rts_threshold, self.cts_to_self),
        }
    }

    /// Duration of RTS and CTS, or CTS to self, before a data frame of this length, with the spaces.
    pub(super) fn announcement(&self, mode: Mode, psdu: Bytes) -> Duration {
        let (timing, (threshold, cts_to_self)) = (&self.timing, self.announces(|| mode));
        match (threshold.is_some_and(|threshold| psdu > threshold), cts_to_self) {
            (true, _) => timing.rts + timing.cts + timing.sifs * 2,
            (false, true) => timing.cts + timing.sifs,
            (false, false) => Duration::ZERO,
        }
    }

    /// The longest aggregate in a mode that keeps to the duration limit and ends within `time` after its announcement;
    /// zero if there is none.
    pub(super) fn longest(&self, mode: Mode, time: Duration) -> Bytes {
        let with = |psdu| {
            let left = time.saturating_sub(self.announcement(mode, psdu));
            self.timing.longest(mode, left.min(self.aggregation.duration))
        };
        let (Some(threshold), _) = self.announces(|| mode) else { return with(Bytes::new(0)) };
        let announced = with(threshold + Bytes::new(1));
        if announced > threshold { announced } else { with(threshold).min(threshold) }
    }

    /// Length of the MAC frame of an MSDU: header (with QoS control under EDCA, 9.2.4.1.1), check sum, and T-MAC's key.
    pub(crate) fn mpdu(&self, msdu: Bytes) -> Bytes {
        let qos_control = Bytes::new(if self.edca() { 2 } else { 0 });
        msdu + crate::radio::MAC_OVERHEAD + qos_control + self.key
    }
}
