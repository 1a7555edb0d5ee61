//! What is said of one thing that was looked at.

use serde::Serialize;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about: `BPF queue discipline`.
    pub topic: &'static str,
    /// True where it serves live use as it is.
    pub good: bool,
    /// What was found, in plain words.
    pub found: String,
    /// A command or a step that would mend it.
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
