//! Output to the terminal. A closed pipe is no error.

use crate::failure::Failure;
use experiment::printable;
use std::fmt::Display;
use std::io::{self, Write as _};

/// Prints text to standard output, whatever characters titles and names contain.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write(&printable::lines(text))
}

pub(crate) fn print_json(json: &str) -> Result<(), Failure> {
    write(&printable::json(json))
}

/// Prints an error or a remark to standard error. Ignores a failed write, so that an agent continues.
pub(crate) fn complain(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", printable::lines(&text.to_string()));
}

/// Writes to standard output. A closed pipe is no error.
fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::unwritten(&error, "to standard output"))
        }
        _ => Ok(()),
    }
}

/// Returns the largest width of tables: that of the terminal, or 100 characters if there is none.
pub(crate) fn width() -> usize {
    const ELSEWHERE: usize = 100;
    // If the size of a terminal is unknown, it reports 0 columns.
    if columns() == 0 { ELSEWHERE } else { columns() }
}

#[cfg(unix)]
fn columns() -> usize {
    rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn columns() -> usize {
    0
}
