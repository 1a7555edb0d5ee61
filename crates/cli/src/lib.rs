//! The `sluice` command: turns arguments into calls of `lab` and, on Linux, `linux`. It has no models and statistics.
//! Begin with `sluice new scenario.toml`.

#![deny(clippy::print_stdout, clippy::print_stderr, reason = "they panic where nothing can be written: see `console`")]

mod args;
mod commands;
mod console;
mod failure;
#[cfg(target_os = "linux")]
mod outlet;
#[cfg(feature = "simulator")]
mod progress;
#[cfg(target_os = "linux")]
mod terminal;

use args::Args;
use failure::Failure;
use std::process::ExitCode;

/// Parses the arguments. Prints help to standard output like all other output.
fn parsed() -> Result<Args, Failure> {
    Args::read().or_else(|asked| {
        if asked.use_stderr() {
            asked.exit();
        }
        match asked.print() {
            Ok(()) => std::process::exit(i32::from(failure::HOLDS)),
            Err(error) => Err(Failure::unwritten(&error, "to standard output")),
        }
    })
}

/// Runs the command with the arguments of this program.
pub fn main() -> ExitCode {
    // A panic is a failure while running. Its message says where, for a bug report.
    std::panic::set_hook(Box::new(|panic| {
        console::complain(format_args!("error: this is a fault in Sluice: {panic}"));
        std::process::exit(i32::from(failure::FAILED));
    }));
    match parsed().and_then(commands::run) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            // If the reader of the output has closed its pipe, there is no message.
            let message = failure.to_string();
            if !message.is_empty() {
                console::complain(format_args!("error: {message}"));
            }
            ExitCode::from(failure.code())
        }
    }
}
