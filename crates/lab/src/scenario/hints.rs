//! What was probably meant: the nearest right name, and where a misplaced key belongs.

use super::keys::LAB_KEYS;
use super::refusal::Refusal;
use super::schema::Tables;

/// Of `known`, the name that `name` was most probably meant to be.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name = plain(name);
    let letters = name.chars().count();
    // A third of the letters may be wrong; a beginning or end of at least three letters
    // counts as a slip of one.
    let allowed = (letters / 3).max(1);
    known
        .into_iter()
        .filter_map(|other| {
            let lower = plain(other);
            let part = |of: &str, part: &str| part.len() >= 3 && (of.starts_with(part) || of.ends_with(part));
            let distance = if lower == name {
                0
            } else if part(&lower, &name) || part(&name, &lower) {
                1
            } else if lower.chars().count().abs_diff(letters) > allowed {
                // As many slips at least; and a name of a megabyte is not compared letter by letter.
                return None;
            } else {
                strsim::osa_distance(&name, &lower)
            };
            // Of a name of one letter nothing would be left.
            let alike = lower.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
            (distance <= allowed && distance < letters.max(1)).then_some((distance, usize::MAX - alike, other))
        })
        // Slips at the beginning of a name are rarer.
        .min_by_key(|&(distance, unlike, _)| (distance, unlike))
        .map(|(.., other)| other)
}

/// Without what is easily mistaken: capitals, and `_` for `-`.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// "did you mean `x`?", or nothing.
pub(super) fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    nearest(name, known).map_or_else(String::new, |other| format!("did you mean `{other}`?"))
}

/// "expected one of `a`, `b`"; at most 24 names.
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

/// Adds to a refusal of the name `name` the names that there are, and the nearest.
pub(super) fn with_names(refusal: Refusal, name: &str, known: &[&str]) -> Refusal {
    refusal.note(expected("one of", known.iter().copied())).note(did_you_mean(name, known.iter().copied()))
}

/// What to tell about a key that table `table` does not have.
pub(super) fn unknown_key(key: &str, table: &str, known: &[&str], tables: &Tables) -> Vec<String> {
    let mut notes = vec![expected("one of the keys", known.iter().copied())];
    if let Some(other) = nearest(key, known.iter().copied()) {
        notes.push(format!("did you mean `{other}`?"));
        return notes;
    }
    if table.is_empty() && LAB_KEYS.contains(&key) {
        notes.push(format!("`{key}` is not of the network: it can neither be varied nor set from outside"));
        return notes;
    }
    // A key of a picture or a claim is hardly meant within the network.
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

/// Puts what serde says about a place in the words of scenarios: a message and notes. `paths` are the tables and keys that
/// stand there, outermost first.
pub(super) fn explain(message: &str, paths: &[Vec<&str>], tables: &Tables) -> (String, Vec<String>) {
    let innermost = paths.last().and_then(|path| path.split_last());
    let (key, above) = innermost.map_or(("", [].as_slice()), |(key, above)| (*key, above));
    let home = above.join(".");
    if let Some(unknown) = unknown(message) {
        let (name, known) = (unknown.name, &unknown.known);
        return match unknown.kind {
            Kind::Key => {
                // Tables made for a key set from outside stand where it does: the one is meant that lacks the key.
                let lacking = paths.iter().find_map(|path| path.strip_suffix(&[name]));
                let home = lacking.map_or(home, |above| above.join("."));
                (format!("unknown key `{name}`"), unknown_key(name, &home, known, tables))
            }
            Kind::Value => {
                let notes = [expected("one of", known.iter().copied()), did_you_mean(name, known.iter().copied())];
                (format!("unknown value `{name}`"), notes.into())
            }
        };
    }
    if let Some(missing) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let table = paths.first().map_or_else(String::new, |path| path.join("."));
        return (format!("missing key `{missing}`"), vec![meaning(missing, &table, tables)]);
    }
    (in_plain_words(message), vec![meaning(key, &home, tables)])
}

/// What serde and the TOML crate say of a value that does not fit, without Rust's names of types. What was found instead
/// is not repeated: the refusal quotes the place.
fn in_plain_words(message: &str) -> String {
    const TYPES: [(&str, &str); 9] = [
        ("u8", "a whole number from 0 to 255"),
        ("u16", "a whole number from 0 to 65535"),
        ("u32", "a whole number from 0 to 4294967295"),
        ("u64", "a whole number, zero or more"),
        ("f64", "a number"),
        ("a string", "text in quotes"),
        ("a boolean", "`true` or `false`"),
        ("a sequence", "a list"),
        ("a map", "a table"),
    ];
    if message.starts_with("data did not match any variant") {
        return "this value does not fit".to_owned();
    }
    // The TOML crate's words for an enumeration that is not written as a string, and for `[[table]]` instead of `[table]`.
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

/// What a key means and what is expected there; empty if it is not known.
fn meaning(key: &str, table: &str, tables: &Tables) -> String {
    // A table that shares its keys with another (`[node.queue]`) has no entry of its own.
    let table = tables.at(table).or_else(|| tables.with_key(key).next());
    let known = table.and_then(|table| table.keys.iter().find(|known| known.name == key));
    known.map_or_else(String::new, |known| format!("`{key}`: {} Expected: {}.", known.about, known.kind))
}

/// A message of serde about a name, taken apart: the kind of name, the name, and what was expected.
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

/// Reads "unknown field `x`, expected one of `a`, `b`" and its likes; the wording is part of serde's documented traits.
pub(super) fn unknown(message: &str) -> Option<Unknown<'_>> {
    let (kind, rest) = match message.strip_prefix("unknown field `") {
        Some(rest) => (Kind::Key, rest),
        None => (Kind::Value, message.strip_prefix("unknown variant `")?),
    };
    // The name may itself hold a back-tick: what follows it is serde's own text, so look from the end.
    let (name, names) = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, there are no "))?;
    let known = names.split('`').skip(1).step_by(2).collect();
    Some(Unknown { kind, name, known })
}

#[cfg(test)]
mod tests {
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
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }

    #[test]
    fn explains_in_the_words_of_scenarios() {
        let tables = Tables::get();
        let (message, notes) = explain("missing field `packet`", &[vec!["flow", "traffic"]], tables);
        assert_eq!(message, "missing key `packet`");
        assert!(notes[0].starts_with("`packet`: UDP payload of a packet"), "{notes:?}");
        let (message, notes) = explain("invalid type: integer `5`, expected struct Settings", &[vec!["queue"]], tables);
        assert_eq!(message, "expected a table");
        assert!(notes[0].ends_with("Expected: table `[queue]`."), "{notes:?}");
        let (_, notes) = explain("unknown field `phi_max`, expected `limit`", &[vec!["queue", "phi_max"]], tables);
        assert_eq!(notes, ["expected `limit`", "`phi_max` is a key of [queue.adth]"]);
    }

    #[test]
    fn says_what_fits_in_plain_words() {
        for (said, plain) in [
            ("invalid type: boolean `true`, expected u8", "expected a whole number from 0 to 255"),
            ("invalid value: integer `-5`, expected a number of packets", "expected a number of packets"),
            ("invalid type: map, expected a string", "expected text in quotes"),
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
