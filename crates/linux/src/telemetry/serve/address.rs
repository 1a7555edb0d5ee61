//! Addresses of servers.

use serde::Deserialize;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a server listens. Written `/run/sluice/metrics.sock` or `127.0.0.1:9477`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Address {
    /// A UNIX socket.
    Path(PathBuf),
    /// A loopback port.
    Loopback(SocketAddr),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with('/') {
            return Ok(Self::Path(text.into()));
        }
        let address: SocketAddr = text.parse().map_err(|_| {
            format!(
                "expected the path of a socket, or an address and port of this machine: 127.0.0.1:9477; got {text:?}"
            )
        })?;
        if address.ip().is_loopback() {
            Ok(Self::Loopback(address))
        } else {
            let ip = address.ip();
            Err(format!(
                "{ip} can be reached from other hosts, and this port has no authentication: use 127.0.0.1 or [::1]"
            ))
        }
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Loopback(address) => address.fmt(f),
        }
    }
}
