//! The queues of mac80211 as a device: sets their limit and reads counters. For Wi-Fi without Sluice's discipline.
//!
//! mac80211 keeps its order (a queue for each station and traffic identifier, with `FQ-CoDel`). At the limit it
//! discards from the longest flow, and does so above a lowered limit once the next packet arrives. The limit belongs to
//! a phy: packets of all its interfaces count, and only one of these interfaces is governed.

use crate::device::claim::{put_back, put_back_other};
use crate::device::contract::{Capabilities, Device};
use crate::device::estimate::{ESTIMATED, ESTIMATES, Estimator};
use crate::device::former::{Former, FormerKnobs};
use crate::device::lock::FileLock;
use crate::device::state::State;
use crate::device::wish::{Backend, Place, Start, Wish};
use crate::error::{Error, Unfit, Unsupported};
use crate::kernel::nl80211::{Phy, Role, Wireless, counters};
use crate::kernel::rtnetlink::{Link, ROOT, Route};
use control::{Interval, Limit, Orders, Reads, Sets};
use units::{Duration, Instant};

pub(crate) const KIND: &str = "txq";
/// Bytes that a frame adds to its packet: header of a QoS data frame (IEEE Std 802.11-2020, 9.3.2.1) and LLC.
pub(super) const HEADER: u64 = 34;

/// Methods of estimation, including the method for counts.
const ALL_ESTIMATES: [(Reads, &str); 1 + ESTIMATES.len()] = {
    let counts = (Reads::COUNTS, "sent: to this interface's stations; waiting and dropped: of its whole phy");
    let [sojourn, gap, occupancy] = ESTIMATES;
    [counts, sojourn, gap, occupancy]
};

/// An interface whose phy's queues are limited.
#[derive(Debug)]
pub struct Txq {
    queues: Queues,
    estimator: Estimator,
    every: Duration,
}

impl Txq {
    /// Attaches to the queues of an interface's phy; packets within the limit stay. Restores what a killed agent left.
    ///
    /// # Errors
    /// There is no such interface, or it is not Wi-Fi; its driver does not leave its queues to mac80211; the privilege
    /// is missing; another agent governs this or another interface of the phy; the limit is in bytes.
    pub fn attach(place: &Place, start: &Start) -> Result<Self, Error> {
        at_root(place.parent)?;
        let limit = packets(start.orders.limit)?;
        let mut queues = Queues::take(place, |_, _| Ok(None))?;
        if let Err(error) = queues.set_limit(limit) {
            return queues.state.take().map_or(Ok(()), State::forget).and(Err(error));
        }
        let first = counters(&queues.phy, &queues.wireless.stations(queues.link.index)?);
        let estimator = Estimator::new(start.measures, HEADER, false, start.at, first);
        Ok(Self { queues, estimator, every: start.every })
    }
}

/// The queues of a phy, claimed for one of its interfaces. The former state is restored when this value is dropped.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) wireless: Wireless,
    pub(super) route: Route,
    pub(super) link: Link,
    pub(super) phy: Phy,
    /// The limit that was set last.
    pub(super) limit: u32,
    former: Former,
    state: Option<State>,
    /// Lock of the phy, because only one of its interfaces is governed.
    _lock: FileLock,
}

impl Queues {
    /// Claims the queues, and records their limit and `knobs`. First restores what a killed agent left.
    pub(super) fn take(
        place: &Place,
        knobs: impl FnOnce(&mut Wireless, &Phy) -> Result<Option<FormerKnobs>, Error>,
    ) -> Result<Self, Error> {
        let mut route = Route::open()?;
        let link = route.link(&place.device)?;
        let mut wireless = Wireless::open()?;
        let (mut state, left) = State::lock(&place.state_folder, &place.device, ROOT)?;
        if let Some(left) = left {
            put_back(&state, &left.former, &mut route)?;
        }
        let (phy, limit, lock) = match claim(&mut wireless, &mut route, &link, place) {
            Ok(claimed) => claimed,
            Err(error) => return state.forget().and(Err(error)),
        };
        let former = Former::of_phy(&link, phy.number, limit, knobs(&mut wireless, &phy)?);
        state.keep(&former)?;
        Ok(Self { wireless, route, link, phy, limit, former, state: Some(state), _lock: lock })
    }

    pub(super) fn gone(&self) -> Error {
        Error::Gone { name: self.link.name.clone() }
    }

    /// Reads the phy's state, and checks that no other program has changed the limit.
    pub(super) fn look(&mut self) -> Result<(), Error> {
        self.phy = self.wireless.phy(self.phy.number)?.ok_or_else(|| self.gone())?;
        if self.phy.limit == Some(self.limit) {
            return Ok(());
        }
        let found = self.phy.limit.map_or_else(|| "unlimited".into(), |limit| format!("of {limit} packets"));
        Err(Error::Replaced { name: self.link.name.clone(), found })
    }

    pub(super) fn set_limit(&mut self, limit: u32) -> Result<(), Error> {
        self.wireless.set_limit(self.phy.number, limit)?;
        self.limit = limit;
        Ok(())
    }

    pub(super) fn restore(&mut self) -> Result<(), Error> {
        let Some(state) = self.state.take() else { return Ok(()) };
        let now = self.wireless.phy(self.phy.number).ok().flatten().and_then(|phy| phy.limit);
        if let Some(others) = now.filter(|now| *now != self.limit) {
            self.former.keep_limit(others);
        }
        state.end(&self.former, &mut self.route)
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        // A destructor returns no error. The state file stays, and the next agent or `sluice detach` tries again.
        let _ = self.restore();
    }
}

/// The holder of an interface's packets, as nl80211 reports it; modules and sysfs folders differ between drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    NotWifi,
    /// mac80211, which limits the number of packets that it holds.
    Mac80211,
    /// The driver, as on Ethernet: the device has the MAC, or mac80211 has no queues for it (before Linux 6.2).
    Driver,
}

impl Holder {
    pub(crate) fn of(phy: Option<&Phy>) -> Self {
        match phy.map(|phy| phy.limit) {
            None => Self::NotWifi,
            Some(Some(_)) => Self::Mac80211,
            Some(None) => Self::Driver,
        }
    }
}

/// Returns the holder of the packets of the interface with this number. Errors: the kernel does not answer.
pub(crate) fn holder(index: u32) -> Result<Holder, Error> {
    // Without nl80211 there is no Wi-Fi.
    let Ok(mut wireless) = Wireless::open() else { return Ok(Holder::NotWifi) };
    Ok(Holder::of(wireless.phy_of(index)?.as_ref()))
}

/// True if mac80211 holds an interface's packets and limits their number. Errors: there is no such interface.
pub(crate) fn holds(device: &str) -> Result<bool, Error> {
    Ok(holder(Route::open()?.link(device)?.index)? == Holder::Mac80211)
}

/// True if an interface is a mesh point (802.11s). Errors: there is no such interface.
pub(crate) fn is_mesh(device: &str) -> Result<bool, Error> {
    let link = Route::open()?.link(device)?;
    Ok(Wireless::open()?.interface(link.index)?.is_some_and(|it| it.role == Role::MeshPoint))
}

pub(super) fn at_root(parent: u32) -> Result<(), Error> {
    if parent == ROOT {
        return Ok(());
    }
    Err(Unfit::Class { why: "the queues of mac80211 have one limit, not one per class" }.into())
}

/// Returns the phy, its limit, and the lock that only one of the phy's interfaces can have.
fn claim(
    wireless: &mut Wireless,
    route: &mut Route,
    link: &Link,
    place: &Place,
) -> Result<(Phy, u32, FileLock), Error> {
    let name = || link.name.clone();
    let number = wireless.phy_of(link.index)?.ok_or_else(|| Unsupported::NotWifi { name: name() })?.number;
    let lock = FileLock::take(&place.state_folder, number)?;
    put_back_other(place, route, |former| former.index == link.index || former.phy() == Some(number))?;
    let phy = wireless.phy(number)?.ok_or_else(|| Error::Gone { name: name() })?;
    let limit = phy.limit.ok_or_else(|| Unsupported::NoTxq { name: name() })?;
    Ok((phy, limit, lock))
}

/// Converts a limit to packets, the unit of the phy's limit.
pub(super) fn packets(limit: Limit) -> Result<u32, Error> {
    match limit {
        Limit::Packets(packets) => Ok(packets),
        Limit::Bytes(_) => Err(Unfit::LimitInBytes { who_counts: "the queues of mac80211 count" }.into()),
    }
}

impl Device for Txq {
    fn name(&self) -> &str {
        &self.queues.link.name
    }

    fn look(&mut self, now: Instant) -> Result<(), Error> {
        self.queues.look()?;
        let stations = self.queues.wireless.stations(self.queues.link.index)?;
        self.estimator.look(now, counters(&self.queues.phy, &stations));
        Ok(())
    }

    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        self.look(now)?;
        Ok(self.estimator.take())
    }

    fn apply(&mut self, orders: &Orders) -> Result<(), Error> {
        self.capabilities().allow(orders)?;
        self.queues.set_limit(packets(orders.limit)?)
    }

    fn restore(&mut self) -> Result<(), Error> {
        self.queues.restore()
    }

    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        if wish.dry_run || !matches!(wish.backend, Backend::Txq | Backend::Auto) {
            return Ok(false);
        }
        self.estimator.measure(start.measures);
        self.every = start.every;
        self.apply(&start.orders).map(|()| true)
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(KIND, self.every)
    }
}

/// Returns the capabilities of a device on these queues whose counters are read at this interval.
pub(super) fn capabilities(kind: &'static str, every: Duration) -> Capabilities {
    Capabilities {
        kind,
        purges: true,
        look_every: Some(every),
        reads: ESTIMATED.and(Reads::COUNTS),
        estimates: &ALL_ESTIMATES,
        sets: Sets::LIMIT,
    }
}
