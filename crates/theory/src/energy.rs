//! A node whose service rate depends on a threshold of its own queue: energy against delay.
//!
//! Source: a reconstruction (`docs/energy.md`); the papers prove that such a threshold is optimal. Packets arrive at
//! `lambda` and are served one at a time, at `mu_lo` while at most `theta` are there, else at `mu_hi`. The cost of a
//! moment is the packets there, and `w` times the power while any is; power is affine in the rate. With `a = lambda /
//! mu_lo`, `b = lambda / mu_hi`, `A = sum of a^n, n = 0 to theta`, `T = a^theta b / (1 - b)` and `G = A + T`:
//!
//! `L = [sum of n a^n, n = 0 to theta, + a^theta (theta b / (1 - b) + b / (1 - b)^2)] / G`,
//! `eta = L + w (p_lo (A - 1) / G + p_hi T / G)`.
//!
//! Packets leave such a node as they arrive, at `lambda`. Assume that the services of several nodes do not hinder each
//! other. Then each has its own number of packets, cost and best threshold (Jackson), and a path takes the time
//! `sum of L / lambda`.

use crate::Error;

/// The search stops after this number of consecutive thresholds with a higher cost than the best.
const RISES: u32 = 5;
/// Largest threshold searched.
const MOST: u32 = 10_000;

/// A node with two service rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Arrivals per second.
    pub arrivals: f64,
    /// Packets per second at the low service rate, `mu_lo`.
    pub low: f64,
    /// Packets per second at the high service rate, `mu_hi`; above `arrivals`.
    pub high: f64,
    /// Power at the low rate, in W.
    pub power_low: f64,
    /// Power at the high rate, in W.
    pub power_high: f64,
    /// `w`: cost of one watt, in packets.
    pub weight: f64,
}

impl Node {
    fn check(&self) -> Result<(), Error> {
        let rates = [self.arrivals, self.low, self.high];
        let usable = rates.iter().all(|rate| rate.is_finite() && *rate > 0.0);
        if usable && self.arrivals < self.high { Ok(()) } else { Err(Error::Arrivals) }
    }

    /// Returns the long-run cost, `eta`, with this threshold: with more packets, the node serves at the high rate.
    ///
    /// # Errors
    /// [`Error::Arrivals`] if a rate is not above zero, or if the high rate is not above the rate of arrivals.
    pub fn cost(&self, threshold: u32) -> Result<f64, Error> {
        self.check()?;
        let (a, b) = (self.arrivals / self.low, self.arrivals / self.high);
        let (mut power, mut sum, mut held) = (1.0, 1.0, 0.0);
        for n in 1..=threshold {
            power *= a;
            sum += power;
            held += f64::from(n) * power;
        }
        let tail = power * b / (1.0 - b);
        let all = sum + tail;
        let above = power * (f64::from(threshold) * b / (1.0 - b) + b / ((1.0 - b) * (1.0 - b)));
        let length = (held + above) / all;
        Ok(length + self.weight * (self.power_low * (sum - 1.0) + self.power_high * tail) / all)
    }

    /// The threshold with the least cost, `theta*`: thresholds are tried from zero until the cost has risen five times.
    ///
    /// # Errors
    /// Those of [`cost`](Self::cost).
    pub fn best(&self) -> Result<u32, Error> {
        let (mut best, mut least, mut rises) = (0, self.cost(0)?, 0);
        for threshold in 1..=MOST {
            let cost = self.cost(threshold)?;
            if cost < least {
                (best, least, rises) = (threshold, cost, 0);
            } else {
                rises += 1;
            }
            if rises == RISES {
                break;
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node with rates 0.7 and 1.5, and their squares as power.
    fn node(weight: f64) -> Node {
        Node { arrivals: 0.5, low: 0.7, high: 1.5, power_low: 0.49, power_high: 2.25, weight }
    }

    const WEIGHTS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

    #[test]
    fn thresholds_are_those_of_the_note() {
        assert_eq!(WEIGHTS.map(|weight| node(weight).best()), [0, 0, 1, 2, 3, 6].map(Ok));
    }

    /// Cost of a node with room for as many packets as there are rates, one for each number of packets: packets that
    /// find it full are lost.
    fn finite(node: &Node, rates: &[f64]) -> f64 {
        let power = |rate: f64| {
            let slope = (node.power_high - node.power_low) / (node.high - node.low);
            node.power_low + slope * (rate - node.low)
        };
        let (mut weight, mut all, mut cost) = (1.0, 1.0, 0.0);
        for (n, &rate) in (1_u32..).zip(rates) {
            weight *= node.arrivals / rate;
            all += weight;
            cost += weight * (f64::from(n) + node.weight * power(rate));
        }
        cost / all
    }

    fn pattern(node: &Node, bits: u32) -> [f64; 14] {
        std::array::from_fn(|slot| if bits >> slot & 1 == 1 { node.high } else { node.low })
    }

    /// Of all 2^14 policies with two rates the threshold is best, except, for w = 16, at the last numbers, where the
    /// low rate pays because arriving packets are lost.
    #[test]
    fn a_threshold_is_the_best_of_all_policies_with_two_rates() {
        for weight in WEIGHTS {
            let node = node(weight);
            let best = (0..1_u32 << 14)
                .min_by(|&one, &other| {
                    finite(&node, &pattern(&node, one)).total_cmp(&finite(&node, &pattern(&node, other)))
                })
                .expect("there are policies");
            let threshold = node.best().expect("a threshold");
            let expected = (1 << 14) - (1 << threshold);
            if weight < 16.0 {
                assert_eq!(best, expected, "{weight}: {best:014b}");
            } else {
                // The two policies differ in the highest places alone.
                assert!((best ^ expected).trailing_zeros() >= 8, "{weight}: {best:014b}");
            }
        }
    }

    /// With affine power a rate between the two does not pay at any number of packets.
    #[test]
    fn no_rate_between_pays() {
        for weight in WEIGHTS {
            let node = node(weight);
            let mut rates = pattern(&node, (1 << 14) - (1 << node.best().expect("a threshold")));
            for slot in 0..14 {
                let kept = rates[slot];
                let ends = [node.low, node.high].map(|rate| {
                    rates[slot] = rate;
                    finite(&node, &rates)
                });
                for part in 1..10 {
                    rates[slot] = node.low + (node.high - node.low) * f64::from(part) / 10.0;
                    assert!(finite(&node, &rates) > ends[0].min(ends[1]) - 1e-12, "{weight}, slot {slot}");
                }
                rates[slot] = kept;
            }
        }
    }

    /// Packets at 0.2 and at 0.3 pass a node each and then a third: three rates of service by a threshold, 0, 1 and 2. In every state
    /// arrivals and services that lead in equal those that lead out, with the product of the nodes' own probabilities.
    #[test]
    fn three_nodes_of_two_paths_are_each_as_if_alone() {
        let arrivals = [0.2, 0.3];
        let node = |arrivals: f64| Node { arrivals, ..node(4.0) };
        let nodes = [node(0.2), node(0.3), node(0.5)];
        let rate = |place: usize, held: u32| match held {
            0 => 0.0,
            held if held as usize <= place => nodes[place].low,
            _ => nodes[place].high,
        };
        let alone =
            |place: usize, held: u32| (1..=held).map(|n| nodes[place].arrivals / rate(place, n)).product::<f64>();
        let together = |held: [u32; 3]| (0..3).map(|place| alone(place, held[place])).product::<f64>();
        for state in (0..216_u32).map(|state| [state % 6, state / 6 % 6, state / 36]) {
            let [a, b, c] = state;
            let out: f64 = arrivals.iter().sum::<f64>() + (0..3).map(|place| rate(place, state[place])).sum::<f64>();
            let mut into = together([a, b, c + 1]) * rate(2, c + 1);
            if a > 0 {
                into += together([a - 1, b, c]) * arrivals[0];
            }
            if b > 0 {
                into += together([a, b - 1, c]) * arrivals[1];
            }
            if c > 0 {
                into += together([a + 1, b, c - 1]) * rate(0, a + 1) + together([a, b + 1, c - 1]) * rate(1, b + 1);
            }
            assert!((into / (together(state) * out) - 1.0).abs() < 1e-12, "{state:?}");
        }
        // The closed form has the mean of these probabilities, and with it a path's time.
        let lengths = [0, 1, 2].map(|place| {
            let held = |n: u32| alone(place, n);
            (1..200).map(|n| f64::from(n) * held(n)).sum::<f64>() / (0..200).map(held).sum::<f64>()
        });
        for (threshold, (node, length)) in (0..).zip(nodes.iter().zip(lengths)) {
            let closed = Node { weight: 0.0, ..*node }.cost(threshold).expect("a stable node");
            assert!((closed - length).abs() < 1e-9, "{threshold}: {closed}, {length}");
        }
        assert_eq!(nodes.map(|node| node.best()), [3, 2, 2].map(Ok));
    }

    /// All at one rate: M/M/1 with a load of a third, 1/2 packets on average, busy a third of the time.
    #[test]
    fn without_a_low_rate_it_is_m_m_1() {
        let cost = node(3.0).cost(0).expect("a stable node");
        assert!((cost - (0.5 + 3.0 * 2.25 / 3.0)).abs() < 1e-12, "{cost}");
        assert_eq!(Node { high: 0.5, ..node(1.0) }.cost(0), Err(Error::Arrivals));
        assert_eq!(Node { low: 0.0, ..node(1.0) }.best(), Err(Error::Arrivals));
    }
}
