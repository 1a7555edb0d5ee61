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
}

#[derive(Deserialize)]
struct Other {
    keys: Vec<String>,
    why: String,
    instead: String,
}

/// Returns the reason for a setting that has an effect only if it is read; `None` for one that always has an effect.
pub(super) fn of(path: &[&str]) -> Option<&'static Reason> {
    static ALL: LazyLock<BTreeMap<String, Reason>> = LazyLock::new(|| {
        let Written { belongs, other } = toml::from_str(include_str!("reasons.toml")).expect("a table of reasons");
        let belongs = belongs.into_iter().map(|(setting, keys)| (keys, Reason::needs(&setting)));
        let other = other.into_iter().map(|Other { keys, why, instead }| (keys, Reason { why, instead }));
        let each = |(keys, reason): (Vec<String>, Reason)| keys.into_iter().map(move |key| (key, reason.clone()));
        belongs.chain(other).flat_map(each).collect()
    });
    match path {
        // In a list only tables can be without effect.
        ["routing", "route"] => None,
        ["routing", "route", ENTRY] => ALL.get("routing.route"),
        _ => ALL.get(&path.join(".")),
    }
}
