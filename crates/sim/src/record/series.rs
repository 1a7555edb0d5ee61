//! Time series: one value per step.

use super::summary::Span;
use crate::engine::{FlowId, NodeId, Number as _};
use crate::results::{FlowSeries, NodeSeries, Series};
use control::Sets;
use queue::Completion;
use units::{Bytes, Duration, Instant, Rate};

/// Collects the values of the present step and appends them at its end.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) step: Duration,
    /// Number of steps of the whole run, bounded by the number for which memory is taken at once.
    steps: usize,
    series: Series,
    flows: Vec<FlowStep>,
    nodes: Vec<NodeStep>,
    /// Routes by flow; empty without a routing protocol.
    routes: Vec<Route>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FlowStep {
    bytes: Bytes,
    carried: Bytes,
    delay: Span,
}

#[derive(Clone, Copy, Debug, Default)]
struct NodeStep {
    sojourn: Span,
    nodal: Span,
    /// Counts of the queue at the start of the step.
    before: Passed,
    /// Time for which the node had sensed the medium busy at the start of the step.
    busy_before: Duration,
}

/// Counts of a queue since its statistics began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub(crate) arrived: u64,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: Bytes,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
}

/// State of a queue at the end of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Limit, in packets or bytes.
    pub(crate) limit: f64,
    /// Backlog, in packets.
    pub(crate) backlog: u64,
    pub(crate) passed: Passed,
    /// Rate of the shaper.
    pub(crate) rate: Option<Rate>,
    /// Rate of real-time traffic in range, if the controller averages it.
    pub(crate) real_time: Option<Rate>,
    /// Orders that the controller may give.
    pub(crate) sets: Sets,
    /// Busy time of the medium at the node since the start of the run; only with its first queue, if the node has a
    /// radio.
    pub(crate) busy: Option<Duration>,
}

impl Passed {
    /// Difference of the counts since `before`; the end of the warm-up resets them.
    fn since(&self, then: &Self) -> Self {
        let since = |before: u64, now: u64| now.checked_sub(before).unwrap_or(now);
        Self {
            arrived: since(then.arrived, self.arrived),
            sent: since(then.sent, self.sent),
            sent_bytes: Bytes::new(since(then.sent_bytes.count(), self.sent_bytes.count())),
            dropped: since(then.dropped, self.dropped),
            marked: since(then.marked, self.marked),
        }
    }
}

/// Largest number of steps for which memory is taken at once; a scenario may ask for endless series and end soon.
const ROOM: usize = 1 << 20;

/// Appends the value of a step. The first value takes memory for all steps: growing series would all be moved in the
/// same step, which takes tens of milliseconds and makes an emulation late.
fn put<T>(values: &mut Vec<T>, steps: usize, value: T) {
    if values.is_empty() {
        values.reserve_exact(steps);
    }
    values.push(value);
}

impl Recorder {
    /// `of`: length of the run.
    pub(crate) fn new(
        step: Duration,
        of: Duration,
        flows: impl Iterator<Item = String>,
        nodes: impl Iterator<Item = String>,
    ) -> Self {
        let flows: Vec<FlowSeries> = flows.map(|name| FlowSeries { name, ..FlowSeries::default() }).collect();
        let nodes: Vec<NodeSeries> = nodes.map(|name| NodeSeries { name, ..NodeSeries::default() }).collect();
        Self {
            step,
            steps: usize::try_from(of.as_nanos().div_ceil(step.as_nanos().max(1))).unwrap_or(ROOM).min(ROOM),
            flows: vec![FlowStep::default(); flows.len()],
            nodes: vec![NodeStep::default(); nodes.len()],
            routes: Vec::new(),
            series: Series { step_s: step.as_secs_f64(), flows, nodes, emulation: None },
        }
    }

    /// Follows the routes of all flows from now on, in a network with this number of nodes.
    pub(crate) fn follow_routes(&mut self, nodes: usize) {
        self.routes = vec![Route::new(nodes); self.flows.len()];
    }

    /// Route of a flow, if routes are followed and the flow is in the results.
    pub(crate) fn route(&mut self, flow: FlowId) -> Option<&mut Route> {
        self.routes.get_mut(flow.place())
    }

    /// Counts arrived packets of a flow.
    pub(crate) fn arrived(&mut self, flow: FlowId, delay: Duration, packets: u32) {
        self.flows[flow.place()].delay.record_all(delay, packets);
    }

    /// Adds data that a flow's application received.
    pub(crate) fn got(&mut self, flow: FlowId, payload: Bytes) {
        self.flows[flow.place()].bytes += payload;
    }

    /// Counts arrived data of a TCP flow, in order or not.
    pub(crate) fn carried(&mut self, flow: FlowId, payload: Bytes) {
        self.flows[flow.place()].carried += payload;
    }

    /// Appends, at the end of a step, the sum of a TCP flow's congestion windows in segments, and the largest of their
    /// smoothed round-trip times.
    pub(crate) fn windows(&mut self, flow: FlowId, cwnd: f64, srtt: Option<Duration>) {
        let (series, steps) = (&mut self.series.flows[flow.place()], self.steps);
        put(&mut series.cwnd_packets, steps, cwnd);
        put(&mut series.srtt_s, steps, srtt.map(Duration::as_secs_f64));
    }

    /// Appends, at the end of a step, whether a flow that asks for admission is admitted.
    pub(crate) fn admitted(&mut self, flow: FlowId, admitted: bool) {
        put(&mut self.series.flows[flow.place()].admitted, self.steps, f64::from(u8::from(admitted)));
    }

    /// Appends, at the end of a step and if routes are followed, the age of every flow's route, and the packets lost in
    /// the step.
    pub(crate) fn routes(&mut self, now: Instant, lost: impl Iterator<Item = u64>) {
        let steps = self.steps;
        for ((series, route), lost) in self.series.flows.iter_mut().zip(&mut self.routes).zip(lost) {
            put(&mut series.lost_packets, steps, lost - std::mem::replace(&mut route.lost, lost));
            put(&mut series.route_age_s, steps, route.age(now).as_secs_f64());
        }
    }

    /// Records packets of the `queue`-th queue with which the MAC is done.
    pub(crate) fn completed(&mut self, queue: usize, completion: &Completion) {
        let step = &mut self.nodes[queue];
        step.sojourn.record_all(completion.waited, completion.packets);
        step.nodal.record_all(completion.nodal(), completion.packets);
    }

    /// Ends a step of this `length`; `queues` yields the state of every queue.
    pub(crate) fn end_step(&mut self, length: Duration, queues: impl Iterator<Item = Standing>) {
        let steps = self.steps;
        let per_second = |bytes: Bytes| bytes.bits() as f64 / length.as_secs_f64();
        for (series, step) in self.series.flows.iter_mut().zip(&mut self.flows) {
            let FlowStep { bytes, carried, delay } = std::mem::take(step);
            put(&mut series.goodput_bps, steps, per_second(bytes));
            put(&mut series.carried_bps, steps, per_second(carried));
            put(&mut series.delay_mean_s, steps, delay.mean());
            put(&mut series.delay_max_s, steps, delay.max());
        }
        for ((series, step), queue) in self.series.nodes.iter_mut().zip(&mut self.nodes).zip(queues) {
            let busy = queue.busy.unwrap_or_default();
            let following = NodeStep { before: queue.passed, busy_before: busy, ..NodeStep::default() };
            let NodeStep { sojourn, nodal, before, busy_before } = std::mem::replace(step, following);
            let passed = queue.passed.since(&before);
            put(&mut series.arrived_packets, steps, passed.arrived);
            put(&mut series.sent_packets, steps, passed.sent);
            put(&mut series.dropped_packets, steps, passed.dropped);
            put(&mut series.limit, steps, queue.limit);
            put(&mut series.backlog_packets, steps, queue.backlog);
            put(&mut series.sojourn_mean_s, steps, sojourn.mean());
            put(&mut series.nodal_delay_mean_s, steps, nodal.mean());
            put(&mut series.nodal_delay_max_s, steps, nodal.max());
            let busy_ratio = (busy - busy_before).as_secs_f64() / length.as_secs_f64();
            if queue.busy.is_some() {
                put(&mut series.busy_ratio, steps, busy_ratio);
            }
            if queue.sets.contains(Sets::RATE) {
                put(&mut series.rate_bps, steps, queue.rate.map(|rate| rate.as_bps() as f64));
                put(&mut series.sent_bps, steps, per_second(passed.sent_bytes));
            }
            series.real_time_bps.extend(queue.real_time.map(|rate| rate.as_bps() as f64));
            series.marked_packets.extend(queue.sets.contains(Sets::MARK).then_some(passed.marked));
        }
    }

    pub(crate) fn into_series(mut self) -> Series {
        let others = self.series.flows.iter_mut().filter(|flow| flow.cwnd_packets.is_empty());
        others.for_each(|flow| flow.carried_bps.clear());
        self.series
    }
}

/// Route of a flow's packets, as seen by its nodes.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// By node: the neighbour to which it passed the flow's last packet.
    next: Vec<Option<u32>>,
    changed: Instant,
    /// Packets lost before the step began.
    pub(super) lost: u64,
}

impl Route {
    /// In a network of `nodes`.
    pub(crate) fn new(nodes: usize) -> Self {
        Self { next: vec![None; nodes], changed: Instant::ZERO, lost: 0 }
    }

    /// Records that a node passes a packet to a neighbour.
    pub(crate) fn pass(&mut self, node: NodeId, to: u32, now: Instant) {
        if self.next[node.place()].replace(to).is_some_and(|before| before != to) {
            self.changed = now;
        }
    }

    /// Records a broken link of the route.
    pub(crate) fn fail(&mut self, now: Instant) {
        self.changed = now;
    }

    /// Time since the last change, or since the start.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.since(self.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_with_another_next_hop_or_a_broken_link() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut route = Route::new(3);
        assert_eq!(route.age(at(5)), Duration::from_secs(5));
        // A node's first packet has no other before it.
        route.pass(NodeId::at(0), 1, at(6));
        route.pass(NodeId::at(1), 2, at(6));
        route.pass(NodeId::at(0), 1, at(7));
        assert_eq!(route.age(at(8)), Duration::from_secs(8));
        route.pass(NodeId::at(0), 2, at(9));
        assert_eq!(route.age(at(12)), Duration::from_secs(3));
        route.fail(at(20));
        route.pass(NodeId::at(0), 2, at(21));
        assert_eq!(route.age(at(21)), Duration::from_secs(1));
    }
}
