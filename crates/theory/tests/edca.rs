//! Access categories beside a slot-exact Monte Carlo of the same conventions.

mod draws;

use draws::Draws;
use theory::Error;
use theory::dcf::{self, Cell, Freezing};
use theory::edca::{Class, saturation};
use units::{Bytes, Duration};

struct Station {
    class: usize,
    stage: u32,
    counter: u64,
}

/// What the Monte Carlo measured of a class.
#[derive(Clone, Default)]
struct Measured {
    attempts: u64,
    successes: u64,
}

fn window(class: &Class, stage: u32) -> u32 {
    (0..stage).fold(class.cw_min, |cw, _| (2 * cw + 1).min(class.cw_max))
}

/// Plays the cell and returns each class's counts and the time passed, in s.
fn play(classes: &[Class], busy_periods: u32) -> (Vec<Measured>, f64) {
    let mut draws = Draws(0x9E37_79B9_7F4A_7C15);
    let mut stations = Vec::new();
    for (class, of) in classes.iter().enumerate() {
        let first = |_| Station { class, stage: 0, counter: draws.slots(of.cw_min) };
        stations.extend((0..of.stations).map(first));
    }
    let shortest = classes.iter().map(|class| class.aifsn).min().expect("a cell has classes");
    let delay = |station: &Station| u64::from(classes[station.class].aifsn - shortest);
    let mut measured = vec![Measured::default(); classes.len()];
    let mut nanos = 0;
    for _ in 0..busy_periods {
        let start = stations.iter().map(|station| delay(station) + station.counter).min().expect("a cell has stations");
        let transmits = |station: &Station| delay(station) + station.counter == start;
        let alone = stations.iter().filter(|station| transmits(station)).count() == 1;
        let mut busy = 0;
        for station in &mut stations {
            let class = &classes[station.class];
            if transmits(station) {
                measured[station.class].attempts += 1;
                measured[station.class].successes += u64::from(alone);
                busy = busy.max(if alone { class.success } else { class.collision }.as_nanos());
                let given_up = class.attempts == Some(station.stage + 1);
                station.stage = if alone || given_up { 0 } else { station.stage + 1 };
                station.counter = draws.slots(window(class, station.stage));
            } else {
                // One at each boundary in which the class takes part, the busy one included.
                station.counter -= (start + 1).saturating_sub(delay(station));
            }
        }
        nanos += start * SLOT.as_nanos() + busy;
    }
    (measured, nanos as f64 / 1e9)
}

const SLOT: Duration = Duration::from_micros(9);

/// Frames of `micros` at OFDM 54 Mb/s: SIFS 16, ACK 28, and a shortest AIFS of 34 us (AIFSN 2).
fn class(stations: u32, aifsn: u32, (cw_min, cw_max): (u32, u32), micros: u64) -> Class {
    let us = Duration::from_micros;
    Class {
        stations,
        aifsn,
        cw_min,
        cw_max,
        attempts: Some(7),
        success: us(micros + 16 + 28 + 34),
        collision: us(micros + 34),
        payload: Bytes::new(1000),
    }
}

fn voice(stations: u32) -> Class {
    class(stations, 2, (3, 7), 64)
}

fn video(stations: u32) -> Class {
    class(stations, 2, (7, 15), 180)
}

fn best_effort(stations: u32) -> Class {
    class(stations, 3, (15, 1023), 248)
}

fn background(stations: u32) -> Class {
    class(stations, 7, (15, 1023), 248)
}

/// How far collision probability and throughput may be off, the latter as a part of the whole cell's. These are the
/// limits that the model's documentation states, with room for the Monte Carlo's own error.
type Limits = (f64, f64);

const ALIKE_AIFSN: Limits = (0.01, 0.005);
const MANY: Limits = (0.03, 0.01);
const FEW: Limits = (0.05, 0.03);
const FEW_WITH_VOICE: Limits = (0.11, 0.05);

fn agree(what: &str, classes: &[Class], (of_p, of_throughput): Limits) {
    let solved = saturation(classes, SLOT).expect("the cell is within the ranges");
    let (played, seconds) = play(classes, 300_000);
    let bps = |index: usize| (played[index].successes * classes[index].payload.bits()) as f64 / seconds;
    let total: f64 = (0..classes.len()).map(bps).sum();
    for (index, solved) in solved.iter().enumerate() {
        let collided = 1.0 - played[index].successes as f64 / played[index].attempts as f64;
        let collisions = solved.collision_probability - collided;
        let share = (solved.throughput_bps - bps(index)) / total;
        println!(
            "{what:26} {index}: p {:.4} ({collisions:+.4}), {:.3} Mb/s ({:+.2} %, {:+.2} % of all)",
            solved.collision_probability,
            solved.throughput_bps / 1e6,
            (solved.throughput_bps / bps(index) - 1.0) * 100.0,
            share * 100.0
        );
        assert!(collisions.abs() < of_p, "{what}, class {index}: p is off by {collisions}");
        assert!(share.abs() < of_throughput, "{what}, class {index}: throughput is off by {share} of the cell's");
    }
}

#[test]
fn windows_alone() {
    for n in [1, 2, 5, 10] {
        agree(
            &format!("CW 15 and 31, {n} each"),
            &[class(n, 2, (15, 1023), 180), class(n, 2, (31, 1023), 180)],
            ALIKE_AIFSN,
        );
    }
}

#[test]
fn aifs_alone() {
    for (n, late) in [(1, 3), (1, 7), (5, 3), (5, 7), (10, 3), (10, 7)] {
        let classes = [class(n, 2, (15, 1023), 180), class(n, late, (15, 1023), 180)];
        agree(&format!("AIFSN 2 and {late}, {n} each"), &classes, if n == 1 { FEW } else { MANY });
    }
}

#[test]
fn default_categories() {
    for n in [1, 2, 5] {
        let with_voice = if n < 5 { FEW_WITH_VOICE } else { MANY };
        agree(&format!("voice, best effort, {n} each"), &[voice(n), best_effort(n)], with_voice);
        agree(&format!("VO VI BE, {n} each"), &[voice(n), video(n), best_effort(n)], with_voice);
        agree(&format!("BE BK, {n} each"), &[best_effort(n), background(n)], if n < 5 { FEW } else { MANY });
    }
    agree("VO VI BE BK, 1 each", &[voice(1), video(1), best_effort(1), background(1)], FEW_WITH_VOICE);
}

#[test]
fn a_single_class_is_bianchis_cell() {
    for stations in [1, 2, 10, 50] {
        let one = class(stations, 5, (15, 1023), 180);
        let (success, collision, payload) = (one.success, one.collision, one.payload);
        let cell =
            Cell { stations, cw_min: 15, cw_max: 1023, attempts: Some(7), slot: SLOT, success, collision, payload };
        let expected = dcf::saturation(&cell, Freezing::Bianchi).unwrap();
        // Split in two alike classes it is the same cell.
        let halves = [Class { stations: stations.div_ceil(2), ..one }, Class { stations: stations / 2, ..one }];
        let split = if stations == 1 { vec![one] } else { halves.to_vec() };
        for classes in [vec![one], split] {
            let solved = saturation(&classes, SLOT).unwrap();
            let total: f64 = solved.iter().map(|class| class.throughput_bps).sum();
            assert!((solved[0].collision_probability - expected.collision_probability).abs() < 1e-9);
            assert!((total / expected.throughput_bps - 1.0).abs() < 1e-9, "{solved:?} beside {expected:?}");
        }
    }
}

#[test]
fn one_station_by_hand() {
    // 7.5 slots of 9 us and 258 us for 8000 bits, whatever the AIFSN, which is part of the success.
    let solved = saturation(&[class(1, 7, (15, 1023), 180)], SLOT).unwrap();
    assert!((solved[0].throughput_bps / (8000.0 / 325.5e-6) - 1.0).abs() < 1e-9);
    assert!(solved[0].collision_probability.abs() < 1e-12);
}

#[test]
fn two_alike_stations_with_one_window_by_hand() {
    // CW 1 throughout: tau = 2/3 = p. Of a busy slot 1/2 is a success: 4/9 against 4/9, idle 1/9.
    let one = Class { attempts: Some(1), ..class(2, 2, (1, 1), 180) };
    let solved = saturation(&[one], SLOT).unwrap();
    assert!((solved[0].collision_probability - 2.0 / 3.0).abs() < 1e-9);
    let mean_slot = (9e-6 + 4.0 * 258e-6 + 4.0 * 214e-6) / 9.0;
    assert!((solved[0].successes_per_second / (4.0 / 9.0 / mean_slot) - 1.0).abs() < 1e-9);
}

#[test]
fn extreme_cells_settle() {
    let eager = class(400, 2, (1, 65_535), 64);
    let late = class(400, 15, (15, 1023), 180);
    for classes in [vec![eager], vec![eager, late], vec![late, class(1, 2, (1023, 1023), 180), voice(200)]] {
        for solved in saturation(&classes, SLOT).unwrap() {
            assert!(solved.throughput_bps.is_finite() && solved.throughput_bps >= 0.0, "{solved:?}");
            assert!((0.0..=1.0).contains(&solved.collision_probability), "{solved:?}");
        }
    }
    // One class of 256 beside the bisection of `dcf`.
    let one = class(256, 2, (15, 1023), 180);
    let (success, collision, payload) = (one.success, one.collision, one.payload);
    let cell =
        Cell { stations: 256, cw_min: 15, cw_max: 1023, attempts: Some(7), slot: SLOT, success, collision, payload };
    let expected = dcf::saturation(&cell, Freezing::Bianchi).unwrap().collision_probability;
    assert!((saturation(&[one], SLOT).unwrap()[0].collision_probability - expected).abs() < 1e-9);
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let refused = |class: Class| saturation(&[video(1), class], SLOT).unwrap_err();
    assert_eq!(saturation(&[], SLOT), Err(Error::Stations));
    assert_eq!(refused(voice(0)), Error::Stations);
    assert_eq!(refused(voice(1000)), Error::Stations);
    assert_eq!(refused(class(1, 0, (3, 7), 64)), Error::Aifsn);
    assert_eq!(refused(class(1, 2, (0, 7), 64)), Error::Windows);
    assert_eq!(refused(Class { attempts: Some(0), ..voice(1) }), Error::Attempts);
    assert_eq!(refused(Class { success: Duration::ZERO, ..voice(1) }), Error::Times);
    assert_eq!(saturation(&[voice(1)], Duration::ZERO), Err(Error::Times));
    assert!(Error::Aifsn.to_string().contains("15"));
}
