//! Layout of admission messages. All have one length, so that no answer is longer than its request.
//!
//! | bytes | field |
//! |---|---|
//! | 0 to 3 | `SWAN` in ASCII |
//! | 4 | version, 2 |
//! | 5 | kind: 1 probe, 2 answer, 3 regulate, 4 present |
//! | 6 | agents that it has passed, up to [`MOST_HOPS`] |
//! | 7 | zero |
//! | 8 to 15 | number |
//! | 16 to 23 | bottleneck, in bit/s |
//! | 24 to 39 | source of the flow |
//! | 40 to 55 | destination of the flow |
//! | 56 and 57 | port of the flow at its destination; zero where it is not known |
//! | 58 and 59 | zero |
//! | 60 to 67 | flow: a number of its source's choice |
//! | 68 to 75 | rate that the flow needs, in bit/s; zero when it has ended |
//!
//! Numbers are big-endian. Each address has 16 bytes; an IPv4 address is mapped into IPv6 (RFC 4291, section 2.5.5.2).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::{Rate, refuse_if};

/// Length of every message, in bytes.
pub const LENGTH: usize = 76;
/// Maximum number of agents that a message may pass: more than on any path of a mesh. It also ends loops.
pub const MOST_HOPS: u8 = 32;

pub(crate) const MAGIC: [u8; 4] = *b"SWAN";
pub(crate) const VERSION: u8 = 2;

/// Kinds of messages, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On its way to the destination: asks each node for its available rate.
    Probe = 1,
    /// On its way back to the source, with the lowest rate that any node of the path can admit.
    Answer,
    /// Travels to the source, and says that packets of the flow arrive marked.
    Regulate,
    /// Travels to the destination. Says that the flow still exists and expects requests to regulate, or, with rate
    /// zero, that it has ended. Agents do not answer an invalid message of this kind.
    Present,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Kind of the message.
    pub kind: Kind,
    /// Number of agents that the message has passed, at most [`MOST_HOPS`].
    pub hops: u8,
    /// Number of the probe. An answer repeats the number; requests to regulate have zero.
    pub number: u64,
    /// Lowest rate that any node of the path can admit, in network-layer bytes; [`UNBOUNDED`] if no node set a bound.
    pub bottleneck: Rate,
    /// Source of the flow. Unspecified between a program and the agent of the same machine, which knows the address.
    pub source: IpAddr,
    /// Destination of the flow.
    pub destination: IpAddr,
    /// The flow's port at its destination; zero if it is not known.
    pub port: u16,
    /// Random number of the flow, which its source repeats in all messages: only who knows it can regulate the flow.
    pub flow: u64,
    /// Rate that the flow needs, in network-layer bytes; zero if the flow has ended, and in requests to regulate.
    pub rate: Rate,
}

/// Bottleneck of a path on which no node set a bound.
pub const UNBOUNDED: Rate = Rate::bps(u64::MAX);

/// Reasons why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what they are")]
pub enum Malformed {
    #[error("the message has {0} bytes instead of {LENGTH}")]
    Length(usize),
    #[error("the packet is not a message of the admission protocol")]
    Foreign,
    #[error("version {0} of the admission protocol is unknown")]
    Version(u8),
    #[error("message kind {0} is unknown")]
    Kind(u8),
    #[error("{0} hops exceed the maximum of {MOST_HOPS}")]
    Hops(u8),
    #[error("a reserved byte of the message is not zero")]
    Reserved,
}

impl Message {
    /// Parses a message.
    ///
    /// # Errors
    /// The bytes are not a message. Any bytes are read without a panic.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let bytes: &[u8; LENGTH] = bytes.try_into().map_err(|_| Malformed::Length(bytes.len()))?;
        refuse_if!(part::<4>(bytes, 0) != MAGIC, Err(Malformed::Foreign));
        refuse_if!(bytes[4] != VERSION, Err(Malformed::Version(bytes[4])));
        let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == bytes[5]).ok_or(Malformed::Kind(bytes[5]))?;
        let hops = bytes[6];
        refuse_if!(hops > MOST_HOPS, Err(Malformed::Hops(hops)));
        if bytes[7] != 0 || part::<2>(bytes, 58) != [0; 2] {
            return Err(Malformed::Reserved);
        }
        let address = |at| Ipv6Addr::from(part::<16>(bytes, at)).to_canonical();
        Ok(Self {
            kind,
            hops,
            number: u64::from_be_bytes(part(bytes, 8)),
            bottleneck: Rate::bps(u64::from_be_bytes(part(bytes, 16))),
            source: address(24),
            destination: address(40),
            port: u16::from_be_bytes(part(bytes, 56)),
            flow: u64::from_be_bytes(part(bytes, 60)),
            rate: Rate::bps(u64::from_be_bytes(part(bytes, 68))),
        })
    }

    /// Serialises the message.
    pub fn write(&self) -> [u8; LENGTH] {
        let Self { kind, hops, number, bottleneck, source, destination, port, flow, rate } = *self;
        let address = |address| match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        };
        let mut bytes = [0; LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..7].copy_from_slice(&[VERSION, kind as u8, hops]);
        bytes[8..16].copy_from_slice(&number.to_be_bytes());
        bytes[16..24].copy_from_slice(&bottleneck.as_bps().to_be_bytes());
        bytes[24..40].copy_from_slice(&address(source));
        bytes[40..56].copy_from_slice(&address(destination));
        bytes[56..58].copy_from_slice(&port.to_be_bytes());
        bytes[60..68].copy_from_slice(&flow.to_be_bytes());
        bytes[68..].copy_from_slice(&rate.as_bps().to_be_bytes());
        bytes
    }

    /// Returns the message as the next agent forwards it; `None` if it has passed too many agents.
    #[must_use]
    pub fn passed(self) -> Option<Self> {
        let hops = self.hops.checked_add(1).filter(|hops| *hops <= MOST_HOPS)?;
        Some(Self { hops, ..self })
    }
}

impl Kind {
    const ALL: [Self; 4] = [Self::Probe, Self::Answer, Self::Regulate, Self::Present];
}

fn part<const N: usize>(bytes: &[u8; LENGTH], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("every field lies within the message")
}

/// Sender or receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Program(Program),
    Neighbour(Neighbour),
}

/// A program of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Number that the program chose for the name of its socket.
    pub(crate) name: u64,
    /// User of the program, from the kernel. A subordinate id counts as the user who owns it.
    pub(crate) user: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    /// Number of the interface.
    pub(crate) index: u32,
    pub(crate) address: Ipv4Addr,
}

/// Packets from one machine to a port of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    /// Port at the destination; zero if the packets have none.
    pub(crate) port: u16,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    fn addresses() -> impl Strategy<Value = IpAddr> {
        prop_oneof![
            any::<u32>().prop_map(|bits| IpAddr::from(Ipv4Addr::from(bits))),
            any::<u128>().prop_map(|bits| Ipv6Addr::from(bits).to_canonical()),
        ]
    }

    fn messages() -> impl Strategy<Value = Message> {
        let kind = prop::sample::select(Kind::ALL.to_vec());
        let of_flow = (any::<u16>(), any::<u64>(), any::<u64>());
        (kind, 0..=MOST_HOPS, any::<u64>(), any::<u64>(), addresses(), addresses(), of_flow).prop_map(
            |(kind, hops, number, bottleneck, source, destination, (port, flow, rate))| {
                let (bottleneck, rate) = (Rate::bps(bottleneck), Rate::bps(rate));
                Message { kind, hops, number, bottleneck, source, destination, port, flow, rate }
            },
        )
    }

    /// The expected bytes are written by hand from the table above.
    #[test]
    fn every_field_has_its_place() {
        let message = Message {
            kind: Kind::Answer,
            hops: 3,
            number: 0x0102_0304_0506_0708,
            bottleneck: Rate::kbps(200),
            source: "10.9.0.1".parse().unwrap(),
            destination: "2001:db8::7".parse().unwrap(),
            port: 5_004,
            flow: 9,
            rate: Rate::kbps(255),
        };
        let mut expected = b"SWAN\x02\x02\x03\x00\x01\x02\x03\x04\x05\x06\x07\x08".to_vec();
        // 200,000 is 0x30d40.
        expected.extend([0, 0, 0, 0, 0, 0x03, 0x0d, 0x40]);
        expected.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, 1]);
        expected.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
        // 5,004 is 0x138c.
        expected.extend([0x13, 0x8c, 0, 0]);
        // 255,000 is 0x3e418.
        expected.extend([0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x03, 0xe4, 0x18]);
        assert_eq!(message.write().to_vec(), expected);
        assert_eq!(Message::read(&expected), Ok(message));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let unspecified = IpAddr::from(Ipv4Addr::UNSPECIFIED);
        let probe = Message {
            kind: Kind::Probe,
            hops: 0,
            number: 1,
            bottleneck: UNBOUNDED,
            source: unspecified,
            destination: unspecified,
            port: 0,
            flow: 0,
            rate: Rate::bps(0),
        };
        let with = |at: usize, byte| {
            let mut bytes = probe.write();
            bytes[at] = byte;
            Message::read(&bytes)
        };
        assert_eq!(with(0, b's'), Err(Malformed::Foreign));
        assert_eq!(with(4, 1), Err(Malformed::Version(1)));
        assert_eq!(with(5, 5), Err(Malformed::Kind(5)));
        assert_eq!(with(6, MOST_HOPS).map(|message| message.hops), Ok(MOST_HOPS));
        assert_eq!(with(6, MOST_HOPS + 1), Err(Malformed::Hops(33)));
        assert_eq!(with(7, 1), Err(Malformed::Reserved));
        assert_eq!(with(59, 1), Err(Malformed::Reserved));
        assert_eq!(Message::read(&[]), Err(Malformed::Length(0)));
        assert_eq!(Malformed::Length(61).to_string(), "the message has 61 bytes instead of 76");
    }

    #[test]
    fn a_message_ends_after_the_most_hops() {
        let unspecified = IpAddr::from(Ipv4Addr::UNSPECIFIED);
        let (kind, number, source, destination) = (Kind::Probe, 1, unspecified, unspecified);
        let (bottleneck, rate) = (UNBOUNDED, Rate::bps(0));
        let mut message = Message { kind, hops: 0, number, bottleneck, source, destination, port: 0, flow: 0, rate };
        let mut passed = 0;
        while let Some(next) = message.passed() {
            (message, passed) = (next, passed + 1);
        }
        assert_eq!((message.hops, passed), (MOST_HOPS, u32::from(MOST_HOPS)));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(message in messages()) {
            prop_assert_eq!(Message::read(&message.write()), Ok(message));
        }

        #[test]
        fn a_message_that_is_cut_or_longer_is_none(message in messages(), length in 0..2 * LENGTH) {
            prop_assume!(length != LENGTH);
            let mut bytes = message.write().to_vec();
            bytes.resize(length, 0);
            prop_assert_eq!(Message::read(&bytes), Err(Malformed::Length(length)));
        }

        /// Each byte carries information: if one changes, the message changes.
        #[test]
        fn every_byte_that_is_flipped_is_noticed(message in messages(), bits in 1_u8..) {
            for at in 0..LENGTH {
                let mut bytes = message.write();
                bytes[at] ^= bits;
                prop_assert_ne!(Message::read(&bytes), Ok(message), "byte {}", at);
            }
        }

        #[test]
        fn any_bytes_are_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..LENGTH + 5)) {
            let _ = Message::read(&bytes);
        }

        /// Only bytes that may vary do, so that most inputs are messages.
        #[test]
        fn what_is_read_is_written_as_it_was(mut bytes in prop::collection::vec(any::<u8>(), LENGTH), kind in 1..=4_u8) {
            bytes[..5].copy_from_slice(b"SWAN\x02");
            (bytes[5], bytes[6], bytes[7]) = (kind, bytes[6] % (MOST_HOPS + 1), 0);
            bytes[58..60].fill(0);
            prop_assert_eq!(Message::read(&bytes).unwrap().write().to_vec(), bytes);
        }
    }
}
