//! Dynamic source routing (RFC 4728): a state machine for each node gets events and returns the packets to send. It
//! knows no queue, MAC or radio. `docs/routing.md` lists what is implemented, and where ns-2's rules differ.

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
