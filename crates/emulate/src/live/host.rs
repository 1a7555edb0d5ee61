//! The device that connects a real node to this machine, outside of Sluice's namespaces.

use super::tun::{self, Site};
use super::unavailable::Unavailable;
use crate::medium::Medium;
use linux::kernel::routes;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::{fs, io};

const NAME: &str = "sluice0";

/// The device `sluice0`. Packets for nodes come from it; packets for this machine and for hosts behind it go to it. The
/// device ends with the process, unless the process took over an existing device.
#[derive(Debug)]
pub struct Host(pub(super) OwnedFd);

/// A node's address that is also a host's, in the network of one of this machine's devices: the host is hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The address that the node and the hidden host have.
    pub address: Ipv4Addr,
    /// Name of the device in whose network the host is.
    pub device: String,
}

/// Makes the device, with routes to the real nodes of `medium`, or takes over this user's existing one with its routes.
/// If the device was made, also returns the nodes' addresses that hide hosts.
///
/// # Errors
/// The kernel refuses the device, for example without `CAP_NET_ADMIN`.
pub fn host(medium: &Medium) -> Result<(Host, Option<Vec<Hidden>>), Unavailable> {
    let gateway = medium.gateway();
    let behind: Vec<[IpAddr; 2]> =
        medium.nodes().filter(|&node| Some(node) != gateway).filter_map(|node| medium.addresses(node)).collect();
    let refused = |error| {
        let commands = |[four, _]: &[IpAddr; 2]| format!(" && ip route add {four} dev {NAME}");
        Unavailable::Host { error, name: NAME, routes: behind.iter().map(commands).collect() }
    };
    let is_there = tun::index(NAME).is_ok();
    let device = tun::make(NAME).map_err(refused)?;
    if is_there {
        return Ok((Host(device), None));
    }
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    set_up(&behind).map_err(refused)?;
    let hidden = behind.iter().filter_map(|[four, _]| hidden(*four, &routes));
    Ok((Host(device), Some(hidden.collect())))
}

/// Returns the network in `/proc/net/route` that a node's address hides: one without a router, whose first bits it has.
fn hidden(address: IpAddr, routes: &str) -> Option<Hidden> {
    let IpAddr::V4(address) = address else { return None };
    let number = |word: &str| Some(Ipv4Addr::from(u32::from_str_radix(word, 16).ok()?.to_ne_bytes()).to_bits());
    let device = routes.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[device, network, by, _, _, _, _, mask, ..] = &words[..] else { return None };
        let mask = number(mask)?;
        let is_on = mask != 0 && number(by)? == 0 && address.to_bits() & mask == number(network)?;
        is_on.then(|| device.to_owned())
    })?;
    Some(Hidden { address, device })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_without_a_router_is_hidden_and_the_default_route_is_not() {
        let routes = format!(
            "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
             eth0 00000000 {router:08X} 0003 0 0 0 00000000 0 0 0\nlan {network:08X} 00000000 0001 0 0 0 {mask:08X} 0 0 0\n",
            router = u32::from_ne_bytes([10, 0, 0, 1]),
            network = u32::from_ne_bytes([10, 0, 0, 0]),
            mask = u32::from_ne_bytes([255, 255, 255, 0]),
        );
        let of = |address: [u8; 4]| hidden(Ipv4Addr::from(address).into(), &routes);
        assert_eq!(of([10, 0, 0, 2]), Some(Hidden { address: Ipv4Addr::new(10, 0, 0, 2), device: "lan".to_owned() }));
        assert_eq!(of([10, 0, 1, 2]), None);
    }
}
