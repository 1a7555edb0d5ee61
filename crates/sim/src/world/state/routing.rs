//! Routing state, by fixed routes or by AODV.

use crate::config::RoutingPriority;
use crate::engine::{Arena, Handle, List, NodeId};
use crate::net::Routes;
use crate::net::aodv::{Aodv, Context, Message, Output, Settings};
use crate::record::Ledger;
use units::Instant;

/// Routing of packets.
pub(crate) enum Routing {
    Static(Routes),
    Aodv(Box<Mesh>),
}

/// A network that routes by AODV.
pub(crate) struct Mesh {
    pub(crate) settings: Settings,
    pub(crate) nodes: List<NodeId, Aodv>,
    /// By node: when the earliest pending `Route` event fires; later ones are stale.
    pub(crate) armed: List<NodeId, Instant>,
    pub(crate) messages: Arena<Message>,
    pub(crate) out: Output,
    /// Every message, wherever it is sent.
    pub(crate) ledger: Ledger,
    /// Broadcasts that wait for their random delay to end.
    pub(crate) delayed: u64,
    pub(crate) purge_on_failure: bool,
    /// Scratch space for what a broken link makes void.
    pub(crate) purged: Vec<Handle>,
    pub(crate) priority: RoutingPriority,
    /// The index of the access category of messages.
    pub(crate) category: u8,
}

impl Mesh {
    pub(crate) fn new(described: &crate::config::Aodv, settings: Settings, nodes: Vec<Aodv>, category: u8) -> Self {
        Self {
            settings,
            armed: vec![Instant::NEVER; nodes.len()].into(),
            nodes: nodes.into(),
            messages: Arena::default(),
            out: Output::default(),
            ledger: Ledger::default(),
            delayed: 0,
            purge_on_failure: described.purge_on_failure,
            purged: Vec::new(),
            priority: described.routing_priority,
            category,
        }
    }

    /// Tells a node something.
    pub(crate) fn tell<R>(&mut self, node: NodeId, now: Instant, act: impl FnOnce(&mut Aodv, &mut Context) -> R) -> R {
        let Self { settings, nodes, out, .. } = self;
        act(&mut nodes[node], &mut Context { now, settings, out })
    }
}
