//! Reads and writes netlink messages (`linux/netlink.h`). Accepts any bytes, and ignores what is cut off.
//!
//! No public crate serves this purpose, because typed messages do not keep the exact bytes of options. A discipline
//! that Sluice does not know must be restored with these bytes.

/// Length of `struct nlmsghdr`.
const HEADER: usize = 16;
const ALIGN: usize = 4;
/// Flags in an attribute's type: the value is nested, or in network byte order.
const TYPE_FLAGS: u16 = 0xc000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub(crate) kind: u16,
    pub(crate) flags: u16,
    pub(crate) sequence: u32,
    pub(crate) payload: &'a [u8],
}

pub(crate) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let length = u32_at(bytes, 0)? as usize;
        let payload = bytes.get(HEADER..length)?;
        let (kind, flags, sequence) = (u16_at(bytes, 4)?, u16_at(bytes, 6)?, u32_at(bytes, 8)?);
        bytes = bytes.get(length.next_multiple_of(ALIGN)..).unwrap_or_default();
        Some(Message { kind, flags, sequence, payload })
    })
}

/// Returns the attributes in `bytes`: type without flags, and value.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(ALIGN..length)?;
        let kind = u16_at(bytes, 2)? & !TYPE_FLAGS;
        bytes = bytes.get(length.next_multiple_of(ALIGN)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// Returns the value of the first attribute of this type.
pub fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, value)| value)
}

/// Returns the text of a value that the kernel ends with a zero byte.
pub(crate) fn text(value: &[u8]) -> String {
    let end = value.iter().position(|&byte| byte == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_ne_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_ne_bytes)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_ne_bytes)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// A message under construction.
#[derive(Clone, Debug)]
pub struct Request(Vec<u8>);

impl Request {
    /// Starts a message of this `kind` with the structure `body`.
    pub fn new(kind: u16, flags: u16, body: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes.extend_from_slice(body);
        bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
        Self(bytes)
    }

    /// Adds an attribute. Its value has at most 65531 bytes; the kernel never writes a longer one.
    ///
    /// # Panics
    /// The value is longer.
    #[must_use]
    pub fn with(mut self, kind: u16, value: &[u8]) -> Self {
        let length =
            u16::try_from(ALIGN + value.len()).expect("an attribute that the kernel wrote or that is a few bytes");
        self.0.extend_from_slice(&length.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(ALIGN), 0);
        self
    }

    /// Returns the message's bytes with this sequence number.
    ///
    /// # Panics
    /// All attributes together have 4 GB or more.
    pub fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = u32::try_from(self.0.len()).expect("a message of a few attributes");
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_put_together_is_read_again() {
        let request = Request::new(36, 5, &[7; 20]).with(1, b"pfifo\0").with(0x8002, &[1, 2, 3]);
        let bytes = request.finish(9);
        let read: Vec<Message> = messages(&bytes).collect();
        assert_eq!(read.len(), 1);
        assert_eq!((read[0].kind, read[0].flags, read[0].sequence), (36, 5, 9));
        let (body, rest) = read[0].payload.split_at(20);
        assert_eq!(body, [7; 20]);
        let attributes: Vec<(u16, &[u8])> = attributes(rest).collect();
        assert_eq!(attributes, [(1, &b"pfifo\0"[..]), (2, &[1, 2, 3][..])]);
        assert_eq!(text(attributes[0].1), "pfifo");
    }

    #[test]
    fn a_length_that_lies_ends_the_reading() {
        let mut bytes = Request::new(3, 0, &[]).finish(0);
        for length in [0_u32, 1, 15, 17, u32::MAX] {
            bytes[..4].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(messages(&bytes).count(), 0, "{length}");
        }
        for length in [0_u16, 3, 9, u16::MAX] {
            let mut attribute = [0_u8; 8];
            attribute[..2].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(attributes(&attribute).count(), 0, "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(messages(&bytes).count() <= bytes.len());
            for (_, value) in attributes(&bytes) {
                prop_assert!(value.len() < bytes.len());
                let _ = text(value);
            }
        }
    }
}
