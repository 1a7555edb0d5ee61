//! The scheduler of mac80211 as a device. Sets its airtime queue limits (AQL) and the packet limit of its queues to
//! suit the stations' turns ([`control::knobs`]). Needs Wi-Fi and a stock kernel, 5.10 or later.
//!
//! All settings belong to a phy: stations of all its interfaces take turns in the same rounds. mac80211 keeps its
//! queues, an `FQ-CoDel` for each station and traffic identifier. It also forwards mesh packets; no qdisc sees these.

use crate::device::contract::{Capabilities, Device, Own};
use crate::device::estimate::Estimator;
use crate::device::former::FormerKnobs;
use crate::device::txq::{self, HEADER, Queues, at_root, packets};
use crate::device::wish::{Backend, Place, Start, Wish};
use crate::error::Error;
use crate::kernel::Counters;
use crate::kernel::debugfs::Aql;
use crate::kernel::nl80211::{Peer, Phy, TxqCounts, Wireless, counters};
use crate::kernel::rtnetlink::Route;
use control::knobs::{HIGH, Knobs as Law, LOW, Station, TARGET, THRESHOLD};
use control::{Interval, Orders};
use std::collections::BTreeMap;
use units::{Bytes, Duration, Instant, Positive};

pub(crate) const KIND: &str = "knobs";
/// Best effort and background, whose packets come in bulk, in mac80211's order of categories.
const BULK: [usize; 2] = [2, 3];
/// Time between two readings of the phy's own state: limit, drops and interfaces.
const LOOKED_AT: Duration = Duration::from_secs(1);

/// An interface whose phy's scheduler is set.
#[derive(Debug)]
pub(crate) struct Knobs {
    queues: Queues,
    law: Law,
    estimator: Estimator,
    interfaces: Vec<u32>,
    /// Instant of the next reading of the phy.
    next: Instant,
    /// Counters of each station at the last interval's end, under the interface's number and the station's address.
    before: BTreeMap<(u32, [u8; 6]), TxqCounts>,
    /// Each station, as last read.
    stations: Vec<Station>,
}

impl Knobs {
    /// Takes up the scheduler of an interface's phy, and returns remarks on settings that cannot be changed. Waiting
    /// packets are kept. First restores what a killed agent left. Errors: there is no such interface, or it is not
    /// Wi-Fi; its driver does not leave its queues to mac80211; the privilege is missing; another agent is there, or
    /// governs another interface of the phy.
    pub(crate) fn attach(
        place: &Place,
        (target, bulk): (Option<Positive<Duration>>, Option<Positive<Duration>>),
        start: &Start,
    ) -> Result<(Self, Vec<String>), Error> {
        at_root(place.parent)?;
        let (mut set, mut remarks) = (None, Vec::new());
        let mut queues = Queues::take(place, |wireless, phy| {
            let aql = Aql::of(&wireless.phy_name(phy.number)?.unwrap_or_default());
            let (knobs, said) = settable(phy, &aql);
            (set, remarks) = (knobs.map(|knobs| (aql, knobs)), said);
            Ok(knobs)
        })?;
        if let Some((aql, FormerKnobs { before, ours, .. })) = &set
            && let Err(error) = aql.change(before, ours)
        {
            // Some settings may have been written already.
            return queues.restore().and(Err(error));
        }
        let estimator = Estimator::new(start.measures, HEADER, false, start.at, Counters::default());
        let law = Law::new(target.unwrap_or(TARGET), bulk, queues.limit);
        let (interfaces, next, before, stations) = (Vec::new(), Instant::ZERO, BTreeMap::new(), Vec::new());
        let mut knobs = Self { queues, law, estimator, interfaces, next, before, stations };
        // Packets from before the start do not count.
        knobs.look(start.at)?;
        knobs.estimator.take();
        Ok((knobs, remarks))
    }

    /// Reads the phy's limit, drops and interfaces.
    fn look_at_phy(&mut self) -> Result<(), Error> {
        let queues = &mut self.queues;
        queues.look()?;
        self.interfaces = queues.wireless.interfaces(queues.phy.number)?;
        if self.interfaces.contains(&queues.link.index) { Ok(()) } else { Err(queues.gone()) }
    }
}

/// Returns those settings of an interface's scheduler that cannot be changed; `None` if mac80211 holds none of its
/// packets. Errors: there is no such interface.
pub(crate) fn lost(device: &str) -> Result<Option<Vec<String>>, Error> {
    let link = Route::open()?.link(device)?;
    // Without nl80211 there is no Wi-Fi.
    let Ok(mut wireless) = Wireless::open() else { return Ok(None) };
    let Some(phy) = wireless.phy_of(link.index)?.filter(|phy| phy.limit.is_some()) else { return Ok(None) };
    let name = wireless.phy_name(phy.number)?.unwrap_or_default();
    Ok(Some(settable(&phy, &Aql::of(&name)).1))
}

/// Returns the settings of a phy that can be changed, except its packet limit, and remarks on those that cannot.
pub(crate) fn settable(phy: &Phy, aql: &Aql) -> (Option<FormerKnobs>, Vec<String>) {
    const LIMIT_ALONE: &str = "Sluice sets only the packet limit of all queues, so rounds stay long";
    if !phy.has_aql {
        return (None, vec![format!("the driver has no airtime queue limits (AQL): {LIMIT_ALONE}")]);
    }
    let before = match aql.read() {
        Ok(before) => before,
        Err(why) => return (None, vec![format!("airtime queue limits (AQL) stay as they are: {why}; {LIMIT_ALONE}")]),
    };
    let mut ours = before;
    let micros = |time: Duration| u32::try_from(time.as_nanos() / 1_000).unwrap_or(u32::MAX);
    for category in BULK {
        ours.limits[category] = (micros(LOW), micros(HIGH));
    }
    ours.threshold = micros(THRESHOLD);
    (Some(FormerKnobs { before, ours }), Vec::new())
}

/// Returns by how much a station's counters grew. A station that leaves and returns counts from zero.
fn served(peer: &Peer, before: Option<&TxqCounts>) -> Station {
    let now = peer.queues;
    let before = before.copied().unwrap_or(now);
    let grown = |now: u32, before: u32| u64::from(now.wrapping_sub(before));
    let packets = grown(now.sent_packets, before.sent_packets);
    // A station that left and returned has lower counters. No station is sent 2^31 packets in one interval.
    let is_same = packets < 1 << 31;
    let bytes = if is_same { grown(now.sent_bytes, before.sent_bytes) } else { 0 };
    let packets = if is_same { packets } else { 0 };
    Station { packets, bytes: Bytes::new(bytes), rate: peer.sent_at, waits: now.backlog_packets > 0 }
}

impl Device for Knobs {
    fn name(&self) -> &str {
        &self.queues.link.name
    }

    fn look(&mut self, now: Instant) -> Result<(), Error> {
        if self.next <= now {
            self.next = now + LOOKED_AT;
            self.look_at_phy()?;
        }
        let (mut all, mut after) = (TxqCounts::default(), BTreeMap::new());
        self.stations.clear();
        for index in std::mem::take(&mut self.interfaces) {
            let queues = &mut self.queues;
            let peers = match queues.wireless.peers(index) {
                Ok(peers) => peers,
                Err(_) if index != queues.link.index => continue,
                Err(_) if queues.route.link(&queues.link.name).is_err() => return Err(queues.gone()),
                Err(error) => return Err(error),
            };
            self.interfaces.push(index);
            for peer in &peers {
                let key = (index, peer.address);
                self.stations.push(served(peer, self.before.get(&key)));
                all.add(&peer.queues);
                after.insert(key, peer.queues);
            }
        }
        self.before = after;
        self.estimator.look(now, counters(&self.queues.phy, &all));
        Ok(())
    }

    fn take_interval(&mut self, now: Instant) -> Result<Interval, Error> {
        self.look(now)?;
        let seen = self.estimator.take();
        self.law.update(seen.length, self.stations.iter().copied());
        Ok(seen)
    }

    fn own(&self) -> Option<Own> {
        let target_delay = self.law.target_delay();
        Some(Own { limit: self.law.limit(), every: self.law.every(), target_delay })
    }

    fn apply(&mut self, orders: &Orders) -> Result<(), Error> {
        self.capabilities().allow(orders)?;
        self.queues.set_limit(packets(orders.limit)?)
    }

    fn restore(&mut self) -> Result<(), Error> {
        self.queues.restore()
    }

    fn adapt(&mut self, wish: &Wish, start: &Start) -> Result<bool, Error> {
        if wish.dry_run || !matches!(wish.backend, Backend::Knobs | Backend::Auto) || !wish.is_unspecific() {
            return Ok(false);
        }
        self.estimator.measure(start.measures);
        self.law.aim(wish.target_delay.unwrap_or(TARGET), wish.bulk_delay);
        Ok(true)
    }

    fn capabilities(&self) -> Capabilities {
        txq::capabilities(KIND, self.law.every())
    }
}
