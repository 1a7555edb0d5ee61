//! Faults that are found before a run: networks that cannot be built, parameters that nothing uses, claims and charts
//! about results that will not exist.

mod charts;

use super::cases::Scenario;
use super::draft::Draft;
use super::file::Files;
use super::refusal::Refusal;
use super::{ceilings, document, hints, idle};
use crate::answer;
use crate::claims::{self, Case, Condition, Expression, Question};
use crate::label;
use crate::measure::{self, Missing};
use crate::model::{self, Fault};
use crate::study::{Axis, Claim, Compare, First, Labels, Modelled, Reported, Table, Unit, Window};
use crate::title;
use itertools::Itertools as _;
use serde_json::Value;
use sim::World;
use sim::config::{Network, Role};
use sim::results::Outcome;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Checks a scenario that was read without fault. Returns the offsets of settings of the base that have no effect.
/// Errors: the first fault.
pub(super) fn check(draft: &Draft, scenario: &Scenario, files: &dyn Files) -> Result<BTreeSet<usize>, Refusal> {
    names(draft)?;
    let mut base = Some(blank(draft, &[], &scenario.base)?);
    let mut blanks = Vec::with_capacity(scenario.cases.len());
    for (case, chosen) in scenario.cases.iter().zip(draft.combinations()) {
        let of_case = || blank(draft, &chosen, &case.network).map_err(|refusal| refusal.note(in_case(&case.labels)));
        let blank = match base.take_if(|_| chosen.is_empty()) {
            Some(base) => base,
            None => of_case()?,
        };
        // Most cases differ only in settings, and successive cases of an axis are similar.
        let known = blanks.iter().rev().find(|known: &&Rc<Blank>| known.is_like(&blank)).cloned();
        blanks.push(known.unwrap_or_else(|| Rc::new(blank)));
    }
    let idle = idle::check(draft, scenario, files)?;
    if scenario.cases.is_empty() {
        // Claims, charts and tables need the sweep, but it is not run.
        return Ok(idle);
    }
    let future = Future { draft, scenario, blanks };
    future.check_rulings()?;
    for (index, claim) in scenario.claims.iter().enumerate() {
        future.check_claim(index, claim)?;
    }
    for (index, chart) in scenario.charts.iter().enumerate() {
        future.check_chart(index, chart)?;
    }
    future.check_answer()?;
    for (index, table) in scenario.tables.iter().enumerate() {
        future.check_table(index, table)?;
    }
    Ok(idle)
}

/// Formats a case: "in the case scheme = ADTH-DF, target = 200 ms"; empty if nothing varies.
fn in_case(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return String::new();
    }
    format!("in the case {}", labels.iter().map(|(axis, label)| format!("{axis} = {label}")).join(", "))
}

/// Largest length of a name. Tables, paths of results and, for nodes, names of files contain it.
const LONGEST_NAME: usize = 200;

/// Checks names. The simulator also refuses repeated names, but does not know the second name's span, nor that names
/// are parts of dotted paths.
fn names(draft: &Draft) -> Result<(), Refusal> {
    for (key, what) in [("node", "nodes"), ("flow", "flows")] {
        let elements = draft.network.get(key).and_then(|elements| elements.get_ref().as_array());
        let mut seen = BTreeSet::new();
        for element in elements.into_iter().flat_map(|elements| elements.iter()) {
            let Some(name) = element.get_ref().get("name") else { continue };
            let text = name.get_ref().as_str().unwrap_or_default();
            if text.is_empty() || text == "*" || text.contains('.') {
                let refusal = draft.source.refuse(name.span(), format!("`{text}` cannot be a name"));
                return Err(refusal.note("a name is part of dotted paths, where `*` stands for every name"));
            }
            if text.len() > LONGEST_NAME {
                let message = format!("a name has {LONGEST_NAME} bytes at most");
                return Err(draft.source.refuse(name.span(), message));
            }
            if !seen.insert(text) {
                return Err(draft.source.refuse(name.span(), format!("two {what} are called `{text}`")));
            }
        }
    }
    Ok(())
}

/// The results that cases will have, without their values.
struct Blank {
    outcome: Outcome,
    model: Option<Modelled>,
    roles: Vec<(String, Role)>,
    /// Tree of the results, made at its first use: a file without claims, charts and tables needs none.
    tree: OnceCell<Value>,
}

impl Blank {
    /// True if the result trees of both blanks are the same.
    fn is_like(&self, other: &Self) -> bool {
        let is_modelled = self.model.is_some() || other.model.is_some();
        !is_modelled && self.roles == other.roles && self.outcome == other.outcome
    }

    fn tree(&self) -> &Value {
        self.tree.get_or_init(|| {
            let mut tree = measure::tree(&self.outcome, self.model.as_ref());
            measure::add_stations(&mut tree, &self.roles);
            tree["series"] = serde_json::to_value(&self.outcome.series).unwrap_or_default();
            tree["distributions"] = serde_json::to_value(&self.outcome.distributions).unwrap_or_default();
            tree
        })
    }
}

/// Returns the future results of a network. An error points at the key at fault, in the file or in `--set`.
fn blank(draft: &Draft, chosen: &[usize], network: &Network) -> Result<Blank, Refusal> {
    let refuse = |path: Option<&str>, message: String| {
        let table = draft.network_with(chosen).ok();
        match path.zip(table).and_then(|(path, table)| document::locate(&table, path)) {
            Some(span) => draft.source.refuse(span, message),
            None => draft.source.refuse_file(message),
        }
    };
    ceilings::check(network).map_err(|(path, message)| refuse(Some(&path), message))?;
    let world = World::new(network, 0).map_err(|error| {
        let refusal = refuse(error.path(), error.to_string()).note(error.note().unwrap_or_default());
        match error.unknown() {
            None => refusal,
            Some(unknown) => hints::with_names(refusal, &unknown.name, unknown.known.iter().map(String::as_str)),
        }
    })?;
    let refuse = |Fault { key, message }: Fault| draft.refuse_at(&format!("model.{key}"), message);
    let roles = world.roster().nodes.into_iter().map(|node| (node.name, node.role)).collect();
    let outcome = world.names();
    let model = model::of(&draft.head.model, network, &outcome).map_err(refuse)?;
    Ok(Blank { outcome, model, roles, tree: OnceCell::new() })
}

/// The results that a scenario will have, without their values.
struct Future<'d, 's> {
    draft: &'d Draft<'s>,
    scenario: &'d Scenario,
    blanks: Vec<Rc<Blank>>,
}

impl Future<'_, '_> {
    fn check_claim(&self, index: usize, claim: &Claim) -> Result<(), Refusal> {
        let at = |key: &str| format!("claim.{index}.{key}");
        let is_new = self.scenario.claims[..index].iter().all(|other| other.id != claim.id);
        self.require(is_new, &at("id"), format!("an earlier claim has the id `{}` too", claim.id))?;
        let is_told = !matches!(claim.reported, Some(Reported::Number(value)) if !value.is_finite());
        self.require(is_told, &at("reported"), "expected a number, or words in quotes")?;
        self.check_conditions(&at, claim)?;
        if let Some(rule) = claims::broken(claim) {
            return Err(self.draft.refuse_at(&at(rule.key), rule.sentence));
        }
        self.check_labels(&at("where"), &claim.cases)?;
        self.check_against(&at("against"), &claim.against)?;
        self.check_formula(&at, claim)?;
        if let Some(first) = &claim.first {
            self.check_first(&at("first"), first, &claim.cases)?;
        }
        if let Some(axis) = &claim.steps {
            self.axis(&at("steps"), axis)?;
        }
        let axes = [
            ("against", claim.against.contains_key(self.each())),
            ("steps", claim.steps.as_deref() == Some(self.each())),
            ("groups", claim.groups.values().any(|group| group.contains_key(self.each()))),
        ];
        let first = ("first", claim.first.as_ref().is_some_and(|first| first.axis == self.each()));
        if let Some((key, _)) = axes.into_iter().chain([first]).find(|(_, along)| *along) {
            let message =
                format!("each label of `{0}` is judged separately, so no claim may compare its labels", self.each());
            return Err(self.draft.refuse_at(&at(key), message));
        }
        let cases: Vec<_> = self.scenario.cases.iter().map(|case| &case.labels).collect();
        let all: Vec<_> = cases.iter().copied().chain(&self.scenario.left_out).collect();
        let settings = claims::settings(claim, &self.scenario.rulings, &all);
        settings.iter().try_for_each(|(_, claim)| self.check_setting(&at, claim, &cases, &all))
    }

    /// Checks that the labels of groups exist, and that the formula names only these groups.
    fn check_formula(&self, at: &dyn Fn(&str) -> String, claim: &Claim) -> Result<(), Refusal> {
        let Some(formula) = &claim.formula else { return Ok(()) };
        for (name, labels) in &claim.groups {
            self.check_labels(&at(&format!("groups.{name}")), labels)?;
        }
        let expression = self.parsed(&at("formula"), formula)?;
        let Some(name) = expression.paths().into_iter().find(|name| !claim.groups.contains_key(*name)) else {
            return Ok(());
        };
        let refusal = self.draft.refuse_at(&at("formula"), format!("no group is called `{name}`"));
        Err(hints::with_names(refusal, name, claim.groups.keys().map(String::as_str)))
    }

    /// Checks that one setting has cases for the claim, and results with the names that the claim uses.
    fn check_setting(
        &self,
        at: &dyn Fn(&str) -> String,
        claim: &Claim,
        cases: &[&Case],
        all: &[&Case],
    ) -> Result<(), Refusal> {
        let question = Question::from(claim);
        let pairs = question.pairs(all);
        if pairs.is_empty() {
            let some = all.iter().any(|case| claims::matches(&claim.cases, case));
            let (key, message) = if claim.formula.is_some() {
                ("groups", "a group has no cases")
            } else if some {
                ("against", "the claim compares each case with itself: give other labels in `where`")
            } else {
                ("where", "`only` in `[vary]` leaves out every case with these labels")
            };
            return Err(self.draft.refuse_at(&at(key), message));
        }
        if let Some(axis) = &claim.steps {
            let of_first = claim.first.as_ref().is_some_and(|first| first.axis == *axis);
            if !of_first && question.neighbours(&pairs, all).is_none_or(|steps| steps.is_empty()) {
                let message =
                    format!("all cases of the claim have the same label of `{axis}`, so there are no steps to compare");
                return Err(self.draft.refuse_at(&at("steps"), message));
            }
        }
        for case in question.pairs(cases).iter().flat_map(|(case, others)| others.iter().chain([case])) {
            let blank = self.blanks[*case].tree();
            if let Some(window) = &claim.series {
                self.check_window(&at("series"), window, blank)?;
            }
            let leaf = if claim.series.is_some() { Leaf::Series } else { Leaf::Number };
            for (key, text) in measures(claim) {
                self.check_expression(&at(key), text, blank, leaf)?;
            }
        }
        Ok(())
    }

    /// Returns the future results of the cases with these labels.
    fn trees(&self, wanted: &BTreeMap<String, Labels>) -> impl Iterator<Item = &Value> {
        let cases = self.scenario.cases.iter().zip(&self.blanks);
        cases.filter(|(case, _)| claims::matches(wanted, &case.labels)).map(|(_, blank)| blank.tree())
    }

    /// Returns the axis within whose labels claims are ruled on; empty without one.
    fn each(&self) -> &str {
        self.scenario.rulings.each.as_deref().unwrap_or_default()
    }

    /// Checks that all names in `[rulings]` exist, and that no choice is its own neighbour.
    fn check_rulings(&self) -> Result<(), Refusal> {
        let rulings = &self.scenario.rulings;
        if let Some(axis) = &rulings.each {
            self.axis("rulings.each", axis)?;
        }
        for (index, neighbour) in rulings.neighbour.iter().enumerate() {
            let at = |key: &str| format!("rulings.neighbour.{index}.{key}");
            let known = &self.axis(&at("axis"), &neighbour.axis)?.labels;
            let named = neighbour.instead.iter().map(|label| ("instead", label)).chain([("label", &neighbour.label)]);
            for (key, label) in named {
                if !known.contains(label) {
                    let message = format!("the axis `{}` has no label `{label}`", neighbour.axis);
                    let refusal = self.draft.refuse_at(&at(key), message);
                    return Err(hints::with_names(refusal, label, known.iter().map(String::as_str)));
                }
            }
            let message = "`parameter` is shown next to verdicts, so it cannot be empty";
            self.require(!neighbour.parameter.trim().is_empty(), &at("parameter"), message)?;
            let message = "`rulings.each` names this axis, so it cannot have neighbours";
            self.require(rulings.each.as_ref() != Some(&neighbour.axis), &at("axis"), message)?;
            let is_other = !neighbour.instead.is_empty() && !neighbour.instead.contains(&neighbour.label);
            self.require(is_other, &at("instead"), "expected at least one label of the axis other than `label`")?;
        }
        Ok(())
    }

    /// Checks that the conditions can be read, and that their units suit the measured values.
    fn check_conditions(&self, at: &dyn Fn(&str) -> String, claim: &Claim) -> Result<(), Refusal> {
        for (key, text) in measures(claim) {
            self.parsed(&at(key), text)?;
        }
        let read =
            |key: &str, text: &str| Condition::read(text).map_err(|message| self.draft.refuse_at(&at(key), message));
        let (_, written) = read("holds", &claim.holds)?;
        let of_keys = claims::unit_of_keys(claim);
        let message = format!("the keys of `measure` imply the unit {}: leave `unit` out", of_keys.words());
        self.require(of_keys == Unit::Number || claim.unit.is_none(), &at("unit"), message)?;
        self.check_units(&at("holds"), claim.unit.unwrap_or(of_keys), written)?;
        for (key, text) in [
            ("share_of_runs", claim.share_of_runs.as_ref()),
            ("first.when", claim.first.as_ref().and_then(|first| first.when.as_ref())),
            ("series.when", claim.series.as_ref().and_then(|window| window.when.as_ref())),
        ] {
            text.map_or(Ok(()), |text| read(key, text).map(drop))?;
        }
        Ok(())
    }

    /// Checks that a measured value can be compared with a number in the written unit.
    fn check_units(&self, at: &str, measured: Unit, written: Unit) -> Result<(), Refusal> {
        let message = format!("cannot compare {} with {}", measured.words(), written.words());
        self.require(measured.takes(written), at, message)
    }

    /// Refuses the key at `at` unless the condition holds.
    fn require(&self, holds: bool, at: &str, message: impl Into<String>) -> Result<(), Refusal> {
        if holds { Ok(()) } else { Err(self.draft.refuse_at(at, message)) }
    }

    fn parsed(&self, at: &str, text: &str) -> Result<Expression, Refusal> {
        Expression::parse(text).map_err(|message| self.draft.refuse_at(at, message))
    }

    /// Checks that each result in an expression exists, and that lists in one operation have equal lengths.
    fn check_expression(&self, at: &str, text: &str, blank: &Value, leaf: Leaf) -> Result<(), Refusal> {
        let expression = self.parsed(at, text)?;
        for path in expression.paths() {
            match leaf {
                Leaf::Number => self.check_measure(at, path, blank, leaf)?,
                Leaf::Series => self.check_recorded(at, path, blank, "series")?,
            }
        }
        let root = if leaf == Leaf::Series { &blank["series"] } else { blank };
        let found = |path: &str| measure::find(root, path).map_or(0, |found| found.len());
        if expression.values(&|path| vec![vec![None]; found(path)]).is_empty() {
            let counts = expression.paths().into_iter().map(|path| format!("`{path}` has {}", found(path))).join(", ");
            return Err(self.draft.refuse_at(at, format!("lists of different lengths: {counts}")));
        }
        Ok(())
    }

    fn check_against(&self, at: &str, against: &BTreeMap<String, Labels>) -> Result<(), Refusal> {
        let named = against.iter().filter(|(_, labels)| !labels.contains("*"));
        self.check_labels(at, &named.map(|(axis, labels)| (axis.clone(), labels.clone())).collect())?;
        against.keys().try_for_each(|axis| self.axis(&format!("{at}.{axis}"), axis).map(drop))
    }

    fn check_compare(&self, at: &str, how: Compare, against: &BTreeMap<String, Labels>) -> Result<(), Refusal> {
        let has_other = how == Compare::default() || !against.is_empty();
        self.require(has_other, at, "`compare` needs something to compare with: `against`")
    }

    fn check_first(&self, at: &str, first: &First, cases: &BTreeMap<String, Labels>) -> Result<(), Refusal> {
        let axis = self.axis(&format!("{at}.axis"), &first.axis)?;
        let asked = |label: &&String| cases.get(&first.axis).is_none_or(|labels| labels.contains(label));
        if let Some(label) = axis.labels.iter().filter(asked).find(|label| label::place(label).is_none()) {
            let message = format!("`{}` has the label `{label}`, which is not a number", first.axis);
            return Err(self.draft.refuse_at(&format!("{at}.axis"), message));
        }
        let is_share = first.share.is_none_or(|share| share > 0.0 && share <= 1.0);
        self.require(is_share, &format!("{at}.share"), "a share of the largest value must be above 0 and at most 1")
    }

    fn check_window(&self, at: &str, window: &Window, blank: &Value) -> Result<(), Refusal> {
        for (key, text) in [("during", &window.during), ("counting", &window.counting)] {
            let at = format!("{at}.{key}");
            text.as_ref().map_or(Ok(()), |text| self.check_expression(&at, text, blank, Leaf::Series))?;
        }
        let step = self.scenario.base.record.series;
        let is_multiple = window
            .bin
            .zip(step)
            .is_none_or(|(bin, step)| bin >= step && bin.as_nanos().is_multiple_of(step.as_nanos()));
        self.require(is_multiple, &format!("{at}.bin"), "`bin` must be a multiple of the series' step")?;
        // If a run is shortened from outside, only some windows have values.
        let duration = self.scenario.base.duration.max(self.draft.duration());
        let mut spans = vec![("from", window.from, window.to)];
        if let Some(base) = &window.relative_to {
            spans.push(("relative_to", base.from, base.to));
        }
        for (key, from, to) in spans {
            let at = format!("{at}.{key}");
            let has_time = to.unwrap_or(duration) > from && from < duration;
            self.require(has_time, &at, "the window is empty: it ends before it starts")?;
            self.require(to.is_none_or(|to| to <= duration), &at, "the window ends after the run: leave `to` out")?;
        }
        let is_share = window.covered.is_none_or(|share| share > 0.0 && share < 1.0);
        self.require(is_share, &format!("{at}.covered"), "a share between 0 and 1 is expected")
    }

    /// Checks a path of `series` or `distributions`; both exist only if the scenario asks for them.
    fn check_recorded(&self, at: &str, path: &str, blank: &Value, of: &str) -> Result<(), Refusal> {
        if blank[of].is_null() {
            let (what, key) = match of {
                "series" => ("a time series is needed", "series = \"100 ms\""),
                _ => ("a distribution is needed", "distributions = true"),
            };
            let refusal = self.draft.refuse_at(at, format!("{what}, but the scenario records none"));
            return Err(refusal.note(format!("add a table `[record]` with `{key}`")));
        }
        self.check_measure(at, path, &blank[of], Leaf::Series)
    }

    /// Checks that the answer's sentences refer to existing claims, and that at most one chart is `first`.
    fn check_answer(&self) -> Result<(), Refusal> {
        let claims: Vec<&str> = self.scenario.claims.iter().map(|claim| claim.id.as_str()).collect();
        for (index, sentence) in self.scenario.answer.says.iter().enumerate() {
            let refuse = |message: String| self.draft.refuse_at(&format!("answer.says.{index}"), message);
            let parts = answer::parts(sentence).map_err(|message| refuse(message.to_owned()))?;
            for name in parts.into_iter().filter_map(answer::Part::claim) {
                let id = answer::full(&self.scenario.id, name);
                if !claims.contains(&id.as_str()) {
                    let refusal = refuse(format!("no claim has the id `{id}`"));
                    return Err(hints::with_names(refusal, &id, claims));
                }
            }
        }
        let mut first = self.scenario.charts.iter().enumerate().filter(|(_, chart)| chart.first);
        let second = first.nth(1).map(|(index, _)| format!("chart.{index}.first"));
        let message = "an earlier chart has `first = true` too";
        self.require(second.is_none(), &second.unwrap_or_default(), message)
    }

    fn check_table(&self, index: usize, table: &Table) -> Result<(), Refusal> {
        let at = |key: &str| format!("table.{index}.{key}");
        self.check_labels(&at("where"), &table.cases)?;
        self.axis(&at("rows"), &table.rows)?;
        for axis in &table.columns {
            self.axis(&at("columns"), axis)?;
        }
        self.require(!table.cell.is_empty(), &at("cell"), "a table shows at least one result")?;
        for blank in self.trees(&table.cases) {
            for (number, cell) in table.cell.iter().enumerate() {
                self.check_against(&at(&format!("cell.{number}.against")), &cell.against)?;
                self.check_compare(&at(&format!("cell.{number}.compare")), cell.compare, &cell.against)?;
                let measure = at(&format!("cell.{number}.measure"));
                self.check_expression(&measure, &cell.measure, blank, Leaf::Number)?;
            }
        }
        for (number, cell) in table.cell.iter().enumerate() {
            let unit = title::unit(&cell.measure, &cell.against, cell.compare);
            let place = at(&format!("cell.{number}.title"));
            title::factor(&cell.title, &cell.measure, unit).map_err(|why| self.draft.refuse_at(&place, why))?;
        }
        Ok(())
    }

    fn check_labels(&self, at: &str, wanted: &BTreeMap<String, Labels>) -> Result<(), Refusal> {
        for (name, labels) in wanted {
            let place = format!("{at}.{name}");
            let known = self.axis(&place, name)?.labels.iter().map(String::as_str);
            if let Some(label) = labels.iter().find(|label| !known.clone().contains(label)) {
                let refusal = self.draft.refuse_at(&place, format!("`{name}` has no value called `{label}`"));
                let is_same = |known: &&str| label::place(known).is_some_and(|at| label::place(label) == Some(at));
                return Err(match (label, known.clone().find(is_same)) {
                    ("*", _) => refusal.note(format!("leave `{name}` out: without it a claim covers all labels")),
                    (_, Some(same)) => refusal.note(format!("write the label as in `[vary]`: `{same}`")),
                    _ => hints::with_names(refusal, label, known),
                });
            }
        }
        Ok(())
    }

    fn axis(&self, at: &str, name: &str) -> Result<&Axis, Refusal> {
        let axes = &self.scenario.axes;
        axes.iter().find(|axis| axis.name == name).ok_or_else(|| {
            let known = axes.iter().map(|axis| axis.name.as_str());
            hints::with_names(self.draft.refuse_at(at, format!("`[vary]` has no `{name}`")), name, known)
        })
    }

    fn check_measure(&self, at: &str, path: &str, blank: &Value, leaf: Leaf) -> Result<(), Refusal> {
        let refuse = |Missing { name, known }: Missing, message: String| {
            let known = known.iter().map(String::as_str).filter(|known| !["series", "distributions"].contains(known));
            hints::with_names(self.draft.refuse_at(at, message), &name, known)
        };
        let found = measure::find(blank, path).map_err(|missing| {
            let message = format!("there is no result `{path}`: no part of it is called `{}`", missing.name);
            let percentile = measure::percentage(&missing.name).is_some() && blank["distributions"].is_null();
            let refusal = refuse(missing, message);
            if percentile {
                refusal.note("this percentile needs a table `[record]` with `distributions = true`")
            } else {
                refusal
            }
        })?;
        match found.into_iter().map(|found| found.value).find(|value| !leaf.is(value)) {
            None => Ok(()),
            Some(value) => {
                let known = value.as_object().map(|keys| keys.keys().cloned().collect()).unwrap_or_default();
                let message = format!("`{path}` is not {}", leaf.words());
                Err(refuse(Missing { name: String::new(), known }, message))
            }
        }
    }
}

/// Returns the expressions of a claim with their keys.
fn measures(claim: &Claim) -> impl Iterator<Item = (&'static str, &String)> {
    let others = [("than", &claim.than), ("reaching", &claim.reaching)];
    let others = others.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)));
    std::iter::once(("measure", &claim.measure)).chain(others)
}

/// Kinds of values at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Number,
    Series,
}

impl Leaf {
    /// True if `value` is of this kind. Null stands for a number without measurements.
    fn is(self, value: &Value) -> bool {
        match self {
            Self::Number => value.is_number() || value.is_boolean() || value.is_null(),
            Self::Series => value.is_array(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Series => "a series",
        }
    }
}
