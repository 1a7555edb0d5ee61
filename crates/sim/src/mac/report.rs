//! What a station reports to its host.

use super::Frame;
use crate::engine::Handle;
use units::Duration;

/// A data frame that is delivered or given up, with its packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    /// First packet in the frame.
    pub(crate) packet: Handle,
    pub(crate) to: u32,
    pub(crate) category: u8,
    /// True if the frame was acknowledged or is a broadcast; false if it was given up.
    pub(crate) delivered: bool,
}

/// What a received frame means for the station.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// True if the packets in the frame are for this station and new.
    pub(crate) takes: bool,
    /// True if the frame is for this station, but the station already has its packets.
    pub(crate) duplicate: bool,
    /// The station's own frame that got no response, if any.
    pub(crate) failed: Option<Unanswered>,
    /// The data that an unanswered RTS announced, if any.
    pub(crate) announced: Option<Announced>,
    /// Outcome of the data frames that the station sent last.
    pub(crate) report: Option<Report>,
}

/// Data whose announcement by an RTS was not answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    pub(crate) to: u32,
    pub(crate) category: u8,
    /// Airtime of the data frame.
    pub(crate) airtime: Duration,
}

/// Which frame got no response.
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

/// What a station does at its deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    Send(Frame),
    /// Send data of this category. The host adds packets that share the frame (see
    /// [`Station::assemble`](super::Station::assemble)). Then [`begin`](super::Station::begin) makes the frame.
    Begin(u8),
    /// A frame of the category got no response.
    Failed(Answer),
    /// Wait for the end of the frame that is being received.
    Wait,
}
