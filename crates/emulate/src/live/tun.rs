//! TUN devices: the kernel's packets as datagrams, without Ethernet, ARP and offloads.

use nix::libc;
use rustix::fs::{Mode, OFlags, open};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd as _, OwnedFd};

/// The name of the device in every namespace.
pub(super) const NAME: &str = "air0";
/// All nodes' addresses are in these networks.
const PREFIX_V4: Ipv4Addr = Ipv4Addr::new(255, 0, 0, 0);
const PREFIX_V6: u32 = 64;

/// Why there is no device.
pub(super) enum NoTun {
    /// `/dev/net/tun` cannot be used.
    Device(io::Error),
    /// It has no address.
    Address(io::Error),
}

/// Makes the device in this thread's namespace, with these addresses, and starts it. Reading and writing never waits.
pub(super) fn make(v4: Ipv4Addr, v6: Ipv6Addr, mtu: u16) -> Result<OwnedFd, NoTun> {
    let device = open("/dev/net/tun", OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty());
    let device = device.map_err(|errno| NoTun::Device(errno.into()))?;
    let mut wanted = request(NAME);
    #[expect(clippy::cast_possible_truncation, reason = "these flags have 16 bits")]
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    wanted.ifr_ifru.ifru_flags = flags;
    ask(&device, libc::TUNSETIFF, &mut wanted).map_err(NoTun::Device)?;
    set_up(v4, v6, mtu).map_err(NoTun::Address)?;
    Ok(device)
}

fn set_up(v4: Ipv4Addr, v6: Ipv6Addr, mtu: u16) -> io::Result<()> {
    let socket = |family| socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None).map_err(io::Error::from);
    let four = socket(AddressFamily::INET)?;
    for name in ["lo", NAME] {
        if name == NAME {
            let mut of_device = request(name);
            of_device.ifr_ifru.ifru_mtu = mtu.into();
            ask(&four, libc::SIOCSIFMTU, &mut of_device)?;
            for (what, address) in [(libc::SIOCSIFADDR, v4), (libc::SIOCSIFNETMASK, PREFIX_V4)] {
                let mut of_device = request(name);
                of_device.ifr_ifru.ifru_addr = socket_address(address);
                ask(&four, what, &mut of_device)?;
            }
        }
        let mut of_device = request(name);
        #[expect(clippy::cast_possible_truncation, reason = "these flags have 16 bits")]
        let flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        of_device.ifr_ifru.ifru_flags = flags;
        ask(&four, libc::SIOCSIFFLAGS, &mut of_device)?;
    }
    // A kernel may have no IPv6.
    let Ok(six) = socket(AddressFamily::INET6) else { return Ok(()) };
    let mut of_device = request(NAME);
    ask(&four, libc::SIOCGIFINDEX, &mut of_device)?;
    // SAFETY: every variant of the union is plain data, and the kernel has written the index.
    #[expect(unsafe_code, reason = "`ifreq` is a union in C")]
    let index = unsafe { of_device.ifr_ifru.ifru_ifindex };
    let mut address = libc::in6_ifreq {
        ifr6_addr: libc::in6_addr { s6_addr: v6.octets() },
        ifr6_prefixlen: PREFIX_V6,
        ifr6_ifindex: index,
    };
    ask(&six, libc::SIOCSIFADDR, &mut address)
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

/// Asks the kernel by `ioctl`.
fn ask<T>(of: &OwnedFd, what: libc::c_ulong, with: &mut T) -> io::Result<()> {
    // SAFETY: the callers pair each request with the structure that it reads and writes, which outlives the call.
    #[expect(unsafe_code, reason = "no crate of ours has safe calls for these requests")]
    let done = unsafe { libc::ioctl(of.as_raw_fd(), what as libc::Ioctl, std::ptr::from_mut(with)) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
