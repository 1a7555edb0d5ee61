//! No control: the limit never moves. All controllers are compared with this one.

use crate::{Controller, Invalid, Limit, Needs, Orders, Reads, Scheme, Seen, Sets, Site};
use units::Duration;

/// A limit that never moves.
#[derive(Clone, Debug)]
pub struct Fixed {
    limit: Limit,
}

impl Scheme for Fixed {
    type Params = ();

    fn new((): &(), site: &Site) -> Result<Self, Invalid> {
        Ok(Self { limit: site.hard_limit })
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
