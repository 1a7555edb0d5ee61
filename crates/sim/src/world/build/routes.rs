//! Static routes, shortest or by hand.

use super::super::{BuildError, Flow};
use crate::config::Network;
use crate::mac::{BROADCAST, Frame};
use crate::net::{RouteError, Routes};
use crate::radio::Medium;
use units::Duration;

pub(super) fn routes(
    network: &Network,
    names: &[String],
    flows: &[Flow],
    medium: &Medium<Frame>,
) -> Result<Routes, BuildError> {
    let count = u32::try_from(names.len()).expect("nodes were counted before");
    // In the scenario's order, so that ties between routes do not depend on distances.
    let neighbours: Vec<Vec<u32>> = (0..count)
        .map(|node| {
            let mut reached: Vec<u32> = medium.neighbours(node).collect();
            reached.sort_unstable();
            reached
        })
        .collect();
    let by_hand = paths_by_hand(network, names)?;
    let mut routes = Routes::default();
    for flow in flows {
        if flow.to == BROADCAST {
            routes.add(&[]);
            continue;
        }
        let name = |node: u32| &names[node as usize];
        let given = by_hand.iter().find(|path| (path.first(), path.last()) == (Some(&flow.from), Some(&flow.to)));
        let path = match given {
            Some(path) => Routes::check(&neighbours, path).map(|()| path.clone()),
            None => Routes::shortest(&neighbours, flow.from, flow.to),
        };
        let path = path.map_err(|error| match error {
            RouteError::Unreachable => {
                let (from, to) = (name(flow.from), name(flow.to));
                let message = format!("no route from `{from}` to `{to}`: no chain of nodes within range of each other");
                BuildError::new(format!("flow.{}.to", flow.identity.name), message)
            }
            RouteError::TooFar { from, to } => {
                let message = format!("`{}` and `{}` are not within range of each other", name(from), name(to));
                BuildError::new("routing.route", message)
            }
            RouteError::Twice { node } => {
                BuildError::new("routing.route", format!("the path comes by `{}` twice", name(node)))
            }
        })?;
        routes.add(&path);
    }
    Ok(routes)
}

/// A response must begin within the time-out, which has a slot for the way there and back (10.3.2.9). Over a longer hop
/// every packet would be given up; and beyond the whole time-out, before it has arrived.
pub(super) fn check_delays(
    names: &[String],
    flows: &[Flow],
    (routes, medium): (&Routes, &Medium<Frame>),
    slot: Duration,
) -> Result<(), BuildError> {
    for (flow, index) in flows.iter().zip(0..) {
        for &(from, to) in routes.hops(index) {
            let delay = medium.delay(from, to).expect("routes go over links");
            if delay * 2 > slot {
                let [from, to] = [from, to].map(|node| &names[node as usize]);
                let message = format!(
                    "`{from}` and `{to}` are too far apart: an answer takes {} longer by distance, a slot is {slot}",
                    delay * 2
                );
                return Err(BuildError::new(format!("flow.{}.to", flow.identity.name), message));
            }
        }
    }
    Ok(())
}

/// The paths given by hand, ends included.
fn paths_by_hand(network: &Network, names: &[String]) -> Result<Vec<Vec<u32>>, BuildError> {
    let find = |name: &String| match names.iter().position(|known| known == name) {
        Some(index) => Ok(u32::try_from(index).expect("nodes were counted before")),
        None => Err(BuildError::unknown_node("routing.route", name, names.to_vec())),
    };
    network
        .routing
        .route
        .iter()
        .map(|route| std::iter::once(&route.from).chain(&route.via).chain([&route.to]).map(find).collect())
        .collect()
}
