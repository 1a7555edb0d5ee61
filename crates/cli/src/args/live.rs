//! What can be typed of the commands that work on interfaces.

use super::controllers;
use clap::Args as Group;
use std::path::PathBuf;

/// A queue of this machine.
#[derive(Debug, Group)]
pub(crate) struct QueueArgs {
    /// The interface.
    pub(crate) device: String,
    /// Where on the interface: root, or a class of a shaper as tc writes it, such as 1:10.
    #[arg(long, value_name = "CLASS", default_value = "root", value_parser = linux::class)]
    pub(crate) parent: u32,
    /// Where running agents write down what to put back.
    #[arg(long, value_name = "DIR", default_value = linux::STATE_FOLDER)]
    pub(crate) state: PathBuf,
}

/// What decides on the limit.
#[derive(Debug, Group)]
pub(crate) struct Policy {
    /// The controller that moves the limit.
    #[arg(long, value_name = "NAME", value_parser = controllers())]
    pub(crate) controller: Option<control::Name>,
    /// The delay that it aims at: "50 ms".
    #[arg(long, value_name = "TIME")]
    pub(crate) target_delay: Option<units::Duration>,
    /// Set a key of the queue. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Let a controller govern an interface's queue until Ctrl-C; then the former queue is put back.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice attach eth0 --controller adth --dry-run
  sudo sluice attach eth0 --controller adth --target-delay 50ms
  sudo sluice attach eth0 --controller adth --set limit=500 --record eth0.jsonl
  sudo sluice attach eth0 --parent 1:10 --controller alt

The keys of --set are those of a scenario's [queue] (docs/scenario/queue.md). The kernel's FIFO is pfifo (discipline \
drop-tail; bfifo where the limit is a size) or pfifo_head_drop (drop-head). It holds packets only where the driver \
pushes back: `sluice doctor` says where.")]
pub(crate) struct Attach {
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
    #[command(flatten)]
    pub(crate) policy: Policy,
    /// What holds the packets: bpf (Sluice's own discipline), txq (mac80211, by the limit of its phy), fifo (the kernel's), or
    /// auto: bpf where build and kernel have it, else txq where mac80211 holds them, else fifo.
    #[arg(long, default_value = "auto")]
    pub(crate) backend: linux::Backend,
    /// Measure the queue that is there, decide and show; change nothing. Needs no privilege.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on where the former queue cannot be put back: the kernel's default then comes in its place. And go on where nothing
    /// ever waits, so that no limit does anything: at the root of veth, loopback, a bridge.
    #[arg(long)]
    pub(crate) force: bool,
    /// Let a packet of the interface hold at most so many segments (GSO) meanwhile: with 1 a limit in packets counts what
    /// the link carries.
    #[arg(long, value_name = "N")]
    pub(crate) gso_segments: Option<std::num::NonZeroU32>,
    /// Write the intervals and decisions to this file, for `sluice replay`.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Print each interval as a JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Govern the queues of many interfaces, as a service does, until SIGTERM; then the former queues are put back.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sudo sluice agent --config /etc/sluice/agent.toml
  sudo kill -HUP $(pidof sluice)       read the file again; nothing that waits is lost

The file names interfaces, each with the very keys of a scenario's [queue]:
  [interface.eth0.queue]
  controller = \"adth\"
  adth.target_delay = \"50 ms\"

An interface that goes is waited for, and governed again when one of its name returns. docs/live.md has all keys.")]
pub(crate) struct Agent {
    /// Which interfaces, and how.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Where running agents write down what to put back.
    #[arg(long, value_name = "DIR", default_value = linux::STATE_FOLDER)]
    pub(crate) state: PathBuf,
    /// Write the event log, on standard error, as a JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Put back the queue that an interface had before `sluice attach`, also after a kill.
#[derive(Debug, Group)]
#[command(after_help = "\
Example:
  sudo sluice detach eth0")]
pub(crate) struct Detach {
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
}

/// Write down what happens in an interface's queue, until Ctrl-C. Changes nothing and needs no privilege.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice record eth0 eth0.jsonl
  sluice record eth0 eth0.jsonl --controller ebdp

The intervals are those at which the controller would be called, and measured as it asks for; with none, one a second.")]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
    /// The file to write.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) policy: Policy,
}

/// Say what is possible on this machine or on an interface, why not more, and what would mend it.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice doctor
  sluice doctor eth0 --json")]
pub(crate) struct Doctor {
    /// The interface [default: all].
    pub(crate) device: Option<String>,
    /// Where on the interface: root, or a class of a shaper as tc writes it, such as 1:10.
    #[arg(long, value_name = "CLASS", default_value = "root", value_parser = linux::class, requires = "device")]
    pub(crate) parent: u32,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
