//! Sockets of admission: a UDP port at each named interface and at loopback and, if allowed, a packet socket that sees
//! marked packets. No call blocks, and each read takes a bounded number of messages.

use crate::admission::marks::Marks;
use crate::admission::message::{LENGTH, MAGIC, Message, Neighbour, Peer, Program, VERSION};
use crate::admission::owners::Owners;
use crate::admission::pace::{TURN, next_turn};
use crate::admission::relay::{Hop, Posted, Relay, Room, Routes};
use crate::admission::{SOCKET, Settings};
use crate::error::Error;
use crate::kernel::descriptor_of;
use crate::kernel::named::{Name, Unnamed};
use crate::kernel::routes::{self as kernel, NextHop};
use crate::kernel::socket::{
    LOAD, LOAD_BYTE, LOAD_HALF, NETWORK_HEADER, RETURN, TTL, attach_filter, bind_to_interface, datagrams, interest,
    jump, rest, statement,
};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_passcred;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketAddrUnix, SocketType, bind, recvfrom,
    recvmsg, sendto,
};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use units::{Instant, Rate};

/// Mode of the socket for programs: every user may ask. Only the folder's owner can make a socket of this name in it.
const MODE: Mode = Mode::from_raw_mode(0o666);
/// Prefix of the names of programs' abstract sockets; 16 hexadecimal digits follow.
const PROGRAM: &str = "sluice-";

/// The sockets of an agent. The descriptor is readable while there is something to do.
pub(crate) struct Port {
    settings: Settings,
    epoll: OwnedFd,
    programs: Unnamed,
    path: PathBuf,
    /// The name of `programs`, as soon as it has one.
    name: Option<Name>,
    interfaces: Vec<Interface>,
    marks: Option<Marks>,
    relay: Relay,
    owners: Owners,
    routes: kernel::Routes,
    /// Nothing is read before this instant: messages are read in turns.
    rests: Option<Instant>,
}

struct Interface {
    name: String,
    index: u32,
    socket: OwnedFd,
}

descriptor_of!(Port, epoll);

impl Port {
    /// Makes the sockets that a running agent may not make; programs ask at one in `folder`. If marked packets cannot
    /// be seen, also returns why. Errors: the kernel refuses.
    pub(crate) fn open(settings: &Settings, folder: &Path) -> Result<(Self, Option<Error>), Error> {
        let failed = Error::kernel("make sockets for admission");
        let programs = Unnamed::open(SocketType::DGRAM).map_err(failed)?;
        set_socket_passcred(&programs, true).map_err(failed)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        epoll::add(&epoll, &programs, EventData::new_u64(0), EventFlags::IN).map_err(failed)?;
        let (marks, blind) = match Marks::open() {
            Ok(marks) => (Some(marks), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(marks) = &marks {
            epoll::add(&epoll, marks, EventData::new_u64(0), EventFlags::IN).map_err(failed)?;
        }
        let (relay, owners, routes) = (Relay::default(), Owners::read(), kernel::Routes::open()?);
        let (settings, path, interfaces) = (settings.clone(), folder.join(SOCKET), Vec::new());
        let port =
            Self { settings, epoll, programs, path, name: None, interfaces, marks, relay, owners, routes, rests: None };
        Ok((port, blind))
    }

    /// Applies other settings, except the port, which stays. `None`: the agent listens at no interface.
    pub(crate) fn change(&mut self, settings: Option<&Settings>) {
        let port = self.settings.port;
        let (interfaces, at_most) = settings.map(|to| (to.interfaces.clone(), to.at_most)).unwrap_or_default();
        self.settings = Settings { interfaces, port, at_most };
        self.owners = Owners::read();
    }

    /// Listens for programs, and at each named interface that exists; `number` finds an interface. Returns events with
    /// the interface's name, which is empty for the socket of programs.
    pub(crate) fn follow(&mut self, number: impl Fn(&str) -> Option<u32>) -> Vec<(String, Result<(), Error>)> {
        let mut news: Vec<(String, Result<(), Error>)> = Vec::new();
        if self.name.is_none() {
            match self.programs.name(&self.path, MODE, |_| Ok(())) {
                Ok(name) => self.name = Some(name),
                Err(error) => news.push((String::new(), Err(error))),
            }
        }
        let names = &self.settings.interfaces;
        // The epoll forgets a socket that is closed.
        self.interfaces.retain(|open| names.contains(&open.name) && number(&open.name) == Some(open.index));
        for name in names {
            let Some(index) = number(name) else { continue };
            if self.interfaces.iter().any(|open| open.name == *name) {
                continue;
            }
            let what = format!("listen at {name}, UDP port {}", self.settings.port);
            let opened = self.listen(name).map_err(Error::kernel(&what));
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
        // Passes only messages from a direct neighbour, of the right length with the UDP header, and with the right
        // first bytes. Garbage does not even wake the agent.
        let program = [
            statement(LOAD_BYTE, NETWORK_HEADER + 8),
            jump(TTL.into(), 0, 7),
            statement(LOAD_HALF, 4),
            jump(length, 0, 5),
            statement(LOAD, 8),
            jump(u32::from_be_bytes(MAGIC), 0, 3),
            statement(LOAD_BYTE, 12),
            jump(VERSION.into(), 0, 1),
            statement(RETURN, u32::MAX),
            statement(RETURN, 0),
        ];
        attach_filter(&socket, &program)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, self.settings.port.get()))?;
        epoll::add(&self.epoll, &socket, EventData::new_u64(0), interest(self.rests))?;
        Ok(socket)
    }

    /// Returns when there is work next, even if no message arrives.
    pub(crate) fn next(&self) -> Instant {
        let of_marks = self.marks.as_ref().and_then(|marks| marks.rests);
        self.rests.into_iter().chain(of_marks).min().unwrap_or(Instant::NEVER)
    }

    /// Handles what has arrived. `available` is the rate that this node's controllers can still admit.
    pub(crate) fn work(&mut self, now: Instant, available: Option<Rate>) {
        let room = Room { available, at_most: self.settings.at_most };
        if self.rests.is_none_or(|until| until <= now) {
            let mut came = self.receive();
            let any = !came.is_empty();
            for (from, message) in came.drain(..) {
                for posted in self.relay.take(now, from, message, room, &mut self.routes) {
                    self.send(&posted);
                }
            }
            let sockets = self.interfaces.iter().map(|open| open.socket.as_fd()).chain([self.programs.as_fd()]);
            rest(&mut self.rests, any.then(|| next_turn(now)), &self.epoll, sockets);
        }
        self.look(now);
    }

    /// Sends requests to regulate to the sources of marked packets.
    fn look(&mut self, now: Instant) {
        let Some(marks) = &mut self.marks else { return };
        let was_resting = marks.rests.is_some();
        let flows = marks.look(now);
        let (rests, interest) = (marks.rests.is_some(), interest(marks.rests));
        if rests != was_resting {
            // If this fails, the agent wakes up once in vain.
            let _ = epoll::modify(&self.epoll, marks, EventData::new_u64(0), interest);
        }
        for flow in flows {
            for posted in self.relay.marked(now, flow, &mut self.routes) {
                self.send(&posted);
            }
        }
    }

    /// Reads waiting messages, at most the same number from each socket.
    fn receive(&self) -> Vec<(Peer, Message)> {
        let mut came = Vec::new();
        for _ in 0..TURN {
            let Ok(message) = from_program(self.programs.as_fd(), &self.owners) else { break };
            came.extend(message);
        }
        for open in &self.interfaces {
            for _ in 0..TURN {
                let mut buffer = [0; LENGTH + 1];
                // This also reads the kernel's errors for earlier messages; such an error ends the reading.
                let Ok((_, length, address)) = recvfrom(&open.socket, &mut buffer[..], RecvFlags::empty()) else {
                    break;
                };
                let address = address.and_then(|address| SocketAddrV4::try_from(address).ok());
                if let (Some(address), Ok(message)) = (address, Message::read(&buffer[..length])) {
                    let neighbour = Neighbour { index: open.index, address: *address.ip() };
                    came.push((Peer::Neighbour(neighbour), message));
                }
            }
        }
        came
    }

    /// Sends a message. If it cannot be sent, it is lost like any other.
    fn send(&self, posted: &Posted) {
        let bytes = posted.message.write();
        match posted.to {
            Peer::Program(program) => {
                let Ok(address) = SocketAddrUnix::new_abstract_name(program_name(program.name).as_bytes()) else {
                    return;
                };
                let _ = sendto(&self.programs, &bytes, SendFlags::DONTWAIT, &address);
            }
            Peer::Neighbour(Neighbour { index, address }) => {
                let Some(open) = self.interfaces.iter().find(|open| open.index == index) else { return };
                let address = SocketAddrV4::new(address, self.settings.port.get());
                let _ = sendto(&open.socket, &bytes, SendFlags::DONTWAIT, &address);
            }
        }
    }
}

pub(crate) fn program_name(number: u64) -> String {
    format!("{PROGRAM}{number:016x}")
}

/// Reads one datagram of a program; `None` if it is no message. Errors: no datagram is left.
fn from_program(socket: BorrowedFd<'_>, owners: &Owners) -> Result<Option<(Peer, Message)>, Errno> {
    let mut buffer = [0; LENGTH + 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut buffer)], &mut control, RecvFlags::empty())?;
    let user = control.drain().find_map(|one| match one {
        RecvAncillaryMessage::ScmCredentials(of) => Some(owners.user(of.uid.as_raw())),
        _ => None,
    });
    let address = received.address.and_then(|address| SocketAddrUnix::try_from(address).ok());
    let name = address.as_ref().and_then(SocketAddrUnix::abstract_name).and_then(|name| {
        let digits = std::str::from_utf8(name).ok()?.strip_prefix(PROGRAM)?;
        u64::from_str_radix(digits, 16).ok().filter(|number| program_name(*number).as_bytes() == name)
    });
    let message = Message::read(&buffer[..received.bytes.min(LENGTH + 1)]).ok();
    let program = name.zip(user).map(|(name, user)| Peer::Program(Program { name, user }));
    Ok(program.zip(message))
}

impl Routes for kernel::Routes {
    fn to(&mut self, address: Ipv4Addr) -> Option<Hop> {
        match self.next_hop(address).ok()?? {
            NextHop::Here => Some(Hop::Here),
            NextHop::Via { index, gateway, source } => {
                let address = gateway.unwrap_or(address);
                Some(Hop::Via(Neighbour { index, address }, source))
            }
        }
    }
}
