//! The commands.

mod list;
mod manual;
mod report;
mod reproduce;
mod run;
mod targets;

use crate::args::{Args, Command};
use crate::console::print;
use crate::failure::{Failure, HOLDS};

/// Does what was asked for; gives the exit code.
pub(crate) fn run(args: Args) -> Result<u8, Failure> {
    match args.command {
        Command::Run(args) => run::run(args),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::List(args) => list::list(&args.targets).map(|()| HOLDS),
        Command::Report(args) => report::report(&args.folder, args.out).map(|()| HOLDS),
        Command::Schema => print(&lab::schema::json_text()).map(|()| HOLDS),
        Command::Completions { shell } => manual::completions(shell).map(|()| HOLDS),
        Command::Man { folder } => manual::man(folder.as_deref()).map(|()| HOLDS),
        Command::Docs { folder } => manual::docs(&folder).map(|()| HOLDS),
    }
}
