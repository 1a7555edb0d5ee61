//! Power save of stations (IEEE 802.11-2016, 11.2.3), as Linux and phones do it.
//!
//! A station that has had nothing to send or to receive for some time tells its access point so by a null frame, and
//! sleeps (`net/mac80211/mlme.c`, dynamic power save). It wakes for beacons. If one says that packets wait for it, it sends
//! another null frame, gets them, and sleeps again after the same time. A packet to send wakes it at once, and tells the
//! access point that it is awake. Null frames contend in the highest category, like data frames; beacons take no airtime
//! and are always heard. While it sleeps a station's radio senses the medium as before: it is only sent nothing.

use super::nodes::Node;
use super::state::{Event, World};
use crate::config::{self, Dscp};
use crate::egress::Taken;
use crate::engine::{Handle, NodeId};
use crate::mac::{Frame, Kind, Msdu};
use crate::net::{Load, Packet, Waiting};
use queue::Ecn;
use units::{Bytes, Duration, Instant};

/// Time after which a station that could not say that it sleeps tries again.
const AGAIN: Duration = Duration::from_millis(10);

/// Power save of a station.
#[derive(Debug)]
pub(crate) struct PowerSave {
    rules: config::PowerSave,
    access_point: NodeId,
    state: State,
    /// When it last had a packet to send or received one.
    active: Instant,
    /// When its next event comes; others are stale.
    due: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Awake,
    /// It says that it sleeps from now on; `sent`: since it began to, it had something to send.
    Leaving {
        sent: bool,
    },
    Asleep,
}

impl PowerSave {
    /// Of a station that is awake.
    pub(crate) fn new(rules: config::PowerSave, access_point: NodeId) -> Self {
        Self { rules, access_point, state: State::Awake, active: Instant::ZERO, due: Instant::NEVER }
    }

    /// When it will have been idle for long.
    fn idle_at(&self) -> Instant {
        self.active + self.rules.idle_timeout.get()
    }

    /// The next beacon that it wakes for.
    fn beacon_after(&self, now: Instant) -> Instant {
        let every = self.rules.listen_interval.get();
        Instant::ZERO + every * (now.since(Instant::ZERO).div_floor(every) + 1)
    }
}

impl World {
    /// Begins power save where stations have it.
    pub(super) fn begin_power_save(&mut self) {
        for node in self.nodes.numbers() {
            if let Some(idle_at) = self.nodes[node].power_save.as_ref().map(|power| power.idle_at()) {
                self.arm_power_save(node, idle_at);
            }
        }
    }

    fn arm_power_save(&mut self, node: NodeId, at: Instant) {
        if let Some(power) = &mut self.nodes[node].power_save {
            power.due = at;
            self.events.push(at, Event::PowerSave { node });
        }
    }

    /// Handles a `PowerSave` event of a station.
    pub(super) fn power_save_due(&mut self, node: NodeId) {
        let Node { power_save: Some(power), egress, station, .. } = &mut self.nodes[node] else { return };
        if power.due != self.now {
            return;
        }
        power.due = Instant::NEVER;
        let busy = egress.waiting() > 0 || station.mpdus().next().is_some();
        if busy {
            power.active = self.now;
        }
        let (state, idle_at, beacon_at) = (power.state, power.idle_at(), power.beacon_after(self.now));
        match state {
            State::Leaving { .. } => {}
            State::Awake if busy => self.arm_power_save(node, idle_at),
            _ if self.is_waited_for(node) => {
                self.wake(node);
                self.announce(node, false);
            }
            State::Asleep => self.arm_power_save(node, beacon_at),
            State::Awake if idle_at > self.now => self.arm_power_save(node, idle_at),
            State::Awake => {
                self.set_power_state(node, State::Leaving { sent: false });
                self.announce(node, true);
            }
        }
    }

    /// What a beacon tells a station: does its access point, which takes it to be asleep, have packets for it?
    fn is_waited_for(&self, node: NodeId) -> bool {
        let Some(power) = &self.nodes[node].power_save else { return false };
        let Node { egress, station, .. } = &self.nodes[power.access_point];
        let address = u32::from(node);
        egress.is_asleep(address) && (egress.holds_for(address) || station.held.held_for(address).next().is_some())
    }

    fn set_power_state(&mut self, node: NodeId, state: State) {
        let Node { power_save, energy, .. } = &mut self.nodes[node];
        if let Some(power) = power_save {
            power.state = state;
        }
        if let Some(energy) = energy {
            energy.sleeps(self.now, self.medium.busy_from_start(node.into(), self.now), state == State::Asleep);
        }
    }

    /// A station is awake, and will be for as long as it may be idle.
    fn wake(&mut self, node: NodeId) {
        self.set_power_state(node, State::Awake);
        let now = self.now;
        if let Some(power) = &mut self.nodes[node].power_save {
            power.active = now;
            let idle_at = power.idle_at();
            self.arm_power_save(node, idle_at);
        }
    }

    /// Tells the access point of a station whether it sleeps from now on.
    fn announce(&mut self, node: NodeId, sleeps: bool) {
        let Some(power) = &self.nodes[node].power_save else { return };
        let (to, created) = (u32::from(power.access_point), self.now);
        let (length, dscp) = (Bytes::new(0), Dscp::SIGNALLING);
        self.posted.ledger.made += 1;
        let packet = Packet { ttl: 1, dscp, ..Packet::new(Load::Null { sleeps }, created, length) };
        let packet = self.packets.insert(packet);
        let signal = Waiting { packet, to, length, flow: u32::MAX, dscp, ecn: Ecn::NotEct, created };
        self.nodes[node].egress.post(signal);
        self.serve(node);
    }

    /// The MAC of a station is done with a null frame.
    pub(super) fn told(&mut self, node: NodeId, handle: Handle, delivered: bool) {
        let packet = self.packets.remove(handle);
        self.posted.ledger.lost += u64::from(!packet.transit.accepted);
        let Node { power_save: Some(power), egress, station, .. } = &mut self.nodes[node] else { return };
        let (Load::Null { sleeps: true }, State::Leaving { sent }) = (packet.load, power.state) else { return };
        let beacon_at = power.beacon_after(self.now);
        let busy = egress.waiting() > 0 || station.mpdus().next().is_some();
        match (delivered, sent || busy) {
            (true, false) => {
                self.set_power_state(node, State::Asleep);
                self.arm_power_save(node, beacon_at);
            }
            (true, true) => {
                self.wake(node);
                // What it sends next tells so, too.
                if !busy {
                    self.announce(node, false);
                }
            }
            (false, _) => {
                self.set_power_state(node, State::Awake);
                self.arm_power_save(node, self.now + AGAIN);
            }
        }
    }

    /// A packet that the MAC of a station takes wakes it. Returns the packet's length: a null frame has no LLC header either.
    #[cold]
    pub(super) fn rouse(&mut self, node: NodeId, msdu: &Msdu) -> Bytes {
        let load = self.packets.get(msdu.packet).load;
        if let (false, Some(power)) = (load.is_signal(), &mut self.nodes[node].power_save) {
            power.active = self.now;
            match power.state {
                State::Awake => {}
                State::Leaving { .. } => power.state = State::Leaving { sent: true },
                State::Asleep => self.wake(node),
            }
        }
        if matches!(load, Load::Null { .. }) { Bytes::new(0) } else { msdu.length }
    }

    /// A node has received a data frame for it: a station that can sleep is active, and an access point learns whether the
    /// sender sleeps from now on (the power management bit).
    #[inline(never)]
    pub(super) fn hear_power_state(&mut self, node: NodeId, frame: &Frame) {
        let now = self.now;
        if let Some(power) = &mut self.nodes[node].power_save {
            debug_assert_ne!(power.state, State::Asleep, "nothing is sent to a station that sleeps");
            power.active = now;
            return;
        }
        let is_asleep = self.nodes[node].egress.is_asleep(frame.from);
        let sleeps = |packet| matches!(self.packets.get(packet).load, Load::Null { sleeps: true });
        let sleeps = matches!(frame.kind, Kind::Data { packet, .. } if sleeps(packet));
        match (is_asleep, sleeps) {
            (false, true) => self.suspend(node, frame.from),
            (true, false) => {
                let (Node { egress, station, .. }, _, mut accounts) = self.node_and_accounts(node);
                station.held.restore(frame.from);
                egress.wakes(now, frame.from, &mut accounts.dropping());
            }
            (true, true) | (false, false) => {}
        }
    }

    /// A station of an access point sleeps: the frames for it that the MAC holds wait, and count as in flight no longer.
    fn suspend(&mut self, node: NodeId, to: u32) {
        let Self { nodes, packets, now, .. } = self;
        let Node { egress, station, .. } = &mut nodes[node];
        egress.falls_asleep(to);
        station.suspend(to);
        for (category, mpdu) in station.held.held_for(to) {
            let mut next = Some(mpdu.packet);
            while let Some(handle) = next {
                let Packet { transit, dscp, .. } = packets.get_mut(handle);
                let (expected, load) = (std::mem::take(&mut transit.expected), std::mem::take(&mut transit.load));
                egress.relieve(*now, egress.port_to(to, category, dscp.class()), to, expected, load);
                next = transit.next;
            }
        }
    }

    /// Keeps a packet that has left its port for a station that sleeps. Until it goes on it counts as waiting there.
    #[cold]
    pub(super) fn keep_asleep(&mut self, node: NodeId, category: u8, taken: Taken) {
        if taken.left.is_none() {
            let packet = self.packets.get(taken.packet.packet);
            if let Load::Flow(flow) = packet.load {
                self.flows[flow].waiting += u32::from(packet.is_fresh());
            }
        }
        let now = self.now;
        let (Node { egress, .. }, _, mut accounts) = self.node_and_accounts(node);
        egress.keep(now, category, taken, &mut accounts.dropping());
    }
}
