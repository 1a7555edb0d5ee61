//! Which packets `turns` marks as they leave, where it marks any.

use crate::packet::Ecn;
use units::{Bytes, Duration};

/// When a packet is marked. A station for which less than a turn waits is sent shorter aggregates, so that marks leave it a
/// turn. Flow queues keep L4S apart from others, as a dual queue would (RFC 9330, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// How long packets are to wait (D).
    pub target: Duration,
    /// Bytes of a turn of the station.
    pub turn: Bytes,
}

impl Mark {
    /// True if a packet is marked that leaves after it has `waited`, of a `backlog` that includes it. A sender of L4S (RFC
    /// 9331) reduces its window by little, so that a turn is left. CUBIC's falls to 0.7 times, a turn of one and a half.
    pub fn hits(self, ecn: Ecn, waited: Duration, backlog: Bytes) -> bool {
        let (waits, turn) = (backlog.count(), self.turn.count());
        match ecn {
            Ecn::Ect1 => waits > turn && waited > self.target / 2,
            Ecn::Ect0 => waits > turn.saturating_add(turn / 2) && waited > self.target,
            Ecn::NotEct | Ecn::Ce => false,
        }
    }
}
