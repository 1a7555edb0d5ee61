//! Frame exchanges of a station, from their start to their end.

use super::buffer::{Buffer, Request, Size};
use super::reorder::distance;
use super::station::{Cleared, Station, Step};
use super::{
    Announced, Answer, Assembly, BROADCAST, Conventions, Finished, Frame, Kind, Mpdu, Report, SEQUENCES, Scoreboard,
    Unanswered,
};
use crate::config::MissedBlockAck;
use crate::engine::Bitmap;
use crate::radio::Timing;
use units::{Bytes, Duration, Instant};

impl Station {
    /// The frame that is due: a BlockAckReq, an announcement (RTS or CTS to self), or data. `assembly`: the aggregate
    /// that the host filled. `ahead`: receiver and frame length of the next packet of its category; a TXOP that can go
    /// on with it reserves the medium for it too (9.2.5.2).
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
        let holder = usize::from(self.holder);
        if let Some(Request { to, start, .. }) = self.held.buffers[holder].request {
            let answer = self.rates.block_ack(to, self.rates.control_mode(to, rules), rules);
            return self.control(Kind::BlockAckReq { start }, to, rules.timing.sifs + answer, rules);
        }
        let settled = self.fixed.take().or(assembly.map(|assembly| assembly.size));
        let size = settled.unwrap_or_else(|| self.selected(now, rules));
        let to = self.held.buffers[holder].to;
        if to != BROADCAST && self.cleared == Cleared::No {
            if let Some(request) = self.request(now, to, size, rules) {
                return request;
            }
            let timing = &rules.timing;
            let announces = rules.rts_threshold.is_some_and(|threshold| size.psdu > threshold);
            if announces || rules.cts_to_self {
                let data = self.rates.exchange(to, size, rules);
                self.fixed = Some(size);
                if announces {
                    return self.control(Kind::Rts, to, timing.sifs * 2 + timing.cts + data, rules);
                }
                return self.control(Kind::Cts, self.address, timing.sifs + data, rules);
            }
        }
        self.data(now, size, ahead, rules)
    }

    /// The frame with the first MPDUs.
    fn data(&mut self, now: Instant, size: Size, ahead: Option<(u32, Bytes)>, rules: &Conventions) -> Frame {
        let timing = &rules.timing;
        if let Some(tmac) = &mut self.tmac {
            tmac.served();
        }
        let (to, category) = (self.held.buffers[usize::from(self.holder)].to, self.holder);
        let mode = self.rates.mode_to(to, timing);
        let goes_on = ahead.map_or(Duration::ZERO, |(next_to, psdu)| {
            let next = timing.sifs + self.rates.exchange_of_one(next_to, psdu, rules);
            if now + self.rates.exchange(to, size, rules) + next <= self.txop_end { next } else { Duration::ZERO }
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
        if self.uplink.is_some() {
            self.may_answer_to(now, to, timing.duration(mode, size.psdu), rules);
        }
        frame
    }

    pub(super) fn control(&self, kind: Kind, to: u32, reserves: Duration, rules: &Conventions) -> Frame {
        let (from, category) = (self.address, self.holder);
        let announces = matches!(kind, Kind::Rts | Kind::Cts);
        let mode = if announces { rules.timing.announcing } else { self.rates.control_mode(to, rules) };
        Frame { kind, from, to, category, mode, reserves, sequence: 0, retry: false }
    }

    /// Handles a BlockAck that it awaits, of a station that reports these frames.
    pub(crate) fn block_ack_received(
        &mut self,
        now: Instant,
        from: u32,
        reported: &Scoreboard,
        rules: &Conventions,
    ) -> Answer {
        self.contention.end_eifs(rules);
        if self.downlink.as_ref().is_some_and(|downlink| downlink.is_under_way()) {
            return self.user_acknowledged(now, from, reported, rules);
        }
        if self.uplink.as_ref().is_some_and(|uplink| uplink.asked().is_some()) {
            return self.answer_acknowledged(now, reported, rules);
        }
        self.block_acknowledged(now, reported, rules)
    }

    /// Handles the end of its own frame.
    pub(crate) fn sent(&mut self, now: Instant, frame: &Frame, rules: &Conventions) {
        self.contention.idle_from = now;
        self.contention.eifs_surplus = Duration::ZERO;
        if self.step == Step::Responding {
            self.step = Step::Access;
            if let Kind::Triggered { frames, .. } = frame.kind {
                self.answer_sent(now, frames, rules);
            }
            return;
        }
        if frame.to == BROADCAST {
            if self.uplink.as_ref().is_some_and(|uplink| uplink.round().is_some()) {
                return self.uplink_sent(now, frame, rules);
            }
            if self.downlink.as_ref().is_some_and(|downlink| downlink.is_under_way()) {
                return self.downlink_sent(now, frame, rules);
            }
            self.settle(now, usize::from(self.holder), rules, |_| true);
            self.finish(now, rules);
            return;
        }
        self.step = match frame.kind {
            // The CTS was for itself.
            Kind::Cts => {
                self.step = Step::Cleared;
                self.cleared = Cleared::Yes;
                self.deadline = now + rules.timing.sifs;
                return;
            }
            Kind::Request { asked, .. } => return self.await_grants(now, asked, rules),
            Kind::Rts => Step::AwaitCts,
            Kind::Aggregate { .. } | Kind::BlockAckReq { .. } => Step::AwaitBlockAck,
            Kind::Data { .. } | Kind::Ack | Kind::BlockAck { .. } | Kind::Grant => Step::AwaitAck,
            Kind::MultiUser { .. }
            | Kind::Trigger { .. }
            | Kind::MultiBlockAck { .. }
            | Kind::Triggered { .. }
            | Kind::SharedCts => {
                unreachable!("they go to several stations")
            }
        };
        let timing = &rules.timing;
        let awaits_cts = self.step == Step::AwaitCts;
        let timeout = if awaits_cts { timing.cts_timeout } else { timing.response_timeout(frame.mode) };
        self.deadline = now + timeout;
    }

    /// Chooses the highest category that is due as the holder of the medium. A lower one that was due too has collided
    /// inside the station and continues as after a collision outside (10.22.2.2).
    pub(super) fn win(&mut self, now: Instant, rules: &Conventions) {
        self.contention.turning = false;
        self.cleared = Cleared::No;
        self.fixed = None;
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
        self.holder = u8::try_from(holder).expect("there are four categories");
        if self.uplink.is_some() {
            self.end_managed(now, rules);
        }
        self.txop = self.contention.access[holder].txop_limit;
        self.txop_end = now + self.txop;
    }

    /// Handles an internal collision of a category. Nothing was sent, but the attempt counts (10.22.2.11.1), except for
    /// a broadcast, which has no attempts to count.
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

    /// Handles the acknowledgement of data.
    pub(super) fn acknowledged(&mut self, now: Instant, rules: &Conventions) -> Answer {
        let report = self.settle(now, usize::from(self.holder), rules, |_| true);
        self.finish(now, rules);
        Answer { report, ..Answer::default() }
    }

    /// Handles a BlockAck.
    pub(super) fn block_acknowledged(&mut self, now: Instant, reported: &Scoreboard, rules: &Conventions) -> Answer {
        let holder = usize::from(self.holder);
        if let Some(request) = self.held.buffers[holder].request.take() {
            self.held.peers.set_behind(request.to, holder, false);
        }
        let report = self.settle_reported(now, holder, reported, rules);
        self.finish(now, rules);
        Answer { report, ..Answer::default() }
    }

    /// Marks frames in flight as a BlockAck reports them. Returns the outcome.
    pub(super) fn settle_reported(
        &mut self,
        now: Instant,
        category: usize,
        reported: &Scoreboard,
        rules: &Conventions,
    ) -> Option<Report> {
        let Scoreboard { start, arrived } = reported;
        self.settle(now, category, rules, |sequence| {
            let ahead = distance(*start, sequence);
            // Before the first number that it reports, all has arrived or is not waited for any more.
            ahead >= SEQUENCES / 2 || ahead < Bitmap::BITS && arrived.has(ahead.into())
        })
    }

    /// Marks frames in flight as acknowledged or failed, by their numbers. Returns the outcome.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        category: usize,
        rules: &Conventions,
        arrived: impl Fn(u16) -> bool,
    ) -> Option<Report> {
        let announced = self.cleared == Cleared::ByRts;
        let lifetime = rules.aggregation.lifetime.filter(|_| self.step != Step::AwaitCts);
        let (index, finished) = (u8::try_from(category).expect("there are four categories"), &mut self.held.finished);
        let Buffer { to, mpdus, in_flight, .. } = &mut self.held.buffers[category];
        let (to, sent) = (*to, std::mem::take(in_flight));
        let (mut kept, mut acknowledged, mut gave_up) = (0, 0, false);
        // True if a frame that has failed is sent again.
        let stays = |mpdu: &mut Mpdu| {
            if let Some(lifetime) = lifetime
                && sent > 1
            {
                return !mpdu.expires(now, lifetime);
            }
            let (failures, limit) = if announced {
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
            finished.push(Finished { packet: mpdu.packet, to, category: index, delivered });
        }
        match sent - kept {
            0 => {}
            gone if gone == mpdus.len() => mpdus.clear(),
            _ => drop(mpdus.drain(kept..sent)),
        }
        if gave_up {
            self.held.move_window(category, rules);
        }
        let sent = u16::try_from(sent).expect("at most 256 frames");
        (sent > 0 && to != BROADCAST).then_some(Report { to, sent, acknowledged })
    }

    /// Handles a missing response: doubles the window and tries again, or gives up (10.3.4.4).
    pub(super) fn fail(&mut self, now: Instant, rules: &Conventions) -> Answer {
        if self.uplink.as_ref().is_some_and(|uplink| uplink.asked().is_some()) {
            return self.answer_failed(now, rules);
        }
        let holder = usize::from(self.holder);
        let asked = self.held.buffers[holder].request.is_some();
        let failed = Some(Unanswered::of(self.step, asked));
        let before = self.held.finished.len();
        let (mut report, mut announced) = (None, None);
        let gave_up = match (self.step, asked) {
            (Step::AwaitBlockAck, true) => self.fail_request(now, holder, rules),
            (Step::AwaitBlockAck, false) if rules.aggregation.missed == MissedBlockAck::Request => {
                self.held.ask_again(now, holder, rules);
                false
            }
            // The attempt counts for all frames that the RTS announced. Rate control learns from data alone.
            (Step::AwaitCts, _) => {
                let (to, category) = (self.held.buffers[holder].to, self.holder);
                if let Some(size) = self.fixed {
                    let airtime = rules.timing.duration(self.rates.mode_to(to, &rules.timing), size.psdu);
                    announced = Some(Announced { to, category, airtime });
                    self.held.buffers[holder].in_flight = size.frames;
                }
                self.settle(now, holder, rules, |_| false);
                self.held.finished.len() > before
            }
            _ => {
                report = self.settle(now, holder, rules, |_| false);
                self.held.finished.len() > before
            }
        };
        self.end_failed(now, gave_up, rules);
        Answer { failed, announced, report, ..Answer::default() }
    }

    /// Ends an exchange that failed: tries again with a wider window, unless the frame was given up.
    pub(super) fn end_failed(&mut self, now: Instant, gave_up: bool, rules: &Conventions) {
        let holder = usize::from(self.holder);
        self.contention.timed_out = now;
        self.step = Step::Access;
        self.fixed = None;
        if gave_up {
            self.release(holder);
        } else {
            self.contention.fail(holder, rules);
            self.contention.draw(holder);
            self.pause(holder);
        }
        self.schedule(now, rules);
    }

    /// Handles an unanswered BlockAckReq. True if it is given up, and with it, for this time, the frames that it asked
    /// about.
    fn fail_request(&mut self, now: Instant, category: usize, rules: &Conventions) -> bool {
        let Buffer { request, mpdus, in_flight, .. } = &mut self.held.buffers[category];
        let Request { to, failures, .. } = request.as_mut().expect("a request was sent");
        *failures = failures.saturating_add(1);
        let over = match rules.aggregation.lifetime {
            Some(_) if *in_flight > 0 => mpdus.iter().take(*in_flight).all(|mpdu| mpdu.is_expired(now)),
            Some(_) | None => *failures >= rules.short_retry_limit,
        };
        if !over {
            return false;
        }
        let to = *to;
        *request = None;
        self.held.peers.set_behind(to, category, true);
        self.settle(now, category, rules, |_| false);
        true
    }

    /// Ends the exchange, and with it perhaps the TXOP.
    pub(super) fn finish(&mut self, now: Instant, rules: &Conventions) {
        self.step = Step::Access;
        self.deadline = Instant::NEVER;
        let holder = usize::from(self.holder);
        self.release(holder);
        self.may_go_on = if now < self.txop_end { now } else { Instant::NEVER };
        if self.may_go_on == now && self.contention.wanting & !self.soliciting & 1 << holder != 0 {
            self.go_on(now, rules);
        }
    }

    /// Continues the TXOP with the next frame of its category, if one fits.
    pub(super) fn go_on(&mut self, now: Instant, rules: &Conventions) -> bool {
        let holder = usize::from(self.holder);
        let timing: &Timing = &rules.timing;
        let buffer = &self.held.buffers[holder];
        let needs = match (buffer.request, buffer.mpdus.front()) {
            (None, Some(first)) => self.rates.exchange_of_one(buffer.to, first.psdu, rules),
            (Some(Request { to, .. }), _) => {
                timing.sifs + self.rates.block_ack(to, self.rates.control_mode(to, rules), rules) * 2
            }
            (None, None) => timing.sifs + self.rates.block_ack(buffer.to, timing.basic, rules) * 2,
        };
        if now + timing.sifs + needs > self.txop_end {
            return false;
        }
        for other in (0..rules.categories).filter(|&other| other != holder) {
            self.contention.freeze(now, other, rules);
        }
        self.cleared = Cleared::Yes;
        self.fixed = None;
        self.step = Step::Cleared;
        self.deadline = now + timing.sifs;
        true
    }

    /// Ends the exchange of a category, successful or not. A back-off follows whether or not another frame waits
    /// (10.3.4.3: post-backoff).
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
    /// The frame without whose response this step ends.
    pub(super) fn of(step: Step, request: bool) -> Self {
        match step {
            Step::AwaitCts => Self::Rts,
            Step::AwaitBlockAck if request => Self::BlockAckReq,
            _ => Self::Data,
        }
    }
}
