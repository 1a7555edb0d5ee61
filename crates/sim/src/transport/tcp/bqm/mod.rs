//! The ends of a connection under biased queue management (BQM thesis, chapter 3). Section numbers are the thesis'.
//!
//! The sender assigns each packet a discard priority ([`Marks`], section 3.1), and a queue in the network drops those
//! of priority 0 first (the discipline `biased`). From the missing packets the receiver therefore sees whether a queue
//! dropped them and how full it was (`judge.rs`, sections 3.2 to 3.4 and 3.6). It reports that to the sender, whose
//! window follows (`congestion/bqm.rs`, section 3.5).

mod judge;
mod marks;
mod pattern;
mod settings;

pub(super) use marks::Marks;
pub(crate) use pattern::PRIORITIES;
pub(crate) use settings::{Growth, Settings, Threshold, WirelessLoss};
