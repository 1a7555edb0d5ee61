//! Nodes of a closed network whose service rates depend on their own queues: the long-run cost, and its derivatives.
//!
//! Source: a reconstruction (`docs/energy.md`) of the papers' setting. A fixed number of
//! packets goes round; a node with `n` of them serves at `mu(n)`, and is visited `v` times a round. The states have the product
//! form `pi(n) ~ prod over nodes, prod over k = 1 to n_i, of v_i / mu_i(k)`. The cost of a moment is
//! `f(n) = sum of h_i n_i + w_i p_i(mu_i(n_i)) 1[n_i > 0]` with power affine in the rate, `eta` is its average, and
//!
//! `d eta / d mu_i(k) = w_i p_i' P(n_i = k) - Cov(f, 1[n_i >= k]) / mu_i(k)`.
//!
//! An open node with room for `K` packets is a network of `K` with an outside that serves at the rate of arrivals and
//! costs nothing. Then `f` is the node's own cost, and the formula needs no quantity of other nodes.

use theory::Error;
use theory::energy::Node;

/// A closed network.
#[derive(Clone, Debug, PartialEq)]
struct Closed {
    /// Its nodes.
    nodes: Vec<Member>,
    /// The packets that go round.
    packets: usize,
}

/// A node of a closed network.
#[derive(Clone, Debug, PartialEq)]
struct Member {
    /// Mean number of visits of a packet per round.
    visits: f64,
    /// Packets per second with one packet there, with two, and so on: one rate for each packet of the network.
    rates: Vec<f64>,
    /// Cost of a packet there, per unit of time.
    holding: f64,
    /// Cost of a watt.
    weight: f64,
    /// Power while a packet is there, in W: the power at rate zero, and its increase per packet per second.
    power: [f64; 2],
}

impl Member {
    /// Returns the cost rate with this many packets at the node.
    fn cost(&self, packets: usize) -> f64 {
        let Some(level) = packets.checked_sub(1) else { return 0.0 };
        self.holding * packets as f64 + self.weight * (self.power[0] + self.power[1] * self.rates[level])
    }
}

/// Sums over all states, each weighted by its likelihood.
#[derive(Clone, Copy, Default)]
struct Sums {
    all: f64,
    cost: f64,
    /// Sums over the states with at least, and with exactly, as many packets at the node as asked about.
    from: f64,
    cost_from: f64,
    exactly: f64,
}

impl Closed {
    fn check(&self) -> Result<(), Error> {
        let usable = |node: &Member| {
            let positive = |value: &f64| value.is_finite() && *value > 0.0;
            positive(&node.visits) && node.rates.len() == self.packets && node.rates.iter().all(positive)
        };
        if !self.nodes.is_empty() && self.nodes.iter().all(usable) { Ok(()) } else { Err(Error::Arrivals) }
    }

    /// Returns the long-run cost, `eta`.
    ///
    /// # Errors
    /// `Error::Arrivals` without a node, or with visits or rates that are missing or not above zero.
    fn cost(&self) -> Result<f64, Error> {
        self.check()?;
        let sums = self.sums(0, 0);
        Ok(sums.cost / sums.all)
    }

    /// Returns the derivative of the cost with respect to the rate of a node at the level of this many packets, from 1
    /// to all: `d eta / d mu_i(k)`.
    ///
    /// # Errors
    /// As `cost`, or for a node or a level that does not exist.
    fn sensitivity(&self, node: usize, level: usize) -> Result<f64, Error> {
        self.check()?;
        if node >= self.nodes.len() || !(1..=self.packets).contains(&level) {
            return Err(Error::Arrivals);
        }
        let sums = self.sums(node, level);
        let covariance = sums.cost_from / sums.all - sums.cost / sums.all * (sums.from / sums.all);
        let member = &self.nodes[node];
        let rate = member.rates[level - 1];
        Ok(member.weight * member.power[1] * (sums.exactly / sums.all) - covariance / rate)
    }

    fn sums(&self, node: usize, level: usize) -> Sums {
        let mut sums = Sums::default();
        self.add(&mut sums, (node, level), 0, self.packets, [1.0, 0.0], 0);
        sums
    }

    /// Adds the states in which the nodes from `index` on share the packets `left`. `so_far` are the likelihood and the
    /// cost of the earlier nodes, `there` the packets at the node asked about.
    fn add(&self, sums: &mut Sums, asked: (usize, usize), index: usize, left: usize, so_far: [f64; 2], there: usize) {
        let [mut likelihood, cost] = so_far;
        let member = &self.nodes[index];
        let is_last = index + 1 == self.nodes.len();
        for here in 0..=left {
            if here > 0 {
                likelihood *= member.visits / member.rates[here - 1];
            }
            if is_last && here < left {
                continue;
            }
            let cost = cost + member.cost(here);
            let there = if index == asked.0 { here } else { there };
            if is_last {
                sums.all += likelihood;
                sums.cost += likelihood * cost;
                if there >= asked.1 {
                    sums.from += likelihood;
                    sums.cost_from += likelihood * cost;
                }
                if there == asked.1 {
                    sums.exactly += likelihood;
                }
            } else {
                self.add(sums, asked, index + 1, left - here, [likelihood, cost], there);
            }
        }
    }
}

const WEIGHTS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
const NOTE: Node = Node { arrivals: 0.5, low: 0.7, high: 1.5, power_low: 0.49, power_high: 2.25, weight: 1.0 };

/// Returns a node with these rates and affine power.
fn critical(weight: f64, rates: Vec<f64>) -> Member {
    let slope = (NOTE.power_high - NOTE.power_low) / (NOTE.high - NOTE.low);
    Member { visits: 1.0, rates, holding: 1.0, weight, power: [NOTE.power_low - slope * NOTE.low, slope] }
}

/// Returns a node without cost, at a constant rate.
fn free(visits: f64, rate: f64, packets: usize) -> Member {
    Member { visits, rates: vec![rate; packets], holding: 0.0, weight: 0.0, power: [0.0; 2] }
}

/// Returns the node of the threshold, with room for as many packets as there are rates, as a closed network.
fn open(weight: f64, rates: Vec<f64>) -> Closed {
    let packets = rates.len();
    Closed { nodes: vec![critical(weight, rates), free(1.0, NOTE.arrivals, packets)], packets }
}

fn two_levels(bits: u32, packets: usize) -> Vec<f64> {
    (0..packets).map(|slot| if bits >> slot & 1 == 1 { NOTE.high } else { NOTE.low }).collect()
}

/// Three nodes, two of them critical: packets visit the second half as often, and rest at the last.
fn three(packets: usize, weight: f64, rates: [Vec<f64>; 2]) -> Closed {
    let [first, second] = rates;
    let second = Member { visits: 0.5, holding: 1.5, ..critical(weight / 2.0, second) };
    let resting = Member { rates: (1..=packets).map(|k| 0.3 * k as f64).collect(), ..free(1.0, 1.0, packets) };
    Closed { nodes: vec![critical(weight, first), second, resting], packets }
}

fn cost(network: &Closed) -> f64 {
    network.cost().expect("a network")
}

/// With room for 200, of which almost none is used, the cost is the closed form of the open node.
#[test]
fn an_open_node_is_a_closed_network_with_an_outside() {
    for threshold in [0, 1, 3, 6, 12] {
        let rates = (1..=200).map(|n| if n <= threshold { NOTE.low } else { NOTE.high }).collect();
        let expected = Node { weight: 16.0, ..NOTE }.cost(threshold).expect("a stable node");
        assert!((cost(&open(16.0, rates)) - expected).abs() < 1e-9, "{threshold}");
    }
}

/// Two packets, by hand: the states with 0, 1 and 2 at the node are as likely as 1, 1/2 and 1/4 where it serves at 2 and 2
/// and the outside at 1. With `h` = 1 and a power of 1 at any rate: (3/2 of 1/2 + ...) is (0 + 2/2 + 3/4) / (7/4) = 1.
#[test]
fn a_network_of_two_packets_by_hand() {
    let node = Member { visits: 1.0, rates: vec![2.0, 2.0], holding: 1.0, weight: 1.0, power: [1.0, 0.0] };
    let network = Closed { nodes: vec![node, free(1.0, 1.0, 2)], packets: 2 };
    assert!((cost(&network) - 1.0).abs() < 1e-12);
    // P(n >= 1) = 3/7, E[f; n >= 1] = 1: the covariance is 1 - 3/7, over a rate of 2.
    let slope = network.sensitivity(0, 1).expect("a level");
    assert!((slope + 2.0 / 7.0).abs() < 1e-12, "{slope}");
    assert_eq!(network.sensitivity(0, 3), Err(Error::Arrivals));
    assert_eq!(network.sensitivity(2, 1), Err(Error::Arrivals));
    assert_eq!(Closed { packets: 3, ..network }.cost(), Err(Error::Arrivals));
}

/// The sensitivity agrees in six digits, on a closed network of three nodes.
#[test]
fn the_sensitivity_is_that_of_finite_differences() {
    let packets = 6;
    let uneven = |from: f64| (0..packets).map(|k| from + 0.1 * k as f64).collect::<Vec<f64>>();
    let network = three(packets, 3.0, [uneven(0.75), uneven(0.9)]);
    for node in 0..3 {
        for level in 1..=packets {
            let moved = |by: f64| {
                let mut other = network.clone();
                other.nodes[node].rates[level - 1] += by;
                cost(&other)
            };
            let step = 1e-5;
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            let slope = network.sensitivity(node, level).expect("a level");
            assert!((slope - difference).abs() < 1e-6 * slope.abs().max(1e-3), "{node} {level}: {slope} {difference}");
        }
    }
}

/// The cost is monotone in each rate, so that no policy of three rates beats the best of two, with two critical nodes in a
/// closed network too.
#[test]
fn of_three_rates_the_best_policy_uses_two() {
    let packets = 4;
    for weight in WEIGHTS {
        let best = |choices: &[f64]| {
            let policies = choices.len().pow(u32::try_from(2 * packets).expect("few"));
            let rates = |policy: usize, node: usize| {
                let digit = |level: usize| policy / choices.len().pow(u32::try_from(level).expect("few"));
                (0..packets).map(|level| choices[digit(node * packets + level) % choices.len()]).collect()
            };
            let costs = (0..policies).map(|policy| cost(&three(packets, weight, [rates(policy, 0), rates(policy, 1)])));
            costs.fold(f64::INFINITY, f64::min)
        };
        let [two, three] = [best(&[NOTE.low, NOTE.high]), best(&[NOTE.low, 1.1, NOTE.high])];
        assert!((two - three).abs() < 1e-12, "{weight}: {two} {three}");
    }
}

/// In a closed network the best policy need not be a threshold: with all packets at one node none can arrive, and the
/// low rate pays again (an exception of closed populations).
#[test]
fn in_a_closed_network_the_last_place_may_want_the_low_rate_again() {
    let best = |weight: f64| {
        let of = |bits: &u32| cost(&open(weight, two_levels(*bits, 6)));
        (0..1_u32 << 6).min_by(|one, other| of(one).total_cmp(&of(other))).expect("there are policies")
    };
    assert_eq!(format!("{:06b}", best(2.0)), "111110");
    let with_much_weight = best(16.0);
    assert_eq!(with_much_weight >> 5, 0, "{with_much_weight:06b}");
}

/// Steps along the exact gradient: from the high rate everywhere, each level in turn by the sign of its sensitivity
/// reaches the threshold of the closed form in at most three rounds.
#[test]
fn the_gradient_leads_to_the_threshold_in_three_rounds() {
    let packets = 60;
    for weight in WEIGHTS {
        let mut network = open(weight, vec![NOTE.high; packets]);
        let threshold = Node { weight, ..NOTE }.best().expect("a threshold") as usize;
        let found = |network: &Closed| network.nodes[0].rates.iter().take_while(|&&rate| rate < 1.0).count();
        for _ in 0..3 {
            let low = (1..=packets).take_while(|&k| network.sensitivity(0, k).expect("a level") > 0.0).count();
            network.nodes[0].rates.fill(NOTE.high);
            network.nodes[0].rates[..low].fill(NOTE.low);
        }
        assert_eq!(found(&network), threshold, "{weight}");
    }
}

/// With power `mu^3` instead of an affine one the best rates lie between the two and grow with the number of
/// packets: 0.8, 1.0, 1.1, ... for `w` = 2.
#[test]
fn with_strictly_convex_power_the_best_rates_lie_between() {
    let weight = 2.0;
    let cost = |rates: &[f64]| {
        let (mut likelihood, mut all, mut cost) = (1.0, 1.0, 0.0);
        for (n, rate) in (1_u32..).zip(rates) {
            likelihood *= NOTE.arrivals / rate;
            all += likelihood;
            cost += likelihood * (f64::from(n) + weight * rate * rate * rate);
        }
        cost / all
    };
    let mut rates = vec![NOTE.high; 14];
    for _ in 0..50 {
        for slot in 0..rates.len() {
            let costs = (0..=8).map(|step| {
                rates[slot] = 0.7 + 0.1 * f64::from(step);
                (rates[slot], cost(&rates))
            });
            rates[slot] = costs.min_by(|one, other| one.1.total_cmp(&other.1)).expect("nine rates").0;
        }
    }
    let expected = [0.8, 1.0, 1.1, 1.2, 1.3, 1.4, 1.4, 1.5];
    assert!(rates.iter().zip(expected).all(|(rate, expected)| (rate - expected).abs() < 1e-9), "{rates:?}");
    let threshold = |low: usize| cost(&[vec![NOTE.low; low], vec![NOTE.high; 14 - low]].concat());
    let best_of_two = (0..=14).map(threshold).fold(f64::INFINITY, f64::min);
    assert!(cost(&rates) < 0.98 * best_of_two, "{} {best_of_two}", cost(&rates));
}
