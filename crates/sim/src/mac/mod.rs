//! Medium access: the DCF and EDCA as a state machine that is told what happens and says what to send. Knows no queue,
//! no route and no radio.

mod contention;
mod conventions;
mod frame;
mod job;
mod peers;
mod station;
#[cfg(test)]
mod tests;

pub(crate) use conventions::{Access, CATEGORIES, Conventions};
pub(crate) use frame::{BROADCAST, Frame, Kind};
pub(crate) use job::{Answer, Due, Finished, Job, Unanswered};
pub(crate) use station::Station;
