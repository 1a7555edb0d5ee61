//! The solved cell compared with a slot-exact Monte Carlo of the same conventions.

use crate::draws::Draws;
use theory::Error;
use theory::dcf::{Cell, Freezing, Saturation, saturation};
use units::{Bytes, Duration};

/// A station's state: what it waits for.
#[derive(Clone)]
struct Station {
    stage: u32,
    counter: u64,
    /// Instant from which its slots count, in ns.
    resumes: u64,
}

/// What the Monte Carlo measured.
struct Measured {
    collision_probability: f64,
    throughput_bps: f64,
}

fn window(cell: &Cell, stage: u32) -> u32 {
    (0..stage).fold(cell.cw_min, |cw, _| (2 * cw + 1).min(cell.cw_max))
}

/// Plays `busy_periods` of the cell, station by station and to the nanosecond.
fn play(cell: &Cell, freezing: Freezing, busy_periods: u32) -> Measured {
    let mut draws = Draws(0x9E37_79B9_7F4A_7C15);
    let slot = cell.slot.as_nanos();
    let first = |_| Station { stage: 0, counter: draws.slots(cell.cw_min), resumes: 0 };
    let mut stations: Vec<Station> = (0..cell.stations).map(first).collect();
    let (mut now, mut attempts, mut successes) = (0, 0_u64, 0_u64);
    for _ in 0..busy_periods {
        let transmits = |station: &Station| station.resumes + station.counter * slot;
        let start = stations.iter().map(transmits).min().expect("a cell has stations");
        let alone = stations.iter().filter(|station| transmits(station) == start).count() == 1;
        now = start + if alone { cell.success } else { cell.collision }.as_nanos();
        for station in &mut stations {
            if transmits(station) == start {
                attempts += 1;
                successes += u64::from(alone);
                let given_up = cell.attempts == Some(station.stage + 1);
                station.stage = if alone || given_up { 0 } else { station.stage + 1 };
                station.counter = draws.slots(window(cell, station.stage));
                station.resumes = match freezing {
                    Freezing::Standard { colliders_resume } if !alone => start + colliders_resume.as_nanos(),
                    _ => now,
                };
            } else {
                station.counter -= start.saturating_sub(station.resumes) / slot;
                station.counter -= u64::from(matches!(freezing, Freezing::Bianchi));
                station.resumes = now;
            }
        }
    }
    Measured {
        collision_probability: 1.0 - successes as f64 / attempts as f64,
        throughput_bps: (successes * cell.payload.bits()) as f64 / (now as f64 / 1e9),
    }
}

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// 802.11b, long preamble, 11 Mb/s, 1064-byte frames: 966 us and an ACK of 304 us.
fn dsss(stations: u32) -> Cell {
    let (success, collision) = (us(966 + 10 + 304 + 50), us(966 + 50));
    let (slot, payload) = (us(20), Bytes::new(1000));
    Cell { stations, cw_min: 31, cw_max: 1023, attempts: Some(7), slot, success, collision, payload }
}

/// 802.11a, 54 Mb/s, 1064-byte frames: 40 symbols, 180 us; ACK at 24 Mb/s 28 us.
fn ofdm(stations: u32) -> Cell {
    let (success, collision) = (us(180 + 16 + 28 + 34), us(180 + 34));
    let (slot, payload) = (us(9), Bytes::new(1000));
    Cell { stations, cw_min: 15, cw_max: 1023, attempts: Some(7), slot, success, collision, payload }
}

fn resume_after(frame: u64, timeout: u64) -> Freezing {
    Freezing::Standard { colliders_resume: us(frame + timeout) }
}

fn solve(cell: &Cell, freezing: Freezing) -> Saturation {
    saturation(cell, freezing).expect("the cell is within the ranges")
}

/// Compares the solved cell with the played one, for cells of 1 to 50 stations.
fn agree(what: &str, cell: impl Fn(u32) -> Cell, freezing: Freezing) {
    for stations in [1, 2, 5, 10, 20, 50] {
        let cell = cell(stations);
        let solved = solve(&cell, freezing);
        let played = play(&cell, freezing, 150_000);
        let collisions = solved.collision_probability - played.collision_probability;
        let throughput = solved.throughput_bps / played.throughput_bps - 1.0;
        println!(
            "{what:24} {stations:3}: p {:.4} ({collisions:+.4}), {:.3} Mb/s ({:+.2} %)",
            solved.collision_probability,
            solved.throughput_bps / 1e6,
            throughput * 100.0
        );
        assert!(collisions.abs() < 0.02, "{what}, {stations} stations: p is off by {collisions}");
        assert!(throughput.abs() < 0.015, "{what}, {stations} stations: throughput is off by {throughput}");
    }
}

#[test]
fn bianchi_dsss() {
    agree("Bianchi 802.11b", dsss, Freezing::Bianchi);
}

#[test]
fn bianchi_ofdm() {
    agree("Bianchi 802.11a", ofdm, Freezing::Bianchi);
}

#[test]
fn standard_dsss_colliders_at_their_time_out() {
    agree("802.11b, +8.6 slots", dsss, resume_after(966, 222));
}

#[test]
fn standard_dsss_colliders_a_difs_after_their_time_out() {
    agree("802.11b, +11.1 slots", dsss, resume_after(966, 222 + 50));
}

#[test]
fn standard_dsss_bystanders_wait_eifs() {
    // EIFS = SIFS + ACK at 1 Mb/s + DIFS.
    let eifs = |stations| Cell { collision: us(966 + 10 + 304 + 50), ..dsss(stations) };
    agree("802.11b EIFS, -7.1 slots", eifs, resume_after(966, 222));
}

#[test]
fn standard_dsss_colliders_with_the_bystanders() {
    agree("802.11b, together", dsss, resume_after(966, 50));
}

#[test]
fn standard_ofdm_colliders_at_their_time_out() {
    agree("802.11a, +1.8 slots", ofdm, resume_after(180, 16 + 9 + 25));
}

#[test]
fn standard_ofdm_colliders_with_the_bystanders() {
    agree("802.11a, together", ofdm, resume_after(180, 34));
}

#[test]
fn standard_ofdm_with_a_short_sifs() {
    // ERP-OFDM: SIFS 10, DIFS 28, a signal extension of 6 us after each frame, aRxPHYStartDelay 20.
    let (success, collision) = (us(186 + 10 + 34 + 28), us(186 + 28));
    let erp = |stations| Cell { success, collision, ..ofdm(stations) };
    agree("802.11g, +1.2 slots", erp, resume_after(186, 10 + 9 + 20));
}

#[test]
fn one_station_is_exact() {
    // 15.5 slots of 20 us and 1330 us for 8000 bits; 7.5 slots of 9 us and 258 us.
    for freezing in [Freezing::Bianchi, resume_after(966, 222)] {
        for (cell, expected) in [(dsss(1), 8000.0 / 1640e-6), (ofdm(1), 8000.0 / 325.5e-6)] {
            let solved = solve(&cell, freezing);
            assert!((solved.throughput_bps / expected - 1.0).abs() < 1e-9, "{freezing:?}: {}", solved.throughput_bps);
            assert!(solved.collision_probability.abs() < 1e-12);
            assert!(solved.drop_probability.abs() < 1e-12);
        }
    }
}

/// Returns the published refinement, Eqs. (32), (33) and (39) to (42) of the chapter: colliders resume one slot late.
fn published_refinement(cell: &Cell) -> (f64, f64) {
    let n = f64::from(cell.stations);
    let tau_of = |p: f64| {
        let attempts = 0..cell.attempts.expect("the published model is played with a limit");
        // After the slot that follows a success, the first window is 0..=CWmin - 1.
        let drawn = |stage| f64::from(window(cell, stage) - u32::from(stage == 0)) / 2.0;
        let weight: f64 = attempts.clone().map(|stage| p.powf(f64::from(stage))).sum();
        1.0 / (1.0 + attempts.map(|stage| p.powf(f64::from(stage)) * drawn(stage)).sum::<f64>() / weight)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p: f64 = f64::midpoint(low, high);
        if 1.0 - (1.0 - tau_of(p)).powf(n - 1.0) > p {
            low = p;
        } else {
            high = p;
        }
    }
    let tau = tau_of(low);
    let (idle, success) = ((1.0 - tau).powf(n), n * tau * (1.0 - tau).powf(n - 1.0));
    let frames = (f64::from(cell.cw_min) + 1.0) / f64::from(cell.cw_min);
    let slot = cell.slot.as_secs_f64();
    let mean_slot = idle * slot
        + success * (frames * cell.success.as_secs_f64() + slot)
        + (1.0 - idle - success) * (cell.collision.as_secs_f64() + slot);
    (low, success * frames * cell.payload.bits() as f64 / mean_slot)
}

#[test]
fn where_colliders_resume_one_slot_late_it_is_the_published_refinement() {
    for stations in [2, 5, 10, 20, 50] {
        let cell = dsss(stations);
        let (p, throughput) = published_refinement(&cell);
        let solved = saturation(&cell, resume_after(966, 50 + 20)).unwrap();
        assert!((solved.collision_probability - p).abs() < 0.01, "{stations}: {solved:?} beside {p}");
        assert!((solved.throughput_bps / throughput - 1.0).abs() < 0.01, "{stations}: {solved:?} beside {throughput}");
    }
}

#[test]
fn frames_are_given_up_after_the_attempts_only() {
    let solved = saturation(&dsss(20), Freezing::Bianchi).unwrap();
    let expected = solved.collision_probability.powi(7);
    assert!((solved.drop_probability - expected).abs() < 1e-9);
    let unlimited = saturation(&Cell { attempts: None, ..dsss(20) }, Freezing::Bianchi).unwrap();
    assert!(unlimited.drop_probability.abs() < 1e-12);
    assert!(unlimited.collision_probability < solved.collision_probability);
}

#[test]
fn extreme_cells_have_finite_answers() {
    let cells = [
        Cell { cw_min: 1, cw_max: 1, attempts: Some(1), ..dsss(2) },
        Cell { cw_min: 1, cw_max: 65_535, attempts: None, ..dsss(3) },
        Cell { cw_min: 65_535, cw_max: 65_535, attempts: Some(255), ..dsss(2) },
        ofdm(100),
    ];
    for cell in cells {
        for freezing in [Freezing::Bianchi, resume_after(966, 222), resume_after(0, 0), resume_after(966, 50)] {
            let solved = solve(&cell, freezing);
            assert!(solved.throughput_bps.is_finite() && solved.throughput_bps > 0.0, "{cell:?}: {solved:?}");
            assert!((0.0..=1.0).contains(&solved.collision_probability), "{cell:?}: {solved:?}");
            assert!((0.0..=1.0).contains(&solved.tau), "{cell:?}: {solved:?}");
        }
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let refused = |cell: Cell| saturation(&cell, Freezing::Bianchi).unwrap_err();
    assert_eq!(refused(dsss(0)), Error::Stations);
    assert_eq!(refused(dsss(257)), Error::Stations);
    assert_eq!(refused(Cell { cw_min: 0, ..dsss(2) }), Error::Windows);
    assert_eq!(refused(Cell { cw_max: 30, ..dsss(2) }), Error::Windows);
    assert_eq!(refused(Cell { attempts: Some(0), ..dsss(2) }), Error::Attempts);
    assert_eq!(refused(Cell { slot: Duration::ZERO, ..dsss(2) }), Error::Times);
    let endless = Freezing::Standard { colliders_resume: Duration::MAX };
    assert_eq!(saturation(&dsss(2), endless), Err(Error::Times));
    assert!(Error::Stations.to_string().contains("MAX_STATIONS"));
}
