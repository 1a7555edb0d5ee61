//! What a claim, chart or table asks of every case: a result, alone or beside that of another case.

use super::condition::Condition;
use super::expression::{Column, Expression};
use super::window::{self, Side};
use super::{Case, matches};
use crate::label;
use crate::study::{Choose, Claim, Compare, First, Labels, Run, Together, Window};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A result of each case, and what it is compared with.
#[derive(Clone, Debug)]
pub(crate) struct Question<'q> {
    pub(crate) measure: Expression,
    pub(crate) series: Option<&'q Window>,
    pub(crate) together: Option<Together>,
    pub(crate) first: Option<&'q First>,
    pub(crate) cases: &'q BTreeMap<String, Labels>,
    pub(crate) against: &'q BTreeMap<String, Labels>,
    pub(crate) choose: Choose,
    pub(crate) reaching: Option<Expression>,
    pub(crate) than: Option<Expression>,
    pub(crate) compare: Compare,
    pub(crate) steps: Option<&'q str>,
    /// What several cases make together, and which.
    pub(crate) formula: Option<Expression>,
    pub(crate) groups: Cow<'q, BTreeMap<String, BTreeMap<String, Labels>>>,
}

/// An expression that cannot be read is refused when a scenario is; here it is a path that leads nowhere.
fn expression(text: &str) -> Expression {
    Expression::parse(text).unwrap_or_else(|_| Expression::Path(text.to_owned()))
}

impl<'q> From<&'q Claim> for Question<'q> {
    fn from(claim: &'q Claim) -> Self {
        Self {
            measure: expression(&claim.measure),
            series: claim.series.as_ref(),
            together: claim.together,
            first: claim.first.as_ref(),
            cases: &claim.cases,
            against: &claim.against,
            choose: claim.choose,
            reaching: claim.reaching.as_deref().map(expression),
            than: claim.than.as_deref().map(expression),
            compare: claim.compare,
            steps: claim.steps.as_deref(),
            formula: claim.formula.as_deref().map(expression),
            groups: Cow::Borrowed(&claim.groups),
        }
    }
}

impl<'q> Question<'q> {
    /// A plain result of each case, or one beside the largest of those of `against`.
    pub(crate) fn plain(
        measure: &'q str,
        together: Option<Together>,
        cases: &'q BTreeMap<String, Labels>,
        against: &'q BTreeMap<String, Labels>,
        compare: Compare,
    ) -> Self {
        let (choose, measure) = (Choose::Largest, expression(measure));
        let (series, first, reaching, than, steps, formula) = (None, None, None, None, None, None);
        let groups = Cow::Owned(BTreeMap::new());
        Self {
            measure,
            series,
            together,
            first,
            cases,
            against,
            choose,
            reaching,
            than,
            compare,
            steps,
            formula,
            groups,
        }
    }

    /// The results that are needed to answer.
    fn paths(&self) -> BTreeSet<&str> {
        let all = [Some(&self.measure), self.than.as_ref(), self.reaching.as_ref()];
        all.into_iter().flatten().filter(|_| self.series.is_none()).flat_map(Expression::paths).collect()
    }

    /// The neighbours along the axis of `steps`, as positions among `pairs`: which is subtracted, and from which. Nothing
    /// where there are no steps, or `first` takes them already.
    pub(crate) fn neighbours(&self, pairs: &[(usize, Vec<usize>)], cases: &[&Case]) -> Option<Vec<(usize, usize)>> {
        let axis = self.steps.filter(|axis| self.first.is_none_or(|first| first.axis != *axis))?;
        let label = |position: usize| cases[pairs[position].0].get(axis);
        let alike =
            |a: usize, b: usize| cases[a].iter().all(|(other, l)| other == axis || cases[b].get(other) == Some(l));
        let mut order = Vec::new();
        for position in 0..pairs.len() {
            if !order.contains(&label(position)) {
                order.push(label(position));
            }
        }
        let before = |position: usize| {
            let rank = order.iter().position(|known| *known == label(position))?;
            let wanted = order.get(rank.checked_sub(1)?)?;
            let found = |other: &usize| label(*other) == *wanted && alike(pairs[*other].0, pairs[position].0);
            (0..pairs.len()).find(found)
        };
        Some((0..pairs.len()).filter_map(|position| Some((before(position)?, position))).collect())
    }

    /// The cases that are asked about, each with those that it may be compared with, by index. With `first`, one case
    /// stands for all along the axis. With groups, the first case of those that make one value stands for them, and the first of
    /// all where they are correlated.
    pub(crate) fn pairs(&self, cases: &[&Case]) -> Vec<(usize, Vec<usize>)> {
        if !self.groups.is_empty() {
            return self.together(cases);
        }
        let mut wanted: Vec<usize> = (0..cases.len()).filter(|&case| matches(self.cases, cases[case])).collect();
        if let Some(first) = self.first {
            let all = wanted.clone();
            let alike =
                |a: usize, b: usize| cases[a].iter().all(|(axis, l)| *axis == first.axis || cases[b][axis] == *l);
            wanted.retain(|&case| all.iter().find(|&&other| alike(case, other)) == Some(&case));
        }
        if self.compare == Compare::RankCorrelation {
            return wanted.first().map(|&case| (case, wanted.clone())).into_iter().collect();
        }
        if self.against.is_empty() {
            return wanted.into_iter().map(|case| (case, Vec::new())).collect();
        }
        let pairs = wanted.into_iter().map(|case| (case, self.counterparts(case, cases)));
        // A case of the other kind is not compared with itself; one of several may be the best of them. What a sparse sweep
        // has no counterpart for is not compared.
        pairs.filter(|(case, others)| !others.is_empty() && others.as_slice() != [*case]).collect()
    }

    /// The cases that make one value, the first of them beside all: they differ only in the axes that groups name, and every
    /// group has one.
    fn together(&self, cases: &[&Case]) -> Vec<(usize, Vec<usize>)> {
        let folded: BTreeSet<&String> = self.groups.values().flat_map(BTreeMap::keys).collect();
        let alike = |a: usize, b: usize| {
            cases[a].iter().all(|(axis, label)| folded.contains(axis) || cases[b].get(axis) == Some(label))
        };
        let grouped = |case: &usize| self.groups.values().any(|group| matches(&self.labels(group), cases[*case]));
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for case in (0..cases.len()).filter(grouped) {
            match sets.iter_mut().find(|set| alike(set[0], case)) {
                Some(set) => set.push(case),
                None => sets.push(vec![case]),
            }
        }
        let whole = |set: &Vec<usize>| self.groups.values().all(|group| !self.of_group(group, set, cases).is_empty());
        sets.into_iter().filter(whole).map(|set| (set[0], set)).collect()
    }

    /// The labels of a group: its own, laid over those of `where`.
    fn labels(&self, group: &BTreeMap<String, Labels>) -> BTreeMap<String, Labels> {
        self.cases.iter().chain(group).map(|(axis, labels)| (axis.clone(), labels.clone())).collect()
    }

    /// Those of some cases that belong to a group.
    fn of_group(&self, group: &BTreeMap<String, Labels>, set: &[usize], cases: &[&Case]) -> Vec<usize> {
        let labels = self.labels(group);
        set.iter().copied().filter(|&case| matches(&labels, cases[case])).collect()
    }

    /// Every case that is read to answer.
    pub(crate) fn needs(&self, cases: &[&Case]) -> BTreeSet<usize> {
        let pairs = self.pairs(cases).into_iter();
        let named: BTreeSet<usize> = pairs.flat_map(|(case, others)| others.into_iter().chain([case])).collect();
        let Some(first) = self.first else { return named };
        named.iter().flat_map(|&case| self.along(first, case, cases)).collect()
    }

    /// The cases that `first` goes through for this one: those along its axis, with the labels that are asked for.
    fn along(&self, first: &First, case: usize, cases: &[&Case]) -> Vec<usize> {
        let allowed = self.cases.get(&first.axis);
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

    /// The cases that differ from this one only in the labels of `against`.
    fn counterparts(&self, case: usize, cases: &[&Case]) -> Vec<usize> {
        let fits = |other: &Case| {
            other.iter().all(|(axis, label)| match self.against.get(axis) {
                Some(labels) => labels.contains(label) || labels.contains("*"),
                None => cases[case].get(axis) == Some(label),
            })
        };
        (0..cases.len()).filter(|&other| fits(cases[other])).collect()
    }
}

/// What was asked of one run: the numbers at every path. A run's whole tree is large, and sweeps have thousands of runs.
#[derive(Debug, Default)]
pub(crate) struct Facts(BTreeMap<String, Vec<f64>>);

impl Facts {
    /// The results that `questions` need; `numbers` gives those of the run at a path.
    pub(crate) fn new(questions: &[Question], numbers: impl Fn(&str) -> Vec<f64>) -> Self {
        let paths: BTreeSet<&str> = questions.iter().flat_map(Question::paths).collect();
        Self(paths.into_iter().map(|path| (path.to_owned(), numbers(path))).collect())
    }

    fn at(&self, path: &str) -> Vec<f64> {
        self.0.get(path).cloned().unwrap_or_default()
    }
}

/// The runs of one seed: by case, their labels, results and series.
pub(crate) struct Seed<'r> {
    pub(crate) cases: &'r [&'r Case],
    /// The results of every case.
    pub(crate) facts: Vec<&'r Facts>,
    /// The runs, for their series.
    pub(crate) runs: Vec<&'r Run>,
}

impl Seed<'_> {
    /// The values of every pair: a row a case (a step), in it one value a flow or node. NaN where a ratio is of two zeros,
    /// which no condition holds for.
    pub(crate) fn rows(&self, question: &Question, pairs: &[(usize, Vec<usize>)]) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<f64>> = pairs.iter().map(|(case, others)| self.row(question, *case, others)).collect();
        let Some(neighbours) = question.neighbours(pairs, self.cases) else { return rows };
        let alone = question.than.is_none() && question.against.is_empty();
        let compare = if alone { question.compare } else { Compare::Difference };
        let step = |(before, after): (usize, usize)| {
            rows[after].iter().zip(&rows[before]).map(|(after, before)| compared(compare, *after, *before)).collect()
        };
        neighbours.into_iter().map(step).collect()
    }

    fn row(&self, question: &Question, case: usize, others: &[usize]) -> Vec<f64> {
        if let Some(formula) = &question.formula {
            return vec![self.computed(question, formula, others)];
        }
        if let (Compare::RankCorrelation, Some(than)) = (question.compare, &question.than) {
            return vec![self.rank_correlation(question, than, others)];
        }
        let ours = self.values(question, case, &question.measure);
        let other = match others {
            [] => None,
            [one] => Some(*one),
            several => self.chosen(question, case, several),
        };
        if other.is_none() && question.than.is_none() {
            return ours;
        }
        let (other, than) = (other.unwrap_or(case), question.than.as_ref().unwrap_or(&question.measure));
        if let (Compare::Correlation, Some(window)) = (question.compare, question.series) {
            let ours = Side { run: self.runs[case], what: &question.measure };
            return window::correlations(&ours, &Side { run: self.runs[other], what: than }, window);
        }
        let theirs = self.values(question, other, than);
        let compare = |ours: f64, theirs: f64| compared(question.compare, ours, theirs);
        if question.than.is_some() {
            return ours.iter().flat_map(|&ours| theirs.iter().map(move |&theirs| compare(ours, theirs))).collect();
        }
        ours.into_iter().zip(theirs).map(|(ours, theirs)| compare(ours, theirs)).collect()
    }

    /// What a formula makes of cases in groups; NaN where it divides by zero, or has a list in the place of a value.
    fn computed(&self, question: &Question, formula: &Expression, cases: &[usize]) -> f64 {
        let value = |case: usize| match self.of_case(question, case, &question.measure)[..] {
            [one] => Some(one),
            _ => None,
        };
        let of_group = |name: &str| -> Vec<Column> {
            let group = question.groups.get(name).map(|group| question.of_group(group, cases, self.cases));
            group.unwrap_or_default().into_iter().map(|case| vec![value(case)]).collect()
        };
        match &formula.values(&of_group)[..] {
            [one] => one.first().copied().flatten().unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }

    /// Spearman's coefficient of two results over cases; NaN where a case has not one value of each, or all have the same.
    fn rank_correlation(&self, question: &Question, than: &Expression, cases: &[usize]) -> f64 {
        let of = |what: &Expression| {
            let values = cases.iter().map(|&case| match self.of_case(question, case, what)[..] {
                [one] if !one.is_nan() => Some(one),
                _ => None,
            });
            Some(ranks(&values.collect::<Option<Vec<f64>>>()?))
        };
        let (Some(ours), Some(theirs)) = (of(&question.measure), of(than)) else { return f64::NAN };
        window::coefficient(ours.into_iter().zip(theirs))
    }

    /// The one of several cases that ours is compared with.
    fn chosen(&self, question: &Question, case: usize, others: &[usize]) -> Option<usize> {
        if let Some(result) = &question.reaching {
            let reached = |case: usize| self.values(question, case, result).iter().sum::<f64>();
            let most = others.iter().map(|&other| reached(other)).fold(f64::NEG_INFINITY, f64::max);
            let enough = reached(case).min(most);
            return others.iter().copied().find(|&other| reached(other) >= enough);
        }
        let what = question.than.as_ref().unwrap_or(&question.measure);
        let value = |case: usize| self.values(question, case, what).iter().sum::<f64>();
        let by_value = |a: &usize, b: &usize| value(*a).total_cmp(&value(*b));
        match question.choose {
            Choose::Largest => others.iter().copied().max_by(by_value),
            Choose::Smallest => others.iter().copied().min_by(by_value),
        }
    }

    /// What a case yields before it is compared.
    fn values(&self, question: &Question, case: usize, what: &Expression) -> Vec<f64> {
        match question.first {
            Some(first) => vec![self.first(question, first, case, what)],
            None => self.of_case(question, case, what),
        }
    }

    /// The number meant by the first label along the axis whose value is near the largest, or fulfils the condition.
    fn first(&self, question: &Question, first: &First, case: usize, what: &Expression) -> f64 {
        let of = |case: usize| (case, self.of_case(question, case, what).iter().sum::<f64>());
        let mut values: Vec<(usize, f64)> = question.along(first, case, self.cases).into_iter().map(of).collect();
        if question.steps == Some(first.axis.as_str()) {
            let step = |pair: &[(usize, f64)]| (pair[1].0, compared(question.compare, pair[1].1, pair[0].1));
            values = values.windows(2).map(step).collect();
        }
        let most = values.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
        let when = first.when.as_ref().and_then(|text| text.parse::<Condition>().ok());
        let meant = |value: f64| when.map_or(value >= first.share.unwrap_or(1.0) * most, |when| when.holds(value));
        let reached = values.iter().find(|(_, value)| meant(*value));
        let label = reached.and_then(|(case, _)| self.cases[*case].get(&first.axis));
        label.and_then(|label| label::place(label)).unwrap_or(f64::NAN)
    }

    fn of_case(&self, question: &Question, case: usize, what: &Expression) -> Vec<f64> {
        let values = match question.series {
            None => {
                let single = |value: f64| -> Column { vec![Some(value)] };
                let columns = what.values(&|path| self.facts[case].at(path).into_iter().map(single).collect());
                columns.into_iter().map(|column| column.first().copied().flatten().unwrap_or(f64::NAN)).collect()
            }
            Some(window) => window::values(self.runs[case], what, window),
        };
        question.together.map_or(values.clone(), |together| vec![together.of(&values)])
    }
}

/// The place of each value among all, from 1; equal values have the mean of their places.
fn ranks(values: &[f64]) -> Vec<f64> {
    let count = |of: &dyn Fn(f64) -> bool| values.iter().filter(|value| of(**value)).count() as f64;
    let place = |value: f64| {
        let (below, up_to) = (count(&|other| other < value), count(&|other| other <= value));
        f64::midpoint(below + 1.0, up_to)
    };
    values.iter().map(|&value| place(value)).collect()
}

/// Ours less theirs, or ours over theirs; NaN for a correlation, which single values do not have.
fn compared(compare: Compare, ours: f64, theirs: f64) -> f64 {
    match compare {
        Compare::Difference => ours - theirs,
        Compare::Ratio => ours / theirs,
        Compare::Correlation | Compare::RankCorrelation => f64::NAN,
    }
}

impl Together {
    /// NaN of no values.
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
