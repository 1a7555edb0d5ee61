//! Orders from a controller to its host.

use crate::{Limit, Note, Sets};
use serde::{Deserialize, Serialize};
use units::{Duration, Rate};

/// Settings in force from now until the next orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orders {
    /// Limit of the queue.
    pub limit: Limit,
    /// Rate limit of departures. `None`: packets leave as fast as the link takes them.
    pub rate: Option<Rate>,
    /// Which ECN-capable packets are marked on arrival.
    pub mark: Mark,
    /// Contention parameters of the port's access category. `None`: the configured parameters apply.
    pub access: Option<Access>,
    /// Largest number of packets at the node (in the port's queue and with its MAC) with which a packet is sent at the
    /// low transmission level. With more, it is sent at the high level. A packet keeps the level with which it began.
    /// `None`: all packets are sent at the high level.
    pub low_up_to: Option<u32>,
    /// Note to broadcast to neighbours; `None` for no note. Each note is sent once. If notes follow each other faster
    /// than the host's spacing allows, only the newest is sent. This also applies to notes from several ports of a
    /// node.
    pub note: Option<Note>,
}

/// Orders of a controller that moves only the limit.
impl From<Limit> for Orders {
    fn from(limit: Limit) -> Self {
        Self { limit, rate: None, mark: Mark::None, access: None, low_up_to: None, note: None }
    }
}

impl Orders {
    /// Returns the kinds of orders given: the limit, and each order that differs from its default.
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
    /// Every ECN-capable packet is marked.
    All,
    /// Flows are divided into sets; packets of the flows in one set are marked.
    Set {
        /// Number of sets. With 0 no packet is marked.
        of: u8,
        /// Index of the set, from 0.
        index: u8,
    },
    /// As `Set`, but only packets of recently admitted flows are marked.
    NewOfSet {
        /// Number of sets. With 0 no packet is marked.
        of: u8,
        /// Index of the set, from 0.
        index: u8,
    },
}

impl Mark {
    /// True if a packet of the flow with hash `flow` is marked. `is_new`: the flow was recently admitted.
    pub const fn hits(self, flow: u64, is_new: bool) -> bool {
        match self {
            Self::None | Self::Set { of: 0, .. } | Self::NewOfSet { of: 0, .. } => false,
            Self::All => true,
            Self::Set { of, index } => flow % of as u64 == index as u64,
            Self::NewOfSet { of, index } => is_new && flow % of as u64 == index as u64,
        }
    }
}

/// Contention parameters of an access category (IEEE 802.11-2016, 10.22.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// AIFSN: number of slots that AIFS adds to SIFS, from 1.
    pub aifsn: u8,
    /// Minimum contention window, in slots.
    pub cw_min: u16,
    /// Maximum contention window, in slots, at least [`cw_min`](Self::cw_min).
    pub cw_max: u16,
    /// TXOP limit; with zero a station may send one frame exchange.
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
