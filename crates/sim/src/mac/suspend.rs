//! Frames that a station holds for a receiver that sleeps.

use super::Station;

/// Added to the category of frames set aside that are in no category's turns until their receiver wakes.
pub(super) const SUSPENDED: u8 = 1 << 7;

impl Station {
    /// Suspends the frames for a receiver that has just said that it sleeps.
    pub(crate) fn suspend(&mut self, to: u32) {
        for category in 0..self.held.buffers.len() {
            if self.held.buffers[category].to == to {
                self.set_aside(u8::try_from(category).expect("there are four categories"));
            }
        }
        self.held
            .aside
            .iter_mut()
            .filter(|(_, buffer)| buffer.to == to)
            .for_each(|(category, _)| *category |= SUSPENDED);
    }
}
