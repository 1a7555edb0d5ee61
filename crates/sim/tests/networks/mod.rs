//! Networks that several tests use.
#![allow(dead_code, reason = "each test file takes what it needs")]

mod all;

pub(crate) use all::NETWORKS;
use sim::World;
use sim::config::Network;
use sim::results::{Flow, Outcome};
use sim::trace::{Frame, TraceEvent, TraceEventKind};
use units::{Duration, Instant};

/// Reads the network that a TOML text describes.
pub(crate) fn network(text: &str) -> Network {
    toml::from_str(text).expect("a valid description")
}

/// Runs a network to its end.
pub(crate) fn run(text: &str, seed: u64) -> Outcome {
    World::new(&network(text), seed).expect("a network that can be built").finish()
}

/// Runs a network by spans of time; `None` if it cannot be built.
pub(crate) fn cut(network: &Network, span: Duration) -> Option<Outcome> {
    let mut world = World::new(network, 7).ok()?;
    while !world.finished() {
        world.advance(span);
    }
    Some(world.finish())
}

/// Runs a network to its end and returns what these nodes did and heard, and the results.
pub(crate) fn watched(text: &str, nodes: &[u32]) -> (Vec<TraceEvent>, Outcome) {
    let mut world = World::new(&network(text), 1).expect("a network that can be built");
    world.watch(nodes);
    while !world.finished() {
        world.advance(Duration::MAX);
    }
    (world.take_events(), world.finish())
}

/// Returns the frames that these nodes send, each with its time.
pub(crate) fn sent(text: &str, nodes: &[u32]) -> Vec<(Instant, Frame)> {
    sends(watched(text, nodes).0)
}

pub(crate) fn sends(events: Vec<TraceEvent>) -> Vec<(Instant, Frame)> {
    let frame = |event: TraceEvent| match event.what {
        TraceEventKind::Sends(frame) => Some((event.at, frame)),
        _ => None,
    };
    events.into_iter().filter_map(frame).collect()
}

/// Returns the key at which a description is refused, and why.
pub(crate) fn refusal(text: &str) -> (String, String) {
    let Err(error) = World::new(&network(text), 1) else { panic!("it was built:\n{text}") };
    (error.path().unwrap_or_default().to_owned(), error.to_string())
}

/// Checks that a description is refused at this key, in these words.
pub(crate) fn refuses(text: &str, path: &str, words: &str) {
    let (found, message) = refusal(text);
    assert!(found == path && message.contains(words), "{found}: {message}");
}

/// Returns the results of a flow.
pub(crate) fn of<'o>(outcome: &'o Outcome, name: &str) -> &'o Flow {
    outcome.flows.iter().find(|flow| flow.name == name).expect("such a flow")
}

/// Returns the flows' goodputs in bit/s.
pub(crate) fn goodputs(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.goodput_bps).collect()
}

/// Returns Jain's index of shares.
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    sum * sum / (shares.len() as f64 * squares)
}

/// Describes an access point with these keys, and a station 3 m from it to which it always has packets.
pub(crate) fn pair(name: &str, at: u32, keys: &str) -> String {
    format!(
        "[[node]]\nname = \"{name}\"\nrole = \"access-point\"\nposition = [\"{at} m\", \"0 m\"]\n{keys}\n\
         [[node]]\nname = \"{name}-s\"\naccess_point = \"{name}\"\nposition = [\"{at} m\", \"3 m\"]\n"
    ) + &flow(&format!("to-{name}"), [name, &format!("{name}-s")], "kind = \"saturated\", packet = \"1000 B\"")
}

pub(crate) fn flow(name: &str, [from, to]: [&str; 2], traffic: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntraffic = {{ {traffic} }}\n")
}

/// Ends, rate in kb/s, kind of traffic, and whether it is voice.
pub(crate) type Drawn = (usize, usize, u32, u32, bool);

/// Returns the flows of these that can be among a server, an access point and its stations.
pub(crate) fn drawn_flows(flows: &[Drawn], edca: bool) -> String {
    let names = ["server", "ap", "near", "far", "broadcast"];
    let mut text = String::new();
    for (index, &(from, to, rate, kind, voice)) in flows.iter().enumerate() {
        let (from, to) = (names[from], names[to]);
        if from == to || from == "server" && to == "broadcast" || kind == 2 && to == "broadcast" {
            continue;
        }
        let traffic = match kind {
            0 => "kind = \"saturated\", packet = \"700 B\"".to_owned(),
            1 => format!("kind = \"poisson\", rate = \"{rate} kb/s\", packet = \"700 B\""),
            _ => "kind = \"greedy\"".to_owned(),
        };
        text += &flow(&format!("f{index}"), [from, to], &traffic);
        text += if kind == 2 { "transport = \"tcp\"\n" } else { "" };
        text += if edca && voice { "category = \"voice\"\n" } else { "" };
    }
    text
}

/// Returns a chain of 802.11b nodes 30 m apart in which only neighbours decode each other, `extra` keys first.
pub(crate) fn chain(nodes: u32, duration: &str, extra: &str) -> String {
    format!(
        "duration = \"{duration}\"\n{extra}\n[radio]\nrange = \"30 m\"\n\
         [nodes]\ncount = {nodes}\nplacement = \"chain\"\nspacing = \"30 m\"\n"
    )
}

/// Returns a flow of one packet of 1000 B after a second, from the first to the last of `nodes`.
pub(crate) fn one_packet(nodes: u32) -> String {
    format!(
        "[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n{}\"\nstart = \"1 s\"\nstop = \"1.5 s\"\n\
         traffic = {{ kind = \"cbr\", rate = \"8 kb/s\", packet = \"1000 B\" }}\n",
        nodes - 1
    )
}
