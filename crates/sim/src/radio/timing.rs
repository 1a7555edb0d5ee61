//! Interframe spaces and frame durations, exact to the standard's rounding.
//!
//! Sources: IEEE 802.11-2016, clauses 15 and 16 (DSSS and HR/DSSS: `TXTIME` in 16.3.4), 17 (OFDM: `TXTIME` in 17.4.3),
//! 18 (ERP: signal extension in 18.3.2.4) and 19 (HT: `TXTIME` in 19.4.3); characteristics in tables 15-5, 16-4, 17-21,
//! 18-5 and 19-25.

use super::mode::Mode;
use super::settings::Refusal;
use crate::config::{Preamble, Radio, Standard};
use units::{Bytes, Duration};

/// Length of a data frame's header (24 B) and check sum (4 B).
pub(crate) const MAC_OVERHEAD: Bytes = Bytes::new(28);
/// Length of an ACK.
pub(crate) const ACK: Bytes = Bytes::new(14);
/// Length of a compressed BlockAck (9.3.1.9).
pub(crate) const BLOCK_ACK: Bytes = Bytes::new(32);
/// Length of a CTS.
pub(crate) const CTS: Bytes = Bytes::new(14);
/// Length of an RTS.
pub(crate) const RTS: Bytes = Bytes::new(20);

/// Timing of a physical layer.
#[derive(Clone, Debug)]
pub struct Timing {
    /// The mode of ACK, block acknowledgement and broadcast frames.
    pub basic: Mode,
    /// The mode of RTS and CTS frames: the basic one, unless they protect stations of 802.11b.
    pub announcing: Mode,
    /// Signal extension after every OFDM frame in the 2.4 GHz band (18.3.2.4).
    extension: Duration,
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// DIFS: SIFS and two slots.
    pub difs: Duration,
    /// EIFS: SIFS, an ACK at the lowest rate, and DIFS (10.3.2.3.7).
    pub eifs: Duration,
    /// aRxTxTurnaroundTime: in this time before it sends, a radio no longer listens.
    pub turnaround: Duration,
    /// Duration of an ACK at the basic rate.
    pub ack: Duration,
    /// Duration of a BlockAck at the basic rate.
    pub block_ack: Duration,
    /// Duration of a CTS.
    pub cts: Duration,
    /// Duration of an RTS.
    pub rts: Duration,
    /// ACK time-out, from the end of the frame: SIFS, a slot and aRxPHYStartDelay (10.3.2.9), which is the duration of
    /// the response's preamble and header (tables 16-4, 17-21, 18-5).
    pub response_timeout: Duration,
    /// CTS time-out.
    pub cts_timeout: Duration,
    /// aCWmin.
    pub cw_min: u16,
    /// aCWmax.
    pub cw_max: u16,
}

impl Timing {
    /// Timing of a scenario's radio.
    pub(crate) fn new(radio: &Radio) -> Result<Self, Refusal> {
        let dsss = radio.standard == Standard::B;
        let low_band = radio.is_low_band();
        let (announcing, protects) = radio.protection_mode()?;
        let long_slot = dsss || protects;
        let mut timing = Self {
            basic: radio.basic_mode()?,
            announcing,
            extension: Duration::from_micros(if low_band { 6 } else { 0 }),
            slot: Duration::from_micros(if long_slot { 20 } else { 9 }),
            sifs: Duration::from_micros(if low_band { 10 } else { 16 }),
            difs: Duration::ZERO,
            eifs: Duration::ZERO,
            turnaround: Duration::from_micros(if dsss { 5 } else { 2 }),
            ack: Duration::ZERO,
            block_ack: Duration::ZERO,
            cts: Duration::ZERO,
            rts: Duration::ZERO,
            response_timeout: Duration::ZERO,
            cts_timeout: Duration::ZERO,
            // 10.3.9: with basic rates of 802.11b alone the window is aCWmin(0).
            cw_min: if long_slot { 31 } else { 15 },
            cw_max: 1023,
        };
        [timing.ack, timing.block_ack] = [ACK, BLOCK_ACK].map(|psdu| timing.duration(timing.basic, psdu));
        [timing.cts, timing.rts] = [CTS, RTS].map(|psdu| timing.duration(announcing, psdu));
        timing.difs = timing.sifs + timing.slot * 2;
        // The simulator that has this preamble has no slower frames than these.
        let slowest = if radio.preamble == Preamble::DataRate { timing.basic } else { radio.slowest_mode() };
        timing.eifs = timing.sifs + timing.duration(slowest, ACK) + timing.difs;
        timing.response_timeout = timing.sifs + timing.slot + timing.basic.header();
        timing.cts_timeout = timing.sifs + timing.slot + announcing.header();
        Ok(timing)
    }

    /// Longest PSDU whose frame lasts at most `time`; zero if there is none.
    pub(crate) fn longest(&self, mode: Mode, time: Duration) -> Bytes {
        let extension = if matches!(mode, Mode::Dsss { .. }) { Duration::ZERO } else { self.extension };
        mode.longest(time.saturating_sub(mode.header() + extension))
    }

    /// `TXTIME`: duration of a frame of `psdu` bytes (MAC header and check sum included).
    #[inline]
    pub fn duration(&self, mode: Mode, psdu: Bytes) -> Duration {
        let sent = mode.header() + mode.payload(psdu);
        if matches!(mode, Mode::Dsss { .. }) { sent } else { sent + self.extension }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{BProtection, Preamble};
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

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn dsss_frames_last_what_the_standard_says() {
        let (b, data) = timing(&radio(Standard::B, 11_000, 1_000));
        // 1064 B: 8512 bits at 11 Mb/s are 773.8 us, rounded up.
        assert_eq!(data, us(192 + 774));
        assert_eq!((b.ack, b.cts, b.rts), (us(192 + 112), us(192 + 112), us(192 + 160)));
        assert_eq!((b.sifs, b.difs, b.eifs), (us(10), us(50), us(10 + 304 + 50)));
        assert_eq!(b.response_timeout, us(10 + 20 + 192));
        // 5.5 Mb/s: 8512 / 5.5 = 1547.6.
        assert_eq!(timing(&radio(Standard::B, 5_500, 1_000)).1, us(192 + 1548));
    }

    #[test]
    fn the_short_preamble_spares_96_us_but_not_at_1_mbps() {
        let (b, data) = timing(&Radio { preamble: Preamble::Short, ..radio(Standard::B, 11_000, 2_000) });
        assert_eq!(data, us(96 + 774));
        assert_eq!(b.ack, us(96 + 56));
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
        assert_eq!((b.rts, b.cts, b.ack), (ns(32_001), ns(27_637), ns(27_637)));
        let data = b.duration(b.basic, Bytes::new(576));
        assert_eq!(data, ns(436_365));
        // What a sender waits for: 47.45 us after the RTS, where ns-2.1b8a has SIFS + CTS + SIFS = 47.64.
        assert_eq!((b.cts_timeout, b.eifs), (us(30) + ns(17_455), us(60) + ns(27_637)));
        // 512 B of UDP with RTS: RTS, CTS, data and ACK, three SIFS and DIFS. ns-2's frame has no LLC and UDP headers,
        // 16 B or 11.6 us less: 0.592 ms.
        let exchange = b.rts + b.cts + data + b.ack + b.sifs * 3 + b.difs;
        assert_eq!(exchange, ns(603_640));
        // Control frames may have a rate of their own.
        let slower = Radio { basic_rate: Some(Rate::mbps(2)), ..one_rate };
        assert_eq!(timing(&slower).0.ack, us(152));
    }

    #[test]
    fn ofdm_frames_last_whole_symbols() {
        let (a, data) = timing(&radio(Standard::A, 54_000, 6_000));
        // 16 + 8512 + 6 = 8534 bits at 216 a symbol: 39.5, so 40 symbols.
        assert_eq!(data, us(20 + 160));
        // 16 + 112 + 6 = 134 bits at 24 a symbol: 6 symbols.
        assert_eq!((a.ack, a.sifs, a.difs), (us(44), us(16), us(34)));
        let (g, data) = timing(&radio(Standard::G, 54_000, 6_000));
        assert_eq!((data, g.ack), (us(186), us(50)));
        assert_eq!((g.sifs, g.difs), (us(10), us(28)));
    }

    #[test]
    fn protection_has_the_slot_and_the_announcements_of_802_11b() {
        let g = Radio { standard: Standard::G, b_protection: BProtection::CtsToSelf, ..Radio::default() };
        let (g, data) = timing(&g);
        assert_eq!((g.slot, g.sifs, g.difs, g.cw_min), (us(20), us(10), us(50), 31));
        assert_eq!((data, g.ack, g.cts, g.rts), (us(186), us(50), us(304), us(352)));
        assert_eq!((g.eifs, g.response_timeout, g.cts_timeout), (us(364), us(50), us(222)));
        let refused = |radio: Radio| Timing::new(&radio).expect_err("a contradiction").key;
        assert_eq!(refused(Radio { b_protection: BProtection::RtsCts, ..Radio::default() }), "b_protection");
        let rate = Some(Rate::mbps(6));
        assert_eq!(refused(Radio { b_protection_rate: rate, ..Radio::default() }), "b_protection_rate");
    }

    #[test]
    fn ht_has_the_times_of_its_band_and_legacy_control_frames() {
        let five = Radio { standard: Standard::N, ..Radio::default() };
        let (n, data) = timing(&five);
        // MCS 7: 8534 bits at 260 a symbol: 32.8, so 33 symbols behind 36 us of preamble.
        assert_eq!(data, us(36 + 132));
        assert_eq!((n.ack, n.sifs, n.slot, n.response_timeout), (us(44), us(16), us(9), us(16 + 9 + 20)));
        let (n, data) = timing(&Radio { frequency: Some(Frequency::hertz(2_437_000_000)), ..five });
        assert_eq!((n.ack, n.sifs, data), (us(50), us(10), us(36 + 132 + 6)));
    }
}
