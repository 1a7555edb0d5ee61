//! The `sluice` command: what a person types, turned into calls of crate `lab`. No model and no statistics live here.

#![deny(clippy::print_stdout, clippy::print_stderr, reason = "they panic where nothing can be written: see `console`")]

mod args;
mod commands;
mod console;
mod failure;
#[cfg(feature = "simulator")]
mod progress;
mod terminal;

use args::Args;
use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A run that panics has failed while running; the message says where, for a report of the fault.
    std::panic::set_hook(Box::new(|panic| {
        console::complain(format_args!("error: this is a fault in Sluice: {panic}"));
        std::process::exit(i32::from(failure::FAILED));
    }));
    match commands::run(Args::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            console::complain(format_args!("error: {failure}"));
            ExitCode::from(failure.code())
        }
    }
}
