//! The kernel's messages about changes (`linux/rtnetlink.h`).

use super::descriptor_of;
use crate::error::Error;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use std::os::fd::OwnedFd;

/// `RTMGRP_LINK`: interfaces.
pub(crate) const LINKS: u32 = 0x1;
/// `RTMGRP_TC`: disciplines and classes.
pub(crate) const QUEUES: u32 = 0x8;

/// A socket to which the kernel sends a message at each change. Readable while messages wait.
#[derive(Debug)]
pub(crate) struct News(OwnedFd);

descriptor_of!(News, 0);

impl News {
    /// Opens a socket for these `groups` of changes in this thread's network namespace. Needs no privilege. Errors: the
    /// kernel gives no such socket.
    pub(crate) fn open(groups: u32) -> Result<Self, Error> {
        let failed = Error::kernel("follow changes of interfaces");
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Protocol 0 is `NETLINK_ROUTE`.
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(failed)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, groups)).map_err(failed)?;
        Ok(Self(socket))
    }

    /// Reads all waiting messages; passes each datagram to `take`. Returns false if messages were lost or cut off.
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
