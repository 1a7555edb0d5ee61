//! Suggestions in refusals: the nearest right name, and the table to which a misplaced key belongs.

use super::keys::LAB_KEYS;
use super::refusal::Refusal;
use super::schema::Tables;
use control::Name;
use queue::DisciplineName;
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde::de::value::StrDeserializer;
use sim::BuildError;
use sim::config::{MobilityModel, TrafficKind};
use toml::de::DeTable;

/// Standards that are not modelled but whose names resemble an older one, and the newest modelled standard.
const NEWER: ([&str; 2], &str) = (["802.11be", "802.11bn"], "802.11ax");

/// The reason why those standards are unknown.
const NOT_SIMULATED: &str = "802.11ax is the newest simulated standard; links on several channels at once, \
    320 MHz and 4096-QAM are not simulated";

/// Returns the name in `known` that `name` most probably means; for a quantity, the nearest quantity.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name = if NEWER.0.contains(&name) { NEWER.1.to_owned() } else { plain(name) };
    let given = quantity(&name);
    let letters = name.chars().count();
    // A third of the letters may be wrong; a beginning or end of at least three letters counts as one wrong letter.
    let allowed = (letters / 3).max(1);
    known
        .into_iter()
        .filter_map(|other| {
            let lower = plain(other);
            if let (Some((value, unit)), Some((own, of))) = (given, quantity(&lower))
                && unit == of
            {
                return Some((0, value.abs_diff(own), other));
            }
            let part = |of: &str, part: &str| part.len() >= 3 && (of.starts_with(part) || of.ends_with(part));
            let distance = if lower == name {
                0
            } else if part(&lower, &name) || part(&name, &lower) {
                1
            } else if lower.chars().count().abs_diff(letters) > allowed {
                // The difference in length is a lower bound, so a name of a megabyte is not compared letter by letter.
                return None;
            } else {
                strsim::osa_distance(&name, &lower)
            };
            // With the formula above a name of one letter would have no match.
            let alike = lower.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
            (distance <= allowed && distance < letters.max(1)).then_some((distance, usize::MAX - alike, other))
        })
        // Mistakes at the beginning of a name are rarer.
        .min_by_key(|&(distance, unlike, _)| (distance, unlike))
        .map(|(.., other)| other)
}

/// Splits a whole number and its unit.
fn quantity(name: &str) -> Option<(usize, &str)> {
    let (value, unit) = name.split_once(' ')?;
    Some((value.parse().ok()?, unit))
}

/// Removes differences that are easily mistaken: capitals, and `_` for `-`.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Formats "did you mean `x`?"; empty if no name is near.
pub(super) fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    nearest(name, known).map_or_else(String::new, |other| format!("did you mean `{other}`?"))
}

/// Formats "; did you mean `x`?", for the end of a sentence; empty if no name is near.
pub fn or_meant<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    nearest(name, known).map_or_else(String::new, |other| format!("; did you mean `{other}`?"))
}

/// Like [`or_meant`], but lists the names if none is near.
pub fn or_one_of<'n>(name: &str, known: impl IntoIterator<Item = &'n str> + Clone) -> String {
    let meant = or_meant(name, known.clone());
    if meant.is_empty() { format!("; {}", expected("one of", known)) } else { meant }
}

/// Formats "expected one of `a`, `b`" with at most 24 names.
pub(super) fn expected<'n>(what: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let mut names: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(24);
    names.truncate(24);
    match (names.len(), more) {
        (0, _) => String::new(),
        (1, _) => format!("expected {}", names[0]),
        (_, 0) => format!("expected {what}: {}", names.join(", ")),
        (_, more) => format!("expected {what}: {} and {more} more", names.join(", ")),
    }
}

/// Adds to a refusal of the name `name` the existing names and the nearest of them.
pub(super) fn with_names<'n>(
    refusal: Refusal,
    name: &str,
    known: impl IntoIterator<Item = &'n str> + Clone,
) -> Refusal {
    refusal.note(expected("one of", known.clone())).note(did_you_mean(name, known))
}

/// Formats the fault in a description as one line, with the valid names and the nearest of them.
pub fn told(error: &BuildError) -> String {
    let Some(unknown) = error.unknown() else { return error.to_string() };
    let known = || unknown.known.iter().map(String::as_str);
    let notes = [expected("one of", known()), did_you_mean(&unknown.name, known())];
    let notes = notes.into_iter().filter(|note| !note.is_empty()).map(|note| format!("; {note}"));
    format!("{error}{}", notes.collect::<String>())
}

/// Name of a kind that is to be parsed.
type Chosen<'c> = StrDeserializer<'c, serde::de::value::Error>;

/// Returns the keys of a table that suit its kind of traffic, movement, controller or discipline.
fn of_kind<'k>(path: &str, known: &[&'k str], written: Option<&DeTable>) -> Option<Vec<&'k str>> {
    let chosen = |key: &str| Some(written?.get(key)?.get_ref().as_str()?.into_deserializer()) as Option<Chosen>;
    let (kind, keys) = match path {
        "flow.traffic" => ("kind", TrafficKind::deserialize(chosen("kind")?).ok()?.keys()),
        "mobility" => ("model", MobilityModel::deserialize(chosen("model")?).ok()?.keys()),
        _ => {
            let names = Name::ALL.iter().map(|name| name.as_str());
            let mut names = names.chain(DisciplineName::ALL.iter().map(|name| name.as_str()));
            let table = path.rsplit('.').next()?;
            return names.any(|name| plain(name) == plain(table)).then(|| known.to_vec());
        }
    };
    Some(known.iter().copied().filter(|key| *key == kind || keys.contains(key)).collect())
}

/// Returns hints about a key that table `table` does not have.
pub(super) fn unknown_key(
    key: &str,
    table: &str,
    known: &[&str],
    written: Option<&DeTable>,
    tables: &Tables,
) -> Vec<String> {
    let of_kind = of_kind(table, known, written);
    let known = of_kind.as_deref().unwrap_or(known);
    let mut notes = vec![expected("one of the keys", known.iter().copied())];
    if let Some(other) = nearest(key, known.iter().copied()) {
        notes.push(format!("did you mean `{other}`?"));
        return notes;
    }
    // No other table has keys of this kind.
    if of_kind.is_some() {
        return notes;
    }
    // The tables of an agent's interfaces have the interfaces' names, which may contain dots.
    if let Some(device) = table.strip_prefix("interface.") {
        notes.push(format!("a name with a dot needs quotes: [interface.\"{device}.{key}\"]"));
        return notes;
    }
    if table.is_empty() && LAB_KEYS.contains(&key) {
        notes.push(format!("`{key}` does not describe the network: it cannot be varied, nor set outside the file"));
        return notes;
    }
    // In the network, a key of a chart or claim is hardly meant.
    let lab = |path: &str| LAB_KEYS.contains(&path.split('.').next().unwrap_or_default());
    let near = |path: &str| path != table && (table.is_empty() || lab(table) == lab(path));
    let homes = tables.with_key(key).filter(|home| near(&home.path)).map(|home| home.header.as_str());
    let homes = homes.collect::<Vec<_>>().join(" and of ");
    if !homes.is_empty() {
        notes.push(format!("`{key}` is a key of {homes}"));
    } else if let Some(other) = nearest(key, tables.all_keys().map(|(name, _)| name))
        && let Some(home) = tables.with_key(other).find(|home| near(&home.path))
    {
        notes.push(format!("did you mean `{other}` of {}?", home.header));
    }
    notes
}

/// Replaces serde's message about a part of the text by the words of scenarios: a message and notes. `paths` are the
/// tables and keys with that span, outermost first; `written` is the table around it.
pub(super) fn explain(
    message: &str,
    paths: &[Vec<&str>],
    written: Option<&DeTable>,
    tables: &Tables,
) -> (String, Vec<String>) {
    let innermost = paths.last().and_then(|path| path.split_last());
    let (key, above) = innermost.map_or(("", [].as_slice()), |(key, above)| (*key, above));
    let home = above.join(".");
    if let Some(unknown) = unknown(message) {
        let (name, known) = (unknown.name, &unknown.known);
        return match unknown.kind {
            Kind::Key => {
                // Tables made for a key set from outside share its span: the one that lacks the key is meant.
                let lacking = paths.iter().find_map(|path| path.strip_suffix(&[name]));
                let home = lacking.map_or(home, |above| above.join("."));
                (format!("unknown key `{name}`"), unknown_key(name, &home, known, written, tables))
            }
            Kind::Value => {
                let why = if NEWER.0.contains(&name) { NOT_SIMULATED } else { "" };
                let notes = [expected("one of", known.iter().copied()), did_you_mean(name, known.iter().copied())];
                (format!("unknown value `{name}`"), notes.into_iter().chain([why.to_owned()]).collect())
            }
        };
    }
    if let Some(missing) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let table = paths.first().map_or_else(String::new, |path| path.join("."));
        return (format!("missing key `{missing}`"), vec![meaning(missing, &table, tables)]);
    }
    let own = meaning(key, &home, tables);
    // If the user chooses a name, the key around it has the explanation: `groups.early`.
    let around = || above.split_last().map_or_else(String::new, |(key, above)| meaning(key, &above.join("."), tables));
    (in_plain_words(message), vec![if own.is_empty() { around() } else { own }])
}

/// Translates messages of serde and the TOML crate about an unsuitable value, without names of Rust's types. Does not
/// repeat the value, because the refusal quotes it.
fn in_plain_words(message: &str) -> String {
    const TYPES: [(&str, &str); 11] = [
        ("u8", "a whole number from 0 to 255"),
        ("u16", "a whole number from 0 to 65535"),
        ("u32", "a whole number from 0 to 4294967295"),
        ("u64", "a whole number, zero or more"),
        ("a nonzero u8", "a whole number from 1 to 255"),
        ("a nonzero u32", "a whole number from 1 to 4294967295"),
        ("f64", "a number"),
        ("a string", "text in quotes"),
        ("a boolean", "`true` or `false`"),
        ("a sequence", "a list"),
        ("a map", "a table"),
    ];
    if message.starts_with("data did not match any variant") {
        return "this value does not fit".to_owned();
    }
    // The TOML crate's words for an enumeration that is not a string, and for `[[table]]` instead of `[table]`.
    match message {
        "wanted string or table" => return "expected text in quotes".to_owned(),
        "wanted exactly 1 element, more than 1 element" => {
            return "expected one table, not a list of tables".to_owned();
        }
        _ => {}
    }
    let unfit = message.starts_with("invalid ").then(|| message.split_once(", expected ")).flatten();
    let Some((_, expected)) = unfit else { return message.to_owned() };
    if expected.starts_with("struct ") {
        return "expected a table".to_owned();
    }
    let plain = TYPES.iter().find(|(rust, _)| *rust == expected).map_or(expected, |(_, plain)| plain);
    format!("expected {plain}")
}

/// Returns the meaning of a key and the values that it takes; empty if the key is unknown.
fn meaning(key: &str, table: &str, tables: &Tables) -> String {
    let known = tables.at(table).and_then(|table| table.keys.iter().find(|known| known.name == key));
    known.map_or_else(String::new, |known| format!("`{key}`: {} Expected: {}.", known.about, known.kind))
}

/// Serde's message about a name, in parts: kind of name, the name, and the expected names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown<'m> {
    pub(super) kind: Kind,
    pub(super) name: &'m str,
    pub(super) known: Vec<&'m str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Key,
    Value,
}

/// Reads "unknown field `x`, expected one of `a`, `b`" and similar messages of serde's documented traits.
pub(super) fn unknown(message: &str) -> Option<Unknown<'_>> {
    let (kind, rest) = match message.strip_prefix("unknown field `") {
        Some(rest) => (Kind::Key, rest),
        None => (Kind::Value, message.strip_prefix("unknown variant `")?),
    };
    // The name itself may contain a back-tick. The text after it is serde's, so search from the end.
    let (name, names) = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, there are no "))?;
    let known = names.split('`').skip(1).step_by(2).collect();
    Some(Unknown { kind, name, known })
}

#[cfg(test)]
mod tests {
    use super::super::cases::{Scenario, Wishes};
    use super::*;

    #[test]
    fn finds_the_nearest_name() {
        let known = ["target_delay", "interval", "phi_min", "phi_max"];
        assert_eq!(nearest("target_dely", known), Some("target_delay"));
        assert_eq!(nearest("Interval", known), Some("interval"));
        assert_eq!(nearest("target", known), Some("target_delay"));
        assert_eq!(nearest("phi_mxa", known), Some("phi_max"));
        assert_eq!(nearest("maximum", ["mean", "max"]), Some("max"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("a", ["x", "y"]), None, "nothing would be left of it");
        assert_eq!(nearest("fq_codel", ["codel", "fq-codel"]), Some("fq-codel"));
        assert_eq!(nearest("s1", ["s4", "s1a", "t1"]), Some("s1a"));
        assert_eq!(nearest("320 MHz", ["20 MHz", "40 MHz", "160 MHz"]), Some("160 MHz"));
        assert_eq!(nearest("60 mhz", ["20 MHz", "80 MHz"]), Some("80 MHz"));
        assert_eq!(nearest("802.11be", ["802.11b", "802.11ac", "802.11ax"]), Some("802.11ax"));
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }

    #[test]
    fn explains_in_the_words_of_scenarios() {
        let tables = Tables::get();
        let (message, notes) = explain("missing field `packet`", &[vec!["flow", "traffic"]], None, tables);
        assert_eq!(message, "missing key `packet`");
        assert!(notes[0].starts_with("`packet`: UDP payload of a packet"), "{notes:?}");
        let (message, notes) =
            explain("invalid type: integer `5`, expected struct Settings", &[vec!["queue"]], None, tables);
        assert_eq!(message, "expected a table");
        assert!(notes[0].ends_with("Expected: table `[queue]`."), "{notes:?}");
        let (_, notes) =
            explain("unknown field `phi_max`, expected `limit`", &[vec!["queue", "phi_max"]], None, tables);
        assert_eq!(notes, ["expected `limit`", "`phi_max` is a key of [queue.adth]"]);
    }

    /// Returns a file in which `key` of the table at `path` has this value; the tables around it are otherwise empty.
    fn with_value(tables: &Tables, path: &str, key: &str, value: &str) -> String {
        let mut text = format!("{{ {key} = {value} }}");
        let names: Vec<&str> = path.split('.').filter(|name| !name.is_empty()).collect();
        for count in (1..=names.len()).rev() {
            let inner = names[..count].join(".");
            // Tables that share their keys are no lists.
            let many = tables.iter().any(|table| table.path == inner && table.header.starts_with("[["));
            let of_name = if many { format!("[{text}]") } else { text };
            text = format!("{{ {} = {of_name} }}", names[count - 1]);
        }
        text
    }

    /// Wrong types, units and ranges.
    const WRONG: [&str; 7] = ["-1", "\"3 parsec\"", "true", "1979-05-27", "[[[0]]]", "{ zz = 1 }", "\"-1 s\""];

    #[test]
    fn an_error_at_a_key_is_told_with_its_own_help() {
        let tables = Tables::get();
        let own = tables.iter().map(|table| table.path.as_str());
        // Tables that share their keys have the help of the table with the keys.
        let shared = tables.shared().map(str::to_owned).collect::<Vec<_>>();
        let mut faults = Vec::new();
        let mut tried = 0;
        for path in own.chain(shared.iter().map(String::as_str)) {
            let table = tables.at(path).expect("a table");
            for key in table.keys.iter().filter(|key| !matches!(key.name.as_str(), "vary" | "quick" | "base")) {
                let help = format!("`{}`: {}", key.name, key.about);
                let refusals = WRONG.map(|value| {
                    let inline = with_value(tables, path, &key.name, value);
                    let (name, rest) = inline[1..inline.len() - 1].trim().split_once(" = ").expect("a key");
                    let title = if name == "title" { "" } else { "title = \"t\"\n" };
                    let text = format!("{title}{name} = {rest}\n");
                    Scenario::parse("a.toml", text.as_bytes(), &Wishes::default()).expect_err("wrong").to_string()
                });
                // With these keys the value may be valid; then the refusal is about a missing key.
                let of_key: Vec<&String> = refusals
                    .iter()
                    .filter(|said| !said.contains(": missing key `") && !said.contains(": unknown key `"))
                    .collect();
                tried += of_key.len();
                if of_key.is_empty() && !key.is_table {
                    faults.push(format!("{path}.{}: no error: {refusals:?}", key.name));
                }
                faults.extend(
                    of_key
                        .iter()
                        .filter(|said| !said.contains(&help) && !said.contains(": unknown value `"))
                        .map(|said| format!("{path}.{}: {said}\n  instead of {help}", key.name)),
                );
            }
        }
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
        assert!(tried > 1_000, "{tried}");
    }

    #[test]
    fn a_wrong_key_of_a_kind_is_held_against_the_keys_of_that_kind() {
        let flow =
            |traffic: &str| format!("[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = {{ {traffic} }}\n");
        let ping = "one of the keys: `kind`, `packet`, `times`, `every`";
        let adth = "one of the keys: `target_delay`, `interval`";
        for (text, notes) in [
            (flow("kind = \"ping\", interval = \"1 s\""), &[ping][..]),
            (flow("kind = \"ping\", evry = \"1 s\""), &[ping, "did you mean `every`?"]),
            // Nearer to the keys of other kinds.
            (flow("kind = \"ping\", overheads = \"1 B\""), &[ping]),
            (flow("kind = \"greedy\", rates = \"1 Mb/s\""), &["expected `kind`"]),
            ("mobility = { model = \"setdest\", fil = \"a\" }".to_owned(), &["keys: `model`, `file`", "mean `file`?"]),
            ("mobility = { aera = [\"1 m\", \"1 m\"] }".to_owned(), &["`speed`", "did you mean `area`?"]),
            ("queue.adth.phi_mx = 1".to_owned(), &[adth, "did you mean `phi_max`?"]),
            ("[[node]]\nname = \"n\"\nqueue.adth.t_max = \"1 s\"".to_owned(), &[adth]),
        ] {
            let text = format!("title = \"t\"\nduration = \"1 s\"\n{text}");
            let said = Scenario::parse("a.toml", text.as_bytes(), &Wishes::default()).expect_err("wrong").to_string();
            for note in notes {
                assert!(said.contains(note), "{text}: {said}");
            }
            assert!(
                !said.contains(" is a key of ") && said.matches("did you mean").count() < notes.len().max(1),
                "{said}"
            );
        }
    }

    #[test]
    fn says_what_fits_in_plain_words() {
        for (said, plain) in [
            ("invalid type: boolean `true`, expected u8", "expected a whole number from 0 to 255"),
            ("invalid value: integer `-5`, expected a number of packets", "expected a number of packets"),
            ("invalid type: map, expected a string", "expected text in quotes"),
            ("invalid value: integer `0`, expected a nonzero u8", "expected a whole number from 1 to 255"),
            ("\"3 m\" has an unknown unit \"m\"", "\"3 m\" has an unknown unit \"m\""),
        ] {
            assert_eq!(in_plain_words(said), plain);
        }
    }

    #[test]
    fn takes_serde_messages_apart() {
        let seen = unknown("unknown field `limt`, expected one of `limit`, `adth`").unwrap();
        assert_eq!(seen, Unknown { kind: Kind::Key, name: "limt", known: vec!["limit", "adth"] });
        let seen = unknown("unknown variant `x`, expected `a` or `b`").unwrap();
        assert_eq!(seen, Unknown { kind: Kind::Value, name: "x", known: vec!["a", "b"] });
        assert_eq!(unknown("missing field `x`"), None);
    }
}
