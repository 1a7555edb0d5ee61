//! Fast paths through a queue for hosts that handle many packets at one instant.

use crate::disciplines::{AnyDiscipline, Fifo};
use crate::packet::Packet;
use crate::queue::Queue;
use units::{Bytes, Instant};

/// Fast paths through a queue. Each has the same effect as calls of [`enqueue`](Queue::enqueue) and
/// [`take`](Queue::take), and exists only for a plain queue (drop-tail or drop-head).
pub trait Batch<P> {
    /// True if no packet is queued and [`take`](Queue::take) would change nothing.
    fn is_idle(&self) -> bool;

    /// Passes a packet of this length through an idle queue, which does not store it. False if the packet must be
    /// enqueued and taken; nothing has changed then.
    fn pass_idle(&mut self, now: Instant, length: Bytes) -> bool;

    /// Returns the queued packets in the order in which they leave; none for other disciplines.
    fn in_line<'q>(&'q self) -> impl Iterator<Item = &'q P>
    where
        P: 'q;

    /// True if packets of this length can [pass](Self::pass): a packet is queued and, whenever one has left, the next
    /// one fits.
    fn lets_pass(&self, length: Bytes) -> bool;

    /// Enqueues and takes a batch of at least one of `packets`, all of one length and at one instant. Each arrives as
    /// the previous one leaves. The queued packets must have arrived at this instant, too, have this length, and [let
    /// them pass](Self::lets_pass). From now on the queued packets stand for the batch's last.
    fn pass(&mut self, now: Instant, length: Bytes, packets: u64);
}

impl<P: Packet> Batch<P> for Queue<P> {
    #[inline]
    fn is_idle(&self) -> bool {
        matches!(self.packets, AnyDiscipline::Fifo(_)) && self.account.is_empty()
    }

    #[inline]
    fn pass_idle(&mut self, now: Instant, length: Bytes) -> bool {
        let passes = self.is_idle() && self.account.fits(length.count());
        if passes {
            self.account.passes_idle(now, length.count());
        }
        passes
    }

    fn in_line<'q>(&'q self) -> impl Iterator<Item = &'q P>
    where
        P: 'q,
    {
        self.packets.plain().into_iter().flat_map(Fifo::iter)
    }

    fn lets_pass(&self, length: Bytes) -> bool {
        self.packets.plain().is_some() && self.account.fits_in_turn(length.count())
    }

    fn pass(&mut self, now: Instant, length: Bytes, packets: u64) {
        self.account.pass(now, length.count(), packets);
    }
}
