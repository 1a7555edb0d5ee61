//! Airtime and frame sizes of packets, for schemes that depend on link rates and aggregates.

use crate::Radio;

/// Overhead of each packet in an aggregate, in bytes: MAC header with QoS control, LLC, checksum and delimiter (IEEE
/// 802.11-2016, 9.2.4 and 9.7).
const FRAMING: f64 = (26 + 8 + 4 + 4) as f64;
/// The longest frame of a single packet, in bytes: 2304 B of data, header and checksum (IEEE 802.11-2016, 9.2.4.7).
const LONGEST_ALONE: u64 = 2_346;
/// Largest number of MPDUs in an aggregate: the window of a block acknowledgement.
const WINDOW: u8 = 64;

/// Returns the size of a packet of this many network-layer bytes with its framing, in bits.
pub(crate) fn bits(bytes: f64) -> f64 {
    (bytes + FRAMING) * 8.0
}

/// Returns how many packets of [`bits`] each fit into the largest frame, rounded down; one if frames are not
/// aggregates. An MPDU counts as one packet, as if there were no A-MSDUs.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast floors and saturates")]
pub(crate) fn in_largest(radio: &Radio, bits: f64) -> f64 {
    if radio.aggregate_max.count() <= LONGEST_ALONE {
        return 1.0;
    }
    let most = if radio.aggregate_mpdus_max == 0 { WINDOW } else { radio.aggregate_mpdus_max.min(WINDOW) };
    f64::from((radio.aggregate_max.count() as f64 * 8.0 / bits) as u32).clamp(1.0, most.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    #[test]
    fn an_aggregate_has_as_many_packets_as_fit_and_a_frame_alone_has_one() {
        let packets = |most, aggregate_mpdus_max, bytes: f64| {
            let radio = Radio { aggregate_max: Bytes::new(most), aggregate_mpdus_max, ..Radio::default() };
            in_largest(&radio, bits(bytes)).to_bits()
        };
        // 65535 / 1542 = 42.5, 3250 / 1542 = 2.1, 65535 / 94 is above the window.
        let cases = [(65_535, 1_500.0, 42.0_f64), (3_250, 1_500.0, 2.0), (65_535, 52.0, 64.0), (2_400, 3_000.0, 1.0)];
        for (most, bytes, expected) in cases.into_iter().chain([(2_332, 52.0, 1.0), (0, 52.0, 1.0)]) {
            assert_eq!(packets(most, 0, bytes), expected.to_bits(), "{most} {bytes}");
        }
        // The lower of both limits; a host's number above the window has no effect.
        for (most, mpdus, bytes, expected) in [
            (65_535, 32, 1_500.0, 32.0_f64),
            (3_250, 32, 1_500.0, 2.0),
            (65_535, 255, 52.0, 64.0),
            (65_535, 1, 52.0, 1.0),
        ] {
            assert_eq!(packets(most, mpdus, bytes), expected.to_bits(), "{most} {mpdus} {bytes}");
        }
    }
}
