//! Finds out if packets ever wait in a queue. They do only if something below the queue refuses them for a while.

use crate::device::former::Former;
use crate::device::looks::Looks;
use crate::device::txq::{Holder, holder};
use crate::device::wish::{Place, shown_place};
use crate::error::Error;
use crate::kernel::rtnetlink::{Link, Qdisc, ROOT, Route};
use std::fs;
use std::path::Path;

/// Kinds of interfaces whose drivers take every packet at once. The kernel gives such an interface no queue; if a user
/// has installed one, only the interface's kind shows that no packet waits. TUN has a queue by default and is listed
/// because in most kernels its driver drops packets instead of stopping.
const TAKE_ALL: [&str; 13] =
    ["batadv", "bond", "bridge", "dsa", "dummy", "macvlan", "team", "tun", "veth", "vlan", "vrf", "vxlan", "wireguard"];
/// `ARPHRD_LOOPBACK` (`linux/if_arp.h`).
const LOOPBACK: u16 = 772;
/// Disciplines that hold nothing back: they hand a packet down whenever the layer below them takes one.
const WORK_CONSERVING: [&str; 7] = ["drr", "ets", "mq", "mqprio", "multiq", "prio", "qfq"];

/// What an interface does with a packet for which it has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// The driver pushes back, and packets wait in the queue.
    PushesBack,
    /// The driver takes every packet, and mac80211 holds them.
    Mac80211,
    /// The driver takes every packet.
    TakesAll,
}

impl Driver {
    /// Returns the driver's behaviour for an interface, and the evidence for it. `holder` says who holds the
    /// interface's packets; `qdiscs` are the users' disciplines.
    pub(crate) fn of(link: &Link, holder: Holder, qdiscs: &[Qdisc]) -> (Self, String) {
        let called = linked(&link.name, "device/driver").unwrap_or_else(|| "a driver without a name".into());
        match holder {
            Holder::NotWifi => {}
            Holder::Mac80211 => {
                let found = format!(
                    "{called}, whose packets mac80211 takes at once and holds (nl80211): none waits in a root qdisc"
                );
                return (Self::Mac80211, found);
            }
            Holder::Driver => {
                let found = format!(
                    "{called}, a driver of Wi-Fi with the MAC in hardware, stops the kernel's queue while its ring is full"
                );
                return (Self::PushesBack, found);
            }
        }
        let kind = link.kind.as_deref().or((link.hardware == LOOPBACK).then_some("loopback"));
        match (takes_all(link, qdiscs), kind) {
            (true, Some(kind)) => (Self::TakesAll, format!("a virtual interface ({kind}) takes every packet at once")),
            (true, None) => {
                (Self::TakesAll, format!("{called} takes every packet at once, and the kernel gives it no queue"))
            }
            (false, Some(kind)) => {
                (Self::PushesBack, format!("the kernel gives this virtual interface ({kind}) a queue"))
            }
            (false, None) => (Self::PushesBack, format!("{called} stops the kernel's queue while its ring is full")),
        }
    }
}

/// Returns the cost of one root queue for several transmit queues; `None` if the interface has one, or `noqueue`.
pub(crate) fn one_for_several(link: &Link) -> Option<String> {
    let (name, queues) = (&link.name, link.tx_queues);
    (queues > 1 && link.qdisc != "noqueue").then(|| {
        format!(
            "{name} has {queues} transmit queues: one queue under one lock replaces `mq`, which has a queue and a lock for each, \
             so processors that send at once wait for each other; detaching restores `mq`"
        )
    })
}

/// How packets that hardware forwards come back to the queues.
pub(crate) const TO_QUEUES: &str =
    "where delay matters, set flow_offloading_hw '0' in the firewall's settings, and wed_enable=N for the module";

/// Returns the traffic of a device that bypasses mac80211's queues and those above, so that it cannot be governed.
pub(crate) fn past_queues(device: &str) -> Option<String> {
    linked(device, "device")?;
    let module = linked(device, "device/driver/module").unwrap_or_default();
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    bypass(&read(&format!("/sys/module/{module}/parameters/wed_enable")), &read("/proc/net/nf_conntrack"))
}

/// `wed`: mt76's setting that lets the switch forward to the radio (Wireless Ethernet Dispatch); `flows`: the kernel's
/// list of connections, which only root can read.
fn bypass(wed: &str, flows: &str) -> Option<String> {
    let (is_on, offloaded) = (wed.starts_with('Y'), flows.matches("[HW_OFFLOAD]").count());
    let wed = if is_on { "WED is on" } else { "WED is off" };
    let found = format!("packets that hardware forwards bypass all queues: {wed}, {offloaded} offloaded connections");
    (is_on || offloaded > 0).then_some(found)
}

/// Returns the last part of the target of a link in the interface's sysfs folder.
pub(crate) fn linked(device: &str, path: &str) -> Option<String> {
    let target = fs::read_link(Path::new("/sys/class/net").join(device).join(path)).ok()?;
    target.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn takes_all(link: &Link, qdiscs: &[Qdisc]) -> bool {
    let known = link.hardware == LOOPBACK || link.kind.as_deref().is_some_and(|kind| TAKE_ALL.contains(&kind));
    let by_default = link.qdisc == "noqueue" && qdiscs.iter().all(|qdisc| qdisc.parent != ROOT);
    known || by_default
}

/// True if a discipline above the class `parent` delays packets, whatever the driver does.
fn is_shaped(qdiscs: &[Qdisc], parent: u32) -> bool {
    let mut parent = parent;
    // If the kernel changed the list meanwhile, it may contain a cycle.
    for _ in 0..=qdiscs.len() {
        let above = qdiscs.iter().find(|qdisc| parent != ROOT && qdisc.handle >> 16 == parent >> 16);
        match above {
            None => return false,
            Some(above) if !WORK_CONSERVING.contains(&above.kind.as_str()) => return true,
            Some(above) => parent = above.parent,
        }
    }
    false
}

/// Checks that an interface with the disciplines `qdiscs` has the class `parent`. Errors: it has only other classes.
pub(crate) fn has_class(link: &Link, parent: u32, qdiscs: &[Qdisc], route: &mut Route) -> Result<(), Error> {
    if parent == ROOT || qdiscs.iter().any(|qdisc| qdisc.parent == parent) {
        return Ok(());
    }
    let classes = route.classes(link.index)?;
    if classes.contains(&parent) {
        return Ok(());
    }
    let known = classes.into_iter().map(shown_place).collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "no class".into() } else { known };
    Err(Error::NoClass { name: link.name.clone(), class: shown_place(parent), known })
}

/// A queue in which no packet ever waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Idle {
    /// True if packets would wait if a controller released them by credit.
    pub(crate) but_by_credit: bool,
    /// True if replacing the queue would lose a user's settings.
    pub(crate) is_precious: bool,
    pub(crate) why: String,
}

/// Returns why no packet ever waits in the queue at `place`, if so. Errors: there is no such interface or class.
pub(crate) fn idle(place: &Place, looks: &Looks) -> Result<Option<Idle>, Error> {
    let mut route = Route::open()?;
    let link = route.link(&place.device)?;
    let qdiscs = looks.users(link.index)?;
    has_class(&link, place.parent, &qdiscs, &mut route)?;
    let (driver, how) = Driver::of(&link, holder(link.index)?, &qdiscs);
    if driver == Driver::PushesBack || is_shaped(&qdiscs, place.parent) {
        return Ok(None);
    }
    let (_, obstacle) = Former::read(&mut route, &link, place.parent, &qdiscs)?;
    let name = &link.name;
    let why = format!(
        "no packet ever waits in this queue of {name}, so a limit has no effect (driver: {how}); `sluice doctor \
         {name}` shows alternatives"
    );
    Ok(Some(Idle { but_by_credit: driver == Driver::Mac80211, is_precious: obstacle.is_some(), why }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(kind: Option<&str>, hardware: u16) -> Link {
        Link { name: "no-such-0".into(), kind: kind.map(str::to_owned), hardware, ..Link::default() }
    }

    fn qdisc(kind: &str, handle: u32, parent: u32) -> Qdisc {
        Qdisc { kind: kind.into(), handle, parent, ..Qdisc::default() }
    }

    #[test]
    fn what_the_kernel_gives_no_queue_takes_every_packet_and_so_does_a_kind_that_is_known_for_it() {
        let (default, given) = ("noqueue", "pfifo_fast");
        let own = [qdisc("pfifo", 0x7_0000, ROOT)];
        let (own, none) = (&own[..], &[][..]);
        for (kind, hardware, root, qdiscs, expected) in [
            (None, 1, default, none, Driver::TakesAll),
            (Some("hsr"), 1, default, none, Driver::TakesAll),
            (Some("veth"), 1, "pfifo", own, Driver::TakesAll),
            (Some("tun"), 1, given, none, Driver::TakesAll),
            (None, LOOPBACK, "pfifo", own, Driver::TakesAll),
            (None, 1, given, none, Driver::PushesBack),
            (None, 1, "pfifo", own, Driver::PushesBack),
            (Some("ifb"), 1, given, none, Driver::PushesBack),
            // An interface that is down has no queue yet, so nothing follows from it.
            (None, 1, "noop", none, Driver::PushesBack),
        ] {
            let link = Link { qdisc: root.into(), ..link(kind, hardware) };
            assert_eq!(Driver::of(&link, Holder::NotWifi, qdiscs).0, expected, "{kind:?} {root:?}");
        }
    }

    #[test]
    fn what_hardware_forwards_is_said_to_pass_the_queues_by() {
        let flow = "ipv4 2 tcp 6 src=192.0.2.1 dst=192.0.2.2 sport=1 dport=2";
        assert!(bypass("", "").is_none() && bypass("N\n", &format!("{flow} [OFFLOAD] use=2\n")).is_none());
        let by_hardware = format!("{flow} [HW_OFFLOAD] use=2\n{flow} [ASSURED] use=2\n");
        for (wed, flows, says) in [
            ("Y\n", "", "WED is on, 0 offloaded connections"),
            ("N\n", &by_hardware, "WED is off, 1 offloaded connections"),
        ] {
            assert!(bypass(wed, flows).unwrap().contains(says), "{says}");
        }
    }

    #[test]
    fn a_class_holds_packets_where_something_above_it_shapes() {
        let root = |kind| vec![qdisc(kind, 0x1_0000, ROOT), qdisc("pfifo", 0x10_0000, 0x1_0010)];
        assert!(is_shaped(&root("htb"), 0x1_0010));
        assert!(!is_shaped(&root("prio"), 0x1_0010));
        assert!(!is_shaped(&root("htb"), ROOT), "the root itself is above nothing");
        assert!(!is_shaped(&[], 0x1_0010));
        let mut below = vec![qdisc("tbf", 0x1_0000, ROOT), qdisc("prio", 0x2_0000, 0x1_0001)];
        assert!(is_shaped(&below, 0x2_0003), "a band of prio in tbf");
        below[0].kind = "ets".into();
        assert!(!is_shaped(&below, 0x2_0003));
        // This list has a cycle.
        let round = [qdisc("prio", 0x1_0000, 0x2_0001), qdisc("prio", 0x2_0000, 0x1_0001)];
        assert!(!is_shaped(&round, 0x2_0003));
    }
}
