//! Spatial reuse by signal level (OBSS PD, IEEE 802.11ax-2021, 26.10.2). A node ignores a weak frame of another cell,
//! and then sends with less power until the end of the next TXOP that it gains.
//!
//! The colour in HE-SIG-A of an HE PPDU tells the node the frame's cell, so that it can ignore the rest. Of frames
//! without a colour the node reads the cell at their end, and ignores their reservation of the medium.

use super::signal::Transmission;
use crate::radio::errors::header_field;
use crate::radio::mimo::Format;
use crate::radio::mode::Mode;
use crate::radio::reception::Shape;
use units::{Decibels, Duration, Instant, Power};

/// Lowest OBSS PD level, with which power is not limited, and the reference power of the limit: 25 dBm for access
/// points with more than two streams, 21 dBm for all other nodes (26.10.2.4).
const LOWEST: f64 = -82.0;

pub(crate) struct Reuse {
    /// Power in 20 MHz below which frames of other cells are ignored, in attowatts.
    below: u64,
    /// For each node: its cell, the divisor of its power while that is limited, and whether it is limited.
    pub(super) nodes: Vec<Node>,
}

pub(super) struct Node {
    cell: u32,
    quieter: f64,
    pub(super) limited: Limited,
}

/// Whether and for how long a node's power is limited.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Limited {
    No,
    /// The node has ignored a frame, and sends with limited power until its next TXOP ends.
    UntilTxop,
    InTxop,
}

impl Reuse {
    /// Makes the rules for nodes with this power and OBSS PD level. `nodes`: for each address, the node's cell, and
    /// whether it is an access point with more than two streams.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(crate) fn new(level: Power, power: Power, nodes: impl Iterator<Item = (u32, bool)>) -> Self {
        let of = |(cell, has_many_streams)| {
            // At the lowest level power is not limited (26.10.2.4).
            let above = Some(level.as_dbm() - LOWEST).filter(|above| *above > 1e-6);
            let most = above.map_or(f64::INFINITY, |above| if has_many_streams { 25.0 } else { 21.0 } - above);
            let quieter = Decibels::new((power.as_dbm() - most).max(0.0)).as_ratio();
            Node { cell, quieter, limited: Limited::No }
        };
        Self { below: (level.as_watts() * 1e18) as u64, nodes: nodes.map(of).collect() }
    }

    /// Returns the power of a frame. It is lower while its sender's power is limited.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn limited<F>(&self, sent: &Transmission<F>, power: u64) -> u64 {
        if sent.shape.limited { (power as f64 / self.nodes[sent.from as usize].quieter) as u64 } else { power }
    }

    /// True if the power of a frame that a node sends now, in its own TXOP or as a response, is limited.
    pub(super) fn limits(&self, node: u32, responds: bool) -> bool {
        let limited = if responds { Limited::UntilTxop } else { Limited::InTxop };
        self.nodes[node as usize].limited == limited
    }

    pub(super) fn begin_txop(&mut self, node: u32) {
        let limited = &mut self.nodes[node as usize].limited;
        *limited = if *limited == Limited::UntilTxop { Limited::InTxop } else { Limited::No };
    }

    /// True if a node may ignore a frame that arrives with power `each` in 20 MHz.
    pub(super) fn ignores(&self, from: u32, node: u32, each: u64) -> bool {
        self.nodes[from as usize].cell != self.nodes[node as usize].cell && each < self.below
    }
}

/// True if the frame's preamble has the colour of its cell.
pub(super) fn has_colour(shape: &Shape) -> bool {
    matches!(shape.mode, Mode::Mimo(mode) if mode.format() == Format::He)
}

/// Returns when all listeners have read a frame's colour, if it has one. `last`: the longest delay.
pub(super) fn colour_time<F>(sent: &Transmission<F>, last: Duration) -> Option<Instant> {
    (has_colour(&sent.shape) && !sent.shape.is_part()).then(|| sent.start + header_field(sent.shape.mode).ends + last)
}
