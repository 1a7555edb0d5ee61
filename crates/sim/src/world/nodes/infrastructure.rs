//! Infrastructure: access points with their stations, and wired links.

use super::Node;
use super::generations::Generations;
use super::roaming::Family;
use super::sites::Site;
use crate::config::{Class, Network, Protocol, Queues, Role, TurnsScheduler, given};
use crate::engine::{List, NodeId, Number as _, Purpose, Stream, WireId};
use crate::mac::Frame;
use crate::radio::Medium;
use crate::world::error::BuildError;
use crate::world::wired::{self, Link, Wire};
use units::refuse_if;

/// Connections between nodes in addition to radio. Nodes with a radio come first, wired nodes after them.
#[derive(Debug)]
pub(crate) struct Infrastructure {
    radios: usize,
    /// Number of nodes with a radio that the scenario describes. The further nodes of roaming stations come after them.
    described: usize,
    /// True if there is an access point.
    access: bool,
    /// For each node, its access point if the node is a station.
    access_point: Vec<Option<u32>>,
    wires: Vec<Link>,
}

impl Infrastructure {
    pub(crate) fn new(network: &Network, sites: &[Site], families: &[Family]) -> Result<Self, BuildError> {
        let access = sites.iter().any(|site| site.role == Role::AccessPoint);
        let radios = sites.iter().filter(|site| site.role != Role::Wired).count();
        let access_point = sites.iter().map(|site| access_point(site, sites)).collect::<Result<_, _>>()?;
        let described = radios - families.iter().map(|family| family.nodes.len() - 1).sum::<usize>();
        let found = Self { radios, described, access, access_point, wires: wired::links(network, sites, access)? };
        for (site, node) in sites.iter().zip(0..) {
            check_keys(site)?;
            if site.role == Role::Wired && !found.wires.iter().any(|link| link.ends.contains(&node)) {
                let message =
                    format!("`{0}` has no radio and no link: add `[[wired]] between = [\"{0}\", ...]`", site.name);
                return Err(BuildError::new(format!("node.{}.role", site.name), message));
            }
        }
        if network.routing.protocol != Protocol::Static && (access || !network.wired.is_empty()) {
            let message = "a network with access points or wired links has static routes; leave `protocol` out";
            return Err(BuildError::new("routing.protocol", message));
        }
        Ok(found)
    }

    /// Returns both directions of all wired links. Link `k` has the directions `2k` and `2k + 1`.
    pub(crate) fn wires(&self, network: &Network, nodes: &List<NodeId, Node>, seed: u64) -> Vec<Wire> {
        let mut wires = Vec::with_capacity(2 * self.wires.len());
        for &Link { ends: [a, b], table } in &self.wires {
            for (from, to) in [(a, b), (b, a)] {
                // Neither category nor class matters on a wire.
                let (from, to) = (NodeId::from(from), NodeId::from(to));
                let port = nodes[from].egress.layout.port(to.into(), 0, Class::BestEffort);
                let name = format!("{} {}", nodes[from].name, nodes[to].name);
                wires.push(Wire::new(from, port, to, &network.wired[table], Stream::new(seed, &name, Purpose::DAMAGE)));
            }
        }
        wires
    }

    /// Returns the nodes at the other ends of a node's wired links, each with the direction towards it.
    pub(crate) fn wires_of(&self, node: u32) -> impl Iterator<Item = (u32, WireId)> {
        (0..).zip(&self.wires).filter_map(move |(link, &Link { ends: [a, b], .. })| match node {
            _ if node == a => Some((b, WireId::at(2 * link))),
            _ if node == b => Some((a, WireId::at(2 * link + 1))),
            _ => None,
        })
    }

    /// Returns the index of the table that describes a link.
    pub(crate) fn table(&self, wire: WireId) -> usize {
        self.wires[wire.place() / 2].table
    }

    /// Returns the nodes to which each node may send. Over wired links: the node at the other end. By radio: from a
    /// station to its access point and back; without access points, to all nodes in range. The nodes are in the
    /// scenario's order. So the choice between equally long routes does not depend on distances.
    pub(crate) fn neighbours(&self, medium: &Medium<Frame>) -> Vec<Vec<u32>> {
        let count = u32::try_from(self.access_point.len()).expect("nodes were counted before");
        let of = |node: u32| {
            let mut reached: Vec<u32> = self.wires_of(node).map(|(other, _)| other).collect();
            if self.access {
                reached.extend(self.access_point[node as usize].into_iter().chain(self.stations(node)));
            } else if self.has_radio(node) {
                reached.extend(medium.neighbours(node));
            }
            reached.sort_unstable();
            reached.dedup();
            reached
        };
        (0..count).map(of).collect()
    }

    /// True if the star in `from = "*"` and `to = "*"` includes this node: every station or, without access points,
    /// every node with a radio.
    pub(crate) fn is_station(&self, node: u32) -> bool {
        (node as usize) < self.described && (!self.access || self.access_point[node as usize].is_some())
    }

    /// True if a scenario can name this node. It cannot name the further nodes of roaming stations.
    pub(crate) fn is_described(&self, node: u32) -> bool {
        !(self.described..self.radios).contains(&(node as usize))
    }

    pub(crate) fn with_radio<'s>(&self, sites: &'s [Site]) -> &'s [Site] {
        &sites[..self.radios]
    }

    pub(crate) fn radios(&self) -> u32 {
        u32::try_from(self.radios).expect("nodes were counted before")
    }

    pub(crate) fn has_radio(&self, node: u32) -> bool {
        (node as usize) < self.radios
    }

    /// Returns the stations of an access point, in the scenario's order.
    pub(crate) fn stations(&self, access_point: u32) -> impl Iterator<Item = u32> {
        (0..).zip(&self.access_point).filter(move |(_, of)| **of == Some(access_point)).map(|(station, _)| station)
    }

    pub(crate) fn access_point(&self, node: u32) -> Option<u32> {
        self.access_point[node as usize]
    }

    /// Returns the nodes to which a node may send by radio.
    pub(crate) fn receivers(&self, node: u32) -> Vec<u32> {
        match self.access_point.get(node as usize) {
            Some(Some(access_point)) => vec![*access_point],
            _ if self.access => self.stations(node).collect(),
            _ => (0..).take(self.radios).filter(|&other| other != node).collect(),
        }
    }

    /// Refuses a station that is never in range of its access point.
    pub(crate) fn check_range(
        &self,
        names: &[String],
        medium: &Medium<Frame>,
        generations: &Generations,
        network: &Network,
    ) -> Result<(), BuildError> {
        for (station, access_point) in (0..).zip(&self.access_point) {
            let Some(access_point) = *access_point else { continue };
            let extended = [station, access_point].into_iter().any(|node| generations.extends(node, network));
            let ways = [(station, access_point), (access_point, station)];
            let is_deaf = |&(from, to): &_| !medium.is_moving() && !medium.reaches(from, to, extended);
            let Some((from, _)) = ways.into_iter().find(is_deaf) else { continue };
            let [name, of, from] = [station, access_point, from].map(|node| &names[node as usize]);
            let message = format!(
                "`{name}` is out of range of its access point `{of}`; move it, or raise `radio.range` or the `tx_power` of `{from}`"
            );
            return Err(BuildError::new(format!("node.{name}"), message));
        }
        Ok(())
    }
}

fn access_point(site: &Site, sites: &[Site]) -> Result<Option<u32>, BuildError> {
    let path = || format!("node.{}.access_point", site.name);
    let refuse = |message: String| Err(BuildError::new(path(), message));
    let mut all = (0..).zip(sites).filter(|(_, other)| other.role == Role::AccessPoint);
    let Some(name) = &site.access_point else {
        return match (site.role, all.next(), all.next()) {
            (Role::Station, Some((only, _)), None) => Ok(Some(only)),
            (Role::Station, Some(_), Some(_)) => {
                refuse(format!("several access points exist: set `access_point` of `{}` to one of them", site.name))
            }
            _ => Ok(None),
        };
    };
    if site.role != Role::Station {
        return refuse(format!("`{}` is not a station: only stations have an access point", site.name));
    }
    match (0..).zip(sites).find(|(_, other)| other.name == *name) {
        Some((found, other)) if other.role == Role::AccessPoint => Ok(Some(found)),
        Some(_) => refuse(format!("`{name}` is not an access point; give it `role = \"access-point\"`")),
        None => Err(BuildError::unknown_node(path(), name, sites.iter().map(|site| site.name.clone()).collect())),
    }
}

/// Refuses keys that a node of this role cannot have.
fn check_keys(site: &Site) -> Result<(), BuildError> {
    let refuse = |key: &str, message: String| Err(BuildError::new(format!("node.{}.{key}", site.name), message));
    match (site.role, site.queues) {
        (Role::AccessPoint | Role::Station, Some(Queues::Driver)) if !site.real => {
            return refuse("queues", format!("\"driver\" needs a real kernel: set `real = true` for `{}`", site.name));
        }
        (Role::AccessPoint, _)
        | (_, None | Some(Queues::One))
        | (Role::Station, Some(Queues::Turns | Queues::Driver)) => {}
        (Role::Station, Some(Queues::PerStation | Queues::Mac80211)) => {
            return refuse("queues", format!("`{}` is not an access point: write \"one\" or \"turns\"", site.name));
        }
        (Role::Wired, Some(_)) => {
            return refuse("queues", format!("`{}` has no radio: it has one queue for each link", site.name));
        }
    }
    let TurnsScheduler { target_delay, bulk_delay, .. } = site.turns;
    if bulk_delay.is_some_and(|bulk| bulk.get() < target_delay.get()) {
        let message = format!("`bulk_delay` must be at least `target_delay`, which is {}", target_delay.get());
        return refuse("turns.bulk_delay", message);
    }
    if let Some(queues @ (Queues::Mac80211 | Queues::Turns | Queues::Driver)) = site.queues {
        for (key, given) in [("queue", site.queue.is_some()), ("category_queue", !site.category_queue.is_default())] {
            if given {
                let queues = match queues {
                    Queues::Turns => "turns",
                    Queues::Driver => "driver",
                    _ => "mac80211",
                };
                let message = format!(
                    "`queues = \"{queues}\"` brings its own queues; leave this table out, or write \
                     `queues = \"per-station\"`"
                );
                return refuse(key, message);
            }
        }
    }
    if site.role == Role::Wired {
        let given = given!(site; data_rate mcs downlink_mcs standard channel_width streams channel);
        for (key, given) in given.into_iter().chain([("waypoints", !site.waypoints.is_empty())]) {
            refuse_if!(given, refuse(key, format!("`{}` is wired and has no radio: leave `{key}` out", site.name)));
        }
        if site.queue.is_some() || !site.category_queue.is_default() || !site.class_queue.is_default() {
            return refuse("queue", "the queues of a wired node are those of its links: `[wired.queue]`".to_owned());
        }
    }
    Ok(())
}
