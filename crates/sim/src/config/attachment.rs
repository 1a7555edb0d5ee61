//! Files that a scenario names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A file named by a scenario: its path, relative to the scenario's folder. Whoever reads the scenario attaches what the
/// file holds; the simulator itself reads no files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Attachment {
    path: String,
    #[serde(skip)]
    #[schemars(skip)]
    content: Option<Arc<[u8]>>,
}

impl Attachment {
    /// A file that holds `content`.
    pub fn new(path: impl Into<String>, content: &[u8]) -> Self {
        Self { path: path.into(), content: Some(content.into()) }
    }

    /// The path, as the scenario has it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the file holds; `None` until it is attached.
    pub fn content(&self) -> Option<&[u8]> {
        self.content.as_deref()
    }

    /// Attaches what the file holds.
    pub fn attach(&mut self, content: Arc<[u8]>) {
        self.content = Some(content);
    }
}
