//! Handles packets that need an answer: TCP segments and pings.

use super::connections::Connection;
use super::{Flow, Role, Supply};
use crate::config::Dscp;
use crate::engine::{FlowId, Handle, NodeId, Slot};
use crate::net::{Load, Packet, ip_bytes};
use crate::transport::tcp::Segment;
use crate::world::state::{Event, World};
use queue::Ecn;
use units::{Bytes, Instant};

impl World {
    /// Handles an arriving packet that is answered, or an answer.
    pub(crate) fn arrive(&mut self, node: NodeId, index: FlowId, packet: &Packet) {
        match self.flows[index].role {
            Role::Data => self.take_data(node, index, packet),
            Role::Outside => self.hand_out(node, index, packet),
            Role::Request { back } => {
                self.take_data(node, index, packet);
                let dscp = self.flows[back].dscp;
                let reply = Packet { dscp, ..Packet::new(Load::Flow(back), packet.created, packet.length) };
                self.launch(back, reply);
            }
            Role::Reply { of } => {
                if packet.created >= self.warmup
                    && let Some(record) = &mut self.flows[of].record.transport
                {
                    record.replies += 1;
                    record.rtt.record(self.now.since(packet.created));
                }
                self.trace_delivered(node, packet);
            }
            Role::Stream { .. } | Role::Acknowledgement { .. } => self.take_segment(node, index, packet),
            role @ (Role::Probe { .. } | Role::Answer { .. } | Role::Regulation { .. }) => {
                self.take_admission(node, role, packet);
            }
        }
    }

    /// Begins the next transfer of a flow: opens a connection.
    pub(crate) fn begin_transfer(&mut self, flow: FlowId) {
        let Flow { supply, record, from, .. } = &mut self.flows[flow];
        let Supply::Transfers { transfers, settings, opened, .. } = supply else { return };
        let bytes = transfers.begin();
        if let Some(next) = transfers.next() {
            self.events.push(next, Event::Emit { flow });
        }
        let connection = Connection::new(flow, *opened, settings, bytes, self.now);
        *opened = opened.wrapping_add(1);
        record.transport.iter_mut().for_each(|record| record.transfers += 1);
        let from = *from;
        let slot = self.connections.insert(connection);
        self.converse(slot);
        self.serve(from);
    }

    /// Ends a greedy flow: data already sent are still carried to their end.
    pub(crate) fn close_stream(&mut self, flow: FlowId) {
        let from = self.flows[flow].from;
        if let Some(slot) = self.connections.of_flow(flow) {
            self.connections.get(slot).sender.close();
            self.converse(slot);
            self.serve(from);
        }
    }

    /// Handles a segment at its end of the connection.
    fn take_segment(&mut self, node: NodeId, index: FlowId, packet: &Packet) {
        let Some(handle) = packet.segment else { return };
        let (slot, connection, segment) = self.connections.met(handle);
        let Flow { record, role, .. } = &mut self.flows[index];
        record.bare.finished += u64::from(segment.length == 0);
        if role.answers().is_none() {
            self.take_stream(handle, index, packet);
            self.trace_delivered(node, packet);
            // The sender has heard nothing, and has nothing more to say.
            self.answer(slot);
            self.arm_timer(slot);
            return;
        }
        if !connection.closed {
            connection.sender.receive(self.now, segment);
            self.measure(slot);
        }
        self.trace_delivered(node, packet);
        self.converse(slot);
    }

    /// Handles a segment at the receiver.
    fn take_stream(&mut self, handle: Handle, index: FlowId, packet: &Packet) {
        let (_, connection, segment) = self.connections.met(handle);
        let flow = &mut self.flows[index];
        if segment.length > 0 {
            let delay = self.now.since(packet.created);
            if let Some(recorder) = &mut self.recorder {
                recorder.arrived(index, delay, 1);
            }
            if packet.created >= self.warmup {
                flow.record.receive(delay, flow.identity.deadline, packet);
            }
        }
        if connection.closed {
            return;
        }
        let before = connection.receiver.arrived();
        let fresh = connection.receiver.receive(self.now, segment, packet.ecn == Ecn::Ce);
        let carried = Bytes::new(connection.receiver.arrived() - before);
        flow.record.bytes += Bytes::new(fresh);
        if let Some(record) = &mut flow.record.transport {
            record.carried += carried;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.got(index, Bytes::new(fresh));
            recorder.carried(index, carried);
        }
        let Some(missing) = &mut connection.missing else { return };
        *missing -= fresh;
        // Of a transfer of nothing, its end is all that arrives.
        if *missing > 0 || connection.complete || (fresh == 0 && !segment.fin) {
            return;
        }
        connection.complete = true;
        let opened = connection.opened;
        if opened >= self.warmup
            && let Some(record) = &mut flow.record.transport
        {
            record.completed += 1;
            record.completion.record(self.now.since(opened));
        }
        if let Supply::Transfers { transfers, .. } = &mut flow.supply {
            let before = transfers.next();
            transfers.end(self.now);
            if before.is_none()
                && let Some(next) = transfers.next()
            {
                self.events.push(next, Event::Emit { flow: index });
            }
        }
    }

    /// Records round-trip times after an acknowledgement.
    fn measure(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        let Some(record) = &mut self.flows[connection.flow].record.transport else { return };
        if let Some(sample) = connection.sender.take_sample() {
            record.rtt.record(sample);
        }
        if let Some(srtt) = connection.sender.srtt() {
            record.srtt_max = record.srtt_max.max(srtt);
        }
    }

    /// Sends the segments of both ends; then sets timers and counts.
    fn converse(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        if connection.closed {
            return;
        }
        let flow = connection.flow;
        while let Some(segment) = self.connections.get(slot).sender.next(self.now) {
            self.flows[flow].record.sent += u64::from(segment.length > 0);
            if segment.discard_priority.is_some() {
                self.judge_repair(slot, flow, segment.start);
            }
            self.send_segment(slot, flow, &segment);
        }
        self.answer(slot);
        let connection = self.connections.get(slot);
        let counts = connection.sender.counts();
        if counts != connection.counted {
            let before = std::mem::replace(&mut connection.counted, counts);
            if let Some(record) = &mut self.flows[flow].record.transport {
                record.count(counts, before);
            }
        }
        if connection.sender.done() {
            self.connections.close(slot);
        } else {
            self.arm_timer(slot);
        }
    }

    /// Sends the segments of the receiver.
    #[inline]
    fn answer(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        let Role::Stream { back } = self.flows[connection.flow].role else { return };
        while !self.connections.get(slot).closed
            && let Some(segment) = self.connections.get(slot).receiver.next(self.now)
        {
            self.send_segment(slot, back, &segment);
        }
    }

    /// Records the receiver's verdict on a loss that is being repaired.
    #[cold]
    fn judge_repair(&mut self, slot: Slot, flow: FlowId, start: u64) {
        let Connection { number, ref sender, .. } = *self.connections.get(slot);
        let losses = self.flows[flow].record.transport.as_mut().and_then(|transport| transport.losses.as_mut());
        if let Some(losses) = losses {
            losses.send(number, start, sender.verdict());
        }
    }

    fn send_segment(&mut self, slot: Slot, flow: FlowId, segment: &Segment) {
        let length = ip_bytes(segment.header() + Bytes::new(segment.length.into()));
        let dscp = segment.discard_priority.map_or(self.flows[flow].dscp, Dscp::with_discard_priority);
        self.flows[flow].record.bare.made += u64::from(segment.length == 0);
        let (ecn, segment) = (segment.ecn, Some(self.connections.send(slot, segment)));
        self.launch(flow, Packet { dscp, segment, ecn, ..Packet::new(Load::Flow(flow), self.now, length) });
    }

    /// Ensures an event at the earliest timer of a connection. One that is already pending before that suffices: an
    /// acknowledgement that restarts the timer costs no event.
    fn arm_timer(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        let deadline = connection.deadline();
        if deadline < connection.armed {
            connection.armed = deadline;
            self.events.push(deadline, Event::Timer { connection: slot });
        }
    }

    /// Handles a `Timer` event of a connection.
    pub(crate) fn timer(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        if connection.armed != self.now {
            return;
        }
        connection.armed = Instant::NEVER;
        if connection.deadline() > self.now {
            return self.arm_timer(slot);
        }
        if connection.sender.deadline() <= self.now {
            connection.sender.expire(self.now);
        }
        if connection.receiver.deadline() <= self.now {
            connection.receiver.expire(self.now);
        }
        let flow = connection.flow;
        self.converse(slot);
        let Flow { from, to, .. } = self.flows[flow];
        self.serve(from);
        self.serve(to.into());
    }
}
