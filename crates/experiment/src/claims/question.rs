//! What a claim, chart or table asks about each case: a result, alone or compared with another case's result.

use super::expression::Expression;
use super::{Case, matches};
use crate::study::{Claim, Compare, First, Labels, Together};
use itertools::Itertools as _;
use std::collections::{BTreeMap, BTreeSet};

/// The question of a claim, with its expressions: a result of each case, perhaps with a result for comparison.
#[derive(Clone, Debug)]
pub(crate) struct Question<'q> {
    pub(super) claim: &'q Claim,
    pub(crate) measure: Expression,
    pub(super) reaching: Option<Expression>,
    pub(super) than: Option<Expression>,
    /// The value made of several cases.
    pub(super) formula: Option<Expression>,
}

impl Claim {
    /// Creates a claim that asks for a plain result of each case, or for a result compared with the largest among the
    /// cases of `against`.
    pub(crate) fn plain(
        measure: &str,
        together: Option<Together>,
        cases: &BTreeMap<String, Labels>,
        against: &BTreeMap<String, Labels>,
        compare: Compare,
    ) -> Self {
        let (measure, cases, against) = (measure.to_owned(), cases.clone(), against.clone());
        Self { cases, measure, together, against, compare, ..Self::default() }
    }
}

/// Parses an expression. The scenario's check refuses expressions that cannot be parsed; they become an empty path.
fn expression(text: &str) -> Expression {
    Expression::parse(text).unwrap_or_else(|_| Expression::Path(text.to_owned()))
}

impl<'q> From<&'q Claim> for Question<'q> {
    fn from(claim: &'q Claim) -> Self {
        let optional = |text: &Option<String>| text.as_deref().map(expression);
        Self {
            claim,
            measure: expression(&claim.measure),
            reaching: optional(&claim.reaching),
            than: optional(&claim.than),
            formula: optional(&claim.formula),
        }
    }
}

impl Question<'_> {
    /// Returns the neighbours along the axis of `steps`, as positions among `pairs`: the subtrahend and the minuend.
    /// `None` if the claim has no `steps`, or if its `first` uses the steps.
    pub(crate) fn neighbours(&self, pairs: &[(usize, Vec<usize>)], cases: &[&Case]) -> Option<Vec<(usize, usize)>> {
        let first = self.claim.first.as_ref();
        let axis = self.claim.steps.as_ref().filter(|axis| first.is_none_or(|first| first.axis != **axis))?;
        let label = |position: usize| cases[pairs[position].0].get(axis);
        let alike =
            |a: usize, b: usize| cases[a].iter().all(|(other, l)| other == axis || cases[b].get(other) == Some(l));
        let order: Vec<_> = (0..pairs.len()).map(label).unique().collect();
        let before = |position: usize| {
            let rank = order.iter().position(|known| *known == label(position))?;
            let wanted = order.get(rank.checked_sub(1)?)?;
            let found = |other: &usize| label(*other) == *wanted && alike(pairs[*other].0, pairs[position].0);
            (0..pairs.len()).find(found)
        };
        Some((0..pairs.len()).filter_map(|position| Some((before(position)?, position))).collect())
    }

    /// Returns the index of each case of the question, with the cases to which it may be compared. With `first`, one
    /// case stands for all along the axis; with groups, the first case stands for all of one value; with rank
    /// correlation, the first stands for all.
    pub(crate) fn pairs(&self, cases: &[&Case]) -> Vec<(usize, Vec<usize>)> {
        if !self.claim.groups.is_empty() {
            return self.together(cases);
        }
        let mut wanted: Vec<usize> = (0..cases.len()).filter(|&case| matches(&self.claim.cases, cases[case])).collect();
        if let Some(first) = &self.claim.first {
            let all = wanted.clone();
            let alike =
                |a: usize, b: usize| cases[a].iter().all(|(axis, l)| *axis == first.axis || cases[b][axis] == *l);
            wanted.retain(|&case| all.iter().find(|&&other| alike(case, other)) == Some(&case));
        }
        if self.claim.compare == Compare::RankCorrelation {
            return wanted.first().map(|&case| (case, wanted.clone())).into_iter().collect();
        }
        if self.claim.against.is_empty() {
            return wanted.into_iter().map(|case| (case, Vec::new())).collect();
        }
        let pairs = wanted.into_iter().map(|case| (case, self.counterparts(case, cases)));
        // Leaves out cases that would be compared with themselves alone, and those whose counterparts the sweep lacks.
        pairs.filter(|(case, others)| !others.is_empty() && others.as_slice() != [*case]).collect()
    }

    /// Returns the sets of cases that are combined into one value, each with its first case. Cases of a set differ only
    /// in the axes that groups name, and each group has a case in the set.
    fn together(&self, cases: &[&Case]) -> Vec<(usize, Vec<usize>)> {
        let folded: BTreeSet<&String> = self.claim.groups.values().flat_map(BTreeMap::keys).collect();
        let alike = |a: usize, b: usize| {
            cases[a].iter().all(|(axis, label)| folded.contains(axis) || cases[b].get(axis) == Some(label))
        };
        let grouped = |case: &usize| self.claim.groups.values().any(|group| matches(&self.labels(group), cases[*case]));
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for case in (0..cases.len()).filter(grouped) {
            match sets.iter_mut().find(|set| alike(set[0], case)) {
                Some(set) => set.push(case),
                None => sets.push(vec![case]),
            }
        }
        let whole =
            |set: &Vec<usize>| self.claim.groups.values().all(|group| !self.of_group(group, set, cases).is_empty());
        sets.into_iter().filter(whole).map(|set| (set[0], set)).collect()
    }

    /// Returns the labels of a group: those in `where`, replaced by the group's own.
    fn labels(&self, group: &BTreeMap<String, Labels>) -> BTreeMap<String, Labels> {
        self.claim.cases.iter().chain(group).map(|(axis, labels)| (axis.clone(), labels.clone())).collect()
    }

    /// Returns the cases of `set` that belong to a group.
    pub(super) fn of_group(&self, group: &BTreeMap<String, Labels>, set: &[usize], cases: &[&Case]) -> Vec<usize> {
        let labels = self.labels(group);
        set.iter().copied().filter(|&case| matches(&labels, cases[case])).collect()
    }

    /// Returns each case whose results are needed for the answer.
    pub(crate) fn needs(&self, cases: &[&Case]) -> BTreeSet<usize> {
        let pairs = self.pairs(cases).into_iter();
        let named: BTreeSet<usize> = pairs.flat_map(|(case, others)| others.into_iter().chain([case])).collect();
        let Some(first) = &self.claim.first else { return named };
        named.iter().flat_map(|&case| self.along(first, case, cases)).collect()
    }

    /// Returns the cases that `first` examines for this case: those along its axis with the requested labels.
    pub(super) fn along(&self, first: &First, case: usize, cases: &[&Case]) -> Vec<usize> {
        let allowed = self.claim.cases.get(&first.axis);
        let fits = |other: &usize| {
            cases[*other].iter().all(|(axis, label)| {
                if *axis == first.axis {
                    allowed.is_none_or(|labels| labels.contains(label))
                } else {
                    cases[case].get(axis) == Some(label)
                }
            })
        };
        (0..cases.len()).filter(fits).collect()
    }

    /// Returns the cases that differ from this one only in the axes that `against` names.
    fn counterparts(&self, case: usize, cases: &[&Case]) -> Vec<usize> {
        let fits = |other: &Case| {
            other.iter().all(|(axis, label)| match self.claim.against.get(axis) {
                Some(labels) => labels.contains(label) || labels.contains("*"),
                None => cases[case].get(axis) == Some(label),
            })
        };
        (0..cases.len()).filter(|&other| fits(cases[other])).collect()
    }
}
