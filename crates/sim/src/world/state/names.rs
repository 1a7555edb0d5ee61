//! Names of ports in results, traces and time series.

use super::node::Node;
use crate::engine::{List, NodeId, Number as _, PortId};
use crate::mac::Conventions;

/// Returns the name of a port among those of its node.
pub(crate) fn port_name(nodes: &List<NodeId, Node>, node: &Node, port: PortId, rules: &Conventions) -> String {
    node.egress.name(port, rules, |other| &nodes[other.into()].name)
}

/// What the ports of all nodes are called, one after another: by their node where it has one for what goes by radio.
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
