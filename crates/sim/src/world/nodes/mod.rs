//! Running nodes.

pub(crate) mod build;
pub(crate) mod channels;
pub(crate) mod generations;
pub(crate) mod infrastructure;
pub(crate) mod motion;
pub(crate) mod sites;

use super::energy::EnergyAccount;
use super::notes::Notes;
use super::power_save::PowerSave;
use crate::egress::Egress;
use crate::engine::{FlowId, List, NodeId, Number as _, PortId};
use crate::mac::{Conventions, Station};
use crate::record::{Gauge, NodeRecord};
use units::{Bytes, Instant};

/// A node: its station, its egress, and its records.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) access_point: bool,
    /// Off the air: it has not come yet, or has gone.
    pub(crate) absent: bool,
    pub(crate) station: Station,
    /// Time at which the earliest pending `Deadline` event of the station fires; later ones are stale.
    pub(crate) armed: Instant,
    pub(crate) egress: Egress,
    /// By port: active saturated flows that begin there, with their payload. A packet that leaves is replaced at once,
    /// one that is discarded with the next that leaves.
    pub(crate) saturated: List<PortId, Vec<(FlowId, Bytes)>>,
    /// By port: when the earliest pending `Ready` event fires; later ones are stale.
    pub(crate) ready: List<PortId, Instant>,
    /// Number of ports of the nodes before this one.
    pub(crate) ports_before: usize,
    pub(crate) record: NodeRecord,
    /// Radio statistics, for controllers that use them.
    pub(crate) gauge: Option<Box<Gauge>>,
    /// Energy account, where energy is counted.
    pub(crate) energy: Option<Box<EnergyAccount>>,
    /// Notes, if a controller orders or reads them.
    pub(crate) neighbours: Option<Box<Notes>>,
    /// Power save, at a station that sleeps.
    pub(crate) power_save: Option<Box<PowerSave>>,
}

impl Node {
    /// The station's deadline, if no pending event of it is as early; one at that time has to follow.
    #[inline]
    pub(crate) fn newly_due(&mut self) -> Option<Instant> {
        let deadline = self.station.deadline;
        (deadline < self.armed).then(|| {
            self.armed = deadline;
            deadline
        })
    }
}

/// Returns the name of a port among those of its node.
pub(crate) fn port_name(nodes: &List<NodeId, Node>, node: &Node, port: PortId, rules: &Conventions) -> String {
    node.egress.name(port, rules, |other| &nodes[other.into()].name)
}

/// Names of the ports of all nodes, in order: the node's name if it has one radio port.
pub(crate) fn port_names(nodes: &List<NodeId, Node>, rules: &Conventions) -> Vec<String> {
    let names = |node: &Node| {
        let only = node.egress.layout().radio_ports() == 1;
        let name = |port: PortId| match port.place() {
            0 if only => node.name.clone(),
            _ => format!("{} {}", node.name, port_name(nodes, node, port, rules)),
        };
        node.egress.ports().numbers().map(name).collect::<Vec<_>>()
    };
    nodes.iter().flat_map(names).collect()
}
