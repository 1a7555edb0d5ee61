//! Counts for each neighbour to which a node sends.

use super::summary::Span;
use crate::results::Hop;
use queue::Completion;
use units::Duration;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HopRecord {
    pub(crate) attempts: u64,
    pub(crate) repeated: u64,
    pub(crate) airtime: Duration,
    delivered: u64,
    given_up: u64,
    service: Span,
    sojourn: Span,
}

impl HopRecord {
    /// Records packets that were delivered or given up.
    pub(crate) fn complete(&mut self, delivered: bool, completion: &Completion) {
        let &Completion { waited, service, packets } = completion;
        *if delivered { &mut self.delivered } else { &mut self.given_up } += u64::from(packets);
        self.service.record_all(service, packets);
        self.sojourn.record_all(waited, packets);
    }

    fn result(&self, name: String) -> Hop {
        Hop {
            name,
            attempts: self.attempts,
            repeated: self.repeated,
            delivered: self.delivered,
            retry_drops: self.given_up,
            airtime_s: self.airtime.as_secs_f64(),
            service_mean_s: self.service.mean().unwrap_or_default(),
            service_max_s: self.service.max().unwrap_or_default(),
            sojourn_mean_s: self.sojourn.mean().unwrap_or_default(),
            sojourn_max_s: self.sojourn.max().unwrap_or_default(),
        }
    }
}

/// Neighbours of a node, sorted, with the index of the last one looked up, which is often looked up again.
#[derive(Debug, Default)]
pub(crate) struct Hops {
    of: Vec<(u32, HopRecord)>,
    last: usize,
}

impl Hops {
    #[inline]
    pub(crate) fn to(&mut self, neighbour: u32) -> &mut HopRecord {
        if self.of.get(self.last).is_none_or(|&(to, _)| to != neighbour) {
            let place = self.of.binary_search_by_key(&neighbour, |&(to, _)| to);
            self.last = place.unwrap_or_else(|place| {
                self.of.insert(place, (neighbour, HopRecord::default()));
                place
            });
        }
        &mut self.of[self.last].1
    }

    /// The neighbours to which frames were sent.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = u32> {
        self.of.iter().map(|&(to, _)| to)
    }

    pub(crate) fn results(&self, name: impl Fn(u32) -> String) -> Vec<Hop> {
        self.of.iter().map(|(to, record)| record.result(name(*to))).collect()
    }
}
