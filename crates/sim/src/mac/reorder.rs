//! The receiver's side of BlockAck: scoreboard, and packets that wait for those before them (IEEE 802.11-2016, 10.24.3,
//! 10.24.4 and 10.24.7.6).

use super::{SEQUENCES, WINDOW};
use crate::engine::Handle;

/// Reorder state of a receiver for one sender and category.
#[derive(Debug)]
pub(crate) struct Reorder {
    /// All frames before this number have been passed on or given up (`WinStartB`).
    start: u16,
    /// State of the frames after it, by number modulo the window.
    held: [Slot; WINDOW as usize],
    /// Number of slots that are not [`Slot::Missing`].
    ahead: u16,
    /// While below `target`, the start moves on past missing frames.
    target: u16,
    /// First of the 64 numbers in the scoreboard (`WinStartR`).
    reported_from: u16,
    /// One bit for each of them.
    reported: u64,
}

/// State of a frame after the start of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// It has not arrived.
    Missing,
    /// It has arrived; its packet waits (the first of several).
    Waits(Handle),
    /// It has arrived, and none of its packets waits.
    Passed,
}

/// Action for a frame that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Drop: it had arrived before.
    Duplicate,
    /// Pass on now.
    Next,
    /// Keep by [`Reorder::hold`]: frames before it are missing.
    Later,
}

impl Reorder {
    pub(super) fn new() -> Self {
        Self { start: 0, held: [Slot::Missing; WINDOW as usize], ahead: 0, target: 0, reported_from: 0, reported: 0 }
    }

    /// Records a frame in the scoreboard and moves the window so that the frame lies inside. The host then asks for
    /// packets that are [released](Self::release), and after that what to [do](Self::classify) with the frame.
    pub(crate) fn arrives(&mut self, sequence: u16) {
        let ahead = distance(self.reported_from, sequence);
        if ahead < WINDOW {
            self.reported |= 1 << ahead;
        } else if ahead < SEQUENCES / 2 {
            self.report_from(later(sequence, SEQUENCES - WINDOW + 1));
            self.reported |= 1 << (WINDOW - 1);
        }
        let ahead = distance(self.start, sequence);
        if (WINDOW..SEQUENCES / 2).contains(&ahead) {
            self.target = later(sequence, SEQUENCES - WINDOW + 1);
        }
    }

    /// Fast path for up to 64 frames in a row from this number on, if each is the next to be passed on and nothing
    /// waits: equal to [`arrives`](Self::arrives) and [`classify`](Self::classify) for each. False if they must go that
    /// way; then nothing has happened.
    pub(crate) fn passes(&mut self, first: u16, frames: u16) -> bool {
        let from = distance(self.reported_from, first);
        if first != self.start || self.start != self.target || self.ahead > 0 || from > WINDOW {
            return false;
        }
        self.start = later(self.start, frames);
        self.target = self.start;
        // As many as lie behind the window of the scoreboard move it.
        let moved = (from + frames).saturating_sub(WINDOW);
        self.report_from(later(self.reported_from, moved));
        let bits = u64::MAX >> (WINDOW - frames);
        self.reported |= bits << (from - moved);
        true
    }

    /// Returns the slot of a frame that has arrived.
    pub(crate) fn classify(&mut self, sequence: u16) -> Arrival {
        match distance(self.start, sequence) {
            0 => {
                self.start = later(self.start, 1);
                self.target = self.start;
                Arrival::Next
            }
            ahead if ahead < WINDOW && self.held[slot(sequence)] == Slot::Missing => Arrival::Later,
            _ => Arrival::Duplicate,
        }
    }

    /// Keeps the packet of a [later](Arrival::Later) frame until those before it have come; none if no packet of it has
    /// to wait.
    pub(crate) fn hold(&mut self, sequence: u16, packet: Option<Handle>) {
        self.held[slot(sequence)] = packet.map_or(Slot::Passed, Slot::Waits);
        self.ahead += 1;
    }

    /// Forgets frames before this number, which the sender will not send again (BlockAckReq).
    pub(crate) fn forget_before(&mut self, sequence: u16) {
        if distance(self.start, sequence) < SEQUENCES / 2 {
            self.target = sequence;
        }
        if distance(self.reported_from, sequence) < SEQUENCES / 2 {
            self.report_from(sequence);
        }
    }

    /// True if the window can move on, past frames that have arrived or are no longer awaited.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.held[slot(self.start)] != Slot::Missing || self.start != self.target
    }

    /// The next packet that can be passed on. The host asks until there is none.
    pub(crate) fn release(&mut self) -> Option<Handle> {
        loop {
            if !self.is_ready() {
                return None;
            }
            let found = std::mem::replace(&mut self.held[slot(self.start)], Slot::Missing);
            self.ahead -= u16::from(found != Slot::Missing);
            if self.start == self.target {
                self.target = later(self.target, 1);
            }
            self.start = later(self.start, 1);
            if let Slot::Waits(packet) = found {
                return Some(packet);
            }
        }
    }

    /// Content of a BlockAck: a first number, and a bit for it and each of the 63 after it.
    pub(crate) fn report(&self) -> (u16, u64) {
        (self.reported_from, self.reported)
    }

    /// The waiting packets.
    pub(crate) fn held(&self) -> impl Iterator<Item = Handle> {
        self.held.iter().filter_map(|slot| if let Slot::Waits(packet) = slot { Some(*packet) } else { None })
    }

    fn report_from(&mut self, sequence: u16) {
        let moved = distance(self.reported_from, sequence);
        self.reported = self.reported.checked_shr(u32::from(moved)).unwrap_or(0);
        self.reported_from = sequence;
    }
}

/// Returns the distance from `from` to `to`, modulo the 12 bits of a number.
pub(super) fn distance(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % SEQUENCES
}

fn later(sequence: u16, by: u16) -> u16 {
    (sequence + by) % SEQUENCES
}

fn slot(sequence: u16) -> usize {
    usize::from(sequence % WINDOW)
}
