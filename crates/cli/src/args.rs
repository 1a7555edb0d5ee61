//! Arguments of the command line.

#[cfg(target_os = "linux")]
mod admit;
#[cfg(feature = "simulator")]
mod experiments;
#[cfg(target_os = "linux")]
mod live;
mod policy;

#[cfg(target_os = "linux")]
pub(crate) use admit::{Admit, Refused};
#[cfg(feature = "evidence")]
pub(crate) use experiments::Claims;
#[cfg(feature = "simulator")]
pub(crate) use experiments::{Arena, Check, Experiment, Forecast, Once, Replay, Reproduce, Run, ScenarioFrom};
#[cfg(all(target_os = "linux", feature = "simulator"))]
pub(crate) use experiments::{Emulate, Enter};
#[cfg(target_os = "linux")]
pub(crate) use live::{Agent, Attach, Detach, Doctor, QueueArgs, Record, Status, Trial, Watch};
pub(crate) use policy::Policy;
#[cfg(feature = "simulator")]
pub(crate) use policy::Scheme;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// The description of `sluice` as a whole.
const ABOUT: &str = if cfg!(feature = "simulator") {
    "Simulate wireless networks and their queues, and check what is claimed about them"
} else {
    "Govern queues of this machine's interfaces by controllers (without the simulator)"
};

/// Text that follows each command's options in its help, under a line with the command's name: examples, exit status.
const HELP: &str = include_str!("args/help.txt");

/// Name of the section on `sluice` itself in these texts.
const WHOLE: &str = if cfg!(feature = "simulator") { "sluice" } else { "sluice without the simulator" };

/// Returns the section on one command in such a text.
fn section(help: &'static str, command: &str) -> &'static str {
    let (_, below) = help.split_once(&format!("==== {command}\n")).expect("each command has one");
    below.split("\n==== ").next().unwrap_or_default().trim_end()
}

#[derive(Debug, Parser)]
#[command(name = "sluice", version, about = ABOUT, after_help = section(HELP, WHOLE))]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[cfg(feature = "simulator")]
    #[command(flatten)]
    Experiment(Experiment),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Live(Live),
    /// Print shell completions.
    #[command(after_help = section(HELP, "completions"))]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands to a folder.
    #[command(after_help = section(HELP, "man"))]
    Man {
        /// The folder to which the pages of all commands are written.
        folder: Option<PathBuf>,
    },
}

/// Commands that work on interfaces of Linux.
#[cfg(target_os = "linux")]
#[derive(Debug, Subcommand)]
pub(crate) enum Live {
    Attach(Attach),
    Agent(Agent),
    Admit(Admit),
    Detach(Detach),
    Record(Record),
    Doctor(Doctor),
    Status(Status),
    Watch(Watch),
    Trial(Trial),
}
