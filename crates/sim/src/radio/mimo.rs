//! Modes of MIMO-OFDM: HT, VHT and HE PPDUs for one user, and one user's part of HE PPDUs for several.
//!
//! Sources: IEEE 802.11-2020, clause 19 (HT-mixed format; MCS parameters in 19.5), clause 21 (VHT; 21.5) and IEEE
//! 802.11ax-2021, clause 27 (HE SU and HE ER SU; 27.5). Rates follow from the number of data subcarriers (tables 19-6,
//! 21-5 and, for RUs that fill a channel, 27-13 to 27-15), modulation and code of an MCS, and the duration of a symbol.

mod extension;

use super::ru::Ru;
use crate::config::{ChannelWidth, ExtendedRange, GuardInterval, PacketPadding, Standard};
use units::{Bytes, Duration, Rate};

/// Number of bits (SERVICE) before the PSDU of every OFDM frame, and of tail bits after it, which reset the encoder.
pub(super) const SERVICE: u64 = 16;
pub(super) const TAIL: u64 = 6;

/// PPDU format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// 802.11n: HT-mixed.
    Ht,
    /// 802.11ac.
    Vht,
    /// 802.11ax: HE SU.
    He,
}

/// Modulation, coding, streams, bandwidth and guard interval of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mimo {
    format: Format,
    /// Modulation and code, as the MCS of one stream.
    coding: u8,
    streams: u8,
    width: ChannelWidth,
    rest: Rest,
    extent: Extent,
}

/// Guard interval, packet padding and kind of code in one byte. A [`Mode`](super::Mode) of eight bytes thus has a byte
/// for its discriminant, so that modes are compared in a few instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rest(u8);

/// Which tones a frame occupies. They determine its preamble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All tones of the channel.
    Channel,
    /// The tones of an RU of an HE MU or TB PPDU. Its preamble has this many more symbols of 4 us than an HE SU PPDU's.
    Part(Ru, u8),
    /// The tones of an HE ER SU PPDU.
    Extended(ExtendedRange),
}

/// Data bits per subcarrier and stream in a symbol, in twelfths, for each MCS of one stream: BPSK 1/2, QPSK 1/2 and
/// 3/4, 16-QAM 1/2 and 3/4, 64-QAM 2/3, 3/4 and 5/6, 256-QAM 3/4 and 5/6, 1024-QAM 3/4 and 5/6.
pub const TWELFTHS: [u64; 12] = [6, 12, 18, 24, 36, 48, 54, 60, 72, 80, 90, 100];

/// Combinations of width, streams and MCS that VHT does not have (21.5): they do not fill whole bits of every encoder.
const EXCLUDED: [(ChannelWidth, u8, u8); 10] = [
    (ChannelWidth::Mhz20, 1, 9),
    (ChannelWidth::Mhz20, 2, 9),
    (ChannelWidth::Mhz20, 4, 9),
    (ChannelWidth::Mhz20, 5, 9),
    (ChannelWidth::Mhz20, 7, 9),
    (ChannelWidth::Mhz20, 8, 9),
    (ChannelWidth::Mhz80, 3, 6),
    (ChannelWidth::Mhz80, 6, 9),
    (ChannelWidth::Mhz80, 7, 6),
    (ChannelWidth::Mhz160, 3, 9),
];

impl Format {
    /// Returns the format of a standard's data frames; `None` before 802.11n.
    pub const fn of(standard: Standard) -> Option<Self> {
        match standard {
            Standard::B | Standard::A | Standard::G => None,
            Standard::N => Some(Self::Ht),
            Standard::Ac => Some(Self::Vht),
            Standard::Ax => Some(Self::He),
        }
    }

    /// Returns the highest MCS of one stream.
    pub const fn highest(self) -> u8 {
        match self {
            Self::Ht => 7,
            Self::Vht => 9,
            Self::He => 11,
        }
    }

    /// Returns the largest number of streams.
    pub const fn most_streams(self) -> u8 {
        match self {
            Self::Ht => 4,
            Self::Vht | Self::He => 8,
        }
    }

    /// Returns the channel widths, narrowest first.
    pub const fn widths(self) -> &'static [ChannelWidth] {
        use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
        match self {
            Self::Ht => &[Mhz20, Mhz40],
            Self::Vht | Self::He => &[Mhz20, Mhz40, Mhz80, Mhz160],
        }
    }

    /// Returns the guard intervals, most robust first.
    pub const fn guards(self) -> &'static [GuardInterval] {
        use GuardInterval::{Double, Long, Quadruple, Short};
        match self {
            Self::Ht | Self::Vht => &[Long, Short],
            Self::He => &[Quadruple, Double, Long],
        }
    }
}

impl Rest {
    const LDPC: u8 = 1 << 7;

    const fn new(guard: GuardInterval, padding: PacketPadding, ldpc: bool) -> Self {
        Self(guard as u8 | (padding as u8) << 4 | if ldpc { Self::LDPC } else { 0 })
    }

    const fn has_ldpc(self) -> bool {
        self.0 & Self::LDPC != 0
    }

    const fn guard(self) -> GuardInterval {
        match self.0 & 15 {
            0 => GuardInterval::Long,
            1 => GuardInterval::Short,
            2 => GuardInterval::Double,
            _ => GuardInterval::Quadruple,
        }
    }

    const fn padding(self) -> PacketPadding {
        match self.0 >> 4 & 3 {
            0 => PacketPadding::Us0,
            1 => PacketPadding::Us8,
            _ => PacketPadding::Us16,
        }
    }
}

impl Mimo {
    /// See [`Mode::key`](super::Mode::key).
    #[inline]
    pub(super) fn key(self) -> u64 {
        let Self { format, coding, streams, width, rest, extent } = self;
        let (tones, longer) = match extent {
            Extent::Channel => (0, 0),
            Extent::Part(ru, longer) => (1 + ru as u8, longer),
            Extent::Extended(tones) => (2 + Ru::T996 as u8 + tones as u8, 0),
        };
        u64::from_le_bytes([format as u8, coding, streams, width as u8, rest.0, tones, longer, 0])
    }

    /// Returns the mode with MCS `coding` in each stream, `streams` and the convolutional code, if the standard has it.
    pub fn new(format: Format, coding: u8, streams: u8, width: ChannelWidth, guard: GuardInterval) -> Option<Self> {
        let exists = coding <= format.highest()
            && (1..=format.most_streams()).contains(&streams)
            && format.widths().contains(&width)
            && format.guards().contains(&guard)
            && !(format == Format::Vht && EXCLUDED.contains(&(width, streams, coding)));
        let (rest, extent) = (Rest::new(guard, PacketPadding::Us0, false), Extent::Channel);
        exists.then_some(Self { format, coding, streams, width, rest, extent })
    }

    /// Returns the mode in which a station with this mode sends to one with `other`; each supports all formats, widths
    /// and streams up to its own. It has what both support, and the sender's modulation and code as far as possible.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        let format = self.format.min(other.format);
        let guard = match format {
            Format::He => self.guard().max(other.guard()),
            Format::Ht | Format::Vht if self.guard() == other.guard() => self.guard(),
            Format::Ht | Format::Vht => GuardInterval::Long,
        };
        let (streams, width) = (self.streams.min(other.streams), self.width.min(other.width));
        let coding = self.coding.min(format.highest());
        let mut modes = (0..=coding).rev().filter_map(|coding| Self::new(format, coding, streams, width, guard));
        modes.next().unwrap_or(self)
    }

    /// Returns this mode or, in a narrower channel, the fastest mode that exceeds it in no parameter.
    #[must_use]
    pub(crate) fn at_most(self, width: ChannelWidth) -> Self {
        if self.width <= width {
            return self;
        }
        let narrow = |coding| Self::new(self.format, coding, self.streams, width, self.guard());
        let narrow = (0..=self.coding).rev().find_map(narrow).unwrap_or(self);
        Self { extent: self.extent, rest: self.rest, ..narrow }
    }

    /// Returns this HE mode within an RU, after a preamble with `longer` more symbols of 4 us. In an HE MU PPDU these
    /// are the symbols of HE-SIG-B (27.3.4); in an HE TB PPDU there is one, for a longer HE-STF.
    #[must_use]
    pub(crate) const fn within(self, ru: Ru, longer: u8) -> Self {
        Self { extent: Extent::Part(ru, longer), ..self }
    }

    /// Returns this mode in an HE ER SU PPDU if possible: over 20 MHz one stream and MCS 0 to 2, over 106 tones MCS 0.
    #[must_use]
    pub(crate) fn extended(self, tones: ExtendedRange) -> Option<Self> {
        let exists = self.format == Format::He
            && (self.width, self.streams) == (ChannelWidth::Mhz20, 1)
            && self.coding <= tones.highest();
        exists.then_some(Self { extent: Extent::Extended(tones), ..self })
    }

    /// Returns the tones of an HE ER SU PPDU; `None` for another PPDU.
    pub const fn extended_range(self) -> Option<ExtendedRange> {
        if let Extent::Extended(tones) = self.extent { Some(tones) } else { None }
    }

    /// Returns this mode with another guard interval. The mode's format must have that interval.
    #[must_use]
    pub(crate) const fn guarded(self, guard: GuardInterval) -> Self {
        Self { rest: Rest::new(guard, self.rest.padding(), self.has_ldpc()), ..self }
    }

    /// Returns this mode with LDPC, or with the convolutional code.
    #[must_use]
    pub(crate) const fn coded(self, ldpc: bool) -> Self {
        Self { rest: Rest::new(self.guard(), self.rest.padding(), ldpc), ..self }
    }

    /// True if the mode has LDPC; false if it has the convolutional code.
    pub const fn has_ldpc(self) -> bool {
        self.rest.has_ldpc()
    }

    /// Returns the mode of a BlockAck in an HE TB PPDU for data in this mode: one stream, the code of the mandatory
    /// rate of other responses (BPSK, QPSK and 16-QAM 1/2), and a guard interval of such PPDUs (27.3.4).
    #[must_use]
    pub(crate) fn response(self, ru: Ru) -> Self {
        let coding = [0, 1, 1, 3][usize::from(self.coding.min(3))];
        Self { coding, streams: 1, ..self }.guarded(GuardInterval::Double).within(ru, 1)
    }

    /// Returns this mode over the whole channel.
    #[must_use]
    pub(crate) const fn alone(self) -> Self {
        Self { extent: Extent::Channel, ..self }
    }

    /// Returns the RU of a user's part of a PPDU.
    pub const fn ru(self) -> Option<Ru> {
        if let Extent::Part(ru, _) = self.extent { Some(ru) } else { None }
    }

    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for format in [Format::Ht, Format::Vht, Format::He] {
            for (&width, &guard) in
                format.widths().iter().flat_map(|width| format.guards().iter().map(move |guard| (width, guard)))
            {
                let codings = (1..=format.most_streams())
                    .flat_map(|streams| (0..=format.highest()).map(move |coding| (coding, streams)));
                all.extend(codings.filter_map(|(coding, streams)| Self::new(format, coding, streams, width, guard)));
            }
        }
        all
    }

    /// Returns the PPDU format.
    pub const fn format(self) -> Format {
        self.format
    }

    /// Returns the MCS index as the format numbers it. HT counts the streams in the index.
    pub const fn mcs(self) -> u8 {
        match self.format {
            Format::Ht => 8 * (self.streams - 1) + self.coding,
            Format::Vht | Format::He => self.coding,
        }
    }

    /// Returns modulation and code, as the MCS of one stream.
    pub const fn coding(self) -> u8 {
        self.coding
    }

    /// Returns the number of spatial streams.
    pub const fn streams(self) -> u8 {
        self.streams
    }

    /// Returns the bandwidth.
    pub const fn width(self) -> ChannelWidth {
        self.width
    }

    /// Returns the guard interval before each symbol.
    pub const fn guard(self) -> GuardInterval {
        self.rest.guard()
    }

    /// Returns the number of coded bits in a symbol (NCBPS).
    fn coded_bits(self) -> u64 {
        let bits = [1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10][usize::from(self.coding)];
        self.subcarriers() * u64::from(self.streams) * bits
    }

    /// Returns the number of data bits in a symbol, in twelfths.
    const fn twelfths(self) -> u64 {
        self.subcarriers() * self.streams as u64 * TWELFTHS[self.coding as usize]
    }

    /// Returns the number of data subcarriers (NSD).
    pub(crate) const fn subcarriers(self) -> u64 {
        match self.extent {
            Extent::Channel => {}
            Extent::Part(ru, _) => return ru.subcarriers(),
            Extent::Extended(ExtendedRange::All) => return Ru::T242.subcarriers(),
            Extent::Extended(ExtendedRange::Upper) => return Ru::T106.subcarriers(),
        }
        match (self.format, self.width) {
            (Format::Ht | Format::Vht, ChannelWidth::Mhz20) => 52,
            (Format::Ht | Format::Vht, ChannelWidth::Mhz40) => 108,
            (Format::Ht | Format::Vht, ChannelWidth::Mhz80) | (Format::He, ChannelWidth::Mhz20) => 234,
            (Format::Ht | Format::Vht, ChannelWidth::Mhz160) | (Format::He, ChannelWidth::Mhz40) => 468,
            (Format::He, ChannelWidth::Mhz80) => 980,
            (Format::He, ChannelWidth::Mhz160) => 1960,
        }
    }

    /// Returns the number of data bits in a symbol (NDBPS), rounded down.
    pub(super) const fn bits_per_symbol(self) -> u64 {
        self.twelfths() / 12
    }

    /// Returns the duration of a symbol with its guard interval, in nanoseconds.
    pub(super) const fn symbol(self) -> u64 {
        let useful = match self.format {
            Format::Ht | Format::Vht => 3_200,
            Format::He => 12_800,
        };
        useful + self.guard().nanos()
    }

    /// Returns the rate in bits per second, rounded down.
    pub(super) const fn rate(self) -> Rate {
        Rate::bps(self.twelfths() * 1_000_000_000 / (12 * self.symbol()))
    }

    /// Returns the duration of preamble and PHY header, which is the sum of these fields, in us.
    ///
    /// - HT-mixed (19.3.2): L-STF 8, L-LTF 8, L-SIG 4, HT-SIG 8, HT-STF 4, HT-LTFs of 4 us.
    /// - VHT (21.3.2): L-STF 8, L-LTF 8, L-SIG 4, VHT-SIG-A 8, VHT-STF 4, VHT-LTFs of 4, VHT-SIG-B 4.
    /// - HE SU (27.3.4): L-STF 8, L-LTF 8, L-SIG 4, RL-SIG 4, HE-SIG-A 8, HE-STF 4, HE-LTFs of 6.4 us, or 12.8 with the
    ///   longest guard interval, and a guard interval each; HE MU with HE-SIG-B before HE-STF, HE TB with 8 us of HE-STF,
    ///   HE ER SU with 16 us of HE-SIG-A.
    // Not inlined, so that frames of other formats stay fast.
    #[inline(never)]
    pub(crate) fn header(self) -> Duration {
        let fields = [1, 2, 4, 4, 6, 6, 8, 8][usize::from(self.streams) - 1];
        Duration::from_nanos(match self.format {
            Format::Ht => 32_000 + 4_000 * fields,
            Format::Vht => 36_000 + 4_000 * fields,
            Format::He => {
                let useful = if self.guard() == GuardInterval::Quadruple { 12_800 } else { 6_400 };
                let longer = match self.extent {
                    Extent::Channel => 0,
                    Extent::Part(_, longer) => longer,
                    Extent::Extended(_) => 2,
                };
                36_000 + 4_000 * u64::from(longer) + (useful + self.guard().nanos()) * fields
            }
        })
    }

    /// Returns how many bits of a PSDU's symbols are not data: SERVICE, and a tail for each encoder. HE counts as one
    /// encoder (LDPC, which wide channels need, has no tail and may have one more symbol).
    fn around(self) -> u64 {
        SERVICE + TAIL * self.encoders()
    }

    /// Returns the number of convolutional encoders.
    fn encoders(self) -> u64 {
        match self.format {
            Format::He => 1,
            // 19.5: there is a second encoder above 300 Mb/s.
            Format::Ht => 1 + u64::from(self.bits_per_symbol() > 1_200),
            // 21.5: the fewest encoders that have at most 2160 bits of a symbol each, in whole bits.
            Format::Vht => {
                let (bits, coded) = (self.bits_per_symbol(), self.coded_bits());
                let puncture = [2, 2, 4, 2, 4, 3, 4, 6, 4, 6][usize::from(self.coding)];
                let is_whole = |encoders: &u64| bits % encoders == 0 && coded % (encoders * puncture) == 0;
                (bits.div_ceil(2_160)..=bits).find(is_whole).unwrap_or(1)
            }
        }
    }

    /// Returns the duration of `psdu` bytes after the header, without a signal extension.
    #[inline(never)]
    pub(super) fn payload(self, psdu: Bytes) -> Duration {
        let bits = psdu.bits() + self.around();
        let nanos = bits.div_ceil(self.bits_per_symbol()) * self.symbol();
        // 19.4.3, 21.4.3: short symbols are padded to a whole number of long ones.
        let data = if self.guard() == GuardInterval::Short { nanos.next_multiple_of(4_000) } else { nanos };
        let extended = if self.rest.padding() == PacketPadding::Us0 { data } else { data + self.extension_after(bits) };
        Duration::from_nanos(extended)
    }

    /// Does what [`Mode::share`](super::Mode::share) says.
    pub(super) fn share(self, bytes: Bytes) -> Duration {
        Duration::from_nanos((bytes.bits() * 12 * self.symbol()).div_ceil(self.twelfths()))
    }

    /// Returns how many data bits fit into `nanos` after the header; zero if none do.
    pub(super) fn fits(self, nanos: u64) -> u64 {
        if self.rest.padding() != PacketPadding::Us0 {
            return self.bits_before_extension(nanos).saturating_sub(self.around());
        }
        let whole = if self.guard() == GuardInterval::Short { nanos / 4_000 * 4_000 } else { nanos };
        (whole / self.symbol()).saturating_mul(self.bits_per_symbol()).saturating_sub(self.around())
    }
}

#[cfg(test)]
mod tests;
