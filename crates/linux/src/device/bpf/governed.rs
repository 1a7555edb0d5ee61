//! A queue of the discipline as a device: installed, measured, limited, removed.

use super::discipline::Discipline;
use super::load::alone;
use super::maps::KIND;
use super::mechanism::Mechanism;
use super::shared::{Credit, Order, Turns};
use super::slot::Slot;
use super::stations::Stations;
use crate::device::claim::{claim, make_way};
use crate::device::contract::{BIASED, Beside, Capabilities, Device, Keeps, Own, TURNS_OF_ONE, TURNS_OF_STATIONS};
use crate::device::former::Former;
use crate::device::looks::Looks;
use crate::device::state::State;
use crate::device::txq::holds;
use crate::device::wish::{Backend, Start, Wish};
use crate::error::{Error, Unfit};
use crate::kernel::nl80211::Wireless;
use crate::kernel::rtnetlink::{Link, Qdisc, ROOT, Route, shown};
use crate::kernel::{Patience, now};
use control::knobs::EVERY;
use control::{Interval, Orders, Reads, Sets};
use std::path::Path;
use units::{Duration, Instant};

/// Folder in which the kernel keeps the discipline while agents use it.
pub const FOLDER: &str = "/sys/fs/bpf/sluice";

/// Estimated quantities under release by credit; all others are measured.
const BY_CREDIT: [(Reads, &str); 2] = [(Reads::OVERHEARD, OWN_ONLY), (Reads::HOPS, BY_TIME_TO_LIVE)];
/// Estimated quantities of a device that does not report when it is done with a packet.
const BY_DEPARTURES: [(Reads, &str); 4] = [
    (Reads::SERVICE.and(Reads::AVERAGE), "time between two departures while packets wait"),
    (Reads::LATE, "time from when a packet could leave until the driver took it"),
    (Reads::OVERHEARD, OWN_ONLY),
    (Reads::HOPS, BY_TIME_TO_LIVE),
];
const BY_TIME_TO_LIVE: &str = "hops: from the time to live of IP packets, assumed to begin with 64, 128 or 255";
const OWN_ONLY: &str = "real time: only what leaves by this interface";

/// Longest wait until the packets of a queue have left, before the queue is removed.
const LONGEST_DRAIN: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_millis(1);

/// An interface with Sluice's queue.
#[derive(Debug)]
pub struct Governed {
    route: Route,
    link: Link,
    slot: Slot,
    credit: Option<Credit>,
    order: Order,
    /// The list of stations; `None` if the queue has no turns of stations.
    stations: Option<Stations>,
    former: Former,
    /// Both fields are `None` once the former queue is restored.
    state: Option<State>,
    discipline: Option<Discipline>,
}

impl Governed {
    /// Installs Sluice's queue at the root of an interface, as soon as no packet waits in the former queue, but at the
    /// latest after a quarter of a second. Packets that still wait then are lost, as in any change of a discipline. A
    /// queue that a killed agent left is taken over with all its packets.
    ///
    /// # Errors
    /// There is no such interface, the privilege is missing, the kernel has no such disciplines, or another agent is
    /// there. Or the former queue could not be restored (unless it is to be replaced).
    pub fn attach(
        wish: &Wish,
        mechanism: Mechanism,
        order: Order,
        start: &Start,
        looks: &Looks,
    ) -> Result<Self, Error> {
        if wish.place.parent != ROOT {
            return Err(Unfit::Class { why: "the kernel allows a BPF queue only as the root of an interface" }.into());
        }
        let mut route = Route::open()?;
        let link = route.link(&wish.place.device)?;
        let folder = Path::new(FOLDER);
        let _alone = alone(folder)?;
        let discipline = Discipline::load(folder, mechanism.hard).inspect_err(|_| {
            // The lock may have made this folder. It stays if it is not empty.
            let _ = std::fs::remove_dir(folder);
        })?;
        let credit = holds(&link.name)?.then(|| order.credit());
        match install(&Plan { wish, mechanism, order, credit, start, looks }, &mut route, &link, &discipline) {
            Ok((slot, former, state)) => {
                let (state, discipline) = (Some(state), Some(discipline));
                let mut new = Self { route, link, slot, credit, order, stations: None, former, state, discipline };
                // If this fails, the former queue returns.
                new.name_stations()?;
                new.mark_if(start.marks).map(|()| new)
            }
            Err(error) => {
                // An unused discipline must not stay loaded. Only the first failure is reported.
                if discipline.is_unused().unwrap_or_default() {
                    let _ = discipline.unload();
                }
                Err(error)
            }
        }
    }

    /// Marks real-time packets if the controller may order this.
    fn mark_if(&self, marks: bool) -> Result<(), Error> {
        let interface = marks.then_some(self.link.index);
        self.discipline.as_ref().map_or(Ok(()), |discipline| discipline.mark(&self.slot, interface))
    }

    /// Gives a queue with turns the list of its stations.
    fn name_stations(&mut self) -> Result<(), Error> {
        if let (Order::Turns(Turns { by_station: true, .. }), Some(discipline)) = (self.order, &self.discipline) {
            self.stations = Some(discipline.stations(&self.slot, self.link.index)?);
        }
        Ok(())
    }

    /// Lets the device take waiting packets without a bound from now on.
    fn drain(&mut self) {
        let index = self.link.index.into();
        if let Some(discipline) = &self.discipline
            && self.slot.interface().is_ok_and(|interface| interface == Some(index))
        {
            // If this fails, release by credit continues, and fewer packets leave.
            let _ = discipline.release_by(&mut self.slot, None);
            let_drain(|| Ok(self.slot.backlog()?.packets == 0));
        }
    }

    /// Returns why the slot no longer serves this interface.
    fn lost(&mut self) -> Error {
        let name = self.link.name.clone();
        match self.route.qdisc(self.link.index, ROOT) {
            Ok(found) => Error::Replaced { name, found: shown(found.as_ref()) },
            Err(Error::Gone { .. }) => Error::Gone { name },
            Err(error) => error,
        }
    }
}

struct Plan<'s> {
    wish: &'s Wish,
    mechanism: Mechanism,
    order: Order,
    /// Credit by which packets are released; `None` for an interface that pushes back.
    credit: Option<Credit>,
    start: &'s Start,
    looks: &'s Looks,
}

fn install(
    plan: &Plan,
    route: &mut Route,
    link: &Link,
    discipline: &Discipline,
) -> Result<(Slot, Former, State), Error> {
    let Plan { wish, mechanism, order, credit, start, looks } = *plan;
    let serves = |former: &Former, here: Option<&Qdisc>| {
        former.is_replaced_by(here, link, KIND) && discipline.has_order(former.ours, order)
    };
    let (mut former, state, stands) = claim(wish, route, looks, link, serves)?;
    let begin = |mut slot: Slot| {
        slot.set_order(order)?;
        slot.begin(start)?;
        discipline.release_by(&mut slot, credit)?;
        Ok(slot)
    };
    if stands {
        // No waiting packet of the killed agent's queue is lost.
        let slot = discipline.take_over(former.ours, mechanism, start.measures, start.at).and_then(begin)?;
        return Ok((slot, former, state));
    }
    let announced = discipline.free_slot(mechanism, start.measures, start.at).and_then(|mut slot| {
        if credit.is_some() {
            let phy = Wireless::open()?.phy_of(link.index)?;
            discipline.share(&mut slot, phy.map(|phy| phy.number))?;
        }
        slot.announce(link.index, now())?;
        Ok(slot)
    });
    let slot = match announced.and_then(begin) {
        Ok(slot) => slot,
        Err(error) => {
            state.forget()?;
            return Err(error);
        }
    };
    former.ours = slot.handle();
    // The root's counters include those below it.
    let_drain(|| Ok(route.qdisc(link.index, ROOT)?.is_none_or(|qdisc| qdisc.counters.backlog_packets == 0)));
    let state = make_way(&former, state, route, &former.replacement(KIND, None))?;
    Ok((slot, former, state))
}

/// Waits a short time until a queue is empty, so that few packets are lost. One that cannot be read counts as empty.
fn let_drain(mut is_empty: impl FnMut() -> Result<bool, Error>) {
    let patience = Patience::new(LONGEST_DRAIN, PAUSE);
    while !is_empty().unwrap_or(true) && patience.lasts() {}
}

impl Device for Governed {
    fn name(&self) -> &str {
        &self.link.name
    }

    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        if self.slot.interface()? != Some(self.link.index.into()) {
            return Err(self.lost());
        }
        if let Some(stations) = &mut self.stations {
            stations.look()?;
        }
        self.slot.take_interval(now)
    }

    fn own(&self) -> Option<Own> {
        let target_delay = self.order.turns()?.target.get();
        Some(Own { limit: self.slot.hard, every: EVERY, target_delay })
    }

    fn take_real_time(&mut self, now: Instant) -> Result<Option<(Interval, Beside)>, Error> {
        self.slot.take_real_time(now)
    }

    fn beside(&self) -> Beside {
        self.slot.beside()
    }

    fn apply(&mut self, orders: &Orders) -> Result<(), Error> {
        self.capabilities().allow(orders)?;
        self.slot.obey(orders)
    }

    fn restore(&mut self) -> Result<(), Error> {
        let Some(state) = self.state.take() else { return Ok(()) };
        let unmarked = self.mark_if(false);
        self.drain();
        let restored = state.end(&self.former, &mut self.route);
        let unloaded = match self.discipline.take() {
            Some(_) => Discipline::unload_unused(Path::new(FOLDER)),
            None => Ok(()),
        };
        let taken_away = unloaded.and(unmarked).map_err(|source| Error::Remains { source: source.into() });
        restored.and(taken_away)
    }

    fn keeps(&self) -> Keeps {
        Keeps::QueuesAndBpf
    }

    fn limit_segments(&mut self, segments: u32) -> Result<(), Error> {
        match &mut self.state {
            Some(state) => state.limit_segments(&mut self.former, &mut self.route, &self.link, segments),
            None => Ok(()),
        }
    }

    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        let serves = !wish.dry_run && matches!(wish.backend, Backend::Auto | Backend::Bpf);
        let Some(discipline) = self.discipline.as_ref().filter(|_| serves) else {
            return Ok(false);
        };
        let mechanism = Mechanism::of(wish)?;
        let order = Order::of(wish, self.stations.is_some());
        if order.number() != self.order.number() {
            return Ok(false);
        }
        // Loading again checks that the queues have room for the hard limit.
        Discipline::load(Path::new(FOLDER), mechanism.hard)?;
        let mut slot = discipline.take_over(self.slot.handle(), mechanism, start.measures, start.at)?;
        self.capabilities().allow(&start.orders)?;
        slot.set_order(order)?;
        slot.begin(start)?;
        self.order = order;
        self.slot = slot.following(&self.slot);
        self.mark_if(start.marks).map(|()| true)
    }

    fn capabilities(&self) -> Capabilities {
        let reads = Reads::COUNTS.and(Reads::SOJOURN).and(Reads::GAP).and(Reads::OCCUPANCY);
        Capabilities {
            kind: match self.order {
                Order::Arrival => KIND,
                Order::Biased => BIASED,
                Order::Turns(Turns { by_station: false, .. }) => TURNS_OF_ONE,
                Order::Turns(Turns { by_station: true, .. }) => TURNS_OF_STATIONS,
            },
            purges: true,
            look_every: None,
            reads: reads
                .and(Reads::SERVICE)
                .and(Reads::AVERAGE)
                .and(Reads::LATE)
                .and(Reads::OVERHEARD)
                .and(Reads::HOPS),
            // Under release by credit the device reports completions.
            estimates: if self.credit.is_some() { &BY_CREDIT } else { &BY_DEPARTURES },
            sets: Sets::LIMIT.and(Sets::RATE).and(Sets::MARK),
        }
    }
}

impl Drop for Governed {
    fn drop(&mut self) {
        // A destructor returns no error. The state file stays, and the next agent or `sluice detach` tries again.
        let _ = self.restore();
    }
}
