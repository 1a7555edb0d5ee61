//! Claims: from runs to verdicts.
//!
//! A claim's value is computed for each seed by itself (all cases and flows of one seed become one number) and only then
//! averaged, so that the interval over the seeds is one of independent values.

mod combinations;
mod condition;
mod expression;
mod quantity;
mod question;
mod settings;
mod verdict;
mod window;

pub(crate) use combinations::{RULES, broken};
pub(crate) use condition::Condition;
pub(crate) use expression::Expression;
pub(crate) use question::Question;
use question::{Facts, Seed};
use settings::Posed;
pub(crate) use settings::settings;
pub(crate) use verdict::unit;

use crate::measure;
use crate::study::{Claim, Extent, Labels, Rulings, Run, Verdict};
use std::collections::BTreeMap;

/// The label of the value of every axis.
pub type Case = BTreeMap<String, String>;

impl Labels {
    /// True for the label, or one of the labels.
    pub fn contains(&self, label: &str) -> bool {
        match self {
            Self::One(one) => one == label,
            Self::Any(any) => any.iter().any(|one| one == label),
        }
    }

    /// The labels, in the order in which they were written.
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

/// The runs that claims are ruled on by.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'s> {
    /// The seeds of every case.
    pub seeds: &'s [u64],
    /// All runs: by case, then by seed.
    pub runs: &'s [Run],
    /// Whether they are all that the scenario asks for.
    pub extent: Extent,
    /// The cases that were not run because time is short.
    pub left_out: &'s [Case],
}

/// The verdicts on `claims`, in their order, each within every setting of `rulings`.
pub fn judge(claims: &[Claim], rulings: &Rulings, sweep: &Sweep) -> Vec<Verdict> {
    let cases: Vec<&Case> = sweep.runs.iter().step_by(sweep.seeds.len().max(1)).map(|run| &run.case).collect();
    let posed: Vec<Posed> = claims.iter().flat_map(|claim| Posed::of(claim, rulings, &cases, sweep.left_out)).collect();
    let asked: Vec<&Claim> = posed.iter().flat_map(Posed::asked).collect();
    let questions: Vec<Question> = asked.iter().map(|claim| Question::from(*claim)).collect();
    let answers = answers(&questions, sweep.seeds.len(), sweep.runs);
    let judged = asked.iter().zip(&questions).zip(&answers);
    let mut verdicts = judged.map(|((claim, question), answer)| verdict::verdict(claim, question, answer, sweep));
    posed.iter().filter_map(|posed| posed.verdict(&mut verdicts)).collect()
}

/// What was asked, of every case that was asked about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// The cases, by index; of steps those that they lead to.
    pub(crate) cases: Vec<usize>,
    /// Of steps: the cases that they come from.
    before: Vec<usize>,
    /// By seed, a row a case (a step), in it one value a flow or node.
    pub(crate) by_seed: Vec<Vec<Vec<f64>>>,
}

/// The answers to `questions`. `runs` are all runs of a sweep: by case, then by seed.
pub(crate) fn answers(questions: &[Question], seeds: usize, runs: &[Run]) -> Vec<Answer> {
    let numbers = |run: &Run, path: &str| measure::numbers(&measure::branch(run, path), path);
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
        let neighbours = question.neighbours(&pairs, &cases);
        let case = |position: usize| pairs[position].0;
        let (before, cases) = match neighbours {
            Some(neighbours) => neighbours.into_iter().map(|(from, to)| (case(from), case(to))).unzip(),
            None => (Vec::new(), (0..pairs.len()).map(case).collect()),
        };
        Answer { cases, before, by_seed }
    };
    questions.iter().map(answer).collect()
}

/// The largest or smallest; NaN if any value is (`f64::max` would pass over it), and for no values.
fn extreme(values: impl Iterator<Item = f64>, pick: fn(f64, f64) -> f64) -> f64 {
    values.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) }).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
