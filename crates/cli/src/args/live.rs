//! The arguments of the commands that work on interfaces.

use super::Policy;
use clap::Args as Group;
use std::path::PathBuf;

/// A queue of this machine.
#[derive(Debug, Group)]
pub(crate) struct QueueArgs {
    /// The interface.
    pub(crate) device: String,
    /// The place on the interface: root, or a class of a shaper as tc writes it, such as 1:10.
    #[arg(long, value_name = "CLASS", default_value = "root", value_parser = linux::class)]
    pub(crate) parent: u32,
    /// The folder in which running agents write down what to restore at their end.
    #[arg(long, value_name = "DIR", default_value = linux::STATE_FOLDER)]
    pub(crate) state: PathBuf,
}

/// Let a controller govern an interface's queue until Ctrl-C, which restores the former queue. Without options packets
/// take turns, in the highest grade that kernel and interface allow.
#[derive(Debug, Group)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Attach {
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
    #[command(flatten)]
    pub(crate) policy: Policy,
    /// The queue that holds the packets: knobs (mac80211's, by the settings of its scheduler, without a controller),
    /// bpf (Sluice's own discipline), txq (mac80211's, through the limit of its phy), fifo (the kernel's), or auto.
    /// auto is bpf if build and kernel have it. Without bpf it is fifo where mac80211 holds no packets; where mac80211
    /// holds packets it is knobs if no other option is set, and txq with further options.
    #[arg(long, default_value = "auto", conflicts_with = "dry_run")]
    pub(crate) backend: linux::Backend,
    /// Measure the present queue and show the decisions, but change nothing. Needs no privilege.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Continue even where packets never wait, so that a limit has no effect: at the root of veth, loopback, a bridge.
    #[arg(long)]
    pub(crate) force: bool,
    /// Replace a queue that a user made even if it limits the link's rate or cannot be restored. The kernel's default
    /// follows a queue that cannot be restored.
    #[arg(long)]
    pub(crate) replace: bool,
    /// The largest number of segments (GSO) in a packet of the governed interface: with 1 a limit in packets counts the
    /// link's packets.
    #[arg(long, value_name = "N", conflicts_with = "dry_run")]
    pub(crate) gso_segments: Option<std::num::NonZeroU32>,
    /// Give real-time packets (DSCP 46 and 47) a queue of their own, which is served before the queue of all other
    /// packets. A controller that governs one of these two classes, such as `swan_rate`, implies this option.
    #[arg(long)]
    pub(crate) classes: bool,
    /// Longest round of turns where Wi-Fi stations take turns without a controller. A short round costs goodput.
    #[arg(long, value_name = "TIME")]
    pub(crate) bulk_delay: Option<units::Duration>,
    /// Exchange the controller's notes with the agents of neighbours on the interface, by UDP multicast: for `dnb`.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) notes: bool,
    /// Write the intervals and decisions to this file, for `sluice replay`.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Print each interval as one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Govern the queues of many interfaces as a service until SIGTERM, which restores the former queues.
#[derive(Debug, Group)]
pub(crate) struct Agent {
    /// The configuration file: the interfaces, with the settings of each.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The folder in which running agents write down what to restore at their end.
    #[arg(long, value_name = "DIR", default_value = linux::STATE_FOLDER)]
    pub(crate) state: PathBuf,
    /// Write the event log, on standard error, as one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Restore the queue that an interface had before `sluice attach`, even after a kill.
#[derive(Debug, Group)]
pub(crate) struct Detach {
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
}

/// Record the intervals of an interface's queue until Ctrl-C, and on Wi-Fi the radio's readings ten times a second.
/// Changes nothing and needs no privilege.
#[derive(Debug, Group)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) queue: QueueArgs,
    /// The file to write.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) policy: Policy,
    /// Replace the addresses of stations by numbers, so that the file can be shared.
    #[arg(long)]
    pub(crate) bundle: bool,
}

/// Show which queues are possible on this machine or interface, what prevents better queues, and how to get them.
#[derive(Debug, Group)]
pub(crate) struct Doctor {
    /// The interface [default: all].
    pub(crate) device: Option<String>,
    /// The place on the interface: root, or a class of a shaper as tc writes it, such as 1:10.
    #[arg(long, value_name = "CLASS", default_value = "root", value_parser = linux::class, requires = "device")]
    pub(crate) parent: u32,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the deciding readings (sysfs, nl80211, debugfs) to a file, without names and addresses, for a bug report.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["device", "json"])]
    pub(crate) bundle: Option<PathBuf>,
}

/// Compare queues on live traffic: the queues (arms) alternate in blocks of random order, and their differences are
/// judged. Ctrl-C restores the former queue at once.
#[derive(Debug, Group)]
pub(crate) struct Trial {
    /// The interface.
    #[arg(required_unless_present = "pool")]
    pub(crate) device: Option<String>,
    /// The place on the interface: root, or a class of a shaper as tc writes it, such as 1:10.
    #[arg(long, value_name = "CLASS", default_value = "root", value_parser = linux::class)]
    pub(crate) parent: u32,
    /// The folder in which running agents write down what to restore at their end.
    #[arg(long, value_name = "DIR", default_value = linux::STATE_FOLDER)]
    pub(crate) state: PathBuf,
    /// The queues: default (the present queue), turns, knobs, `fq_codel`, cake, fq, pfifo, or a key of a queue as in
    /// --set: controller=ebdp. All further queues are compared with the first.
    #[arg(long, value_delimiter = ',', default_value = "default,turns")]
    pub(crate) arms: Vec<String>,
    /// Length of a block. The first sixth of each block is left out.
    #[arg(long, value_name = "TIME", default_value = "60 s")]
    pub(crate) block: units::Duration,
    /// Length of the trial.
    #[arg(long = "for", value_name = "TIME", default_value = "3600 s")]
    pub(crate) length: units::Duration,
    /// The seed that draws the order of the arms.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// End as soon as the verdict is known. The verdict's confidence takes these repeated looks into account.
    #[arg(long)]
    pub(crate) until_known: bool,
    /// An IPv4 address that answers echoes. May be given several times [default: all neighbours that the kernel knows].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) ping: Vec<std::net::Ipv4Addr>,
    /// Continue even where packets never wait, as `attach --force` does.
    #[arg(long)]
    pub(crate) force: bool,
    /// Write the blocks to this file, without addresses and names, for --pool.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write a report with a picture to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Compare the trial with this forecast: a file that `sluice forecast --json` has written.
    #[arg(long, value_name = "FILE")]
    pub(crate) forecast: Option<PathBuf>,
    /// Combine the files of several trials of the same arms, instead of running one.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["device", "arms", "block", "length", "seed", "until_known", "ping", "force", "out", "report"])]
    pub(crate) pool: Vec<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The folder of running agents, and the queues of theirs to show.
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
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) agents: Agents,
    /// Print one JSON array, with one object per queue.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch the queues of the running agents live, until q or Ctrl-C.
#[derive(Debug, Group)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) agents: Agents,
}
