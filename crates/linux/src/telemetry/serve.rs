//! Serves status and metrics on a UNIX socket or on loopback from within the agent's loop: no thread, nothing that
//! blocks, memory for a fixed number of clients. Slow, silent and hostile clients are dropped.
//!
//! A client sends a line, `status` or `watch`, or an HTTP request for `/metrics`; see [`Request`].

pub(crate) mod address;
mod client;
pub mod request;
#[cfg(test)]
mod tests;

pub use address::Address;
pub use client::WATCH_EVERY;
pub use request::{Request, Serves};

use crate::error::{Error, Taken};
use crate::telemetry::status::Status;
use client::{Client, Done};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fs::{Mode, chmod, stat};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen, socket_with,
};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use units::Instant;

/// Most clients at once. For one more, the oldest that does not watch is dropped; if all watch, the new one is turned
/// away.
pub const MOST_CLIENTS: usize = 16;

const LISTENER: u64 = u64::MAX;
/// Mode of the socket: for owner and group.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::WGRP);

/// A listening socket and its clients. Its descriptor ([`AsFd`]) is readable while there is something to do: put it into
/// the loop's epoll once, and call [`ready`](Self::ready) then.
#[derive(Debug)]
pub struct Server {
    /// Epoll of the listener and the clients: one descriptor for the loop.
    epoll: OwnedFd,
    listener: OwnedFd,
    serves: Serves,
    clients: [Option<Client>; MOST_CLIENTS],
    /// Number of clients accepted so far.
    came: u64,
    /// The system gave no descriptor for a client; the listener is left alone until the next [`tell`](Self::tell).
    resting: bool,
    /// The socket's file and its inode, to be removed at the end.
    file: Option<(PathBuf, u64)>,
}

impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl Server {
    /// Listens at `address`. A socket file has mode 0660, and replaces one that a killed process left.
    ///
    /// # Errors
    /// Another process listens there, or the system refuses.
    pub fn bind(address: &Address, serves: Serves) -> Result<Self, Error> {
        let failed = |errno: Errno| Error::Kernel { what: format!("listen at {address}"), source: errno.into() };
        let (listener, file) = match address {
            Address::Path(path) => {
                let (listener, inode) = listen_in_folder(path)?;
                (listener, Some((path.clone(), inode)))
            }
            Address::Loopback(at) => (listen_on_loopback(*at).map_err(failed)?, None),
        };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN).map_err(failed)?;
        Ok(Self { epoll, listener, serves, clients: [const { None }; MOST_CLIENTS], came: 0, resting: false, file })
    }

    /// Does what can be done without waiting: accepts clients, reads requests, sends answers. `now` is
    /// [`now`](crate::kernel::now).
    pub fn ready(&mut self, now: Instant, statuses: &[Status]) {
        let mut events = Vec::with_capacity(MOST_CLIENTS + 1);
        let at_once = Some(&rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 });
        // The loop calls again for the rest, also after a failure.
        if epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), at_once).is_err() {
            return;
        }
        let mut comes = false;
        for event in events {
            // The event is packed: its parts are copied before use.
            let flags = event.flags;
            match usize::try_from(event.data.u64()).ok().filter(|slot| *slot < MOST_CLIENTS) {
                // The client is gone: nobody is left to answer.
                Some(slot) if flags.intersects(EventFlags::HUP | EventFlags::ERR) => self.clients[slot] = None,
                Some(slot) => self.serve(slot, |client, serves| client.serve(now, serves, statuses)),
                None => comes = true,
            }
        }
        // Last, because a new client may get the slot of one that had an event.
        if comes {
            self.accept(now, statuses);
        }
    }

    /// Gives watching clients their next line and drops those whose time is over. Call it after each interval, and at
    /// least once per second.
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

    /// Calls a function on the client in a slot, and drops the client when it is done.
    fn serve(&mut self, slot: usize, what: impl FnOnce(&mut Client, Serves) -> Result<(), Done>) {
        let Some(client) = &mut self.clients[slot] else { return };
        let before = client.interest();
        let mut done = what(client, self.serves).is_err();
        let after = client.interest();
        if !done && before != after {
            done = epoll::modify(&self.epoll, &client.socket, EventData::new_u64(slot as u64), after).is_err();
        }
        if done {
            // Closing the socket removes it from the epoll.
            self.clients[slot] = None;
        }
    }

    fn listen(&mut self, on: bool) {
        let interest = if on { EventFlags::IN } else { EventFlags::empty() };
        let done = epoll::modify(&self.epoll, &self.listener, EventData::new_u64(LISTENER), interest);
        self.resting = done.is_ok() != on;
    }

    /// Accepts one client. One that cannot be served is closed, so that it does not wake the loop again.
    fn accept(&mut self, now: Instant, statuses: &[Status]) {
        let socket = match accept_with(&self.listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(socket) => socket,
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => return,
            // Out of descriptors or memory: a waiting client would wake the loop without end.
            Err(_) => return self.listen(false),
        };
        let Some(slot) = self.clients.iter().position(Option::is_none).or_else(|| self.oldest()) else { return };
        let client = Client::new(socket, now, self.came);
        self.came += 1;
        // Closing the former client's socket removes it from the epoll.
        self.clients[slot] = None;
        if epoll::add(&self.epoll, &client.socket, EventData::new_u64(slot as u64), client.interest()).is_ok() {
            self.clients[slot] = Some(client);
            // A client that has sent its request is answered before others can take its place.
            self.serve(slot, |client, serves| client.serve(now, serves, statuses));
        }
    }

    /// Returns the slot of the oldest client that does not watch. Clients that ask and read are done in no time.
    fn oldest(&self) -> Option<usize> {
        let clients = self.clients.iter().enumerate();
        let others = clients.filter_map(|(slot, client)| Some((client.as_ref()?.age()?, slot)));
        others.min().map(|(_, slot)| slot)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some((path, inode)) = &self.file
            && stat(path).is_ok_and(|found| found.st_ino == *inode)
        {
            // The next server replaces what is left.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn listen_on_loopback(address: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = stream(family)?;
    // Lets the port be taken at once, also if clients of a former agent left connections waiting.
    rustix::net::sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, 16)?;
    Ok(socket)
}

/// Listens at `path`; returns the file's inode, too. The file appears with its mode, ready for connections.
fn listen_in_folder(path: &Path) -> Result<(OwnedFd, u64), Error> {
    let shown = path.display();
    let failed = |errno: Errno| Error::Kernel { what: format!("listen at {shown}"), source: errno.into() };
    if answers(path) {
        return Err(Taken::Socket { socket: path.into() }.into());
    }
    if path.symlink_metadata().is_ok_and(|found| !is_socket(&found)) {
        return Err(Error::Distrusted { path: path.into(), why: "exists and is not a socket" });
    }
    let mut hidden = path.as_os_str().to_owned();
    hidden.push(format!(".{}", std::process::id()));
    let hidden = PathBuf::from(hidden);
    let made = (|| {
        let socket = stream(AddressFamily::UNIX)?;
        let _ = std::fs::remove_file(&hidden);
        bind(&socket, &SocketAddrUnix::new(&hidden)?)?;
        // Nobody can connect between these two: nothing listens yet.
        chmod(&hidden, MODE)?;
        listen(&socket, 16)?;
        let inode = stat(&hidden)?.st_ino;
        rustix::fs::rename(&hidden, path)?;
        Ok((socket, inode))
    })();
    made.map_err(|errno| {
        let _ = std::fs::remove_file(&hidden);
        failed(errno)
    })
}

fn is_socket(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    found.file_type().is_socket()
}

/// Tells whether a process listens at `path`.
fn answers(path: &Path) -> bool {
    let connected = stream(AddressFamily::UNIX).and_then(|socket| connect(&socket, &SocketAddrUnix::new(path)?));
    // A full queue of clients belongs to a process.
    matches!(connected, Ok(()) | Err(Errno::AGAIN))
}

fn stream(family: AddressFamily) -> Result<OwnedFd, Errno> {
    socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
}
