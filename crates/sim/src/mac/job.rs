//! What a station is given to send, and what it reports.

use super::Frame;
use crate::engine::Handle;
use units::{Bytes, Duration, Instant};

/// A packet that the station has taken from a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) packet: Handle,
    pub(crate) to: u32,
    /// The access category.
    pub(crate) category: u8,
    /// Length of its data frame, MAC header and check sum included.
    pub(crate) psdu: Bytes,
    /// Time that it waited in the queue.
    pub(crate) waited: Duration,
    /// When the station took it.
    pub(crate) taken: Instant,
    /// The receiver has it, whether the station knows or not.
    pub(crate) accepted: bool,
    pub(super) sequence: u16,
    pub(super) short_failures: u8,
    pub(super) long_failures: u8,
    /// It has been sent before.
    pub(super) sent: bool,
}

impl Job {
    /// A packet of a category that waited in the queue for `waited` and is taken now.
    pub(crate) fn new(packet: Handle, to: (u32, u8), psdu: Bytes, waited: Duration, taken: Instant) -> Self {
        let (to, category) = to;
        Self {
            packet,
            to,
            category,
            psdu,
            waited,
            taken,
            accepted: false,
            sequence: 0,
            short_failures: 0,
            long_failures: 0,
            sent: false,
        }
    }
}

/// A packet that the station is done with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) job: Job,
    /// Acknowledged, or a broadcast; otherwise given up.
    pub(crate) delivered: bool,
}

/// What a received frame means.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// The packet in the frame is for this station, and new.
    pub(crate) takes: bool,
    /// The frame is for this station, which has its packet already.
    pub(crate) duplicate: bool,
    /// The station's own frame that will have no response.
    pub(crate) failed: Option<Unanswered>,
}

/// A frame that was sent in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// An RTS without CTS.
    Rts,
    /// Data without ACK.
    Data,
}

/// What a station does at its deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// It sends a frame.
    Send(Frame),
    /// It sends a packet of this category: [`Station::begin`](super::Station::begin) makes the frame.
    Begin(u8),
    /// It has waited for a response in vain.
    Failed(Answer),
    /// It waits for the end of what is coming in.
    Wait,
}
