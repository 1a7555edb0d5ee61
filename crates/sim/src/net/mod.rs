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
