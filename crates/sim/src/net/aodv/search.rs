//! Route searches of a node, and the packets that wait for them.

use super::action::{Action, Context};
use crate::config::{self, RepairBy};
use crate::engine::Handle;
use crate::net::LossCause;
use std::collections::VecDeque;
use units::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Search {
    pub(super) destination: u32,
    pub(super) ttl: u8,
    /// Number of requests so far with the largest TTL.
    pub(super) attempts: u8,
    /// Time of the next request, or time at which the search is given up.
    pub(super) due: Instant,
    /// Time at which the last request was made.
    pub(super) asked: Instant,
    pub(super) stage: Stage,
    /// Number of hops of the route that is being repaired.
    pub(super) repairs: Option<u8>,
}

/// What a search waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// A reply.
    Asked,
    /// The search waits because the rate limit of requests is reached.
    HeldBack,
    /// The end of the hold after a failed search.
    Holds,
}

impl Search {
    pub(super) fn new(destination: u32, ttl: u8, repairs: Option<u8>, now: Instant) -> Self {
        Self { destination, ttl, attempts: 0, due: now, asked: now, stage: Stage::Asked, repairs }
    }

    /// True as long as the search widens its ring.
    pub(super) fn widens(&self, given: &config::Aodv) -> bool {
        self.repairs.is_none() || given.repair_by == RepairBy::WholeSearch
    }

    /// True during the hold after a failed search.
    pub(super) fn holds(&self) -> bool {
        self.stage == Stage::Holds
    }
}

/// Largest number of packets that wait at a node during searches.
const HELD: usize = 64;
/// Longest time for which a packet waits.
const HELD_FOR: Duration = Duration::from_secs(30);

/// Packets that wait for a route.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    packets: VecDeque<Held>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    pub(super) packet: Handle,
    pub(super) destination: u32,
    pub(super) until: Instant,
}

impl Buffer {
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// True if a packet waits for a route to this destination.
    pub(super) fn holds(&self, destination: u32, now: Instant) -> bool {
        self.packets.iter().any(|held| held.destination == destination && held.until > now)
    }

    /// Adds a packet. If there is no room, the oldest packet is dropped.
    pub(super) fn hold(&mut self, packet: Handle, destination: u32, cx: &mut Context) {
        if self.packets.len() == HELD
            && let Some(oldest) = self.packets.pop_front()
        {
            cx.out.actions.push(Action::Displace { packet: oldest.packet });
        }
        self.packets.push_back(Held { packet, destination, until: cx.now + HELD_FOR });
    }

    /// Removes all packets for a destination, to send them to the next hop or to discard them.
    pub(super) fn release(&mut self, destination: u32, next: Option<u32>, cx: &mut Context) {
        let now = cx.now;
        self.packets.retain(|held| {
            if held.destination != destination {
                return true;
            }
            let packet = held.packet;
            cx.out.actions.push(match next {
                Some(_) if held.until <= now => Action::Discard { packet, why: LossCause::Buffer },
                Some(to) => Action::Forward { packet, to },
                None => Action::Discard { packet, why: LossCause::NoRoute },
            });
            false
        });
    }
}
