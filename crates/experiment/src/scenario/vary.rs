//! `[vary]`: the axes of a sweep, their values, and the seeds.

use super::cases::Over;
use super::change::Change;
use super::document::{Leaf, Value, leaves, number};
use super::hints;
use super::keys::{LAB_KEYS, NETWORK_KEYS};
use super::refusal::Refusal;
use super::source::Source;
use itertools::Itertools as _;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use units::refuse_if;

/// Largest number of seeds, so that a mistyped number does not start a million runs.
const MOST_SEEDS: u64 = 10_000;

/// A sweep as written.
#[derive(Debug)]
pub(super) struct Vary<'s> {
    pub(super) axes: Vec<Axis<'s>>,
    pub(super) seeds: Vec<u64>,
    /// Labels that a short run keeps, for those axes that it shortens.
    kept: Vec<Named>,
}

impl Vary<'_> {
    /// True if these values, one on each axis, occur together.
    pub(super) fn occurs(&self, chosen: &[usize]) -> bool {
        let label = |name: &str| {
            let found = self.axes.iter().zip(chosen).find(|(axis, _)| axis.name == name);
            found.map(|(axis, &index)| axis.choices[index].label.as_str())
        };
        let mut conditions = self.axes.iter().zip(chosen).flat_map(|(axis, &index)| &axis.choices[index].only);
        conditions.all(|only| label(&only.axis).is_some_and(|label| only.has(label)))
    }

    /// True if a short run keeps these values.
    pub(super) fn keeps(&self, chosen: &[usize]) -> bool {
        self.axes.iter().zip(chosen).all(|(axis, &index)| {
            let kept = self.kept.iter().find(|kept| kept.axis == axis.name);
            kept.is_none_or(|kept| kept.has(&axis.choices[index].label))
        })
    }

    /// Takes `count` seeds: those of the file and, if they are too few, the next numbers.
    pub(super) fn limit_seeds(&mut self, count: usize) {
        let next = self.seeds.iter().max().map_or(1, |seed| seed.saturating_add(1));
        let missing = count.saturating_sub(self.seeds.len());
        self.seeds.truncate(count);
        self.seeds.extend((next..).take(missing));
    }
}

#[derive(Debug)]
pub(super) struct Axis<'s> {
    pub(super) name: String,
    pub(super) choices: Vec<Choice<'s>>,
}

impl Axis<'_> {
    /// Returns the labels of the axis' values, each once.
    pub(super) fn labels(&self) -> Vec<String> {
        self.choices.iter().map(|choice| &choice.label).unique().cloned().collect()
    }
}

#[derive(Debug)]
pub(super) struct Choice<'s> {
    pub(super) label: String,
    /// Labels of other axes with which the value occurs; with an axis that is not named, it occurs with all labels.
    pub(super) only: Vec<Named>,
    pub(super) changes: Vec<Change<'s>>,
    pub(super) span: Range<usize>,
}

impl Choice<'_> {
    /// True if no case has this value and also `other` of the axis `axis`.
    pub(super) fn excludes(&self, axis: &str, other: &Self) -> bool {
        self.only.iter().any(|only| only.axis == axis && !only.has(&other.label))
    }
}

/// Some labels of an axis.
#[derive(Debug)]
pub(super) struct Named {
    axis: String,
    labels: Vec<String>,
    span: Range<usize>,
}

impl Named {
    /// Reads `axis = label` or `axis = [labels]`.
    fn read(source: &Source, leaf: &Leaf, axis: &str) -> Result<Self, Refusal> {
        let span = leaf.value.span();
        let written = match leaf.value.get_ref() {
            DeValue::Array(values) if !values.is_empty() => values.iter().collect(),
            DeValue::Array(_) | DeValue::Table(_) => {
                return Err(source.refuse(span, format!("expected a label of `{axis}` or a list of them")));
            }
            _ => vec![leaf.value],
        };
        let labels = written.into_iter().map(|value| label(source, value)).collect();
        Ok(Self { axis: axis.to_owned(), labels, span })
    }

    fn has(&self, label: &str) -> bool {
        self.labels.iter().any(|known| known == label)
    }

    /// Checks that the axis exists and has the labels.
    fn check(&self, source: &Source, all: &[Axis]) -> Result<(), Refusal> {
        let Some(axis) = all.iter().find(|axis| axis.name == self.axis) else {
            let refusal = source.refuse(self.span.clone(), format!("`[vary]` has no `{}`", self.axis));
            return Err(hints::with_names(refusal, &self.axis, all.iter().map(|axis| axis.name.as_str())));
        };
        let known = axis.labels();
        let Some(label) = self.labels.iter().find(|label| !known.contains(label)) else { return Ok(()) };
        let refusal = source.refuse(self.span.clone(), format!("the axis `{}` has no label `{label}`", self.axis));
        Err(hints::with_names(refusal, label, known.iter().map(String::as_str)))
    }
}

/// Reads the table `[vary]`. A scenario without this table has one case, with seed 1.
pub(super) fn read<'s>(source: &'s Source, root: &DeTable<'s>) -> Result<Vary<'s>, Refusal> {
    let mut vary = Vary { axes: Vec::new(), seeds: vec![1], kept: Vec::new() };
    let Some((key, table)) = root.get_key_value("vary") else { return Ok(vary) };
    let DeValue::Table(table) = table.get_ref() else {
        return Err(source.refuse(table.span(), "`vary` is a table: write `[vary]`, and below it the keys to vary"));
    };
    if table.is_empty() {
        return Err(source
            .refuse(key.span(), "`[vary]` varies nothing")
            .note("expected `seeds`, or keys with the values to try"));
    }
    for leaf in leaves(table, DeTable::is_empty) {
        if leaf.path == "seeds" {
            vary.seeds = seeds(source, leaf.value)?;
        } else {
            vary.axes.push(axis(source, leaf)?);
        }
    }
    for axis in &vary.axes {
        for only in axis.choices.iter().flat_map(|choice| &choice.only) {
            only.check(source, &vary.axes)?;
            if only.axis == axis.name {
                return Err(source.refuse(only.span.clone(), "`only` names labels of other axes"));
            }
        }
    }
    Ok(vary)
}

/// Reads the table `[quick]`: keys with their values in a short run. Below `vary` it has the labels that a short run
/// keeps, and the seeds.
pub(super) fn quick<'s>(source: &'s Source, root: &DeTable<'s>, vary: &mut Vary) -> Result<Vec<Change<'s>>, Refusal> {
    let Some(table) = root.get("quick") else { return Ok(Vec::new()) };
    let wrong = "write `[quick]` with dotted paths and their values";
    let leaves = below(source, table, wrong)?;
    let (of_vary, of_network): (Vec<_>, Vec<_>) = leaves.into_iter().partition(|leaf| leaf.path.starts_with("vary."));
    for leaf in of_vary {
        match leaf.path.trim_start_matches("vary.") {
            "seeds" => vary.limit_seeds(seeds(source, leaf.value)?.len().min(vary.seeds.len())),
            axis => {
                let kept = Named::read(source, &leaf, axis)?;
                kept.check(source, &vary.axes)?;
                vary.kept.push(kept);
            }
        }
    }
    Ok(changes(source, of_network))
}

fn seeds(source: &Source, value: &Value) -> Result<Vec<u64>, Refusal> {
    let wrong = |span| {
        source.refuse(span, format!("`seeds` is the number of seeds (1 to {MOST_SEEDS}), or a list of different ones"))
    };
    match value.get_ref() {
        DeValue::Integer(count) => match number(count) {
            Some(count @ 1..=MOST_SEEDS) => Ok((1..=count).collect()),
            _ => Err(wrong(value.span())),
        },
        DeValue::Array(list) if !list.is_empty() => {
            let mut seeds = Vec::with_capacity(list.len());
            for item in list {
                match item.get_ref().as_integer().and_then(number) {
                    Some(seed) if !seeds.contains(&seed) => seeds.push(seed),
                    _ => return Err(wrong(item.span())),
                }
            }
            Ok(seeds)
        }
        _ => Err(wrong(value.span())),
    }
}

fn axis<'s>(source: &'s Source, leaf: Leaf<'_, 's>) -> Result<Axis<'s>, Refusal> {
    let Leaf { path: name, span, value } = leaf;
    let DeValue::Array(values) = value.get_ref() else {
        let refusal = source.refuse(value.span(), format!("`{name}` is varied over a list of values: write `[...]`"));
        return Err(refusal.note(hints::did_you_mean(&name, ["seeds"])));
    };
    refuse_if!(values.is_empty(), Err(source.refuse(value.span(), format!("`{name}` has an empty list of values"))));
    let top = name.split('.').next().unwrap_or_default();
    let mut choices: Vec<Choice> = Vec::with_capacity(values.len());
    for value in values {
        if labelled(value).is_none() && !LAB_KEYS.into_iter().chain(NETWORK_KEYS).any(|key| key == top) {
            let plain = source.text.get(value.span()).unwrap_or_default();
            let refusal = source.refuse(value.span(), format!("the network has no key `{name}` that takes {plain}"));
            return Err(refusal
                .note(
                    "if the axis is not named by a key, each of its values needs a label, \
                       such as { label = \"small\", set = { \"queue.limit\" = 50 } }",
                )
                .note(hints::did_you_mean(top, NETWORK_KEYS)));
        }
        let choice = if let Some(table) = labelled(value) {
            labelled_choice(source, value, table)?
        } else {
            let changes = changes(source, vec![Leaf { path: name.clone(), span: span.clone(), value }]);
            Choice { label: label(source, value), only: Vec::new(), changes, span: value.span() }
        };
        let same = |other: &Choice| other.label == choice.label && (other.only.is_empty() || choice.only.is_empty());
        if choices.iter().any(same) {
            return Err(source.refuse(value.span(), format!("`{name}` has two values called `{}`", choice.label)));
        }
        choices.push(choice);
    }
    Ok(Axis { name, choices })
}

/// Returns the label that a plain value has: its text without quotes.
fn label(source: &Source, value: &Value) -> String {
    let text = value.get_ref().as_str().or_else(|| source.text.get(value.span()));
    text.unwrap_or_default().to_owned()
}

/// Returns the table of a value that is written `{ label = ..., set = ... }`, perhaps with `only`.
fn labelled<'d, 's>(value: &'d Value<'s>) -> Option<&'d DeTable<'s>> {
    let table = value.get_ref().as_table()?;
    (table.contains_key("label") || table.contains_key("set")).then_some(table)
}

fn labelled_choice<'s>(source: &'s Source, whole: &Value<'s>, table: &DeTable<'s>) -> Result<Choice<'s>, Refusal> {
    const KEYS: [&str; 3] = ["label", "set", "only"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        let refusal = source.refuse(key.span(), format!("unknown key `{key}`"));
        return Err(refusal
            .note(hints::expected("one of the keys", KEYS))
            .note(hints::did_you_mean(key.get_ref(), KEYS)));
    }
    let member =
        |name: &str| table.get(name).ok_or_else(|| source.refuse(whole.span(), format!("missing key `{name}`")));
    let label = member("label")?;
    let Some(text) = label.get_ref().as_str() else {
        return Err(source.refuse(label.span(), "a label is a string"));
    };
    let changes = changes(source, below(source, member("set")?, "`set` is a table of dotted paths and their values")?);
    let only = table.get("only").map(|only| below(source, only, "`only` is a table of axes and their labels"));
    let conditions = only.transpose()?.unwrap_or_default();
    let only: Result<Vec<_>, _> = conditions.iter().map(|leaf| Named::read(source, leaf, &leaf.path)).collect();
    Ok(Choice { label: text.to_owned(), only: only?, changes, span: whole.span() })
}

/// Returns the values in a table and its inner tables; `wrong` is the message if the value is not a table.
fn below<'t, 's>(source: &Source, table: &'t Value<'s>, wrong: &str) -> Result<Vec<Leaf<'t, 's>>, Refusal> {
    let DeValue::Table(found) = table.get_ref() else { return Err(source.refuse(table.span(), wrong)) };
    Ok(leaves(found, DeTable::is_empty))
}

fn changes<'s>(source: &'s Source, leaves: Vec<Leaf<'_, 's>>) -> Vec<Change<'s>> {
    let change = |Leaf { path, span, value }: Leaf<'_, 's>| {
        let text = source.text.get(value.span()).unwrap_or_default().to_owned();
        Change { path, span, value: value.clone(), text }
    };
    leaves.into_iter().map(change).collect()
}

/// Returns the sweep requested from outside; its changes are the source's `--set` arguments from number `first` on.
pub(super) fn asked<'s>(source: &'s Source, over: &Over, first: usize) -> Result<Vary<'s>, Refusal> {
    let mut next = first;
    let mut axes = Vec::new();
    for axis in &over.axes {
        let mut choices = Vec::new();
        for (label, changes) in &axis.values {
            let numbers = next..next + changes.len();
            next = numbers.end;
            let span = source.set(numbers.start);
            let changes = numbers.map(|k| Change::asked(source, k)).collect::<Result<_, _>>()?;
            choices.push(Choice { label: label.clone(), only: Vec::new(), changes, span });
        }
        axes.push(Axis { name: axis.name.clone(), choices });
    }
    Ok(Vary { axes, seeds: over.seeds.clone(), kept: Vec::new() })
}
