//! The egress between a node's routing and its MAC: its ports, each a queueing discipline with its controller and a
//! shaper, and the order in which the MAC gets their packets.
//!
//! Routing [offers](Egress::offer) packets. The host asks for the next one of a category when the MAC is free
//! ([`take_next`](Egress::take_next)), looks at and takes those that can share its frame ([`peek`](Egress::peek),
//! [`take`](Egress::take)), and tells what became of each ([`completed`](Egress::completed)). Where packets wait and none may
//! leave yet, it asks when ([`ready_at`](Egress::ready_at), [`Port::ready_at`]) and comes again. The host has the clock, the
//! events and the accounts of packets: it gives every call the time, and a function that gets what is dropped. Nothing
//! here knows it, and nothing but [`Order`] knows one order from another.

mod layout;
mod mac80211;
mod port;
mod round_robin;

pub(crate) use layout::Layout;
pub(crate) use mac80211::Outlook;
pub(crate) use port::{Port, Taken};

use crate::config::Class;
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
    /// From the ports themselves, in round robin.
    RoundRobin(RoundRobin),
    /// As an access point under Linux does it: equal airtime for the stations, and little ahead of the MAC.
    Mac80211(Box<Scheduler>),
}

impl Order {
    /// From the ports themselves, in round robin.
    pub(crate) fn round_robin() -> Self {
        Self::RoundRobin(RoundRobin::default())
    }

    /// As an access point under Linux does it, for the ports of this layout; `patience` if CoDel has some with slow
    /// stations: what a frame costs, by which it is told who is slow.
    pub(crate) fn mac80211(layout: &Layout, patience: Option<Costs>) -> Self {
        Self::Mac80211(Box::new(Scheduler::new(layout, patience)))
    }

    /// How the ports for what goes by radio hold packets, where that comes with the order.
    pub(crate) fn settings(&self) -> Option<Settings> {
        match self {
            Self::RoundRobin(_) => None,
            Self::Mac80211(scheduler) => Some(scheduler.settings()),
        }
    }
}

/// The ports of a node: first those for what goes by radio, then one a wired link.
#[derive(Debug)]
pub(crate) struct Egress {
    ports: List<PortId, Port>,
    layout: Layout,
    order: Order,
    /// Bit by bit, the categories that may have a packet for the MAC: when it is free, others need not be looked at.
    filled: u8,
    /// A note to the neighbours, which the MAC takes before any packet of a port.
    note: Option<Waiting>,
}

/// The access category of notes: the highest.
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

    /// One of its ports, to be told that an interval is over.
    pub(crate) fn port_mut(&mut self, port: PortId) -> &mut Port {
        &mut self.ports[port]
    }

    /// Layout of its ports.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The port where packets of this class for the next node `to` wait, which go by radio with this category.
    #[inline]
    pub(crate) fn port_to(&self, to: u32, category: u8, class: Class) -> PortId {
        self.layout.port(to, category, class)
    }

    /// The same, with the wired link that the port is for, if it is.
    #[inline]
    pub(crate) fn way_to(&self, to: u32, category: u8, class: Class) -> (PortId, Option<WireId>) {
        self.layout.way(to, category, class)
    }

    /// The access category of a port for what goes by radio.
    pub(crate) fn category(&self, port: PortId) -> u8 {
        self.layout.category(port)
    }

    /// The wired link that a port is for.
    #[inline]
    pub(crate) fn wire(&self, port: PortId) -> Option<WireId> {
        self.layout.wire(port)
    }

    /// Is there a wired link to this node?
    pub(crate) fn is_wired_to(&self, to: u32) -> bool {
        self.layout.wires.iter().any(|&(other, _)| other == to)
    }

    /// Returns the name of a port in the results, from the names of nodes.
    pub(crate) fn name<'n>(&self, port: PortId, rules: &Conventions, node: impl Fn(u32) -> &'n str) -> String {
        self.layout.name(port, rules, node)
    }

    /// A packet comes and passes a port for a wired link that is free, if nothing there holds it up: as if it were
    /// offered and taken. False where it has to be: then nothing has happened.
    #[inline]
    pub(crate) fn pass_idle(&mut self, now: Instant, port: PortId, packet: &Waiting) -> bool {
        matches!(self.order, Order::RoundRobin(_)) && self.ports[port].pass_idle(now, packet)
    }

    /// A packet comes and joins its port, which goes by radio with this category or is for a wired link; one that goes
    /// `first` overtakes all that wait there.
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

    /// A note waits for the MAC, and for nothing else. None may wait already.
    pub(crate) fn post(&mut self, note: Waiting) {
        debug_assert!(self.note.is_none(), "a note that waits is told what is new");
        self.note = Some(note);
        self.filled |= 1 << NOTES;
    }

    /// The note that waits.
    pub(crate) fn note_mut(&mut self) -> Option<&mut Waiting> {
        self.note.as_mut()
    }

    /// The categories whose packets may now move on towards the MAC, to be [pulled](Self::pull) until none does: mostly
    /// none.
    #[inline]
    pub(crate) fn pullable(&mut self) -> Range<u8> {
        match &mut self.order {
            Order::RoundRobin(_) => 0..0,
            Order::Mac80211(scheduler) => scheduler.pullable(),
        }
    }

    /// May anything move on towards the MAC, or go to a station that is free to take packets of these categories?
    #[inline]
    pub(crate) fn has_for(&self, free: u8) -> bool {
        let moved = match &self.order {
            Order::RoundRobin(_) => false,
            Order::Mac80211(scheduler) => scheduler.has_moved(),
        };
        moved || free & self.filled != 0
    }

    /// The next packet of a category moves on towards the MAC, if one may. Returns the port that it has left.
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

    /// Bit by bit, the categories that may have a packet for the MAC.
    #[inline]
    pub(crate) fn filled(&self) -> u8 {
        self.filled
    }

    /// The port from which the next packet of a category comes, or would if any were ready.
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

    /// The MAC takes the next packet of a category, if one waits that may leave now.
    pub(crate) fn take_next(&mut self, now: Instant, category: u8, dropped: &mut impl FnMut(Waiting)) -> Option<Taken> {
        if category == NOTES
            && let Some(packet) = self.note.take()
        {
            return Some(Taken { packet, waited: Duration::ZERO, expected: Duration::ZERO, left: None });
        }
        let taken = self.take(now, self.next(now, category), 0, dropped);
        if taken.is_none() {
            self.filled &= !(1 << category);
        }
        taken
    }

    /// The port of a category where packets wait that may leave first, and when; none where none waits.
    pub(crate) fn ready_at(&self, category: u8) -> Option<(PortId, Instant)> {
        let Order::RoundRobin(_) = self.order else { return None };
        let lanes = self.layout.lanes_of(category);
        let ports = lanes.flat_map(|lane| (lane..self.layout.radio_ports()).step_by(self.layout.lanes)).map(PortId::at);
        ports.filter_map(|port| Some((port, self.ports[port].ready_at()?))).min_by_key(|&(_, at)| at)
    }

    /// Packets of a category may leave that could not before.
    pub(crate) fn resume(&mut self, port: PortId) {
        self.filled |= 1 << self.category(port);
    }

    /// The packet of a category that the MAC would be given next.
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

    /// The MAC, or a wired link, takes the packet behind `index` others from a port, if it may leave now.
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
        if let Order::RoundRobin(order) = &mut self.order {
            order.served(&self.layout, port);
        }
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
        if let Order::RoundRobin(order) = &mut self.order {
            order.served(&self.layout, port);
        }
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

    /// Removes `unwanted` packets from all ports.
    pub(crate) fn discard_where(
        &mut self,
        now: Instant,
        unwanted: &mut impl FnMut(&Waiting) -> bool,
        dropped: &mut impl FnMut(Waiting),
    ) {
        self.ports.iter_mut().for_each(|port| port.discard_where(now, unwanted, dropped));
    }

    /// Results count from now on.
    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.ports.iter_mut().for_each(|port| port.restart_statistics(now));
    }

    /// The results of a port in a run that ends now, but for what a wired link tells.
    pub(crate) fn result(&self, port: PortId, name: String, now: Instant) -> results::QueueResult {
        self.ports[port].result(name, now, self.ports.len() > 1)
    }

    /// Packets that wait here.
    pub(crate) fn waiting(&self) -> u64 {
        let held: u64 = self.ports.iter().map(|port| port.queue().backlog().packets).sum();
        let held = held + u64::from(self.note.is_some());
        match &self.order {
            Order::RoundRobin(_) => held,
            Order::Mac80211(scheduler) => held + scheduler.waiting() as u64,
        }
    }

    /// Do its accounts of airtime agree with what is expected of the packets that the MAC has taken?
    pub(crate) fn balances(&self, with_mac: Duration) -> bool {
        match &self.order {
            Order::RoundRobin(_) => with_mac.is_zero(),
            Order::Mac80211(scheduler) => scheduler.balances(with_mac),
        }
    }
}
