//! Echo (ICMP over IPv4) through an interface, and who could answer it: the neighbours that the kernel knows there.

use super::descriptor_of;
use crate::error::Error;
use crate::kernel::netlink::{Connection, F_DUMP, F_REQUEST, failed};
use crate::kernel::now;
use crate::kernel::socket::bind_to_interface;
use crate::kernel::wire::{Request, attributes, u16_at, u32_at};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrV4, SocketFlags, SocketType, ipproto, socket_with};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use units::{Duration, Instant};

/// An echo that is not answered in this time is lost.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two echoes to one address: five per second.
const EVERY: Duration = Duration::from_millis(200);
const REQUEST: u8 = 8;
/// Payload behind the header of 8 bytes, as of `ping`.
const PAYLOAD: usize = 56;

const RTM_NEWNEIGH: u16 = 28;
const RTM_GETNEIGH: u16 = 30;
const NDA_DST: u16 = 1;
/// Length of `struct ndmsg`.
const NEIGHBOUR_BODY: usize = 12;
/// `NUD_INCOMPLETE`, `NUD_FAILED`, `NUD_NOARP`: nobody is there.
const ABSENT: u16 = 0x01 | 0x20 | 0x40;
const INET: u8 = 2;

/// Echoes to some addresses. Its descriptor is readable when an answer has come.
#[derive(Debug)]
pub(crate) struct Echo {
    socket: OwnedFd,
    to: Vec<Ipv4Addr>,
    next: Instant,
    sequence: u16,
    sent: BTreeMap<u16, Instant>,
    /// Round-trip times in seconds, and echoes that were lost, until somebody takes them.
    pub(crate) rtts: Vec<f64>,
    pub(crate) lost: usize,
    /// Whether the socket shows and takes whole packets of IP, because the kernel allows this group no other.
    is_raw: bool,
}

impl Echo {
    /// Opens a socket of this interface without privilege (`net.ipv4.ping_group_range`), or with `CAP_NET_RAW`.
    pub(crate) fn open(device: &str, to: Vec<Ipv4Addr>) -> Result<Self, Error> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let open = |kind| socket_with(AddressFamily::INET, kind, flags, Some(ipproto::ICMP));
        let needs = "CAP_NET_RAW, or a group in sysctl net.ipv4.ping_group_range";
        let refused = Error::refused("send echoes", needs);
        let (socket, is_raw) = match open(SocketType::DGRAM) {
            Ok(socket) => (socket, false),
            Err(_) => (open(SocketType::RAW).map_err(refused)?, true),
        };
        bind_to_interface(&socket, device).map_err(refused)?;
        let (sent, rtts) = (BTreeMap::new(), Vec::new());
        Ok(Self { socket, to, next: now(), sequence: 0, sent, rtts, lost: 0, is_raw })
    }

    /// Returns when the next echo is due.
    pub(crate) fn next(&self) -> Instant {
        if self.to.is_empty() { Instant::NEVER } else { self.next }
    }

    /// Sends what is due, one address after another, and adds what has come or will not come any more.
    pub(crate) fn work(&mut self, at: Instant) {
        let mut buffer = [0; 256];
        while let Ok((_, length)) = rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
            let message = buffer.get(if self.is_raw { 20 } else { 0 }..length).unwrap_or_default();
            let sequence = message.get(6..8).map(|it| u16::from_be_bytes([it[0], it[1]]));
            // A reply has type 0.
            if message.first() == Some(&0)
                && let Some(sent) = sequence.and_then(|sequence| self.sent.remove(&sequence))
            {
                self.rtts.push(now().since(sent).as_secs_f64());
            }
        }
        let before = self.sent.len();
        self.sent.retain(|_, sent| at.since(*sent) < PATIENCE);
        self.lost += before - self.sent.len();
        while self.next() <= at {
            let to = self.to[usize::from(self.sequence) % self.to.len()];
            // A neighbour that cannot be reached, or a full queue, loses it.
            let _ = rustix::net::sendto(
                &self.socket,
                &request(self.sequence),
                SendFlags::empty(),
                &SocketAddrV4::new(to, 0),
            );
            self.sent.insert(self.sequence, now());
            self.sequence = self.sequence.wrapping_add(1);
            self.next += EVERY / self.to.len() as u64;
            if self.next + PATIENCE < at {
                // The machine slept.
                self.next = at;
            }
        }
    }
}

descriptor_of!(Echo, socket);

/// Makes a request of our own identifier.
fn request(sequence: u16) -> [u8; 8 + PAYLOAD] {
    let mut message = [0; 8 + PAYLOAD];
    message[0] = REQUEST;
    message[4..6].copy_from_slice(&std::process::id().to_be_bytes()[2..]);
    message[6..8].copy_from_slice(&sequence.to_be_bytes());
    let sum = !sum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}

/// The Internet checksum (RFC 1071) before it is inverted.
fn sum(message: &[u8]) -> u16 {
    let words = message.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    words.fold(0, |sum: u16, word| {
        let (sum, is_over) = sum.overflowing_add(word);
        sum + u16::from(is_over)
    })
}

/// Returns the IPv4 addresses of neighbours at the interface with this number.
pub(crate) fn neighbours(index: u32) -> Result<Vec<Ipv4Addr>, Error> {
    let mut body = [0; NEIGHBOUR_BODY];
    body[0] = INET;
    let mut found = Vec::new();
    let request = Request::new(RTM_GETNEIGH, F_REQUEST | F_DUMP, &body);
    let asked = Connection::open(None)?.list(&mut found, &request, |message| {
        if message.kind == RTM_NEWNEIGH { neighbour(message.payload, index) } else { None }
    });
    asked.map_err(|errno| failed("list the neighbours", errno))?;
    Ok(found)
}

/// Parses a neighbour of an interface. Accepts any bytes.
fn neighbour(payload: &[u8], index: u32) -> Option<Ipv4Addr> {
    let is_reachable = u16_at(payload, 8)? & ABSENT == 0;
    let is_here = payload.first() == Some(&INET) && u32_at(payload, 4) == Some(index);
    let (_, address) = attributes(payload.get(NEIGHBOUR_BODY..)?).find(|(kind, _)| *kind == NDA_DST)?;
    let address = Ipv4Addr::from(<[u8; 4]>::try_from(address).ok()?);
    (is_reachable && is_here && !address.is_multicast()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_has_a_right_sum() {
        assert!([0, 7, u16::MAX].into_iter().all(|sequence| sum(&request(sequence)) == 0xffff), "RFC 1071");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_of_a_neighbour_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = neighbour(&bytes, 1);
        }
    }
}
