//! Overflows of a node's queues: the flows that each overflow hits, and these flows' losses.

use crate::engine::{FlowId, List, NodeId};
use crate::results;
use units::{Duration, Instant};

/// Overflows of every node, if they are recorded.
#[derive(Debug)]
pub(crate) struct Overflows {
    /// Time after an overflow's first drop within which further drops belong to the overflow.
    within: Duration,
    nodes: List<NodeId, Of>,
}

/// Overflows of a node.
#[derive(Clone, Debug, Default)]
struct Of {
    /// Start of the current or last overflow.
    began: Option<Instant>,
    hit: Vec<Hit>,
    counts: results::Overflows,
}

/// Effect of an overflow on a flow.
#[derive(Clone, Copy, Debug)]
struct Hit {
    flow: FlowId,
    dropped: u64,
    /// Congestion window in packets at the drop of the flow's first packet; none for a flow without a window.
    window: Option<f64>,
}

impl Overflows {
    pub(crate) fn new(within: Duration, nodes: usize) -> Self {
        Self { within, nodes: vec![Of::default(); nodes].into() }
    }

    /// Records a drop by a node's queue of a packet of a flow with this window, in packets.
    pub(crate) fn hit(&mut self, node: NodeId, now: Instant, flow: FlowId, window: Option<f64>) {
        let of = &mut self.nodes[node];
        if of.began.is_none_or(|began| now.since(began) > self.within) {
            of.began = Some(now);
            of.hit.clear();
            of.counts.count += 1;
        }
        of.counts.dropped_packets += 1;
        let place = of.hit.iter().position(|hit| hit.flow == flow).unwrap_or_else(|| {
            of.hit.push(Hit { flow, dropped: 0, window });
            of.counts.flows_hit += 1;
            of.hit.len() - 1
        });
        let hit = &mut of.hit[place];
        let was_half = hit.lost_half();
        hit.dropped += 1;
        of.counts.half_windows += u64::from(hit.lost_half() && !was_half);
    }

    pub(crate) fn result(&self, node: NodeId) -> results::Overflows {
        self.nodes[node].counts
    }

    pub(crate) fn restart(&mut self) {
        self.nodes.iter_mut().for_each(|of| *of = Of::default());
    }
}

impl Hit {
    fn lost_half(&self) -> bool {
        self.dropped > 0 && self.window.is_some_and(|window| self.dropped as f64 >= 0.5 * window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Number as _;

    #[test]
    fn what_is_dropped_within_a_while_is_one_overflow() {
        let (node, other) = (NodeId::at(0), NodeId::at(1));
        let [a, b, c] = [0, 1, 2].map(FlowId::at);
        let mut overflows = Overflows::new(Duration::from_millis(300), 2);
        let mut drop = |millis, flow, window| {
            overflows.hit(node, Instant::ZERO + Duration::from_millis(millis), flow, window);
        };
        // Three flows are hit; the second packet is half of the window of the first, none of the others loses half.
        drop(1000, a, Some(4.0));
        drop(1100, b, Some(4.0));
        drop(1200, a, Some(2.0));
        drop(1250, a, Some(2.0));
        drop(1300, c, None);
        // 300 ms after the first of them another one begins. One packet of three is less than half, one of two is not.
        drop(1301, b, Some(3.0));
        drop(1400, a, Some(2.0));
        let expected = results::Overflows { count: 2, dropped_packets: 7, flows_hit: 5, half_windows: 2 };
        assert_eq!(overflows.result(node), expected);
        assert_eq!(overflows.result(other), results::Overflows::default());
        overflows.restart();
        assert_eq!(overflows.result(node), results::Overflows::default());
    }
}
