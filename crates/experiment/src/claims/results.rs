//! The results that claims, charts and tables ask for.

use super::{Case, Question};
use crate::measure;
use crate::study::Run;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Reads the numbers at a path of the run with this index.
type Read<'r> = Box<dyn Fn(usize, &str) -> Vec<f64> + 'r>;

/// The results of all runs of a sweep, sorted by case, and by seed within a case. Results are kept once they are read,
/// because a run's whole tree is large.
pub(crate) struct Results<'r> {
    cases: Vec<&'r Case>,
    pub(super) seeds: usize,
    pub(super) runs: &'r [Run],
    read: Read<'r>,
    known: Vec<RefCell<BTreeMap<String, Rc<[f64]>>>>,
}

/// The values of a question for every case of the question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// Index of each case; for steps, of the case at which the step ends.
    pub(crate) cases: Vec<usize>,
    /// For steps, index of the case at which each step begins.
    pub(super) before: Vec<usize>,
    /// Values of each seed: a row for each case or step, with one value for each flow or node.
    pub(crate) by_seed: Vec<Vec<Vec<f64>>>,
}

impl<'r> Results<'r> {
    /// Takes the results of `runs`.
    pub(crate) fn new(seeds: usize, runs: &'r [Run]) -> Self {
        let cases = runs.iter().step_by(seeds.max(1)).map(|run| &run.case).collect();
        let read = move |run: usize, path: &str| measure::numbers(&measure::branch(&runs[run], path), path);
        Self { runs, ..Self::of(cases, seeds, Box::new(read)) }
    }

    /// Takes the results of cases; `read` reads them.
    pub(super) fn of(cases: Vec<&'r Case>, seeds: usize, read: Read<'r>) -> Self {
        let known = (0..cases.len() * seeds).map(|_| RefCell::default()).collect();
        Self { cases, seeds, runs: &[], read, known }
    }

    pub(crate) fn answer(&self, question: &Question) -> Answer {
        let pairs = question.pairs(&self.cases);
        let of_seed = |seed: usize| question.rows(&Seed { results: self, seed }, &pairs);
        let by_seed = (0..self.seeds).map(of_seed).collect();
        let case = |position: usize| pairs[position].0;
        let (before, cases) = match question.neighbours(&pairs, &self.cases) {
            Some(neighbours) => neighbours.into_iter().map(|(from, to)| (case(from), case(to))).unzip(),
            None => (Vec::new(), (0..pairs.len()).map(case).collect()),
        };
        Answer { cases, before, by_seed }
    }

    pub(super) fn cases(&self) -> &[&'r Case] {
        &self.cases
    }
}

/// The results of one seed.
pub(super) struct Seed<'r> {
    pub(super) results: &'r Results<'r>,
    pub(super) seed: usize,
}

impl<'r> Seed<'r> {
    pub(super) fn cases(&self) -> &'r [&'r Case] {
        &self.results.cases
    }

    pub(super) fn run(&self, case: usize) -> &'r Run {
        &self.results.runs[self.place(case)]
    }

    /// Returns the numbers of a case at a path.
    pub(super) fn numbers(&self, case: usize, path: &str) -> Rc<[f64]> {
        let place = self.place(case);
        let known = &self.results.known[place];
        if let Some(numbers) = known.borrow().get(path) {
            return Rc::clone(numbers);
        }
        let numbers: Rc<[f64]> = (self.results.read)(place, path).into();
        known.borrow_mut().insert(path.to_owned(), Rc::clone(&numbers));
        numbers
    }

    fn place(&self, case: usize) -> usize {
        case * self.results.seeds + self.seed
    }
}
