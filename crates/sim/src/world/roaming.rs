//! Which nodes of roaming stations are present, and the paths of their packets.

use super::error::BuildError;
use super::flows::{Flow, Role, Supply};
use super::nodes::roaming::{Family, Turn};
use crate::engine::{FlowId, NodeId};
use crate::mac::BROADCAST;
use crate::net::Routes;
use std::collections::BTreeMap;
use units::refuse_if;

/// The roaming stations; empty in most networks.
#[derive(Debug, Default)]
pub(crate) struct Roaming {
    /// For each node, its index among the roaming stations if it roams. Empty if no station roams.
    of: Vec<Option<usize>>,
    stations: Vec<Whereabouts>,
    /// Hops between two nodes, for all nodes of the roaming stations at the ends of flows.
    paths: BTreeMap<(u32, u32), Vec<(u32, u32)>>,
}

#[derive(Debug)]
struct Whereabouts {
    home: u32,
    nodes: Vec<u32>,
    turns: Vec<Turn>,
    /// Index of the last move that the station has begun. Its packets wait at that move's node.
    begun: usize,
    /// Index of the last move that the station has ended. Its packets are sent from that move's node.
    ended: usize,
}

impl Roaming {
    pub(crate) fn new(families: &[Family], turns: Vec<Vec<Turn>>, nodes: usize) -> Self {
        if families.is_empty() {
            return Self::default();
        }
        let mut of = vec![None; nodes];
        for (index, family) in families.iter().enumerate() {
            family.nodes.iter().for_each(|&node| of[node as usize] = Some(index));
        }
        let whereabouts = |(family, turns): (&Family, Vec<Turn>)| Whereabouts {
            home: family.home(),
            nodes: family.nodes.clone(),
            turns,
            begun: 0,
            ended: 0,
        };
        Self { of, stations: families.iter().zip(turns).map(whereabouts).collect(), paths: BTreeMap::new() }
    }

    fn station(&self, node: u32) -> Option<&Whereabouts> {
        self.of.get(node as usize).copied().flatten().map(|index| &self.stations[index])
    }

    /// Returns the node that stands for this one in flows.
    #[inline]
    pub(crate) fn home(&self, node: u32) -> u32 {
        if self.of.is_empty() { node } else { self.station(node).map_or(node, |station| station.home) }
    }

    /// Returns the node from which a node's packets are sent; for a node that does not roam, itself.
    #[inline]
    pub(crate) fn place(&self, node: NodeId) -> NodeId {
        if self.of.is_empty() {
            return node;
        }
        self.station(node.into()).map_or(node, |station| station.turns[station.begun].to.into())
    }

    /// True if this station roams. During a move the station's packets wait.
    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.station(node.into()).is_some()
    }

    /// Handles the arrival or the departure of a roaming station's node. If it leaves, returns its access point.
    pub(crate) fn turns(&mut self, node: NodeId, absent: bool) -> Option<u32> {
        let index = self.of.get(usize::try_from(u32::from(node)).ok()?).copied().flatten()?;
        let station = &mut self.stations[index];
        if !absent {
            station.ended = station.begun;
            debug_assert_eq!(NodeId::from(station.turns[station.ended].to), node, "it comes where it went");
            return None;
        }
        let left = station.turns[station.begun];
        debug_assert_eq!(NodeId::from(left.to), node, "it goes from where it is");
        station.begun += 1;
        Some(left.access_point)
    }

    /// Returns the moves that a station has ended, with their times and access points.
    pub(crate) fn moved(&self, node: u32) -> &[Turn] {
        self.station(node)
            .filter(|station| station.home == node)
            .map_or(&[], |station| &station.turns[1..=station.ended])
    }

    /// Adds the paths of roaming stations' flows. Errors: a flow that roaming stations cannot have.
    pub(crate) fn add_ways(
        &mut self,
        flows: &[Flow],
        neighbours: &[Vec<u32>],
        names: &[String],
    ) -> Result<(), BuildError> {
        let nodes_of = |roaming: &Self, node: u32| match roaming.station(node) {
            Some(station) => station.nodes.clone(),
            None => vec![node],
        };
        for flow in flows {
            let from = u32::from(flow.from);
            if flow.role == Role::ToAll || self.station(from).is_none() && self.station(flow.to).is_none() {
                continue;
            }
            let refuse = |key: &str, why: &str| Err(BuildError::new(format!("flow.{}.{key}", flow.identity.name), why));
            refuse_if!(flow.to == BROADCAST, refuse("to", "a station that roams sends no broadcasts in the model"));
            if matches!(flow.supply, Supply::Saturated { .. }) {
                return refuse(
                    "traffic",
                    "saturated traffic cannot roam: write another `kind`, such as `cbr` or `greedy`",
                );
            }
            if flow.admission.is_some() {
                return refuse("admission", "a station that roams does not ask for admission in the model");
            }
            for start in nodes_of(self, from) {
                for end in nodes_of(self, flow.to) {
                    let path = Routes::shortest(neighbours, start, end).map_err(|_| {
                        let message = format!(
                            "no path from `{}` to `{}`: connect the access points by wired links",
                            names[start as usize], names[end as usize]
                        );
                        BuildError::new(format!("flow.{}.to", flow.identity.name), message)
                    })?;
                    self.paths.insert((start, end), path.windows(2).map(|hop| (hop[0], hop[1])).collect());
                }
            }
        }
        Ok(())
    }

    /// Returns the next hop of a flow's packet at `node`: on the path between the present nodes of the flow's ends, or,
    /// if `node` is not on it, on the path between former nodes.
    #[inline]
    pub(crate) fn hop(&self, routes: &Routes, (index, flow): (FlowId, &Flow), node: u32) -> u32 {
        let found = if self.of.is_empty() { None } else { self.next(flow.from.into(), flow.to, node) };
        found.or_else(|| routes.next(index, node)).expect("a route goes on until its end")
    }

    #[inline(never)]
    fn next(&self, from: u32, to: u32, node: u32) -> Option<u32> {
        let start = self.station(from).map_or(from, |station| station.turns[station.begun].to);
        let end = self.station(to).map_or(to, |station| station.turns[station.ended].to);
        let hop = |path: &Vec<(u32, u32)>| path.iter().find(|&&(at, _)| at == node).map(|&(_, next)| next);
        self.paths.get(&(start, end)).and_then(hop).or_else(|| {
            let is_between = |&(a, b): &(u32, u32)| self.home(a) == from && self.home(b) == to;
            self.paths.iter().filter(|(ends, _)| is_between(ends)).find_map(|(_, path)| hop(path))
        })
    }
}
