//! One value of a time series.

use crate::measure;
use crate::study::{Run, Take, Window};
use units::Duration;

/// The value of every series at `path`; none where the run recorded none.
pub(super) fn values(run: &Run, path: &str, window: &Window) -> Vec<f64> {
    let Some(series) = &run.outcome.series else { return Vec::new() };
    let during = window.during.as_ref().map(|path| measure::series(series, path));
    let when = during.as_ref().and_then(|found| found.first());
    let step = series.step_s;
    let of = |values: &Vec<Option<f64>>| value(values, step, window, when);
    measure::series(series, path).iter().map(of).collect()
}

/// The value that the window asks for; NaN where no step has one, or where it never settles.
fn value(values: &[Option<f64>], step: f64, window: &Window, when: Option<&Vec<Option<f64>>>) -> f64 {
    // A step belongs to the window when all of it does; half a step forgives the rounding of times.
    let from = seconds(window.from) - step / 2.0;
    let to = window.to.map_or(f64::INFINITY, seconds) + step / 2.0;
    let inside = |index: usize| index as f64 * step >= from && (index + 1) as f64 * step <= to;
    let counts = |index: usize| when.is_none_or(|when| when.get(index).copied().flatten().is_some_and(|v| v > 0.0));
    let steps = values.iter().enumerate().filter(|(index, _)| inside(*index) && counts(*index));
    let seen: Vec<(f64, f64)> = steps.filter_map(|(index, v)| Some(((index + 1) as f64 * step, (*v)?))).collect();
    let all = || seen.iter().map(|(_, value)| *value);
    let mean = || all().sum::<f64>() / seen.len() as f64;
    match window.take {
        Take::Mean => mean(),
        Take::Max => super::extreme(all(), f64::max),
        Take::Min => super::extreme(all(), f64::min),
        Take::Last => all().next_back().unwrap_or(f64::NAN),
        Take::Swing => (super::extreme(all(), f64::max) - super::extreme(all(), f64::min)) / mean(),
        Take::Settling => settling(&seen, window),
    }
}

/// Time from the window's start to the end of the first step whose value is near the final one.
fn settling(seen: &[(f64, f64)], window: &Window) -> f64 {
    let tail = &seen[seen.len() - seen.len().div_ceil(5)..];
    let last = tail.iter().map(|(_, value)| value).sum::<f64>() / tail.len() as f64;
    let Some((_, first)) = seen.first() else { return f64::NAN };
    let near = match (window.within, window.covered) {
        (Some(within), _) => within * last.abs(),
        (None, Some(covered)) => (1.0 - covered) * (last - first).abs(),
        (None, None) => return f64::NAN,
    };
    let settled = seen.iter().find(|(_, value)| (value - last).abs() <= near);
    settled.map_or(f64::NAN, |(time, _)| time - seconds(window.from))
}

fn seconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(take: Take) -> Window {
        Window { take, from: Duration::ZERO, to: None, during: None, within: None, covered: None }
    }

    fn near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} is not {right}");
    }

    /// Steps of half a second: 10 for 2 s, then down by 1 a step to 4, which stays.
    fn falling() -> Vec<Option<f64>> {
        let values = [10.0; 4].into_iter().chain([9.0, 8.0, 7.0, 6.0, 5.0]).chain([4.0; 11]);
        values.map(Some).collect()
    }

    #[test]
    fn a_window_takes_whole_steps() {
        let part = Window { from: Duration::from_secs(2), to: Some(Duration::from_secs(3)), ..window(Take::Mean) };
        near(value(&falling(), 0.5, &part, None), 8.5);
        near(value(&falling(), 0.5, &Window { take: Take::Max, ..part.clone() }, None), 9.0);
        near(value(&falling(), 0.5, &Window { take: Take::Last, ..part }, None), 8.0);
    }

    #[test]
    fn only_steps_that_have_a_value_count() {
        near(value(&[Some(1.0), None, Some(5.0)], 1.0, &window(Take::Swing), None), 4.0 / 3.0);
        assert!(value(&[None], 1.0, &window(Take::Mean), None).is_nan());
        assert!(value(&[], 1.0, &window(Take::Settling), None).is_nan());
    }

    #[test]
    fn another_series_says_which_steps_count() {
        let drops = vec![Some(0.0), Some(3.0), None, Some(1.0)];
        let values = [Some(1.0), Some(20.0), Some(99.0), Some(30.0)];
        near(value(&values, 1.0, &window(Take::Min), Some(&drops)), 20.0);
        near(value(&values, 1.0, &window(Take::Max), Some(&drops)), 30.0);
    }

    #[test]
    fn settling_is_the_time_to_come_near_the_end() {
        // Final value 4. Within a quarter of it: 5 or less, at the end of the ninth step. Half the way from 10: 7.
        let quarter = Window { within: Some(0.25), ..window(Take::Settling) };
        near(value(&falling(), 0.5, &quarter, None), 4.5);
        let half = Window { covered: Some(0.5), ..window(Take::Settling) };
        near(value(&falling(), 0.5, &half, None), 3.5);
        let later = Window { from: Duration::from_secs(2), ..quarter };
        near(value(&falling(), 0.5, &later, None), 2.5);
    }
}
