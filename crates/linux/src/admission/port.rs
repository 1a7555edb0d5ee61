//! Sockets of admission: one UDP port at each named interface and at loopback and, if allowed, a packet socket that
//! sees marked packets. Nothing blocks, and each turn reads a bounded number of messages.

use crate::admission::Settings;
use crate::admission::marks::Marks;
use crate::admission::message::{LENGTH, Message};
use crate::admission::message::{Neighbour, Peer};
use crate::admission::relay::{Hop, Posted, Relay, Routes};
use crate::error::Error;
use crate::kernel::routes::{self, NextHop};
use crate::kernel::socket::{
    LOAD_BYTE, LOAD_HALF, NETWORK_HEADER, RETURN, TTL, attach_filter, bind_to_interface, datagrams, jump, statement,
};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, bind, recvfrom, sendto};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use units::{Instant, Rate};

/// Name of loopback, which is the same in every network namespace.
const LOOPBACK: &str = "lo";
/// Most messages read in a turn.
const TURN: usize = 64;

/// The sockets of an agent. Its descriptor ([`AsFd`]) is readable while there is something to do.
pub(crate) struct Port {
    settings: Settings,
    epoll: OwnedFd,
    programs: OwnedFd,
    interfaces: Vec<Interface>,
    marks: Option<Marks>,
    relay: Relay,
    routes: Table,
    /// Nothing is read before this instant, because there was too much.
    rests: Option<Instant>,
}

struct Interface {
    name: String,
    index: u32,
    socket: OwnedFd,
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl Port {
    /// Listens at loopback, for programs of this machine. Also returns why marked packets cannot be noticed, if so.
    ///
    /// # Errors
    /// Another agent listens there, or the kernel refuses.
    pub(crate) fn open(settings: &Settings) -> Result<(Self, Option<Error>), Error> {
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, settings.port.get());
        let failed = |errno: Errno| Error::Kernel { what: format!("listen at {address} (UDP)"), source: errno.into() };
        let programs = datagrams().map_err(failed)?;
        // A socket that is bound to no interface would get in the way of those that are.
        bind_to_interface(&programs, LOOPBACK).map_err(failed)?;
        bind(&programs, &address).map_err(failed)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        epoll::add(&epoll, &programs, EventData::new_u64(0), EventFlags::IN).map_err(failed)?;
        let (marks, blind) = match Marks::open() {
            Ok(marks) => (Some(marks), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(marks) = &marks {
            epoll::add(&epoll, marks, EventData::new_u64(0), EventFlags::IN).map_err(failed)?;
        }
        let (relay, routes) = (Relay::default(), Table(routes::Routes::open()?));
        let settings = settings.clone();
        Ok((Self { settings, epoll, programs, interfaces: Vec::new(), marks, relay, routes, rests: None }, blind))
    }

    /// Applies other settings, except for the port, which stays. `None`: listens at no interface.
    pub(crate) fn change(&mut self, settings: Option<&Settings>) {
        let port = self.settings.port;
        let (interfaces, at_most) = settings.map(|to| (to.interfaces.clone(), to.at_most)).unwrap_or_default();
        self.settings = Settings { interfaces, port, at_most };
    }

    /// Listens at those named interfaces that exist, by their numbers. Returns the events.
    pub(crate) fn follow(&mut self, number: impl Fn(&str) -> Option<u32>) -> Vec<(String, Result<(), Error>)> {
        let names = &self.settings.interfaces;
        // Closing a socket removes it from the epoll.
        self.interfaces.retain(|open| names.contains(&open.name) && number(&open.name) == Some(open.index));
        let mut news = Vec::new();
        for name in names {
            let Some(index) = number(name) else { continue };
            if self.interfaces.iter().any(|open| open.name == *name) {
                continue;
            }
            let opened = self.listen(name).map_err(|errno| {
                let what = format!("listen at {name}, UDP port {}", self.settings.port);
                Error::Kernel { what, source: errno.into() }
            });
            news.push((
                name.clone(),
                opened.map(|socket| self.interfaces.push(Interface { name: name.clone(), index, socket })),
            ));
        }
        news
    }

    fn listen(&self, name: &str) -> Result<OwnedFd, Errno> {
        let socket = datagrams()?;
        bind_to_interface(&socket, name)?;
        let length = u32::try_from(LENGTH + 8).map_err(|_| Errno::INVAL)?;
        // Straight from a neighbour, and of a message's length with the UDP header.
        let program = [
            statement(LOAD_BYTE, NETWORK_HEADER + 8),
            jump(TTL.into(), 0, 3),
            statement(LOAD_HALF, 4),
            jump(length, 0, 1),
            statement(RETURN, u32::MAX),
            statement(RETURN, 0),
        ];
        attach_filter(&socket, &program)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, self.settings.port.get()))?;
        epoll::add(&self.epoll, &socket, EventData::new_u64(0), self.interest())?;
        Ok(socket)
    }

    /// Returns the next instant at which there is something to do without a message.
    pub(crate) fn next(&self) -> Instant {
        let of_marks = self.marks.as_ref().and_then(|marks| marks.rests);
        self.rests.into_iter().chain(of_marks).min().unwrap_or(Instant::NEVER)
    }

    /// Handles what has arrived. `available` is what the controllers of this node can still admit.
    pub(crate) fn work(&mut self, now: Instant, available: Option<Rate>) {
        let available = [available, self.settings.at_most].into_iter().flatten().min();
        let mut until = self.relay.rests_until(now);
        for _ in 0..TURN {
            if until > now {
                break;
            }
            let Some((from, message)) = self.receive() else { break };
            if let Ok(message) = Message::read(&message) {
                for posted in self.relay.take(now, from, message, available, &mut self.routes) {
                    self.send(&posted);
                }
            }
            until = self.relay.rests_until(now);
        }
        self.rest((until > now).then_some(until));
        self.look(now);
    }

    /// Asks the sources of marked packets to regulate.
    fn look(&mut self, now: Instant) {
        let Some(marks) = &mut self.marks else { return };
        let was_resting = marks.rests.is_some();
        let flows = marks.look(now);
        let (rests, interest) = (marks.rests.is_some(), marks.interest());
        if rests != was_resting {
            // If this fails, the agent only wakes up once too often.
            let _ = epoll::modify(&self.epoll, marks, EventData::new_u64(0), interest);
        }
        for flow in flows {
            if let Some(posted) = self.relay.marked(now, flow, &mut self.routes) {
                self.send(&posted);
            }
        }
    }

    /// Pauses reading until then: the kernel drops what its buffers have no room for.
    fn rest(&mut self, until: Option<Instant>) {
        let before = std::mem::replace(&mut self.rests, until);
        if before.is_some() == until.is_some() {
            return;
        }
        let interest = self.interest();
        for socket in self.interfaces.iter().map(|open| &open.socket).chain([&self.programs]) {
            let _ = epoll::modify(&self.epoll, socket, EventData::new_u64(0), interest);
        }
    }

    const fn interest(&self) -> EventFlags {
        if self.rests.is_some() { EventFlags::empty() } else { EventFlags::IN }
    }

    /// Reads one datagram from any socket. One that is too long keeps a length that makes it invalid.
    fn receive(&self) -> Option<(Peer, Vec<u8>)> {
        let mut buffer = [0; LENGTH + 1];
        let mut from = |socket: &OwnedFd| {
            let received = recvfrom(socket, &mut buffer[..], RecvFlags::empty());
            // Errors that the kernel reports for earlier messages are read here, too, and ignored.
            let (_, length, address) = received.ok()?;
            let address = SocketAddrV4::try_from(address?).ok()?;
            Some((address, buffer[..length].to_vec()))
        };
        if let Some((address, bytes)) = from(&self.programs) {
            return Some((Peer::Program(address.port()), bytes));
        }
        self.interfaces.iter().find_map(|open| {
            let (address, bytes) = from(&open.socket)?;
            Some((Peer::Neighbour(Neighbour { index: open.index, address: *address.ip() }), bytes))
        })
    }

    /// Sends a message. One that cannot be sent is lost like any other.
    fn send(&self, posted: &Posted) {
        let (socket, address) = match posted.to {
            Peer::Program(port) => (&self.programs, SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)),
            Peer::Neighbour(Neighbour { index, address }) => {
                let Some(open) = self.interfaces.iter().find(|open| open.index == index) else { return };
                (&open.socket, SocketAddrV4::new(address, self.settings.port.get()))
            }
        };
        let _ = sendto(socket, &posted.message.write(), SendFlags::DONTWAIT, &address);
    }
}

/// Routes of the kernel.
struct Table(routes::Routes);

impl Routes for Table {
    fn to(&mut self, address: Ipv4Addr) -> Option<Hop> {
        match self.0.next_hop(address).ok()?? {
            NextHop::Here => Some(Hop::Here),
            NextHop::Via { index, gateway, source } => {
                let address = gateway.unwrap_or(address);
                Some(Hop::Via(Neighbour { index, address }, source))
            }
        }
    }
}
