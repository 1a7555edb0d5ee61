//! Moves packets from queues to the MAC, and refills the queues of saturated flows.

use super::nodes::Node;
use super::power_save::{Cue, Next};
use super::state::{Event, World};
use crate::egress::{Outlook, Taken, passes_whole};
use crate::engine::{FlowId, NodeId, PortId};
use crate::mac::Msdu;
use crate::net::{Load, Transit, Waiting, msdu_bytes, network_bytes};
use queue::Ecn;
use units::Bytes;

impl World {
    /// Refills a port of `node` after a packet of the flow `left` has left it, or after its limit has moved. If `left`
    /// is a saturated flow that begins at this node, its next packet follows. First come, in turn, flows of which the
    /// port has discarded queued packets.
    #[inline(always)] // once a packet, and mostly no saturated flow begins there
    pub(super) fn refill(&mut self, node: NodeId, port: PortId, left: Option<FlowId>) {
        let saturated = &self.nodes[node].saturated[port];
        let flows = saturated.len();
        let turn = saturated.iter().position(|&(flow, _)| Some(flow) == left);
        for step in 1..=flows {
            let Node { saturated, egress, .. } = &self.nodes[node];
            let (index, payload) = saturated[port][(turn.unwrap_or(0) + step) % flows];
            let due = Some(index) == left || self.flows[index].waiting == 0;
            if due && egress.ports[port].has_room(network_bytes(payload)) {
                let packet = self.flows[index].packet(index, payload, self.now);
                self.launch(index, packet);
            }
        }
    }

    /// Handles the departure of a packet from a port of `node`.
    pub(super) fn left(&mut self, node: NodeId, port: PortId, waiting: &Waiting) {
        if waiting.ecn == Ecn::Ce {
            self.accounts(node).mark(waiting.packet);
        }
        let packet = self.packets.get(waiting.packet);
        let flow = match packet.load {
            Load::Flow(flow) => Some(flow),
            Load::Routing { .. } | Load::Note(_) | Load::Null { .. } => None,
        };
        if let Some(flow) = flow {
            debug_assert!(self.flows[flow].waiting >= u32::from(packet.is_fresh()), "what leaves was waiting");
            self.flows[flow].waiting -= u32::from(packet.is_fresh());
        }
        self.refill(node, port, flow);
    }

    /// Hands the station a packet if the station is free and a packet waits. Then sets the station's deadline.
    #[inline(always)] // every listener of a frame is served, and mostly there is nothing to do
    pub(crate) fn serve(&mut self, node: NodeId) {
        let served = &mut self.nodes[node];
        let Node { station, egress, .. } = served;
        if egress.has_moved() || station.held.is_paused() || station.contention.free() & egress.filled != 0 {
            self.hand_over_all(node);
        } else if let Some(deadline) = served.newly_due() {
            self.events.push(deadline, Event::Deadline { node });
        }
    }

    /// Moves packets of the changed categories towards the MAC. Continues categories that hold frames after an exchange
    /// with the next receiver. Hands the station the next packet of every free category.
    #[inline(never)]
    fn hand_over_all(&mut self, node: NodeId) {
        let Node { station, egress, absent, .. } = &self.nodes[node];
        if *absent {
            return self.nodes[node].arm(node, &mut self.events);
        }
        if egress.has_moved() || station.held.is_paused() {
            self.pull_all(node);
            let Self { nodes, rules, packets, now, .. } = self;
            if rules.edca()
                && let Some((category, [own, stations])) =
                    nodes[node].egress.turns().and_then(|turns| turns.windows(*now))
            {
                nodes[node].widen(category, own);
                let hears = |other: &&mut Node| {
                    other.own_access_point == Some(node.into()) && other.station.contention.has_usual(rules)
                };
                nodes.iter_mut().filter(hears).for_each(|other| other.widen(category, stations));
            }
            let served = &mut nodes[node];
            for category in categories(std::mem::take(&mut served.station.held.paused)) {
                served.resume_in_turn(category, *now, packets, rules);
            }
        }
        let Node { station, egress, .. } = &self.nodes[node];
        for category in categories(station.contention.free() & egress.filled) {
            self.hand_over(node, category);
        }
        self.nodes[node].arm(node, &mut self.events);
    }

    /// Moves packets towards the MAC as far as they may move. Each packet moves when it arrives; otherwise packets that
    /// arrive together would fill the queue while there is room below it. Packets that follow a departure are left to
    /// the loop that is already running.
    #[inline(never)]
    pub(super) fn pull_all(&mut self, node: NodeId) {
        let now = self.now;
        let Node { egress, absent, .. } = &mut self.nodes[node];
        if *absent || !egress.has_moved() {
            return;
        }
        for category in egress.begin_pulling() {
            loop {
                let (Node { egress, station, .. }, rules, mut accounts) = self.node_and_accounts(node);
                let outlook = Outlook { station, rules };
                let Some((port, waiting)) = egress.pull(now, category, outlook, &mut accounts.dropping()) else {
                    if let Some((port, at)) = egress.pullable_at(now, category) {
                        self.nodes[node].arm_port(node, port, at, &mut self.events);
                    }
                    break;
                };
                self.left(node, port, &waiting);
            }
        }
        self.nodes[node].egress.end_pulling();
    }

    /// Hands the station the next packet of a category if there is one.
    fn hand_over(&mut self, node: NodeId, category: u8) {
        loop {
            let Self { nodes, rules, packets, now, .. } = self;
            let (served, now) = (&mut nodes[node], *now);
            // The access point may have kept the next packet for a sleeping station instead.
            if served.station.held.has_aside(category) && served.resume_in_turn(category, now, packets, rules) {
                return;
            }
            let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
            let taken = if egress.has_first(category) {
                egress.take_first(now, category)
            } else {
                let taken = egress.take_next(now, category, &mut accounts.dropping());
                if taken.is_none() {
                    let Self { nodes, rules, packets, events, .. } = self;
                    nodes[node].hands_over_later(node, category, (now, packets), rules, events);
                }
                taken
            };
            let Some(taken) = taken else { return };
            if self.rules.power_save && self.nodes[node].egress.is_asleep(taken.packet.to) {
                let (served, _, mut accounts) = self.node_and_accounts(node);
                served.keep_asleep(category, taken, &mut accounts);
                continue;
            }
            let mut msdu = self.taken(node, &taken);
            if self.rules.power_save {
                match self.packets.get(msdu.packet).load {
                    // A null frame has no LLC header either.
                    Load::Null { .. } => msdu.length = Bytes::new(0),
                    Load::Note(_) => {}
                    Load::Flow(_) | Load::Routing { .. } => self.power_save(node, |_, _| Cue::Sends),
                }
            }
            let Self { nodes, medium, rules, now, .. } = self;
            let served = &mut nodes[node];
            served.choose_level(*now, || medium.busy_from_start(node.into(), *now));
            let (to, Node { egress, station, .. }) = (taken.packet.to, &mut *served);
            station.txop.end_unless(*now, |left| passes_whole(egress, to, category, left));
            station.offer(*now, to, category, msdu, rules);
            if served.station.tmac.is_some() {
                let (served, rules, mut accounts) = self.node_and_accounts(node);
                served.take_turn(rules, &mut accounts);
            }
            if let Some(port) = taken.left {
                self.left(node, port, &taken.packet);
            }
            return;
        }
    }

    /// Records that a node's MAC gets a packet.
    #[inline]
    pub(super) fn taken(&mut self, node: NodeId, taken: &Taken) -> Msdu {
        let now = self.now;
        if let Some(energy) = &mut self.nodes[node].energy {
            energy.takes(now, self.medium.busy_from_start(node.into(), now));
        }
        let &Taken { packet: Waiting { packet, length, .. }, waited, at, expected, load, .. } = taken;
        debug_assert!(at <= now, "it left its port before");
        self.packets.get_mut(packet).transit = Transit { waited, taken: at, expected, load, ..Transit::default() };
        Msdu { packet, length: msdu_bytes(length) }
    }

    /// Resumes a port that may release packets again.
    pub(super) fn resume(&mut self, node: NodeId, port: PortId) {
        let egress = &mut self.nodes[node].egress;
        if let Some(wire) = egress.layout.wire(port) {
            self.transmit(wire, None);
        } else {
            egress.resume(port);
            self.serve(node);
        }
    }

    /// Passes an event to a station with power save and does what it decides. The event may depend on whether the
    /// station has packets, and on whether its access point buffers some for it.
    pub(super) fn power_save(&mut self, node: NodeId, cue: impl FnOnce(&Node, bool) -> Cue) {
        let Some(mut power) = self.nodes[node].power_save.take() else { return };
        let (now, to) = (self.now, u32::from(power.access_point));
        let awaited = self.nodes[power.access_point].keeps_for(node.into());
        let was_asleep = power.is_asleep();
        let Next { at, tells } = power.learn(now, cue(&self.nodes[node], awaited));
        let is_asleep = power.is_asleep();
        let Self { nodes, medium, events, posted, packets, .. } = self;
        let of = &mut nodes[node];
        of.power_save = Some(power);
        if let Some(energy) = of.energy.as_mut().filter(|_| was_asleep != is_asleep) {
            energy.sleeps(now, medium.busy_from_start(node.into(), now), is_asleep);
        }
        if let Some(at) = at {
            events.push(at, Event::PowerSave { node });
        }
        if let Some(sleeps) = tells {
            of.egress.post(posted.null(now, sleeps, to, packets));
            self.serve(node);
        }
    }
}

/// Returns the categories of a bitmask, the highest first.
fn categories(mut bits: u8) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let category = u8::try_from(bits.trailing_zeros()).expect("a byte has eight bits");
        let found = bits != 0;
        bits &= bits.wrapping_sub(1);
        found.then_some(category)
    })
}
