//! Netlink (`linux/netlink.h`): blocking requests, one at a time, and messages about changes (`linux/rtnetlink.h`).

use super::descriptor_of;
use crate::error::Error;
use crate::kernel::wire::{Message, Request, messages, u32_at};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::Timeout;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::os::fd::OwnedFd;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;

pub(crate) const F_REQUEST: u16 = 0x1;
pub(crate) const F_ACK: u16 = 0x4;
/// Flag that makes the kernel send the answer to the requester, too.
pub(crate) const F_ECHO: u16 = 0x8;
pub(crate) const F_DUMP: u16 = 0x300;
pub(crate) const F_CREATE: u16 = 0x400;
const F_DUMP_INTERRUPTED: u16 = 0x10;

#[cfg(test)]
thread_local! {
    /// Number of messages that this thread has received: the cost of a list.
    pub(crate) static RECEIVED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A socket of a netlink protocol.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Connection {
    /// Opens a socket in this thread's network namespace; `protocol` `None` is rtnetlink. Needs no privilege.
    pub(crate) fn open(protocol: Option<Protocol>) -> Result<Self, Error> {
        let failed = Error::kernel("open a netlink socket");
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol);
        let socket = socket.map_err(failed)?;
        let patience = Some(std::time::Duration::from_secs(5));
        rustix::net::sockopt::set_socket_timeout(&socket, Timeout::Recv, patience).map_err(failed)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0)).map_err(failed)?;
        Ok(Self { socket, sequence: 0, buffer: vec![0; 1 << 16] })
    }

    /// Sends a request and passes each answer to `take`, up to the last one.
    pub(crate) fn ask(&mut self, request: Request, mut take: impl FnMut(&Message)) -> Result<(), Errno> {
        self.sequence = self.sequence.wrapping_add(1);
        rustix::net::send(&self.socket, &request.finish(self.sequence), SendFlags::empty())?;
        loop {
            let (_, length) = match rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::TRUNC) {
                Err(Errno::INTR) => continue,
                received => received?,
            };
            let Some(datagram) = self.buffer.get(..length) else { return Err(Errno::MSGSIZE) };
            #[cfg(test)]
            RECEIVED.set(RECEIVED.get() + messages(datagram).count());
            for message in messages(datagram).filter(|message| message.sequence == self.sequence) {
                match message.kind {
                    NLMSG_DONE => return Ok(()),
                    NLMSG_ERROR => return refusal(message.payload),
                    _ => take(&message),
                }
            }
        }
    }

    /// Requests one message: returns the first answer that can be parsed.
    pub(crate) fn one<T>(
        &mut self,
        request: Request,
        read: impl Fn(&Message) -> Option<T>,
    ) -> Result<Option<T>, Errno> {
        let mut found = None;
        self.ask(request, |message| found = found.take().or_else(|| read(message)))?;
        Ok(found)
    }

    /// Requests a list, and replaces `found` by its elements that can be parsed. If the list changed meanwhile,
    /// requests it again, a bounded number of times.
    pub(crate) fn list<T>(
        &mut self,
        found: &mut Vec<T>,
        request: &Request,
        read: impl Fn(&Message) -> Option<T>,
    ) -> Result<(), Errno> {
        for _ in 0..16 {
            found.clear();
            let mut interrupted = false;
            self.ask(request.clone(), |message| {
                interrupted |= message.flags & F_DUMP_INTERRUPTED != 0;
                found.extend(read(message));
            })?;
            if !interrupted {
                return Ok(());
            }
        }
        Err(Errno::AGAIN)
    }
}

/// A socket that gets a message at each change. Readable while there are messages.
#[derive(Debug)]
pub(crate) struct News(OwnedFd);

descriptor_of!(News, 0);

impl News {
    /// Opens the socket for `groups` of changes in this thread's network namespace, without privilege, unless it fails.
    pub(crate) fn open(groups: i32) -> Result<Self, Error> {
        let failed = Error::kernel("follow changes of interfaces");
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(failed)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, groups.cast_unsigned())).map_err(failed)?;
        Ok(Self(socket))
    }

    /// Reads all messages; hands each datagram to `take`. Returns false if some messages were lost or cut off.
    pub(crate) fn read(&self, buffer: &mut [u8], mut take: impl FnMut(&[u8])) -> bool {
        let mut is_whole = true;
        loop {
            match rustix::net::recv(&self.0, &mut *buffer, RecvFlags::TRUNC) {
                Ok((_, length)) => match buffer.get(..length) {
                    Some(datagram) => take(datagram),
                    None => is_whole = false,
                },
                Err(Errno::INTR) => {}
                // The kernel had no room for all messages.
                Err(Errno::NOBUFS) => is_whole = false,
                Err(Errno::AGAIN) => return is_whole,
                Err(_) => return false,
            }
        }
    }
}

/// Reads an `NLMSG_ERROR`: zero is an acknowledgement.
fn refusal(payload: &[u8]) -> Result<(), Errno> {
    match u32_at(payload, 0).map(u32::cast_signed) {
        Some(0) => Ok(()),
        // The kernel sends error numbers only from this range.
        Some(code @ -4095..=-1) => Err(Errno::from_raw_os_error(-code)),
        _ => Err(Errno::BADMSG),
    }
}

/// Returns the error of a request for the action `what`.
pub(crate) fn failed(what: &str, errno: Errno) -> Error {
    Error::refused(what, "CAP_NET_ADMIN")(errno)
}

/// Returns the answer to a request for the action `what`; nothing for an error that means that there is none.
pub(crate) fn unless<T: Default>(absent: &[Errno], what: &str, asked: Result<T, Errno>) -> Result<T, Error> {
    match asked {
        Err(errno) if absent.contains(&errno) => Ok(T::default()),
        asked => asked.map_err(|errno| failed(what, errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_refusal_is_the_kernels_error_number() {
        assert_eq!(refusal(&0_i32.to_ne_bytes()), Ok(()));
        assert_eq!(refusal(&(-1_i32).to_ne_bytes()), Err(Errno::PERM));
        for nonsense in [1, -4_096, i32::MIN] {
            assert_eq!(refusal(&nonsense.to_ne_bytes()), Err(Errno::BADMSG));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..9)) {
            let _ = refusal(&bytes);
        }
    }
}
