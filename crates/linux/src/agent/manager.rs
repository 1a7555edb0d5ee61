//! Tells the service manager, if there is one, that the agent is ready or lives, and what a reload did.

use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use units::{Duration, Instant};

/// Shortest time between two reports of the number of governed queues.
const NEWS: Duration = Duration::from_secs(1);

/// The service manager, if there is one; messages are datagrams of systemd's protocol (`sd_notify(3)`).
#[derive(Debug)]
pub(super) struct Manager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// Longest time between two messages before the manager's watchdog fires.
    patience: Option<Duration>,
    /// Instant of the next message to the watchdog.
    next: Instant,
    /// Numbers of governed queues and of all queues in the last report, and its instant.
    told: Option<((usize, usize), Instant)>,
    /// The reason why the last reload changed nothing, if it was refused.
    refusal: Option<String>,
}

impl Manager {
    /// Finds the service manager that the environment names.
    pub(super) fn find(now: Instant) -> Self {
        let address = std::env::var_os("NOTIFY_SOCKET").and_then(|path| address(&path));
        let socket = address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address)));
        let number = |name: &str| std::env::var_os(name)?.to_str()?.parse::<u64>().ok();
        let is_ours = number("WATCHDOG_PID").is_none_or(|process| process == u64::from(std::process::id()));
        let patience = number("WATCHDOG_USEC").filter(|micros| *micros > 0 && is_ours && socket.is_some());
        Self { socket, patience: patience.map(Duration::from_micros), next: now, told: None, refusal: None }
    }

    /// Returns when the watchdog is due for a message.
    pub(super) fn next(&self) -> Instant {
        if self.patience.is_some() { self.next } else { Instant::NEVER }
    }

    /// Tells the watchdog that the agent lives, if this is due.
    pub(super) fn live(&mut self, now: Instant) {
        if let Some(patience) = self.patience.filter(|_| self.next <= now) {
            self.tell("WATCHDOG=1");
            self.next = now + patience / 2;
        }
    }

    /// Reports how many of all queues are governed: once the agent `is_ready`, and after changes. Reports are at least
    /// [`NEWS`] apart, except one that `is_final`.
    pub(super) fn count(&mut self, count: (usize, usize), is_ready: bool, is_final: bool, now: Instant) {
        let is_news = self.told.is_none_or(|(told, at)| told != count && (is_final || at + NEWS <= now));
        if is_ready || is_news {
            let (ready, (governed, all)) = (if is_ready { "READY=1\n" } else { "" }, count);
            let refusal = self.refusal.as_ref().map(|why| format!("; the last reload changed nothing: {why}"));
            let refusal = refusal.unwrap_or_default();
            self.tell(&format!("{ready}STATUS=governs {governed} of {all} queues{refusal}"));
            self.told = Some((count, now));
        }
    }

    pub(super) fn reloads(&mut self, now: Instant) {
        self.refusal = None;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}", now.as_nanos() / 1_000));
    }

    /// Records why a reload changes nothing. The next report has the reason and the number of queues in one line.
    pub(super) fn refuse(&mut self, why: &str) {
        self.refusal = Some(why.replace('\n', " "));
    }

    /// Sends the manager a message. If the manager is absent or busy, the agent ignores that.
    pub(super) fn tell(&self, news: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(news.as_bytes(), address);
        }
    }
}

/// Returns the address: a path, or, if it begins with `@`, a name outside the file system.
fn address(path: &OsStr) -> Option<SocketAddr> {
    match path.as_bytes().split_first()? {
        (b'@', name) => SocketAddr::from_abstract_name(name).ok(),
        _ => SocketAddr::from_pathname(path).ok(),
    }
}
