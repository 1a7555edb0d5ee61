//! An agent's decisions about admission messages, without sockets and clocks.
//!
//! A message is accepted only from the neighbour through which its named sender is reached. So answers go to the
//! program that asked, and no sender can name another host as source of a probe or destination of an answer.

use crate::admission::ledger::{FORGOTTEN_AFTER, Ledger, PROBED_FOR};
use crate::admission::message::{Flow, Kind, Message, Neighbour, Peer, Program, UNBOUNDED};
use crate::admission::pace::{Pace, Standing};
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant, Rate};

/// Maximum number of remembered programs of this machine. A new one displaces a program of the user with most entries:
/// the one that was silent for longest and has no open probe.
const MOST_PROGRAMS: usize = 64;
/// A user with more programs than this also loses one with an open probe, if another user needs the entry.
const MOST_OPEN: usize = 8;
/// Minimum time between two requests to regulate one flow, as in the simulator. Without this limit a flow of fifty
/// packets per second would cause fifty equal requests per second.
const REGULATION_EVERY: Duration = Duration::from_millis(100);
/// A single marked packet in this time is ignored: congestion marks many, and any host on the link can forge one.
const ALONE_FOR: Duration = Duration::from_secs(1);
/// Maximum number of flows whose marked packets are remembered.
const MOST_MARKED: usize = 64;

/// First hop of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// The address is this machine's.
    Here,
    /// Next node, and the address of this machine in packets to that node.
    Via(Neighbour, Ipv4Addr),
}

/// Source of routes; outside of tests the kernel.
pub(crate) trait Routes {
    /// Returns the first hop of the route to an address, or `None` if there is no route.
    fn to(&mut self, address: Ipv4Addr) -> Option<Hop>;
}

/// A message to send, and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posted {
    pub(crate) to: Peer,
    pub(crate) message: Message,
}

/// Rate that this node can still admit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    /// Rate that the controllers still admit; `None` if none sets a bound.
    pub(crate) available: Option<Rate>,
    /// Bound on the sum of all flows; `None` if there is no bound.
    pub(crate) at_most: Option<Rate>,
}

/// A message that may be handled, with the ends of its flow.
struct Arrived<'r> {
    now: Instant,
    message: Message,
    source: Ipv4Addr,
    destination: Ipv4Addr,
    room: Room,
    routes: &'r mut dyn Routes,
}

/// An agent's state for admission control.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    programs: Vec<Asked>,
    ledger: Ledger,
    marked: Vec<Marked>,
    pace: Pace,
}

/// A program of this machine that has sent a probe or a `Present` message.
#[derive(Clone, Copy, Debug)]
struct Asked {
    program: Program,
    destination: Ipv4Addr,
    flow: u64,
    number: u64,
    heard: Instant,
    /// Instant until which an answer to the program's probe may arrive.
    open_until: Instant,
}

/// A flow whose packets arrive with marks.
#[derive(Clone, Copy, Debug)]
struct Marked {
    flow: Flow,
    first: Instant,
    last: Instant,
    asked: Option<Instant>,
}

impl Relay {
    /// Returns the messages to send after this one has arrived.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        from: Peer,
        message: Message,
        room: Room,
        routes: &mut dyn Routes,
    ) -> Vec<Posted> {
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (message.source, message.destination) else {
            return Vec::new();
        };
        let mut standing = Standing::Stranger;
        if let Peer::Neighbour(neighbour) = from {
            standing = self.standing(now, &message);
            // If this node has not seen the flow, the request is ignored.
            if message.kind == Kind::Regulate && standing == Standing::Stranger {
                return Vec::new();
            }
            let end = match message.kind {
                Kind::Probe | Kind::Present => source,
                Kind::Answer | Kind::Regulate => destination,
            };
            // This check comes first, so that a sender with a forged name cannot use up the quota of another sender.
            if !self.pace.checks(now, standing) || !is_via(neighbour, end, routes) {
                return Vec::new();
            }
        }
        if !self.pace.allows(now, from, standing) {
            return Vec::new();
        }
        let arrived = Arrived { now, message, source, destination, room, routes };
        match (from, message.kind) {
            (Peer::Program(program), Kind::Probe | Kind::Present) => self.ask(arrived, program).into_iter().collect(),
            // Programs neither answer nor regulate.
            (Peer::Program(_), _) => Vec::new(),
            (Peer::Neighbour(from), Kind::Probe | Kind::Present) => self.pass(arrived, from).into_iter().collect(),
            (Peer::Neighbour(from), _) => self.hand_back(arrived, from),
        }
    }

    /// Returns the standing of a message: whether it belongs to an admitted flow or answers a program's probe. A sender
    /// that has not seen the flow's messages does not know the numbers.
    fn standing(&self, now: Instant, message: &Message) -> Standing {
        let is_answer = || self.programs.iter().any(|asked| asked.number == message.number);
        match message.kind {
            Kind::Answer if is_answer() => Standing::Known,
            _ if !self.ledger.knows(now, message) => Standing::Stranger,
            Kind::Regulate => Standing::Regulates,
            _ => Standing::Known,
        }
    }

    /// Lowers a probe's bottleneck to the rate that this node can still admit, and reserves that rate for the flow.
    fn lower(&mut self, now: Instant, message: Message, room: Room) -> Message {
        let bottleneck = message.bottleneck.min(room.available.unwrap_or(UNBOUNDED));
        let left = self.ledger.left(now, &message, room.at_most.unwrap_or(UNBOUNDED));
        let lowered = Message { bottleneck: bottleneck.min(left), ..message };
        match message.kind {
            Kind::Probe if Rate::bps(0) < message.rate && message.rate <= lowered.bottleneck => {
                self.ledger.reserve(now, &message);
            }
            Kind::Present => self.ledger.keep(now, &message),
            _ => {}
        }
        lowered
    }

    /// Handles the message of a program of this machine: a probe or a sign of life.
    fn ask(&mut self, arrived: Arrived, program: Program) -> Option<Posted> {
        let Arrived { now, message, destination, room, routes, .. } = arrived;
        if !self.remember(now, program, destination, &message) {
            return None;
        }
        match (routes.to(destination)?, message.kind) {
            // A flow within this machine takes nothing from its links.
            (Hop::Here, Kind::Probe) => {
                let bottleneck = [Some(message.bottleneck), room.available, room.at_most].into_iter().flatten().min();
                let message = Message { kind: Kind::Answer, bottleneck: bottleneck?, ..message };
                Some(Posted { to: Peer::Program(program), message })
            }
            (Hop::Here, _) => None,
            (Hop::Via(neighbour, own), _) => {
                let message = self.lower(now, Message { source: own.into(), ..message }, room).passed()?;
                Some(Posted { to: Peer::Neighbour(neighbour), message })
            }
        }
    }

    /// Remembers a program, or forgets it if its flow has ended. Returns true if there is an entry for the program.
    fn remember(&mut self, now: Instant, program: Program, destination: Ipv4Addr, message: &Message) -> bool {
        self.programs.retain(|asked| now.since(asked.heard) < FORGOTTEN_AFTER);
        let known = self.programs.iter().position(|asked| asked.program == program);
        if message.kind == Kind::Present && message.rate == Rate::bps(0) {
            known.map(|place| self.programs.remove(place));
            return true;
        }
        let &Message { flow, number, .. } = message;
        let open_until = if message.kind == Kind::Probe { now + PROBED_FOR } else { Instant::ZERO };
        let mut asked = Asked { program, destination, flow, number, heard: now, open_until };
        if let Some(place) = known {
            // A `Present` message does not change which probe the program waits for.
            if message.kind != Kind::Probe {
                let before = self.programs[place];
                (asked.number, asked.open_until) = (before.number, before.open_until);
            }
            self.programs[place] = asked;
            return true;
        }
        if self.programs.len() == MOST_PROGRAMS {
            let Some(place) = self.least_needed(now, program.user) else { return false };
            self.programs.remove(place);
        }
        self.programs.push(asked);
        true
    }

    /// Returns the index of the entry that a new program of this user replaces.
    fn least_needed(&self, now: Instant, user: u32) -> Option<usize> {
        let of = |user| self.programs.iter().filter(|asked| asked.program.user == user).count();
        let most = self.programs.iter().map(|asked| of(asked.program.user)).max()?;
        let of_most = self.programs.iter().enumerate().filter(|(_, asked)| of(asked.program.user) == most);
        let may_go = |asked: &Asked| asked.open_until <= now || (most > MOST_OPEN && asked.program.user != user);
        let least =
            of_most.filter(|(_, asked)| may_go(asked)).min_by_key(|(_, asked)| (now < asked.open_until, asked.heard));
        least.map(|(place, _)| place)
    }

    /// Handles a neighbour's probe, or message that a flow exists: lowers its bottleneck, and forwards or answers it.
    fn pass(&mut self, arrived: Arrived, from: Neighbour) -> Option<Posted> {
        let Arrived { now, message, destination, room, routes, .. } = arrived;
        let hop = routes.to(destination)?;
        if hop == Hop::Here {
            self.ledger.arrive(now, &message);
        }
        match (hop, message.kind) {
            // The destination returns the bottleneck unchanged, as in the document: its last neighbour hears the same.
            (Hop::Here, Kind::Probe) => {
                let answer = Message { kind: Kind::Answer, hops: 1, ..message };
                Some(Posted { to: Peer::Neighbour(from), message: answer })
            }
            (Hop::Here, _) => None,
            (Hop::Via(next, _), _) if next == from => None,
            (Hop::Via(next, _), _) => forward(from, next, self.lower(now, message, room)),
        }
    }

    /// Forwards an answer, or a request to regulate, towards the source.
    fn hand_back(&mut self, arrived: Arrived, from: Neighbour) -> Vec<Posted> {
        let Arrived { now, message, source, destination, routes, .. } = arrived;
        match routes.to(source) {
            None => Vec::new(),
            Some(Hop::Via(next, _)) => forward(from, next, message).into_iter().collect(),
            Some(Hop::Here) => {
                let is_answer = message.kind == Kind::Answer;
                let concerns = |asked: &&mut Asked| {
                    let is_flow = if is_answer { asked.number == message.number } else { asked.flow == message.flow };
                    is_flow && asked.destination == destination && now.since(asked.heard) < FORGOTTEN_AFTER
                };
                let hear = |asked: &mut Asked| {
                    if is_answer {
                        asked.open_until = now;
                    }
                    Posted { to: Peer::Program(asked.program), message }
                };
                self.programs.iter_mut().filter(concerns).map(hear).collect()
            }
        }
    }

    /// Handles a marked packet to this machine: returns the due requests to regulate, for the flows that the packet's
    /// source announced at its port. The first marked packet causes no request.
    pub(crate) fn marked(&mut self, now: Instant, flow: Flow, routes: &mut dyn Routes) -> Vec<Posted> {
        let Flow { source, destination, port } = flow;
        self.marked.retain(|marked| now.since(marked.last) < ALONE_FOR);
        let is_full = self.marked.len() == MOST_MARKED;
        let Some(marked) = self.marked.iter_mut().find(|marked| marked.flow == flow) else {
            if !is_full {
                self.marked.push(Marked { flow, first: now, last: now, asked: None });
            }
            return Vec::new();
        };
        marked.last = now;
        if now.since(marked.asked.unwrap_or(marked.first)) < REGULATION_EVERY {
            return Vec::new();
        }
        marked.asked = Some(now);
        // The agent makes no requests for packets that this machine only forwards.
        if routes.to(destination) != Some(Hop::Here) {
            return Vec::new();
        }
        let Some(Hop::Via(next, _)) = routes.to(source) else { return Vec::new() };
        let to = Peer::Neighbour(next);
        let message = |flow| Message {
            kind: Kind::Regulate,
            hops: 1,
            number: 0,
            bottleneck: Rate::bps(0),
            source: source.into(),
            destination: destination.into(),
            port,
            flow,
            rate: Rate::bps(0),
        };
        let numbers = self.ledger.numbers(now, source.into(), port);
        let allowed = numbers.take_while(|_| self.pace.allows(now, to, Standing::Regulates));
        allowed.map(|flow| Posted { to, message: message(flow) }).collect()
    }
}

/// Forwards a message, unless the next node is the one that sent it.
fn forward(from: Neighbour, next: Neighbour, message: Message) -> Option<Posted> {
    if next == from { None } else { Some(Posted { to: Peer::Neighbour(next), message: message.passed()? }) }
}

/// True if the route to an address begins with this neighbour, at the neighbour's interface.
fn is_via(neighbour: Neighbour, address: Ipv4Addr, routes: &mut dyn Routes) -> bool {
    let mut begins = |address| matches!(routes.to(address), Some(Hop::Via(next, _)) if next == neighbour);
    begins(address) && (address == neighbour.address || begins(neighbour.address))
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
