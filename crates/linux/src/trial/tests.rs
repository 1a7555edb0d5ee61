use super::verdict::interval;
use super::*;
use proptest::prelude::*;

/// A simulated world: each arm has a factor on a level that varies from block to block with memory.
struct Numbers {
    factors: Vec<f64>,
    arm: usize,
    random: Random,
    level: f64,
    /// Number of samples until a user asks to end, or the interface is gone.
    left: usize,
    is_set_up: bool,
    loses: Option<usize>,
}

impl Numbers {
    fn new(factors: &[f64], seed: u64) -> Self {
        let random = Random::new(mix(seed));
        Self { factors: factors.to_vec(), arm: 0, random, level: 0.0, left: usize::MAX, is_set_up: false, loses: None }
    }
}

impl Host for Numbers {
    type Error = &'static str;

    fn set_up(&mut self, arm: usize) -> Result<(), Self::Error> {
        (self.arm, self.is_set_up) = (arm, arm > 0);
        self.level = 0.8 * self.level + 0.5 * (self.random.unit() - 0.5);
        Ok(())
    }

    fn sample(&mut self, time: Duration) -> Result<Option<Sample>, Self::Error> {
        self.left -= 1;
        if self.left == 0 {
            return Err("gone");
        }
        let scale = 0.02 * self.factors[self.arm] * self.level.exp();
        let echoes = 5 * usize::try_from(time.as_nanos() / 1_000_000_000).unwrap();
        if self.loses == Some(self.arm) {
            return Ok(Some(Sample { lost: echoes, ..Sample::default() }));
        }
        let rtts = (0..echoes).map(|_| scale * (0.5 + self.random.unit() + self.random.unit().powi(8))).collect();
        Ok(Some(Sample { rtts, bytes: 1_000_000 + u64::from(self.random.below(200)) * 1_000, ..Sample::default() }))
    }

    fn restore(&mut self) -> Result<(), Self::Error> {
        self.is_set_up = false;
        Ok(())
    }
}

fn plan(arms: usize, rounds: usize, seed: u64) -> Plan {
    let second = Duration::from_secs;
    let arms = ["default", "turns", "cake"][..arms].iter().map(|&arm| arm.to_owned()).collect();
    Plan { arms, block: second(60), left_out: second(10), slice: second(5), rounds, seed, until_known: false }
}

fn held(plan: &Plan, host: &mut Numbers) -> Trial {
    let (trial, ended) = run(plan, About::default(), host, &mut |_| ControlFlow::Continue(()));
    assert_eq!((ended, host.is_set_up), (Ok(()), false));
    trial
}

fn differs(effect: &Effect) -> bool {
    matches!(effect.ruling, Ruling::Better | Ruling::Worse)
}

/// Two equal arms: at most one trial in twenty finds a difference, with or without interim analyses. Of 40 trials this
/// is 2; with four deviations of sqrt(40 * 0.05 * 0.95), 7.5.
#[test]
fn no_difference_is_seldom_told_and_a_fifth_often() {
    for until_known in [false, true] {
        let mut told = [0; 2];
        for seed in 0..40 {
            for (told, factor) in told.iter_mut().zip([1.0, 0.8]) {
                let plan = Plan { until_known, ..plan(2, 30, seed) };
                let trial = held(&plan, &mut Numbers::new(&[1.0, factor], seed));
                *told += u32::from(judge(&[&trial], trial.level).effects.iter().any(differs));
            }
        }
        println!("{told:?}");
        assert!(told[0] < 8 && told[1] > 30, "{until_known}: {told:?}");
    }
}

/// By hand: the subsets of the differences 1, 2 and 6 have the means 1, 1.5, 2, 3, 3.5, 4 and 6. Each part of the line
/// between them holds the effect with probability 1/8.
#[test]
fn the_interval_is_that_of_all_subsets() {
    assert_eq!(interval(&[1.0, 2.0, 6.0], 0.25), Some((1.0, 6.0)));
    assert_eq!(interval(&[1.0, 2.0, 6.0], 0.5), Some((1.5, 4.0)));
    assert_eq!(interval(&[1.0, 2.0, 6.0], 0.2), None, "three rounds cannot tell so well");
    assert_eq!(interval(&[], 0.5), None);
}

#[test]
fn a_trial_of_three_arms_says_which_is_better_and_which_cannot_be_told() {
    let trial = held(&plan(3, 30, 7), &mut Numbers::new(&[1.0, 0.5, 1.02], 7));
    assert_eq!((trial.blocks.len(), &trial.ended), (91, &Ended::Done));
    let rounds = |arm: usize| trial.blocks.iter().filter(|block| block.arm == arm).count();
    assert_eq!([rounds(0), rounds(1), rounds(2)], [31, 30, 30]);
    let verdict = judge(&[&trial], trial.level);
    let says = verdict.says();
    assert!(says.starts_with("turns improves the 95th percentile of the round-trip time: 5"), "{says}");
    assert!(says.contains("\nCannot tell yet whether cake") || says.contains("\ncake makes no difference"), "{says}");
    let shown = table(&[&trial], &verdict);
    assert!(shown.contains("RTT p99") && !shown.contains("TCP RTT"), "{shown}");
    let again: Trial = serde_json::from_str(&serde_json::to_string(&trial).unwrap()).unwrap();
    assert_eq!(again, trial, "a file holds all of it");
    let pooled = judge(&[&trial, &again], LEVEL);
    assert_eq!(pooled.effects[0].rounds, 60);
}

/// Echoes that come after two seconds are lost: a default that delays them so must not be judged by other rounds.
#[test]
fn an_arm_that_answers_is_better_than_a_default_that_does_not() {
    let mut world = Numbers { loses: Some(0), ..Numbers::new(&[1.0, 1.0], 1) };
    let verdict = judge(&[&held(&plan(2, 12, 1), &mut world)], LEVEL);
    let head = &verdict.effects[0];
    assert!((head.measure, head.ruling, head.rounds) == ("RTT p95", Ruling::Better, 12), "{head:?}");
}

#[test]
fn a_known_verdict_ends_a_trial_and_harm_does_at_once() {
    let known = Plan { until_known: true, ..plan(2, 40, 1) };
    let trial = held(&known, &mut Numbers::new(&[1.0, 0.3], 1));
    assert!(trial.ended == Ended::Known && trial.blocks.len() < 81 && trial.level < LEVEL, "{:?}", trial.ended);
    let mut host = Numbers { loses: Some(1), ..Numbers::new(&[1.0, 1.0], 1) };
    let trial = held(&plan(2, 40, 1), &mut host);
    assert_eq!(trial.ended, Ended::Harm("with turns, no ping was answered for 10 s".to_owned()));
    assert!(trial.blocks.len() < 5);
    // If the default loses as much, the loss is no harm.
    let mut host = Numbers { loses: Some(0), ..Numbers::new(&[1.0, 1.0], 1) };
    assert_eq!(held(&plan(2, 9, 1), &mut host).ended, Ended::Done);
}

#[test]
fn what_ends_a_trial_early_leaves_what_was_measured_and_nothing_set_up() {
    let mut host = Numbers { left: 40, ..Numbers::new(&[1.0, 1.0], 3) };
    let (trial, ended) = run(&plan(2, 9, 3), About::default(), &mut host, &mut |_| ControlFlow::Continue(()));
    assert_eq!((ended, trial.ended, trial.blocks.len(), host.is_set_up), (Err("gone"), Ended::Early, 3, false));
    let mut host = Numbers::new(&[1.0, 1.0], 3);
    let (trial, ended) = run(&plan(2, 9, 3), About::default(), &mut host, &mut |_| ControlFlow::Break(()));
    assert_eq!((ended, trial.blocks.len()), (Ok(()), 1));
    assert_eq!(judge(&[&trial], LEVEL).says(), "Cannot tell: no round is complete.\n");
}

proptest! {
    #[test]
    fn an_interval_holds_the_median_and_moves_with_the_values(values in prop::collection::vec(-9.0..9.0_f64, 8..40), by in -5.0..5.0_f64) {
        let (low, high) = interval(&values, 0.05).unwrap();
        let moved: Vec<f64> = values.iter().map(|value| value + by).collect();
        let (other, _) = interval(&moved, 0.05).unwrap();
        prop_assert!(low <= high && (other - low - by).abs() < 1e-9);
    }

    #[test]
    fn each_round_has_each_arm_once(arms in 2_usize..4, seed: u64, round in 1_usize..99) {
        let mut order = Plan { seed, ..plan(arms, 1, 0) }.order(round);
        order.sort_unstable();
        prop_assert_eq!(order, (0..arms).collect::<Vec<_>>());
    }
}
