//! Saturated stations with A-MPDU and Block Ack compared with `theory::ampdu`, with and without errors.
//!
//! The tolerances were set beforehand. The model has 1.5 % of throughput compared with a slot-exact Monte Carlo that keeps every
//! sequence number. 1 % is for colliders, which count from their time-out, but in the model with the bystanders. With errors 0.5
//! % is for the Block Ack window, which the model lacks; it shortens few aggregates of up to 32 subframes. One station without
//! losses is exact: 0.3 % for the statistics of its back-off.

use crate::networks::run;
use theory::ampdu::{Aggregate, saturation};
use theory::dcf::{Cell, Freezing};
use units::{Bytes, Duration};

const SECONDS: u32 = 10;

const PAYLOAD: u64 = 500;

/// UDP, IP and LLC/SNAP, QoS header and checksum: 66 B; the delimiter: 4 B.
const SUBFRAME: u64 = PAYLOAD + 66 + 4;

/// The standard's limit on the number of attempts at a frame.
const ATTEMPTS: u32 = 7;

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// HT MCS 7 at 20 MHz with the long guard interval: 260 bits a symbol of 4 us, 36 us of mixed preamble; 22 bits of
/// service and tail. All subframes but the last are padded to 4 B. The Block Ack has 32 B at 6 Mb/s: 12 symbols.
fn cell(stations: u32, subframes: u32, attempts: u32) -> Cell {
    let octets = u64::from(subframes - 1) * SUBFRAME.next_multiple_of(4) + SUBFRAME;
    let aggregate = us(36 + 4 * (22 + 8 * octets).div_ceil(260));
    let (sifs, block_ack, aifs) = (us(16), us(20 + 4 * 12), us(16 + 3 * 9));
    Cell {
        stations,
        cw_min: 15,
        cw_max: 1023,
        attempts: Some(attempts),
        slot: us(9),
        success: aggregate + sifs + block_ack + aifs,
        collision: aggregate + aifs,
        payload: Bytes::new(PAYLOAD),
    }
}

/// Returns the difference of the throughput from the model's.
fn difference(stations: u32, subframes: u32, mpdu_error: f64) -> f64 {
    difference_with(ATTEMPTS, stations, subframes, mpdu_error)
}

/// The same if a frame, or an MPDU of an aggregate, is given up after `attempts` attempts.
fn difference_with(attempts: u32, stations: u32, subframes: u32, mpdu_error: f64) -> f64 {
    // A busy slot takes one off EDCA's back-offs, as Bianchi's freezing does.
    let aggregate = Aggregate { subframes, mpdu_error };
    let solved = saturation(&cell(stations, subframes, attempts), Freezing::Bianchi, aggregate).expect("a valid cell");
    let errors = if mpdu_error > 0.0 {
        format!("[radio.errors]\nmodel = \"fixed\"\npacket_error_ratio = {mpdu_error}\n")
    } else {
        String::new()
    };
    let text = format!(
        "duration = \"{} s\"\nwarmup = \"1 s\"\n\
         [radio]\nstandard = \"802.11n\"\nmcs = 7\nbasic_rate = \"6 Mb/s\"\npropagation = \"range\"\n\
         {errors}[mac]\naccess = \"edca\"\nshort_retry_limit = {attempts}\n[mac.edca]\nbest_effort.txop_limit = \"0 s\"\n\
         [mac.aggregation]\nampdu = \"65535 B\"\nampdu_frames = {subframes}\nampdu_duration = \"5 ms\"\n\
         [nodes]\ncount = {}\nplacement = \"circle\"\nspacing = \"1 m\"\n[queue]\nlimit = 1000\n\
         [[flow]]\nname = \"up\"\nfrom = \"*\"\nto = \"n0\"\n\
         traffic = {{ kind = \"saturated\", packet = \"{PAYLOAD} B\" }}\n",
        SECONDS + 1,
        stations + 1
    );
    let outcome = run(&text, 1);
    let difference = outcome.totals.goodput_bps / solved.throughput_bps - 1.0;
    println!(
        "{stations:2} stations, k {subframes:2}, e {mpdu_error:.2}: {:.3} Mb/s ({:+.2} %)",
        outcome.totals.goodput_bps / 1e6,
        difference * 100.0
    );
    difference
}

#[test]
fn one_station_without_errors_is_exact() {
    for subframes in [2, 8, 32, 64] {
        let difference = difference(1, subframes, 0.0);
        assert!(difference.abs() < 0.003, "k {subframes}: throughput differs by {difference}");
    }
}

#[test]
fn several_stations_without_errors() {
    for stations in [2, 5, 10] {
        for subframes in [4, 16, 64] {
            let difference = difference(stations, subframes, 0.0);
            assert!(difference.abs() < 0.025, "{stations}, k {subframes}: throughput differs by {difference}");
        }
    }
}

#[test]
fn a_lone_sender_with_errors() {
    for (subframes, mpdu_error) in [(4, 0.1), (16, 0.02), (16, 0.1), (32, 0.1)] {
        let difference = difference(1, subframes, mpdu_error);
        assert!(difference.abs() < 0.03, "k {subframes}, e {mpdu_error}: throughput differs by {difference}");
    }
}

#[test]
fn several_stations_with_errors() {
    for (stations, subframes, mpdu_error) in
        [(2, 16, 0.1), (5, 4, 0.1), (5, 16, 0.02), (5, 32, 0.1), (10, 16, 0.1), (10, 16, 0.02)]
    {
        let difference = difference(stations, subframes, mpdu_error);
        assert!(
            difference.abs() < 0.03,
            "{stations}, k {subframes}, e {mpdu_error}: throughput differs by {difference}"
        );
    }
}

/// Written into the grid above with its tolerance of 3 %, and missed by 1.2 points. The model gives no MPDU up: after seven
/// attempts at one, collisions included, its sender has to move the receiver's window by a BlockAckReq, which contends
/// like any frame. With thirty attempts nothing is given up and the window alone is left.
#[test]
fn ten_stations_with_long_aggregates_and_errors_differ_by_what_they_give_up() {
    let difference = difference(10, 32, 0.1);
    assert!(difference < -0.03, "the model is met after all, within {difference}: move the case to the others");
    let without_limit = difference_with(30, 10, 32, 0.1);
    assert!(without_limit.abs() < 0.03, "without a limit throughput still differs by {without_limit}");
}

/// Data bits of one stream and subcarrier by MCS, in twelfths.
const BITS: [u64; 12] = [6, 12, 18, 24, 36, 48, 54, 60, 72, 80, 90, 100];

/// A PPDU format's name, highest MCS, data subcarriers by width, useful part of a symbol and preamble of one stream without
/// its LTF in ns, guard intervals, and the frames of an aggregate.
struct Format {
    standard: &'static str,
    highest: usize,
    subcarriers: &'static [u64],
    useful: u64,
    before: u64,
    guards: &'static [(&'static str, u64)],
    frames: u64,
}

const FORMATS: [Format; 3] = [
    Format {
        standard: "802.11n",
        highest: 7,
        subcarriers: &[52, 108],
        useful: 3_200,
        before: 32_000,
        guards: &[("long", 800), ("short", 400)],
        frames: 64,
    },
    Format {
        standard: "802.11ac",
        highest: 9,
        subcarriers: &[52, 108, 234, 468],
        useful: 3_200,
        before: 36_000,
        guards: &[("long", 800), ("short", 400)],
        frames: 64,
    },
    Format {
        standard: "802.11ax",
        highest: 11,
        subcarriers: &[234, 468, 980, 1_960],
        useful: 12_800,
        before: 36_000,
        guards: &[("long", 800), ("1.6 us", 1_600), ("3.2 us", 3_200)],
        frames: 256,
    },
];

/// One station with A-MPDUs at every MCS, width and guard interval of HT, VHT and HE: within 1 % of the closed form. Most of that
/// is for the statistics of 600 back-offs.
#[test]
fn one_station_at_every_mcs_width_and_guard_interval() {
    let (mut worst, mut count) = (0.0_f64, 0);
    for format in &FORMATS {
        for (width, &subcarriers) in [20, 40, 80, 160].iter().zip(format.subcarriers) {
            for (mcs, &bits) in BITS.iter().enumerate().take(format.highest + 1) {
                // The standard excludes this combination with one stream.
                if format.standard == "802.11ac" && (*width, mcs) == (20, 9) {
                    continue;
                }
                for &(guard, pause) in format.guards {
                    let off = one_station(format, *width, subcarriers * bits / 12, mcs, (guard, pause), &PLAIN);
                    assert!(off.abs() < 0.01, "{} MCS {mcs}, {width} MHz, {guard}: {off}", format.standard);
                    (worst, count) = (worst.max(off.abs()), count + 1);
                }
            }
        }
    }
    println!("{count} modes, off by up to {worst:.4}");
    assert_eq!(count, 32 + 78 + 144);
}

/// Options of HE PPDUs: keys of `[radio]`, the nominal packet padding in us, data bits of a quarter of a symbol at MCS 0, and
/// of a whole one in an HE ER SU PPDU.
struct Options {
    radio: &'static str,
    padding: u64,
    quarter: u64,
    extended: Option<u64>,
}

const PLAIN: Options = Options { radio: "propagation = \"range\"", padding: 0, quarter: 1, extended: None };

impl Options {
    /// Returns the duration of the packet extension after this many bits at an MCS (IEEE 802.11ax-2021, 27.3.13).
    fn extension(&self, bits: u64, per_symbol: u64, mcs: usize) -> u64 {
        let quarters = match bits % per_symbol {
            0 => 4,
            excess => excess.div_ceil(self.quarter * BITS[mcs] / BITS[0]).min(4),
        };
        1_000 * [0, 4 * quarters.max(2) - 8, 4 * quarters][usize::try_from(self.padding / 8).expect("0 to 2")]
    }
}

/// One station with HE's packet extension over 20, 80 and 160 MHz, and in HE ER SU PPDUs, whose responses have the same format at
/// MCS 0: within 1 % of the closed form.
#[test]
fn one_station_with_packet_extensions_and_extended_range() {
    let he = &FORMATS[2];
    let padded = |radio, padding, quarter| Options { radio, padding, quarter, extended: None };
    let (eight, sixteen) = ("packet_padding = \"8 us\"", "packet_padding = \"16 us\"");
    for (width, subcarriers, quarter) in [(20, 234, 30), (80, 980, 120), (160, 1_960, 246)] {
        for mcs in [0, 4, 7, 11] {
            for (radio, padding) in [(eight, 8), (sixteen, 16)] {
                let options = padded(radio, padding, quarter);
                let off = one_station(he, width, subcarriers * BITS[mcs] / 12, mcs, ("long", 800), &options);
                assert!(off.abs() < 0.01, "{width} MHz, MCS {mcs}, {padding} us: {off}");
            }
        }
    }
    let extended = |radio, padding, quarter, bits| Options { radio, padding, quarter, extended: Some(bits) };
    let all = extended("extended_range = \"242 tones\"", 0, 30, 117);
    let upper = extended("extended_range = \"106 tones\"", 0, 12, 51);
    let both = extended("extended_range = \"242 tones\"\npacket_padding = \"16 us\"", 16, 30, 117);
    for (options, mcs, bits) in [(&all, 0, 117), (&all, 1, 234), (&all, 2, 351), (&upper, 0, 51), (&both, 2, 351)] {
        for guard in he.guards {
            let off = one_station(he, 20, bits, mcs, *guard, options);
            assert!(off.abs() < 0.01, "{}, MCS {mcs}, {guard:?}: {off}", options.radio);
        }
    }
}

/// Returns the difference of the throughput from the closed form.
fn one_station(
    format: &Format,
    width: u32,
    bits_per_symbol: u64,
    mcs: usize,
    (guard, pause): (&str, u64),
    options: &Options,
) -> f64 {
    let he = format.standard == "802.11ax";
    let ltf = if he { (if pause == 3_200 { 12_800 } else { 6_400 }) + pause } else { 4_000 };
    let symbol = format.useful + pause;
    let encoders = if format.standard == "802.11ac" { bits_per_symbol.div_ceil(2_160) } else { 1 };
    let lasts = |frames: u64| {
        let octets = (frames - 1) * SUBFRAME.next_multiple_of(4) + SUBFRAME;
        let bits = 16 + 6 * encoders + 8 * octets;
        let data = bits.div_ceil(bits_per_symbol) * symbol + options.extension(bits, bits_per_symbol, mcs);
        let before = format.before + if options.extended.is_some() { 8_000 } else { 0 };
        before + ltf + if guard == "short" { data.next_multiple_of(4_000) } else { data }
    };
    // The aggregate lasts up to 4 ms. A single frame is sent however long it lasts.
    let frames = (2..=format.frames).take_while(|&frames| lasts(frames) <= 4_000_000).last().unwrap_or(1);
    // BlockAck and ACK are at 6, 12 or 24 Mb/s, depending on the modulation.
    let coding = if format.standard == "802.11n" { mcs % 8 } else { mcs };
    let rate = [6, 12, 12, 24][coding.min(3)];
    let octets: u64 = if frames == 1 {
        14
    } else if frames > 64 || he {
        56
    } else {
        32
    };
    let bits = 22 + 8 * octets;
    let response = match options.extended {
        None => 20_000 + 4_000 * bits.div_ceil(4 * rate),
        Some(slow) => format.before + 8_000 + ltf + bits.div_ceil(slow) * symbol + options.extension(bits, slow, 0),
    };
    let aggregate = Duration::from_nanos(lasts(frames));
    let cell = Cell {
        stations: 1,
        cw_min: 15,
        cw_max: 1023,
        attempts: Some(ATTEMPTS),
        slot: us(9),
        success: aggregate + Duration::from_nanos(response) + us(16 + 43),
        collision: aggregate,
        payload: Bytes::new(PAYLOAD),
    };
    let subframes = u32::try_from(frames).expect("at most 256");
    let solved = saturation(&cell, Freezing::Bianchi, Aggregate { subframes, mpdu_error: 0.0 }).expect("a valid cell");
    let cycle = cell.success.as_nanos() + 67_500;
    let text = format!(
        "duration = \"{} us\"\nwarmup = \"{} us\"\n\
         [radio]\nstandard = \"{}\"\nmcs = {mcs}\nchannel_width = \"{width} MHz\"\nguard_interval = \"{guard}\"\n\
         {}\n[mac.edca]\nbest_effort.txop_limit = \"0 s\"\n\
         [nodes]\ncount = 2\nplacement = \"circle\"\nspacing = \"1 m\"\n[queue]\nlimit = 1000\n\
         [[flow]]\nname = \"up\"\nfrom = \"n1\"\nto = \"n0\"\n\
         traffic = {{ kind = \"saturated\", packet = \"{PAYLOAD} B\" }}\n",
        610 * cycle / 1_000,
        10 * cycle / 1_000,
        format.standard,
        options.radio,
    );
    run(&text, 1).totals.goodput_bps / solved.throughput_bps - 1.0
}
