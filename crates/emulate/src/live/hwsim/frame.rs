//! What a medium reads from an 802.11 frame (IEEE 802.11-2016, 9.2.4), and from the rates that Linux requests for it
//! (`ieee80211_tx_rate`, `mac80211_hwsim.h`). No bytes cause a panic.

use sim::Series;
use sim::config::{ChannelWidth, GuardInterval, Preamble};
use sim::radio::{DsssRate, Format, Mimo, Mode, OfdmRate};

/// Address of a radio or of an interface.
pub(super) type Address = [u8; 6];

/// Header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) receiver: Address,
    /// Address of the transmitter; `None` in a CTS and an ACK.
    pub(super) transmitter: Option<Address>,
    /// Priority of the data, 0 to 7. Management frames have the priority of voice (`ieee80211_select_queue_80211`).
    pub(super) priority: u8,
}

const MANAGEMENT: u8 = 0;
const DATA: u8 = 2;
const VOICE: u8 = 7;

impl Header {
    /// Reads the fields; `None` if there are not enough bytes for an address.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let address = |from: usize| bytes.get(from..from + 6)?.try_into().ok();
        let control = bytes.first()?;
        let (kind, has_quality, four) = (control >> 2 & 3, control & 0x80 != 0, bytes.get(1)? & 3 == 3);
        let priority = match kind {
            MANAGEMENT => VOICE,
            DATA if has_quality => bytes.get(if four { 30 } else { 24 })? & 7,
            _ => 0,
        };
        Some(Self { receiver: address(4)?, transmitter: address(10), priority })
    }

    pub(super) fn is_for_all(&self) -> bool {
        self.receiver[0] & 1 != 0
    }

    /// Returns a type-of-service octet to which the simulated network assigns the frame's access category.
    pub(super) fn tos(&self) -> u8 {
        match self.priority {
            1 | 2 => 1 << 5,
            4 | 5 => 5 << 5,
            6.. => 6 << 5,
            _ => 0,
        }
    }
}

/// Rates and attempts that the kernel requests and later reports: four pairs of an index (-1 for none) and a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rates(pub(super) [[u8; 2]; 4]);

const NO_RATE: [u8; 2] = [0xff, 0];
const MCS: u16 = 1 << 3;
const WIDE: u16 = 1 << 5;
const SHORT_GUARD: u16 = 1 << 7;
const VHT: u16 = 1 << 8;
const WIDER: u16 = 1 << 9;
const WIDEST: u16 = 1 << 10;
const OCTETS: usize = 3;

impl Rates {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut rates = [NO_RATE; 4];
        rates.iter_mut().zip(bytes.as_chunks().0).for_each(|(rate, read)| *rate = *read);
        Self(rates)
    }

    /// Returns the modes of the rates with these flags at this frequency, in MHz. None is of a newer format than
    /// the network's. A mode that the network does not have is `None`.
    pub(super) fn series(self, flags: &[u8], frequency: u32, newest: Option<Format>) -> Series {
        let flags = flags.as_chunks::<OCTETS>().0.iter().map(|&[_, low, high]| u16::from_le_bytes([low, high]));
        let steps = self.0.iter().zip(flags.chain(std::iter::repeat(0)));
        let mut modes = steps.map(|(&[index, count], flags)| {
            let is_none = index == NO_RATE[0] || count == 0;
            (!is_none).then(|| mode(index, flags, frequency, newest)).flatten().map(|mode| (mode, count))
        });
        Series(std::array::from_fn(|_| modes.next().flatten()))
    }

    /// Returns the modes that have been tried after this many transmissions.
    pub(super) fn tried(self, mut transmissions: u16) -> Self {
        let last = self.0.iter().take_while(|rate| **rate != NO_RATE).count().saturating_sub(1);
        let mut rates = self.0;
        for (place, rate) in rates.iter_mut().enumerate() {
            let most = if place == last { u16::from(u8::MAX) } else { rate[1].into() };
            let times = transmissions.min(most);
            transmissions -= times;
            *rate =
                if place > last || times == 0 { NO_RATE } else { [rate[0], u8::try_from(times).unwrap_or(u8::MAX)] };
        }
        Self(rates)
    }
}

fn mode(index: u8, flags: u16, frequency: u32, newest: Option<Format>) -> Option<Mode> {
    let width = match flags {
        _ if flags & WIDEST != 0 => ChannelWidth::Mhz160,
        _ if flags & WIDER != 0 => ChannelWidth::Mhz80,
        _ if flags & WIDE != 0 => ChannelWidth::Mhz40,
        _ => ChannelWidth::Mhz20,
    };
    let guard = if flags & SHORT_GUARD != 0 { GuardInterval::Short } else { GuardInterval::Long };
    let (format, coding, streams) = match flags {
        _ if flags & VHT != 0 => (Format::Vht, index & 15, (index >> 4) + 1),
        _ if flags & MCS != 0 => (Format::Ht, index % 8, index / 8 + 1),
        _ => {
            let before = if frequency < 3_000 { DsssRate::ALL.len() } else { 0 };
            let place = usize::from(index);
            let old = DsssRate::ALL.get(place).filter(|_| before > 0);
            let slow = old.map(|&rate| Mode::Dsss { rate, preamble: Preamble::Long });
            return slow.or_else(|| OfdmRate::ALL.get(place.checked_sub(before)?).map(|&rate| Mode::Ofdm(rate)));
        }
    };
    let known = newest.is_some_and(|newest| format <= newest);
    known.then(|| Mimo::new(format, coding, streams, width, guard)).flatten().map(Mode::Mimo)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn priorities_are_those_of_the_frames() {
        let mut frame = [0_u8; 34];
        frame[4..10].copy_from_slice(&[2, 0, 0, 0, 7, 0]);
        (frame[0], frame[24]) = (0x88, 5);
        let data = Header::read(&frame).unwrap();
        assert_eq!((data.priority, data.receiver, data.is_for_all()), (5, [2, 0, 0, 0, 7, 0], false));
        // With four addresses it lies behind them.
        (frame[1], frame[30]) = (3, 6);
        assert_eq!(Header::read(&frame).unwrap().priority, 6);
        // A beacon.
        (frame[0], frame[1], frame[4]) = (0x80, 0, 0xff);
        let beacon = Header::read(&frame).unwrap();
        assert_eq!((beacon.priority, beacon.is_for_all()), (VOICE, true));
        // An ACK has no transmitter.
        assert_eq!(Header::read(&[0xd4, 0, 0, 0, 2, 0, 0, 0, 1, 0]).unwrap().transmitter, None);
        assert_eq!(Header::read(&frame[..9]), None);
    }

    #[test]
    fn rates_are_modes_and_come_back_as_tried() {
        let rates = Rates::read(&[7, 2, 3, 4, 0xff, 0, 0xff, 0]);
        let flags = [7, 8, 0, 3, 8, 0, 0xff, 0, 0, 0xff, 0, 0];
        let ht = |coding| Mimo::new(Format::Ht, coding, 1, ChannelWidth::Mhz20, GuardInterval::Long).map(Mode::Mimo);
        let series = rates.series(&flags, 5_180, Some(Format::Ht));
        assert_eq!(series.0.map(|step| step.map(|(mode, _)| mode)), [ht(7), ht(3), None, None]);
        assert_eq!(rates.series(&flags, 5_180, None), Series::default(), "a network of 802.11a has none");
        assert_eq!(rates.tried(1).0, [[7, 1], NO_RATE, NO_RATE, NO_RATE]);
        assert_eq!(rates.tried(7).0, [[7, 2], [3, 5], NO_RATE, NO_RATE]);
        let old = Rates::read(&[4, 1]);
        assert_eq!(old.series(&[], 2_412, None).0[0], Some((Mode::Ofdm(OfdmRate::M6), 1)));
        assert_eq!(old.series(&[], 5_180, None).0[0], Some((Mode::Ofdm(OfdmRate::M24), 1)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, flags: Vec<u8>, frequency: u32, sent: u16) {
            let header = Header::read(&bytes);
            prop_assert!(header.is_none_or(|header| header.priority < 8));
            let rates = Rates::read(&bytes);
            rates.series(&flags, frequency, Some(Format::He));
            let tried = rates.tried(sent);
            let sum: u16 = tried.0.iter().filter(|rate| **rate != NO_RATE).map(|rate| u16::from(rate[1])).sum();
            prop_assert!(sum <= sent);
        }
    }
}
