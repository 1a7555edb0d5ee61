//! News of interfaces: that some came, went or changed, and how they are called now.

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
    /// Listens, then lists: nothing falls between the two.
    pub(crate) fn open() -> Result<Self, Error> {
        let failed = |source: Errno| Error::Kernel { what: "hear of interfaces".into(), source: source.into() };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // Protocol 0 is `NETLINK_ROUTE`.
        let news = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(failed)?;
        rustix::net::bind(&news, &SocketAddrNetlink::new(0, RTMGRP_LINK)).map_err(failed)?;
        let mut route = Route::open()?;
        let all = route.links()?;
        Ok(Self { news, route, all })
    }

    /// Takes what was told and lists the interfaces anew: what a message says may be out of date, or lost.
    pub(crate) fn refresh(&mut self) -> Result<(), Error> {
        let mut buffer = [0; 64];
        let mut more = || rustix::net::recv(&self.news, &mut buffer[..], RecvFlags::TRUNC);
        // Where the kernel had no room for all news, the list has them.
        while let Ok(_) | Err(Errno::INTR | Errno::NOBUFS) = more() {}
        self.all = self.route.links()?;
        Ok(())
    }

    /// The interface that is called so.
    pub(crate) fn named(&self, name: &str) -> Option<&Link> {
        self.all.iter().find(|link| link.name == name)
    }

    /// The interface with this number.
    pub(crate) fn numbered(&self, index: u32) -> Option<&Link> {
        self.all.iter().find(|link| link.index == index)
    }
}
