//! What was probably meant: the nearest right name, and where a misplaced key belongs.

use super::source::Refusal;
use crate::schema::Tables;

/// Of `known`, the name that `name` was most probably meant to be.
pub(super) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_lowercase();
    // A third of the letters may be wrong; a beginning or end of at least three letters
    // counts as a slip of one.
    let allowed = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter_map(|other| {
            let lower = other.to_lowercase();
            let part = |of: &str, part: &str| part.len() >= 3 && (of.starts_with(part) || of.ends_with(part));
            let begun = part(&lower, &name) || part(&name, &lower);
            let distance = if begun { 1 } else { strsim::osa_distance(&name, &lower) };
            (distance <= allowed).then_some((distance, other))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, other)| other)
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
    let mut homes: Vec<&str> =
        tables.with_key(key).filter(|home| home.path != table).map(|home| home.header.as_str()).collect();
    homes.dedup();
    if !homes.is_empty() {
        notes.push(format!("`{key}` is a key of {}", homes.join(" and of ")));
    } else if let Some((other, home)) = nearest(key, tables.all_keys().map(|(name, _)| name))
        .and_then(|other| Some((other, tables.with_key(other).next()?)))
    {
        notes.push(format!("did you mean `{other}` of {}?", home.header));
    }
    notes
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
