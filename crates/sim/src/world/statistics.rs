//! Ends the steps of the time series, and the warm-up.

use super::flows::Supply;
use super::state::World;
use crate::record::{NodeRecord, Standing};

impl World {
    /// Appends the measurements since the last step to the time series, if it is recorded.
    pub(crate) fn end_step(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        debug_assert!(self.now >= self.last_step, "time does not run back");
        let length = self.now.since(self.last_step);
        let (medium, now) = (&self.medium, self.now);
        let queues = self.nodes.numbers().zip(self.nodes.iter()).flat_map(|(number, node)| {
            let has_radio = node.egress.layout.radio_ports() > 0;
            let busy = has_radio.then(|| medium.busy_from_start(number.into(), now));
            let busy = busy.into_iter().map(Some).chain(std::iter::repeat(None));
            node.egress.ports.iter().zip(busy).map(|(port, busy)| Standing { busy, ..port.standing() })
        });
        recorder.end_step(length, queues);
        for flow in self.flows.numbers() {
            if let Some(admission) = &self.flows[flow].admission {
                recorder.admitted(flow, admission.is_admitted());
            }
        }
        recorder.routes(self.now, self.flows.iter().map(|flow| flow.record.lost_so_far()));
        for flow in self.flows.numbers() {
            if let Supply::Transfers { settings, .. } = &self.flows[flow].supply {
                let (cwnd, srtt) = self.connections.windows(flow);
                recorder.windows(flow, cwnd as f64 / settings.segment.count() as f64, srtt);
            }
        }
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
        if let Some(found) = self.routing.found() {
            found.restart_counts();
        }
    }
}
