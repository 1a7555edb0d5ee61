//! Errors in the description of a network.

use thiserror::Error;

/// The description contradicts itself or the standard. The message is for the user; [`path`](Self::path) gives the key
/// of the scenario.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{message}")]
pub struct BuildError {
    path: String,
    message: String,
    unknown: Option<Unknown>,
    note: Option<String>,
}

/// An unknown name, with the existing names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name that the description uses.
    pub name: String,
    /// The names that exist.
    pub known: Vec<String>,
}

impl BuildError {
    pub(super) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), unknown: None, note: None }
    }

    pub(super) fn unknown_node(path: impl Into<String>, name: &str, known: Vec<String>) -> Self {
        Self::not_of(path, format!("there is no node `{name}`"), name, known)
    }

    /// Makes the error that `name` is not one of the `known` names, which the key at `path` allows.
    pub(super) fn not_of(path: impl Into<String>, message: String, name: &str, known: Vec<String>) -> Self {
        Self { unknown: Some(Unknown { name: name.to_owned(), known }), ..Self::new(path, message) }
    }

    /// Adds a line to be shown below the message.
    pub(super) fn with_note(self, note: String) -> Self {
        Self { note: Some(note), ..self }
    }

    /// Returns the dotted key; entries of lists are given by name: `flow.forward.to`.
    pub fn path(&self) -> Option<&str> {
        (!self.path.is_empty()).then_some(self.path.as_str())
    }

    /// Returns additional information: the faulty line of a file that the scenario names.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns the unknown name, if the error is about an unknown name.
    pub fn unknown(&self) -> Option<&Unknown> {
        self.unknown.as_ref()
    }
}
