//! A scenario as a tree of values with their spans in the text. Finds keys, and merges changes into the tree.

use itertools::Itertools as _;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

pub(super) type Value<'s> = Spanned<DeValue<'s>>;

/// Tables with a queue for each kind of packet: access category or service class.
pub(super) const QUEUE_TABLES: [&str; 2] = ["category_queue", "class_queue"];

/// Tables of claims, charts and tables, in which labels are named.
pub(super) const NAMING: [&str; 3] = ["claim", "chart", "table"];

/// Adds to every queue the keys that it inherits. A node's queue inherits from the network's queue. A category or class
/// of a node inherits first from that of the network, then from the node's queue. A category or class of the network
/// inherits from the network's queue.
pub(super) fn inherit_queue(root: &mut DeTable<'_>) {
    let shared = table(root, "queue").cloned().unwrap_or_default();
    let of_all = QUEUE_TABLES.map(|name| root.get_key_value(name).map(|(key, value)| (key.clone(), value.clone())));
    for node in tables_mut(root, "node") {
        let has_queue = node.contains_key("queue");
        for (name, entry) in QUEUE_TABLES.into_iter().zip(&of_all) {
            if let Some(entry) = entry.clone().filter(|_| has_queue || node.contains_key(name)) {
                fill(node, DeTable::from_iter([entry]));
            }
        }
        if let Some(own) = table_mut(node, "queue") {
            fill(own, shared.clone());
        }
        let below = table(node, "queue").cloned().unwrap_or_else(|| shared.clone());
        fill_queues(node, &below);
    }
    fill_queues(root, &shared);
}

/// Replaces `controller = "turns"` in a queue of the network or a node by `queues = "turns"` at the access points that
/// have this queue. Errors: the span of the value, if no access point has the queue.
pub(super) fn name_turns<'s>(root: &mut DeTable<'s>) -> Result<(), Range<usize>> {
    let taken = |table: &mut DeTable<'s>| {
        let queue = table_mut(table, "queue")?;
        let is_turns = queue.get("controller")?.get_ref().as_str() == Some("turns");
        if is_turns { queue.remove_entry("controller") } else { None }
    };
    let shared = taken(root);
    let mut missing = shared.as_ref().map(|(_, value)| value.span());
    for node in tables_mut(root, "node") {
        let own = taken(node);
        let is_own = own.is_some();
        let Some((key, value)) = own.or_else(|| shared.clone()) else { continue };
        if node.get("role").and_then(|role| role.get_ref().as_str()) == Some("access-point") {
            node.insert(Spanned::new(key.span(), Cow::Borrowed("queues")), value);
            missing = None;
        } else if is_own {
            return Err(value.span());
        }
    }
    missing.map_or(Ok(()), Err)
}

/// Gives the flows over TCP the keys of `[tcp]` that they do not set themselves.
pub(super) fn inherit_tcp(root: &mut DeTable<'_>) {
    let Some((key, shared)) = root.get_key_value("tcp").map(|(key, value)| (key.clone(), value.clone())) else {
        return;
    };
    for flow in tables_mut(root, "flow") {
        if flow.get("transport").and_then(|transport| transport.get_ref().as_str()) == Some("tcp") {
            fill(flow, DeTable::from_iter([(key.clone(), shared.clone())]));
        }
    }
}

pub(super) fn table<'d, 's>(parent: &'d DeTable<'s>, key: &str) -> Option<&'d DeTable<'s>> {
    parent.get(key)?.get_ref().as_table()
}

pub(super) fn table_mut<'d, 's>(parent: &'d mut DeTable<'s>, key: &str) -> Option<&'d mut DeTable<'s>> {
    as_table_mut(parent.get_mut(key)?)
}

pub(super) fn array_mut<'d, 's>(parent: &'d mut DeTable<'s>, key: &str) -> Option<&'d mut DeArray<'s>> {
    if let DeValue::Array(array) = parent.get_mut(key)?.get_mut() { Some(array) } else { None }
}

/// Iterates over the tables of the list at `key`.
pub(super) fn tables_mut<'d, 's>(
    parent: &'d mut DeTable<'s>,
    key: &str,
) -> impl Iterator<Item = &'d mut DeTable<'s>> + use<'d, 's> {
    array_mut(parent, key).into_iter().flat_map(|array| array.iter_mut()).filter_map(as_table_mut)
}

pub(super) fn as_table_mut<'d, 's>(value: &'d mut Value<'s>) -> Option<&'d mut DeTable<'s>> {
    if let DeValue::Table(table) = value.get_mut() { Some(table) } else { None }
}

/// Gives a queue for each kind of packet the keys of `below` that it does not set itself.
fn fill_queues<'s>(parent: &mut DeTable<'s>, below: &DeTable<'s>) {
    for name in QUEUE_TABLES {
        let queues = table_mut(parent, name).into_iter().flat_map(DeTable::iter_mut);
        queues.filter_map(|(_, queue)| as_table_mut(queue)).for_each(|queue| fill(queue, below.clone()));
    }
}

/// Adds the keys of `below` that `above` lacks.
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

/// A value with its path, and the place of its key.
pub(super) struct Leaf<'d, 's> {
    pub(super) path: String,
    pub(super) span: Range<usize>,
    pub(super) value: &'d Value<'s>,
}

/// Returns the values of a table and of its inner tables, in the order of the file within each table: `a.b = 1` and
/// `"a.b" = 1` mean the same. A table that `is_leaf` stays whole.
pub(super) fn leaves<'d, 's>(table: &'d DeTable<'s>, is_leaf: fn(&DeTable<'s>) -> bool) -> Vec<Leaf<'d, 's>> {
    let keys = table.iter().sorted_by_key(|(key, _)| key.span().start);
    let of_key = |(key, value): (&Spanned<Cow<'s, str>>, &'d Value<'s>)| match value.get_ref() {
        DeValue::Table(inner) if !is_leaf(inner) => {
            let within = |leaf: Leaf<'d, 's>| Leaf { path: format!("{}.{}", key.get_ref(), leaf.path), ..leaf };
            leaves(inner, is_leaf).into_iter().map(within).collect()
        }
        _ => vec![Leaf { path: key.get_ref().to_string(), span: key.span(), value }],
    };
    keys.flat_map(of_key).collect()
}

/// Returns the `name` of a table in an array.
pub(super) fn name_of<'d>(element: &'d Value<'_>) -> Option<&'d str> {
    element.get_ref().as_table()?.get("name")?.get_ref().as_str()
}

/// Returns the span of the key at `path`, or of the nearest table around it; for a plain value, the value's span.
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

/// Returns the key with which a path begins, its value, and the rest of the path. A key may contain dots.
fn below<'d, 's, 'p>(table: &'d DeTable<'s>, path: &'p str) -> Option<(Range<usize>, &'d Value<'s>, Option<&'p str>)> {
    let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
    let found =
        |end: usize| table.get_key_value(&path[..end]).map(|(key, value)| (key.span(), value, path.get(end + 1..)));
    ends.rev().find_map(found)
}

/// Returns the span of a plain value, or of the key of a table or list.
pub(super) fn place_of(key: &Range<usize>, value: &Value<'_>) -> Range<usize> {
    match value.get_ref() {
        DeValue::Table(_) | DeValue::Array(_) => key.clone(),
        _ => value.span(),
    }
}

/// Returns the paths (without array elements) of all that has this span, outermost first: tables, keys, values of keys.
/// A key set from outside, its value and the tables made for it have the same span.
pub(super) fn paths_at<'d>(root: &'d DeTable<'_>, span: &Range<usize>) -> Vec<Vec<&'d str>> {
    let mut found = Vec::new();
    search(root, span, &mut Vec::new(), &mut found);
    found
}

/// Returns the innermost table with a key at `span`.
pub(super) fn around<'d, 's>(table: &'d DeTable<'s>, span: &Range<usize>) -> Option<&'d DeTable<'s>> {
    let inner = table.values().find_map(|value| within(value, span));
    inner.or_else(|| table.keys().any(|key| key.span() == *span).then_some(table))
}

fn within<'d, 's>(value: &'d Value<'s>, span: &Range<usize>) -> Option<&'d DeTable<'s>> {
    match value.get_ref() {
        DeValue::Table(table) => around(table, span),
        DeValue::Array(array) => array.iter().find_map(|value| within(value, span)),
        _ => None,
    }
}

fn search<'d>(table: &'d DeTable<'_>, span: &Range<usize>, trail: &mut Vec<&'d str>, found: &mut Vec<Vec<&'d str>>) {
    for (key, value) in table {
        trail.push(key.get_ref());
        if key.span() == *span || value.span() == *span {
            found.push(trail.clone());
        }
        match value.get_ref() {
            DeValue::Table(inner) => search(inner, span, trail, found),
            DeValue::Array(_) => search_list(value, span, trail, found),
            _ => {}
        }
        trail.pop();
    }
}

/// Searches a list. Its elements, and those of nested lists, belong to the list's key.
fn search_list<'d>(list: &'d Value<'_>, span: &Range<usize>, trail: &mut Vec<&'d str>, found: &mut Vec<Vec<&'d str>>) {
    for element in list.get_ref().as_array().into_iter().flat_map(|array| array.iter()) {
        if element.span() == *span && list.span() != *span {
            found.push(trail.clone());
        }
        match element.get_ref() {
            DeValue::Table(inner) => search(inner, span, trail, found),
            _ => search_list(element, span, trail, found),
        }
    }
}

/// Returns the value with `span` as the span of all its parts: for values that are not in the file.
pub(super) fn placed_at<'s>(value: Value<'s>, span: &Range<usize>) -> Value<'s> {
    moved_value(value, &|_| span.clone())
}

/// Returns the table with all spans changed by `to`.
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

/// Returns a whole number that is not negative.
pub(super) fn number(written: &DeInteger) -> Option<u64> {
    u64::from_str_radix(written.as_str(), written.radix()).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) const TEXT: &str = r#"
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

    pub(in super::super) fn document(text: &str) -> DeTable<'_> {
        DeTable::parse(text).unwrap().into_inner()
    }

    pub(in super::super) fn word<'d>(root: &'d DeTable<'_>, path: &str) -> String {
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
        // The network's category takes precedence over the node's queue.
        assert_eq!(word(&root, "node.n1.category_queue.voice.limit"), "7");
        assert_eq!(word(&root, "node.n1.category_queue.voice.purge"), "tail");
        assert_eq!(word(&root, "node.n1.category_queue.video.limit"), "3");
        assert_eq!(word(&root, "node.n1.category_queue.video.controller"), "adth");
        assert!(!root["node"].get_ref().get(0).unwrap().get_ref().as_table().unwrap().contains_key("category_queue"));
    }

    #[test]
    fn finds_what_stands_at_a_place() {
        let root = document(TEXT);
        let start = TEXT.find("5\n").unwrap();
        assert_eq!(paths_at(&root, &(start..start + 1)), [vec!["node", "queue", "limit"]]);
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
