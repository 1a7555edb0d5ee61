//! Which port of a node packets wait at, and what the ports are called.

use crate::engine::WireId;
use crate::mac::Conventions;

/// How the ports of a node are ordered: groups of one port an access category, the highest first, then one port a
/// wired link. There is one group, or at an access point with ports for each station one a station.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The stations of the groups, in order; empty where there is one group for all. Behind them may be one more group, for
    /// broadcasts.
    pub(crate) stations: Vec<u32>,
    /// None at a node without a radio.
    pub(crate) groups: usize,
    pub(crate) categories: usize,
    /// The node at the other end of each wired link, and the link.
    pub(crate) wires: Vec<(u32, WireId)>,
}

impl Layout {
    /// One group for all receivers, as most nodes have.
    pub(crate) fn new(categories: usize) -> Self {
        Self { stations: Vec::new(), groups: 1, categories, wires: Vec::new() }
    }

    /// Ports for what goes by radio. Those behind them are for wired links.
    pub(crate) fn radio_ports(&self) -> usize {
        self.groups * self.categories
    }

    /// The port where packets for the next node `to` wait, which go by radio with this category.
    #[inline]
    pub(super) fn port(&self, to: u32, category: u8) -> usize {
        if let Some(wire) = self.wires.iter().position(|&(other, _)| other == to) {
            return self.radio_ports() + wire;
        }
        // A broadcast is addressed above all stations.
        let group = if self.stations.is_empty() { 0 } else { self.stations.partition_point(|&station| station < to) };
        group * self.categories + usize::from(category)
    }

    /// The wired link that a port is for.
    #[inline]
    pub(super) fn wire(&self, port: usize) -> Option<WireId> {
        if self.wires.is_empty() {
            return None;
        }
        port.checked_sub(self.radio_ports()).map(|index| self.wires[index].1)
    }

    /// What a port is called in the results of its node, by the names of nodes.
    pub(super) fn name<'n>(&self, port: usize, rules: &Conventions, node: impl Fn(u32) -> &'n str) -> String {
        if let Some(wired) = port.checked_sub(self.radio_ports()) {
            return format!("wired-to-{}", node(self.wires[wired].0));
        }
        let category = rules.queue_name(port % self.categories);
        if self.stations.is_empty() {
            return category.to_owned();
        }
        let station = self.stations.get(port / self.categories).map_or("broadcast", |&station| node(station));
        if rules.edca() { format!("{station}-{category}") } else { station.to_owned() }
    }
}
