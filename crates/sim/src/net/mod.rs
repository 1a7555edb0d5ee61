//! The network layer: packets with their headers, and the next hop of each.

pub(crate) mod aodv;
pub(crate) mod dsr;
mod packet;
mod routing;

pub use packet::LossCause;
pub(crate) use packet::{
    Load, MOST_PAYLOAD, MOST_SEGMENT, MTU, Packet, Transit, Waiting, ip_bytes, msdu_bytes, network_bytes, serial,
};
pub(crate) use routing::{RouteError, Routes};

/// Returns which nodes can be reached from a node; `links` lists the neighbours of each.
#[cfg(test)]
fn reachable(links: &[Vec<u32>], from: u32) -> Vec<bool> {
    let mut found = vec![false; links.len()];
    let mut todo = vec![from];
    while let Some(node) = todo.pop() {
        if !std::mem::replace(&mut found[node as usize], true) {
            todo.extend(&links[node as usize]);
        }
    }
    found
}
