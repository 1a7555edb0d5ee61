//! What a service manager is told: systemd's protocol of datagrams (`sd_notify(3)`), where it asks for them.

use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use units::Duration;

/// The service manager, where there is one.
#[derive(Debug)]
pub(super) struct Manager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// It must hear from the agent at least so often.
    pub(super) patience: Option<Duration>,
}

impl Manager {
    /// The one that the environment names.
    pub(super) fn find() -> Self {
        let address = std::env::var_os("NOTIFY_SOCKET").and_then(|path| address(&path));
        let socket = address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address)));
        let number = |name: &str| std::env::var_os(name)?.to_str()?.parse::<u64>().ok();
        let is_ours = number("WATCHDOG_PID").is_none_or(|process| process == u64::from(std::process::id()));
        let patience = number("WATCHDOG_USEC").filter(|micros| *micros > 0 && is_ours && socket.is_some());
        Self { socket, patience: patience.map(Duration::from_micros) }
    }

    /// Tells it something. It may be gone or busy: that is not the agent's trouble.
    pub(super) fn tell(&self, news: &str) {
        if let Some((socket, address)) = &self.socket {
            let _ = socket.send_to_addr(news.as_bytes(), address);
        }
    }
}

/// A path, or a name that begins with `@` and is in no file system.
fn address(path: &OsStr) -> Option<SocketAddr> {
    match path.as_bytes().split_first()? {
        (b'@', name) => SocketAddr::from_abstract_name(name).ok(),
        _ => SocketAddr::from_pathname(path).ok(),
    }
}
