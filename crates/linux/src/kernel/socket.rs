//! Sockets for messages between agents. Also socket options for which Sluice's crates have no safe calls: the filter of
//! received packets, and the interface.

use nix::libc;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::sockopt::{set_ip_tos, set_ip_ttl, set_socket_recv_buffer_size};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use units::Instant;

/// A statement of classic BPF (`linux/filter.h`).
pub(crate) use libc::sock_filter as Statement;

/// Loads 32 bits from an offset: `BPF_LD | BPF_W | BPF_ABS`. The next two load two bytes and one byte.
pub(crate) const LOAD: u16 = 0x20;
pub(crate) const LOAD_HALF: u16 = 0x28;
pub(crate) const LOAD_BYTE: u16 = 0x30;
/// Compares the loaded value: `BPF_JMP | BPF_JEQ | BPF_K`.
pub(crate) const EQUAL: u16 = 0x15;
/// `BPF_RET | BPF_K`
pub(crate) const RETURN: u16 = 0x06;
/// `SKF_NET_OFF`: offsets from here on count from the IP header.
pub(crate) const NETWORK_HEADER: u32 = 0xfff0_0000;
/// `SKF_AD_OFF + SKF_AD_PKTTYPE`: to whom the packet was sent, as the interface sees it.
pub(crate) const PACKET_TYPE: u32 = 0xffff_f004;

/// Time to live of messages between agents. Routers lower it, so each message is from a neighbour (RFC 5082).
pub(crate) const TTL: u8 = 255;
/// Type-of-service byte of messages between agents: DSCP 40, for signalling, as in the simulator.
const SIGNALLING: u8 = 40 << 2;
/// Size of a socket's receive buffer, in bytes: room for some hundred messages.
const ROOM: usize = 64 * 1_024;

/// Opens an IPv4 socket for messages between agents.
pub(crate) fn datagrams() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
    set_ip_ttl(&socket, TTL.into())?;
    set_ip_tos(&socket, SIGNALLING)?;
    set_socket_recv_buffer_size(&socket, ROOM)?;
    Ok(socket)
}

/// Makes a statement without a jump.
pub(crate) const fn statement(code: u16, k: u32) -> Statement {
    Statement { code, jt: 0, jf: 0, k }
}

/// Makes a jump: skips `equal` statements if the loaded value equals `k`, else `other`.
pub(crate) const fn jump(k: u32, if_equal: u8, if_not: u8) -> Statement {
    Statement { code: EQUAL, jt: if_equal, jf: if_not, k }
}

/// Installs a filter. Its program returns how many bytes of a packet the socket keeps.
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

/// Binds the socket to this interface. Needs no privilege if the socket is bound to no interface yet.
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

/// Returns the events to wait for at a socket: none as long as the socket rests until an instant.
pub(crate) const fn interest(rests: Option<Instant>) -> EventFlags {
    if rests.is_some() { EventFlags::empty() } else { EventFlags::IN }
}

/// Reads these sockets no more until an instant. Until then the kernel keeps what its buffers can hold.
pub(crate) fn rest<'s>(
    rests: &mut Option<Instant>,
    until: Option<Instant>,
    epoll: &OwnedFd,
    sockets: impl Iterator<Item = BorrowedFd<'s>>,
) {
    if std::mem::replace(rests, until).is_some() != until.is_some() {
        for socket in sockets {
            let _ = epoll::modify(epoll, socket, EventData::new_u64(0), interest(until));
        }
    }
}
