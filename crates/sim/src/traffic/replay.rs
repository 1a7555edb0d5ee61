//! Sizes and times of the packets of a recording.

use super::{Emission, Pcap};
use std::ops::Range;
use units::Instant;

/// Makes the packets of a recording again.
#[derive(Debug)]
pub(crate) struct Replay {
    recording: Pcap,
    active: Range<Instant>,
    made: usize,
}

impl Replay {
    /// The first packet comes at the start of the time in which it is `active`, the others as long after it as they were
    /// recorded.
    pub(crate) fn new(recording: Pcap, active: Range<Instant>) -> Self {
        Self { recording, active, made: 0 }
    }

    pub(crate) fn next(&self) -> Option<Emission> {
        let packet = self.recording.packets().get(self.made)?;
        let at = self.active.start + packet.after;
        (at < self.active.end).then_some(Emission { at, payload: packet.payload })
    }

    pub(crate) fn advance(&mut self) {
        self.made += 1;
    }
}
