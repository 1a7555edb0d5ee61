//! Files that a scenario names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A file named by a scenario: its path, relative to the scenario's folder. The reader of the scenario attaches the
/// file's content; the simulator itself reads no files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Attachment {
    path: String,
    #[serde(skip)]
    #[schemars(skip)]
    content: Option<Arc<[u8]>>,
}

impl Attachment {
    /// The path, as the scenario has it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The file's content; `None` until it is attached.
    pub fn content(&self) -> Option<&[u8]> {
        self.content.as_deref()
    }

    /// Attaches the file's content.
    pub fn attach(&mut self, content: Arc<[u8]>) {
        self.content = Some(content);
    }
}
