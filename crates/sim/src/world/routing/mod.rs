//! Next hops of packets: by fixed routes, AODV or DSR. The network executes a protocol's actions step by step.

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

/// Routing of packets.
pub(crate) enum Routing {
    Static(Routes),
    Found(Box<Found>),
}

impl Routing {
    /// The protocol that discovers routes, if the network has one.
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

    /// Returns the next hop of a flow at its first node; all nodes if a route must be found, one port per category.
    pub(crate) fn first_hop(&self, flow: FlowId, of: &Flow) -> u32 {
        match self {
            Self::Static(routes) if of.to != BROADCAST => {
                routes.next(flow, of.from.into()).expect("a route leaves its start")
            }
            Self::Static(_) | Self::Found(_) => BROADCAST,
        }
    }

    /// Results of a node's protocol; none with fixed routes.
    pub(crate) fn counts(&self, node: NodeId) -> Option<&results::Routing> {
        match self {
            Self::Static(_) => None,
            Self::Found(found) => Some(found.counts(node)),
        }
    }

    /// The DSR Options header of a packet, for traces.
    pub(crate) fn picture(&self, handle: Handle, packet: &Packet) -> Option<Box<DsrOptions>> {
        self.sourced()?.picture(handle, packet)
    }

    /// True if nodes hear frames for others.
    pub(crate) fn overhears(&self) -> bool {
        self.sourced().is_some()
    }
}
