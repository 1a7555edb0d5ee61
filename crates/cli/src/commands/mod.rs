//! The commands.

mod agent;
mod doctor;
mod list;
mod live;
mod manual;
mod replay;
mod report;
mod reproduce;
mod run;
mod scenario_from;
mod stations;
mod status;
mod targets;
mod watch;

use crate::args::{Args, Command};
use crate::console::print;
use crate::failure::{Failure, HOLDS};

/// Does what was asked for; gives the exit code.
pub(crate) fn run(args: Args) -> Result<u8, Failure> {
    match args.command {
        Command::Run(args) => run::run(args),
        Command::Reproduce(args) => reproduce::reproduce(args),
        Command::List(args) => list::list(&args.targets).map(|()| HOLDS),
        Command::Report(args) => report::report(&args.folder, args.out).map(|()| HOLDS),
        Command::Attach(args) => live::attach(&args).map(|()| HOLDS),
        Command::Agent(args) => agent::agent(&args).map(|()| HOLDS),
        Command::Detach(args) => live::detach(&args).map(|()| HOLDS),
        Command::Record(args) => live::record(&args).map(|()| HOLDS),
        Command::Replay(args) => replay::replay(&args).map(|()| HOLDS),
        Command::ScenarioFrom(args) => scenario_from::scenario_from(&args).map(|()| HOLDS),
        Command::Doctor(args) => doctor::doctor(&args).map(|()| HOLDS),
        Command::Status(args) => status::status(&args).map(|()| HOLDS),
        Command::Watch(args) => watch::watch(&args).map(|()| HOLDS),
        Command::Schema => print(&lab::schema::json_text()).map(|()| HOLDS),
        Command::Completions { shell } => manual::completions(shell).map(|()| HOLDS),
        Command::Man { folder } => manual::man(folder.as_deref()).map(|()| HOLDS),
        Command::Docs { folder } => manual::docs(&folder).map(|()| HOLDS),
    }
}
