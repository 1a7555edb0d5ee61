//! Statistics over seeds.

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The arithmetic mean.
    pub mean: f64,
    /// The interval's lower end; the mean if there is only one value.
    pub low: f64,
    /// Upper end of the same interval.
    pub high: f64,
}

/// Returns the mean of values, one for each seed, and its 95 % interval by Student's t with `n - 1` degrees of freedom.
/// Seeds are independent and few; values are assumed roughly normal. NaN if there are none.
pub fn interval(values: &[f64]) -> Interval {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half = if n < 2 || squares <= 0.0 { 0.0 } else { t_975(n - 1) * (squares / (n - 1) as f64 / n as f64).sqrt() };
    Interval { mean, low: mean - half, high: mean + half }
}

/// Returns the values under `key`, which is added at the end if it is new.
pub(crate) fn entry_of<K: PartialEq, V: Default>(list: &mut Vec<(K, V)>, key: K) -> &mut V {
    let place = list.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        list.push((key, V::default()));
        list.len() - 1
    });
    &mut list[place].1
}

/// Returns the 97.5 % quantile of Student's t distribution. Up to 30 degrees of freedom it is from tables, above 30
/// from the first terms of an expansion around the normal quantile (Abramowitz and Stegun, 26.7.5), right to 1e-5.
fn t_975(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139,
        2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905, 2.109_816, 2.100_922, 2.093_024, 2.085_963,
        2.079_614, 2.073_873, 2.068_658, 2.063_899, 2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
    ];
    if let Some(value) = freedom.checked_sub(1).and_then(|index| TABLE.get(index)) {
        return *value;
    }
    let (z, v) = (1.959_963_985_f64, freedom as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / v + second / v.powi(2) + third / v.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_three_values_by_hand() {
        // Mean 2, sample variance 1, standard error 1/sqrt(3); t(2) = 4.302653.
        let seen = interval(&[1.0, 2.0, 3.0]);
        assert!((seen.mean - 2.0).abs() < 1e-12);
        assert!((seen.high - (2.0 + 4.302_653 / 3.0_f64.sqrt())).abs() < 1e-6);
        assert!((seen.low + seen.high - 4.0).abs() < 1e-9);
    }

    #[test]
    fn one_value_has_no_width_and_no_value_no_mean() {
        assert_eq!(interval(&[5.0]), Interval { mean: 5.0, low: 5.0, high: 5.0 });
        assert!(interval(&[]).mean.is_nan());
    }

    #[test]
    fn the_expansion_joins_the_table() {
        // Published values: 2.039513 at 31, 2.021075 at 40, 1.983972 at 100 degrees of freedom.
        for (freedom, value) in [(31, 2.039_513), (40, 2.021_075), (100, 1.983_972)] {
            assert!((t_975(freedom) - value).abs() < 1e-5, "{freedom}");
        }
    }
}
