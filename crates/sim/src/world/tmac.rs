//! T-MAC in a network: its parameters, and the ages of packets that frames announce.
//!
//! Frames do not carry keys in the model: a listener reads the key from the frame's sender, where it stays until the
//! sender's next frame, at least SIFS later.

use super::error::BuildError;
use super::nodes::Node;
use super::state::World;
use crate::config::{Network, TurnsVariant};
use crate::engine::NodeId;
use crate::mac::{Conventions, Frame, KEY, Key, Kind, Sign, Tells, TmacRules};
use crate::net::{Load, Packet, msdu_bytes, network_bytes};
use units::{Bytes, Duration};

/// Sets T-MAC's rules if the network uses it; frames then have a key field.
pub(super) fn set_rules(network: &Network, rules: &mut Conventions) -> Result<(), BuildError> {
    let Some(given) = &network.mac.turns else { return Ok(()) };
    let refusal = |key: &str, message: &str| Err(BuildError::new(format!("mac.turns.{key}"), message));
    if !(0.0..=1.0).contains(&given.quorum) {
        return refusal("quorum", "`quorum` is a part of those asked: 0 to 1");
    }
    if given.attempts == 0 {
        return refusal("attempts", "`attempts` counts requests: 1 to 255");
    }
    if given.neighbours == 0 || given.neighbours > 8 {
        return refusal("neighbours", "a request asks 1 to 8 stations");
    }
    rules.key = KEY;
    rules.timing.lengthen_responses(KEY);
    let exchange = exchange(network, rules);
    let requests = given.variant == TurnsVariant::Requests;
    let of_requests = ["turns.quorum", "turns.request_wait", "turns.activity", "turns.neighbours"];
    network.mac.marks.read_where(&[(requests, &of_requests)]);
    rules.tmac = Some(TmacRules {
        requests,
        quorum: given.quorum,
        attempts: given.attempts,
        request_wait: given.request_wait.unwrap_or(exchange * 2),
        deferral: given.deferral.unwrap_or(exchange),
        expiry: given.expiry.unwrap_or(exchange * 10),
        activity: given.activity,
        neighbours: given.neighbours.into(),
    });
    Ok(())
}

/// Duration of the longest frame exchange: of an aggregate, or of a packet of 1500 B at the network's rate.
fn exchange(network: &Network, rules: &Conventions) -> Duration {
    let timing = &rules.timing;
    if rules.block_ack() {
        let block_ack = rules.block_ack_duration(timing.basic, &rules.agreements[rules.newest as usize]);
        return rules.aggregation.duration + timing.sifs + block_ack + timing.difs;
    }
    // A rate that is refused is refused where nodes are built.
    let mode = network.radio.data_mode().unwrap_or(timing.basic);
    let psdu = rules.mpdu(msdu_bytes(network_bytes(Bytes::new(1_472))));
    timing.duration(mode, psdu) + timing.sifs + timing.responses(mode).ack + timing.difs
}

impl World {
    /// Sets the key that a frame tells: that of the oldest packet that its sender has to send, or will have once the
    /// frame has arrived (R5).
    #[inline(never)]
    pub(super) fn tell_key(&mut self, node: NodeId, frame: &Frame) {
        let tells = match frame.kind {
            Kind::Rts
            | Kind::Cts
            | Kind::SharedCts
            | Kind::Grant
            | Kind::BlockAckReq { .. }
            | Kind::MultiUser { .. }
            | Kind::Trigger { .. }
            | Kind::Triggered { .. }
            | Kind::MultiBlockAck { .. } => Tells::Nothing,
            Kind::Ack | Kind::BlockAck { .. } | Kind::Request { .. } => self.oldest(node, 0).into(),
            Kind::Data { .. } => self.oldest(node, 1).into(),
            Kind::Aggregate { frames, .. } => self.oldest(node, frames.into()).into(),
        };
        if let Some(tmac) = &mut self.nodes[node].station.tmac {
            tmac.tell(tells);
        }
    }

    /// Handles a frame heard by a node: its key, and a request for a grant.
    #[inline(never)]
    pub(super) fn hear_key(&mut self, node: NodeId, frame: &Frame, power: u64) {
        let own = self.oldest(node, 0);
        let Some(sender) = &self.nodes[NodeId::from(frame.from)].station.tmac else { return };
        let (tells, place) = (sender.tells(), sender.place_of(node.into()));
        let sign = match frame.kind {
            Kind::Data { .. } | Kind::Aggregate { .. } => Sign::Sends,
            Kind::Request { .. } => Sign::Asks,
            Kind::Rts | Kind::Cts | Kind::Ack | Kind::BlockAckReq { .. } | Kind::BlockAck { .. } | Kind::Grant => {
                Sign::Responds
            }
            Kind::MultiUser { .. }
            | Kind::Trigger { .. }
            | Kind::Triggered { .. }
            | Kind::MultiBlockAck { .. }
            | Kind::SharedCts => return,
        };
        let station = &mut self.nodes[node].station;
        if let Some(tmac) = &mut station.tmac {
            tmac.hear_key(self.now, frame.from, tells, sign, power);
        }
        if let (Sign::Asks, Tells::Next(key), Some(place)) = (sign, tells, place) {
            station.consider(self.now, frame, key, own, place, &self.rules);
        }
    }

    /// Updates whether it is a node's turn.
    #[inline(never)]
    pub(super) fn take_turn(&mut self, node: NodeId) {
        let own = self.oldest(node, 0);
        self.nodes[node].station.take_turn(self.now, own, &self.rules);
    }

    /// Key of the oldest packet that a node has to send by radio, with its MAC or next in its queues, except for the
    /// first `without` frames of the present exchange.
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

/// Key of a packet; routing messages and notes have none.
fn key(packet: &Packet) -> Option<Key> {
    match packet.load {
        Load::Flow(flow) => Some(Key { stamp: packet.created, origin: flow.into(), serial: packet.serial }),
        Load::Routing { .. } | Load::Note(_) | Load::Null { .. } => None,
    }
}
