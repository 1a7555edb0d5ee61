//! Packet extension of HE PPDUs: time after the data in which receivers decode the end (IEEE 802.11ax-2021, 27.3.13).
//!
//! Data fill the last symbol in steps of a quarter (27.3.12.5). The extension's duration follows from the number of
//! quarters with data (the pre-FEC padding factor), and from the extension that receivers ask for. With several users
//! the longest extension applies to all.

use super::{Mimo, Rest};
use crate::config::{ChannelWidth, ExtendedRange, PacketPadding};
use crate::radio::ru::Ru;
use units::{Bytes, Duration};

const QUARTERS: u64 = 4;

impl ExtendedRange {
    pub(crate) const fn tones(self) -> u32 {
        match self {
            Self::All => 242,
            Self::Upper => 106,
        }
    }

    pub(crate) const fn highest(self) -> u8 {
        match self {
            Self::All => 2,
            Self::Upper => 0,
        }
    }
}

impl Mimo {
    /// Returns the same mode with the packet extension that receivers ask for. Only HE PPDUs have one.
    #[must_use]
    pub(crate) fn padded(self, padding: PacketPadding) -> Self {
        if self.format != super::Format::He {
            return self;
        }
        Self { rest: Rest::new(self.guard(), padding, self.has_ldpc()), ..self }
    }

    /// Returns the duration of the packet extension after `psdu` bytes.
    pub(in crate::radio) fn extension(self, psdu: Bytes) -> Duration {
        Duration::from_nanos(self.extension_after(psdu.bits() + self.around()))
    }

    /// Returns what HE-SIG-A says about the end of one user's frame with `psdu` bytes, if receivers ask for a packet
    /// extension. The fields are the pre-FEC padding factor, 1 to 4, and whether the length in L-SIG would allow one
    /// more symbol (PE Disambiguity).
    pub fn padding_fields(self, psdu: Bytes) -> Option<(u8, bool)> {
        if self.rest.padding() == PacketPadding::Us0 {
            return None;
        }
        let bits = psdu.bits() + self.around();
        // L-SIG counts symbols of 4 us from 20 us after the start of the preamble on.
        let after = self.header().as_nanos() + self.payload(psdu).as_nanos();
        let unknown = self.extension_after(bits) + after.next_multiple_of(4_000) - after;
        Some((u8::try_from(self.quarters(bits)).ok()?, unknown >= self.symbol()))
    }

    /// Returns how many quarters of the last symbol are occupied by these bits of a frame.
    fn quarters(self, bits: u64) -> u64 {
        match bits % self.bits_per_symbol() {
            0 => QUARTERS,
            excess => excess.div_ceil(self.bits_per_quarter()).min(QUARTERS),
        }
    }

    /// Returns the number of data bits in a quarter of a symbol; it follows from the data subcarriers (NSD,short). The
    /// last quarter has the remaining bits.
    fn bits_per_quarter(self) -> u64 {
        let tones = match (self.ru(), self.extended_range(), self.width) {
            (Some(ru), ..) => ru.quarter(),
            (None, Some(ExtendedRange::Upper), _) => Ru::T106.quarter(),
            (None, _, ChannelWidth::Mhz20) => Ru::T242.quarter(),
            (None, _, ChannelWidth::Mhz40) => Ru::T484.quarter(),
            (None, _, ChannelWidth::Mhz80) => Ru::T996.quarter(),
            (None, _, ChannelWidth::Mhz160) => 492,
        };
        tones * u64::from(self.streams) * super::TWELFTHS[usize::from(self.coding)] / 12
    }

    /// Returns the duration of the packet extension after this many bits, in nanoseconds.
    #[cold]
    pub(super) fn extension_after(self, bits: u64) -> u64 {
        self.nominal(self.quarters(bits))
    }

    /// Returns the nominal duration of the packet extension, in nanoseconds.
    const fn nominal(self, quarters: u64) -> u64 {
        4_000
            * match self.rest.padding() {
                PacketPadding::Us0 => 0,
                PacketPadding::Us8 => quarters.saturating_sub(2),
                PacketPadding::Us16 => quarters,
            }
    }

    /// Returns the largest number of bits that, with their extension, last at most `nanos`.
    #[cold]
    pub(super) fn bits_before_extension(self, nanos: u64) -> u64 {
        let most = nanos / self.symbol();
        let ends = [most, most.saturating_sub(1)].into_iter().filter(|&symbols| symbols > 0);
        let ends = ends.flat_map(|symbols| (1..=QUARTERS).rev().map(move |quarters| (symbols, quarters)));
        let mut fitting = ends.filter(|&(symbols, quarters)| symbols * self.symbol() + self.nominal(quarters) <= nanos);
        match fitting.next() {
            Some((symbols, QUARTERS)) => symbols.saturating_mul(self.bits_per_symbol()),
            Some((symbols, quarters)) => {
                (symbols - 1).saturating_mul(self.bits_per_symbol()) + quarters * self.bits_per_quarter()
            }
            None => 0,
        }
    }
}
