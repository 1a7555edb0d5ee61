//! The files of one run: a capture a node, and the events.

use super::{Addresses, Capture, Events};
use crate::run::{self, Observer, Timed, Watch};
use crate::scenario::nearest;
use sim::config::Network;
use sim::trace::{Event, Protocol, Roster};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What to write down of a run.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The folder of the captures, `NODE.pcap` each.
    pub pcap: Option<PathBuf>,
    /// The file of the events.
    pub trace: Option<PathBuf>,
    /// The nodes; none for all.
    pub nodes: Vec<String>,
}

/// Why a run cannot be written down.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// There is no such node.
    #[error("there is no node `{name}`{}", hint.as_ref().map_or_else(String::new, |hint| format!("; did you mean `{hint}`?")))]
    UnknownNode {
        /// The name asked for.
        name: String,
        /// The nearest that there is.
        hint: Option<String>,
    },
    /// Too many files would be open at once.
    #[error("captures of {count} nodes are too many files at once (at most {most}): choose some with --node")]
    TooMany {
        /// How many nodes.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// A file cannot be begun.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A file cannot be written to its end.
    #[error("cannot write down what happens: {0}")]
    Lost(io::Error),
    /// The network cannot be built.
    #[error(transparent)]
    Build(#[from] sim::BuildError),
}

/// Runs `network` with `seed` to its end and writes the files; nothing when the watcher stopped it.
///
/// # Errors
/// A network that cannot be built, an unknown node, or a file that cannot be written.
pub fn record(
    network: &Network,
    seed: u64,
    watch: &dyn Watch,
    wanted: &Wanted,
) -> Result<Option<Timed>, RecordingError> {
    let mut world = sim::World::new(network, seed)?;
    let roster = world.roster();
    let nodes = chosen(&roster, &wanted.nodes)?;
    let mut files = Files::create(&roster, &nodes, wanted)?;
    world.watch(&nodes);
    run::observed(world, watch, &mut files).map_err(RecordingError::Lost)
}

/// Files that are open at once: most systems allow 1024.
const MOST_CAPTURES: usize = 500;

/// The open files.
#[derive(Debug)]
struct Files {
    captures: Vec<Option<Capture<BufWriter<File>>>>,
    events: Option<Events<BufWriter<File>>>,
}

impl Files {
    fn create(roster: &Roster, nodes: &[u32], wanted: &Wanted) -> Result<Self, RecordingError> {
        let mut captures: Vec<Option<_>> = roster.nodes.iter().map(|_| None).collect();
        if let Some(folder) = &wanted.pcap {
            if nodes.len() > MOST_CAPTURES {
                return Err(RecordingError::TooMany { count: nodes.len(), most: MOST_CAPTURES });
            }
            fs::create_dir_all(folder).map_err(|error| refused(folder, error))?;
            let addresses = Addresses {
                flows: roster.flows.iter().map(|flow| (flow.from, flow.to, flow.protocol)).collect(),
                access_points: roster.nodes.iter().map(|node| node.access_point).collect(),
                channel: u16::try_from(roster.frequency.as_hertz() / 1_000_000).unwrap_or(u16::MAX),
            };
            for &node in nodes {
                let path = folder.join(format!("{}.pcap", roster.nodes[node as usize].name));
                let file = File::create(&path).map_err(|error| refused(&path, error))?;
                let capture = Capture::new(BufWriter::new(file), node, addresses.clone());
                captures[node as usize] = Some(capture.map_err(|error| refused(&path, error))?);
            }
        }
        let mut events = None;
        if let Some(path) = &wanted.trace {
            let file = File::create(path).map_err(|error| refused(path, error))?;
            let nodes = roster.nodes.iter().map(|node| node.name.clone()).collect();
            let back = |protocol| matches!(protocol, Protocol::EchoReply(_) | Protocol::TcpBack(_));
            let flows = roster.flows.iter().map(|flow| (flow.name.clone(), back(flow.protocol))).collect();
            events = Some(Events::new(BufWriter::new(file), nodes, flows));
        }
        Ok(Self { captures, events })
    }
}

impl Observer for Files {
    fn see(&mut self, events: &[Event]) -> io::Result<()> {
        for event in events {
            if let Some(capture) = &mut self.captures[event.node as usize] {
                capture.add(event)?;
            }
            if let Some(file) = &mut self.events {
                file.add(event)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.captures.iter_mut().flatten().try_for_each(Capture::flush)?;
        self.events.as_mut().map_or(Ok(()), Events::flush)
    }
}

fn refused(path: &Path, error: io::Error) -> RecordingError {
    RecordingError::Write { path: path.to_owned(), error }
}

fn chosen(roster: &Roster, names: &[String]) -> Result<Vec<u32>, RecordingError> {
    let all = || (0_u32..).zip(&roster.nodes);
    if names.is_empty() {
        return Ok(all().map(|(index, _)| index).collect());
    }
    let find = |name: &String| {
        let found = all().find(|(_, node)| node.name == *name).map(|(index, _)| index);
        found.ok_or_else(|| {
            let known = roster.nodes.iter().map(|node| node.name.as_str());
            RecordingError::UnknownNode { name: name.clone(), hint: nearest(name, known).map(ToString::to_string) }
        })
    };
    names.iter().map(find).collect()
}
