//! Our own queue discipline, in BPF: it holds packets as crate `queue`'s first-in-first-out queue does, under a limit that
//! the agent moves, and times each packet.
//!
//! The mechanism is `bpf/fifo.h`, with `bpf/shaper.h` for a rate, and where a device never pushes back `bpf/flight.h`, with
//! `bpf/completion.bpf.c` to tell that the device is done with a packet. `bpf/class.h` tells packets of real time from others,
//! and `bpf/mark.bpf.c` marks them. `bpf/sluice.bpf.c` makes a discipline of it, which Linux from 6.16 takes where it was
//! built with `CONFIG_NET_SCH_BPF`. `bpf/conformance.bpf.c` makes a program of it that runs on any recent kernel: a test
//! drives that one beside crate `queue` and holds every decision and counter to be equal.

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

#[cfg(test)]
mod classes_tests;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod conformance_batches;
#[cfg(test)]
mod conformance_credit;
#[cfg(test)]
mod conformance_many;
#[cfg(test)]
mod conformance_shaper;

pub use discipline::Discipline;
pub use governed::{FOLDER, Governed};
pub use mechanism::Mechanism;
pub use shared::{Below, Credit};
pub use slot::Slot;
