//! Admission between agents: probes, answers to them, and requests to regulate, hop by hop. `docs/live-admission.md` has the
//! whole picture.

mod marks;
pub mod message;
pub(crate) mod pace;
pub(crate) mod port;
mod relay;
pub mod run;
pub mod source;
pub mod supervised;

use serde::Deserialize;
use std::num::NonZeroU16;
use units::Rate;

/// The UDP port of agents, unless another is set.
pub const PORT: NonZeroU16 = NonZeroU16::new(9_478).expect("not zero");

/// The table `[admission]`: probes are answered and forwarded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The interfaces at which neighbours' agents are listened to.
    pub interfaces: Vec<String>,
    /// The UDP port, the same at all agents of a network. Default 9478.
    #[serde(default = "port")]
    pub port: NonZeroU16,
    /// This node admits at most so much more, in network-layer bytes, whatever its controllers can still admit. Default: only
    /// they say.
    #[serde(default)]
    pub at_most: Option<Rate>,
}

const fn port() -> NonZeroU16 {
    PORT
}
