//! The privileges that a running agent keeps: few capabilities, no way to get more, and the necessary system calls.
//!
//! An attacker who controls an agent must get only the queues that it governs. A system call that is not listed fails
//! as if the kernel lacked it. A library then uses an older call, and other failures are reported like any kernel
//! error. If the filter killed the agent instead, its queues would stay ungoverned and unrestored.

use crate::device::contract::Keeps;
use crate::error::Error;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
};

/// Sockets that a running agent may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opens {
    /// Only netlink.
    Netlink,
    /// Also IPv4 datagrams, needed when an interface returns: the agent takes part in admission or exchanges notes.
    Datagrams,
}

/// Permanently gives up all other privileges. If system calls are not filtered, returns why: the architecture or the
/// kernel has no filter. Errors: the kernel does not drop the privileges.
pub(crate) fn confine(keeps: Keeps, opens: Opens) -> Result<Option<String>, Error> {
    let failed = Error::kernel("give up privileges");
    set_no_new_privs(true).map_err(failed)?;
    let permitted = capabilities(None).map_err(failed)?.permitted & capabilities_of(keeps);
    let sets = CapabilitySets { effective: permitted, permitted, inheritable: CapabilitySet::empty() };
    // Ambient capabilities from a service manager end with the inheritable ones; older kernels have no ambient ones.
    let _ = clear_ambient_capability_set();
    set_capabilities(None, sets).map_err(failed)?;
    Ok(filter::apply(keeps, opens).err())
}

/// Returns the capabilities that a process needs with these privileges.
fn capabilities_of(keeps: Keeps) -> CapabilitySet {
    match keeps {
        Keeps::Nothing => CapabilitySet::empty(),
        Keeps::Queues => CapabilitySet::NET_ADMIN,
        Keeps::QueuesAndBpf => CapabilitySet::NET_ADMIN | CapabilitySet::BPF | CapabilitySet::PERFMON,
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod filter {
    use super::Opens;
    use crate::device::contract::Keeps;
    use nix::libc;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Is, SeccompCondition, SeccompFilter,
        SeccompRule, apply_filter,
    };
    use std::collections::BTreeMap;

    /// Numbers of system calls.
    macro_rules! calls {
        ($($call:ident)*) => { [$(libc::$call),*] };
    }

    /// Memory, time, signals, and exit.
    const PROCESS: &[i64] = &calls![
        SYS_brk SYS_clock_gettime SYS_clock_nanosleep SYS_exit SYS_exit_group SYS_futex SYS_getegid SYS_geteuid
        SYS_getgid SYS_getpid SYS_getrandom SYS_gettid SYS_getuid SYS_madvise SYS_mremap SYS_munmap SYS_nanosleep
        SYS_prlimit64 SYS_restart_syscall SYS_rseq SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn
        SYS_sched_getaffinity SYS_sched_yield SYS_set_robust_list SYS_sigaltstack SYS_uname
    ];
    /// Files: the state, the configuration, recordings, `/sys` and `/proc`.
    const FILES: &[i64] = &calls![
        SYS_close SYS_faccessat SYS_faccessat2 SYS_fchmod SYS_fchmodat SYS_fcntl SYS_fdatasync SYS_flock SYS_fstat SYS_fsync
        SYS_ftruncate SYS_getcwd SYS_getdents64 SYS_lseek SYS_mkdirat SYS_newfstatat SYS_openat SYS_pread64 SYS_read
        SYS_readlinkat SYS_readv SYS_renameat SYS_renameat2 SYS_statfs SYS_statx SYS_unlinkat SYS_write SYS_writev
    ];
    /// Netlink, clients, the service manager, and waiting for these. Listening sockets may get their names later.
    const SOCKETS: &[i64] = &calls![
        SYS_accept4 SYS_bind SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_getsockname
        SYS_getsockopt SYS_listen SYS_ppoll SYS_recvfrom SYS_recvmsg SYS_sendmsg SYS_sendto SYS_setsockopt
        SYS_shutdown SYS_timerfd_settime
    ];
    /// Older forms of the calls above, which libraries still use.
    #[cfg(target_arch = "x86_64")]
    const OLDER: &[i64] = &calls![
        SYS_access SYS_chmod SYS_epoll_wait SYS_lstat SYS_mkdir SYS_open SYS_poll SYS_readlink SYS_rename SYS_rmdir
        SYS_stat SYS_unlink
    ];
    #[cfg(target_arch = "aarch64")]
    const OLDER: &[i64] = &[];
    /// Loads programs and reads their maps; libbpf reserves descriptors with empty files in memory.
    const BPF: &[i64] = &calls![SYS_bpf SYS_dup3 SYS_memfd_create SYS_perf_event_open];

    /// Errors: reasons for a missing filter.
    pub(super) fn apply(keeps: Keeps, opens: Opens) -> Result<(), String> {
        let program = program(keeps, opens).map_err(|error| error.to_string())?;
        apply_filter(&program).map_err(|error| error.to_string())
    }

    fn program(keeps: Keeps, opens: Opens) -> Result<BpfProgram, seccompiler::BackendError> {
        let of_bpf = if keeps == Keeps::QueuesAndBpf { BPF } else { &[] };
        let all = [PROCESS, FILES, SOCKETS, OLDER, of_bpf].concat();
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = all.into_iter().map(|call| (call, Vec::new())).collect();
        let only = |number, width, is, value| -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
            Ok(vec![SeccompRule::new(vec![SeccompCondition::new(number, width, is, value)?])?])
        };
        // Sockets connect only to the kernel.
        let netlink = u64::from(libc::AF_NETLINK.unsigned_abs());
        let mut sockets = only(0, Width::Dword, Is::Eq, netlink)?;
        if opens == Opens::Datagrams {
            let datagrams = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            let equal = |number, value: libc::c_int| {
                SeccompCondition::new(number, Width::Dword, Is::Eq, u64::from(value.unsigned_abs()))
            };
            // Of datagrams only UDP: ICMP also has datagram sockets.
            let conditions = vec![equal(0, libc::AF_INET)?, equal(1, datagrams)?, equal(2, 0)?];
            sockets.push(SeccompRule::new(conditions)?);
        }
        rules.insert(libc::SYS_socket, sockets);
        // Only memory that was executable from the start is executable.
        let code = u64::from(libc::PROT_EXEC.unsigned_abs());
        for call in [libc::SYS_mmap, libc::SYS_mprotect] {
            rules.insert(call, only(2, Width::Dword, Is::MaskedEq(code), 0)?);
        }
        // `abort` sends a signal to its own process.
        rules.insert(libc::SYS_tgkill, only(0, Width::Dword, Is::Eq, std::process::id().into())?);
        let refused = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        SeccompFilter::new(rules, refused, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?.try_into()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn every_filter_fits_the_kernel() {
            for keeps in [Keeps::Nothing, Keeps::Queues, Keeps::QueuesAndBpf] {
                for opens in [Opens::Netlink, Opens::Datagrams] {
                    // The kernel's bound, `BPF_MAXINSNS`.
                    assert!((50..4_096).contains(&program(keeps, opens).unwrap().len()));
                }
            }
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod filter {
    use super::Opens;
    use crate::device::contract::Keeps;

    /// Errors: reasons for a missing filter.
    pub(super) fn apply(_: Keeps, _: Opens) -> Result<(), String> {
        Err(format!("no list of allowed system calls exists for {}", std::env::consts::ARCH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;
    use rustix::net::{AddressFamily, SocketFlags, SocketType};
    use std::collections::BTreeSet;
    use std::net::UdpSocket;
    use std::process::Command;

    /// Runs in a thread of its own, because capabilities and filters belong to a thread.
    #[test]
    fn a_confined_thread_opens_files_and_netlink_and_neither_programs_nor_sockets_nor_others() {
        let told = std::thread::spawn(|| {
            let filtered = confine(Keeps::Nothing, Opens::Netlink).unwrap().is_none();
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
                assert!(status.contains(&format!("{set}:\t0000000000000000\n")), "{status}");
            }
            let links = crate::kernel::rtnetlink::Route::open().unwrap().links().unwrap();
            assert!(links.iter().any(|link| link.name == "lo"));
            let refused = Some(Errno::NOSYS.raw_os_error());
            let socket = UdpSocket::bind("127.0.0.1:0").map(|_| ()).map_err(|error| error.raw_os_error());
            let program = Command::new("/bin/true").status().map(|_| ()).map_err(|error| error.raw_os_error());
            (filtered, socket == Err(refused), program == Err(refused))
        });
        let (filtered, no_socket, no_program) = told.join().unwrap();
        assert_eq!((no_socket, no_program), (filtered, filtered));
        assert_eq!(filtered, cfg!(any(target_arch = "x86_64", target_arch = "aarch64")));
    }

    #[test]
    fn a_confined_thread_that_talks_to_neighbours_opens_datagrams_of_ipv4_and_no_others() {
        let told = std::thread::spawn(|| {
            let filtered = confine(Keeps::Nothing, Opens::Datagrams).unwrap().is_none();
            let open = |family, kind| {
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                rustix::net::socket_with(family, kind, flags, None).map(|_| ())
            };
            let others = [
                open(AddressFamily::INET, SocketType::STREAM),
                open(AddressFamily::INET6, SocketType::DGRAM),
                open(AddressFamily::UNIX, SocketType::DGRAM),
            ];
            (filtered, open(AddressFamily::INET, SocketType::DGRAM), others)
        });
        let (filtered, datagrams, others) = told.join().unwrap();
        assert_eq!(datagrams, Ok(()));
        assert!(!filtered || others == [Err(Errno::NOSYS); 3], "{others:?}");
    }

    #[test]
    fn the_service_may_have_what_the_agent_keeps_and_its_folder_the_mode_that_the_agent_gives_it() {
        let unit = include_str!("../../../../packaging/systemd/sluice.service");
        let line = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        let granted: BTreeSet<&str> = line("CapabilityBoundingSet=").split(' ').collect();
        let kept: Vec<String> =
            capabilities_of(Keeps::QueuesAndBpf).iter_names().map(|(name, _)| format!("CAP_{name}")).collect();
        assert_eq!(granted, kept.iter().map(String::as_str).collect());
        assert_eq!(line("RuntimeDirectoryMode="), format!("{:04o}", crate::device::state::FOLDER_MODE));
        assert_eq!(line("NoNewPrivileges="), "yes");
        let calls: Vec<&str> = unit.lines().filter_map(|line| line.strip_prefix("SystemCallFilter=")).collect();
        for call in ["bpf", "capset", "perf_event_open", "prctl", "seccomp"] {
            assert!(calls.iter().any(|line| line.split(' ').any(|word| word == call)), "{call}");
        }
    }
}
