//! Measurements: models report events, this module counts them and computes the results. Models never format or print.

mod gauge;
mod histogram;
mod hops;
mod ledger;
mod losses;
mod overflow;
mod player;
mod reception;
mod series;
mod summary;
mod transport;

pub(crate) use gauge::{Gauge, RealTime};
pub(crate) use ledger::{Fates, FlowRecord, Identity, Ledger, NodeRecord, QueueRecord};
pub(crate) use losses::Losses;
pub(crate) use overflow::Overflows;
pub(crate) use player::Player;
pub(crate) use reception::{Distances, Receptions};
pub(crate) use series::{Passed, Recorder, Standing};
pub(crate) use summary::Summary;
pub(crate) use transport::{Service, TransportRecord};

/// `part / whole`; zero if `whole` is zero.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    share(part as f64, whole)
}

/// The same ratio for a part that need not be a whole number.
pub(crate) fn share(part: f64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part / whole as f64 }
}
