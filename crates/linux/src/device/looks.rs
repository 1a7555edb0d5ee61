//! Counters of all queues of this network namespace, read once for all devices that look at the same instant.

use crate::device::wish::shown_place;
use crate::error::Error;
use crate::kernel::Counters;
use crate::kernel::rtnetlink::{Link, Route, Tally, shown};
use std::cell::RefCell;
use std::rc::Rc;
use units::Instant;

/// A shared cache of counters. Copies share it.
#[derive(Clone, Debug)]
pub struct Looks(Rc<RefCell<Seen>>);

#[derive(Debug)]
struct Seen {
    route: Route,
    /// Instant of the reading; `None` before the first one and after a failure.
    at: Option<Instant>,
    tallies: Vec<Tally>,
}

impl Looks {
    /// Opens it for the network namespace of this thread. Needs no privilege.
    ///
    /// # Errors
    /// The kernel gives no socket.
    pub fn open() -> Result<Self, Error> {
        Ok(Self(Rc::new(RefCell::new(Seen { route: Route::open()?, at: None, tallies: Vec::new() }))))
    }

    /// Returns the counters of the queue at `parent` of an interface; `None` if the kernel has none. With a `handle`,
    /// the queue must have it.
    pub(crate) fn counters(
        &self,
        now: Instant,
        link: &Link,
        parent: u32,
        handle: Option<u32>,
    ) -> Result<Counters, Error> {
        let mut seen = self.0.borrow_mut();
        seen.read(now)?;
        let found = seen.tallies.iter().find(|tally| tally.index == link.index && tally.parent == parent).copied();
        if let Some(tally) = found
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
            self.at = Some(now);
        }
        Ok(())
    }
}
