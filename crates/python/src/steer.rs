//! Decisions that Python classes make, as controllers.

use crate::error::{failed, raised_outside};
use crate::run::{Run, guarded};
use crate::scenario::Scenario;
use crate::shape::{Cell, Kind};
use crate::stop::{Signals, Stop};
use control::{Count, Interval, Limit, Orders, Period, Stat};
use experiment::scenario::told;
use experiment::watch::{Fault, Timed, Watch};
use lab::run;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use sim::config::Network;
use sim::{Place, World};
use units::{Duration, Rate};

/// A queue with a controller in Python: its name, the interval in seconds, and the function that makes decisions.
type Steered<'py> = (String, f64, Bound<'py, PyAny>);

/// Runs a scenario once with controllers written in Python. Each gets a dictionary of measurements and returns a limit
/// in packets and a rate in bit/s, or `None`.
#[pyfunction]
pub(crate) fn run_steered(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    seed: u64,
    stop: &Bound<'_, Stop>,
    controllers: Vec<Steered<'_>>,
) -> PyResult<Run> {
    let ready = &scenario.get().ready;
    let signals = Signals::new(stop.get());
    let mut steered = Vec::new();
    let mut deciding: Vec<Py<PyAny>> = Vec::new();
    for (name, interval_s, decide) in controllers {
        steered.push((name, period(interval_s)?));
        deciding.push(decide.unbind());
    }
    let places = |world: &World| {
        let place = |(name, period): &(String, Period)| Ok((place(world, name)?, *period));
        steered.iter().map(place).collect()
    };
    let simulated = || simulate(&ready.base, seed, places, &deciding, &signals);
    let done = py.detach(|| guarded(simulated));
    signals.raised()?;
    py.check_signals()?;
    let timed = done.map_err(|fault| failed(py, &fault))?.map_err(|fault| raised_outside(py, fault))?;
    let Some(timed) = timed else { return Err(failed(py, "the run was stopped")) };
    Ok(Run::new(ready.clone().without_variations(seed), timed))
}

/// Returns the queue of this name.
pub(crate) fn place(world: &World, name: &str) -> Result<Place, String> {
    world.place(name).map_err(|error| told(&error))
}

/// Runs `network`. Each function in `deciding` decides for the queue at the same index in `steered`.
pub(crate) fn simulate(
    network: &Network,
    seed: u64,
    steered: impl FnOnce(&World) -> Result<Vec<(Place, Period)>, Fault>,
    deciding: &[Py<PyAny>],
    watch: &dyn Watch,
) -> Result<Option<Timed>, Fault> {
    let decide =
        |place: usize, asked: &sim::Asked| Python::attach(|py| Ok(ordered(deciding[place].bind(py), &asked.seen)?));
    run::steered::<Fault>(network, seed, steered, watch, decide)
}

/// Returns the orders that `decide` gives after an interval.
pub(crate) fn ordered(decide: &Bound<'_, PyAny>, seen: &Interval) -> PyResult<Orders> {
    let answer = decide.call1((measured(decide.py(), seen)?,))?;
    let (limit, rate): (u32, Option<f64>) = answer.extract()?;
    Ok(orders(limit, rate))
}

/// Makes orders from a limit in packets, at least one, and a rate in bit/s.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
pub(crate) fn orders(limit: u32, rate_bps: Option<f64>) -> Orders {
    let rate = rate_bps.map(|rate| Rate::bps(rate.clamp(1.0, 1e15) as u64));
    Orders { rate, ..Orders::from(Limit::Packets(limit.max(1))) }
}

/// Converts an interval in seconds to a controller's period.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
pub(crate) fn period(interval_s: f64) -> PyResult<Period> {
    let nanoseconds = (interval_s * 1e9).round();
    let known = (0.0..=1e18).contains(&nanoseconds).then(|| Period::new(Duration::from_nanos(nanoseconds as u64)));
    let wrong = || PyValueError::new_err(format!("the interval is {interval_s} s: expected at least 1e-4 s"));
    known.flatten().ok_or_else(wrong)
}

/// Returns what a queue measured, in SI units, named as in results and in Python's `Interval`: `sojourn_s.mean`.
pub(crate) fn measures(seen: &Interval) -> Vec<Cell> {
    let span = |name: String, time: Duration| (name, Kind::Number, json!(time.as_secs_f64()));
    let number = |name: String, number: u64| (name, Kind::Count, json!(number));
    let mut all = vec![span("length_s".to_owned(), seen.length)];
    let counts = [("arrived", seen.arrived), ("sent", seen.sent), ("dropped", seen.dropped), ("backlog", seen.backlog)];
    for (name, Count { packets, bytes }) in counts {
        all.push(number(format!("{name}_packets"), packets));
        all.push(number(format!("{name}_bytes"), bytes.count()));
    }
    all.push(number("backlog_max_packets".to_owned(), seen.backlog_max));
    let stats = [
        ("service", seen.service),
        ("departure_gap", seen.departure_gap),
        ("sojourn", seen.sojourn),
        ("nodal_delay", seen.nodal),
    ];
    for (name, Stat { n, mean, max, last }) in stats {
        all.push(number(format!("{name}_s.n"), n));
        all.extend(
            [("mean", mean), ("max", max), ("last", last)].map(|(of, time)| span(format!("{name}_s.{of}"), time)),
        );
    }
    all.extend([("idle_s", seen.idle), ("busy_s", seen.busy)].map(|(name, time)| span(name.to_owned(), time)));
    all
}

fn measured<'py>(py: Python<'py>, seen: &Interval) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, _, value) in measures(seen) {
        match value.as_u64() {
            Some(count) => dict.set_item(name, count)?,
            None => dict.set_item(name, value.as_f64())?,
        }
    }
    Ok(dict)
}
