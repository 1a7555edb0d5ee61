//! Findings about the queue of an interface.

use crate::device::driver::{Driver, one_for_several};
use crate::device::former::{Former, Obstacle};
use crate::device::knobs;
use crate::device::txq::{Holder, is_mesh};
use crate::device::wish::{quoted, shown_place};
use crate::doctor::machine::Finding;
use crate::error::Error;
use crate::kernel::rtnetlink::{Link, Qdisc, ROOT, Route, shown};

/// Advice for each kind of traffic.
const SUITS: &str = "downloads, web, video (TCP, QUIC): fq_codel or cake, no controller of Sluice; one queue for all: ebdp; \
                     unresponsive streams with a deadline (cameras, telemetry, voice): adth, which starves TCP";

/// The user chooses the controller according to the traffic; no default suits all.
const CONTROLLER: &str = "--controller NAME";

/// Disciplines with classes, or with room for another discipline below them.
const CLASSFUL: [&str; 11] = ["cbq", "drr", "ets", "hfsc", "htb", "mqprio", "multiq", "netem", "prio", "qfq", "tbf"];

pub(super) fn findings(
    (link, holder): (&Link, Holder),
    parent: u32,
    route: &mut Route,
    qdiscs: &[Qdisc],
    can_bpf: bool,
) -> Result<Vec<Finding>, Error> {
    let own = qdiscs.iter().find(|qdisc| qdisc.parent == parent);
    let (_, obstacle) = Former::read(route, link, parent, qdiscs)?;
    let (driver, how) = Driver::of(link, holder, qdiscs);
    let waits = Finding::good("driver", how);
    let classes = if parent == ROOT { users_classes(link, route, qdiscs)? } else { None };
    let obstacle = obstacle.map(Obstacle::why);
    let possible = match (parent, &classes, &obstacle) {
        (ROOT, Some(classes), _) => in_a_class(link, classes),
        (ROOT, None, Some(why)) => stays(why),
        (ROOT, None, None) => possible(
            link,
            driver,
            can_bpf && !is_mesh(&link.name).unwrap_or_default(),
            knobs::lost(&link.name).unwrap_or_default().as_deref(),
        ),
        (_, _, None) => in_a_class(link, &[parent]),
        (_, _, Some(_)) => in_a_class(link, &[]),
    };
    let suits = Finding::good("controllers", SUITS);
    let mut findings = vec![possible, suits, waits];
    findings.push(match obstacle {
        None => {
            // The kernel's list leaves out queues without a handle.
            let here = match own {
                None if link.qdisc == "noqueue" => "none (noqueue)".to_owned(),
                None => link.qdisc.clone(),
                Some(_) => shown(own),
            };
            Finding::good("former queue", format!("{here}; it can be restored"))
        }
        // The user's queue must not be removed.
        Some(why) => Finding::bad("former queue", why, "keep this queue"),
    });
    if parent == ROOT
        && let Some(found) = one_for_several(link)
    {
        findings.push(Finding::bad(
            "transmit queues",
            found,
            "where many processors send, fq_codel under mq costs less than one shared queue",
        ));
    }
    if link.gso_max_segs > 1 {
        let found = "one packet of the queue may hold many segments (GSO), so a limit in packets is imprecise";
        findings.push(Finding::bad(
            "large packets",
            found,
            "use sluice attach --gso-segments 1, or a limit in bytes: --set 'limit=150 kB'",
        ));
    }
    Ok(findings)
}

/// Returns the classes of a user's shaper whose queues can be governed; `None` if the root has none.
fn users_classes(link: &Link, route: &mut Route, qdiscs: &[Qdisc]) -> Result<Option<Vec<u32>>, Error> {
    let is_classful = |qdisc: &Qdisc| qdisc.parent == ROOT && CLASSFUL.contains(&qdisc.kind.as_str());
    // A shaper may also be under a root without a handle that the kernel made (`mq`).
    if !qdiscs.iter().any(|qdisc| is_classful(qdisc) || qdisc.parent < 0xffff_0000) {
        return Ok(None);
    }
    // All classes below count: a class of a class has a queue of its own.
    let mut classes = Vec::new();
    for leaf in qdiscs.iter().filter(|qdisc| qdisc.parent < 0xffff_0000) {
        if let (_, None) = Former::read(route, link, leaf.parent, qdiscs)? {
            classes.push(leaf.parent);
        }
    }
    Ok(Some(classes))
}

/// Returns the advice for a shaper, which must stay.
fn in_a_class(link: &Link, classes: &[u32]) -> Finding {
    const TOPIC: &str = "attach";
    let name = quoted(&link.name);
    let command = |class: &u32| format!("sudo sluice attach {name} --parent {} {CONTROLLER}", shown_place(*class));
    if classes.is_empty() {
        return Finding::bad(
            TOPIC,
            "a shaper is set up, but none of its classes has a queue with a handle; `tc class show dev DEV` lists the classes",
            format!(
                "sudo tc qdisc add dev {name} parent CLASS handle 20: pfifo limit 1000; sudo sluice attach {name} --parent \
                 CLASS {CONTROLLER}"
            ),
        );
    }
    let commands: Vec<String> = classes.iter().map(command).collect();
    Finding::good(
        TOPIC,
        format!("a controller can govern the FIFO in a class of your queue: {}", commands.join(", or ")),
    )
}

/// Returns the advice for a user's queue without classes, which must stay.
fn stays(why: &str) -> Finding {
    Finding::bad(
        "attach",
        format!("a user set up this queue: {why}"),
        "keep this queue: cake, fq_codel and a shaper's own queue bound delays themselves. To let Sluice govern a \
         shaped queue instead, set the rate with htb and govern an htb class",
    )
}

/// Returns what `sluice attach` would do with this interface, and the command for it. `lost`: settings of mac80211's
/// scheduler that cannot be changed here; `None`: mac80211 holds no packets.
pub(super) fn possible(link: &Link, driver: Driver, can_bpf: bool, lost: Option<&[String]>) -> Finding {
    const TOPIC: &str = "attach";
    let name = quoted(&link.name);
    let command = format!("sudo sluice attach {name} {CONTROLLER}");
    match (driver, can_bpf, lost) {
        (Driver::PushesBack, true, _) => Finding::good(
            TOPIC,
            format!(
                "grade 3 (turns, no controller): sudo sluice attach {name}; Sluice's own discipline with a controller: {command}"
            ),
        ),
        (Driver::PushesBack, false, _) => {
            Finding::good(TOPIC, format!("the kernel's FIFO with a controlled limit: {command}"))
        }
        (Driver::Mac80211, can_bpf, Some(lost)) => {
            let (second, backend) = if can_bpf {
                (
                    format!("grade 2 (turns of its stations, no controller): sudo sluice attach {name}; "),
                    " --backend knobs",
                )
            } else {
                (String::new(), "")
            };
            let attach = format!(
                "{second}grade 1 (settings of mac80211's scheduler, no controller): sudo sluice attach {name}{backend}"
            );
            Finding::good(TOPIC, [&[attach], lost].concat().join("; "))
        }
        (Driver::Mac80211, true, None) => {
            Finding::good(TOPIC, format!("Sluice's own discipline, which releases by credit: {command}"))
        }
        (Driver::Mac80211, false, None) => Finding::bad(
            TOPIC,
            "no effect at present: this queue stays empty, because mac80211 holds the packets",
            "use a kernel and a build with BPF: Sluice's own discipline then holds the packets and releases by credit",
        ),
        (Driver::TakesAll, ..) => Finding::bad(
            TOPIC,
            "no queue forms at this interface, because the driver takes every packet at once: set a rate with a shaper and govern a class of it",
            format!(
                "tc qdisc add dev {name} root handle 1: htb default 10; tc class add dev {name} parent 1: classid \
                 1:10 htb rate 50mbit; tc qdisc add dev {name} parent 1:10 handle 10: pfifo limit 1000; sluice attach \
                 {name} --parent 1:10 {CONTROLLER}"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_possible_follows_from_driver_kernel_and_build() {
        let link = Link { name: "x0".into(), ..Link::default() };
        for (driver, bpf, good, says) in [
            (Driver::PushesBack, false, true, "the kernel's FIFO"),
            (Driver::PushesBack, true, true, "own discipline"),
            (Driver::Mac80211, false, false, "stays empty"),
            (Driver::Mac80211, true, true, "by credit"),
            (Driver::TakesAll, true, false, "no queue forms at this interface"),
        ] {
            let finding = possible(&link, driver, bpf, None);
            assert_eq!(finding.good, good, "{driver:?}");
            assert!(finding.found.contains(says), "{finding:?}");
        }
        let finding = possible(&link, Driver::Mac80211, true, Some(&["no weights".into()]));
        assert!(
            finding.good && finding.found.ends_with("sudo sluice attach x0 --backend knobs; no weights"),
            "{finding:?}"
        );
    }

    #[test]
    fn advice_quotes_names() {
        let link = Link { name: "$(reboot)".into(), ..Link::default() };
        for driver in [Driver::PushesBack, Driver::Mac80211, Driver::TakesAll] {
            let finding = possible(&link, driver, true, Some(&[]));
            let said = format!("{} {}", finding.found, finding.fix.unwrap_or_default());
            assert_eq!(said.matches("$(reboot)").count(), said.matches("'$(reboot)'").count(), "{said}");
            assert!(said.contains("'$(reboot)'"), "{said}");
        }
        for classes in [&[][..], &[0x1_0010]] {
            assert!(format!("{:?}", in_a_class(&link, classes)).contains("'$(reboot)'"));
        }
    }
}
