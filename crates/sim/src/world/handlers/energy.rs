//! Feeds the energy accounts of nodes that have one.

use crate::engine::{NodeId, Number as _, PortId};
use crate::mac::{BROADCAST, Frame, Kind};
use crate::world::state::{Node, World};
use units::Duration;

impl World {
    /// Records the start of a node's frame and its duration.
    #[inline]
    pub(super) fn draw_sent(&mut self, node: NodeId, frame: &Frame, length: Duration) {
        if let Some(energy) = &mut self.nodes[node].energy {
            let is_data = matches!(frame.kind, Kind::Data { .. } | Kind::Aggregate { .. }) && frame.to != BROADCAST;
            energy.sends(self.now, frame.mode, is_data, length);
        }
    }

    /// The MAC of a node gets a packet.
    #[inline]
    pub(super) fn draw_taken(&mut self, node: NodeId) {
        if let Some(energy) = &mut self.nodes[node].energy {
            energy.takes(self.now, self.medium.busy_from_start(node.into(), self.now));
        }
    }

    /// At which level that packet goes.
    #[inline]
    pub(super) fn choose_level(&mut self, node: NodeId) {
        if self.nodes[node].energy.is_some() {
            self.choose_level_of(node);
        }
    }

    #[inline(never)]
    fn choose_level_of(&mut self, node: NodeId) {
        let busy = self.medium.busy_from_start(node.into(), self.now);
        let Node { energy, egress, station, .. } = &mut self.nodes[node];
        // A node with two levels has one queue for what goes by radio.
        let packets = egress.ports()[PortId::at(0)].queue().backlog().packets + 1;
        if let Some(is_low) = energy.as_mut().and_then(|account| account.chooses(self.now, busy, packets)) {
            station.set_low(is_low);
        }
    }

    /// The MAC of a node is done with a packet, `service` after it got it.
    #[inline]
    pub(super) fn draw_finished(&mut self, node: NodeId, service: Duration) {
        if let Some(energy) = &mut self.nodes[node].energy {
            energy.finishes(self.now, self.medium.busy_from_start(node.into(), self.now), service);
        }
    }
}
