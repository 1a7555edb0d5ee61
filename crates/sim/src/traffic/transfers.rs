//! Transfers: which data a flow gives to its transport, and when.

use super::{Pareto, Times, web};
use crate::engine::Stream;
use std::ops::Range;
use units::{Duration, Instant};

/// Largest transfer in bytes. No run could carry more, and sequence numbers stay far from their largest value.
const MOST: u64 = 1 << 62;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Volume {
    Endless,
    /// This many bytes.
    Bytes(u64),
    /// A random number of bytes.
    Random(Pareto),
}

/// When the next transfer begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recurrence {
    Once,
    /// A fixed time after the start of the last transfer.
    Every(Duration),
    /// A random time after the end of the last transfer.
    AfterEnd(Times),
}

/// A sequence of transfers in order of time.
#[derive(Debug)]
pub(crate) struct Transfers {
    volume: Volume,
    recurrence: Recurrence,
    random: Stream,
    stop: Instant,
    /// Start of the next transfer; [`Instant::NEVER`] if it is not known yet or there is none.
    next: Instant,
}

impl Transfers {
    /// Makes transfers that begin while `active`. If they recur after random gaps, the first starts within one gap.
    pub(crate) fn new(volume: Volume, recurrence: Recurrence, active: Range<Instant>, mut random: Stream) -> Self {
        let next = match recurrence {
            Recurrence::Once | Recurrence::Every(_) => active.start,
            Recurrence::AfterEnd(times) => active.start + times.residual(&mut random),
        };
        Self { volume, recurrence, random, stop: active.end, next }
    }

    /// Returns the time at which the next transfer begins, if it is known.
    pub(crate) fn next(&self) -> Option<Instant> {
        (self.next < self.stop).then_some(self.next)
    }

    /// Returns the time at which transfers without an end must stop.
    pub(crate) fn ceases(&self) -> Option<Instant> {
        matches!(self.volume, Volume::Endless).then_some(self.stop)
    }

    /// Begins the next transfer. Returns its number of bytes; `None` for no end.
    pub(crate) fn begin(&mut self) -> Option<u64> {
        self.next = match self.recurrence {
            Recurrence::Every(time) => self.next + time,
            Recurrence::Once | Recurrence::AfterEnd(_) => Instant::NEVER,
        };
        match self.volume {
            Volume::Endless => None,
            Volume::Bytes(bytes) => Some(bytes.min(MOST)),
            Volume::Random(sizes) => Some(web::draw_size(sizes, &mut self.random).min(MOST)),
        }
    }

    /// Records the end of a transfer. The start of the next one may now be known.
    pub(crate) fn end(&mut self, now: Instant) {
        if let Recurrence::AfterEnd(times) = self.recurrence {
            self.next = now + times.draw(&mut self.random);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Purpose;

    const fn second(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000_000)
    }

    fn transfers(volume: Volume, recurrence: Recurrence) -> Transfers {
        Transfers::new(volume, recurrence, second(1)..second(10), Stream::new(1, "f", Purpose::TRAFFIC))
    }

    #[test]
    fn one_transfer_is_one() {
        let mut once = transfers(Volume::Bytes(5), Recurrence::Once);
        assert_eq!((once.next(), once.begin(), once.next()), (Some(second(1)), Some(5), None));
        once.end(second(2));
        assert_eq!((once.next(), once.ceases()), (None, None));
    }

    #[test]
    fn transfers_recur_until_the_flow_stops_whether_the_last_has_ended_or_not() {
        let mut regular = transfers(Volume::Bytes(5), Recurrence::Every(Duration::from_secs(4)));
        let mut begun = Vec::new();
        while let Some(at) = regular.next() {
            begun.push(at);
            regular.begin();
        }
        assert_eq!(begun, [1, 5, 9].map(second));
    }

    #[test]
    fn a_reader_reads_what_has_arrived() {
        let reading = Times::Exponential(Duration::from_millis(100));
        let mut web = transfers(Volume::Random(Pareto::with_mean(1e4, 1.2)), Recurrence::AfterEnd(reading));
        let first = web.next().expect("within nine seconds at a mean of a tenth");
        assert!(first > second(1) && web.begin().is_some_and(|bytes| bytes > 0));
        assert_eq!(web.next(), None, "not before the burst has arrived");
        web.end(second(8));
        assert!(web.next().is_some_and(|next| next > second(8)));
    }

    #[test]
    fn sizes_beyond_all_bounds_are_cut() {
        let sizes = [Volume::Bytes(u64::MAX), Volume::Random(Pareto::with_mean(1e300, 1.001))];
        assert_eq!(sizes.map(|volume| transfers(volume, Recurrence::Once).begin()), [Some(MOST); 2]);
    }

    #[test]
    fn what_never_ends_is_stopped() {
        let mut greedy = transfers(Volume::Endless, Recurrence::Once);
        assert_eq!((greedy.begin(), greedy.ceases()), (None, Some(second(10))));
    }
}
