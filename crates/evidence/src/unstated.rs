//! Values that documents do not state, as comments in their scenarios mark them, and values tried in their place.

use experiment::claims;
use itertools::Itertools as _;
use toml::{Table, Value};

/// The mark that a key's comment then has.
const MARK: &str = "not stated";
/// The text after this mark gives the range of the values that were tried, or why none were tried.
const RANGE: &str = "range:";

/// A scenario's file or a base: its document, its name and its text.
#[derive(Clone, Debug)]
pub struct Text {
    /// Name of the document, which is also the name of the file's folder: `adth`.
    pub document: String,
    /// The file's name: `s5.toml`.
    pub file: String,
    /// Contents of the file.
    pub text: String,
}

/// A value that a document does not state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unstated {
    /// Name of the document.
    pub document: String,
    /// The file's name.
    pub file: String,
    /// Dotted path of the key or table: `radio.basic_rate`.
    pub key: String,
    /// The chosen value, as it is written; empty for a table.
    pub value: String,
    /// Other values that scenarios of the document set, as they are written and each once; for a table with their keys.
    pub tried: Vec<String>,
    /// Text after the mark in the comment: the rule by which the value was chosen.
    pub reason: String,
    /// Text about the range: the possible values, or why none a decade above and below was tried.
    pub range: String,
}

/// Returns the values that documents do not state, in the order of the files.
pub fn unstated(texts: &[Text]) -> Vec<Unstated> {
    let mut found = Vec::new();
    for text in texts {
        let beside = || texts.iter().filter(|other| other.document == text.document);
        let set: Vec<(Vec<String>, String)> = beside().flat_map(|other| settings(&other.text)).collect();
        for (key, value, reason) in marked(&text.text) {
            let path = dotted(&key);
            let others = set.iter().filter(|(other, tried)| is_under(other, &path) && *tried != value);
            let told = |(other, value): &(Vec<String>, String)| match other[path.len()..].join(".") {
                key if key.is_empty() => value.clone(),
                key => format!("{key} = {value}"),
            };
            let tried = others.map(told).unique().collect();
            let (document, file) = (text.document.clone(), text.file.clone());
            let (reason, range) = reason.split_once(RANGE).unwrap_or((&reason, ""));
            let [reason, range] = [reason, range].map(|part| part.trim_matches([' ', ';']).to_owned());
            found.push(Unstated { document, file, key, value, tried, reason, range });
        }
    }
    found
}

/// Returns the faults: values without a text that gives the range, of which not both a tenth and ten times were tried.
pub fn untried(all: &[Unstated]) -> Vec<String> {
    let bare = all.iter().filter(|one| one.range.is_empty() && !spans_a_decade(&one.value, &one.tried));
    let told = |one: &Unstated| {
        let (document, file, key) = (&one.document, &one.file, &one.key);
        format!("{document}/{file}: try a tenth and ten times the unstated `{key}`, or say in `{RANGE}` why not")
    };
    bare.map(told).collect()
}

/// True if values of the same kind are at least a decade below and above `value`.
fn spans_a_decade(value: &str, tried: &[String]) -> bool {
    let read = |text: &str| claims::quantity(text.trim_matches('"'));
    let Some((chosen, unit)) = read(value) else { return false };
    let others = || tried.iter().filter_map(|text| read(text).filter(|(_, other)| *other == unit));
    others().any(|(other, _)| other * 10.0 <= chosen) && others().any(|(other, _)| other >= chosen * 10.0)
}

/// True for a key that sets `path` or something in it; `*` means any name.
fn is_under(key: &[String], path: &[String]) -> bool {
    let alike = |(one, other): (&String, &String)| one == other || one == "*" || other == "*";
    key.len() >= path.len() && key.iter().zip(path).all(alike)
}

/// Returns the keys and tables of a text whose comments have the mark: path, value and rest of the comment.
fn marked(text: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let (mut table, mut is_list) = (String::new(), false);
    for line in text.lines() {
        let (code, comment) = line.split_once(" #").map_or((line, ""), |(code, comment)| (code, comment));
        let code = code.trim();
        if let Some(header) = code.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_list = header.starts_with('[');
            header.trim_matches(['[', ']']).clone_into(&mut table);
        } else if let Some(("name", value)) = code.split_once(" = ").filter(|_| is_list) {
            table = format!("{}.{}", table.split('.').next().unwrap_or_default(), value.trim_matches('"'));
        }
        // The window of a claim is not a value of a network.
        let Some((before, after)) = comment.split_once(MARK).filter(|_| table != "claim") else { continue };
        let told = [before, after].map(|part| part.trim_matches([' ', ':', ';', ',', '.', '(', ')']));
        let reason = told.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        match code.split_once(" = ") {
            Some((key, value)) if table.is_empty() => found.push((unquoted(key), value.to_owned(), reason)),
            Some((key, value)) => found.push((format!("{table}.{}", unquoted(key)), value.to_owned(), reason)),
            None if code.starts_with('[') => found.push((table.clone(), String::new(), reason)),
            None => {}
        }
    }
    found
}

fn unquoted(key: &str) -> String {
    key.trim().replace('"', "")
}

/// Returns the keys that a text sets in a sweep, split at their dots, each with its value as it is written.
fn settings(text: &str) -> Vec<(Vec<String>, String)> {
    let sweep = toml::from_str::<Table>(text).ok().and_then(|mut all| all.remove("vary"));
    let Some(Value::Table(axes)) = sweep else { return Vec::new() };
    let mut found = Vec::new();
    for (key, values) in &axes {
        for value in values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice) {
            match value.get("set") {
                Some(set) => add(&mut found, &[], set),
                None if key.contains('.') => add(&mut found, &dotted(key), value),
                None => {}
            }
        }
    }
    found
}

/// Adds a value, or each value of a table.
fn add(found: &mut Vec<(Vec<String>, String)>, key: &[String], value: &Value) {
    let Value::Table(table) = value else { return found.push((key.to_vec(), value.to_string())) };
    for (name, value) in table {
        add(found, &[key, &dotted(name)].concat(), value);
    }
}

fn dotted(key: &str) -> Vec<String> {
    key.split('.').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "duration = \"9 s\"  # not stated\n[radio]\nrange = \"30 m\"\nbasic_rate = \"1 Mb/s\"   # not stated: the lowest; range: there are two\n\
        [tcp]  # not stated\nsegment = \"512 B\"\n[[flow]]\nname = \"up\"\nrate = \"2 Mb/s\"  # as printed; not stated for down\n\
        [queue]\nlimit = 50  # not stated: 20 to 500\n[[claim]]\nholds = \"< 1\"  # not stated\n";
    const SWEEP: &str = "base = \"base.toml\"\n[vary]\n\"radio.range\" = [\"30 m\", \"60 m\"]\nx = [\n  { label = \"a\", set = { \
        \"radio.basic_rate\" = \"2 Mb/s\", \"tcp.segment\" = \"1 kB\", \"flow.*.rate\" = 3 } },\n]\n\
        \"queue.limit\" = [20, 50, 500]\n";

    fn texts() -> [Text; 3] {
        let of = |document: &str, file: &str, text: &str| Text {
            document: document.to_owned(),
            file: file.to_owned(),
            text: text.to_owned(),
        };
        let other = SWEEP.replace("2 Mb/s", "5 Mb/s");
        [of("a", "base.toml", BASE), of("a", "sweep.toml", SWEEP), of("b", "sweep.toml", &other)]
    }

    #[test]
    fn each_marked_key_has_the_values_that_its_document_tries() {
        let found = unstated(&texts());
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.key.as_str(), one.tried.join(" "), one.reason.as_str(), one.range.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("duration", String::new(), "", ""),
                ("radio.basic_rate", "\"2 Mb/s\"".to_owned(), "the lowest", "there are two"),
                ("tcp", "segment = \"1 kB\"".to_owned(), "", ""),
                ("flow.up.rate", "3".to_owned(), "as printed; for down", ""),
                ("queue.limit", "20 500".to_owned(), "20 to 500", ""),
            ]
        );
        let faulty = |found: &[Unstated]| -> Vec<String> {
            let key = |fault: String| fault.split('`').nth(1).unwrap_or_default().to_owned();
            untried(found).into_iter().map(key).collect()
        };
        assert_eq!(faulty(&found), ["duration", "tcp", "flow.up.rate", "queue.limit"]);
        // A decade in each direction needs no text. A value that is not a quantity has no decade.
        let other = texts().map(|mut text| {
            text.text =
                text.text.replace("[20, 50, 500]", "[5, 50, 500]").replace("rate\" = 3", "rate\" = [\"20 Mb/s\", 0.2]");
            text
        });
        assert_eq!(faulty(&unstated(&other)), ["duration", "tcp", "flow.up.rate"]);
    }
}
