//! The network layer: packets with their headers, and the next hop of each.

mod packet;
mod routing;

pub(crate) use packet::{MOST_PAYLOAD, Packet, Waiting, msdu_bytes, network_bytes};
pub(crate) use routing::{RouteError, Routes};
