//! Schemes and what users make of them: SWAN, T-MAC, biased queue management, a node that saves energy, the E-model.

use super::{Model, Row, Solved, groups, numbers, positive, seconds, share, whole, words};
use core::num::NonZeroU32;
use theory::bqm::{self, Losses};
use theory::emodel::{self, Codec};
use theory::energy::Node;
use theory::swan::{self, Channel, Class, Target};
use theory::tmac::{self, Hop};

pub(super) const MODELS: &[Model] = &[
    ("swan_mac_delay", swan_mac_delay),
    ("swan_equilibrium", swan_equilibrium),
    ("swan_busy_of_each", swan_busy_of_each),
    ("tmac_rate", tmac_rate),
    ("tmac_parking_lot", tmac_parking_lot),
    ("bqm_discriminator", bqm_discriminator),
    ("bqm_probability", bqm_probability),
    ("bqm_misjudged", bqm_misjudged),
    ("energy_cost", energy_cost),
    ("energy_threshold", energy_threshold),
    ("emodel_rating", emodel_rating),
];

fn channel([cw_min, cw_max, slot, success, collision]: [f64; 5]) -> Result<Channel, String> {
    Ok(Channel {
        cw_min: whole("cw_min", cw_min)?,
        cw_max: whole("cw_max", cw_max)?,
        slot: seconds("slot_s", slot)?,
        success: seconds("success_s", success)?,
        collision: seconds("collision_s", collision)?,
    })
}

fn swan_mac_delay(row: &Row) -> Solved {
    let [real_time, busy_real_time, best_effort, busy_best_effort, cw_min, cw_max, slot, success, collision] =
        numbers(row)?;
    let channel = channel([cw_min, cw_max, slot, success, collision])?;
    let classes = [
        Class { devices: whole("real_time", real_time)?, busy: busy_real_time },
        Class { devices: whole("best_effort", best_effort)?, busy: busy_best_effort },
    ];
    let solved = swan::mac_delay(&channel, classes).map_err(words)?;
    let tau = solved.attempts.map(|attempts| attempts.map_or(f64::NAN, |attempts| attempts.tau));
    let collides = solved.attempts.map(|attempts| attempts.map_or(f64::NAN, |attempts| attempts.collision_probability));
    let of_all =
        [solved.transmission_probability, solved.success_probability, solved.packets_per_second, solved.mac_delay_s];
    Ok([&tau[..], &collides, &of_all].concat())
}

fn target([devices, packets, mac_delay]: [f64; 3]) -> Result<Target, String> {
    let (devices, mac_delay) = (whole("real_time", devices)?, seconds("mac_delay_s", mac_delay)?);
    Ok(Target { devices, packets_per_second: packets, mac_delay })
}

fn swan_equilibrium(row: &Row) -> Solved {
    let [devices, packets, mac_delay, cw_min, cw_max, slot, success, collision] = numbers(row)?;
    let channel = channel([cw_min, cw_max, slot, success, collision])?;
    let solved = swan::equilibrium(&channel, &target([devices, packets, mac_delay])?).map_err(words)?;
    let valid = f64::from(u8::from(solved.is_valid()));
    Ok([&[solved.busy_real_time, solved.backlogged][..], &solved.tau, &solved.collision_probability, &[valid]].concat())
}

fn swan_busy_of_each(row: &Row) -> Solved {
    let [best_effort, devices, packets, mac_delay, cw_min, cw_max, slot, success, collision] = numbers(row)?;
    let channel = channel([cw_min, cw_max, slot, success, collision])?;
    let target = target([devices, packets, mac_delay])?;
    let busy = swan::busy_of_each(&channel, &target, whole("best_effort", best_effort)?).map_err(words)?;
    Ok(vec![busy])
}

/// Solves T-MAC's model, which sums over the hops of all flows and does not distinguish flows.
fn tmac_rate(row: &Row) -> Solved {
    let rows = groups(row)?;
    let packets_per_ack = rows.first().map_or(1.0, |&[_, _, packets]| packets);
    let hops: Vec<Hop> = rows.iter().map(|&[data_s, ack_s, _]| Hop { data_s, ack_s }).collect();
    tmac::rate(&[&hops], packets_per_ack).map(|rate| vec![rate]).map_err(words)
}

fn tmac_parking_lot(row: &Row) -> Solved {
    let [sources] = numbers(row)?;
    tmac::parking_lot(whole("sources", sources)?)
        .map(|rate| vec![rate])
        .ok_or_else(|| "a parking lot has at least one source".to_owned())
}

fn every(value: f64) -> Result<NonZeroU32, String> {
    NonZeroU32::new(whole("every", value)?).ok_or_else(|| "every is 0: expected 1 or more".to_owned())
}

/// Returns BQM's discriminator; NaN where nothing is lost.
fn bqm_discriminator(row: &Row) -> Solved {
    let [every_so_many, lost, of_zero] = numbers(row)?;
    let found = bqm::discriminator(every(every_so_many)?, whole("lost", lost)?, whole("of_zero", of_zero)?);
    Ok(vec![found.map_or(f64::NAN, |found| found as f64)])
}

/// Checks what the crate takes for granted.
fn losses([window, every_so_many, lost]: [f64; 3]) -> Result<Losses, String> {
    let losses = Losses { window: whole("window", window)?, every: every(every_so_many)?, lost: whole("lost", lost)? };
    if losses.window > 1_000_000 || losses.lost > losses.window {
        return Err("the window must be at most a million packets, and the losses at most the window".to_owned());
    }
    Ok(losses)
}

fn bqm_probability(row: &Row) -> Solved {
    let [of_zero, window, every, lost] = numbers(row)?;
    Ok(vec![losses([window, every, lost])?.probability(whole("of_zero", of_zero)?)])
}

fn bqm_misjudged(row: &Row) -> Solved {
    Ok(vec![losses(numbers(row)?)?.misjudged()])
}

fn node([arrivals, low, high, power_low, power_high, weight]: [f64; 6]) -> Node {
    Node { arrivals, low, high, power_low, power_high, weight }
}

fn energy_cost(row: &Row) -> Solved {
    let [threshold, arrivals, low, high, power_low, power_high, weight] = numbers(row)?;
    let node = node([arrivals, low, high, power_low, power_high, weight]);
    node.cost(whole("threshold_packets", threshold)?).map(|cost| vec![cost]).map_err(words)
}

fn energy_threshold(row: &Row) -> Solved {
    node(numbers(row)?).best().map(|threshold| vec![threshold.into()]).map_err(words)
}

fn emodel_rating(row: &Row) -> Solved {
    let [mouth_to_ear, missing, impairment, robustness] = numbers(row)?;
    let codec = Codec { impairment, robustness: positive("robustness", robustness)? };
    Ok(vec![emodel::rating(seconds("mouth_to_ear_s", mouth_to_ear)?, share("missing_ratio", missing)?, codec)])
}
