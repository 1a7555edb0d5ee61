//! Contention state of one access category.

use super::{Access, Conventions};
use units::{Duration, Instant};

/// The state of one access category's contention.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contender {
    /// Slots still to wait; `None`: no back-off is due.
    pub(super) backoff: Option<u16>,
    pub(super) cw: u16,
    /// Its slots count from here at the earliest.
    pub(super) earliest: Instant,
}

impl Contender {
    pub(super) fn new(access: &Access) -> Self {
        Self { backoff: None, cw: access.cw_min, earliest: Instant::ZERO }
    }

    /// The slots left once the medium has been idle for `idle` since they began to count. The DCF counts a slot at its
    /// end (10.3.4.3), EDCA one at the end of AIFS and each further one at its beginning (10.22.2.4).
    #[inline]
    pub(super) fn count_down(&mut self, slots: u16, idle: Duration, wants: bool, rules: &Conventions) {
        let passed = idle.div_floor(rules.timing.slot) + u64::from(rules.edca());
        self.backoff = if passed < u64::from(slots) {
            Some(slots - u16::try_from(passed).expect("fewer than the slots left"))
        } else {
            wants.then_some(0)
        };
    }
}
