//! The verdict on trials: ratios of arms, intervals that follow from the random order alone, and the result in words.

use super::{Block, Trial};
use crate::kernel::echo::PATIENCE;
use control::Random;
use serde::Serialize;
use std::fmt::{self, Write as _};

/// A ratio between the inverse of this value and the value itself counts as no difference.
const LITTLE: f64 = 1.1;
/// Largest ratio: a round without goodput must not outweigh all others.
const MOST: f64 = 100.0;
/// Number of subsets of rounds that are drawn. If there are fewer subsets, all are taken.
const DRAWN: usize = 9_999;
const FEW: usize = 13;

/// A measured quantity: name, value, and true if more is better. The first one that was measured is the headline.
type Measure = (&'static str, fn(&Block) -> Option<f64>, bool);
const MEASURES: [Measure; 4] = [
    ("RTT p95", |block| block.rtt_p95_s, false),
    ("RTT p50", |block| block.rtt_p50_s, false),
    ("RTT p99", |block| block.rtt_p99_s, false),
    ("goodput", |block| Some(block.goodput_bps), true),
];
/// Quantities that are reported but not judged.
const TOLD: [Measure; 4] = [
    ("echoes lost", |block| (block.echoes > 0).then_some(block.loss_ratio), false),
    ("TCP RTT", |block| block.tcp_rtt_s, false),
    ("queueing delay", |block| block.sojourn_s, false),
    ("frames given up", |block| block.failure_ratio, false),
];

/// Ruling on an arm compared with the default, from the interval of the change. `Same`: the change is below a tenth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum Ruling {
    Better,
    Worse,
    Same,
    Unknown,
}

/// Effect of an arm: the geometric mean of its ratios to the default in all rounds, and the ends of that mean's
/// interval. With too few rounds the ends are infinite.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Effect {
    pub arm: String,
    pub measure: &'static str,
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    pub ruling: Ruling,
    pub rounds: usize,
}

/// The verdict on one trial, or on several together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Effects of each arm except the default. The first effect of an arm is its headline.
    pub effects: Vec<Effect>,
}

/// Judges trials of the same arms. `level` is the probability that any of the intervals misses the true value.
pub fn judge(trials: &[&Trial], level: f64) -> Verdict {
    let arms = trials.first().map_or(&[][..], |trial| &trial.plan.arms);
    debug_assert!(trials.iter().all(|trial| trial.plan.arms == arms), "the same arms are compared");
    let level = level / (MEASURES.len() * arms.len().saturating_sub(1)).max(1) as f64;
    let mut effects = Vec::new();
    for (number, arm) in arms.iter().enumerate().skip(1) {
        for (measure, of, more) in MEASURES {
            let logs: Vec<f64> = trials.iter().flat_map(|trial| differences(&trial.blocks, number, of)).collect();
            if logs.is_empty() {
                continue;
            }
            let ratio = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            let (low, high) = interval(&logs, level).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            let (low, high) = (low.exp(), high.exp());
            let ruling = match (low > 1.0, high < 1.0) {
                (false, false) if low > 1.0 / LITTLE && high < LITTLE => Ruling::Same,
                (false, false) => Ruling::Unknown,
                (is_more, _) if is_more == more => Ruling::Better,
                _ => Ruling::Worse,
            };
            effects.push(Effect { arm: arm.clone(), measure, ratio, low, high, ruling, rounds: logs.len() });
        }
    }
    Verdict { effects }
}

/// Returns the logarithm of an arm's ratio to the default in each complete round. A round without a value of both is
/// left out. If only one arm has a value, its rival's echoes were all lost, and count as late as an answer may be:
/// otherwise an arm would be judged by the rounds in which it does no harm. No ratio counts beyond [`MOST`].
fn differences(blocks: &[Block], arm: usize, of: fn(&Block) -> Option<f64>) -> Vec<f64> {
    let unanswered = |block: &Block| (block.echoes > 0).then_some(PATIENCE.as_secs_f64());
    let difference = |round: usize| {
        let block = |arm: usize| blocks.iter().find(|block| block.round == round && block.arm == arm);
        let (ours, default) = (block(arm)?, block(0)?);
        let (one, other) = (of(ours), of(default));
        one.or(other)?;
        let (one, other) = (one.or_else(|| unanswered(ours))?, other.or_else(|| unanswered(default))?);
        (one > 0.0 || other > 0.0).then(|| (one / other).clamp(MOST.recip(), MOST).ln())
    };
    (1..=blocks.last().map_or(0, |block| block.round)).filter_map(difference).collect()
}

/// Returns the randomisation interval of a mean: the effects that are likely if only the random order of arms explains
/// the differences. An order and its opposite are equally likely in each round, so each `difference - effect` is
/// equally likely positive or negative. The means of all subsets of differences divide the line into parts that hold
/// the effect with equal probability (Hartigan's typical values, JASA 1969). `None`: too few rounds for this level.
pub(super) fn interval(differences: &[f64], level: f64) -> Option<(f64, f64)> {
    let n = differences.len();
    if n == 0 || level < 2.0_f64.powi(1 - i32::try_from(n).unwrap_or(i32::MAX)) {
        return None;
    }
    // The order of the files must not matter.
    let mut differences = differences.to_vec();
    differences.sort_unstable_by(f64::total_cmp);
    let mut random = Random::new(n as u64);
    let mut mean = |mask: Option<u64>| {
        let (mut sum, mut count, mut bits) = (0.0, 0_u32, mask.unwrap_or(0));
        for (at, difference) in differences.iter().enumerate() {
            if mask.is_none() && at % 64 == 0 {
                bits = random.bits();
            }
            if bits >> (at % 64) & 1 == 1 {
                (sum, count) = (sum + difference, count + 1);
            }
        }
        (count > 0).then(|| sum / f64::from(count))
    };
    let mut means: Vec<f64> = if n <= FEW {
        (1..1 << n).filter_map(|mask| mean(Some(mask))).collect()
    } else {
        (0..DRAWN).filter_map(|_| mean(None)).collect()
    };
    means.sort_unstable_by(f64::total_cmp);
    let most = level / 2.0 * (means.len() + 1) as f64;
    let rank = (1..=means.len() / 2).take_while(|rank| *rank as f64 <= most).last()?;
    debug_assert!(means[rank - 1] <= means[means.len() - rank], "the lower end is not above the upper");
    Some((means[rank - 1], means[means.len() - rank]))
}

impl Verdict {
    /// True once the headline of each arm is known.
    pub fn is_known(&self) -> bool {
        let mut heads = self.heads().peekable();
        heads.peek().is_some() && heads.all(|effect| effect.ruling != Ruling::Unknown)
    }

    fn heads(&self) -> impl Iterator<Item = &Effect> {
        let is_first = |at: &usize| *at == 0 || self.effects[at - 1].arm != self.effects[*at].arm;
        (0..self.effects.len()).filter(is_first).map(|at| &self.effects[at])
    }

    /// Describes each arm's effect in a sentence.
    pub fn says(&self) -> String {
        let mut text = String::new();
        for head in self.heads() {
            let arm = &head.arm;
            let what = if head.measure == "goodput" { "goodput" } else { "the 95th percentile of the round-trip time" };
            let lead = match head.ruling {
                Ruling::Better => format!("{arm} improves {what}"),
                Ruling::Worse => format!("{arm} worsens {what}"),
                Ruling::Same => format!("{arm} changes {what} by less than 10 %"),
                Ruling::Unknown => format!("Cannot tell yet whether {arm} changes {what}"),
            };
            let _ = write!(text, "{lead}: {head}");
            for other in self.effects.iter().filter(|effect| effect.arm == *arm && effect.measure != head.measure) {
                match other.ruling {
                    Ruling::Better | Ruling::Worse => {
                        let _ = write!(text, "; {} {}", other.measure, change(other.ratio));
                    }
                    Ruling::Same if other.measure == "goodput" => text += "; goodput changes by less than 10 %",
                    Ruling::Same | Ruling::Unknown => {}
                }
            }
            text += ".\n";
        }
        if text.is_empty() { "Cannot tell: no round is complete.\n".to_owned() } else { text }
    }
}

/// Writes `31 % less (20 to 40 % less)`.
impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ratio, low, high, .. } = self;
        if high.is_finite() {
            write!(f, "{} ({} to {})", change(*ratio), change(*low), change(*high))
        } else {
            write!(f, "{} (too few rounds)", change(*ratio))
        }
    }
}

/// Formats a ratio: `31 % less`.
fn change(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    format!("{:.0} % {}", percent.abs(), if percent < 0.0 { "less" } else { "more" })
}

/// Formats the means of each arm, and the intervals of the judged quantities.
pub fn table(trials: &[&Trial], verdict: &Verdict) -> String {
    let arms = trials.first().map_or(&[][..], |trial| &trial.plan.arms);
    let line = |first: &str, cells: Vec<String>, last: String| {
        let cells: Vec<String> = cells.into_iter().map(|cell| format!("{cell:>16}")).collect();
        format!("{}\n", format!("{first:<16}{}   {last}", cells.concat()).trim_end())
    };
    let mut text = line("", arms.to_vec(), "change".to_owned());
    for &(measure, of, _) in MEASURES.iter().chain(&TOLD) {
        let mean = |arm: usize| {
            let blocks = trials.iter().flat_map(|trial| &trial.blocks).filter(|it| it.arm == arm && it.round > 0);
            let values: Vec<f64> = blocks.filter_map(of).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            match measure {
                _ if values.is_empty() => "-".to_owned(),
                "goodput" => format!("{:.2} Mb/s", mean / 1e6),
                "echoes lost" | "frames given up" => format!("{:.1} %", 100.0 * mean),
                _ => format!("{:.1} ms", 1e3 * mean),
            }
        };
        let cells: Vec<String> = (0..arms.len()).map(mean).collect();
        let changes = verdict.effects.iter().filter(|effect| effect.measure == measure).map(Effect::to_string);
        if cells.iter().any(|cell| cell != "-") {
            text += &line(measure, cells, changes.collect::<Vec<_>>().join("; "));
        }
    }
    text
}
