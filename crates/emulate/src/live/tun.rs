//! TUN devices: the kernel's packets as datagrams, without Ethernet, ARP and offloads.

use nix::libc;
use rustix::fs::{Mode, OFlags, open};
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd as _, OwnedFd};

/// The name of the device in every namespace.
pub(super) const NAME: &str = "air0";
const MTU: u16 = 1_500;

/// The addresses of a device, and the lengths of their prefixes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) v4: (Ipv4Addr, u8),
    pub(super) v6: (Ipv6Addr, u8),
}

/// Makes a device in this thread's namespace, or takes over this user's existing one. Reads and writes never wait.
pub(super) fn make(name: &str) -> io::Result<OwnedFd> {
    let device = open("/dev/net/tun", OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
    let mut wanted = request(name);
    #[expect(clippy::cast_possible_truncation, reason = "these flags have 16 bits")]
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    wanted.ifr_ifru.ifru_flags = flags;
    ask(&device, libc::TUNSETIFF, &mut wanted)?;
    Ok(device)
}

/// Returns the number of the device with this name in this thread's namespace.
pub(super) fn index(name: &str) -> io::Result<u32> {
    Ok(name_to_index(socket(AddressFamily::INET)?, name)?)
}

/// Gives a device its addresses and MTU, and starts it.
pub(super) fn set_up(name: &str, site: Site) -> io::Result<()> {
    let four = socket(AddressFamily::INET)?;
    let mut of_device = request(name);
    of_device.ifr_ifru.ifru_mtu = MTU.into();
    ask(&four, libc::SIOCSIFMTU, &mut of_device)?;
    let mask = Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(site.v4.1)).unwrap_or_default());
    for (what, address) in [(libc::SIOCSIFADDR, site.v4.0), (libc::SIOCSIFNETMASK, mask)] {
        let mut of_device = request(name);
        of_device.ifr_ifru.ifru_addr = socket_address(address);
        ask(&four, what, &mut of_device)?;
    }
    start(name)?;
    // A kernel may have no IPv6.
    let Ok(six) = socket(AddressFamily::INET6) else { return Ok(()) };
    let mut address = libc::in6_ifreq {
        ifr6_addr: libc::in6_addr { s6_addr: site.v6.0.octets() },
        ifr6_prefixlen: site.v6.1.into(),
        ifr6_ifindex: index(name)?.cast_signed(),
    };
    ask(&six, libc::SIOCSIFADDR, &mut address)
}

pub(super) fn start(name: &str) -> io::Result<()> {
    let mut of_device = request(name);
    #[expect(clippy::cast_possible_truncation, reason = "these flags have 16 bits")]
    let flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    of_device.ifr_ifru.ifru_flags = flags;
    ask(&socket(AddressFamily::INET)?, libc::SIOCSIFFLAGS, &mut of_device)
}

fn socket(family: AddressFamily) -> io::Result<OwnedFd> {
    socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None).map_err(io::Error::from)
}

fn request(name: &str) -> libc::ifreq {
    let mut bytes = [0; libc::IFNAMSIZ];
    for (to, from) in bytes.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed() as libc::c_char;
    }
    libc::ifreq { ifr_name: bytes, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_ifindex: 0 } }
}

fn socket_address(address: Ipv4Addr) -> libc::sockaddr {
    let mut data = [0; 14];
    for (to, from) in data[2..6].iter_mut().zip(address.octets()) {
        *to = from.cast_signed() as libc::c_char;
    }
    libc::sockaddr { sa_family: libc::AF_INET.try_into().expect("a small number"), sa_data: data }
}

/// Asks the kernel for an action with `ioctl`.
fn ask<T>(of: &OwnedFd, what: libc::c_ulong, with: &mut T) -> io::Result<()> {
    // SAFETY: the callers pair each request with the structure that it reads and writes, which outlives the call.
    #[expect(unsafe_code, reason = "no crate of ours has safe calls for these requests")]
    let done = unsafe { libc::ioctl(of.as_raw_fd(), what as libc::Ioctl, std::ptr::from_mut(with)) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
