//! The hidden pair: two saturated senders that do not hear each other, and one receiver that both hear. Basic access.
//!
//! # What is solved
//!
//! The process itself, by enumeration of its Markov chain; no published model is behind it and nothing is assumed
//! independent. It is possible because the senders influence each other in two ways only: frames that overlap are both
//! lost, and the receiver's ACK freezes the other's back-off.
//!
//! One step of the chain is one attempt, in the order of their starts. The state, at the start of a frame of station X:
//! the stages of X and of the other, Y; the time `delta` until Y's next start as things stand; and whether X's frame is
//! *doomed*, for it began during Y's last frame or before the ACK to it. Then, counted from the start of X:
//!
//! - `delta < frame`: the frames overlap. X fails and Y is doomed.
//! - `frame <= delta <= frame + SIFS`: X succeeds unless doomed. Y begins before it can hear the ACK, and the receiver,
//!   which sends, cannot receive: Y is doomed.
//! - `delta > frame + SIFS`: X succeeds unless doomed. Y hears the ACK, keeps the slots that it has not completed, and
//!   counts on a DIFS after the ACK, from the same moment as X.
//!
//! A station that fails counts on after its ACK time-out, and draws by its next stage; one that succeeds draws from the
//! first window. All draws are uniform, so that a step adds evenly spaced ranges, and the chain is iterated to its
//! stationary distribution over all `delta` on the grid of the times' common divisor. For 802.11b with windows up to
//! 1023 that is a million states and a few seconds of work.
//!
//! # What is assumed
//!
//! No propagation delay, no capture; whoever does not hear a frame does not defer to it, and no NAV is set by one (an
//! ACK's own duration is zero). An EIFS never arises: the senders hear nothing that they cannot read.

use crate::Error;
use crate::dcf::backoff::Backoff;
use units::{Bytes, Duration};

/// The largest chain that is enumerated: pairs of stages times the points of time. It keeps the memory below 200 MB.
pub const MAX_STATES: u64 = 8_000_000;

/// Two alike hidden senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The first window: a back-off is drawn uniformly from `0..=cw_min` slots. At least 1.
    pub cw_min: u32,
    /// The window grows by `2 CW + 1` at each failure up to this one; `cw_min` to 65535.
    pub cw_max: u32,
    /// Transmissions of a frame before it is given up, 1 to 255; `None` for no limit.
    pub attempts: Option<u32>,
    /// One back-off slot.
    pub slot: Duration,
    /// A data frame.
    pub frame: Duration,
    /// Between the frame and its ACK.
    pub sifs: Duration,
    /// The ACK.
    pub ack: Duration,
    /// From the end of the ACK to the moment from which back-off slots count.
    pub difs: Duration,
    /// From the end of a frame to the moment from which its sender counts slots again if no ACK comes.
    pub timeout: Duration,
    /// What a success counts for in the throughput.
    pub payload: Bytes,
}

/// The stationary pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Of the transmitted frames, the part that is acknowledged.
    pub success_probability: f64,
    /// Of the frames, the part that is given up after [`Pair::attempts`] transmissions.
    pub drop_probability: f64,
    /// Successful frames of both senders together, in 1/s.
    pub successes_per_second: f64,
    /// Payload delivered by both senders together, in bit/s.
    pub throughput_bps: f64,
}

/// Solves the pair.
///
/// # Errors
///
/// A parameter outside its range, see [`Error`].
pub fn saturation(pair: &Pair) -> Result<Outcome, Error> {
    check(pair)?;
    let (chain, tick) = Chain::of(pair)?;
    let mut now = vec![0.0; chain.states()];
    now[0] = 1.0;
    let mut means = Means::default();
    for _ in 0..MOST_STEPS {
        let next;
        (next, means) = chain.step(&now);
        let distance: f64 = now.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        now = next;
        if distance < SETTLED {
            break;
        }
    }
    let successes_per_second = means.successes / (means.elapsed * tick.as_secs_f64());
    Ok(Outcome {
        success_probability: means.successes,
        drop_probability: means.given_up / (means.given_up + means.successes),
        successes_per_second,
        throughput_bps: successes_per_second * pair.payload.bits() as f64,
    })
}

/// The change of a step, summed over all states, at which the outcome is settled to six digits and more.
const SETTLED: f64 = 1e-8;

/// The pair forgets its start within tens of frames; the cap is for degenerate windows.
const MOST_STEPS: u32 = 2000;

/// What an attempt brings on average.
#[derive(Default)]
struct Means {
    successes: f64,
    given_up: f64,
    /// From its start to the next one, by whomever, in ticks.
    elapsed: f64,
}

/// The pair's times in ticks, X's and Y's events counted from the start of X's frame.
struct Chain {
    law: Backoff,
    slot: usize,
    frame: usize,
    ack_begins: usize,
    /// After an ACK, both count from here.
    acknowledged: usize,
    /// Without an ACK, the sender counts from here.
    timed_out: usize,
    /// `delta` is below this.
    span: usize,
}

/// Who goes next: X at `from`, or some slots of its window later, unless Y at `other` is first.
struct Race {
    from: usize,
    stage: usize,
    other: usize,
    other_stage: usize,
    other_doomed: bool,
}

impl Chain {
    fn of(pair: &Pair) -> Result<(Self, Duration), Error> {
        let times = [pair.slot, pair.frame, pair.sifs, pair.ack, pair.difs, pair.timeout];
        let tick = times.into_iter().fold(0, |divisor, time| greatest_common_divisor(divisor, time.as_nanos()));
        let law = Backoff::new(pair.cw_min, pair.cw_max, pair.attempts);
        let widest = u64::from(law.windows().iter().copied().max().unwrap_or(pair.cw_min));
        let acknowledged = pair.frame + pair.sifs + pair.ack + pair.difs;
        let timed_out = pair.frame + pair.timeout;
        let span = (acknowledged.max(timed_out).as_nanos() + (widest + 1) * pair.slot.as_nanos()) / tick + 1;
        let stages = law.windows().len() as u64;
        if span.saturating_mul(stages * stages * 2) > MAX_STATES {
            return Err(Error::States);
        }
        let ticks = |time: Duration| usize::try_from(time.as_nanos() / tick).map_err(|_| Error::States);
        let chain = Self {
            slot: ticks(pair.slot)?,
            frame: ticks(pair.frame)?,
            ack_begins: ticks(pair.frame + pair.sifs)?,
            acknowledged: ticks(acknowledged)?,
            timed_out: ticks(timed_out)?,
            span: usize::try_from(span).map_err(|_| Error::States)?,
            law,
        };
        Ok((chain, Duration::from_nanos(tick)))
    }

    fn states(&self) -> usize {
        self.law.windows().len() * self.law.windows().len() * 2 * self.span
    }

    /// Where the states of these stages begin, `delta` by `delta`.
    fn row(&self, x: usize, y: usize, doomed: bool) -> usize {
        ((x * self.law.windows().len() + y) * 2 + usize::from(doomed)) * self.span
    }

    fn step(&self, now: &[f64]) -> (Vec<f64>, Means) {
        let (mut next, mut means) = (vec![0.0; now.len()], Means::default());
        let stages = self.law.windows().len();
        for x in 0..stages {
            for y in 0..stages {
                for doomed in [false, true] {
                    let row = self.row(x, y, doomed);
                    for (delta, &weight) in now[row..row + self.span].iter().enumerate() {
                        if weight > 0.0 {
                            let race = self.attempt((x, y), doomed, delta, weight, &mut means);
                            self.enter(&race, weight, &mut next, &mut means);
                        }
                    }
                }
            }
        }
        // Ranges were entered as differences at a distance of a slot.
        for row in next.chunks_mut(self.span) {
            for delta in self.slot..self.span {
                row[delta] += row[delta - self.slot];
            }
        }
        // The differences leave rounding errors where nothing is, some of them negative.
        for weight in &mut next {
            *weight = if *weight < NEGLIGIBLE { 0.0 } else { *weight };
        }
        let total: f64 = next.iter().sum();
        for weight in &mut next {
            *weight /= total;
        }
        (next, means)
    }

    /// The three cases of the module's documentation.
    fn attempt(&self, (x, y): (usize, usize), doomed: bool, delta: usize, weight: f64, means: &mut Means) -> Race {
        if doomed || delta < self.frame {
            let stage = self.law.after_failure(x);
            means.given_up += if self.law.gives_up(x) { weight } else { 0.0 };
            let other_doomed = delta < self.frame;
            return Race { from: self.timed_out, stage, other: delta, other_stage: y, other_doomed };
        }
        means.successes += weight;
        let other_doomed = delta <= self.ack_begins;
        let other = if other_doomed {
            delta
        } else {
            self.acknowledged + (delta - self.ack_begins).div_ceil(self.slot) * self.slot
        };
        Race { from: self.acknowledged, stage: 0, other, other_stage: y, other_doomed }
    }

    /// Spreads the weight over X's draws.
    fn enter(&self, race: &Race, weight: f64, next: &mut [f64], means: &mut Means) {
        let draws = self.law.windows()[race.stage] as usize + 1;
        let each = weight / draws as f64;
        let before_other = race.other.saturating_sub(race.from).div_ceil(self.slot).min(draws);
        let mut range = |row: usize, first: usize, count: usize| {
            next[row + first] += each;
            let end = first + count * self.slot;
            if end < self.span {
                next[row + end] -= each;
            }
        };
        if before_other > 0 {
            let last = race.from + (before_other - 1) * self.slot;
            range(self.row(race.stage, race.other_stage, false), race.other - last, before_other);
            means.elapsed += each * before_other as f64 * f64::midpoint(race.from as f64, last as f64);
        }
        if before_other < draws {
            let first = race.from + before_other * self.slot - race.other;
            range(self.row(race.other_stage, race.stage, race.other_doomed), first, draws - before_other);
            means.elapsed += each * (draws - before_other) as f64 * race.other as f64;
        }
    }
}

/// A state of less weight is taken as empty.
const NEGLIGIBLE: f64 = 1e-16;

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn check(pair: &Pair) -> Result<(), Error> {
    let times = [pair.slot, pair.frame, pair.sifs, pair.ack, pair.difs, pair.timeout];
    if pair.cw_min == 0 || pair.cw_max < pair.cw_min || pair.cw_max > 65_535 {
        Err(Error::Windows)
    } else if !pair.attempts.is_none_or(|attempts| (1..=255).contains(&attempts)) {
        Err(Error::Attempts)
    } else if pair.slot.is_zero() || pair.frame.is_zero() || times.iter().any(|time| *time > Duration::from_secs(60)) {
        Err(Error::Times)
    } else if pair.timeout > pair.frame + pair.sifs || pair.sifs + pair.ack > pair.frame + pair.timeout {
        Err(Error::Short)
    } else {
        Ok(())
    }
}
