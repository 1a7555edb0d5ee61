//! The airtime that Linux expects of a packet in VHT and HE (`net/mac80211/airtime.c` of Linux 6). It is the airtime of
//! 1024 B in the mode, scaled to the length, plus a share of the overhead. As frames are aggregated, this share is
//! smaller for faster modes.

use crate::config::GuardInterval;
use crate::radio::{Format, Mimo};
use units::{Bytes, Duration};

/// Bits per symbol and stream in Linux's table, for each width and MCS.
const VHT: [[u32; 10]; 4] = [
    [26, 52, 78, 104, 156, 208, 234, 260, 312, 346],
    [54, 108, 162, 216, 324, 432, 486, 540, 648, 720],
    [117, 234, 351, 468, 702, 936, 1_053, 1_170, 1_404, 1_560],
    [234, 468, 702, 936, 1_404, 1_872, 2_106, 2_340, 2_808, 3_120],
];
const HE: [[u32; 12]; 4] = [
    [115, 230, 345, 475, 705, 936, 1_051, 1_166, 1_411, 1_555, 1_756, 1_944],
    [230, 475, 705, 936, 1_411, 1_872, 2_102, 2_347, 2_808, 3_124, 3_513, 3_902],
    [489, 979, 1_468, 1_958, 2_937, 3_916, 4_406, 4_896, 5_875, 6_523, 7_344, 8_164],
    [979, 1_958, 2_937, 3_916, 5_875, 7_833, 8_827, 9_806, 11_764, 13_060, 14_702, 16_329],
];
/// Bytes that Linux adds to a packet's Ethernet frame.
const ADDED: u64 = 38;
const ETHERNET: u64 = 14;
/// Resolution of the stored estimate (`tx_time_est`), in microseconds.
const STEP: u64 = 4;

/// Returns the airtime expected of a packet of `length` IP bytes. `shares`: packets of its category share frames.
pub(super) fn expected(mimo: Mimo, length: Bytes, shares: bool) -> Duration {
    let average = u64::from(average(mimo));
    let overhead = 36 + 4 * u64::from(mimo.streams());
    let micros = average * (length.count() + ETHERNET + ADDED) / 1_024 / 1_024;
    let micros = if shares { (micros + (overhead >> frames(mimo, average))).max(STEP) } else { micros + overhead };
    Duration::from_micros(micros / STEP * STEP)
}

/// Returns the airtime of 1024 B without overhead, in units of 1/1024 us, as Linux's tables have it.
fn average(mimo: Mimo) -> u32 {
    let of = |coding: usize| {
        let width = mimo.width() as usize;
        let bits = if mimo.format() == Format::He { HE[width][coding] } else { VHT[width][coding] };
        let symbols = ((8 * 1_024_u32) << 10).div_ceil(bits * u32::from(mimo.streams()));
        match (mimo.format(), mimo.guard()) {
            (Format::He, GuardInterval::Double) => symbols * 16 * 18 / 20,
            (Format::He, GuardInterval::Quadruple) => symbols * 16,
            (Format::He, _) => symbols * 16 * 17 / 20,
            (_, GuardInterval::Short) => symbols * 4 * 18 / 20,
            _ => symbols * 4,
        }
    };
    // A group of modes stores 16 bits for each mode, with the shift that its slowest mode needs.
    let shift = 16_u32.saturating_sub(of(0).leading_zeros());
    of(mimo.coding().into()) >> shift << shift
}

/// Returns the logarithm to base 2 of the number of frames that share the overhead.
fn frames(mimo: Mimo, average: u64) -> u32 {
    // The airtime in microseconds, with a fraction.
    let slower = |limits: &[u64]| limits.iter().filter(|&&limit| average <= limit * 1_024).count();
    let limits: &[u64] = if mimo.format() == Format::He { &[400, 250, 150, 70, 20] } else { &[400, 250, 150, 70] };
    1 + u32::try_from(slower(limits)).expect("a few limits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ChannelWidth::{Mhz20, Mhz80, Mhz160};
    use crate::config::GuardInterval::{Long, Quadruple, Short};

    #[test]
    fn a_packet_is_expected_to_take_what_linux_computes() {
        let of = |(format, coding, streams, width, guard), bytes, shares| {
            let mimo = Mimo::new(format, coding, streams, width, guard).expect("a mode");
            (average(mimo), expected(mimo, Bytes::new(bytes), shares).as_nanos() / 1_000)
        };
        // VHT MCS 0 over 20 MHz: ceil(8388608 / 26) = 322639 kilosymbols of 4 us: 1290556, 11 leading zeros, so in steps
        // of 32: 1290528. 1500 B: 1290528 * 1552 / 1024^2 = 1910 us, and half of 40 us: 1930; stored as 1928.
        assert_eq!(of((Format::Vht, 0, 1, Mhz20, Long), 1_500, true), (1_290_528, 1_928));
        assert_eq!(of((Format::Vht, 0, 1, Mhz20, Long), 1_500, false), (1_290_528, 1_948));
        // VHT MCS 9, two streams, 80 MHz, short: ceil(8388608 / 3120) = 2689, times 4 * 18 / 20 = 9680; the group's slowest
        // has 129057, 15 leading zeros, so in steps of 2. 1552 B: 14 us, and 44 / 32 = 1: 15, stored as 12.
        assert_eq!(of((Format::Vht, 9, 2, Mhz80, Short), 1_500, true), (9_680, 12));
        // HE MCS 11, two streams, 80 MHz: ceil(8388608 / 16328) = 514, times 16 * 17 / 20 = 6990. 10 us and 44 / 64 = 0.
        assert_eq!(of((Format::He, 11, 2, Mhz80, Long), 1_500, true), (6_990, 8));
        assert_eq!(of((Format::He, 11, 2, Mhz80, Long), 40, true).1, 4);
        // HE MCS 0, 20 MHz, longest guard interval: ceil(8388608 / 115) = 72945, times 16: 1167120, steps of 32.
        assert_eq!(of((Format::He, 0, 1, Mhz20, Quadruple), 1_500, true), (1_167_104, 1_744));
        assert_eq!(of((Format::He, 11, 8, Mhz160, Long), 1_500, true).1, 4);
    }
}
