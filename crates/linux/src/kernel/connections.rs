//! TCP connections of this machine (`linux/inet_diag.h`), for their smoothed round-trip times.

use crate::error::Error;
use crate::kernel::netlink::{Connection, F_DUMP, F_REQUEST, failed};
use crate::kernel::wire::{Request, attribute, u32_at};
use rustix::net::netlink::SOCK_DIAG;
use std::net::Ipv4Addr;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET: u8 = 2;
const TCP: u8 = 6;
const INET_DIAG_INFO: u16 = 2;
const ESTABLISHED: u32 = 1;
/// Length of `struct inet_diag_msg`.
const BODY: usize = 72;
/// Offsets in `struct tcp_info`: of the milliseconds since the last sending, and of the smoothed round-trip time in µs.
const LAST_SENT: usize = 44;
const RTT: usize = 68;
/// A connection that was silent for this many milliseconds says nothing about the present.
const STALE: u32 = 1_000;

/// Returns the peer and the round-trip time, in seconds, of each IPv4 connection that sends.
pub(crate) fn round_trips() -> Result<Vec<(Ipv4Addr, f64)>, Error> {
    let mut body = [0; 56];
    (body[0], body[1], body[2]) = (INET, TCP, 1 << (INET_DIAG_INFO - 1));
    body[4..8].copy_from_slice(&(1_u32 << ESTABLISHED).to_ne_bytes());
    let request = Request::new(SOCK_DIAG_BY_FAMILY, F_REQUEST | F_DUMP, &body);
    let mut found = Vec::new();
    let asked = Connection::open(Some(SOCK_DIAG))?.list(&mut found, &request, |message| round_trip(message.payload));
    asked.map(|()| found).map_err(|errno| failed("look at this machine's TCP connections", errno))
}

/// Parses a connection. Accepts any bytes.
pub(super) fn round_trip(payload: &[u8]) -> Option<(Ipv4Addr, f64)> {
    let info = attribute(payload.get(BODY..)?, INET_DIAG_INFO)?;
    // Behind the ports and the own address.
    let peer = <[u8; 4]>::try_from(payload.get(24..28)?).ok()?;
    let (last, rtt) = (u32_at(info, LAST_SENT)?, u32_at(info, RTT)?);
    (last < STALE && rtt > 0).then(|| (peer.into(), f64::from(rtt) / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_of_this_machine_has_a_round_trip_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        one.write_all(&[7; 100]).unwrap();
        other.read_exact(&mut [0; 100]).unwrap();
        match round_trips() {
            Ok(found) => {
                assert!(found.iter().any(|(peer, rtt)| *peer == Ipv4Addr::LOCALHOST && (0.0..1.0).contains(rtt)));
            }
            Err(error) => eprintln!("skipped: {error}"),
        }
    }
}
