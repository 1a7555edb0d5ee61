//! The files of one run: a capture for each node, the events, and the intervals of a queue.

use super::filter::Sieve;
use super::{Addresses, Capture, Events, Filter};
use crate::Error;
use crate::recorded::Decision;
use crate::run::{self, Observer};
use crate::store::make_folder;
use control::Seen;
use experiment::watch::{Timed, Watch};
use sim::config::{Network, Role};
use sim::trace::{Protocol, Roster, TraceEvent, TraceEventKind};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use units::Instant;

/// Which files to write for a run.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Folder of the captures; each is named `NODE.pcap`.
    pub pcap: Option<PathBuf>,
    /// File of the events.
    pub trace: Option<PathBuf>,
    /// Which events go into `trace`.
    pub filter: Filter,
    /// Names of the nodes; all nodes if empty.
    pub nodes: Vec<String>,
    /// File for the intervals of one queue at one of the nodes.
    pub intervals: Option<PathBuf>,
    /// The queue's name in the results. Needed if there are several queues.
    pub queue: Option<String>,
}

/// Runs `network` with `seed` to its end and writes the files; `None` if the watcher stopped the run.
///
/// # Errors
/// The network cannot be built, there is no such node, or a file cannot be written.
pub fn record(network: &Network, seed: u64, watch: &dyn Watch, wanted: &Wanted) -> Result<Option<Timed>, Error> {
    let mut world = sim::World::new(network, seed)?;
    let mut files = Files::begin(&mut world, wanted)?;
    run::observed(world, watch, &mut files).map_err(lost)
}

/// Largest number of files that are open at once; most systems allow 1024.
const MOST_CAPTURES: usize = 500;

/// The files that are written during a run: captures, events, intervals.
#[derive(Debug)]
pub struct Files {
    captures: Vec<Option<Capture<BufWriter<File>>>>,
    events: Option<(Events<BufWriter<File>>, Sieve)>,
    intervals: Option<Intervals>,
}

/// The intervals of a queue, one JSON object per line.
#[derive(Debug)]
struct Intervals {
    to: BufWriter<File>,
    node: u32,
    queue: u32,
}

impl Intervals {
    /// Creates the file for the only queue with this name at these nodes.
    fn create(roster: &Roster, nodes: &[u32], path: &Path, queue: Option<&str>) -> Result<Self, Error> {
        let of =
            |node: u32| (0..).zip(&roster.nodes[node as usize].queues).map(move |(queue, name)| (node, queue, name));
        let all: Vec<(u32, u32, &String)> = nodes.iter().flat_map(|node| of(*node)).collect();
        let meant: Vec<_> = all.iter().filter(|(.., name)| queue.is_none_or(|queue| queue == name.as_str())).collect();
        let [&(node, queue, _)] = meant[..] else {
            let known = if meant.is_empty() { all.iter().collect() } else { meant };
            let named =
                |&&(node, _, name): &&(u32, u32, &String)| format!("{} {name}", roster.nodes[node as usize].name);
            let known = known.iter().map(named).collect::<Vec<_>>().join(", ");
            let why = format!("only one queue can be recorded: choose one of {known} with --node and --queue");
            return Err(Error::Wrong(why));
        };
        let to = BufWriter::new(File::create(path).map_err(|error| Error::write(path, error))?);
        Ok(Self { to, node, queue })
    }

    fn add(&mut self, event: &TraceEvent) -> io::Result<()> {
        match &event.what {
            TraceEventKind::Limit(told) if (event.node, told.queue) == (self.node, self.queue) => {
                let seen = Seen { queue: told.seen, radio: told.radio, heard: &told.heard };
                let decision = Decision::new(event.at.since(Instant::ZERO), &seen, &told.orders);
                serde_json::to_writer(&mut self.to, &decision)?;
                self.to.write_all(b"\n")
            }
            _ => Ok(()),
        }
    }
}

impl Files {
    /// Creates the files, and makes the world record events for them from now on.
    ///
    /// # Errors
    /// There is no such node, or a file cannot be written.
    pub fn begin(world: &mut sim::World, wanted: &Wanted) -> Result<Self, Error> {
        let roster = world.roster();
        let nodes = chosen(&roster, &wanted.nodes)?;
        let files = Self::create(&roster, &nodes, wanted)?;
        match &files.intervals {
            // The observer gets only the events of this node.
            Some(intervals) if wanted.pcap.is_none() && wanted.trace.is_none() => world.watch(&[intervals.node]),
            _ => world.watch(&nodes),
        }
        if files.intervals.is_some() {
            world.watch_intervals();
        }
        Ok(files)
    }

    /// Writes all events since the last call.
    ///
    /// # Errors
    /// The events cannot be written.
    pub fn take(&mut self, world: &mut sim::World) -> Result<(), Error> {
        self.see(&world.take_events()).map_err(lost)
    }

    /// Completes the files.
    ///
    /// # Errors
    /// The last events cannot be written.
    pub fn end(mut self) -> Result<(), Error> {
        self.finish().map_err(lost)
    }

    fn create(roster: &Roster, nodes: &[u32], wanted: &Wanted) -> Result<Self, Error> {
        let mut captures: Vec<Option<_>> = roster.nodes.iter().map(|_| None).collect();
        if let Some(folder) = &wanted.pcap {
            if nodes.len() > MOST_CAPTURES {
                let why = format!(
                    "captures of {} nodes are more files than can be open ({MOST_CAPTURES}): choose nodes with --node",
                    nodes.len()
                );
                return Err(Error::Wrong(why));
            }
            make_folder(folder)?;
            let addresses = Addresses {
                flows: roster.flows.iter().map(|flow| (flow.from, flow.to, flow.protocol)).collect(),
                access_points: roster.nodes.iter().map(|node| node.role == Role::AccessPoint).collect(),
                channel: u16::try_from(roster.frequency.as_hertz() / 1_000_000).unwrap_or(u16::MAX),
            };
            for &node in nodes {
                let path = folder.join(format!("{}.pcap", roster.nodes[node as usize].name));
                let file = File::create(&path).map_err(|error| Error::write(&path, error))?;
                let capture = Capture::new(BufWriter::new(file), node, addresses.clone());
                captures[node as usize] = Some(capture.map_err(|error| Error::write(&path, error))?);
            }
        }
        let mut events = None;
        if let Some(path) = &wanted.trace {
            let sieve = Sieve::new(&wanted.filter, roster)?;
            let file = File::create(path).map_err(|error| Error::write(path, error))?;
            let nodes = roster.nodes.iter().map(|node| node.name.clone()).collect();
            let back = |protocol| matches!(protocol, Protocol::EchoReply(_) | Protocol::TcpBack(_));
            let flows = roster.flows.iter().map(|flow| (flow.name.clone(), back(flow.protocol))).collect();
            events = Some((Events::new(BufWriter::new(file), nodes, flows), sieve));
        }
        let intervals = wanted.intervals.as_deref();
        let intervals = intervals.map(|path| Intervals::create(roster, nodes, path, wanted.queue.as_deref()));
        Ok(Self { captures, events, intervals: intervals.transpose()? })
    }
}

impl Observer for Files {
    fn see(&mut self, events: &[TraceEvent]) -> io::Result<()> {
        for event in events {
            if let Some(capture) = &mut self.captures[event.node as usize] {
                capture.add(event)?;
            }
            if let Some((file, sieve)) = &mut self.events
                && sieve.passes(event)
            {
                file.add(event)?;
            }
            if let Some(file) = &mut self.intervals {
                file.add(event)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.captures.iter_mut().flatten().try_for_each(Capture::flush)?;
        self.events.as_mut().map_or(Ok(()), |(file, _)| file.flush())?;
        self.intervals.as_mut().map_or(Ok(()), |intervals| intervals.to.flush())
    }
}

fn lost(error: io::Error) -> Error {
    Error::Write { what: "the events".to_owned(), error }
}

fn chosen(roster: &Roster, names: &[String]) -> Result<Vec<u32>, Error> {
    let all = || (0_u32..).zip(&roster.nodes);
    if names.is_empty() {
        return Ok(all().map(|(index, _)| index).collect());
    }
    let find = |name: &String| {
        let found = all().find(|(_, node)| node.name == *name).map(|(index, _)| index);
        found.ok_or_else(|| Error::unknown("node", name, roster.nodes.iter().map(|node| node.name.as_str())))
    };
    names.iter().map(find).collect()
}
