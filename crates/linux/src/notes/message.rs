//! Layout of notes. Their size is the same as in the simulator.
//!
//! | bytes | field |
//! |---|---|
//! | 0 | version, 1 |
//! | 1 | the most hops that the node's packets have come |
//! | 2 and 3 | stations that it hears, and itself |
//! | 4 to 11 | rate at which its queue drains, in bit/s |
//! | 12 to 19 | packets that wait in it |
//! | 20 to 27 | their bytes |
//!
//! For each link of the node's collision domain, at most [`Links::MOST`], 12 bytes follow:
//!
//! | bytes | field |
//! |---|---|
//! | 0 to 3 | the number of the node that sends over it; no two of a note have the same |
//! | 4 to 7 | channel time that a packet takes, in ns |
//! | 8 to 10 | packets that it sends in a second |
//! | 11 | the most hops that these have come |
//!
//! Numbers are big-endian. A value too large for its field is sent as the largest value of the field.

use control::{Count, Link, Links, Note};
use units::{Bytes, Duration, Rate, refuse_if};

/// Length of a note without links, in bytes.
pub const FIELDS: usize = 28;
/// Length of a link, in bytes.
pub const LINK: usize = 12;
/// Length of the longest note.
pub const LONGEST: usize = FIELDS + Links::MOST * LINK;

const VERSION: u8 = 1;
const MOST_PACKETS: u32 = (1 << 24) - 1;

/// Reasons why bytes are not a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what they are")]
pub enum Malformed {
    #[error("a note cannot have {0} bytes")]
    Length(usize),
    #[error("version {0} is not known")]
    Version(u8),
    #[error("node {0} occurs twice in the note")]
    Twice(u32),
}

/// Parses a note.
///
/// # Errors
/// The bytes are not a note. Any bytes are read without a panic.
pub fn read(bytes: &[u8]) -> Result<Note, Malformed> {
    let length = bytes.len();
    let (fields, more) = bytes.split_first_chunk::<FIELDS>().ok_or(Malformed::Length(length))?;
    let (told, []) = more.as_chunks::<LINK>() else { return Err(Malformed::Length(length)) };
    refuse_if!(told.len() > Links::MOST, Err(Malformed::Length(length)));
    let [version, hops, d0, d1, numbers @ ..] = *fields;
    refuse_if!(version != VERSION, Err(Malformed::Version(version)));
    let ([rate, packets, waiting], []) = numbers.as_chunks() else { return Err(Malformed::Length(length)) };
    let mut links = Links::default();
    for link in told.iter().map(read_link) {
        refuse_if!(links.iter().any(|other| other.node == link.node), Err(Malformed::Twice(link.node)));
        links.push(link);
    }
    let [rate, packets, waiting] = [rate, packets, waiting].map(|number| u64::from_be_bytes(*number));
    let backlog = Count { packets, bytes: Bytes::new(waiting) };
    Ok(Note { domain: u16::from_be_bytes([d0, d1]), hops, rate: Rate::bps(rate), backlog, links })
}

fn read_link(bytes: &[u8; LINK]) -> Link {
    let [n0, n1, n2, n3, t0, t1, t2, t3, p0, p1, p2, hops] = *bytes;
    Link {
        node: u32::from_be_bytes([n0, n1, n2, n3]),
        time: Duration::from_nanos(u32::from_be_bytes([t0, t1, t2, t3]).into()),
        packets: u32::from_be_bytes([0, p0, p1, p2]),
        hops,
    }
}

/// Serialises a note.
pub fn write(note: &Note) -> Vec<u8> {
    let Note { domain, hops, rate, backlog, links } = note;
    let mut bytes = Vec::with_capacity(FIELDS + LINK * links.len());
    bytes.extend([VERSION, *hops]);
    bytes.extend(domain.to_be_bytes());
    for number in [rate.as_bps(), backlog.packets, backlog.bytes.count()] {
        bytes.extend(number.to_be_bytes());
    }
    for Link { node, time, packets, hops } in links.iter() {
        bytes.extend(node.to_be_bytes());
        bytes.extend(u32::try_from(time.as_nanos()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend(&(*packets).min(MOST_PACKETS).to_be_bytes()[1..]);
        bytes.push(*hops);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn links() -> impl Strategy<Value = Link> {
        (any::<u32>(), any::<u32>(), 0..=MOST_PACKETS, any::<u8>()).prop_map(|(node, nanos, packets, hops)| Link {
            node,
            time: Duration::from_nanos(nanos.into()),
            packets,
            hops,
        })
    }

    fn notes() -> impl Strategy<Value = Note> {
        let links = prop::collection::vec(links(), 0..20);
        (any::<u16>(), any::<u8>(), any::<[u64; 3]>(), links).prop_map(
            |(domain, hops, [rate, packets, bytes], links)| Note {
                domain,
                hops,
                rate: Rate::bps(rate),
                backlog: Count { packets, bytes: Bytes::new(bytes) },
                links: links.into_iter().collect(),
            },
        )
    }

    /// The expected bytes are written by hand from the tables above.
    #[test]
    fn every_field_has_its_place() {
        let link = Link { node: 0x0102_0304, time: Duration::from_micros(3_100), packets: 322, hops: 2 };
        let note = Note {
            domain: 3,
            hops: 2,
            rate: Rate::kbps(200),
            backlog: Count { packets: 4, bytes: Bytes::new(6_000) },
            links: [link].into_iter().collect(),
        };
        let mut expected = vec![1, 2, 0, 3];
        // 200,000 is 0x30d40, 6,000 is 0x1770.
        expected.extend([0, 0, 0, 0, 0, 0x03, 0x0d, 0x40, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0x17, 0x70]);
        // 3,100,000 is 0x2f4d60, 322 is 0x142.
        expected.extend([1, 2, 3, 4, 0, 0x2f, 0x4d, 0x60, 0, 0x01, 0x42, 2]);
        assert_eq!(write(&note), expected);
        assert_eq!(read(&expected), Ok(note));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let link = |node| Link { node, ..Link::default() };
        let whole = write(&Note { links: [link(1), link(2)].into_iter().collect(), ..Note::default() });
        for length in [0, FIELDS - 1, FIELDS + 1, FIELDS + LINK - 1] {
            assert_eq!(read(&whole[..length]), Err(Malformed::Length(length)));
        }
        let long = [whole.as_slice(), &[0; LONGEST]].concat();
        assert_eq!(read(&long[..LONGEST + LINK]), Err(Malformed::Length(LONGEST + LINK)));
        let with = |at: usize, byte| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            read(&bytes)
        };
        assert_eq!(with(0, 2), Err(Malformed::Version(2)));
        assert_eq!(with(FIELDS + LINK + 3, 1), Err(Malformed::Twice(1)));
        assert_eq!(Malformed::Length(7).to_string(), "a note cannot have 7 bytes");
    }

    #[test]
    fn what_has_no_room_is_told_as_the_largest() {
        let link = Link { node: 1, time: Duration::MAX, packets: u32::MAX, hops: 255 };
        let told = read(&write(&Note { links: [link].into_iter().collect(), ..Note::default() })).unwrap();
        let time = Duration::from_nanos(u32::MAX.into());
        assert_eq!(told.links[0], Link { time, packets: MOST_PACKETS, ..link });
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(note in notes()) {
            let bytes = write(&note);
            prop_assert!(bytes.len() <= LONGEST && bytes.len() == FIELDS + LINK * note.links.len());
            prop_assert_eq!(read(&bytes), Ok(note));
        }

        #[test]
        fn any_bytes_are_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..LONGEST + 20)) {
            let _ = read(&bytes);
        }

        /// Only bytes that may vary do, so that nearly all inputs are notes.
        #[test]
        fn what_is_read_is_written_as_it_was(links in 0..=Links::MOST, mut bytes in prop::collection::vec(any::<u8>(), LONGEST)) {
            bytes[0] = VERSION;
            bytes.truncate(FIELDS + LINK * links);
            if let Ok(note) = read(&bytes) {
                prop_assert_eq!(write(&note), bytes);
            }
        }
    }
}
