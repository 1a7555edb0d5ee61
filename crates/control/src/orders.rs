//! What a controller orders.

use crate::{Limit, Note, Sets};
use serde::{Deserialize, Serialize};
use units::{Duration, Rate};

/// What holds from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orders {
    /// How much may wait.
    pub limit: Limit,
    /// How fast packets may leave. None: as the link takes them.
    pub rate: Option<Rate>,
    /// Which ECN-capable packets are marked as they come.
    pub mark: Mark,
    /// How the port's category contends. None: as configured.
    pub access: Option<Access>,
    /// While at most so many packets are at the node, in the port's queue and with its MAC, they go at the low transmission
    /// level, and above that at the high one: a packet keeps the level that it began with. None: always at the high one.
    pub low_up_to: Option<u32>,
    /// What neighbours shall know. None: nothing is sent. It is told once for each order that gives it, but no more often than
    /// the host does: of notes that follow too soon the newest. Where several ports of a node order notes, so with them.
    pub note: Option<Note>,
}

/// Of a controller that only moves the limit.
impl From<Limit> for Orders {
    fn from(limit: Limit) -> Self {
        Self { limit, rate: None, mark: Mark::None, access: None, low_up_to: None, note: None }
    }
}

impl Orders {
    /// The kinds of orders among them: the limit, and what departs from how things are where nothing is ordered.
    pub fn kinds(&self) -> Sets {
        let given = [
            (Sets::RATE, self.rate.is_some()),
            (Sets::MARK, self.mark != Mark::None),
            (Sets::ACCESS, self.access.is_some()),
            (Sets::LEVEL, self.low_up_to.is_some()),
            (Sets::NOTE, self.note.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).fold(Sets::LIMIT, |all, (kind, _)| all.and(kind))
    }
}

/// Which ECN-capable packets are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// No packet is marked.
    #[default]
    None,
    /// Every packet is marked that can be.
    All,
    /// Those of the flows that fall into one of several sets.
    Set {
        /// How many sets there are. With none nothing is marked.
        of: u8,
        /// Which one, from 0.
        index: u8,
    },
    /// Of these flows, those that were admitted a short time ago.
    NewOfSet {
        /// How many sets there are. With none nothing is marked.
        of: u8,
        /// Which one, from 0.
        index: u8,
    },
}

impl Mark {
    /// Is a packet of the flow with this hash marked? `is_new`: it says that its flow was admitted a short time ago.
    pub const fn hits(self, flow: u64, is_new: bool) -> bool {
        match self {
            Self::None | Self::Set { of: 0, .. } | Self::NewOfSet { of: 0, .. } => false,
            Self::All => true,
            Self::Set { of, index } => flow % of as u64 == index as u64,
            Self::NewOfSet { of, index } => is_new && flow % of as u64 == index as u64,
        }
    }
}

/// How a category contends (IEEE 802.11-2016, 10.22.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// AIFSN: slots of AIFS behind SIFS, from 1.
    pub aifsn: u8,
    /// The smallest contention window, in slots.
    pub cw_min: u16,
    /// The largest contention window, in slots, at least [`cw_min`](Self::cw_min).
    pub cw_max: u16,
    /// TXOP limit; zero: one frame exchange.
    pub txop: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_of_the_kinds_that_they_give() {
        let limit = Orders::from(Limit::Packets(9));
        assert_eq!(limit.kinds(), Sets::LIMIT);
        assert_eq!(Orders { rate: Some(Rate::mbps(1)), ..limit }.kinds(), Sets::LIMIT.and(Sets::RATE));
        let access = Some(Access { aifsn: 2, cw_min: 15, cw_max: 1_023, txop: Duration::ZERO });
        let (low_up_to, note) = (Some(3), Some(Note::default()));
        let all = Orders { rate: Some(Rate::mbps(1)), mark: Mark::All, access, low_up_to, note, limit: limit.limit };
        assert!(Sets::EACH.iter().all(|(kind, _)| all.kinds().contains(*kind)));
    }

    #[test]
    fn a_mark_hits_all_none_or_one_flow_in_so_many() {
        let hits = |mark: Mark| (0..24).filter(|flow| mark.hits(*flow, *flow < 12)).count();
        assert_eq!([hits(Mark::None), hits(Mark::All)], [0, 24]);
        assert_eq!(hits(Mark::Set { of: 8, index: 3 }), 3);
        assert!(Mark::Set { of: 8, index: 3 }.hits(11, false));
        assert_eq!([hits(Mark::Set { of: 0, index: 0 }), hits(Mark::Set { of: 4, index: 4 })], [0, 0]);
        // Of the flows below 12, 3 and 11.
        assert_eq!(hits(Mark::NewOfSet { of: 8, index: 3 }), 2);
        assert_eq!([hits(Mark::NewOfSet { of: 1, index: 0 }), hits(Mark::NewOfSet { of: 0, index: 0 })], [12, 0]);
    }
}
