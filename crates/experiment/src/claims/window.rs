//! One value from a time series.

use super::condition::Condition;
use super::expression::{Column, Expression};
use crate::measure;
use crate::study::{Base, Run, Take, Window};
use std::iter;
use units::Duration;

/// A step in the window: the time of its end, and its value.
type Step = (f64, f64);

/// Returns the value of every series that `what` yields; empty if the run recorded no series.
pub(super) fn values(run: &Run, what: &Expression, window: &Window) -> Vec<f64> {
    let Some(clock) = Clock::new(run, window) else { return Vec::new() };
    clock.columns(run, what).iter().map(|series| clock.value(series)).collect()
}

/// One of two correlated sides: the series of an expression in a run.
pub(super) struct Side<'a> {
    pub(super) run: &'a Run,
    pub(super) what: &'a Expression,
}

/// Returns the correlation coefficient of each pair of series, one from each side.
pub(super) fn correlations(ours: &Side, theirs: &Side, window: &Window) -> Vec<f64> {
    let seen = |&Side { run, what }: &Side| -> Vec<Vec<Step>> {
        let Some(clock) = Clock::new(run, window) else { return Vec::new() };
        clock.columns(run, what).iter().map(|series| clock.steps(series, window.from, window.to)).collect()
    };
    iter::zip(seen(ours), seen(theirs)).map(|(a, b)| correlation(&a, &b)).collect()
}

/// A window of one run, with the series that select its steps, and series that are summed instead of time.
struct Clock<'w> {
    window: &'w Window,
    /// Length of a step, or of a bin of several steps.
    step: f64,
    /// Number of the run's steps in a bin.
    bin: usize,
    during: Option<Column>,
    counting: Option<Column>,
}

impl<'w> Clock<'w> {
    fn new(run: &Run, window: &'w Window) -> Option<Self> {
        let step = run.outcome.series.as_ref()?.step_s;
        let bin = window.bin.map_or(1, |bin| whole(bin.as_secs_f64() / step).max(1));
        let mut clock = Self { window, step: step * bin as f64, bin, during: None, counting: None };
        let of =
            |text: &Option<String>| clock.columns(run, &Expression::parse(text.as_ref()?).ok()?).into_iter().next();
        let (during, counting) = (of(&window.during), of(&window.counting));
        (clock.during, clock.counting) = (during, counting);
        Some(clock)
    }

    /// Returns the values of an expression over series whose steps are averaged over the bins first.
    fn columns(&self, run: &Run, what: &Expression) -> Vec<Column> {
        let Some(series) = &run.outcome.series else { return Vec::new() };
        what.values(&|path| {
            let found = measure::series(series, path).into_iter();
            found.map(|(_, series)| if self.bin == 1 { series } else { binned(&series, self.bin) }).collect()
        })
    }

    /// Returns the steps in the window.
    fn steps(&self, series: &[Option<f64>], from: Duration, to: Option<Duration>) -> Vec<Step> {
        let step = self.step;
        // A step is in the window if all of it is; half a step allows for the rounding of times.
        let start = from.as_secs_f64() - step / 2.0;
        let end = to.map_or(f64::INFINITY, Duration::as_secs_f64) + step / 2.0;
        let inside = |index: usize| index as f64 * step >= start && (index + 1) as f64 * step <= end;
        let chosen = |index: usize| match &self.during {
            None => true,
            Some(during) => during.get(index).copied().flatten().is_some_and(|value| value > 0.0),
        };
        let counts = series.iter().enumerate().filter(|(index, _)| inside(*index) && chosen(*index));
        counts.filter_map(|(index, value)| Some(((index + 1) as f64 * step, (*value)?))).collect()
    }

    /// Returns the value that the window asks for; NaN if no step has a value, or if the condition is never fulfilled.
    fn value(&self, series: &[Option<f64>]) -> f64 {
        let window = self.window;
        let base = |base: &Base| simple(base.take, &self.steps(series, base.from, base.to));
        let base = window.relative_to.as_ref().map_or(1.0, base);
        let mut seen = self.steps(series, window.from, window.to);
        let when = window.when.as_ref().and_then(|text| text.parse::<Condition>().ok());
        if when.is_some() {
            for (_, value) in &mut seen {
                *value /= base;
            }
        }
        match (window.take, when) {
            (Take::Settling, _) => self.passed(settling(&seen, window)),
            (Take::Reaches, Some(when)) => {
                self.passed(seen.iter().find(|(_, value)| when.holds(*value)).map(|(time, _)| *time))
            }
            (Take::Stays, Some(when)) => self.passed(stays(&seen, when, window.from.as_secs_f64())),
            (Take::Share, Some(when)) => {
                seen.iter().filter(|(_, value)| when.holds(*value)).count() as f64 / seen.len() as f64
            }
            (Take::Fall, _) => fall(&seen, window.over) / base,
            (take, _) => simple(take, &seen) / base,
        }
    }

    /// Returns what has passed since the window's start: seconds, or the sum of the counted series.
    fn passed(&self, until: Option<f64>) -> f64 {
        let (Some(until), from) = (until, self.window.from.as_secs_f64()) else { return f64::NAN };
        let Some(counting) = &self.counting else {
            // The difference of two times is a whole number of nanoseconds, and is compared with such numbers.
            return ((until - from) * 1e9).round() / 1e9;
        };
        let end = |index: usize| (index + 1) as f64 * self.step;
        let within = |index: usize| end(index) > from + self.step / 2.0 && end(index) <= until + self.step / 2.0;
        let counted = counting.iter().enumerate().filter(|(index, _)| within(*index)).filter_map(|(_, value)| *value);
        // The value of a bin is the mean of its steps.
        counted.sum::<f64>() * self.bin as f64
    }
}

/// Returns the mean of each `steps` steps, over the steps with a value.
fn binned(series: &[Option<f64>], steps: usize) -> Column {
    let mean = |bin: &[Option<f64>]| {
        let values: Vec<f64> = bin.iter().copied().flatten().collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    series.chunks(steps).map(mean).collect()
}

/// Returns a value that follows from the steps alone; NaN if there are none, or if the value does not exist.
fn simple(take: Take, seen: &[Step]) -> f64 {
    let all = || seen.iter().map(|(_, value)| *value);
    let mean = || all().sum::<f64>() / seen.len() as f64;
    match take {
        Take::Mean => mean(),
        Take::Max => super::extreme(all(), f64::max),
        Take::Min => super::extreme(all(), f64::min),
        Take::Last => all().next_back().unwrap_or(f64::NAN),
        Take::Swing => (super::extreme(all(), f64::max) - super::extreme(all(), f64::min)) / mean(),
        Take::Sum if seen.is_empty() => f64::NAN,
        Take::Sum => all().sum(),
        Take::P50 => percentile(all().collect(), 0.5),
        Take::P99 => percentile(all().collect(), 0.99),
        Take::Fall => fall(seen, None),
        Take::Slope => slope(seen),
        Take::Periodicity => periodicity(&all().collect::<Vec<_>>()),
        Take::Settling | Take::Reaches | Take::Stays | Take::Share => f64::NAN,
    }
}

/// Returns the largest fall between two steps that are at most `over` apart; NaN if there are no steps.
fn fall(seen: &[Step], over: Option<Duration>) -> f64 {
    // Half a nanosecond allows for the rounding of times.
    let over = over.map_or(f64::INFINITY, |over| over.as_secs_f64() + 0.5e-9);
    let from = |(index, (time, value)): (usize, &Step)| {
        let later = seen[index..].iter().take_while(|(later, _)| later - time <= over);
        value - super::extreme(later.map(|(_, value)| *value), f64::min)
    };
    super::extreme(seen.iter().enumerate().map(from), f64::max)
}

/// Returns the end of the first step whose value is near the final one.
fn settling(seen: &[Step], window: &Window) -> Option<f64> {
    let tail = &seen[seen.len() - seen.len().div_ceil(5)..];
    let last = tail.iter().map(|(_, value)| value).sum::<f64>() / tail.len() as f64;
    let (_, first) = seen.first()?;
    let near = (1.0 - window.covered?) * (last - first).abs();
    seen.iter().find(|(_, value)| (value - last).abs() <= near).map(|(time, _)| *time)
}

/// Returns the end of the last step that violates the condition, or the window's start; `None` if the window's last
/// step violates it.
fn stays(seen: &[Step], when: Condition, from: f64) -> Option<f64> {
    match seen.iter().rposition(|(_, value)| !when.holds(*value)) {
        None => (!seen.is_empty()).then_some(from),
        Some(index) => (index + 1 < seen.len()).then(|| seen[index].0),
    }
}

/// Returns the smallest value that bounds at least this share of the values.
fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = whole((share * values.len() as f64).ceil()).max(1);
    values.get(rank - 1).copied().unwrap_or(f64::NAN)
}

fn slope(seen: &[Step]) -> f64 {
    let n = seen.len() as f64;
    let (time, value) = seen.iter().fold((0.0, 0.0), |(t, v), (time, value)| (t + time / n, v + value / n));
    let both: f64 = seen.iter().map(|(t, v)| (t - time) * (v - value)).sum();
    both / seen.iter().map(|(t, _)| (t - time).powi(2)).sum::<f64>()
}

/// Returns the correlation coefficient over steps where both have values; NaN if one side is constant.
fn correlation(ours: &[Step], theirs: &[Step]) -> f64 {
    let other = |time: f64| theirs.iter().find(|(at, _)| (at - time).abs() < 1e-6).map(|(_, value)| *value);
    coefficient(ours.iter().filter_map(|(time, value)| Some((*value, other(*time)?))))
}

/// Returns the correlation coefficient of pairs; NaN if one side has the same value in all pairs.
pub(super) fn coefficient(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let n = pairs.len() as f64;
    let (a, b) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let sum = |of: fn(f64, f64) -> f64| pairs.iter().map(|(x, y)| of(x - a, y - b)).sum::<f64>();
    sum(|x, y| x * y) / (sum(|x, _| x * x) * sum(|_, y| y * y)).sqrt()
}

/// Returns the largest autocorrelation beyond the first lag at which it is below zero, up to half the series.
fn periodicity(values: &[f64]) -> f64 {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let power = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64;
    let at = |lag: usize| {
        let products = values.iter().zip(&values[lag..]).map(|(a, b)| (a - mean) * (b - mean));
        products.sum::<f64>() / (n - lag) as f64 / power
    };
    let beyond = (1..=n / 2).map(at).skip_while(|coefficient| *coefficient >= 0.0);
    super::extreme(beyond, f64::max)
}

/// Rounds to the nearest whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of steps of a series")]
fn whole(number: f64) -> usize {
    number.round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(take: Take) -> Window {
        serde_json::from_value(serde_json::json!({ "take": take })).unwrap()
    }

    fn value(series: &[Option<f64>], step: f64, window: &Window, during: Option<&Column>) -> f64 {
        Clock { window, step, bin: 1, during: during.cloned(), counting: None }.value(series)
    }

    fn near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} is not {right}");
    }

    /// Makes steps of half a second: 10 for 2 s, then down by 1 per step to 4, where they stay.
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
        // Final value 4, first value 10. Half of the way is 7, at the end of the seventh step.
        let half = Window { covered: Some(0.5), ..window(Take::Settling) };
        near(value(&falling(), 0.5, &half, None), 3.5);
        // From 2 s on the first value is 9, so half of the way is 6.5, at the end of the eighth step.
        let later = Window { from: Duration::from_secs(2), ..half };
        near(value(&falling(), 0.5, &later, None), 2.0);
    }

    #[test]
    fn waiting_for_a_condition() {
        let when = |take: Take, when: &str| Window { when: Some(when.to_owned()), ..window(take) };
        // Values are at most 6 from the eighth step on, which ends at 4 s, and above 5 until the eighth.
        near(value(&falling(), 0.5, &when(Take::Reaches, "<= 6"), None), 4.0);
        near(value(&falling(), 0.5, &when(Take::Stays, "<= 5"), None), 4.0);
        near(value(&falling(), 0.5, &when(Take::Stays, "<= 10"), None), 0.0);
        assert!(value(&falling(), 0.5, &when(Take::Stays, "> 5"), None).is_nan(), "it does not stay");
        assert!(value(&falling(), 0.5, &when(Take::Reaches, "> 50"), None).is_nan());
        near(value(&falling(), 0.5, &when(Take::Share, ">= 10"), None), 0.2);
        let from = Window { from: Duration::from_millis(75_000), ..when(Take::Reaches, ">= 1") };
        let late: Vec<Option<f64>> = (0..400).map(|k| Some(f64::from(u8::from(k >= 376)))).collect();
        assert!(value(&late, 0.2, &from, None) <= 0.4, "75.4 - 75 is above 0.4 in binary");
    }

    #[test]
    fn values_are_divided_by_others_of_the_same_series() {
        let base =
            |take, from, to| Some(Base { take, from: Duration::from_secs(from), to: Some(Duration::from_secs(to)) });
        let after = Window { from: Duration::from_secs(5), relative_to: base(Take::Mean, 0, 2), ..window(Take::Mean) };
        near(value(&falling(), 0.5, &after, None), 0.4);
        let half =
            Window { when: Some("<= 0.5".to_owned()), relative_to: base(Take::Max, 0, 10), ..window(Take::Reaches) };
        near(value(&falling(), 0.5, &half, None), 4.5);
    }

    #[test]
    fn what_passes_meanwhile_is_counted() {
        let window = Window { when: Some("<= 6".to_owned()), from: Duration::from_secs(2), ..window(Take::Reaches) };
        let counting = Some(vec![Some(10.0); 20]);
        let clock = Clock { window: &window, step: 0.5, bin: 1, during: None, counting };
        near(clock.value(&falling()), 40.0);
    }

    #[test]
    fn bins_average_their_steps() {
        assert_eq!(binned(&[Some(1.0), Some(3.0), Some(2.0), None, None], 2), [Some(2.0), Some(2.0), None]);
    }

    #[test]
    fn percentiles_slopes_and_sums() {
        let rising: Vec<Option<f64>> = (1..=20).map(|k| Some(f64::from(k))).collect();
        near(value(&rising, 0.5, &window(Take::P50), None), 10.0);
        near(value(&rising, 0.5, &window(Take::P99), None), 20.0);
        near(value(&rising, 0.5, &window(Take::Slope), None), 2.0);
        near(value(&rising, 0.5, &window(Take::Sum), None), 210.0);
        assert!(value(&[None], 0.5, &window(Take::Sum), None).is_nan());
    }

    #[test]
    fn what_repeats_is_periodic_and_what_falls_is_not() {
        let saw: Vec<Option<f64>> = (0..60).map(|k| Some(f64::from(k % 6))).collect();
        let steps: Vec<Option<f64>> = [5.0, 5.0, 4.0, 2.0, 3.0, 1.0].into_iter().map(Some).collect();
        let within = |over: u64| Window { over: Some(Duration::from_millis(over)), ..window(Take::Fall) };
        near(value(&steps, 0.5, &window(Take::Fall), None), 4.0);
        near(value(&steps, 0.5, &within(500), None), 2.0);
        near(value(&steps, 0.5, &within(1_000), None), 3.0);
        near(value(&steps, 0.5, &within(499), None), 0.0);
        let share =
            Window { relative_to: Some(Base { take: Take::Fall, from: Duration::ZERO, to: None }), ..within(1_000) };
        near(value(&steps, 0.5, &share, None), 0.75);
        near(value(&saw, 1.0, &window(Take::Periodicity), None), 1.0);
        let falling: Vec<Option<f64>> = (0..60).map(|k| Some(f64::from(-k))).collect();
        assert!(value(&falling, 1.0, &window(Take::Periodicity), None) < 0.0);
        assert!(value(&[Some(1.0); 9], 1.0, &window(Take::Periodicity), None).is_nan(), "a constant has no period");
    }

    #[test]
    fn correlation_by_hand() {
        let steps = |values: &[f64]| values.iter().enumerate().map(|(k, v)| (k as f64, *v)).collect::<Vec<_>>();
        near(correlation(&steps(&[1.0, 2.0, 3.0]), &steps(&[2.0, 4.0, 6.0])), 1.0);
        // Deviations are -1, 0, 1 and -1, 1, 0, so the coefficient is 1 / 2.
        near(correlation(&steps(&[1.0, 2.0, 3.0]), &steps(&[1.0, 3.0, 2.0])), 0.5);
        assert!(correlation(&steps(&[1.0, 2.0]), &steps(&[5.0, 5.0])).is_nan());
    }
}
