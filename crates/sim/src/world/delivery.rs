//! Passes on the packets that a node has received, to its application or to the next hop.

use super::flows::row::Row;
use super::flows::{Cue, Flow, Role};
use super::state::World;
use crate::engine::{FlowId, Handle, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Load, Packet, Transit};
use crate::trace::{AdmissionStep, TraceEventKind};
use queue::Ecn;

impl World {
    /// Takes the packets of a data frame that was received by radio: the first packet and those chained to it.
    pub(crate) fn take(&mut self, node: NodeId, from: u32, first: Handle) {
        let mut next = Some(first);
        while let Some(handle) = next {
            next = self.packets.get(handle).transit.next;
            self.take_packet(node, from, handle);
        }
    }

    /// Handles the packets of successive data frames that a node has received; `firsts` is the first packet of each
    /// frame. No observer follows individual packets.
    pub(crate) fn take_row(&mut self, node: NodeId, from: u32, firsts: impl Iterator<Item = Handle>) {
        let mut row = Row::default();
        for first in firsts {
            let mut next = Some(first);
            while let Some(handle) = next {
                let packet = self.packets.get_mut(handle);
                next = packet.transit.next;
                packet.transit.accepted = true;
                if !row.takes(packet) {
                    let packet = *packet;
                    self.begin_row(&mut row, node, from, &packet);
                }
            }
        }
        row.end(&mut self.flows, (self.now, self.warmup), &mut self.recorder);
    }

    /// Handles a packet that does not [fit](Row::takes) the packets before it. The packet begins another row if its
    /// application is at this node and only counts packets.
    pub(crate) fn begin_row(&mut self, row: &mut Row, node: NodeId, from: u32, packet: &Packet) {
        row.end(&mut self.flows, (self.now, self.warmup), &mut self.recorder);
        let index = match packet.load {
            Load::Flow(index) => index,
            Load::Null { .. } => {
                self.posted.ledger.finished += 1;
                return;
            }
            _ => unreachable!("all else is broadcast, or goes where routes are found"),
        };
        let Flow { to, role, .. } = self.flows[index];
        if to == u32::from(node) && role == Role::Data && packet.ecn != Ecn::Ce {
            *row = Row::of(index, packet);
        } else {
            self.deliver(node, from, index, packet);
        }
    }

    /// Handles a packet that a node has received and that its sender still owns.
    #[inline(always)] // once a packet: such calls cost every network 1 % in all
    pub(crate) fn take_packet(&mut self, node: NodeId, from: u32, handle: Handle) {
        let packet = self.packets.get_mut(handle);
        packet.transit.accepted = true;
        let mut packet = *packet;
        match packet.load {
            Load::Flow(index) => {
                if let Some(found) = self.routing.found() {
                    found.hear_neighbour(node, from, self.now);
                    found.open(handle, &mut packet, self.flows[index].to);
                }
                self.deliver(node, from, index, &packet);
            }
            Load::Routing { message, to_all } => {
                self.tell(node, |found, desk| found.receive(from, (message, to_all), desk));
            }
            Load::Note(content) => {
                if let Some(notes) = &mut self.nodes[node].neighbours {
                    let news = self.posted.content(content);
                    notes.table.hear(self.now, from, &news);
                    self.accounts(node).witness.saw(|| TraceEventKind::Note { from, note: Box::new(news) });
                }
            }
            Load::Null { .. } => self.posted.ledger.finished += 1,
        }
    }

    /// Takes a packet of a flow: delivers or forwards it.
    pub(crate) fn deliver(&mut self, node: NodeId, from: u32, index: FlowId, packet: &Packet) {
        debug_assert!(packet.created <= self.now, "a packet arrives after it was made");
        let Flow { to, role, ref mut record, .. } = self.flows[index];
        if to != BROADCAST {
            if to != self.roaming.home(node.into()) {
                if let Role::Probe { of } = role
                    && let Some(admission) = &mut self.flows[of].admission
                {
                    admission.passes(packet.created, self.nodes[node].available());
                }
                let (ttl, transit) = (packet.ttl.saturating_sub(1), Transit::default());
                self.route(node, Some(from), &Packet { ttl, transit, ..*packet });
                return;
            }
            record.ledger.finished += 1;
        } else if packet.created >= self.warmup {
            self.flows[index].reaches(node, from, self.now, &self.medium, &mut self.distances);
        }
        if let Role::Data | Role::Request { .. } = role {
            self.flows[index].count(index, packet, 1, (self.now, self.warmup), &mut self.recorder);
            self.accounts(node).delivered(packet);
            if packet.ecn == Ecn::Ce {
                self.admit(index, Cue::Marked);
            }
        }
        if role != Role::Data {
            self.arrive(node, from, index, packet);
        }
    }

    /// Handles an arriving packet that is not plain data: a request, or an answer.
    fn arrive(&mut self, node: NodeId, from: u32, index: FlowId, packet: &Packet) {
        match self.flows[index].role {
            Role::Data => {}
            Role::Outside | Role::ToAll => self.hand_out(node, from, index, packet),
            Role::Request { back } => {
                let dscp = self.flows[back].dscp;
                self.launch(back, Packet { dscp, ..Packet::new(Load::Flow(back), packet.created, packet.length) });
            }
            Role::Reply { of } => {
                if packet.created >= self.warmup
                    && let Some(record) = &mut self.flows[of].record.transport
                {
                    record.replies += 1;
                    record.rtt.record(self.now.since(packet.created));
                }
                self.accounts(node).delivered(packet);
            }
            Role::Stream { .. } | Role::Acknowledgement { .. } => {
                let Some(segment) = packet.segment else { return };
                let (connections, mut cx) = self.transport();
                let (slot, end) = connections.take(index, segment, packet, &mut cx);
                self.accounts(node).delivered(packet);
                self.converse(slot, end);
            }
            Role::Probe { of } => {
                self.accounts(node).delivered(packet);
                self.admit(of, Cue::Probed { sent: packet.created });
            }
            Role::Answer { of } => {
                self.accounts(node).delivered(packet);
                self.admit(of, Cue::Answered { sent: packet.created });
            }
            Role::Regulation { of } => {
                let mut accounts = self.accounts(node);
                accounts.delivered(packet);
                let step = AdmissionStep::Regulate;
                accounts.witness.saw(|| TraceEventKind::Admission { flow: of.into(), step });
                self.admit(of, Cue::Regulated);
            }
        }
    }
}
