//! TCP connections and their segments in flight.

use crate::engine::{Arena, FlowId, Handle, List, Slot};
use crate::net::Packet;
use crate::trace;
use crate::transport::tcp::{Counts, Receiver, Segment, Sender, Settings};
use units::{Bytes, Instant};

/// 2^32 divided by the golden ratio, odd: its multiples are far apart.
const KEY_STEP: u32 = 0x9e37_79b9;

/// All TCP connections of a network, and the segments that packets carry.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    /// Slots, reused when nothing of a connection is left.
    slots: List<Slot, Connection>,
    free: Vec<Slot>,
    carried: Arena<Carried>,
}

/// Both ends of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The flow whose data it carries.
    pub(crate) flow: FlowId,
    /// Its number among the flow's connections, from 0.
    pub(crate) number: u32,
    /// Largest payload of a segment.
    most: Bytes,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) opened: Instant,
    /// Bytes yet to arrive in order; `None` without end.
    pub(crate) missing: Option<u64>,
    /// True once the end of the data has arrived in order.
    pub(crate) complete: bool,
    /// True once the sender is done. Later arrivals are ignored.
    pub(crate) closed: bool,
    /// Counts of the sender that are already in the flow's record.
    pub(crate) counted: Counts,
    /// Time at which the earliest pending event of its timers fires; later ones are stale.
    pub(crate) armed: Instant,
    /// Number of its segments in flight.
    on_their_way: u32,
}

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
struct Carried {
    connection: Slot,
    /// Packets that carry it: while a frame is not acknowledged, its sender has one and the receiver may have another.
    packets: u32,
    /// Its connection's part of the [key](Connections::flow_key) that distinguishes flows.
    key: u32,
    segment: Segment,
}

impl Connection {
    /// A connection of a flow, opened now, with this many bytes to send; `None` without end.
    pub(crate) fn new(flow: FlowId, number: u32, settings: &Settings, bytes: Option<u64>, now: Instant) -> Self {
        let mut sender = Sender::new(settings);
        sender.supply(bytes);
        if bytes.is_some() {
            sender.close();
        }
        sender.open(now);
        Self {
            flow,
            number,
            most: settings.segment,
            sender,
            receiver: Receiver::new(settings),
            opened: now,
            missing: bytes,
            complete: false,
            closed: false,
            counted: Counts::default(),
            armed: Instant::NEVER,
            on_their_way: 0,
        }
    }

    /// Returns the time at which one of its timers expires next.
    pub(crate) fn deadline(&self) -> Instant {
        if self.closed { Instant::NEVER } else { self.sender.deadline().min(self.receiver.deadline()) }
    }
}

impl Connections {
    /// Stores a connection; returns its slot.
    pub(crate) fn insert(&mut self, connection: Connection) -> Slot {
        if let Some(slot) = self.free.pop() {
            self.slots[slot] = connection;
            return slot;
        }
        self.slots.push(connection)
    }

    #[inline]
    pub(crate) fn get(&mut self, slot: Slot) -> &mut Connection {
        &mut self.slots[slot]
    }

    /// Open connections in the order of their slots, which is deterministic.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Connection> {
        self.slots.iter().filter(|connection| !connection.closed)
    }

    /// Slot of the open connection of a flow that has one at a time.
    pub(crate) fn of_flow(&self, flow: FlowId) -> Option<Slot> {
        let open = |connection: &Connection| connection.flow == flow && !connection.closed;
        self.slots.numbers().find(|&slot| open(&self.slots[slot]))
    }

    /// Closes a connection; its slot is reused once none of its segments is in flight.
    pub(crate) fn close(&mut self, slot: Slot) {
        let connection = &mut self.slots[slot];
        connection.closed = true;
        if connection.on_their_way == 0 {
            self.free.push(slot);
        }
    }

    /// Stores a segment to be carried by a packet.
    pub(crate) fn send(&mut self, connection: Slot, segment: &Segment) -> Handle {
        let Connection { number, on_their_way, .. } = &mut self.slots[connection];
        *on_their_way += 1;
        let key = number.wrapping_mul(KEY_STEP);
        self.carried.insert(Carried { connection, packets: 0, key, segment: *segment })
    }

    /// Counts a new packet with this segment.
    #[inline]
    pub(crate) fn packet_made(&mut self, segment: Option<Handle>) {
        if let Some(segment) = segment {
            self.carried.get_mut(segment).packets += 1;
        }
    }

    /// Counts the end of a packet; the last one of a segment frees it.
    #[inline]
    pub(crate) fn packet_gone(&mut self, segment: Option<Handle>) {
        if let Some(segment) = segment {
            self.let_go(segment);
        }
    }

    fn let_go(&mut self, segment: Handle) {
        let carried = self.carried.get_mut(segment);
        carried.packets -= 1;
        if carried.packets > 0 {
            return;
        }
        let slot = self.carried.remove(segment).connection;
        let connection = &mut self.slots[slot];
        connection.on_their_way -= 1;
        if connection.closed && connection.on_their_way == 0 {
            self.free.push(slot);
        }
    }

    /// Connection and segment of a packet.
    pub(crate) fn carried(&self, segment: Handle) -> (Slot, Segment) {
        let Carried { connection, segment, .. } = self.carried.get(segment);
        (connection, segment)
    }

    /// The same by reference, with the connection itself.
    pub(crate) fn met(&mut self, segment: Handle) -> (Slot, &mut Connection, &Segment) {
        let &mut Carried { connection, ref segment, .. } = self.carried.get_mut(segment);
        (connection, &mut self.slots[connection], segment)
    }

    /// Number of the connection among its flow's, and of the first octet, of a segment in flight.
    pub(crate) fn origin(&self, segment: Handle) -> (u32, u64) {
        let (slot, segment) = self.carried(segment);
        (self.slots[slot].number, segment.start)
    }

    /// Does a segment carry data?
    pub(crate) fn has_data(&self, segment: Handle) -> bool {
        self.carried.get(segment).segment.length > 0
    }

    /// Congestion window, in segments, of a segment's connection.
    pub(crate) fn window(&self, segment: Handle) -> f64 {
        let Connection { sender, most, .. } = &self.slots[self.carried.get(segment).connection];
        sender.cwnd() as f64 / most.count() as f64
    }

    /// A packet, for traces.
    pub(crate) fn picture(&self, packet: &Packet) -> trace::Packet {
        let segment = packet.segment.map(|segment| {
            let (slot, segment) = self.carried(segment);
            let Connection { number, most, .. } = self.slots[slot];
            Box::new(trace::Segment::new(&segment, number, most))
        });
        packet.picture(segment)
    }

    /// Hash of a packet's transport flow: addresses and ports, which differ between connections.
    #[inline]
    pub(crate) fn flow_key(&self, flow: FlowId, packet: &Packet) -> u32 {
        let Some(segment) = packet.segment else { return flow.into() };
        u32::from(flow).wrapping_add(self.carried.get(segment).key)
    }

    /// Number of segments in flight, by the connections' counts and by those stored.
    pub(crate) fn segments(&self) -> (u64, u64) {
        let said = self.slots.iter().map(|connection| u64::from(connection.on_their_way)).sum();
        (said, self.carried.live() as u64)
    }
}
