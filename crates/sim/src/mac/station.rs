//! A station: the frames that it holds, receives and sends (IEEE 802.11-2016, 10.3 for the DCF, 10.22.2 for EDCA).
//!
//! A station has one radio, hence one view of the medium and at most one exchange at a time. Up to four access
//! categories contend for the radio; the DCF has one. `docs/mac-conventions.md` gives reason and effect of every choice
//! that the standard leaves open.

use super::contention::Contention;
use super::downlink::Downlink;
use super::held::Held;
use super::step::{Cleared, Step, Txop};
use super::tmac::TmacState;
use super::uplink::Uplink;
use super::{Agreement, Answer, Asks, BROADCAST, Conventions, Due, Frame, Kind, Msdu, Rates, Reorder};
use crate::config::AnswerRts;
use crate::engine::Stream;
use units::{Duration, Instant};

#[derive(Debug)]
#[repr(C)] // what each frame of others reads comes first
pub(crate) struct Station {
    pub(crate) contention: Contention,
    pub(super) address: u32,
    pub(super) step: Step,
    /// Time at which to call [`timer`](Self::timer); `NEVER` for no call. The host reads it after every call.
    pub(crate) deadline: Instant,
    /// The response that is sent at the deadline.
    pub(super) response: Option<Frame>,
    /// Modes in which the station sends data to its receivers.
    pub(crate) rates: Rates,
    pub(crate) held: Held,
    pub(crate) txop: Txop,
    /// State of T-MAC, if it is used.
    pub(crate) tmac: Option<Box<TmacState>>,
    /// Exchanges with several receivers at once, if the station sends such frames.
    pub(crate) downlink: Option<Box<Downlink>>,
    /// Exchanges of several senders at once, if the network has such frames.
    pub(crate) uplink: Option<Box<Uplink>>,
}

impl Station {
    /// Makes a station that has nothing to send, on an idle medium.
    pub(crate) fn new(address: u32, rates: Rates, conventions: &Conventions, random: Stream) -> Self {
        Self {
            address,
            rates: rates.of(address),
            step: Step::Access,
            contention: Contention::new(conventions, random),
            response: None,
            deadline: Instant::NEVER,
            held: Held::new(address, conventions.categories),
            txop: Txop::none(),
            tmac: conventions.tmac.map(|rules| Box::new(TmacState { rules, ..TmacState::default() })),
            downlink: None,
            uplink: None,
        }
    }

    /// Sets aside the frames that a category would send next, until it is their receiver's turn.
    pub(crate) fn set_aside(&mut self, category: u8) {
        if !self.held.put_aside(category) {
            return;
        }
        self.contention.wanting &= !(1 << category);
        if self.step == Step::Cleared && category == self.held.holder {
            self.step = Step::Access;
            self.deadline = Instant::NEVER;
        }
    }

    /// Stops sending the frames for a receiver that has just announced its sleep.
    pub(crate) fn suspend(&mut self, to: u32) {
        for category in 0..self.held.buffers.len() {
            if self.held.buffers[category].to == to {
                self.set_aside(u8::try_from(category).expect("there are four categories"));
            }
        }
        self.held.suspend(to);
    }

    /// Makes the frames that a category holds for a receiver the next to be sent.
    pub(crate) fn resume(&mut self, now: Instant, category: u8, to: u32, rules: &Conventions) {
        let Some(place) = self.held.aside.iter().position(|(other, buffer)| *other == category && buffer.to == to)
        else {
            return;
        };
        self.set_aside(category);
        let (_, buffer) = self.held.aside.swap_remove(place);
        let empty = std::mem::replace(&mut self.held.buffers[usize::from(category)], buffer);
        self.held.spare.push(empty);
        self.is_next(now, category, rules);
    }

    /// Handles new frames of a category. If the TXOP can continue with them, they are sent after SIFS.
    #[inline(always)] // once a packet: the call costs a chain 1 %
    fn is_next(&mut self, now: Instant, category: u8, rules: &Conventions) {
        self.contention.wanting |= 1 << category;
        self.contention.soliciting &= !(1 << category);
        let goes_on = self.txop.open_at == now && category == self.held.holder && self.response.is_none();
        if !(goes_on && self.go_on(now, rules)) {
            self.contend(now, category.into(), rules);
        }
    }

    /// Pauses a category after its exchange if it still holds frames.
    #[inline]
    pub(super) fn pause(&mut self, category: usize) {
        if !self.held.takes_turns {
            return;
        }
        if let Some(uplink) = &self.uplink {
            uplink.seek(category, &self.held, &mut self.contention);
        }
        let index = u8::try_from(category).expect("there are four categories");
        if self.contention.wanting & !self.contention.soliciting & 1 << category != 0 || self.held.has_aside(index) {
            self.held.paused |= 1 << category;
        }
    }

    pub(crate) fn broadcasts(&self) -> bool {
        let buffer = self.held.present();
        self.step == Step::Sending && buffer.to == BROADCAST && !buffer.mpdus.is_empty()
    }

    /// Returns the sequence numbers that were received from a station in a category.
    pub(crate) fn reorder(&mut self, from: u32, category: u8, rules: &Conventions) -> &mut Reorder {
        let window = self.rates.agreement(from, rules).window;
        self.held.peers.reorder(from, category, window)
    }

    /// Accepts a packet for `to` in a category without frames. It is sent at once if the medium has been idle for DIFS
    /// or AIFS (10.3.4.2), and after SIFS if a TXOP can continue with it.
    #[inline(always)] // once a packet and hop: the call costs a chain 0.1 %
    pub(crate) fn offer(&mut self, now: Instant, to: u32, category: u8, msdu: Msdu, rules: &Conventions) {
        self.held.hold(to, category, msdu, rules);
        self.is_next(now, category, rules);
    }

    /// Handles the deadline. `receiving`: a frame is being received, and its PHY header was read. This has no effect on
    /// a station that does not [listen](Self::listens).
    pub(crate) fn timer(&mut self, now: Instant, receiving: bool, rules: &Conventions) -> Due {
        self.deadline = Instant::NEVER;
        if let Some(response) = self.response.take() {
            let unavailable = self.contention.busy || now < self.contention.nav;
            let withheld = match response.kind {
                Kind::Cts => rules.answer_rts == AnswerRts::UnlessBusy && unavailable,
                // 26.5.2.5: a station that is asked for data or a CTS senses the medium until others may answer, too.
                Kind::Triggered { .. } | Kind::SharedCts => {
                    let busy = self.contention.busy && self.contention.idle_from + rules.timing.sifs < now;
                    busy || now < self.contention.nav && self.contention.txop_holder != response.to
                }
                _ => false,
            };
            if withheld {
                self.schedule(now, rules);
                return Due::Wait;
            }
            self.step = Step::Responding;
            return Due::Send(response);
        }
        match self.step {
            Step::Access if self.contention.due == 0 => {
                self.looks_again(now, rules);
                Due::Wait
            }
            Step::Access => {
                self.win(now, rules);
                Due::Begin(self.held.holder)
            }
            Step::Cleared => Due::Begin(self.held.holder),
            // 10.3.2.9: a frame that begins within the time-out may be the ACK. The end of the frame decides.
            Step::AwaitParts => {
                let (_, Some(uplink), mut cx) = self.several(now, rules) else { return Due::Wait };
                let act = uplink.due(receiving, &mut cx);
                self.act(now, act, rules)
            }
            Step::AwaitCts | Step::AwaitBlockAck if !self.held.users.is_empty() => {
                let (Some(downlink), _, mut cx) = self.several(now, rules) else { return Due::Wait };
                let act = downlink.due(receiving, &mut cx);
                self.act(now, act, rules)
            }
            Step::AwaitAck | Step::AwaitCts | Step::AwaitBlockAck if receiving => Due::Wait,
            Step::AwaitAck | Step::AwaitCts | Step::AwaitBlockAck => Due::Failed(self.fail(now, rules)),
            Step::AwaitGrants => {
                if self.tmac.as_ref().is_none_or(|tmac| tmac.has_quorum()) {
                    self.txop.cleared = Cleared::ByRts;
                    Due::Begin(self.held.holder)
                } else {
                    Due::Failed(self.refused(now, rules))
                }
            }
            Step::Sending | Step::Responding => unreachable!("no deadline is set while a frame is being sent"),
        }
    }

    /// True if only the duration field of a received frame concerns the station.
    pub(crate) fn only_overhears(&self, frame: &Frame) -> bool {
        frame.to != self.address && frame.to != BROADCAST && !self.step.awaits_response()
    }

    /// True if the station awaits a response, so that any frame that arrives matters.
    pub(crate) fn listens(&self) -> bool {
        self.step.awaits_response() || self.step == Step::AwaitGrants
    }

    pub(crate) fn awaits_block_ack(&self, frame: &Frame) -> bool {
        let reports = matches!(frame.kind, Kind::BlockAck { .. } | Kind::MultiBlockAck { .. });
        reports && self.step == Step::AwaitBlockAck && frame.to == self.address
    }

    /// Handles a received frame that is intact, or an aggregate with at least one intact MPDU.
    #[inline]
    pub(crate) fn received(&mut self, now: Instant, frame: &Frame, rules: &Conventions) -> Answer {
        let timing = &rules.timing;
        self.contention.end_eifs(rules);
        let mine = frame.to == self.address;
        match (self.step, frame.kind) {
            (Step::AwaitAck, Kind::Ack) if mine => {
                let report = self.held.settle(now, self.txop.attempt(), rules, |_| true);
                self.finish(now, rules);
                return Answer { report, ..Answer::default() };
            }
            (Step::AwaitCts, Kind::Cts | Kind::SharedCts) if mine => {
                self.step = Step::Cleared;
                self.txop.cleared = Cleared::ByRts;
                self.deadline = now + timing.sifs;
                return Answer::default();
            }
            (Step::AwaitGrants, Kind::Grant) if mine => {
                self.tmac.iter_mut().for_each(|tmac| tmac.granted(frame.from));
                return Answer::default();
            }
            (Step::AwaitParts, kind) if mine => {
                let (Some(uplink), Kind::Triggered { frames, .. }) = (&mut self.uplink, kind) else {
                    return Answer::default();
                };
                self.deadline = now + timing.sifs;
                return uplink.part_received(frame.from, frames);
            }
            // The station has to answer this frame.
            (Step::AwaitGrants, _) if mine => {
                self.refused(now, rules);
            }
            _ => {}
        }
        let mut answer = self.missed_response(now, rules);
        if mine {
            self.respond(now, frame, rules);
        } else {
            self.contention.reserve(now + frame.reserves, || frame.txop_holder(), rules);
        }
        if matches!(frame.kind, Kind::Data { .. }) && (mine || frame.to == BROADCAST) {
            // Under a BlockAck agreement the reorder window detects duplicates.
            answer.takes = !mine
                || rules.block_ack_of(frame.from, self.address)
                || self.held.peers.is_new(frame.from, frame.category, frame.sequence, frame.retry);
            answer.duplicate = !answer.takes;
        }
        answer.takes |= matches!(frame.kind, Kind::Aggregate { .. } | Kind::MultiUser { .. }) && mine;
        answer
    }

    /// Handles a received frame with errors.
    pub(crate) fn spoilt(&mut self, now: Instant, header_read: bool, rules: &Conventions) -> Answer {
        self.contention.overhears_spoilt(now, header_read, rules);
        if header_read { self.missed_response(now, rules) } else { Answer::default() }
    }

    /// Ends the wait for a response, because another frame has arrived instead (10.3.2.9). The station may ignore it.
    pub(crate) fn missed_response(&mut self, now: Instant, rules: &Conventions) -> Answer {
        // Each of several stations has its own response, so the wait continues.
        if !self.step.awaits_response() || self.step == Step::AwaitParts || !self.held.users.is_empty() {
            return Answer::default();
        }
        self.fail(now, rules)
    }

    /// Answers a frame for this station after SIFS. Data are always answered, an RTS unless the medium is reserved
    /// (10.3.2.7). Under EDCA a reservation by the RTS's sender does not count (10.22.2.4).
    fn respond(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        let timing = &rules.timing;
        // If the TXOP continues, the response reserves the rest of it, too (9.2.5.2).
        let left = |response| frame.reserves.saturating_sub(timing.sifs + response);
        let responses = timing.responses(frame.mode);
        let (kind, reserves) = match frame.kind {
            Kind::Data { .. } => (Kind::Ack, left(responses.ack)),
            // All answers to the trigger end together. That ends the exchange.
            Kind::Trigger { asks: Asks::Backlog | Asks::Data, .. } => {
                (Kind::Triggered { psdu: rules.queue_size_frame(), frames: 0 }, frame.reserves)
            }
            Kind::Trigger { asks: Asks::Clear, .. } => (Kind::SharedCts, left(timing.cts)),
            Kind::Trigger { asks: Asks::BlockAcks, .. } => (
                Kind::BlockAck { long: self.rates.agreement(frame.from, rules).window > Agreement::SHORT },
                Duration::ZERO,
            ),
            Kind::Aggregate { .. } | Kind::BlockAckReq { .. } => {
                let agreement = self.rates.agreement(frame.from, rules);
                let block_ack = Kind::BlockAck { long: agreement.window > Agreement::SHORT };
                (block_ack, left(rules.block_ack_duration(frame.mode, agreement)))
            }
            Kind::Rts if now >= self.contention.nav || rules.edca() && self.contention.txop_holder == frame.from => {
                (Kind::Cts, left(timing.cts))
            }
            // A request has been answered already, according to its key. A trigger follows an HE MU PPDU.
            Kind::Rts
            | Kind::Cts
            | Kind::SharedCts
            | Kind::Ack
            | Kind::BlockAck { .. }
            | Kind::Request { .. }
            | Kind::Grant
            | Kind::Triggered { .. }
            | Kind::MultiBlockAck { .. }
            | Kind::MultiUser { .. } => return,
        };
        let mode = match frame.kind {
            Kind::Trigger { response, .. } => response,
            _ if matches!(kind, Kind::Cts) => timing.announcing,
            _ => responses.mode,
        };
        let (from, to, category) = (self.address, frame.from, frame.category);
        self.response = Some(Frame { kind, from, to, category, mode, reserves, sequence: 0, retry: false });
        self.contention.turning = false;
        self.deadline = now + timing.sifs;
    }
}
