//! Follows the interfaces of the machine: which exist, and their names.

use crate::error::Error;
use crate::kernel::rtnetlink::{Link, Route};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// `RTMGRP_LINK` (`linux/rtnetlink.h`).
const RTMGRP_LINK: u32 = 1;

/// The interfaces of this network namespace. Its descriptor ([`AsFd`]) is readable when something about one changed.
#[derive(Debug)]
pub(crate) struct Links {
    news: OwnedFd,
    route: Route,
    all: Vec<Link>,
}

impl AsFd for Links {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.news.as_fd()
    }
}

impl Links {
    /// Listens, then lists, so that no change is missed between the two.
    pub(crate) fn open() -> Result<Self, Error> {
        let failed =
            |source: Errno| Error::Kernel { what: "follow changes of interfaces".into(), source: source.into() };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Protocol 0 is `NETLINK_ROUTE`.
        let news = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(failed)?;
        rustix::net::bind(&news, &SocketAddrNetlink::new(0, RTMGRP_LINK)).map_err(failed)?;
        let mut route = Route::open()?;
        let all = route.links()?;
        Ok(Self { news, route, all })
    }

    /// Reads the messages and lists the interfaces anew: a message may be out of date or lost.
    pub(crate) fn refresh(&mut self) -> Result<(), Error> {
        let mut buffer = [0; 64];
        let mut more = || rustix::net::recv(&self.news, &mut buffer[..], RecvFlags::TRUNC);
        // If the kernel had no room for all messages, the list has the changes.
        while let Ok(_) | Err(Errno::INTR | Errno::NOBUFS) = more() {}
        self.all = self.route.links()?;
        Ok(())
    }

    /// Returns the interface with this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Link> {
        self.all.iter().find(|link| link.name == name)
    }

    /// Returns the interface with this number.
    pub(crate) fn numbered(&self, index: u32) -> Option<&Link> {
        self.all.iter().find(|link| link.index == index)
    }
}
