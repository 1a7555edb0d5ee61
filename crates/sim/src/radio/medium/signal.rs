//! What frames in the air bring to those who hear them.

use crate::engine::Handle;
use units::{Duration, Instant};

/// What is the same at all the listeners that a frame passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    pub(super) of: Handle,
    pub(super) from: u32,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(super) header: Duration,
    /// The noise that stands against its beginning, in attowatts.
    pub(super) noise: f64,
    pub(super) aggregate: bool,
}

/// What a tail left at a listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// Received power, in attowatts.
    pub(crate) power: u64,
    pub(crate) what: Signal,
    /// The medium was busy and is now idle.
    pub(crate) turned_idle: bool,
}

/// What a signal was to a listener, once it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    /// A frame, with a bit for each of its MPDUs that is intact, the first one's lowest; at least one is.
    Good(u64),
    /// A frame that was spoilt; whether its PHY header could still be read.
    Bad { header_read: bool },
    /// Strong enough to be sensed, but never decoded.
    Noise,
    /// Not noticed: too weak, or the node itself was sending.
    Nothing,
}
