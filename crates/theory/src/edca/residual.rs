//! Residual back-off of one category among its competitors: (2) to (4) of [`super`].

use crate::dcf::backoff::Backoff;

/// A slot boundary that is reached with a smaller probability than this counts as unreachable.
pub(super) const NEGLIGIBLE: f64 = 1e-15;

/// Probabilities of what the competitors of a category have done, for each slot boundary `t`.
pub(super) struct Others {
    /// `R_e(t)`: all competitors attempt after `t`.
    pub(super) after: Vec<f64>,
    /// No competitor has attempted before `t`, and no higher category of the same station attempts at `t`: it may send.
    pub(super) lets_send: Vec<f64>,
    /// As in `lets_send`, and also no other station attempts at `t`.
    pub(super) lets_succeed: Vec<f64>,
}

impl Others {
    /// Returns `R_e(t - 1)`: the probability that no competitor has attempted before the slot boundary `t`.
    pub(super) fn reached(&self, t: usize) -> f64 {
        if t == 0 { 1.0 } else { self.after.get(t - 1).copied().unwrap_or(0.0) }
    }
}

/// A category's back-off.
pub(super) struct Station<'a> {
    pub(super) law: &'a Backoff,
    /// `d_e`: the category's AIFSN less the shortest AIFSN.
    pub(super) delay: usize,
}

/// Solution for a category among given competitors.
pub(super) struct Residual {
    /// The probability of each residual back-off after a channel access.
    pub(super) shares: Vec<f64>,
    /// Share of the frames that are given up.
    pub(super) dropped: f64,
}

impl Station<'_> {
    pub(super) fn among(&self, others: &Others) -> Residual {
        let windows = self.law.windows();
        let widest = *windows.iter().max().expect("there is a first window") as usize;
        let mut shares = vec![0.0; widest + 1];
        if others.reached(self.delay) < NEGLIGIBLE {
            // The category never gets its turn and keeps its first draw.
            shares[..=windows[0] as usize].fill(1.0 / (f64::from(windows[0]) + 1.0));
            return Residual { shares, dropped: 0.0 };
        }
        let (mut entries, mut dropped) = (1.0, 1.0);
        for (stage, &window) in windows.iter().enumerate() {
            let visits = self.visits(window as usize, others);
            let succeeds: f64 =
                visits.iter().enumerate().map(|(r, visits)| visits * succeeds(others, self.delay + r)).sum();
            let fails = if succeeds > 1.0 - ROUNDING { 0.0 } else { 1.0 - succeeds };
            if !self.law.gives_up(stage) && stage + 1 == windows.len() {
                // Without a limit, the last stage follows itself.
                entries /= succeeds.max(f64::MIN_POSITIVE);
            }
            for (share, visits) in shares.iter_mut().zip(&visits) {
                *share += entries * visits;
            }
            entries *= fails;
            dropped *= fails;
        }
        let total: f64 = shares.iter().sum();
        for share in &mut shares {
            *share /= total;
        }
        Residual { shares, dropped: if self.law.gives_up(windows.len() - 1) { dropped } else { 0.0 } }
    }

    /// Returns the number of accesses seen at each residual back-off, from a draw in this window to the attempt.
    fn visits(&self, window: usize, others: &Others) -> Vec<f64> {
        // The back-off falls by `less` if others access the medium at the category's own boundary `less - 1`.
        let access = |m: usize| others.reached(m) - others.reached(m + 1);
        let by: Vec<f64> = (1..=others.after.len()).map(|less| access(self.delay + less - 1)).collect();
        // Accesses before the category's first boundary do not change its back-off.
        let moves = others.reached(self.delay);
        let mut visits = vec![0.0; window + 1];
        for r in (0..=window).rev() {
            let from_above: f64 = (1..=by.len().min(window - r)).map(|less| visits[r + less] * by[less - 1]).sum();
            visits[r] = (1.0 / (window as f64 + 1.0) + from_above) / moves;
        }
        visits
    }
}

/// Rounding error of 1 after hundreds of additions.
const ROUNDING: f64 = 1e-13;

fn succeeds(others: &Others, t: usize) -> f64 {
    others.lets_succeed.get(t).copied().unwrap_or(0.0)
}
