//! The compiled part of the Python package `sluice`: crates `lab`, `emulate` and `sim` in Python's types.
//!
//! This crate only converts: text and numbers to arguments, results to columns, errors to exceptions. The interpreter
//! is released during runs. Models and statistics are in other crates; what users of Python see is in `python`.

#![allow(clippy::needless_pass_by_value, reason = "arguments from Python come by value")]

mod discipline;
mod error;
mod fleet;
mod medium;
mod plan;
mod replay;
mod reproduce;
mod run;
mod scenario;
mod shape;
mod steer;
mod stop;
mod table;
mod tables;
mod theory;

/// The native module under `python/sluice`.
#[pyo3::pymodule]
mod _sluice {
    #[pymodule_export]
    use crate::{
        discipline::register,
        fleet::Fleet,
        medium::{Medium, carried},
        plan::{Chunk, Plan},
        replay::Recording,
        reproduce::{Study, reproduce},
        run::{Run, chart_page, interval},
        scenario::{Scenario, scenario_file, toml_from_json, toml_value_from_json},
        steer::run_steered,
        stop::Stop,
        table::Table,
        theory::theory,
    };

    #[pymodule_export]
    const VERSION: &str = experiment::jobs::VERSION;
    #[pymodule_export]
    const TABLES: [&str; 8] = crate::tables::NAMES;
    #[pymodule_export]
    const FACTORS: [f64; 7] = crate::fleet::FACTORS;
    #[pymodule_export]
    const SEEN: usize = crate::fleet::SEEN;
}
