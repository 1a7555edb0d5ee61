//! The end that has data. `state` is what it knows, `input` what it does when segments arrive and when its timers expire, and
//! `output` what it sends then.

mod input;
mod losses;
mod output;
mod state;
mod tail;

pub(crate) use state::{Counts, Sender};
