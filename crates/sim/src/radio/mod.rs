//! The physical layer: durations of frames, attenuation of signals, links, and reception.
//!
//! This layer knows frames only as intervals of power with a sender; the MAC knows their content.

mod band;
mod channel;
mod ends;
mod errors;
mod exchange;
mod fading;
mod links;
mod medium;
mod mimo;
mod mode;
mod propagation;
mod reach;
mod reception;
mod ru;
mod settings;
mod timing;

pub(crate) use band::Band;
pub(crate) use channel::Channel;
pub(crate) use ends::Ends;
pub use exchange::Exchange;
pub(crate) use links::Links;
pub(crate) use medium::{Heard, Medium, Reuse, Signal};
pub use mimo::{Format, Mimo, TWELFTHS};
pub use mode::{DsssRate, Mode, OfdmRate};
pub(crate) use propagation::{Link, Reception, USUAL_POWER};
pub use reach::Reach;
pub(crate) use reach::Signals;
pub(crate) use reception::{Judge, Mpdu, Shape};
pub use ru::Ru;
pub(crate) use ru::sig_b_symbols;
pub(crate) use settings::Refusal;
pub(crate) use timing::{ACK, BLOCK_ACK, CTS, LONG_BLOCK_ACK, MAC_OVERHEAD, RTS};
pub use timing::{Responses, Timing};
