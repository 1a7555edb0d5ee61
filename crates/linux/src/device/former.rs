//! The former queue of an interface, and how it is restored, even after an agent was killed.

use crate::device::options::to_make_again;
use crate::error::{Error, Unsupported};
use crate::kernel::debugfs::{Aql, AqlSettings};
use crate::kernel::nl80211::Wireless;
use crate::kernel::rtnetlink::{Link, Qdisc, ROOT, Route, shown};
use crate::kernel::wire::{attributes, u32_at, u64_at};
use serde::{Deserialize, Serialize};
use std::io;

/// Disciplines that can be created again from the options that the kernel shows; `mq` with the queues that the kernel
/// creates below it. All except codel and fq are tested; for these two the kernel's source was read.
const RESTORABLE: [&str; 10] =
    ["pfifo", "bfifo", "pfifo_head_drop", "pfifo_fast", "noqueue", "fq_codel", "codel", "fq", "cake", "mq"];

/// What would be lost if the queue at an attachment point were replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The queue cannot be restored later.
    Lost(String),
    /// The queue can be restored, but until then a user's rate limit would not hold.
    Shapes(String),
}

impl Obstacle {
    pub(crate) fn why(self) -> String {
        match self {
            Self::Lost(why) | Self::Shapes(why) => why,
        }
    }
}

/// State of an attachment point before Sluice, and what Sluice put at this point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Former {
    /// Name of the interface, for messages.
    device: String,
    pub(crate) index: u32,
    parent: u32,
    /// The former discipline; `None` if it was the kernel's default, which returns by itself.
    pub(super) qdisc: Option<Saved>,
    /// Handle of Sluice's discipline.
    pub(super) ours: u32,
    /// Former largest number of segments in a packet, if the agent changed it; the last attachment point of the
    /// interface that is restored sets it again.
    pub(super) segments: Option<u32>,
    /// True if the transmit queue had length 0, which the kernel changes when a discipline is installed.
    #[serde(default)]
    zero_length: bool,
    /// Former limit of the phy's queues, if these are governed and no discipline was replaced.
    phy: Option<FormerPhy>,
    /// Former settings of the phy's scheduler, if they were changed.
    knobs: Option<FormerKnobs>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    kind: String,
    handle: u32,
    options: Option<Vec<u8>>,
}

/// Former packet limit of a phy's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormerPhy {
    number: u32,
    limit: u32,
}

/// Settings of a phy's scheduler: the former ones and Sluice's. Any other is another program's and stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormerKnobs {
    /// Former airtime queue limits (AQL), and those that Sluice set.
    pub(crate) before: AqlSettings,
    pub(crate) ours: AqlSettings,
}

impl Former {
    /// Reads the queue at `parent` of an interface with the users' disciplines `qdiscs`, and what forbids replacing it.
    pub(crate) fn read(
        route: &mut Route,
        link: &Link,
        parent: u32,
        qdiscs: &[Qdisc],
    ) -> Result<(Self, Option<Obstacle>), Error> {
        let own = qdiscs.iter().find(|qdisc| qdisc.parent == parent);
        let obstacle = match own {
            None if parent == ROOT => default_obstacle(qdiscs),
            None => {
                let why = "there is no queue with a handle in that class; first put a pfifo with a handle into it";
                Some(Obstacle::Lost(why.into()))
            }
            Some(qdisc) => obstacle(qdisc, qdiscs, route)?,
        };
        let saved = |Qdisc { kind, handle, options, .. }: Qdisc| Saved { kind, handle, options };
        let (device, index, qdisc) = (link.name.clone(), link.index, own.cloned().map(saved));
        let (ours, zero_length) = (our_handle(parent, qdiscs), link.tx_queue_length == 0);
        Ok((Self { device, index, parent, qdisc, ours, zero_length, ..Self::default() }, obstacle))
    }

    /// Former state of a phy's queues: the packet limit and scheduler settings. No discipline is replaced.
    pub(crate) fn of_phy(link: &Link, number: u32, limit: u32, knobs: Option<FormerKnobs>) -> Self {
        let (device, index, phy) = (link.name.clone(), link.index, Some(FormerPhy { number, limit }));
        Self { device, index, parent: ROOT, phy, knobs, ..Self::default() }
    }

    /// Keeps the packet limit that another program has given the phy: this limit returns.
    pub(crate) fn keep_limit(&mut self, limit: u32) {
        self.phy = self.phy.map(|phy| FormerPhy { limit, ..phy });
    }

    /// Returns the number of the phy whose queues are governed; `None` if a discipline is governed.
    pub(crate) fn phy(&self) -> Option<u32> {
        self.phy.map(|phy| phy.number)
    }

    /// Returns Sluice's discipline of a kind, with options in the kernel's form.
    pub(crate) fn replacement(&self, kind: &str, options: Option<Vec<u8>>) -> Qdisc {
        let Self { index, parent, ours: handle, .. } = *self;
        Qdisc { index, handle, parent, kind: kind.into(), options, ..Qdisc::default() }
    }

    /// True if `here` is Sluice's discipline of this kind, and it replaced the former one on an interface.
    #[cfg(feature = "bpf")]
    pub(crate) fn is_replaced_by(&self, here: Option<&Qdisc>, link: &Link, kind: &str) -> bool {
        let is_ours = here.is_some_and(|here| here.handle == self.ours && here.kind == kind);
        self.index == link.index && self.phy.is_none() && is_ours
    }

    /// Restores the former queue, and checks that it equals the old one. Another program's discipline is left alone.
    pub(crate) fn restore(&self, route: &mut Route) -> Result<(), Error> {
        // A queue that disappeared with its interface needs no restoring.
        let unless_gone = |set| if matches!(set, Err(Error::Gone { .. })) { Ok(()) } else { set };
        let mut restored = self.restore_queue(route);
        if self.zero_length && restored.is_ok() {
            restored = unless_gone(route.set_tx_queue_length(self.index, 0));
        }
        match self.segments {
            Some(segments) => restored.and(unless_gone(route.set_segments(self.index, segments))),
            None => restored,
        }
    }

    fn restore_queue(&self, route: &mut Route) -> Result<(), Error> {
        if let Some(FormerPhy { number, limit }) = self.phy {
            return restore_phy(number, limit, self.knobs.as_ref());
        }
        let now = match route.qdisc(self.index, self.parent) {
            Err(Error::Gone { .. }) => return Ok(()),
            now => now?,
        };
        if self.is_back(now.as_ref()) {
            return Ok(());
        }
        if now.as_ref().is_none_or(|now| now.handle != self.ours) {
            return Err(Error::Replaced { name: self.device.clone(), found: shown(now.as_ref()) });
        }
        match &self.qdisc {
            None => route.delete(self.index, self.parent)?,
            Some(Saved { kind, handle, options }) => {
                let (index, parent, handle) = (self.index, self.parent, *handle);
                let (kind, options) = (kind.clone(), options.as_deref().map(|shown| to_make_again(kind, shown)));
                route.replace(&Qdisc { index, handle, parent, kind, options, ..Qdisc::default() })?;
            }
        }
        let now = route.qdisc(self.index, self.parent)?;
        if self.is_back(now.as_ref()) {
            return Ok(());
        }
        Err(Error::NotBack { name: self.device.clone(), found: shown(now.as_ref()) })
    }

    fn is_back(&self, now: Option<&Qdisc>) -> bool {
        match (&self.qdisc, now.filter(|now| now.handle != 0)) {
            (None, now) => now.is_none(),
            (Some(saved), Some(now)) => {
                (&saved.kind, saved.handle, &saved.options) == (&now.kind, now.handle, &now.options)
            }
            (Some(_), None) => false,
        }
    }
}

/// Restores a phy's settings, except on a phy that no longer exists and except settings that another program has
/// changed. If one setting fails, all further settings are still restored.
fn restore_phy(number: u32, limit: u32, knobs: Option<&FormerKnobs>) -> Result<(), Error> {
    let mut wireless = match Wireless::open() {
        Err(Error::Unsupported(Unsupported::NoWifi)) => return Ok(()),
        wireless => wireless?,
    };
    let Some(phy) = wireless.phy(number)? else { return Ok(()) };
    let restored = if phy.limit == Some(limit) { Ok(()) } else { wireless.set_limit(number, limit) };
    let Some(knobs) = knobs else { return restored };
    restored.and(restore_airtime(&mut wireless, number, knobs))
}

fn restore_airtime(wireless: &mut Wireless, phy: u32, knobs: &FormerKnobs) -> Result<(), Error> {
    let Some(name) = wireless.phy_name(phy)? else { return Ok(()) };
    let aql = Aql::of(&name);
    let what = format!("restore {name}'s limits of airtime");
    let now = aql.read().map_err(|why| Error::kernel(&what)(io::Error::other(why)))?;
    aql.change(&now, &knobs.restored(&now))
}

impl FormerKnobs {
    /// Returns the settings to restore: each setting of Sluice's that still applies `now` gets its former value.
    fn restored(&self, now: &AqlSettings) -> AqlSettings {
        let Self { before, ours, .. } = self;
        let mut restored = *now;
        for (place, limits) in restored.limits.iter_mut().enumerate() {
            if *limits == ours.limits[place] {
                *limits = before.limits[place];
            }
        }
        if now.threshold == ours.threshold {
            restored.threshold = before.threshold;
        }
        restored
    }
}

/// Returns the handle of Sluice's queue: `51ce:` at the root; below a class `51xx:`, with seven bits of the class's
/// number or the next ones that none of the interface's queues has.
fn our_handle(parent: u32, qdiscs: &[Qdisc]) -> u32 {
    let below = |step: u32| 0x5100_0000 | (parent.wrapping_add(step) & 0x7f) << 16;
    let is_free = |handle: &u32| qdiscs.iter().all(|qdisc| qdisc.handle != *handle);
    if parent == ROOT { 0x51ce_0000 } else { (0..0x80).map(below).find(is_free).unwrap_or_else(|| below(0)) }
}

/// Returns an obstacle if a user has put a queue under a root that the kernel made by itself (`mq`).
fn default_obstacle(qdiscs: &[Qdisc]) -> Option<Obstacle> {
    let own = qdiscs.iter().find(|qdisc| qdisc.parent < 0xffff_0000)?;
    Some(Obstacle::Lost(format!("{} is below the root and would be lost", shown(Some(own)))))
}

fn obstacle(qdisc: &Qdisc, qdiscs: &[Qdisc], route: &mut Route) -> Result<Option<Obstacle>, Error> {
    let child = qdiscs.iter().find(|child| child.parent != ROOT && child.parent >> 16 == qdisc.handle >> 16);
    if let Some(child) = child {
        let why = format!("{} is below {} and would be lost", shown(Some(child)), shown(Some(qdisc)));
        return Ok(Some(Obstacle::Lost(why)));
    }
    if !RESTORABLE.contains(&qdisc.kind.as_str()) {
        let known = RESTORABLE.join(", ");
        return Ok(Some(Obstacle::Lost(format!(
            "{} cannot be restored from the kernel's description; {known} can",
            qdisc.kind
        ))));
    }
    let filters = route.has_filters(qdisc.index, qdisc.handle)?;
    if filters {
        return Ok(Some(Obstacle::Lost(format!("the filters of {} would be lost", shown(Some(qdisc))))));
    }
    Ok(shapes(qdisc).then(|| {
        let why = format!(
            "{} limits the link's rate, and nothing would limit it while Sluice's queue is attached",
            shown(Some(qdisc))
        );
        Obstacle::Shapes(why)
    }))
}

/// True if a discipline that can be restored limits a rate (`linux/pkt_sched.h`); other kinds need no such check.
fn shapes(qdisc: &Qdisc) -> bool {
    /// `TCA_CAKE_BASE_RATE64` and `TCA_CAKE_AUTORATE`.
    const CAKE: [u16; 2] = [2, 9];
    /// `TCA_FQ_FLOW_MAX_RATE`; its largest value means no limit.
    const FQ_MAX_RATE: u16 = 7;
    let mut options = attributes(qdisc.options.as_deref().unwrap_or_default());
    options.any(|(kind, value)| match qdisc.kind.as_str() {
        "cake" if kind == CAKE[0] => u64_at(value, 0).is_some_and(|rate| rate > 0),
        "cake" if kind == CAKE[1] => u32_at(value, 0).is_some_and(|is_on| is_on > 0),
        "fq" if kind == FQ_MAX_RATE => u32_at(value, 0).is_some_and(|rate| rate < u32::MAX),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_another_program_has_changed_since_stay() {
        let aql = |be, bk, threshold| AqlSettings { limits: [(1, 2), (3, 4), be, bk], threshold };
        let default = (5_000, 12_000);
        let (before, ours) = (aql(default, (7, 8), 24_000), aql((0, 3_500), (0, 3_500), 8_000));
        let knobs = FormerKnobs { before, ours };
        assert_eq!(knobs.restored(&ours), before);
        // The agent was killed between two writes.
        assert_eq!(knobs.restored(&aql((0, 3_500), (7, 8), 24_000)), before);
        let theirs = aql((0, 3_500), (9, 9), 1_000);
        assert_eq!(knobs.restored(&theirs), aql(default, (9, 9), 1_000));
    }

    #[test]
    fn no_two_classes_of_an_interface_share_a_handle() {
        let mut there = Vec::new();
        for class in 1..=0x80 {
            let handle = our_handle(0x1_0000 | (class * 0x80) | 0x10, &there);
            assert!(handle >> 23 == 0xa2 && there.iter().all(|is: &Qdisc| is.handle != handle), "{handle:x}");
            there.push(Qdisc { handle, ..Qdisc::default() });
        }
        assert_eq!(there[0].handle, 0x5110_0000);
    }

    #[test]
    fn cake_with_a_rate_and_fq_with_a_greatest_rate_limit_the_link() {
        let option = |kind: u16, value: &[u8]| {
            let length = u16::try_from(4 + value.len()).unwrap();
            [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
        };
        let limits = |kind: &str, options: Vec<u8>| {
            shapes(&Qdisc { kind: kind.into(), options: Some(options), ..Qdisc::default() })
        };
        // 20 Mb/s is 2,500,000 B/s.
        assert!(limits("cake", option(2, &2_500_000_u64.to_ne_bytes())));
        assert!(!limits("cake", option(2, &0_u64.to_ne_bytes())), "unlimited");
        assert!(limits("cake", [option(2, &0_u64.to_ne_bytes()), option(9, &1_u32.to_ne_bytes())].concat()));
        assert!(limits("fq", option(7, &2_500_000_u32.to_ne_bytes())));
        assert!(!limits("fq", option(7, &u32::MAX.to_ne_bytes())));
        assert!(!limits("fq_codel", option(7, &1_u32.to_ne_bytes())), "its option 7 is another");
        assert!(!limits("pfifo", 1_000_u32.to_ne_bytes().to_vec()));
    }
}
