//! The scheduler `turns`: Sluice's default for access points. Its [`Law`] decides which station sends next; this module
//! connects the law to the ports, the hardware queue and the MAC.

use super::hardware::Hardware;
use super::layout::Layout;
use super::mac80211::CODEL;
use super::outlook::Outlook;
use super::port::Port;
use super::sleepers::Sleepers;
use crate::config::{self, Class};
use crate::engine::{List, Number as _, PortId};
use crate::mac::BROADCAST;
use crate::net::Waiting;
use control::Limit;
use queue::turns::{Law, Params, Ports, Rule, Turn};
use queue::{Departure, DisciplineName, Settings, fq_codel};
use units::{Bytes, Duration, Instant};

/// Largest number of packets of a station and category. It bounds the memory for short packets.
const PACKETS: u32 = 4_096;
/// Approximate number of packets that count as the last packets of a port.
const LAST: u64 = 16;
/// Index of best effort among EDCA's categories.
const BEST_EFFORT: u8 = 2;

/// The scheduler of a node.
#[derive(Debug)]
pub(crate) struct Turns {
    pub(super) law: Law,
    /// True at an access point. It charges stations for the frames that they send.
    charges_received: bool,
    /// For each port, the length in bytes of the longest of its last packets.
    longest: Vec<u64>,
    /// CoDel's parameters if the ports use CoDel and not the law's bound.
    codel: Option<fq_codel::Params>,
}

/// The ports of a category as the law sees them.
struct Asked<'a> {
    category: u8,
    layout: &'a Layout,
    ports: &'a List<PortId, Port>,
    hardware: &'a Hardware,
    sleepers: &'a Sleepers,
    outlook: Outlook<'a>,
    /// The mean length of a turn.
    turn: Duration,
    /// For each port, the length in bytes of the longest of its last packets.
    longest: &'a [u64],
}

impl Asked<'_> {
    fn to(&self, port: usize) -> u32 {
        self.layout.stations.get(port / self.layout.lanes).copied().unwrap_or(BROADCAST)
    }

    fn sleeps(&self, port: usize) -> bool {
        self.sleepers.is_asleep(self.to(port))
    }
}

impl Ports for Asked<'_> {
    fn waits(&self, port: usize) -> bool {
        !self.ports[PortId::at(port)].queue.is_empty() && !self.sleeps(port)
    }

    fn has_thin(&self, port: usize) -> bool {
        self.ports[PortId::at(port)].queue.thin_packets() > 0 && !self.sleeps(port)
    }

    fn has_room(&self, port: usize) -> bool {
        self.hardware.has_room(self.category, self.to(port))
    }

    fn turn(&self, port: usize) -> Turn {
        match self.to(port) {
            BROADCAST => Turn { airtime: self.turn, packets: u32::MAX },
            to => self.outlook.turn(to, self.category, Bytes::new(self.longest[port])),
        }
    }
}

impl Turns {
    /// Makes a scheduler for the empty ports of a node.
    pub(super) fn new(layout: &Layout, settings: config::TurnsScheduler, charges_received: bool) -> Self {
        let ports = layout.radio_ports();
        Self {
            law: Law::new(settings.target_delay, ports, layout.lanes)
                .with_groups(layout.stations.len() * layout.lanes)
                .with_bulk_delay(settings.bulk_delay)
                .with_ecn(settings.ecn)
                .without(settings.without),
            charges_received,
            longest: vec![0; ports],
            codel: (settings.without == Some(Rule::Bound)).then(|| fq_codel::Params {
                target: CODEL.0,
                interval: CODEL.1,
                ecn: settings.ecn,
                ..fq_codel::Params::default()
            }),
        }
    }

    /// Returns the settings of the scheduler's ports: no controller and so no rate. Packets are thus always ready.
    pub(super) fn settings(&self) -> Settings {
        let limit = Limit::Packets(PACKETS);
        if let Some(codel) = &self.codel {
            let fq_codel = Some(codel.clone());
            return Settings { discipline: DisciplineName::FqCodel, limit, fq_codel, ..Settings::default() };
        }
        let turns = Some(Params::default());
        Settings { discipline: DisciplineName::Turns, limit, turns, ..Settings::default() }
    }

    /// Enqueues a packet at a port; a packet that goes `first` overtakes all other packets of the port.
    pub(super) fn offer(
        &mut self,
        now: Instant,
        at: PortId,
        port: &mut Port,
        packet: Waiting,
        first: bool,
        dropped: &mut impl FnMut(Waiting),
    ) {
        if at.place() >= self.law.ports() {
            port.offer(now, packet, first, dropped);
            return;
        }
        let length = packet.length;
        let longest = &mut self.longest[at.place()];
        *longest = length.count().max(*longest - *longest / LAST);
        port.queue.set_pace(self.law.pace(now, at.place(), length));
        let before = port.queue.thin_packets();
        port.offer(now, packet, first, dropped);
        let thin = port.queue.thin_packets() > before;
        self.law.joined(now, at.place(), length, thin);
    }

    /// Lists the port of a station that has woken. `thin`: it has packets of flows with little data.
    pub(super) fn joins_again(&mut self, port: PortId, thin: bool) {
        if port.place() < self.law.ports() {
            self.law.joins_again(port.place(), thin);
        }
    }

    /// Releases the next packet of a category if that is allowed: returns its port, the packet and estimated airtime.
    #[expect(clippy::too_many_arguments, reason = "the parts of an egress, which it does not own")]
    pub(super) fn pull(
        &mut self,
        now: Instant,
        category: u8,
        layout: &Layout,
        ports: &mut List<PortId, Port>,
        (hardware, sleepers): (&Hardware, &Sleepers),
        outlook: Outlook,
        dropped: &mut impl FnMut(Waiting),
    ) -> Option<(PortId, Departure<Waiting>, Duration)> {
        let (turn, longest) = (self.law.turn(), &self.longest);
        let asked = Asked { category, layout, ports, hardware, sleepers, outlook, turn, longest };
        let place = self.law.next(now, category.into(), &asked)?;
        let port = &mut ports[PortId::at(place)];
        let thin = port.queue.thin_packets() > 0;
        let departure = port.take(now, 0, dropped)?;
        let estimated = outlook.airtime(&departure.packet);
        debug_assert!(place % layout.lanes == usize::from(category), "of its category");
        debug_assert!(!sleepers.is_asleep(departure.packet.to), "not to a station that sleeps");
        self.law.released(now, place, departure.packet.length, estimated, thin);
        Some((PortId::at(place), departure, estimated))
    }

    /// Returns the next receiver in a category in which the MAC `holds` frames for some receivers, or has packets that
    /// wait for it. A receiver with little data goes first, then retransmitted frames, unless their station does not
    /// answer. `None` if a waiting packet is next.
    pub(super) fn turn(
        &mut self,
        category: u8,
        layout: &Layout,
        hardware: &mut Hardware,
        holds: &(impl Iterator<Item = u32> + Clone),
    ) -> Option<u32> {
        let port = |to: u32| layout.port(to, category, Class::BestEffort).place();
        let law = &self.law;
        let may_repeat = |to| law.may_repeat(port(to));
        let has_little = |to| law.has_little(port(to));
        let held = holds.clone().max_by_key(|&to| (may_repeat(to), has_little(to)))?;
        let is_other = |to| holds.clone().all(|held| held != to);
        let Some(other) = hardware.least(category, is_other, |to| !has_little(to)) else { return Some(held) };
        let other_goes = !may_repeat(held) || has_little(other) && !has_little(held);
        if !other_goes {
            return Some(held);
        }
        debug_assert!(holds.clone().all(|to| to != other));
        hardware.promote(category, other);
        None
    }

    /// Records that the MAC has finished packets of a port with this total estimated airtime, and whether their station
    /// `answered`.
    pub(super) fn completed(&mut self, now: Instant, port: PortId, estimated: Duration, answered: bool) {
        if port.place() >= self.law.ports() {
            return;
        }
        if answered {
            self.law.answered(port.place());
        }
        self.law.completed(now, port.place(), estimated);
    }

    /// Charges a station for a frame to it or, at an access point, for a frame from it.
    pub(super) fn charge(&mut self, now: Instant, port: PortId, airtime: Duration, received: bool) {
        if !received {
            self.law.sent(now, port.place(), airtime);
        } else if self.charges_received {
            self.law.received(now, port.place(), airtime);
        }
    }

    /// Returns when a port of a category that is held back may be released if nothing else happens.
    pub(super) fn ready_at(&self, category: u8) -> Option<(PortId, Instant)> {
        self.law.ready_at(category.into()).map(|(port, at)| (PortId::at(port), at))
    }

    /// Once in a while, returns a category and its minimum contention windows, of this node and of its stations.
    pub(crate) fn windows(&mut self, now: Instant) -> Option<(u8, [u16; 2])> {
        Some((BEST_EFFORT, self.law.windows(now, BEST_EFFORT.into())?))
    }

    /// Returns the sum of the estimated airtimes of all packets that were released and are not finished.
    pub(super) fn pending(&self) -> Duration {
        self.law.pending()
    }
}
