//! The arguments of the commands that show running agents.

use super::{HELP, section};
use clap::Args as Group;
use std::path::PathBuf;

/// The place to look for running agents, and what of theirs is shown.
#[derive(Debug, Group)]
pub(crate) struct Agents {
    /// The folder with the sockets of running agents.
    #[arg(long, value_name = "DIR", default_value = linux::STATE_FOLDER)]
    pub(crate) state: PathBuf,
    /// The interface [default: all].
    pub(crate) device: Option<String>,
}

/// Show what the running agents govern: limit, backlog, delay against its target, drops.
#[derive(Debug, Group)]
#[command(after_help = section(HELP, "status"))]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) agents: Agents,
    /// Print one JSON array, with one object per queue.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch the queues of the running agents live, until q or Ctrl-C.
#[derive(Debug, Group)]
#[command(after_help = section(HELP, "watch"))]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) agents: Agents,
}
