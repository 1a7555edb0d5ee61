//! Packets at a node: routes them, puts them into ports, and gives them up after their link has broken.

use super::accounts::Accounts;
use super::flows::Role;
use super::routing::{Desk, Found, Routing, Step};
use super::state::{Event, World};
use super::witness::Witness;
use crate::engine::{Handle, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Load, LossCause, Packet, Waiting};
use crate::trace::TraceEventKind;

impl World {
    /// Routes a data packet at a node. It joins a port or waits for a route. Without `previous` the node is its origin.
    #[inline(always)] // once a packet: such calls cost every network 1 % in all
    pub(crate) fn route(&mut self, node: NodeId, previous: Option<u32>, packet: &Packet) {
        let Load::Flow(index) = packet.load else { unreachable!("messages go one hop") };
        let flow = &self.flows[index];
        let next = match &mut self.routing {
            _ if flow.to == BROADCAST => Some(BROADCAST),
            Routing::Static(routes) => Some(self.roaming.hop(routes, (index, flow), node.into())),
            Routing::Found(_) if packet.ttl == 0 => {
                self.accounts(node).lose(packet, LossCause::Ttl);
                return;
            }
            Routing::Found(found) if !found.is_sourced() => found.route(node, &flow.ends(previous, packet), self.now),
            Routing::Found(_) => {
                if previous.is_some() {
                    self.tell(node, Found::forward);
                }
                None
            }
        };
        let handle = self.packets.insert(*packet);
        self.connections.packet_made(packet.segment);
        if let Some(to) = next {
            self.enqueue(node, handle, to);
        } else {
            let ends = self.flows[index].ends(previous, packet);
            self.tell(node, |found, desk| found.seek(handle, &ends, desk));
        }
    }

    /// Calls the routing protocol of a node and executes the actions that it orders. `None` with fixed routes.
    pub(crate) fn tell<R>(&mut self, node: NodeId, what: impl FnOnce(&mut Found, &mut Desk) -> R) -> Option<R> {
        let Self { routing: Routing::Found(found), packets, now, .. } = self else { return None };
        let result = what(found, &mut Desk { node, now: *now, packets });
        self.carry_out(node);
        Some(result)
    }

    /// Carries out the actions of a node's routing protocol.
    #[inline(never)]
    fn carry_out(&mut self, node: NodeId) {
        let Routing::Found(found) = &mut self.routing else { return };
        let mut steps = std::mem::take(&mut found.plane.steps);
        let mut refills = false;
        for step in steps.drain(..) {
            match step {
                Step::Send { packet, to, after } if after.is_zero() => self.enqueue(node, packet, to),
                Step::Send { packet, after, .. } => self.events.push(self.now + after, Event::Message { node, packet }),
                Step::Discard { packet, why, refills: more } => {
                    self.accounts(node).discard(packet, why);
                    refills |= more;
                }
            }
        }
        let Routing::Found(found) = &mut self.routing else { return };
        found.plane.put_back(steps);
        if let Some(deadline) = found.newly_due(node) {
            self.events.push(deadline, Event::Route { node });
        }
        if refills {
            self.nodes[node].saturated.numbers().for_each(|port| self.refill(node, port, None));
        }
    }

    /// Enqueues a packet in a port of a node.
    #[inline]
    pub(crate) fn enqueue(&mut self, node: NodeId, handle: Handle, to: u32) {
        let Self { nodes, packets, connections, flows, routing, wires, recorder, overflows, watch, now, .. } = self;
        let packet = packets.get_mut(handle);
        let (category, first, flow) = match (packet.load, &*routing) {
            (Load::Flow(flow), _) => {
                if let Some(route) = recorder.as_mut().and_then(|recorder| recorder.route(flow)) {
                    route.pass(node, to, *now);
                }
                match flows[flow].role {
                    Role::Outside | Role::ToAll => flows[flow].kept(flow, packet),
                    _ => (flows[flow].category, false, connections.flow_key(flow, packet)),
                }
            }
            (_, Routing::Found(found)) => (found.plane.category, found.plane.goes_first, u32::MAX),
            (_, Routing::Static(_)) => unreachable!("fixed routes need no messages"),
        };
        let &mut Packet { length, dscp, ecn, created, .. } = packet;
        debug_assert!(created <= *now, "a packet was made before it is sent");
        let waiting = Waiting { packet: handle, to, length, flow, dscp, ecn, created };
        let mut witness = Witness { watch, now: *now, node };
        witness.saw(|| TraceEventKind::Queued(connections.picture(packet)));
        let egress = &mut nodes[node].egress;
        let (port, wire) = egress.layout.way(to, category, dscp.class());
        if let Some(wire) = wire
            && wires[wire].sending.is_none()
            && egress.pass_idle(*now, port, &waiting)
        {
            return self.transmit(wire, Some(&waiting));
        }
        let mut accounts = Accounts { packets, connections, flows, routing, overflows, witness };
        let category = wire.is_none().then_some(category);
        if egress.sleepers.is_empty() || !egress.keeps_arriving(category, &waiting, &mut accounts.dropping()) {
            egress.offer(*now, port, category, waiting, first, &mut accounts.dropping());
        }
        if egress.has_moved() {
            self.pull_all(node);
        }
        if let Some(wire) = wire {
            self.transmit(wire, None);
        }
    }

    /// Lets a node overhear the packets of a frame for another node.
    pub(crate) fn overhear(&mut self, node: NodeId, first: Handle) {
        let mut next = Some(first);
        while let Some(handle) = next {
            next = self.packets.get(handle).transit.next;
            self.tell(node, |found, desk| found.overhear(handle, desk));
        }
    }

    /// Handles a packet that a node's MAC has given up. The routing protocol takes this as a broken link.
    pub(crate) fn link_failed(&mut self, node: NodeId, handle: Handle, to: u32) {
        let packet = self.packets.get(handle);
        let Routing::Found(found) = &mut self.routing else { return self.accounts(node).drop_sent(handle) };
        let news = found.link_fails(node, handle, to);
        let (kept, purges) = match packet.load {
            Load::Routing { message, .. } => {
                let purges = self.tell(node, |found, desk| found.message_failed(message, to, news, desk));
                (false, purges == Some(true))
            }
            Load::Note(_) | Load::Null { .. } => unreachable!("signals end elsewhere"),
            Load::Flow(flow) => {
                let purges = found.purges_for_data();
                // The packet may wait at this node again. A packet that arrived nevertheless is not sent again.
                self.flows[flow].waiting += u32::from(packet.is_fresh());
                let kept = self.send_otherwise(node, (handle, to, !packet.transit.accepted), true);
                if !kept {
                    self.flows[flow].waiting -= u32::from(packet.is_fresh());
                }
                self.tell(node, |found, desk| found.tell_of(news, desk));
                (kept, purges)
            }
        };
        if !kept {
            self.accounts(node).drop_sent(handle);
        }
        if purges {
            self.purge(node, to);
        }
    }

    /// Offers a node a data packet that it could not send, because a link had broken. If this is `news`, the time
    /// series record it. True if the node keeps the packet to send it on another route.
    fn send_otherwise(&mut self, node: NodeId, failed: (Handle, u32, bool), news: bool) -> bool {
        let packet = self.packets.get(failed.0);
        let Load::Flow(flow) = packet.load else { return false };
        if let Some(route) = self.recorder.as_mut().and_then(|recorder| recorder.route(flow)).filter(|_| news) {
            route.fail(self.now);
        }
        let ends = self.flows[flow].ends(None, &packet);
        let kept = self.tell(node, |found, desk| found.packet_failed(failed, &ends, desk)) == Some(true);
        debug_assert!(failed.2 || !kept, "what has arrived is not kept");
        kept
    }

    /// Removes packets that wait for the other end of a broken link.
    pub(crate) fn purge(&mut self, node: NodeId, to: u32) {
        let mut purged = std::mem::take(&mut self.purged);
        let news = matches!(&self.routing, Routing::Found(found) if !found.is_sourced());
        let egress = &mut self.nodes[node].egress;
        egress.discard_where(self.now, &mut |waiting| waiting.to == to, &mut |gone| purged.push(gone.packet));
        for packet in purged.drain(..) {
            if let Load::Routing { message, .. } = self.packets.get(packet).load {
                self.tell(node, |found, desk| found.salvage(message, to, desk));
            } else if self.send_otherwise(node, (packet, to, true), news) {
                continue;
            }
            self.accounts(node).discard(packet, LossCause::Link);
        }
        self.purged = purged;
        self.nodes[node].saturated.numbers().for_each(|port| self.refill(node, port, None));
    }
}
