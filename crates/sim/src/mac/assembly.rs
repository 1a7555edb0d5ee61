//! Assembly of data frames: the packets that join a frame, within the limits of aggregation and of the TXOP.

use super::buffer::{Joins, Size, share};
use super::station::{Cleared, Station};
use super::{BROADCAST, Conventions, LONGEST_MSDU, Msdu, WINDOW};
use crate::engine::Handle;
use crate::radio::Mode;
use units::{Bytes, Duration, Instant};

/// A frame under construction from packets of a category.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assembly {
    /// Receiver.
    pub(crate) to: u32,
    /// Access category.
    pub(crate) category: u8,
    /// True if packets may join only up to the first for another receiver: repetitions must not hold others back for
    /// ever.
    pub(crate) in_turn: bool,
    pub(super) size: Size,
    /// Longest frame whose data end in time.
    longest: Bytes,
}

/// Room for a packet in a frame under construction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    joins: Joins,
    /// Size of the frame with the packet.
    size: Size,
}

impl Station {
    /// The frame under construction that more packets may join, now that one is due; none if nothing can join.
    pub(crate) fn assemble(&self, now: Instant, rules: &Conventions) -> Option<Assembly> {
        let buffer = &self.buffers[usize::from(self.holder)];
        if !rules.aggregates() || self.fixed.is_some() || buffer.request.is_some() || buffer.to == BROADCAST {
            return None;
        }
        let longest = self.longest(now, rules);
        let size = buffer.select(|size| fits(size, longest, rules));
        let in_turn = buffer.mpdus.iter().any(|mpdu| mpdu.tried);
        (size.frames == buffer.mpdus.len()).then_some(Assembly {
            to: buffer.to,
            category: self.holder,
            in_turn,
            size,
            longest,
        })
    }

    /// By what share of a full frame the end of a TXOP that others began has cut a frame which a packet of `length`
    /// could join otherwise, in units of `whole`.
    pub(crate) fn cut_off(&self, assembly: &Assembly, length: Bytes, whole: u32, rules: &Conventions) -> u32 {
        if self.cleared != Cleared::Yes || self.txop.is_zero() {
            return 0;
        }
        let size = assembly.size;
        let fresh = self.largest_frame(assembly.category, Some(self.mode_to(assembly.to, &rules.timing)), rules);
        let buffer = &self.buffers[usize::from(self.holder)];
        if fresh <= size.psdu || buffer.joins(length, size, rules, |size| fits(size, fresh, rules)).is_none() {
            return 0;
        }
        let psdu = size.psdu.count();
        // What is limited in frames is full before it is as long as it may be.
        let most = match rules.aggregation.ampdu {
            Some(_) => {
                psdu * u64::from(rules.aggregation.frames) / u64::try_from(size.frames.max(1)).expect("at most 64")
            }
            None => fresh.count(),
        };
        let full = fresh.count().min(most).max(psdu);
        u32::try_from((full - psdu) * u64::from(whole) / full.max(1)).expect("a part of the whole")
    }

    /// Room for a packet of `length` to its receiver, if it can join.
    pub(crate) fn room(&self, assembly: &Assembly, length: Bytes, rules: &Conventions) -> Option<Room> {
        let fits = |size| fits(size, assembly.longest, rules);
        let (joins, size) = self.buffers[usize::from(self.holder)].joins(length, assembly.size, rules, fits)?;
        Some(Room { joins, size })
    }

    /// Adds a packet that [has room](Self::room). Returns the packet that it follows in an A-MSDU, to be chained.
    pub(crate) fn join(
        &mut self,
        assembly: &mut Assembly,
        room: Room,
        msdu: Msdu,
        rules: &Conventions,
    ) -> Option<Handle> {
        assembly.size = room.size;
        let holder = usize::from(self.holder);
        match room.joins {
            Joins::Part => Some(self.buffers[holder].extend(msdu, rules)),
            Joins::Mpdu => {
                // It follows a frame to the same receiver.
                let buffer = &mut self.buffers[holder];
                buffer.push(msdu, buffer.next(), rules);
                None
            }
        }
    }

    /// Adds as many packets of `length`, as frames of their own, as have room. `next` yields them one by one. Returns
    /// their number.
    pub(crate) fn fill(
        &mut self,
        assembly: &mut Assembly,
        length: Bytes,
        rules: &Conventions,
        mut next: impl FnMut() -> Handle,
    ) -> u16 {
        let buffer = &mut self.buffers[usize::from(self.holder)];
        let fits = |size| fits(size, assembly.longest, rules);
        let (joined, size) = buffer.frames(rules.mpdu(length), WINDOW, assembly.size, rules, fits);
        assembly.size = size;
        for _ in 0..joined {
            buffer.push(Msdu { packet: next(), length }, buffer.next(), rules);
        }
        joined
    }

    /// Completes a frame under construction: sequence numbers go on after its own.
    pub(super) fn assembled(&mut self, assembly: &Assembly) {
        let holder = usize::from(self.holder);
        self.peers.go_on(assembly.to, holder, self.buffers[holder].next());
    }

    /// The aggregate that is sent if none is fixed yet.
    pub(super) fn selected(&self, now: Instant, rules: &Conventions) -> Size {
        let buffer = &self.buffers[usize::from(self.holder)];
        // A single frame goes, however long it lasts.
        if buffer.mpdus.len() == 1 {
            return Size::NONE.with(buffer.mpdus[0].psdu);
        }
        let longest = self.longest(now, rules);
        buffer.select(|size| fits(size, longest, rules))
    }

    /// The longest data frame that can begin now and end in time, including its announcement.
    fn longest(&self, now: Instant, rules: &Conventions) -> Bytes {
        let mode = self.mode_to(self.buffers[usize::from(self.holder)].to, &rules.timing);
        let time = self.data_end(now, rules).since(now);
        if self.cleared == Cleared::No { rules.longest(mode, time) } else { rules.timing.longest(mode, time) }
    }

    /// Returns the time at which data that begin now have to be over in this TXOP.
    fn data_end(&self, now: Instant, rules: &Conventions) -> Instant {
        if self.txop.is_zero() {
            return now + rules.aggregation.duration;
        }
        let after = rules.timing.sifs + rules.timing.block_ack;
        (now + rules.aggregation.duration).min(now + self.txop_end.since(now).saturating_sub(after))
    }

    /// Longest data frame of a category: an A-MPDU by its limits in bytes and, once data were sent in a mode, in time;
    /// without A-MPDUs the longest MPDU.
    pub(crate) fn largest_frame(&self, category: u8, mode: Option<Mode>, rules: &Conventions) -> Bytes {
        let aggregation = &rules.aggregation;
        let Some(most) = aggregation.ampdu else { return rules.mpdu(aggregation.amsdu.unwrap_or(LONGEST_MSDU)) };
        let Some(mode) = mode else { return most };
        let after = rules.timing.sifs + rules.timing.block_ack;
        let in_txop = match self.access[usize::from(category)].txop_limit {
            Duration::ZERO => Duration::MAX,
            limit => limit.saturating_sub(after),
        };
        let time = aggregation.duration.min(in_txop);
        rules.longest(mode, time).min(most)
    }

    /// What share a packet of `length` has of the longest frame of a category to its receiver, in units of `whole`.
    pub(crate) fn share_of_frame(&self, to: u32, category: u8, length: Bytes, whole: u32, rules: &Conventions) -> u32 {
        if to == BROADCAST || !rules.aggregates() {
            return whole;
        }
        let longest = self.largest_frame(category, Some(self.mode_to(to, &rules.timing)), rules);
        share(length, longest, whole, rules)
    }
}

/// True if an aggregate of this size keeps to all limits; `longest` is that of time.
fn fits(size: Size, longest: Bytes, rules: &Conventions) -> bool {
    let aggregation = &rules.aggregation;
    let short = size.frames == 1 || aggregation.ampdu.is_some_and(|most| size.psdu <= most);
    short && size.frames <= usize::from(aggregation.frames) && size.psdu <= longest
}
