//! Segments: headers and sequence numbers, without the octets.

use queue::Ecn;
use units::{Bytes, Instant};

/// TCP header without options (RFC 9293, 3.1).
const HEADER: u64 = 20;
/// Timestamps option (RFC 7323, 3.2) with two octets of padding, as every stack lays it out (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;
/// Maximum segment size option of a SYN (RFC 9293, 3.7.1).
const MAXIMUM_SEGMENT_SIZE: u64 = 4;
/// Window scale option of a SYN (RFC 7323, 2.2) with one octet of padding.
const WINDOW_SCALE: u64 = 4;
/// SACK-permitted option of a SYN (RFC 2018, section 2), which replaces the padding of the timestamps, if any.
const SACK_PERMITTED: u64 = 4;
/// Kind and length of the SACK option (RFC 2018, section 3) with two octets of padding, and each of its blocks.
const SACK: u64 = 4;
const SACK_BLOCK: u64 = 8;
/// Option for experiments (RFC 4727, RFC 6994) in a SYN: kind, length and number; in an acknowledgement also the
/// report, with three octets of padding.
const REPORTS: u64 = 4;
const REPORT: u64 = 8;
/// The largest window that needs no scaling (RFC 9293, 3.1).
const UNSCALED_WINDOW: u64 = 65_535;

/// Octets from `start` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Block {
    /// Number of octets.
    pub(crate) fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// The blocks of a SACK option, first the block that caused the acknowledgement (RFC 2018, section 4); by default no
/// option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sacks {
    blocks: [Block; Self::MOST],
    count: u8,
}

impl Sacks {
    /// Largest number of blocks that the 40 octets of options hold (RFC 2018, section 3); one less with timestamps.
    pub(crate) const MOST: usize = 4;

    /// Adds a block; blocks beyond [`Self::MOST`] are left out.
    pub(crate) fn push(&mut self, block: Block) {
        if let Some(free) = self.blocks.get_mut(usize::from(self.count)) {
            *free = block;
            self.count += 1;
        }
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A receiver's report to the sender on missing packets (BQM thesis, sections 3.3 and 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// No queue dropped the packets.
    Wireless,
    /// A queue dropped them, and had to drop packets up to this discard priority.
    Congestion { reached: u8 },
}

/// A segment, by default without data and options. The SYN has number 0, the first octet of data 1, and numbers never
/// wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of a TCP header")]
pub(crate) struct Segment {
    /// Number of the first octet (SEG.SEQ).
    pub(crate) start: u64,
    /// Octets of payload.
    pub(crate) length: u32,
    /// Acknowledgement number (SEG.ACK); `None` only in a connection's first SYN.
    pub(crate) ack: Option<u64>,
    /// Window beyond `ack` (SEG.WND); a scaled window is given exactly.
    pub(crate) window: u64,
    pub(crate) sacks: Sacks,
    /// In a SYN: SACK options are permitted.
    pub(crate) sack_permitted: bool,
    /// Time at which the segment was sent, if the timestamps option is in use (`TSval`).
    pub(crate) stamp: Option<Instant>,
    /// Echoed timestamp (`TSecr`).
    pub(crate) echo: Option<Instant>,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    /// ECE: the receiver saw a congestion mark; with `cwr` in a SYN: ECN is offered (RFC 3168, 6.1.1).
    pub(crate) ece: bool,
    /// CWR: the sender has reduced its window.
    pub(crate) cwr: bool,
    /// ECN field of the IP header: with ECT the network may mark the packet instead of dropping it.
    pub(crate) ecn: Ecn,
    /// Octets of payload that have arrived with a mark so far, if the receiver counts them. Takes no room.
    pub(crate) marked: u64,
    /// In a SYN: reports of losses are understood or sent.
    pub(crate) reports: bool,
    /// Report on missing packets.
    pub(crate) report: Option<Report>,
    /// Discard priority, in the IP header.
    pub(crate) discard_priority: Option<u8>,
}

impl Segment {
    /// The number after the segment's last octet, with SYN and FIN counted.
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.length) + u64::from(self.syn) + u64::from(self.fin)
    }

    /// Octets that the segment reports to have arrived twice (D-SACK: RFC 2883, section 4).
    pub(super) fn twice(&self) -> Option<Block> {
        let [first, others @ ..] = self.sacks.blocks() else { return None };
        let inside = others.first().is_some_and(|second| second.start <= first.start && first.end <= second.end);
        (self.ack >= Some(first.end) || inside).then_some(*first)
    }

    /// Length of the TCP header with its options.
    pub(crate) fn header(&self) -> Bytes {
        let timestamps = if self.stamp.is_some() { TIMESTAMPS } else { 0 };
        let blocks = self.sacks.blocks().len() as u64;
        let sack = if blocks > 0 { SACK + SACK_BLOCK * blocks } else { 0 };
        let report = if self.report.is_some() { REPORT } else { 0 };
        Bytes::new(HEADER + timestamps + sack + report + if self.syn { self.syn_options() } else { 0 })
    }

    fn syn_options(&self) -> u64 {
        let permitted = if self.sack_permitted && self.stamp.is_none() { SACK_PERMITTED } else { 0 };
        let scale = if self.window > UNSCALED_WINDOW { WINDOW_SCALE } else { 0 };
        let reports = if self.reports { REPORTS } else { 0 };
        MAXIMUM_SEGMENT_SIZE + permitted + scale + reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_their_real_sizes() {
        let plain = Segment { length: 1000, ..Segment::default() };
        let stamped = Segment { stamp: Some(Instant::ZERO), ..plain };
        let mut sacks = Sacks::default();
        (0..3).for_each(|i| sacks.push(Block { start: 10 * i, end: 10 * i + 1 }));
        let full = Segment { sacks, ..stamped };
        let syn = Segment { syn: true, sack_permitted: true, window: 4_000_000, ..stamped };
        let old = Segment { syn: true, window: 65_535, ..Segment::default() };
        let report = Segment { report: Some(Report::Wireless), ..stamped };
        let reports = Segment { reports: true, ..old };
        let sizes = [plain, stamped, full, syn, old, report, reports].map(|segment| segment.header().count());
        assert_eq!(sizes, [20, 32, 60, 40, 24, 40, 28]);
    }

    #[test]
    fn a_first_block_below_the_acknowledgement_or_within_the_second_came_twice() {
        let of = |blocks: &[(u64, u64)]| {
            let mut sacks = Sacks::default();
            for &(start, end) in blocks {
                sacks.push(Block { start, end });
            }
            Segment { ack: Some(100), sacks, ..Segment::default() }.twice().map(|block| block.start)
        };
        assert_eq!([of(&[(50, 100)]), of(&[(120, 140), (110, 140)])], [Some(50), Some(120)]);
        assert_eq!([of(&[]), of(&[(50, 101)]), of(&[(120, 140), (130, 150)])], [None; 3]);
    }

    #[test]
    fn a_fifth_sack_block_is_left_out() {
        let mut sacks = Sacks::default();
        (0..5).for_each(|i| sacks.push(Block { start: 10 * i, end: 10 * i + 1 }));
        assert_eq!(sacks.blocks().len(), 4);
        assert_eq!(sacks.blocks()[3].start, 30);
    }
}
