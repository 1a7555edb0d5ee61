//! Interframe spaces and frame durations, exact to the standard's rounding.
//!
//! Sources: IEEE 802.11-2016, clauses 15 and 16 (DSSS and HR/DSSS: `TXTIME` in 16.3.4), 17 (OFDM: `TXTIME` in 17.4.3),
//! 18 (ERP: signal extension in 18.3.2.4), 19 (HT: `TXTIME` in 19.4.3) and 21 (VHT: 21.4.3); IEEE 802.11ax-2021, clause
//! 27 (HE: 27.4.3). Characteristics are in tables 15-5, 16-4, 17-21, 18-5, 19-25, 21-29 and 27-60.

use super::mode::{DsssRate, MANDATORY, Mode};
use super::settings::Refusal;
use crate::config::{ExtendedRange, Preamble, Radio, Standard};
use units::{Bytes, Duration};

/// Length of a data frame's header (24 B) and checksum (4 B).
pub(crate) const MAC_OVERHEAD: Bytes = Bytes::new(28);
/// Length of an ACK.
pub(crate) const ACK: Bytes = Bytes::new(14);
/// Lengths of a compressed BlockAck (9.3.1.8) with bitmaps of 64 bits and of 256 bits.
pub(crate) const BLOCK_ACK: Bytes = Bytes::new(32);
pub(crate) const LONG_BLOCK_ACK: Bytes = Bytes::new(56);
/// Length of a CTS.
pub(crate) const CTS: Bytes = Bytes::new(14);
/// Length of an RTS.
pub(crate) const RTS: Bytes = Bytes::new(20);

/// Responses to data at some rate.
#[derive(Clone, Copy, Debug)]
pub struct Responses {
    /// Mode of the responses.
    pub mode: Mode,
    /// Duration of an ACK.
    pub ack: Duration,
    /// Duration of a BlockAck of 64 frames.
    pub block_ack: Duration,
    /// Duration of a BlockAck of 256 frames.
    pub long_block_ack: Duration,
    /// Time-out, counted from the end of the data: SIFS, a slot and aRxPHYStartDelay (10.3.2.9). The latter is the
    /// duration of the response's preamble and header (tables 16-4, 17-21, 18-5).
    pub timeout: Duration,
}

/// Timing of a physical layer.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Mode of block acknowledgement requests and, except [beside 802.11b](Self::broadcast), of broadcast frames.
    pub basic: Mode,
    /// The mode of broadcast frames, which all stations receive.
    pub broadcast: Mode,
    /// Responses, indexed by [`Mode::responses`] of the data.
    responses: [Responses; 9],
    /// Mode of RTS and CTS frames: the basic mode, unless these frames protect stations of 802.11b.
    pub announcing: Mode,
    /// Signal extension after every OFDM frame in the 2.4 GHz band (18.3.2.4).
    extension: Duration,
    /// Duration of a slot (aSlotTime).
    pub slot: Duration,
    /// Duration of SIFS (aSIFSTime).
    pub sifs: Duration,
    /// DIFS: SIFS and two slots.
    pub difs: Duration,
    /// Duration of EIFS: SIFS, an ACK at the lowest rate, and DIFS (10.3.2.3.7).
    pub eifs: Duration,
    /// aRxTxTurnaroundTime: time before a transmission in which the radio no longer listens.
    pub turnaround: Duration,
    /// Duration of a CTS.
    pub cts: Duration,
    /// Duration of an RTS.
    pub rts: Duration,
    /// Time-out for a CTS, counted from the end of the RTS.
    pub cts_timeout: Duration,
    /// Smallest contention window (aCWmin), in slots.
    pub cw_min: u16,
    /// Largest contention window (aCWmax), in slots.
    pub cw_max: u16,
}

impl Timing {
    pub(crate) fn new(radio: &Radio) -> Result<Self, Refusal> {
        let dsss = radio.standard == Standard::B;
        let low_band = radio.is_low_band();
        let (announcing, protects) = radio.protection_mode()?;
        let long_slot = dsss || protects;
        let basic = radio.basic_mode()?;
        let zero = Duration::ZERO;
        let none = Responses { mode: basic, ack: zero, block_ack: zero, long_block_ack: zero, timeout: zero };
        let mut timing = Self {
            basic,
            broadcast: if radio.beside_b { announcing } else { basic },
            responses: [none; 9],
            announcing,
            extension: Duration::from_micros(if low_band { 6 } else { 0 }),
            slot: Duration::from_micros(if long_slot { 20 } else { 9 }),
            sifs: Duration::from_micros(if low_band { 10 } else { 16 }),
            difs: Duration::ZERO,
            eifs: Duration::ZERO,
            turnaround: Duration::from_micros(if dsss { 5 } else { 2 }),
            cts: Duration::ZERO,
            rts: Duration::ZERO,
            cts_timeout: Duration::ZERO,
            // 10.3.9: if all rates are those of 802.11b, the window is aCWmin(0).
            cw_min: if long_slot && !radio.beside_b { 31 } else { 15 },
            cw_max: 1023,
        };
        let by_rule = !dsss && radio.basic_rate.is_none();
        let [slow, medium, fast] = MANDATORY.map(|rate| if by_rule { Mode::Ofdm(rate) } else { basic });
        let extended = |tones| radio.extended_response(tones).map_or(basic, Mode::Mimo);
        // The usual basic rates of 802.11b beside other standards: 1 and 2 Mb/s.
        let of_b = |rate| if dsss { basic } else { Mode::Dsss { rate, preamble: radio.preamble } };
        let [one, two] = [DsssRate::K1000, DsssRate::K2000].map(of_b);
        let [all, upper] = [ExtendedRange::All, ExtendedRange::Upper].map(extended);
        timing.responses = [slow, medium, fast, all, upper, one, two, two, two].map(|mode| Responses { mode, ..none });
        timing.lengthen_responses(Bytes::new(0));
        [timing.cts, timing.rts] = [CTS, RTS].map(|psdu| timing.duration(announcing, psdu));
        timing.difs = timing.sifs + timing.slot * 2;
        // The simulator that has this kind of preamble has no slower frames than these.
        let slowest = if radio.preamble == Preamble::DataRate { timing.basic } else { radio.slowest_mode() };
        timing.eifs = timing.sifs + timing.duration(slowest, ACK) + timing.difs;
        timing.cts_timeout = timing.sifs + timing.slot + announcing.header();
        Ok(timing)
    }

    /// Sets the duration of responses that have `more` bytes than the standard's.
    pub(crate) fn lengthen_responses(&mut self, more: Bytes) {
        let lasts = |mode, psdu| self.duration(mode, psdu + more);
        self.responses = self.responses.map(|Responses { mode, .. }| Responses {
            mode,
            ack: lasts(mode, ACK),
            block_ack: lasts(mode, BLOCK_ACK),
            long_block_ack: lasts(mode, LONG_BLOCK_ACK),
            timeout: self.sifs + self.slot + mode.header(),
        });
    }

    /// Returns the responses to data in this mode. They are at the configured basic rate, or else at the rate that
    /// 10.6.6.5.2 gives, or in HE ER SU PPDUs like the data.
    pub fn responses(&self, mode: Mode) -> &Responses {
        &self.responses[mode.responses()]
    }

    /// Returns the time-out of a response to a frame in this mode. All responses have the same preamble, except those
    /// in HE ER SU PPDUs and those to DSSS.
    #[inline]
    pub fn response_timeout(&self, mode: Mode) -> Duration {
        match mode {
            Mode::Mimo(mimo) if mimo.extended_range().is_some() => self.responses(mode).timeout,
            Mode::Dsss { .. } => self.responses(mode).timeout,
            _ => self.responses[0].timeout,
        }
    }

    /// Returns the mode of a control frame that belongs to data in this mode and is not a response.
    pub fn control(&self, mode: Mode) -> Mode {
        match mode {
            Mode::Mimo(mimo) if mimo.extended_range().is_some() => self.responses(mode).mode,
            _ => self.basic,
        }
    }

    /// Returns the longest PSDU whose frame lasts at most `time`; zero if there is none.
    pub(crate) fn longest(&self, mode: Mode, time: Duration) -> Bytes {
        let extension = if matches!(mode, Mode::Dsss { .. }) { Duration::ZERO } else { self.extension };
        mode.longest(time.saturating_sub(mode.header() + extension))
    }

    /// Returns the duration of `psdu` bytes after preamble and header, with the signal extension.
    pub(crate) fn payload(&self, mode: Mode, psdu: Bytes) -> Duration {
        self.duration(mode, psdu) - mode.header()
    }

    /// Returns `TXTIME`: the duration of a frame of `psdu` bytes (MAC header and checksum included).
    #[inline]
    pub fn duration(&self, mode: Mode, psdu: Bytes) -> Duration {
        let sent = mode.header() + mode.payload(psdu);
        if matches!(mode, Mode::Dsss { .. }) { sent } else { sent + self.extension }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{BProtection, PacketPadding, Preamble};
    use crate::radio::OfdmRate;
    use units::{Frequency, Rate};

    fn radio(standard: Standard, data: u64, basic: u64) -> Radio {
        let [data_rate, basic_rate] = [data, basic].map(|kbps| Some(Rate::kbps(kbps)));
        Radio { standard, data_rate, basic_rate, ..Radio::default() }
    }

    /// The timing, and the duration of a data frame of 1064 B.
    fn timing(radio: &Radio) -> (Timing, Duration) {
        let timing = Timing::new(radio).expect("a basic rate of the standard");
        let data = timing.duration(radio.data_mode().expect("a rate of the standard"), Bytes::new(1064));
        (timing, data)
    }

    /// Duration of an ACK to the slowest data.
    fn ack(timing: &Timing) -> Duration {
        timing.responses(timing.basic).ack
    }

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn dsss_frames_last_what_the_standard_says() {
        let (b, data) = timing(&radio(Standard::B, 11_000, 1_000));
        // 1064 B: 8512 bits at 11 Mb/s are 773.8 us, rounded up.
        assert_eq!(data, us(192 + 774));
        assert_eq!((ack(&b), b.cts, b.rts), (us(192 + 112), us(192 + 112), us(192 + 160)));
        assert_eq!((b.sifs, b.difs, b.eifs), (us(10), us(50), us(10 + 304 + 50)));
        assert_eq!(b.responses(b.basic).timeout, us(10 + 20 + 192));
        // 5.5 Mb/s: 8512 / 5.5 = 1547.6.
        assert_eq!(timing(&radio(Standard::B, 5_500, 1_000)).1, us(192 + 1548));
    }

    #[test]
    fn the_short_preamble_spares_96_us_but_not_at_1_mbps() {
        let (b, data) = timing(&Radio { preamble: Preamble::Short, ..radio(Standard::B, 11_000, 2_000) });
        assert_eq!(data, us(96 + 774));
        assert_eq!(ack(&b), us(96 + 56));
        // EIFS uses the lowest rate of all, which keeps the long preamble.
        assert_eq!(b.eifs, us(10 + 304 + 50));
    }

    #[test]
    fn a_preamble_at_the_data_rate_is_24_bytes_of_the_frame() {
        let one_rate = Radio { preamble: Preamble::DataRate, ..Radio::default() };
        let (b, _) = timing(&one_rate);
        let ns = Duration::from_nanos;
        // 24, 24 + 20, 24 + 14 and 24 + 576 B at 11 Mb/s: 17.4545, 32, 27.6363 and 436.3636 us. Header and body are
        // each rounded up to a nanosecond.
        assert_eq!((b.rts, b.cts, ack(&b)), (ns(32_001), ns(27_637), ns(27_637)));
        let data = b.duration(b.basic, Bytes::new(576));
        assert_eq!(data, ns(436_365));
        // Time-out of a sender: 47.45 us after the RTS, where ns-2.1b8a has SIFS + CTS + SIFS = 47.64.
        assert_eq!((b.cts_timeout, b.eifs), (us(30) + ns(17_455), us(60) + ns(27_637)));
        // 512 B of UDP with RTS: RTS, CTS, data and ACK, three SIFS and DIFS. ns-2's frame has no LLC and UDP headers,
        // 16 B or 11.6 us less: 0.592 ms.
        let exchange = b.rts + b.cts + data + ack(&b) + b.sifs * 3 + b.difs;
        assert_eq!(exchange, ns(603_640));
        // Control frames may have a rate of their own.
        let slower = Radio { basic_rate: Some(Rate::mbps(2)), ..one_rate };
        assert_eq!(ack(&timing(&slower).0), us(152));
    }

    #[test]
    fn ofdm_frames_last_whole_symbols() {
        let (a, data) = timing(&radio(Standard::A, 54_000, 6_000));
        // 16 + 8512 + 6 = 8534 bits at 216 a symbol: 39.5, so 40 symbols.
        assert_eq!(data, us(20 + 160));
        // 16 + 112 + 6 = 134 bits at 24 a symbol: 6 symbols.
        assert_eq!((ack(&a), a.sifs, a.difs), (us(44), us(16), us(34)));
        let (g, data) = timing(&radio(Standard::G, 54_000, 6_000));
        assert_eq!((data, ack(&g)), (us(186), us(50)));
        assert_eq!((g.sifs, g.difs), (us(10), us(28)));
    }

    #[test]
    fn protection_has_the_slot_and_the_announcements_of_802_11b() {
        let g = Radio { standard: Standard::G, b_protection: Some(BProtection::CtsToSelf), ..Radio::default() };
        let (g, data) = timing(&g);
        assert_eq!((g.slot, g.sifs, g.difs, g.cw_min), (us(20), us(10), us(50), 31));
        assert_eq!((data, ack(&g), g.cts, g.rts), (us(186), us(50), us(304), us(352)));
        assert_eq!((g.eifs, g.responses(g.basic).timeout, g.cts_timeout), (us(364), us(50), us(222)));
        let refused = |radio: Radio| Timing::new(&radio).expect_err("a contradiction").key;
        assert_eq!(refused(Radio { b_protection: Some(BProtection::RtsCts), ..Radio::default() }), "b_protection");
        let rate = Some(Rate::mbps(6));
        assert_eq!(refused(Radio { b_protection_rate: rate, ..Radio::default() }), "b_protection_rate");
    }

    /// Beside nodes of 802.11b, whether protected or not: their announcements, slot, EIFS and responses, but the window of the
    /// others.
    #[test]
    fn beside_802_11b_responses_have_the_format_of_the_data() {
        let low = Some(Frequency::hertz(2_437_000_000));
        for b_protection in [None, Some(BProtection::None)] {
            let n = Radio { standard: Standard::N, frequency: low, b_protection, beside_b: true, ..Radio::default() };
            let n = Timing::new(&n).expect("a timing");
            assert_eq!((n.slot, n.difs, n.cw_min, n.eifs), (us(20), us(50), 15, us(364)));
            assert_eq!((n.cts, n.rts, n.broadcast), (us(304), us(352), n.announcing));
            let dsss = |rate| Mode::Dsss { rate, preamble: Preamble::Long };
            // 14 B at 1 and 2 Mb/s behind 192 us; the time-out waits for that preamble.
            for (rate, ack) in DsssRate::ALL.into_iter().zip([304, 248, 248, 248]) {
                let found = n.responses(dsss(rate));
                assert_eq!((found.ack, n.response_timeout(dsss(rate))), (us(ack), us(10 + 20 + 192)), "{rate:?}");
            }
            assert_eq!(n.responses(Mode::Ofdm(OfdmRate::M54)).ack, us(34));
            assert_eq!(n.response_timeout(Mode::Ofdm(OfdmRate::M54)), us(10 + 20 + 20));
        }
    }

    #[test]
    fn ht_has_the_times_of_its_band_and_legacy_control_frames() {
        let five = Radio { standard: Standard::N, ..Radio::default() };
        let (n, data) = timing(&five);
        // MCS 7: 8534 bits at 260 a symbol: 32.8, so 33 symbols behind 36 us of preamble.
        assert_eq!(data, us(36 + 132));
        assert_eq!((ack(&n), n.sifs, n.slot, n.responses(n.basic).timeout), (us(44), us(16), us(9), us(16 + 9 + 20)));
        let (n, data) = timing(&Radio { frequency: Some(Frequency::hertz(2_437_000_000)), ..five });
        assert_eq!((ack(&n), n.sifs, data), (us(50), us(10), us(36 + 132 + 6)));
    }

    #[test]
    fn responses_to_frames_of_extended_range_have_their_format() {
        let ns = Duration::from_nanos;
        let of = |extended_range, packet_padding| {
            let ax = Radio { standard: Standard::Ax, extended_range, packet_padding, ..Radio::default() };
            let timing = Timing::new(&ax).expect("a radio of the standard");
            let data = ax.data_mode().expect("MCS 0 by default");
            let Responses { ack, block_ack, long_block_ack, timeout, .. } = *timing.responses(data);
            let control = timing.control(data);
            assert_eq!(control, if extended_range.is_some() { timing.responses(data).mode } else { timing.basic });
            [ack, block_ack, long_block_ack, timeout]
        };
        // 134 bits of an ACK, 278 and 470 of BlockAcks: 2, 3 and 5 symbols of 117; 3, 6 and 10 of 51. 51.2 us before them, SIFS
        // and a slot.
        let lasts = |symbols: u64| ns(51_200 + symbols * 13_600);
        let (all, upper) = (Some(ExtendedRange::All), Some(ExtendedRange::Upper));
        assert_eq!(of(all, PacketPadding::Us0), [lasts(2), lasts(3), lasts(5), ns(76_200)]);
        assert_eq!(of(upper, PacketPadding::Us0), [lasts(3), lasts(6), lasts(10), ns(76_200)]);
        // In the last symbol 17, 44 and 2 bits: quarters of 30.
        let longer = [4, 8, 4].map(|micros| ns(1_000 * micros));
        assert_eq!(
            of(all, PacketPadding::Us16),
            [lasts(2) + longer[0], lasts(3) + longer[1], lasts(5) + longer[2], ns(76_200)]
        );
        // Without it 44 us, and 45 to wait.
        assert_eq!(of(None, PacketPadding::Us0)[3], us(45));
    }

    #[test]
    fn responses_have_the_mandatory_rate_below_that_of_the_data() {
        let a = Timing::new(&Radio { standard: Standard::A, ..Radio::default() }).expect("802.11a");
        let ack = |rate| a.responses(Mode::Ofdm(rate)).ack;
        assert_eq!([OfdmRate::M9, OfdmRate::M18, OfdmRate::M54].map(ack), [us(44), us(32), us(28)]);
        let ax = Radio { standard: Standard::Ax, ..Radio::default() };
        let of = |radio: &Radio, mcs| {
            let timing = Timing::new(radio).expect("a radio of the standard");
            let data = Radio { mcs: Some(mcs), ..radio.clone() }.data_mode().expect("an MCS of the standard");
            let Responses { mode, ack, block_ack, long_block_ack, .. } = *timing.responses(data);
            (mode.rate().as_bps() / 1_000_000, ack, block_ack, long_block_ack)
        };
        // 16 + 8 * 14 + 6 = 134 bits: 6, 3 and 2 symbols of 24, 48 and 96; 278 of a BlockAck: 12, 6, 3; 470: 20, 10, 5.
        let slow = (6, us(44), us(68), us(100));
        let expected = [slow, (12, us(32), us(44), us(60)), (24, us(28), us(32), us(40))];
        for (mcs, class) in [(0, 0), (1, 1), (2, 1), (3, 2), (7, 2), (11, 2)] {
            assert_eq!(of(&ax, mcs), expected[class], "MCS {mcs}");
        }
        assert_eq!(of(&Radio { basic_rate: Some(Rate::mbps(6)), ..ax.clone() }, 11), slow);
        let n = Radio { standard: Standard::N, ..Radio::default() };
        for (mcs, class) in [(0, 0), (1, 1), (2, 1), (3, 2), (7, 2), (8, 0), (15, 2)] {
            assert_eq!(of(&n, mcs), expected[class], "MCS {mcs}");
        }
        // 6 us of signal extension at 2.4 GHz, SIFS 10.
        let low = Radio { frequency: Some(Frequency::hertz(2_437_000_000)), ..ax };
        assert_eq!(of(&low, 11), (24, us(34), us(38), us(46)));
        let (timing, data) = timing(&low);
        assert_eq!((timing.sifs, timing.difs), (us(10), us(28)));
        // MCS 7: 8534 bits at 1170 a symbol are 8 symbols of 13.6 us behind 43.2, and the extension.
        assert_eq!(data, Duration::from_nanos(43_200 + 8 * 13_600 + 6_000));
    }
}
