//! Back-off stages: how often a frame has failed, and which contention window follows.

use super::Pair;

/// Which frame has failed. Each kind of frame has its own count of failures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The frame that contends: a data frame, or an RTS.
    First,
    /// The data frame after a CTS.
    Data,
}

/// The stages of a frame: its numbers of failures of the two kinds. At stage 0 it has not failed.
pub(super) struct Stages {
    /// `CW` for each sum of failures. The last window also serves all larger sums.
    windows: Vec<u32>,
    /// How often a frame can fail in this way and still be sent.
    first: usize,
    data: usize,
    limited: bool,
}

impl Stages {
    pub(super) fn of(pair: &Pair) -> Self {
        let data = pair.handshake.map_or(1, |handshake| handshake.data_attempts as usize);
        let grown = |cw: &u32| (*cw < pair.cw_max).then(|| (2 * cw + 1).min(pair.cw_max));
        let windows: Vec<u32> = core::iter::successors(Some(pair.cw_min), grown).collect();
        let first = pair.attempts.map_or(windows.len(), |attempts| attempts as usize);
        Self { windows, first, data, limited: pair.attempts.is_some() }
    }

    pub(super) fn count(&self) -> usize {
        self.first * self.data
    }

    /// Returns the number of values that a draw can have at this stage.
    pub(super) fn draws(&self, stage: usize) -> usize {
        let failures = stage % self.first + stage / self.first;
        self.windows[failures.min(self.windows.len() - 1)] as usize + 1
    }

    /// Returns the largest window, in slots.
    pub(super) fn widest(&self) -> u64 {
        (0..self.count()).map(|stage| self.draws(stage) as u64 - 1).max().unwrap_or(0)
    }

    /// Returns the stage after a failure; `None` if the frame is given up.
    pub(super) fn after(&self, stage: usize, failure: Failure) -> Option<usize> {
        let (first, data) = (stage % self.first, stage / self.first);
        match failure {
            Failure::First if first + 1 < self.first => Some(stage + 1),
            Failure::First => (!self.limited).then_some(stage),
            Failure::Data => (data + 1 < self.data).then_some(stage + self.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Handshake;
    use super::*;
    use units::{Bytes, Duration};

    fn pair(attempts: Option<u32>, data_attempts: Option<u32>) -> Pair {
        let time = Duration::from_micros(10);
        let handshake = data_attempts.map(|data_attempts| Handshake { rts: time, cts: time, data_attempts });
        let (slot, frame, sifs, ack, difs, timeout) = (time, time, time, time, time, time);
        let (turnaround, payload) = (time, Bytes::new(1));
        Pair { cw_min: 3, cw_max: 12, attempts, slot, frame, handshake, sifs, ack, difs, timeout, turnaround, payload }
    }

    #[test]
    fn a_frame_without_rts_has_one_kind_of_failure() {
        let stages = Stages::of(&pair(Some(4), None));
        assert_eq!((0..stages.count()).map(|stage| stages.draws(stage)).collect::<Vec<_>>(), [4, 8, 13, 13]);
        assert_eq!(stages.after(2, Failure::First), Some(3));
        assert_eq!(stages.after(3, Failure::First), None);
    }

    #[test]
    fn without_a_limit_the_last_stage_repeats() {
        let stages = Stages::of(&pair(None, None));
        assert_eq!((stages.count(), stages.after(2, Failure::First)), (3, Some(2)));
    }

    #[test]
    fn each_kind_has_its_limit_and_both_widen_the_window() {
        let stages = Stages::of(&pair(Some(3), Some(2)));
        assert_eq!(stages.count(), 6);
        let hit_once = stages.after(1, Failure::Data).unwrap();
        assert_eq!(stages.draws(hit_once), 13);
        assert_eq!(stages.after(hit_once, Failure::Data), None);
        let last = stages.after(hit_once, Failure::First).unwrap();
        assert_eq!(stages.after(last, Failure::First), None);
    }
}
