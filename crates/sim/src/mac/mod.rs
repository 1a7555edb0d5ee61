//! Medium access: the DCF and EDCA as a state machine that takes events and returns the frames to send (IEEE
//! 802.11-2016, unless a clause names another edition). This module knows no queue, no route and no radio.

mod access;
mod airtime;
mod assembly;
mod backlogs;
mod buffer;
mod contention;
mod conventions;
mod downlink;
mod exchange;
mod frame;
mod held;
mod peers;
mod rate;
mod reorder;
mod report;
mod station;
mod step;
#[cfg(test)]
mod tests;
mod tmac;
mod uplink;

pub(crate) use buffer::{Assembly, Mpdu, Msdu, places};
pub(crate) use conventions::{
    Access, Aggregation, Agreement, CATEGORIES, Conventions, LONGEST_MSDU, MuEdca, SEQUENCES,
};
pub use frame::Asks;
pub(crate) use frame::{BROADCAST, Frame, Kind};
pub(crate) use held::Part;
pub(crate) use rate::{Algorithm, Costs, Rates};
pub(crate) use reorder::{Arrival, Reorder, Scoreboard};
pub(crate) use report::{Announced, Answer, Due, Finished, Report, Unanswered};
pub(crate) use station::Station;
pub(crate) use tmac::{KEY, Key, Sign, Tells, TmacRules};
pub(crate) use uplink::{NotNow, QUEUE_MOST, Uplink};
