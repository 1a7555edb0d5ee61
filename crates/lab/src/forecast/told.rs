//! A forecast as text.

use super::{Arm, Forecast, Interval};
use std::fmt::Write as _;

/// Ratio below which there counts as no difference.
const LITTLE: f64 = 1.1;

impl Forecast {
    /// Returns the forecast as sentences.
    pub fn says(&self) -> String {
        if let Some(why) = self.cannot {
            return format!("Cannot tell, because {why}.\n");
        }
        let mut text = String::new();
        let now = self.arms.first().map_or_else(String::new, |arm| ms(arm.now_s));
        let _ = writeln!(text, "99th percentile of the ping time to the busiest station: {now} at present.");
        for arm in &self.arms {
            let Arm { name, ratio: Interval { low, high, .. }, goodput, .. } = arm;
            let (then, verdict) = (ms(arm.then_s), arm.verdict());
            let goodput = 100.0 * (1.0 - goodput.low).max(goodput.high - 1.0);
            let _ = writeln!(
                text,
                "  {then} with {name}: {low:.2} to {high:.2} times, {verdict}; goodput within {goodput:.0} %."
            );
        }
        let _ = write!(text, "Other cells use {:.0} % of the airtime; ", 100.0 * self.foreign);
        let _ = match self.grown {
            Some(Interval { low, high, .. }) => {
                writeln!(text, "if they take all that they can, the first of these ratios is {low:.2} to {high:.2}.")
            }
            None => writeln!(text, "if their share grows, the forecast does not hold."),
        };
        if self.legacy > 0 {
            let _ = writeln!(text, "{} of {} stations report no MCS and count as slow.", self.legacy, self.stations);
        }
        text
    }
}

impl Arm {
    /// Returns the verdict as text.
    pub fn verdict(&self) -> &'static str {
        match self.ratio {
            Interval { low, high, .. } if low > 1.0 / LITTLE && high < LITTLE => "no difference to be expected",
            Interval { high: ..1.0, .. } => "faster",
            Interval { low, .. } if low > 1.0 => "slower",
            _ => "cannot tell: this depends on conditions that were not measured",
        }
    }
}

fn ms(of: Interval) -> String {
    format!("{:.0} to {:.0} ms", 1e3 * of.low, 1e3 * of.high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A difference of one hundredth counts as none, even if it is certain.
    #[test]
    fn a_verdict_is_what_the_interval_of_the_ratio_says() {
        let of = |low, high| {
            let ratio = Interval { low, mid: 1.0, high };
            let (now_s, then_s, echo, goodput) = (ratio, ratio, ratio, ratio);
            Arm { name: "turns".to_owned(), now_s, then_s, ratio, echo, goodput }.verdict()
        };
        assert_eq!([of(0.5, 0.8), of(1.02, 1.3)], ["faster", "slower"]);
        assert_eq!([of(0.98, 0.99), of(1.01, 1.02)], ["no difference to be expected"; 2]);
        assert!([of(0.5, 1.05), of(0.95, 2.0)].iter().all(|it| it.starts_with("cannot tell")));
    }
}
