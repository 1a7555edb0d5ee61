//! A network that the page shows: its description, and its events from one picture to the next.

use experiment::scenario::{Refusal, Scenario, Wishes};
use serde::{Deserialize, Serialize};
use sim::config::Role;
use sim::results::Outcome;
use sim::trace::{Frame, Kind, LossCause, Owner, Packet, Protocol, Roster, TraceEvent, TraceEventKind};
use sim::{Plan, World};
use std::collections::BTreeMap;
use units::{Duration, Instant, Length};

/// A scenario, and which of its networks to open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Text of the scenario.
    pub toml: String,
    /// Keys that are set from outside, as with `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// The case, as with `--case`. Empty: the network as the file describes it.
    #[serde(default)]
    pub case: Vec<String>,
    /// True if only results are needed, of a scenario opened before. The scenario is not checked again, and
    /// pictures show no packets or Wi-Fi frames.
    #[serde(default)]
    pub unseen: bool,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Why a scenario is refused.
#[derive(Debug, Serialize)]
pub struct Refused {
    /// The reason as the command prints it.
    error: String,
    /// Line and column of the fault, from 1.
    at: Option<(usize, usize)>,
}

impl From<String> for Refused {
    fn from(error: String) -> Self {
        Self { error, at: None }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self { at: refusal.position(), error: refusal.to_string() }
    }
}

/// What the page needs to know of a network.
#[derive(Debug, Serialize)]
pub struct Described<'a> {
    title: &'a str,
    /// Axes of the scenario's `[vary]`: the name and the labels of each.
    axes: &'a [(String, Vec<String>)],
    /// Labels of every case if the request named none.
    cases: &'a [BTreeMap<String, String>],
    duration_s: f64,
    warmup_s: f64,
    nodes: Vec<DescribedNode<'a>>,
    flows: Vec<DescribedFlow<'a>>,
    reach: DescribedReach,
}

#[derive(Debug, Serialize)]
struct DescribedNode<'a> {
    name: &'a str,
    access_point: bool,
    /// x, y and height at the start, in metres; `None` without a radio.
    place: Option<[f64; 3]>,
    /// Numbers of the nodes that hear this one.
    listeners: Vec<u32>,
}

/// How far a node is heard if there is no fading and no shadowing.
#[derive(Debug, Serialize)]
struct DescribedReach {
    /// Largest distances, in metres, from which a frame can be decoded, and from which the medium is sensed busy.
    decoded_m: f64,
    sensed_m: f64,
    /// Distances in metres, and the power in dBm at each; empty if all signals within the range are equal.
    power_dbm: Vec<(f64, f64)>,
}

#[derive(Debug, Serialize)]
struct DescribedFlow<'a> {
    name: &'a str,
    from: u32,
    to: Option<u32>,
    /// True if the flow answers another flow: acknowledgements or echo replies.
    answers: bool,
}

/// What has happened since the last picture.
#[derive(Debug, Default, Serialize)]
pub struct Seen {
    /// Simulated time now, in seconds.
    t_s: f64,
    finished: bool,
    /// Number of the simulation's events since the start.
    events: u64,
    /// Frames on the air, in the order in which they began.
    air: Vec<OnAir>,
    /// Numbers of the frames that have reached their receivers.
    got: Vec<u64>,
    /// Number of packets that wait at each node.
    waiting: Vec<u64>,
    /// Positions of the nodes that have a radio, in metres.
    places: Vec<[f64; 3]>,
    /// Packets that have arrived: flow, time in seconds, delay in seconds, and bytes.
    arrived: Vec<(u32, f64, f64, u64)>,
    /// Number of packets that each node's queues have discarded.
    dropped: Vec<u32>,
}

/// A frame on the air.
#[derive(Debug, Serialize)]
struct OnAir {
    number: u64,
    from: u32,
    to: Option<u32>,
    /// `data` or `control`.
    kind: &'static str,
    start_s: f64,
    length_s: f64,
    mpdus: usize,
}

/// A network that runs.
pub struct Stage {
    title: String,
    axes: Vec<(String, Vec<String>)>,
    cases: Vec<BTreeMap<String, String>>,
    duration: Duration,
    warmup: Duration,
    world: World,
    plan: Plan,
    roster: Roster,
    places: Vec<[f64; 3]>,
    /// For each node, the number of the last frame that it sent.
    last: Vec<u64>,
    /// Number of frames so far.
    frames: u64,
}

impl Stage {
    /// Builds the network of a request.
    ///
    /// # Errors
    /// Those of the command.
    pub fn open(request: &Request) -> Result<Self, Refused> {
        let wishes = Wishes { set: request.set.clone(), base_only: request.case.is_empty(), ..Wishes::default() };
        let text = request.toml.as_bytes();
        // The page has opened this network before it asks for results alone: claims and other cases need no check.
        let scenario = if request.unseen {
            Scenario::networks("page.toml", text, &wishes)?
        } else {
            Scenario::read("page.toml", "page", text, &(), &wishes)?
        };
        let axes = scenario.axes.iter().map(|axis| (axis.name.clone(), axis.labels.clone())).collect();
        let title = scenario.title.clone();
        // The cases of the file's `[vary]` are listed, but not run.
        let cases = if request.case.is_empty() { scenario.left_out.clone() } else { Vec::new() };
        let scenario = match request.case[..] {
            [] => scenario.without_variations(request.seed),
            _ => scenario.only(&request.case, request.seed)?,
        };
        let network = &scenario.base;
        let built = |error: sim::BuildError| Refused::from(error.to_string());
        let mut world = World::new(network, request.seed).map_err(built)?;
        let mut plan = Plan::new(network, request.seed).map_err(built)?;
        if !request.unseen {
            world.watch_exchanges();
        }
        let roster = world.roster();
        let places = plan.at(Instant::ZERO);
        let nodes = roster.nodes.len();
        let (duration, warmup) = (network.duration, network.warmup);
        let last = vec![0; nodes];
        Ok(Self { title, axes, cases, duration, warmup, world, plan, roster, places, last, frames: 0 })
    }

    /// Returns what the page needs to know of the network.
    pub fn described(&self) -> Described<'_> {
        let nodes = self.roster.nodes.iter().zip(0..).map(|(node, number)| {
            let place = self.places.get(number as usize).copied();
            let listeners = match place {
                Some(_) => self.world.listeners(number).map(|(node, _)| node).collect(),
                None => Vec::new(),
            };
            DescribedNode { name: &node.name, access_point: node.role == Role::AccessPoint, place, listeners }
        });
        let flows = self.roster.flows.iter().map(|flow| {
            let answers = matches!(flow.protocol, Protocol::EchoReply(_) | Protocol::TcpBack(_));
            DescribedFlow { name: &flow.name, from: flow.from, to: flow.to, answers }
        });
        Described {
            title: &self.title,
            axes: &self.axes,
            cases: &self.cases,
            duration_s: self.duration.as_secs_f64(),
            warmup_s: self.warmup.as_secs_f64(),
            nodes: nodes.collect(),
            flows: flows.collect(),
            reach: self.reach(),
        }
    }

    fn reach(&self) -> DescribedReach {
        let reach = self.plan.reach();
        let [decoded_m, sensed_m] = [reach.decoded(), reach.sensed()].map(Length::as_metres);
        // The power changes most near the node, so the distances are closest there.
        let place = |step: u32| sensed_m * (f64::from(step) / 32.0) * (f64::from(step) / 32.0);
        let power = |metres| Some((metres, reach.power(Length::metres(metres))?.as_dbm()));
        DescribedReach { decoded_m, sensed_m, power_dbm: (1..=32).map(place).filter_map(power).collect() }
    }

    /// Runs for a span of time, and returns what has happened.
    pub fn advance(&mut self, span: Duration) -> Seen {
        self.world.advance(span);
        let mut seen = Seen { dropped: vec![0; self.roster.nodes.len()], ..Seen::default() };
        for event in self.world.take_events() {
            self.see(&event, &mut seen);
        }
        let now = self.world.now();
        if !self.world.finished() {
            self.places = self.plan.at(now);
        }
        seen.t_s = seconds(now);
        seen.finished = self.world.finished();
        seen.events = self.world.handled();
        seen.waiting = self.world.backlogs();
        seen.places.clone_from(&self.places);
        seen
    }

    fn see(&mut self, event: &TraceEvent, seen: &mut Seen) {
        let node = event.node as usize;
        match &event.what {
            TraceEventKind::Sends(frame) => {
                self.frames += 1;
                self.last[node] = self.frames;
                seen.air.push(on_air(self.frames, event, frame));
            }
            TraceEventKind::Hears(frame, _) if frame.to == Some(event.node) => {
                seen.got.push(self.last[frame.from as usize]);
            }
            TraceEventKind::Dropped(_, LossCause::Queue) => seen.dropped[node] += 1,
            TraceEventKind::Delivered(packet, delay) => {
                if let Some(flow) = flow(packet) {
                    let bytes = packet.length.count();
                    seen.arrived.push((flow, seconds(event.at), delay.as_secs_f64(), bytes));
                }
            }
            _ => {}
        }
    }

    /// Returns the results if the network has run to its end.
    pub fn close(self) -> Option<Outcome> {
        self.world.finished().then(|| self.world.finish())
    }
}

fn on_air(number: u64, event: &TraceEvent, frame: &Frame) -> OnAir {
    OnAir {
        number,
        from: event.node,
        to: frame.to,
        kind: if frame.kind == Kind::Data { "data" } else { "control" },
        start_s: seconds(event.at),
        length_s: frame.length.as_secs_f64(),
        mpdus: frame.mpdus.len(),
    }
}

fn flow(packet: &Packet) -> Option<u32> {
    match packet.of {
        Owner::Flow(flow) => Some(flow),
        Owner::Routing | Owner::Note | Owner::Null { .. } => None,
    }
}

fn seconds(instant: Instant) -> f64 {
    instant.since(Instant::ZERO).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: &str = "title = \"A cell\"\nduration = \"2 s\"\n[radio]\nrange = \"30 m\"\n\
        [[node]]\nname = \"ap\"\nposition = [\"0 m\", \"0 m\"]\n[[node]]\nname = \"s\"\nposition = [\"5 m\", \"1 m\"]\n\
        [[flow]]\nname = \"up\"\nfrom = \"s\"\nto = \"ap\"\n\
        traffic = { kind = \"cbr\", rate = \"400 kb/s\", packet = \"500 B\" }\n\
        [vary]\nlimit = [{ label = \"one\", set = { \"queue.limit\" = 1 } }, { label = \"ten\", set = { \"queue.limit\" = 10 } }]\n";

    fn request(set: &[&str], case: &[&str]) -> Request {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Request { toml: CELL.to_owned(), set: owned(set), case: owned(case), unseen: false, seed: 3 }
    }

    fn to_the_end(stage: &mut Stage) -> Vec<Seen> {
        let mut all = Vec::new();
        while all.last().is_none_or(|seen: &Seen| !seen.finished) {
            all.push(stage.advance(Duration::from_millis(70)));
        }
        all
    }

    #[test]
    fn a_picture_tells_each_frame_and_each_packet_once() {
        let mut stage = Stage::open(&request(&[], &["limit=ten"])).unwrap_or_else(|refused| panic!("{refused:?}"));
        let described = stage.described();
        assert_eq!((described.nodes.len(), described.flows.len()), (2, 1));
        assert_eq!(described.nodes[1].listeners, [0]);
        assert!(described.cases.is_empty());
        let seen = to_the_end(&mut stage);
        let outcome = stage.close().expect("it has run to its end");
        let arrived: usize = seen.iter().map(|seen| seen.arrived.len()).sum();
        assert_eq!(arrived as u64, outcome.flows[0].received_packets);
        let numbers: Vec<u64> = seen.iter().flat_map(|seen| &seen.air).map(|frame| frame.number).collect();
        assert!(numbers.len() as u64 >= 2 * outcome.flows[0].received_packets, "data and acknowledgements");
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
        let got: Vec<u64> = seen.iter().flat_map(|seen| &seen.got).copied().collect();
        assert!(got.iter().all(|number| numbers.contains(number)));
        assert_eq!(got.len(), numbers.len(), "nobody disturbs them");
    }

    #[test]
    fn a_picture_counts_what_the_queues_drop_at_their_nodes() {
        let full = ["flow.up.traffic.rate=9 Mb/s", "radio.standard=802.11b"];
        let mut stage = Stage::open(&request(&full, &["limit=one"])).unwrap_or_else(|refused| panic!("{refused:?}"));
        let seen = to_the_end(&mut stage);
        let dropped: Vec<u32> = (0..2).map(|node| seen.iter().map(|seen| seen.dropped[node]).sum()).collect();
        let outcome = stage.close().expect("it has run to its end");
        let lost = outcome.nodes[1].queues[0].dropped_packets;
        assert!(lost > 100 && dropped == [0, u32::try_from(lost).unwrap_or(0)], "{dropped:?}, {lost}");
    }

    #[test]
    fn the_power_falls_down_to_the_edge_of_what_is_sensed() {
        let far = ["radio.propagation=free-space", "radio.carrier_sense_range=60 m"];
        let stage = Stage::open(&request(&far, &[])).unwrap_or_else(|refused| panic!("{refused:?}"));
        let reach = stage.described().reach;
        assert!((reach.decoded_m - 30.0).abs() < 1e-4 && (reach.sensed_m - 60.0).abs() < 1e-4, "{reach:?}");
        assert!(reach.power_dbm.is_sorted_by(|near, far| near.0 < far.0 && near.1 >= far.1), "{reach:?}");
        let (edge, _) = reach.power_dbm[31];
        assert!((edge - 60.0).abs() < 1e-4, "{edge}");
    }

    #[test]
    fn the_results_are_those_of_the_command_whatever_the_steps() {
        let mut stage = Stage::open(&request(&["queue.limit=10"], &[])).unwrap_or_else(|refused| panic!("{refused:?}"));
        let labels: Vec<&str> = stage.described().cases.iter().map(|case| case["limit"].as_str()).collect();
        assert_eq!(labels, ["one", "ten"]);
        to_the_end(&mut stage);
        let shown = serde_json::to_string(&stage.close()).expect("results are text and numbers");
        let wishes = Wishes { set: vec!["queue.limit=10".to_owned()], base_only: true, ..Wishes::default() };
        let scenario = Scenario::parse("page.toml", CELL.as_bytes(), &wishes).expect("it is right");
        let outcome = World::new(&scenario.base, 3).expect("it can be built").finish();
        assert_eq!(shown, serde_json::to_string(&outcome).expect("results are text and numbers"));
        let unseen = Request { unseen: true, ..request(&["queue.limit=10"], &[]) };
        let mut stage = Stage::open(&unseen).unwrap_or_else(|refused| panic!("{refused:?}"));
        assert!(to_the_end(&mut stage).iter().all(|seen| seen.air.is_empty() && seen.arrived.is_empty()));
        assert_eq!(shown, serde_json::to_string(&stage.close()).expect("results are text and numbers"));
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        let mut wrong = request(&[], &[]);
        wrong.toml = wrong.toml.replace("range = \"30 m\"", "range = \"30 mm/s\"");
        let refused = Stage::open(&wrong).err().expect("no length");
        assert_eq!(refused.at, Some((4, 9)), "{}", refused.error);
        assert!(Stage::open(&request(&[], &["limit=two"])).err().is_some_and(|refused| refused.error.contains("one")));
        let refused = Stage::open(&request(&["queue.limt=3"], &[])).err().expect("no such key");
        assert!(refused.error.contains("limit"), "{}", refused.error);
    }
}
