//! The egress between a node's routing and its MAC: its ports, each a queueing discipline with its controller and a
//! shaper, and the order in which the MAC gets their packets.
//!
//! Routing [offers](Egress::offer) packets. The host asks for the next one of a category when the MAC is free
//! ([`take_next`](Egress::take_next)), looks at and takes those that can share its frame ([`peek`](Egress::peek),
//! [`take`](Egress::take)), and reports the end of each ([`completed`](Egress::completed)). If packets are queued and
//! none may leave yet, it asks when ([`ready_at`](Egress::ready_at), [`Port::ready_at`]) and comes again. The host has
//! the clock, the events and the accounts of packets: every call takes the time and a function for dropped packets.
//! Only [`Order`] distinguishes one scheduler from another.

mod layout;
mod mac80211;
mod port;
mod round_robin;

pub(crate) use layout::Layout;
pub(crate) use mac80211::Outlook;
pub(crate) use port::{Port, Taken};
pub(crate) use round_robin::EXCHANGE;

use crate::config::{Class, Mac80211};
use crate::engine::{List, Number as _, PortId, WireId};
use crate::mac::{Conventions, Costs};
use crate::net::Waiting;
use crate::results;
use mac80211::Scheduler;
use queue::{Completion, Departure, Settings};
use round_robin::RoundRobin;
use std::ops::Range;
use units::{Bytes, Duration, Instant};

/// Order in which the MAC gets packets from a node's ports.
#[derive(Debug)]
pub(crate) enum Order {
    /// Round robin over the ports.
    RoundRobin(RoundRobin),
    /// The scheduler of an access point under Linux: equal airtime for the stations, few packets ahead of the MAC.
    Mac80211(Box<Scheduler>),
}

impl Order {
    /// Round robin over the ports.
    pub(crate) fn round_robin() -> Self {
        Self::RoundRobin(RoundRobin::default())
    }

    /// The scheduler of an access point under Linux, for the ports of this layout; `patience` turns on CoDel's larger
    /// target for slow stations.
    pub(crate) fn mac80211(layout: &Layout, rules: Mac80211, patience: Option<Costs>) -> Self {
        Self::Mac80211(Box::new(Scheduler::new(layout, rules, patience)))
    }

    /// Settings of the radio ports, if the scheduler determines them.
    pub(crate) fn settings(&self) -> Option<Settings> {
        match self {
            Self::RoundRobin(_) => None,
            Self::Mac80211(scheduler) => Some(scheduler.settings()),
        }
    }
}

/// The ports of a node: first those for the radio, then one per wired link.
#[derive(Debug)]
pub(crate) struct Egress {
    ports: List<PortId, Port>,
    layout: Layout,
    order: Order,
    /// Bitmask of categories that may have packets for the MAC.
    filled: u8,
    /// A note to the neighbours, which the MAC takes before any packet of a port.
    note: Option<Waiting>,
}

/// Access category of notes: the highest.
const NOTES: u8 = 0;

impl Egress {
    /// Empty ports in this layout.
    pub(crate) fn new(ports: List<PortId, Port>, layout: Layout, order: Order) -> Self {
        Self { ports, layout, order, filled: 0, note: None }
    }

    /// Its ports, in order.
    pub(crate) fn ports(&self) -> &List<PortId, Port> {
        &self.ports
    }

    /// One of its ports.
    pub(crate) fn port_mut(&mut self, port: PortId) -> &mut Port {
        &mut self.ports[port]
    }

    /// Layout of its ports.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The port for packets of this class and category with the next hop `to`.
    #[inline]
    pub(crate) fn port_to(&self, to: u32, category: u8, class: Class) -> PortId {
        self.layout.port(to, category, class)
    }

    /// The same port, with its wired link if it is for one.
    #[inline]
    pub(crate) fn way_to(&self, to: u32, category: u8, class: Class) -> (PortId, Option<WireId>) {
        self.layout.way(to, category, class)
    }

    /// Access category of a radio port.
    pub(crate) fn category(&self, port: PortId) -> u8 {
        self.layout.category(port)
    }

    /// The wired link of a port, if it is for one.
    #[inline]
    pub(crate) fn wire(&self, port: PortId) -> Option<WireId> {
        self.layout.wire(port)
    }

    /// True if there is a wired link to this node.
    pub(crate) fn is_wired_to(&self, to: u32) -> bool {
        self.layout.wires.iter().any(|&(other, _)| other == to)
    }

    /// Returns the name of a port in the results, from the names of nodes.
    pub(crate) fn name<'n>(&self, port: PortId, rules: &Conventions, node: impl Fn(u32) -> &'n str) -> String {
        self.layout.name(port, rules, node)
    }

    /// Fast path of a packet through the port of an idle wired link, equal to [`offer`](Self::offer) and
    /// [`take`](Self::take). False if the packet must go that way; then nothing has happened.
    #[inline]
    pub(crate) fn pass_idle(&mut self, now: Instant, port: PortId, packet: &Waiting) -> bool {
        matches!(self.order, Order::RoundRobin(_)) && self.ports[port].pass_idle(now, packet)
    }

    /// Enqueues a packet at its port, which is a radio port of this category or for a wired link; a packet that goes
    /// `first` overtakes all others there.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        port: PortId,
        category: Option<u8>,
        packet: Waiting,
        first: bool,
        dropped: &mut impl FnMut(Waiting),
    ) {
        if let Some(category) = category {
            self.filled |= 1 << category;
        }
        if let Order::Mac80211(scheduler) = &mut self.order {
            scheduler.make_room(now, &mut self.ports, dropped);
            scheduler.joins(now, port);
        }
        self.ports[port].offer(now, packet, first, dropped);
    }

    /// Makes a note wait for the MAC, outside of all ports. None may wait already.
    pub(crate) fn post(&mut self, note: Waiting) {
        debug_assert!(self.note.is_none(), "a note that waits is told what is new");
        self.note = Some(note);
        self.filled |= 1 << NOTES;
    }

    /// The waiting note.
    pub(crate) fn note_mut(&mut self) -> Option<&mut Waiting> {
        self.note.as_mut()
    }

    /// Categories whose packets may move on towards the MAC, to be [pulled](Self::pull) until none does; usually none.
    #[inline]
    pub(crate) fn pullable(&mut self) -> Range<u8> {
        match &mut self.order {
            Order::RoundRobin(_) => 0..0,
            Order::Mac80211(scheduler) => scheduler.pullable(),
        }
    }

    /// True if a packet may move on towards the MAC, or go to a station that is free to take packets of these
    /// categories.
    #[inline]
    pub(crate) fn has_for(&self, free: u8) -> bool {
        let moved = match &self.order {
            Order::RoundRobin(_) => false,
            Order::Mac80211(scheduler) => scheduler.has_moved(),
        };
        moved || free & self.filled != 0
    }

    /// Moves the next packet of a category on towards the MAC, if one may. Returns the port that it left.
    pub(crate) fn pull(
        &mut self,
        now: Instant,
        category: u8,
        outlook: Outlook,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<(PortId, Waiting)> {
        let Order::Mac80211(scheduler) = &mut self.order else { return None };
        let pulled = scheduler.pull(now, category, &self.layout, &mut self.ports, outlook, dropped)?;
        self.filled |= 1 << category;
        Some(pulled)
    }

    /// Bitmask of categories that may have packets for the MAC.
    #[inline]
    pub(crate) fn filled(&self) -> u8 {
        self.filled
    }

    /// The port of a category that is served next.
    fn next(&self, now: Instant, category: u8) -> PortId {
        match &self.order {
            Order::RoundRobin(order) => {
                let ready = |port: PortId| self.ports[port].ready_at().is_some_and(|at| at <= now);
                order.next(&self.layout, category, ready)
            }
            // Any of that category.
            Order::Mac80211(_) => PortId::at(category.into()),
        }
    }

    /// Whose turn it is in a category of which the MAC still `holds` frames for some receivers, each with a class: one of
    /// these, or none of them if it is the turn of a packet of a port. With one port for all receivers the first of these
    /// goes on.
    pub(crate) fn turn(
        &mut self,
        now: Instant,
        category: u8,
        mut holds: impl Iterator<Item = (u32, Class)> + Clone,
    ) -> Option<u32> {
        if category == NOTES && self.note.is_some() {
            return None;
        }
        let Self { ports, layout, order, .. } = self;
        let turn = match order {
            Order::RoundRobin(_) if layout.groups == 1 => return holds.next().map(|(to, _)| to),
            Order::RoundRobin(order) => {
                let ready = |port: PortId| ports[port].ready_at().is_some_and(|at| at <= now);
                let held = |port| holds.clone().any(|(to, class)| layout.port(to, category, class) == port);
                let port = order.next(layout, category, |port| ready(port) || held(port));
                // A station gets its packets in the order of their numbers, whatever their classes.
                let turn = holds.find(|&(to, _)| layout.group(to) == port.place() / layout.lanes);
                if turn.is_some() {
                    order.served(layout, port);
                }
                turn.map(|(to, _)| to)
            }
            Order::Mac80211(scheduler) => scheduler.turn(now, category, layout, holds.map(|(to, _)| to)),
        };
        self.filled |= 1 << category;
        turn
    }

    /// May frames that are sent again be joined by packets that were preceded by one for another receiver? Not where
    /// these frames hold back all others.
    pub(crate) fn takes_turns(&self) -> bool {
        self.layout.groups > 1
    }

    /// The end of a TXOP has cut off an exchange with a receiver, by so much of a full [`EXCHANGE`].
    pub(crate) fn cut_off(&mut self, to: u32, category: u8, rest: u32) {
        if let Order::RoundRobin(order) = &mut self.order {
            order.cut_off(self.layout.port(to, category, Class::BestEffort), rest);
        }
    }

    /// Takes the next packet of a category for the MAC, if one may leave now.
    pub(crate) fn take_next(&mut self, now: Instant, category: u8, dropped: &mut impl FnMut(Waiting)) -> Option<Taken> {
        if category == NOTES
            && let Some(packet) = self.note.take()
        {
            return Some(Taken { packet, waited: Duration::ZERO, expected: Duration::ZERO, left: None });
        }
        let port = self.next(now, category);
        let taken = self.take(now, port, 0, dropped);
        match &mut self.order {
            _ if taken.is_none() => self.filled &= !(1 << category),
            Order::RoundRobin(order) => order.served(&self.layout, port),
            Order::Mac80211(_) => {}
        }
        taken
    }

    /// The port of a category with the earliest departure, and its time; none if no packet is queued.
    pub(crate) fn ready_at(&self, category: u8) -> Option<(PortId, Instant)> {
        let Order::RoundRobin(_) = self.order else { return None };
        let lanes = self.layout.lanes_of(category);
        let ports = lanes.flat_map(|lane| (lane..self.layout.radio_ports()).step_by(self.layout.lanes)).map(PortId::at);
        ports.filter_map(|port| Some((port, self.ports[port].ready_at()?))).min_by_key(|&(_, at)| at)
    }

    /// Marks the category of a port as possibly having packets again.
    pub(crate) fn resume(&mut self, port: PortId) {
        self.filled |= 1 << self.category(port);
    }

    /// The packet of a category that the MAC would get next.
    pub(crate) fn peek_next(
        &mut self,
        now: Instant,
        category: u8,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<Waiting> {
        if category == NOTES && self.note.is_some() {
            return self.note;
        }
        self.peek(now, self.next(now, category), 0, dropped)
    }

    /// The packet behind `index` others that the MAC could take from a port now.
    #[expect(clippy::inline_always, reason = "once a packet: the call and its answer cost an aggregating station 1 %")]
    #[inline(always)]
    pub(crate) fn peek(
        &mut self,
        now: Instant,
        port: PortId,
        index: usize,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<Waiting> {
        match &self.order {
            Order::Mac80211(scheduler) if scheduler.has(port) => scheduler.peek(port, index),
            Order::Mac80211(_) | Order::RoundRobin(_) => self.ports[port].peek(now, index, dropped),
        }
    }

    /// Takes the packet behind `index` others from a port, for the MAC or a wired link, if it may leave now.
    #[expect(clippy::inline_always, reason = "once a packet: the call and its answer cost an aggregating station 1 %")]
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        now: Instant,
        port: PortId,
        index: usize,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<Taken> {
        if let Order::Mac80211(scheduler) = &mut self.order
            && scheduler.has(port)
        {
            return scheduler.take(now, port, index);
        }
        let Departure { packet, waited } = self.ports[port].take(now, index, dropped)?;
        Some(Taken { packet, waited, expected: Duration::ZERO, left: Some(port) })
    }

    /// True if packets of this length can [pass](Self::pass) a port.
    pub(crate) fn lets_pass(&self, port: PortId, length: Bytes) -> bool {
        matches!(self.order, Order::RoundRobin(_)) && self.ports[port].lets_pass(length)
    }

    /// Passes a batch of packets, at least one, through a port that [lets them pass](Self::lets_pass) to the MAC: see
    /// [`queue::Batch::pass`].
    pub(crate) fn pass(&mut self, now: Instant, port: PortId, length: Bytes, packets: u64) {
        self.ports[port].pass(now, length, packets);
    }

    /// Reports packets of a port that the MAC, or a wired link, is done with. The scheduler `expected` this airtime of
    /// each ([`Taken::expected`]).
    pub(crate) fn completed(&mut self, now: Instant, port: PortId, completion: &Completion, expected: Duration) {
        if let Order::Mac80211(scheduler) = &mut self.order {
            scheduler.completed(port, expected * u64::from(completion.packets));
        }
        self.ports[port].completed(now, completion);
    }

    /// Records the airtime of a frame to or from a station.
    #[inline]
    pub(crate) fn on_air(&mut self, now: Instant, station: u32, category: u8, airtime: impl FnOnce() -> Duration) {
        if let Order::Mac80211(scheduler) = &mut self.order {
            // It knows no service classes.
            scheduler.charge(now, self.layout.port(station, category, Class::BestEffort), airtime());
        }
    }

    /// Records an RTS without CTS, and the airtime of the data that it announced.
    pub(crate) fn announced_in_vain(&mut self, now: Instant, station: u32, category: u8, airtime: Duration) {
        // A driver reports attempts, and mac80211 charges each with all of its frame.
        self.on_air(now, station, category, || airtime);
    }

    /// Removes `unwanted` packets from all ports.
    pub(crate) fn discard_where(
        &mut self,
        now: Instant,
        unwanted: &mut impl FnMut(&Waiting) -> bool,
        dropped: &mut impl FnMut(Waiting),
    ) {
        self.ports.iter_mut().for_each(|port| port.discard_where(now, unwanted, dropped));
    }

    /// Restarts the statistics.
    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.ports.iter_mut().for_each(|port| port.restart_statistics(now));
    }

    /// Results of a port in a run that ends now, without those of a wired link.
    pub(crate) fn result(&self, port: PortId, name: String, now: Instant) -> results::QueueResult {
        self.ports[port].result(name, now, self.ports.len() > 1)
    }

    /// Number of packets queued here.
    pub(crate) fn waiting(&self) -> u64 {
        let held: u64 = self.ports.iter().map(|port| port.queue().backlog().packets).sum();
        let held = held + u64::from(self.note.is_some());
        match &self.order {
            Order::RoundRobin(_) => held,
            Order::Mac80211(scheduler) => held + scheduler.waiting() as u64,
        }
    }

    /// True if the estimated airtimes of released packets agree with those of the packets that the MAC has.
    pub(crate) fn balances(&self, with_mac: Duration) -> bool {
        match &self.order {
            Order::RoundRobin(_) => with_mac.is_zero(),
            Order::Mac80211(scheduler) => scheduler.balances(with_mac),
        }
    }
}
