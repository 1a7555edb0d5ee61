//! The arguments that choose a controller.

use super::controllers;
use clap::Args as Group;

/// The controller of a queue and its settings.
#[derive(Debug, Group)]
pub(crate) struct Policy {
    /// The controller that sets the limit. `ebdp` and `astar` suit TCP; `adth` suits streams that do not back off, and
    /// starves TCP.
    #[arg(long, value_name = "NAME", value_parser = controllers())]
    pub(crate) controller: Option<control::Name>,
    /// Its target delay: "50 ms". Without a controller that of turns and of the knobs of mac80211 [default: 100 ms].
    #[arg(long, value_name = "TIME")]
    pub(crate) target_delay: Option<units::Duration>,
    /// Set a key of the queue. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}
