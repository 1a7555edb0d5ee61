//! Rates and durations compared with the standard's tables and with ns-3.

use super::*;
use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
use ExtendedRange::{All, Upper};
use Format::{He, Ht, Vht};
use GuardInterval::{Double, Long, Quadruple, Short};
use PacketPadding::{Us0, Us8, Us16};

fn mimo(format: Format, coding: u8, streams: u8, width: ChannelWidth, guard: GuardInterval) -> Mimo {
    let found = Mimo::new(format, coding, streams, width, guard);
    found.unwrap_or_else(|| panic!("{format:?} MCS {coding}, {streams} streams, {width:?}, {guard:?}"))
}

/// Returns an HT mode by its own MCS index.
fn ht(mcs: u8, width: ChannelWidth, guard: GuardInterval) -> Mimo {
    mimo(Ht, mcs % 8, mcs / 8 + 1, width, guard)
}

const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn ht_rates_are_those_of_the_standards_tables() {
    let expected = [
        (0, Mhz20, Long, 6_500_000),
        (7, Mhz20, Long, 65_000_000),
        (7, Mhz20, Short, 72_222_222),
        (15, Mhz20, Long, 130_000_000),
        (31, Mhz20, Short, 288_888_888),
        (0, Mhz40, Short, 15_000_000),
        (7, Mhz40, Long, 135_000_000),
        (7, Mhz40, Short, 150_000_000),
        (20, Mhz40, Short, 270_000_000),
        (31, Mhz40, Long, 540_000_000),
        (31, Mhz40, Short, 600_000_000),
    ];
    for (mcs, width, guard, bps) in expected {
        assert_eq!(ht(mcs, width, guard).rate(), Rate::bps(bps), "MCS {mcs} {width:?} {guard:?}");
        assert_eq!(ht(mcs, width, guard).mcs(), mcs);
    }
    assert!(Mimo::new(Ht, 8, 1, Mhz20, Long).is_none() && Mimo::new(Ht, 0, 5, Mhz20, Long).is_none());
    assert!(Mimo::new(Ht, 0, 1, Mhz80, Long).is_none() && Mimo::new(Ht, 0, 1, Mhz20, Double).is_none());
}

#[test]
fn preambles_grow_with_the_streams() {
    let header = |mcs| ht(mcs, Mhz20, Long).header();
    assert_eq!([0, 7, 8, 16, 24, 31].map(header), [36, 36, 40, 48, 48, 48].map(us));
    let of = |format, guard| [1, 2, 3, 4, 5, 8].map(|streams| mimo(format, 0, streams, Mhz80, guard).header());
    assert_eq!(of(Vht, Short), [40, 44, 52, 52, 60, 68].map(us));
    assert_eq!(of(He, Long), [43_200, 50_400, 64_800, 64_800, 79_200, 93_600].map(Duration::from_nanos));
    assert_eq!(of(He, Double), [44, 52, 68, 68, 84, 100].map(us));
    assert_eq!(of(He, Quadruple), [52, 68, 100, 100, 132, 164].map(us));
}

#[test]
fn ht_frames_last_what_the_standard_says() {
    let bytes = Bytes::new(1066);
    // 16 + 8528 + 6 = 8550 bits at 260 a symbol: 32.9, so 33 symbols.
    assert_eq!(ht(7, Mhz20, Long).payload(bytes), us(132));
    // 33 short symbols are 118.8 us: 30 long ones.
    assert_eq!(ht(7, Mhz20, Short).payload(bytes), us(120));
    // 65535 B at MCS 15: 524302 bits at 520 a symbol: 1008.3, so 1009.
    assert_eq!(ht(15, Mhz20, Long).payload(Bytes::new(65_535)), us(4 * 1009));
    // MCS 21 over 40 MHz is 324 Mb/s: two encoders, 12 bits of tail. 161 B: 16 + 1288 + 12 = 1316 bits at 1296.
    assert_eq!(ht(21, Mhz40, Long).payload(Bytes::new(161)), us(8));
    // MCS 29 over 20 MHz has 832 bits a symbol and one encoder: 16 + 808 + 6 = 830 bits.
    assert_eq!(ht(29, Mhz20, Long).payload(Bytes::new(101)), us(4));
    assert_eq!(ht(29, Mhz20, Long).payload(Bytes::new(102)), us(8));
}

/// Tables of 21.5, long and short guard interval, and of 27.5, guard intervals of 0.8, 1.6 and 3.2 us: rates of one
/// stream in units of 100 kb/s, by MCS; those of more streams are multiples.
#[test]
fn rates_of_one_stream_are_those_of_the_standards_tables() {
    let vht: [(ChannelWidth, GuardInterval, &[u64]); 8] = [
        (Mhz20, Long, &[65, 130, 195, 260, 390, 520, 585, 650, 780]),
        (Mhz20, Short, &[72, 144, 217, 289, 433, 578, 650, 722, 867]),
        (Mhz40, Long, &[135, 270, 405, 540, 810, 1080, 1215, 1350, 1620, 1800]),
        (Mhz40, Short, &[150, 300, 450, 600, 900, 1200, 1350, 1500, 1800, 2000]),
        (Mhz80, Long, &[293, 585, 878, 1170, 1755, 2340, 2633, 2925, 3510, 3900]),
        (Mhz80, Short, &[325, 650, 975, 1300, 1950, 2600, 2925, 3250, 3900, 4333]),
        (Mhz160, Long, &[585, 1170, 1755, 2340, 3510, 4680, 5265, 5850, 7020, 7800]),
        (Mhz160, Short, &[650, 1300, 1950, 2600, 3900, 5200, 5850, 6500, 7800, 8667]),
    ];
    let he: [(ChannelWidth, GuardInterval, &[u64]); 12] = [
        (Mhz20, Long, &[86, 172, 258, 344, 516, 688, 774, 860, 1032, 1147, 1290, 1434]),
        (Mhz20, Double, &[81, 163, 244, 325, 488, 650, 731, 813, 975, 1083, 1219, 1354]),
        (Mhz20, Quadruple, &[73, 146, 219, 293, 439, 585, 658, 731, 878, 975, 1097, 1219]),
        (Mhz40, Long, &[172, 344, 516, 688, 1032, 1376, 1549, 1721, 2065, 2294, 2581, 2868]),
        (Mhz40, Double, &[163, 325, 488, 650, 975, 1300, 1463, 1625, 1950, 2167, 2438, 2708]),
        (Mhz40, Quadruple, &[146, 293, 439, 585, 878, 1170, 1316, 1463, 1755, 1950, 2194, 2438]),
        (Mhz80, Long, &[360, 721, 1081, 1441, 2162, 2882, 3243, 3603, 4324, 4804, 5404, 6005]),
        (Mhz80, Double, &[340, 681, 1021, 1361, 2042, 2722, 3063, 3403, 4083, 4537, 5104, 5671]),
        (Mhz80, Quadruple, &[306, 613, 919, 1225, 1838, 2450, 2756, 3063, 3675, 4083, 4594, 5104]),
        (Mhz160, Long, &[721, 1441, 2162, 2882, 4324, 5765, 6485, 7206, 8647, 9608, 10809, 12010]),
        (Mhz160, Double, &[681, 1361, 2042, 2722, 4083, 5444, 6125, 6806, 8167, 9074, 10208, 11343]),
        (Mhz160, Quadruple, &[613, 1225, 1838, 2450, 3675, 4900, 5513, 6125, 7350, 8167, 9188, 10208]),
    ];
    let all = vht.map(|row| (Vht, row)).into_iter().chain(he.map(|row| (He, row)));
    for (format, (width, guard, rates)) in all {
        for (coding, &expected) in (0_u8..).zip(rates) {
            let bps = mimo(format, coding, 1, width, guard).rate().as_bps();
            // To the tenth of a megabit that the tables give; a rate halfway between two may be rounded either way.
            let off = (bps as f64 / 1e5 - expected as f64).abs();
            assert!(off <= 0.501, "{format:?} MCS {coding} {width:?} {guard:?}: {bps}, not {expected}");
            for streams in 2..=8 {
                let Some(more) = Mimo::new(format, coding, streams, width, guard) else { continue };
                assert!(more.rate().as_bps().abs_diff(u64::from(streams) * bps) < 8, "{more:?}");
            }
        }
    }
    let mbps = |mimo: Mimo| mimo.rate().as_bps() as f64 / 1e6;
    let highest = [
        (mimo(He, 11, 2, Mhz80, Long), 1201.0),
        (mimo(Vht, 9, 2, Mhz80, Short), 866.7),
        (mimo(Vht, 9, 8, Mhz160, Short), 6933.3),
        (mimo(He, 11, 8, Mhz160, Long), 9607.8),
        (mimo(Vht, 9, 3, Mhz20, Long), 260.0),
        (mimo(Vht, 9, 6, Mhz20, Short), 577.8),
    ];
    for (mimo, expected) in highest {
        assert!((mbps(mimo) - expected).abs() < 0.05, "{mimo:?}");
    }
}

/// 21.5: VHT lacks what a code's encoders cannot divide; all other combinations exist.
#[test]
fn vht_lacks_ten_combinations_and_he_none() {
    let count = |format: Format| {
        let of = |width, streams| {
            (0..12).filter(move |&coding| Mimo::new(format, coding, streams, width, Long).is_some()).count()
        };
        format.widths().iter().flat_map(|&width| (1..=8).map(move |streams| of(width, streams))).sum::<usize>()
    };
    assert_eq!((count(Ht), count(Vht), count(He)), (2 * 4 * 8, 4 * 8 * 10 - 10, 4 * 8 * 12));
    // Encoders that the standard's tables list beside one for each 2160 bits begun: width, streams, MCS.
    let encoders = [
        (Mhz20, 8, 7, 1),
        (Mhz80, 7, 2, 3),
        (Mhz80, 7, 7, 6),
        (Mhz80, 7, 8, 6),
        (Mhz80, 8, 7, 6),
        (Mhz80, 8, 9, 6),
        (Mhz160, 4, 7, 6),
        (Mhz160, 5, 8, 8),
        (Mhz160, 6, 7, 8),
        (Mhz160, 7, 3, 4),
        (Mhz160, 7, 4, 6),
        (Mhz160, 7, 5, 7),
        (Mhz160, 7, 7, 9),
        (Mhz160, 7, 8, 12),
        (Mhz160, 7, 9, 12),
        (Mhz160, 8, 9, 12),
    ];
    for (width, streams, coding, expected) in encoders {
        assert_eq!(mimo(Vht, coding, streams, width, Long).encoders(), expected, "{width:?} {streams} {coding}");
    }
}

#[test]
fn vht_and_he_frames_last_what_the_standard_says() {
    // VHT MCS 9, 80 MHz, two streams: 3120 bits a symbol, two encoders. 16 + 12000 + 12 bits: 3.9, so 4 symbols.
    assert_eq!(mimo(Vht, 9, 2, Mhz80, Long).payload(Bytes::new(1_500)), us(16));
    // 4 short ones are 14.4 us: 16.
    assert_eq!(mimo(Vht, 9, 2, Mhz80, Short).payload(Bytes::new(1_500)), us(16));
    // 1,048,575 B: 8388628 bits, 2688.7 symbols; 2689 short ones are 9680.4 us.
    assert_eq!(mimo(Vht, 9, 2, Mhz80, Short).payload(Bytes::new(1_048_575)), us(9_684));
    // HE MCS 11, 80 MHz, two streams: 16333 bits a symbol. 2038 B are 16 + 16304 + 6 bits, 7 less.
    let fast = mimo(He, 11, 2, Mhz80, Long);
    assert_eq!(fast.payload(Bytes::new(2_038)), Duration::from_nanos(13_600));
    assert_eq!(fast.payload(Bytes::new(2_039)), Duration::from_nanos(27_200));
    assert_eq!(mimo(He, 0, 1, Mhz20, Quadruple).payload(Bytes::new(100)), us(16 * 8));
}

/// PPDUs compared with those of ns-3.44 (`bench/peers/ns3/wide.cc --durations=1`). Its rules differ in three places:
/// VHT PPDUs lack VHT-SIG-B (21.3.2: 4 us in every VHT PPDU), each HE-LTF lasts 8 us (27.3.12.10: 7.2, 8 or 16 us with
/// these guard intervals), and short symbols do not fill up to whole long ones (19.4.3, 21.4.3).
#[test]
fn ppdus_last_as_long_as_those_of_ns3_but_for_three_rules() {
    let mut count = 0;
    for row in include_str!("ns3_durations.csv").lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let number = |index: usize| fields[index].parse::<u64>().expect("a number");
        let (name, mcs) = fields[0].split_once("Mcs").expect("a mode");
        let (format, extended) = match name {
            "Ht" => (Ht, 0),
            "Vht" => (Vht, 0),
            "He" => (He, 0),
            _ => (He, 8_000),
        };
        let guards = [Short, Long, Double, Quadruple];
        let guard = guards.into_iter().find(|guard| guard.nanos() == number(3)).expect("a guard interval");
        let width = *He.widths().iter().find(|width| u64::from(width.mhz()) == number(2)).expect("a width");
        let streams = u8::try_from(number(1)).expect("streams");
        let mode = mimo(format, mcs.parse().expect("an MCS"), streams, width, guard);
        let mode = if extended > 0 { mode.extended(All).expect("a slow mode") } else { mode };
        let fields = if streams == 1 { 1 } else { 8 };
        let header = match format {
            Ht | Vht => 32_000 + 4_000 * fields,
            He => 36_000 + extended + 8_000 * fields,
        };
        let expected = if guard == Short { (number(5) - header).next_multiple_of(4_000) } else { number(5) - header };
        assert_eq!(mode.payload(Bytes::new(number(4))).as_nanos(), expected, "{row}");
        let own = match (format, guard) {
            (Vht, _) => header + 4_000,
            (He, Quadruple) => header + 8_000 * fields,
            (Ht, _) | (He, Double | Short) => header,
            (He, Long) => header - 800 * fields,
        };
        assert_eq!(mode.header().as_nanos(), own, "{row}");
        count += 1;
    }
    assert!(count > 100, "{count} rows");
}

/// 27.3.4: 8 us more of HE-SIG-A; 27.5: 234 data subcarriers, or 102 of 106 tones.
#[test]
fn frames_of_extended_range_have_a_longer_preamble_and_slow_modes() {
    let of = |coding, tones, guard| mimo(He, coding, 1, Mhz20, guard).extended(tones);
    let slow = |tones, guard| of(0, tones, guard).expect("MCS 0");
    assert_eq!(
        [Long, Double, Quadruple].map(|guard| slow(All, guard).header()),
        [51_200, 52_000, 60_000].map(Duration::from_nanos)
    );
    // 117 bits in 13.6 us, and 51.
    assert_eq!([All, Upper].map(|tones| slow(tones, Long).rate()), [8_602_941, 3_750_000].map(Rate::bps));
    // 100 B are 16 + 800 + 6 bits: 7.03 symbols of 117, 16.1 of 51, 3.5 of 234 and 2.3 of 351.
    let lasts = |mode: Option<Mimo>| mode.map(|mode| mode.payload(Bytes::new(100)).as_nanos());
    assert_eq!([All, Upper].map(|tones| lasts(of(0, tones, Long))), [8, 17].map(|symbols| Some(symbols * 13_600)));
    assert_eq!([1, 2].map(|coding| lasts(of(coding, All, Long))), [4, 3].map(|symbols| Some(symbols * 13_600)));
    assert_eq!((of(3, All, Long), of(1, Upper, Long)), (None, None));
    assert_eq!(mimo(He, 0, 2, Mhz20, Long).extended(All), None);
    assert_eq!(mimo(He, 0, 1, Mhz40, Long).extended(All), None);
    assert_eq!(mimo(Vht, 0, 1, Mhz20, Long).extended(All), None);
}

/// 27.3.13: for a pre-FEC padding factor of 1 to 4 these are 0, 0, 4 and 8 us, or 4, 8, 12 and 16 us.
#[test]
fn the_packet_extension_follows_from_the_last_symbol() {
    let extensions = |mode: Mimo, bytes| {
        let of = |padding| mode.padded(padding).payload(Bytes::new(bytes)) - mode.payload(Bytes::new(bytes));
        [Us0, Us8, Us16].map(|padding| of(padding).as_nanos() / 1_000)
    };
    // 980 * 2 * 10 * 5 / 6 = 16333 bits a symbol; a quarter has 240 * 2 * 10 * 5 / 6 = 4000. With 22 bits around it,
    // 497 B are 3998 bits, 498 4006; 997 B 7998, 998 8006; 1497 B 11998, 1498 12006; 2038 B 16326, 2039 1 more symbol.
    let fast = mimo(He, 11, 2, Mhz80, Long);
    let expected = [(497, [0, 0, 4]), (498, [0, 0, 8]), (997, [0, 0, 8]), (998, [0, 4, 12]), (1_497, [0, 4, 12])];
    for (bytes, expected) in expected.into_iter().chain([(1_498, [0, 8, 16]), (2_038, [0, 8, 16]), (2_039, [0, 0, 4])])
    {
        assert_eq!(extensions(fast, bytes), expected, "{bytes} B");
    }
    // 117 bits a symbol, 30 a quarter. 85 B are 702 bits, 6 whole symbols; 86 B have 8 in the seventh.
    let slow = mimo(He, 0, 1, Mhz20, Long);
    let lasts = |padding, bytes| slow.padded(padding).payload(Bytes::new(bytes)).as_nanos();
    assert_eq!([Us0, Us8, Us16].map(|padding| lasts(padding, 85)), [81_600, 89_600, 97_600]);
    assert_eq!([Us0, Us8, Us16].map(|padding| lasts(padding, 86)), [95_200, 95_200, 99_200]);
    // 100 B are 822 bits. 26 tones: 12 and 3 bits: 6 left, two quarters. 106 tones: 51 and 12: 6 left, one quarter.
    assert_eq!(extensions(slow.within(Ru::T26, 1), 100), [0, 0, 8]);
    assert_eq!(extensions(slow.within(Ru::T106, 1), 100), [0, 0, 4]);
    assert_eq!(extensions(slow.extended(Upper).expect("MCS 0"), 100), [0, 0, 4]);
    assert_eq!(extensions(mimo(Vht, 0, 1, Mhz20, Long), 100), [0, 0, 0]);
    // 160 MHz, MCS 0: 980 bits and 246. 58 B are 486 bits and 59 B 494, 89 B 734 and 90 B 742.
    assert_eq!([89, 90].map(|bytes| extensions(mimo(He, 0, 1, Mhz160, Long), bytes)[2]), [12, 16]);
    assert_eq!([58, 59].map(|bytes| extensions(mimo(He, 0, 1, Mhz160, Long), bytes)[2]), [8, 12]);
}

/// 27.3.11.7: PE Disambiguity is 1 if the extension and what L-SIG rounds up are a symbol or more.
#[test]
fn he_sig_a_tells_the_end_of_the_data() {
    let slow = mimo(He, 0, 1, Mhz20, Long);
    assert_eq!(slow.padding_fields(Bytes::new(85)), None);
    // Behind the 20 us: 23.2 + 97.6 = 120.8 us, 3.2 below 124; 16 + 3.2 are more than 13.6. Then 23.2 + 99.2 = 122.4: 4 + 1.6.
    let fields = |padding, bytes| slow.padded(padding).padding_fields(Bytes::new(bytes));
    assert_eq!([85, 86].map(|bytes| fields(Us16, bytes)), [Some((4, true)), Some((1, false))]);
    // 23.2 + 89.6 = 112.8: 8 + 3.2 are less.
    assert_eq!(fields(Us8, 85), Some((4, false)));
}

#[test]
fn two_stations_use_what_both_have() {
    let access_point = mimo(He, 11, 4, Mhz160, Long);
    let phone = mimo(He, 9, 2, Mhz80, Double);
    assert_eq!(access_point.common(phone), mimo(He, 11, 2, Mhz80, Double));
    assert_eq!(phone.common(access_point), phone);
    let laptop = mimo(Vht, 9, 3, Mhz80, Short);
    assert_eq!(access_point.common(laptop), mimo(Vht, 9, 3, Mhz80, Long));
    assert_eq!(laptop.common(access_point), access_point.common(laptop));
    let old = ht(15, Mhz40, Short);
    assert_eq!(old.common(laptop), old);
    assert_eq!(old.common(mimo(Vht, 7, 1, Mhz20, Long)), mimo(Ht, 7, 1, Mhz20, Long));
    // Three streams over 20 MHz have MCS 9, and two of them do not.
    let narrow = mimo(Vht, 9, 3, Mhz20, Long);
    assert_eq!(narrow.common(mimo(Vht, 9, 2, Mhz80, Long)), mimo(Vht, 8, 2, Mhz20, Long));
}
