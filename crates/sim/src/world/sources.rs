//! Where packets come from: sources, saturated flows, TCP connections, and the gates of admission control.

use super::flows::connections::{Connections, Context, End};
use super::flows::{Cue, Flow, Role, Standing, Supply};
use super::state::{Event, World};
use crate::engine::{FlowId, Slot};
use crate::net::{Packet, serial};
use crate::trace::TraceEventKind;

/// Number of packets that a saturated flow keeps in its port: one to hand over and one that follows.
const SATURATION: u32 = 2;

impl World {
    /// Emits a packet of a source, or begins the next transfer of a flow.
    pub(crate) fn emit(&mut self, flow: FlowId) {
        let Flow { supply, record, from, .. } = &mut self.flows[flow];
        let (from, waits) = (self.roaming.place(*from), self.roaming.has(*from));
        match supply {
            Supply::Source(source) => {
                let Some(packet) = source.next() else { return };
                source.advance();
                if let Some(next) = source.next() {
                    debug_assert!(next.at >= self.now, "time does not run back");
                    self.events.push(next.at, Event::Emit { flow });
                }
                if self.nodes[from].absent && !waits {
                    return;
                }
                // The first packet starts the request for admission.
                if self.flows[flow].admission.as_ref().is_some_and(|admission| admission.standing == Standing::NotYet) {
                    self.admit(flow, Cue::Asks);
                }
                if self.flows[flow].admission.is_some() && !self.flows[flow].take_class(self.now) {
                    return;
                }
                let packet = self.flows[flow].packet(flow, packet.payload, self.now);
                self.launch(flow, packet);
            }
            Supply::Transfers { transfers, settings, opened, .. } => {
                let bytes = transfers.begin();
                if let Some(next) = transfers.next() {
                    self.events.push(next, Event::Emit { flow });
                }
                let slot = self.connections.open(flow, *opened, settings, bytes, self.now);
                *opened = opened.wrapping_add(1);
                record.transport.iter_mut().for_each(|record| record.transfers += 1);
                self.converse(slot, End::Sender);
            }
            Supply::Saturated { .. } | Supply::Outside(_) | Supply::Answers { .. } => return,
        }
        self.serve(from);
    }

    /// Fills the port with the first packets of a saturated flow. From now on the port refills itself.
    pub(crate) fn fill(&mut self, flow: FlowId) {
        let Flow { from, category, dscp, supply: Supply::Saturated { payload, .. }, .. } = self.flows[flow] else {
            return;
        };
        let next = self.routing.first_hop(flow, &self.flows[flow]);
        let port = self.nodes[from].egress.layout.port(next, category, dscp.class());
        self.nodes[from].saturated[port].push((flow, payload));
        for _ in 0..SATURATION {
            let packet = self.flows[flow].packet(flow, payload, self.now);
            self.launch(flow, packet);
        }
    }

    /// Stops a saturated or greedy flow. Packets that are already queued or sent still go to their end.
    pub(crate) fn cease(&mut self, flow: FlowId) {
        let Flow { from, role, category, dscp, .. } = self.flows[flow];
        if let Role::Stream { .. } = role {
            if let Some(slot) = self.connections.cease(flow) {
                self.converse(slot, End::Sender);
                self.serve(self.roaming.place(from));
            }
            return;
        }
        let next = self.routing.first_hop(flow, &self.flows[flow]);
        let port = self.nodes[from].egress.layout.port(next, category, dscp.class());
        self.nodes[from].saturated[port].retain(|&(other, _)| other != flow);
    }

    /// Sends a packet of a flow from the node where it begins.
    #[inline]
    pub(crate) fn launch(&mut self, flow: FlowId, mut packet: Packet) {
        let Flow { from, waiting, record, .. } = &mut self.flows[flow];
        packet.serial = serial(record.ledger.made);
        record.ledger.made += 1;
        *waiting += 1;
        let from = self.roaming.place(*from);
        self.route(from, None, &packet);
    }

    /// Returns the connections and the other state that they change.
    pub(crate) fn transport(&mut self) -> (&mut Connections, Context<'_>) {
        let Self { connections, flows, recorder, events, now, warmup, .. } = self;
        (connections, Context { now: *now, warmup: *warmup, flows, recorder, events })
    }

    /// Sends the segments of both ends of a connection. If `first` is the receiver, sends only the receiver's: the
    /// sender has then received nothing and has nothing to send.
    pub(crate) fn converse(&mut self, slot: Slot, first: End) {
        let ends = if first == End::Sender { &[End::Sender, End::Receiver][..] } else { &[End::Receiver] };
        for &end in ends {
            loop {
                let (connections, mut cx) = self.transport();
                let Some((flow, packet)) = connections.next(slot, end, &mut cx) else { break };
                self.launch(flow, packet);
            }
        }
        let (connections, mut cx) = self.transport();
        match first {
            End::Sender => connections.settle(slot, &mut cx),
            End::Receiver => connections.arm(slot, &mut cx),
        }
    }

    /// Passes an event to the gate of a flow, and does what it decides: it may send a message.
    pub(crate) fn admit(&mut self, flow: FlowId, cue: Cue) {
        let (now, from) = (self.now, self.flows[flow].from);
        let available = self.nodes[from].available();
        let Some(admission) = &mut self.flows[flow].admission else { return };
        let (step, message) = admission.learn(now, cue, available);
        if let Some(deadline) = admission.newly_due() {
            self.events.push(deadline, Event::Gate { flow });
        }
        if let Some(step) = step {
            self.accounts(from).witness.saw(|| TraceEventKind::Admission { flow: flow.into(), step });
        }
        if let Some((messages, created)) = message {
            let packet = self.flows[messages].message(messages, created);
            self.launch(messages, packet);
            self.serve(self.flows[messages].from);
        }
    }
}
