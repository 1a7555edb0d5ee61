//! A scenario as a tree of values that remember their place: finding keys, laying changes over it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

/// A value of the tree.
pub(super) type Value<'s> = Spanned<DeValue<'s>>;

/// One key that is set differently from the file.
#[derive(Clone, Debug)]
pub(super) struct Change<'s> {
    /// The dotted path of the key; tables of an array are addressed by name, all of them by `*`.
    pub(super) path: String,
    /// Where the path stands.
    pub(super) span: Range<usize>,
    pub(super) value: Value<'s>,
    /// The value as it was written.
    pub(super) text: String,
}

impl Change<'_> {
    /// True where nothing of `earlier` is left once this change is made: it has the same path, or `*` in its place.
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
pub(super) struct Miss {
    pub(super) message: String,
    /// The name that was not found and those that exist.
    pub(super) name: String,
    pub(super) known: Vec<String>,
}

impl Miss {
    fn new(message: String) -> Self {
        Self { message, name: String::new(), known: Vec::new() }
    }
}

/// Lays `change` over `root`: tables key by key, everything else whole.
pub(super) fn apply<'s>(root: &mut DeTable<'s>, change: &Change<'s>) -> Result<(), Miss> {
    let path: Vec<&str> = change.path.split('.').map(str::trim).collect();
    if path.iter().any(|segment| segment.is_empty()) {
        return Err(Miss::new(format!("`{}` is not a dotted path of keys", change.path)));
    }
    if let ["node", name, _, ..] = path[..] {
        describe_placed(root, name, &change.span);
    }
    set_in_table(root, &path, change)
}

/// Gives the node `name` that `[nodes]` places a table `[[node]]` of its own, or with `*` all of them, where they have none.
fn describe_placed(root: &mut DeTable<'_>, name: &str, span: &Range<usize>) {
    let count = table(root, "nodes").and_then(|nodes| nodes.get("count")?.get_ref().as_integer().and_then(number));
    let named = |number: u64| if number == 0 { "n0".to_owned() } else { format!("n{number}") };
    let placed: Vec<String> = match (count, name.strip_prefix('n').and_then(|digits| digits.parse().ok())) {
        (Some(count @ 1..=MOST_PLACED), _) if name == "*" => (0..count).map(named).collect(),
        (Some(count), Some(index)) if index < count && named(index) == name => vec![name.to_owned()],
        _ => return,
    };
    let empty = || Spanned::new(span.clone(), DeValue::Array(DeArray::new()));
    if !root.contains_key("node") {
        root.insert(Spanned::new(span.clone(), Cow::Borrowed("node")), empty());
    }
    let Some(DeValue::Array(nodes)) = root.get_mut("node").map(Spanned::get_mut) else { return };
    let known: BTreeSet<String> = nodes.iter().filter_map(name_of).map(str::to_owned).collect();
    for name in placed.into_iter().filter(|name| !known.contains(name)) {
        let key = Spanned::new(span.clone(), Cow::Borrowed("name"));
        let name = Spanned::new(span.clone(), DeValue::String(Cow::Owned(name)));
        nodes.push(Spanned::new(span.clone(), DeValue::Table(DeTable::from_iter([(key, name)]))));
    }
}

/// No network has more nodes.
const MOST_PLACED: u64 = 10_000;

/// A whole number that is not negative.
pub(super) fn number(written: &DeInteger) -> Option<u64> {
    u64::from_str_radix(written.as_str(), written.radix()).ok()
}

fn set_in_table<'s>(table: &mut DeTable<'s>, path: &[&str], change: &Change<'s>) -> Result<(), Miss> {
    let Some((&key, rest)) = path.split_first() else { return Ok(()) };
    if !table.contains_key(key) {
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

/// `path` starts with the name of a table in the array, its number (from 0), or `*`.
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

/// Lays `value` over `node`: tables key by key, arrays of tables by name, everything else whole.
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

/// The tables of queues by what packets they are for: by access category, by service class.
pub(super) const QUEUE_TABLES: [&str; 2] = ["category_queue", "class_queue"];

/// Gives every queue the keys that it does not set itself: of a category or class of a node those of the network's, and
/// then of the node's queue; of a node those of the network's queue, and so of a category or class.
pub(super) fn inherit_queue(root: &mut DeTable<'_>) {
    let shared = table(root, "queue").cloned().unwrap_or_default();
    let of_all = QUEUE_TABLES.map(|name| root.get_key_value(name).map(|(key, value)| (key.clone(), value.clone())));
    if let Some(DeValue::Array(nodes)) = root.get_mut("node").map(Spanned::get_mut) {
        for node in nodes.iter_mut() {
            let DeValue::Table(node) = node.get_mut() else { continue };
            let has_queue = node.contains_key("queue");
            for (name, entry) in QUEUE_TABLES.into_iter().zip(&of_all) {
                if let Some(entry) = entry.clone().filter(|_| has_queue || node.contains_key(name)) {
                    fill(node, DeTable::from_iter([entry]));
                }
            }
            if let Some(DeValue::Table(own)) = node.get_mut("queue").map(Spanned::get_mut) {
                fill(own, shared.clone());
            }
            let below = table(node, "queue").cloned().unwrap_or_else(|| shared.clone());
            for name in QUEUE_TABLES {
                fill_each(node.get_mut(name), &below);
            }
        }
    }
    for name in QUEUE_TABLES {
        fill_each(root.get_mut(name), &shared);
    }
}

fn table<'d, 's>(parent: &'d DeTable<'s>, key: &str) -> Option<&'d DeTable<'s>> {
    parent.get(key)?.get_ref().as_table()
}

/// Fills every table in a table.
fn fill_each<'s>(tables: Option<&mut Value<'s>>, below: &DeTable<'s>) {
    let Some(DeValue::Table(tables)) = tables.map(Spanned::get_mut) else { return };
    for (_, above) in tables.iter_mut() {
        if let DeValue::Table(above) = above.get_mut() {
            fill(above, below.clone());
        }
    }
}

/// Gives a table the keys of another that it does not have.
pub(super) fn fill<'s>(above: &mut DeTable<'s>, below: DeTable<'s>) {
    for (key, value) in below {
        match above.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut) {
            None => drop(above.insert(key, value)),
            Some(DeValue::Table(above)) => {
                if let DeValue::Table(below) = value.into_inner() {
                    fill(above, below);
                }
            }
            Some(_) => {}
        }
    }
}

/// The `name` of a table in an array.
pub(super) fn name_of<'d>(element: &'d Value<'_>) -> Option<&'d str> {
    element.get_ref().as_table()?.get("name")?.get_ref().as_str()
}

/// The place of the key at `path`, or of the nearest table around it. For a plain value the place of the value.
pub(super) fn locate(root: &DeTable<'_>, path: &str) -> Option<Range<usize>> {
    let (mut key, mut node, mut rest) = below(root, path)?;
    while let Some(path) = rest {
        let found = match node.get_ref() {
            DeValue::Table(table) => below(table, path),
            DeValue::Array(array) => {
                let (segment, rest) = path.split_once('.').map_or((path, None), |(one, rest)| (one, Some(rest)));
                let named = array.iter().find(|element| name_of(element) == Some(segment));
                let element = named.or_else(|| array.get(segment.parse::<usize>().ok()?));
                element.map(|element| (element.span(), element, rest))
            }
            _ => None,
        };
        match found {
            Some(found) => (key, node, rest) = found,
            None => break,
        }
    }
    Some(place_of(&key, node))
}

/// The key of a table with which a path begins, its value, and what is left of the path. A key may have dots itself.
fn below<'d, 's, 'p>(table: &'d DeTable<'s>, path: &'p str) -> Option<(Range<usize>, &'d Value<'s>, Option<&'p str>)> {
    let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
    let found =
        |end: usize| table.get_key_value(&path[..end]).map(|(key, value)| (key.span(), value, path.get(end + 1..)));
    ends.rev().find_map(found)
}

fn place_of(key: &Range<usize>, value: &Value<'_>) -> Range<usize> {
    match value.get_ref() {
        DeValue::Table(_) | DeValue::Array(_) => key.clone(),
        _ => value.span(),
    }
}

/// The paths (array elements left out) of all that stands at `span`, outermost first: tables, keys, keys' values. A key
/// set from outside, its value and the tables made for it stand in one place.
pub(super) fn paths_at<'d>(root: &'d DeTable<'_>, span: &Range<usize>) -> Vec<Vec<&'d str>> {
    let mut found = Vec::new();
    search(root, span, &mut Vec::new(), &mut found);
    found
}

fn search<'d>(table: &'d DeTable<'_>, span: &Range<usize>, trail: &mut Vec<&'d str>, found: &mut Vec<Vec<&'d str>>) {
    for (key, value) in table {
        trail.push(key.get_ref());
        if key.span() == *span || value.span() == *span {
            found.push(trail.clone());
        }
        match value.get_ref() {
            DeValue::Table(inner) => search(inner, span, trail, found),
            DeValue::Array(array) => {
                for element in array {
                    if element.span() == *span && value.span() != *span {
                        found.push(trail.clone());
                    }
                    if let DeValue::Table(inner) = element.get_ref() {
                        search(inner, span, trail, found);
                    }
                }
            }
            _ => {}
        }
        trail.pop();
    }
}

/// The same value with every place replaced by `span`: for values that do not stand in the file.
pub(super) fn placed_at<'s>(value: Value<'s>, span: &Range<usize>) -> Value<'s> {
    moved_value(value, &|_| span.clone())
}

/// The same table with every place changed by `to`.
pub(super) fn moved<'s>(table: DeTable<'s>, to: &dyn Fn(Range<usize>) -> Range<usize>) -> DeTable<'s> {
    let moved = |(key, value): (Spanned<Cow<'s, str>>, Value<'s>)| {
        (Spanned::new(to(key.span()), key.into_inner()), moved_value(value, to))
    };
    table.into_iter().map(moved).collect()
}

fn moved_value<'s>(value: Value<'s>, to: &dyn Fn(Range<usize>) -> Range<usize>) -> Value<'s> {
    let span = to(value.span());
    let inner = match value.into_inner() {
        DeValue::Array(mut array) => {
            for element in array.iter_mut() {
                let whole = std::mem::replace(element, Spanned::new(0..0, DeValue::Boolean(false)));
                *element = moved_value(whole, to);
            }
            DeValue::Array(array)
        }
        DeValue::Table(table) => DeValue::Table(moved(table, to)),
        plain => plain,
    };
    Spanned::new(span, inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
duration = "1 s"
queue.limit = 10
queue.adth.interval = "1 ms"
[[node]]
name = "n0"
[[node]]
name = "n1"
queue.limit = 5
queue.adth.target_delay = "2 ms"
"#;

    fn document(text: &str) -> DeTable<'_> {
        DeTable::parse(text).unwrap().into_inner()
    }

    fn change<'s>(path: &str, value: &'s str) -> Change<'s> {
        let text = value.to_owned();
        Change { path: path.to_owned(), span: 900..901, value: DeValue::parse(value).unwrap(), text }
    }

    fn word<'d>(root: &'d DeTable<'_>, path: &str) -> String {
        let mut node: Option<&Value<'d>> = None;
        for segment in path.split('.') {
            node = match node.map(Spanned::get_ref) {
                None => root.get(segment),
                Some(DeValue::Table(table)) => table.get(segment),
                Some(DeValue::Array(array)) => array.iter().find(|element| name_of(element) == Some(segment)),
                Some(_) => None,
            };
        }
        match node.unwrap().get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(integer) => integer.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sets_keys_that_exist_and_keys_that_do_not() {
        let mut root = document(TEXT);
        apply(&mut root, &change("queue.limit", "20")).unwrap();
        apply(&mut root, &change("mac.cw_min", "15")).unwrap();
        assert_eq!(word(&root, "queue.limit"), "20");
        assert_eq!(word(&root, "mac.cw_min"), "15");
    }

    #[test]
    fn addresses_tables_of_an_array_by_name_and_by_star() {
        let mut root = document(TEXT);
        apply(&mut root, &change("node.n1.queue.limit", "7")).unwrap();
        assert_eq!(word(&root, "node.n1.queue.limit"), "7");
        apply(&mut root, &change("node.*.queue.limit", "8")).unwrap();
        assert_eq!(word(&root, "node.n0.queue.limit"), "8");
        assert_eq!(word(&root, "node.n1.queue.limit"), "8");
    }

    #[test]
    fn lays_tables_over_tables_key_by_key() {
        let mut root = document(TEXT);
        apply(&mut root, &change("queue", "{ adth = { target_delay = \"9 ms\" } }")).unwrap();
        assert_eq!(word(&root, "queue.adth.target_delay"), "9 ms");
        assert_eq!(word(&root, "queue.adth.interval"), "1 ms");
        apply(&mut root, &change("node", "{ n1 = { queue = { limit = 6 } } }")).unwrap();
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
        let miss = apply(&mut document(TEXT), &change("node.n2.queue.limit", "1")).unwrap_err();
        assert_eq!(miss.message, "no `[[node]]` is named `n2`");
        assert_eq!(miss.known, ["n0", "n1"]);
        let miss = apply(&mut document(TEXT), &change("duration.x", "1")).unwrap_err();
        assert_eq!(miss.message, "`duration` is a value, not a table: it has no `x`");
        assert!(apply(&mut document(TEXT), &change("queue..limit", "1")).is_err());
    }

    #[test]
    fn a_node_inherits_the_queue_key_by_key() {
        let mut root = document(TEXT);
        inherit_queue(&mut root);
        assert_eq!(word(&root, "node.n1.queue.limit"), "5");
        assert_eq!(word(&root, "node.n1.queue.adth.interval"), "1 ms");
        assert_eq!(word(&root, "node.n1.queue.adth.target_delay"), "2 ms");
        assert!(!root["node"].get_ref().get(0).unwrap().get_ref().as_table().unwrap().contains_key("queue"));
    }

    #[test]
    fn the_queue_of_a_category_inherits_from_its_network_its_node_and_the_networks_queue() {
        let mut root = document(
            "category_queue.voice.limit = 7\nqueue.limit = 1\nqueue.purge = \"head\"\nqueue.controller = \"adth\"\n\
             [[node]]\nname = \"n0\"\n\
             [[node]]\nname = \"n1\"\nqueue.limit = 2\nqueue.purge = \"tail\"\ncategory_queue.video.limit = 3\n",
        );
        inherit_queue(&mut root);
        assert_eq!(word(&root, "category_queue.voice.limit"), "7");
        assert_eq!(word(&root, "category_queue.voice.purge"), "head");
        // What the network says of a category goes before what the node says of its queue.
        assert_eq!(word(&root, "node.n1.category_queue.voice.limit"), "7");
        assert_eq!(word(&root, "node.n1.category_queue.voice.purge"), "tail");
        assert_eq!(word(&root, "node.n1.category_queue.video.limit"), "3");
        assert_eq!(word(&root, "node.n1.category_queue.video.controller"), "adth");
        assert!(!root["node"].get_ref().get(0).unwrap().get_ref().as_table().unwrap().contains_key("category_queue"));
    }

    #[test]
    fn finds_what_stands_at_a_place() {
        let mut root = document(TEXT);
        let start = TEXT.find("5\n").unwrap();
        assert_eq!(paths_at(&root, &(start..start + 1)), [vec!["node", "queue", "limit"]]);
        let mut made = change("mac.cw_min", "15");
        made.value = placed_at(made.value, &made.span);
        apply(&mut root, &made).unwrap();
        assert_eq!(paths_at(&root, &(900..901)), [vec!["mac"], vec!["mac", "cw_min"]]);
    }

    #[test]
    fn finds_the_place_of_a_path_or_of_what_is_around_it() {
        let root = document(TEXT);
        let at = |path| &TEXT[locate(&root, path).unwrap()];
        assert_eq!(at("duration"), "\"1 s\"");
        assert_eq!(at("node.n1.queue.limit"), "5");
        assert_eq!(at("node.n1.name"), "\"n1\"");
        assert_eq!(at("node.1.name"), "\"n1\"");
        assert_eq!(at("node.n1.position"), "[[node]]");
        assert_eq!(locate(&root, "flow.a"), None);
    }
}
