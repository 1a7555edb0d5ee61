//! MAC frames, without their bytes.

use crate::engine::Handle;
use crate::radio::{ACK, BLOCK_ACK, CTS, LONG_BLOCK_ACK, Mode, RTS};
use units::{Bytes, Duration};

/// Receiver address of a broadcast.
pub(crate) const BROADCAST: u32 = u32::MAX;

/// Length of a compressed BlockAckReq (9.3.1.8).
const BLOCK_ACK_REQ: Bytes = Bytes::new(24);

/// Length of a MU-BAR trigger for this many stations (IEEE 802.11ax-2021, 9.3.1.22): addresses and check sum, 8 B for all,
/// 5 B and a BlockAckReq's 4 B for each.
pub(super) const fn trigger_length(users: u64) -> Bytes {
    Bytes::new(20 + 8 + 9 * users)
}

/// Purpose of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Data, with the packet that it carries and its length including the MAC header and check sum.
    Data { packet: Handle, psdu: Bytes },
    /// Acknowledgement.
    Ack,
    /// A-MPDU, with its length and the number of its MPDUs. The sender holds them until the response is due.
    Aggregate { psdu: Bytes, frames: u16 },
    /// Request for a `BlockAck`; the sender will not send any number before this one again.
    BlockAckReq { start: u16 },
    /// Block acknowledgement of 64 or, if `long`, 256 frames. Its sender has the scoreboard, which does not change before the
    /// response has arrived.
    BlockAck { long: bool },
    /// HE MU PPDU: data for several stations side by side, of this length together. The sender holds them, as those of an
    /// A-MPDU.
    MultiUser { psdu: Bytes },
    /// MU-BAR trigger: asks that many stations, to which an HE MU PPDU went, for their `BlockAck`s, all at once in this mode.
    Trigger { users: u8, response: Mode },
    /// Asks this many stations for their grants, the receiver first; `then`: duration of the exchange that follows the
    /// grants.
    Request { asked: u8, then: Duration },
    /// T-MAC's grant: its sender has nothing older.
    Grant,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Mode of transmission.
    pub(crate) mode: Mode,
    /// Access category of a data frame.
    pub(crate) category: u8,
    /// Duration field: how long the medium stays reserved after this frame.
    pub(crate) reserves: Duration,
    /// Sequence number of a data frame, 12 bits; the same in its repetitions.
    pub(crate) sequence: u16,
    /// Retry bit of a data frame (9.2.4.1.5).
    pub(crate) retry: bool,
}

impl Frame {
    /// Length including MAC header and check sum; `key`: length of T-MAC's key field.
    pub(crate) fn psdu(&self, key: Bytes) -> Bytes {
        match self.kind {
            Kind::Rts => RTS,
            Kind::Cts | Kind::Grant => CTS,
            Kind::Ack => ACK + key,
            Kind::Data { psdu, .. } | Kind::Aggregate { psdu, .. } | Kind::MultiUser { psdu } => psdu,
            Kind::Trigger { users, .. } => trigger_length(users.into()),
            Kind::BlockAckReq { .. } => BLOCK_ACK_REQ,
            Kind::BlockAck { long: false } => BLOCK_ACK + key,
            Kind::BlockAck { long: true } => LONG_BLOCK_ACK + key,
            // An RTS with a key, the duration of what follows, the number of stations asked, and their addresses but the first.
            Kind::Request { asked, .. } => RTS + key + Bytes::new(2 + 1 + 6 * u64::from(asked.saturating_sub(1))),
        }
    }
}
