//! The sending end. `state` is its state, `input` handles segments that arrive and timers that expire, and `output`
//! yields the segments to send, when `pacer` allows it.

mod input;
mod losses;
mod output;
mod state;

pub(crate) use state::{Counts, Sender};
