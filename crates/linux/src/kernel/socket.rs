//! Sockets at which agents of neighbours hear each other, and options that no crate of ours has safe calls for: filters of
//! what a socket receives, and its interface.

use nix::libc;
use rustix::io::Errno;
use rustix::net::sockopt::{set_ip_tos, set_ip_ttl, set_socket_recv_buffer_size};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

/// A statement of classic BPF (`linux/filter.h`).
pub(crate) use libc::sock_filter as Statement;

/// `BPF_LD | BPF_W | BPF_ABS`, and the same for two bytes and for one: load what stands there.
pub(crate) const LOAD: u16 = 0x20;
pub(crate) const LOAD_HALF: u16 = 0x28;
pub(crate) const LOAD_BYTE: u16 = 0x30;
/// `BPF_JMP | BPF_JEQ | BPF_K`: is it equal?
pub(crate) const EQUAL: u16 = 0x15;
/// `BPF_RET | BPF_K`
pub(crate) const RETURN: u16 = 0x06;
/// `SKF_NET_OFF`: from here on an offset counts from the IP header.
pub(crate) const NETWORK_HEADER: u32 = 0xfff0_0000;
/// `SKF_AD_OFF + SKF_AD_PKTTYPE`: to whom the packet was sent, as seen from the interface.
pub(crate) const PACKET_TYPE: u32 = 0xffff_f004;

/// A message between agents has this time to live, and only with it is it taken: routers lower it, so that it has come from
/// a neighbour (RFC 5082).
pub(crate) const TTL: u8 = 255;
/// The type-of-service byte of messages between agents: DSCP 40, signalling, as in the simulator.
const SIGNALLING: u8 = 40 << 2;
/// What waits at a socket at most, in bytes: some hundred messages.
const ROOM: usize = 64 * 1_024;

/// A socket for messages between agents, over IPv4.
pub(crate) fn datagrams() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
    set_ip_ttl(&socket, TTL.into())?;
    set_ip_tos(&socket, SIGNALLING)?;
    set_socket_recv_buffer_size(&socket, ROOM)?;
    Ok(socket)
}

/// A statement without a jump.
pub(crate) const fn statement(code: u16, k: u32) -> Statement {
    Statement { code, jt: 0, jf: 0, k }
}

/// A jump: past so many statements if what was loaded equals `k`, past so many if not.
pub(crate) const fn jump(k: u32, if_equal: u8, if_not: u8) -> Statement {
    Statement { code: EQUAL, jt: if_equal, jf: if_not, k }
}

/// From now on the socket receives only packets of which the program returns how many bytes to keep.
pub(crate) fn attach_filter(socket: impl AsFd, program: &[Statement]) -> Result<(), Errno> {
    let length = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel reads a `sock_fprog` and the statements that it points to, and keeps neither.
    #[expect(unsafe_code, reason = "no crate of ours attaches classic filters")]
    let done = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of::<libc::sock_fprog>().try_into().expect("a few bytes"),
        )
    };
    result(done)
}

/// The socket receives and sends through this interface only. Needs no privilege where it was bound to none before.
pub(crate) fn bind_to_interface(socket: impl AsFd, name: &str) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(name.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel reads the bytes of the name, `length` of them, and keeps no pointer.
    #[expect(unsafe_code, reason = "no crate of ours binds to interfaces without more dependencies")]
    let done = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BINDTODEVICE,
            name.as_ptr().cast(),
            length,
        )
    };
    result(done)
}

fn result(done: libc::c_int) -> Result<(), Errno> {
    if done == 0 { Ok(()) } else { Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}
