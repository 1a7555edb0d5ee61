//! Detects real-time packets that arrive with a congestion mark (CE), with a packet socket whose kernel filter passes
//! nothing else. Opening the socket needs `CAP_NET_RAW`; reading it needs no privilege.

use crate::admission::message::Flow;
use crate::error::Error;
use crate::kernel::descriptor_of;
use crate::kernel::socket::{LOAD, LOAD_BYTE, PACKET_TYPE, RETURN, attach_filter, jump, statement};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType, recv, socket_with};
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use units::{Duration, Instant};

/// Pause between two reads. In an overload most marked packets stay unread: each asks for the same action.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of packets per read.
const TURN: usize = 256;
/// Bytes that are kept of each packet: the longest IPv4 header, and the ports.
const KEPT: usize = 64;
/// Size of the receive buffer, in bytes.
const ROOM: usize = 64 * 1_024;

/// Marked type-of-service bytes: CE with DSCP 46, and with DSCP 47 of a newly admitted flow.
const MARKED: [u8; 2] = [46 << 2 | 3, 47 << 2 | 3];
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The packet socket. It is readable when a marked packet has arrived.
#[derive(Debug)]
pub(crate) struct Marks {
    socket: OwnedFd,
    /// Nothing is read before this instant.
    pub(crate) rests: Option<Instant>,
}

descriptor_of!(Marks, socket);

impl Marks {
    /// Opens the socket, for all interfaces. Errors: the privilege is missing, or the kernel has no packet sockets.
    pub(crate) fn open() -> Result<Self, Error> {
        let open = || {
            // `ETH_P_IP`, in network byte order.
            let protocol = NonZeroU32::new(u16::to_be(0x0800).into()).map(Protocol::from_raw);
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = socket_with(AddressFamily::PACKET, SocketType::DGRAM, flags, protocol)?;
            attach_filter(&socket, &filter())?;
            set_socket_recv_buffer_size(&socket, ROOM)?;
            Ok(socket)
        };
        let refused = Error::refused::<Errno>("receive packets that arrive marked", "CAP_NET_RAW");
        Ok(Self { socket: open().map_err(refused)?, rests: None })
    }

    /// Returns the flows of marked packets that have arrived since the last call, then rests for [`PAUSE`].
    pub(crate) fn look(&mut self, now: Instant) -> Vec<Flow> {
        if self.rests.is_some_and(|until| now < until) {
            return Vec::new();
        }
        let (mut flows, mut buffer, mut came) = (Vec::new(), [0; KEPT], false);
        for _ in 0..TURN {
            let Ok((_, length)) = recv(&self.socket, &mut buffer[..], RecvFlags::empty()) else { break };
            came = true;
            let flow = marked(&buffer[..length]);
            flows.extend(flow.filter(|flow| !flows.contains(flow)));
        }
        self.rests = came.then(|| now + PAUSE);
        flows
    }
}

/// Returns a filter that passes packets to this machine with one of the [`MARKED`] bytes.
fn filter() -> [crate::kernel::socket::Statement; 7] {
    [
        statement(LOAD, PACKET_TYPE),
        // `PACKET_HOST`
        jump(0, 0, 4),
        statement(LOAD_BYTE, 1),
        jump(MARKED[0].into(), 1, 0),
        jump(MARKED[1].into(), 0, 1),
        statement(RETURN, 64),
        statement(RETURN, 0),
    ]
}

/// Returns the flow of an IPv4 packet that is marked and of real time. Accepts any bytes.
fn marked(packet: &[u8]) -> Option<Flow> {
    let header: &[u8; 20] = packet.first_chunk()?;
    if header[0] >> 4 != 4 || !MARKED.contains(&header[1]) {
        return None;
    }
    let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(header.get(at..at + 4)?).ok()?));
    // Only the first fragment has ports. Its offset, behind three flags, is zero.
    let is_first = u16::from_be_bytes([header[6], header[7]]) << 3 == 0;
    let ports = packet.get(usize::from(header[0] & 0xf) * 4..).filter(|_| is_first && [TCP, UDP].contains(&header[9]));
    let port = ports.and_then(|ports| Some(u16::from_be_bytes(ports.get(2..4)?.try_into().ok()?)));
    Some(Flow { source: address(12)?, destination: address(16)?, port: port.unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Makes a UDP packet from 10.9.1.1 to 10.9.2.2, port 5004.
    fn packet(service: u8) -> Vec<u8> {
        let mut bytes = vec![0x45, service, 0, 108, 0, 0, 0x40, 0, 63, UDP, 0, 0, 10, 9, 1, 1, 10, 9, 2, 2];
        bytes.extend([0x9c, 0x40, 0x13, 0x8c, 0, 88, 0, 0]);
        bytes
    }

    #[test]
    fn real_time_that_is_marked_is_seen_and_nothing_else() {
        let flow = Flow { source: [10, 9, 1, 1].into(), destination: [10, 9, 2, 2].into(), port: 5_004 };
        for service in 0..=u8::MAX {
            let expected = [0xbb, 0xbf].contains(&service).then_some(flow);
            assert_eq!(marked(&packet(service)), expected, "{service:#x}");
        }
        let mut with_options = packet(0xbb);
        with_options[0] = 0x46;
        with_options.splice(20..20, [1, 1, 1, 1]);
        assert_eq!(marked(&with_options), Some(flow));
        let mut fragment = packet(0xbb);
        fragment[7] = 1;
        assert_eq!(marked(&fragment), Some(Flow { port: 0, ..flow }), "a later fragment has no ports");
        let mut later = packet(0xbb);
        later[0] = 0x65;
        assert_eq!(marked(&later), None, "it says that it is not IPv4");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(mut bytes in prop::collection::vec(any::<u8>(), 0..70), cut in 0..70_usize) {
            let _ = marked(&bytes);
            if let [first, service, ..] = &mut bytes[..] {
                (*first, *service) = (0x40 | *first & 0xf, 0xbb);
            }
            let _ = marked(&bytes);
            bytes.truncate(cut);
            let _ = marked(&bytes);
        }
    }
}
