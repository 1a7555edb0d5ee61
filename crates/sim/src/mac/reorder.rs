//! The receiver's side of BlockAck: the scoreboard, and packets that wait for earlier ones (IEEE 802.11-2016, 10.24.3,
//! 10.24.4 and 10.24.7.6).

use super::SEQUENCES;
use crate::engine::{Bitmap, Handle};

/// A receiver's state for reordering the frames of one sender in one category.
#[derive(Debug)]
pub(crate) struct Reorder {
    /// All frames before this number have been passed on or given up (`WinStartB`).
    start: u16,
    /// Size of the window, a power of two.
    window: u16,
    /// State of the frames from the start of the window on; the index is the number modulo the window.
    held: Box<[Slot]>,
    /// Number of entries that are not [`Slot::Missing`].
    ahead: u16,
    /// Number to which the start of the window moves on, even past missing frames.
    target: u16,
    /// What a BlockAck would report.
    pub(crate) scoreboard: Scoreboard,
}

/// Content of a BlockAck: which frames have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scoreboard {
    /// Number of the first frame that it reports (`WinStartR`).
    pub(crate) start: u16,
    /// One bit for each number in the window, `start` first.
    pub(crate) arrived: Bitmap,
}

/// State of a frame in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Missing,
    /// The frame has arrived; its packet (the first of several) waits.
    Waits(Handle),
    /// The frame has arrived, and none of its packets waits.
    Passed,
}

/// What to do with a frame that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Drop it: it is a repetition of a frame that has arrived.
    Duplicate,
    /// Pass it on now.
    Next,
    /// Keep it with [`Reorder::hold`]: frames before it are missing.
    Later,
}

impl Reorder {
    /// Makes an empty window, as large as the BlockAck agreement says.
    pub(super) fn new(window: u16) -> Self {
        let held = vec![Slot::Missing; usize::from(window)].into();
        Self { start: 0, window, held, ahead: 0, target: 0, scoreboard: Scoreboard::default() }
    }

    /// Records a frame in the scoreboard, and moves the window so that the frame lies inside. The host then takes the
    /// packets that are [released](Self::release), and after that asks how to [treat](Self::classify) the frame.
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

    /// Fast path for consecutive frames from `first` on, at most a window of them. Acts as [`arrives`](Self::arrives)
    /// and [`classify`](Self::classify) per frame. Each frame must be the next to pass on, and nothing may wait. If
    /// this is not so, it returns false and changes nothing.
    pub(crate) fn passes(&mut self, first: u16, frames: u16) -> bool {
        let (window, from) = (self.window, distance(self.scoreboard.start, first));
        if first != self.start || self.start != self.target || self.ahead > 0 || from > window {
            return false;
        }
        self.start = later(self.start, frames);
        self.target = self.start;
        // The scoreboard's window moves by as many frames as lie behind it.
        let moved = (from + frames).saturating_sub(window);
        self.report_from(later(self.scoreboard.start, moved));
        self.scoreboard.arrived.set_row(from - moved, frames);
        true
    }

    /// Returns what to do with a frame that has arrived.
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

    /// Stores the packet of a [later](Arrival::Later) frame until the frames before it have come. `packet` is `None` if
    /// no packet has to wait.
    pub(crate) fn hold(&mut self, sequence: u16, packet: Option<Handle>) {
        let slot = self.slot(sequence);
        self.held[slot] = packet.map_or(Slot::Passed, Slot::Waits);
        self.ahead += 1;
    }

    /// Forgets frames before this number: according to a BlockAckReq the sender will not send them again.
    pub(crate) fn forget_before(&mut self, sequence: u16) {
        if distance(self.start, sequence) < SEQUENCES / 2 {
            self.target = sequence;
        }
        if distance(self.scoreboard.start, sequence) < SEQUENCES / 2 {
            self.report_from(sequence);
        }
    }

    /// True if the window can move past frames that have arrived or are no longer awaited.
    pub(crate) fn is_ready(&self) -> bool {
        self.held[self.slot(self.start)] != Slot::Missing || self.start != self.target
    }

    /// Returns the next packet that can be passed on; the host asks until there is none.
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

    /// Returns the packets that wait.
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

/// Returns the distance from `from` to `to`, modulo the 12 bits of a sequence number.
pub(super) fn distance(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % SEQUENCES
}

fn later(sequence: u16, by: u16) -> u16 {
    (sequence + by) % SEQUENCES
}
