//! The age of packets (T-MAC): what stations tell each other of it, and what they know. What they do by it is `turns`.

mod key;
mod order;
mod table;

pub(crate) use key::{KEY, Key, Tells};
pub(crate) use order::{AgeOrder, AgeRules};
pub(crate) use table::Sign;
