//! Arguments of the command line.

#[cfg(target_os = "linux")]
mod admit;
#[cfg(feature = "simulator")]
mod experiments;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod observe;
mod policy;

#[cfg(target_os = "linux")]
pub(crate) use admit::{Admit, Refused};
#[cfg(feature = "evidence")]
pub(crate) use experiments::Claims;
#[cfg(feature = "simulator")]
pub(crate) use experiments::{Arena, Check, Experiment, Replay, Reproduce, Run, ScenarioFrom};
#[cfg(all(target_os = "linux", feature = "simulator"))]
pub(crate) use experiments::{Emulate, Enter};
#[cfg(target_os = "linux")]
pub(crate) use live::{Agent, Attach, Detach, Doctor, QueueArgs, Record};
#[cfg(target_os = "linux")]
pub(crate) use observe::{Status, Watch};
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

const AFTER_HELP: &str = if cfg!(feature = "simulator") {
    "\
Examples:
  sluice list                          the experiments that can be reproduced
  sluice reproduce adth-s1a            run an experiment, judge its claims,
                                       write a report
  sluice run scenarios/adth/s1a.toml   run a scenario's network once
  sluice report results                write the report again
  sluice doctor eth0                   what is possible on an interface (Linux)
  sudo sluice attach eth0 --controller ebdp
                                       govern its queue until Ctrl-C (Linux)

Exit status:
  0    done, and all claims hold
  1    done, and a claim differs or is not confirmed
  2    wrong use, a wrong scenario, or a folder that cannot be written to
  3    failed while running, or not permitted
  130  interrupted"
} else {
    "\
Examples:
  sluice doctor eth0                   what is possible on an interface
  sluice attach eth0 --controller ebdp
                                       govern its queue until Ctrl-C

Exit status:
  0    done
  2    wrong use, a wrong configuration, or a folder that cannot be
       written to
  3    failed while running, or not permitted"
};

#[derive(Debug, Parser)]
#[command(name = "sluice", version, about = ABOUT, after_help = AFTER_HELP)]
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
    #[command(after_help = "\
Example:
  sluice completions bash > ~/.local/share/bash-completion/completions/sluice")]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands to a folder.
    #[command(after_help = "\
Examples:
  sluice man | man -l -
  sluice man ~/.local/share/man/man1")]
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
}
