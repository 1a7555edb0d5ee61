//! First in, first out, with drops at the tail or at the head.

use crate::account::Waiting;
use crate::discipline::{Context, Purge};
use crate::packet::Packet;
use std::collections::VecDeque;

/// An end of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The packets that waited longest.
    Head,
    /// The packets that arrived last.
    Tail,
}

/// Packets in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    ring: VecDeque<Waiting<P>>,
    pub(crate) overflow: End,
    /// Which packets are discarded when the limit shrinks.
    pub(crate) purge: Purge,
}

impl<P: Packet> Fifo<P> {
    /// Makes an empty FIFO. A shrinking limit discards at the end at which it drops, unless `purge` says otherwise.
    pub(crate) fn new(overflow: End, purge: Option<Purge>) -> Self {
        let purge = purge.unwrap_or(match overflow {
            End::Head => Purge::Head,
            End::Tail => Purge::Tail,
        });
        Self { ring: VecDeque::new(), overflow, purge }
    }

    /// Takes an arriving packet. If it does not fit, packets at the head are dropped, if that makes room, or the packet
    /// itself is dropped.
    #[inline(always)] // once a packet: the call costs an aggregating station 1 %
    pub(crate) fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
        let len = packet.len().count();
        if !cx.account.fits(len) {
            if self.overflow == End::Tail || !cx.account.fits_alone(len) {
                return cx.account.refuse(packet, cx.dropped);
            }
            while !cx.account.fits(len) {
                self.discard(End::Head, cx);
            }
        }
        debug_assert!(self.ring.back().is_none_or(|last| last.since <= cx.now), "time does not run back");
        self.ring.push_back(Waiting { packet, since: cx.now });
        cx.account.joins(cx.now, len);
        debug_assert_eq!(self.ring.len() as u64, cx.account.backlog().packets);
    }

    /// Discards the packet at the tail.
    pub(crate) fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
        self.discard(End::Tail, cx);
    }

    /// Puts a packet before all other packets.
    pub(crate) fn put_first(&mut self, waiting: Waiting<P>) {
        self.ring.push_front(waiting);
    }

    /// Returns the queued packets in order of arrival.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &P> {
        self.ring.iter().map(|waiting| &waiting.packet)
    }

    /// Returns the number of waiting packets.
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    /// Puts a packet that was removed back behind `index` other packets.
    pub(crate) fn put_back(&mut self, index: usize, waiting: Waiting<P>) {
        debug_assert!(index <= self.ring.len());
        self.ring.insert(index, waiting);
    }

    /// Returns the packet behind `index` others.
    #[inline]
    pub(crate) fn peek(&self, index: usize, _: &mut Context<impl FnMut(P)>) -> Option<&P> {
        self.ring.get(index).map(|waiting| &waiting.packet)
    }

    /// Removes and returns the packet behind `index` others.
    #[inline]
    pub(crate) fn remove(&mut self, index: usize, _: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
        if index == 0 { self.ring.pop_front() } else { self.ring.remove(index) }
    }

    /// Discards packets above the limit after the limit has shrunk.
    pub(crate) fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
        let end = match self.purge {
            Purge::Head => End::Head,
            Purge::Tail => End::Tail,
            Purge::None => return,
        };
        while cx.account.is_over() {
            self.discard(end, cx);
        }
        debug_assert!(!cx.account.is_over(), "the limit holds");
        debug_assert_eq!(self.ring.len() as u64, cx.account.backlog().packets);
    }

    /// Discards all packets that are `unwanted`.
    pub(crate) fn discard_where(&mut self, unwanted: &mut impl FnMut(&P) -> bool, cx: &mut Context<impl FnMut(P)>) {
        cx.account.discard_where(&mut self.ring, unwanted, cx.dropped);
        debug_assert_eq!(self.ring.len() as u64, cx.account.backlog().packets);
    }

    fn discard(&mut self, end: End, cx: &mut Context<impl FnMut(P)>) {
        let gone = match end {
            End::Head => self.ring.pop_front(),
            End::Tail => self.ring.pop_back(),
        };
        let Waiting { packet, .. } = gone.expect("only a queue that holds something exceeds a limit");
        cx.account.discard(packet, cx.dropped);
    }
}
