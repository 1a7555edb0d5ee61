//! What is possible on this machine and on its interfaces, why not more, and what would mend it. Reads only.

use crate::Error;
use crate::former::{Former, shown};
use crate::rtnetlink::{Link, ROOT, Route};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// Bit of `CAP_NET_ADMIN` in a set of capabilities (`linux/capability.h`).
const NET_ADMIN: u32 = 12;
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
    fn good(topic: &'static str, found: impl Into<String>) -> Self {
        Self { topic, good: true, found: found.into(), cure: None }
    }

    fn bad(topic: &'static str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { topic, good: false, found: found.into(), cure: Some(cure.into()) }
    }
}

/// Looks at the machine, and at the interface `device` or at all.
///
/// # Errors
/// No such interface; the kernel does not answer.
pub fn diagnose(device: Option<&str>) -> Result<Diagnosis, Error> {
    let mut route = Route::open()?;
    let links = match device {
        Some(name) => vec![route.link(name)?],
        None => route.links()?,
    };
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    let machine = vec![privilege(), bpf(), disciplines(&kernel)];
    let mut interfaces = Vec::new();
    for link in links {
        let findings = interface(&link, &mut route)?;
        interfaces.push((link.name, findings));
    }
    Ok(Diagnosis { kernel, machine, interfaces })
}

fn privilege() -> Finding {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if has_capability(&status, NET_ADMIN) {
        Finding::good("privilege", "this process may change queues (CAP_NET_ADMIN)")
    } else {
        let found = "this process may only look: --dry-run, record, replay and doctor work, attach does not";
        Finding::bad("privilege", found, "sudo sluice attach DEV ...")
    }
}

/// Whether the text of `/proc/self/status` grants the capability `bit`.
fn has_capability(status: &str, bit: u32) -> bool {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).is_some_and(|set| set >> bit & 1 == 1)
}

fn bpf() -> Finding {
    const TOPIC: &str = "BPF queue discipline";
    let cure = "boot a kernel 6.16 or newer that is built with CONFIG_NET_SCH_BPF=y and CONFIG_DEBUG_INFO_BTF=y";
    match fs::read("/sys/kernel/btf/vmlinux") {
        Err(_) => Finding::bad(TOPIC, "the kernel shows no BTF (its types), which BPF programs need", cure),
        Ok(types) if types.windows(BPF_QDISC_SYMBOL.len()).any(|window| window == BPF_QDISC_SYMBOL) => {
            Finding::good(TOPIC, "the kernel takes BPF queue disciplines; this build of Sluice uses the kernel's FIFOs")
        }
        Ok(_) => Finding::bad(TOPIC, "the kernel is built without CONFIG_NET_SCH_BPF: the kernel's FIFOs serve", cure),
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

fn interface(link: &Link, route: &mut Route) -> Result<Vec<Finding>, Error> {
    let root = route.qdisc(link.index, ROOT)?;
    let (_, obstacle) = Former::read(route, link, ROOT)?;
    let mut findings = vec![back_pressure(link)];
    findings.push(match obstacle {
        None if root.is_none() => Finding::good("former queue", "none (noqueue); it can be put back as it is"),
        None => Finding::good("former queue", format!("{}; it can be put back as it is", shown(root.as_ref()))),
        Some(why) => {
            let cure = "govern a class of it with --parent, or accept the kernel's default with --force";
            Finding::bad("former queue", why, cure)
        }
    });
    if link.gso_max_segs > 1 {
        let found = "one packet of the queue may hold many segments (GSO), so that a limit in packets is a rough one";
        let name = &link.name;
        findings.push(Finding::bad(
            "large packets",
            found,
            format!("ip link set {name} gso_max_segs 1, or a limit in bytes"),
        ));
    }
    Ok(findings)
}

/// Whether packets ever wait in a root queue of this interface.
fn back_pressure(link: &Link) -> Finding {
    const TOPIC: &str = "back-pressure";
    let name = &link.name;
    let device = Path::new("/sys/class/net").join(name);
    let driver = fs::read_link(device.join("device/driver/module")).ok();
    let driver = driver.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    if device.join("phy80211").exists() {
        let held = |driver: &String| Path::new("/sys/module/mac80211/holders").join(driver).exists();
        if driver.as_ref().is_none_or(held) {
            let found = "a mac80211 driver: it takes every packet at once, so that no root queue ever fills";
            return Finding::bad(
                TOPIC,
                found,
                "a kernel with BPF queue disciplines, and Sluice's own, which releases by credit",
            );
        }
        return Finding::good(TOPIC, "Wi-Fi with its MAC in the device: it pushes back as Ethernet does");
    }
    let virtual_kind = link.kind.as_deref().or((name == "lo").then_some("loopback"));
    match (virtual_kind, driver) {
        (Some(kind), _) => {
            let cure = format!(
                "put a shaper there and govern its class: tc qdisc replace dev {name} root handle 1: htb default 10"
            );
            Finding::bad(TOPIC, format!("a virtual interface ({kind}): it takes every packet at once"), cure)
        }
        (None, Some(driver)) => {
            Finding::good(TOPIC, format!("hardware driven by {driver}: it pushes back when its ring is full"))
        }
        (None, None) => Finding::good(TOPIC, "hardware, as far as can be seen: it pushes back when its ring is full"),
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
    fn each_interface_of_this_machine_is_ruled_on_and_what_is_missing_has_a_cure() {
        let diagnosis = diagnose(None).unwrap();
        assert!(diagnosis.interfaces.iter().any(|(name, _)| name == "lo"));
        let of_interfaces = diagnosis.interfaces.iter().flat_map(|(_, findings)| findings);
        for finding in diagnosis.machine.iter().chain(of_interfaces) {
            assert!(finding.good || finding.cure.is_some(), "{finding:?}");
        }
        let one = diagnose(Some("lo")).unwrap();
        assert_eq!(one.interfaces.len(), 1);
        assert!(diagnose(Some("no-such-0")).is_err());
    }
}
