//! What can be typed of the commands that look at running agents.

use clap::Args as Group;
use std::path::PathBuf;

/// Where agents are looked for.
#[derive(Debug, Group)]
pub(crate) struct Agents {
    /// Where running agents keep their sockets.
    #[arg(long, value_name = "DIR", default_value = linux::STATE_FOLDER)]
    pub(crate) state: PathBuf,
}

/// Say what the running agents govern: limit, backlog, delay against its target, drops.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sudo sluice status
  sudo sluice status wlan0
  sudo sluice status --json | jq '.[] | {device, limit_packets, delay_s: .last.sojourn_s.mean}'

Agents answer their own user and group. Where none runs, the exit status is 3.")]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) agents: Agents,
    /// The interface [default: all].
    pub(crate) device: Option<String>,
    /// Print one JSON array, an object a queue.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch the queues of the running agents as they move, until q or Ctrl-C.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sudo sluice watch
  sudo sluice watch wlan0
  sudo sluice watch wlan0 | tee wlan0.log

Into a pipe or a file it prints a line for each interval that is told, at most twenty a second for each agent.")]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) agents: Agents,
    /// The interface [default: all].
    pub(crate) device: Option<String>,
}
