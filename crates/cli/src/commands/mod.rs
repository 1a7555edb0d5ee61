//! The commands.

mod admit;
mod agent;
mod doctor;
#[cfg(feature = "simulator")]
mod experiments;
mod live;
mod manual;
mod stations;
mod status;
mod watch;

use crate::args::{Args, Command};
use crate::failure::{Failure, HOLDS};

/// Runs the command and returns its exit code.
pub(crate) fn run(args: Args) -> Result<u8, Failure> {
    match args.command {
        #[cfg(feature = "simulator")]
        Command::Experiment(experiment) => experiments::experiment(experiment),
        Command::Attach(args) => live::attach(&args).map(|()| HOLDS),
        Command::Agent(args) => agent::agent(&args).map(|()| HOLDS),
        Command::Admit(args) => admit::admit(&args),
        Command::Detach(args) => live::detach(&args).map(|()| HOLDS),
        Command::Record(args) => live::record(&args).map(|()| HOLDS),
        Command::Doctor(args) => doctor::doctor(&args).map(|()| HOLDS),
        Command::Status(args) => status::status(&args).map(|()| HOLDS),
        Command::Watch(args) => watch::watch(&args).map(|()| HOLDS),
        Command::Completions { shell } => manual::completions(shell).map(|()| HOLDS),
        Command::Man { folder } => manual::man(folder.as_deref()).map(|()| HOLDS),
    }
}
