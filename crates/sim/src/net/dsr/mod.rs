//! Dynamic source routing (RFC 4728) as a state machine per node: it gets events and returns the packets to send. The
//! module has no queue, MAC or radio. `docs/routing.md` lists what is implemented, and the rules in which ns-2 differs.

mod action;
mod cache;
mod discovery;
mod header;
mod node;
mod receive;
mod route;
mod search;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use action::{Action, Context, Output};
pub(crate) use discovery::Failed;
pub(crate) use header::{Broken, Content, Header, Message, longest_header};
pub(crate) use node::Dsr;
pub(crate) use settings::Settings;
