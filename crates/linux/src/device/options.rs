//! Options of disciplines. The options that create a discipline again can differ from those that the kernel shows.

use crate::kernel::wire::{u16_at, u32_at};

/// Attributes that are CoDel times (`linux/pkt_sched.h`): target, interval, threshold for marks.
const CODEL_TIMES: [u16; 3] = [1, 3, 5];
const FQ_CODEL_TIMES: [u16; 3] = [1, 3, 7];
/// Length of an attribute's header, and of an attribute that holds 32 bits.
const HEADER: usize = 4;
const WITH_32_BITS: u16 = 8;

/// Returns the options that create a discipline again, given its kind and the options that the kernel shows.
///
/// The kernel keeps a CoDel time as `v` units of 1024 ns and shows it as `s` microseconds, both rounded down. So the
/// shown time would restore a shorter one, but `s + 1` microseconds are exact. From `s <= 1.024 v < s + 1` follows that
/// `(s + 1) / 1.024` is above `v` and, as `1.024 (v + 1) >= s + 1.024`, below `v + 1`.
pub(crate) fn to_make_again(kind: &str, shown: &[u8]) -> Vec<u8> {
    let times: &[u16] = match kind {
        "codel" => &CODEL_TIMES,
        "fq_codel" => &FQ_CODEL_TIMES,
        _ => &[],
    };
    let mut made = shown.to_vec();
    let mut at = 0;
    while let (Some(length), Some(kind)) = (u16_at(shown, at), u16_at(shown, at + 2)) {
        if length == WITH_32_BITS
            && times.contains(&kind)
            && let Some(time) = u32_at(shown, at + HEADER)
        {
            made[at + HEADER..at + HEADER + 4].copy_from_slice(&time.saturating_add(1).to_ne_bytes());
        }
        // An attribute of wrong length ends the loop at the latest where the bytes end.
        at += usize::from(length).max(HEADER).next_multiple_of(4);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn attribute(kind: u16, value: u32) -> Vec<u8> {
        [&WITH_32_BITS.to_ne_bytes()[..], &kind.to_ne_bytes(), &value.to_ne_bytes()].concat()
    }

    #[test]
    fn only_times_of_codel_change() {
        let shown = [attribute(1, 6_999), attribute(2, 500), attribute(3, 89_999), attribute(7, 0)].concat();
        let made = [attribute(1, 7_000), attribute(2, 500), attribute(3, 90_000), attribute(7, 1)].concat();
        assert_eq!(to_make_again("fq_codel", &shown), made);
        assert_eq!(to_make_again("cake", &shown), shown);
    }

    proptest! {
        #[test]
        fn a_time_that_is_made_again_is_shown_as_before(micros: u32) {
            let kept = |micros: u32| (u64::from(micros) * 1_000) >> 10;
            let shown = |kept: u64| (kept << 10) / 1_000;
            let before = u32::try_from(shown(kept(micros))).unwrap();
            let made = to_make_again("codel", &attribute(1, before));
            prop_assert_eq!(shown(kept(u32_at(&made, HEADER).unwrap())), u64::from(before));
        }

        #[test]
        fn any_bytes_are_read_to_an_end(bytes: Vec<u8>) {
            prop_assert_eq!(to_make_again("fq_codel", &bytes).len(), bytes.len());
        }
    }
}
