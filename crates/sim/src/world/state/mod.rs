//! State of a running network: nodes, flows, packets and segments on their way, wires and routes, the events that are
//! due, and what is watched. What happens to it is in `handlers`.

mod accounts;
mod admission;
mod asked;
mod connections;
mod event;
mod flow;
mod names;
mod node;
mod pictures;
mod posted;
mod routing;
mod watch;
mod wire;
mod world;

pub(crate) use accounts::Accounts;
pub(crate) use admission::{Admission, AdmissionRecord, Probe, Standing};
pub use asked::{Asked, Governed};
pub(crate) use connections::{Connection, Connections};
pub(crate) use event::Event;
pub(crate) use flow::{Flow, Role, Supply};
pub(crate) use names::{port_name, port_names};
pub(crate) use node::Node;
pub(crate) use posted::Posted;
pub(crate) use routing::{Mesh, Routing};
pub(crate) use watch::{Watch, Witness, told_every};
pub(crate) use wire::{Sending, Wire};
pub use world::World;
