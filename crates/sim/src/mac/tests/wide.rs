//! A-MPDUs and BlockAck of HE, and agreements between generations.

use super::aggregates::{bench_in, msdu, rules};
use super::*;
use crate::config::{ChannelWidth, Standard};

const BEST_EFFORT: u8 = 2;

fn he() -> (Mode, Conventions) {
    let radio = Radio {
        standard: Standard::Ax,
        channel_width: ChannelWidth::Mhz80,
        mcs: Some(11),
        streams: Some(2),
        ..Radio::default()
    };
    let timing = Timing::new(&radio).expect("valid");
    let aggregation = Aggregation { ampdu: Some(Bytes::new(4_194_303)), frames: 256, ..rules().aggregation };
    (radio.data_mode().expect("valid"), Conventions { timing, newest: Format::He, aggregation, ..rules() })
}

/// HE SU, MCS 11, two streams, 80 MHz: 16333 bits a symbol of 13.6 us behind 50.4 us.
#[test]
fn an_he_aggregate_has_256_frames_and_a_block_ack_of_256_bits() {
    let (mode, rules) = he();
    let mut bench = bench_in(mode, rules);
    bench.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_036), &bench.rules);
    let (_, joined, frame) = bench.sends_with(300, 1_036);
    // 255 subframes of 1072 B and one of 1070 B.
    assert_eq!((joined, frame.kind), (255, Kind::Aggregate { psdu: Bytes::new(274_430), frames: 256 }));
    // 2195462 bits, 134.4: 135 symbols. A BlockAck of 56 B at 24 Mb/s: 40 us.
    assert_eq!(bench.rules.timing.duration(frame.mode, frame.psdu(Bytes::new(0))).as_nanos(), 50_400 + 135 * 13_600);
    assert_eq!(frame.reserves, us(16 + 40));
    let block_ack = Frame { category: BEST_EFFORT, ..control(Kind::BlockAck { long: true }, ME, 0) };
    assert_eq!(block_ack.psdu(Bytes::new(0)), Bytes::new(56));
    bench.station.sent(at(3_000), &frame, &bench.rules);
    bench.idle(3_000);
    bench.busy(3_016);
    let mut reported = Scoreboard::default();
    reported.arrived.set_row(0, 100);
    reported.arrived.set_row(101, 155);
    assert!(bench.station.awaits_block_ack(&block_ack));
    let answer = bench.station.block_ack_received(at(3_100), block_ack.from, &reported, &bench.rules);
    assert_eq!(answer.report, Some(Report { to: PEER, sent: 256, acknowledged: 255 }));
    assert_eq!((bench.done(), bench.numbers()), ((255, 0), vec![100]));
    // The window of 256 begins with the missing frame: 100 to 355.
    bench.idle(3_100);
    let (_, joined, frame) = bench.sends_with(300, 1_036);
    assert!(joined == 100 && matches!(frame.kind, Kind::Aggregate { frames: 101, .. }), "{joined}");
}

#[test]
fn the_agreement_is_that_of_the_older_station() {
    let (_, rules) = he();
    let rules = Conventions {
        formats: vec![Some(Format::He), Some(Format::Ht), Some(Format::He), Some(Format::Vht), None],
        ..rules
    };
    let rules = rules.agreed();
    let of = |one, other| {
        let Agreement { ampdu, frames, window, mpdu, single, .. } = *rules.agreement(one, other);
        (ampdu.count(), frames, window, mpdu.count(), single.count())
    };
    assert_eq!(of(0, 2), (4_194_303, 256, 256, 11_454, 4));
    assert_eq!([of(0, 1), of(1, 0)], [(65_535, 64, 64, 4_095, 0); 2]);
    assert_eq!([of(0, 3), of(3, 2)], [(1_048_575, 64, 64, 11_454, 4); 2]);
    // Before 802.11n: a frame of the longest MSDU, of 2304 + 30 B.
    assert_eq!([of(0, 4), of(4, 1)], [(2_334, 1, 64, 4_095, 0); 2]);
    assert!(!rules.block_ack_of(0, 4) && !rules.block_ack_of(4, 1) && rules.block_ack_of(0, 1));
}

/// A single MPDU of VHT and HE is an A-MPDU: 4 B more. It is acknowledged like any single frame.
#[test]
fn a_single_he_frame_has_a_delimiter() {
    let (mode, rules) = he();
    let mut bench = bench_in(mode, rules);
    bench.station.offer(at(1_000), PEER, BEST_EFFORT, msdu(1_036), &bench.rules);
    let (_, _, frame) = bench.sends_with(0, 1_036);
    assert!(matches!(frame.kind, Kind::Data { psdu, .. } if psdu == Bytes::new(1_070)), "{frame:?}");
    assert_eq!(frame.reserves, us(16 + 28));
}
