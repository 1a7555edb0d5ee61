//! A trial: schemes ("arms") take turns on the same traffic, in blocks in random order, and the differences between
//! blocks are judged (a switchback experiment). A [`Host`] provides [a live interface](crate::agent::trial), or a
//! simulated one.

mod verdict;

pub use verdict::{Effect, Ruling, Verdict, judge, table};

use control::{Random, mix};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use units::Duration;

/// Probability that any of the trial's intervals, over all measures and arms, misses the true value.
pub const LEVEL: f64 = 0.05;
/// Number of analyses in a trial that ends once its verdict is known.
const LOOKS: usize = 4;
/// An arm does harm if its share of lost echoes exceeds the default's largest share by this much; at least `ECHOES`
/// echoes must be sent. Before `KNOWN` blocks show how the default's losses vary, `LOSS_AT_FIRST` applies.
const LOSS: f64 = 0.2;
const LOSS_AT_FIRST: f64 = 0.5;
const KNOWN: usize = 4;
const ECHOES: usize = 20;
/// An arm does harm if echoes stay unanswered for this many seconds and for three times the default's longest silence.
const SILENCE: f64 = 5.0;

/// Sets up arms and measures them: a live interface or a simulation.
pub trait Host {
    /// Reason why the trial cannot continue.
    type Error;

    /// Restores the state before the trial, then sets up the arm with this number; 0 is the default.
    ///
    /// # Errors
    /// The arm cannot be set up.
    fn set_up(&mut self, arm: usize) -> Result<(), Self::Error>;

    /// Measures for this time. `None`: a user asked the trial to end.
    ///
    /// # Errors
    /// The interface is absent, or another program has changed it.
    fn sample(&mut self, time: Duration) -> Result<Option<Sample>, Self::Error>;

    /// Restores the state before the trial.
    ///
    /// # Errors
    /// The former state cannot be restored.
    fn restore(&mut self) -> Result<(), Self::Error>;
}

/// Measurements of one period; times are in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the other fields' names say what they are")]
pub struct Sample {
    /// Round-trip times of answered echoes.
    pub rtts: Vec<f64>,
    /// Number of unanswered echoes.
    pub lost: usize,
    /// Smoothed round-trip times of this machine's TCP connections.
    pub tcp_rtts: Vec<f64>,
    pub sojourns: Vec<f64>,
    pub bytes: u64,
    /// Frames sent to stations, and how many of these were given up, as far as the radio reports them.
    pub frames: [u64; 2],
}

impl Sample {
    fn add(&mut self, other: Self) {
        self.rtts.extend(other.rtts);
        self.tcp_rtts.extend(other.tcp_rtts);
        self.sojourns.extend(other.sojourns);
        self.lost += other.lost;
        self.bytes += other.bytes;
        self.frames = [0, 1].map(|at| self.frames[at] + other.frames[at]);
    }

    /// Returns the number of echoes sent, and the share of them that was lost.
    fn echoes(&self) -> (usize, f64) {
        let all = self.lost + self.rtts.len();
        (all, self.lost as f64 / all.max(1) as f64)
    }

    fn block(mut self, (round, arm): (usize, usize), seconds: f64, silence_s: f64) -> Block {
        let (echoes, loss_ratio) = self.echoes();
        let [sent, failed] = self.frames;
        Block {
            arm,
            round,
            echoes,
            loss_ratio,
            silence_s,
            rtt_p50_s: quantile(&mut self.rtts, 0.5),
            rtt_p95_s: quantile(&mut self.rtts, 0.95),
            rtt_p99_s: quantile(&mut self.rtts, 0.99),
            tcp_rtt_s: quantile(&mut self.tcp_rtts, 0.5),
            sojourn_s: quantile(&mut self.sojourns, 0.5),
            goodput_bps: 8.0 * self.bytes as f64 / seconds,
            failure_ratio: (sent > 0).then(|| failed as f64 / sent as f64),
        }
    }
}

/// The plan of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the other fields' names say what they are")]
pub struct Plan {
    /// Names of the arms. The first is the default, with which all further arms are compared.
    pub arms: Vec<String>,
    pub block: Duration,
    /// Time at the beginning of a block that is left out of the measurements.
    pub left_out: Duration,
    /// Time between two checks for harm.
    pub slice: Duration,
    /// Number of rounds, each with a block of each arm.
    pub rounds: usize,
    /// Seed of the arms' random order.
    pub seed: u64,
    pub until_known: bool,
}

impl Plan {
    /// Returns the arms of a round in their random order.
    fn order(&self, round: usize) -> Vec<usize> {
        let mut random = Random::new(mix(mix(self.seed) ^ round as u64));
        let mut order: Vec<usize> = (0..self.arms.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, usize::from(random.below(u8::try_from(last + 1).unwrap_or(u8::MAX))));
        }
        order
    }

    /// Returns the error level of the analysis after this round. All analyses share the level of the trial, and early
    /// ones get little of it (alpha spending). `None`: no analysis follows this round.
    fn look(&self, round: usize) -> Option<f64> {
        let spent = |look: usize| LEVEL * (look as f64 / LOOKS as f64).powi(2);
        let look = (1..=LOOKS).find(|look| (self.rounds * look).div_ceil(LOOKS) == round)?;
        if self.until_known { Some(spent(look) - spent(look - 1)) } else { (look == LOOKS).then_some(LEVEL) }
    }
}

/// Description of the network of a trial, without addresses and names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct About {
    pub kernel: String,
    pub driver: Option<String>,
    pub generation: Option<String>,
    pub stations: usize,
}

/// A block. Values that were not measured are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "names and units say what they are")]
pub struct Block {
    pub arm: usize,
    /// Round of the block, from 1. Block 0 is of the default before the first round; only the check for harm uses it.
    pub round: usize,
    pub echoes: usize,
    pub loss_ratio: f64,
    pub silence_s: f64,
    pub rtt_p50_s: Option<f64>,
    pub rtt_p95_s: Option<f64>,
    pub rtt_p99_s: Option<f64>,
    pub tcp_rtt_s: Option<f64>,
    pub sojourn_s: Option<f64>,
    pub goodput_bps: f64,
    pub failure_ratio: Option<f64>,
}

/// Why a trial ended: all blocks are done, its verdict is known, an arm did harm, a user asked for it, or it failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "see above")]
pub enum Ended {
    Done,
    Known,
    Harm(String),
    Early,
}

/// A trial up to now, in the form of its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the other fields' names say what they are")]
pub struct Trial {
    pub about: About,
    pub plan: Plan,
    /// Error level of the intervals; further analyses lower it.
    pub level: f64,
    pub ended: Ended,
    pub blocks: Vec<Block>,
}

/// Runs a trial, and restores the former state at its end in any case. `told` gets the trial after each block, and may
/// end it. The error is what ended the trial, or why the former state is not restored.
pub fn run<H: Host>(
    plan: &Plan,
    about: About,
    host: &mut H,
    told: &mut dyn FnMut(&Trial) -> ControlFlow<()>,
) -> (Trial, Result<(), H::Error>) {
    debug_assert!(plan.arms.len() > 1 && plan.left_out < plan.block, "something is compared and measured");
    let level = plan.look(plan.rounds).unwrap_or(LEVEL);
    let mut trial = Trial { about, plan: plan.clone(), level, ended: Ended::Early, blocks: Vec::new() };
    let ended = blocks(plan, &mut trial, host, told);
    let restored = host.restore();
    (trial, ended.and(restored))
}

fn blocks<H: Host>(
    plan: &Plan,
    trial: &mut Trial,
    host: &mut H,
    told: &mut dyn FnMut(&Trial) -> ControlFlow<()>,
) -> Result<(), H::Error> {
    for round in 0..=plan.rounds {
        for arm in if round == 0 { vec![0] } else { plan.order(round) } {
            host.set_up(arm)?;
            let Some((block, harm)) = block(plan, (round, arm), &trial.blocks, host)? else { return Ok(()) };
            trial.blocks.push(block);
            if let Some(harm) = &harm {
                // The former state returns before anybody is told.
                host.restore()?;
                trial.ended = Ended::Harm(format!("with {}, {harm}", plan.arms[arm]));
            }
            if told(trial).is_break() || harm.is_some() {
                return Ok(());
            }
        }
        if let Some(level) = plan.look(round).filter(|_| plan.until_known)
            && judge(&[trial], level).is_known()
        {
            (trial.level, trial.ended) = (level, Ended::Known);
            return Ok(());
        }
    }
    trial.ended = Ended::Done;
    Ok(())
}

/// Measures a block; also returns the harm that ended it early, if any. `None`: a user asked the trial to end.
fn block<H: Host>(
    plan: &Plan,
    which: (usize, usize),
    before: &[Block],
    host: &mut H,
) -> Result<Option<(Block, Option<String>)>, H::Error> {
    let (mut whole, mut passed, mut counted, mut harm) = (Sample::default(), Duration::ZERO, Duration::ZERO, None);
    let (mut silent, mut silence) = (0.0, 0.0_f64);
    while passed < plan.block && harm.is_none() {
        let is_left_out = passed < plan.left_out;
        let end = if is_left_out { plan.left_out } else { plan.block };
        let time = plan.slice.min(end.saturating_sub(passed));
        let Some(sample) = host.sample(time)? else { return Ok(None) };
        passed += time;
        silent = match (sample.rtts.is_empty(), sample.lost) {
            (false, _) => 0.0,
            (true, 0) => silent,
            (true, _) => silent + time.as_secs_f64(),
        };
        silence = silence.max(silent);
        if !is_left_out {
            counted += time;
            whole.add(sample);
        }
        harm = harm_of(before, &whole, silent).filter(|_| which.1 > 0);
    }
    debug_assert!(counted <= plan.block, "no more is counted than passed");
    Ok(Some((whole.block(which, counted.as_secs_f64().max(f64::MIN_POSITIVE), silence), harm)))
}

/// Returns the harm that an arm does and that the default never did.
fn harm_of(before: &[Block], so_far: &Sample, silent: f64) -> Option<String> {
    let most = |of: fn(&Block) -> f64| before.iter().filter(|block| block.arm == 0).map(of).fold(0.0, f64::max);
    let (default, silence) = (most(|block| block.loss_ratio), most(|block| block.silence_s));
    if silent > SILENCE.max(3.0 * silence) {
        return Some(format!("no ping was answered for {silent:.0} s"));
    }
    let (echoes, own) = so_far.echoes();
    let is_known = before.iter().filter(|block| block.arm == 0).count() >= KNOWN;
    let is_harm = echoes >= ECHOES && own > default + if is_known { LOSS } else { LOSS_AT_FIRST };
    is_harm.then(|| format!("{:.0} % of the pings are lost (default: at most {:.0} %)", 100.0 * own, 100.0 * default))
}

/// Returns the smallest value that bounds at least this share of the values.
fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let least = share * values.len() as f64;
    (1..=values.len()).find(|rank| *rank as f64 >= least).map(|rank| values[rank - 1])
}

#[cfg(test)]
#[path = "trial/tests.rs"]
mod tests;
