//! No control: the limit stays where it is. The yardstick of every other controller.

use crate::{Interval, Limit, LimitController};
use units::Duration;

/// A limit that never moves.
#[derive(Clone, Debug)]
pub struct Fixed {
    limit: Limit,
}

impl Fixed {
    /// A queue that may always hold as much as `limit`.
    pub const fn new(limit: Limit) -> Self {
        Self { limit }
    }
}

impl LimitController for Fixed {
    fn interval(&self) -> Duration {
        Duration::MAX
    }

    fn update(&mut self, _: &Interval) -> Limit {
        self.limit
    }
}
