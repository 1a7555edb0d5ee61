//! Signals that listeners get from frames in the air.

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
    pub(crate) shape: Shape,
    /// Duration of the frame's PHY header.
    pub(super) header: Duration,
    pub(super) bounds: Bounds,
}

pub(super) type Air<F> = Arena<Transmission<F>>;

/// A frame that is passing its listeners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing<'a, F> {
    pub(super) of: Handle,
    pub(crate) sent: &'a Transmission<F>,
    /// All frames in the air, including this one.
    pub(super) air: &'a Air<F>,
}

/// What a listener has received when a tail has passed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Received power in attowatts.
    pub(crate) power: u64,
    pub(crate) what: Signal,
    pub(crate) turned_idle: bool,
}

/// A signal as a listener saw it, after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// An intact frame, or an aggregate with at least one intact MPDU. If not `whole`, [`Medium::intact`] says which
    /// MPDUs are intact.
    ///
    /// [`Medium::intact`]: super::Medium::intact
    Good { whole: bool },
    /// A frame with errors. `header_read`: its PHY header could be read.
    Bad { header_read: bool },
    /// An intact frame of another cell that spatial reuse ignores.
    Foreign,
    /// A signal that was sensed but never decoded.
    Noise,
    /// The signal was too weak, or the node itself was sending.
    Nothing,
}
