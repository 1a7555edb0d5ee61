//! Wired links: store and forward, with a queue of its own in each direction.

use super::{Event, World};
use crate::engine::Handle;
use crate::net::{Load, Waiting};
use units::{Duration, Instant, Rate};

/// One direction of a wired link.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) from: u32,
    /// Index of its queue at `from`.
    pub(super) queue: u32,
    pub(super) to: u32,
    pub(super) rate: Rate,
    pub(super) delay: Duration,
    sending: Option<Sending>,
    /// Packets sent that have not arrived.
    under_way: u64,
    /// Time spent sending since `counted_from`, without the packet that is being sent.
    busy: Duration,
    counted_from: Instant,
}

/// A packet that is being sent.
#[derive(Clone, Copy, Debug)]
struct Sending {
    packet: Handle,
    waited: Duration,
    since: Instant,
}

impl Wire {
    /// An idle link from a node's queue to another node.
    pub(super) fn new((from, queue): (u32, u32), to: u32, rate: Rate, delay: Duration) -> Self {
        let (busy, counted_from) = (Duration::ZERO, Instant::ZERO);
        Self { from, queue, to, rate, delay, sending: None, under_way: 0, busy, counted_from }
    }

    /// Packets that it holds.
    pub(super) fn packets(&self) -> u64 {
        self.under_way + u64::from(self.sending.is_some())
    }

    /// Time spent sending until `now`, since the start or the last restart.
    pub(super) fn busy_time(&self, now: Instant) -> Duration {
        self.busy + self.sending.map_or(Duration::ZERO, |sending| now.since(sending.since.max(self.counted_from)))
    }

    pub(super) fn restart_statistics(&mut self, now: Instant) {
        (self.busy, self.counted_from) = (Duration::ZERO, now);
    }
}

impl World {
    /// If the link is idle and a packet waits, begins to send it.
    pub(super) fn transmit(&mut self, wire: u32) {
        let Wire { from, queue, rate, sending, .. } = &self.wires[wire as usize];
        let (from, queue, rate) = (*from, *queue as usize, *rate);
        if sending.is_some() {
            return;
        }
        let Some((departure, left)) = self.dequeue(from, queue, 0) else { return };
        let Waiting { packet, length, .. } = departure.packet;
        self.wires[wire as usize].sending = Some(Sending { packet, waited: departure.waited, since: self.now });
        self.events.push(self.now + rate.time_for(length), Event::WireSent { wire });
        self.refill(from, queue, left);
    }

    /// The last bit of a packet has been sent.
    pub(super) fn wire_sent(&mut self, wire: u32) {
        let link = &mut self.wires[wire as usize];
        let Some(Sending { packet, waited, .. }) = link.sending else { return };
        link.busy = link.busy_time(self.now);
        let service = self.now.since(link.sending.take().map_or(self.now, |sending| sending.since));
        link.under_way += 1;
        let (from, queue) = (link.from, link.queue);
        self.events.push(self.now + link.delay, Event::WireArrives { wire, packet });
        self.complete(from, queue as usize, waited, service);
        self.transmit(wire);
    }

    /// The last bit of a packet has arrived at the other end.
    pub(super) fn wire_arrives(&mut self, wire: u32, packet: Handle) {
        let link = &mut self.wires[wire as usize];
        link.under_way -= 1;
        let (from, to) = (link.from, link.to);
        let packet = self.packets.remove(packet);
        if let Load::Flow(flow) = packet.load {
            self.deliver(to, from, (flow, packet));
        }
        self.connections.packet_gone(packet.segment);
        self.serve(to);
    }
}
