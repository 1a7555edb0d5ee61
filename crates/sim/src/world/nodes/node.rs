//! A node: its station, its egress, and its own records.

use crate::config::Class;
use crate::egress::{Egress, Taken};
use crate::engine::{Arena, EventQueue, FlowId, Handle, List, NodeId, Number as _, PortId};
use crate::mac::{Conventions, Finished, Frame, Kind, QUEUE_MOST, Station};
use crate::net::{Load, Packet, Waiting, msdu_bytes};
use crate::record::{Gauge, NodeRecord, Recorder};
use crate::world::accounts::Accounts;
use crate::world::energy::EnergyAccount;
use crate::world::event::Event;
use crate::world::notes::{Notes, Posted};
use crate::world::power_save::PowerSave;
use control::{Note, Orders, Radio, Reads, Sets};
use queue::Completion;
use units::{Bytes, Duration, Instant, Rate};

/// Longest delimiter and padding of an MPDU in an A-MPDU.
const AROUND: u64 = 4 + 3;

/// A node: its station, its egress, and its records.
#[repr(C)] // what each frame of others reads comes first
pub(crate) struct Node {
    /// Time at which the earliest pending `Deadline` event of the station fires; later events are stale.
    pub(crate) armed: Instant,
    /// Radio statistics, for controllers that use them.
    pub(crate) gauge: Option<Box<Gauge>>,
    pub(crate) egress: Egress,
    pub(crate) station: Station,
    pub(crate) name: String,
    pub(crate) access_point: bool,
    /// True if the node is absent: it has not come yet, or has gone.
    pub(crate) absent: bool,
    /// By port: active saturated flows that begin there, with their payload. A packet that leaves is replaced at once;
    /// a discarded one is replaced when the next packet leaves.
    pub(crate) saturated: List<PortId, Vec<(FlowId, Bytes)>>,
    /// By port: time at which the earliest pending `Ready` event fires; later events are stale.
    pub(crate) ready: List<PortId, Instant>,
    /// Number of ports of the nodes before this node.
    pub(crate) ports_before: usize,
    pub(crate) record: NodeRecord,
    /// Energy account, if energy is counted.
    pub(crate) energy: Option<Box<EnergyAccount>>,
    /// Notes, if a controller orders or reads them.
    pub(crate) neighbours: Option<Box<Notes>>,
    pub(crate) power_save: Option<Box<PowerSave>>,
    /// The access point of a station.
    pub(crate) own_access_point: Option<u32>,
}

impl Node {
    /// Returns the station's deadline, if no pending event of it is as early; the caller then schedules an event.
    #[inline]
    pub(crate) fn newly_due(&mut self) -> Option<Instant> {
        let deadline = self.station.deadline;
        (deadline < self.armed).then(|| {
            self.armed = deadline;
            deadline
        })
    }

    /// Ensures an event at the time at which a port may release its next packet. `node`: its own number.
    pub(crate) fn arm_port(&mut self, node: NodeId, port: PortId, at: Instant, events: &mut EventQueue<Event>) {
        let armed = &mut self.ready[port];
        if at < *armed {
            *armed = at;
            events.push(at, Event::Ready { node, port });
        }
    }

    /// Handles an event of a port: true if it may release packets now.
    pub(crate) fn is_ready(&mut self, port: PortId, now: Instant) -> bool {
        let armed = &mut self.ready[port];
        debug_assert!(*armed >= now, "an event comes at its time");
        let is_ready = *armed == now;
        if is_ready {
            *armed = Instant::NEVER;
        }
        is_ready
    }

    /// Reports packets of a port with which the MAC or a wired link is done. `expected`: the airtime of each packet;
    /// for packets of a hardware queue also their receiver, their total load, and whether they arrived.
    pub(crate) fn completed(
        &mut self,
        now: Instant,
        port: PortId,
        completion: &Completion,
        (expected, to, load, delivered): (Duration, u32, u64, bool),
        recorder: &mut Option<Recorder>,
    ) {
        debug_assert!(completion.packets > 0, "a report is of packets");
        self.egress.completed(now, port, completion, expected, (to, load, delivered));
        if let Some(recorder) = recorder {
            recorder.completed(self.ports_before + port.place(), completion);
        }
    }

    /// Records the start of a frame and its duration in the node's measurements.
    pub(crate) fn measure_sent(&mut self, now: Instant, frame: &Frame, lasts: Duration) {
        if let Some(gauge) = &mut self.gauge {
            gauge.sends_frame(now, frame, lasts);
        }
        if let Some(energy) = &mut self.energy {
            energy.sends(now, frame, lasts);
        }
    }

    /// Records that the MAC is done with a packet, `service` after it got the packet. `busy`, in all functions: busy
    /// time of the medium since the start of the run.
    pub(crate) fn measure_finished(
        &mut self,
        now: Instant,
        busy: impl FnOnce() -> Duration,
        packet: &Packet,
        finished: Finished,
        service: Duration,
    ) {
        if let Some(gauge) = &mut self.gauge {
            gauge.ends(packet, finished, service);
        }
        if let Some(energy) = &mut self.energy {
            energy.finishes(now, busy(), service);
        }
    }

    /// Chooses the transmission level of the packet that the MAC got.
    pub(crate) fn choose_level(&mut self, now: Instant, busy: impl FnOnce() -> Duration) {
        let Some(energy) = &mut self.energy else { return };
        // A node with two levels has one queue for packets by radio.
        let packets = self.egress.ports[PortId::at(0)].queue.backlog().packets + 1;
        if let Some(is_low) = energy.chooses(now, busy(), packets) {
            self.station.rates.level = is_low.into();
        }
    }

    /// Radio measurements since the controller of this port last read them; none if the controller reads none.
    pub(crate) fn seen_by_radio(
        &mut self,
        port: PortId,
        now: Instant,
        busy: impl FnOnce() -> Duration,
        rules: &Conventions,
    ) -> Option<Radio> {
        let Self { station, egress, gauge, energy, .. } = self;
        let gauge = gauge.as_mut()?;
        let radio = gauge.read(port, now, busy())?;
        let aggregate_max = station.largest_frame(egress.layout.category(port), gauge.mode, rules);
        let tells = egress.ports[port].needs().reads.contains(Reads::LEVELS);
        let levels = energy.as_mut().filter(|_| tells).map(|account| account.tell()).unwrap_or_default();
        Some(Radio { aggregate_max, aggregate_mpdus_max: rules.aggregation.most_mpdus(), levels, ..radio })
    }

    /// Carries out the orders of a port's controller that concern the whole node. Returns the time at which a note is
    /// due, if a note is ordered.
    pub(crate) fn obey(&mut self, port: PortId, orders: &Orders, now: Instant, rules: &Conventions) -> Option<Instant> {
        if self.egress.ports[port].needs().sets.contains(Sets::ACCESS) {
            self.order_access(port, orders, rules);
        }
        // Queues of wires give no orders to the radio: they would reset its threshold.
        if let Some(energy) = &mut self.energy
            && self.egress.ports[port].needs().sets.contains(Sets::LEVEL)
        {
            energy.order(now, orders.low_up_to);
        }
        let notes = self.neighbours.as_mut()?;
        notes.order(now, orders.note.as_ref()?)
    }

    /// Posts the node's note, which is due, and returns it: see [`Posted::tell`].
    pub(crate) fn tell(&mut self, now: Instant, posted: &mut Posted, packets: &mut Arena<Packet>) -> Option<Note> {
        let notes = self.neighbours.as_mut()?;
        posted.tell(now, (notes, &mut self.egress, &mut self.station), packets)
    }

    /// Sets the contention parameters of a port's category as its controller orders.
    pub(crate) fn order_access(&mut self, port: PortId, orders: &Orders, rules: &Conventions) {
        let category = self.egress.layout.category(port);
        self.station.contention.set_access(category, |configured| rules.ordered(configured, orders.access));
    }

    /// Sets the contention window of a category whose scheduler asks for another window.
    pub(crate) fn set_window(&mut self, rules: &Conventions) {
        if rules.edca()
            && let Some((category, window)) = self.egress.window()
        {
            self.station.contention.set_access(category, |configured| configured.with_window(window));
        }
    }

    /// Continues with the frames that a category holds after an exchange, for the next receiver. False if a waiting
    /// packet is next, for which the category is then free.
    pub(crate) fn resume_in_turn(
        &mut self,
        category: u8,
        now: Instant,
        packets: &Arena<Packet>,
        rules: &Conventions,
    ) -> bool {
        let Self { egress, station, .. } = self;
        // A BlockAckReq may be all that is left for a receiver. With service classes there is none.
        let class =
            |packet: Option<Handle>| packet.map_or(Class::BestEffort, |packet| packets.get(packet).dscp.class());
        let turn = egress.turn(now, category, station.held.receivers(category).map(|(to, packet)| (to, class(packet))));
        match turn {
            Some(to) => station.resume(now, category, to, rules),
            None => station.set_aside(category),
        }
        turn.is_some()
    }

    /// Handles a category of which no packet may leave now: its discipline may have dropped all, or they are held back.
    pub(crate) fn hands_over_later(
        &mut self,
        node: NodeId,
        category: u8,
        (now, packets): (Instant, &Arena<Packet>),
        rules: &Conventions,
        events: &mut EventQueue<Event>,
    ) {
        if self.station.held.has_aside(category) {
            self.resume_in_turn(category, now, packets, rules);
        }
        if let Some((port, at)) = self.egress.ready_at(category) {
            self.arm_port(node, port, at, events);
        }
    }

    /// Returns receiver and frame length of the next packet of a category; none if retransmitted frames may be next.
    pub(crate) fn ahead(&mut self, category: u8, rules: &Conventions, accounts: &mut Accounts) -> Option<(u32, Bytes)> {
        if self.station.held.has_aside(category) {
            return None;
        }
        let now = accounts.witness.now;
        let Waiting { to, length, .. } = self.egress.peek_next(now, category, &mut accounts.dropping())?;
        Some((to, rules.mpdu(msdu_bytes(length))))
    }

    /// Returns the rate that the node can still admit: the least that its queues' controllers report; unlimited if none
    /// reports a rate.
    pub(crate) fn available(&self) -> Rate {
        self.egress.ports.iter().filter_map(|port| port.controller.available()).min().unwrap_or(Rate::bps(u64::MAX))
    }

    /// Size of the node's queue for a receiver and category, with headers: the receiver needs it in an A-MPDU.
    pub(crate) fn queued(&self, to: u32, category: u8, rules: &Conventions) -> Bytes {
        let Self { station, egress, saturated, .. } = self;
        if !saturated[egress.layout.port(to, category, Class::BestEffort)].is_empty() {
            // The next packet is made when one leaves.
            return QUEUE_MOST;
        }
        let (packets, bytes) = egress.waiting_for(to, category);
        let each = rules.mpdu(msdu_bytes(Bytes::new(0))).count() + AROUND;
        Bytes::new(packets * each) + bytes + station.held.waiting_for(to, category)
    }

    /// True if the node has packets to send.
    pub(crate) fn has_packets(&self) -> bool {
        self.egress.waiting() > 0 || self.station.held.mpdus().next().is_some()
    }

    /// True if packets wait at this node for a station that is believed to be asleep.
    pub(crate) fn keeps_for(&self, station: u32) -> bool {
        let held = || self.egress.holds_for(station) || self.station.held.held_for(station).next().is_some();
        self.egress.is_asleep(station) && held()
    }

    /// Handles a received data frame for this node: a station that can sleep counts as active, and an access point
    /// learns whether the sender sleeps from now on (the power management bit).
    #[inline(never)]
    pub(crate) fn hear_power_state(&mut self, frame: &Frame, accounts: &mut Accounts) {
        let now = accounts.witness.now;
        if let Some(power) = &mut self.power_save {
            return power.receives(now);
        }
        let is_asleep = self.egress.is_asleep(frame.from);
        let sleeps = |packet| matches!(accounts.packets.get(packet).load, Load::Null { sleeps: true });
        let sleeps = matches!(frame.kind, Kind::Data { packet, .. } if sleeps(packet));
        match (is_asleep, sleeps) {
            (false, true) => self.suspend(frame.from, now, accounts.packets),
            (true, false) => {
                self.station.held.restore(frame.from);
                self.egress.wakes(now, frame.from, &mut accounts.dropping());
            }
            (true, true) | (false, false) => {}
        }
        debug_assert!(sleeps || !self.egress.is_asleep(frame.from), "only one that said so is taken to be asleep");
    }

    /// Suspends the frames that the MAC holds for a sleeping station of this access point: they are not in flight.
    fn suspend(&mut self, to: u32, now: Instant, packets: &mut Arena<Packet>) {
        let Self { egress, station, .. } = self;
        egress.sleepers.set_asleep(to, true);
        station.suspend(to);
        for (category, mpdu) in station.held.held_for(to) {
            let mut next = Some(mpdu.packet);
            while let Some(handle) = next {
                let Packet { transit, dscp, .. } = packets.get_mut(handle);
                let (expected, load) = (std::mem::take(&mut transit.expected), std::mem::take(&mut transit.load));
                egress.relieve(now, egress.layout.port(to, category, dscp.class()), expected, (to, load.into(), false));
                next = transit.next;
            }
        }
    }

    /// Buffers a packet that has left its port for a sleeping station. The packet counts as waiting until it moves on.
    #[cold]
    pub(crate) fn keep_asleep(&mut self, category: u8, taken: Taken, accounts: &mut Accounts) {
        debug_assert!(self.egress.is_asleep(taken.packet.to), "nothing is kept from a station that is awake");
        if taken.left.is_none() {
            let packet = accounts.packets.get(taken.packet.packet);
            if let Load::Flow(flow) = packet.load {
                accounts.flows[flow].waiting += u32::from(packet.is_fresh());
            }
        }
        self.egress.keep(accounts.witness.now, category, taken, &mut accounts.dropping());
    }
}

/// Returns the name of a port among its node's ports.
pub(crate) fn port_name(nodes: &List<NodeId, Node>, node: &Node, port: PortId, rules: &Conventions) -> String {
    node.egress.layout.name(port, rules, |other| &nodes[other.into()].name)
}

/// Names of the ports of all nodes, in order: the node's name if it has one radio port.
pub(crate) fn port_names(nodes: &List<NodeId, Node>, rules: &Conventions) -> Vec<String> {
    let names = |node: &Node| {
        let only = node.egress.layout.radio_ports() == 1;
        let name = |port: PortId| match port.place() {
            0 if only => node.name.clone(),
            _ => format!("{} {}", node.name, port_name(nodes, node, port, rules)),
        };
        node.egress.ports.numbers().map(name).collect::<Vec<_>>()
    };
    nodes.iter().flat_map(names).collect()
}
