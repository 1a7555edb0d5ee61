//! Numbers at places in a slice, in either byte order.

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Big,
    Little,
}

/// The bytes from `at` on, where there are that many.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

impl Order {
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let found = array(bytes, at)?;
        Some(if self == Self::Big { u16::from_be_bytes(found) } else { u16::from_le_bytes(found) })
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let found = array(bytes, at)?;
        Some(if self == Self::Big { u32::from_be_bytes(found) } else { u32::from_le_bytes(found) })
    }

    pub(super) fn i64(self, bytes: &[u8], at: usize) -> Option<i64> {
        let found = array(bytes, at)?;
        Some(if self == Self::Big { i64::from_be_bytes(found) } else { i64::from_le_bytes(found) })
    }
}
