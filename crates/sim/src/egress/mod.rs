//! The egress between a node's routing and its MAC: its ports, each a queueing discipline with its controller and a
//! shaper, and the order in which the MAC gets their packets.
//!
//! Routing [offers](Egress::offer) packets. When the MAC is free, the host asks for the next packet of a category
//! ([`take_next`](Egress::take_next)), looks at and takes packets that can share its frame ([`peek`](Egress::peek),
//! [`take`](Egress::take)), and reports the end of each ([`completed`](Egress::completed)). If packets wait but none
//! may leave yet, the host asks for the time ([`ready_at`](Egress::ready_at), [`Port::ready_at`]) and returns then. The
//! host has the clock, the events and the counts of packets. Every call gets the time, and a function for dropped
//! packets. Schedulers differ only in [`Order`].

mod accounts;
mod driver;
mod hardware;
mod layout;
mod mac80211;
mod outlook;
mod port;
mod round_robin;
mod sleepers;
mod turns;

pub(crate) use layout::Layout;
pub(crate) use outlook::Outlook;
pub(crate) use port::{Port, Taken};
pub(crate) use round_robin::EXCHANGE;
pub(crate) use sleepers::Sleepers;

use crate::config::{self, Class, HardwareQueue, Mac, Mac80211};
use crate::engine::{List, Number as _, PortId};
use crate::mac::{BROADCAST, Costs};
use crate::net::Waiting;
use driver::Driver;
use hardware::{Hardware, Passed};
use mac80211::Scheduler;
use queue::{Batch as _, Completion, Departure, Settings};
use round_robin::RoundRobin;
use std::collections::VecDeque;
use std::ops::Range;
use turns::Turns;
use units::{Bytes, Duration, Instant};

/// Order in which the MAC gets packets from a node's ports (the scheduler).
#[derive(Debug)]
pub(crate) enum Order {
    /// Round robin over the ports.
    RoundRobin(RoundRobin),
    /// The scheduler of an access point under Linux: equal airtime for stations, and few packets below the ports.
    Mac80211(Box<Scheduler>),
    /// Sluice's default: one aggregate per station in turn, small flows first, and few packets below the ports.
    Turns(Box<Turns>),
}

impl Order {
    /// Makes a round robin over the ports.
    pub(crate) fn round_robin() -> Self {
        Self::RoundRobin(RoundRobin::default())
    }

    /// Makes the scheduler of an access point under Linux, for the ports of this layout. `patience` enables CoDel's
    /// larger target for slow stations.
    pub(crate) fn mac80211(layout: &Layout, rules: Mac80211, patience: Option<Costs>) -> Self {
        Self::Mac80211(Box::new(Scheduler::new(layout, rules, patience)))
    }

    /// Makes Sluice's default for the ports of this layout. An access point also charges stations for received frames.
    pub(crate) fn turns(layout: &Layout, settings: config::TurnsScheduler, is_access_point: bool) -> Self {
        Self::Turns(Box::new(Turns::new(layout, settings, is_access_point)))
    }

    /// Returns the settings of the radio ports if the scheduler determines them.
    pub(crate) fn settings(&self) -> Option<Settings> {
        match self {
            Self::RoundRobin(_) => None,
            Self::Mac80211(scheduler) => Some(scheduler.settings()),
            Self::Turns(turns) => Some(turns.settings()),
        }
    }

    /// Returns the port of a category that is served next.
    fn next(&self, now: Instant, category: u8, layout: &Layout, ports: &List<PortId, Port>) -> PortId {
        match self {
            Self::RoundRobin(order) => order.next(layout, category, |port| ports[port].is_ready(now)),
            // Any port of the category will do: its packets come from the hardware queue.
            Self::Mac80211(_) | Self::Turns(_) => PortId::at(category.into()),
        }
    }

    /// Records that the MAC has finished packets of a port, their total expected airtime, and whether their station
    /// `answered`.
    fn completed(&mut self, now: Instant, port: PortId, expected: Duration, answered: bool) {
        match self {
            Self::RoundRobin(_) => {}
            Self::Mac80211(scheduler) => scheduler.completed(port, expected),
            Self::Turns(turns) => turns.completed(now, port, expected, answered),
        }
    }

    /// Returns the sum of the expected airtimes of all packets that were released and are not finished.
    fn pending(&self) -> Duration {
        match self {
            Self::RoundRobin(_) => Duration::ZERO,
            Self::Mac80211(scheduler) => scheduler.pending(),
            Self::Turns(turns) => turns.pending(),
        }
    }
}

/// The ports of a node: first those for the radio, then one for each wired link.
#[derive(Debug)]
#[repr(C)] // what each frame of others reads comes first
pub(crate) struct Egress {
    /// True if something has changed since the last time that no packet could move on.
    moved: bool,
    /// True while packets are being moved on.
    is_pulling: bool,
    /// Bitmask of categories that may have packets for the MAC.
    pub(crate) filled: u8,
    pub(crate) ports: List<PortId, Port>,
    pub(crate) layout: Layout,
    order: Order,
    /// Packets that have moved on, if hardware queues or a scheduler lie between the ports and the MAC.
    hardware: Option<Box<Hardware>>,
    /// Notes and null frames. The MAC takes them before any packet of a port.
    signals: VecDeque<Waiting>,
    /// The stations of an access point that can sleep.
    pub(crate) sleepers: Sleepers,
    /// The driver above the MAC, if there is one.
    pub(crate) driver: Option<Driver>,
}

/// Returns the port of a category from which the next packet goes to the hardware queues, if its hardware queue has
/// room. A packet without room blocks all packets behind it in its port.
fn next_for(
    hardware: &Hardware,
    ports: &mut List<PortId, Port>,
    layout: &Layout,
    order: &RoundRobin,
    (now, category): (Instant, u8),
    dropped: &mut impl FnMut(Waiting),
) -> Option<PortId> {
    let has_room = |port: PortId| {
        let to = layout.stations.get(port.place() / layout.lanes).copied().unwrap_or(BROADCAST);
        layout.groups == 1 || hardware.has_room(category, to)
    };
    let ready = |port: PortId| ports[port].is_ready(now) && has_room(port);
    let port = order.next(layout, category, ready);
    let head = ports[port].peek(now, 0, dropped)?;
    hardware.has_room(category, head.to).then_some(port)
}

/// True if all data released towards the MAC for a station and category are sent within this time, or need not be.
pub(crate) fn passes_whole(egress: &Egress, to: u32, category: u8, time: Duration) -> bool {
    let port = egress.layout.port(to, category, Class::BestEffort);
    if let Order::Turns(turns) = &egress.order { turns.law.in_flight(port.place()) <= time } else { true }
}

/// Access category of notes and null frames: the highest.
const SIGNALS: u8 = 0;

impl Egress {
    /// Makes empty ports in this layout.
    pub(crate) fn new(ports: List<PortId, Port>, layout: Layout, order: Order, mac: &Mac) -> Self {
        let depth = match &order {
            Order::Mac80211(_) | Order::Turns(_) if mac.hardware_queue == HardwareQueue::Off => mac80211::RING,
            Order::Mac80211(_) | Order::Turns(_) | Order::RoundRobin(_) => mac.hardware_queue,
        };
        let has_any = depth != HardwareQueue::Off && layout.radio_ports() > 0;
        let categories = if layout.by_class { 1 } else { layout.lanes };
        let per = || mac.marks.read("hardware_queue_per", mac.hardware_queue_per);
        let hardware = has_any.then(|| Box::new(Hardware::new(depth, per(), categories)));
        let (signals, sleepers) = (VecDeque::new(), Sleepers::default());
        let (moved, is_pulling, filled, driver) = (false, false, 0, None);
        Self { moved, is_pulling, filled, ports, layout, order, hardware, signals, sleepers, driver }
    }

    /// True if there is a wired link to this node.
    pub(crate) fn is_wired_to(&self, to: u32) -> bool {
        self.layout.wires.iter().any(|&(other, _)| other == to)
    }

    /// Fast path of a packet through the port of an idle wired link, equal to [`offer`](Self::offer) and
    /// [`take`](Self::take). False if the packet must take the usual path; nothing has changed then.
    pub(crate) fn pass_idle(&mut self, now: Instant, port: PortId, packet: &Waiting) -> bool {
        matches!(self.order, Order::RoundRobin(_)) && self.ports[port].pass_idle(now, packet)
    }

    /// Enqueues a packet at its port: a radio port of this category, or that of a wired link. A packet that goes
    /// `first` overtakes all other packets of the port.
    #[inline(always)] // once a packet and hop: the call costs a chain 0.4 %
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        port: PortId,
        category: Option<u8>,
        packet: Waiting,
        first: bool,
        dropped: &mut impl FnMut(Waiting),
    ) {
        debug_assert_eq!(category, (port.place() < self.layout.radio_ports()).then(|| self.layout.category(port)));
        debug_assert!(packet.created <= now, "it has been made");
        if let Some(category) = category {
            self.filled |= 1 << category;
            self.moved |= self.hardware.is_some();
        }
        match &mut self.order {
            Order::RoundRobin(_) => {}
            Order::Mac80211(scheduler) => {
                scheduler.make_room(now, &mut self.ports, dropped);
                scheduler.joins(now, port);
            }
            Order::Turns(turns) => return turns.offer(now, port, &mut self.ports[port], packet, first, dropped),
        }
        self.ports[port].offer(now, packet, first, dropped);
    }

    /// Queues a note or a null frame for the MAC outside all ports.
    pub(crate) fn post(&mut self, signal: Waiting) {
        debug_assert!(signal.to != BROADCAST || self.note_mut().is_none(), "one note at a time");
        self.signals.push_back(signal);
        self.filled |= 1 << SIGNALS;
    }

    /// Returns the note that waits, if any.
    pub(crate) fn note_mut(&mut self) -> Option<&mut Waiting> {
        self.signals.iter_mut().find(|signal| signal.to == BROADCAST)
    }

    /// Returns the categories whose packets [may move on](Self::has_moved). The caller [pulls](Self::pull) them until
    /// none moves any more, and then [ends](Self::end_pulling).
    pub(crate) fn begin_pulling(&mut self) -> Range<u8> {
        debug_assert!(!self.is_pulling, "one at a time");
        (self.moved, self.is_pulling) = (false, true);
        let categories = if self.layout.by_class { 1 } else { self.layout.lanes };
        0..u8::try_from(categories).expect("there are four categories")
    }

    /// Ends pulling after all packets that may move on have moved.
    pub(crate) fn end_pulling(&mut self) {
        debug_assert!(self.is_pulling);
        self.is_pulling = false;
    }

    /// True if packets may move on towards the MAC and are not being pulled yet.
    pub(crate) fn has_moved(&self) -> bool {
        self.moved && !self.is_pulling
    }

    /// If a packet of a category waits only for its time, returns its port and when it may move on to the MAC.
    pub(crate) fn pullable_at(&self, now: Instant, category: u8) -> Option<(PortId, Instant)> {
        let later = |&(_, at): &(PortId, Instant)| at > now;
        match &self.order {
            Order::Turns(turns) => turns.ready_at(category).filter(later),
            // The scheduler has no shaper that holds its ports back.
            Order::Mac80211(_) => None,
            Order::RoundRobin(_) => self.layout.filled(category, &self.ports).filter(later).min_by_key(|&(_, at)| at),
        }
    }

    /// Moves the next packet of a category on towards the MAC, if one may move. Returns the port that it has left.
    pub(crate) fn pull(
        &mut self,
        now: Instant,
        category: u8,
        outlook: Outlook,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<(PortId, Waiting)> {
        let Self { ports, layout, sleepers, .. } = self;
        let hardware = self.hardware.as_mut()?;
        let (port, taken, expected) = match &mut self.order {
            Order::Mac80211(scheduler) => {
                scheduler.pull(now, category, layout, ports, (hardware, sleepers), outlook, dropped)?
            }
            Order::Turns(turns) => turns.pull(now, category, layout, ports, (hardware, sleepers), outlook, dropped)?,
            Order::RoundRobin(order) => {
                let port = next_for(hardware, ports, layout, order, (now, category), dropped)?;
                let taken = ports[port].take(now, 0, dropped)?;
                order.served(layout, port);
                (port, taken, Duration::ZERO)
            }
        };
        let Departure { packet, waited } = taken;
        debug_assert_eq!(layout.category(port), category);
        let load = outlook.load(&packet, category, hardware.depth);
        hardware.push(category, Passed { packet, waited, at: now, expected, load });
        self.filled |= 1 << category;
        Some((port, packet))
    }

    /// Returns the next receiver in a category in which the MAC still `holds` frames; each has a service class. `None`
    /// if a port's packet is next. With one port for all receivers the result is the first in `holds`.
    pub(crate) fn turn(
        &mut self,
        now: Instant,
        category: u8,
        mut holds: impl Iterator<Item = (u32, Class)> + Clone,
    ) -> Option<u32> {
        let first = self.signals.front().filter(|_| category == SIGNALS).map(|signal| signal.to);
        if let Some(first) = first.or_else(|| self.sleepers.ready(category)) {
            // Frames that the MAC holds for this receiver have lower sequence numbers.
            self.filled |= 1 << category;
            return holds.map(|(to, _)| to).find(|&to| to == first);
        }
        let Self { ports, layout, order, hardware, .. } = self;
        let turn = match (order, hardware) {
            (Order::Mac80211(scheduler), Some(hardware)) if !hardware.is_per_station() => {
                scheduler.turn(now, category, layout, hardware, holds.map(|(to, _)| to))
            }
            (Order::Turns(turns), Some(hardware)) if !hardware.is_per_station() => {
                turns.turn(category, layout, hardware, &holds.map(|(to, _)| to))
            }
            (_, Some(hardware)) => hardware.turn(category, holds.map(|(to, _)| to)),
            (Order::Mac80211(_) | Order::Turns(_), None) => None,
            (Order::RoundRobin(_), None) if layout.groups == 1 => return holds.next().map(|(to, _)| to),
            (Order::RoundRobin(order), None) => {
                let held = |port| holds.clone().any(|(to, class)| layout.port(to, category, class) == port);
                let port = order.next(layout, category, |port| ports[port].is_ready(now) || held(port));
                // A station gets its packets in order of their sequence numbers, whatever their classes are.
                let turn = holds.find(|&(to, _)| layout.group(to) == port.place() / layout.lanes);
                if turn.is_some() {
                    order.served(layout, port);
                }
                turn.map(|(to, _)| to)
            }
        };
        self.filled |= 1 << category;
        turn
    }

    /// True if [`turn`](Self::turn) may return another receiver than the first whose frames the MAC holds. Also true
    /// if a note waits or stations can sleep.
    pub(crate) fn has_turns(&self) -> bool {
        self.layout.groups > 1 || self.hardware.is_some() || !self.sleepers.is_empty()
    }

    /// True if packets behind a packet for another receiver may join retransmitted frames. False if such a packet
    /// blocks those behind it.
    pub(crate) fn takes_turns(&self) -> bool {
        match (&self.order, &self.hardware) {
            (Order::RoundRobin(_), Some(hardware)) => hardware.is_per_station(),
            _ => self.layout.groups > 1,
        }
    }

    /// Records that the end of a TXOP has cut `rest` off a full [`EXCHANGE`] with a receiver.
    pub(crate) fn cut_off(&mut self, to: u32, category: u8, rest: u32) {
        if let (Order::RoundRobin(order), None) = (&mut self.order, &self.hardware) {
            order.cut_off(self.layout.port(to, category, Class::BestEffort), rest);
        }
    }

    /// Takes the next packet of a category for the MAC if one may leave now. Other packets may have to go
    /// [first](Self::has_first).
    pub(crate) fn take_next(&mut self, now: Instant, category: u8, dropped: &mut impl FnMut(Waiting)) -> Option<Taken> {
        let taken = match (&mut self.order, &mut self.hardware) {
            (_, Some(hardware)) => hardware.take_next(category),
            (Order::RoundRobin(_), None) => {
                let port = self.order.next(now, category, &self.layout, &self.ports);
                let taken = self.take_port(now, port, 0, dropped);
                if let (Order::RoundRobin(order), Some(_)) = (&mut self.order, &taken) {
                    order.served(&self.layout, port);
                }
                taken
            }
            (Order::Mac80211(_) | Order::Turns(_), None) => None,
        };
        debug_assert!(taken.is_none_or(|taken| taken.at <= now && taken.packet.created <= now));
        debug_assert!(taken.is_none_or(|taken| taken.left.is_some() == self.hardware.is_none()));
        if taken.is_none() || self.is_idle(category) {
            self.filled &= !(1 << category);
        }
        taken
    }

    /// True if a category certainly has no packet for the MAC, because its only port is an empty plain queue. A check
    /// of such a category has no side effect.
    // This check saves the MAC a call for each queue that it has emptied.
    fn is_idle(&self, category: u8) -> bool {
        let one = self.layout.groups == 1 && !self.layout.by_class && self.hardware.is_none();
        one && self.signals.is_empty()
            && self.sleepers.is_empty()
            && self.ports[PortId::at(category.into())].queue.is_idle()
    }

    /// Returns the port of a category with the earliest departure, and its time; `None` if no packet waits.
    pub(crate) fn ready_at(&self, category: u8) -> Option<(PortId, Instant)> {
        if self.hardware.is_some() { None } else { self.layout.filled(category, &self.ports).min_by_key(|&(_, at)| at) }
    }

    /// Records that the category of a port may have packets again.
    pub(crate) fn resume(&mut self, port: PortId) {
        debug_assert!(port.place() < self.layout.radio_ports(), "wired links have no category");
        self.moved |= self.hardware.is_some();
        self.filled |= 1 << self.layout.category(port);
    }

    /// Returns the packet of a category that the MAC would get next.
    pub(crate) fn peek_next(
        &mut self,
        now: Instant,
        category: u8,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<Waiting> {
        if category == SIGNALS
            && let Some(signal) = self.signals.front()
        {
            return Some(*signal);
        }
        if let Some(station) = self.sleepers.ready(category) {
            return self.sleepers.passed(category, station).front().map(|taken| taken.packet);
        }
        if let Some(hardware) = &self.hardware {
            return hardware.peek_next(category);
        }
        let port = self.order.next(now, category, &self.layout, &self.ports);
        self.ports[port].peek(now, 0, dropped)
    }

    /// Returns the packet at `index` that the MAC could take now: from a port, or from the hardware queue of the port's
    /// category and a receiver.
    #[inline(always)] // once a packet: the call and its answer cost an aggregating station 1 %
    pub(crate) fn peek(
        &mut self,
        now: Instant,
        port: PortId,
        to: u32,
        index: usize,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<Waiting> {
        let index = match self.sleepers.behind(|| self.layout.category(port), to, index) {
            Ok(behind) => behind,
            Err(kept) => return Some(kept),
        };
        match &self.hardware {
            None => self.ports[port].peek(now, index, dropped),
            Some(hardware) => hardware.peek(self.layout.category(port), to, index),
        }
    }

    /// Takes the packet at `index` for the MAC, if it may leave now.
    #[inline(always)] // once a packet: the call and its answer cost an aggregating station 1 %
    pub(crate) fn take(
        &mut self,
        now: Instant,
        port: PortId,
        to: u32,
        index: usize,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<Taken> {
        let category = self.layout.category(port);
        let Ok(index) = self.sleepers.behind(|| category, to, index) else {
            return self.sleepers.take_passed(now, category, to, index);
        };
        match &mut self.hardware {
            None => self.take_port(now, port, index, dropped),
            Some(hardware) => hardware.take(category, to, index),
        }
    }

    /// Takes the packet at `index` from a port, if it may leave now.
    pub(crate) fn take_port(
        &mut self,
        now: Instant,
        port: PortId,
        index: usize,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<Taken> {
        let Departure { packet, waited } = self.ports[port].take(now, index, dropped)?;
        debug_assert!(packet.created + waited <= now, "it does not wait before it is made");
        Some(Taken { packet, waited, at: now, expected: Duration::ZERO, load: 0, left: Some(port) })
    }

    /// True if packets of this length can [pass](Self::pass) through a port.
    pub(crate) fn lets_pass(&self, port: PortId, length: Bytes) -> bool {
        self.hardware.is_none() && self.ports[port].lets_pass(length)
    }

    /// Passes a batch of at least one packet through a port that [lets them pass](Self::lets_pass) to the MAC. See
    /// [`queue::Batch::pass`].
    pub(crate) fn pass(&mut self, now: Instant, port: PortId, length: Bytes, packets: u64) {
        debug_assert!(packets > 0 && self.lets_pass(port, length));
        self.ports[port].pass(now, length, packets);
    }

    /// Reports packets of a port that the MAC or a wired link has finished. The scheduler `expected` this airtime of
    /// each packet ([`Taken::expected`]). `of`, for packets of a hardware queue: their receiver, their total load, and
    /// whether they arrived.
    pub(crate) fn completed(
        &mut self,
        now: Instant,
        port: PortId,
        completion: &Completion,
        expected: Duration,
        of: (u32, u64, bool),
    ) {
        self.relieve(now, port, expected * u64::from(completion.packets), of);
        self.ports[port].completed(now, completion);
    }

    /// Records the airtime of a frame that was sent to a station or, if `received`, came from it.
    #[inline]
    pub(crate) fn on_air(
        &mut self,
        now: Instant,
        station: u32,
        category: u8,
        received: bool,
        airtime: impl FnOnce() -> Duration,
    ) {
        // Such schedulers have no service classes.
        let port = |layout: &Layout| layout.port(station, category, Class::BestEffort);
        match &mut self.order {
            Order::RoundRobin(_) => {}
            Order::Mac80211(scheduler) => {
                let airtime = airtime();
                if let Some(driver) = &mut self.driver {
                    driver.add(station, received, airtime);
                }
                scheduler.charge(now, port(&self.layout), airtime);
            }
            Order::Turns(turns) => turns.charge(now, port(&self.layout), airtime(), received),
        }
    }

    /// Returns the scheduler `turns` if it is this node's.
    pub(crate) fn turns(&mut self) -> Option<&mut Turns> {
        if let Order::Turns(turns) = &mut self.order { Some(turns) } else { None }
    }

    /// Removes the `unwanted` packets from all ports.
    pub(crate) fn discard_where(
        &mut self,
        now: Instant,
        unwanted: &mut impl FnMut(&Waiting) -> bool,
        dropped: &mut impl FnMut(Waiting),
    ) {
        self.ports.iter_mut().for_each(|port| port.queue.discard_where(now, unwanted, dropped));
    }
}
