//! Reasons why a setting that no network has read has no effect.

use super::ENTRY;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Why a setting has no effect, as the end of a sentence after "has no effect: ", and what to do.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    pub(super) why: String,
    pub(super) instead: String,
}

impl Reason {
    pub(super) fn new(why: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { why: why.into(), instead: instead.into() }
    }

    /// Makes the reason that another setting must have this value.
    pub(super) fn needs(setting: &str) -> Self {
        Self::new(format!("it belongs to `{setting}`"), format!("set `{setting}`, or leave it out"))
    }
}

#[derive(Deserialize)]
struct Written {
    belongs: BTreeMap<String, Vec<String>>,
    other: Vec<Other>,
    value: Vec<Other>,
}

#[derive(Deserialize)]
struct Other {
    keys: Vec<String>,
    why: String,
    instead: String,
}

/// The reasons of `reasons.toml` by the paths of settings: for those that nothing reads, and for values without effect.
static ALL: LazyLock<[BTreeMap<String, Reason>; 2]> = LazyLock::new(|| {
    let Written { belongs, other, value } = toml::from_str(include_str!("reasons.toml")).expect("tables of reasons");
    let belongs = belongs.into_iter().map(|(setting, keys)| (keys, Reason::needs(&setting)));
    let told = |Other { keys, why, instead }| (keys, Reason { why, instead });
    let each = |(keys, reason): (Vec<String>, Reason)| keys.into_iter().map(move |key| (key, reason.clone()));
    let unread = belongs.chain(other.into_iter().map(told)).flat_map(each).collect();
    [unread, value.into_iter().map(told).flat_map(each).collect()]
});

/// Returns the reason for a setting that acts only where it is read; `None` for a setting that always acts.
pub(super) fn of(path: &[&str]) -> Option<&'static Reason> {
    match path {
        // In a list only tables can be without effect.
        ["routing", "route"] => None,
        ["routing", "route", ENTRY] => ALL[0].get("routing.route"),
        _ => ALL[0].get(&path.join(".")),
    }
}

/// Returns the reason for a setting that is read, but acts only with certain values.
pub(super) fn of_value(path: &[&str]) -> Option<&'static Reason> {
    ALL[1].get(&path.join("."))
}
