//! Conventions that all stations share: rules of access (IEEE 802.11-2016), and choices that the standard leaves open.

use super::TmacRules;
use crate::config::{AnswerRts, Bandwidth, Category, Eifs, FirstAccess, MissedBlockAck, Ofdma, WindowReset};
use crate::radio::{Format, Mode, Timing};
use units::{Bytes, Duration};

/// Largest number of access categories of a station.
pub(crate) const CATEGORIES: usize = 4;

/// Longest MSDU, LLC and SNAP included (9.2.3, table 9-19).
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
    /// Shortest time from a missing response to the first slot that counts.
    pub(crate) after_timeout: Duration,
    /// Limit of a TXOP; zero for one frame exchange.
    pub(crate) txop_limit: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregation {
    /// Longest A-MPDU in bytes. `None`: no A-MPDUs.
    pub(crate) ampdu: Option<Bytes>,
    /// Largest number of MPDUs in an A-MPDU, at most 256.
    pub(crate) frames: u16,
    /// Longest duration of an aggregate.
    pub(crate) duration: Duration,
    /// Longest A-MSDU in bytes. `None`: no A-MSDUs.
    pub(crate) amsdu: Option<Bytes>,
    pub(crate) missed: MissedBlockAck,
    /// Time for which frames of A-MPDUs are retransmitted. `None`: the number of attempts is limited, not the time.
    pub(crate) lifetime: Option<Duration>,
}

/// Limits of aggregation between two stations, and their BlockAck agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// Longest A-MPDU.
    pub(crate) ampdu: Bytes,
    /// Largest number of MPDUs in a frame; 1 without A-MPDUs.
    pub(crate) frames: u16,
    /// Largest distance from the oldest unacknowledged frame to the newest: a BlockAck reports 64 or 256 frames.
    pub(crate) window: u16,
    /// Longest MPDU within an A-MPDU.
    pub(crate) mpdu: Bytes,
    /// Length of the delimiter before a single MPDU. In VHT and HE a single MPDU is an A-MPDU, too (9.7.1).
    pub(crate) single: Bytes,
    /// False if one of the stations is older than 802.11n, so that neither uses aggregates or `BlockAck`s.
    pub(crate) aggregates: bool,
}

impl Agreement {
    /// Limits without A-MPDUs.
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

    /// Makes the agreement of two stations whose best common PPDU format is `format`, within `aggregation`.
    ///
    /// An A-MPDU has up to 65535 B in HT (IEEE 802.11-2020, table 9-185), 1048575 B in VHT (table 9-272) and 6500631 B
    /// in HE (`aPSDUMaxLength`, IEEE 802.11ax-2021, table 27-60). In HT the length in a delimiter has 12 bits. VHT and
    /// HE have MPDUs of up to 11454 B.
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
    /// Returns the largest number of MPDUs in a frame as controllers count it; 1 without A-MPDUs.
    pub(crate) fn most_mpdus(&self) -> u8 {
        if self.ampdu.is_some() { u8::try_from(self.frames).unwrap_or(u8::MAX) } else { 1 }
    }
}

/// Contention parameters of stations that an access point asks for data (IEEE 802.11ax-2021, 26.2.7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct MuEdca {
    /// Time for which a station uses these parameters after each answer.
    pub(crate) timer: Duration,
    /// Contention parameters during this time, for each category. `None`: the station does not contend.
    pub(crate) access: Option<[Access; CATEGORIES]>,
}

/// Settings that all stations of a network share.
#[derive(Clone, Debug)]
pub(crate) struct Conventions {
    pub(crate) timing: Timing,
    /// Contention parameters as configured: the first [`categories`](Self::categories) entries, highest priority first.
    pub(crate) access: [Access; CATEGORIES],
    /// Number of access categories: 4 under EDCA, 1 under the DCF.
    pub(crate) categories: usize,
    /// Retry limit of an RTS, and of a frame that needs no RTS.
    pub(crate) short_retry_limit: u8,
    /// Retry limit of a frame whose RTS was answered.
    pub(crate) long_retry_limit: u8,
    /// RTS threshold: longer data frames are announced. `None`: no frame is announced by an RTS.
    pub(crate) rts_threshold: Option<Bytes>,
    /// True if a CTS to self precedes each unicast data frame without RTS.
    pub(crate) cts_to_self: bool,
    /// In networks with 802.11b stations: RTS threshold and CTS to self for frames that these stations can read.
    /// `rts_threshold` and `cts_to_self` are for the frames that they cannot read, which need protection.
    pub(crate) of_dsss: Option<(Option<Bytes>, bool)>,
    pub(crate) aggregation: Aggregation,
    /// Directions in which access points and several stations share frames (OFDMA).
    pub(crate) ofdma: Ofdma,
    /// True if the network has stations that sleep.
    pub(crate) power_save: bool,
    /// Contention parameters of stations that were asked for data. `None`: those of `access`.
    pub(crate) mu_edca: Option<MuEdca>,
    /// How a busy secondary channel affects a TXOP. `None` if all share one channel.
    pub(crate) bandwidth: Option<Bandwidth>,
    pub(crate) eifs: Eifs,
    pub(crate) first_access: FirstAccess,
    pub(crate) answer_rts: AnswerRts,
    pub(crate) window_reset: WindowReset,
    /// Agreements for each format of the older of two stations: HT and before, VHT, HE.
    pub(crate) agreements: [Agreement; 3],
    /// Agreement of a station older than 802.11n with any station, in a network that has newer stations.
    pub(crate) old: Agreement,
    /// Format of each station in order of address, `None` before 802.11n; empty if all have the newest format.
    pub(crate) formats: Vec<Option<Format>>,
    /// Format of the newest stations. HT also stands for stations before 802.11n, whose MAC has the same rules.
    pub(crate) newest: Format,
    /// Rules of T-MAC. `None`: the network does not use T-MAC.
    pub(crate) tmac: Option<TmacRules>,
    /// Length of T-MAC's key in data frames and acknowledgements; zero without T-MAC.
    pub(crate) key: Bytes,
}

impl Access {
    /// Returns these rules with at least this smallest contention window in every category.
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

    /// True if access points send to several stations at once (downlink OFDMA).
    pub(crate) fn shares_downlink(&self) -> bool {
        self.ofdma != Ofdma::Off
    }

    /// True if frames are aggregated in any way.
    pub(crate) fn aggregates(&self) -> bool {
        self.aggregation.ampdu.is_some() || self.aggregation.amsdu.is_some()
    }

    /// True if stations have BlockAck agreements. They count as made before the simulation starts.
    pub(crate) fn block_ack(&self) -> bool {
        self.aggregation.ampdu.is_some()
    }

    /// True if these two stations have a BlockAck agreement.
    pub(crate) fn block_ack_of(&self, one: u32, other: u32) -> bool {
        self.block_ack() && (self.formats.is_empty() || self.agreement(one, other).aggregates)
    }

    /// Returns these rules with the agreements that its limits of aggregation imply.
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

    /// Returns the duration of a BlockAck between two stations for data in this mode.
    pub(crate) fn block_ack_duration(&self, mode: Mode, agreement: &Agreement) -> Duration {
        let responses = self.timing.responses(mode);
        if agreement.window > Agreement::SHORT { responses.long_block_ack } else { responses.block_ack }
    }

    /// Returns the longest data frame in a TXOP of this limit. It is an A-MPDU within its limit in bytes and, if data
    /// were sent in a mode before, in time. Without A-MPDUs it is the longest MPDU.
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

    /// True if the newest stations' `BlockAck`s report 256 frames.
    pub(crate) fn long_bitmaps(&self) -> bool {
        self.agreements[self.newest as usize].window > Agreement::SHORT
    }

    /// Returns the length of a QoS Null frame that reports the size of the queue: an A-MPDU without a packet.
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

    /// Returns the category with this index; `None` under the DCF.
    pub(crate) fn category(&self, index: u8) -> Option<Category> {
        const CATEGORIES: [Category; 4] =
            [Category::Voice, Category::Video, Category::BestEffort, Category::Background];
        self.edca().then(|| CATEGORIES[usize::from(index)])
    }

    /// Returns the contention parameters under these orders; without orders, the configured ones. An AIFSN of zero
    /// counts as one. A largest window below the smallest counts as the smallest.
    pub(crate) fn ordered(&self, configured: Access, orders: Option<control::Access>) -> Access {
        let Some(control::Access { aifsn, cw_min, cw_max, txop }) = orders else { return configured };
        let space = self.timing.sifs + self.timing.slot * u64::from(aifsn.max(1));
        let after_timeout = if configured.after_timeout.is_zero() { Duration::ZERO } else { space };
        Access { space, cw_min, cw_max: cw_max.max(cw_min), after_timeout, txop_limit: txop }
    }

    /// Returns the name of a category's queue in the results.
    pub(crate) fn queue_name(&self, index: usize) -> &'static str {
        if self.edca() { ["vo", "vi", "be", "bk"][index] } else { "be" }
    }

    /// Returns the RTS threshold of data frames in a mode, and whether a CTS to self precedes those without RTS.
    pub(super) fn announces(&self, mode: impl Fn() -> Mode) -> (Option<Bytes>, bool) {
        match self.of_dsss {
            Some(of_dsss) if matches!(mode(), Mode::Dsss { .. }) => of_dsss,
            _ => (self.rts_threshold, self.cts_to_self),
        }
    }

    /// Returns the duration of RTS and CTS, or of a CTS to self, before a data frame of this length, spaces included.
    pub(super) fn announcement(&self, mode: Mode, psdu: Bytes) -> Duration {
        let (timing, (threshold, cts_to_self)) = (&self.timing, self.announces(|| mode));
        match (threshold.is_some_and(|threshold| psdu > threshold), cts_to_self) {
            (true, _) => timing.rts + timing.cts + timing.sifs * 2,
            (false, true) => timing.cts + timing.sifs,
            (false, false) => Duration::ZERO,
        }
    }

    /// Returns the longest aggregate in a mode that is within the duration limit and ends within `time` after its
    /// announcement; zero if there is none.
    pub(super) fn longest(&self, mode: Mode, time: Duration) -> Bytes {
        let with = |psdu| {
            let left = time.saturating_sub(self.announcement(mode, psdu));
            self.timing.longest(mode, left.min(self.aggregation.duration))
        };
        let (Some(threshold), _) = self.announces(|| mode) else { return with(Bytes::new(0)) };
        let announced = with(threshold + Bytes::new(1));
        if announced > threshold { announced } else { with(threshold).min(threshold) }
    }

    /// Returns the length of the MAC frame of an MSDU: header (under EDCA with QoS control), checksum, T-MAC's key.
    pub(crate) fn mpdu(&self, msdu: Bytes) -> Bytes {
        let qos_control = Bytes::new(if self.edca() { 2 } else { 0 });
        msdu + crate::radio::MAC_OVERHEAD + qos_control + self.key
    }
}
