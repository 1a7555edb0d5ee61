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

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

const ABOUT: &str = if cfg!(feature = "simulator") {
    "Simulate wireless networks and their queues, and check what is claimed about them"
} else {
    "Govern queues of this machine's interfaces by controllers (without the simulator)"
};

/// Text after each command's options in its help, below a line with the command's name: examples, exit status.
const HELP: &str = if cfg!(feature = "simulator") {
    concat!(include_str!("args/help.txt"), include_str!("args/experiments.txt"))
} else {
    include_str!("args/help.txt")
};

/// Name of the section on `sluice` as a whole in this text.
const WHOLE: &str = if cfg!(feature = "simulator") { "sluice" } else { "sluice without the simulator" };

#[derive(Debug, Parser)]
#[command(name = "sluice", version, about = ABOUT)]
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
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands to a folder.
    Man {
        /// The folder to which the pages of all commands are written.
        folder: Option<PathBuf>,
    },
}

impl Args {
    /// Returns the command line, with the help of each command.
    pub(crate) fn line() -> clap::Command {
        // The text is read once, because every start of the command pays for it. A hidden command has no section.
        let sections: Vec<_> = HELP.split("==== ").filter_map(|section| section.split_once('\n')).collect();
        let section = |name: &str| sections.iter().find(|(of, _)| *of == name).map_or("", |(_, text)| text.trim_end());
        let with_help = |command: clap::Command| {
            let text = section(command.get_name());
            debug_assert!(command.is_hide_set() || !text.is_empty(), "each command that is shown has one");
            if text.is_empty() { command } else { command.after_help(text) }
        };
        Self::command().after_help(section(WHOLE)).mut_subcommands(with_help)
    }

    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut matches = Self::line().try_get_matches()?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut Self::line()))
    }
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
