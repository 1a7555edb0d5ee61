//! Next hops of packets, with fixed routes, AODV or DSR. The network executes a protocol's actions one by one.

mod aodv;
pub(crate) mod build;
mod found;
mod plane;
mod sourced;

pub(crate) use found::Found;
pub(crate) use plane::{Desk, Step};

use crate::engine::{FlowId, Handle, NodeId};
use crate::mac::BROADCAST;
use crate::net::{Packet, Routes};
use crate::results;
use crate::trace::DsrOptions;
use crate::world::flows::Flow;
use sourced::Sourced;

/// How packets are routed.
pub(crate) enum Routing {
    Static(Routes),
    Found(Box<Found>),
}

impl Routing {
    /// Returns the protocol that discovers routes, if the network has one.
    pub(crate) fn found(&mut self) -> Option<&mut Found> {
        match self {
            Self::Static(_) => None,
            Self::Found(found) => Some(found),
        }
    }

    fn sourced(&self) -> Option<&Sourced> {
        match self {
            Self::Found(found) => found.sourced(),
            Self::Static(_) => None,
        }
    }

    /// Returns a flow's next hop at its first node: all nodes if routes are discovered, as ports are per category.
    pub(crate) fn first_hop(&self, flow: FlowId, of: &Flow) -> u32 {
        match self {
            Self::Static(routes) if of.to != BROADCAST => {
                routes.next(flow, of.from.into()).expect("a route leaves its start")
            }
            Self::Static(_) | Self::Found(_) => BROADCAST,
        }
    }

    /// Returns the results of a node's protocol; `None` with fixed routes.
    pub(crate) fn counts(&self, node: NodeId) -> Option<&results::Routing> {
        match self {
            Self::Static(_) => None,
            Self::Found(found) => Some(found.counts(node)),
        }
    }

    /// Returns a packet's DSR Options header as traces show it.
    pub(crate) fn picture(&self, handle: Handle, packet: &Packet) -> Option<Box<DsrOptions>> {
        self.sourced()?.picture(handle, packet)
    }

    /// True if nodes handle frames for other nodes, too.
    pub(crate) fn overhears(&self) -> bool {
        self.sourced().is_some()
    }
}
