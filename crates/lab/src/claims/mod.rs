//! Claims: from runs to verdicts.
//!
//! A claim's value is computed for each seed by itself (all cases and flows of one seed become one number) and only then
//! averaged, so that the interval over the seeds is one of independent values.

mod condition;
mod question;
mod window;

pub(crate) use condition::Condition;
pub(crate) use question::Question;
use question::{Facts, Seed};

use crate::measure;
use crate::statistics::interval;
use crate::study::{Claim, Labels, Ruling, Run, Statistic, Verdict};
use std::collections::BTreeMap;

pub(crate) type Case = BTreeMap<String, String>;

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

/// The verdicts on `claims`, in their order. `runs` are all runs of a sweep: by case, then by seed.
pub fn judge(claims: &[Claim], seeds: &[u64], runs: &[Run]) -> Vec<Verdict> {
    let questions: Vec<Question> = claims.iter().map(Question::from).collect();
    let values = answers(&questions, seeds.len(), runs);
    let reduced = |(claim, answer): (&Claim, &Answer)| {
        let of_seeds: Vec<f64> = answer.by_seed.iter().map(|rows| reduce(claim.statistic, rows)).collect();
        verdict(claim, &of_seeds)
    };
    claims.iter().zip(&values).map(reduced).collect()
}

/// What was asked, of every case that was asked about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// The cases, by index.
    pub(crate) cases: Vec<usize>,
    /// By seed, a row a case, in it one value a flow or node.
    pub(crate) by_seed: Vec<Vec<Vec<f64>>>,
}

/// The answers to `questions`. `runs` are all runs of a sweep: by case, then by seed.
pub(crate) fn answers(questions: &[Question], seeds: usize, runs: &[Run]) -> Vec<Answer> {
    let numbers = |run: &Run, path: &str| measure::numbers(&measure::branch(&run.outcome, path), path);
    let facts: Vec<Facts> = runs.iter().map(|run| Facts::new(questions, |path| numbers(run, path))).collect();
    let cases: Vec<&Case> = runs.iter().step_by(seeds.max(1)).map(|run| &run.case).collect();
    let of = |seed: usize| Seed {
        cases: &cases,
        facts: facts.iter().skip(seed).step_by(seeds).collect(),
        runs: runs.iter().skip(seed).step_by(seeds).collect(),
    };
    let by_seed: Vec<Seed> = (0..seeds).map(of).collect();
    let answer = |question: &Question| {
        let pairs = question.pairs(&cases);
        let by_seed = by_seed.iter().map(|seed| seed.rows(question, &pairs)).collect();
        Answer { cases: pairs.into_iter().map(|(case, _)| case).collect(), by_seed }
    };
    questions.iter().map(answer).collect()
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
