//! Settings without effect. A setting that changes nothing in any case is a mistake, and is refused.
//!
//! While a network is built, it marks each setting that it reads ([`Marks`]). A setting that only some cases use stays,
//! because a sweep chooses between disciplines, protocols and models. Settings of a file's base, which several
//! experiments share, also stay, and settings that only a key set from outside disables.

mod reasons;
mod rules;
#[cfg(test)]
mod tests;

use super::attachments::attach;
use super::cases::{Scenario, Wishes};
use super::document::{self, QUEUE_TABLES, Value};
use super::draft::Draft;
use super::file::Files;
use super::refusal::Refusal;
use super::source::Source;
use queue::Settings;
use reasons::Reason;
use sim::World;
use sim::config::{Flow, Marks, Network, Node, Wired};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Refuses the first setting without effect in any case; the scenario's networks have been built. Returns the offsets
/// of the base's settings without effect: keys, tables in lists, and values that the sweep gives a key.
pub(super) fn check(draft: &Draft, scenario: &Scenario, files: &dyn Files) -> Result<BTreeSet<usize>, Refusal> {
    let mut seen = Seen::of(draft);
    seen.walk(draft, &[], &scenario.base, true)?;
    for (chosen, case) in draft.combinations().iter().zip(&scenario.cases) {
        seen.walk(draft, chosen, &case.network, true)?;
    }
    // Cases that are not run now, and the file without the keys set from outside, count too.
    let left_out = draft.all_combinations().into_iter().filter(|chosen| !draft.runs(chosen));
    left_out.for_each(|chosen| seen.build(draft, &chosen, files));
    let is_changed = !draft.set.is_empty() || !draft.source.sets.is_empty();
    if is_changed
        && seen.idle().next().is_some()
        && let Ok(alone) = Draft::read(draft.source, &Wishes::default())
    {
        let every = std::iter::once(Vec::new()).chain(alone.all_combinations());
        every.for_each(|chosen| seen.build(&alone, &chosen, files));
    }
    let own = draft.source.own().start;
    match seen.idle().find(|(place, _)| **place >= own) {
        Some((_, Idle { place, message, instead })) => {
            Err(draft.source.refuse(place.clone(), message.as_str()).note(instead.as_str()))
        }
        None => Ok(seen.all()),
    }
}

/// A setting without effect.
#[derive(Debug)]
struct Idle {
    place: Range<usize>,
    message: String,
    instead: String,
}

/// Part of a path that stands for a whole table of a list.
const ENTRY: &str = "[]";

/// The settings found until now, under their offsets in the text.
struct Seen<'s> {
    source: &'s Source,
    /// Reason why the key at each offset has no effect; `None` if a case uses the key.
    places: BTreeMap<usize, Option<Idle>>,
    /// For each value set from outside or by the sweep, the offset of the first value for the same key.
    changed: BTreeMap<usize, usize>,
}

impl<'s> Seen<'s> {
    fn of(draft: &Draft<'s>) -> Self {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let changed = draft.changes().map(|change| {
            let start = change.value.span().start;
            (start, *first.entry(&change.path).or_insert(start))
        });
        Self { source: draft.source, places: BTreeMap::new(), changed: changed.collect() }
    }

    /// Returns the settings without effect, each with its offset in the text.
    fn idle(&self) -> impl Iterator<Item = (&usize, &Idle)> {
        self.places.iter().filter_map(|(place, idle)| Some((place, idle.as_ref()?)))
    }

    /// Returns the offsets of settings without effect, including values of the sweep.
    fn all(&self) -> BTreeSet<usize> {
        let is_idle = |place: &usize| self.places.get(place).is_some_and(Option::is_some);
        let values = self.changed.iter().filter(|&(_, first)| is_idle(first)).map(|(&value, _)| value);
        self.idle().map(|(&place, _)| place).chain(values).collect()
    }

    /// Builds the network of another case for its marks, while some setting has no effect yet. A case that cannot be built uses all of its settings.
    fn build(&mut self, draft: &Draft, chosen: &[usize], files: &dyn Files) {
        if self.idle().next().is_none() {
            return;
        }
        let Ok(mut network) = draft.network_of(chosen) else { return };
        let attached = attach(draft, files, std::iter::once(&mut network)).is_ok();
        let is_built = attached && World::new(&network, 0).is_ok();
        // The same tables were read as a network.
        let _ = self.walk(draft, chosen, &network, is_built);
    }

    fn walk(&mut self, draft: &Draft, chosen: &[usize], network: &Network, is_built: bool) -> Result<(), Refusal> {
        let mut root = draft.written_with(chosen)?;
        document::inherit_tcp(&mut root);
        let at = At { network, is_built, node: None, flow: None, wired: None, queue: None, index: 0, changed: false };
        self.table(&root, &[], &at);
        Ok(())
    }

    fn table(&mut self, table: &DeTable, above: &[&str], at: &At) {
        for (key, value) in table {
            self.setting(key, value, above, at);
        }
    }

    fn setting(&mut self, key: &Spanned<Cow<str>>, value: &Value, above: &[&str], at: &At) {
        let (span, name) = (key.span(), key.get_ref().as_ref());
        let place = document::place_of(&span, value);
        let known = self.known(&place, &span);
        let path = [above, &[name]].concat();
        let at = &At { changed: self.changed.contains_key(&place.start), ..*at };
        if let Some(reason) = obstacle(&path, at) {
            return self.disable(name, known, place, value, &reason);
        }
        // Tables made for a key set from outside share its span: only the key shows whether it has an effect.
        let within = matches!(value.get_ref(), DeValue::Table(_)) || entries(value).next().is_some();
        if !within || !self.source.is_set(known) {
            self.places.insert(known, None);
        }
        // A key of the file has an effect if one of its values has an effect.
        if !self.source.is_set(place.start) {
            self.places.insert(span.start, None);
        }
        if let DeValue::Table(inner) = value.get_ref() {
            return match name {
                "queue" => self.queue(inner, at),
                _ if QUEUE_TABLES.contains(&name) => {
                    let queues = inner.iter().filter_map(|(_, queue)| queue.get_ref().as_table());
                    queues.for_each(|queue| self.queue(queue, at));
                }
                // Keys of `[tcp]` have an effect where flows inherit them; flows were already examined.
                "tcp" if above.is_empty() => {
                    // If a flow has a table of its own, it takes from here the keys that its table lacks.
                    for (key, value) in inner.iter().filter(|(_, value)| value.get_ref().is_table()) {
                        let known = self.known(&document::place_of(&key.span(), value), &key.span());
                        if !self.source.is_set(known) {
                            self.places.entry(known).or_insert(None);
                        }
                    }
                    let reason = Reason::new("every flow sets it in `[flow.tcp]`", "leave this key out here or there");
                    self.disable_each(inner, &reason);
                }
                _ => self.table(inner, &path, at),
            };
        }
        let entry = [path.as_slice(), &[ENTRY]].concat();
        for (index, (element, inner)) in entries(value).enumerate() {
            let (at, place) = (&at.within(&path, index), element.span());
            if let Some(reason) = obstacle(&entry, at) {
                self.disable(name, place.start, place, element, &reason);
                continue;
            }
            if !self.source.is_set(place.start) {
                self.places.insert(place.start, None);
            }
            self.table(inner, &path, at);
        }
    }

    /// Returns the offset that identifies a setting. A value set from outside or by the sweep has its own offset,
    /// because the file's key may have an effect alone.
    fn known(&self, place: &Range<usize>, key: &Range<usize>) -> usize {
        let outside = self.source.is_set(place.start).then_some(place.start);
        self.changed.get(&place.start).copied().or(outside).unwrap_or(key.start)
    }

    /// Notes a setting and all within it as without effect: a key set from outside may be in a table of the file.
    fn disable(&mut self, name: &str, known: usize, place: Range<usize>, value: &Value, reason: &Reason) {
        let message = format!("`{name}` has no effect: {}", reason.why);
        self.places.entry(known).or_insert(Some(Idle { place, message, instead: reason.instead.clone() }));
        if let DeValue::Table(inner) = value.get_ref() {
            self.disable_each(inner, reason);
        }
    }

    fn disable_each(&mut self, table: &DeTable, reason: &Reason) {
        for (key, value) in table {
            let place = document::place_of(&key.span(), value);
            let known = self.known(&place, &key.span());
            self.disable(key.get_ref(), known, place, value, reason);
        }
    }

    fn queue(&mut self, table: &DeTable, at: &At) {
        let read = serde::Deserialize::deserialize(toml::de::Deserializer::from(Spanned::new(0..0, table.clone())));
        if let Ok(settings) = read {
            self.table(table, &["queue"], &At { queue: Some(&settings), ..*at });
        }
    }
}

fn entries<'d, 's>(value: &'d Value<'s>) -> impl Iterator<Item = (&'d Value<'s>, &'d DeTable<'s>)> {
    let elements = value.get_ref().as_array().into_iter().flat_map(|array| array.iter());
    elements.filter_map(|element| Some((element, element.get_ref().as_table()?)))
}

/// Context of a setting: the network, and the node, flow or queue to which the setting belongs.
#[derive(Clone, Copy)]
struct At<'n> {
    network: &'n Network,
    /// True if the network was built, so that its marks are complete.
    is_built: bool,
    node: Option<&'n Node>,
    flow: Option<&'n Flow>,
    wired: Option<&'n Wired>,
    queue: Option<&'n Settings>,
    /// Index of the table in its list.
    index: usize,
    /// True if a value set from outside or by the sweep disables a setting of the file.
    changed: bool,
}

impl At<'_> {
    /// Returns the context in table `index` of the list at `path`.
    fn within(&self, path: &[&str], index: usize) -> Self {
        let Network { node, flow, wired, .. } = self.network;
        match path {
            ["node"] => Self { node: node.get(index), ..*self },
            ["flow"] => Self { flow: flow.get(index), ..*self },
            ["wired"] => Self { wired: wired.get(index), ..*self },
            _ => Self { index, ..*self },
        }
    }

    /// True if the setting at `path` was read, if that is unknown, or if its table stands for no node.
    fn has_read(&self, path: &[&str]) -> bool {
        let network = self.network;
        let (marks, key): (&Marks, _) = match (path, self.node, self.flow) {
            (["node", ..], Some(node), _) if node.count == Some(0) => return true,
            (["node", key @ ..], Some(node), _) => (&node.marks, key),
            (["flow", key @ ..], _, Some(flow)) => (&flow.marks, key),
            (["radio", key @ ..], ..) => (&network.radio.marks, key),
            (["mac", key @ ..], ..) => (&network.mac.marks, key),
            (["routing", "route", ENTRY], ..) => return network.routing.marks.has(&format!("route.{}", self.index)),
            (["routing", key @ ..], ..) => (&network.routing.marks, key),
            (["mobility", key @ ..], ..) => (&network.mobility.marks, key),
            _ => (&network.marks, path),
        };
        marks.has(&key.join("."))
    }
}

/// Returns why the setting at `path` has no effect in this network; queues of all tables have the path `queue`.
fn obstacle(path: &[&str], at: &At) -> Option<Reason> {
    rules::of(path, at).or_else(|| reasons::of(path).filter(|_| at.is_built && !at.has_read(path)).cloned())
}
