//! The physical layer: how long frames last, how signals weaken, who hears whom, and which frame survives.
//!
//! Knows frames only as intervals of power with a sender; what they mean is the MAC's.

mod medium;
mod propagation;
mod timing;

pub(crate) use medium::{Medium, Signal};
pub(crate) use propagation::{Links, Reception};
pub use timing::Timing;
pub(crate) use timing::{MAC_OVERHEAD, TimingError};
