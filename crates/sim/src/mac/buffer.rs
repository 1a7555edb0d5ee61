//! Transmit buffer of a station's category: its unacknowledged MPDUs for one receiver, in order of sequence number.

use super::conventions::DELIMITER;
use super::{Agreement, Conventions, SEQUENCES};
use crate::engine::Handle;
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant};

/// Bytes before each MSDU of an A-MSDU: destination, source and length (IEEE 802.11-2016, 9.3.2.2.2).
const SUBFRAME_HEADER: u64 = 14;

/// A packet that the host hands over. Its MSDU begins with the LLC header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Msdu {
    pub(crate) packet: Handle,
    pub(crate) length: Bytes,
}

/// A data frame with one packet, or several in an A-MSDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mpdu {
    /// The first packet in the MPDU.
    pub(crate) packet: Handle,
    /// The last packet in the MPDU; the host chains the packets of an A-MSDU.
    last: Handle,
    /// Number of packets in the MPDU, at most 255: a longer frame is not allowed.
    parts: u8,
    /// Length including the MAC header and checksum.
    pub(crate) psdu: Bytes,
    /// Sequence number, 12 bits.
    pub(crate) sequence: u16,
    /// Failed attempts without RTS.
    pub(super) short_failures: u8,
    /// Failed attempts after an RTS that was answered.
    pub(super) long_failures: u8,
    pub(super) sent: bool,
    /// True if an attempt at this frame has failed, be it the frame itself or the RTS that announced it.
    pub(super) tried: bool,
    /// True if the frame has been sent more than once.
    pub(crate) retry: bool,
    /// End of the frame's lifetime. The lifetime begins when the first A-MPDU that contains the frame fails.
    expiry: Instant,
}

impl Mpdu {
    fn new(msdu: Msdu, sequence: u16, rules: &Conventions) -> Self {
        Self {
            packet: msdu.packet,
            last: msdu.packet,
            parts: 1,
            psdu: rules.mpdu(msdu.length),
            sequence,
            short_failures: 0,
            long_failures: 0,
            sent: false,
            tried: false,
            retry: false,
            expiry: Instant::NEVER,
        }
    }

    /// Records that an A-MPDU with this frame has failed. True if the frame's lifetime is over.
    pub(super) fn expires(&mut self, now: Instant, lifetime: Duration) -> bool {
        self.tried = true;
        self.expiry = self.expiry.min(now + lifetime);
        self.is_expired(now)
    }

    pub(super) fn is_expired(&self, now: Instant) -> bool {
        now >= self.expiry
    }

    /// Returns the A-MSDU's length with one more MSDU: subframes with 14 B of header, all but the last padded to 4 B.
    fn body_with(&self, msdu: Bytes, rules: &Conventions) -> Bytes {
        let body = self.psdu.count() - rules.mpdu(Bytes::new(0)).count();
        let own = if self.parts == 1 { SUBFRAME_HEADER } else { 0 } + body;
        Bytes::new(own.next_multiple_of(4) + SUBFRAME_HEADER + msdu.count())
    }
}

/// Frames for one receiver.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) to: u32,
    pub(super) mpdus: VecDeque<Mpdu>,
    /// The sequence number that follows the newest frame's, whether or not that frame is still in the buffer.
    pub(super) next: u16,
    /// Number of MPDUs in the frame that is being sent or awaits its response; they are the first ones.
    pub(super) in_flight: usize,
    /// A BlockAckReq that is due.
    pub(super) request: Option<Request>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) to: u32,
    /// Sequence number of the first frame that the receiver must not forget yet.
    pub(super) start: u16,
    pub(super) failures: u8,
}

/// Size of an aggregate while it is assembled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) frames: usize,
    pub(super) psdu: Bytes,
    /// Length of the delimiter before a single MPDU.
    single: u64,
}

impl Size {
    /// Returns the size of an empty frame. A frame with one MPDU has no padding, and a delimiter in VHT and HE only.
    pub(super) fn none(agreement: &Agreement) -> Self {
        Self { frames: 0, psdu: Bytes::new(0), single: agreement.single.count() }
    }

    /// Returns the size with one more MPDU. A delimiter precedes each, and all but the last are padded to 4 B (9.7.1).
    pub(super) fn with(self, psdu: Bytes) -> Self {
        match self.frames {
            0 => Self { frames: 1, psdu: Bytes::new(self.single) + psdu, ..self },
            frames => Self { frames: frames + 1, psdu: self.next() + psdu, ..self },
        }
    }

    /// Returns the number of bytes before the next MPDU.
    fn next(self) -> Bytes {
        let before = match self.frames {
            0 => 0,
            1 => self.psdu.count() + DELIMITER - self.single,
            _ => self.psdu.count(),
        };
        Bytes::new(before.next_multiple_of(4) + DELIMITER)
    }
}

/// Limits of an aggregate to a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) agreement: Agreement,
    /// Longest frame with which the data end before the TXOP does.
    pub(super) longest: Bytes,
}

impl Limits {
    /// True if an aggregate of this size is within all limits.
    pub(super) fn allow(&self, size: Size) -> bool {
        let Self { agreement, longest } = self;
        let short = size.frames == 1 || size.psdu <= agreement.ampdu;
        short && size.frames <= usize::from(agreement.frames) && size.psdu <= *longest
    }
}

/// A frame that is being assembled from packets of a category.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assembly {
    /// Receiver.
    pub(crate) to: u32,
    pub(crate) category: u8,
    /// True if packets may join only up to the first packet for another receiver, so that repetitions do not delay that
    /// packet for ever.
    pub(crate) in_turn: bool,
    pub(super) size: Size,
    pub(super) limits: Limits,
}

/// Room for a packet in a frame that is being assembled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(super) joins: Joins,
    pub(super) size: Size,
}

/// How a packet can join the aggregate that is being assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joins {
    /// As part of the last MPDU (A-MSDU).
    Part,
    Mpdu,
}

/// Returns how many bytes a packet of `length` takes in an A-MSDU.
fn part(length: Bytes) -> u64 {
    (length.count() + SUBFRAME_HEADER).next_multiple_of(4)
}

/// Returns the largest number of packets of `length` in an MPDU.
pub(super) fn parts(length: Bytes, rules: &Conventions) -> u32 {
    let parts = rules.aggregation.amsdu.map_or(1, |most| (most.count() / part(length)).max(1));
    u32::try_from(parts).unwrap_or(u32::MAX)
}

/// Returns a packet's share, in units of `whole`, of a frame of at most `longest` bytes and `frames` MPDUs.
pub(super) fn share(length: Bytes, longest: Bytes, frames: u16, whole: u32, rules: &Conventions) -> u32 {
    let (bytes, parts) = taken(length, rules);
    let whole = u64::from(whole);
    let share = (whole * bytes / longest.count().max(1)).max(whole / (u64::from(frames) * parts)).min(whole);
    u32::try_from(share).expect("at most the whole")
}

/// Returns how many packets of `length` fit into a frame of at most `longest` bytes and `frames` MPDUs; at least one.
pub(super) fn room(length: Bytes, longest: Bytes, frames: u16, rules: &Conventions) -> u64 {
    let (bytes, parts) = taken(length, rules);
    (longest.count() / bytes).clamp(1, u64::from(frames.max(1)) * parts)
}

/// Returns how many bytes of an aggregate a packet of `length` takes, in an A-MSDU or as an MPDU with its delimiter,
/// and how many packets an MPDU holds.
fn taken(length: Bytes, rules: &Conventions) -> (u64, u64) {
    let parts = u64::from(parts(length, rules));
    (if parts > 1 { part(length) } else { (rules.mpdu(length).count() + DELIMITER).next_multiple_of(4) }, parts)
}

/// Returns the offset in bytes of each MPDU in an A-MPDU.
pub(crate) fn places<'a>(mpdus: impl Iterator<Item = &'a Mpdu>) -> impl Iterator<Item = (Bytes, Bytes)> {
    let none = Size { frames: 0, psdu: Bytes::new(0), single: 0 };
    mpdus.scan(none, |size, mpdu| {
        let start = size.next();
        *size = size.with(mpdu.psdu);
        Some((start, mpdu.psdu))
    })
}

impl Buffer {
    /// True if there is nothing to send.
    pub(super) fn is_empty(&self) -> bool {
        self.mpdus.is_empty() && self.request.is_none()
    }

    /// Returns the aggregate of as many first MPDUs as the limits allow, at least one.
    pub(super) fn select(&self, limits: &Limits) -> Size {
        let mut size = Size::none(&limits.agreement);
        for mpdu in &self.mpdus {
            let grown = size.with(mpdu.psdu);
            if size.frames > 0 && (!limits.allow(grown) || mpdu.psdu > limits.agreement.mpdu) {
                break;
            }
            size = grown;
        }
        size
    }

    /// Returns how a packet of `length` can join the aggregate of all MPDUs so far; `size` is the aggregate's.
    pub(super) fn joins(&self, length: Bytes, size: Size, rules: &Conventions, limits: &Limits) -> Option<Room> {
        let aggregation = &rules.aggregation;
        let last = self.mpdus.back()?;
        if let Some(most) = aggregation.amsdu
            && limits.agreement.aggregates
            && !last.sent
        {
            let body = last.body_with(length, rules);
            let psdu = rules.mpdu(body);
            let grown = Size { psdu: Bytes::new(size.psdu.count() + psdu.count() - last.psdu.count()), ..size };
            let short = aggregation.ampdu.is_none() || psdu <= limits.agreement.mpdu;
            if body <= most && short && limits.allow(grown) {
                return Some(Room { joins: Joins::Part, size: grown });
            }
        }
        let (joined, grown) = self.frames(rules.mpdu(length), 1, size, limits);
        (joined == 1).then_some(Room { joins: Joins::Mpdu, size: grown })
    }

    /// Returns how many MPDUs of length `psdu`, at most `most`, can join the aggregate of all MPDUs so far, and the
    /// resulting size. `size` is the aggregate's size without them.
    #[inline]
    pub(super) fn frames(&self, psdu: Bytes, most: u16, size: Size, limits: &Limits) -> (u16, Size) {
        let Some(first) = self.mpdus.front() else { return (0, size) };
        let Agreement { frames, window, mpdu, .. } = limits.agreement;
        let span = self.next.wrapping_sub(first.sequence) % SEQUENCES;
        let may_join = frames > 1 && psdu.max(first.psdu) <= mpdu;
        let most = if may_join { most.min(window.saturating_sub(span)) } else { 0 };
        let mut size = size;
        for joined in 0..most {
            let grown = size.with(psdu);
            if !limits.allow(grown) {
                return (joined, size);
            }
            size = grown;
        }
        (most, size)
    }

    /// Adds a new frame with this sequence number.
    pub(super) fn push(&mut self, msdu: Msdu, sequence: u16, rules: &Conventions) {
        self.next = (sequence + 1) % SEQUENCES;
        self.mpdus.push_back(Mpdu::new(msdu, sequence, rules));
    }

    /// Adds a packet to the last MPDU. Returns the packet that precedes it in the MPDU.
    pub(super) fn extend(&mut self, msdu: Msdu, rules: &Conventions) -> Handle {
        let last = self.mpdus.back_mut().expect("an A-MSDU has a first packet");
        last.psdu = rules.mpdu(last.body_with(msdu.length, rules));
        last.parts = last.parts.saturating_add(1);
        std::mem::replace(&mut last.last, msdu.packet)
    }
}
