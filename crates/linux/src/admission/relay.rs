//! The decisions of an agent about messages of admission, without sockets and clocks.
//!
//! A message is accepted only from a neighbour through which the sender that it names is reached. So an answer goes to
//! who asked, and nobody can name another as the source of a probe or as the destination of an answer.

use crate::admission::message::{Flow, Neighbour, Peer};
use crate::admission::message::{Kind, Message, UNBOUNDED};
use crate::admission::pace::Pace;
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant, Rate};

/// Most programs of this machine that are remembered.
const MOST_PROGRAMS: usize = 64;
/// A program is forgotten after this much silence. It says that it is there three times in that time.
pub(crate) const FORGOTTEN_AFTER: Duration = Duration::from_secs(30);
/// Least time between two requests to regulate of one flow, as in the simulator. Without it a flow of fifty packets per
/// second would bring as many requests, which all say the same.
const REGULATION_EVERY: Duration = Duration::from_millis(100);
/// Most flows whose last request to regulate is remembered.
const MOST_MARKED: usize = 64;

/// First hop of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// The address is this machine's.
    Here,
    /// The next node, and the address of this machine that packets to it carry.
    Via(Neighbour, Ipv4Addr),
}

/// Source of routes: the kernel.
pub(crate) trait Routes {
    /// Returns the first hop of the route to an address, or `None` if there is no route.
    fn to(&mut self, address: Ipv4Addr) -> Option<Hop>;
}

/// A message to send, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posted {
    pub(crate) to: Peer,
    pub(crate) message: Message,
}

/// The state of an agent in admission.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    programs: Vec<Program>,
    marked: Vec<Marked>,
    pace: Pace,
}

/// A program of this machine that has asked.
#[derive(Clone, Copy, Debug)]
struct Program {
    port: u16,
    destination: Ipv4Addr,
    /// Port of the flow; zero if it is not known.
    flow_port: u16,
    number: u64,
    heard: Instant,
}

/// A flow whose packets arrive marked.
#[derive(Clone, Copy, Debug)]
struct Marked {
    flow: Flow,
    asked: Instant,
}

impl Relay {
    /// Returns the messages to send for one that has come. `available` is what this node can still admit.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        from: Peer,
        message: Message,
        available: Option<Rate>,
        routes: &mut dyn Routes,
    ) -> Vec<Posted> {
        if !self.pace.allows(now, from) {
            return Vec::new();
        }
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (message.source, message.destination) else {
            return Vec::new();
        };
        let lowered = Message { bottleneck: message.bottleneck.min(available.unwrap_or(UNBOUNDED)), ..message };
        match from {
            Peer::Program(port) => self.ask(now, port, lowered, destination, routes).into_iter().collect(),
            Peer::Neighbour(neighbour) => match message.kind {
                Kind::Probe => pass(neighbour, lowered, message, source, destination, routes).into_iter().collect(),
                Kind::Answer | Kind::Regulate => self.hand_back(now, neighbour, message, source, destination, routes),
                // Only programs of this machine may say that.
                Kind::Present => Vec::new(),
            },
        }
    }

    /// Handles a program of this machine that asks or says that it is there.
    fn ask(
        &mut self,
        now: Instant,
        port: u16,
        message: Message,
        destination: Ipv4Addr,
        routes: &mut dyn Routes,
    ) -> Option<Posted> {
        let is_probe = match message.kind {
            Kind::Probe => true,
            Kind::Present => false,
            Kind::Answer | Kind::Regulate => return None,
        };
        if !self.remember(now, port, destination, &message) || !is_probe {
            return None;
        }
        match routes.to(destination)? {
            Hop::Here => Some(Posted { to: Peer::Program(port), message: Message { kind: Kind::Answer, ..message } }),
            Hop::Via(neighbour, own) => {
                let message = Message { source: own.into(), ..message }.passed()?;
                Some(Posted { to: Peer::Neighbour(neighbour), message })
            }
        }
    }

    /// Remembers a program; returns false if there are too many.
    fn remember(&mut self, now: Instant, port: u16, destination: Ipv4Addr, message: &Message) -> bool {
        self.programs.retain(|program| now.since(program.heard) < FORGOTTEN_AFTER);
        let mut program = Program { port, destination, flow_port: message.port, number: message.number, heard: now };
        match self.programs.iter().position(|known| known.port == port) {
            Some(place) => {
                // Saying that it is there does not change which probe it waits for.
                if message.kind != Kind::Probe {
                    program.number = self.programs[place].number;
                }
                self.programs[place] = program;
            }
            None if self.programs.len() == MOST_PROGRAMS => return false,
            None => self.programs.push(program),
        }
        true
    }

    /// Forwards an answer, or a request to regulate, towards the source.
    fn hand_back(
        &self,
        now: Instant,
        from: Neighbour,
        message: Message,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        routes: &mut dyn Routes,
    ) -> Vec<Posted> {
        if !is_via(from, destination, routes) {
            return Vec::new();
        }
        match routes.to(source) {
            None => Vec::new(),
            Some(Hop::Via(next, _)) => forward(from, next, message).into_iter().collect(),
            Some(Hop::Here) => {
                let concerns = |program: &&Program| {
                    let is_flow = program.destination == destination && now.since(program.heard) < FORGOTTEN_AFTER;
                    is_flow
                        && match message.kind {
                            Kind::Answer => program.number == message.number,
                            _ => [program.flow_port, message.port].contains(&0) || program.flow_port == message.port,
                        }
                };
                let concerned = self.programs.iter().filter(concerns);
                concerned.map(|program| Posted { to: Peer::Program(program.port), message }).collect()
            }
        }
    }

    /// Handles a marked packet of a flow to this machine: returns the request to regulate, if one is due.
    pub(crate) fn marked(&mut self, now: Instant, flow: Flow, routes: &mut dyn Routes) -> Option<Posted> {
        let Flow { source, destination, port } = flow;
        self.marked.retain(|marked| now.since(marked.asked) < REGULATION_EVERY);
        if self.marked.len() == MOST_MARKED || self.marked.iter().any(|marked| marked.flow == flow) {
            return None;
        }
        self.marked.push(Marked { flow, asked: now });
        // The agent does not speak for packets that this machine only forwards.
        if routes.to(destination) != Some(Hop::Here) {
            return None;
        }
        let Some(Hop::Via(next, _)) = routes.to(source) else { return None };
        if !self.pace.allows(now, Peer::Neighbour(next)) {
            return None;
        }
        let message = Message {
            kind: Kind::Regulate,
            hops: 1,
            number: 0,
            bottleneck: Rate::bps(0),
            source: source.into(),
            destination: destination.into(),
            port,
        };
        Some(Posted { to: Peer::Neighbour(next), message })
    }

    /// Returns when messages are accepted again; `now` if they are.
    pub(crate) fn rests_until(&self, now: Instant) -> Instant {
        self.pace.rests_until(now)
    }
}

/// Handles a probe of a neighbour: lowers its bottleneck and forwards it, or answers it if it has arrived.
fn pass(
    from: Neighbour,
    lowered: Message,
    message: Message,
    source: Ipv4Addr,
    destination: Ipv4Addr,
    routes: &mut dyn Routes,
) -> Option<Posted> {
    if !is_via(from, source, routes) {
        return None;
    }
    match routes.to(destination)? {
        // The destination returns it unchanged, as in the document: what the destination hears, its last neighbour
        // hears, too.
        Hop::Here => {
            let answer = Message { kind: Kind::Answer, hops: 1, ..message };
            Some(Posted { to: Peer::Neighbour(from), message: answer })
        }
        Hop::Via(next, _) => forward(from, next, lowered),
    }
}

/// Forwards a message, unless that would send it back to where it came from.
fn forward(from: Neighbour, next: Neighbour, message: Message) -> Option<Posted> {
    if next == from {
        return None;
    }
    Some(Posted { to: Peer::Neighbour(next), message: message.passed()? })
}

/// Tells whether the route to an address begins with this neighbour, who is on the link.
fn is_via(neighbour: Neighbour, address: Ipv4Addr, routes: &mut dyn Routes) -> bool {
    let mut begins = |address| matches!(routes.to(address), Some(Hop::Via(next, _)) if next == neighbour);
    begins(address) && (address == neighbour.address || begins(neighbour.address))
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
