//! Crate `theory` for rows of numbers: calls a model by name, with named arguments. This module turns numbers into the
//! crate's types, and results into numbers in the order of Python's tuples.

use crate::error::unsolved;
use crate::run::parallel;
use ::theory::queueing::{Mg1, Mm1, Mm1k};
use ::theory::{alt, ampdu, bqm, dcf, dnb, edca, emodel, energy, hidden, malone, swan, tmac};
use core::num::NonZeroU32;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::collections::BTreeMap;
use units::{Bytes, Duration};

/// Results, or the fault of the arguments.
type Told<T> = Result<T, Box<dyn core::error::Error + Send + Sync>>;

/// Solves a model for each of `rows` rows. Every column is spread evenly over the rows: a row has one value of each
/// argument, or one for each group. Results of a row are in one list, group after group.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted")]
pub(crate) fn theory(py: Python<'_>, model: &str, columns: Columns, rows: usize) -> PyResult<Vec<Vec<f64>>> {
    let one = |row| solve(model, Row::new(&columns, row, rows));
    let solved: Vec<Told<Vec<f64>>> = parallel(py, || (0..rows).into_par_iter().map(one).collect());
    let told = |(row, solved): (usize, Told<_>)| solved.map_err(|error| unsolved(py, &error.to_string(), row));
    solved.into_iter().enumerate().map(told).collect()
}

/// The arguments of all rows, under their names.
type Columns = BTreeMap<String, Vec<f64>>;

/// The arguments of a row: one value of each argument, or one for each group.
#[derive(Clone, Copy)]
struct Row<'c> {
    columns: &'c Columns,
    first: usize,
    groups: usize,
}

impl<'c> Row<'c> {
    /// Returns row `number` of `rows`.
    fn new(columns: &'c Columns, number: usize, rows: usize) -> Self {
        let groups = columns.values().map(|values| values.len() / rows).min().unwrap_or(0);
        Self { columns, first: number * groups, groups }
    }

    /// Reads the argument of this name for the first group.
    fn read<A: Argument>(self, name: &str) -> Told<A> {
        A::read(self, name)
    }

    /// Makes a structure from the arguments that its fields name.
    fn build<A: Argument>(self) -> Told<A> {
        A::read(self, "")
    }

    /// Reads a row for each group.
    fn groups<T>(self, read: impl Fn(Self) -> Told<T>) -> Told<Vec<T>> {
        (self.first..self.first + self.groups).map(|first| read(Self { first, groups: 1, ..self })).collect()
    }

    /// Returns `None` if the argument is left out.
    fn number(self, name: &str) -> Option<f64> {
        self.columns.get(name).map(|values| values.get(self.first).copied().unwrap_or(0.0))
    }
}

/// A type that is read from a row.
trait Argument: Sized {
    fn read(row: Row, name: &str) -> Told<Self>;
}

/// `None` if the argument is left out.
impl<A: Argument> Argument for Option<A> {
    fn read(row: Row, name: &str) -> Told<Self> {
        row.number(name).map(|_| row.read(name)).transpose()
    }
}

/// The limit of attempts; `None` if it is infinite.
struct Attempts(Option<u32>);
struct NotNegative(f64);
struct Positive(f64);
struct Share(f64);

/// Types of arguments that are numbers: what the message expects, and the conversion; `None` if the number is refused.
macro_rules! numbers {
    ($($type:ty: $expected:literal, $fits:expr;)+) => {
        $(impl Argument for $type {
            fn read(row: Row, name: &str) -> Told<Self> {
                let value = row.number(name).ok_or_else(|| format!("{name} is missing"))?;
                let fits: fn(f64) -> Option<Self> = $fits;
                Ok(fits(value).ok_or_else(|| format!("{name} is {value}: expected {}", $expected))?)
            }
        })+
    };
}

numbers! {
    f64: "a number", Some;
    NotNegative: "a number that is not negative", |value| not_negative(value).map(Self);
    Positive: "a number above zero", |value| not_negative(value).filter(|value| *value > 0.0).map(Self);
    Share: "a number from 0 to 1", |value| not_negative(value).filter(|value| *value <= 1.0).map(Self);
    Duration: "a time in seconds", |value| not_negative(value).map(Self::from_secs_f64);
    u32: "a whole number, not negative", whole;
    NonZeroU32: "a whole number, at least 1", |value| Self::new(whole(value)?);
    Bytes: "a whole number, not negative", |value| Some(Self::new(whole(value)?.into()));
    Attempts: "a whole number, not negative", |value| match whole(value) {
        None if value != f64::INFINITY => None,
        limit => Some(Self(limit)),
    };
    malone::Arrivals: "a number", |value| Some(Self::Poisson(value));
    malone::Buffer: "0 or 1", |value| Some(if value > 0.0 { Self::Infinite } else { Self::None });
}

fn not_negative(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then_some(value)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and within bounds")]
fn whole(value: f64) -> Option<u32> {
    let is_whole = (0.0..=f64::from(u32::MAX)).contains(&value) && value.fract().abs() < f64::MIN_POSITIVE;
    is_whole.then_some(value as u32)
}

/// Structures of arguments: each field, perhaps the name of its argument, and perhaps a type that checks it.
macro_rules! structures {
    ($($type:path { $($field:ident $(: $name:literal)? $(as $check:ident)?),+ })+) => {
        $(impl Argument for $type {
            #[allow(unused_parens, reason = "an unchecked value has no type around it")]
            fn read(row: Row, _: &str) -> Told<Self> {
                $(let $($check)?($field) = row.read(structures!(@ $field $($name)?))?;)+
                Ok(Self { $($field),+ })
            }
        })+
    };
    (@ $field:ident) => { stringify!($field) };
    (@ $field:ident $name:literal) => { $name };
}

/// Lists fields, and what methods give, as numbers; with `each` group after group.
macro_rules! list {
    (each $solved:expr => $($part:ident),+) => {
        $solved.into_iter().flat_map(|solved| list!(solved => $($part),+)).collect()
    };
    ($solved:expr => $($($part:ident $(($($argument:tt)*))?).+),+) => {{
        let solved = $solved;
        vec![$(f64::from(solved $(.$part $(($($argument)*))?)+)),+]
    }};
}

/// Each model under its name in Python, with the arguments' names there and the results in the order there.
fn solve(model: &str, row: Row) -> Told<Vec<f64>> {
    Ok(match model {
        "dcf" => list!(dcf::saturation(&row.build()?, freezing(row)?)? => tau, collision_probability, drop_probability,
            successes_per_second, throughput_bps),
        "ampdu" => list!(ampdu::saturation(&row.build()?, freezing(row)?, row.build()?)? => contention.tau,
            contention.collision_probability, delivered_per_second, throughput_bps, transmissions_per_mpdu),
        "edca" => list!(each edca::saturation(&categories(row)?, row.build()?)?.into_iter().flatten() =>
            collision_probability, internal_collision_probability, drop_probability, successes_per_second,
            throughput_bps),
        "unsaturated" => list!(each malone::solve(&row.groups(Row::build)?, row.read("slot_s")?)? => q, r, tau,
            collision_probability, successes_per_second, throughput_bps),
        "hidden_pair" => list!(hidden::saturation(&row.build()?)? => success_probability, drop_probability,
            successes_per_second, throughput_bps),
        "mm1" => list!(mm1(row)? => load(), mean_wait_s(), mean_sojourn_s(), mean_number()),
        "mm1_sojourn_quantile_s" => vec![mm1(row)?.sojourn_quantile_s(row.read("quantile")?)?],
        "mg1" => list!(Mg1::new(row.read("arrivals_per_s")?, row.read("mean_service_s")?,
            row.read("service_variance_s2")?)? => load(), mean_wait_s(), mean_sojourn_s(), mean_number()),
        "mm1k" => list!(Mm1k::new(row.read("arrivals_per_s")?, row.read("services_per_s")?, row.read("room")?)? =>
            loss_probability(), mean_sojourn_s(), mean_number()),
        "alt_traffic" => list!(alt::Traffic::standard(&row.groups(|flow| flow.read("round_trips_s"))?)? => growth,
            acceleration, round_trip_s, spread),
        "alt_buffer" => list!(buffer(row)? => lambda_emptied(), gamma_emptied(), fixed_point(),
            utilisation(), is_stable()),
        "alt_next" => {
            let (Positive(size), Positive(bdp)) = (row.read("size_packets")?, row.read("bdp_packets")?);
            vec![buffer(row)?.next(size, bdp)]
        }
        "dnb_drop_probability" => {
            let NotNegative(load) = row.read("load")?;
            vec![dnb::drop_probability(load, row.read("size_packets")?)]
        }
        "dnb_split" => {
            let costs = row.groups(|queue| queue.read("costs").map(|Positive(cost)| cost))?;
            let NotNegative(total) = row.read("total_packets")?;
            dnb::split(total, &costs)
        }
        "dnb_split_whole" => {
            let (total, least) = (row.read("total_packets")?, row.read("least_packets")?);
            dnb::split_whole(total, &row.groups(Row::build)?, least).into_iter().map(f64::from).collect()
        }
        "swan_mac_delay" => {
            let real_time = swan::Class { devices: row.read("real_time")?, busy: row.read("busy_real_time")? };
            let best_effort = swan::Class { devices: row.read("best_effort")?, busy: row.read("busy_best_effort")? };
            let solved = swan::mac_delay(&row.build()?, [real_time, best_effort])?;
            let of = |part: fn(swan::Attempts) -> f64| solved.attempts.map(|attempts| attempts.map_or(f64::NAN, part));
            let of_all =
                list!(solved => transmission_probability, success_probability, packets_per_second, mac_delay_s);
            [&of(|attempts| attempts.tau)[..], &of(|attempts| attempts.collision_probability), &of_all].concat()
        }
        "swan_equilibrium" => {
            let solved = swan::equilibrium(&row.build()?, &row.build()?)?;
            let busy = [solved.busy_real_time, solved.backlogged];
            [&busy[..], &solved.tau, &solved.collision_probability, &[solved.is_valid().into()]].concat()
        }
        "swan_busy_of_each" => vec![swan::busy_of_each(&row.build()?, &row.build()?, row.read("best_effort")?)?],
        // The model sums over the hops of all flows, and does not ask which flow a hop is of.
        "tmac_rate" => vec![tmac::rate(&[&row.groups(Row::build)?], row.read("packets_per_ack")?)?],
        "tmac_parking_lot" => vec![tmac::parking_lot(row.read("sources")?).ok_or("expected at least one source")?],
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

fn freezing(row: Row) -> Told<dcf::Freezing> {
    let resume: Option<_> = row.read("colliders_resume_s")?;
    Ok(resume.map_or(dcf::Freezing::Bianchi, |colliders_resume| dcf::Freezing::Standard { colliders_resume }))
}

fn mm1(row: Row) -> Told<Mm1> {
    Ok(Mm1::new(row.read("arrivals_per_s")?, row.read("services_per_s")?)?)
}

fn buffer(row: Row) -> Told<alt::Buffer> {
    let (steps, growth) = ([row.read("a")?, row.read("b")?], row.read("growth_packets_per_s")?);
    Ok(alt::Buffer::new(steps, growth, row.read("spread")?, row.read("backoff")?)?)
}

/// Neighbours with the same number of a `group` are categories of the same stations.
fn categories(row: Row) -> Told<Vec<edca::Group>> {
    let rows = row.groups(|row| Ok((row.read::<f64>("group")?.to_bits(), row.read("stations")?, row.build()?)))?;
    let group = |rows: &[(u64, u32, edca::Category)]| {
        let stations = rows[0].1;
        if rows.iter().any(|row| row.1 != stations) {
            return Err("categories of the same stations need the same number of stations".into());
        }
        Ok(edca::Group { stations, categories: rows.iter().map(|row| row.2).collect() })
    };
    rows.chunk_by(|one, next| one.0 == next.0).map(group).collect()
}

/// Checks conditions that the crate takes for granted.
fn losses(row: Row) -> Told<bqm::Losses> {
    let losses: bqm::Losses = row.build()?;
    let fits = losses.window <= 1_000_000 && losses.lost <= losses.window;
    Ok(fits.then_some(losses).ok_or("the window must be at most a million, and the losses at most the window")?)
}
