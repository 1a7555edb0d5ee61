//! A station's deadlines, and what becomes of the frames that it is done with.

use crate::engine::{Handle, NodeId};
use crate::mac::{BROADCAST, Finished};
use crate::net::{Load, Packet, Transit};
use crate::trace::TraceEventKind;
use crate::world::state::{Event, Node, Witness, World};
use units::Instant;

impl World {
    /// Sees to it that an event comes at the station's deadline. An event that is already pending before it will do:
    /// when it comes it is set again, so that a back-off that freezes often costs no event each time.
    #[inline]
    pub(super) fn arm(&mut self, node: NodeId) {
        let Node { station, armed, .. } = &mut self.nodes[node];
        if station.deadline < *armed {
            *armed = station.deadline;
            self.events.push(station.deadline, Event::Deadline { node });
        }
    }

    /// A `Deadline` event of a station has come.
    pub(crate) fn deadline(&mut self, node: NodeId) {
        let Node { station, armed, .. } = &mut self.nodes[node];
        if *armed != self.now {
            return;
        }
        *armed = Instant::NEVER;
        if station.deadline > self.now {
            self.arm(node);
        } else {
            self.act(node);
        }
    }

    /// Sees to the frames that a station is done with.
    #[inline]
    pub(super) fn finish_frames(&mut self, node: NodeId) {
        while let Some(finished) = self.nodes[node].station.next_finished() {
            self.finish_frame(node, finished);
        }
    }

    /// A station is done with a data frame.
    fn finish_frame(&mut self, node: NodeId, finished: Finished) {
        let mut next = Some(finished.packet);
        while let Some(handle) = next {
            next = self.packets.get(handle).transit.next;
            self.finish_packet(node, handle, finished);
        }
    }

    /// A station is done with a packet.
    fn finish_packet(&mut self, node: NodeId, handle: Handle, finished: Finished) {
        let Finished { to, category, delivered, .. } = finished;
        let Packet { transit: Transit { waited, taken, expected, .. }, load, dscp, .. } = self.packets.get(handle);
        let service = self.now.since(taken);
        self.measure_finished(node, handle, finished, service);
        self.draw_finished(node, service);
        let Node { egress, record, .. } = &mut self.nodes[node];
        record.service.record(service);
        record.delivered += u64::from(delivered && to != BROADCAST);
        record.given_up += u64::from(!delivered);
        if to != BROADCAST {
            record.hops.to(to).complete(delivered, waited, service);
        }
        // A note comes from no port.
        if !matches!(load, Load::Note(_)) {
            let port = egress.port_to(to, category, dscp.class());
            self.complete(node, port, waited, service, expected);
        }
        if delivered {
            let Self { packets, connections, watch, now, .. } = self;
            let picture = || TraceEventKind::Acknowledged(connections.picture(&packets.get(handle)));
            Witness { watch, now: *now, node }.saw(picture);
        }
        if to == BROADCAST {
            return;
        }
        if delivered {
            self.drop_packet(node, handle);
        } else {
            self.link_failed(node, handle, to);
        }
    }
}
