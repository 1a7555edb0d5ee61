//! Running flows: their sources, the purpose of their packets, and their connections.

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
