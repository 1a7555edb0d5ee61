//! Claims: from runs to verdicts.
//!
//! A claim's value is computed for each seed by itself (all cases and flows of one seed become one number) and only then
//! averaged, so that the interval over the seeds is one of independent values.

mod condition;

pub(crate) use condition::Condition;

use crate::measure;
use crate::statistics::interval;
use crate::study::{Claim, Compare, Labels, Ruling, Run, Statistic, Verdict};
use serde_json::Value;
use std::collections::BTreeMap;

type Case = BTreeMap<String, String>;

impl Labels {
    /// True for the label, or one of the labels.
    pub fn contains(&self, label: &str) -> bool {
        match self {
            Self::One(one) => one == label,
            Self::Any(any) => any.iter().any(|one| one == label),
        }
    }

    /// Every label.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Any(any) => any.as_slice(),
        }
        .iter()
        .map(String::as_str)
    }
}

/// True for a case that a claim or chart speaks of.
pub fn matches(wanted: &BTreeMap<String, Labels>, case: &Case) -> bool {
    wanted.iter().all(|(axis, labels)| case.get(axis).is_some_and(|label| labels.contains(label)))
}

/// The cases that a claim speaks of, each with the case that it is compared with, by index.
pub(crate) fn pairs(claim: &Claim, cases: &[&Case]) -> Vec<(usize, Option<usize>)> {
    let wanted = cases.iter().enumerate().filter(|(_, case)| matches(&claim.cases, case));
    if claim.against.is_empty() {
        return wanted.map(|(index, _)| (index, None)).collect();
    }
    let other = |case: &Case| {
        let mut other = case.clone();
        other.extend(claim.against.clone());
        cases.iter().position(|case| **case == other)
    };
    // A case of the other kind is not compared with itself.
    wanted.map(|(index, case)| (index, other(case))).filter(|(index, other)| *other != Some(*index)).collect()
}

/// The verdicts on `claims`, in their order. `runs` are all runs of a sweep: by case, then by seed.
pub fn judge(claims: &[Claim], seeds: &[u64], runs: &[Run]) -> Vec<Verdict> {
    let trees: Vec<Value> = runs.iter().map(|run| measure::tree(&run.outcome)).collect();
    let cases: Vec<&Case> = runs.iter().step_by(seeds.len().max(1)).map(|run| &run.case).collect();
    claims
        .iter()
        .map(|claim| {
            let pairs = pairs(claim, &cases);
            let of_seed = |seed: usize| value(claim, &pairs, |case| &trees[case * seeds.len() + seed]);
            let values: Vec<f64> = (0..seeds.len()).map(of_seed).collect();
            verdict(claim, &values)
        })
        .collect()
}

fn verdict(claim: &Claim, values: &[f64]) -> Verdict {
    let seen = interval(values);
    let holds = claim.holds.parse::<Condition>().is_ok_and(|condition| condition.holds(seen.mean));
    Verdict {
        id: claim.id.clone(),
        says: claim.says.clone(),
        source: claim.source.clone(),
        reported: claim.reported.clone(),
        holds: claim.holds.clone(),
        measured: seen.mean,
        low: seen.low,
        high: seen.high,
        verdict: if holds { Ruling::Holds } else { Ruling::Differs },
    }
}

/// A claim's value in one seed; `tree` gives the results of a case. NaN where a ratio is of two zeros, which no
/// condition holds for.
fn value<'v>(claim: &Claim, pairs: &[(usize, Option<usize>)], tree: impl Fn(usize) -> &'v Value) -> f64 {
    let of_case = |&(case, other): &(usize, Option<usize>)| -> Vec<f64> {
        let ours = measure::numbers(tree(case), &claim.measure);
        if other.is_none() && claim.than.is_none() {
            return ours;
        }
        let theirs = measure::numbers(tree(other.unwrap_or(case)), claim.than.as_ref().unwrap_or(&claim.measure));
        let compare = |(ours, theirs): (f64, f64)| match claim.compare {
            Compare::Difference => ours - theirs,
            Compare::Ratio => ours / theirs,
        };
        if claim.than.is_some() {
            return ours.iter().flat_map(|&ours| theirs.iter().map(move |&theirs| compare((ours, theirs)))).collect();
        }
        ours.into_iter().zip(theirs).map(compare).collect()
    };
    reduce(claim.statistic, &pairs.iter().map(of_case).collect::<Vec<_>>())
}

/// Makes one number of `rows`: a row a case, in it one value a flow or node.
fn reduce(statistic: Statistic, rows: &[Vec<f64>]) -> f64 {
    let all = || rows.iter().flatten().copied();
    let steps = || rows.windows(2).flat_map(|pair| pair[1].iter().zip(&pair[0]).map(|(next, this)| next - this));
    match statistic {
        Statistic::Mean => all().sum::<f64>() / all().count() as f64,
        Statistic::Sum => all().sum(),
        Statistic::Max => extreme(all(), f64::max),
        Statistic::Min => extreme(all(), f64::min),
        Statistic::MaxStep => extreme(steps(), f64::max),
        Statistic::MinStep => extreme(steps(), f64::min),
    }
}

/// The largest or smallest; NaN if any value is (`f64::max` would pass over it), and for no values.
fn extreme(values: impl Iterator<Item = f64>, pick: fn(f64, f64) -> f64) -> f64 {
    values.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) }).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
