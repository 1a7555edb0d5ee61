//! Builds routing: shortest or configured static routes, AODV, or DSR.

use super::aodv::Mesh;
use super::sourced::Sourced;
use super::{Found, Routing};
use crate::config::{Aodv, MobilityModel, Network, Protocol, Route};
use crate::engine::{FlowId, List, NodeId, Number as _, Purpose, Stream};
use crate::mac::{BROADCAST, Frame, LONGEST_MSDU};
use crate::net::aodv::{self, Settings};
use crate::net::{RouteError, Routes, dsr, msdu_bytes};
use crate::radio::{Medium, Timing};
use crate::world::basis::Basis;
use crate::world::error::BuildError;
use crate::world::flows::Flow;
use crate::world::nodes::Node;
use units::Duration;

pub(crate) fn routing(
    basis: &Basis,
    nodes: &List<NodeId, Node>,
    flows: &[Flow],
    medium: &Medium<Frame>,
) -> Result<Routing, BuildError> {
    let Basis { network, names, infrastructure, rules, .. } = *basis;
    match network.routing.protocol {
        Protocol::Static => {
            let routes = routes(network, names, flows, &infrastructure.neighbours(medium))?;
            if medium.is_moving() {
                check_reach(medium, &rules.timing)?;
            } else {
                check_hops(nodes, flows, &routes, medium, rules.timing.slot)?;
            }
            Ok(Routing::Static(routes))
        }
        Protocol::Aodv => {
            check_reach(medium, &rules.timing)?;
            mesh(basis).map(|mesh| Routing::Found(Box::new(mesh)))
        }
        Protocol::Dsr => {
            check_reach(medium, &rules.timing)?;
            sourced(basis, flows).map(|mesh| Routing::Found(Box::new(mesh)))
        }
    }
}

fn mesh(basis: &Basis) -> Result<Found, BuildError> {
    let Basis { network, names, rules, seed, .. } = *basis;
    refuse_paths(network)?;
    let given = network.routing.aodv(rules.edca());
    check_aodv(given)?;
    let settings = Settings::new(given);
    let nodes = names.iter().zip(0..).map(|(name, address)| {
        let random = Stream::new(seed, name, Purpose::ROUTING);
        aodv::Aodv::new(address, &settings, random)
    });
    let nodes = nodes.collect();
    Ok(Found::aodv(given, Mesh::new(given, settings, nodes), rules.index(given.category)))
}

fn refuse_paths(network: &Network) -> Result<(), BuildError> {
    if network.routing.route.is_empty() {
        return Ok(());
    }
    let message = "a path by hand needs `protocol = \"static\"`: AODV and DSR find their own";
    Err(BuildError::new("routing.route", message))
}

fn sourced(basis: &Basis, flows: &[Flow]) -> Result<Found, BuildError> {
    let Basis { network, names, rules, seed, .. } = *basis;
    refuse_paths(network)?;
    let room = LONGEST_MSDU - dsr::longest_header();
    let too_long = |flow: &&Flow| flow.supply.first().is_some_and(|length| msdu_bytes(length) > room);
    if let Some(flow) = flows.iter().find(too_long) {
        let message = format!("source routes leave {room} of an 802.11 frame for a packet: choose shorter packets");
        return Err(BuildError::new(format!("flow.{}.traffic", flow.identity.name), message));
    }
    let given = network.routing.dsr(rules.edca());
    let settings = dsr::Settings::new(given);
    let node =
        |(name, address): (&String, u32)| dsr::Dsr::new(address, &settings, Stream::new(seed, name, Purpose::ROUTING));
    let nodes = names.iter().zip(0..).map(node).collect();
    Ok(Found::dsr(Sourced::new(settings, nodes), rules.index(given.category)))
}

/// Refuses settings with which nodes would never send, or never stop sending.
fn check_aodv(given: &Aodv) -> Result<(), BuildError> {
    let counts = [
        ("net_diameter", given.net_diameter),
        ("ttl_start", given.ttl_start),
        ("rreq_ratelimit", given.rreq_ratelimit),
        ("rerr_ratelimit", given.rerr_ratelimit),
    ];
    match counts.into_iter().find(|&(_, count)| count == 0) {
        Some((key, _)) => Err(BuildError::new(format!("routing.aodv.{key}"), format!("`{key}` must be at least 1"))),
        None => Ok(()),
    }
}

fn routes(network: &Network, names: &[String], flows: &[Flow], neighbours: &[Vec<u32>]) -> Result<Routes, BuildError> {
    let by_hand = paths_by_hand(network, names)?;
    // With another seed, such a flow may use any of the paths.
    if network.flow.iter().any(|flow| [&flow.from, &flow.to].into_iter().any(|end| end == "any")) {
        (0..by_hand.len()).for_each(|route| network.routing.marks.read(format!("route.{route}"), ()));
    }
    let mut paths: Vec<Vec<u32>> = Vec::with_capacity(flows.len());
    for flow in flows {
        if flow.to == BROADCAST {
            paths.push(Vec::new());
            continue;
        }
        let name = |node: u32| &names[node as usize];
        let from = u32::from(flow.from);
        let given = by_hand.iter().position(|path| (path.first(), path.last()) == (Some(&from), Some(&flow.to)));
        let given = given.map(|route| network.routing.marks.read(format!("route.{route}"), &by_hand[route]));
        let path = match (given, flow.role.answers()) {
            (Some(path), _) => Routes::check(neighbours, path).map(|()| path.clone()),
            // Answers go along the reverse path.
            (None, Some(of)) => {
                let path: Vec<u32> = paths[of.place()].iter().rev().copied().collect();
                Routes::check(neighbours, &path).map(|()| path)
            }
            (None, None) => Routes::shortest(neighbours, from, flow.to),
        };
        let path = path.map_err(|error| match error {
            RouteError::Unreachable => {
                let (from, to) = (name(from), name(flow.to));
                let moves = network.mobility.model != MobilityModel::Static;
                let later = if moves { " at the start; `aodv` and `dsr` search again as nodes move" } else { "" };
                let message = format!(
                    "no route from `{from}` to `{to}`: no chain of nodes within range of each other or joined by wire{later}"
                );
                BuildError::new(format!("flow.{}.to", flow.identity.name), message)
            }
            RouteError::TooFar { from, to } => {
                let message =
                    format!("`{}` cannot send to `{}`, which is out of range or not its station", name(from), name(to));
                BuildError::new("routing.route", message)
            }
            RouteError::Twice { node } => {
                BuildError::new("routing.route", format!("the path passes `{}` twice", name(node)))
            }
        })?;
        paths.push(path);
    }
    let mut routes = Routes::default();
    for path in &paths {
        routes.add(path);
    }
    Ok(routes)
}

/// Refuses ranges over which a frame is given up before it arrives, as its time-out ends while it is in flight. Links
/// that come and go may be too long for an answer within a slot; each packet on them is given up.
fn check_reach(medium: &Medium<Frame>, timing: &Timing) -> Result<(), BuildError> {
    let (longest, most) = (medium.longest_delay(), timing.sifs + timing.slot);
    if longest < most {
        return Ok(());
    }
    let message = format!(
        "nodes that decode each other can be so far apart that frames take {longest}, but an answer must come within a \
         SIFS and a slot, {most}: lower the range, or the area in which nodes move"
    );
    Err(BuildError::new("radio.range", message))
}

/// Refuses hops that are too long. A response must begin within the time-out, which allows one slot for a signal's
/// round trip (IEEE 802.11-2016, 10.3.2.9). Over a longer hop every packet would be given up.
fn check_hops(
    nodes: &List<NodeId, Node>,
    flows: &[Flow],
    routes: &Routes,
    medium: &Medium<Frame>,
    slot: Duration,
) -> Result<(), BuildError> {
    for (flow, index) in flows.iter().zip((0..).map(FlowId::at)) {
        for (from, to) in radio_hops(nodes, routes, index) {
            let late = medium.delay(from, to).expect("routes go over links") * 2;
            let is_answered = medium.reaches(to, from, true);
            let [from, to] = [from, to].map(|node| &nodes[node.into()].name);
            let message = if !is_answered {
                format!("`{from}` is out of range of the answers of `{to}`: raise the `tx_power` of `{to}`")
            } else if late > slot {
                format!("`{from}` and `{to}` are too far apart: their round trip of {late} exceeds a slot of {slot}")
            } else {
                continue;
            };
            return Err(BuildError::new(format!("flow.{}.to", flow.identity.name), message));
        }
    }
    Ok(())
}

pub(crate) fn radio_hops(
    nodes: &List<NodeId, Node>,
    routes: &Routes,
    flow: FlowId,
) -> impl Iterator<Item = (u32, u32)> {
    let hops = routes.hops(flow).iter().copied();
    hops.filter(|&(from, to)| !nodes[from.into()].egress.is_wired_to(to))
}

/// Returns the paths that the scenario gives, ends included.
fn paths_by_hand(network: &Network, names: &[String]) -> Result<Vec<Vec<u32>>, BuildError> {
    let find = |name: &String| match names.iter().position(|known| known == name) {
        Some(index) => Ok(u32::try_from(index).expect("nodes were counted before")),
        None => Err(BuildError::unknown_node("routing.route", name, names.to_vec())),
    };
    let given = &network.routing.route;
    for (index, route) in given.iter().enumerate() {
        let refuse = |key: &str, message: String| Err(BuildError::new(format!("routing.route.{index}.{key}"), message));
        let Route { from, to, via: _ } = route;
        if from == to {
            return refuse(
                "to",
                format!("the path begins and ends at `{from}`: name two nodes, or leave the path out"),
            );
        }
        if given[..index].iter().any(|other| (&other.from, &other.to) == (from, to)) {
            let message = format!("an earlier path leads from `{from}` to `{to}` too; leave one of the two out");
            return refuse("from", message);
        }
    }
    given
        .iter()
        .map(|route| std::iter::once(&route.from).chain(&route.via).chain([&route.to]).map(find).collect())
        .collect()
}
