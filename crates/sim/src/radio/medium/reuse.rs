//! Spatial reuse by signal level (OBSS PD, IEEE 802.11ax-2021, 26.10.2): a node takes a weak frame of another cell for nothing,
//! and sends more weakly until the end of the next TXOP that it gains.
//!
//! It knows an HE PPDU's cell by the colour in HE-SIG-A, and ignores the rest. That of another frame it reads at its end: what
//! it ignores then is the reservation.

use super::signal::Transmission;
use crate::radio::errors::header_field;
use crate::radio::mimo::Format;
use crate::radio::mode::Mode;
use crate::radio::reception::Shape;
use units::{Decibels, Duration, Instant, Power};

/// Lowest OBSS PD level, at which power is not limited, and the power from which the limit is reckoned: of access points with
/// more than two streams 25 dBm, else 21 dBm (26.10.2.4).
const LOWEST: f64 = -82.0;

pub(crate) struct Reuse {
    /// Power in 20 MHz below which frames of other cells are ignored, in attowatts.
    below: u64,
    /// By node: its cell, by what its power is divided while it is limited, and whether it is.
    pub(super) nodes: Vec<Node>,
}

pub(super) struct Node {
    cell: u32,
    quieter: f64,
    pub(super) limited: Limited,
}

/// Is a node's power limited?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Limited {
    No,
    /// It has ignored a frame: until the end of its next TXOP.
    UntilTxop,
    InTxop,
}

impl Reuse {
    /// The rules for nodes with this power and level: by address their cell, and if they are access points with more than two
    /// streams.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(crate) fn new(level: Power, power: Power, nodes: impl Iterator<Item = (u32, bool)>) -> Self {
        let of = |(cell, has_many_streams)| {
            let most = if has_many_streams { 25.0 } else { 21.0 } - (level.as_dbm() - LOWEST);
            let quieter = Decibels::new((power.as_dbm() - most).max(0.0)).as_ratio();
            Node { cell, quieter, limited: Limited::No }
        };
        Self { below: (level.as_watts() * 1e18) as u64, nodes: nodes.map(of).collect() }
    }

    /// The power of a frame: less while its sender's is limited.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn limited<F>(&self, sent: &Transmission<F>, power: u64) -> u64 {
        if sent.shape.limited { (power as f64 / self.nodes[sent.from as usize].quieter) as u64 } else { power }
    }

    /// Is the power of a frame limited that a node sends now, in its TXOP or as a response?
    pub(super) fn limits(&self, node: u32, responds: bool) -> bool {
        let limited = if responds { Limited::UntilTxop } else { Limited::InTxop };
        self.nodes[node as usize].limited == limited
    }

    pub(super) fn begin_txop(&mut self, node: u32) {
        let limited = &mut self.nodes[node as usize].limited;
        *limited = if *limited == Limited::UntilTxop { Limited::InTxop } else { Limited::No };
    }

    /// May a node ignore a frame of which it gets this power in 20 MHz?
    pub(super) fn ignores(&self, from: u32, node: u32, each: u64) -> bool {
        self.nodes[from as usize].cell != self.nodes[node as usize].cell && each < self.below
    }
}

/// Does the frame tell its cell in the preamble?
pub(super) fn has_colour(shape: &Shape) -> bool {
    matches!(shape.mode, Mode::Mimo(mode) if mode.format() == Format::He)
}

/// When all listeners have read a frame's colour, if it has one: `last` hears it last.
pub(super) fn colour_time<F>(sent: &Transmission<F>, last: Duration) -> Option<Instant> {
    (has_colour(&sent.shape) && !sent.shape.is_part()).then(|| sent.start + header_field(sent.shape.mode).ends + last)
}
