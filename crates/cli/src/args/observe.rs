//! What can be typed of the commands that look at running agents and at recordings.

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

/// Show what controllers decide over a recording.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice replay eth0.jsonl --controller adth --target-delay 50ms
  sluice replay eth0.jsonl --controller adth --controller alt --report eth0.html
  sluice replay eth0.jsonl --controller alt --json

The recorded queue stays as it was: it does not feel the limits that are shown. To compare what they would do to it, make \
a scenario of the recording: `sluice scenario-from`.")]
pub(crate) struct Replay {
    /// The recording.
    pub(crate) file: PathBuf,
    /// A controller: none, adth, ebdp, alt or astar. May be given several times, to see them side by side.
    #[arg(long, value_name = "NAME")]
    pub(crate) controller: Vec<control::Name>,
    /// The delay that they aim at: "50 ms".
    #[arg(long, value_name = "TIME")]
    pub(crate) target_delay: Option<units::Duration>,
    /// Set a key of the queue. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print each interval as a JSON object a line, with the limit that the controller decides (`limits` of several).
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with pictures to this file: recorded limit, backlog and delay, and what would have been decided.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// Make a scenario of a recording: a link as fast as the one that was measured, and the load that it was offered.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice scenario-from eth0.jsonl -o eth0.toml
  sluice run eth0.toml --set wired.0.queue.controller=adth
  sluice reproduce eth0.toml          every controller, and a report

The load is what came while it was recorded; it does not answer to the queue, as that of TCP would.")]
pub(crate) struct ScenarioFrom {
    /// The recording.
    pub(crate) recording: PathBuf,
    /// The file to write [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
