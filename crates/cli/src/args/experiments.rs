//! The arguments of the commands that simulate.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args as Group, Subcommand};
use experiment::homes::{ARMS, Home};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Experiment {
    New(New),
    Check(Check),
    Run(Run),
    #[cfg(target_os = "linux")]
    Emulate(Emulate),
    #[cfg(target_os = "linux")]
    Enter(Enter),
    Reproduce(Reproduce),
    Arena(Arena),
    #[cfg(feature = "evidence")]
    Claims(Claims),
    List(List),
    Report(Report),
    Replay(Replay),
    ScenarioFrom(ScenarioFrom),
    Forecast(Forecast),
    /// Print the JSON Schema of scenario files, for editors.
    Schema,
    /// Write the reference of scenario files (scenario/*.md, scenario.schema.json) to a folder.
    #[command(hide = true)]
    Docs {
        /// The folder to which the reference is written.
        #[arg(default_value = "docs")]
        folder: PathBuf,
    },
}

/// Write an example scenario with a comment for every part.
#[derive(Debug, Group)]
pub(crate) struct New {
    /// The file to write. An existing file is not overwritten.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The radio's standard.
    #[arg(long, default_value = "802.11g", value_parser = ["802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax"])]
    pub(crate) standard: String,
}

/// Check scenarios without running them: every key, every network, every claim and chart.
#[derive(Debug, Group)]
pub(crate) struct Check {
    /// Scenario files, folders of them, or ids of experiments.
    #[arg(value_name = "FILE|DIR|ID", required = true)]
    pub(crate) targets: Vec<PathBuf>,
    /// Print the scenario with all keys that it inherits from its `base`, as one file.
    #[arg(long)]
    pub(crate) expand: bool,
}

/// The network that runs once.
#[derive(Debug, Group)]
pub(crate) struct Once {
    /// The scenario's file, or its id.
    #[arg(value_name = "FILE|ID")]
    pub(crate) file: PathBuf,
    /// The seed of the random numbers.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Set a key of the network: its dotted path and its value. May be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub(crate) set: Vec<String>,
}

/// Run a scenario's network once, without its variations.
#[derive(Debug, Group)]
#[command(group = ArgGroup::new("written").args(["pcap", "trace", "record_intervals"]).multiple(true))]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) of: Once,
    /// Print the results as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep the results in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write what each node sent and heard to DIR/NODE.pcap, for tshark and Wireshark.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) pcap: Option<PathBuf>,
    /// Write every event (frames, packets, limits) to this file, one JSON object per line.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Write the intervals of one queue to this file, as `sluice record` does for a live interface; `sluice replay` and
    /// `sluice scenario-from` read the file.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) record_intervals: Option<PathBuf>,
    /// The queue, if --node has several: its name in the results, such as be or wired-to-ap.
    #[arg(long, value_name = "NAME", requires = "record_intervals")]
    pub(crate) queue: Option<String>,
    /// Limit --pcap, --trace and --record-intervals to this node. May be given several times.
    #[arg(long, value_name = "NAME", requires = "written")]
    pub(crate) node: Vec<String>,
    /// Run the case of `[vary]` that has this label, instead of the network as the file describes it. May be given
    /// several times, once per axis.
    #[arg(long, value_name = "AXIS=LABEL")]
    pub(crate) case: Vec<String>,
}

/// Run real programs over a scenario's network, in real time.
#[cfg(target_os = "linux")]
#[derive(Debug, Group)]
pub(crate) struct Emulate {
    #[command(flatten)]
    pub(crate) of: Once,
    /// The delay of delivery (real minus simulated time) from which a packet counts as late.
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    pub(crate) late: units::Duration,
    /// Fail if more than this share of the packets is late, in percent.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) most_late: Option<f64>,
    /// Pace the network at real-time priority (`SCHED_FIFO`), for busy machines. Needs root or a limit (`ulimit -r`).
    #[arg(long)]
    pub(crate) fifo: bool,
    /// Keep the results in this folder, as `sluice run --out` does.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write a capture of each node into this folder, with the whole content of real packets.
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// Limit --pcap to this node. May be given several times.
    #[arg(long, value_name = "NODE", requires = "pcap")]
    pub(crate) node: Vec<String>,
    /// Connect this real node to this machine by a device `sluice0` and routes, without NAT, for programs on both
    /// sides. Needs root, or a device that root has made for this user.
    #[arg(long, value_name = "NODE")]
    pub(crate) gateway: Option<String>,
    /// Print the results as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The command to run in the first real node.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[cfg(target_os = "linux")]
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end().parse();
    number.ok().filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| "expected 0 to 100".to_owned())
}

/// Run a command in a real node of a running emulation.
#[cfg(target_os = "linux")]
#[derive(Debug, Group)]
pub(crate) struct Enter {
    /// The name of the real node.
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// The command.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// The events that go into a trace.
#[derive(Debug, Default, Group)]
pub(crate) struct Chosen {
    /// Limit --trace to this flow's packets and the frames that carry them: the flow's name, or `up*` for all names
    /// that begin with `up`. May be given several times.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub(crate) flow: Vec<String>,
    /// Limit --trace to these events: sends, hears, spoilt, queued, dropped, acknowledged, delivered, limit. May be
    /// given several times.
    #[arg(long, value_name = "EVENT", requires = "trace")]
    pub(crate) event: Vec<String>,
}

impl From<Chosen> for lab::capture::Filter {
    fn from(Chosen { flow, event }: Chosen) -> Self {
        Self { flows: flow, events: event }
    }
}

/// Run whole experiments, judge their claims and write a report.
#[derive(Debug, Default, Group)]
pub(crate) struct Reproduce {
    /// Ids of experiments, scenario files, or folders of them [default: all there are].
    #[arg(value_name = "ID|FILE|DIR")]
    pub(crate) targets: Vec<PathBuf>,
    /// Run three seeds per case, with the short settings of the scenario's table `quick`.
    #[arg(long, conflicts_with = "seeds")]
    pub(crate) quick: bool,
    /// Run this number of seeds per case, instead of the scenario's number.
    #[arg(long, value_name = "N", value_parser = up_to_10_000, allow_negative_numbers = true)]
    pub(crate) seeds: Option<usize>,
    /// Set a key of every network: its dotted path and its value. May be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub(crate) set: Vec<String>,
    /// The number of threads [default: one for each core]. Results do not depend on the number.
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// Print every claim, not only those that do not hold.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON object for each experiment, with its tables and verdicts.
    #[arg(long, conflicts_with = "all")]
    pub(crate) json: bool,
    /// Keep the results in this folder [default: results/ID].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Put the simulator into the report, so that a reader can set keys and see the charts drawn anew. FILE is the page
    /// that `make page` builds [default: target/page/sluice.html].
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "target/page/sluice.html")]
    pub(crate) interactive: Option<PathBuf>,
    /// Write every event of every run to DIR/ID/CASE.jsonl, one JSON object a line. All runs are then simulated again.
    #[arg(long, value_name = "DIR")]
    pub(crate) trace: Option<PathBuf>,
    /// Limit --trace to this node. May be given several times.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub(crate) node: Vec<String>,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Random homes and the queues (arms) to run in them, instead of targets: for `sluice arena --homes`.
    #[arg(skip)]
    pub(crate) homes: Option<(Vec<Home>, Vec<String>)>,
}

/// Compare today's queues, published schemes and `turns` in every hazard, or in random homes, and write a report.
#[derive(Debug, Group)]
pub(crate) struct Arena {
    /// Run three seeds per case.
    #[arg(long, conflicts_with_all = ["homes", "first", "seeds", "arms", "json", "write"])]
    pub(crate) quick: bool,
    /// Draw this number of random homes, instead of the hazards.
    #[arg(long, value_name = "N", value_parser = up_to_10_000, allow_negative_numbers = true)]
    pub(crate) homes: Option<usize>,
    /// The number of the first home.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = seed, requires = "homes", allow_negative_numbers = true)]
    pub(crate) first: u64,
    /// Run this number of seeds per home [default: 1].
    #[arg(long, value_name = "N", value_parser = up_to_10_000, requires = "homes", allow_negative_numbers = true)]
    pub(crate) seeds: Option<usize>,
    /// The schemes that are compared with mac80211.
    #[arg(long, value_name = "ARM", value_delimiter = ',', requires = "homes", default_values = arms(), value_parser = PossibleValuesParser::new(arms()))]
    pub(crate) arms: Vec<String>,
    /// Run nothing: write the homes as scenarios to this folder.
    #[arg(long, value_name = "DIR", requires = "homes", conflicts_with_all = ["out", "json", "threads"])]
    pub(crate) write: Option<PathBuf>,
    /// Print one JSON object, with every ratio and verdict.
    #[arg(long, requires = "homes")]
    pub(crate) json: bool,
    /// The number of threads [default: one for each core]. Results do not depend on the number.
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// Keep the results in DIR/ID [default: results/ID]; for random homes in DIR itself.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

impl Arena {
    /// Draws the random homes; `None` if the command asks for the hazards.
    pub(crate) fn drawn(&self) -> Option<Vec<Home>> {
        Some((self.first..=u64::MAX).take(self.homes?).map(Home::draw).collect())
    }
}

impl From<Arena> for Reproduce {
    fn from(args: Arena) -> Self {
        let homes = args.drawn();
        let Arena { quick, seeds, arms, json, threads, out, .. } = args;
        let (targets, homes) = (vec![PathBuf::from("arena")], homes.map(|homes| (homes, arms)));
        Self { targets, quick, seeds, threads, json, out, homes, ..Self::default() }
    }
}

/// Show the measured results for the statements of documents, from the record of full runs, without simulating.
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command")]
#[cfg(feature = "evidence")]
#[derive(Debug, Group)]
pub(crate) struct Claims {
    /// Documents, experiments or claims [default: all documents].
    #[arg(value_name = "DOCUMENT|ID")]
    pub(crate) targets: Vec<String>,
    /// Show every claim, not only the headline claims.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the rows of the record as one JSON list.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub(crate) json: bool,
    /// Print the rows of the record as its file stores them.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) csv: bool,
    /// Print the tables of documents in Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Print authors, title, year and place of the documents as BibTeX.
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "all"])]
    pub(crate) bibtex: bool,
    /// Print the values that the documents do not state: chosen value, other values tried, and rule of the choice.
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "all", "bibtex"])]
    pub(crate) unstated: bool,
    /// Check the record against the scenarios, the pages in ./docs and the results in these folders.
    #[arg(long, hide = true, value_name = "DIR", num_args = 0.., conflicts_with_all = ["targets", "record", "pages"])]
    pub(crate) check: Option<Vec<PathBuf>>,
    /// Update the record from the full runs in these folders, and all texts of the record from the scenarios.
    #[arg(long, hide = true, value_name = "DIR", num_args = 0.., conflicts_with_all = ["targets", "pages"])]
    pub(crate) record: Option<Vec<PathBuf>>,
    /// Write the tables of the record into the pages of this folder.
    #[arg(long, hide = true, value_name = "DIR", conflicts_with = "targets")]
    pub(crate) pages: Option<PathBuf>,
}

/// List experiments: id, runs, claims and title.
#[derive(Debug, Group)]
pub(crate) struct List {
    /// Scenario files, or folders of them [default: ./scenarios, or those built into the command].
    #[arg(value_name = "FILE|DIR")]
    pub(crate) targets: Vec<PathBuf>,
}

/// Write the report of finished experiments: one HTML file that works offline.
#[derive(Debug, Group)]
pub(crate) struct Report {
    /// The folder of an experiment's results, or a folder that contains several such folders.
    pub(crate) folder: PathBuf,
    /// The file to write [default: report.html in the folder].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Show what controllers decide for a recording.
#[derive(Debug, Group)]
pub(crate) struct Replay {
    /// The file of the recording.
    pub(crate) file: PathBuf,
    /// A controller. May be given several times, for a comparison side by side.
    #[arg(long, value_name = "NAME", value_parser = controllers())]
    pub(crate) controller: Vec<control::Name>,
    /// Target delay of these controllers: "50 ms".
    #[arg(long, value_name = "TIME")]
    pub(crate) target_delay: Option<units::Duration>,
    /// Set a key of the queue. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print each interval as one JSON object per line, with the controller's limit (with several: `limits`).
    #[arg(long, conflicts_with = "report")]
    pub(crate) json: bool,
    /// Write a page with charts to this file: recorded limit, backlog and delay, and the controllers' decisions.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// Turn a recording into a scenario: a link as fast as the measured one, with the load that was offered to it. Or turn
/// a Wi-Fi interface, or iw's output on it, into its channel and its stations' modes. Or place the access points and
/// stations of a list, CSV or GeoJSON.
#[derive(Debug, Group)]
pub(crate) struct ScenarioFrom {
    /// The recording, the output of `iw dev DEV info` and `iw dev DEV station dump`, a list of nodes with their
    /// positions, or (Linux) a Wi-Fi interface.
    pub(crate) source: PathBuf,
    /// Interface in the output of `iw` [default: the one that has stations].
    #[arg(long, value_name = "DEV")]
    pub(crate) interface: Option<String>,
    /// The file to write [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Forecast what other queues would do at a Wi-Fi access point, from readings of its radio: its stations' modes and
/// traffic, and how busy the channel is.
#[derive(Debug, Group)]
pub(crate) struct Forecast {
    /// A Wi-Fi interface (Linux), or a recording of one.
    #[arg(value_name = "DEV|FILE")]
    pub(crate) source: PathBuf,
    /// Time for which the interface is observed.
    #[arg(long = "for", value_name = "TIME", default_value = "120 s")]
    pub(crate) length: units::Duration,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// Options that users often try as keys of `--set`, each with a command that has it.
const OPTIONS: [(&str, &str); 5] =
    [("seed", "run"), ("seeds", "reproduce"), ("case", "run"), ("out", "run"), ("threads", "reproduce")];

fn setting(text: &str) -> Result<String, String> {
    let (key, value) = text.split_once('=').unwrap_or((text, "VALUE"));
    let option = OPTIONS.into_iter().find(|&(option, _)| option == key.trim());
    let says = |(key, of)| {
        format!("`{key}` is not a key of a scenario but an option of `sluice {of}`: `--{key} {}`", value.trim())
    };
    option.map(says).map_or_else(|| Ok(text.to_owned()), Err)
}

fn up_to_10_000(text: &str) -> Result<usize, String> {
    count(text, 10_000)
}

/// Returns all arms (queues) except the first, with which they are compared.
fn arms() -> impl Iterator<Item = &'static str> {
    ARMS.into_iter().skip(1)
}

fn threads(text: &str) -> Result<usize, String> {
    count(text, 1024)
}

fn count(text: &str, most: usize) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
}

/// The scheduler that other commands take as a controller.
const TURNS: &str = "turns";

/// Parses the name of a controller; the help text lists all names.
fn controllers() -> impl TypedValueParser<Value = control::Name> {
    let names = control::Name::ALL.iter().map(|name| PossibleValue::new(name.as_str()));
    PossibleValuesParser::new(names.chain([PossibleValue::new(TURNS).hide(true)])).try_map(|name| match name.as_str() {
        TURNS => {
            Err("`turns` decides for each packet, and recordings have only intervals: simulate `queues = \"turns\"`"
                .to_owned())
        }
        name => name.parse::<control::Name>().map_err(|error| error.to_string()),
    })
}
