//! Aggregates compared with a slot-exact Monte Carlo that keeps every sequence number.

use crate::draws::Draws;
use std::collections::VecDeque;
use theory::Error;
use theory::ampdu::{Aggregate, saturation};
use theory::dcf::{self, Cell, Freezing};
use units::{Bytes, Duration};

/// A sender under Bianchi's freezing convention, with its Block Ack window: whether each sequence number from the
/// oldest unacknowledged one up to the newest sent has been acknowledged.
struct Station {
    stage: u32,
    counter: u64,
    sent: VecDeque<bool>,
}

impl Station {
    /// Fills an aggregate oldest first, as far as `window` sequence numbers reach, and applies the Block Ack. Returns
    /// the numbers of subframes sent and delivered.
    fn exchange(&mut self, subframes: usize, window: usize, error: f64, draws: &mut Draws) -> (u64, u64) {
        let open = self.sent.iter().filter(|acknowledged| !**acknowledged).count();
        let fresh = subframes.saturating_sub(open).min(window - self.sent.len());
        self.sent.extend(core::iter::repeat_n(false, fresh));
        let (mut carried, mut delivered) = (0, 0);
        for acknowledged in self.sent.iter_mut().filter(|acknowledged| !**acknowledged).take(subframes) {
            carried += 1;
            *acknowledged = !draws.chance(error);
            delivered += u64::from(*acknowledged);
        }
        while self.sent.front() == Some(&true) {
            self.sent.pop_front();
        }
        (carried, delivered)
    }
}

/// What the Monte Carlo measured.
struct Measured {
    throughput_bps: f64,
    /// Mean subframes of an aggregate that did not collide.
    subframes: f64,
}

fn window(cell: &Cell, stage: u32) -> u32 {
    (0..stage).fold(cell.cw_min, |cw, _| (2 * cw + 1).min(cell.cw_max))
}

/// An aggregate that does not collide lasts as long as its content; one that does lasts as long as a full one.
fn play(stations: u32, aggregate: Aggregate, block_ack_window: usize, busy_periods: u32) -> Measured {
    let cell = &ht(stations, aggregate.subframes);
    let mut draws = Draws(0x2545_F491_4F6C_DD1D);
    let first = |_| Station { stage: 0, counter: draws.slots(cell.cw_min), sent: VecDeque::new() };
    let mut stations: Vec<Station> = (0..cell.stations).map(first).collect();
    let (mut now, mut aggregates, mut carried, mut delivered) = (0, 0_u64, 0, 0);
    for _ in 0..busy_periods {
        let idle = stations.iter().map(|station| station.counter).min().expect("a cell has stations");
        let alone = stations.iter().filter(|station| station.counter == idle).count() == 1;
        now += idle * cell.slot.as_nanos() + if alone { 0 } else { cell.collision.as_nanos() };
        for station in &mut stations {
            if station.counter > idle {
                station.counter -= idle + 1;
                continue;
            }
            let given_up = cell.attempts == Some(station.stage + 1);
            station.stage = if alone || given_up { 0 } else { station.stage + 1 };
            station.counter = draws.slots(window(cell, station.stage));
            if alone {
                let k = aggregate.subframes as usize;
                let (sent, received) = station.exchange(k, block_ack_window, aggregate.mpdu_error, &mut draws);
                let carrying = u32::try_from(sent).expect("at most the subframes of an aggregate");
                now += ht(1, carrying).success.as_nanos();
                aggregates += 1;
                carried += sent;
                delivered += received;
            }
        }
    }
    Measured {
        throughput_bps: (delivered * cell.payload.bits()) as f64 / (now as f64 / 1e9),
        subframes: carried as f64 / aggregates as f64,
    }
}

/// HT MCS 7 at 20 MHz, long guard interval: 260 data bits a symbol of 4 us, mixed preamble of 36 us; MPDUs of 1500
/// bytes of payload in subframes of 1540 with delimiter, header, FCS and padding; Block Ack 32 us at 24 Mb/s.
fn ht(stations: u32, subframes: u32) -> Cell {
    let bits = 16 + 6 + u64::from(subframes) * 1540 * 8;
    let aggregate = Duration::from_micros(36 + 4 * bits.div_ceil(260));
    let us = Duration::from_micros;
    Cell {
        stations,
        cw_min: 15,
        cw_max: 1023,
        attempts: Some(7),
        slot: us(9),
        success: aggregate + us(16 + 32 + 34),
        collision: aggregate + us(34),
        payload: Bytes::new(1500),
    }
}

#[test]
fn throughput_over_a_grid() {
    // Tolerance: what tests/dcf.rs finds for Bianchi's fixed point at these windows (1.1 %) and the statistics of
    // 60,000 aggregates (below 0.3 %).
    for stations in [1, 2, 10, 30] {
        for subframes in [1, 8, 32] {
            for mpdu_error in [0.0, 0.02, 0.1, 0.5] {
                let (cell, aggregate) = (ht(stations, subframes), Aggregate { subframes, mpdu_error });
                let solved = saturation(&cell, Freezing::Bianchi, aggregate).unwrap();
                let played = play(stations, aggregate, usize::MAX, 60_000);
                let off = solved.throughput_bps / played.throughput_bps - 1.0;
                println!(
                    "{stations:2} stations, k {subframes:2}, e {mpdu_error:.2}: {:.2} Mb/s ({:+.2} %)",
                    solved.throughput_bps / 1e6,
                    off * 100.0
                );
                assert!(off.abs() < 0.015, "{stations} stations, {aggregate:?}: off by {off}");
            }
        }
    }
}

#[test]
fn what_the_window_of_64_costs() {
    // One station, each aggregate as long as its content. The model has no window; the tolerance is that used above.
    for (subframes, mpdu_error) in [(8, 0.1), (16, 0.1), (32, 0.02), (32, 0.1), (64, 0.02), (64, 0.1)] {
        let aggregate = Aggregate { subframes, mpdu_error };
        let solved = saturation(&ht(1, subframes), Freezing::Bianchi, aggregate).unwrap();
        let played = play(1, aggregate, 64, 100_000);
        let off = solved.throughput_bps / played.throughput_bps - 1.0;
        println!("k {subframes}, e {mpdu_error}: {:+.2} %, {:.2} subframes", off * 100.0, played.subframes);
        assert!(off.abs() < 0.015, "{aggregate:?}: off by {off}");
    }
}

#[test]
fn one_station_is_exact() {
    // 10 subframes: 474 symbols, 1932 us, 2014 us with SIFS, Block Ack and DIFS, after 7.5 slots of 9 us.
    for freezing in [Freezing::Bianchi, Freezing::Standard { colliders_resume: Duration::from_micros(2000) }] {
        let solved = saturation(&ht(1, 10), freezing, Aggregate { subframes: 10, mpdu_error: 0.25 }).unwrap();
        let expected = 7.5 * 12_000.0 / (2014e-6 + 67.5e-6);
        assert!((solved.throughput_bps / expected - 1.0).abs() < 1e-9, "{solved:?}");
        assert!((solved.transmissions_per_mpdu - 4.0 / 3.0).abs() < 1e-9);
    }
}

#[test]
fn one_subframe_without_errors_is_the_plain_cell() {
    let cell = ht(10, 1);
    let plain = dcf::saturation(&cell, Freezing::Bianchi).unwrap();
    let solved = saturation(&cell, Freezing::Bianchi, Aggregate { subframes: 1, mpdu_error: 0.0 }).unwrap();
    assert_eq!(solved.contention, plain);
    assert!((solved.throughput_bps / plain.throughput_bps - 1.0).abs() < 1e-12);
}

#[test]
fn extremes_and_refusals() {
    let of = |subframes, mpdu_error| saturation(&ht(2, 1), Freezing::Bianchi, Aggregate { subframes, mpdu_error });
    let nothing = of(4, 1.0).unwrap();
    assert!(nothing.throughput_bps.abs() < 1e-12 && nothing.transmissions_per_mpdu.is_infinite());
    assert_eq!(of(0, 0.0), Err(Error::Subframes));
    assert_eq!(of(257, 0.0), Err(Error::Subframes));
    assert_eq!(of(1, f64::NAN), Err(Error::Probability));
    assert_eq!(of(1, -0.1), Err(Error::Probability));
    let empty = saturation(&ht(0, 1), Freezing::Bianchi, Aggregate { subframes: 1, mpdu_error: 0.0 });
    assert_eq!(empty, Err(Error::Stations));
    assert!(Error::Subframes.to_string().contains("256"));
}
