//! Distributed neighbourhood buffer: splits one buffer over the queues of a collision domain so that drops cost least.
//!
//! Source: section 2.2 of the document, slides of a talk. It states only the problem: `min sum P_i(b_i) c_i` with
//! `sum b_i = B` and `b_i >= 0`. The drop probability and the solutions are reconstructed:
//!
//! - `P(b) = (1 - rho) rho^b / (1 - rho^(b+1))` is that of an M/M/1/b queue, where `b` counts the packet in service. At
//!   `rho = 1` it is `1 / (b + 1)` (L. Kleinrock, "Queueing Systems, Volume 1: Theory", 1975, 3.6);
//! - at `rho = 1` the Karush-Kuhn-Tucker conditions make `c_i / (b_i + 1)^2` equal wherever `b_i > 0`, so that `b_i + 1
//!   = (B + M) sqrt(c_i) / sum_j sqrt(c_j)`;
//! - whole packets go, one at a time, to the queue where one more reduces the cost most: `P` is convex.
//!
//! Symbols: `B` is `total`, `M` the number of queues, `c_i` their `costs`, `b_i` the split.

/// A queue of the collision domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Cost of a drop in this queue (`c`), not below zero.
    pub cost: f64,
    /// Rate of arrivals divided by that of services (`rho`), not below zero.
    pub load: f64,
}

/// Returns `P(b)`: the share of arrivals that an M/M/1/b queue drops. `size` is `b`, the packet in service included.
pub fn drop_probability(load: f64, size: u32) -> f64 {
    // 1 / P(b) = 1 + 1 / (rho P(b-1)) from P(0) = 1 on: unlike the closed form, it divides by no zero at rho = 1.
    (0..size).fold(1.0, |dropped, _| load * dropped / (1.0 + load * dropped))
}

/// Splits `total` packets among saturated queues, with fractions. A queue whose share would be negative gets none, and
/// the others share the total. Costs are above zero; without queues the result is empty.
pub fn split(total: f64, costs: &[f64]) -> Vec<f64> {
    let mut takes_part = vec![true; costs.len()];
    loop {
        let taking = || costs.iter().zip(&takes_part).filter(|(_, takes)| **takes).map(|(cost, _)| libm::sqrt(*cost));
        let (count, roots): (f64, f64) = taking().fold((0.0, 0.0), |(count, sum), root| (count + 1.0, sum + root));
        let share = |cost: f64| (total + count) * libm::sqrt(cost) / roots - 1.0;
        let sizes: Vec<f64> =
            costs.iter().zip(&takes_part).map(|(&cost, &takes)| if takes { share(cost) } else { 0.0 }).collect();
        if sizes.iter().all(|size| *size >= 0.0) {
            return sizes;
        }
        for (takes, size) in takes_part.iter_mut().zip(&sizes) {
            *takes &= *size > 0.0;
        }
    }
}

/// Splits `total` packets in whole packets, at least `least` for each queue. Each packet goes to the queue where it
/// reduces the cost most; among equal queues, to the last.
pub fn split_whole(total: u32, queues: &[Queue], least: u32) -> Vec<u32> {
    let mut sizes = vec![least; queues.len()];
    let spares = |queue: &Queue, size: u32| {
        queue.cost * (drop_probability(queue.load, size) - drop_probability(queue.load, size + 1))
    };
    let given = u64::from(least) * queues.len() as u64;
    for _ in given..u64::from(total) {
        let gains = queues.iter().zip(&sizes).map(|(queue, size)| spares(queue, *size));
        let Some((best, _)) = gains.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other)) else { break };
        sizes[best] += 1;
    }
    sizes
}
