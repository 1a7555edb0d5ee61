//! The frames that a station holds, by category and receiver, until they are acknowledged or given up.

use super::buffer::{Assembly, Buffer, Joins, Request, Room};
use super::peers::Peers;
use super::reorder::distance;
use super::{BROADCAST, Conventions, Finished, Mpdu, Msdu, Reorder, Report, SEQUENCES, Scoreboard};
use crate::engine::{Bitmap, Handle};
use crate::radio::Mode;
use units::{Bytes, Instant};

/// Flag in the category of frames that are set aside: their receiver sleeps, so they are not sent until it wakes.
const SUSPENDED: u8 = 1 << 7;

/// How failed frames were sent. It decides which retry counter the failure increases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Sent without RTS.
    Plain,
    /// Sent after RTS and CTS.
    Cleared,
    /// Announced by an RTS, but not sent.
    Announced,
}

/// A station's part of a PPDU to several stations, held by the sender.
#[derive(Debug)]
pub(super) struct User {
    pub(super) buffer: Buffer,
    pub(super) mode: Mode,
    pub(super) psdu: Bytes,
}

/// A part of an HE MU PPDU, as its sender reports it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) to: u32,
    pub(crate) mode: Mode,
    pub(crate) psdu: Bytes,
    pub(crate) frames: usize,
    /// Number of the part's frames that are sent again.
    pub(crate) repeated: usize,
}

/// The frames that a station holds, and the sequence numbers of frames that it has sent and received.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Address of the station.
    own: u32,
    /// Category of the present exchange or, between exchanges, of the last one.
    pub(super) holder: u8,
    /// Parts of a PPDU to several stations whose outcome is not known yet.
    pub(super) users: Vec<User>,
    /// For each category, the frames that the station sends next.
    pub(super) buffers: Vec<Buffer>,
    /// Frames, with their category, that wait until it is their receiver's turn; `buffers` has the next receiver's.
    pub(super) aside: Vec<(u8, Buffer)>,
    /// Empty buffers. They are reused so that frames set aside need no new memory each time.
    pub(super) spare: Vec<Buffer>,
    /// Bitmask of categories that hold frames after an exchange, so that it may be another receiver's turn. The host
    /// takes the mask. For each category it [resumes](super::Station::resume) the frames for one receiver, or [sets
    /// aside](super::Station::set_aside) the next frames and offers another packet.
    pub(crate) paused: u8,
    /// False if all packets come from one queue, so that no category is ever paused.
    pub(super) takes_turns: bool,
    next_sequence: u16,
    pub(super) peers: Peers,
    /// Data frames that are delivered or given up. The host swaps this list for an empty one, whose memory is reused.
    pub(crate) finished: Vec<Finished>,
}

impl Held {
    /// Makes an empty store for this number of categories.
    pub(super) fn new(own: u32, categories: usize) -> Self {
        Self { own, buffers: (0..categories).map(|_| Buffer::default()).collect(), ..Self::default() }
    }

    /// Returns the index of the category of the present or last exchange.
    pub(super) fn category(&self) -> usize {
        self.holder.into()
    }

    pub(super) fn present(&self) -> &Buffer {
        &self.buffers[self.category()]
    }

    pub(super) fn present_mut(&mut self) -> &mut Buffer {
        &mut self.buffers[usize::from(self.holder)]
    }

    pub(crate) fn mpdus(&self) -> impl Iterator<Item = &Mpdu> {
        self.mpdus_but(0)
    }

    /// Returns all frames, except the first `without` frames of the category whose exchange continues.
    pub(crate) fn mpdus_but(&self, without: usize) -> impl Iterator<Item = &Mpdu> {
        let skipped = move |index: usize| if index == self.category() { without } else { 0 };
        let next = self.buffers.iter().enumerate();
        let next = next.flat_map(move |(index, buffer)| buffer.mpdus.iter().skip(skipped(index)));
        let aside = self.aside.iter().map(|(_, buffer)| buffer);
        next.chain(aside.chain(self.users.iter().map(|user| &user.buffer)).flat_map(|buffer| &buffer.mpdus))
    }

    /// Returns the first packet of each frame, also of finished frames that were not reported yet.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = Handle> {
        self.mpdus().map(|mpdu| mpdu.packet).chain(self.finished.iter().map(|finished| finished.packet))
    }

    /// Returns the frames of the aggregate that is being sent or awaits its response.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &Mpdu> {
        let buffer = self.present();
        buffer.mpdus.iter().take(buffer.in_flight)
    }

    /// Returns the frames in flight to this receiver, also if it is one of several.
    pub(crate) fn in_flight_to(&self, to: u32) -> impl Iterator<Item = &Mpdu> {
        let own = self.users.iter().map(|user| &user.buffer).find(|buffer| buffer.to == to);
        let buffer = own.unwrap_or_else(|| self.present());
        buffer.mpdus.iter().take(buffer.in_flight)
    }

    /// Returns the parts of a PPDU to several stations.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        self.users.iter().map(|User { buffer, mode, psdu }| Part {
            to: buffer.to,
            mode: *mode,
            psdu: *psdu,
            frames: buffer.in_flight,
            repeated: buffer.mpdus.iter().take(buffer.in_flight).filter(|mpdu| mpdu.retry).count(),
        })
    }

    pub(crate) fn part(&self, to: u32) -> Option<(Mode, Bytes)> {
        self.users.iter().find(|user| user.buffer.to == to).map(|user| (user.mode, user.psdu))
    }

    /// Settles the frames of one of several stations. During this step they are the category's frames. Frames that
    /// remain wait for another turn.
    pub(super) fn settle_user(&mut self, to: u32, settle: impl FnOnce(&mut Self)) {
        let Some(place) = self.users.iter().position(|user| user.buffer.to == to) else { return };
        let User { buffer, .. } = self.users.swap_remove(place);
        let empty = std::mem::replace(self.present_mut(), buffer);
        settle(self);
        let settled = std::mem::replace(self.present_mut(), empty);
        if settled.is_empty() {
            self.spare.push(settled);
        } else {
            self.aside.push((self.holder, settled));
        }
    }

    /// Sets aside the frames that a category would send next, until it is their receiver's turn. False without any.
    pub(super) fn put_aside(&mut self, category: u8) -> bool {
        let buffer = &mut self.buffers[usize::from(category)];
        if buffer.is_empty() {
            return false;
        }
        let next = self.spare.pop().unwrap_or_default();
        debug_assert!(next.is_empty(), "a spare buffer has no frames");
        self.aside.push((category, std::mem::replace(buffer, next)));
        debug_assert!(self.buffers[usize::from(category)].is_empty(), "the category is free");
        true
    }

    /// True if a category holds frames after the end of an exchange; the host then chooses the next receiver.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused != 0
    }

    /// True if a category holds frames that are set aside.
    pub(crate) fn has_aside(&self, category: u8) -> bool {
        self.aside.iter().any(|&(other, _)| other == category)
    }

    /// Returns the receivers for which a category holds frames, the next one first, each with its first frame's packet.
    pub(crate) fn receivers(&self, category: u8) -> impl Iterator<Item = (u32, Option<Handle>)> + Clone {
        let next = Some(&self.buffers[usize::from(category)]).filter(|buffer| !buffer.is_empty());
        let aside = self.aside.iter().filter(move |&&(other, _)| other == category).map(|(_, buffer)| buffer);
        next.into_iter().chain(aside).map(|buffer| (buffer.to, buffer.mpdus.front().map(|mpdu| mpdu.packet)))
    }

    /// Makes categories take turns: a category that holds frames after an exchange is [paused](Self::is_paused).
    pub(crate) fn take_turns(&mut self) {
        self.takes_turns = true;
    }

    /// True if data frames are finished. Called after every other call, except calls about the medium's state.
    pub(crate) fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Returns the frames that this station's BlockAck to another station reports.
    pub(crate) fn scoreboard(&self, to: u32, category: u8) -> Scoreboard {
        self.peers.scoreboard(to, category)
    }

    pub(crate) fn reorders(&self) -> impl Iterator<Item = &Reorder> {
        self.peers.reorders()
    }

    /// Holds a packet for `to` as the category's first frame.
    #[inline(always)] // once a packet: the call costs a chain 1 %
    pub(crate) fn hold(&mut self, to: u32, category: u8, msdu: Msdu, rules: &Conventions) {
        let index = usize::from(category);
        let sequence = self.number(to, index, rules);
        let behind = rules.block_ack() && to != BROADCAST && self.peers.is_behind(to, index);
        let buffer = &mut self.buffers[index];
        debug_assert!(buffer.mpdus.is_empty(), "a category takes a packet when it has none");
        buffer.to = to;
        buffer.push(msdu, sequence, rules);
        if behind {
            buffer.request = Some(Request { to, start: sequence, failures: 0 });
        }
    }

    /// Returns the number of the next frame for `to`. Under EDCA each receiver and category has its own (10.3.2.11.2).
    #[inline(always)] // once a packet: the call costs a chain 0.4 %
    fn number(&mut self, to: u32, category: usize, rules: &Conventions) -> u16 {
        if rules.edca() && to != BROADCAST {
            return self.peers.next_sequence(to, category);
        }
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) % SEQUENCES;
        sequence
    }

    /// Returns the frames that the station holds for a receiver, with their category.
    pub(crate) fn held_for(&self, to: u32) -> impl Iterator<Item = (u8, &Mpdu)> {
        let next = (0..).zip(&self.buffers);
        let buffers = next.chain(self.aside.iter().map(|(category, buffer)| (category & !SUSPENDED, buffer)));
        let own = buffers.filter(move |(_, buffer)| buffer.to == to);
        own.flat_map(|(category, buffer)| buffer.mpdus.iter().map(move |mpdu| (category, mpdu)))
    }

    /// Keeps the frames for a sleeping receiver, all of which are set aside, from being sent.
    pub(super) fn suspend(&mut self, to: u32) {
        self.aside.iter_mut().filter(|(_, buffer)| buffer.to == to).for_each(|(category, _)| *category |= SUSPENDED);
    }

    /// Lets the frames for a receiver that is awake take turns again.
    pub(crate) fn restore(&mut self, to: u32) {
        self.aside.iter_mut().filter(|(_, buffer)| buffer.to == to).for_each(|(category, _)| *category &= !SUSPENDED);
    }

    pub(crate) fn holds(&self, category: u8) -> bool {
        !self.buffers[usize::from(category)].is_empty()
    }

    /// Returns the bytes of the frames held for a receiver in a category, without those in flight.
    pub(crate) fn waiting_for(&self, to: u32, category: u8) -> Bytes {
        let next = Some(&self.buffers[usize::from(category)]).filter(|buffer| buffer.to == to);
        let aside = self.aside.iter().filter(|(other, buffer)| *other == category && buffer.to == to);
        let buffers = next.into_iter().chain(aside.map(|(_, buffer)| buffer));
        let waiting = buffers.flat_map(|buffer| buffer.mpdus.iter().skip(buffer.in_flight));
        waiting.fold(Bytes::new(0), |sum, mpdu| sum + mpdu.psdu)
    }

    /// Moves the frames that the category holds for a station to the buffer from which they join the PPDU, if any.
    pub(crate) fn bring(&mut self, category: u8, to: u32) -> bool {
        let Some(place) = self.aside.iter().position(|(other, buffer)| *other == category && buffer.to == to) else {
            return false;
        };
        let (_, buffer) = self.aside.swap_remove(place);
        let empty = std::mem::replace(&mut self.buffers[usize::from(category)], buffer);
        self.spare.push(empty);
        true
    }

    /// Marks frames in flight as acknowledged or failed, as a BlockAck reports. Returns the outcome.
    pub(super) fn settle_reported(
        &mut self,
        now: Instant,
        attempt: Attempt,
        reported: &Scoreboard,
        rules: &Conventions,
    ) -> Option<Report> {
        let Scoreboard { start, arrived } = reported;
        self.settle(now, attempt, rules, |sequence| {
            let ahead = distance(*start, sequence);
            // All frames before the first number in the BlockAck have arrived or are no longer awaited.
            ahead >= SEQUENCES / 2 || ahead < Bitmap::BITS && arrived.has(ahead.into())
        })
    }

    /// Marks frames in flight as acknowledged or failed; `arrived` says which numbers arrived. Returns the outcome.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        attempt: Attempt,
        rules: &Conventions,
        arrived: impl Fn(u16) -> bool,
    ) -> Option<Report> {
        let lifetime = rules.aggregation.lifetime.filter(|_| attempt != Attempt::Announced);
        let Self { holder, finished, buffers, .. } = self;
        let category = *holder;
        let Buffer { to, mpdus, in_flight, .. } = &mut buffers[usize::from(category)];
        let (to, sent) = (*to, std::mem::take(in_flight));
        let (mut kept, mut acknowledged, mut gave_up) = (0, 0, false);
        // True if the failed frame will be sent again.
        let stays = |mpdu: &mut Mpdu| {
            if let Some(lifetime) = lifetime
                && sent > 1
            {
                return !mpdu.expires(now, lifetime);
            }
            let (failures, limit) = if attempt == Attempt::Cleared {
                (&mut mpdu.long_failures, rules.long_retry_limit)
            } else {
                (&mut mpdu.short_failures, rules.short_retry_limit)
            };
            *failures += 1;
            mpdu.tried = true;
            *failures < limit
        };
        for place in 0..sent {
            let mpdu = &mut mpdus[place];
            let delivered = arrived(mpdu.sequence);
            if !delivered && stays(mpdu) {
                mpdus.swap(kept, place);
                kept += 1;
                continue;
            }
            acknowledged += u16::from(delivered);
            gave_up |= !delivered;
            finished.push(Finished { packet: mpdu.packet, to, category, delivered });
        }
        match sent - kept {
            0 => {}
            gone if gone == mpdus.len() => mpdus.clear(),
            _ => drop(mpdus.drain(kept..sent)),
        }
        if gave_up {
            self.move_window(category.into(), rules);
        }
        let sent = u16::try_from(sent).expect("at most 256 frames");
        (sent > 0 && to != BROADCAST).then_some(Report { to, sent, acknowledged })
    }

    /// Handles an unanswered BlockAckReq. True if the request and, for now, its frames are given up; then also reports
    /// the failed attempt at these frames.
    pub(super) fn fail_request(
        &mut self,
        now: Instant,
        attempt: Attempt,
        rules: &Conventions,
    ) -> (bool, Option<Report>) {
        let Buffer { request, mpdus, in_flight, .. } = self.present_mut();
        let Request { to, failures, .. } = request.as_mut().expect("a request was sent");
        *failures = failures.saturating_add(1);
        let over = match rules.aggregation.lifetime {
            Some(_) if *in_flight > 0 => mpdus.iter().take(*in_flight).all(|mpdu| mpdu.is_expired(now)),
            Some(_) | None => *failures >= rules.short_retry_limit,
        };
        if !over {
            return (false, None);
        }
        let to = *to;
        *request = None;
        self.peers.set_behind(to, self.holder.into(), true);
        (true, self.settle(now, attempt, rules, |_| false))
    }

    /// Gives up the first frame of a category instead of sending it again.
    pub(super) fn give_up_first(&mut self, category: usize, rules: &Conventions) {
        let buffer = &mut self.buffers[category];
        let (to, first) = (buffer.to, buffer.mpdus.pop_front().expect("an attempt is for a packet"));
        let index = u8::try_from(category).expect("there are four categories");
        self.finished.push(Finished { packet: first.packet, to, category: index, delivered: false });
        self.move_window(category, rules);
    }

    /// Handles frames that were given up: with a BlockAck agreement the receiver must not wait for them (10.24.7.7).
    pub(super) fn move_window(&mut self, category: usize, rules: &Conventions) {
        let to = self.buffers[category].to;
        if to == BROADCAST || !rules.block_ack_of(self.own, to) {
            return;
        }
        let next = self.peers.peer(to).next[category];
        let buffer = &mut self.buffers[category];
        let start = buffer.mpdus.front().map_or(next, |first| first.sequence);
        buffer.request = Some(Request { to, start, failures: 0 });
    }

    /// After a missing BlockAck, sends a BlockAckReq to learn which frames have arrived.
    pub(super) fn ask_again(&mut self, now: Instant, category: usize, rules: &Conventions) {
        let buffer = &mut self.buffers[category];
        if let Some(lifetime) = rules.aggregation.lifetime {
            buffer.mpdus.iter_mut().take(buffer.in_flight).for_each(|mpdu| _ = mpdu.expires(now, lifetime));
        }
        let start = buffer.mpdus.front().expect("a response is awaited for frames").sequence;
        buffer.request = Some(Request { to: buffer.to, start, failures: 0 });
    }

    /// Returns the room for a packet of `length` to its receiver; `None` if the packet cannot join the frame.
    pub(crate) fn room(&self, assembly: &Assembly, length: Bytes, rules: &Conventions) -> Option<Room> {
        self.buffers[usize::from(assembly.category)].joins(length, assembly.size, rules, &assembly.limits)
    }

    /// Adds a packet that [has room](Self::room). In an A-MSDU, returns its predecessor, to which it is to be chained.
    pub(crate) fn join(
        &mut self,
        assembly: &mut Assembly,
        room: Room,
        msdu: Msdu,
        rules: &Conventions,
    ) -> Option<Handle> {
        assembly.size = room.size;
        let holder = usize::from(assembly.category);
        match room.joins {
            Joins::Part => Some(self.buffers[holder].extend(msdu, rules)),
            Joins::Mpdu => {
                // The packet follows a frame to the same receiver.
                let buffer = &mut self.buffers[holder];
                buffer.push(msdu, buffer.next, rules);
                None
            }
        }
    }

    /// Adds packets of `length`, which `next` yields, as long as they fit. Each is a frame. Returns their number.
    pub(crate) fn fill(
        &mut self,
        assembly: &mut Assembly,
        length: Bytes,
        rules: &Conventions,
        mut next: impl FnMut() -> Handle,
    ) -> u16 {
        let buffer = &mut self.buffers[usize::from(assembly.category)];
        let limits = &assembly.limits;
        let (joined, size) = buffer.frames(rules.mpdu(length), limits.agreement.window, assembly.size, limits);
        assembly.size = size;
        for _ in 0..joined {
            buffer.push(Msdu { packet: next(), length }, buffer.next, rules);
        }
        joined
    }

    /// Completes a frame that was assembled: its sequence numbers are now used.
    pub(super) fn assembled(&mut self, assembly: &Assembly) {
        let holder = usize::from(assembly.category);
        self.peers.go_on(assembly.to, holder, self.buffers[holder].next);
    }
}
