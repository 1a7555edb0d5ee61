//! What is possible on this machine and on its interfaces, why not more, and what would mend it. Reads only.

use crate::Error;
use crate::device::driver::{Driver, linked};
use crate::device::former::{Former, shown};
use crate::kernel::rtnetlink::{Link, ROOT, Route};
use crate::shown_place;
use crate::telemetry::stations::{self, Stations};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Bits of capabilities in a set (`linux/capability.h`).
const NET_ADMIN: u32 = 12;
const PERFMON: u32 = 38;
const BPF: u32 = 39;
/// The first kernel with queue disciplines in BPF.
const FIRST_KERNEL: (u32, u32) = (6, 16);
/// Disciplines with classes, or a place for another below them.
const CLASSFUL: [&str; 11] = ["cbq", "drr", "ets", "hfsc", "htb", "mqprio", "multiq", "netem", "prio", "qfq", "tbf"];
/// A function that only kernels with BPF queue disciplines offer to BPF programs.
const BPF_QDISC_SYMBOL: &[u8] = b"bpf_qdisc_bstats_update\0";
/// Disciplines that are looked for, and the function of the kernel that takes their packets.
const DISCIPLINES: [(&str, &str); 8] = [
    ("pfifo", "pfifo_enqueue"),
    ("bfifo", "bfifo_enqueue"),
    ("pfifo_head_drop", "pfifo_tail_enqueue"),
    ("codel", "codel_qdisc_enqueue"),
    ("fq_codel", "fq_codel_enqueue"),
    ("fq", "fq_enqueue"),
    ("cake", "cake_enqueue"),
    ("htb", "htb_enqueue"),
];

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The kernel's release: `6.18.44`.
    pub kernel: String,
    /// Of the machine and of this process.
    pub machine: Vec<Finding>,
    /// Of each interface that was asked for, by its name.
    pub interfaces: Vec<(String, Vec<Finding>)>,
    /// The stations of those that are Wi-Fi.
    pub wireless: BTreeMap<String, Stations>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about: `BPF queue discipline`.
    pub topic: &'static str,
    /// Whether it serves.
    pub good: bool,
    /// What was found, in plain words.
    pub found: String,
    /// A command or a step that would mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

impl Finding {
    pub(crate) fn good(topic: &'static str, found: impl Into<String>) -> Self {
        Self { topic, good: true, found: found.into(), cure: None }
    }

    pub(crate) fn bad(topic: &'static str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { topic, good: false, found: found.into(), cure: Some(cure.into()) }
    }
}

/// Looks at the machine, and at the interface `device` or at all; of each, at the queue at `parent`.
///
/// # Errors
/// No such interface; the kernel does not answer.
pub fn diagnose(device: Option<&str>, parent: u32) -> Result<Diagnosis, Error> {
    let mut route = Route::open()?;
    let links = match device {
        Some(name) => vec![route.link(name)?],
        None => route.links()?,
    };
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    let (granted, in_kernel, in_build) = (privilege(), bpf(&kernel), build());
    let can_bpf = in_kernel.good && in_build.good;
    let machine = vec![granted, in_kernel, in_build, disciplines(&kernel)];
    let (mut interfaces, mut wireless) = (Vec::new(), BTreeMap::new());
    for link in links {
        let mut findings = interface((&link, parent), &mut route, can_bpf)?;
        if Path::new("/sys/class/net").join(&link.name).join("phy80211").exists() {
            let module = linked(&link.name, "device/driver/module");
            let (more, stations) = stations::findings(&link.name, module.as_deref())?;
            findings.extend(more);
            wireless.extend(stations.map(|stations| (link.name.clone(), stations)));
        }
        interfaces.push((link.name, findings));
    }
    Ok(Diagnosis { kernel, machine, interfaces, wireless })
}

fn privilege() -> Finding {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let has = |bit| has_capability(&status, bit);
    match (has(NET_ADMIN), has(BPF) && has(PERFMON)) {
        (true, true) => Finding::good(
            "privilege",
            "this process may change queues (CAP_NET_ADMIN) and load BPF programs (CAP_BPF, CAP_PERFMON)",
        ),
        (true, false) => Finding::bad(
            "privilege",
            "this process may change queues (CAP_NET_ADMIN), and not load BPF programs (CAP_BPF, CAP_PERFMON)",
            "sudo sluice attach DEV",
        ),
        (false, _) => Finding::bad(
            "privilege",
            "this process may only look: --dry-run, record, replay and doctor work, attach does not",
            "sudo sluice attach DEV",
        ),
    }
}

/// Whether the text of `/proc/self/status` grants the capability `bit`.
fn has_capability(status: &str, bit: u32) -> bool {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).is_some_and(|set| set >> bit & 1 == 1)
}

fn bpf(kernel: &str) -> Finding {
    const TOPIC: &str = "BPF in the kernel";
    let cure = "boot a kernel 6.16 or newer that is built with CONFIG_NET_SCH_BPF=y and CONFIG_DEBUG_INFO_BTF=y, such as \
                Debian's of trixie-backports; until then the kernel's FIFOs serve where a driver pushes back";
    if version(kernel).is_some_and(|version| version < FIRST_KERNEL) {
        let found = format!("kernel {kernel} is older than 6.16, the first with queue disciplines in BPF");
        return Finding::bad(TOPIC, found, cure);
    }
    match fs::read("/sys/kernel/btf/vmlinux") {
        Err(_) => Finding::bad(TOPIC, "the kernel shows no BTF (its types), which BPF programs need", cure),
        Ok(types) if types.windows(BPF_QDISC_SYMBOL.len()).any(|window| window == BPF_QDISC_SYMBOL) => {
            Finding::good(TOPIC, "the kernel takes queue disciplines in BPF")
        }
        Ok(_) => Finding::bad(
            TOPIC,
            "the kernel is new enough and was built without CONFIG_NET_SCH_BPF: it takes no queue discipline in BPF",
            cure,
        ),
    }
}

/// The first two numbers of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn build() -> Finding {
    const TOPIC: &str = "BPF in this build";
    if cfg!(feature = "bpf") {
        Finding::good(TOPIC, "Sluice's own queue discipline is compiled in")
    } else {
        Finding::bad(TOPIC, "Sluice's own queue discipline is not compiled in", "make live")
    }
}

fn disciplines(kernel: &str) -> Finding {
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let modules = Path::new("/lib/modules").join(kernel).join("kernel/net/sched");
    let functions: Vec<&str> = symbols.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let is_there = |(name, function): &&(&str, &str)| {
        let ends = ["", ".xz", ".zst", ".gz"];
        functions.contains(function) || ends.iter().any(|end| modules.join(format!("sch_{name}.ko{end}")).exists())
    };
    let there: Vec<&str> = DISCIPLINES.iter().filter(is_there).map(|(name, _)| *name).collect();
    if there.contains(&"pfifo") {
        Finding::good(
            "disciplines",
            format!("{}; Sluice moves the limits of pfifo, bfifo, pfifo_head_drop", there.join(", ")),
        )
    } else {
        let found = "the kernel does not show which it has (/proc/kallsyms); pfifo is in every kernel with queues";
        Finding::bad("disciplines", found, "sluice doctor as root")
    }
}

fn interface((link, parent): (&Link, u32), route: &mut Route, can_bpf: bool) -> Result<Vec<Finding>, Error> {
    let here = route.qdisc(link.index, parent)?;
    let (_, obstacle) = Former::read(route, link, parent)?;
    let (driver, how) = Driver::of(link, &route.qdiscs(link.index)?);
    let waits = Finding::good("driver", how);
    let classes = if parent == ROOT { users_classes(link, route)? } else { None };
    let possible = match (parent, &classes, &obstacle) {
        (ROOT, Some(classes), _) => in_a_class(link, classes),
        (ROOT, None, _) => possible(link, driver, can_bpf),
        (_, _, None) => in_a_class(link, &[parent]),
        (_, _, Some(_)) => in_a_class(link, &[]),
    };
    let mut findings = vec![possible, waits];
    findings.push(match obstacle {
        None if here.is_none() => Finding::good("former queue", "none (noqueue); it can be put back as it is"),
        None => Finding::good("former queue", format!("{}; it can be put back as it is", shown(here.as_ref()))),
        // What a user made is never given up on our advice.
        Some(why) if classes.is_some() => Finding::bad("former queue", why, "govern a class of it, as above"),
        Some(why) if parent != ROOT => Finding::bad("former queue", why, "as above"),
        Some(why) => Finding::bad("former queue", why, "attach --force, after which the kernel's default comes back"),
    });
    if link.gso_max_segs > 1 {
        let found = "one packet of the queue may hold many segments (GSO), so that a limit in packets is a rough one";
        findings.push(Finding::bad(
            "large packets",
            found,
            "sluice attach --gso-segments 1, or a limit in bytes: --set 'limit=150 kB'",
        ));
    }
    Ok(findings)
}

/// The classes of a shaper that somebody made himself, and whose queues can be governed; none where the root is the
/// kernel's, or a queue without classes.
fn users_classes(link: &Link, route: &mut Route) -> Result<Option<Vec<u32>>, Error> {
    let qdiscs = route.qdiscs(link.index)?;
    let Some(root) = qdiscs.iter().find(|qdisc| qdisc.parent == ROOT && qdisc.handle != 0) else { return Ok(None) };
    if !CLASSFUL.contains(&root.kind.as_str()) {
        return Ok(None);
    }
    // Anywhere below: a class of a class has a queue of its own.
    let mut classes = Vec::new();
    for leaf in qdiscs.iter().filter(|qdisc| qdisc.parent < 0xffff_0000) {
        if let (_, None) = Former::read(route, link, leaf.parent)? {
            classes.push(leaf.parent);
        }
    }
    Ok(Some(classes))
}

/// What to do with a shaper: nothing that would take it away.
fn in_a_class(link: &Link, classes: &[u32]) -> Finding {
    const TOPIC: &str = "possible";
    let name = &link.name;
    let command = |class: &u32| {
        format!("sudo sluice attach {name} --parent {} --controller adth --target-delay 50ms", shown_place(*class))
    };
    if classes.is_empty() {
        return Finding::bad(
            TOPIC,
            "a class of the shaper that stands there, once it has a queue with a handle; `tc class show dev DEV` names them",
            format!(
                "sudo tc qdisc add dev {name} parent CLASS handle 20: pfifo limit 1000; sudo sluice attach {name} --parent \
                 CLASS --controller adth --target-delay 50ms"
            ),
        );
    }
    let commands: Vec<String> = classes.iter().map(command).collect();
    Finding::good(TOPIC, format!("the kernel's FIFO in a class of the shaper: {}", commands.join(", or ")))
}

/// What `sluice attach` would do with this interface, and the command for it.
fn possible(link: &Link, driver: Driver, can_bpf: bool) -> Finding {
    const TOPIC: &str = "possible";
    let name = &link.name;
    let command = format!("sudo sluice attach {name} --controller adth --target-delay 50ms");
    match (driver, can_bpf) {
        (Driver::PushesBack, true) => Finding::good(TOPIC, format!("Sluice's own discipline: {command}")),
        (Driver::PushesBack, false) => Finding::good(TOPIC, format!("the kernel's FIFO, its limit moved: {command}")),
        (Driver::Mac80211, true) => {
            Finding::good(TOPIC, format!("Sluice's own discipline, which releases by credit: {command}"))
        }
        (Driver::Mac80211, false) if crate::device::txq::holds(name).unwrap_or(false) => Finding::good(
            TOPIC,
            format!("the queues of mac80211, by the one limit of their phy: {command} --backend txq"),
        ),
        (Driver::Mac80211, false) => Finding::bad(
            TOPIC,
            "nothing as it is: a limit on a queue that stays empty changes nothing",
            "kernel and build with BPF, see above; then Sluice's own discipline releases by credit",
        ),
        (Driver::TakesAll, _) => Finding::bad(
            TOPIC,
            "a queue forms only below a rate that you set: in a class of a shaper",
            format!(
                "tc qdisc add dev {name} root handle 1: htb default 10; tc class add dev {name} parent 1: classid \
                 1:10 htb rate 50mbit; tc qdisc add dev {name} parent 1:10 handle 10: pfifo limit 1000; sluice attach \
                 {name} --parent 1:10 --controller adth --target-delay 50ms"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_from_their_bit() {
        assert!(has_capability("Name:\tx\nCapEff:\t0000000000001000\n", NET_ADMIN));
        assert!(!has_capability("CapEff:\t000000000000efff\n", NET_ADMIN));
        assert!(!has_capability("CapEff:\tnonsense\n", NET_ADMIN));
        assert!(!has_capability("", NET_ADMIN));
    }

    #[test]
    fn a_release_begins_with_two_numbers() {
        assert_eq!(version("6.18.44-fc"), Some((6, 18)));
        assert_eq!(version("7.2.12+deb13-amd64"), Some((7, 2)));
        assert_eq!(version("nonsense"), None);
    }

    #[test]
    fn what_is_possible_follows_from_driver_kernel_and_build() {
        let link = Link { name: "x0".into(), ..Link::default() };
        for (driver, bpf, good, says) in [
            (Driver::PushesBack, false, true, "the kernel's FIFO"),
            (Driver::PushesBack, true, true, "own discipline"),
            (Driver::Mac80211, false, false, "stays empty"),
            (Driver::Mac80211, true, true, "by credit"),
            (Driver::TakesAll, true, false, "a shaper"),
        ] {
            let finding = possible(&link, driver, bpf);
            assert_eq!(finding.good, good, "{driver:?}");
            assert!(finding.found.contains(says), "{finding:?}");
        }
    }

    #[test]
    fn each_interface_of_this_machine_is_ruled_on_and_what_is_missing_has_a_cure() {
        let diagnosis = diagnose(None, ROOT).unwrap();
        assert!(diagnosis.interfaces.iter().any(|(name, _)| name == "lo"));
        let of_interfaces = diagnosis.interfaces.iter().flat_map(|(_, findings)| findings);
        for finding in diagnosis.machine.iter().chain(of_interfaces) {
            assert!(finding.good || finding.cure.is_some(), "{finding:?}");
        }
        let one = diagnose(Some("lo"), ROOT).unwrap();
        assert_eq!(one.interfaces.len(), 1);
        assert!(diagnose(Some("no-such-0"), ROOT).is_err());
    }
}
