//! The saturated cell with EDCA's access categories. Stations differ in AIFSN, windows, retry limit and frame times,
//! and have one category or several. All are in range of each other; there is no capture and no noise.
//!
//! # Source
//!
//! I. Tinnirello, G. Bianchi, "Rethinking the IEEE 802.11e EDCA Performance Modeling Methodology", IEEE/ACM
//! Transactions on Networking 18(2), 2010. Bianchi's cell and its extensions by contention zones (J. W. Robinson, T. S.
//! Randhawa, IEEE JSAC 22(5), 2004) rest on a probability of transmission in a slot. Here the unknown is **the
//! distribution of a station's residual back-off after a channel access**, found as a fixed point. Only the abstract
//! was available: the equations below are Sluice's own, and may differ from those of the authors.
//!
//! # What is solved
//!
//! *Boundaries* `t = 0, 1, ...` are the slot boundaries after the shortest AIFS that follows a channel access. Those of
//! category `e` begin at `d_e`: its AIFSN less the shortest AIFSN. With the residual back-off `r` it attempts at
//! `t = d_e + r`, unless another station, or another category of its own station, was earlier.
//!
//! - (1) `H_e(t)`: the probability that the category's attempt would come after `t`. Categories are independent, so all
//!   others of a category attempt after `t` with probability `R_e(t)`, the product of their `H`.
//! - (2) Another station or category accesses the medium at `m < d_e + r` with probability `R_e(m - 1) - R_e(m)`. Then
//!   `r` decreases by the number of the category's own boundaries up to and including `m`. A back-off decreases at each
//!   boundary from AIFS on, also where another begins to transmit (IEEE 802.11-2016, 10.22.2.4: at a boundary, a
//!   function either transmits or decrements). The DCF counts completed idle slots, so one category of AIFSN 2 is not
//!   the DCF.
//! - (3) The category reaches its boundary with `R_e(t - 1)`. It sends unless a higher category of its station attempts
//!   too (an *internal collision*), and succeeds if no other station sends. Then it draws from the first window; after
//!   either collision, from the next window, or from the first one if the frame is given up.
//! - (4) From this follows how many accesses a frame meets at each (stage, `r`), from the largest `r` down. Their sum
//!   over the stages, normalised, is the distribution of `r`, from which `H_e` of (1) follows.
//!
//! (1) to (4) are iterated until `H` no longer changes. The mean time of an access is exact for these distributions.
//!
//! # What is assumed
//!
//! All stations, colliders included, count from the same moment, each after its own AIFS. The approximation is (1):
//! residual back-offs are taken as independent of each other, and of earlier accesses. One such station is exact.
//!
//! # Where it holds
//!
//! The model is compared with a slot-exact Monte Carlo simulation of the same rules (`tests/edca.rs`: 802.11a with
//! default categories, only AIFSN or only windows different, 1 to 10 stations of each, one or several categories a
//! station). The tolerances were set beforehand: 0.02 in collision probability and 3 % of a category's throughput. The
//! model **is valid for categories that get at least [`LEAST_SHARE`] of the cell's frames, unless exactly two stations
//! have the windows of voice (3 to 7)**. There the errors are at most 0.018 and 3.3 %; without voice, 0.008 and 1.5 %
//! for categories with at least a fifth of the frames. Outside this range:
//!
//! - two stations with voice and two with best effort: the errors for voice are 0.021 and 3.9 %;
//! - a category with less than 3 % of the frames gets too little throughput. Best effort (2 % of the frames) against
//!   two voices gets 27 % too little. Background (0.4 %) against two stations each of video and best effort gets half,
//!   with an error of 0.083 in collision probability. The error was never above 0.8 % of the cell's throughput;
//! - the colliders of some MACs, as of the simulator's, count from their ACK time-out. In 802.11a this is 1.2 slots
//!   after the bystanders. It changes the throughput of voice and video by 5 to 60 %, and of best effort and background
//!   by less than 2.4 %. The slot-exact reference of the tests also has that rule; the simulator is compared with it.

mod access;
mod residual;

use crate::Error;
use crate::dcf::backoff::Backoff;
use crate::error::{are_windows, is_limit, is_short, takes_time};
use access::Cell;
use units::{Bytes, Duration};

/// The largest number of stations in all groups together.
pub const MAX_STATIONS: u32 = 1000;

/// The access categories that a station can have.
pub const MAX_CATEGORIES: usize = 4;

/// Smallest share of the cell's successful frames for which the model's accuracy is stated.
pub const LEAST_SHARE: f64 = 0.03;

/// Parameters common to all stations of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Medium {
    /// One back-off slot; not zero.
    pub slot: Duration,
    /// Duration of the short interframe space. An AIFS is SIFS and AIFSN slots.
    pub sifs: Duration,
}

/// Stations that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of stations, at least 1.
    pub stations: u32,
    /// Categories of each station, the highest priority first; 1 to [`MAX_CATEGORIES`].
    pub categories: Vec<Category>,
}

/// Contention parameters and frames of an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    /// AIFSN: number of slots between SIFS and the end of the AIFS, 1 to 15.
    pub aifsn: u32,
    /// The first window: a back-off is drawn uniformly from `0..=cw_min` slots. At least 1.
    pub cw_min: u32,
    /// Largest window, `cw_min` to 65535: each collision, internal ones included, changes `CW` to `2 CW + 1` up to it.
    pub cw_max: u32,
    /// Number of collisions after which a frame is given up, 1 to 255; `None` for no limit.
    pub attempts: Option<u32>,
    /// Duration of a frame, burst or aggregate: the unit that a collision destroys.
    pub frame: Duration,
    /// Time from the end of the frame to the end of its answer (SIFS and ACK).
    pub answer: Duration,
    /// Payload of a success, as the throughput counts it.
    pub payload: Bytes,
}

/// Long-run outcome of one category of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Share of the frames sent that collide, 0 to 1.
    pub collision_probability: f64,
    /// Share of the attempts that lose to a higher category of the same station.
    pub internal_collision_probability: f64,
    /// Share of the frames given up, 0 to 1.
    pub drop_probability: f64,
    /// Successful frames of all stations of the group together, in 1/s.
    pub successes_per_second: f64,
    /// Payload delivered by all stations of the group together, in bit/s.
    pub throughput_bps: f64,
}

/// Solves the saturated cell of these groups. Returns, for each group, the outcomes of its categories.
///
/// One station with one category has exactly `payload / (frame + answer + AIFS + slot * cw_min / 2)`.
///
/// # Errors
///
/// A parameter is outside its range, see [`Error`].
pub fn saturation(groups: &[Group], medium: Medium) -> Result<Vec<Vec<Outcome>>, Error> {
    check(groups, medium)?;
    Ok(Cell::settle(groups, medium).outcomes())
}

fn check(groups: &[Group], medium: Medium) -> Result<(), Error> {
    let stations: u64 = groups.iter().map(|group| u64::from(group.stations)).sum();
    let all = || groups.iter().flat_map(|group| &group.categories);
    let somebody = !groups.is_empty() && groups.iter().all(|group| group.stations > 0);
    let times = takes_time(medium.slot) && is_short(medium.sifs);
    Error::first([
        (somebody && stations <= u64::from(MAX_STATIONS), Error::Stations),
        (groups.iter().all(|group| (1..=MAX_CATEGORIES).contains(&group.categories.len())), Error::Categories),
        (all().all(|of| (1..=15).contains(&of.aifsn)), Error::Aifsn),
        (all().all(|of| are_windows(of.cw_min, of.cw_max)), Error::Windows),
        (all().all(|of| is_limit(of.attempts)), Error::Attempts),
        (times && all().all(|of| takes_time(of.frame) && is_short(of.answer)), Error::Times),
    ])
}

impl Category {
    fn law(&self) -> Backoff {
        Backoff::new(self.cw_min, self.cw_max, self.attempts)
    }
}
