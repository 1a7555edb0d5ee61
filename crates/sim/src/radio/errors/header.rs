//! Bits of a PHY header that noise can corrupt.

use crate::radio::mode::{DsssRate, Mode, OfdmRate};
use units::Duration;

/// The part of a PHY header that carries bits: when it begins and ends after the start of the frame, how many bits, and
/// how they are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::radio) struct HeaderField {
    pub(in crate::radio) begins: Duration,
    pub(in crate::radio) ends: Duration,
    pub(in crate::radio) bits: f64,
    pub(in crate::radio) mode: Mode,
}

/// Where a frame's PHY header has its bits: SIGNAL (and HT-SIG) at 6 Mb/s behind the training of 16 us, or the PLCP
/// header of 48 bits behind the SYNC and SFD of a DSSS preamble, at 1 Mb/s (long) or 2 Mb/s (short).
pub(in crate::radio) fn header_field(mode: Mode) -> HeaderField {
    let ends = mode.header();
    let us = Duration::from_micros;
    match mode {
        Mode::Dsss { preamble, .. } => {
            let short = ends < us(192);
            let rate = if short { DsssRate::K2000 } else { DsssRate::K1000 };
            let begins = if short { us(72) } else { us(144) };
            HeaderField { begins, ends, bits: 48.0, mode: Mode::Dsss { rate, preamble } }
        }
        Mode::Ofdm(_) => HeaderField { begins: us(16), ends, bits: 24.0, mode: Mode::Ofdm(OfdmRate::M6) },
        Mode::Ht { .. } | Mode::Nominal { .. } => {
            HeaderField { begins: us(16), ends: us(28), bits: 72.0, mode: Mode::Ofdm(OfdmRate::M6) }
        }
    }
}
