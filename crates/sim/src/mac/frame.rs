//! MAC frames, without their bytes.

use crate::engine::Handle;
use crate::radio::{ACK, BLOCK_ACK, CTS, LONG_BLOCK_ACK, Mode, RTS};
use units::{Bytes, Duration};

/// Receiver address of a broadcast.
pub(crate) const BROADCAST: u32 = u32::MAX;

/// Length of a compressed BlockAckReq (9.3.1.8).
const BLOCK_ACK_REQ: Bytes = Bytes::new(24);

/// Length of a multi-STA BlockAck (IEEE 802.11ax-2021, 9.3.1.8.6): addresses, BA control and check sum, and for each
/// station AID and TID; except for stations acknowledged as a `whole` by the all-ack context, also a starting sequence
/// number and a bitmap of 64 or, if `long`, 256 frames.
pub(super) const fn multi_block_ack_length(stations: u8, whole: u8, long: bool) -> Bytes {
    Bytes::new(22 + 2 * stations as u64 + stations.saturating_sub(whole) as u64 * if long { 34 } else { 10 })
}

/// Answer that a trigger frame asks its stations for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A CTS before an HE MU PPDU (MU-RTS).
    Clear,
    /// The stations' `BlockAcks` for an HE MU PPDU (MU-BAR).
    BlockAcks,
    /// The sizes of the stations' queues (BSRP).
    Backlog,
    /// Data (basic trigger).
    Data,
}

impl Asks {
    /// Length of a trigger for this many stations (IEEE 802.11ax-2021, 9.3.1.22): addresses and check sum, 8 B for all, and 5 B
    /// for each; with the 4 B of a BlockAckReq in a MU-BAR, with 1 B in a basic trigger.
    pub(super) const fn length(self, users: u64) -> Bytes {
        Bytes::new(20 + 8 + users * self.user_length())
    }

    /// Length of a trigger's field for each station.
    pub const fn user_length(self) -> u64 {
        match self {
            Self::BlockAcks => 9,
            Self::Clear | Self::Backlog => 5,
            Self::Data => 6,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Simultaneous CTS of several stations, in answer to a MU-RTS.
    SharedCts,
    /// Data, with the packet that it carries and its length including the MAC header and check sum.
    Data { packet: Handle, psdu: Bytes },
    /// Acknowledgement.
    Ack,
    /// A-MPDU, with its length and the number of its MPDUs. The sender holds the MPDUs until the response is due.
    Aggregate { psdu: Bytes, frames: u16 },
    /// Request for a `BlockAck`; the sender will send no number before this one again.
    BlockAckReq { start: u16 },
    /// Block acknowledgement of 64 or, if `long`, 256 frames. The sender has the scoreboard, which stays unchanged
    /// until the response has arrived.
    BlockAck { long: bool },
    /// HE MU PPDU: data for several stations side by side, of this total length. The sender holds it like an A-MPDU.
    MultiUser { psdu: Bytes },
    /// Trigger that asks this number of stations to send simultaneously, in this mode or, for data, in their own modes.
    Trigger { asks: Asks, users: u8, response: Mode },
    /// Answer to a trigger for data or the size of the queue, in an HE TB PPDU: an A-MPDU, which is held like others,
    /// or a QoS Null frame without `frames`.
    Triggered { psdu: Bytes, frames: u16 },
    /// Multi-STA `BlockAck` for this number of stations, with bitmaps except for stations whose frames all arrived.
    MultiBlockAck { stations: u8, whole: u8, long: bool },
    /// T-MAC's request to this number of stations for their grants, the receiver first; `then`: duration of the
    /// exchange that follows the grants.
    Request { asked: u8, then: Duration },
    /// T-MAC's grant: its sender has no older packet.
    Grant,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) mode: Mode,
    /// Access category of a data frame.
    pub(crate) category: u8,
    /// Duration field: time for which the medium stays reserved after this frame.
    pub(crate) reserves: Duration,
    /// Sequence number of a data frame, 12 bits; the same in its repetitions.
    pub(crate) sequence: u16,
    /// Retry bit of a data frame (9.2.4.1.5).
    pub(crate) retry: bool,
}

impl Frame {
    /// Returns the station whose trigger this frame answers together with others, if it is such an answer.
    #[inline]
    pub(crate) fn answers_beside_others(&self) -> Option<u32> {
        match (self.kind, self.mode) {
            (Kind::BlockAck { .. } | Kind::Triggered { .. }, Mode::Mimo(mode)) => mode.ru().map(|_| self.to),
            (Kind::SharedCts, _) => Some(self.to),
            _ => None,
        }
    }

    /// Returns the station in whose TXOP the frame is sent, which is the receiver of a response.
    pub(crate) fn txop_holder(&self) -> u32 {
        match self.kind {
            Kind::Cts | Kind::SharedCts | Kind::Ack | Kind::BlockAck { .. } | Kind::Grant | Kind::Triggered { .. }
                if self.to != self.from =>
            {
                self.to
            }
            _ => self.from,
        }
    }

    /// Length including MAC header and check sum; `key`: length of T-MAC's key field.
    pub(crate) fn psdu(&self, key: Bytes) -> Bytes {
        match self.kind {
            Kind::Rts => RTS,
            Kind::Cts | Kind::SharedCts | Kind::Grant => CTS,
            Kind::Ack => ACK + key,
            Kind::Data { psdu, .. }
            | Kind::Aggregate { psdu, .. }
            | Kind::MultiUser { psdu }
            | Kind::Triggered { psdu, .. } => psdu,
            Kind::Trigger { asks, users, .. } => asks.length(users.into()),
            Kind::MultiBlockAck { stations, whole, long } => multi_block_ack_length(stations, whole, long),
            Kind::BlockAckReq { .. } => BLOCK_ACK_REQ,
            Kind::BlockAck { long: false } => BLOCK_ACK + key,
            Kind::BlockAck { long: true } => LONG_BLOCK_ACK + key,
            // An RTS with a key, the duration of what follows, the number of stations asked, and their addresses but the first.
            Kind::Request { asked, .. } => RTS + key + Bytes::new(2 + 1 + 6 * u64::from(asked.saturating_sub(1))),
        }
    }
}
