//! Layout of a node's ports: the port of each packet, and the ports' names.

use super::port::Port;
use crate::config::Class;
use crate::engine::{List, Number as _, PortId, WireId};
use crate::mac::Conventions;
use std::ops::Range;
use units::Instant;

/// The service classes, highest priority first.
const CLASSES: [Class; 2] = [Class::RealTime, Class::BestEffort];

/// Order of a node's ports: groups of one port per access category or per service class, the highest first, then one
/// port per wired link. A node has one group; an access point with ports for each station has one group per station.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The stations of the groups, in order; empty if one group serves all stations. A group for broadcasts may follow.
    pub(crate) stations: Vec<u32>,
    /// Number of groups; 0 at a node without a radio.
    pub(crate) groups: usize,
    /// Ports per group.
    pub(crate) lanes: usize,
    /// True if ports are for service classes, which share one access category; false if each is for a category.
    pub(crate) by_class: bool,
    /// The node at the other end of each wired link, and the link.
    pub(crate) wires: Vec<(u32, WireId)>,
}

impl Layout {
    /// One group for all receivers, as at most nodes, with a port for each access category.
    pub(crate) fn by_category(categories: usize) -> Self {
        Self { stations: Vec::new(), groups: 1, lanes: categories, by_class: false, wires: Vec::new() }
    }

    /// One group for all receivers, with a port for each service class and without access categories.
    pub(crate) fn by_class() -> Self {
        Self { lanes: CLASSES.len(), by_class: true, ..Self::by_category(1) }
    }

    /// Number of ports for packets that are sent by radio. The ports after these are for wired links.
    pub(crate) fn radio_ports(&self) -> usize {
        self.groups * self.lanes
    }

    /// Access category of a radio port.
    pub(crate) fn category(&self, port: PortId) -> u8 {
        if self.by_class { 0 } else { u8::try_from(port.place() % self.lanes).expect("there are four categories") }
    }

    /// Service class of a radio port, if the port belongs to one.
    pub(crate) fn class(&self, port: PortId) -> Option<Class> {
        self.by_class.then(|| CLASSES[port.place() % self.lanes])
    }

    /// The ports of a category that have packets, each with the time of its next departure.
    pub(super) fn filled(&self, category: u8, ports: &List<PortId, Port>) -> impl Iterator<Item = (PortId, Instant)> {
        let lanes = self.lanes_of(category);
        let radio = lanes.flat_map(|lane| (lane..self.radio_ports()).step_by(self.lanes)).map(PortId::at);
        radio.filter_map(|port| Some((port, ports[port].ready_at()?)))
    }

    /// Indices within a group of the ports of a category, highest priority first.
    pub(super) fn lanes_of(&self, category: u8) -> Range<usize> {
        let first = usize::from(category);
        if self.by_class { 0..self.lanes } else { first..first + 1 }
    }

    /// Returns the port for packets of this class and category with the next hop `to`.
    pub(crate) fn port(&self, to: u32, category: u8, class: Class) -> PortId {
        self.way(to, category, class).0
    }

    /// The group of the ports for a station; a broadcast has an address above all stations.
    pub(super) fn group(&self, to: u32) -> usize {
        if self.stations.is_empty() { 0 } else { self.stations.partition_point(|&station| station < to) }
    }

    /// Returns the port, with its wired link if it belongs to one.
    #[inline]
    pub(crate) fn way(&self, to: u32, category: u8, class: Class) -> (PortId, Option<WireId>) {
        if let Some(place) = self.wires.iter().position(|&(other, _)| other == to) {
            return (PortId::at(self.radio_ports() + place), Some(self.wires[place].1));
        }
        let lane = if self.by_class { usize::from(class == CLASSES[1]) } else { usize::from(category) };
        (PortId::at(self.group(to) * self.lanes + lane), None)
    }

    /// The wired link of a port, if it belongs to one.
    pub(crate) fn wire(&self, port: PortId) -> Option<WireId> {
        if self.wires.is_empty() {
            return None;
        }
        port.place().checked_sub(self.radio_ports()).map(|index| self.wires[index].1)
    }

    /// Name of a port in the results of its node, given the names of nodes.
    pub(crate) fn name<'n>(&self, port: PortId, rules: &Conventions, node: impl Fn(u32) -> &'n str) -> String {
        if let Some(wired) = port.place().checked_sub(self.radio_ports()) {
            return format!("wired-to-{}", node(self.wires[wired].0));
        }
        let lane = match self.class(port) {
            Some(Class::RealTime) => "rt",
            Some(Class::BestEffort) => "be",
            None => rules.queue_name(port.place() % self.lanes),
        };
        if self.stations.is_empty() {
            return lane.to_owned();
        }
        let station = self.stations.get(port.place() / self.lanes).map_or("broadcast", |&station| node(station));
        if self.lanes > 1 { format!("{station}-{lane}") } else { station.to_owned() }
    }
}
