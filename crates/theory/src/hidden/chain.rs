//! The Markov chain of [`super`].

use super::stages::{Failure, Stages};
use super::{MAX_STATES, Pair};
use crate::Error;
use units::{Duration, refuse_if};

/// Mean counts and times of a step.
#[derive(Default)]
pub(super) struct Means {
    /// Frames (with a handshake, RTSs) that the stations have initiated.
    pub(super) attempts: f64,
    pub(super) successes: f64,
    pub(super) given_up: f64,
    /// Time from the start of the step to the start of the next one, in ticks.
    pub(super) elapsed: f64,
}

/// The pair's times in ticks. Events of X and Y are counted from the start of X's frame.
pub(super) struct Chain {
    stages: Stages,
    slot: usize,
    /// Duration of the frame that contends.
    first: usize,
    /// If Y begins later than this, it has already reacted to the answer to X's first frame.
    reacts: usize,
    /// If there is an ACK, both stations count slots from this tick.
    acknowledged: usize,
    /// If no answer comes, the sender counts slots from this tick.
    timed_out: usize,
    /// The data frame, if there is a handshake.
    data: Option<Data>,
    /// All values of `delta` are below this.
    span: usize,
}

/// The data frame that follows a CTS. Its events are counted from its own start.
#[derive(Clone, Copy)]
struct Data {
    /// Start of the data frame, counted from the start of the RTS.
    begins: usize,
    ends: usize,
    reacts: usize,
    acknowledged: usize,
    timed_out: usize,
}

/// The back-off stages of the two stations.
#[derive(Clone, Copy)]
struct AtStages {
    x: usize,
    y: usize,
}

/// What a state says besides the stages and `delta`.
#[derive(Clone, Copy)]
enum Kind {
    /// X begins its frame, which may succeed.
    Clean,
    /// X begins its frame, which cannot succeed any more.
    Doomed,
    /// X begins its data frame, and Y does not know of it.
    Deaf,
    /// As `Deaf`, but the data frame is already lost.
    DeafAndHit,
}

const BASIC: [Kind; 2] = [Kind::Clean, Kind::Doomed];
const WITH_HANDSHAKE: [Kind; 4] = [Kind::Clean, Kind::Doomed, Kind::Deaf, Kind::DeafAndHit];

/// Who sends next: X at `from` or some slots of its window later, unless Y is earlier, at `other`.
struct Race {
    from: usize,
    stage: usize,
    other: usize,
    other_stage: usize,
    other_doomed: bool,
}

/// Result of a step: the weights of the next states, and the means.
struct Next {
    weights: Vec<f64>,
    means: Means,
}

impl Chain {
    pub(super) fn of(pair: &Pair) -> Result<(Self, Duration), Error> {
        let handshake = pair.handshake.map_or([Duration::ZERO; 2], |handshake| [handshake.rts, handshake.cts]);
        let times = [pair.slot, pair.frame, pair.sifs, pair.ack, pair.difs, pair.timeout, pair.turnaround];
        let times = times.into_iter().chain(handshake);
        let tick = times.fold(0, |divisor, time| greatest_common_divisor(divisor, time.as_nanos()));
        let ticks = |time: Duration| usize::try_from(time.as_nanos() / tick).map_err(|_| Error::States);

        let stages = Stages::of(pair);
        let first = pair.first();
        let begins = first + pair.until_data();
        let from_data = pair.frame + pair.sifs + pair.ack + pair.difs;
        let acknowledged = if pair.handshake.is_some() { begins + from_data } else { from_data };
        let data = Data {
            begins: ticks(begins)?,
            ends: ticks(pair.frame)?,
            reacts: ticks(pair.frame + pair.sifs + pair.turnaround)?,
            acknowledged: ticks(from_data)?,
            timed_out: ticks(pair.frame + pair.timeout)?,
        };
        let longest = acknowledged.max(first + pair.timeout + pair.timeout);
        let span = (longest.as_nanos() + (stages.widest() + 1) * pair.slot.as_nanos()) / tick + 1;
        let chain = Self {
            slot: ticks(pair.slot)?,
            first: ticks(first)?,
            reacts: ticks(first + pair.sifs + pair.turnaround)?,
            acknowledged: ticks(acknowledged)?,
            timed_out: ticks(first + pair.timeout)?,
            data: pair.handshake.is_some().then_some(data),
            span: usize::try_from(span).map_err(|_| Error::States)?,
            stages,
        };
        let rows = chain.stages.count() * chain.stages.count() * chain.kinds().len();
        refuse_if!(span.saturating_mul(rows as u64) > MAX_STATES, Err(Error::States));
        Ok((chain, Duration::from_nanos(tick)))
    }

    fn kinds(&self) -> &'static [Kind] {
        if self.data.is_some() { &WITH_HANDSHAKE } else { &BASIC }
    }

    pub(super) fn states(&self) -> usize {
        self.stages.count() * self.stages.count() * self.kinds().len() * self.span
    }

    /// Returns the index of the first state of these stages and this kind; one state for each `delta` follows.
    fn row(&self, x: usize, y: usize, kind: Kind) -> usize {
        ((x * self.stages.count() + y) * self.kinds().len() + kind as usize) * self.span
    }

    pub(super) fn step(&self, now: &[f64]) -> (Vec<f64>, Means) {
        let mut next = Next { weights: vec![0.0; now.len()], means: Means::default() };
        for x in 0..self.stages.count() {
            for y in 0..self.stages.count() {
                for &kind in self.kinds() {
                    let row = self.row(x, y, kind);
                    for (delta, &weight) in now[row..row + self.span].iter().enumerate() {
                        if weight > 0.0 {
                            self.follow(AtStages { x, y }, kind, delta, weight, &mut next);
                        }
                    }
                }
            }
        }
        let Next { mut weights, means } = next;
        // Ranges were entered as differences between weights at a distance of one slot.
        for row in weights.chunks_mut(self.span) {
            for delta in self.slot..self.span {
                row[delta] += row[delta - self.slot];
            }
        }
        // Sums of differences leave rounding errors where weights are zero; some are negative.
        for weight in &mut weights {
            *weight = if *weight < NEGLIGIBLE { 0.0 } else { *weight };
        }
        let total: f64 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= total;
        }
        (weights, means)
    }

    fn follow(&self, stages: AtStages, kind: Kind, delta: usize, weight: f64, next: &mut Next) {
        match (kind, self.data) {
            (Kind::Clean | Kind::Doomed, data) => {
                next.means.attempts += weight;
                let doomed = matches!(kind, Kind::Doomed);
                match data {
                    Some(data) if !doomed && delta >= self.first && delta <= self.reacts => {
                        self.misses_cts(stages, data, delta, weight, next);
                    }
                    _ => {
                        let race = self.attempt(stages, doomed, delta, weight, next);
                        self.enter(&race, weight, next);
                    }
                }
            }
            (Kind::Deaf | Kind::DeafAndHit, Some(data)) => {
                let hit = matches!(kind, Kind::DeafAndHit);
                if delta < data.ends {
                    self.hits(stages, data, delta, weight, next);
                } else {
                    let race = self.data_ends(stages, data, hit, delta, weight, next);
                    self.enter(&race, weight, next);
                }
            }
            (Kind::Deaf | Kind::DeafAndHit, None) => unreachable!("only a handshake has these kinds"),
        }
    }

    /// Returns the outcome of one of the three cases in the module's documentation.
    fn attempt(&self, AtStages { x, y }: AtStages, doomed: bool, delta: usize, weight: f64, next: &mut Next) -> Race {
        if doomed || delta < self.first {
            let stage = self.fails(x, Failure::First, weight, next);
            let other_doomed = delta < self.first;
            return Race { from: self.timed_out, stage, other: delta, other_stage: y, other_doomed };
        }
        next.means.successes += weight;
        let (other, other_doomed) = self.after_answer(delta, self.reacts, self.acknowledged);
        Race { from: self.acknowledged, stage: 0, other, other_stage: y, other_doomed }
    }

    /// X succeeds and is acknowledged. Returns when Y begins, and whether Y is doomed.
    fn after_answer(&self, delta: usize, reacts: usize, acknowledged: usize) -> (usize, bool) {
        if delta <= reacts {
            (delta, true)
        } else {
            (acknowledged + (delta - reacts).div_ceil(self.slot) * self.slot, false)
        }
    }

    /// Returns the stage that follows a failure at this stage.
    fn fails(&self, stage: usize, of: Failure, weight: f64, next: &mut Next) -> usize {
        self.stages.after(stage, of).unwrap_or_else(|| {
            next.means.given_up += weight;
            0
        })
    }

    /// Y begins its RTS just after X's: Y fails and misses the CTS. X's data frame begins.
    fn misses_cts(&self, AtStages { x, y }: AtStages, data: Data, delta: usize, weight: f64, next: &mut Next) {
        next.means.attempts += weight;
        next.means.elapsed += weight * data.begins as f64;
        let stage = self.fails(y, Failure::First, weight, next);
        let kind = if delta + self.first > data.begins { Kind::DeafAndHit } else { Kind::Deaf };
        let first = delta + self.timed_out - data.begins;
        self.spread(self.row(x, stage, kind), first, stage, weight, next);
    }

    /// Y is deaf and begins an RTS within X's data frame.
    fn hits(&self, AtStages { x, y }: AtStages, data: Data, delta: usize, weight: f64, next: &mut Next) {
        if delta + self.timed_out < data.ends {
            next.means.attempts += weight;
            let stage = self.fails(y, Failure::First, weight, next);
            self.spread(self.row(x, stage, Kind::DeafAndHit), delta + self.timed_out, stage, weight, next);
        } else {
            // X fails before Y's next start, so the next attempt is Y's; X's next start follows it.
            next.means.elapsed += weight * delta as f64;
            let stage = self.fails(x, Failure::Data, weight, next);
            self.spread(self.row(y, stage, Kind::Doomed), data.timed_out - delta, stage, weight, next);
        }
    }

    /// X's data frame ends before Y begins its next RTS.
    fn data_ends(
        &self,
        AtStages { x, y }: AtStages,
        data: Data,
        hit: bool,
        delta: usize,
        weight: f64,
        next: &mut Next,
    ) -> Race {
        if hit {
            let stage = self.fails(x, Failure::Data, weight, next);
            return Race { from: data.timed_out, stage, other: delta, other_stage: y, other_doomed: false };
        }
        next.means.successes += weight;
        let (other, other_doomed) = self.after_answer(delta, data.reacts, data.acknowledged);
        Race { from: data.acknowledged, stage: 0, other, other_stage: y, other_doomed }
    }

    /// Spreads the weight over the draws that X may make.
    fn enter(&self, race: &Race, weight: f64, next: &mut Next) {
        let draws = self.stages.draws(race.stage);
        let each = weight / draws as f64;
        let before_other = race.other.saturating_sub(race.from).div_ceil(self.slot).min(draws);
        if before_other > 0 {
            let last = race.from + (before_other - 1) * self.slot;
            let row = self.row(race.stage, race.other_stage, Kind::Clean);
            self.range(row, race.other - last, before_other, each, next);
            next.means.elapsed += each * before_other as f64 * f64::midpoint(race.from as f64, last as f64);
        }
        if before_other < draws {
            let first = race.from + before_other * self.slot - race.other;
            let kind = if race.other_doomed { Kind::Doomed } else { Kind::Clean };
            let row = self.row(race.other_stage, race.stage, kind);
            self.range(row, first, draws - before_other, each, next);
            next.means.elapsed += each * (draws - before_other) as f64 * race.other as f64;
        }
    }

    /// Spreads the weight over the draws of a stage; the earliest is at `first`.
    fn spread(&self, row: usize, first: usize, stage: usize, weight: f64, next: &mut Next) {
        let draws = self.stages.draws(stage);
        self.range(row, first, draws, weight / draws as f64, next);
    }

    fn range(&self, row: usize, first: usize, count: usize, each: f64, next: &mut Next) {
        next.weights[row + first] += each;
        let end = first + count * self.slot;
        if end < self.span {
            next.weights[row + end] -= each;
        }
    }
}

/// A state with less weight than this counts as empty.
const NEGLIGIBLE: f64 = 1e-16;

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
