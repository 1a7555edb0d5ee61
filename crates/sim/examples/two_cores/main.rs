//! Would one run gain from a second core? `two_cores SCENARIO [ERROR-MODEL]`
//!
//! A run consists nearly only of *passages*: the front or the tail of a frame passes its listeners, each at its own time, and
//! changes only what that listener has. Two threads that have a share of the nodes each can work on them in *rounds*, spans of
//! simulated time in which neither does anything that reaches the other's nodes, and then meet.
//!
//! This records a second, lays out by several ways of sharing which listeners of which passages fall to whom in which round,
//! and prints how much faster two cores would be on paper. Then two threads *replay* the last of it, against one that does all:
//! each listener is a stand-in of two cache lines, like a receiver, that takes as long as an event of the simulator. The first
//! thread hands its passages to the second through a queue and gets a word back for each. What a stand-in has in the end depends
//! on the order of all that it heard. Left out are the few events that are not at a listener and what decoded frames lead to.
//!
//! On a busy machine only the least of many repetitions means anything, of each part on its own, all sides in turn.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it measures how long things take on this machine"
)]
#![expect(clippy::cast_possible_truncation, reason = "nodes, passages and listeners are fewer than 2^32")]

mod replay;

use replay::{calibrated, meeting_time, replay_alone, replay_together};
use sim::World;
use sim::config::Network;
use sim::trace::TraceEventKind;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::ops::Range;
use std::time::Instant;
use units::Duration;

const ALL: Duration = Duration::from_secs(1);
/// The last parts of the run, of this length, are replayed so often.
const PART: Duration = Duration::from_millis(2);
const PARTS: u64 = 10;
const REPETITIONS: usize = 20;

/// By sender, who hears it, after how many nanoseconds: nearest first.
type Links = Vec<Vec<(u32, u64)>>;
/// Who has a node: the first thread or the second.
type Cut = fn(node: u32, nodes: u32) -> usize;
const HALVES: Cut = |node, nodes| usize::from(node >= nodes / 2);
const IN_TURN: Cut = |node, _| node as usize % 2;

/// Ways of sharing, and how often the threads meet; where that is not said, before all events that are not at a listener.
/// SIFS would do if back-offs never ended.
const WAYS: [(&str, Cut, Option<Duration>); 5] = [
    ("halves, each 0.1 us (propagation)", HALVES, Some(Duration::from_nanos(100))),
    ("halves, each 2 us (turn-around)", HALVES, Some(Duration::from_micros(2))),
    ("halves, each 16 us (SIFS)", HALVES, Some(Duration::from_micros(16))),
    ("nodes in turn, each 2 us", IN_TURN, Some(Duration::from_micros(2))),
    ("nodes in turn, at other events", IN_TURN, None),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: two_cores SCENARIO [ERROR-MODEL]")?;
    let network = read(&path, arguments.next())?;
    let run = Recorded::new(&network)?;
    let (event, meeting) = (event_time(&network)?, meeting_time());

    let share = |cut: Cut| [0, 1].map(|half| run.links_to(|node| cut(node, run.links.len() as u32) == half));
    let (alone_links, links) = (share(|_, _| 0), WAYS.map(|(_, cut, _)| share(cut)));
    let (mut parts, mut best) = (Vec::new(), Vec::new());
    for from in (1..=PARTS).rev().map(|back| (ALL - PART * back).as_nanos()) {
        let span = from..from + PART.as_nanos();
        let plan = |links, meet| Plan::new(&run, links, &span, meet);
        let each = WAYS.iter().zip(&links).map(|((.., meet), links)| plan(links, *meet));
        parts.push((plan(&alone_links, Some(PART)), each.collect::<Vec<_>>()));
        best.push((f64::INFINITY, [f64::INFINITY; WAYS.len()]));
    }
    let stand_in = calibrated(&parts[0].0, event);
    let mut same = true;
    for _ in 0..REPETITIONS {
        for ((alone, plans), best) in parts.iter().zip(&mut best) {
            let (time, heard) = replay_alone(alone, stand_in);
            best.0 = time.min(best.0);
            for (plan, best) in plans.iter().zip(&mut best.1) {
                let (time, heard_together) = replay_together(plan, stand_in);
                *best = time.min(*best);
                same &= heard == heard_together;
            }
        }
    }

    let steps = parts.iter().map(|(alone, _)| steps(&alone.pieces[0])).sum::<u64>() as f64;
    let alone = best.iter().map(|best| best.0).sum::<f64>();
    let (events, frames, all) = (run.events, run.frames.len() as f64, run.steps() as f64);
    println!("{events} events in {} s, {:.2} % at listeners", ALL.as_secs_f64(), 100.0 * all / events as f64);
    println!(
        "{frames} frames, {:.0} listeners each; {event:.1} ns an event, {:.1} ns a stand-in",
        all / frames / 2.0,
        alone / steps
    );
    println!("{meeting:.0} ns a meeting; load {}", std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim());
    println!("same order at every listener: {same}");
    println!("{:34} meetings/ms   longer share   on paper   replayed", "shared by");
    for (way, (name, ..)) in WAYS.iter().enumerate() {
        let plans = parts.iter().map(|(_, plans)| &plans[way]);
        let meetings = plans.clone().map(|plan| plan.rounds.len()).sum::<usize>() as f64;
        let longer = plans.map(Plan::longer).sum::<u64>() as f64;
        let paper = steps * event / (longer * event + meetings * meeting);
        let replayed = alone / best.iter().map(|best| best.1[way]).sum::<f64>();
        let often = meetings / (PART * PARTS).as_secs_f64() / 1e3;
        println!("{name:34} {often:>11.1} {:>12.1} % {paper:>10.2} {replayed:>10.2}", 100.0 * longer / steps);
    }
    Ok(())
}

fn read(path: &str, errors: Option<String>) -> Result<Network, Box<dyn Error>> {
    let mut scenario: toml::Table = toml::from_str(&std::fs::read_to_string(path)?)?;
    for key in ["title", "about", "claim", "warmup"] {
        scenario.remove(key);
    }
    scenario.insert("duration".to_owned(), format!("{} s", ALL.as_secs_f64()).into());
    if let (Some(model), Some(toml::Value::Table(radio))) = (errors, scenario.get_mut("radio")) {
        radio.insert("errors".to_owned(), toml::Table::from_iter([("model".to_owned(), model.into())]).into());
    }
    Ok(scenario.try_into()?)
}

/// What a run did.
struct Recorded {
    /// Sender, first and last bit.
    frames: Vec<(u32, Range<u64>)>,
    /// When a queue got a packet.
    queued: Vec<u64>,
    links: Links,
    events: u64,
}

impl Recorded {
    fn new(network: &Network) -> Result<Self, Box<dyn Error>> {
        let mut world = World::new(network, 1)?;
        let nodes: Vec<u32> = (0..).take(world.roster().nodes.len()).collect();
        let heard_by = |&node| world.listeners(node).map(|(to, delay)| (to, delay.as_nanos())).collect();
        let links = nodes.iter().map(heard_by).collect();
        let (mut frames, mut queued) = (Vec::new(), Vec::new());
        world.watch(&nodes);
        while !world.finished() {
            world.advance(PART);
            for event in world.take_events() {
                let at = event.at.as_nanos();
                match event.what {
                    TraceEventKind::Sends(frame) => frames.push((event.node, at..at + frame.length.as_nanos())),
                    TraceEventKind::Queued(_) => queued.push(at),
                    _ => {}
                }
            }
        }
        Ok(Self { frames, queued, links, events: world.handled() })
    }

    fn links_to(&self, is_mine: impl Fn(u32) -> bool) -> Links {
        self.links.iter().map(|all| all.iter().copied().filter(|&(to, _)| is_mine(to)).collect()).collect()
    }

    fn steps(&self) -> u64 {
        self.frames.iter().map(|&(from, _)| 2 * self.links[from as usize].len() as u64).sum()
    }
}

/// Some listeners of a passage, by their place among those of one thread.
struct Piece {
    round: usize,
    passage: u32,
    listeners: Range<u32>,
}

fn steps(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| piece.listeners.len() as u64).sum()
}

/// What each of two threads has to do in a part of a run.
struct Plan<'a> {
    links: &'a [Links; 2],
    /// When a front or tail is at its sender, and who that is.
    passages: Vec<(u64, u32)>,
    pieces: [Vec<Piece>; 2],
    /// How many pieces are done by the end of each round.
    rounds: Vec<[usize; 2]>,
}

impl<'a> Plan<'a> {
    fn new(run: &Recorded, links: &'a [Links; 2], span: &Range<u64>, meet: Option<Duration>) -> Self {
        let edges = run.frames.iter().flat_map(|(from, on_air)| [(on_air.start, *from), (on_air.end, *from)]);
        let mut passages: Vec<(u64, u32)> = edges.filter(|(at, _)| span.contains(at)).collect();
        passages.sort_unstable();
        let mut limits: Vec<u64> = match meet {
            Some(time) => span.clone().step_by(time.as_nanos() as usize).collect(),
            None => passages.iter().map(|passage| passage.0).chain(run.queued.iter().copied()).collect(),
        };
        limits.sort_unstable();
        let pieces = [0, 1].map(|half| pieces(&links[half], &passages, &limits));
        let (mut rounds, mut done) = (Vec::new(), [0, 0]);
        while let Some(round) = (0..2).filter_map(|half| Some(pieces[half].get(done[half])?.round)).min() {
            done = [0, 1].map(|half| pieces[half].partition_point(|piece| piece.round <= round));
            rounds.push(done);
        }
        Self { links, passages, pieces, rounds }
    }

    /// What each thread does from one meeting to the next.
    fn rounds(&self) -> impl Iterator<Item = [Range<usize>; 2]> {
        let begins = [[0, 0]].into_iter().chain(self.rounds.iter().copied());
        begins.zip(&self.rounds).map(|(begin, end)| [begin[0]..end[0], begin[1]..end[1]])
    }

    /// The steps of whoever has more to do in a round, of all rounds.
    fn longer(&self) -> u64 {
        self.rounds().map(|[a, b]| steps(&self.pieces[0][a]).max(steps(&self.pieces[1][b]))).sum()
    }
}

/// What there is to do at some nodes, in order of time. A piece ends where another passage is next or a round is over. Where two
/// passages are at a node in the same nanosecond, that which set out first comes first, then that of the sender with the lower
/// number: nobody has to know which event was pushed first.
fn pieces(links: &Links, passages: &[(u64, u32)], limits: &[u64]) -> Vec<Piece> {
    let time = |passage: usize, listener: usize| {
        let (at, from) = passages[passage];
        links[from as usize].get(listener).map(|(_, delay)| at + delay)
    };
    let firsts = (0..passages.len()).filter_map(|passage| Some(Reverse((time(passage, 0)?, passage, 0))));
    let mut pending: BinaryHeap<Reverse<(u64, usize, usize)>> = firsts.collect();
    let (mut pieces, mut round) = (Vec::new(), 0);
    while let Some(Reverse((now, passage, first))) = pending.pop() {
        round += limits[round..].iter().take_while(|&&limit| limit <= now).count();
        let until = limits.get(round).copied().unwrap_or(u64::MAX);
        let next = pending.peek().map_or((u64::MAX, 0), |&Reverse((time, passage, _))| (time, passage));
        let goes_on = |&at: &usize| time(passage, at).is_some_and(|time| time < until && (time, passage) < next);
        let end = (first + 1..u32::MAX as usize).find(|at| !goes_on(at)).unwrap_or(first + 1);
        pieces.push(Piece { round, passage: passage as u32, listeners: first as u32..end as u32 });
        pending.extend(time(passage, end).map(|time| Reverse((time, passage, end))));
    }
    pieces
}

/// How long an event of the simulator takes, in nanoseconds.
fn event_time(network: &Network) -> Result<f64, Box<dyn Error>> {
    let mut times = vec![f64::INFINITY; (ALL.as_nanos() / PART.as_nanos()) as usize];
    let mut events = 0;
    for _ in 0..2 {
        let mut world = World::new(network, 1)?;
        for time in &mut times {
            let start = Instant::now();
            world.advance(PART);
            *time = time.min(start.elapsed().as_nanos() as f64);
        }
        events = world.handled();
    }
    Ok(times.iter().sum::<f64>() / events as f64)
}
