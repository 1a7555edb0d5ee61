//! TCP connections and their segments in flight.

use super::{Flow, Role, Supply};
use crate::config::Dscp;
use crate::engine::{Arena, EventQueue, FlowId, Handle, List, NodeId, Slot};
use crate::net::{Load, Packet, ip_bytes};
use crate::record::Recorder;
use crate::trace;
use crate::transport::tcp::{Counts, Receiver, Segment, Sender, Settings};
use crate::world::event::Event;
use queue::Ecn;
use units::{Bytes, Duration, Instant};

/// 2^32 divided by the golden ratio, made odd. Its multiples are far apart.
const KEY_STEP: u32 = 0x9e37_79b9;

/// All TCP connections of a network, and the segments that packets carry.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    /// Connections. A slot is reused when none of its connection's segments is in flight.
    slots: List<Slot, Connection>,
    free: Vec<Slot>,
    /// Connections whose senders may be able to send, with their flows.
    pub(crate) woken: Vec<(Slot, FlowId)>,
    carried: Arena<Carried>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

/// Other state that calls change, and the time of the call.
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) warmup: Instant,
    pub(crate) flows: &'a mut List<FlowId, Flow>,
    pub(crate) recorder: &'a mut Option<Recorder>,
    pub(crate) events: &'a mut EventQueue<Event>,
}

#[derive(Debug)]
struct Connection {
    /// The flow whose data the connection carries.
    flow: FlowId,
    /// The connection's number among the flow's connections, from 0.
    number: u32,
    /// Largest payload of a segment.
    most: Bytes,
    sender: Sender,
    receiver: Receiver,
    opened: Instant,
    /// Bytes that have not arrived in order yet; `None` for a connection without end.
    missing: Option<u64>,
    /// True if the end of the data has arrived in order.
    complete: bool,
    /// True once the sender is done. Data that arrive later are ignored.
    closed: bool,
    /// The sender's counts that the flow's record already includes.
    counted: Counts,
    /// Time of the earliest pending `Timer` event of the connection; later events are ignored.
    armed: Instant,
    /// Number of segments of the connection in flight.
    on_their_way: u32,
}

/// A segment that is in flight.
#[derive(Clone, Copy, Debug)]
struct Carried {
    connection: Slot,
    /// Number of packets that carry the segment. Before a frame is acknowledged, its sender has one such packet, and
    /// its receiver may have one, too.
    packets: u32,
    /// The connection's part of the [key](Connections::flow_key) that distinguishes flows.
    key: u32,
    segment: Segment,
}

impl Connection {
    /// Makes a new connection of a flow, with this many bytes to send; `None` for no end.
    fn new(flow: FlowId, number: u32, settings: &Settings, bytes: Option<u64>, now: Instant) -> Self {
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

    /// Returns the time at which the next of the connection's timers expires.
    fn deadline(&self) -> Instant {
        if self.closed { Instant::NEVER } else { self.sender.deadline().min(self.receiver.deadline()) }
    }

    /// Handles a data segment at the receiver.
    fn take_data(&mut self, segment: &Segment, packet: &Packet, cx: &mut Context) {
        let (now, index) = (cx.now, self.flow);
        let flow = &mut cx.flows[index];
        if segment.length > 0 {
            let delay = now.since(packet.created);
            if let Some(recorder) = cx.recorder {
                recorder.arrived(index, delay, 1);
            }
            if packet.created >= cx.warmup {
                flow.record.receive(delay, flow.identity.deadline, packet);
            }
        }
        if self.closed {
            return;
        }
        let before = self.receiver.arrived;
        let fresh = self.receiver.receive(now, segment, packet.ecn == Ecn::Ce);
        let carried = Bytes::new(self.receiver.arrived - before);
        flow.record.bytes += Bytes::new(fresh);
        if let Some(record) = &mut flow.record.transport {
            record.carried += carried;
        }
        if let Some(recorder) = cx.recorder {
            recorder.got(index, Bytes::new(fresh));
            recorder.carried(index, carried);
        }
        let Some(missing) = &mut self.missing else { return };
        debug_assert!(*missing >= fresh, "no more arrives than was sent");
        *missing -= fresh;
        // Even a transfer without data has an end that must arrive.
        if *missing > 0 || self.complete || (fresh == 0 && !segment.fin) {
            return;
        }
        self.complete = true;
        if self.opened >= cx.warmup
            && let Some(record) = &mut flow.record.transport
        {
            record.completed += 1;
            record.completion.record(now.since(self.opened));
        }
        if let Supply::Transfers { transfers, .. } = &mut flow.supply {
            let before = transfers.next();
            transfers.end(now);
            if before.is_none()
                && let Some(next) = transfers.next()
            {
                cx.events.push(next, Event::Emit { flow: index });
            }
        }
    }

    /// Records the round-trip times that an acknowledgement has given.
    fn measure(&mut self, cx: &mut Context) {
        let Some(record) = &mut cx.flows[self.flow].record.transport else { return };
        if let Some(sample) = self.sender.sample.take() {
            record.rtt.record(sample);
        }
        if let Some(srtt) = self.sender.srtt() {
            record.srtt_max = record.srtt_max.max(srtt);
        }
    }
}

impl Connections {
    /// Opens a connection of a flow, with this many bytes to send; `None` for no end.
    pub(crate) fn open(
        &mut self,
        flow: FlowId,
        number: u32,
        settings: &Settings,
        bytes: Option<u64>,
        now: Instant,
    ) -> Slot {
        let connection = Connection::new(flow, number, settings, bytes, now);
        if let Some(slot) = self.free.pop() {
            debug_assert!(self.slots[slot].closed && self.slots[slot].on_their_way == 0, "nothing of it is left");
            self.slots[slot] = connection;
            return slot;
        }
        self.slots.push(connection)
    }

    /// Returns the sum of the windows of a flow's open connections, in bytes, and the largest smoothed round-trip time.
    pub(crate) fn windows(&self, flow: FlowId) -> (u64, Option<Duration>) {
        let open = || self.slots.iter().filter(|connection| !connection.closed && connection.flow == flow);
        let srtt = open().filter_map(|connection| connection.sender.srtt()).max();
        (open().map(|connection| connection.sender.cwnd()).sum(), srtt)
    }

    /// For a flow with one connection at a time: lets the connection send only what it has now. Returns its slot.
    pub(crate) fn cease(&mut self, flow: FlowId) -> Option<Slot> {
        let open = |connection: &Connection| connection.flow == flow && !connection.closed;
        let slot = self.slots.numbers().find(|&slot| open(&self.slots[slot]))?;
        self.slots[slot].sender.close();
        Some(slot)
    }

    /// Returns the next packet that an end of a connection sends, and the packet's flow; `None` if there is none.
    pub(crate) fn next(&mut self, slot: Slot, end: End, cx: &mut Context) -> Option<(FlowId, Packet)> {
        let Connection { flow, number, sender, receiver, closed: false, .. } = &mut self.slots[slot] else {
            return None;
        };
        let (flow, segment) = match end {
            End::Sender => {
                let segment = sender.next(cx.now)?;
                let record = &mut cx.flows[*flow].record;
                record.sent += u64::from(segment.length > 0);
                // What the receiver says about a loss that is being repaired.
                if segment.discard_priority.is_some()
                    && let Some(losses) = record.transport.as_mut().and_then(|transport| transport.losses.as_mut())
                {
                    losses.send(*number, segment.start, sender.verdict());
                }
                (*flow, segment)
            }
            End::Receiver => {
                let Role::Stream { back } = cx.flows[*flow].role else { return None };
                (back, receiver.next(cx.now)?)
            }
        };
        let of = &mut cx.flows[flow];
        let length = ip_bytes(segment.header() + Bytes::new(segment.length.into()));
        let dscp = segment.discard_priority.map_or(of.dscp, Dscp::with_discard_priority);
        of.record.bare.made += u64::from(segment.length == 0);
        let Connection { number, on_their_way, .. } = &mut self.slots[slot];
        *on_their_way += 1;
        let carried = Carried { connection: slot, packets: 0, key: number.wrapping_mul(KEY_STEP), segment };
        let (ecn, segment) = (segment.ecn, Some(self.carried.insert(carried)));
        Some((flow, Packet { dscp, segment, ecn, ..Packet::new(Load::Flow(flow), cx.now, length) }))
    }

    /// Completes a call: counts what the sender did, then closes the connection if it is done, else sets timers.
    pub(crate) fn settle(&mut self, slot: Slot, cx: &mut Context) {
        let connection = &mut self.slots[slot];
        if connection.closed {
            return;
        }
        let counts = connection.sender.counts;
        if counts != connection.counted {
            let before = std::mem::replace(&mut connection.counted, counts);
            if let Some(record) = &mut cx.flows[connection.flow].record.transport {
                record.count(counts, before);
            }
        }
        if connection.sender.done() {
            // The slot is reused after none of the connection's segments is in flight any more.
            connection.closed = true;
            if connection.on_their_way == 0 {
                self.free.push(slot);
            }
        } else {
            self.arm(slot, cx);
        }
    }

    /// Ensures that an event comes at the connection's earliest timer. A pending event before the timer suffices, so an
    /// acknowledgement that restarts the timer costs no event.
    pub(crate) fn arm(&mut self, slot: Slot, cx: &mut Context) {
        let connection = &mut self.slots[slot];
        let deadline = connection.deadline();
        if deadline < connection.armed {
            connection.armed = deadline;
            cx.events.push(deadline, Event::Timer { connection: slot });
        }
    }

    /// Handles a `Timer` event. If one of the connection's timers has expired, the sender may send.
    pub(crate) fn expire(&mut self, slot: Slot, cx: &mut Context) {
        let connection = &mut self.slots[slot];
        if connection.armed != cx.now {
            return;
        }
        connection.armed = Instant::NEVER;
        if connection.deadline() > cx.now {
            return self.arm(slot, cx);
        }
        if connection.sender.deadline() <= cx.now {
            connection.sender.expire(cx.now);
        }
        if connection.receiver.deadline() <= cx.now {
            connection.receiver.expire(cx.now);
        }
        self.woken.push((slot, connection.flow));
    }

    /// Takes a packet of the flow `index` at one end of its segment's connection. Returns the slot and that end.
    pub(crate) fn take(&mut self, index: FlowId, segment: Handle, packet: &Packet, cx: &mut Context) -> (Slot, End) {
        let &mut Carried { connection: slot, ref segment, .. } = self.carried.get_mut(segment);
        let connection = &mut self.slots[slot];
        debug_assert!(connection.on_their_way > 0, "a segment that arrives was on its way");
        cx.flows[index].record.bare.finished += u64::from(segment.length == 0);
        if cx.flows[index].role.answers().is_none() {
            debug_assert_eq!(connection.flow, index, "its flow has the data");
            connection.take_data(segment, packet, cx);
            return (slot, End::Receiver);
        }
        if !connection.closed {
            connection.sender.receive(cx.now, segment);
            connection.measure(cx);
        }
        (slot, End::Sender)
    }

    /// Counts a new packet with this segment.
    pub(crate) fn packet_made(&mut self, segment: Option<Handle>) {
        if let Some(segment) = segment {
            self.carried.get_mut(segment).packets += 1;
        }
    }

    /// Counts the end of a packet; the last packet of a segment frees the segment.
    pub(crate) fn packet_gone(&mut self, segment: Option<Handle>) {
        let Some(segment) = segment else { return };
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

    /// Records that a node is done with a packet. The sender of its segment may have waited for this.
    pub(crate) fn left(&mut self, packet: &Packet, node: NodeId, flows: &List<FlowId, Flow>) {
        let (Load::Flow(flow), Some(segment)) = (packet.load, packet.segment) else { return };
        let (slot, Segment { length, .. }) = self.carried(segment);
        if flows[flow].from == node && self.slots[slot].sender.left(length) {
            self.woken.push((slot, flow));
        }
    }

    fn carried(&self, segment: Handle) -> (Slot, Segment) {
        let Carried { connection, segment, .. } = self.carried.get(segment);
        (connection, segment)
    }

    /// Returns, for a segment in flight, its connection's number in the flow and the number of its first octet.
    pub(crate) fn origin(&self, segment: Handle) -> (u32, u64) {
        let (slot, segment) = self.carried(segment);
        (self.slots[slot].number, segment.start)
    }

    pub(crate) fn has_data(&self, segment: Handle) -> bool {
        self.carried.get(segment).segment.length > 0
    }

    /// Returns the congestion window of a segment's connection, in segments.
    pub(crate) fn window(&self, segment: Handle) -> f64 {
        let Connection { sender, most, .. } = &self.slots[self.carried.get(segment).connection];
        sender.cwnd() as f64 / most.count() as f64
    }

    /// Returns a packet as traces show it.
    pub(crate) fn picture(&self, packet: &Packet) -> trace::Packet {
        let segment = packet.segment.map(|segment| {
            let (slot, segment) = self.carried(segment);
            let Connection { number, most, .. } = self.slots[slot];
            Box::new(trace::Segment::new(&segment, number, most))
        });
        packet.picture(segment)
    }

    /// Returns a hash of the packet's addresses and ports. The ports differ between connections.
    pub(crate) fn flow_key(&self, flow: FlowId, packet: &Packet) -> u32 {
        let Some(segment) = packet.segment else { return flow.into() };
        u32::from(flow).wrapping_add(self.carried.get(segment).key)
    }

    /// Returns the number of segments in flight: according to the connections' counts, and to the stored segments.
    pub(crate) fn segments(&self) -> (u64, u64) {
        let said = self.slots.iter().map(|connection| u64::from(connection.on_their_way)).sum();
        (said, self.carried.live() as u64)
    }
}
