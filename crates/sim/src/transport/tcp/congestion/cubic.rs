//! CUBIC (RFC 9438). Windows are in segments and times in seconds in this module, as in the RFC's formulas.

use super::Growth;
use crate::transport::tcp::FriendlyGrowth;
use units::Instant;

/// Growth of the cubic, in segments per cubed second (RFC 9438, 4.6 and 5.1).
const C: f64 = 0.4;
/// Factor of the window at congestion, `beta_cubic` (RFC 9438, 4.6).
const BETA: f64 = 0.7;
/// Additive increase with which `BETA` is as fast as Reno on average, `alpha_cubic` (RFC 9438, 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[derive(Debug)]
pub(super) struct Cubic {
    segment: f64,
    friendly: FriendlyGrowth,
    /// The window at the last reduction, `W_max`, lowered by fast convergence.
    w_max: f64,
    /// The window before the last reduction, `cwnd_prior`.
    prior: f64,
    /// Present stage of congestion avoidance; `None` until its first acknowledgement.
    stage: Option<Stage>,
    /// Fraction of an octet of growth not yet applied.
    fraction: f64,
}

#[derive(Debug)]
struct Stage {
    /// `t_epoch`.
    began: Instant,
    /// Time of the last acknowledgement.
    last: Instant,
    /// Time after which the cubic reaches `W_max`, `K`.
    k: f64,
    /// Estimate of Reno's window, `W_est`.
    w_est: f64,
}

impl Cubic {
    pub(super) fn new(segment: u64, friendly: FriendlyGrowth) -> Self {
        Self { segment: segment as f64, friendly, w_max: 0.0, prior: f64::INFINITY, stage: None, fraction: 0.0 }
    }

    /// Growth of `cwnd` in octets (RFC 9438, 4.2 to 4.5).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn increase(&mut self, cwnd: u64, growth: Growth) -> u64 {
        let window = cwnd as f64 / self.segment;
        let stage = self.stage.get_or_insert_with(|| {
            // After a timeout, or a slow start that ended without loss, the plateau is here (4.8, 4.10).
            self.w_max = self.w_max.max(window);
            let k = libm::cbrt((self.w_max - window) / C);
            Stage { began: growth.now, last: growth.now, k, w_est: window }
        });
        stage.last = growth.now;
        let alpha = match self.friendly {
            FriendlyGrowth::CatchUp if stage.w_est >= self.prior => 1.0,
            FriendlyGrowth::CatchUp | FriendlyGrowth::Constant => ALPHA,
            FriendlyGrowth::None => 0.0,
        };
        stage.w_est += alpha * (growth.acked as f64 / self.segment) / window;
        let elapsed = growth.now.since(stage.began).as_secs_f64();
        let next = if w_cubic(elapsed, stage.k, self.w_max) < stage.w_est {
            stage.w_est.max(window)
        } else {
            let ahead = elapsed + growth.srtt.map_or(0.0, units::Duration::as_secs_f64);
            let target = w_cubic(ahead, stage.k, self.w_max).clamp(window, 1.5 * window);
            window + (target - window) / window
        };
        self.fraction += (next - window) * self.segment;
        let whole = libm::floor(self.fraction);
        self.fraction -= whole;
        debug_assert!(whole >= 0.0 && (0.0..1.0).contains(&self.fraction));
        debug_assert!(self.w_max >= 0.0 && self.w_max.is_finite());
        whole as u64
    }

    /// The slow start threshold after congestion, in octets, with fast convergence (RFC 9438, 4.6 and 4.7).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
    pub(super) fn decrease(&mut self, cwnd: u64, flight: u64) -> u64 {
        let window = cwnd as f64 / self.segment;
        self.prior = window;
        self.w_max = if window < self.w_max { window * (1.0 + BETA) / 2.0 } else { window };
        self.stage = None;
        self.fraction = 0.0;
        debug_assert!(self.w_max <= window.max(self.prior) && self.prior > 0.0);
        libm::floor(flight as f64 * BETA) as u64
    }

    /// Handles a timeout: the next stage has its plateau at its initial window (RFC 9438, 4.8).
    pub(super) fn forget(&mut self) {
        self.w_max = 0.0;
        self.stage = None;
    }

    /// Excludes time in which the window was not used (RFC 9438, 5.8).
    pub(super) fn pause(&mut self, now: Instant) {
        if let Some(stage) = &mut self.stage {
            stage.began += now.since(stage.last);
            stage.last = now;
            debug_assert!(stage.began <= now);
        }
    }
}

/// `W_cubic(t)` (RFC 9438, figure 1).
fn w_cubic(t: f64, k: f64, w_max: f64) -> f64 {
    let from_plateau = t - k;
    C * from_plateau * from_plateau * from_plateau + w_max
}

#[cfg(test)]
#[path = "../tests/cubic.rs"]
mod tests;
