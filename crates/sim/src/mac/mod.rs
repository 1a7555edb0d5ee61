//! Medium access: the distributed coordination function as a state machine that is told what happens and says what to
//! send. Knows no queue, no route and no radio.

mod dcf;
mod frame;
#[cfg(test)]
mod tests;

pub(crate) use dcf::{Answer, Conventions, Dcf, Due, Finished, Job, Unanswered};
pub(crate) use frame::{BROADCAST, Frame, Kind};
