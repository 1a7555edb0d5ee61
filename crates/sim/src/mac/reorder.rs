//! The receiver's side of BlockAck: scoreboard, and packets that wait for earlier packets (IEEE 802.11-2016, 10.24.3,
//! 10.24.4 and 10.24.7.6).

use super::SEQUENCES;
use crate::engine::{Bitmap, Handle};

/// Reorder state of a receiver for one sender and category.
#[derive(Debug)]
pub(crate) struct Reorder {
    /// All frames before this number have been passed on or given up (`WinStartB`).
    start: u16,
    /// Size of the window, a power of two.
    window: u16,
    /// State of the frames from the start of the window, by number modulo the window.
    held: Box<[Slot]>,
    /// Number of slots that are not [`Slot::Missing`].
    ahead: u16,
    /// Number below which the start moves on past missing frames.
    target: u16,
    /// Content of a BlockAck.
    pub(crate) scoreboard: Scoreboard,
}

/// Content of a BlockAck: the frames that have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scoreboard {
    /// First number (`WinStartR`).
    pub(crate) start: u16,
    /// A bit for this number and each following number in the window.
    pub(crate) arrived: Bitmap,
}

/// State of a frame after the start of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Missing,
    /// The frame has arrived; its packet (the first of several) waits.
    Waits(Handle),
    /// The frame has arrived, and none of its packets waits.
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
    /// An empty window, as large as the BlockAck agreement has it.
    pub(super) fn new(window: u16) -> Self {
        let held = vec![Slot::Missing; usize::from(window)].into();
        Self { start: 0, window, held, ahead: 0, target: 0, scoreboard: Scoreboard::default() }
    }

    /// Records a frame in the scoreboard and moves the window so that the frame lies inside. The host then asks for
    /// packets that are [released](Self::release), and after that how to [treat](Self::classify) the frame.
    pub(crate) fn arrives(&mut self, sequence: u16) {
        let window = self.window;
        let ahead = distance(self.scoreboard.start, sequence);
        if ahead < window {
            self.scoreboard.arrived.set(ahead.into());
        } else if ahead < SEQUENCES / 2 {
            self.report_from(later(sequence, SEQUENCES - window + 1));
            self.scoreboard.arrived.set(usize::from(window) - 1);
        }
        let ahead = distance(self.start, sequence);
        if (window..SEQUENCES / 2).contains(&ahead) {
            self.target = later(sequence, SEQUENCES - window + 1);
        }
    }

    /// Fast path for up to a window of consecutive frames from this number on, if each is the next to be passed on and
    /// nothing waits: equal to [`arrives`](Self::arrives) and [`classify`](Self::classify) for each frame. False if the
    /// fast path cannot be taken; then nothing has changed.
    pub(crate) fn passes(&mut self, first: u16, frames: u16) -> bool {
        let (window, from) = (self.window, distance(self.scoreboard.start, first));
        if first != self.start || self.start != self.target || self.ahead > 0 || from > window {
            return false;
        }
        self.start = later(self.start, frames);
        self.target = self.start;
        // The scoreboard's window moves by the number of frames behind it.
        let moved = (from + frames).saturating_sub(window);
        self.report_from(later(self.scoreboard.start, moved));
        self.scoreboard.arrived.set_row(from - moved, frames);
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
            ahead if ahead < self.window && self.held[self.slot(sequence)] == Slot::Missing => Arrival::Later,
            _ => Arrival::Duplicate,
        }
    }

    /// Stores the packet of a [later](Arrival::Later) frame until the frames before it have come; none if no packet has
    /// to wait.
    pub(crate) fn hold(&mut self, sequence: u16, packet: Option<Handle>) {
        let slot = self.slot(sequence);
        self.held[slot] = packet.map_or(Slot::Passed, Slot::Waits);
        self.ahead += 1;
    }

    /// Forgets frames before this number, which the sender will not send again (BlockAckReq).
    pub(crate) fn forget_before(&mut self, sequence: u16) {
        if distance(self.start, sequence) < SEQUENCES / 2 {
            self.target = sequence;
        }
        if distance(self.scoreboard.start, sequence) < SEQUENCES / 2 {
            self.report_from(sequence);
        }
    }

    /// True if the window can move on, past frames that have arrived or are no longer awaited.
    pub(crate) fn is_ready(&self) -> bool {
        self.held[self.slot(self.start)] != Slot::Missing || self.start != self.target
    }

    /// The next packet that can be passed on. The host asks until no packet is left.
    pub(crate) fn release(&mut self) -> Option<Handle> {
        loop {
            if !self.is_ready() {
                return None;
            }
            let slot = self.slot(self.start);
            let found = std::mem::replace(&mut self.held[slot], Slot::Missing);
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

    /// The waiting packets.
    pub(crate) fn held(&self) -> impl Iterator<Item = Handle> {
        self.held.iter().filter_map(|slot| if let Slot::Waits(packet) = slot { Some(*packet) } else { None })
    }

    fn report_from(&mut self, sequence: u16) {
        let moved = distance(self.scoreboard.start, sequence);
        if moved > 0 {
            self.scoreboard.arrived.shift_down(moved);
        }
        self.scoreboard.start = sequence;
    }

    fn slot(&self, sequence: u16) -> usize {
        usize::from(sequence & (self.window - 1))
    }
}

/// Returns the distance from `from` to `to`, modulo the 12 bits of a number.
pub(super) fn distance(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % SEQUENCES
}

fn later(sequence: u16, by: u16) -> u16 {
    (sequence + by) % SEQUENCES
}
