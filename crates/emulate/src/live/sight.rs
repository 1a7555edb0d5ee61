//! What programs in a node see of the machine: the node's devices and names instead of the machine's.

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use std::fmt::Write as _;
use std::net::IpAddr;
use std::{fs, io};

/// A real node that is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Name of the node.
    pub name: String,
    /// IPv4 and IPv6 address of the node.
    pub addresses: [IpAddr; 2],
}

/// Gives this thread, in its own namespaces, a `/sys` with the node's devices and an `/etc/hosts` with the names of all
/// nodes. Name servers are queried only behind a gateway: over the air no name server answers. Errors: a container
/// refuses mounts that would show more than its own. Most programs do not need these mounts.
pub(super) fn narrow(nodes: &[Ready], leads: bool) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let mut hosts = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    for Ready { name, addresses: [four, six] } in nodes {
        let _ = writeln!(hosts, "{four} {name}\n{six} {name}");
    }
    // The files are in memory, and stay as long as they are mounted in `/etc`.
    mount("tmpfs", "/sys", "tmpfs", flags, None)?;
    let named = place("hosts", &hosts);
    let unasked = if leads { Ok(()) } else { place("resolv.conf", "") };
    unmount("/sys", UnmountFlags::DETACH)?;
    mount("sysfs", "/sys", "sysfs", flags, None)?;
    named.and(unasked)
}

fn place(name: &str, text: &str) -> io::Result<()> {
    let own = format!("/sys/{name}");
    fs::write(&own, text)?;
    Ok(mount_bind(own, format!("/etc/{name}"))?)
}
