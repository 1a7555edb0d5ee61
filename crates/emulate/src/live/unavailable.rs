//! Why a network cannot run in real time on this machine.

use std::io;
use thiserror::Error;

/// Why this machine gives no namespaces or devices.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Unavailable {
    #[error(
        "this user may not make namespaces ({0}): as root, try `sysctl user.max_user_namespaces=10000`, and on Ubuntu \
         `sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, run it as privileged"
    )]
    Namespaces(io::Error),
    #[error(
        "cannot make a TUN device ({0}): as root, try `modprobe tun` and `chmod 666 /dev/net/tun`; in a container, add \
         the device, as `--device /dev/net/tun`"
    )]
    Tun(io::Error),
    #[error(
        "cannot route packets to this machine ({error}): run as root, or have root create the device for this user \
         once: `ip tuntap add {name} mode tun user USER && ip link set {name} up{routes}`"
    )]
    Host { error: io::Error, name: &'static str, routes: String },
    #[error("cannot set up the network of node `{node}`: {error}")]
    Node { node: String, error: io::Error },
    #[error("the kernel has no simulated radios: try `modprobe mac80211_hwsim radios=2`")]
    NoRadios,
    #[error("cannot {what}: {error}")]
    System { what: &'static str, error: io::Error },
}

pub(super) fn failed<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Unavailable {
    move |error| Unavailable::System { what, error: error.into() }
}
