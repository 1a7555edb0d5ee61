//! Why a network cannot be loaded, or does not accept a packet.

use experiment::scenario::Refusal;
use std::net::IpAddr;
use std::time::Duration;
use thiserror::Error;

/// Why a network cannot be loaded.
#[derive(Debug, Error)]
pub enum NotLoaded {
    /// The scenario has a fault. The message names the position and the nearest right name.
    #[error("{0}")]
    Scenario(Box<Refusal>),
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] sim::BuildError),
    /// No node of the scenario is real.
    #[error("no node of the network is real: give two of its nodes `real = true`")]
    NoRealNode,
    /// The real nodes of the network take frames from a kernel, not packets.
    #[error(
        "`queues = \"driver\"` needs a kernel's simulated radios (mac80211_hwsim): only nodes without this key can \
         receive packets here"
    )]
    Driven,
}

impl From<Refusal> for NotLoaded {
    fn from(refusal: Refusal) -> Self {
        Self::Scenario(Box::new(refusal))
    }
}

/// Why the network does not accept a packet. A full queue is no such reason: as in a real network the packet is lost,
/// and the results count it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum NotSent {
    #[error("time goes backwards: {now:?} is before {network:?}, the time that the simulation has reached")]
    Backwards { now: Duration, network: Duration },
    #[error("the run ends at {end:?}: make `duration` longer")]
    Ended { end: Duration },
    #[error("`{name}` is not a real node; {}", told(.known))]
    NotReal { name: String, known: Vec<String> },
    #[error("`{name}` sends to itself")]
    Itself { name: String },
    #[error("the packet has {length} B with its headers, more than the MTU of {most} B")]
    TooLong { length: u64, most: u64 },
    #[error("the {length} B are not exactly one IPv4 or IPv6 packet")]
    NotIp { length: usize },
    /// No real node has the address: a simulated node, all nodes, or no node has it.
    #[error("no real node has the address {to}")]
    Elsewhere { to: IpAddr },
    #[error("`{name}` is absent from the network at this time")]
    Absent { name: String },
    /// A discipline that the program registered has failed. Its queue drops all packets from then on.
    #[error("{why}")]
    Failed { why: String },
}

fn told(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("real are {}", names.join(", "))
}
