//! Reports from a station to its host.

use super::Frame;
use crate::engine::Handle;
use units::Duration;

/// A data frame with which the station is done, with its packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    /// First packet in the frame.
    pub(crate) packet: Handle,
    pub(crate) to: u32,
    pub(crate) category: u8,
    /// True if acknowledged or a broadcast; false if given up.
    pub(crate) delivered: bool,
}

/// Meaning of a received frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// True if the packets in the frame are for this station, and new.
    pub(crate) takes: bool,
    /// True if the frame is for this station, which already has its packets.
    pub(crate) duplicate: bool,
    /// The station's own frame that got no response.
    pub(crate) failed: Option<Unanswered>,
    /// The data that an RTS without CTS announced.
    pub(crate) announced: Option<Announced>,
    /// Outcome of the data frames that the station sent last.
    pub(crate) report: Option<Report>,
}

/// Data that were announced in vain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    pub(crate) to: u32,
    pub(crate) category: u8,
    /// Airtime of the data frame.
    pub(crate) airtime: Duration,
}

/// A frame that got no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// An RTS without CTS.
    Rts,
    /// Data without ACK or BlockAck.
    Data,
    /// A BlockAckReq without BlockAck.
    BlockAckReq,
}

/// Outcome of data frames that were sent together, for rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) to: u32,
    pub(crate) sent: u16,
    pub(crate) acknowledged: u16,
}

/// Action of a station at its deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    Send(Frame),
    /// Send data of this category: the host adds packets that share the frame (see
    /// [`Station::assemble`](super::Station::assemble)), then [`Station::begin`](super::Station::begin) makes the
    /// frame.
    Begin(u8),
    /// The frame of the category got no response.
    Failed(Answer),
    /// Wait for the end of the frame that is being received.
    Wait,
}
