//! Distributed neighbourhood buffer: how one buffer is split over the queues of a collision domain so that drops cost least.
//!
//! Source: section 2.2 of the document, slides of a talk, which state the problem only: `min sum P_i(b_i) c_i` over
//! `b_i >= 0` with `sum b_i = B`. The drop probability and the solutions are reconstructed:
//!
//! - `P(b) = (1 - rho) rho^b / (1 - rho^(b+1))`, an M/M/1/b queue that holds `b` packets with the one in service, and
//!   `1 / (b + 1)` at `rho = 1` (L. Kleinrock, "Queueing Systems, Volume 1: Theory", 1975, 3.6);
//! - at `rho = 1` the conditions of Karush, Kuhn and Tucker, `c_i / (b_i + 1)^2` equal wherever `b_i > 0`, give
//!   `b_i + 1 = (B + M) sqrt(c_i) / sum_j sqrt(c_j)`;
//! - in whole packets, each goes to the queue where it reduces the cost most, which is optimal because `P` is convex.
//!
//! Symbols: `B` is `total`, `M` the number of queues, `c_i` their `costs`, `b_i` the split.

/// A queue of the domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Cost of a drop in this queue (`c`), not below zero.
    pub cost: f64,
    /// Arrivals over services (`rho`), not below zero.
    pub load: f64,
}

/// `P(b)`: the share of arrivals that an M/M/1/b queue drops, which holds `size` packets with the one in service.
pub fn drop_probability(load: f64, size: u32) -> f64 {
    // 1 / P(b) = 1 + 1 / (rho P(b-1)) from P(0) = 1 on: the closed form without its division of zero by zero at rho = 1.
    (0..size).fold(1.0, |dropped, _| load * dropped / (1.0 + load * dropped))
}

/// The split of `total` packets among saturated queues, not in whole packets. A queue whose share would be negative
/// gets none, and the others share the total. Costs are above zero; without queues there is no split.
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

/// The split of `total` packets in whole packets, at least `least` each: one at a time to the queue where it reduces
/// the cost most; among equal ones to the last.
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
