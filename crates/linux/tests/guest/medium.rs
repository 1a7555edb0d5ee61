//! The air between hwsim's radios: one channel of 802.11b on which all hear each other, and each decodes only its
//! neighbours in a chain, or all. Contention is the DCF's, slot by slot, as in docs/mac-conventions.md.

use super::hwsim::{Driver, Frame};
use super::{now, run_number};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, spawn};
use units::{Duration, Instant};

// 802.11b with the long preamble; clauses 15 and 16.3.4 of IEEE 802.11-2016.
const SLOT: Duration = Duration::from_micros(20);
const SIFS: Duration = Duration::from_micros(10);
const DIFS: Duration = Duration::from_micros(50);
const CHECK_SUM: u64 = 4;
const CW_MIN: u64 = 31;
const CW_MAX: u64 = 1_023;
/// Bits in 11 microseconds: of broadcasts, and of frames to one radio.
const SLOW: u64 = 11;
const FAST: u64 = 121;
/// Longest sleep of the thread.
const PATIENCE: Duration = Duration::from_millis(20);

/// Settings of the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    /// Preamble of frames to one radio. Broadcasts have the long one.
    preamble: Duration,
    ack: Duration,
    attempts: u32,
    /// A frame is decoded by radios up to this many places away in the row.
    reach: usize,
}

/// The long preamble, ACKs of 14 B at 1 Mb/s.
pub(super) const SLOWEST: Choices =
    Choices { preamble: LONG, ack: Duration::from_micros(192 + 112), attempts: 7, reach: 1 };
/// The short preamble, ACKs of 14 B at 11 Mb/s, as ADTH's testbed is simulated.
pub(super) const FASTEST: Choices =
    Choices { preamble: Duration::from_micros(96), ack: Duration::from_micros(96 + 11), attempts: 9, reach: 1 };
/// As [`SLOWEST`], and all decode all.
pub(super) const CELL: Choices = Choices { reach: usize::MAX, ..SLOWEST };
const LONG: Duration = Duration::from_micros(192);

impl Choices {
    /// Tells whether a radio decodes what another sends.
    pub(super) fn reaches(&self, from: usize, to: usize) -> bool {
        from != to && to.abs_diff(from) <= self.reach
    }

    /// Time from the end of a frame until the ACK is given up.
    fn no_ack(&self) -> Duration {
        SIFS + SLOT + self.preamble
    }

    /// Duration of a frame: at 11 Mb/s, at 1 Mb/s for a broadcast.
    fn duration(&self, frame: &Frame) -> Duration {
        let bits = (frame.content.len() as u64 + CHECK_SUM) * 8;
        let (preamble, in_11_us) = if frame.to().is_some() { (self.preamble, FAST) } else { (LONG, SLOW) };
        preamble + Duration::from_micros((bits * SLOW).div_ceil(in_11_us))
    }
}

/// Counters of the air.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Frames to one radio that were acknowledged.
    pub(super) delivered: AtomicU64,
    /// Data frames to one radio that were given up.
    pub(super) failed: AtomicU64,
    /// Times at which two or more radios sent at once.
    pub(super) collisions: AtomicU64,
    /// Frames that expect no ACK: beacons, search for paths.
    pub(super) to_all: AtomicU64,
    /// Statuses that were not reported, see [`Medium::swallow_one_in`].
    pub(super) swallowed: AtomicU64,
    /// Statuses that came before the driver expected them, and were sent again.
    pub(super) early: AtomicU64,
}

/// The medium, which carries frames until this is dropped.
#[derive(Debug)]
pub(super) struct Medium {
    thread: Option<JoinHandle<()>>,
    ends: Arc<AtomicBool>,
    pub(super) counts: Arc<Counts>,
    swallow_one_in: Arc<AtomicU64>,
}

impl Medium {
    /// Starts for the radios that were made in this network namespace.
    pub(super) fn new(radios: usize, choices: Choices) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let (counts, swallow_one_in) = <(Arc<Counts>, Arc<AtomicU64>)>::default();
        let air = Air {
            driver: Driver::register(),
            choices,
            radios: (0..radios).map(|_| Radio::default()).collect(),
            draws: 0x9e37_79b9_7f4a_7c15 ^ run_number(),
            counts: Arc::clone(&counts),
            swallow_one_in: Arc::clone(&swallow_one_in),
            ends: Arc::clone(&ends),
        };
        Self { thread: Some(spawn(|| air.run())), ends, counts, swallow_one_in }
    }

    /// Never reports the status of one data frame in `n` from now on; zero: reports all.
    pub(super) fn swallow_one_in(&self, frames: u64) {
        self.swallow_one_in.store(frames, Ordering::Relaxed);
    }
}

impl Drop for Medium {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

#[derive(Debug)]
struct Radio {
    waiting: VecDeque<(Instant, Frame)>,
    /// Backoff slots that the radio lets pass, counted from then on.
    slots: u64,
    from: Instant,
    window: u64,
    attempts: u32,
}

impl Default for Radio {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), slots: 0, from: Instant::ZERO, window: CW_MIN, attempts: 0 }
    }
}

impl Radio {
    /// Returns when it sends, if nobody does before.
    fn sends_at(&self) -> Option<Instant> {
        let (came, _) = self.waiting.front()?;
        Some((self.from + SLOT * self.slots).max(*came))
    }

    /// Another radio sends: slots that have passed count, and the next count from `from`.
    fn freezes(&mut self, at: Instant, from: Instant) {
        if self.from < at {
            self.slots -= self.slots.min(at.since(self.from).as_nanos() / SLOT.as_nanos());
        }
        self.from = from;
    }
}

struct Air {
    driver: Driver,
    choices: Choices,
    radios: Vec<Radio>,
    draws: u64,
    counts: Arc<Counts>,
    swallow_one_in: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
}

impl Air {
    fn run(mut self) {
        while !self.ends.load(Ordering::Relaxed) {
            self.counts.early.store(self.driver.early, Ordering::Relaxed);
            let next = self.radios.iter().filter_map(Radio::sends_at).min();
            match next {
                // A frame that came meanwhile may be the next.
                Some(start) if self.listen(start, true) => {}
                Some(start) => self.exchange(start),
                None => {
                    self.listen(now() + PATIENCE, true);
                }
            }
        }
    }

    /// Takes frames from the radios until a time, or until one came. Returns whether one came.
    fn listen(&mut self, until: Instant, only_one: bool) -> bool {
        loop {
            let Some(frame) = self.driver.next(until.since(now().min(until))) else {
                if now() >= until {
                    return false;
                }
                continue;
            };
            let radio = &mut self.radios[frame.from];
            let came = now();
            // The medium is busy: the packet does not go out at once.
            if radio.waiting.is_empty() && radio.slots == 0 && came < radio.from {
                radio.slots = draw(&mut self.draws, radio.window);
            }
            radio.waiting.push_back((came, frame));
            if only_one {
                return true;
            }
        }
    }

    fn exchange(&mut self, start: Instant) {
        let is_sender = |radio: &Radio| radio.sends_at() == Some(start);
        let senders: Vec<usize> = (0..self.radios.len()).filter(|&one| is_sender(&self.radios[one])).collect();
        let length = |&one: &usize| self.choices.duration(&self.radios[one].waiting[0].1);
        let sent = start + senders.iter().map(length).max().expect("somebody sends");
        let is_alone = senders.len() == 1;
        let is_answered = is_alone && self.radios[senders[0]].waiting[0].1.to().is_some();
        let end = if is_answered { sent + SIFS + self.choices.ack } else { sent };
        for (one, radio) in self.radios.iter_mut().enumerate() {
            radio.freezes(start, end + DIFS);
            // Its frame came after the medium had become busy and before this thread noticed.
            if !senders.contains(&one) && !radio.waiting.is_empty() && radio.slots == 0 {
                radio.slots = draw(&mut self.draws, radio.window);
            }
        }
        self.listen(sent, false);
        if is_alone {
            self.deliver(senders[0]);
        } else {
            self.counts.collisions.fetch_add(1, Ordering::Relaxed);
        }
        self.listen(end, false);
        for sender in senders {
            self.finish(sender, is_alone, end);
        }
    }

    /// Delivers to the radios that decode it and that it is for.
    fn deliver(&mut self, from: usize) {
        let frame = &self.radios[from].waiting[0].1;
        for to in 0..self.radios.len() {
            if self.choices.reaches(from, to) && frame.to().is_none_or(|one| one == to) {
                self.driver.deliver(frame, to);
            }
        }
    }

    /// Ends an attempt of a radio.
    fn finish(&mut self, sender: usize, is_alone: bool, end: Instant) {
        let radio = &mut self.radios[sender];
        let is_for_all = radio.waiting[0].1.to().is_none();
        let is_heard = radio.waiting[0].1.to().is_some_and(|to| self.choices.reaches(sender, to));
        let is_acknowledged = is_alone && is_heard;
        radio.attempts += 1;
        let is_done = is_for_all || is_acknowledged || radio.attempts == self.choices.attempts;
        if !is_for_all {
            radio.window = if is_done { CW_MIN } else { (radio.window * 2 + 1).min(CW_MAX) };
            if !is_acknowledged {
                radio.from = end + self.choices.no_ack();
            }
        }
        radio.slots = draw(&mut self.draws, radio.window);
        if !is_done {
            return;
        }
        let attempts = std::mem::take(&mut radio.attempts);
        let (_, frame) = radio.waiting.pop_front().expect("it sent this");
        let counter = match (is_for_all, is_acknowledged) {
            (true, _) => Some(&self.counts.to_all),
            (_, true) => Some(&self.counts.delivered),
            _ if frame.is_data() => Some(&self.counts.failed),
            _ => None,
        };
        if let Some(counter) = counter {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let one_in = self.swallow_one_in.load(Ordering::Relaxed);
        if one_in > 0 && frame.is_data() && draw(&mut self.draws, one_in - 1) == 0 {
            self.counts.swallowed.fetch_add(1, Ordering::Relaxed);
        } else {
            self.driver.report(&frame, attempts, is_acknowledged);
        }
    }
}

/// Returns a number from 0 to `most`, by `SplitMix64` (Steele, Lea, Flood 2014).
pub(super) fn draw(state: &mut u64, most: u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) % (most + 1)
}
