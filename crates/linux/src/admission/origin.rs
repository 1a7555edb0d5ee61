//! Checks whether another thread's socket would equal one that this thread makes: the same network, user, control group
//! and label. Firewalls, VPNs and sandboxes distinguish sockets by these properties.

use rustix::process::Pid;
use std::fs::{metadata, read_to_string};
use std::os::unix::fs::MetadataExt as _;

/// Properties that a socket gets from the thread that makes it. A property is `None` if it cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Numbers of the network and user namespaces.
    namespaces: [(u64, u64); 2],
    /// Users, groups and capabilities.
    credentials: Vec<String>,
    cgroup: String,
    /// Label of a security module; `None` if there is none.
    label: Option<String>,
}

/// Lines of `/proc/PID/status` that are compared.
const CREDENTIALS: [&str; 6] = ["Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:"];

impl Origin {
    /// Reads the properties of the calling thread.
    pub(super) fn own() -> Option<Self> {
        Self::read("/proc/thread-self")
    }

    /// Reads the properties of a thread. They cannot change while the thread waits for an answer to its request.
    pub(super) fn of(thread: Pid) -> Option<Self> {
        Self::read(&format!("/proc/{}", thread.as_raw_nonzero()))
    }

    fn read(folder: &str) -> Option<Self> {
        let namespace = |name: &str| {
            let found = metadata(format!("{folder}/ns/{name}")).ok()?;
            Some((found.dev(), found.ino()))
        };
        let status = read_to_string(format!("{folder}/status")).ok()?;
        let is_compared = |line: &&str| CREDENTIALS.iter().any(|name| line.starts_with(name));
        Some(Self {
            namespaces: [namespace("net")?, namespace("user")?],
            credentials: status.lines().filter(is_compared).map(Into::into).collect(),
            cgroup: read_to_string(format!("{folder}/cgroup")).unwrap_or_default(),
            label: read_to_string(format!("{folder}/attr/current")).ok(),
        })
    }
}

pub(super) fn process_of(thread: Pid) -> Option<Pid> {
    let status = read_to_string(format!("/proc/{}/status", thread.as_raw_nonzero())).ok()?;
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    Pid::from_raw(group.trim().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_our_origin_and_one_in_another_network_has_not() {
        let own = Origin::own().unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        assert_eq!(Origin::of(pid), Some(own));
        assert_eq!(process_of(pid), Some(pid));
        child.kill().unwrap();
        child.wait().unwrap();
        let other = Origin { cgroup: "0::/elsewhere".into(), ..Origin::own().unwrap() };
        assert_ne!(Some(other), Origin::own());
    }
}
