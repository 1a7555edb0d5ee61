//! Queues of this network namespace, read once for all devices. Devices that read at the same instant share the
//! counters; the users' disciplines are read once, and then updated from the kernel's messages.

use crate::device::wish::shown_place;
use crate::error::Error;
use crate::kernel::Counters;
use crate::kernel::netlink::News;
use crate::kernel::rtnetlink::{Link, Qdisc, Route, Tally, follow, shown};
use crate::kernel::wire::messages;
use nix::libc::{RTMGRP_LINK, RTMGRP_TC};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use units::Instant;

/// A shared cache of queues. Clones share the same cache.
#[derive(Clone, Debug)]
pub struct Looks(Rc<RefCell<Seen>>);

#[derive(Debug)]
struct Seen {
    route: Route,
    /// Instant of the reading; `None` before the first one and after a failure.
    at: Option<Instant>,
    /// Sorted by interface and parent.
    tallies: Vec<Tally>,
    users: Users,
}

/// Disciplines with a handle. Only users make them: the kernel reports changes of these, but not of its own.
#[derive(Debug)]
struct Users {
    news: News,
    /// The disciplines of each interface number; `None` before the first reading and after a message was lost.
    all: Option<BTreeMap<u32, Vec<Qdisc>>>,
    buffer: Vec<u8>,
}

impl Looks {
    /// Opens the cache for the network namespace of this thread. Needs no privilege.
    ///
    /// # Errors
    /// The kernel gives no socket.
    pub fn open() -> Result<Self, Error> {
        let users = Users { news: News::open(RTMGRP_LINK | RTMGRP_TC)?, all: None, buffer: vec![0; 1 << 15] };
        Ok(Self(Rc::new(RefCell::new(Seen { route: Route::open()?, at: None, tallies: Vec::new(), users }))))
    }

    /// Returns the present disciplines of interface `index` that have a handle. The first call lists all disciplines of
    /// the machine, and so does a call after messages about changes were lost.
    pub(crate) fn users(&self, index: u32) -> Result<Vec<Qdisc>, Error> {
        let Seen { route, users, .. } = &mut *self.0.borrow_mut();
        Ok(users.read(route)?.get(&index).cloned().unwrap_or_default())
    }

    /// Returns the counters of the queue at `parent` of an interface; `None` if the kernel has no such queue or, with a
    /// `handle`, if the queue has another handle.
    pub(crate) fn counters(
        &self,
        now: Instant,
        link: &Link,
        parent: u32,
        handle: Option<u32>,
    ) -> Result<Counters, Error> {
        let mut seen = self.0.borrow_mut();
        seen.read(now)?;
        let found = seen.tallies.binary_search_by_key(&(link.index, parent), |tally| (tally.index, tally.parent));
        if let Some(tally) = found.ok().map(|at| seen.tallies[at])
            && handle.is_none_or(|handle| handle == tally.handle)
        {
            return Ok(tally.counters);
        }
        let name = link.name.clone();
        match seen.route.qdisc(link.index, parent) {
            Err(Error::Gone { .. }) => Err(Error::Gone { name }),
            Err(error) => Err(error),
            Ok(None) if handle.is_none() => Ok(Counters::default()),
            Ok(found) => {
                let found = found.map_or_else(|| format!("nothing at {}", shown_place(parent)), |is| shown(Some(&is)));
                Err(Error::Replaced { name, found })
            }
        }
    }
}

impl Seen {
    fn read(&mut self, now: Instant) -> Result<(), Error> {
        if self.at != Some(now) {
            self.at = None;
            self.route.tallies(&mut self.tallies)?;
            self.tallies.sort_unstable_by_key(|tally| (tally.index, tally.parent));
            self.at = Some(now);
        }
        Ok(())
    }
}

impl Users {
    fn read(&mut self, route: &mut Route) -> Result<&BTreeMap<u32, Vec<Qdisc>>, Error> {
        let Self { news, all, buffer } = self;
        let is_whole = news.read(buffer, |datagram| {
            if let Some(all) = all {
                messages(datagram).for_each(|message| follow(all, &message));
            }
        });
        if !is_whole {
            *all = None;
        }
        let current = if let Some(followed) = all.take() {
            followed
        } else {
            // Messages that arrive meanwhile are read at the next call. The last message about a queue is valid.
            let mut listed = route.qdiscs()?;
            for qdiscs in listed.values_mut() {
                qdiscs.retain(|qdisc| qdisc.handle != 0);
            }
            listed
        };
        Ok(all.insert(current))
    }
}
