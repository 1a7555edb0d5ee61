//! Errors; each gives the reason as text for users.

use experiment::scenario::or_one_of;
use std::io;
use std::path::Path;
use thiserror::Error;

/// Why an operation failed, as text.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    #[error("{0}")]
    Wrong(String),
    #[error("cannot write {what}: {error}")]
    Write { what: String, error: io::Error },
}

impl Error {
    pub(crate) fn write(path: &Path, error: io::Error) -> Self {
        Self::Write { what: path.display().to_string(), error }
    }

    /// Returns the error for a name of a node, flow or event that does not exist, with the nearest name or all names.
    pub(crate) fn unknown<'k>(what: &str, name: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> Self {
        Self::Wrong(format!("there is no {what} `{name}`{}", or_one_of(name, known)))
    }
}

impl From<sim::BuildError> for Error {
    fn from(error: sim::BuildError) -> Self {
        Self::Wrong(error.to_string())
    }
}
