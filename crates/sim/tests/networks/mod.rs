//! Networks that several tests use.
#![allow(dead_code, reason = "each test file takes what it needs")]

mod all;

pub(crate) use all::NETWORKS;
use sim::World;
use sim::config::Network;
use sim::results::Outcome;
use units::Duration;

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

/// Returns one of three kinds of traffic.
pub(crate) fn drawn_traffic(kind: u32, rate: u32) -> String {
    match kind {
        0 => "kind = \"saturated\", packet = \"700 B\"".to_owned(),
        1 => format!("kind = \"poisson\", rate = \"{rate} kb/s\", packet = \"700 B\""),
        _ => "kind = \"greedy\"".to_owned(),
    }
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
