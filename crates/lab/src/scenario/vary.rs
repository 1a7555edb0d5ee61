//! `[vary]`: the axes of a sweep, their values, and the seeds.

use super::document::{Change, Value, number};
use super::head::{LAB_KEYS, NETWORK_KEYS};
use super::hints;
use super::source::{Refusal, Source};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// No sweep needs more seeds, and a slip of the keyboard should not start a million runs.
const MOST_SEEDS: u64 = 10_000;

/// A sweep as it is written.
#[derive(Debug)]
pub(super) struct Vary<'s> {
    pub(super) axes: Vec<Axis<'s>>,
    pub(super) seeds: Vec<u64>,
}

impl Vary<'_> {
    /// So many seeds: those of the file, and if they are too few, the numbers after them.
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

/// One value of an axis.
#[derive(Debug)]
pub(super) struct Choice<'s> {
    pub(super) label: String,
    pub(super) changes: Vec<Change<'s>>,
}

/// Reads the table `[vary]`; without one there is one case and seed 1.
pub(super) fn read<'s>(source: &Source<'s>, root: &DeTable<'s>) -> Result<Vary<'s>, Refusal> {
    let mut vary = Vary { axes: Vec::new(), seeds: vec![1] };
    let Some((key, table)) = root.get_key_value("vary") else { return Ok(vary) };
    let DeValue::Table(table) = table.get_ref() else {
        return Err(source.refuse(table.span(), "`vary` is a table: write `[vary]`, and its keys below it"));
    };
    if table.is_empty() {
        return Err(source
            .refuse(key.span(), "`[vary]` varies nothing")
            .note("expected `seeds`, or keys with the values to try"));
    }
    let mut leaves = Vec::new();
    flatten(table, "", &mut leaves);
    for leaf in leaves {
        if leaf.path == "seeds" {
            vary.seeds = seeds(source, leaf.value)?;
        } else {
            vary.axes.push(axis(source, leaf)?);
        }
    }
    Ok(vary)
}

/// Reads the table `[quick]`: keys and the values that they have when time is short.
pub(super) fn quick<'s>(source: &Source<'s>, root: &DeTable<'s>) -> Result<Vec<Change<'s>>, Refusal> {
    let Some(table) = root.get("quick") else { return Ok(Vec::new()) };
    let DeValue::Table(table) = table.get_ref() else {
        return Err(source.refuse(table.span(), "`quick` is a table of dotted paths and their values: write `[quick]`"));
    };
    let mut leaves = Vec::new();
    flatten(table, "", &mut leaves);
    Ok(changes(source, leaves))
}

/// A key that holds no table, with the tables around it in its path.
struct Leaf<'d, 's> {
    path: String,
    span: Range<usize>,
    value: &'d Value<'s>,
}

/// `a.b = 1` and `"a.b" = 1` mean the same. In the order of the file.
fn flatten<'d, 's>(table: &'d DeTable<'s>, above: &str, leaves: &mut Vec<Leaf<'d, 's>>) {
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in keys {
        let path = if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => flatten(inner, &path, leaves),
            _ => leaves.push(Leaf { path, span: key.span(), value }),
        }
    }
}

fn seeds(source: &Source, value: &Value) -> Result<Vec<u64>, Refusal> {
    let wrong = |span| {
        source.refuse(span, format!("`seeds` is how many seeds (1 to {MOST_SEEDS}), or a list of different ones"))
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

fn axis<'s>(source: &Source<'s>, leaf: Leaf<'_, 's>) -> Result<Axis<'s>, Refusal> {
    let Leaf { path: name, span, value } = leaf;
    let DeValue::Array(values) = value.get_ref() else {
        let refusal = source.refuse(value.span(), format!("`{name}` is varied over a list of values: write `[...]`"));
        return Err(refusal.note(hints::did_you_mean(&name, ["seeds"])));
    };
    if values.is_empty() {
        return Err(source.refuse(value.span(), format!("`{name}` has no value to try")));
    }
    let top = name.split('.').next().unwrap_or_default();
    let mut choices: Vec<Choice> = Vec::with_capacity(values.len());
    for value in values {
        if labelled(value).is_none() && !LAB_KEYS.into_iter().chain(NETWORK_KEYS).any(|key| key == top) {
            let plain = source.text.get(value.span()).unwrap_or_default();
            let refusal =
                source.refuse(value.span(), format!("`{name}` is no key of the network that could be {plain}"));
            return Err(refusal
                .note(
                    "a plain value sets the key that the axis is called by; an axis with a name of its own has values \
                       such as { label = \"small\", set = { \"queue.limit\" = 50 } }",
                )
                .note(hints::did_you_mean(top, NETWORK_KEYS)));
        }
        let choice = if let Some(table) = labelled(value) {
            labelled_choice(source, value, table)?
        } else {
            let text = source.text.get(value.span()).unwrap_or_default().to_owned();
            let label = value.get_ref().as_str().map_or_else(|| text.clone(), str::to_owned);
            Choice {
                label,
                changes: vec![Change { path: name.clone(), span: span.clone(), value: value.clone(), text }],
            }
        };
        if choices.iter().any(|other| other.label == choice.label) {
            return Err(source.refuse(value.span(), format!("`{name}` has two values called `{}`", choice.label)));
        }
        choices.push(choice);
    }
    Ok(Axis { name, choices })
}

/// The table of a value that is written `{ label = ..., set = ... }`.
fn labelled<'d, 's>(value: &'d Value<'s>) -> Option<&'d DeTable<'s>> {
    let table = value.get_ref().as_table()?;
    (table.contains_key("label") || table.contains_key("set")).then_some(table)
}

fn labelled_choice<'s>(source: &Source<'s>, whole: &Value<'s>, table: &DeTable<'s>) -> Result<Choice<'s>, Refusal> {
    const KEYS: [&str; 2] = ["label", "set"];
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
    let set = member("set")?;
    let DeValue::Table(set) = set.get_ref() else {
        return Err(source.refuse(set.span(), "`set` is a table of dotted paths and their values"));
    };
    let mut leaves = Vec::new();
    flatten(set, "", &mut leaves);
    Ok(Choice { label: text.to_owned(), changes: changes(source, leaves) })
}

fn changes<'s>(source: &Source<'s>, leaves: Vec<Leaf<'_, 's>>) -> Vec<Change<'s>> {
    let change = |Leaf { path, span, value }: Leaf<'_, 's>| {
        let text = source.text.get(value.span()).unwrap_or_default().to_owned();
        Change { path, span, value: value.clone(), text }
    };
    leaves.into_iter().map(change).collect()
}

/// Reads `key=value` of the command line: the value as TOML, or else as a plain word.
pub(super) fn read_set<'s>(source: &Source<'s>, k: usize) -> Result<Change<'s>, Refusal> {
    let span = source.set_span(k);
    let argument = source.sets[k].as_str();
    let Some((path, text)) = argument.split_once('=') else {
        return Err(source.refuse(span, "expected KEY=VALUE").note("for example --set 'queue.limit=50'"));
    };
    let (path, text) = (path.trim(), text.trim());
    let value = match DeValue::parse(text) {
        Ok(value) => value,
        Err(error) if text.starts_with(['"', '\'', '[', '{']) => {
            return Err(source.refuse(span, format!("the value is not TOML: {}", error.message())));
        }
        Err(_) => Spanned::new(span.clone(), DeValue::String(text.into())),
    };
    let value = super::document::placed_at(value, &span);
    Ok(Change { path: path.trim_matches('"').to_owned(), span, value, text: text.to_owned() })
}
