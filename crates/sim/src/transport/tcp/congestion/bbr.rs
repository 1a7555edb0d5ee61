//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; numbers are its sections): the window and the pacing
//! rate follow a model of the path, its bottleneck's bandwidth and its round-trip time without queues.
//!
//! As in Linux, pacing is one percent below the model's rate. The first phase of a cycle, random in the draft, follows
//! from the time. Not modelled: restart from idle (4.3.4.4), and Linux's detection of policers.

use super::Ack;
use crate::transport::tcp::{Pace, Sample};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// Minimum gain with which the rate can double per round trip, `BBRHighGain`: 2/ln 2 (4.3.2.1).
const HIGH_GAIN: f64 = 2.89;
/// Pacing gains of the phases of `ProbeBW` (4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Round trips for which a delivery rate counts, `BtlBwFilterLen` (4.1.1.2).
const RATE_ROUNDS: u64 = 10;
/// Time for which a round-trip time counts, `RTpropFilterLen` (4.1.2.2).
const ROUND_TRIP_TIME: Duration = Duration::from_secs(10);
/// Minimum time at the minimum window, `ProbeRTTDuration` (4.3.5).
const PROBE_TIME: Duration = Duration::from_millis(200);
/// Minimum window in segments, `BBRMinPipeCwnd` (4.2.3.3).
const LEAST_WINDOW: u64 = 4;
/// Share of the model's rate at which Linux paces.
const PACED_SHARE: f64 = 0.99;
/// Round-trip time before the first measurement (4.2.1).
const NOMINAL: f64 = 1e-3;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Startup,
    Drain,
    ProbeBw {
        phase: usize,
        since: Instant,
    },
    /// `until` is known when the window has shrunk; `round`: a round trip has passed since.
    ProbeRtt {
        until: Option<Instant>,
        round: bool,
    },
}

#[derive(Debug, Default)]
pub(super) struct Bbr {
    segment: u64,
    initial: u64,
    state: State,
    /// Rates in octets per second with their round trips: each is the maximum since then. The first is `BBR.BtlBw`.
    rates: VecDeque<(u64, f64)>,
    /// `BBR.RTprop` and the time of that sample.
    round_trip: Option<Duration>,
    measured: Instant,
    /// Number of round trips, and octets delivered when the present one ends.
    rounds: u64,
    round_end: u64,
    /// `BBR.filled_pipe`, `BBR.full_bw` and `BBR.full_bw_count`.
    filled: bool,
    full_rate: f64,
    full_rounds: u32,
    /// Window before a recovery or `ProbeRTT`, `BBR.prior_cwnd`.
    prior: u64,
    recovering: bool,
    /// `BBR.packet_conservation`.
    conserves: bool,
    /// Pacing rate in octets per second.
    pace: f64,
}

impl Bbr {
    pub(super) fn new(segment: u64, initial: u64) -> Self {
        Self { segment, initial, pace: HIGH_GAIN * initial as f64 / NOMINAL, ..Self::default() }
    }

    /// Handles the end of the handshake, with its round-trip time (4.2.1).
    pub(super) fn open(&mut self, cwnd: u64, now: Instant, rtt: Option<Duration>) {
        (self.round_trip, self.measured) = (rtt, now);
        self.pace = HIGH_GAIN * cwnd as f64 / rtt.map_or(NOMINAL, |rtt| rtt.as_secs_f64().max(1e-6));
    }

    /// Handles an acknowledgement (`BBRUpdateOnACK`). Returns the window.
    pub(super) fn hear(&mut self, cwnd: u64, ack: &Ack) -> u64 {
        let is_valid =
            |sample: &Sample| sample.interval >= self.round_trip.unwrap_or_default().max(Duration::from_nanos(1));
        let sample = ack.sample.filter(is_valid);
        let begins = sample.is_some_and(|sample| self.count_round(&sample, ack.delivered));
        if let Some(sample) = sample {
            self.update_rate(&sample);
        }
        self.check_phase(ack);
        self.check_full_pipe(begins && sample.is_some_and(|sample| !sample.limited));
        self.check_drain(ack);
        let cwnd = self.check_round_trip(cwnd, ack, begins);
        let pace = PACED_SHARE * self.gains().0 * self.rate();
        if self.filled || pace > self.pace {
            self.pace = pace;
        }
        debug_assert!(self.pace > 0.0 && self.pace.is_finite());
        self.window(cwnd, ack)
    }

    /// Counts round trips (4.1.1.3). True if one begins.
    fn count_round(&mut self, sample: &Sample, delivered: u64) -> bool {
        let begins = sample.prior_delivered >= self.round_end;
        if begins {
            self.round_end = delivered;
            self.rounds += 1;
            self.conserves = false;
        }
        begins
    }

    /// Takes a sample into the maximum of the last round trips (4.1.1.5).
    fn update_rate(&mut self, sample: &Sample) {
        let rate = sample.delivered as f64 / sample.interval.as_secs_f64();
        if sample.limited && rate < self.rate() {
            return;
        }
        while self.rates.back().is_some_and(|&(_, before)| before <= rate) {
            self.rates.pop_back();
        }
        if self.rates.back().is_none_or(|&(round, _)| round < self.rounds) {
            self.rates.push_back((self.rounds, rate));
        }
        while self.rates.front().is_some_and(|&(round, _)| round + RATE_ROUNDS < self.rounds) {
            self.rates.pop_front();
        }
        debug_assert!(self.rate() >= rate || self.rates.len() > 1, "the maximum comes first");
    }

    /// `BBR.BtlBw`, in octets per second.
    fn rate(&self) -> f64 {
        self.rates.front().map_or(0.0, |&(_, rate)| rate)
    }

    /// Goes to the next phase of `ProbeBW`, if it is time (4.3.4.3).
    fn check_phase(&mut self, ack: &Ack) {
        let State::ProbeBw { phase, since } = self.state else { return };
        let is_over = ack.now.since(since) > self.round_trip.unwrap_or_default();
        let gain = CYCLE[phase];
        let goes_on = if gain > 1.0 {
            is_over && (ack.lost > 0 || ack.before >= self.inflight(gain))
        } else {
            is_over || gain < 1.0 && ack.before <= self.inflight(1.0)
        };
        if goes_on {
            self.state = State::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: ack.now };
        }
    }

    /// Ends `Startup` after three `rounds` without a rise of the rate by a quarter (4.3.2.2).
    fn check_full_pipe(&mut self, round: bool) {
        if self.filled || !round {
            return;
        }
        if self.rate() >= 1.25 * self.full_rate {
            (self.full_rate, self.full_rounds) = (self.rate(), 0);
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= 3;
    }

    /// Drains the queue of `Startup` (4.3.3).
    fn check_drain(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
        }
        if self.state == State::Drain && ack.pipe <= self.inflight(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    /// Begins a cycle in any phase but the second (4.3.4.3).
    fn probe_bandwidth(&mut self, now: Instant) {
        let luck = usize::try_from(now.as_nanos() % 7).expect("it is below 7");
        self.state = State::ProbeBw { phase: (CYCLE.len() - luck) % CYCLE.len(), since: now };
    }

    /// Updates the round-trip time (4.1.2.3). Without a new minimum for some time, goes through `ProbeRTT` (4.3.5).
    fn check_round_trip(&mut self, cwnd: u64, ack: &Ack, begins: bool) -> u64 {
        let expired = ack.now > self.measured + ROUND_TRIP_TIME;
        if let Some(rtt) = ack.sample.and_then(|sample| sample.rtt)
            && (expired || self.round_trip.is_none_or(|least| rtt <= least))
        {
            (self.round_trip, self.measured) = (Some(rtt), ack.now);
        }
        if expired && !self.is_probing_rtt() {
            self.prior = self.prior.max(cwnd);
            self.state = State::ProbeRtt { until: None, round: false };
        }
        let State::ProbeRtt { until, round } = &mut self.state else { return cwnd };
        *round |= begins;
        match *until {
            None if ack.pipe <= LEAST_WINDOW * self.segment => {
                (*until, *round) = (Some(ack.now + PROBE_TIME), false);
                self.round_end = ack.delivered;
            }
            Some(until) if *round && ack.now > until => {
                self.measured = ack.now;
                if self.filled {
                    self.probe_bandwidth(ack.now);
                } else {
                    self.state = State::Startup;
                }
                return cwnd.max(self.prior);
            }
            _ => {}
        }
        cwnd
    }

    /// True while the window is at its minimum.
    pub(super) fn is_probing_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt { .. })
    }

    /// The window (4.2.3.4 to 4.2.3.6).
    fn window(&mut self, before: u64, ack: &Ack) -> u64 {
        let mut cwnd = before;
        let least = LEAST_WINDOW * self.segment;
        if ack.acked > 0 {
            cwnd = cwnd.saturating_sub(ack.lost).max(self.segment);
            if ack.recovering && !self.recovering {
                self.save(before);
                self.conserves = ack.conserves;
                self.round_end = ack.delivered;
                cwnd = if ack.conserves { ack.pipe + ack.acked.max(self.segment) } else { cwnd };
            } else if self.recovering && !ack.recovering {
                self.conserves = false;
                cwnd = cwnd.max(self.prior);
            }
            self.recovering = ack.recovering;
            if self.conserves {
                cwnd = cwnd.max(ack.pipe + ack.acked);
            } else {
                let target = self.inflight(self.gains().1);
                if self.filled {
                    cwnd = (cwnd + ack.acked).min(target);
                } else if cwnd < target || ack.delivered < self.initial {
                    cwnd += ack.acked;
                }
                cwnd = cwnd.max(least);
            }
        }
        if self.is_probing_rtt() { cwnd.min(least) } else { cwnd }
    }

    /// Handles a timeout, before which the window was `cwnd` (4.2.3.4).
    pub(super) fn time_out(&mut self, cwnd: u64) {
        self.save(cwnd);
        (self.recovering, self.conserves) = (true, false);
    }

    fn save(&mut self, cwnd: u64) {
        let is_reduced = self.recovering || self.is_probing_rtt();
        self.prior = if is_reduced { self.prior.max(cwnd) } else { cwnd };
    }

    /// Octets in flight that the model allows, with a gain (4.2.3.2).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    fn inflight(&self, gain: f64) -> u64 {
        let Some(round_trip) = self.round_trip else { return self.initial };
        (gain * self.rate() * round_trip.as_secs_f64()) as u64 + 3 * self.pace().quantum
    }

    /// The pacing rate, and the send quantum (4.2.2).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn pace(&self) -> Pace {
        let quantum = match 8.0 * self.pace {
            ..1.2e6 => self.segment,
            ..24e6 => 2 * self.segment,
            _ => ((1e-3 * self.pace) as u64).min(64_000),
        };
        Pace { rate: self.pace, quantum }
    }

    /// Gains of the pacing rate and of the window.
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (HIGH_GAIN, HIGH_GAIN),
            State::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            State::ProbeBw { phase, .. } => (CYCLE[phase], 2.0),
            State::ProbeRtt { .. } => (1.0, 1.0),
        }
    }
}

#[cfg(test)]
#[path = "../tests/bbr.rs"]
mod tests;
