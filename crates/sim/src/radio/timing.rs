//! Frame durations and inter-frame spaces, exact to the standard's rounding.
//!
//! Sources: IEEE 802.11-2016, clauses 15 and 16 (DSSS and HR/DSSS: `TXTIME` in 16.3.4), 17 (OFDM: `TXTIME` in 17.4.3)
//! and 18 (ERP: signal extension in 18.3.2.4); characteristics in tables 15-5, 16-4, 17-21 and 18-5.

use crate::config::{Preamble, Radio, Standard};
use units::{Bytes, Duration, Rate};

/// Rates of 802.11b in kb/s.
const DSSS_RATES: [u64; 4] = [1_000, 2_000, 5_500, 11_000];
/// Rates of 802.11a and g (OFDM, 20 MHz) in kb/s; a 4 us symbol carries 4 bits a Mb/s.
const OFDM_RATES: [u64; 8] = [6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000];

/// 24 B of header and 4 B of check sum.
pub(crate) const MAC_OVERHEAD: Bytes = Bytes::new(28);
const ACK: Bytes = Bytes::new(14);
const CTS: Bytes = Bytes::new(14);
const RTS: Bytes = Bytes::new(20);

/// All times that a physical layer fixes, for one data rate and one basic rate.
#[derive(Clone, Debug)]
pub struct Timing {
    standard: Standard,
    preamble: Preamble,
    data_rate: Rate,
    basic_rate: Rate,
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// SIFS and two slots.
    pub difs: Duration,
    /// SIFS, an ACK at the lowest rate, and DIFS (10.3.2.3.7).
    pub eifs: Duration,
    /// aRxTxTurnaroundTime: within this time before it sends, a radio no longer listens.
    pub turnaround: Duration,
    /// An ACK at the basic rate.
    pub ack: Duration,
    /// A CTS at the basic rate.
    pub cts: Duration,
    /// An RTS at the basic rate.
    pub rts: Duration,
    /// From the end of a frame until its missing ACK or CTS is given up: SIFS, a slot and aRxPHYStartDelay (10.3.2.9).
    pub response_timeout: Duration,
    /// aCWmin.
    pub cw_min: u16,
    /// aCWmax.
    pub cw_max: u16,
}

/// A setting that the standard does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimingError {
    /// No such rate: the key and the rates that there are.
    NoSuchRate { key: &'static str, rates: &'static [u64] },
    /// The short preamble belongs to 802.11b.
    NoShortPreamble,
}

impl Timing {
    /// The times of a scenario's radio.
    pub(crate) fn new(radio: &Radio) -> Result<Self, TimingError> {
        let standard = radio.standard;
        let rates: &'static [u64] = match standard {
            Standard::B => &DSSS_RATES,
            Standard::A | Standard::G => &OFDM_RATES,
        };
        if standard != Standard::B && radio.preamble == Preamble::Short {
            return Err(TimingError::NoShortPreamble);
        }
        let [lowest, highest] = [rates[0], rates[rates.len() - 1]].map(Rate::kbps);
        let known = |rate: Rate, key| {
            let exists = rates.iter().any(|&r| Rate::kbps(r) == rate);
            if exists { Ok(rate) } else { Err(TimingError::NoSuchRate { key, rates }) }
        };
        let mut timing = Self {
            standard,
            preamble: radio.preamble,
            data_rate: known(radio.data_rate.unwrap_or(highest), "radio.data_rate")?,
            basic_rate: known(radio.basic_rate.unwrap_or(lowest), "radio.basic_rate")?,
            slot: Duration::from_micros(if standard == Standard::B { 20 } else { 9 }),
            sifs: Duration::from_micros(if standard == Standard::A { 16 } else { 10 }),
            difs: Duration::ZERO,
            eifs: Duration::ZERO,
            turnaround: Duration::from_micros(if standard == Standard::B { 5 } else { 2 }),
            ack: Duration::ZERO,
            cts: Duration::ZERO,
            rts: Duration::ZERO,
            response_timeout: Duration::ZERO,
            cw_min: if standard == Standard::B { 31 } else { 15 },
            cw_max: 1023,
        };
        timing.difs = timing.sifs + timing.slot * 2;
        timing.eifs = timing.sifs + timing.frame(ACK, lowest) + timing.difs;
        timing.ack = timing.frame(ACK, timing.basic_rate);
        timing.cts = timing.frame(CTS, timing.basic_rate);
        timing.rts = timing.frame(RTS, timing.basic_rate);
        timing.response_timeout = timing.sifs + timing.slot + timing.receive_start_delay();
        Ok(timing)
    }

    /// A data frame of `psdu` bytes (MAC header and check sum included) at the data rate.
    pub fn data(&self, psdu: Bytes) -> Duration {
        self.frame(psdu, self.data_rate)
    }

    /// A broadcast frame of `psdu` bytes at the basic rate.
    pub fn broadcast(&self, psdu: Bytes) -> Duration {
        self.frame(psdu, self.basic_rate)
    }

    /// `TXTIME` of `psdu` bytes at `rate`.
    fn frame(&self, psdu: Bytes, rate: Rate) -> Duration {
        match self.standard {
            Standard::B => {
                // 16.3.4: the PSDU lasts a whole number of microseconds.
                let micros = (psdu.bits() * 1_000_000).div_ceil(rate.as_bps());
                self.header(rate) + Duration::from_micros(micros)
            }
            Standard::A | Standard::G => {
                // 17.4.3: 16 bits of SERVICE and 6 of tail, in whole symbols of 4 us.
                let bits_per_symbol = rate.as_bps() / 250_000;
                let symbols = (16 + psdu.bits() + 6).div_ceil(bits_per_symbol);
                let extension = Duration::from_micros(if self.standard == Standard::G { 6 } else { 0 });
                self.header(rate) + Duration::from_micros(4 * symbols) + extension
            }
        }
    }

    /// Preamble and PHY header of a frame at `rate`.
    fn header(&self, rate: Rate) -> Duration {
        Duration::from_micros(match (self.standard, self.preamble) {
            (Standard::A | Standard::G, _) => 20,
            // 16.2.2.3: the short preamble is for 2 Mb/s and above.
            (Standard::B, Preamble::Short) if rate > Rate::mbps(1) => 96,
            (Standard::B, _) => 192,
        })
    }

    /// Preamble and PHY header of a data frame, and of frames at the basic rate.
    pub(crate) fn headers(&self) -> (Duration, Duration) {
        (self.header(self.data_rate), self.header(self.basic_rate))
    }

    /// aRxPHYStartDelay: from the start of a frame until its header is read.
    fn receive_start_delay(&self) -> Duration {
        match self.standard {
            Standard::B => self.header(self.basic_rate),
            Standard::A | Standard::G => Duration::from_micros(20),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(standard: Standard, data: u64, basic: u64) -> Timing {
        let rates = (Some(Rate::kbps(data)), Some(Rate::kbps(basic)));
        let radio = Radio { standard, data_rate: rates.0, basic_rate: rates.1, ..Radio::default() };
        Timing::new(&radio).expect("rates of the standard")
    }

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn dsss_frames_last_what_the_standard_says() {
        let b = timing(Standard::B, 11_000, 1_000);
        // 1064 B: 8512 bits at 11 Mb/s are 773.8 us, rounded up.
        assert_eq!(b.data(Bytes::new(1064)), us(192 + 774));
        assert_eq!((b.ack, b.cts, b.rts), (us(192 + 112), us(192 + 112), us(192 + 160)));
        assert_eq!((b.sifs, b.difs, b.eifs), (us(10), us(50), us(10 + 304 + 50)));
        assert_eq!(b.response_timeout, us(10 + 20 + 192));
        // 5.5 Mb/s: 8512 / 5.5 = 1547.6.
        assert_eq!(timing(Standard::B, 5_500, 1_000).data(Bytes::new(1064)), us(192 + 1548));
    }

    #[test]
    fn the_short_preamble_spares_96_us_but_not_at_1_mbps() {
        let radio = Radio { preamble: Preamble::Short, basic_rate: Some(Rate::mbps(2)), ..Radio::default() };
        let b = Timing::new(&radio).expect("valid");
        assert_eq!(b.data(Bytes::new(1064)), us(96 + 774));
        assert_eq!(b.ack, us(96 + 56));
        // EIFS uses the lowest rate of all, which keeps the long preamble.
        assert_eq!(b.eifs, us(10 + 304 + 50));
    }

    #[test]
    fn ofdm_frames_last_whole_symbols() {
        let a = timing(Standard::A, 54_000, 6_000);
        // 16 + 8512 + 6 = 8534 bits at 216 a symbol: 39.5, so 40 symbols.
        assert_eq!(a.data(Bytes::new(1064)), us(20 + 160));
        // 16 + 112 + 6 = 134 bits at 24 a symbol: 6 symbols.
        assert_eq!((a.ack, a.sifs, a.difs), (us(44), us(16), us(34)));
        let g = timing(Standard::G, 54_000, 6_000);
        assert_eq!((g.data(Bytes::new(1064)), g.ack), (us(186), us(50)));
        assert_eq!((g.sifs, g.difs), (us(10), us(28)));
    }

    #[test]
    fn rates_that_do_not_exist_are_refused() {
        let radio = Radio { data_rate: Some(Rate::mbps(54)), ..Radio::default() };
        assert!(matches!(Timing::new(&radio), Err(TimingError::NoSuchRate { key: "radio.data_rate", .. })));
        let radio = Radio { standard: Standard::A, preamble: Preamble::Short, ..Radio::default() };
        assert_eq!(Timing::new(&radio).err(), Some(TimingError::NoShortPreamble));
    }
}
