//! Sizes and times of the packets of a recording.

use super::{Emission, Recording};
use units::Instant;

/// Makes the packets of a recording again.
#[derive(Debug)]
pub(crate) struct Replay {
    recording: Recording,
    start: Instant,
    stop: Instant,
    made: usize,
}

impl Replay {
    /// The first packet comes at `start`, the others as long after it as they were recorded, before `stop`.
    pub(crate) fn new(recording: Recording, (start, stop): (Instant, Instant)) -> Self {
        Self { recording, start, stop, made: 0 }
    }

    pub(crate) fn next(&self) -> Option<Emission> {
        let packet = self.recording.packets().get(self.made)?;
        let at = self.start + packet.after;
        (at < self.stop).then_some(Emission { at, payload: packet.payload })
    }

    pub(crate) fn advance(&mut self) {
        self.made += 1;
    }
}
