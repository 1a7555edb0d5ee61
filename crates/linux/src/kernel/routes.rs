//! The kernel's routes (`linux/rtnetlink.h`).

use crate::error::Error;
use crate::kernel::netlink::{Connection, F_ACK, F_CREATE, F_REQUEST, failed, unless};
use crate::kernel::wire::{Message, Request, attributes, u32_at};
use nix::libc::{
    RT_SCOPE_LINK, RT_TABLE_MAIN, RTA_DST, RTA_GATEWAY, RTA_OIF, RTA_PREFSRC, RTM_GETROUTE, RTM_NEWROUTE, RTN_LOCAL,
    RTN_UNICAST, RTPROT_STATIC,
};
use rustix::io::Errno;
use std::net::{IpAddr, Ipv4Addr};

/// Length of `struct rtmsg`.
const BODY: usize = 12;
/// `AF_INET`, `AF_INET6`
const INET: u8 = 2;
const INET6: u8 = 10;

const RTA_VIA: u16 = 18;

/// Adds a route to this thread's network namespace. Packets leave through the interface with this number if their
/// addresses share the first `prefix` bits with `to`.
///
/// # Errors
/// The kernel refuses the route, as it does without `CAP_NET_ADMIN`.
pub fn add(to: IpAddr, prefix: u8, interface: u32) -> Result<(), Error> {
    let (family, address) = match to {
        IpAddr::V4(to) => (INET, to.octets().to_vec()),
        IpAddr::V6(to) => (INET6, to.octets().to_vec()),
    };
    let body = [family, prefix, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST, 0, 0, 0, 0];
    let request = Request::new(RTM_NEWROUTE, F_REQUEST | F_ACK | F_CREATE, &body);
    let request = request.with(RTA_DST, &address).with(RTA_OIF, &interface.to_ne_bytes());
    Connection::open(None)?.ask(request, |_| {}).map_err(|errno| failed("add a route", errno))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextHop {
    /// The packet is for this machine.
    Here,
    /// The packet leaves over a link.
    Via {
        index: u32,
        /// Next router; `None` if the address itself is on the link.
        gateway: Option<Ipv4Addr>,
        /// Source address of this machine in such packets.
        source: Ipv4Addr,
    },
}

/// Routes of this thread's network namespace.
#[derive(Debug)]
pub(crate) struct Routes(Connection);

impl Routes {
    /// Opens the connection. Needs no privilege.
    pub(crate) fn open() -> Result<Self, Error> {
        Connection::open(None).map(Self)
    }

    /// Returns the first hop of packets to an address; `None` if there is no route, or several possible hops.
    pub(crate) fn next_hop(&mut self, address: Ipv4Addr) -> Result<Option<NextHop>, Error> {
        let mut body = [0; BODY];
        (body[0], body[1]) = (INET, 32);
        let request = Request::new(RTM_GETROUTE, F_REQUEST | F_ACK, &body).with(RTA_DST, &address.octets());
        let read = |message: &Message| if message.kind == RTM_NEWROUTE { next_hop(message.payload) } else { None };
        let absent = [Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::ACCESS, Errno::INVAL];
        unless(&absent, "look up a route", self.0.one(request, read))
    }
}

/// Parses a route. Accepts any bytes.
pub(super) fn next_hop(payload: &[u8]) -> Option<NextHop> {
    let (mut index, mut gateway, mut source) = (None, None, None);
    for (kind, value) in attributes(payload.get(BODY..)?) {
        let address = || <[u8; 4]>::try_from(value).ok().map(Ipv4Addr::from);
        match kind {
            RTA_OIF => index = u32_at(value, 0),
            RTA_GATEWAY => gateway = address(),
            RTA_PREFSRC => source = address(),
            // The router has only an IPv6 address.
            RTA_VIA => return None,
            _ => {}
        }
    }
    match payload[7] {
        RTN_LOCAL => Some(NextHop::Here),
        RTN_UNICAST => Some(NextHop::Via { index: index?, gateway, source: source? }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(kind: u8, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = [0; BODY];
        (body[0], body[7]) = (INET, kind);
        let request = Request::new(RTM_NEWROUTE, 0, &body);
        let message = attributes.iter().fold(request, |request, (kind, value)| request.with(*kind, value));
        message.finish(0)[16..].to_vec()
    }

    #[test]
    fn a_route_names_its_interface_its_router_and_our_address() {
        let index = 3_u32.to_ne_bytes();
        let attributes: [(u16, &[u8]); 3] =
            [(RTA_OIF, &index), (RTA_PREFSRC, &[10, 9, 1, 1]), (RTA_GATEWAY, &[10, 9, 1, 2])];
        let source = Ipv4Addr::new(10, 9, 1, 1);
        let via = |gateway| Some(NextHop::Via { index: 3, gateway, source });
        assert_eq!(next_hop(&route(RTN_UNICAST, &attributes)), via(Some(Ipv4Addr::new(10, 9, 1, 2))));
        assert_eq!(next_hop(&route(RTN_UNICAST, &attributes[..2])), via(None));
        assert_eq!(next_hop(&route(RTN_LOCAL, &attributes)), Some(NextHop::Here));
        // Type 3 is a broadcast, type 7 is unreachable.
        assert_eq!(next_hop(&route(3, &attributes)), None);
        assert_eq!(next_hop(&route(7, &attributes)), None);
        assert_eq!(next_hop(&route(RTN_UNICAST, &attributes[1..])), None, "there is no interface");
        assert_eq!(next_hop(&route(RTN_UNICAST, &[(RTA_OIF, &index), (RTA_VIA, &[10, 0, 0])])), None);
    }

    #[test]
    fn loopback_is_here() {
        assert_eq!(Routes::open().unwrap().next_hop(Ipv4Addr::LOCALHOST).unwrap(), Some(NextHop::Here));
    }
}
