//! Moves packets from queues to the MAC: hands them over, reports their completion, and refills the room that they leave.

use super::nodes::Node;
use super::state::{Event, World};
use super::watch::Witness;
use crate::config::Class;
use crate::egress::{Outlook, Taken};
use crate::engine::{FlowId, Handle, NodeId, Number as _, PortId};
use crate::mac::Msdu;
use crate::net::{Load, Transit, Waiting, msdu_bytes, network_bytes};
use crate::trace::TraceEventKind;
use queue::{Completion, Ecn};
use units::{Bytes, Duration, Instant};

impl World {
    /// Refills a port of `node` after a packet of `left` has left it or its limit has moved. If `left` is a saturated
    /// flow that begins here, its next packet follows; before it come, in turn, the flows that have none queued because
    /// the port discarded them.
    #[expect(clippy::inline_always, reason = "once a packet, and mostly no saturated flow begins there")]
    #[inline(always)]
    pub(super) fn refill(&mut self, node: NodeId, port: PortId, left: Option<FlowId>) {
        let saturated = &self.nodes[node].saturated[port];
        let flows = saturated.len();
        let turn = saturated.iter().position(|&(flow, _)| Some(flow) == left);
        for step in 1..=flows {
            let Node { saturated, egress, .. } = &self.nodes[node];
            let (index, payload) = saturated[port][(turn.unwrap_or(0) + step) % flows];
            let due = Some(index) == left || self.flows[index].waiting == 0;
            if due && egress.ports()[port].has_room(network_bytes(payload)) {
                self.make_packet(index, payload);
            }
        }
    }

    /// Handles a packet's departure from a port of `node`.
    pub(super) fn left(&mut self, node: NodeId, port: PortId, waiting: &Waiting) {
        if waiting.ecn == Ecn::Ce {
            self.trace_mark(node, waiting.packet);
        }
        let packet = self.packets.get(waiting.packet);
        let flow = match packet.load {
            Load::Flow(flow) => Some(flow),
            Load::Routing { .. } | Load::Note(_) | Load::Null { .. } => None,
        };
        if let Some(flow) = flow {
            self.flows[flow].waiting -= u32::from(packet.is_fresh());
        }
        self.refill(node, port, flow);
    }

    /// Traces a packet that has left a port marked, if it was marked there.
    #[inline(never)]
    fn trace_mark(&mut self, node: NodeId, handle: Handle) {
        let Self { packets, connections, watch, now, .. } = self;
        let packet = packets.get_mut(handle);
        if packet.ecn != Ecn::Ce {
            packet.ecn = Ecn::Ce;
            Witness { watch, now: *now, node }
                .saw(|| TraceEventKind::Marked(connections.picture(&packets.get(handle))));
        }
    }

    /// Hands over a packet if the station is free and one is queued; then sets the station's deadline.
    #[expect(clippy::inline_always, reason = "every listener of a frame is served, and mostly there is nothing to do")]
    #[inline(always)]
    pub(crate) fn serve(&mut self, node: NodeId) {
        let served = &mut self.nodes[node];
        let Node { station, egress, .. } = served;
        if egress.has_moved() || station.held.is_paused() || station.free() & egress.filled() != 0 {
            self.hand_over_all(node);
        } else if let Some(deadline) = served.newly_due() {
            self.events.push(deadline, Event::Deadline { node });
        }
    }

    /// Packets of the categories in which something `moved` go on towards the MAC, categories that hold frames after an
    /// exchange go on with the receiver whose turn it is, and the station is handed the next packet of every category that
    /// it is free to take.
    #[inline(never)]
    fn hand_over_all(&mut self, node: NodeId) {
        let Node { station, egress, absent, .. } = &self.nodes[node];
        if *absent {
            return self.arm(node);
        }
        if egress.has_moved() || station.held.is_paused() {
            self.pull_all(node);
            self.set_window(node);
            self.resume_all(node);
        }
        let Node { station, egress, .. } = &self.nodes[node];
        let mut free = station.free() & egress.filled();
        while free != 0 {
            self.hand_over(node, u8::try_from(free.trailing_zeros()).expect("a byte has eight bits"));
            free &= free - 1;
        }
        self.arm(node);
    }

    /// Sets the contention window of a category whose scheduler asks for another one.
    fn set_window(&mut self, node: NodeId) {
        let Node { egress, station, .. } = &mut self.nodes[node];
        if self.rules.edca()
            && let Some((category, window)) = egress.window()
        {
            station.contention.set_access(category, self.rules.with_window(category, window));
        }
    }

    /// Moves packets on towards the MAC, as far as they may: also each packet at once when it arrives, so that those that
    /// arrive together do not fill the queue while there is room below it. What a departure lets arrive is left to the loop
    /// that is under way.
    #[inline(never)]
    pub(super) fn pull_all(&mut self, node: NodeId) {
        let Node { egress, absent, .. } = &mut self.nodes[node];
        if *absent || !egress.has_moved() {
            return;
        }
        for category in egress.begin_pulling() {
            self.pull(node, category);
        }
        self.nodes[node].egress.end_pulling();
    }

    /// Goes on with the frames that categories hold after an exchange.
    fn resume_all(&mut self, node: NodeId) {
        let mut paused = self.nodes[node].station.held.take_paused();
        while paused != 0 {
            self.resume_in_turn(node, u8::try_from(paused.trailing_zeros()).expect("a byte has eight bits"));
            paused &= paused - 1;
        }
    }

    /// Moves packets of a category on towards the MAC, as far as they may.
    fn pull(&mut self, node: NodeId, category: u8) {
        loop {
            let now = self.now;
            let (Node { egress, station, .. }, rules, mut accounts) = self.node_and_accounts(node);
            let outlook = Outlook { station, rules };
            let Some((port, waiting)) = egress.pull(now, category, outlook, &mut accounts.dropping()) else {
                if let Some((port, at)) = egress.pullable_at(now, category) {
                    self.arm_port(node, port, at);
                }
                return;
            };
            self.left(node, port, &waiting);
        }
    }

    /// Goes on with the frames that a category holds for the receiver whose turn it is. False if it is the turn of a packet
    /// that waits: then the category is free to take it.
    fn resume_in_turn(&mut self, node: NodeId, category: u8) -> bool {
        let Self { nodes, packets, rules, now, .. } = self;
        let Node { egress, station, .. } = &mut nodes[node];
        // A request for a BlockAck may be all that is left for a receiver. Where there are classes there is none.
        let class =
            |packet: Option<Handle>| packet.map_or(Class::BestEffort, |packet| packets.get(packet).dscp.class());
        let turn =
            egress.turn(*now, category, station.held.receivers(category).map(|(to, packet)| (to, class(packet))));
        match turn {
            Some(to) => station.resume(*now, category, to, rules),
            None => station.set_aside(category),
        }
        turn.is_some()
    }

    /// Hands the next packet of a category to the station, if there is one.
    fn hand_over(&mut self, node: NodeId, category: u8) {
        loop {
            let goes_on = self.nodes[node].station.held.has_aside(category) && self.resume_in_turn(node, category);
            // A packet that is kept instead may have been the one whose turn it was.
            if goes_on || self.hand_over_next(node, category) {
                return;
            }
        }
    }

    /// False if the packet is kept for a receiver that sleeps: then another is next.
    fn hand_over_next(&mut self, node: NodeId, category: u8) -> bool {
        let now = self.now;
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        if egress.has_first(category) {
            return self.hand_over_first(node, category);
        }
        let Some(taken) = egress.take_next(now, category, &mut accounts.dropping()) else {
            // The discipline may have dropped all that waited.
            if self.nodes[node].station.held.has_aside(category) {
                self.resume_in_turn(node, category);
            }
            let egress = &self.nodes[node].egress;
            if let Some((port, at)) = egress.ready_at(category) {
                self.arm_port(node, port, at);
            }
            return true;
        };
        if self.rules.power_save && self.nodes[node].egress.is_asleep(taken.packet.to) {
            self.keep_asleep(node, category, taken);
            return false;
        }
        self.give(node, category, &taken);
        true
    }

    /// The same with a packet that precedes those of the ports.
    #[cold]
    fn hand_over_first(&mut self, node: NodeId, category: u8) -> bool {
        let egress = &mut self.nodes[node].egress;
        let Some(taken) = egress.take_first(self.now, category) else { return true };
        if egress.is_asleep(taken.packet.to) {
            self.keep_asleep(node, category, taken);
            return false;
        }
        self.give(node, category, &taken);
        true
    }

    /// Gives the station a packet that has been taken for it.
    #[expect(clippy::inline_always, reason = "once a packet, of which nothing has to be copied then")]
    #[inline(always)]
    fn give(&mut self, node: NodeId, category: u8, taken: &Taken) {
        let mut msdu = self.taken(node, taken);
        if self.rules.power_save {
            msdu.length = self.rouse(node, &msdu);
        }
        self.choose_level(node);
        self.nodes[node].station.offer(self.now, taken.packet.to, category, msdu, &self.rules);
        if self.nodes[node].station.tmac.is_some() {
            self.take_turn(node);
        }
        if let Some(port) = taken.left {
            self.left(node, port, &taken.packet);
        }
    }

    /// Records that the MAC of a node takes a packet.
    #[inline]
    pub(super) fn taken(&mut self, node: NodeId, taken: &Taken) -> Msdu {
        self.draw_taken(node);
        let &Taken { packet: Waiting { packet, length, .. }, waited, at, expected, load, .. } = taken;
        self.packets.get_mut(packet).transit = Transit { waited, taken: at, expected, load, ..Transit::NONE };
        Msdu { packet, length: msdu_bytes(length) }
    }

    /// Receiver and frame length of the packet of a category that would be handed over next; none where it may be the turn
    /// of frames that are sent again.
    pub(super) fn ahead(&mut self, node: NodeId, category: u8) -> Option<(u32, Bytes)> {
        if self.nodes[node].station.held.has_aside(category) {
            return None;
        }
        let now = self.now;
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        let Waiting { to, length, .. } = egress.peek_next(now, category, &mut accounts.dropping())?;
        Some((to, self.rules.mpdu(msdu_bytes(length))))
    }

    /// Ensures an event when a port may release its next packet.
    pub(super) fn arm_port(&mut self, node: NodeId, port: PortId, at: Instant) {
        let armed = &mut self.nodes[node].ready[port];
        if at < *armed {
            *armed = at;
            self.events.push(at, Event::Ready { node, port });
        }
    }

    /// Handles a `Ready` event of a port.
    pub(crate) fn ready(&mut self, node: NodeId, port: PortId) {
        let armed = &mut self.nodes[node].ready[port];
        if *armed == self.now {
            *armed = Instant::NEVER;
            self.resume(node, port);
        }
    }

    /// Resumes a port that may release packets again.
    pub(super) fn resume(&mut self, node: NodeId, port: PortId) {
        let egress = &mut self.nodes[node].egress;
        if let Some(wire) = egress.wire(port) {
            self.transmit(wire);
        } else {
            egress.resume(port);
            self.serve(node);
        }
    }

    /// Reports packets of a port that the MAC, or a wired link, is done with, each with this `expected` airtime. What came
    /// through a hardware queue: its receiver, and the load of all packets together.
    pub(super) fn complete(
        &mut self,
        node: NodeId,
        port: PortId,
        completion: &Completion,
        expected: Duration,
        of_hardware: (u32, u64),
    ) {
        let Node { egress, ports_before, .. } = &mut self.nodes[node];
        egress.completed(self.now, port, completion, expected, of_hardware);
        if let Some(recorder) = &mut self.recorder {
            recorder.completed(*ports_before + port.place(), completion);
        }
    }
}
