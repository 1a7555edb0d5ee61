//! Serves status and metrics on a UNIX socket or on loopback, within the agent's loop. It needs no thread, no blocking
//! call, and memory only for a fixed number of clients. Slow, silent and hostile clients are dropped.
//!
//! A client sends a line (`status` or `watch`) or an HTTP request for `/metrics`; see [`Request`].

pub(crate) mod address;
mod client;
pub mod request;
#[cfg(test)]
mod tests;

pub use address::Address;
pub use client::WATCH_EVERY;
pub use request::{Request, Serves};

use crate::error::Error;
use crate::kernel::descriptor_of;
use crate::kernel::named::{Name, Unnamed};
use crate::telemetry::status::Status;
use client::{Client, Done};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, accept_with, bind, getsockname, listen, socket_with};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use units::Instant;

/// Maximum number of clients. One more displaces the oldest client that does not watch, or is dropped if all watch.
pub const MOST_CLIENTS: usize = 16;

const LISTENER: u64 = u64::MAX;
/// Maximum number of clients that wait to be accepted.
const BACKLOG: i32 = 16;
/// Mode of the socket: read and write for owner and group.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::WGRP);

/// A socket that does not listen yet. It is made at the start, because a running agent may make none, and listens as
/// soon as no other socket has its address.
#[derive(Debug)]
pub struct Listener {
    /// The address at which the socket is to listen.
    pub address: Address,
    serves: Serves,
    socket: Socket,
}

#[derive(Debug)]
enum Socket {
    Named(Unnamed, PathBuf),
    Loopback(OwnedFd, SocketAddr),
}

/// A listening socket and its clients. The descriptor is readable while there is work: add it once to the loop's epoll,
/// and call [`ready`](Self::ready) each time it is readable.
#[derive(Debug)]
pub struct Server {
    /// Epoll of the listening socket and the clients, so that the loop needs one descriptor.
    epoll: OwnedFd,
    listener: Socket,
    serves: Serves,
    clients: [Option<Client>; MOST_CLIENTS],
    /// Number of clients that were accepted so far.
    came: u64,
    /// True if the system gave no descriptor for a client: nothing is accepted until the next [`tell`](Self::tell).
    resting: bool,
    /// The socket's file, removed when the server is dropped.
    _file: Option<Name>,
}

descriptor_of!(Server, epoll);

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Named(socket, _) => socket.as_fd(),
            Self::Loopback(socket, _) => socket.as_fd(),
        }
    }
}

impl Listener {
    /// Makes the socket for an address.
    ///
    /// # Errors
    /// The system gives no such socket, for example an IPv6 socket without IPv6.
    pub fn open(address: Address, serves: Serves) -> Result<Self, Error> {
        let open = || {
            Ok(match &address {
                Address::Path(path) => Socket::Named(Unnamed::open(SocketType::STREAM)?, path.clone()),
                Address::Loopback(at) => {
                    let family = if at.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
                    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
                    // The port can be used at once, even if connections of a former agent's clients are still closing.
                    set_socket_reuseaddr(&socket, true)?;
                    Socket::Loopback(socket, *at)
                }
            })
        };
        match open() {
            Ok(socket) => Ok(Self { address, serves, socket }),
            Err(errno) => Err(failed(&address, errno)),
        }
    }

    /// Listens; can be repeated after a failure. A socket file has mode 0660, and replaces a killed process's file.
    ///
    /// # Errors
    /// Another process listens at the address, or the system refuses. The error returns the listener.
    pub fn listen(mut self) -> Result<Server, Box<(Self, Error)>> {
        match self.begin() {
            Ok((epoll, file)) => {
                let Self { socket: listener, serves, .. } = self;
                let clients = [const { None }; MOST_CLIENTS];
                Ok(Server { epoll, listener, serves, clients, came: 0, resting: false, _file: file })
            }
            Err(error) => Err(Box::new((self, error))),
        }
    }

    fn begin(&mut self) -> Result<(OwnedFd, Option<Name>), Error> {
        let failed = |errno| failed(&self.address, errno);
        let file = match &mut self.socket {
            Socket::Named(socket, path) => Some(socket.name(path, MODE, |socket| listen(socket, BACKLOG))?),
            Socket::Loopback(socket, at) => {
                // The socket already has its address if an earlier attempt failed only at `listen`.
                if !matches!(getsockname(&*socket).map(SocketAddr::try_from), Ok(Ok(is)) if is.port() != 0) {
                    bind(&*socket, at).map_err(failed)?;
                }
                listen(&*socket, BACKLOG).map_err(failed)?;
                None
            }
        };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        epoll::add(&epoll, &self.socket, EventData::new_u64(LISTENER), EventFlags::IN).map_err(failed)?;
        Ok((epoll, file))
    }
}

fn failed(address: &Address, errno: Errno) -> Error {
    Error::kernel(&format!("listen at {address}"))(errno)
}

impl Server {
    /// Accepts clients, reads requests and sends answers, without waiting. `now` is [`now`](crate::kernel::now).
    pub fn ready(&mut self, now: Instant, statuses: &[Status]) {
        let mut events = Vec::with_capacity(MOST_CLIENTS + 1);
        let at_once = Some(&rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 });
        // The loop calls again for what remains, also after a failure.
        if epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), at_once).is_err() {
            return;
        }
        let mut comes = false;
        for event in events {
            // The event is a packed structure, so its fields are copied before use.
            let flags = event.flags;
            match usize::try_from(event.data.u64()).ok().filter(|slot| *slot < MOST_CLIENTS) {
                // The client has left, so no answer is sent.
                Some(slot) if flags.intersects(EventFlags::HUP | EventFlags::ERR) => self.clients[slot] = None,
                Some(slot) => self.serve(slot, |client, serves| client.serve(now, serves, statuses)),
                None => comes = true,
            }
        }
        // Accepting comes last: a new client may get the slot of a client that had an event.
        if comes {
            self.accept(now, statuses);
        }
    }

    /// Sends watching clients their next line, and drops those whose time is over. Call it at least once per second.
    pub fn tell(&mut self, now: Instant, statuses: &[Status]) {
        if self.resting {
            self.listen(true);
        }
        for slot in 0..MOST_CLIENTS {
            self.serve(slot, |client, _| client.tell(now, statuses).and_then(|()| client.send(now)));
        }
    }

    /// Returns the number of clients.
    pub fn clients(&self) -> usize {
        self.clients.iter().flatten().count()
    }

    /// Calls `what` on the client in a slot, and drops the client when it is done.
    fn serve(&mut self, slot: usize, what: impl FnOnce(&mut Client, Serves) -> Result<(), Done>) {
        let Some(client) = &mut self.clients[slot] else { return };
        let before = client.interest();
        let mut done = what(client, self.serves).is_err();
        let after = client.interest();
        if !done && before != after {
            done = epoll::modify(&self.epoll, &client.socket, EventData::new_u64(slot as u64), after).is_err();
        }
        if done {
            // The epoll forgets a socket that is closed.
            self.clients[slot] = None;
        }
    }

    fn listen(&mut self, on: bool) {
        let interest = if on { EventFlags::IN } else { EventFlags::empty() };
        let done = epoll::modify(&self.epoll, &self.listener, EventData::new_u64(LISTENER), interest);
        self.resting = done.is_ok() != on;
    }

    /// Accepts one client. If it cannot be served, closes its connection, so that it does not wake the loop again.
    fn accept(&mut self, now: Instant, statuses: &[Status]) {
        let socket = match accept_with(&self.listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(socket) => socket,
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => return,
            // Descriptors or memory are exhausted: a waiting client would wake the loop again and again.
            Err(_) => return self.listen(false),
        };
        let Some(slot) = self.clients.iter().position(Option::is_none).or_else(|| self.oldest()) else { return };
        let client = Client::new(socket, now, self.came);
        self.came += 1;
        // The epoll forgets the former client's socket, because it is closed.
        self.clients[slot] = None;
        if epoll::add(&self.epoll, &client.socket, EventData::new_u64(slot as u64), client.interest()).is_ok() {
            self.clients[slot] = Some(client);
            // A client that has already sent its request is answered before another can take its slot.
            self.serve(slot, |client, serves| client.serve(now, serves, statuses));
        }
    }

    /// Returns the slot of the oldest client that does not watch. Honest clients of this kind finish quickly.
    fn oldest(&self) -> Option<usize> {
        let clients = self.clients.iter().enumerate();
        let others = clients.filter_map(|(slot, client)| Some((client.as_ref()?.age()?, slot)));
        others.min().map(|(_, slot)| slot)
    }
}
