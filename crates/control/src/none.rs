//! No control: the limit never moves. The baseline of every other controller.

use crate::{Controller, Limit, Needs, Orders, Reads, Seen, Sets};
use units::Duration;

/// A limit that never moves.
#[derive(Clone, Debug)]
pub struct Fixed {
    limit: Limit,
}

impl Fixed {
    /// A controller that keeps `limit`.
    pub const fn new(limit: Limit) -> Self {
        Self { limit }
    }
}

impl Controller for Fixed {
    fn needs(&self) -> Needs {
        Needs::new(Duration::MAX, Reads::NONE, Sets::LIMIT)
    }

    fn begin(&self) -> Orders {
        self.limit.into()
    }

    fn update(&mut self, _: &Seen) -> Orders {
        self.begin()
    }
}
