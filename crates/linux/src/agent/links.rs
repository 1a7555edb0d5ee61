//! Follows the machine's interfaces: which ones exist, and their names.

use crate::error::Error;
use crate::kernel::descriptor_of;
use crate::kernel::netlink::News;
use crate::kernel::rtnetlink::{Link, Route};
use nix::libc::RTMGRP_LINK;
use std::collections::BTreeMap;

/// The interfaces of this network namespace. The descriptor is readable when an interface has changed.
#[derive(Debug)]
pub(crate) struct Links {
    news: News,
    route: Route,
    numbered: BTreeMap<u32, Link>,
    /// Number of the interface with each name.
    named: BTreeMap<String, u32>,
}

descriptor_of!(Links, news);

impl Links {
    /// Listens first and lists then, so that no change in between is missed.
    pub(crate) fn open() -> Result<Self, Error> {
        let (news, route) = (News::open(RTMGRP_LINK)?, Route::open()?);
        let mut new = Self { news, route, numbered: BTreeMap::new(), named: BTreeMap::new() };
        new.list()?;
        Ok(new)
    }

    /// Reads the waiting messages, then lists the interfaces: a message may be out of date or lost.
    pub(crate) fn refresh(&mut self) -> Result<(), Error> {
        self.news.read(&mut [0; 64], |_| ());
        self.list()
    }

    fn list(&mut self) -> Result<(), Error> {
        let all = self.route.links()?;
        self.named = all.iter().map(|link| (link.name.clone(), link.index)).collect();
        self.numbered = all.into_iter().map(|link| (link.index, link)).collect();
        Ok(())
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Link> {
        self.numbered(*self.named.get(name)?)
    }

    /// Returns all interfaces in the order of their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Link> {
        self.numbered.values()
    }

    pub(crate) fn numbered(&self, index: u32) -> Option<&Link> {
        self.numbered.get(&index)
    }
}
