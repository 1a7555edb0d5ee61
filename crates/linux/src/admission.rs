//! Admission between agents: probes, the answers to probes, and requests to regulate flows, all sent hop by hop. See
//! `docs/live-admission.md`.

mod filter;
mod keeper;
mod ledger;
mod marks;
pub mod message;
mod origin;
mod owners;
pub(crate) mod pace;
pub(crate) mod port;
mod relay;
pub mod run;
pub mod source;
pub mod supervised;

use serde::Deserialize;
use std::num::NonZeroU16;
use units::Rate;

/// Default UDP port of agents.
pub const PORT: NonZeroU16 = NonZeroU16::new(9_478).expect("not zero");

/// Name of the socket in the state folder to which programs of this machine send their probes.
pub const SOCKET: &str = "admission.sock";

/// The table `[admission]`: the agent answers and forwards probes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Admission"))]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Names of the interfaces at which the agent listens for neighbours' agents.
    pub interfaces: Vec<String>,
    /// The UDP port, the same for all agents of a network. Default 9478.
    #[serde(default = "port")]
    pub port: NonZeroU16,
    /// Upper bound on the sum of admitted flows, in network-layer bytes, beside the controllers' bound. Default: none.
    pub at_most: Option<Rate>,
}

const fn port() -> NonZeroU16 {
    PORT
}
