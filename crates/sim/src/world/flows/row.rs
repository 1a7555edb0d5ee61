//! Packets of a flow that reach their application one after the other and are counted together.

use super::Flow;
use crate::engine::{FlowId, List};
use crate::net::Packet;
use crate::record::Recorder;
use units::Instant;

/// Equal packets of one flow that reach their application in a row. They are counted together unless an observer
/// follows individual packets.
#[derive(Default)]
pub(crate) struct Row {
    like: Option<(FlowId, Packet)>,
    packets: u32,
}

impl Row {
    pub(crate) fn of(flow: FlowId, packet: &Packet) -> Self {
        Self { like: Some((flow, *packet)), packets: 1 }
    }

    /// Adds a packet to the row if it is like the row's packets. Returns true if it was added.
    pub(crate) fn takes(&mut self, packet: &Packet) -> bool {
        let alike = self.like.as_ref().is_some_and(|(_, like)| packet.arrives_like(like));
        self.packets += u32::from(alike);
        alike
    }

    /// Ends the row and counts its packets.
    pub(crate) fn end(
        &mut self,
        flows: &mut List<FlowId, Flow>,
        times: (Instant, Instant),
        recorder: &mut Option<Recorder>,
    ) {
        debug_assert_eq!(self.like.is_some(), self.packets > 0, "a row has packets");
        let Self { like, packets } = std::mem::take(self);
        if let Some((index, packet)) = like {
            let flow = &mut flows[index];
            flow.record.ledger.finished += u64::from(packets);
            flow.count(index, &packet, packets, times, recorder);
        }
    }
}
