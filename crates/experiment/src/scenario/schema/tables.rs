//! The scenario's tables and their keys, flattened from the JSON Schema.

use itertools::Itertools as _;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::LazyLock;

/// All tables of a file, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    all: Vec<Table>,
    /// Tables that share their keys with another table: the table's path and the other's, as `node.queue` and `queue`.
    shared: Vec<(String, String)>,
}

/// Part of a path that stands for a name that the user chooses: `interface.*`.
const ANY: &str = "*";

/// A table: `[queue.adth]`, `[[flow]]`.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The table's path, `queue.adth`; empty for the top level.
    pub(crate) path: String,
    /// The table's header in a file: `[queue.adth]`, `[[flow]]`, "the top level".
    pub(crate) header: String,
    pub(crate) about: String,
    pub(crate) keys: Vec<Key>,
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    /// The values allowed, in words: "duration", "`long` or `short`".
    pub(crate) kind: String,
    pub(crate) about: String,
    /// The default as TOML; empty without one.
    pub(crate) default: String,
    pub(crate) required: bool,
    /// The allowed values with their meanings; empty if any value is allowed.
    pub(crate) choices: Vec<(String, String)>,
    /// True for a table or an array of tables, which has its own entry.
    pub(crate) is_table: bool,
}

impl Tables {
    /// Returns the tables of a scenario.
    pub(crate) fn get() -> &'static Self {
        static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::of(&super::json()));
        &TABLES
    }

    /// Returns the tables of a file with this JSON Schema.
    pub(crate) fn of(root: &Value) -> Self {
        let mut tables = Vec::new();
        let mut shared = Vec::new();
        let mut seen: Vec<(String, String, String)> = Vec::new();
        let mut waiting = VecDeque::from([(String::new(), "the top level".to_owned(), root)]);
        while let Some((path, header, schema)) = waiting.pop_front() {
            let mut keys = Vec::new();
            // Tables whose names the user chooses.
            let (_, named, _) = resolve(root, &schema["additionalProperties"]);
            if named["properties"].is_object() && !header.starts_with("[vary") {
                let path = if path.is_empty() { ANY.to_owned() } else { format!("{path}.{ANY}") };
                waiting.push_back((path.clone(), format!("[{}]", path.replace(ANY, "NAME")), named));
            }
            for (name, written) in schema["properties"].as_object().into_iter().flatten() {
                let (reference, inner, lists) = resolve(root, written);
                let mut key = describe(root, name, written, inner, lists);
                key.required = list(&schema["required"]).any(|required| required == name);
                let by_names = resolve(root, &inner["additionalProperties"]).1["properties"].is_object();
                if (inner["properties"].is_object() || by_names) && name != "vary" {
                    key.is_table = true;
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let many = lists > 0;
                    let header = if many { format!("[[{path}]]") } else { format!("[{path}]") };
                    key.kind = if many { format!("tables `{header}`") } else { format!("table `{header}`") };
                    let known = seen.iter().find(|(other, ..)| *other == reference && !reference.is_empty());
                    if let Some((_, same, of)) = known {
                        key.kind = format!("table with the keys of `{same}`");
                        shared.push((path, of.clone()));
                    } else {
                        seen.push((reference.to_owned(), header.clone(), path.clone()));
                        waiting.push_back((path, header, inner));
                    }
                }
                keys.push(key);
            }
            tables.push(Table { path, header, about: text(&schema["description"]), keys });
        }
        Self { all: tables, shared }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Table> {
        self.all.iter()
    }

    pub(crate) fn with_key<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t Table> {
        self.all.iter().filter(move |table| table.keys.iter().any(|key| key.name == name))
    }

    pub(crate) fn all_keys(&self) -> impl Iterator<Item = (&str, &Table)> {
        self.all.iter().flat_map(|table| table.keys.iter().map(move |key| (key.name.as_str(), table)))
    }

    /// Returns the table at this path, or the table with which the path shares its keys.
    pub(crate) fn at(&self, path: &str) -> Option<&Table> {
        let mut path = path.to_owned();
        // Shared tables are nested: `node.category_queue.voice.codel`.
        while let Some((from, to)) = self.shared.iter().find(|(from, _)| begins(&path, from)) {
            let rest = path.split('.').skip(from.split('.').count());
            path = std::iter::once(to.as_str()).chain(rest).join(".");
        }
        self.all.iter().find(|table| begins(&path, &table.path) && begins(&table.path, &path))
    }

    /// Returns the paths of tables that share their keys with another table.
    #[cfg(test)]
    pub(crate) fn shared(&self) -> impl Iterator<Item = &str> {
        self.shared.iter().map(|(path, _)| path.as_str())
    }
}

/// True if the path begins with this prefix, in which a part may stand for any name.
fn begins(path: &str, beginning: &str) -> bool {
    if beginning.is_empty() {
        return path.is_empty();
    }
    let mut segments = path.split('.');
    beginning.split('.').all(|part| segments.next().is_some_and(|own| own == part || part == ANY || own == ANY))
}

/// Follows references, options and arrays. Returns the definition's name, the schema, and the depth of arrays.
fn resolve<'v>(root: &'v Value, schema: &'v Value) -> (&'v str, &'v Value, usize) {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        let (_, inner, lists) = resolve(root, &root["$defs"][name]);
        return (name, inner, lists);
    }
    let options = schema["anyOf"].as_array();
    if let Some(some) = options.filter(|options| options.len() == 2).and_then(|options| {
        let null = options.iter().position(|option| option["type"] == "null")?;
        options.get(1 - null)
    }) {
        return resolve(root, some);
    }
    if schema["items"].is_object() {
        let (name, inner, lists) = resolve(root, &schema["items"]);
        return (name, inner, lists + 1);
    }
    ("", schema, 0)
}

fn describe(root: &Value, name: &str, written: &Value, inner: &Value, lists: usize) -> Key {
    let (reference, _, _) = resolve(root, written);
    let choices = choices(inner);
    let listed = || choices.iter().map(|(value, _)| value).join(", ");
    let one = if choices.is_empty() { kind(reference, inner) } else { listed() };
    let about = match text(&written["description"]) {
        own if own.is_empty() => text(&inner["description"]),
        own => own,
    };
    let default = match &written["default"] {
        Value::Null | Value::Object(_) => String::new(),
        Value::Array(items) if items.is_empty() => String::new(),
        value => value.to_string(),
    };
    let kind = "list: ".repeat(lists) + &one;
    Key { name: name.to_owned(), kind, about, default, required: false, choices, is_table: false }
}

/// Returns the values of an enumeration, quoted as in a file, with their meaning.
fn choices(schema: &Value) -> Vec<(String, String)> {
    let plain = list(&schema["enum"]).map(|value| (format!("`\"{value}\"`"), String::new()));
    let variants = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    let described = variants.into_iter().flatten().flat_map(|variant| {
        let about = text(&variant["description"]);
        let constant = variant["const"].as_str().map(|value| format!("`\"{value}\"`"));
        let listed = list(&variant["enum"]).map(|value| format!("`\"{value}\"`")).collect::<Vec<_>>();
        let other = match variant["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            Some(name) => Some(words(name)),
            None if constant.is_none() && listed.is_empty() => variant["type"].as_str().map(words),
            None => None,
        };
        constant.into_iter().chain(listed).chain(other).map(move |value| (value, about.clone())).collect::<Vec<_>>()
    });
    plain.chain(described).collect()
}

/// Describes the values allowed at a key.
fn kind(reference: &str, schema: &Value) -> String {
    if schema["pattern"].is_string() && !reference.is_empty() {
        let example = schema["examples"][0].as_str().map(|example| format!(", as `\"{example}\"`"));
        return format!("{}{}", words(reference), example.unwrap_or_default());
    }
    match &schema["type"] {
        Value::String(kind) => words(kind),
        kinds => list(kinds).filter(|kind| *kind != "null").map(words).join(" or "),
    }
}

fn words(kind: &str) -> String {
    match kind {
        "integer" => "whole number".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "string" => "text".to_owned(),
        "object" => "table".to_owned(),
        other => other.to_lowercase(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Returns a description with its lines joined.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().split_whitespace().join(" ")
}
