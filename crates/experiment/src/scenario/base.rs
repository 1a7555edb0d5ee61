//! `base`: a scenario that inherits from another file.

use super::document;
use super::file::{Files, found, utf8};
use super::refusal::Refusal;
use super::source::Source;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The key that names the base.
const KEY: &str = "base";

/// The key that is not inherited, because two experiments cannot have the same id.
const ID: &str = "id";

/// The file that a scenario inherits from.
pub(super) struct Base {
    /// Name of the file, as refusals give it.
    name: String,
    text: String,
}

/// Reads a file, the base that it may name, and the `--set` arguments, which override both. Errors: no such base.
pub(super) fn source(name: &str, text: &str, sets: &[String], files: &dyn Files) -> Result<Source, Refusal> {
    let base = read(&Source::alone(name, text, sets), files)?;
    Ok(Source::new(name, base.as_ref().map(|base| (base.name.as_str(), base.text.as_str())), text, sets))
}

/// Parses a file; its keys override those of its base, if it has one.
pub(super) fn parse(source: &Source) -> Result<DeTable<'_>, Refusal> {
    let mut root = source.parse(source.own())?;
    if let Some(base) = source.of_base() {
        lay_under(source, &mut root, source.parse(base)?)?;
    }
    Ok(root)
}

fn read(source: &Source, files: &dyn Files) -> Result<Option<Base>, Refusal> {
    let Some(named) = named(&source.text[source.own()]) else { return Ok(None) };
    let path = Path::new(named.get_ref());
    let name = files.name(path);
    let beside = "a base is looked for in the folder of the file that names it";
    let bytes = found(files, path, |why| source.refuse(named.span(), why).note(beside))?;
    let text = utf8(&name, &bytes)?.to_owned();
    Ok(Some(Base { name, text }))
}

/// Returns the base that a text names. A text that cannot be parsed is refused together with the other keys.
fn named(text: &str) -> Option<Spanned<String>> {
    if !text.contains(KEY) {
        return None;
    }
    let root = DeTable::parse(text).ok()?;
    let value = root.get_ref().get(KEY)?;
    Some(Spanned::new(value.span(), value.get_ref().as_str()?.to_owned()))
}

/// Adds to a file the keys that only its base has: tables key by key, other values as a whole.
///
/// # Errors
/// The base has a base itself.
fn lay_under<'s>(source: &Source, own: &mut DeTable<'s>, mut base: DeTable<'s>) -> Result<(), Refusal> {
    if let Some((key, _)) = base.get_key_value(KEY) {
        let refusal = source.refuse(key.span(), "a base cannot have a base itself");
        return Err(refusal.note(format!("{} inherits from this file", source.name)));
    }
    base.remove(ID);
    document::fill(own, base);
    Ok(())
}

/// Writes a file and its base as one file, in the order of their keys. Leaves out settings at the offsets `without`.
pub(super) fn expanded(source: &Source, root: &DeTable, without: &BTreeSet<usize>) -> String {
    let mut text = String::new();
    Writer { source, without }.table(&mut text, root, "");
    text.trim_start().to_owned()
}

struct Writer<'w> {
    source: &'w Source,
    /// Offsets of the keys, values of a sweep, and tables in lists that are left out.
    without: &'w BTreeSet<usize>,
}

impl Writer<'_> {
    /// Writes a table: first the keys that fit on a line, then its inner tables under their own headers.
    fn table(&self, text: &mut String, table: &DeTable, path: &str) {
        let of_sweep = ["vary", "quick"].iter().any(|of| path.starts_with(of));
        let is_kept = |key: &Spanned<_>, value: &document::Value| {
            let place = if of_sweep { value.span() } else { key.span() };
            !(self.without.contains(&place.start) || path.is_empty() && key.get_ref() == KEY)
        };
        let mut keys: Vec<_> = table.iter().filter(|(key, value)| is_kept(key, value)).collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        let (tables, plain): (Vec<_>, Vec<_>) = keys.into_iter().partition(|(_, value)| self.has_header(value));
        for (key, value) in plain {
            let _ = writeln!(text, "{} = {}", written(key.get_ref()), &self.source.text[value.span()]);
        }
        for (key, value) in tables {
            let name = written(key.get_ref());
            let path = if path.is_empty() { name } else { format!("{path}.{name}") };
            match value.get_ref() {
                DeValue::Table(inner) => {
                    let _ = write!(text, "\n[{path}]\n");
                    self.table(text, inner, &path);
                }
                DeValue::Array(elements) => {
                    let elements = elements.iter().filter(|element| !self.without.contains(&element.span().start));
                    for inner in elements.filter_map(|element| element.get_ref().as_table()) {
                        let _ = write!(text, "\n[[{path}]]\n");
                        self.table(text, inner, &path);
                    }
                }
                _ => {}
            }
        }
    }

    /// True for a table or list of tables that is written under a header instead of after `=`. A header is also needed
    /// if keys come from both files, or if some are left out.
    fn has_header(&self, value: &document::Value) -> bool {
        let span = value.span();
        let written = self.source.text.get(span.clone()).unwrap_or_default();
        let is_whole = || self.without.range(span.clone()).next().is_none();
        match value.get_ref() {
            DeValue::Table(table) => {
                let inside = |(key, value): (&Spanned<_>, &document::Value)| {
                    span.start <= key.span().start && value.span().end <= span.end
                };
                !written.starts_with('{') || !table.iter().all(inside) || !is_whole()
            }
            DeValue::Array(elements) => elements.iter().next().is_some_and(|first| {
                first.get_ref().as_table().is_some()
                    && (!self.source.text[first.span()].starts_with('{') || !is_whole())
            }),
            _ => false,
        }
    }
}

/// Returns a key as it is written in a file.
fn written(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { format!("{key:?}") }
}

/// Parts of a scenario file that can be read without the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The file's `id`, if it has one.
    pub id: Option<String>,
    /// The file from which the scenario inherits.
    pub base: Option<String>,
}

/// Reads the outline from a file's bytes; it is empty if the bytes are not TOML.
pub fn outline(bytes: &[u8]) -> Outline {
    let text = String::from_utf8_lossy(bytes);
    let Ok(root) = DeTable::parse(&text) else { return Outline::default() };
    let word = |key: &str| Some(root.get_ref().get(key)?.get_ref().as_str()?.to_owned());
    Outline { id: word(ID), base: word(KEY) }
}

#[cfg(test)]
mod tests {
    use super::super::file::Beside;
    use super::super::{Scenario, Wishes};
    use super::*;

    const BASE: &str = "title = \"t\"\nduration = \"1 s\"\n[nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"30 m\"\n\
        [queue]\nlimit = 50\ndiscipline = \"drop-head\"\n[vary]\nseeds = 2\n\
        \"flow.f.traffic.rate\" = [\"1 Mb/s\", \"2 Mb/s\"]\n\
        [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = { kind = \"cbr\", rate = \"1 Mb/s\", packet = \"500 B\" }\n";

    /// Reads the scenario in `own.toml`, which may have `base.toml` as its base.
    fn load(base: &str, own: &str) -> Result<Scenario, String> {
        let beside = Beside(&[("base.toml", base.as_bytes())]);
        let read = Scenario::read("own.toml", "own", own.as_bytes(), &beside, &Wishes::default());
        read.map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn tables_are_merged_and_all_else_is_replaced() {
        let own = "base = \"base.toml\"\nid = \"x\"\n[queue]\nlimit = 7\n[vary]\nseeds = 3\n\
            \"queue.discipline\" = [\"drop-tail\", \"drop-head\"]\n";
        let scenario = load(BASE, own).unwrap();
        assert_eq!((scenario.id.as_str(), scenario.title.as_str()), ("x", "t"));
        assert_eq!(scenario.base.queue.limit, control::Limit::Packets(7));
        assert_eq!((scenario.seeds.len(), scenario.cases.len()), (3, 4));
        let axes: Vec<&str> = scenario.axes.iter().map(|axis| axis.name.as_str()).collect();
        assert_eq!(axes, ["flow.f.traffic.rate", "queue.discipline"]);
        let other = load(&format!("id = \"b\"\n{BASE}"), "base = \"base.toml\"\n").unwrap();
        assert_eq!(other.id, "own", "the id is not inherited");
    }

    #[test]
    fn the_expanded_text_is_the_same_scenario() {
        let own = "base = \"base.toml\"\nduration = \"2 s\"\nqueue.limit = 7\n\
            [[flow]]\nname = \"g\"\nfrom = \"n1\"\nto = \"n0\"\ntraffic = { kind = \"saturated\", packet = \"500 B\" }\n\
            [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic.kind = \"cbr\"\ntraffic.rate = \"1 Mb/s\"\n\
            traffic.packet = \"500 B\"\n";
        let scenario = load(BASE, own).unwrap();
        let again = load("", &scenario.text).unwrap();
        assert_eq!(again.text, scenario.text);
        let network = |scenario: &Scenario| {
            let cases = scenario.cases.iter().map(|case| (&case.labels, &case.network));
            serde_json::to_string(&cases.collect::<Vec<_>>()).unwrap()
        };
        assert_eq!(network(&again), network(&scenario));
        assert_eq!(scenario.base.flow.len(), 2);
        let plain = "# A remark.\ntitle = \"t\"\nduration = \"1 s\"\nnodes.count = 2\nnodes.placement = \"chain\"\n\
            nodes.spacing = \"9 m\"\n";
        assert_eq!(load("", plain).unwrap().text, plain, "a file without a base stays as it is");
    }

    #[test]
    fn settings_of_the_base_without_effect_are_left_out_alone() {
        let base = BASE.replace("[queue]\n", "[tcp]\ncongestion = \"cubic\"\n[queue]\ncodel = { target = \"9 ms\" }\n");
        let base = base.replace("chain\"", "chain\" # one after another");
        let scenario = load(
            &base,
            "base = \"base.toml\"\nqueue.limit = 7\nqueue.red = { min_th = 1, max_th = 3 }\n\
            vary.\"queue.discipline\" = [\"drop-tail\", \"red\"]\n",
        )
        .unwrap();
        let alone = scenario.alone;
        assert!(!alone.contains("tcp") && !alone.contains("codel") && alone.contains("red"), "{alone}");
        let read = load("", &alone).unwrap();
        assert_eq!(read.cases.len(), scenario.cases.len());
        assert_eq!(read.alone, alone);
        assert!(scenario.text.contains("codel"), "what others inherit belongs to the text");
        // A setting also stays if it is used only by a case that is not run.
        let own = "base = \"base.toml\"\nvary.\"queue.discipline\" = [\"drop-tail\", \"codel\"]\n";
        let beside = Beside(&[("base.toml", base.as_bytes())]);
        let alone = Wishes { base_only: true, ..Wishes::default() };
        let run = Scenario::read("own.toml", "own", own.as_bytes(), &beside, &alone).unwrap();
        assert!(run.alone.contains("9 ms") && !run.alone.contains("cubic"), "{}", run.alone);
    }

    #[test]
    fn what_is_wrong_is_told_where_it_stands() {
        let wrong = |base: &str, own: &str, told: &str| {
            let refusal = load(base, own).unwrap_err();
            assert!(refusal.contains(told), "{refusal}");
        };
        let with = |own: &str| format!("base = \"base.toml\"\n{own}");
        wrong(&BASE.replace("limit = 50", "limt = 50"), &with(""), "base.toml:8:1: unknown key `limt`");
        wrong(BASE, &with("[queue]\nlimt = 5\n"), "own.toml:3:1: unknown key `limt`");
        wrong(BASE, &with("x = \n"), "own.toml:2:5: not TOML");
        wrong("x = \n", &with(""), "base.toml:1:5: not TOML");
        wrong(BASE, "base = \"bse.toml\"\n", "own.toml:1:8: `bse.toml` is relative to the scenario's file, but");
        wrong(BASE, "base = 3\n", "own.toml:1:8: expected text in quotes");
        wrong(&format!("base = \"other.toml\"\n{BASE}"), &with(""), "base.toml:1:1: a base cannot have a base itself");
        wrong(
            &BASE.replace("\"drop-head\"", "\"drop-haed\""),
            &with("title = \"o\"\n"),
            "base.toml:9:14: unknown value",
        );
        let text = Scenario::parse("own.toml", with("").as_bytes(), &Wishes::default()).unwrap_err();
        assert!(text.to_string().contains("own.toml:1:8: `base.toml` is relative to"), "{text}");
    }

    #[test]
    fn an_outline_has_the_id_and_the_base() {
        let read = outline(b"id = \"a\"\nbase = \"b.toml\"\n");
        assert_eq!(read, Outline { id: Some("a".to_owned()), base: Some("b.toml".to_owned()) });
        assert_eq!(outline(b"id = "), Outline::default());
    }
}
