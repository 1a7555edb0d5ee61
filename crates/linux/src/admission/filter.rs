//! The filter of system calls (seccomp) under which a supervised command runs, its requests for sockets, and the answers.

use crate::kernel::socket::Statement;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::kernel::socket::{LOAD, RETURN, jump, statement};
use nix::libc;
use rustix::io::Errno;
use rustix::net::SocketFlags;
use rustix::process::Pid;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

pub(super) struct Wanted {
    /// Id that the kernel gave to this request (a seccomp notification).
    id: u64,
    /// The thread that asks.
    pub(super) thread: Option<Pid>,
    pub(super) family: u32,
    pub(super) kind: u32,
    pub(super) protocol: u32,
}

/// Bits of a socket's type that are not flags (`SOCK_TYPE_MASK`).
pub(super) const KIND: u32 = 0xf;

/// `BPF_ALU | BPF_AND | BPF_K`
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const AND: u16 = 0x54;

/// Builds a filter that asks about each TCP or UDP socket, and fakes success for options that set a class.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn filter() -> Option<[Statement; 27]> {
    /// `AUDIT_ARCH_X86_64` or `AUDIT_ARCH_AARCH64` (`linux/audit.h`).
    const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
    /// Offsets in `struct seccomp_data`: of the call's number, of the architecture, of the first argument's lower half.
    const NUMBER: u32 = 0;
    const ARCH: u32 = 4;
    const fn argument(n: u32) -> u32 {
        16 + 8 * n
    }
    let number = |call: libc::c_long| u32::try_from(call).ok();
    let value = |value: libc::c_int| value.unsigned_abs();
    let (socket, setsockopt) = (number(libc::SYS_socket)?, number(libc::SYS_setsockopt)?);
    Some([
        statement(LOAD, ARCH),
        jump(ARCHITECTURE, 0, 22),
        statement(LOAD, NUMBER),
        jump(socket, 1, 0),
        jump(setsockopt, 12, 19),
        // Statement 5: a socket's family, type and protocol. ICMP is left out: it may have datagram sockets, too.
        statement(LOAD, argument(0)),
        jump(value(libc::AF_INET), 1, 0),
        jump(value(libc::AF_INET6), 0, 16),
        statement(LOAD, argument(1)),
        statement(AND, KIND),
        jump(value(libc::SOCK_STREAM), 1, 0),
        jump(value(libc::SOCK_DGRAM), 0, 12),
        statement(LOAD, argument(2)),
        jump(0, 11, 0),
        jump(value(libc::IPPROTO_TCP), 10, 0),
        jump(value(libc::IPPROTO_UDP), 9, 0),
        jump(value(libc::IPPROTO_MPTCP), 8, 7),
        // Statement 17: level and name of a socket option.
        statement(LOAD, argument(1)),
        jump(value(libc::IPPROTO_IP), 1, 0),
        jump(value(libc::IPPROTO_IPV6), 2, 4),
        statement(LOAD, argument(2)),
        jump(value(libc::IP_TOS), 4, 2),
        statement(LOAD, argument(2)),
        jump(value(libc::IPV6_TCLASS), 2, 0),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
        statement(RETURN, libc::SECCOMP_RET_USER_NOTIF),
        statement(RETURN, libc::SECCOMP_RET_ERRNO),
    ])
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn filter() -> Option<[Statement; 0]> {
    None
}

/// Installs the filter for this thread and all that it starts. Returns the descriptor of the filter's requests.
pub(super) fn install(filter: &[Statement]) -> Result<OwnedFd, Errno> {
    let length = u16::try_from(filter.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel reads a `sock_fprog` and its statements, keeps neither, and returns a new descriptor or fails.
    #[expect(unsafe_code, reason = "no crate of ours installs a filter that asks")]
    unsafe {
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        match libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) {
            -1 => Err(last_error()),
            listener => Ok(OwnedFd::from_raw_fd(i32::try_from(listener).map_err(|_| Errno::BADF)?)),
        }
    }
}

/// Reads the next request, or `None` if the requesting process has ended.
pub(super) fn receive(listener: &OwnedFd) -> Result<Option<Wanted>, Errno> {
    // `struct seccomp_notif`: id, process, flags and `struct seccomp_data`, with room for later kernels; all zero.
    let mut request = [0_u64; 64];
    match control(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, request.as_mut_ptr().cast()) {
        Ok(_) => {}
        Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => return Ok(None),
        Err(errno) => return Err(errno),
    }
    // Arguments of type `int` are in the lower half of a register.
    #[expect(clippy::cast_possible_truncation, reason = "the kernel takes no more of it either")]
    let argument = |n: usize| request[4 + n] as u32;
    #[expect(clippy::cast_possible_truncation, reason = "the other half are flags")]
    let thread = Pid::from_raw((request[1] as u32).cast_signed());
    let (id, family, kind, protocol) = (request[0], argument(0), argument(1), argument(2));
    Ok(Some(Wanted { id, thread, family, kind, protocol }))
}

/// Hands the socket to the requesting process, unless it has ended.
pub(super) fn hand_over(listener: &OwnedFd, wanted: &Wanted, socket: &OwnedFd) {
    let closes = wanted.kind & SocketFlags::CLOEXEC.bits();
    let mut answer = libc::seccomp_notif_addfd {
        id: wanted.id,
        flags: u32::try_from(libc::SECCOMP_ADDFD_FLAG_SEND).expect("it is two"),
        srcfd: socket.as_raw_fd().unsigned_abs(),
        newfd: 0,
        newfd_flags: closes,
    };
    match control(listener, libc::SECCOMP_IOCTL_NOTIF_ADDFD, (&raw mut answer).cast()) {
        Ok(_) | Err(Errno::NOENT) => {}
        // The process has no free descriptor, or the kernel is older than 5.14.
        Err(errno) => refuse(listener, wanted, errno),
    }
}

pub(super) fn refuse(listener: &OwnedFd, wanted: &Wanted, why: Errno) {
    answer(listener, libc::seccomp_notif_resp { id: wanted.id, val: 0, error: -why.raw_os_error(), flags: 0 });
}

/// Lets the requesting thread make the socket itself.
pub(super) fn let_through(listener: &OwnedFd, wanted: &Wanted) {
    let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("it is one");
    answer(listener, libc::seccomp_notif_resp { id: wanted.id, val: 0, error: 0, flags });
}

fn answer(listener: &OwnedFd, mut answer: libc::seccomp_notif_resp) {
    // A process that has ended needs no answer.
    let _ = control(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, (&raw mut answer).cast());
}

fn control(listener: &OwnedFd, request: libc::Ioctl, argument: *mut libc::c_void) -> Result<libc::c_int, Errno> {
    // SAFETY: each caller gives a structure of its own of the request's size or more, which the kernel reads or writes during
    // the call.
    #[expect(unsafe_code, reason = "no crate of ours answers a filter")]
    match unsafe { libc::ioctl(listener.as_raw_fd(), request, argument) } {
        -1 => Err(last_error()),
        done => Ok(done),
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the filter's statements decide for a system call.
    fn says(architecture: u32, call: libc::c_long, arguments: [libc::c_int; 3]) -> u32 {
        let filter = filter().unwrap();
        let (mut at, mut loaded) = (0, 0);
        loop {
            let Statement { code, jt, jf, k } = filter[at];
            at += 1;
            match code {
                LOAD => {
                    loaded = match k {
                        0 => u32::try_from(call).unwrap(),
                        4 => architecture,
                        offset => arguments[usize::try_from((offset - 16) / 8).unwrap()].cast_unsigned(),
                    }
                }
                AND => loaded &= k,
                RETURN => return k,
                _ => at += usize::from(if loaded == k { jt } else { jf }),
            }
        }
    }

    #[test]
    fn only_sockets_of_tcp_and_udp_and_options_of_a_class_are_asked_for() {
        const HERE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
        let (ask, pretend, allow) = (libc::SECCOMP_RET_USER_NOTIF, libc::SECCOMP_RET_ERRNO, libc::SECCOMP_RET_ALLOW);
        let socket = |family, kind, protocol| says(HERE, libc::SYS_socket, [family, kind, protocol]);
        for family in [libc::AF_INET, libc::AF_INET6] {
            for kind in
                [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK]
            {
                for protocol in [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_MPTCP] {
                    assert_eq!(socket(family, kind, protocol), ask);
                }
                assert_eq!(socket(family, kind, libc::IPPROTO_ICMP), allow);
            }
            // A process that may not open these sockets must not get them from one that may.
            assert_eq!(socket(family, libc::SOCK_RAW, libc::IPPROTO_UDP), allow);
        }
        assert_eq!(socket(libc::AF_UNIX, libc::SOCK_STREAM, 0), allow);
        assert_eq!(says(HERE ^ 1, libc::SYS_socket, [libc::AF_INET, libc::SOCK_DGRAM, 0]), allow);
        let option = |level, name| says(HERE, libc::SYS_setsockopt, [3, level, name]);
        assert_eq!(option(libc::IPPROTO_IP, libc::IP_TOS), pretend);
        assert_eq!(option(libc::IPPROTO_IPV6, libc::IPV6_TCLASS), pretend);
        assert_eq!(option(libc::IPPROTO_IP, libc::IP_TTL), allow);
        assert_eq!(option(libc::IPPROTO_IPV6, libc::IP_TOS), allow);
        assert_eq!(option(libc::SOL_SOCKET, libc::SO_REUSEADDR), allow);
        assert_eq!(says(HERE, libc::SYS_read, [0, 0, 0]), allow);
    }
}
