//! Binary exponential back-off: the window of each stage, and a station's draws if each attempt collides with the same
//! probability `p`.

use super::Cell;

/// The windows of one frame's attempts.
pub(crate) struct Backoff {
    /// `CW_i` for stage `i`. Without a retry limit the last window stands for all later stages too.
    windows: Vec<u32>,
    limited: bool,
}

impl Backoff {
    pub(super) fn of(cell: &Cell) -> Self {
        Self::new(cell.cw_min, cell.cw_max, cell.attempts)
    }

    /// Makes the back-off from the fields of the same names of [`Cell`].
    pub(crate) fn new(cw_min: u32, cw_max: u32, attempts: Option<u32>) -> Self {
        let grown = |cw: &u32| Some((2 * cw + 1).min(cw_max));
        let windows = core::iter::successors(Some(cw_min), grown);
        if let Some(attempts) = attempts {
            return Self { windows: windows.take(attempts as usize).collect(), limited: true };
        }
        let growing = windows.take_while(|&cw| cw < cw_max);
        Self { windows: growing.chain([cw_max]).collect(), limited: false }
    }

    /// Returns `CW_i` for each stage `i`.
    pub(crate) fn windows(&self) -> &[u32] {
        &self.windows
    }

    /// Returns the stage after a failure at `stage`: the first one of the next frame if this frame is given up.
    pub(crate) fn after_failure(&self, stage: usize) -> usize {
        let last = self.windows.len() - 1;
        match stage {
            stage if stage < last => stage + 1,
            _ if self.limited => 0,
            _ => last,
        }
    }

    /// True if a frame is given up after a failure at `stage`.
    pub(crate) fn gives_up(&self, stage: usize) -> bool {
        self.limited && stage + 1 == self.windows.len()
    }

    /// Returns, for each stage `i`, the probability that an attempt is of this stage: (29), proportional to `p^i`.
    pub(super) fn stages(&self, p: f64) -> Vec<f64> {
        let mut shares: Vec<f64> =
            core::iter::successors(Some(1.0), |share| Some(share * p)).take(self.windows.len()).collect();
        if self.limited {
            let total: f64 = shares.iter().sum();
            for share in &mut shares {
                *share /= total;
            }
        } else {
            // The stages from the last on, 1 - (1 - p)(1 + p + ... + p^(m-1)), sum to p^m.
            let last = shares.len() - 1;
            shares[..last].iter_mut().for_each(|share| *share *= 1.0 - p);
        }
        shares
    }

    /// Returns the mean number of slots drawn for an attempt: the sum in (32), with `beta_i = CW_i / 2` as in (31).
    pub(crate) fn mean(&self, p: f64) -> f64 {
        self.stages(p).iter().zip(&self.windows).map(|(share, &cw)| share * f64::from(cw) / 2.0).sum()
    }

    /// After a collision: at index `b`, the probability that the new draw is `b`, given that it is at least `b`.
    pub(super) fn hazard_after_collision(&self, p: f64) -> Vec<f64> {
        let widest = *self.windows.iter().max().expect("there is a first window");
        let mut mass = vec![0.0; widest as usize + 1];
        for (stage, share) in self.stages(p).into_iter().enumerate() {
            let window = self.windows[self.after_failure(stage)] as usize;
            mass[..=window].iter_mut().for_each(|mass| *mass += share / (window as f64 + 1.0));
        }
        let mut left = 0.0;
        for mass in mass.iter_mut().rev() {
            left += *mass;
            // A draw that is never made (p = 0) has no mass to divide by.
            *mass = if left > 0.0 { *mass / left } else { 1.0 };
        }
        mass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Duration};

    fn backoff(attempts: Option<u32>) -> Backoff {
        let time = Duration::from_micros(20);
        let payload = Bytes::new(1);
        Backoff::of(&Cell {
            stations: 2,
            cw_min: 31,
            cw_max: 127,
            attempts,
            slot: time,
            success: time,
            collision: time,
            payload,
        })
    }

    #[test]
    fn windows_double_up_to_the_largest() {
        assert_eq!(backoff(Some(5)).windows, [31, 63, 127, 127, 127]);
        assert_eq!(backoff(Some(1)).windows, [31]);
        assert_eq!(backoff(None).windows, [31, 63, 127]);
    }

    #[test]
    fn the_mean_draw_by_hand() {
        // One half of the attempts are first ones, a quarter second ones, the rest have 127: 15.5/2 + 31.5/4 + 63.5/4.
        assert!((backoff(None).mean(0.5) - 31.5).abs() < 1e-12);
        // Three attempts: weights 4/7, 2/7, 1/7.
        assert!((backoff(Some(3)).mean(0.5) - (4.0 * 15.5 + 2.0 * 31.5 + 63.5) / 7.0).abs() < 1e-12);
    }

    #[test]
    fn the_hazard_of_a_uniform_draw_ends_in_certainty() {
        // A single attempt: each collision gives the frame up, the next draw is uniform on 0..=31.
        let hazard = backoff(Some(1)).hazard_after_collision(0.3);
        assert_eq!(hazard.len(), 32);
        assert!((hazard[0] - 1.0 / 32.0).abs() < 1e-12);
        assert!((hazard[16] - 1.0 / 16.0).abs() < 1e-12);
        assert!((hazard[31] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_dropped_frame_is_followed_by_the_smallest_window() {
        // Two attempts at p = 1/2: two thirds collide at stage 0 and draw from 63, one third gives up and draws from 31.
        let hazard = backoff(Some(2)).hazard_after_collision(0.5);
        assert!((hazard[0] - (2.0 / 3.0 / 64.0 + 1.0 / 3.0 / 32.0)).abs() < 1e-12);
    }
}
