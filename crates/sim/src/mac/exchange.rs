//! Frame exchanges of a station, from their start to their end (clause numbers: IEEE 802.11-2016).

use super::buffer::{Assembly, Request, Size};
use super::downlink::Downlink;
use super::held::Attempt;
use super::station::Station;
use super::step::{Act, Cleared, Context, Step};
use super::tmac::slots;
use super::uplink::Uplink;
use super::{Announced, Answer, BROADCAST, Conventions, Due, Frame, Kind, Scoreboard, Unanswered};
use crate::config::MissedBlockAck;
use crate::radio::Timing;
use units::{Bytes, Duration, Instant, refuse_if};

impl Station {
    /// Returns the frame that is due: a BlockAckReq, an announcement (RTS or CTS to self), or data. `assembly`: the
    /// aggregate that the host filled. `ahead`: receiver and frame length of the category's next packet. If the TXOP
    /// can continue with this packet, the frame also reserves the medium for it (9.2.5.2).
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        assembly: Option<Assembly>,
        ahead: Option<(u32, Bytes)>,
        rules: &Conventions,
    ) -> Frame {
        self.step = Step::Sending;
        if let Some(assembly) = &assembly {
            self.held.assembled(assembly);
        }
        if let Some(Request { to, start, .. }) = self.held.present().request {
            let answer = self.rates.block_ack(to, self.rates.control_mode(to, rules), rules);
            let reserves = rules.timing.sifs + answer;
            return self.several(now, rules).2.control(Kind::BlockAckReq { start }, to, reserves);
        }
        let settled = self.txop.fixed.take().or(assembly.map(|assembly| assembly.size));
        let size = settled.unwrap_or_else(|| self.selected(now, rules));
        let to = self.held.present().to;
        if to != BROADCAST && self.txop.cleared == Cleared::No {
            let timing = &rules.timing;
            if let Some(tmac) = &mut self.tmac {
                let then = timing.sifs + self.rates.exchange(to, size, rules);
                if let Some(request @ Kind::Request { asked, .. }) = tmac.request(now, to, then) {
                    self.txop.fixed = Some(size);
                    return self.several(now, rules).2.control(request, to, slots(asked.into(), rules));
                }
            }
            let (threshold, cts_to_self) = rules.announces(|| self.rates.mode_to(to, timing));
            let announces = threshold.is_some_and(|threshold| size.psdu > threshold);
            if announces || cts_to_self {
                let data = self.rates.exchange(to, size, rules);
                self.txop.fixed = Some(size);
                let (_, _, cx) = self.several(now, rules);
                if announces {
                    return cx.control(Kind::Rts, to, timing.sifs * 2 + timing.cts + data);
                }
                return cx.control(Kind::Cts, cx.address, timing.sifs + data);
            }
        }
        self.data(now, size, ahead, rules)
    }

    /// Returns a data frame with the first MPDUs.
    fn data(&mut self, now: Instant, size: Size, ahead: Option<(u32, Bytes)>, rules: &Conventions) -> Frame {
        let timing = &rules.timing;
        if let Some(tmac) = &mut self.tmac {
            tmac.served();
        }
        let (to, category) = (self.held.present().to, self.held.holder);
        let mode = self.rates.mode_to(to, timing);
        let goes_on = ahead.map_or(Duration::ZERO, |(next_to, psdu)| {
            let next = timing.sifs + self.rates.exchange_of_one(next_to, psdu, rules);
            if now + self.rates.exchange(to, size, rules) + next <= self.txop.end { next } else { Duration::ZERO }
        });
        let reserves = self.rates.response_time(to, mode, size, rules) + goes_on;
        let from = self.address;
        let buffer = &mut self.held.buffers[usize::from(category)];
        buffer.in_flight = size.frames;
        for place in 0..size.frames {
            let mpdu = &mut buffer.mpdus[place];
            mpdu.retry = std::mem::replace(&mut mpdu.sent, true);
        }
        let first = buffer.mpdus.front().expect("data are sent for a packet");
        let kind = match u16::try_from(size.frames).expect("at most 256 frames") {
            1 => Kind::Data { packet: first.packet, psdu: size.psdu },
            frames => Kind::Aggregate { psdu: size.psdu, frames },
        };
        let frame = Frame { kind, from, to, category, mode, reserves, sequence: first.sequence, retry: first.retry };
        if let (_, Some(uplink), mut cx) = self.several(now, rules) {
            uplink.may_answer(to, timing.duration(mode, size.psdu), &mut cx);
        }
        frame
    }

    /// Returns the station's exchanges with several others, and the state on which they act.
    pub(crate) fn several<'s>(
        &'s mut self,
        now: Instant,
        rules: &'s Conventions,
    ) -> (Option<&'s mut Downlink>, Option<&'s mut Uplink>, Context<'s>) {
        let Self { address, held, rates, txop, contention, .. } = self;
        let cx = Context { now, address: *address, held, rates, txop, contention, rules };
        (self.downlink.as_deref_mut(), self.uplink.as_deref_mut(), cx)
    }

    /// Returns the frame to several stations that is due; `None` if there is none or its assembly continues.
    pub(crate) fn next_to_several(&mut self, now: Instant, rules: &Conventions) -> Option<Frame> {
        let (downlink, uplink, mut cx) = self.several(now, rules);
        let downlink = downlink?;
        let frame = downlink.next(&mut cx)?;
        if let (Kind::MultiUser { .. }, Some(uplink)) = (frame.kind, uplink) {
            let share = downlink.share(cx.held, rules);
            for place in 0..cx.held.users.len() {
                uplink.may_answer(cx.held.users[place].buffer.to, share, &mut cx);
            }
        }
        self.step = Step::Sending;
        Some(frame)
    }

    /// Handles an awaited BlockAck from a station.
    pub(crate) fn block_ack_received(
        &mut self,
        now: Instant,
        from: u32,
        reported: &Scoreboard,
        rules: &Conventions,
    ) -> Answer {
        self.contention.end_eifs(rules);
        let report = match self.several(now, rules) {
            (Some(downlink), _, mut cx) if !cx.held.users.is_empty() => {
                let report = downlink.acknowledged(from, reported, &mut cx);
                if cx.held.users.is_empty() {
                    let answered = downlink.end(&mut cx);
                    self.end_with_several(now, answered, rules);
                }
                report
            }
            (_, Some(uplink), mut cx) if uplink.asked.is_some() => {
                let report = uplink.answer_acknowledged(reported, &mut cx);
                self.end_answer(now, rules);
                report
            }
            (.., cx) => {
                if let Some(request) = cx.held.present_mut().request.take() {
                    cx.held.peers.set_behind(request.to, cx.held.category(), false);
                }
                let report = cx.held.settle_reported(now, cx.txop.attempt(), reported, rules);
                self.finish(now, rules);
                report
            }
        };
        Answer { report, ..Answer::default() }
    }

    /// Handles the end of a frame that the station has sent.
    pub(crate) fn sent(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        self.contention.idle_from = now;
        self.contention.eifs_surplus = Duration::ZERO;
        let timing = &rules.timing;
        if self.step == Step::Responding {
            self.step = Step::Access;
            if let (Kind::Triggered { frames, .. }, (_, Some(uplink), mut cx)) = (frame.kind, self.several(now, rules))
            {
                if frames > 0 {
                    self.step = Step::AwaitBlockAck;
                    self.deadline = now + timing.response_timeout(timing.basic);
                } else {
                    uplink.end_answer(&mut cx);
                }
            }
            return;
        }
        if frame.to == BROADCAST {
            let awaited = match self.several(now, rules) {
                (_, Some(uplink), mut cx) if uplink.round.is_some() => uplink.sent(frame, &mut cx),
                (Some(downlink), _, cx) if !cx.held.users.is_empty() => Some(downlink.sent(now, frame, rules)),
                (.., cx) => {
                    cx.held.settle(now, Attempt::Plain, rules, |_| true);
                    None
                }
            };
            match awaited {
                Some((step, until)) => (self.step, self.deadline) = (step, until),
                None => self.finish(now, rules),
            }
            return;
        }
        let response = timing.response_timeout(frame.mode);
        let (step, lasts) = match frame.kind {
            // The CTS was a CTS to self.
            Kind::Cts => {
                self.txop.cleared = Cleared::Yes;
                (Step::Cleared, timing.sifs)
            }
            Kind::Request { asked, .. } => (Step::AwaitGrants, slots(asked.into(), rules) + timing.sifs),
            Kind::Rts => (Step::AwaitCts, timing.cts_timeout),
            Kind::Aggregate { .. } | Kind::BlockAckReq { .. } => (Step::AwaitBlockAck, response),
            Kind::Data { .. } => (Step::AwaitAck, response),
            _ => unreachable!("all other kinds are responses, or for several stations"),
        };
        (self.step, self.deadline) = (step, now + lasts);
    }

    /// Makes the highest category that is due the holder of the medium. A lower category that was due, too, has an
    /// internal collision, and continues as after any other collision (10.22.2.2).
    pub(super) fn win(&mut self, now: Instant, rules: &Conventions) {
        self.contention.turning = false;
        let holder = self.contention.due.trailing_zeros() as usize;
        for category in 0..rules.categories {
            if category == holder {
                self.contention.contenders[category].backoff = None;
            } else if self.contention.due & 1 << category != 0 {
                self.collide(category, rules);
            } else if self.contention.contends(category) {
                self.contention.freeze(now, category, rules);
            }
        }
        self.held.holder = u8::try_from(holder).expect("there are four categories");
        self.txop.begin(now, self.contention.access[holder].txop_limit);
    }

    /// Handles an internal collision of a category. Nothing was sent, but the attempt counts (10.22.2.11.1). Attempts
    /// at a broadcast do not count.
    fn collide(&mut self, category: usize, rules: &Conventions) {
        let buffer = &mut self.held.buffers[category];
        if let Some(request) = &mut buffer.request {
            request.failures = request.failures.saturating_add(1);
        } else if let Some(first) = buffer.mpdus.front_mut()
            && buffer.to != BROADCAST
        {
            first.short_failures += 1;
            if first.short_failures >= rules.short_retry_limit {
                self.held.give_up_first(category, rules);
                self.release(category);
                return;
            }
        }
        self.contention.fail(category, rules);
        self.contention.draw(category);
    }

    /// Handles a missing response: widens the window and tries again, or gives the frame up (10.3.4.4).
    pub(super) fn fail(&mut self, now: Instant, rules: &Conventions) -> Answer {
        if let (_, Some(uplink), mut cx) = self.several(now, rules)
            && uplink.asked.is_some()
        {
            let answer = Uplink::answer_failed(&mut cx);
            self.end_answer(now, rules);
            return answer;
        }
        let Self { held, txop, rates, step, .. } = self;
        let asked = held.present().request.is_some();
        let failed = Some(Unanswered::of(*step, asked));
        let before = held.finished.len();
        let (mut report, mut announced) = (None, None);
        let gave_up = match (*step, asked) {
            (Step::AwaitBlockAck, true) => {
                let (over, failed) = held.fail_request(now, txop.attempt(), rules);
                report = failed;
                over
            }
            (Step::AwaitBlockAck, false) if rules.aggregation.missed == MissedBlockAck::Request => {
                held.ask_again(now, held.category(), rules);
                false
            }
            // This is an attempt at all frames that the RTS announced. Rate control learns from data frames only.
            (Step::AwaitCts, _) => {
                let (to, category) = (held.present().to, held.holder);
                if let Some(size) = txop.fixed {
                    let airtime = rules.timing.duration(rates.mode_to(to, &rules.timing), size.psdu);
                    announced = Some(Announced { to, category, airtime });
                    held.present_mut().in_flight = size.frames;
                }
                held.settle(now, Attempt::Announced, rules, |_| false);
                held.finished.len() > before
            }
            _ => {
                report = held.settle(now, txop.attempt(), rules, |_| false);
                held.finished.len() > before
            }
        };
        self.end_failed(now, gave_up, rules);
        Answer { failed, announced, report, ..Answer::default() }
    }

    /// Ends an exchange that failed. Tries again with a wider window unless the frame was given up.
    pub(super) fn end_failed(&mut self, now: Instant, gave_up: bool, rules: &Conventions) {
        let holder = self.held.category();
        self.contention.timed_out = now;
        self.step = Step::Access;
        self.txop.fixed = None;
        if gave_up {
            self.release(holder);
        } else {
            self.contention.fail(holder, rules);
            self.contention.draw(holder);
            self.pause(holder);
        }
        self.schedule(now, rules);
    }

    /// Carries out what an exchange with several other stations decides at a deadline.
    pub(super) fn act(&mut self, now: Instant, act: Act, rules: &Conventions) -> Due {
        match act {
            Act::On(step, until, due) => {
                (self.step, self.deadline) = (step, until);
                due
            }
            Act::Over { answered, answer } => {
                self.end_with_several(now, answered, rules);
                self.schedule(now, rules);
                Due::Failed(answer)
            }
        }
    }

    /// Ends an exchange with several other stations. It has failed if no station answered.
    fn end_with_several(&mut self, now: Instant, answered: bool, rules: &Conventions) {
        if answered { self.finish(now, rules) } else { self.end_failed(now, false, rules) }
    }

    /// Ends the station's answer to a trigger for data.
    fn end_answer(&mut self, now: Instant, rules: &Conventions) {
        let (_, Some(uplink), mut cx) = self.several(now, rules) else { return };
        uplink.end_answer(&mut cx);
        let (holder, buffer) = (cx.held.category(), cx.held.present());
        let contender = &mut cx.contention.contenders[holder];
        cx.contention.wanting |= u8::from(!buffer.is_empty()) << holder;
        if buffer.request.is_some() {
            // A BlockAckReq is sent without delay, whatever MU EDCA requires.
            contender.earliest = now;
        }
        if contender.backoff.is_none() {
            cx.contention.draw(holder);
        }
        self.step = Step::Access;
        self.deadline = Instant::NEVER;
        self.pause(holder);
        self.schedule(now, rules);
    }

    /// Ends the exchange, and the TXOP if it cannot continue.
    pub(super) fn finish(&mut self, now: Instant, rules: &Conventions) {
        self.step = Step::Access;
        self.deadline = Instant::NEVER;
        let holder = self.held.category();
        self.release(holder);
        self.txop.open_at = if now < self.txop.end { now } else { Instant::NEVER };
        if self.txop.open_at == now && self.contention.wanting & !self.contention.soliciting & 1 << holder != 0 {
            self.go_on(now, rules);
        }
    }

    /// Continues the TXOP with the next frame of its category if that frame fits.
    pub(super) fn go_on(&mut self, now: Instant, rules: &Conventions) -> bool {
        let holder = self.held.category();
        let timing: &Timing = &rules.timing;
        let buffer = &self.held.buffers[holder];
        // All stations read the reservation of a CTS, but stations of 802.11b cannot read that of other frames.
        let cleared = if rules.of_dsss.is_some() { Cleared::No } else { Cleared::Yes };
        let needs = match (buffer.request, buffer.mpdus.front()) {
            (None, Some(first)) => {
                let exchange = self.rates.exchange_of_one(buffer.to, first.psdu, rules);
                let announced = || rules.announcement(self.rates.mode_to(buffer.to, timing), first.psdu);
                if cleared == Cleared::No { exchange + announced() } else { exchange }
            }
            (Some(Request { to, .. }), _) => {
                timing.sifs + self.rates.block_ack(to, self.rates.control_mode(to, rules), rules) * 2
            }
            (None, None) => timing.sifs + self.rates.block_ack(buffer.to, timing.basic, rules) * 2,
        };
        refuse_if!(now + timing.sifs + needs > self.txop.end, false);
        for other in (0..rules.categories).filter(|&other| other != holder) {
            self.contention.freeze(now, other, rules);
        }
        self.txop.cleared = cleared;
        self.txop.fixed = None;
        self.step = Step::Cleared;
        self.deadline = now + timing.sifs;
        true
    }

    /// Ends the exchange of a category, successful or not. A back-off follows even if no frame waits (10.3.4.3).
    fn release(&mut self, category: usize) {
        self.contention.narrow(category);
        if self.held.buffers[category].is_empty() {
            self.contention.wanting &= !(1 << category);
        }
        self.contention.draw(category);
        self.pause(category);
    }
}

impl Unanswered {
    /// Returns which frame got no response if this step has ended without one.
    pub(super) fn of(step: Step, request: bool) -> Self {
        match step {
            Step::AwaitCts => Self::Rts,
            Step::AwaitBlockAck if request => Self::BlockAckReq,
            _ => Self::Data,
        }
    }
}
