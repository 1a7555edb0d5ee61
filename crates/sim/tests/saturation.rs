//! A saturated cell compared with the DCF model of crate `theory`, under the conventions of `docs/mac-conventions.md`.

use crate::networks::run;
use theory::dcf::{Cell, Freezing, saturation};
use units::{Bytes, Duration};

/// What README.md and docs/theory.md promise, to their last printed digit: 0.7 % of throughput, 0.008 in probability.
const OF_THROUGHPUT: f64 = 0.007_5;
const OF_COLLISIONS: f64 = 0.008_5;

/// What a standard prescribes, in microseconds, for 1000 B of payload (1064 B of MAC frame).
struct Phy {
    standard: &'static str,
    rates: [&'static str; 2],
    cw_min: u16,
    slot: u64,
    sifs: u64,
    data: u64,
    ack: u64,
    response_timeout: u64,
}

const B: Phy = Phy {
    standard: "802.11b",
    rates: ["11 Mb/s", "1 Mb/s"],
    cw_min: 31,
    slot: 20,
    sifs: 10,
    data: 966,
    ack: 304,
    response_timeout: 10 + 20 + 192,
};

/// 802.11a: 40 symbols of data, 6 of ACK, 20 us of preamble and SIGNAL each.
const A: Phy = Phy {
    standard: "802.11a",
    rates: ["54 Mb/s", "6 Mb/s"],
    cw_min: 15,
    slot: 9,
    sifs: 16,
    data: 180,
    ack: 44,
    response_timeout: 16 + 9 + 20,
};

/// 802.11g: as 802.11a with SIFS 10 and 6 us of signal extension.
const G: Phy = Phy { standard: "802.11g", sifs: 10, data: 186, ack: 50, response_timeout: 10 + 9 + 20, ..A };

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// The stations are 1 m apart, so two propagation delays of some nanoseconds are left out.
fn cell(phy: &Phy, stations: u32) -> Cell {
    let difs = phy.sifs + 2 * phy.slot;
    Cell {
        stations,
        cw_min: u32::from(phy.cw_min),
        cw_max: 1023,
        attempts: Some(7),
        slot: us(phy.slot),
        success: us(phy.data + phy.sifs + phy.ack + difs),
        collision: us(phy.data + difs),
        payload: Bytes::new(1000),
    }
}

/// Returns goodput in bit/s and collision probability of `stations` saturated senders.
fn simulated(phy: &Phy, stations: u32, seconds: u32) -> (f64, f64) {
    let [data, basic] = phy.rates;
    let text = format!(
        "duration = \"{} s\"\nwarmup = \"1 s\"\n\
         [radio]\nstandard = \"{}\"\ndata_rate = \"{data}\"\nbasic_rate = \"{basic}\"\npropagation = \"range\"\n\
         [nodes]\ncount = {}\nplacement = \"circle\"\nspacing = \"1 m\"\n\
         [[flow]]\nname = \"up\"\nfrom = \"*\"\nto = \"n0\"\n\
         traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n",
        seconds + 1,
        phy.standard,
        stations + 1
    );
    let outcome = run(&text, 1);
    let sum = |of: fn(&sim::results::Mac) -> u64| outcome.nodes.iter().map(|node| of(&node.mac)).sum::<u64>() as f64;
    (outcome.totals.goodput_bps, sum(|mac| mac.collisions) / sum(|mac| mac.attempts))
}

fn agrees_with_the_model(phy: &Phy) {
    for stations in [1, 2, 5, 10, 20, 50] {
        let freezing = Freezing::Standard { colliders_resume: us(phy.data + phy.response_timeout) };
        let model = saturation(&cell(phy, stations), freezing).expect("a valid cell");
        let (goodput, collisions) = simulated(phy, stations, 60);
        let error = goodput / model.throughput_bps - 1.0;
        println!(
            "{} n = {stations}: {:.4} against {:.4} Mb/s ({:+.2} %), p {collisions:.4} against {:.4}",
            phy.standard,
            goodput / 1e6,
            model.throughput_bps / 1e6,
            error * 100.0,
            model.collision_probability
        );
        assert!(error.abs() < OF_THROUGHPUT, "{} n = {stations}: throughput differs by {error}", phy.standard);
        let difference = collisions - model.collision_probability;
        assert!(
            difference.abs() < OF_COLLISIONS,
            "{} n = {stations}: collision probability differs by {difference}",
            phy.standard
        );
    }
}

#[test]
fn dsss_11_and_1_mbps() {
    agrees_with_the_model(&B);
}

#[test]
fn ofdm_54_and_6_mbps_at_5_ghz() {
    agrees_with_the_model(&A);
}

#[test]
fn ofdm_54_and_6_mbps_at_2_ghz() {
    agrees_with_the_model(&G);
}

#[test]
fn one_station_sends_what_the_timings_say() {
    for phy in [&B, &A, &G] {
        let cycle = phy.data + phy.sifs + phy.ack + phy.sifs + 2 * phy.slot;
        // On average this is half the smallest window.
        let backoff = f64::from(phy.cw_min) / 2.0 * phy.slot as f64;
        let expected = 8000.0 / (cycle as f64 + backoff) * 1e6;
        let (goodput, collisions) = simulated(phy, 1, 120);
        let error = goodput / expected - 1.0;
        println!("{}: {goodput} against {expected}", phy.standard);
        assert!(error.abs() < 0.002, "{}: {error}", phy.standard);
        assert!(collisions.abs() < 1e-12);
    }
}
