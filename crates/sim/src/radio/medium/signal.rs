//! Signals that frames in the air bring to their listeners.

use crate::engine::{Arena, Handle};
use crate::radio::reception::{Bounds, Shape};
use units::{Duration, Instant};

/// A frame in the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission<F> {
    pub(crate) from: u32,
    pub(crate) frame: F,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(super) shape: Shape,
    /// How long its PHY header lasts.
    pub(super) header: Duration,
    pub(super) bounds: Bounds,
}

/// The frames in the air.
pub(super) type Air<F> = Arena<Transmission<F>>;

/// A frame on its way past its listeners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing<'a, F> {
    pub(super) of: Handle,
    pub(crate) sent: &'a Transmission<F>,
    /// It is one of these.
    pub(super) air: &'a Air<F>,
}

/// What a tail left at a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Received power, in attowatts.
    pub(crate) power: u64,
    pub(crate) what: Signal,
    /// The medium was busy and is now idle.
    pub(crate) turned_idle: bool,
}

/// What a signal was to a listener, once it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
