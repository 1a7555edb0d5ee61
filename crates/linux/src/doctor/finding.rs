//! A finding about one thing that was examined.

use serde::Serialize;

/// One thing that was examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The topic: `BPF queue discipline`.
    pub topic: &'static str,
    /// True if it serves live use as it is.
    pub good: bool,
    /// What was found, in plain words.
    pub found: String,
    /// A command or a step that would fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

impl Finding {
    pub(crate) fn good(topic: &'static str, found: impl Into<String>) -> Self {
        Self { topic, good: true, found: found.into(), cure: None }
    }

    pub(crate) fn bad(topic: &'static str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { topic, good: false, found: found.into(), cure: Some(cure.into()) }
    }
}
