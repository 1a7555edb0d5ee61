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
mod recordings;
#[cfg(target_os = "linux")]
mod stations;
#[cfg(target_os = "linux")]
mod status;
#[cfg(target_os = "linux")]
mod trial;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(target_os = "linux")]
use crate::args::Live;
use crate::args::{Args, Command};
use crate::failure::{Failure, HOLDS};

pub(crate) fn run(args: Args) -> Result<u8, Failure> {
    match args.command {
        #[cfg(feature = "simulator")]
        Command::Experiment(experiment) => experiments::experiment(experiment),
        #[cfg(target_os = "linux")]
        Command::Live(live) => on_interfaces(live),
        Command::Completions { shell } => manual::completions(shell).map(|()| HOLDS),
        Command::Man { folder } => manual::man(folder.as_deref()).map(|()| HOLDS),
    }
}

/// Runs a command that works on interfaces and returns its exit code.
#[cfg(target_os = "linux")]
fn on_interfaces(command: Live) -> Result<u8, Failure> {
    let done = match command {
        Live::Admit(args) => return admit::admit(&args),
        Live::Attach(args) => live::attach(&args),
        Live::Agent(args) => agent::agent(&args),
        Live::Detach(args) => live::detach(&args),
        Live::Record(args) => live::record(&args),
        Live::Doctor(args) => doctor::doctor(&args),
        Live::Status(args) => status::status(&args),
        Live::Watch(args) => watch::watch(&args),
        Live::Trial(args) => trial::trial(&args),
    };
    done.map(|()| HOLDS)
}
