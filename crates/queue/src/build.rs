//! Builds a queue and its controller from settings.

use crate::settings::unusable;
use crate::{Packet, Queue, Settings};
use control::{AnyController, Controller as _, Invalid, Site};
use units::Instant;

impl Settings {
    /// The controller alone, for a queue that is not of this crate. What it draws follows from `seed`, so that a recording of it
    /// can be replayed.
    ///
    /// # Errors
    /// The limit or the first of the controller's parameters that cannot be used, by its key within the table.
    pub fn build_controller(&self, seed: u64) -> Result<AnyController, Invalid> {
        match unusable(self.limit) {
            Some(why) => Err(Invalid::new("limit", why)),
            None => AnyController::new(self.controller, &self.parameters(), &Site { hard_limit: self.limit, seed }),
        }
    }

    /// The queue and its controller, as they are before the first packet. What they draw follows from `seed`.
    ///
    /// # Errors
    /// The first setting that cannot be used, by its key within the table.
    pub fn build<P: Packet>(&self, seed: u64) -> Result<(Queue<P>, AnyController), Invalid> {
        let controller = self.build_controller(seed)?;
        let mut queue = Queue::new(self, seed)?.measuring(controller.needs().measures);
        let begin = controller.begin().limit;
        if begin != self.limit {
            queue.set_limit(Instant::ZERO, begin, &mut |_| ());
            queue.restart_statistics(Instant::ZERO);
        }
        Ok((queue, controller))
    }
}
