//! Handles a station's deadlines, and the frames that it has finished.

use crate::config::Dscp;
use crate::engine::{EventQueue, Handle, NodeId};
use crate::mac::{BROADCAST, Finished};
use crate::net::{Packet, Transit};
use crate::record::Recorder;
use crate::trace::TraceEventKind;
use crate::world::nodes::Node;
use crate::world::power_save::Cue;
use crate::world::state::{Event, World};
use crate::world::witness::Witness;
use queue::Completion;
use units::{Duration, Instant};

impl World {
    /// Handles a `Deadline` event of a station.
    #[inline(always)] // every second event: the call costs a chain 1 %
    pub(crate) fn deadline(&mut self, node: NodeId) {
        let Node { station, armed, .. } = &mut self.nodes[node];
        if *armed != self.now {
            return;
        }
        *armed = Instant::NEVER;
        if station.deadline > self.now {
            self.nodes[node].arm(node, &mut self.events);
        } else {
            self.act(node);
        }
    }

    /// Handles the frames that a station has delivered or given up.
    pub(crate) fn finish_frames(&mut self, node: NodeId) {
        if self.nodes[node].station.held.has_finished() {
            self.finish_all(node);
        }
    }

    /// Handles the data frames that a station has delivered or given up. Packets of an aggregate mostly took the same
    /// time. Successive packets with equal times are counted together.
    #[inline(never)]
    fn finish_all(&mut self, node: NodeId) {
        let mut frames = std::mem::take(&mut self.done_with);
        std::mem::swap(&mut self.nodes[node].station.held.finished, &mut frames);
        let (mut passage, mut packets) = (Passage::default(), 0);
        let Node { gauge, energy, power_save, neighbours, .. } = &self.nodes[node];
        let signals = power_save.is_some() || neighbours.is_some();
        let observed = gauge.is_some() || energy.is_some() || self.watch.is_some();
        let driven = self.nodes[node].egress.driver.is_some();
        for &finished in &frames {
            let mut next = Some(finished.packet);
            if signals && self.packets.get(finished.packet).load.is_signal() {
                self.nodes[node].count(self.now, &passage, packets, &mut self.recorder);
                packets = 0;
                next = self.finish_signal(node, finished, observed);
            }
            while let Some(handle) = next {
                let packet = self.packets.get_mut(handle);
                next = packet.transit.next;
                let own = Passage::new(&finished, packet);
                if packets == 0 || passage != own {
                    self.nodes[node].count(self.now, &passage, packets, &mut self.recorder);
                    (passage, packets) = (own, 0);
                }
                packets += 1;
                if !finished.delivered {
                    // The port must record the end of this packet before the packet may come to the port again.
                    self.nodes[node].count(self.now, &passage, packets, &mut self.recorder);
                    packets = 0;
                }
                if observed {
                    self.observe_finished(node, handle, finished, self.now.since(own.taken));
                }
                if driven {
                    self.outside().report(handle, finished.delivered);
                }
                match (finished.to, finished.delivered) {
                    // A broadcast packet is freed after its last tail.
                    (BROADCAST, _) => {}
                    (_, true) => self.accounts(node).drop_sent(handle),
                    (to, false) => self.link_failed(node, handle, to),
                }
            }
        }
        self.nodes[node].count(self.now, &passage, packets, &mut self.recorder);
        debug_assert!(!self.nodes[node].station.held.has_finished(), "only the medium and deadlines end frames");
        frames.clear();
        self.done_with = frames;
    }

    /// Counts and frees a note or a null frame that a station has finished. Neither kind comes from a port. Returns the
    /// next packet in the same frame.
    #[cold]
    fn finish_signal(&mut self, node: NodeId, finished: Finished, observed: bool) -> Option<Handle> {
        let Finished { packet, to, delivered, .. } = finished;
        let Transit { waited, taken, next, .. } = self.packets.get(packet).transit;
        let completion = Completion { waited, service: self.now.since(taken), packets: 1 };
        let record = &mut self.nodes[node].record;
        record.finish(to, delivered, &completion);
        record.service.record_all(completion.service, 1);
        if observed {
            self.observe_finished(node, packet, finished, completion.service);
        }
        // A note is freed after its last tail.
        if to != BROADCAST && self.posted.told(packet, &mut self.packets) {
            self.power_save(node, |of, _| Cue::Told { delivered, busy: of.has_packets() });
        }
        next
    }

    /// Reports a finished packet to the observers of individual packets. The station had it for `service`. Statistics
    /// count its [passage](Passage).
    #[inline(never)]
    fn observe_finished(&mut self, node: NodeId, handle: Handle, finished: Finished, service: Duration) {
        let Self { nodes, packets, connections, medium, watch, now, .. } = self;
        let busy = || medium.busy_from_start(node.into(), *now);
        nodes[node].measure_finished(*now, busy, packets.get_ref(handle), finished, service);
        if finished.delivered {
            let picture = || TraceEventKind::Acknowledged(connections.picture(&packets.get(handle)));
            Witness { watch, now: *now, node }.saw(picture);
        }
    }
}

impl Node {
    /// Ensures that an event comes at the station's deadline. An earlier pending event suffices: when it comes, it is
    /// scheduled again. So a back-off that freezes often costs no event each time. `node`: the node's own number.
    pub(crate) fn arm(&mut self, node: NodeId, events: &mut EventQueue<Event>) {
        if let Some(deadline) = self.newly_due() {
            events.push(deadline, Event::Deadline { node });
        }
    }

    /// Counts the packets that the station finishes now, if there are any.
    fn count(&mut self, now: Instant, passage: &Passage, packets: u32, recorder: &mut Option<Recorder>) {
        if packets > 0 {
            self.count_all(now, passage, packets, recorder);
        }
    }

    #[inline(never)]
    fn count_all(&mut self, now: Instant, passage: &Passage, packets: u32, recorder: &mut Option<Recorder>) {
        let &Passage { to, category, dscp, delivered, waited, taken, expected, load } = passage;
        let completion = Completion { waited, service: now.since(taken), packets };
        self.record.finish(to, delivered, &completion);
        let port = self.egress.layout.port(to, category, dscp.class());
        let of_hardware = (expected, to, u64::from(load) * u64::from(packets), delivered);
        self.completed(now, port, &completion, of_hardware, recorder);
    }
}

/// A packet's times and queue at a node. They are counted when the MAC has finished the packet.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Passage {
    to: u32,
    category: u8,
    dscp: Dscp,
    delivered: bool,
    waited: Duration,
    taken: Instant,
    expected: Duration,
    load: u32,
}

impl Passage {
    fn new(finished: &Finished, packet: &Packet) -> Self {
        let &Finished { to, category, delivered, .. } = finished;
        let Transit { waited, taken, expected, load, .. } = packet.transit;
        Self { to, category, dscp: packet.dscp, delivered, waited, taken, expected, load }
    }
}
