//! Mean and 95 % confidence interval of independent values.

/// Upper 2.5 % points of Student's t distribution for 1 to 30 degrees of freedom.
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Mean of the values over the seeds, and the ends of its 95 % interval; all three equal with one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    /// `None` without values.
    pub(super) fn new(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        if values.len() == 1 {
            return Some(Self { mean, low: mean, high: mean });
        }
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half = quantile(values.len() - 1) * (variance / n).sqrt();
        Some(Self { mean, low: mean - half, high: mean + half })
    }
}

/// Upper 2.5 % point of Student's t distribution.
fn quantile(degrees: usize) -> f64 {
    match degrees {
        1..=30 => T[degrees - 1],
        // The first terms of Fisher's expansion around the normal quantile z: z + (z³ + z) / 4n.
        _ => 1.959_964 + 2.372_27 / degrees as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_three_seeds() {
        // s = 1, n = 3: 4.303 / sqrt(3) = 2.4843.
        let interval = Interval::new(&[1.0, 2.0, 3.0]).unwrap();
        assert!((interval.mean - 2.0).abs() < 1e-12);
        assert!((interval.low - (2.0 - 2.4843)).abs() < 1e-3);
        assert!((interval.high - (2.0 + 2.4843)).abs() < 1e-3);
    }

    #[test]
    fn one_seed_has_no_width() {
        let interval = Interval::new(&[7.0]).unwrap();
        assert_eq!(interval, Interval { mean: 7.0, low: 7.0, high: 7.0 });
        assert_eq!(Interval::new(&[]), None);
    }

    #[test]
    fn quantile_goes_on_smoothly_after_the_table() {
        // Tables: 2.021 at 40, 1.984 at 100.
        assert!((quantile(40) - 2.021).abs() < 2e-3);
        assert!((quantile(100) - 1.984).abs() < 2e-3);
        assert!(quantile(31) < quantile(30));
    }
}
