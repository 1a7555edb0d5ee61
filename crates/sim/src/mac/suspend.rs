//! Frames that a station holds for a receiver that sleeps.

use super::{Mpdu, Station};

/// Added to the category of frames set aside that are in no category's turns until their receiver wakes.
const SUSPENDED: u8 = 1 << 7;

impl Station {
    /// The frames that it holds for a receiver, with their category.
    pub(crate) fn held_for(&self, to: u32) -> impl Iterator<Item = (u8, &Mpdu)> {
        let next = (0..).zip(&self.buffers);
        let buffers = next.chain(self.aside.iter().map(|(category, buffer)| (category & !SUSPENDED, buffer)));
        let own = buffers.filter(move |(_, buffer)| buffer.to == to);
        own.flat_map(|(category, buffer)| buffer.mpdus.iter().map(move |mpdu| (category, mpdu)))
    }

    /// Suspends the frames for a receiver that has just said that it sleeps.
    pub(crate) fn suspend(&mut self, to: u32) {
        for category in 0..self.buffers.len() {
            if self.buffers[category].to == to {
                self.set_aside(u8::try_from(category).expect("there are four categories"));
            }
        }
        self.aside.iter_mut().filter(|(_, buffer)| buffer.to == to).for_each(|(category, _)| *category |= SUSPENDED);
    }

    /// The frames for a receiver that has woken have turns again.
    pub(crate) fn restore(&mut self, to: u32) {
        self.aside.iter_mut().filter(|(_, buffer)| buffer.to == to).for_each(|(category, _)| *category &= !SUSPENDED);
    }
}
