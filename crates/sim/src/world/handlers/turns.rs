//! The order of age: what a node's frames tell of its packets, and what others make of it.
//!
//! A frame does not carry its key about: whoever hears it looks at what its sender tells, which stays as it is until the
//! sender's next frame, SIFS later at least.

use crate::engine::NodeId;
use crate::mac::{Frame, Key, Kind, Sign, Tells};
use crate::net::{Load, Packet};
use crate::world::state::{Node, World};

impl World {
    /// A node begins to send a frame: it tells the oldest packet that the node has to send, or will have once the frame has
    /// arrived (R5).
    #[inline(never)]
    pub(super) fn tell_key(&mut self, node: NodeId, frame: &Frame) {
        let tells = match frame.kind {
            Kind::Rts | Kind::Cts | Kind::Grant | Kind::BlockAckReq { .. } => Tells::Nothing,
            Kind::Ack | Kind::BlockAck { .. } | Kind::Request { .. } => self.oldest(node, 0).into(),
            Kind::Data { .. } => self.oldest(node, 1).into(),
            Kind::Aggregate { frames, .. } => self.oldest(node, frames.into()).into(),
        };
        self.nodes[node].station.tell(tells);
    }

    /// A node hears a frame: what it tells, and if it asks the node for a grant, that too.
    #[inline(never)]
    pub(super) fn hear_key(&mut self, node: NodeId, frame: &Frame, power: u64) {
        let own = self.oldest(node, 0);
        let Some(sender) = self.nodes[NodeId::from(frame.from)].station.turns() else { return };
        let (tells, place) = (sender.tells(), sender.place_of(node.into()));
        let sign = match frame.kind {
            Kind::Data { .. } | Kind::Aggregate { .. } => Sign::Sends,
            Kind::Request { .. } => Sign::Asks,
            Kind::Rts | Kind::Cts | Kind::Ack | Kind::BlockAckReq { .. } | Kind::BlockAck { .. } | Kind::Grant => {
                Sign::Responds
            }
        };
        let station = &mut self.nodes[node].station;
        station.hear_key(self.now, frame.from, tells, sign, power);
        if let (Sign::Asks, Tells::Next(key), Some(place)) = (sign, tells, place) {
            station.consider(self.now, frame, key, own, place, &self.rules);
        }
    }

    /// The turn of a node may have come, or gone.
    #[inline(never)]
    pub(super) fn take_turn(&mut self, node: NodeId) {
        let own = self.oldest(node, 0);
        self.nodes[node].station.take_turn(self.now, own, &self.rules);
    }

    /// The key of the oldest packet that a node has to send by radio, with its MAC or next in its queues, but for the first
    /// `without` frames of the exchange that goes on.
    fn oldest(&mut self, node: NodeId, without: usize) -> Option<Key> {
        let held = self.nodes[node].station.mpdus_but(without).filter_map(|mpdu| key(&self.packets.get(mpdu.packet)));
        let held = held.min();
        let now = self.now;
        let mut waiting = None;
        let mut filled = self.nodes[node].egress.filled();
        while filled != 0 {
            let category = u8::try_from(filled.trailing_zeros()).expect("a byte has eight bits");
            filled &= filled - 1;
            let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
            let next = egress.peek_next(now, category, &mut accounts.dropping());
            let next = next.and_then(|next| key(&self.packets.get(next.packet)));
            waiting = [waiting, next].into_iter().flatten().min();
        }
        [held, waiting].into_iter().flatten().min()
    }
}

/// The key of a packet: routing messages and notes have none.
fn key(packet: &Packet) -> Option<Key> {
    match packet.load {
        Load::Flow(flow) => Some(Key { stamp: packet.created, origin: flow.into(), serial: packet.serial }),
        Load::Routing { .. } | Load::Note(_) => None,
    }
}
