//! Findings about the machine and this process.

use crate::kernel::rtnetlink::Route;
use rustix::thread::{CapabilitySet, capabilities};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The first kernel with BPF queueing disciplines.
const FIRST_KERNEL: (u32, u32) = (6, 16);
/// A function that only kernels with BPF queue disciplines offer to BPF programs.
const BPF_QDISC_SYMBOL: &[u8] = b"bpf_qdisc_bstats_update\0";
/// Disciplines to look for, each with the kernel function that enqueues its packets.
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

/// The first user namespace (`PROC_USER_INIT_INO` in the kernel's `include/linux/proc_ns.h`). BPF's capabilities have
/// an effect only in this namespace.
const FIRST_USERS: &str = "user:[4026531837]";

pub(super) fn privilege(route: &mut Route) -> Finding {
    let for_bpf = CapabilitySet::BPF | CapabilitySet::PERFMON;
    let has_bpf = capabilities(None).is_ok_and(|sets| sets.effective.contains(for_bpf));
    let users = fs::read_link("/proc/self/ns/user").unwrap_or_default();
    match (route.may_change(), has_bpf) {
        (true, true) if users != Path::new(FIRST_USERS) => Finding::bad(
            "privilege",
            "this process may change queues of its network namespace, but not load BPF programs: it is in a user \
             namespace, where the kernel does not accept CAP_BPF",
            "sudo sluice attach DEV, outside of the user namespace",
        ),
        (true, true) => Finding::good(
            "privilege",
            "this process may change queues (CAP_NET_ADMIN) and load BPF programs (CAP_BPF, CAP_PERFMON)",
        ),
        (true, false) => Finding::bad(
            "privilege",
            "this process may change queues (CAP_NET_ADMIN), but not load BPF programs (CAP_BPF, CAP_PERFMON)",
            "sudo sluice attach DEV",
        ),
        (false, _) => Finding::bad(
            "privilege",
            "this process may only read: --dry-run, record, replay and doctor work, attach does not",
            "sudo sluice attach DEV",
        ),
    }
}

pub(super) fn bpf(kernel: &str) -> Finding {
    const TOPIC: &str = "BPF in the kernel";
    let fix = "boot a kernel 6.16 or newer that is built with CONFIG_NET_SCH_BPF=y and CONFIG_DEBUG_INFO_BTF=y, such as \
               Debian's of trixie-backports; until then the kernel's FIFOs serve where a driver pushes back";
    if version(kernel).is_some_and(|version| version < FIRST_KERNEL) {
        let found = format!("kernel {kernel} is older than 6.16, the first with BPF queueing disciplines");
        return Finding::bad(TOPIC, found, fix);
    }
    match fs::read("/sys/kernel/btf/vmlinux") {
        Err(_) => Finding::bad(TOPIC, "the kernel shows no BTF (its types), which BPF programs need", fix),
        Ok(types) if types.windows(BPF_QDISC_SYMBOL.len()).any(|window| window == BPF_QDISC_SYMBOL) => {
            Finding::good(TOPIC, "the kernel supports BPF queueing disciplines")
        }
        Ok(_) => Finding::bad(
            TOPIC,
            "the kernel is new enough but was built without CONFIG_NET_SCH_BPF: it has no BPF queueing disciplines",
            fix,
        ),
    }
}

/// Returns the first two numbers of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

pub(super) fn build() -> Finding {
    const TOPIC: &str = "BPF in this build";
    if cfg!(feature = "bpf") {
        Finding::good(TOPIC, "Sluice's own queueing discipline is compiled in")
    } else {
        Finding::bad(TOPIC, "Sluice's own queueing discipline is not compiled in", "make live")
    }
}

pub(super) fn disciplines(kernel: &str) -> Finding {
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
            format!("{}; Sluice can set the limits of pfifo, bfifo and pfifo_head_drop", there.join(", ")),
        )
    } else {
        let found = "/proc/kallsyms does not show which the kernel has; pfifo is in every kernel with queues";
        Finding::bad("disciplines", found, "sluice doctor as root")
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Topic of the finding: `BPF in the kernel`.
    pub topic: &'static str,
    /// True if live use needs no change of this machine.
    pub good: bool,
    /// The finding as a text for the user.
    pub found: String,
    /// A command or a step that fixes the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    pub(crate) fn good(topic: &'static str, found: impl Into<String>) -> Self {
        Self { topic, good: true, found: found.into(), fix: None }
    }

    pub(crate) fn bad(topic: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { topic, good: false, found: found.into(), fix: Some(fix.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_begins_with_two_numbers() {
        assert_eq!(version("6.18.44-fc"), Some((6, 18)));
        assert_eq!(version("7.2.12+deb13-amd64"), Some((7, 2)));
        assert_eq!(version("nonsense"), None);
    }
}
