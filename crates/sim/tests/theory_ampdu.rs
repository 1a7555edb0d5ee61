//! Saturated stations with A-MPDU and Block Ack against `theory::ampdu`, with and without errors.
//!
//! Tolerances, set beforehand: 1.5 % of throughput, to which the model is held beside a slot-exact Monte Carlo that keeps
//! every sequence number; 1 % for colliders that count from their time-out, which the model lets count with the
//! bystanders; and, with errors, 0.5 % for the Block Ack window, which the model does not have and which shortens few
//! aggregates of up to 32 subframes. One station that loses nothing is exact: 0.3 % for the statistics of its back-off.

use crate::networks::run;
use theory::ampdu::{Aggregate, saturation};
use theory::dcf::{Cell, Freezing};
use units::{Bytes, Duration};

const SECONDS: u32 = 10;

const PAYLOAD: u64 = 500;

/// UDP, IP and LLC/SNAP, QoS header and check sum: 66 B; the delimiter: 4 B.
const SUBFRAME: u64 = PAYLOAD + 66 + 4;

/// The standard's limit on the attempts at a frame.
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

/// The throughput's difference from the model's.
fn difference(stations: u32, subframes: u32, mpdu_error: f64) -> f64 {
    difference_with(ATTEMPTS, stations, subframes, mpdu_error)
}

/// The same where a frame, of an aggregate an MPDU, is given up after `attempts` attempts.
fn difference_with(attempts: u32, stations: u32, subframes: u32, mpdu_error: f64) -> f64 {
    // A busy slot takes one off EDCA's back-offs: Bianchi's freezing.
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
