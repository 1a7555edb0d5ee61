//! Controllers: policies that turn the measurements of an interval into orders for the time after it.
//!
//! A [`Controller`] is a function from [`Seen`] (measurements of the queue and of the radio, neighbours' notes) to
//! [`Orders`] (a limit, a rate, marks, contention parameters, a note). It reads no clock, does no I/O, allocates
//! nothing and panics on no input. It never sees a packet. It states what it [`Needs`]; a host that cannot provide this
//! refuses it and names what is missing. The simulator and the live agent build controllers from the same parameters,
//! both with [`AnyController::new`]. Begin with this call.
//!
//! To add a scheme `foo`, write `foo.rs` with `foo::Params` (serde, `Default`) and a `foo::Foo` that is a [`Scheme`];
//! then add `foo` below, as a module and in the registry. No other file of the workspace changes.
#![no_std]
#![cfg_attr(not(test), warn(clippy::exit, clippy::print_stdout, clippy::print_stderr))]

pub mod adth;
pub mod alt;
pub mod astar;
mod controller;
pub mod dnb;
pub mod ebdp;
pub mod energy;
mod frames;
mod gate;
mod idling;
mod interval;
mod invalid;
pub mod knobs;
pub mod learned;
mod limit;
mod links;
mod list;
mod needs;
mod neighbours;
pub mod none;
mod orders;
mod random;
mod recorded;
mod registry;
mod seen;
pub mod swan_gate;
pub mod swan_mark;
pub mod swan_rate;
pub mod wqm;

pub use controller::{Controller, Scheme, Site};
pub use gate::{Act, Gate};
pub use idling::Idling;
pub use interval::{Count, Interval, Stat};
pub use invalid::{Invalid, Path, Warning};
pub use limit::Limit;
pub use links::{Link, Links};
pub use list::List;
pub use needs::{Lacking, Measures, Needs, Period, Reads, SHORTEST_INTERVAL, Sets};
pub use neighbours::Neighbours;
pub use orders::{Access, Mark, Orders};
pub use random::{Random, mix};
pub use recorded::Decision;
pub use seen::{Heard, Note, Radio, Seen, Served};
pub use swan_gate::{Params as GateParams, SwanGate as FlowGate};

use units::{Duration, Rate};

registry::controllers! {
    /// Adaptive Dynamic Threshold: bounds the nodal delay.
    adth: Adth,
    /// eBDP: the limit is the number of packets that the link serves within a target delay, at the mean service time.
    ebdp: Ebdp,
    /// Adaptive Limit Tuning: grows while the queue is idle, shrinks while it is busy.
    alt: Alt,
    /// A*: the smaller of eBDP's limit and ALT's.
    astar: Astar,
    /// SWAN's rate control: lowers the rate of best effort when MAC delays are too long.
    swan_rate: SwanRate,
    /// SWAN's regulation: marks real-time packets while there is too much real-time traffic in range.
    swan_mark: SwanMark,
    /// WQM: bounds the drain time at the link's rate and the node's share of the channel; keeps at least one aggregate.
    wqm: Wqm,
    /// DNB: splits the buffer that just keeps the channel busy among the nodes of a collision domain.
    dnb: Dnb,
    /// Energy: low transmission level up to a threshold of packets, high level above.
    energy: Energy,
    /// A learned policy: multiplies the limit by a table's factor for the delay and the backlog.
    learned: Learned,
}
