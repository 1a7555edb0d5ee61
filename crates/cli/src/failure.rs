//! Exit codes, and errors with their exit code.

use experiment::scenario::Refusal;
use lab::sweep::SweepError;
use std::fmt::{self, Display};
use std::io;

/// The command succeeded, and every claim holds.
pub(crate) const HOLDS: u8 = 0;
/// The command succeeded, but a claim differs or is not confirmed.
#[cfg(feature = "simulator")]
pub(crate) const DIFFERS: u8 = 1;
/// The command or its scenario is invalid, or a folder cannot be written.
pub(crate) const WRONG: u8 = 2;
/// The command failed while it was running.
pub(crate) const FAILED: u8 = 3;
/// The path cannot carry the flow of the command to be run.
#[cfg(target_os = "linux")]
pub(crate) const REFUSED: u8 = 10;
/// No answer came to the probe for the flow of the command to be run.
#[cfg(target_os = "linux")]
pub(crate) const NO_ANSWER: u8 = 11;
/// More packets of an emulation were late than allowed.
#[cfg(all(target_os = "linux", feature = "simulator"))]
pub(crate) const LATE: u8 = 12;
/// The command to be run cannot be run; shells use the same exit code.
#[cfg(target_os = "linux")]
const CANNOT_RUN: u8 = 126;
/// The command to be run was not found; shells use the same exit code.
#[cfg(target_os = "linux")]
const NOT_FOUND: u8 = 127;
/// Ctrl-C interrupted the command: 128 plus the signal's number, as in shells.
pub(crate) const INTERRUPTED: u8 = 130;

/// A failure of a command: exit code and message.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    pub(crate) fn wrong(message: impl Display) -> Self {
        Self { code: WRONG, message: message.to_string() }
    }

    pub(crate) fn failed(message: impl Display) -> Self {
        Self { code: FAILED, message: message.to_string() }
    }

    /// Makes the failure of a write. If the reader has closed the pipe, the message is empty. A destination that cannot
    /// be written is a usage error. Other errors, such as a full disk, are failures while running.
    pub(crate) fn unwritten(error: &io::Error, what: impl Display) -> Self {
        use io::ErrorKind::{
            AlreadyExists, BrokenPipe, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound,
            PermissionDenied, ReadOnlyFilesystem,
        };
        let message = format!("cannot write {what}: {error}");
        match error.kind() {
            BrokenPipe => Self { code: HOLDS, message: String::new() },
            AlreadyExists | InvalidFilename | InvalidInput | IsADirectory | NotADirectory | NotFound
            | PermissionDenied | ReadOnlyFilesystem => Self::wrong(message),
            _ => Self::failed(message),
        }
    }

    /// Makes the failure of a command that could not be run.
    #[cfg(target_os = "linux")]
    pub(crate) fn not_run(program: &std::ffi::OsStr, error: &io::Error) -> Self {
        let code = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
        Self { code, message: format!("cannot run {}: {error}", program.display()) }
    }

    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        Self { code: INTERRUPTED, message: message.into() }
    }

    pub(crate) fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::wrong(refusal.to_string())
    }
}

impl From<lab::Error> for Failure {
    fn from(error: lab::Error) -> Self {
        match &error {
            lab::Error::Wrong(why) => Self::wrong(why),
            lab::Error::Write { what, error } => Self::unwritten(error, what),
        }
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Stopped { .. } => Self::interrupted(error.to_string()),
            SweepError::Build(why) if why.path().is_some() => Self::wrong(why.to_string()),
            SweepError::Store(error) => error.into(),
            SweepError::Build(_) | SweepError::Outside(_) | SweepError::Threads { .. } => {
                Self::failed(error.to_string())
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl From<linux::Error> for Failure {
    fn from(error: linux::Error) -> Self {
        match &error {
            // A folder that cannot be written has the same exit code everywhere.
            linux::Error::Kernel { source, .. } if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                Self::wrong(error.to_string())
            }
            linux::Error::Gone { .. }
            | linux::Error::Renamed { .. }
            | linux::Error::Replaced { .. }
            | linux::Error::Remains { .. }
            | linux::Error::NotPermitted { .. }
            | linux::Error::Kernel { .. } => Self::failed(error.to_string()),
            _ => Self::wrong(error.to_string()),
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_written_to_is_wrong_use_wherever_it_is_met() {
        let refused = || io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
        let live = |source| linux::Error::Kernel { what: "keep the former queue in /ro".to_owned(), source };
        assert_eq!(Failure::from(live(refused())).code(), WRONG);
        assert_eq!(Failure::unwritten(&refused(), "").code(), WRONG);
        // Refusals by the kernel itself are failures while running.
        assert_eq!(Failure::from(live(io::Error::from(io::ErrorKind::NotFound))).code(), FAILED);
    }
}
