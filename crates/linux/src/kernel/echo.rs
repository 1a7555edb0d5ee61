//! ICMP echo over IPv4 through an interface, and hosts that may answer: neighbours there that the kernel knows.

use super::descriptor_of;
use crate::error::Error;
use crate::kernel::netlink::{Connection, F_DUMP, F_REQUEST, failed};
use crate::kernel::now;
use crate::kernel::socket::bind_to_interface;
use crate::kernel::wire::{Request, attribute, u16_at, u32_at};
use nix::libc::{NDA_DST, RTM_GETNEIGH, RTM_NEWNEIGH};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrV4, SocketFlags, SocketType, ipproto, socket_with};
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use units::{Duration, Instant};

/// An echo without answer after this time is lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two echoes to the same address: five per second.
const EVERY: Duration = Duration::from_millis(200);
const REPLY: u8 = 0;
const REQUEST: u8 = 8;
/// Length of the payload after the header of 8 bytes, as `ping` sends it.
const PAYLOAD: usize = 56;

/// Length of `struct ndmsg`.
const NEIGHBOUR_BODY: usize = 12;
/// `NUD_INCOMPLETE`, `NUD_FAILED` or `NUD_NOARP`: no neighbour can be reached.
const ABSENT: u16 = 0x01 | 0x20 | 0x40;
const INET: u8 = 2;

/// Echoes to several addresses. The descriptor is readable when an answer has arrived.
#[derive(Debug)]
pub(crate) struct Echo {
    socket: OwnedFd,
    to: Vec<Ipv4Addr>,
    next: Instant,
    sequence: u16,
    sent: BTreeMap<(Ipv4Addr, u16), Instant>,
    /// Key of the hash by which an answer is recognised: each address is sent its own hash, and repeats it.
    key: RandomState,
    /// Round-trip times in seconds, until the caller takes them; the next field counts lost echoes.
    pub(crate) rtts: Vec<f64>,
    pub(crate) lost: usize,
    /// True if the socket sends and receives whole IP packets, because the kernel allows this group no other socket.
    is_raw: bool,
}

impl Echo {
    /// Opens a socket at this interface, without privilege (`net.ipv4.ping_group_range`) or with `CAP_NET_RAW`.
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
        let (sent, key, rtts) = (BTreeMap::new(), RandomState::new(), Vec::new());
        Ok(Self { socket, to, next: now(), sequence: 0, sent, key, rtts, lost: 0, is_raw })
    }

    /// Returns when the next echo is due.
    pub(crate) fn next(&self) -> Instant {
        if self.to.is_empty() { Instant::NEVER } else { self.next }
    }

    /// Sends the due echoes, one address after another, and records answered and lost ones.
    pub(crate) fn work(&mut self, at: Instant) {
        let mut buffer = [0; 256];
        while let Ok((_, length, Some(from))) = rustix::net::recvfrom(&self.socket, &mut buffer, RecvFlags::empty()) {
            let from = SocketAddrV4::try_from(from).map_or(Ipv4Addr::UNSPECIFIED, |from| *from.ip());
            let rtt = self.answered(from, &buffer[..length]);
            self.rtts.extend(rtt);
        }
        self.lost += self.sent.extract_if(.., |_, sent| at.since(*sent) >= PATIENCE).count();
        while self.next() <= at {
            let to = self.to[usize::from(self.sequence) % self.to.len()];
            // An echo is lost if the neighbour cannot be reached or a queue is full.
            let message = self.request(to, self.sequence);
            let _ = rustix::net::sendto(&self.socket, &message, SendFlags::empty(), &SocketAddrV4::new(to, 0));
            self.sent.insert((to, self.sequence), now());
            self.sequence = self.sequence.wrapping_add(1);
            self.next += EVERY / self.to.len() as u64;
            if self.next + PATIENCE < at {
                // The machine has slept.
                self.next = at;
            }
        }
    }

    /// Returns the round-trip time in seconds if `packet` is an answer from the asked host. Accepts any bytes.
    fn answered(&mut self, from: Ipv4Addr, packet: &[u8]) -> Option<f64> {
        let header = if self.is_raw { usize::from(packet.first()? & 0xf) * 4 } else { 0 };
        let message: &[u8; 16] = packet.get(header..)?.first_chunk()?;
        let sequence = u16::from_be_bytes([message[6], message[7]]);
        let is_ours = message[0] == REPLY && message[8..] == self.request(from, sequence)[8..16];
        let sent = is_ours.then(|| self.sent.remove(&(from, sequence))).flatten()?;
        Some(now().since(sent).as_secs_f64())
    }

    /// Makes an echo request with Sluice's own identifier.
    fn request(&self, to: Ipv4Addr, sequence: u16) -> [u8; 8 + PAYLOAD] {
        let mut message = [0; 8 + PAYLOAD];
        message[0] = REQUEST;
        message[4..6].copy_from_slice(&std::process::id().to_be_bytes()[2..]);
        message[6..8].copy_from_slice(&sequence.to_be_bytes());
        message[8..16].copy_from_slice(&self.key.hash_one((to, sequence)).to_be_bytes());
        let sum = !sum(&message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        message
    }
}

descriptor_of!(Echo, socket);

/// Returns the Internet checksum (RFC 1071) before its inversion.
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
    asked.map(|()| found).map_err(|errno| failed("list the neighbours", errno))
}

/// Parses a neighbour at the interface `index`. Accepts any bytes.
pub(super) fn neighbour(payload: &[u8], index: u32) -> Option<Ipv4Addr> {
    let is_reachable = u16_at(payload, 8)? & ABSENT == 0;
    let is_here = payload.first() == Some(&INET) && u32_at(payload, 4) == Some(index);
    let address = attribute(payload.get(NEIGHBOUR_BODY..)?, NDA_DST)?;
    let address = Ipv4Addr::from(<[u8; 4]>::try_from(address).ok()?);
    (is_reachable && is_here && !address.is_multicast()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_another_host_or_without_what_was_sent_does_not_count() {
        let [to, stranger] = [2, 3].map(|last| Ipv4Addr::new(10, 9, 1, last));
        // A whole packet begins with an IP header; here it has an option.
        for (is_raw, header) in [(false, vec![]), (true, vec![0x46; 24])] {
            let (socket, key, next) = (std::fs::File::open("/dev/null").unwrap().into(), RandomState::new(), now());
            let sent = BTreeMap::from([((to, 5), next)]);
            let mut echo = Echo { socket, to: vec![to], next, sequence: 6, sent, key, rtts: vec![], lost: 0, is_raw };
            let [right, of_stranger, not_asked] =
                [(to, 5), (stranger, 5), (to, 6)].map(|(to, at)| echo.request(to, at));
            assert_eq!(sum(&right), 0xffff, "RFC 1071");
            let mut counts = |from, kind, message: &[u8]| {
                let packet = [&header[..], &[kind], &message[1..]].concat();
                assert!((0..header.len() + 16).all(|end| echo.answered(from, &packet[..end]).is_none()));
                echo.answered(from, &packet).is_some()
            };
            assert!(!counts(stranger, REPLY, &right) && !counts(stranger, REPLY, &of_stranger));
            assert!(!counts(to, REPLY, &of_stranger) && !counts(to, REPLY, &not_asked) && !counts(to, REQUEST, &right));
            assert_eq!([counts(to, REPLY, &right), counts(to, REPLY, &right)], [true, false]);
        }
    }
}
