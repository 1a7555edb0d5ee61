//! A node: its station (MAC), its egress (queues), and its own records.

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

/// Largest length of delimiter and padding around an MPDU in an A-MPDU.
const AROUND: u64 = 4 + 3;

/// A node: its station, its egress, and its records.
#[repr(C)] // what each frame of others reads comes first
pub(crate) struct Node {
    /// Time of the station's earliest pending `Deadline` event; later events are ignored.
    pub(crate) armed: Instant,
    /// Radio statistics, for controllers that use them.
    pub(crate) gauge: Option<Box<Gauge>>,
    pub(crate) egress: Egress,
    pub(crate) station: Station,
    pub(crate) name: String,
    pub(crate) access_point: bool,
    /// True if the node is absent: it has not come yet or has left.
    pub(crate) absent: bool,
    /// For each port, the active saturated flows that begin there, with their payload. A packet that leaves is replaced
    /// at once. A discarded packet is replaced when the next one leaves.
    pub(crate) saturated: List<PortId, Vec<(FlowId, Bytes)>>,
    /// For each port, the time of the earliest pending `Ready` event; later events are ignored.
    pub(crate) ready: List<PortId, Instant>,
    /// Number of ports of all nodes before this one.
    pub(crate) ports_before: usize,
    pub(crate) record: NodeRecord,
    /// Count of the node's energy, if energy is counted.
    pub(crate) energy: Option<Box<EnergyAccount>>,
    /// Notes of this node and its neighbours, if a controller orders or reads notes.
    pub(crate) neighbours: Option<Box<Notes>>,
    pub(crate) power_save: Option<Box<PowerSave>>,
    /// Access point of the node if it is a station.
    pub(crate) own_access_point: Option<u32>,
}

impl Node {
    /// Returns the station's deadline if no pending event is as early. The caller then schedules an event.
    #[inline]
    pub(crate) fn newly_due(&mut self) -> Option<Instant> {
        let deadline = self.station.deadline;
        (deadline < self.armed).then(|| {
            self.armed = deadline;
            deadline
        })
    }

    /// Ensures that an event comes when a port may release its next packet. `node`: the node's own number.
    pub(crate) fn arm_port(&mut self, node: NodeId, port: PortId, at: Instant, events: &mut EventQueue<Event>) {
        let armed = &mut self.ready[port];
        if at < *armed {
            *armed = at;
            events.push(at, Event::Ready { node, port });
        }
    }

    /// Handles an event of a port. True if the port may release packets now.
    pub(crate) fn is_ready(&mut self, port: PortId, now: Instant) -> bool {
        let armed = &mut self.ready[port];
        debug_assert!(*armed >= now, "an event comes at its time");
        let is_ready = *armed == now;
        if is_ready {
            *armed = Instant::NEVER;
        }
        is_ready
    }

    /// Reports packets of a port that the MAC or a wired link has finished. `expected`: the airtime of each packet. For
    /// packets of a hardware queue also their receiver, their total load, and whether they arrived.
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

    /// Records in the node's measurements that it begins a frame, and the frame's duration.
    pub(crate) fn measure_sent(&mut self, now: Instant, frame: &Frame, lasts: Duration) {
        if let Some(gauge) = &mut self.gauge {
            gauge.sends_frame(now, frame, lasts);
        }
        if let Some(energy) = &mut self.energy {
            energy.sends(now, frame, lasts);
        }
    }

    /// Records that the MAC has finished a packet that it had for `service`. In all functions, `busy` is the busy time
    /// of the medium since the start of the run.
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

    /// Chooses the transmission level (rate and power) of the packet that the MAC has just got.
    pub(crate) fn choose_level(&mut self, now: Instant, busy: impl FnOnce() -> Duration) {
        let Some(energy) = &mut self.energy else { return };
        // A node with two levels has one queue for all packets sent by radio.
        let packets = self.egress.ports[PortId::at(0)].queue.backlog().packets + 1;
        if let Some(is_low) = energy.chooses(now, busy(), packets) {
            self.station.rates.level = is_low.into();
        }
    }

    /// Returns the radio measurements since this port's controller last read them; `None` if it reads none.
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

    /// Carries out those orders of a port's controller that concern the whole node. If a note is ordered, returns the
    /// time at which it is due.
    pub(crate) fn obey(&mut self, port: PortId, orders: &Orders, now: Instant, rules: &Conventions) -> Option<Instant> {
        if self.egress.ports[port].needs().sets.contains(Sets::ACCESS) {
            self.order_access(port, orders, rules);
        }
        // Ports of wires give no orders to the radio: they would reset its threshold.
        if let Some(energy) = &mut self.energy
            && self.egress.ports[port].needs().sets.contains(Sets::LEVEL)
        {
            energy.order(now, orders.low_up_to);
        }
        let notes = self.neighbours.as_mut()?;
        notes.order(now, orders.note.as_ref()?)
    }

    /// Posts and returns the node's note, which is due: see [`Posted::tell`].
    pub(crate) fn tell(&mut self, now: Instant, posted: &mut Posted, packets: &mut Arena<Packet>) -> Option<Note> {
        let notes = self.neighbours.as_mut()?;
        posted.tell(now, (notes, &mut self.egress, &mut self.station), packets)
    }

    /// Sets the contention parameters of a port's category as its controller orders.
    pub(crate) fn order_access(&mut self, port: PortId, orders: &Orders, rules: &Conventions) {
        let category = self.egress.layout.category(port);
        self.station.contention.set_access(category, |configured| rules.ordered(configured, orders.access));
    }

    /// Sets the least contention window of a category.
    pub(crate) fn widen(&mut self, category: u8, window: u16) {
        self.station.contention.set_access(category, |configured| configured.with_window(Some(window)));
    }

    /// Continues with the frames that a category holds after an exchange, for the receiver whose turn it is. False if a
    /// waiting packet is next; the category is then free for it.
    pub(crate) fn resume_in_turn(
        &mut self,
        category: u8,
        now: Instant,
        packets: &Arena<Packet>,
        rules: &Conventions,
    ) -> bool {
        let Self { egress, station, .. } = self;
        // For a receiver only a BlockAckReq may be left. Networks with service classes have none.
        let class =
            |packet: Option<Handle>| packet.map_or(Class::BestEffort, |packet| packets.get(packet).dscp.class());
        let turn = egress.turn(now, category, station.held.receivers(category).map(|(to, packet)| (to, class(packet))));
        match turn {
            Some(to) => station.resume(now, category, to, rules),
            None => station.set_aside(category),
        }
        turn.is_some()
    }

    /// Handles a category that has no packet to send now: its discipline has dropped all packets or holds them back.
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

    /// Returns receiver and frame length of a category's next packet; `None` if retransmitted frames may be next.
    pub(crate) fn ahead(&mut self, category: u8, rules: &Conventions, accounts: &mut Accounts) -> Option<(u32, Bytes)> {
        if self.station.held.has_aside(category) {
            return None;
        }
        let now = accounts.witness.now;
        let Waiting { to, length, .. } = self.egress.peek_next(now, category, &mut accounts.dropping())?;
        Some((to, rules.mpdu(msdu_bytes(length))))
    }

    /// Returns the rate that the node can still admit: the least that the controllers of its queues report. It is
    /// unlimited if none reports a rate.
    pub(crate) fn available(&self) -> Rate {
        self.egress.ports.iter().filter_map(|port| port.controller.available()).min().unwrap_or(Rate::bps(u64::MAX))
    }

    /// Returns the node's queue size for a receiver and category, headers included, as the receiver would need it.
    pub(crate) fn queued(&self, to: u32, category: u8, rules: &Conventions) -> Bytes {
        let Self { station, egress, saturated, .. } = self;
        if !saturated[egress.layout.port(to, category, Class::BestEffort)].is_empty() {
            // The next packet of a saturated flow is made only when one leaves.
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

    /// True if packets wait at this node for a station that the node takes to be asleep.
    pub(crate) fn keeps_for(&self, station: u32) -> bool {
        let held = || self.egress.holds_for(station) || self.station.held.held_for(station).next().is_some();
        self.egress.is_asleep(station) && held()
    }

    /// Handles a received data frame for this node. A station that can sleep counts as active. An access point learns
    /// from the power management bit whether the sender sleeps from now on.
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

    /// Stops the frames that the MAC holds for a sleeping station of this access point. None of them is in flight.
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

    /// Buffers a packet that has left its port, because its station sleeps. It counts as waiting until it moves on.
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

/// Returns the name of a port, unique among the ports of its node.
pub(crate) fn port_name(nodes: &List<NodeId, Node>, node: &Node, port: PortId, rules: &Conventions) -> String {
    node.egress.layout.name(port, rules, |other| &nodes[other.into()].name)
}

/// Returns the names of all nodes' ports, in order. If a node has one radio port, it has the node's name.
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
