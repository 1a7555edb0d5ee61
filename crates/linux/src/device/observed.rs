//! A queue whose counters are read; and a device that only observes a queue, of any discipline.

use crate::device::contract::{Capabilities, Device, Keeps};
use crate::device::estimate::{ESTIMATED, ESTIMATES, Estimator};
use crate::device::looks::Looks;
use crate::device::wish::{Place, Start, Wish};
use crate::error::Error;
use crate::kernel::rtnetlink::{Link, Route};
use control::{Interval, Orders, Reads, Sets};
use units::{Duration, Instant};

/// `ARPHRD_ETHER` (`linux/if_arp.h`).
const ETHERNET: u16 = 1;

/// A queue whose counters are read.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) looks: Looks,
    pub(crate) link: Link,
    pub(crate) parent: u32,
    /// Handle that the queue must have; `None`: any handle.
    pub(crate) handle: Option<u32>,
    pub(crate) estimator: Estimator,
    pub(crate) every: Duration,
}

impl Watched {
    pub(crate) fn look(&mut self, now: Instant) -> Result<(), Error> {
        let counters = self.looks.counters(now, &self.link, self.parent, self.handle)?;
        self.estimator.look(now, counters);
        Ok(())
    }

    pub(crate) fn measure(&mut self, start: &Start) {
        self.every = start.every;
        self.estimator.measure(start.measures);
    }

    pub(crate) fn capabilities(&self, kind: &'static str) -> Capabilities {
        Capabilities {
            kind,
            purges: false,
            look_every: Some(self.every),
            reads: ESTIMATED.and(Reads::COUNTS),
            estimates: &ESTIMATES,
            sets: Sets::LIMIT,
        }
    }
}

/// Returns the bytes of link header in each packet; intervals leave them out.
pub(crate) fn header(link: &Link) -> u64 {
    if link.hardware == ETHERNET { 14 } else { 0 }
}

/// The present queue, which this device observes and never changes.
#[derive(Debug)]
pub(crate) struct Observed(Watched);

impl Observed {
    /// Observes the queue in a place. Needs no privilege. Errors: there is no such interface.
    pub(crate) fn new(place: &Place, start: &Start, looks: &Looks) -> Result<Self, Error> {
        let (link, looks) = (Route::open()?.link(&place.device)?, looks.clone());
        let first = looks.counters(start.at, &link, place.parent, None)?;
        let estimator = Estimator::new(start.measures, header(&link), false, start.at, first);
        Ok(Self(Watched { looks, link, parent: place.parent, handle: None, estimator, every: start.every }))
    }
}

impl Device for Observed {
    fn name(&self) -> &str {
        &self.0.link.name
    }

    fn look(&mut self, now: Instant) -> Result<(), Error> {
        self.0.look(now)
    }

    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        self.0.look(now)?;
        Ok(self.0.estimator.take())
    }

    /// Changes nothing. Refuses orders that a governed queue would refuse.
    fn apply(&mut self, orders: &Orders) -> Result<(), Error> {
        self.capabilities().allow(orders)
    }

    fn keeps(&self) -> Keeps {
        Keeps::Nothing
    }

    fn restore(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        if wish.dry_run {
            self.0.measure(start);
        }
        Ok(wish.dry_run)
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities("the present queue")
    }
}
