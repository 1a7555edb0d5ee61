//! Sluice's own queue discipline, in BPF. It holds packets like crate `queue`'s first-in-first-out queue, under a limit
//! that the agent sets, and times each packet.
//!
//! The mechanism is `bpf/fifo.h`, with `bpf/shaper.h` for a rate. For devices that never push back, `bpf/flight.h`,
//! `bpf/below.h` and `bpf/completion.bpf.c` detect when the device is done with a packet. `bpf/class.h` separates
//! real-time packets, `bpf/share.h` bounds their share, and `bpf/mark.bpf.c` marks them. `bpf/flows.h`, `bpf/law.h`,
//! `bpf/stations.h` and `bpf/turns.h` are the law of turns, and `bpf/biased.h` is biased queue management.
//! `bpf/sluice.bpf.c` makes a discipline of these, for Linux 6.16 and later with `CONFIG_NET_SCH_BPF`.
//! `bpf/conformance.bpf.c` makes a program of them for any recent kernel: a test drives this program and crate `queue`
//! alike, and requires equal decisions and counters.

mod completions;
mod discipline;
mod governed;
mod load;
mod maps;
mod marking;
mod mechanism;
mod reading;
mod shared;
mod slot;
mod stations;

#[cfg(test)]
mod classes_tests;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_batches;
#[cfg(test)]
mod conformance_biased;
#[cfg(test)]
mod conformance_credit;
#[cfg(test)]
mod conformance_glue;
#[cfg(test)]
mod conformance_many;
#[cfg(test)]
mod conformance_shaper;
#[cfg(test)]
mod conformance_share;
#[cfg(test)]
mod conformance_turns;
#[cfg(test)]
mod orders_tests;

pub use discipline::Discipline;
pub use governed::{FOLDER, Governed};
pub use mechanism::Mechanism;
pub use shared::{Below, Credit, Order, Turns};
pub use slot::Slot;
