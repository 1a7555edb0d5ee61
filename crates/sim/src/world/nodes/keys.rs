//! T-MAC: which packet ages (keys) a node's frames report, and how a node handles the keys of other nodes.
//!
//! In the model frames carry no keys. A listener reads the key from the frame's sender, where it stays until the
//! sender's next frame, at least SIFS later.

use super::Node;
use crate::mac::{Conventions, Frame, Key, Kind, Sign, Tells};
use crate::net::{Load, Packet};
use crate::world::accounts::Accounts;

impl Node {
    /// Sets the key that the node's frame reports: that of the oldest packet to send now or after the frame (R5).
    #[inline(never)]
    pub(crate) fn tell_key(&mut self, frame: &Frame, accounts: &mut Accounts) {
        let tells = match frame.kind {
            Kind::Ack | Kind::BlockAck { .. } | Kind::Request { .. } => self.oldest(0, accounts).into(),
            Kind::Data { .. } => self.oldest(1, accounts).into(),
            Kind::Aggregate { frames, .. } => self.oldest(frames.into(), accounts).into(),
            _ => Tells::Nothing,
        };
        if let Some(tmac) = &mut self.station.tmac {
            tmac.tells = tells;
        }
    }

    /// Returns the key that the node's last frame reported, and the listener's index among the stations that it asked.
    pub(crate) fn told(&self, listener: u32) -> Option<(Tells, Option<usize>)> {
        self.station.tmac.as_ref().map(|tmac| (tmac.tells, tmac.place_of(listener)))
    }

    /// Handles a frame that was heard: the key that its sender has [told](Self::told), and a request for a grant.
    #[inline(never)]
    pub(crate) fn hear_key(
        &mut self,
        frame: &Frame,
        power: u64,
        (tells, place): (Tells, Option<usize>),
        rules: &Conventions,
        accounts: &mut Accounts,
    ) {
        let (now, own) = (accounts.witness.now, self.oldest(0, accounts));
        let sign = match frame.kind {
            Kind::Data { .. } | Kind::Aggregate { .. } => Sign::Sends,
            Kind::Request { .. } => Sign::Asks,
            Kind::Rts | Kind::Cts | Kind::Ack | Kind::BlockAckReq { .. } | Kind::BlockAck { .. } | Kind::Grant => {
                Sign::Responds
            }
            _ => return,
        };
        if let Some(tmac) = &mut self.station.tmac {
            tmac.hear_key(now, frame.from, tells, sign, power);
        }
        if let (Sign::Asks, Tells::Next(key), Some(place)) = (sign, tells, place) {
            self.station.consider(now, frame, key, own, place, rules);
        }
    }

    /// Updates whether the node may send now.
    #[inline(never)]
    pub(crate) fn take_turn(&mut self, rules: &Conventions, accounts: &mut Accounts) {
        let own = self.oldest(0, accounts);
        self.station.take_turn(accounts.witness.now, own, rules);
    }

    /// Returns the key of the oldest packet that the node has to send by radio. Such packets are with its MAC or next
    /// in its queues. The first `without` frames of the present exchange do not count.
    fn oldest(&mut self, without: usize, accounts: &mut Accounts) -> Option<Key> {
        let Self { station, egress, .. } = self;
        let mut oldest =
            station.held.mpdus_but(without).filter_map(|mpdu| key(&accounts.packets.get(mpdu.packet))).min();
        let mut filled = egress.filled;
        while filled != 0 {
            let category = u8::try_from(filled.trailing_zeros()).expect("a byte has eight bits");
            filled &= filled - 1;
            let next = egress.peek_next(accounts.witness.now, category, &mut accounts.dropping());
            let next = next.and_then(|next| key(&accounts.packets.get(next.packet)));
            oldest = [oldest, next].into_iter().flatten().min();
        }
        oldest
    }
}

/// Returns the key of a packet. Routing messages and notes have no key.
fn key(packet: &Packet) -> Option<Key> {
    match packet.load {
        Load::Flow(flow) => Some(Key { stamp: packet.created, origin: flow.into(), serial: packet.serial }),
        Load::Routing { .. } | Load::Note(_) | Load::Null { .. } => None,
    }
}
