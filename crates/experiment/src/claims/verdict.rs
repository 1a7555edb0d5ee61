//! Verdicts that follow from the values of the seeds.

use super::condition::ZERO_AT_MOST;
use super::quantity::quantity;
use super::results::{Answer, Results};
use super::{Condition, Question, Sweep, extreme};
use crate::measure;
use crate::statistics::interval;
use crate::study::{Claim, Compare, Extent, OverSeeds, Reported, Ruling, Statistic, Take, Unit, Verdict};
use std::collections::BTreeSet;

pub(super) fn verdict(claim: &Claim, results: &Results, sweep: &Sweep) -> Verdict {
    let question = Question::from(claim);
    let answer = results.answer(&question);
    let extent = sweep.extent;
    let (judged, place) = if claim.statistic == Statistic::Each || claim.condition() == Some(Condition::Zero) {
        worst(claim, &answer, extent)
    } else {
        let of_seed = |rows: &Vec<Vec<f64>>| reduce(claim.statistic, rows);
        (judge(claim, extent, &answer.by_seed.iter().map(of_seed).collect::<Vec<_>>()), None)
    };
    // A shorter run may end before a window of a series.
    let needs_more = extent == Extent::Reduced && (claim.full || (claim.series.is_some() && judged.measured.is_nan()));
    Verdict {
        id: claim.id.clone(),
        says: claim.says.clone(),
        source: claim.source.clone(),
        reported: claim.reported.clone(),
        holds: claim.holds.clone(),
        measured: judged.measured,
        low: judged.low,
        high: judged.high,
        unit: unit(claim),
        seeds: claim.seeds,
        at: at(&question, &answer, place, judged.seed.map(|seed| sweep.seeds[seed]), results),
        verdict: if needs_more { Ruling::NeedsFullRuns } else { judged.ruling },
        headline: claim.headline,
        statement: claim.statement,
        why: claim.why.clone(),
        cause: claim.cause,
        ..Verdict::default()
    }
}

/// Rules on a claim's measured value and interval with another window. `None` if one case or one seed decides, because
/// with another window a different case or seed might decide.
pub fn again(claim: &Claim, measured: f64, low: f64, high: f64) -> Option<Ruling> {
    let condition = claim.condition().filter(|condition| *condition != Condition::Zero)?;
    if claim.statistic == Statistic::Each || claim.share_of_runs.is_some() {
        return None;
    }
    let ruling = match (claim.seeds, condition.rule(low, high)) {
        (OverSeeds::NotRefuted, Ruling::NotConfirmed) => Ruling::NotRefuted,
        (OverSeeds::Mean | OverSeeds::NotRefuted, settled) => settled,
        (OverSeeds::Some, _) if condition.holds(measured) => Ruling::Holds,
        (OverSeeds::Some, Ruling::Differs) => Ruling::Differs,
        _ => return None,
    };
    let is_better = ruling == Ruling::Differs && claim.is_better(condition, measured);
    Some(if is_better { Ruling::Better } else { ruling })
}

/// True for a claim on a single printed number whose window has only one end, because any value beyond that end would
/// count as this number. A window that ends at zero, such as `> 0`, states an order and is not open.
pub fn is_open(claim: &Claim) -> bool {
    let printed = match &claim.reported {
        Some(Reported::Number(value)) => Some(*value),
        Some(Reported::Words(words)) => quantity(words).map(|(value, _)| value),
        None => None,
    };
    let Some(printed) = printed else { return false };
    let is_whole = unit(claim) == Unit::Share && printed >= 1.0;
    match claim.condition() {
        Some(Condition::Between { low, high, .. }) if low.is_infinite() => high != 0.0 && printed != 0.0,
        Some(Condition::Between { low, high, .. }) if high.is_infinite() => low != 0.0 && !is_whole,
        _ => false,
    }
}

/// What follows from one value for each seed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Judgement {
    ruling: Ruling,
    measured: f64,
    low: f64,
    high: f64,
    /// Index of the seed that decided, in the list of seeds.
    seed: Option<usize>,
    /// Distance of the value from the nearest end of the window; negative inside.
    excess: f64,
}

impl Judgement {
    /// Creates the judgement for a claim without a value: the claim differs.
    fn none() -> Self {
        let none = f64::NAN;
        Self { ruling: Ruling::Differs, measured: none, low: none, high: none, seed: None, excess: f64::INFINITY }
    }
}

impl Claim {
    /// Returns the condition of the claim; `None` for an unreadable condition, which is refused with the scenario.
    fn condition(&self) -> Option<Condition> {
        self.holds.parse().ok()
    }

    /// True for a value outside the window, on the side that is better than what the document states.
    fn is_better(&self, condition: Condition, value: f64) -> bool {
        self.better.is_some() && condition.beyond(value) == self.better
    }
}

/// Rules on one value for each seed.
fn judge(claim: &Claim, extent: Extent, values: &[f64]) -> Judgement {
    let Some(condition) = claim.condition() else { return Judgement::none() };
    if condition == Condition::Zero {
        return zero(extent, values);
    }
    let when = claim.share_of_runs.as_ref().and_then(|text| text.parse::<Condition>().ok());
    let holding = |value: &f64| when.map_or(*value, |when| f64::from(u8::from(when.holds(*value))));
    let values: Vec<f64> = values.iter().map(holding).collect();
    let seen = interval(&values);
    let mut judged = match claim.seeds {
        OverSeeds::Every => by_seed(claim, condition, extent, &values, |a, b| a > b),
        OverSeeds::Some => by_seed(claim, condition, extent, &values, |a, b| a < b),
        OverSeeds::Deviation => single(condition, extent, deviation(&values)),
        OverSeeds::RelativeDeviation => single(condition, extent, deviation(&values) / seen.mean),
        OverSeeds::Mean | OverSeeds::NotRefuted => {
            // One run of several seeds has no interval, so it cannot confirm a claim.
            let lone = extent == Extent::Reduced && values.len() == 1;
            let ruling = match condition.rule(seen.low, seen.high) {
                _ if lone => Ruling::TooFewSeeds,
                Ruling::NotConfirmed if claim.seeds == OverSeeds::NotRefuted => Ruling::NotRefuted,
                settled => settled,
            };
            let excess = condition.excess(seen.mean);
            Judgement { ruling, measured: seen.mean, low: seen.low, high: seen.high, seed: None, excess }
        }
    };
    if judged.ruling == Ruling::Differs && claim.is_better(condition, judged.measured) {
        judged.ruling = Ruling::Better;
    }
    judged
}

/// Rules on zero. The median seed must have zero, and all seeds together at most a share that counts as zero. Seeds
/// that were not run could have more.
fn zero(extent: Extent, values: &[f64]) -> Judgement {
    let median = median(values.to_vec());
    let mean = interval(values).mean;
    let (low, high) = range(values);
    let ruling = settled(extent, median == 0.0 && mean <= ZERO_AT_MOST);
    Judgement { ruling, measured: mean, low, high, seed: None, excess: mean }
}

/// Judges by one seed, the farthest outside or inside the window; `before` orders two distances.
fn by_seed(
    claim: &Claim,
    condition: Condition,
    extent: Extent,
    values: &[f64],
    before: fn(f64, f64) -> bool,
) -> Judgement {
    let (low, high) = range(values);
    // A value on the better side counts as if it were at the window's end.
    let excess = |value: f64| if claim.is_better(condition, value) { 0.0 } else { condition.excess(value) };
    let with_excess = values.iter().map(|value| excess(*value)).enumerate();
    let pick = |a: (usize, f64), b: (usize, f64)| if before(b.1, a.1) { b } else { a };
    let Some((seed, excess)) = with_excess.reduce(pick) else { return Judgement::none() };
    let measured = values[seed];
    let holds = condition.holds(measured);
    // Seeds that were not run could be worse than the worst, or better than the best.
    let decided = holds == (claim.seeds == OverSeeds::Some);
    let ruling = settled(if decided { Extent::Full } else { extent }, holds);
    Judgement { ruling, measured, low, high, seed: Some(seed), excess }
}

/// Rules on one number for all seeds together, which has no interval.
fn single(condition: Condition, extent: Extent, value: f64) -> Judgement {
    let ruling = settled(extent, condition.holds(value));
    Judgement { ruling, measured: value, low: value, high: value, seed: None, excess: condition.excess(value) }
}

/// Returns the ruling on a value that needs all seeds.
fn settled(extent: Extent, holds: bool) -> Ruling {
    match extent {
        Extent::Reduced => Ruling::TooFewSeeds,
        Extent::Full if holds => Ruling::Holds,
        Extent::Full => Ruling::Differs,
    }
}

/// Rules on each value, and returns the judgement that decides, with its row and its index in that row.
fn worst(claim: &Claim, answer: &Answer, extent: Extent) -> (Judgement, Option<(usize, usize)>) {
    let mut decides: Option<(Judgement, (usize, usize))> = None;
    let Some(first) = answer.by_seed.first() else { return (Judgement::none(), None) };
    for (row, values) in first.iter().enumerate() {
        for column in 0..values.len() {
            let of_seed = |rows: &Vec<Vec<f64>>| rows[row].get(column).copied().unwrap_or(f64::NAN);
            let judged = judge(claim, extent, &answer.by_seed.iter().map(of_seed).collect::<Vec<_>>());
            let worse = |than: &Judgement| (judged.ruling, judged.excess) > (than.ruling, than.excess);
            if decides.as_ref().is_none_or(|(than, _)| worse(than)) {
                decides = Some((judged, (row, column)));
            }
        }
    }
    decides.map_or((Judgement::none(), None), |(judged, place)| (judged, Some(place)))
}

/// Reduces `rows` to one number; there is a row for each case, with one value for each flow or node.
pub(super) fn reduce(statistic: Statistic, rows: &[Vec<f64>]) -> f64 {
    let all = || rows.iter().flatten().copied();
    match statistic {
        Statistic::Mean | Statistic::Each => all().sum::<f64>() / all().count() as f64,
        Statistic::Max => extreme(all(), f64::max),
        Statistic::Min => extreme(all(), f64::min),
        Statistic::Median => median(all().collect()),
        Statistic::Range => extreme(all(), f64::max) - extreme(all(), f64::min),
    }
}

/// Returns the middle value, or the larger of two middle values. NaN counts as large; without values the result is NaN.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn range(values: &[f64]) -> (f64, f64) {
    (extreme(values.iter().copied(), f64::min), extreme(values.iter().copied(), f64::max))
}

/// Returns the standard deviation of the population from which the seeds are drawn; NaN for fewer than two.
fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// Returns the unit of a claim's values: that of its keys, or else of its key `unit`, or else of its window.
pub fn unit(claim: &Claim) -> Unit {
    let written = || Condition::read(&claim.holds).map_or(Unit::Number, |(_, unit)| unit);
    match unit_of_keys(claim) {
        Unit::Number => claim.unit.unwrap_or_else(written),
        known => known,
    }
}

/// Returns the unit that the keys of the results imply; products and quotients have none.
pub(crate) fn unit_of_keys(claim: &Claim) -> Unit {
    let question = Question::from(claim);
    let compared = claim.than.is_some() || !claim.against.is_empty() || claim.steps.is_some();
    let of_series = claim.series.as_ref().map(|window| (window.take, window));
    let measured = match of_series {
        Some((Take::Share, _)) => Unit::Share,
        Some((Take::Settling | Take::Reaches | Take::Stays, window)) => {
            window.counting.as_deref().map_or(Unit::Seconds, Unit::of)
        }
        Some((Take::Swing | Take::Slope | Take::Periodicity, _)) => Unit::Number,
        Some((_, window)) if window.relative_to.is_some() => Unit::Number,
        _ => question.measure.unit(),
    };
    match (claim.seeds, claim.compare) {
        _ if claim.share_of_runs.is_some() => Unit::Share,
        (OverSeeds::RelativeDeviation, _) => Unit::Number,
        (_, Compare::Ratio | Compare::Correlation | Compare::RankCorrelation) if compared => Unit::Number,
        _ if claim.first.is_some() => Unit::Number,
        _ => question.formula.as_ref().map_or(measured, |formula| formula.unit_of(&|_| measured)),
    }
}

/// Describes the value that decided: the labels in which the claim's cases differ, its flow or node, and the seed.
fn at(
    question: &Question,
    answer: &Answer,
    place: Option<(usize, usize)>,
    seed: Option<u64>,
    results: &Results,
) -> String {
    // The labels are those of the case's first seed.
    let run_of = |case: usize| &results.runs[case * results.seeds];
    let mut words = Vec::new();
    if let Some((row, column)) = place {
        let run = run_of(answer.cases[row]);
        for (axis, label) in &run.case {
            let labels: BTreeSet<_> = answer.cases.iter().filter_map(|&case| run_of(case).case.get(axis)).collect();
            let before = answer.before.get(row).map(|&case| &run_of(case).case[axis]);
            match before.filter(|before| *before != label) {
                Some(before) => words.push(format!("{axis} = {before} to {label}")),
                None if labels.len() > 1 => words.push(format!("{axis} = {label}")),
                None => {}
            }
        }
        let names = |path: &str| match (&run.outcome.series, &question.claim.series) {
            (Some(series), Some(_)) => measure::series(series, path).into_iter().map(|(name, _)| name).collect(),
            _ => measure::names(&measure::branch(run, path), path),
        };
        let claim = question.claim;
        let names = if claim.together.is_some() || claim.first.is_some() || claim.than.is_some() {
            Vec::new()
        } else {
            question.measure.names(&names)
        };
        words.extend(names.get(column).filter(|name| names.len() > 1 && !name.is_empty()).cloned());
    }
    let seed = seed.filter(|_| results.seeds > 1).map(|seed| format!("seed {seed}"));
    let parts = [words.join(", "), seed.unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}
