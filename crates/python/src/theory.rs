//! Crate `theory` for rows of numbers: each model by its name, with its arguments in columns of the same length.
//!
//! This module converts numbers to the crate's types, and orders its results. It holds no formula.

mod medium;
mod queues;
mod schemes;

use crate::error::unsolved;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use rayon::prelude::*;
use units::{Bytes, Duration};

/// The arguments of a row, in the order of the function in Python: for each argument its values, one or as many as
/// there are groups.
type Row<'r> = [&'r [f64]];

/// A row's results, or the fault in its arguments.
type Solved = Result<Vec<f64>, String>;

/// A model by its name.
type Model = (&'static str, fn(&Row) -> Solved);

/// Solves a model for each of `rows` rows, over which every column is spread evenly: a row has one value of each
/// argument, or one for each group. Each row's results are a list.
#[pyfunction]
pub(crate) fn theory(py: Python<'_>, model: &str, columns: Vec<Vec<f64>>, rows: usize) -> PyResult<Vec<Vec<f64>>> {
    let models = medium::MODELS.iter().chain(queues::MODELS).chain(schemes::MODELS);
    let found = models.into_iter().find(|(name, _)| *name == model);
    let Some((_, solve)) = found else { return Err(PyKeyError::new_err(model.to_owned())) };
    let width = columns.iter().map(|column| column.len() / rows.max(1)).min().unwrap_or(0);
    let one = |row: usize| {
        let values: Vec<&[f64]> = columns.iter().map(|column| &column[row * width..(row + 1) * width]).collect();
        solve(&values)
    };
    let solved: Vec<Solved> = py.detach(|| (0..rows).into_par_iter().map(one).collect());
    let told = |(row, solved): (usize, Solved)| solved.map_err(|message| unsolved(py, &message, row));
    solved.into_iter().enumerate().map(told).collect()
}

/// Returns the arguments of a model without groups.
fn numbers<const N: usize>(row: &Row) -> Result<[f64; N], String> {
    let first: Vec<f64> = row.iter().filter_map(|values| values.first().copied()).collect();
    first.try_into().map_err(|_| format!("expected {N} arguments"))
}

/// Returns the arguments of each group of a model with groups.
fn groups<const N: usize>(row: &Row) -> Result<Vec<[f64; N]>, String> {
    let width = row.first().map_or(0, |values| values.len());
    (0..width).map(|group| numbers(&row.iter().map(|values| &values[group..=group]).collect::<Vec<_>>())).collect()
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Checks a whole number from 0 to 4294967295.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and within bounds")]
fn whole(name: &str, value: f64) -> Result<u32, String> {
    let is_whole = (0.0..=f64::from(u32::MAX)).contains(&value) && value.fract().abs() < f64::MIN_POSITIVE;
    is_whole.then_some(value as u32).ok_or_else(|| format!("{name} is {value}: expected a whole number, not negative"))
}

/// Reads a limit on attempts; infinity means no limit.
fn attempts(value: f64) -> Result<Option<u32>, String> {
    if value == f64::INFINITY { Ok(None) } else { whole("attempts", value).map(Some) }
}

fn seconds(name: &str, value: f64) -> Result<Duration, String> {
    let is_time = value.is_finite() && value >= 0.0;
    is_time
        .then(|| Duration::from_secs_f64(value))
        .ok_or_else(|| format!("{name} is {value}: expected a time in seconds"))
}

fn bytes(name: &str, value: f64) -> Result<Bytes, String> {
    whole(name, value).map(|count| Bytes::new(count.into()))
}

/// Checks a finite number that is not below zero.
fn not_negative(name: &str, value: f64) -> Result<f64, String> {
    let fits = value.is_finite() && value >= 0.0;
    fits.then_some(value).ok_or_else(|| format!("{name} is {value}: expected a number that is not negative"))
}

/// Checks a finite number above zero.
fn positive(name: &str, value: f64) -> Result<f64, String> {
    let fits = value.is_finite() && value > 0.0;
    fits.then_some(value).ok_or_else(|| format!("{name} is {value}: expected a number above zero"))
}

/// Checks a share of 1.
fn share(name: &str, value: f64) -> Result<f64, String> {
    (0.0..=1.0)
        .contains(&value)
        .then_some(value)
        .ok_or_else(|| format!("{name} is {value}: expected a number from 0 to 1"))
}
