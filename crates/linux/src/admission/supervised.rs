//! Runs a command and gives its sockets a class, without privileges.
//!
//! The command and its children run under a filter of system calls (seccomp) that asks this process for each new TCP or
//! UDP socket. If the asking thread has this process's network, user, control group and label, this process makes the
//! socket, sets its class and hands it over: the thread could have made the same socket. If it could not, it makes its
//! own socket, and this process sets its class shortly after. Open sockets change by copies of their descriptors
//! (`pidfd_getfd`), which a process may make of its descendants. A class that the program sets (`IP_TOS`,
//! `IPV6_TCLASS`) has no effect and causes no error.
//!
//! Needs Linux 5.14 with seccomp. The filter does not see sockets of `io_uring` and of 32-bit programs, so these keep
//! class zero until the next change. The filter does not see per-packet options, either.

use crate::admission::filter::{KIND, Wanted, filter, hand_over, install, let_through, receive, refuse};
use crate::admission::keeper::Keeper;
use crate::admission::origin::{Origin, process_of};
use crate::error::Error;
use crate::kernel::descriptor_of;
use nix::sys::signal::SigSet;
use rustix::io::Errno;
use rustix::net::sockopt::{set_ip_tos, set_ipv6_tclass, socket_domain};
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Signal, pidfd_getfd, pidfd_open};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::mpsc;
use units::{Duration, Instant};

/// Class of a socket's packets: IPv4's type-of-service byte or IPv6's traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Admitted a short time ago: DSCP 47, ECN-capable.
    RealTimeNew,
    /// Admitted: DSCP 46, ECN-capable.
    RealTime,
    /// Not requested or not admitted: zero.
    BestEffort,
}

impl Class {
    const fn byte(self) -> u8 {
        // ECT(0). TCP sets it itself if both ends support ECN.
        const ECN_CAPABLE: u8 = 2;
        match self {
            Self::RealTimeNew => 47 << 2 | ECN_CAPABLE,
            Self::RealTime => 46 << 2 | ECN_CAPABLE,
            Self::BestEffort => 0,
        }
    }
}

/// A running command. The descriptor is readable when a socket is requested, and hangs up when all processes ended.
#[derive(Debug)]
pub struct Supervised {
    listener: OwnedFd,
    /// First process of the command.
    pub process: Pid,
    class: Class,
    /// Processes that have made their own sockets, and when these sockets get the class.
    late: Vec<(Instant, Pid)>,
    _keeper: Keeper,
}

/// Times from a thread's request until its socket, which exists soon unless the machine is busy, gets the class.
const LATE: [Duration; 3] = [Duration::from_millis(1), Duration::from_millis(10), Duration::from_millis(200)];
/// Maximum number of processes whose own sockets wait for the class.
const MOST_LATE: usize = 64;

descriptor_of!(Supervised, listener);

/// Reasons why a command cannot run.
#[derive(Debug)]
pub enum NotStarted {
    /// The program does not exist or cannot be run.
    Program(std::io::Error),
    /// The kernel does not allow supervision.
    Supervision(Error),
}

impl Supervised {
    /// Starts a command whose sockets have this class. The command gets SIGTERM if this process is killed. Errors: the
    /// command cannot be run or supervised.
    pub(crate) fn start(command: Command, class: Class) -> Result<Self, NotStarted> {
        let (tell, told) = mpsc::channel();
        // The filter belongs to the thread that starts the command. If the thread ended, so would the command.
        let supervising = move || {
            let _ = tell.send(start(command));
            loop {
                std::thread::park();
            }
        };
        let failed = |error: std::io::Error| NotStarted::Supervision(Error::kernel("start a thread")(error));
        std::thread::Builder::new().name("command".into()).spawn(supervising).map_err(failed)?;
        let ended = || failed(std::io::ErrorKind::Other.into());
        let (process, listener) = told.recv().map_err(|_| ended())??;
        let keeper = Keeper::start(&listener).map_err(NotStarted::Supervision)?;
        Ok(Self { listener, process, class, late: Vec::new(), _keeper: keeper })
    }

    /// Makes the requested socket, or lets the requester make it. The end of a requester is no error. Errors: the
    /// kernel does not deliver the request.
    pub(crate) fn serve(&mut self, now: Instant) -> Result<(), Error> {
        let Some(wanted) = receive(&self.listener).map_err(Error::kernel("read a request for a socket"))? else {
            return Ok(());
        };
        let origin = wanted.thread.and_then(Origin::of);
        if origin.is_none() || origin != Origin::own() {
            let process = wanted.thread.and_then(process_of);
            let_through(&self.listener, &wanted);
            if let Some(process) = process.filter(|_| self.late.len() < MOST_LATE * LATE.len()) {
                self.late.extend(LATE.map(|after| (now + after, process)));
            }
            return Ok(());
        }
        match self.make(&wanted) {
            Ok(socket) => hand_over(&self.listener, &wanted, &socket),
            Err(errno) => refuse(&self.listener, &wanted, errno),
        }
        Ok(())
    }

    fn make(&self, wanted: &Wanted) -> Result<OwnedFd, Errno> {
        let family = u16::try_from(wanted.family).map_err(|_| Errno::AFNOSUPPORT)?;
        let flags = SocketFlags::from_bits_retain(wanted.kind & !KIND) | SocketFlags::CLOEXEC;
        let kind = SocketType::from_raw(wanted.kind & KIND);
        let protocol = NonZeroU32::new(wanted.protocol).map(Protocol::from_raw);
        let socket = socket_with(AddressFamily::from_raw(family), kind, flags, protocol)?;
        set_class(&socket, self.class)?;
        Ok(socket)
    }

    /// Returns the next instant at which sockets of a process get their class.
    pub(crate) fn next(&self) -> Instant {
        self.late.iter().map(|(at, _)| *at).min().unwrap_or(Instant::NEVER)
    }

    /// Gives sockets that processes have made themselves their class.
    pub(crate) fn work(&mut self, now: Instant) {
        let class = self.class;
        let mut due: Vec<Pid> = self.late.extract_if(.., |(at, _)| *at <= now).map(|(_, process)| process).collect();
        due.sort_unstable_by_key(|process| process.as_raw_nonzero());
        due.dedup();
        if !due.is_empty() {
            // Sockets keep their class if their process has ended or may not be reached.
            let _ = change_sockets(due, class);
        }
    }

    /// Gives all present and future sockets another class. Returns how many sockets could not be changed.
    pub(crate) fn change(&mut self, class: Class) -> usize {
        self.class = class;
        change_sockets(descendants(), class)
    }
}

/// Starts the command, in the thread whose filter it inherits.
fn start(mut command: Command) -> Result<(Pid, OwnedFd), NotStarted> {
    let supervised = |errno: Errno| NotStarted::Supervision(Error::kernel("supervise the sockets of a command")(errno));
    // An unprivileged process may install a filter only if it gives up ever gaining privileges.
    rustix::thread::set_no_new_privs(true).map_err(supervised)?;
    let listener = install(&filter().ok_or(Errno::NOSYS).map_err(supervised)?).map_err(supervised)?;
    // SAFETY: between fork and exec the closure makes two system calls and allocates nothing.
    #[expect(unsafe_code, reason = "no other way to set these two for a command and not for ourselves")]
    unsafe {
        command.pre_exec(|| {
            SigSet::empty().thread_set_mask()?;
            rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
            Ok(())
        });
    }
    let child = command.spawn().map_err(NotStarted::Program)?;
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH).map_err(supervised)?;
    Ok((process, listener))
}

/// Sets the class by two options: one for IPv4, also over an IPv6 socket, and one for IPv6.
fn set_class(socket: &OwnedFd, class: Class) -> Result<(), Errno> {
    match socket_domain(socket)? {
        AddressFamily::INET => set_ip_tos(socket, class.byte()),
        AddressFamily::INET6 => {
            set_ipv6_tclass(socket, class.byte().into())?;
            set_ip_tos(socket, class.byte())
        }
        _ => Ok(()),
    }
}

/// Sets the class of all sockets of these processes, as far as they descend from this one. Returns the number of
/// sockets that could not be changed.
fn change_sockets(processes: Vec<Pid>, class: Class) -> usize {
    let open = |process| Some((process, pidfd_open(process, PidfdFlags::empty()).ok()?));
    let opened: Vec<(Pid, OwnedFd)> = processes.into_iter().filter_map(open).collect();
    // The number may belong to another process by now. While the opened process lives, no other gets its number.
    let own = descendants();
    opened
        .iter()
        .filter(|(process, _)| own.contains(process))
        .map(|(process, handle)| change(*process, handle, class))
        .sum()
}

fn change(process: Pid, handle: &OwnedFd, class: Class) -> usize {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{}/fd", process.as_raw_nonzero())) else { return 1 };
    let is_socket = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|to| to.as_os_str().to_string_lossy().starts_with("socket:"))
    };
    let sockets = entries.flatten().filter(is_socket);
    let numbers = sockets.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let change = |number| match pidfd_getfd(handle, number, PidfdGetfdFlags::empty()) {
        Ok(socket) => set_class(&socket, class).is_ok(),
        // The socket was closed meanwhile, or its process has ended.
        Err(Errno::BADF | Errno::SRCH) => true,
        Err(_) => false,
    };
    numbers.filter(|number| !change(*number)).count()
}

/// Returns all descendants of this process, in no order. Orphans are included, see [`run`](super::run).
fn descendants() -> Vec<Pid> {
    let own = rustix::process::getpid();
    let mut children: BTreeMap<i32, Vec<Pid>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The second field is the program's name in parentheses, with any characters; the fourth is the parent.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        if let (Some(parent), Some(process)) = (parent, Pid::from_raw(process)) {
            children.entry(parent).or_default().push(process);
        }
    }
    let (mut found, mut next) = (Vec::new(), vec![own]);
    while let Some(process) = next.pop() {
        let below = children.remove(&process.as_raw_nonzero().get()).unwrap_or_default();
        found.extend_from_slice(&below);
        next.extend(below);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_of_a_process_that_is_not_of_the_command_keep_their_class() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let own = rustix::process::getpid();
        assert_eq!(change_sockets(vec![own, rustix::process::getppid().unwrap()], Class::RealTime), 0);
        assert_eq!(rustix::net::sockopt::ip_tos(&socket).unwrap(), 0);
        // A child of this process is a descendant, and has the same socket.
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::empty()).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        let left = change_sockets(vec![pid], Class::RealTime);
        let class = rustix::net::sockopt::ip_tos(&socket).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        // Yama may forbid the change.
        assert!(left > 0 || class == Class::RealTime.byte(), "{left} {class}");
    }

    #[test]
    fn classes_have_the_bytes_of_the_document() {
        let bytes = [Class::RealTimeNew, Class::RealTime, Class::BestEffort].map(Class::byte);
        assert_eq!(bytes, [0xbe, 0xba, 0]);
    }
}
