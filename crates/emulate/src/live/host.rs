//! The device by which a real node leads to this machine, outside all namespaces of ours.

use super::tun::{self, Site};
use super::unavailable::Unavailable;
use crate::medium::Medium;
use linux::kernel::routes;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

const NAME: &str = "sluice0";

/// The device: packets for nodes come from it, packets for this machine and what is behind it go to it. It is gone with
/// the process, unless somebody made it before.
#[derive(Debug)]
pub struct Host(pub(super) OwnedFd);

/// Makes the device, with routes to the real nodes of `medium`, or takes the one that is there for this user, with the
/// routes that it has. True if it was made.
///
/// # Errors
/// The kernel refuses, as it does without `CAP_NET_ADMIN`.
pub fn host(medium: &Medium) -> Result<(Host, bool), Unavailable> {
    let gateway = medium.gateway();
    let behind: Vec<[IpAddr; 2]> =
        medium.nodes().filter(|&node| Some(node) != gateway).filter_map(|node| medium.addresses(node)).collect();
    let refused = |error| {
        let commands = |[four, _]: &[IpAddr; 2]| format!(" && ip route add {four} dev {NAME}");
        Unavailable::Host { error, name: NAME, routes: behind.iter().map(commands).collect() }
    };
    let is_there = tun::index(NAME).is_ok();
    let device = tun::make(NAME).map_err(refused)?;
    if !is_there {
        set_up(&behind).map_err(refused)?;
    }
    Ok((Host(device), !is_there))
}

fn set_up(behind: &[[IpAddr; 2]]) -> io::Result<()> {
    let [IpAddr::V4(v4), IpAddr::V6(v6)] = Medium::host() else { return Ok(()) };
    tun::set_up(NAME, Site { v4: (v4, 32), v6: (v6, 128) })?;
    let index = tun::index(NAME)?;
    for [four, six] in behind {
        routes::add(*four, 32, index).map_err(io::Error::other)?;
        // A kernel may have no IPv6.
        let _ = routes::add(*six, 128, index);
    }
    Ok(())
}
