//! The saturated cell with EDCA access categories: classes of stations that differ in AIFSN, windows, retry limit and
//! frame times. All in range of each other, no capture and no noise, one category a station.
//!
//! # What is solved
//!
//! Bianchi's fixed point for classes, with *contention zones*. The idea is that of J. W. Robinson, T. S. Randhawa,
//! "Saturation Throughput Analysis of IEEE 802.11e Enhanced Distributed Coordination Function", IEEE JSAC 22(5), 2004:
//! the slots after a busy period fall into zones by which classes' AIFS has passed, and a class's collision probability
//! is the mean over the zones in which it may transmit, weighted by how often those are reached. Their text was not at
//! hand; **the equations below are our own derivation of that idea**, slot by slot:
//!
//! - Slot `j = 0, 1, ...` is the `j`-th boundary after a busy period and the shortest AIFS. Class `c` takes part from
//!   `j = d_c`, its AIFSN less the smallest one.
//! - (1) `tau_c = 1 / (1 + mean draw at p_c)`, per slot in which the class takes part: (32) of the chapter in
//!   [`crate::dcf`], with the class's windows and retry limit.
//! - (2) `I_j`, the product of `(1 - tau_c)^n_c` over the classes with `d_c <= j`: nobody transmits in slot `j`.
//! - (3) `r_j = I_0 I_1 ... I_(j-1)`: the slot is reached, `r_0 = 1`. From the largest `d_c` on, `I_j` stays the same
//!   and the sum over the slots is geometric.
//! - (4) `p_c = 1 - (sum over j >= d_c of r_j I_j / (1 - tau_c)) / (sum over j >= d_c of r_j)`.
//!
//! One busy period then brings `n_c tau_c r_j I_j / (1 - tau_c)` successes of class `c`, summed over its slots, and
//! takes `sum r_j I_j` idle slots besides its own duration; a collision lasts as long as its longest frame.
//!
//! # What is assumed of the MAC
//!
//! A station counts at slot boundaries, and at the boundary where another begins to transmit it has already counted
//! (IEEE 802.11-2016, 10.22.2.4: at each boundary a function either transmits or decrements). So the busy slot takes
//! one off the counters of the classes that take part, and the first slot after AIFS is open to a bystander: for one
//! class this is [`Freezing::Bianchi`](crate::dcf::Freezing::Bianchi), exactly. Everybody resumes from the same moment,
//! colliders included, each after its own AIFS. Several categories in one station, with their internal collisions, are
//! not modelled: a station of two categories is taken as two stations, whose meeting costs air time here and would cost
//! none there.
//!
//! # What is approximate
//!
//! - A class transmits with the same `tau_c` in all its slots, whatever the zone: the fixed point's independence.
//!   In truth the draws of few stations with small windows are far from memoryless: what is left of a window when the
//!   later class joins is known almost to the slot.
//!
//! Beside a slot-exact Monte Carlo of the same rules (`tests/edca.rs`: OFDM, default parameter sets and AIFSN alone, 1
//! to 10 stations a class), with the throughput's error told as a part of the whole cell's throughput:
//!
//! | | collision probability | throughput |
//! |---|---|---|
//! | windows differ, AIFSN alike | 0.005 | 0.3 % |
//! | 5 or 10 stations of each class | 0.024 | 0.6 % |
//! | 1 or 2 of each, windows of 15 and more | 0.043 | 2.3 % |
//! | 1 or 2 of each, voice (3 to 7) among them | 0.096 | 4.4 % |
//!
//! A class that gets next to nothing gets too much here: best effort beside five voice and five video stations 30 %,
//! beside one voice station 64 %, background beside one station of each other category twice its share.

use crate::Error;
use crate::dcf::backoff::Backoff;
use crate::fixed_point::settle;
use crate::slot::{self, Contender};
use units::{Bytes, Duration};

/// The largest cell that is solved, over all classes.
pub const MAX_STATIONS: u32 = 1000;

/// Alike stations of one access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// `n_c`, at least 1.
    pub stations: u32,
    /// Slots of the AIFS after SIFS, 1 to 15. Only the differences between classes count here.
    pub aifsn: u32,
    /// The first window: a back-off is drawn uniformly from `0..=cw_min` slots. At least 1.
    pub cw_min: u32,
    /// The window grows by `2 CW + 1` at each collision up to this one; `cw_min` to 65535.
    pub cw_max: u32,
    /// Transmissions of a frame before it is given up, 1 to 255; `None` for no limit.
    pub attempts: Option<u32>,
    /// From the start of a frame that nobody else's overlaps to slot 0: frame, SIFS, ACK and the **shortest** AIFS of
    /// the cell.
    pub success: Duration,
    /// From the start of a collision whose longest frame is of this class to slot 0.
    pub collision: Duration,
    /// What a success counts for in the throughput.
    pub payload: Bytes,
}

/// The stationary outcome of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The probability that a station of the class transmits in a slot in which the class takes part.
    pub tau: f64,
    /// Of the class's transmitted frames, the part that collides.
    pub collision_probability: f64,
    /// Successful frames of the whole class, in 1/s.
    pub successes_per_second: f64,
    /// Payload delivered by the whole class, in bit/s.
    pub throughput_bps: f64,
}

/// Solves the saturated cell of these classes; the outcomes are in their order.
///
/// One station alone is exact: the throughput is `payload / (success + slot * cw_min / 2)`.
///
/// # Errors
///
/// A parameter outside its range, see [`Error`].
pub fn saturation(classes: &[Class], slot: Duration) -> Result<Vec<Outcome>, Error> {
    check(classes, slot)?;
    let shortest = classes.iter().map(|class| class.aifsn).min().ok_or(Error::Stations)?;
    let delays: Vec<usize> = classes.iter().map(|class| (class.aifsn - shortest) as usize).collect();
    let laws: Vec<Backoff> = classes.iter().map(|of| Backoff::new(of.cw_min, of.cw_max, of.attempts)).collect();

    let at = |p: &[f64]| {
        let taus = laws.iter().zip(p).map(|(law, &p)| 1.0 / (1.0 + law.mean(p))).collect();
        Contention { classes, delays: &delays, taus }
    };
    let p = settle(vec![0.0; classes.len()], |p| at(p).collision_probabilities());
    let cell = at(&p);

    let cycle_s = cell.mean_cycle_s(slot);
    let outcome = |(index, class): (usize, &Class)| {
        let successes_per_second = cell.slots_and_successes(index).1 / cycle_s;
        Outcome {
            tau: cell.taus[index],
            collision_probability: cell.collision_probability(index),
            successes_per_second,
            throughput_bps: successes_per_second * class.payload.bits() as f64,
        }
    };
    Ok(classes.iter().enumerate().map(outcome).collect())
}

/// The cell at given attempt probabilities.
struct Contention<'a> {
    classes: &'a [Class],
    /// `d_c`.
    delays: &'a [usize],
    taus: Vec<f64>,
}

impl Contention<'_> {
    /// For each slot `j` up to the last zone: who takes part, and how often the slot is visited in a busy period. That
    /// is `r_j`, and for the last zone, whose slots are alike, their sum.
    fn slots(&self) -> impl Iterator<Item = (usize, Vec<Contender>, f64)> {
        let last = *self.delays.iter().max().expect("no class was refused");
        let mut reached = 1.0;
        (0..=last).map(move |j| {
            let contenders: Vec<Contender> = (0..self.classes.len())
                .filter(|&class| self.delays[class] <= j)
                .map(|class| self.contender(class))
                .collect();
            let idle = slot::idle(&contenders);
            let visits = if j < last { reached } else { reached / (1.0 - idle) };
            reached *= idle;
            (j, contenders, visits)
        })
    }

    fn contender(&self, class: usize) -> Contender {
        let Class { stations, success, collision, .. } = self.classes[class];
        Contender { stations, tau: self.taus[class], success, collision }
    }

    /// In a busy period: the slots in which the class takes part, and its successes.
    fn slots_and_successes(&self, class: usize) -> (f64, f64) {
        let contender = self.contender(class);
        let (mut slots, mut successes) = (0.0, 0.0);
        for (_, contenders, visits) in self.slots().filter(|slot| slot.0 >= self.delays[class]) {
            slots += visits;
            successes += visits * contender.success(slot::idle(&contenders));
        }
        (slots, successes)
    }

    /// (4).
    fn collision_probability(&self, class: usize) -> f64 {
        let (slots, successes) = self.slots_and_successes(class);
        let attempts = slots * f64::from(self.classes[class].stations) * self.taus[class];
        (1.0 - successes / attempts).max(0.0)
    }

    fn collision_probabilities(&self) -> Vec<f64> {
        (0..self.classes.len()).map(|class| self.collision_probability(class)).collect()
    }

    /// From slot 0 after a busy period to slot 0 after the next one, in s.
    fn mean_cycle_s(&self, slot: Duration) -> f64 {
        self.slots().map(|(_, contenders, visits)| visits * slot::mean_s(&contenders, slot)).sum()
    }
}

fn check(classes: &[Class], slot: Duration) -> Result<(), Error> {
    let stations: u64 = classes.iter().map(|class| u64::from(class.stations)).sum();
    let windows = |class: &Class| class.cw_min > 0 && class.cw_max >= class.cw_min && class.cw_max <= 65_535;
    let takes_time = |time: Duration| !time.is_zero() && time <= Duration::from_secs(60);
    if classes.is_empty() || classes.iter().any(|class| class.stations == 0) || stations > u64::from(MAX_STATIONS) {
        Err(Error::Stations)
    } else if !classes.iter().all(|class| (1..=15).contains(&class.aifsn)) {
        Err(Error::Aifsn)
    } else if !classes.iter().all(windows) {
        Err(Error::Windows)
    } else if !classes.iter().all(|class| class.attempts.is_none_or(|attempts| (1..=255).contains(&attempts))) {
        Err(Error::Attempts)
    } else if !takes_time(slot) || !classes.iter().all(|of| takes_time(of.success) && takes_time(of.collision)) {
        Err(Error::Times)
    } else {
        Ok(())
    }
}
