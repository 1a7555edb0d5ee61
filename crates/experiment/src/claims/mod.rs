//! Claims: from runs to verdicts.
//!
//! A claim's value is computed for each seed (cases and flows of a seed become one number) and then averaged. So the
//! confidence interval over the seeds is one of independent values.

mod combinations;
mod condition;
mod expression;
mod quantity;
mod question;
mod results;
mod settings;
mod values;
mod verdict;
mod window;

pub(crate) use combinations::broken;
pub(crate) use condition::{Condition, in_unit};
pub(crate) use expression::Expression;
pub use quantity::quantity;
pub(crate) use question::Question;
pub(crate) use results::Results;
pub(crate) use settings::settings;
pub(crate) use verdict::unit_of_keys;
pub use verdict::{again, is_open, unit};

use crate::study::{Claim, Extent, Labels, Rulings, Run, Verdict};
use std::collections::BTreeMap;

/// A case: the label that it has on each axis.
pub type Case = BTreeMap<String, String>;

impl Labels {
    /// True if `label` is the label itself, or one of the listed labels.
    pub fn contains(&self, label: &str) -> bool {
        match self {
            Self::One(one) => one == label,
            Self::Any(any) => any.iter().any(|one| one == label),
        }
    }

    /// Iterates over the labels, in the order in which they were written.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Any(any) => any.as_slice(),
        }
        .iter()
        .map(String::as_str)
    }
}

/// True for a case to which a claim or chart refers.
pub fn matches(wanted: &BTreeMap<String, Labels>, case: &Case) -> bool {
    wanted.iter().all(|(axis, labels)| case.get(axis).is_some_and(|label| labels.contains(label)))
}

/// The runs from which verdicts on claims follow.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'s> {
    /// The seeds of every case.
    pub seeds: &'s [u64],
    /// All runs, sorted by case, and by seed within a case.
    pub runs: &'s [Run],
    /// Extent of these runs: all runs of the scenario, or fewer or shorter ones.
    pub extent: Extent,
    /// The cases that `--quick` left out.
    pub left_out: &'s [Case],
}

/// Returns the verdicts on `claims`, in the same order, each for every setting of `rulings`.
pub fn judge(claims: &[Claim], rulings: &Rulings, sweep: &Sweep) -> Vec<Verdict> {
    let results = Results::new(sweep.seeds.len(), sweep.runs);
    let all: Vec<&Case> = results.cases().iter().copied().chain(sweep.left_out).collect();
    let of_claim = |claim: &Claim| -> Vec<Verdict> {
        let settings = settings(claim, rulings, &all).into_iter();
        settings.map(|(label, claim)| settings::ruled(label, &claim, &rulings.neighbour, &results, sweep)).collect()
    };
    claims.iter().flat_map(of_claim).collect()
}

/// Returns the largest or smallest value. NaN if there are no values or one is NaN (`f64::max` would ignore NaN).
fn extreme(values: impl Iterator<Item = f64>, pick: fn(f64, f64) -> f64) -> f64 {
    values.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) }).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
