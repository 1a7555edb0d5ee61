//! Access categories compared with the slot-exact reference.
//!
//! The tolerances were fixed before the first comparison (see this file's first commit). The publication's abstract claims "high accuracy", also for
//! low-level measures, and gives no number; so they are those that `tests/dcf.rs` holds Bianchi's cell to (0.02 in
//! collision probability), and twice its tolerance of throughput (3 %), plus four deviations of the reference's own
//! counts. A category that gets next to nothing is allowed 0.2 % of the whole cell's throughput on top.
//!
//! Where the model missed these tolerances, its stated validity ends; the last test here shows that.

use crate::edca_slots::{BusySlots, Colliders, Counted, Rules, play};
use theory::Error;
use theory::dcf::{self, Cell, Freezing};
use theory::edca::{Category, Group, LEAST_SHARE, Medium, Outcome, saturation};
use units::{Bytes, Duration};

const OF_COLLISIONS: f64 = 0.02;
const OF_THROUGHPUT: f64 = 0.03;
const OF_THE_WHOLE_CELL: f64 = 0.002;

/// 802.11a.
const MEDIUM: Medium = Medium { slot: Duration::from_micros(9), sifs: Duration::from_micros(16) };

/// Returns a category with a frame of `micros`, and SIFS with an ACK of 28 us.
fn category(aifsn: u32, (cw_min, cw_max): (u32, u32), micros: u64) -> Category {
    let (frame, answer) = (Duration::from_micros(micros), Duration::from_micros(16 + 28));
    Category { aifsn, cw_min, cw_max, attempts: Some(7), frame, answer, payload: Bytes::new(1000) }
}

fn voice() -> Category {
    category(2, (3, 7), 64)
}

fn video() -> Category {
    category(2, (7, 15), 180)
}

fn best_effort() -> Category {
    category(3, (15, 1023), 248)
}

fn background() -> Category {
    category(7, (15, 1023), 248)
}

/// Returns `n` stations of each of these categories, each station with one.
fn each(n: u32, categories: &[Category]) -> Vec<Group> {
    categories.iter().map(|&category| Group { stations: n, categories: vec![category] }).collect()
}

/// Deviation of the model from the reference for one category, and the possible deviation of the counts themselves.
struct Off {
    collisions: f64,
    throughput: f64,
    of_the_whole: f64,
    deviation: f64,
    relative_deviation: f64,
    /// The model's share of the cell's successes.
    share: f64,
}

impl Off {
    fn new(solved: &Outcome, counted: &Counted, seconds: f64, total: f64) -> Self {
        let (p, per_second) = (counted.collision_probability(), counted.successes as f64 / seconds);
        Self {
            collisions: solved.collision_probability - p,
            throughput: solved.successes_per_second / per_second - 1.0,
            of_the_whole: (solved.successes_per_second - per_second) / total,
            deviation: (p * (1.0 - p) / counted.sent as f64).sqrt(),
            relative_deviation: 1.0 / (counted.successes as f64).sqrt(),
            share: solved.successes_per_second / total,
        }
    }

    fn is_within(&self) -> bool {
        let own = OF_THROUGHPUT + 4.0 * self.relative_deviation;
        let on_top = OF_THE_WHOLE_CELL * (self.throughput / self.of_the_whole).abs();
        self.collisions.abs() <= OF_COLLISIONS + 4.0 * self.deviation && self.throughput.abs() <= own + on_top
    }
}

/// Returns and prints the deviation of every category.
fn compare(what: &str, groups: &[Group], accesses: u32) -> Vec<Off> {
    let solved = saturation(groups, MEDIUM).expect("the cell is within the ranges");
    let (busy_slots, colliders, turnaround) = (BusySlots::Count, Colliders::Together, Duration::ZERO);
    let rules = Rules { medium: MEDIUM, busy_slots, colliders, turnaround };
    let played = play(groups, rules, accesses);
    let total: f64 = solved.iter().flatten().map(|of| of.successes_per_second).sum();
    let mut all = Vec::new();
    for (solved, counted) in solved.iter().flatten().zip(played.counted.iter().flatten()) {
        let off = Off::new(solved, counted, played.seconds, total);
        println!(
            "{} {what:24} {:5.1} % of all: p {:.4} ({:+.4}), {:8.2} frames/s ({:+6.2} %)",
            if off.is_within() { ' ' } else { '!' },
            off.share * 100.0,
            solved.collision_probability,
            off.collisions,
            solved.successes_per_second,
            off.throughput * 100.0,
        );
        all.push(off);
    }
    all
}

/// Checks the categories for which the model is stated to be valid.
fn agree(what: &str, groups: &[Group]) {
    let all = compare(what, groups, 300_000);
    assert!(all.iter().all(|off| off.share < LEAST_SHARE || off.is_within()), "{what}: outside the tolerances");
}

#[test]
fn windows_alone() {
    let classes = [category(2, (15, 1023), 180), category(2, (31, 1023), 180)];
    for n in [1, 2, 5, 10] {
        agree(&format!("CW 15 and 31, {n} each"), &each(n, &classes));
    }
}

#[test]
fn aifs_alone() {
    for (n, late) in [(1, 3), (1, 7), (5, 3), (5, 7), (10, 3), (10, 7)] {
        let classes = [category(2, (15, 1023), 180), category(late, (15, 1023), 180)];
        agree(&format!("AIFSN 2 and {late}, {n} each"), &each(n, &classes));
    }
}

#[test]
fn default_categories() {
    for n in [1, 2, 5, 10] {
        agree(&format!("BE BK, {n} each"), &each(n, &[best_effort(), background()]));
        agree(&format!("VI BE, {n} each"), &each(n, &[video(), best_effort()]));
        agree(&format!("VI BE BK, {n} each"), &each(n, &[video(), best_effort(), background()]));
    }
    for n in [1, 3, 5] {
        agree(&format!("VO BE, {n} each"), &each(n, &[voice(), best_effort()]));
        agree(&format!("VO VI BE, {n} each"), &each(n, &[voice(), video(), best_effort()]));
    }
    agree("VO VI BE BK, 1 each", &each(1, &[voice(), video(), best_effort(), background()]));
}

#[test]
fn several_categories_in_a_station() {
    let station = |stations, categories: &[Category]| Group { stations, categories: categories.to_vec() };
    for n in [1, 2, 5, 10] {
        agree(&format!("{n} of VI+BE"), &[station(n, &[video(), best_effort()])]);
    }
    for n in [1, 5, 10] {
        agree(&format!("{n} of VO+VI+BE"), &[station(n, &[voice(), video(), best_effort()])]);
    }
    agree("1 of VI+BE, 5 of BE", &[station(1, &[video(), best_effort()]), station(5, &[best_effort()])]);
}

/// Two stations with the windows of voice, and categories that get almost nothing.
#[test]
fn outside_the_stated_validity_the_tolerances_are_missed() {
    let two_voices = compare("VO BE, 2 each", &each(2, &[voice(), best_effort()]), 2_000_000);
    let starved = compare("VI BE BK, 2 each", &each(2, &[video(), best_effort(), background()]), 2_000_000);
    assert!(!two_voices[0].is_within(), "two voices agree: widen the stated validity");
    assert!(starved[2].share < LEAST_SHARE && !starved[2].is_within(), "the starved agree: widen the stated validity");
}

#[test]
fn one_station_is_exact() {
    // 7.5 slots of 9 us, 180, 44 and 34 us for 8000 bits. Alone, its AIFS is the shortest.
    let solved = saturation(&each(1, &[category(2, (15, 1023), 180)]), MEDIUM).unwrap()[0][0];
    assert!((solved.throughput_bps / (8000.0 / 325.5e-6) - 1.0).abs() < 1e-9, "{solved:?}");
    assert!(solved.collision_probability.abs() < 1e-12 && solved.drop_probability.abs() < 1e-12);
}

#[test]
fn a_category_that_never_gets_its_turn_gets_nothing() {
    // Voice draws 0 to 3 and nobody collides with it: the medium is taken at boundary 3, background waits for 5.
    let station = Group { stations: 1, categories: vec![voice(), background()] };
    let solved = &saturation(&[station], MEDIUM).unwrap()[0];
    assert!((solved[0].throughput_bps / (8000.0 / (64e-6 + 44e-6 + 34e-6 + 13.5e-6)) - 1.0).abs() < 1e-9);
    assert!(solved[1].throughput_bps.abs() < 1e-9);
}

#[test]
fn alike_classes_share_as_one_class_does() {
    let of = |stations| Group { stations, categories: vec![best_effort()] };
    let one = saturation(&[of(10)], MEDIUM).unwrap()[0][0];
    let split = saturation(&[of(3), of(7)], MEDIUM).unwrap();
    assert!((split[0][0].collision_probability - one.collision_probability).abs() < 1e-9);
    let total = split[0][0].throughput_bps + split[1][0].throughput_bps;
    assert!((total / one.throughput_bps - 1.0).abs() < 1e-9);
}

#[test]
fn one_class_is_near_bianchis_cell() {
    // Two models of the same rules, each with its own approximation: the tolerance is twice that of collisions.
    let (frame, aifs) = (best_effort().frame, Duration::from_micros(16 + 3 * 9));
    for stations in [2, 5, 10, 50] {
        let success = frame + best_effort().answer + aifs;
        let collision = frame + aifs;
        let (slot, payload, attempts) = (MEDIUM.slot, Bytes::new(1000), Some(7));
        let cell = Cell { stations, cw_min: 15, cw_max: 1023, attempts, slot, success, collision, payload };
        let of_edca = saturation(&each(stations, &[best_effort()]), MEDIUM).unwrap()[0][0];
        let of_dcf = dcf::saturation(&cell, Freezing::Bianchi).unwrap();
        let off = of_edca.collision_probability - of_dcf.collision_probability;
        assert!(off.abs() < 2.0 * OF_COLLISIONS, "{stations}: {of_edca:?} beside {of_dcf:?}");
        let off = of_edca.throughput_bps / of_dcf.throughput_bps - 1.0;
        assert!(off.abs() < OF_THROUGHPUT, "{stations}: {of_edca:?} beside {of_dcf:?}");
    }
}

#[test]
fn extreme_cells_settle() {
    let eager = Category { cw_min: 1, cw_max: 8191, attempts: None, ..voice() };
    let late = category(15, (15, 1023), 180);
    let once = Category { attempts: Some(1), ..category(2, (1, 1), 64) };
    for classes in [&[eager][..], &[eager, late], &[late, category(2, (1023, 1023), 180), voice()], &[once, late]] {
        for solved in saturation(&each(200, classes), MEDIUM).unwrap().iter().flatten() {
            assert!(solved.throughput_bps.is_finite() && solved.throughput_bps >= 0.0, "{solved:?}");
            assert!((0.0..=1.0).contains(&solved.collision_probability), "{solved:?}");
            assert!((0.0..=1.0).contains(&solved.drop_probability), "{solved:?}");
        }
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let refused = |of: Category| saturation(&each(1, &[video(), of]), MEDIUM).unwrap_err();
    let of = |stations, categories| saturation(&[Group { stations, categories }], MEDIUM);
    assert_eq!(saturation(&[], MEDIUM), Err(Error::Stations));
    assert_eq!(of(0, vec![voice()]), Err(Error::Stations));
    assert_eq!(of(1001, vec![voice()]), Err(Error::Stations));
    assert_eq!(of(1, vec![]), Err(Error::Categories));
    assert_eq!(of(1, vec![voice(); 5]), Err(Error::Categories));
    assert_eq!(refused(category(0, (3, 7), 64)), Error::Aifsn);
    assert_eq!(refused(category(2, (0, 7), 64)), Error::Windows);
    assert_eq!(refused(Category { attempts: Some(0), ..voice() }), Error::Attempts);
    assert_eq!(refused(Category { frame: Duration::ZERO, ..voice() }), Error::Times);
    assert_eq!(saturation(&each(1, &[voice()]), Medium { slot: Duration::ZERO, ..MEDIUM }), Err(Error::Times));
    assert!(Error::Aifsn.to_string().contains("15") && Error::Categories.to_string().contains("1 to 4"));
}
