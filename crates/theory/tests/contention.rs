//! Plain contention in a collision domain, solved numerically; the order of age is compared with it.

use theory::Error;
use theory::tmac::parking_lot;

/// Largest number of states of a chain that is solved.
const MOST_STATES: usize = 200_000;

/// A step of a flow's round: a node sends a packet of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// The node that sends.
    pub(crate) node: usize,
    /// Duration of the step, in s or in slots.
    pub(crate) time: f64,
}

/// Plain contention among nodes of one domain: a closed network of flows, each with a window of packets that go round.
///
/// Every node that holds packets is equally likely to send next; of its packets it sends each with the same
/// probability, whereas a real queue is first come, first served.
#[derive(Clone, Debug)]
pub(crate) struct Contention {
    /// By flow, the steps of a round; after the last the packet returns to the first as the next packet.
    pub(crate) rounds: Vec<Vec<Step>>,
    /// Packets of each flow.
    pub(crate) window: u8,
}

impl Contention {
    /// Returns a parking lot of `sources`: node `k` is `k` hops from the gateway, and each hop takes a slot.
    pub(crate) fn parking_lot(sources: usize, window: u8) -> Self {
        let round = |source: usize| (1..=source).rev().map(|node| Step { node, time: 1.0 }).collect();
        Self { rounds: (1..=sources).map(round).collect(), window }
    }

    /// Returns the rounds of each flow per unit of time.
    ///
    /// # Errors
    /// `Error::Stations` without a flow or with one without steps, `Error::Arrivals` without a window, `Error::Times` for
    /// a step that takes no time, `Error::States` where the chain has more than 200 000 states or does not settle.
    pub(crate) fn rates(&self) -> Result<Vec<f64>, Error> {
        if self.rounds.is_empty() || self.rounds.iter().any(Vec::is_empty) {
            return Err(Error::Stations);
        }
        if self.window == 0 {
            return Err(Error::Arrivals);
        }
        if self.rounds.iter().flatten().any(|step| !step.time.is_finite() || step.time <= 0.0) {
            return Err(Error::Times);
        }
        let chain = Chain::new(self)?;
        Ok(chain.rates(self, &chain.settle()?))
    }
}

/// The chain over the positions of all packets.
struct Chain {
    /// From each state: the next one, its probability, and the step of a flow that leads there.
    moves: Vec<Vec<Move>>,
}

struct Move {
    to: usize,
    probability: f64,
    flow: usize,
    step: usize,
}

impl Chain {
    fn new(network: &Contention) -> Result<Self, Error> {
        // A state is a number with a digit for each flow: the index among the ways to spread its window over its steps.
        let mut spreads = Vec::with_capacity(network.rounds.len());
        let mut states = 1_usize;
        for round in &network.rounds {
            let ways = spreads_of(network.window, round.len(), MOST_STATES / states)?;
            states *= ways.len();
            spreads.push(ways);
        }
        let nodes = network.rounds.iter().flatten().map(|step| step.node + 1).max().unwrap_or(0);
        let mut moves = Vec::with_capacity(states);
        let mut held = vec![0_u32; nodes];
        for state in 0..states {
            let mut digits = Vec::with_capacity(spreads.len());
            let mut rest = state;
            for ways in &spreads {
                digits.push(rest % ways.len());
                rest /= ways.len();
            }
            held.fill(0);
            for ((round, ways), &digit) in network.rounds.iter().zip(&spreads).zip(&digits) {
                for (step, &packets) in round.iter().zip(&ways[digit]) {
                    held[step.node] += u32::from(packets);
                }
            }
            let backlogged = held.iter().filter(|&&packets| packets > 0).count() as f64;
            let (mut from, mut weight) = (Vec::new(), 1);
            for (flow, (round, ways)) in network.rounds.iter().zip(&spreads).enumerate() {
                let spread = &ways[digits[flow]];
                for step in (0..round.len()).filter(|&step| spread[step] > 0) {
                    let mut next = spread.clone();
                    next[step] -= 1;
                    next[(step + 1) % round.len()] += 1;
                    let place = ways.binary_search(&next).expect("every spread is among the ways");
                    let share = f64::from(spread[step]) / f64::from(held[round[step].node]);
                    from.push(Move {
                        to: state - digits[flow] * weight + place * weight,
                        probability: share / backlogged,
                        flow,
                        step,
                    });
                }
                weight *= ways.len();
            }
            moves.push(from);
        }
        Ok(Self { moves })
    }

    /// Returns the stationary distribution. Every second step is a rest, so that a chain with a period converges too.
    fn settle(&self) -> Result<Vec<f64>, Error> {
        let mut now = vec![1.0 / self.moves.len() as f64; self.moves.len()];
        for _ in 0..200_000 {
            let mut next: Vec<f64> = now.iter().map(|probability| probability / 2.0).collect();
            for (probability, moves) in now.iter().zip(&self.moves) {
                for step in moves {
                    next[step.to] += probability * step.probability / 2.0;
                }
            }
            let change: f64 = now.iter().zip(&next).map(|(before, after)| (before - after).abs()).sum();
            now = next;
            if change < 1e-13 {
                return Ok(now);
            }
        }
        Err(Error::States)
    }

    fn rates(&self, network: &Contention, settled: &[f64]) -> Vec<f64> {
        let (mut rounds, mut time) = (vec![0.0; network.rounds.len()], 0.0);
        for (probability, moves) in settled.iter().zip(&self.moves) {
            for step in moves {
                let chance = probability * step.probability;
                time += chance * network.rounds[step.flow][step.step].time;
                if step.step + 1 == network.rounds[step.flow].len() {
                    rounds[step.flow] += chance;
                }
            }
        }
        rounds.iter().map(|rounds| rounds / time).collect()
    }
}

/// Returns all ways to spread `packets` over `steps`, in order; an error if there are more than `most`.
fn spreads_of(packets: u8, steps: usize, most: usize) -> Result<Vec<Vec<u8>>, Error> {
    let mut ways = Vec::new();
    let mut spread = vec![0; steps];
    spread[steps - 1] = packets;
    loop {
        if ways.len() >= most {
            return Err(Error::States);
        }
        ways.push(spread.clone());
        // The next in order: the last place that can grow does, and what is behind it moves to the end.
        let Some(grows) = (0..steps - 1).rev().find(|&step| spread[step + 1..].iter().any(|&held| held > 0)) else {
            return Ok(ways);
        };
        let behind: u8 = spread[grows + 1..].iter().sum();
        spread[grows] += 1;
        spread[grows + 1..].fill(0);
        spread[steps - 1] = behind - 1;
    }
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn what_has_no_rates_is_refused() {
    let refused = |network: &Contention| network.rates().expect_err("refused");
    assert_eq!(refused(&Contention { rounds: Vec::new(), window: 1 }), Error::Stations);
    assert_eq!(refused(&Contention { rounds: vec![Vec::new()], window: 1 }), Error::Stations);
    assert_eq!(refused(&Contention::parking_lot(2, 0)), Error::Arrivals);
    assert_eq!(refused(&Contention::parking_lot(8, 9)), Error::States);
    let still = Contention { rounds: vec![vec![Step { node: 0, time: 0.0 }]], window: 1 };
    assert_eq!(refused(&still), Error::Times);
}

/// Two sources with one packet each. The state is where the second's packet is: at its source (two nodes hold one: each
/// sends with 1/2) or at the relay beside the first's (one node holds two). From the first, 1/2 to the second; from the
/// second, 1/2 back. So both have probability 1/2, and the rates are 1/2 1/2 + 1/2 1/2 = 1/2, and 1/2 1/2 = 1/4.
#[test]
fn two_sources_with_one_packet_each_by_hand() {
    let rates = Contention::parking_lot(2, 1).rates().expect("a chain");
    assert!((rates[0] - 0.5).abs() < 1e-9 && (rates[1] - 0.25).abs() < 1e-9, "{rates:?}");
    // The relay's slots take three times as long: the mean is 1/4 + 3 (1/2 + 1/4) = 2.5.
    let mut slow = Contention::parking_lot(2, 1);
    slow.rounds.iter_mut().flatten().filter(|step| step.node == 1).for_each(|step| step.time = 3.0);
    let rates = slow.rates().expect("a chain");
    assert!((rates[0] - 0.2).abs() < 1e-9 && (rates[1] - 0.1).abs() < 1e-9, "{rates:?}");
}

#[test]
fn a_chain_with_a_period_settles() {
    let rates = Contention { rounds: Contention::parking_lot(3, 1).rounds.split_off(2), window: 1 }.rates();
    assert!((rates.expect("a chain")[0] - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn every_spread_is_there_once_and_in_order() {
    // Four packets over three steps: C(6, 2) ways.
    let ways = spreads_of(4, 3, 100).expect("few");
    assert_eq!(ways.len(), 15);
    assert!(ways.is_sorted() && ways.iter().all(|way| way.iter().sum::<u8>() == 4));
    assert_eq!(spreads_of(4, 3, 14).expect_err("one too many"), Error::States);
}

/// Windows without losses are fair by themselves: packets of all flows gather equally at the node next to the gateway.
/// Contention is unfair because of losses at relays, which no window here has.
#[test]
fn contention_is_the_fairer_the_larger_the_window_but_never_as_fast_as_one_fifo() {
    let solved = |window| Contention::parking_lot(3, window).rates().expect("a chain");
    let all: Vec<Vec<f64>> = (1..=6).map(solved).collect();
    assert!(all.windows(2).all(|pair| jain(&pair[0]) < jain(&pair[1])), "{all:?}");
    let fifo = parking_lot(3).expect("sources");
    assert!(all.iter().all(|rates| rates[2] < fifo), "{all:?}: the farthest source has less than {fifo}");
}
