//! The addresses that nodes have in a capture. The simulator itself identifies nodes only by their index.

use sim::trace::{DsrMessage, Frame, Owner, Packet, Protocol};

pub(super) type Mac = [u8; 6];
pub(super) type Ip = [u8; 4];

const EVERYBODY: Mac = [0xff; 6];
/// Address of a network without an access point (an IBSS).
const IBSS: Mac = [0x02, 0x5b, 0, 0, 0, 0];
/// UDP port of AODV (RFC 3561, section 12).
const AODV: u16 = 654;
/// Port of notes to neighbours, whose format is Sluice's own: the last registered port, which IANA keeps free.
const NOTES: u16 = 49_151;
/// First port of flows. Flow `i` has this port plus `i`: at both ends or, with TCP, only at its destination.
const FIRST_PORT: u16 = 10_000;
/// First port of TCP connections at their source (RFC 6335, section 6), and number of such ports.
const FIRST_EPHEMERAL: u16 = 49_152;
const EPHEMERAL: u32 = 16_384;

/// The addresses of a network's nodes and flows.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    /// For every flow, in the simulator's order, its ends (`None`: broadcast) and the protocol of its packets.
    pub(super) flows: Vec<(u32, Option<u32>, Protocol)>,
    pub(super) access_points: Vec<bool>,
    /// Carrier frequency in MHz.
    pub(super) channel: u16,
}

/// Three addresses of a data frame, and its To DS and From DS bits (IEEE 802.11-2016, table 9-26).
pub(super) struct Route {
    pub(super) addresses: [Mac; 3],
    pub(super) to_ds: bool,
    pub(super) from_ds: bool,
}

/// The addresses and ports in a packet's headers.
pub(super) struct Ends {
    pub(super) from: Ip,
    pub(super) to: Ip,
    /// Source port and destination port. For an echo both are its identifier.
    pub(super) ports: [u16; 2],
    pub(super) protocol: Protocol,
}

impl Addresses {
    pub(super) fn mac(node: Option<u32>) -> Mac {
        let Some(node) = node else { return EVERYBODY };
        let [a, b, c, d] = (node + 1).to_be_bytes();
        [0x02, 0, a, b, c, d]
    }

    pub(super) fn ip(node: Option<u32>) -> Ip {
        let Some(node) = node else { return [0xff; 4] };
        let [_, b, c, d] = (node + 1).to_be_bytes();
        [10, b, c, d]
    }

    pub(super) fn is_access_point(&self, node: u32) -> bool {
        self.access_points.get(node as usize).copied().unwrap_or_default()
    }

    pub(super) fn route(&self, frame: &Frame) -> Route {
        let (from, to) = (Self::mac(Some(frame.from)), Self::mac(frame.to));
        if self.is_access_point(frame.from) {
            return Route { addresses: [to, from, from], to_ds: false, from_ds: true };
        }
        if frame.to.is_some_and(|to| self.is_access_point(to)) {
            return Route { addresses: [to, from, to], to_ds: true, from_ds: false };
        }
        Route { addresses: [to, from, IBSS], to_ds: false, from_ds: false }
    }

    /// Returns the ends of a packet: those of the hop for AODV's packets and notes, those of the path for all others.
    pub(super) fn ends(&self, frame: &Frame, packet: &Packet) -> Ends {
        if let (Owner::Routing, Some(options)) = (packet.of, &packet.options) {
            let all = matches!(options.message, Some(DsrMessage::Request { .. }));
            let to = if all { None } else { options.route.last().copied() };
            let from = Self::ip(options.route.first().copied());
            return Ends { from, to: Self::ip(to), ports: [0; 2], protocol: Protocol::Udp };
        }
        match packet.of {
            Owner::Routing | Owner::Note | Owner::Null { .. } => {
                let (from, to) = (Self::ip(Some(frame.from)), Self::ip(frame.to));
                let port = if packet.of == Owner::Note { NOTES } else { AODV };
                Ends { from, to, ports: [port; 2], protocol: Protocol::Udp }
            }
            Owner::Flow(index) => {
                let unknown = (frame.from, frame.to, Protocol::Udp);
                let (from, to, protocol) = self.flows.get(index as usize).copied().unwrap_or(unknown);
                let flow = match protocol {
                    Protocol::EchoReply(of) | Protocol::TcpBack(of) => of,
                    Protocol::Udp | Protocol::EchoRequest | Protocol::Tcp => index,
                };
                let port = FIRST_PORT + u16::try_from(flow % 39_000).expect("below 39 000");
                let connection = packet.segment.as_ref().map_or(0, |segment| segment.connection);
                let own = FIRST_EPHEMERAL + u16::try_from(connection % EPHEMERAL).expect("below 16 384");
                let ports = match protocol {
                    Protocol::Tcp => [own, port],
                    Protocol::TcpBack(_) => [port, own],
                    Protocol::Udp | Protocol::EchoRequest | Protocol::EchoReply(_) => [port; 2],
                };
                Ends { from: Self::ip(Some(from)), to: Self::ip(to), ports, protocol }
            }
        }
    }
}
