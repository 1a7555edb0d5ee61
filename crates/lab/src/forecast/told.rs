//! A forecast in words.

use super::{Arm, FAR, Forecast, Interval, Pinged};
use std::fmt::Write as _;

/// Smaller differences count as none.
const LITTLE: f64 = 1.1;
/// Ratio from which on a growing neighbour has taken the gain.
const GONE: f64 = 0.9;

impl Forecast {
    /// Says what to expect, in a few sentences.
    pub fn says(&self) -> String {
        if let Some(why) = self.cannot {
            return format!("Cannot tell, because {why}.\n");
        }
        let Some((first, ping)) = self.arms.first().and_then(|arm| Some((arm, arm.pings.first()?))) else {
            return String::new();
        };
        let verdict = self.verdict(first, ping);
        let station = if ping.is_busy { "busy" } else { "idle" };
        let mut text = format!(
            "{verdict}.\nThe slowest hundredth of pings to {} {station} station: {} now",
            if ping.is_busy { "a" } else { "an" },
            ms(ping.now_s)
        );
        for (arm, ping) in self.arms.iter().filter_map(|arm| Some((arm, arm.pings.first()?))) {
            let _ = write!(text, ", {} with {}", ms(ping.then_s), arm.name);
        }
        let goodput = 100.0 * (1.0 - first.goodput.low).max(first.goodput.high - 1.0);
        let _ = writeln!(text, "; goodput within {goodput:.0} %.");
        let share = 100.0 * self.foreign;
        let _ = match self.grown {
            Some(grown) if grown.mid > GONE => {
                writeln!(text, "Others fill {share:.0} % of the air; if that grows, the gain goes.")
            }
            Some(grown) => writeln!(
                text,
                "Others fill {share:.0} % of the air; if they take all that they can, {:.2} times today's remain.",
                grown.mid
            ),
            None => writeln!(text, "Others fill {share:.0} % of the air; if that grows, this does not hold."),
        };
        if self.legacy > 0 {
            let _ = writeln!(text, "{} of {} stations tell no MCS and count as slow ones.", self.legacy, self.stations);
        }
        text
    }

    fn verdict(&self, arm: &Arm, ping: &Pinged) -> String {
        let (name, Interval { low, high, .. }) = (&arm.name, ping.ratio);
        let times = format!("{low:.2} to {high:.2} times today's");
        if self.distance > FAR {
            format!("Cannot tell, because no simulated network does what was seen ({:.0} tolerances)", self.distance)
        } else if high < 1.0 {
            format!("With {name} the slowest pings would be faster: {times}")
        } else if low > 1.0 {
            format!("With {name} the slowest pings would be slower: {times}")
        } else if low > 1.0 / LITTLE && high < LITTLE {
            format!("No difference to be expected with {name}")
        } else {
            format!("Cannot tell, because {:.0} s and what is not seen allow {times} with {name}", self.seen_s)
        }
    }

    /// A table of all arms, of the intervals that hold 80 %.
    pub fn table(&self) -> String {
        let mut text = String::from("\npings to      queues     RTT p99               change            goodput\n");
        for arm in &self.arms {
            for ping in &arm.pings {
                let station = if ping.is_busy { "busy station" } else { "idle station" };
                let (ratio, goodput) = (ping.ratio, arm.goodput);
                let _ = writeln!(
                    text,
                    "{station}  {:<9}  {:<20}  {:.2} ({:.2} to {:.2})  {:.2} to {:.2}",
                    arm.name,
                    ms(ping.then_s),
                    ratio.mid,
                    ratio.low,
                    ratio.high,
                    goodput.low,
                    goodput.high
                );
            }
        }
        let _ = writeln!(
            text,
            "{} draws of what is not seen; 10 ms of each round trip are the line to a server.",
            self.draws
        );
        text
    }
}

fn ms(of: Interval) -> String {
    format!("{:.0} to {:.0} ms", 1e3 * of.low, 1e3 * of.high)
}
