//! The commands.

#[cfg(target_os = "linux")]
mod admit;
#[cfg(target_os = "linux")]
mod agent;
mod decisions;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(feature = "simulator")]
mod experiments;
#[cfg(target_os = "linux")]
mod live;
mod manual;
#[cfg(target_os = "linux")]
mod stations;
#[cfg(target_os = "linux")]
mod status;
#[cfg(target_os = "linux")]
mod watch;

use crate::args::{Args, Command};
use crate::failure::{Failure, HOLDS};

/// Runs the command and returns its exit code.
pub(crate) fn run(args: Args) -> Result<u8, Failure> {
    match args.command {
        #[cfg(feature = "simulator")]
        Command::Experiment(experiment) => experiments::experiment(experiment),
        #[cfg(target_os = "linux")]
        Command::Live(live) => live::live(live),
        Command::Completions { shell } => manual::completions(shell).map(|()| HOLDS),
        Command::Man { folder } => manual::man(folder.as_deref()).map(|()| HOLDS),
    }
}
