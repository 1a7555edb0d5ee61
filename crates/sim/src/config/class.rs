//! Service classes, and the code points that carry them (RFC 2474).

use units::{apply, choice};

/// A service class.
#[apply(choice)]
pub enum Class {
    /// Packets with a deadline: DSCP 46, expedited forwarding (RFC 3246).
    RealTime,
    /// Packets without a deadline: DSCP 0.
    #[default]
    BestEffort,
}

/// The differentiated services code point of an IP packet: six bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dscp(u8);

impl Dscp {
    /// Traffic of flows without a class.
    const BEST_EFFORT: Self = Self(0);
    /// Expedited forwarding (RFC 3246): real-time traffic.
    pub(crate) const REAL_TIME: Self = Self(46);
    /// Real-time traffic of a flow that was admitted a short time ago: the code point next to expedited forwarding in the pool
    /// for local use (RFC 2474, section 6).
    pub(crate) const REAL_TIME_NEW: Self = Self(47);
    /// Probes for admission, their answers, and notes to neighbours: class selector 5, signalling (RFC 4594, 3.2).
    pub(crate) const SIGNALLING: Self = Self(40);
    /// Messages of a routing protocol: class selector 6 (RFC 4594, 3.1).
    pub(crate) const ROUTING: Self = Self(48);

    /// Discard priorities 0 to 3 (BQM thesis, section 3.1, which leaves their place in the header open): code points
    /// for local use (RFC 2474, section 6) that 802.11 takes for best effort (RFC 8325, section 2.3).
    const DISCARD_PRIORITIES: [Self; 4] = [Self(3), Self(7), Self(27), Self(31)];

    /// Best effort with a discard priority; all from 3 on are the highest.
    pub(crate) fn with_discard_priority(priority: u8) -> Self {
        Self::DISCARD_PRIORITIES[usize::from(priority).min(3)]
    }

    pub(crate) fn discard_priority(self) -> Option<u8> {
        (0..).zip(Self::DISCARD_PRIORITIES).find(|(_, of)| *of == self).map(|(priority, _)| priority)
    }

    /// The code point with this number, of which the lowest six bits count.
    pub const fn new(number: u8) -> Self {
        Self(number & 0x3f)
    }

    /// The access category of real packets with this code point (RFC 8325, 4.3, as in Linux 6.8 and later; IEEE
    /// 802.11-2016, table 10-1).
    pub(crate) const fn category(self) -> Category {
        let priority = match self.0 {
            10 | 12 | 14 | 16 => 0,
            18 | 20 | 22 => 3,
            24 | 26 | 28 | 30 => 4,
            44 | 46 => 6,
            number => number >> 3,
        };
        match priority {
            1 | 2 => Category::Background,
            4 | 5 => Category::Video,
            6.. => Category::Voice,
            _ => Category::BestEffort,
        }
    }

    /// The number in the header, below 64.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The class in whose queues such packets wait; routing messages and other signalling wait with real-time traffic.
    pub(crate) const fn class(self) -> Class {
        if self.0 < Self::SIGNALLING.0 { Class::BestEffort } else { Class::RealTime }
    }

    pub(crate) fn is_real_time(self) -> bool {
        self == Self::REAL_TIME || self == Self::REAL_TIME_NEW
    }
}

impl From<Class> for Dscp {
    fn from(class: Class) -> Self {
        match class {
            Class::BestEffort => Self::BEST_EFFORT,
            Class::RealTime => Self::REAL_TIME,
        }
    }
}

/// An access category of EDCA.
#[apply(choice)]
pub enum Category {
    /// Highest priority.
    Voice,
    /// Second priority.
    Video,
    /// Third priority.
    #[default]
    BestEffort,
    /// Lowest priority.
    Background,
}

/// The category that a class has under EDCA (RFC 8325, 4.3: expedited forwarding goes with voice).
impl From<Class> for Category {
    fn from(class: Class) -> Self {
        match class {
            Class::RealTime => Self::Voice,
            Class::BestEffort => Self::BestEffort,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test of the live qdisc reads the same table.
    #[test]
    fn a_code_point_has_the_category_that_the_live_queue_gives_it() {
        let table = include_str!("../../../linux/tests/lanes.csv");
        assert_eq!(table.lines().count(), 65);
        for (number, line) in (0..64).zip(table.lines().skip(1)) {
            let name = match Dscp::new(number).category() {
                Category::Voice => "voice",
                Category::Video => "video",
                Category::BestEffort => "best-effort",
                Category::Background => "background",
            };
            assert_eq!(line, format!("{number},{name}"));
        }
    }
}
