//! Ad hoc on-demand distance vector routing (RFC 3561) as a state machine for each node. It takes events and returns
//! messages to send. The module has no queue, MAC or radio. `docs/routing.md` lists for each section what is
//! implemented, and the choices that the RFC leaves open.

mod action;
mod broken_links;
mod discovery;
mod links;
mod message;
mod node;
mod receive;
mod search;
mod settings;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use action::{Action, Context, Ends, Output};
pub(crate) use message::Message;
pub(crate) use node::Aodv;
pub(crate) use settings::Settings;
