//! Crate `theory` for rows of numbers: each model by its name, with its arguments by theirs.
//!
//! Here numbers become the crate's types, and its results numbers in the order of Python's tuples. No formula lives here.

mod row;

use crate::error::unsolved;
use pyo3::prelude::*;
use rayon::prelude::*;
use row::{Argument, Attempts, Columns, NotNegative, Positive, Row, Share, list, structures};
use ::theory::queueing::{Mg1, Mm1, Mm1k};
use ::theory::{alt, ampdu, bqm, dcf, dnb, edca, emodel, energy, hidden, malone, swan, tmac};

/// Results, or what is wrong with the arguments.
type Told<T> = Result<T, Box<dyn core::error::Error + Send + Sync>>;

/// Solves a model for each of `rows` rows, over which every column is spread evenly: a row has one value of each
/// argument, or one for each group. Its results are in a list of their own, those of a group after another's.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted")]
pub(crate) fn theory(py: Python<'_>, model: &str, columns: Columns, rows: usize) -> PyResult<Vec<Vec<f64>>> {
    let one = |row| solve(model, Row::new(&columns, row, rows));
    let solved: Vec<Told<Vec<f64>>> = py.detach(|| (0..rows).into_par_iter().map(one).collect());
    let told = |(row, solved): (usize, Told<_>)| solved.map_err(|error| unsolved(py, &error.to_string(), row));
    solved.into_iter().enumerate().map(told).collect()
}

/// Each model under its name in Python, with the arguments' names there and the results in the order there.
#[expect(clippy::too_many_lines, reason = "an arm is a model")]
fn solve(model: &str, row: Row) -> Told<Vec<f64>> {
    Ok(match model {
        "dcf" => list!(dcf::saturation(&row.build()?, row.build()?)? => tau, collision_probability, drop_probability,
            successes_per_second, throughput_bps),
        "ampdu" => list!(ampdu::saturation(&row.build()?, row.build()?, row.build()?)? => contention.tau,
            contention.collision_probability, delivered_per_second, throughput_bps, transmissions_per_mpdu),
        "edca" => list!(each edca::saturation(&categories(row)?, row.build()?)?.into_iter().flatten() =>
            collision_probability, internal_collision_probability, drop_probability, successes_per_second,
            throughput_bps),
        "unsaturated" => {
            let groups = row.groups().map(Row::build).collect::<Told<Vec<_>>>()?;
            let solved = malone::solve(&groups, row.read("slot_s")?)?;
            list!(each solved => q, r, tau, collision_probability, successes_per_second, throughput_bps)
        }
        "hidden_pair" => list!(hidden::saturation(&row.build()?)? => success_probability, drop_probability,
            successes_per_second, throughput_bps),

        "mm1" => list!(row.build::<Mm1>()? => load(), mean_wait_s(), mean_sojourn_s(), mean_number()),
        "mm1_sojourn_quantile_s" => vec![row.build::<Mm1>()?.sojourn_quantile_s(row.read("quantile")?)?],
        "mg1" => {
            let (mean, variance) = (row.read("mean_service_s")?, row.read("service_variance_s2")?);
            let queue = Mg1::new(row.read("arrivals_per_s")?, mean, variance)?;
            list!(queue => load(), mean_wait_s(), mean_sojourn_s(), mean_number())
        }
        "mm1k" => {
            let queue = Mm1k::new(row.read("arrivals_per_s")?, row.read("services_per_s")?, row.read("room")?)?;
            list!(queue => loss_probability(), mean_sojourn_s(), mean_number())
        }
        "alt_traffic" => {
            let times: Vec<f64> = row.groups().map(|flow| flow.read("round_trips_s")).collect::<Told<_>>()?;
            list!(alt::Traffic::standard(&times)? => growth, acceleration, round_trip_s, spread)
        }
        "alt_buffer" => list!(row.build::<alt::Buffer>()? => lambda_emptied(), gamma_emptied(), fixed_point(),
            utilisation(), is_stable()),
        "alt_next" => {
            let (Positive(size), Positive(bdp)) = (row.read("size_packets")?, row.read("bdp_packets")?);
            vec![row.build::<alt::Buffer>()?.next(size, bdp)]
        }
        "dnb_drop_probability" => {
            let NotNegative(load) = row.read("load")?;
            vec![dnb::drop_probability(load, row.read("size_packets")?)]
        }
        "dnb_split" => {
            let costs = row.groups().map(|queue| queue.read("costs").map(|Positive(cost)| cost));
            let NotNegative(total) = row.read("total_packets")?;
            dnb::split(total, &costs.collect::<Told<Vec<_>>>()?)
        }
        "dnb_split_whole" => {
            let queues = row.groups().map(Row::build).collect::<Told<Vec<_>>>()?;
            let split = dnb::split_whole(row.read("total_packets")?, &queues, row.read("least_packets")?);
            split.into_iter().map(f64::from).collect()
        }

        "swan_mac_delay" => {
            let real_time = swan::Class { devices: row.read("real_time")?, busy: row.read("busy_real_time")? };
            let best_effort = swan::Class { devices: row.read("best_effort")?, busy: row.read("busy_best_effort")? };
            let solved = swan::mac_delay(&row.build()?, [real_time, best_effort])?;
            let of = |part: fn(swan::Attempts) -> f64| solved.attempts.map(|attempts| attempts.map_or(f64::NAN, part));
            let of_all = list!(solved => transmission_probability, success_probability, packets_per_second, mac_delay_s);
            [&of(|attempts| attempts.tau)[..], &of(|attempts| attempts.collision_probability), &of_all].concat()
        }
        "swan_equilibrium" => {
            let solved = swan::equilibrium(&row.build()?, &row.build()?)?;
            let busy = [solved.busy_real_time, solved.backlogged];
            [&busy[..], &solved.tau, &solved.collision_probability, &[solved.is_valid().into()]].concat()
        }
        "swan_busy_of_each" => vec![swan::busy_of_each(&row.build()?, &row.build()?, row.read("best_effort")?)?],
        "tmac_rate" => {
            // The model sums over the hops of all flows, and does not ask which flow a hop is of.
            let hops = row.groups().map(Row::build).collect::<Told<Vec<_>>>()?;
            vec![tmac::rate(&[&hops], row.read("packets_per_ack")?)?]
        }
        "tmac_parking_lot" => {
            vec![tmac::parking_lot(row.read("sources")?).ok_or("a parking lot has at least one source")?]
        }
        "bqm_discriminator" => {
            let found = bqm::discriminator(row.read("every")?, row.read("lost")?, row.read("of_zero")?);
            vec![found.map_or(f64::NAN, |found| found as f64)]
        }
        "bqm_probability" => vec![losses(row)?.probability(row.read("of_zero")?)],
        "bqm_misjudged" => vec![losses(row)?.misjudged()],
        "energy_cost" => vec![row.build::<energy::Node>()?.cost(row.read("threshold_packets")?)?],
        "energy_threshold" => vec![row.build::<energy::Node>()?.best()?.into()],
        "emodel_rating" => {
            let Share(missing) = row.read("missing_ratio")?;
            vec![emodel::rating(row.read("mouth_to_ear_s")?, missing, row.build()?)]
        }
        _ => return Err(format!("no model has the name {model}").into()),
    })
}

structures! {
    dcf::Cell { stations, cw_min, cw_max, attempts as Attempts, slot: "slot_s", success: "success_s",
        collision: "collision_s", payload: "payload_bytes" }
    ampdu::Aggregate { subframes, mpdu_error }
    edca::Medium { slot: "slot_s", sifs: "sifs_s" }
    edca::Category { aifsn, cw_min, cw_max, attempts as Attempts, frame: "frame_s", answer: "answer_s",
        payload: "payload_bytes" }
    malone::Group { stations, arrivals: "arrivals_per_s", buffer: "queue", cw_min, cw_max, success: "success_s",
        collision: "collision_s", payload: "payload_bytes" }
    hidden::Pair { cw_min, cw_max, attempts as Attempts, slot: "slot_s", frame: "frame_s", handshake: "rts_cts[0]",
        sifs: "sifs_s", ack: "ack_s", difs: "difs_s", timeout: "timeout_s", turnaround: "turnaround_s",
        payload: "payload_bytes" }
    hidden::Handshake { rts: "rts_cts[0]", cts: "rts_cts[1]", data_attempts: "rts_cts[2]" }
    dnb::Queue { cost: "costs" as NotNegative, load: "loads" as NotNegative }
    swan::Channel { cw_min, cw_max, slot: "slot_s", success: "success_s", collision: "collision_s" }
    swan::Target { devices: "real_time", packets_per_second: "packets_per_s", mac_delay: "mac_delay_s" }
    tmac::Hop { data_s, ack_s }
    bqm::Losses { window, every, lost }
    energy::Node { arrivals: "arrivals_per_s", low: "low_per_s", high: "high_per_s", power_low: "low_w",
        power_high: "high_w", weight: "packets_per_w" }
    emodel::Codec { impairment, robustness as Positive }
}

impl Argument for dcf::Freezing {
    fn read(row: Row, _: &str) -> Told<Self> {
        let resume: Option<_> = row.read("colliders_resume_s")?;
        Ok(resume.map_or(Self::Bianchi, |colliders_resume| Self::Standard { colliders_resume }))
    }
}

impl Argument for Mm1 {
    fn read(row: Row, _: &str) -> Told<Self> {
        Ok(Self::new(row.read("arrivals_per_s")?, row.read("services_per_s")?)?)
    }
}

impl Argument for alt::Buffer {
    fn read(row: Row, _: &str) -> Told<Self> {
        let (steps, growth) = ([row.read("a")?, row.read("b")?], row.read("growth_packets_per_s")?);
        Ok(Self::new(steps, growth, row.read("spread")?, row.read("backoff")?)?)
    }
}

/// Neighbours with the same number of a `group` are categories of the same stations.
fn categories(row: Row) -> Told<Vec<edca::Group>> {
    let mut stations: Vec<(f64, edca::Group)> = Vec::new();
    for row in row.groups() {
        let (of, count, category) = (row.read("group")?, row.read("stations")?, row.build()?);
        match stations.last_mut().filter(|(number, _)| number.to_bits() == f64::to_bits(of)) {
            Some((_, group)) if group.stations == count => group.categories.push(category),
            Some(_) => return Err("categories of the same stations need the same number of stations".into()),
            None => stations.push((of, edca::Group { stations: count, categories: vec![category] })),
        }
    }
    Ok(stations.into_iter().map(|(_, group)| group).collect())
}

/// What the crate takes for granted.
fn losses(row: Row) -> Told<bqm::Losses> {
    let losses: bqm::Losses = row.build()?;
    let fits = losses.window <= 1_000_000 && losses.lost <= losses.window;
    Ok(fits.then_some(losses).ok_or("the window must be at most a million, and no more lost than it has")?)
}
