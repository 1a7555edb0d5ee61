//! Steps of the time series, and the end of the warm-up.

use super::flows::Supply;
use super::state::{Event, World};
use crate::record::{NodeRecord, Standing};

impl World {
    /// Ends a step of the time series.
    pub(crate) fn step(&mut self) {
        self.end_step();
        if let Some(recorder) = &self.recorder {
            self.events.push(self.now + recorder.step, Event::Step);
        }
    }

    /// Appends the measurements since the last step to the time series, if recorded.
    pub(crate) fn end_step(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        let length = self.now.since(self.last_step);
        let (medium, now) = (&self.medium, self.now);
        let queues = self.nodes.numbers().zip(self.nodes.iter()).flat_map(|(number, node)| {
            let has_radio = node.egress.layout().radio_ports() > 0;
            let busy = has_radio.then(|| medium.busy_from_start(number.into(), now));
            let busy = busy.into_iter().map(Some).chain(std::iter::repeat(None));
            node.egress.ports().iter().zip(busy).map(|(port, busy)| Standing { busy, ..port.standing() })
        });
        recorder.end_step(length, queues);
        for flow in self.flows.numbers() {
            if let Some(admission) = &self.flows[flow].admission {
                recorder.admitted(flow, admission.is_admitted());
            }
        }
        recorder.routes(self.now, self.flows.iter().map(|flow| flow.record.lost_so_far()));
        self.record_windows();
        self.last_step = self.now;
    }

    /// Restarts the statistics at the end of the warm-up.
    pub(crate) fn restart_statistics(&mut self) {
        self.medium.restart_statistics(self.now);
        for node in self.nodes.iter_mut() {
            node.egress.restart_statistics(self.now);
            node.record = NodeRecord::default();
        }
        for node in self.nodes.numbers() {
            if let Some(energy) = &mut self.nodes[node].energy {
                energy.restart(self.now, self.medium.busy_from_start(node.into(), self.now));
            }
        }
        for wire in self.wires.iter_mut() {
            wire.restart_statistics(self.now);
        }
        for flow in self.flows.iter_mut() {
            flow.record.restart();
        }
        if let Some(overflows) = &mut self.overflows {
            overflows.restart();
        }
        self.routing.restart_counts();
    }

    /// Appends the windows of every TCP flow to the time series, which is recorded.
    fn record_windows(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        for flow in self.flows.numbers() {
            let Supply::Transfers { settings, .. } = &self.flows[flow].supply else { continue };
            let of_flow = || self.connections.open().filter(|connection| connection.flow == flow);
            let cwnd: u64 = of_flow().map(|connection| connection.sender.cwnd()).sum();
            let srtt = of_flow().filter_map(|connection| connection.sender.srtt()).max();
            recorder.windows(flow, cwnd as f64 / settings.segment.count() as f64, srtt);
        }
    }
}
