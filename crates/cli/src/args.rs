//! What can be typed.

mod live;
mod observe;

pub(crate) use live::{Agent, Attach, Detach, Doctor, Policy, Queue, Record};
pub(crate) use observe::{Replay, ScenarioFrom, Status, Watch};

use clap::{Args as Group, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// Simulate wireless networks and their queues, and check what is claimed about them.
#[derive(Debug, Parser)]
#[command(
    name = "sluice",
    version,
    after_help = "\
Examples:
  sluice list                          what there is to reproduce
  sluice reproduce adth-s1a            run an experiment, rule on its claims,
                                       write a report
  sluice run scenarios/adth/s1a.toml   run a scenario's network once
  sluice report results                write the report again
  sluice doctor eth0                   what is possible on an interface
  sudo sluice attach eth0 --controller adth
                                       govern its queue until Ctrl-C

Exit status:
  0    done, and all claims hold
  1    done, and a claim differs or is not confirmed
  2    wrong use, a wrong scenario, or a folder that cannot be written to
  3    failed while running, or not permitted
  130  interrupted"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Run),
    Reproduce(Reproduce),
    List(List),
    Report(Report),
    Attach(Attach),
    Agent(Agent),
    Detach(Detach),
    Record(Record),
    Replay(Replay),
    ScenarioFrom(ScenarioFrom),
    Doctor(Doctor),
    Status(Status),
    Watch(Watch),
    /// Print the JSON Schema of scenario files, for editors.
    #[command(after_help = "\
Example:
  sluice schema > scenario.schema.json

Name the file in a scenario's first line, and an editor that knows TOML checks the scenario as you type:
  #:schema scenario.schema.json")]
    Schema,
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
        /// Where to write the pages of all commands.
        folder: Option<PathBuf>,
    },
    /// Write the reference of scenario files (scenario.md, scenario.schema.json) to a folder.
    #[command(hide = true)]
    Docs {
        /// The folder.
        #[arg(default_value = "docs")]
        folder: PathBuf,
    },
}

/// Run a scenario's network once, without its variations.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice run scenarios/adth/s1a.toml
  sluice run scenarios/adth/s1a.toml --seed 3 --json
  sluice run scenarios/adth/s1a.toml --set queue.controller=none
  sluice run scenarios/adth/s1a.toml --set mac.cw_min=63 --set 'duration=50 s'
  sluice run scenarios/adth/s1a.toml --set 'flow.*.deadline=400 ms' --out out
  sluice run scenarios/adth/s1a.toml --set 'duration=2 s' --pcap frames --node n1
  tshark -r frames/n1.pcap
  sluice run scenarios/adth/s1a.toml --case scheme=ADTH-DF --case target=1s \
      --trace events.jsonl --flow forward --event delivered
  sluice run scenarios/adth/s1a.toml --record-intervals n1.jsonl --node n1

With `--json` one object is printed; its keys are explained in docs/results.md. Times are in seconds, rates in bit/s.
Claims are ruled on only where the scenario varies nothing.")]
pub(crate) struct Run {
    /// The scenario's file, or its id (of the files in ./scenarios).
    #[arg(value_name = "FILE|ID")]
    pub(crate) file: PathBuf,
    /// The seed of the random numbers.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Set a key of the network: its dotted path and its value. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print the results as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep the results in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write what each node sent and heard to DIR/NODE.pcap, for tshark and Wireshark.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) pcap: Option<PathBuf>,
    /// Write every event (frames, packets, limits) to this file, one JSON object a line.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Write the intervals of one queue to this file, as `sluice record` does on a live interface: for `sluice replay` and
    /// `sluice scenario-from`.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) record_intervals: Option<PathBuf>,
    /// Which queue, where --node has several: its name in the results, such as be or wired-to-ap.
    #[arg(long, value_name = "NAME", requires = "record_intervals")]
    pub(crate) queue: Option<String>,
    /// Only this node in --pcap, --trace and --record-intervals. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Vec<String>,
    /// Run the case of `[vary]` that has this label, instead of the network as it stands in the file. May be given several
    /// times, for an axis each.
    #[arg(long, value_name = "AXIS=LABEL")]
    pub(crate) case: Vec<String>,
}

/// Which events a trace has.
#[derive(Debug, Default, Group)]
pub(crate) struct Chosen {
    /// Only this flow's packets, and the frames that carry them, in --trace: its name, or `up*` for all whose names begin
    /// so. May be given several times.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub(crate) flow: Vec<String>,
    /// Only these events in --trace: sends, hears, spoilt, queued, dropped, acknowledged, delivered, limit. May be given
    /// several times.
    #[arg(long, value_name = "EVENT", requires = "trace")]
    pub(crate) event: Vec<String>,
}

impl From<Chosen> for lab::capture::Filter {
    fn from(Chosen { flow, event }: Chosen) -> Self {
        Self { flows: flow, events: event }
    }
}

/// Run whole experiments, rule on their claims and write a report.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice reproduce adth-s1a           one experiment, by its id
  sluice reproduce scenarios/adth     all of a folder
  sluice reproduce buffer-sizing      all of a folder in ./scenarios
  sluice reproduce                    all of ./scenarios
  sluice reproduce adth-s1a --quick   three seeds instead of all
  sluice reproduce my.toml --seeds 30 --out /tmp/my
  sluice reproduce my.toml --seeds 1 --trace events --event delivered

Results go to results/ID, or with --out: of one experiment into DIR itself, of several into DIR/ID each, with one report \
for all in DIR. A folder that holds other experiments' results is refused.

Runs are kept as they finish: after an interrupt the same command goes on from there.")]
pub(crate) struct Reproduce {
    /// Ids of experiments (of the files in ./scenarios), scenario files, or folders of them [default: scenarios].
    #[arg(value_name = "ID|FILE|DIR")]
    pub(crate) targets: Vec<PathBuf>,
    /// Three seeds for each case, and what the file's table `quick` says; everything else as in the files.
    #[arg(long, conflicts_with = "seeds")]
    pub(crate) quick: bool,
    /// This many seeds for each case, instead of the files'.
    #[arg(long, value_name = "N", value_parser = seeds, allow_negative_numbers = true)]
    pub(crate) seeds: Option<usize>,
    /// Set a key of every network: its dotted path and its value. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run on this many threads [default: one for each core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object for each experiment, with its verdicts.
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep the results in this folder [default: results/ID].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write every event of every run to DIR/ID/CASE.jsonl, one JSON object a line. All runs are made anew.
    #[arg(long, value_name = "DIR")]
    pub(crate) trace: Option<PathBuf>,
    /// Only this node in --trace. May be given several times.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub(crate) node: Vec<String>,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
}

/// List experiments: id, runs, claims and title.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice list
  sluice list scenarios/adth")]
pub(crate) struct List {
    /// Scenario files, or folders of them.
    #[arg(value_name = "FILE|DIR", default_value = "scenarios")]
    pub(crate) targets: Vec<PathBuf>,
}

/// Write the report of finished experiments: one HTML file that works offline.
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  sluice report results/adth-s1a
  sluice report results --out report.html")]
pub(crate) struct Report {
    /// The folder of an experiment's results, or one with several of them.
    pub(crate) folder: PathBuf,
    /// The file to write [default: report.html in the folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

fn seeds(text: &str) -> Result<usize, String> {
    count(text, 10_000)
}

fn threads(text: &str) -> Result<usize, String> {
    count(text, 1024)
}

fn count(text: &str, most: usize) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
}
