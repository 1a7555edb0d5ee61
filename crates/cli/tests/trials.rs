//! Trials on simulated access points, by the code that holds them on live interfaces: how often the same arm twice is said to
//! differ, and how often a true difference of a fifth is found.

use control::{Random, mix};
use experiment::scenario::{Scenario, Wishes};
use linux::trial::{About, Effect, Ended, Host, Plan, Ruling, Sample, judge, run};
use sim::World;
use sim::config::Network;
use std::convert::Infallible;
use std::ops::ControlFlow;
use units::Duration;

/// An access point whose queue is full most of the time, a station that is asked ten times a second, and a neighbour. A block
/// is 3 s long instead of 60, so that its percentiles are noisier than those of an hour.
const CELL: &str = r#"
title = "An access point on trial"
duration = "3 s"
warmup = "0.5 s"
radio = { standard = "802.11g", data_rate = "6 Mb/s" }
queue.limit = LIMIT
record.distributions = true
node = [
    { name = "ap", role = "access-point", position = ["0 m", "0 m"] },
    { name = "sta", position = ["5 m", "0 m"], access_point = "ap" },
    { name = "other", role = "access-point", position = ["0 m", "5 m"] },
    { name = "guest", position = ["5 m", "5 m"], access_point = "other" },
]
flow = [
    { name = "load", from = "ap", to = "sta", traffic = { kind = "poisson", rate = "LOAD Mb/s", packet = "1472 B" } },
    { name = "theirs", from = "other", to = "guest", traffic = { kind = "poisson", rate = "THEIRS Mb/s", packet = "1472 B" } },
    { name = "ping", from = "ap", to = "sta", traffic = { kind = "ping", packet = "64 B", every = "100 ms" } },
]
"#;
/// What the hour brings, in megabits per second: own load and the neighbour's.
const HOURS: [(&str, &str); 3] = [("4.6", "1.2"), ("5.2", "0.4"), ("6.0", "0.8")];
const LEFT_OUT: Duration = Duration::from_millis(500);

/// An access point, by arm and by what the hour brings.
struct AccessPoint {
    networks: Vec<[Network; HOURS.len()]>,
    arm: usize,
    hour: usize,
    random: Random,
}

impl AccessPoint {
    fn new(limits: &[u32], seed: u64) -> Self {
        let network = |limit: &u32| {
            HOURS.map(|(load, theirs)| {
                let text = CELL.replace("LIMIT", &limit.to_string()).replace("LOAD", load).replace("THEIRS", theirs);
                Scenario::parse("cell.toml", text.as_bytes(), &Wishes::default()).expect("a scenario").base
            })
        };
        let networks = limits.iter().map(network).collect();
        Self { networks, arm: 0, hour: 0, random: Random::new(mix(seed)) }
    }
}

impl Host for AccessPoint {
    type Error = Infallible;

    /// What the hour brings stays for four blocks on average.
    fn set_up(&mut self, arm: usize) -> Result<(), Infallible> {
        self.arm = arm;
        if self.random.below(4) == 0 {
            self.hour = usize::from(self.random.below(3));
        }
        Ok(())
    }

    fn sample(&mut self, time: Duration) -> Result<Option<Sample>, Infallible> {
        if time == LEFT_OUT {
            // It is the run's warm-up.
            return Ok(Some(Sample::default()));
        }
        let network = &self.networks[self.arm][self.hour];
        let outcome = World::new(network, self.random.bits()).expect("a network").finish();
        let flow = |name: &str| outcome.flows.iter().position(|flow| flow.name == name).expect("it is in the text");
        let (ping, load) = (flow("ping"), flow("load"));
        let told = &outcome.distributions.as_ref().expect("the text asks for them").flows[ping].rtt_s;
        // Percentiles stand for echoes.
        let rtts = told.iter().take(100).copied().collect();
        let ping = &outcome.flows[ping];
        let lost = ping.sent_packets.saturating_sub(ping.replies.unwrap_or(0) + ping.in_flight_packets);
        let lost = usize::try_from(100 * lost / ping.sent_packets.max(1)).unwrap_or(0);
        let bytes = 1_472 * outcome.flows[load].received_packets;
        Ok(Some(Sample { rtts, lost, bytes, ..Sample::default() }))
    }

    fn restore(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Holds as many trials of 60 blocks on access points with these limits of the queue. Counts those that tell of a difference
/// and those that the guard ended, and returns the mean ratio of the 95th percentile of the round-trip time.
fn told(limits: [u32; 2], trials: u64, until_known: bool) -> (usize, usize, f64) {
    let (mut differs, mut harmed, mut ratios) = (0, 0, Vec::new());
    for seed in 0..trials {
        let arms = ["default", "other"].map(str::to_owned).to_vec();
        let block = Duration::from_secs(3);
        let plan = Plan { arms, block, left_out: LEFT_OUT, slice: block, rounds: 30, seed, until_known };
        let mut host = AccessPoint::new(&limits, seed);
        let (trial, ended) = run(&plan, About::default(), &mut host, &mut |_| ControlFlow::Continue(()));
        ended.expect("this world never fails");
        harmed += usize::from(matches!(trial.ended, Ended::Harm(_)));
        let effects = judge(&[&trial], trial.level).effects;
        let is_told = |effect: &Effect| matches!(effect.ruling, Ruling::Better | Ruling::Worse);
        differs += usize::from(effects.iter().any(is_told));
        ratios.extend(effects.first().map(|effect| effect.ratio));
    }
    (differs, harmed, ratios.iter().sum::<f64>() / ratios.len() as f64)
}

#[test]
fn the_same_code_holds_a_trial_on_a_simulated_access_point() {
    let (differs, _, ratio) = told([25, 12], 1, true);
    assert!(differs == 1 && (0.3..0.7).contains(&ratio), "{ratio}");
}

/// Prints the table of docs/live-trial.md, for as many trials of each kind as TRIALS says.
#[test]
#[ignore = "make nightly: 160 trials on simulated access points"]
#[expect(clippy::disallowed_methods, reason = "no scenario says how often it is tried")]
fn of_trials_on_simulated_access_points() {
    let trials = std::env::var("TRIALS").map_or(40, |it| it.parse().expect("a number"));
    for (what, limits) in [("the same arm twice", [25, 25]), ("a fifth", [25, 20])] {
        for until_known in [false, true] {
            let (differs, harmed, ratio) = told(limits, trials, until_known);
            println!(
                "{what}, until known {until_known}: {differs} of {trials} differ, {harmed} ended by the guard, RTT p95 {ratio:.3}"
            );
            let bound = (trials as f64 * 0.05) + 4.0 * (trials as f64 * 0.05 * 0.95).sqrt();
            assert!(if limits[0] == limits[1] {
                (differs as f64) < bound
            } else {
                differs as f64 > 0.8 * trials as f64
            });
        }
    }
}
