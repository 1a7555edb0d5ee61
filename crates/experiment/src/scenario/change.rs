//! A key that is set differently from the file: by `--set`, by a value of `[vary]`, or by `[quick]`.

use super::document::{Value, array_mut, name_of, number, placed_at, table};
use super::hints;
use super::refusal::Refusal;
use super::source::Source;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// A key whose value differs from the file's.
#[derive(Clone, Debug)]
pub(super) struct Change<'s> {
    /// Dotted path of the key. A table in an array is addressed by its name; `*` means all of them.
    pub(super) path: String,
    /// Span of the path in the text.
    pub(super) span: Range<usize>,
    pub(super) value: Value<'s>,
    /// The value as it was written.
    pub(super) text: String,
}

impl<'s> Change<'s> {
    /// Reads `key=value` from the command line; the value is TOML or else a plain word.
    pub(super) fn asked(source: &'s Source, k: usize) -> Result<Self, Refusal> {
        let span = source.set(k);
        let argument = &source.text[span.clone()];
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
        let value = placed_at(value, &span);
        Ok(Self { path: path.trim_matches('"').to_owned(), span, value, text: text.to_owned() })
    }

    /// Applies the change to `root`: tables key by key, other values as a whole.
    pub(super) fn apply(&self, source: &Source, root: &mut DeTable<'s>) -> Result<(), Refusal> {
        self.applied(root).map_err(|miss| {
            let known = miss.known.iter().map(String::as_str);
            hints::with_names(source.refuse(self.span.clone(), miss.message), &miss.name, known)
        })
    }

    fn applied(&self, root: &mut DeTable<'s>) -> Result<(), Miss> {
        let path: Vec<&str> = self.path.split('.').map(str::trim).collect();
        if path.iter().any(|segment| segment.is_empty()) {
            return Err(Miss::new(format!("`{}` is not a dotted path of keys", self.path)));
        }
        if let ["node", name, _, ..] = path[..] {
            describe_placed(root, name, &self.span);
            describe_copies(root, name, &self.span);
            if !root.contains_key("node") {
                let known = (0..placed(root).unwrap_or_default().min(MOST_SHOWN)).map(placed_name).collect();
                return Err(Miss { message: format!("no node is named `{name}`"), name: name.to_owned(), known });
            }
        }
        set_in_table(root, &path, self)
    }

    /// True if this change replaces `earlier` completely: it has the same path, or `*` in place of a name.
    pub(super) fn covers(&self, earlier: &Self) -> bool {
        let (mut ours, mut theirs) = (self.path.split('.'), earlier.path.split('.'));
        loop {
            match (ours.next(), theirs.next()) {
                (None, None) => return true,
                (Some(own), Some(other)) if own == "*" || own == other => {}
                _ => return false,
            }
        }
    }
}

/// Why a change could not be applied.
#[derive(Debug, PartialEq, Eq)]
struct Miss {
    message: String,
    /// The name that was not found; the next field has the existing names.
    name: String,
    known: Vec<String>,
}

impl Miss {
    fn new(message: String) -> Self {
        Self { message, name: String::new(), known: Vec::new() }
    }
}

/// Returns the number of nodes that `[nodes]` places.
fn placed(root: &DeTable<'_>) -> Option<u64> {
    table(root, "nodes").and_then(|nodes| nodes.get("count")?.get_ref().as_integer().and_then(number))
}

fn placed_name(number: u64) -> String {
    format!("n{number}")
}

/// Largest number of names that a refusal lists.
const MOST_SHOWN: u64 = 24;

/// Lists of tables; their entries are addressed by name or number.
const LISTS: [&str; 6] = ["node", "flow", "wired", "route", "waypoints", "at"];

/// Gives a node `name` of `[nodes]` a table `[[node]]` of its own; `*` means all such nodes without a table.
fn describe_placed(root: &mut DeTable<'_>, name: &str, span: &Range<usize>) {
    let count = placed(root);
    let placed: Vec<String> = match (count, name.strip_prefix('n').and_then(|digits| digits.parse().ok())) {
        (Some(count @ 1..=MOST_PLACED), _) if name == "*" => (0..count).map(placed_name).collect(),
        (Some(count), Some(index)) if index < count && placed_name(index) == name => vec![name.to_owned()],
        _ => return,
    };
    let empty = || Spanned::new(span.clone(), DeValue::Array(DeArray::new()));
    if !root.contains_key("node") {
        root.insert(Spanned::new(span.clone(), Cow::Borrowed("node")), empty());
    }
    let Some(nodes) = array_mut(root, "node") else { return };
    let known: BTreeSet<String> = nodes.iter().filter_map(name_of).map(str::to_owned).collect();
    for name in placed.into_iter().filter(|name| !known.contains(name)) {
        let key = Spanned::new(span.clone(), Cow::Borrowed("name"));
        let name = Spanned::new(span.clone(), DeValue::String(Cow::Owned(name)));
        nodes.push(Spanned::new(span.clone(), DeValue::Table(DeTable::from_iter([(key, name)]))));
    }
}

/// Gives every copy of a node with a `count` a table of its own, if `name` is one of these copies.
fn describe_copies(root: &mut DeTable<'_>, name: &str, span: &Range<usize>) {
    let Some(nodes) = array_mut(root, "node") else { return };
    if nodes.iter().any(|node| name_of(node) == Some(name)) {
        return;
    }
    let Some((group, count)) = nodes.iter().enumerate().find_map(|(index, node)| {
        let of: u64 = name.strip_prefix(name_of(node)?)?.parse().ok()?;
        let count = node.get_ref().as_table()?.get("count")?.get_ref().as_integer().and_then(number)?;
        // `up01` is no copy of `up`.
        let named = format!("{}{of}", name_of(node)?) == name;
        (named && count <= MOST_PLACED && (1..=count).contains(&of)).then_some((index, count))
    }) else {
        return;
    };
    let copies: Vec<_> = (1..=count).map(|number| copy(&nodes[group], number, span)).collect();
    *nodes = [&nodes[..group], &copies, &nodes[group + 1..]].concat().into_iter().collect();
}

/// Returns copy `number` of a table `[[node]]` with a `count`.
fn copy<'s>(node: &Value<'s>, number: u64, span: &Range<usize>) -> Value<'s> {
    let name = name_of(node).map(|name| format!("{name}{number}"));
    let mut copy = node.clone();
    if let (Some(name), DeValue::Table(table)) = (name, copy.get_mut()) {
        table.remove("count");
        let key = Spanned::new(span.clone(), Cow::Borrowed("name"));
        table.insert(key, Spanned::new(span.clone(), DeValue::String(Cow::Owned(name))));
    }
    copy
}

/// Largest number of nodes of a network.
const MOST_PLACED: u64 = 10_000;

fn set_in_table<'s>(table: &mut DeTable<'s>, path: &[&str], change: &Change<'s>) -> Result<(), Miss> {
    let Some((&key, rest)) = path.split_first() else { return Ok(()) };
    if !table.contains_key(key) {
        if let Some(name) = rest.first().filter(|_| LISTS.contains(&key)) {
            return Err(Miss::new(format!("no `[[{key}]]` is named `{name}`: the scenario has no table `[[{key}]]`")));
        }
        let empty = Spanned::new(change.span.clone(), DeValue::Table(DeTable::new()));
        let first = if rest.is_empty() { change.value.clone() } else { empty };
        table.insert(Spanned::new(change.span.clone(), Cow::Owned(key.to_owned())), first);
        if rest.is_empty() {
            return Ok(());
        }
    }
    let Some(node) = table.get_mut(key) else { return Ok(()) };
    if rest.is_empty() {
        return merge(key, node, change.value.clone(), change);
    }
    match node.get_mut() {
        DeValue::Table(inner) => set_in_table(inner, rest, change),
        DeValue::Array(_) => set_in_array(key, node, rest, change),
        _ => Err(Miss::new(format!("`{key}` is a value, not a table: it has no `{}`", rest.join(".")))),
    }
}

/// Sets a value in an array. `path` begins with a table's name, its number (from 0), or `*`.
fn set_in_array<'s>(key: &str, array: &mut Value<'s>, path: &[&str], change: &Change<'s>) -> Result<(), Miss> {
    let (DeValue::Array(array), Some((&name, rest))) = (array.get_mut(), path.split_first()) else { return Ok(()) };
    let mut known = Vec::new();
    let mut found = false;
    for (index, element) in array.iter_mut().enumerate() {
        let own = name_of(element).map_or_else(|| index.to_string(), str::to_owned);
        if name == "*" || name == own || name == index.to_string() {
            found = true;
            match element.get_mut() {
                DeValue::Table(table) if !rest.is_empty() => set_in_table(table, rest, change)?,
                _ => merge(name, element, change.value.clone(), change)?,
            }
        }
        known.push(own);
    }
    if found {
        return Ok(());
    }
    let message = format!("no `[[{key}]]` is named `{name}`");
    Err(Miss { message, name: name.to_owned(), known })
}

/// Merges `value` into `node`: tables key by key, arrays of tables by name, other values as a whole.
fn merge<'s>(key: &str, node: &mut Value<'s>, value: Value<'s>, change: &Change<'s>) -> Result<(), Miss> {
    let span = value.span();
    match (node.get_mut(), value.into_inner()) {
        (DeValue::Table(below), DeValue::Table(above)) => {
            for (name, value) in above {
                match below.get_mut(name.get_ref().as_ref()) {
                    Some(node) => merge(name.get_ref(), node, value, change)?,
                    None => drop(below.insert(name, value)),
                }
            }
        }
        (DeValue::Array(_), DeValue::Table(above)) => {
            for (name, value) in above {
                let part = Change { span: change.span.clone(), path: String::new(), text: String::new(), value };
                set_in_array(key, node, &[name.get_ref().as_ref()], &part)?;
            }
        }
        (_, value) => *node = Spanned::new(span, value),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::document::paths_at;
    use super::super::document::tests::{TEXT, document, word};
    use super::*;

    fn change<'s>(path: &str, value: &'s str) -> Change<'s> {
        let text = value.to_owned();
        Change { path: path.to_owned(), span: 900..901, value: DeValue::parse(value).unwrap(), text }
    }

    fn applied<'s>(root: &mut DeTable<'s>, change: &Change<'s>) -> Result<(), Miss> {
        change.applied(root)
    }

    #[test]
    fn sets_keys_that_exist_and_keys_that_do_not() {
        let mut root = document(TEXT);
        applied(&mut root, &change("queue.limit", "20")).unwrap();
        applied(&mut root, &change("mac.cw_min", "15")).unwrap();
        assert_eq!(word(&root, "queue.limit"), "20");
        assert_eq!(word(&root, "mac.cw_min"), "15");
    }

    #[test]
    fn addresses_tables_of_an_array_by_name_and_by_star() {
        let mut root = document(TEXT);
        applied(&mut root, &change("node.n1.queue.limit", "7")).unwrap();
        assert_eq!(word(&root, "node.n1.queue.limit"), "7");
        applied(&mut root, &change("node.*.queue.limit", "8")).unwrap();
        assert_eq!(word(&root, "node.n0.queue.limit"), "8");
        assert_eq!(word(&root, "node.n1.queue.limit"), "8");
    }

    #[test]
    fn a_copy_gets_a_table_of_its_own_and_so_do_its_likes() {
        let mut root = document("[[node]]\nname = \"ap\"\n[[node]]\nname = \"up\"\ncount = 3\nmcs = 4\n");
        applied(&mut root, &change("node.up2.mcs", "1")).unwrap();
        let mcs: Vec<String> = ["up1", "up2", "up3"].map(|name| word(&root, &format!("node.{name}.mcs"))).into();
        assert_eq!(mcs, ["4", "1", "4"]);
        let miss = applied(&mut root, &change("node.up4.mcs", "1")).unwrap_err();
        assert_eq!(miss.known, ["ap", "up1", "up2", "up3"]);
        // If the name is not that of a copy, the group stays unchanged.
        for name in ["up0", "up4", "up02", "up"] {
            let mut root = document("[[node]]\nname = \"up\"\ncount = 3\nmcs = 4\n");
            assert_eq!(applied(&mut root, &change(&format!("node.{name}.mcs"), "1")).is_ok(), name == "up");
            assert_eq!(word(&root, "node.up.count"), "3");
        }
    }

    #[test]
    fn lays_tables_over_tables_key_by_key() {
        let mut root = document(TEXT);
        applied(&mut root, &change("queue", "{ adth = { target_delay = \"9 ms\" } }")).unwrap();
        assert_eq!(word(&root, "queue.adth.target_delay"), "9 ms");
        assert_eq!(word(&root, "queue.adth.interval"), "1 ms");
        applied(&mut root, &change("node", "{ n1 = { queue = { limit = 6 } } }")).unwrap();
        assert_eq!(word(&root, "node.n1.queue.limit"), "6");
        assert_eq!(word(&root, "node.n1.queue.adth.target_delay"), "2 ms");
    }

    #[test]
    fn a_change_covers_what_it_sets_anew() {
        let covers = |later: &str, earlier: &str| change(later, "1").covers(&change(earlier, "1"));
        assert!(covers("queue.limit", "queue.limit"));
        assert!(covers("flow.*.deadline", "flow.forward.deadline"));
        assert!(!covers("flow.forward.deadline", "flow.*.deadline"));
        assert!(!covers("queue", "queue.limit") && !covers("queue.limit", "queue.adth"));
    }

    #[test]
    fn says_which_names_exist() {
        let miss = applied(&mut document(TEXT), &change("node.n2.queue.limit", "1")).unwrap_err();
        assert_eq!(miss.message, "no `[[node]]` is named `n2`");
        assert_eq!(miss.known, ["n0", "n1"]);
        let miss = applied(&mut document(TEXT), &change("duration.x", "1")).unwrap_err();
        assert_eq!(miss.message, "`duration` is a value, not a table: it has no `x`");
        assert!(applied(&mut document(TEXT), &change("queue..limit", "1")).is_err());
    }

    #[test]
    fn a_key_that_is_made_its_value_and_the_tables_around_it_stand_in_one_place() {
        let mut root = document(TEXT);
        let mut made = change("mac.cw_min", "15");
        made.value = placed_at(made.value, &made.span);
        applied(&mut root, &made).unwrap();
        assert_eq!(paths_at(&root, &(900..901)), [vec!["mac"], vec!["mac", "cw_min"]]);
    }
}
