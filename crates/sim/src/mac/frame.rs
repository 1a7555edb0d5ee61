//! MAC frames: what they contain, without their bytes.

use crate::engine::Handle;
use crate::radio::{ACK, BLOCK_ACK, CTS, LONG_BLOCK_ACK, Mode, RTS};
use units::{Bytes, Duration};

/// Receiver address of a broadcast.
pub(crate) const BROADCAST: u32 = u32::MAX;

/// Length of a compressed BlockAckReq (9.3.1.8).
const BLOCK_ACK_REQ: Bytes = Bytes::new(24);

/// Length of a multi-STA BlockAck (IEEE 802.11ax-2021, 9.3.1.8.6): addresses, BA control and checksum; for each
/// station AID and TID. Stations other than those acknowledged as a `whole` (all-ack context) also have a starting
/// sequence number and a bitmap of 64 or, if `long`, 256 frames.
pub(super) const fn multi_block_ack_length(stations: u8, whole: u8, long: bool) -> Bytes {
    Bytes::new(22 + 2 * stations as u64 + stations.saturating_sub(whole) as u64 * if long { 34 } else { 10 })
}

/// What a trigger frame asks its stations to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A CTS before an HE MU PPDU (MU-RTS).
    Clear,
    /// The stations' `BlockAcks` for an HE MU PPDU (MU-BAR).
    BlockAcks,
    /// The sizes of the stations' queues (BSRP).
    Backlog,
    /// Data frames (basic trigger).
    Data,
}

impl Asks {
    /// Returns the length of a trigger for `users` stations (IEEE 802.11ax-2021, 9.3.1.22): addresses and checksum, 8
    /// B for all, and 5 B for each. A MU-BAR adds the 4 B of a BlockAckReq for each, a basic trigger 1 B.
    pub(super) const fn length(self, users: u64) -> Bytes {
        Bytes::new(20 + 8 + users * self.user_length())
    }

    /// Returns the length of the field that a trigger has for each station.
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
    /// Data: the packet that the frame carries, and its length including the MAC header and checksum.
    Data { packet: Handle, psdu: Bytes },
    /// Acknowledgement.
    Ack,
    /// A-MPDU: its length and the number of its MPDUs. The sender holds the MPDUs until the response is due.
    Aggregate { psdu: Bytes, frames: u16 },
    /// Request for a `BlockAck`. The sender will not send frames before number `start` again.
    BlockAckReq { start: u16 },
    /// Block acknowledgement of 64 or, if `long`, 256 frames. Its content is the scoreboard of its sender, which stays
    /// unchanged until the response has arrived.
    BlockAck { long: bool },
    /// HE MU PPDU: data for several stations side by side; total length. The sender holds it like an A-MPDU.
    MultiUser { psdu: Bytes },
    /// Trigger that asks `users` stations to send at once, in mode `response` or, for data, each in a mode of its own.
    Trigger { asks: Asks, users: u8, response: Mode },
    /// Answer to a trigger for data or for the size of the queue, in an HE TB PPDU. It is an A-MPDU, which is held like
    /// an [`Aggregate`](Self::Aggregate), or a QoS Null frame if `frames` is zero.
    Triggered { psdu: Bytes, frames: u16 },
    /// Multi-STA `BlockAck` for `stations` stations. Only the `whole` ones, all of whose frames arrived, lack a bitmap.
    MultiBlockAck { stations: u8, whole: u8, long: bool },
    /// T-MAC's request to `asked` stations for their grants, the receiver first. `then`: duration of the exchange that
    /// follows the grants.
    Request { asked: u8, then: Duration },
    /// T-MAC's grant. Its sender has no older packet.
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
    /// Duration field: time for which the medium is reserved after this frame.
    pub(crate) reserves: Duration,
    /// Sequence number of a data frame, 12 bits. Its repetitions have the same number.
    pub(crate) sequence: u16,
    /// Retry bit of a data frame (9.2.4.1.5).
    pub(crate) retry: bool,
}

impl Frame {
    /// If several stations answer a trigger at once and this frame is one of the answers, returns the trigger's sender.
    #[inline]
    pub(crate) fn answers_beside_others(&self) -> Option<u32> {
        match (self.kind, self.mode) {
            (Kind::BlockAck { .. } | Kind::Triggered { .. }, Mode::Mimo(mode)) => mode.ru().map(|_| self.to),
            (Kind::SharedCts, _) => Some(self.to),
            _ => None,
        }
    }

    /// Returns the station in whose TXOP the frame is sent. For a response it is the receiver.
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

    /// Returns the length including MAC header and checksum. `key`: length of T-MAC's key field.
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
            // An RTS with a key, the duration of what follows, the number of stations, and all addresses but the first.
            Kind::Request { asked, .. } => RTS + key + Bytes::new(2 + 1 + 6 * u64::from(asked.saturating_sub(1))),
        }
    }
}
