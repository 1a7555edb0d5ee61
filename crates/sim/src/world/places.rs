//! The queues of a network, found through their names.

use super::error::BuildError;
use super::flows::Flow;
use super::nodes::{Node, port_name};
use super::routing::Routing;
use crate::engine::{FlowId, List, NodeId, Number as _, PortId};
use crate::mac::{BROADCAST, Conventions};
use control::{Interval, Limit};
use units::Duration;

/// A queue of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index of the node in the scenario.
    pub node: u32,
    /// Index of the queue among the queues of the node.
    pub queue: u32,
}

/// A decision that an outside program has to make at the end of a queue's interval. See [`steer`](crate::World::steer).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// The queue to decide about.
    pub place: Place,
    /// Measurements of the queue in the interval.
    pub seen: Interval,
}

/// A queue whose controller decides at intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Governed {
    /// The queue.
    pub place: Place,
    /// The name of the queue's node.
    pub node: String,
    /// The queue's name in the results of its node, such as `be`.
    pub queue: String,
    /// Limit of the queue before the first decision.
    pub limit: Limit,
    /// Target delay of the queue's controller, if it has one.
    pub target: Option<Duration>,
}

impl From<Place> for (NodeId, PortId) {
    fn from(Place { node, queue }: Place) -> Self {
        (node.into(), queue.into())
    }
}

/// What is needed to find queues, and the queues that flows pass.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) nodes: &'a List<NodeId, Node>,
    pub(super) flows: &'a List<FlowId, Flow>,
    pub(super) routing: &'a Routing,
    pub(super) rules: &'a Conventions,
}

impl Places<'_> {
    /// Finds a queue: see [`World::place`](crate::World::place).
    pub(super) fn find(self, name: &str) -> Result<Place, BuildError> {
        let passed = self.passed();
        let full = |place: &Place| full_name(self.nodes, self.rules, *place);
        let refuse = |message: String, known: Vec<String>| Err(BuildError::not_of("", message, name, known));
        if let Some(named) = passed.iter().find(|place| full(place) == name) {
            return Ok(*named);
        }
        if let Some(node) = self.nodes.numbers().find(|&node| self.nodes[node].name == name) {
            let of_node = passed.iter().filter(|place| place.node == u32::from(node));
            let (wired, radio): (Vec<&Place>, Vec<&Place>) = of_node.partition(|&&place| {
                let (node, port): (NodeId, PortId) = place.into();
                self.nodes[node].egress.layout.wire(port).is_some()
            });
            let queues = if radio.is_empty() { wired } else { radio };
            return match queues[..] {
                [only] => Ok(*only),
                [] => refuse(format!("no flow passes the queues of `{name}`"), passed.iter().map(full).collect()),
                _ => refuse(format!("flows pass several queues of `{name}`"), queues.into_iter().map(full).collect()),
            };
        }
        let empty = |node: NodeId| {
            let ports = self.nodes[node].egress.ports.numbers();
            ports.map(|port| Place { node: node.into(), queue: port.into() }).any(|place| full(&place) == name)
        };
        if let Some(node) = self.nodes.numbers().find(|&node| empty(node)) {
            // Queues of the same node are preferred, if flows pass any.
            let beside: Vec<&Place> = passed.iter().filter(|place| place.node == u32::from(node)).collect();
            let near = if beside.is_empty() { passed.iter().collect() } else { beside };
            refuse(format!("no flow passes the queue `{name}`"), near.into_iter().map(full).collect())
        } else {
            let nodes = self.nodes.iter().map(|node| node.name.clone());
            refuse(format!("there is no node or queue `{name}`"), nodes.chain(passed.iter().map(full)).collect())
        }
    }

    /// Returns the queues that packets of a flow may pass, ordered by node and queue. With AODV these are at all nodes.
    fn passed(self) -> Vec<Place> {
        let mut passed = Vec::new();
        for (flow, index) in self.flows.iter().zip((0..).map(FlowId::at)) {
            let &Flow { from, to, category, dscp, .. } = flow;
            let mut pass = |node: NodeId, next: u32| {
                let port = self.nodes[node].egress.layout.port(next, category, dscp.class());
                passed.push(Place { node: node.into(), queue: port.into() });
            };
            match self.routing {
                _ if to == BROADCAST => pass(from, BROADCAST),
                Routing::Static(routes) => {
                    routes.hops(index).iter().for_each(|&(node, next)| pass(node.into(), next));
                }
                // A node then has one port per category for all next hops.
                Routing::Found(_) => self.nodes.numbers().for_each(|node| pass(node, BROADCAST)),
            }
        }
        passed.sort_unstable();
        passed.dedup();
        passed
    }
}

/// Returns a queue's name, unique among all queues, such as `ap be`.
pub(super) fn full_name(nodes: &List<NodeId, Node>, rules: &Conventions, place: Place) -> String {
    let (node, port): (NodeId, PortId) = place.into();
    let node = &nodes[node];
    format!("{} {}", node.name, port_name(nodes, node, port, rules))
}
