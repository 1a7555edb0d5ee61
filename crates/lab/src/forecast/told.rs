//! A forecast in words.

use super::{Arm, Forecast, Interval};
use std::fmt::Write as _;

/// Smaller differences count as none.
const LITTLE: f64 = 1.1;

impl Forecast {
    /// Says what to expect.
    pub fn says(&self) -> String {
        if let Some(why) = self.cannot {
            return format!("Cannot tell, because {why}.\n");
        }
        let mut text = String::new();
        let now = self.arms.first().map_or_else(String::new, |arm| ms(arm.now_s));
        let _ = writeln!(text, "The slowest hundredth of pings to the busiest station: {now} now.");
        for Arm { name, then_s, ratio: Interval { low, high, .. }, goodput, .. } in &self.arms {
            let verdict = match () {
                () if *high < 1.0 => "faster",
                () if *low > 1.0 => "slower",
                () if *low > 1.0 / LITTLE && *high < LITTLE => "no difference to be expected",
                () => "cannot tell, because what is not seen decides",
            };
            let goodput = 100.0 * (1.0 - goodput.low).max(goodput.high - 1.0);
            let then = ms(*then_s);
            let _ = writeln!(
                text,
                "  {then} with {name}: {low:.2} to {high:.2} times, {verdict}; goodput within {goodput:.0} %."
            );
        }
        let _ = write!(text, "Others fill {:.0} % of the air; ", 100.0 * self.foreign);
        let _ = match self.grown {
            Some(Interval { low, high, .. }) => {
                writeln!(text, "if they take all that they can, it is {low:.2} to {high:.2} times.")
            }
            None => writeln!(text, "if that grows, this does not hold."),
        };
        if self.legacy > 0 {
            let _ = writeln!(text, "{} of {} stations tell no MCS and count as slow ones.", self.legacy, self.stations);
        }
        text
    }
}

fn ms(of: Interval) -> String {
    format!("{:.0} to {:.0} ms", 1e3 * of.low, 1e3 * of.high)
}
