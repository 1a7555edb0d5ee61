//! Charts with `x = "cdf"`: distributions of runs as curves over a common axis of values.

use super::text::readable_unit;
use super::words::words;
use crate::measure;
use crate::statistics::entry_of;
use crate::study::{Chart, Run, Spacing};
use serde::Serialize;
use sim::results::shares;

/// Number of points on the axis of values: more than a panel has columns of pixels.
pub(super) const PLACES: u32 = 500;
/// Share of the widest curve at which a linear axis ends, because a few extreme packets would fill most of it.
const ALMOST_ALL: f64 = 0.999;

/// The x axis of a chart of distributions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Values {
    pub(super) title: String,
    pub(super) unit: String,
    /// Factor from SI values to the title's unit.
    pub(super) factor: f64,
    pub(super) log: bool,
    /// The points, in the title's unit.
    pub(super) at: Vec<f64>,
}

/// Returns the name and the quantiles of each element of `key`. A quantile is the mean over the seeds; there are no
/// quantiles without measurements.
pub(super) fn quantiles(runs: &[Run], key: &str) -> Vec<(String, Vec<f64>)> {
    let mut elements: Vec<(String, Vec<Vec<f64>>)> = Vec::new();
    for run in runs {
        let Ok(tree) = serde_json::to_value(&run.outcome.distributions) else { continue };
        for found in measure::find(&tree, key).unwrap_or_default() {
            let name = found.names.join(" ");
            let values = found.value.as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect();
            entry_of(&mut elements, name).push(values);
        }
    }
    elements.into_iter().map(|(name, seeds)| (name, mean(&seeds))).collect()
}

/// Averages the quantiles over the seeds that have any.
fn mean(seeds: &[Vec<f64>]) -> Vec<f64> {
    let measured: Vec<&Vec<f64>> = seeds.iter().filter(|values| !values.is_empty()).collect();
    let places = measured.first().map_or(0, |values| values.len());
    (0..places).map(|place| measured.iter().map(|values| values[place]).sum::<f64>() / measured.len() as f64).collect()
}

impl Values {
    /// Makes an axis for all curves of a chart; `None` if nothing was measured.
    pub(super) fn new(chart: &Chart, curves: &[Vec<f64>]) -> Option<Self> {
        let log = chart.x_scale == Spacing::Log;
        let almost = shares().iter().position(|share| *share >= ALMOST_ALL)?;
        let ends = curves.iter().filter_map(|curve| curve.get(if log || chart.log { curve.len() - 1 } else { almost }));
        let last = ends.copied().fold(0.0, f64::max);
        let smallest = curves.iter().flatten().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        if last <= 0.0 {
            return None;
        }
        let what = chart.y.first().map_or_else(String::new, |key| words(key));
        let (title, factor) = readable_unit(&format!("{what} (s)"), last);
        let unit = title.rsplit_once('(').map_or("", |(_, unit)| unit.trim_end_matches(')')).to_owned();
        let at = |place: u32| {
            let part = f64::from(place) / f64::from(PLACES - 1);
            if log { smallest * (last / smallest).powf(part) } else { last * part }
        };
        Some(Self { title, unit, factor, log, at: (0..PLACES).map(|place| at(place) * factor).collect() })
    }

    /// Returns the share of samples up to each point of the axis; if `above`, the share beyond each point.
    pub(super) fn shares(&self, quantiles: &[f64], above: bool) -> Vec<Option<f64>> {
        if quantiles.is_empty() {
            return Vec::new();
        }
        let shares = shares();
        let share = |place: f64| {
            let below = up_to(quantiles, &shares, place / self.factor);
            Some(if above { 1.0 - below } else { below })
        };
        self.at.iter().map(|&place| share(place)).collect()
    }
}

/// Returns the share of samples up to `value`, interpolated between quantiles.
fn up_to(quantiles: &[f64], shares: &[f64], value: f64) -> f64 {
    let after = quantiles.partition_point(|quantile| *quantile <= value);
    let Some(before) = after.checked_sub(1) else { return 0.0 };
    let Some(&next) = quantiles.get(after) else { return 1.0 };
    let part = (value - quantiles[before]) / (next - quantiles[before]);
    shares[before] + part * (shares[after] - shares[before])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_lies_between_its_quantiles() {
        let (quantiles, shares) = ([1.0, 2.0, 2.0, 4.0], [0.0, 0.25, 0.5, 1.0]);
        let at = |value| up_to(&quantiles, &shares, value);
        for (value, share) in [(0.5, 0.0), (1.5, 0.125), (2.0, 0.5), (3.0, 0.75), (4.0, 1.0), (9.0, 1.0)] {
            assert!((at(value) - share).abs() < 1e-12, "{value}: {} for {share}", at(value));
        }
    }

    #[test]
    fn quantiles_are_averaged_over_the_seeds_that_have_any() {
        assert_eq!(mean(&[vec![1.0, 3.0], Vec::new(), vec![3.0, 5.0]]), [2.0, 4.0]);
        assert_eq!(mean(&[Vec::new()]), [0.0; 0]);
    }

    #[test]
    fn the_axis_takes_the_unit_that_suits_it() {
        let chart = Chart { y: vec!["flows.*.delay_s".to_owned()], ..chart() };
        let curve: Vec<f64> = shares().iter().map(|share| 0.1 * share + 0.001).collect();
        let values = Values::new(&chart, std::slice::from_ref(&curve)).unwrap();
        assert_eq!((values.title.as_str(), values.unit.as_str(), values.at[0]), ("delay (ms)", "ms", 0.0));
        let drawn = values.shares(&curve, false);
        assert_eq!(drawn.len(), PLACES as usize);
        assert_eq!(drawn[0], Some(0.0));
        assert!(drawn.last().unwrap().is_some_and(|share| (share - 0.999).abs() < 1e-3), "{drawn:?}");
        assert!(Values::new(&chart, &[Vec::new()]).is_none());
    }

    fn chart() -> Chart {
        let text = "title = \"\"\nx = \"cdf\"\ny = []\ny_title = \"\"";
        crate::scenario::parse("chart", text.as_bytes()).unwrap()
    }
}
