//! Running flows: their sources, what their packets are for, and their connections.

mod admission;
mod answers;
mod asking;
pub(crate) mod build;
pub(crate) mod connections;
mod ends;
mod flow;
pub(crate) mod passage;
pub(crate) mod row;
mod supply;

pub(crate) use admission::{Cue, Standing};
pub(crate) use flow::{Flow, Role, Supply};
