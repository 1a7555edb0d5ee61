//! Layout of a node's ports: to which port each packet goes, and the ports' names.

use super::port::Port;
use crate::config::Class;
use crate::engine::{List, Number as _, PortId, WireId};
use crate::mac::Conventions;
use std::ops::Range;
use units::Instant;

/// The service classes, highest priority first.
const CLASSES: [Class; 2] = [Class::RealTime, Class::BestEffort];

/// Order of a node's ports. First come groups with one port per access category or per service class, the highest
/// first; then one port per wired link. A node has one group. An access point may have one group per station.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The station of each group, in order; empty if one group serves all stations. A group for broadcasts may follow.
    pub(crate) stations: Vec<u32>,
    /// Number of groups; 0 at a node without a radio.
    pub(crate) groups: usize,
    /// Number of ports in each group.
    pub(crate) lanes: usize,
    /// True if ports are for service classes, which share one access category. False if each port is for a category.
    pub(crate) by_class: bool,
    /// Each wired link, with the node at its other end.
    pub(crate) wires: Vec<(u32, WireId)>,
}

impl Layout {
    /// Makes one group for all receivers, as most nodes have, with a port for each access category.
    pub(crate) fn by_category(categories: usize) -> Self {
        Self { stations: Vec::new(), groups: 1, lanes: categories, by_class: false, wires: Vec::new() }
    }

    /// Makes one group for all receivers, with a port for each service class and without access categories.
    pub(crate) fn by_class() -> Self {
        Self { lanes: CLASSES.len(), by_class: true, ..Self::by_category(1) }
    }

    /// Returns the number of ports for packets that are sent by radio. The ports after these are for wired links.
    pub(crate) fn radio_ports(&self) -> usize {
        self.groups * self.lanes
    }

    /// Returns the access category of a radio port.
    pub(crate) fn category(&self, port: PortId) -> u8 {
        if self.by_class { 0 } else { u8::try_from(port.place() % self.lanes).expect("there are four categories") }
    }

    /// Returns the service class of a radio port if it has one.
    pub(crate) fn class(&self, port: PortId) -> Option<Class> {
        self.by_class.then(|| CLASSES[port.place() % self.lanes])
    }

    /// Returns those ports of a category that have packets, each with the time of its next departure.
    pub(super) fn filled(&self, category: u8, ports: &List<PortId, Port>) -> impl Iterator<Item = (PortId, Instant)> {
        let lanes = self.lanes_of(category);
        let radio = lanes.flat_map(|lane| (lane..self.radio_ports()).step_by(self.lanes)).map(PortId::at);
        radio.filter_map(|port| Some((port, ports[port].ready_at()?)))
    }

    /// Returns the indices, within a group, of a category's ports, highest priority first.
    pub(super) fn lanes_of(&self, category: u8) -> Range<usize> {
        let first = usize::from(category);
        if self.by_class { 0..self.lanes } else { first..first + 1 }
    }

    /// Returns the port for packets of this class and category with the next hop `to`.
    pub(crate) fn port(&self, to: u32, category: u8, class: Class) -> PortId {
        self.way(to, category, class).0
    }

    /// Returns the group with the ports for a station. The address of a broadcast is above those of all stations.
    pub(super) fn group(&self, to: u32) -> usize {
        if self.stations.is_empty() { 0 } else { self.stations.partition_point(|&station| station < to) }
    }

    /// Returns the port, and its wired link if it has one.
    #[inline]
    pub(crate) fn way(&self, to: u32, category: u8, class: Class) -> (PortId, Option<WireId>) {
        if let Some(place) = self.wires.iter().position(|&(other, _)| other == to) {
            return (PortId::at(self.radio_ports() + place), Some(self.wires[place].1));
        }
        let lane = if self.by_class { usize::from(class == CLASSES[1]) } else { usize::from(category) };
        (PortId::at(self.group(to) * self.lanes + lane), None)
    }

    /// Returns the wired link of a port if it has one.
    pub(crate) fn wire(&self, port: PortId) -> Option<WireId> {
        if self.wires.is_empty() {
            return None;
        }
        port.place().checked_sub(self.radio_ports()).map(|index| self.wires[index].1)
    }

    /// Returns the name of a port in the results of its node. `node` gives the names of nodes.
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
