//! Time series: one value a step.

use super::span::Span;
use crate::engine::{FlowId, Number as _};
use crate::results::{FlowSeries, NodeSeries, Series};
use units::{Bytes, Duration};

/// Collects the values of the running step and, at its end, appends them.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) step: Duration,
    series: Series,
    flows: Vec<FlowStep>,
    nodes: Vec<NodeStep>,
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
    /// What had passed through the queue when the step began.
    before: Passed,
}

/// Packets that have passed through a queue since its statistics began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub(crate) arrived: u64,
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
}

impl Recorder {
    pub(crate) fn new(
        step: Duration,
        flows: impl Iterator<Item = String>,
        nodes: impl Iterator<Item = String>,
    ) -> Self {
        let flows: Vec<FlowSeries> = flows.map(|name| FlowSeries { name, ..FlowSeries::default() }).collect();
        let nodes: Vec<NodeSeries> = nodes.map(|name| NodeSeries { name, ..NodeSeries::default() }).collect();
        Self {
            step,
            flows: vec![FlowStep::default(); flows.len()],
            nodes: vec![NodeStep::default(); nodes.len()],
            series: Series { step_s: step.as_secs_f64(), flows, nodes },
        }
    }

    /// A packet of a flow has arrived.
    pub(crate) fn arrived(&mut self, flow: FlowId, delay: Duration) {
        self.flows[flow.place()].delay.record(delay);
    }

    /// A flow's application has got so much.
    pub(crate) fn got(&mut self, flow: FlowId, payload: Bytes) {
        self.flows[flow.place()].bytes += payload;
    }

    /// So much of a TCP flow's data has arrived, in order or not.
    pub(crate) fn carried(&mut self, flow: FlowId, payload: Bytes) {
        self.flows[flow.place()].carried += payload;
    }

    /// At the end of a step: the congestion windows of a TCP flow's connections, in segments, and the largest of their
    /// smoothed round-trip times.
    pub(crate) fn windows(&mut self, flow: FlowId, cwnd: f64, srtt: Option<Duration>) {
        let series = &mut self.series.flows[flow.place()];
        series.cwnd_packets.push(cwnd);
        series.srtt_s.push(srtt.map(Duration::as_secs_f64));
    }

    /// A packet of the `queue`-th queue has been completed.
    pub(crate) fn completed(&mut self, queue: usize, waited: Duration, service: Duration) {
        let step = &mut self.nodes[queue];
        step.sojourn.record(waited);
        step.nodal.record(waited + service);
    }

    /// Ends a step that lasted `length`; `queues` yields every queue's limit, its backlog, and what has passed through it.
    pub(crate) fn end_step(&mut self, length: Duration, queues: impl Iterator<Item = (f64, u64, Passed)>) {
        for (series, step) in self.series.flows.iter_mut().zip(&mut self.flows) {
            let FlowStep { bytes, carried, delay } = std::mem::take(step);
            series.goodput_bps.push(bytes.bits() as f64 / length.as_secs_f64());
            series.carried_bps.push(carried.bits() as f64 / length.as_secs_f64());
            series.delay_mean_s.push(delay.mean());
            series.delay_max_s.push(delay.max());
        }
        // The warm-up's end sets the counts back.
        let since = |before: u64, now: u64| now.checked_sub(before).unwrap_or(now);
        for ((series, step), (limit, backlog, passed)) in self.series.nodes.iter_mut().zip(&mut self.nodes).zip(queues)
        {
            let NodeStep { sojourn, nodal, before } =
                std::mem::replace(step, NodeStep { before: passed, ..NodeStep::default() });
            series.arrived_packets.push(since(before.arrived, passed.arrived));
            series.sent_packets.push(since(before.sent, passed.sent));
            series.dropped_packets.push(since(before.dropped, passed.dropped));
            series.limit.push(limit);
            series.backlog_packets.push(backlog);
            series.sojourn_mean_s.push(sojourn.mean());
            series.nodal_delay_mean_s.push(nodal.mean());
            series.nodal_delay_max_s.push(nodal.max());
        }
    }

    pub(crate) fn into_series(mut self) -> Series {
        let others = self.series.flows.iter_mut().filter(|flow| flow.cwnd_packets.is_empty());
        others.for_each(|flow| flow.carried_bps.clear());
        self.series
    }
}
