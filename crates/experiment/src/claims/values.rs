//! The values that answer a question: for each seed one row per case, with one value per flow or node.

use super::Question;
use super::condition::Condition;
use super::expression::{Column, Expression};
use super::results::Seed;
use super::window::{self, Side};
use crate::label;
use crate::study::{Choose, Compare, First, Together};

impl Question<'_> {
    /// Returns the values of all pairs: a row for each case or step, with one value for each flow or node. The ratio of
    /// two zeros is NaN, which fulfils no condition, and so is the comparison of unlike numbers of flows or nodes.
    pub(super) fn rows(&self, seed: &Seed, pairs: &[(usize, Vec<usize>)]) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<f64>> = pairs.iter().map(|(case, others)| self.row(seed, *case, others)).collect();
        let Some(neighbours) = self.neighbours(pairs, seed.cases()) else { return rows };
        let alone = self.than.is_none() && self.claim.against.is_empty();
        let compare = if alone { self.claim.compare } else { Compare::Difference };
        let step = |(before, after): (usize, usize)| {
            in_pairs(&rows[after], &rows[before], |after, before| compared(compare, after, before))
        };
        neighbours.into_iter().map(step).collect()
    }

    fn row(&self, seed: &Seed, case: usize, others: &[usize]) -> Vec<f64> {
        if let Some(formula) = &self.formula {
            return vec![self.computed(seed, formula, others)];
        }
        if let (Compare::RankCorrelation, Some(than)) = (self.claim.compare, &self.than) {
            return vec![self.rank_correlation(seed, than, others)];
        }
        let ours = self.values(seed, case, &self.measure);
        let other = match others {
            [] => None,
            [one] => Some(*one),
            several => self.chosen(seed, case, several),
        };
        if other.is_none() && self.than.is_none() {
            return ours;
        }
        let (other, than) = (other.unwrap_or(case), self.than.as_ref().unwrap_or(&self.measure));
        if let (Compare::Correlation, Some(window)) = (self.claim.compare, &self.claim.series) {
            let ours = Side { run: seed.run(case), what: &self.measure };
            return window::correlations(&ours, &Side { run: seed.run(other), what: than }, window);
        }
        let theirs = self.values(seed, other, than);
        let compare = |ours: f64, theirs: f64| compared(self.claim.compare, ours, theirs);
        if self.than.is_some() {
            return ours.iter().flat_map(|&ours| theirs.iter().map(move |&theirs| compare(ours, theirs))).collect();
        }
        in_pairs(&ours, &theirs, compare)
    }

    /// Evaluates a formula over cases in groups; NaN for a division by zero, or for a list where a value is needed.
    fn computed(&self, seed: &Seed, formula: &Expression, cases: &[usize]) -> f64 {
        let value = |case: usize| match self.of_case(seed, case, &self.measure)[..] {
            [one] => Some(one),
            _ => None,
        };
        let of_group = |name: &str| -> Vec<Column> {
            let group = self.claim.groups.get(name).map(|group| self.of_group(group, cases, seed.cases()));
            group.unwrap_or_default().into_iter().map(|case| vec![value(case)]).collect()
        };
        match &formula.values(&of_group)[..] {
            [one] => one.first().copied().flatten().unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }

    /// Returns Spearman's coefficient of two results over cases; NaN if a case lacks a single value of a result, or if
    /// all values are equal.
    fn rank_correlation(&self, seed: &Seed, than: &Expression, cases: &[usize]) -> f64 {
        let of = |what: &Expression| {
            let values = cases.iter().map(|&case| match self.of_case(seed, case, what)[..] {
                [one] if !one.is_nan() => Some(one),
                _ => None,
            });
            Some(ranks(&values.collect::<Option<Vec<f64>>>()?))
        };
        let (Some(ours), Some(theirs)) = (of(&self.measure), of(than)) else { return f64::NAN };
        window::coefficient(ours.into_iter().zip(theirs))
    }

    /// Returns the case with which our case is compared.
    fn chosen(&self, seed: &Seed, case: usize, others: &[usize]) -> Option<usize> {
        if let Some(result) = &self.reaching {
            let reached = |case: usize| self.values(seed, case, result).iter().sum::<f64>();
            let most = others.iter().map(|&other| reached(other)).fold(f64::NEG_INFINITY, f64::max);
            let enough = reached(case).min(most);
            return others.iter().copied().find(|&other| reached(other) >= enough);
        }
        let what = self.than.as_ref().unwrap_or(&self.measure);
        let value = |case: usize| self.values(seed, case, what).iter().sum::<f64>();
        let by_value = |a: &usize, b: &usize| value(*a).total_cmp(&value(*b));
        match self.claim.choose {
            Choose::Largest => others.iter().copied().max_by(by_value),
            Choose::Smallest => others.iter().copied().min_by(by_value),
        }
    }

    /// Returns the values of a case, which are not compared yet.
    fn values(&self, seed: &Seed, case: usize, what: &Expression) -> Vec<f64> {
        match &self.claim.first {
            Some(first) => vec![self.first(seed, first, case, what)],
            None => self.of_case(seed, case, what),
        }
    }

    /// Returns the number of the first label along the axis whose value is near the largest or fulfils the condition.
    fn first(&self, seed: &Seed, first: &First, case: usize, what: &Expression) -> f64 {
        let of = |case: usize| (case, self.of_case(seed, case, what).iter().sum::<f64>());
        let mut values: Vec<(usize, f64)> = self.along(first, case, seed.cases()).into_iter().map(of).collect();
        if self.claim.steps.as_ref() == Some(&first.axis) {
            let step = |pair: &[(usize, f64)]| (pair[1].0, compared(self.claim.compare, pair[1].1, pair[0].1));
            values = values.windows(2).map(step).collect();
        }
        let most = values.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
        let when = first.when.as_ref().and_then(|text| text.parse::<Condition>().ok());
        let meant = |value: f64| when.map_or(value >= first.share.unwrap_or(1.0) * most, |when| when.holds(value));
        let reached = values.iter().find(|(_, value)| meant(*value));
        let label = reached.and_then(|(case, _)| seed.cases()[*case].get(&first.axis));
        label.and_then(|label| label::place(label)).unwrap_or(f64::NAN)
    }

    fn of_case(&self, seed: &Seed, case: usize, what: &Expression) -> Vec<f64> {
        let values = match &self.claim.series {
            None => {
                let single = |value: f64| -> Column { vec![Some(value)] };
                let columns = what.values(&|path| seed.numbers(case, path).iter().copied().map(single).collect());
                columns.into_iter().map(|column| column.first().copied().flatten().unwrap_or(f64::NAN)).collect()
            }
            Some(window) => window::values(seed.run(case), what, window),
        };
        self.claim.together.map_or(values.clone(), |together| vec![together.of(&values)])
    }
}

/// Returns the rank of each value, from 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let count = |of: &dyn Fn(f64) -> bool| values.iter().filter(|value| of(**value)).count() as f64;
    let place = |value: f64| {
        let (below, up_to) = (count(&|other| other < value), count(&|other| other <= value));
        f64::midpoint(below + 1.0, up_to)
    };
    values.iter().map(|&value| place(value)).collect()
}

/// Returns our value minus the value for comparison, or their ratio; NaN for a correlation, which two values lack.
fn compared(compare: Compare, ours: f64, theirs: f64) -> f64 {
    match compare {
        Compare::Difference => ours - theirs,
        Compare::Ratio => ours / theirs,
        Compare::Correlation | Compare::RankCorrelation => f64::NAN,
    }
}

impl Together {
    /// Reduces values to one number; NaN for no values.
    pub(crate) fn of(self, values: &[f64]) -> f64 {
        let all = values.iter().copied();
        match self {
            Self::Sum | Self::Mean if values.is_empty() => f64::NAN,
            Self::Sum => all.sum(),
            Self::Mean => all.sum::<f64>() / values.len() as f64,
            Self::Max => super::extreme(all, f64::max),
            Self::Min => super::extreme(all, f64::min),
        }
    }
}

fn in_pairs(ours: &[f64], theirs: &[f64], compare: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    if ours.len() != theirs.len() {
        return vec![f64::NAN];
    }
    ours.iter().zip(theirs).map(|(ours, theirs)| compare(*ours, *theirs)).collect()
}
