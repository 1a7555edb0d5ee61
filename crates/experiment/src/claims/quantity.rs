//! Numbers with their units: `400 ms` is 0.4 s, `1.5 %` is the share 0.015.

use crate::measure;
use crate::quantity::in_si;
use crate::study::Unit;

impl Unit {
    /// Returns the unit of the result at `path`, as its key implies: `delay_s.max` is in seconds.
    pub(crate) fn of(path: &str) -> Self {
        let statistic =
            |word: &str| matches!(word, "mean" | "min" | "max" | "last") || measure::percentage(word).is_some();
        let key = path.rsplit('.').find(|word| !statistic(word)).unwrap_or(path);
        let ends = |suffix: &str| key.ends_with(suffix);
        match key {
            "data_yield" | "jain_index" | "collision_probability" => Self::Share,
            _ if ends("_ratio") => Self::Share,
            _ if ends("_s") => Self::Seconds,
            _ if ends("_bps") => Self::BitsPerSecond,
            _ if ends("_bytes") => Self::Bytes,
            _ if ends("_packets") => Self::Packets,
            _ => Self::Number,
        }
    }

    /// True if a value in this unit can be compared with a number written in `written`.
    pub(crate) fn takes(self, written: Self) -> bool {
        match written {
            Self::Number => true,
            Self::Share | Self::Packets => self == written || self == Self::Number,
            _ => self == written,
        }
    }

    /// Returns the name of the unit as refusals print it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Seconds => "a time",
            Self::BitsPerSecond => "a rate",
            Self::Bytes => "a number of bytes",
            Self::Packets => "a number of packets",
            Self::Share => "a share",
            Self::Number => "a plain number",
        }
    }
}

/// Returns the number that `text` means, in its SI unit.
pub fn quantity(text: &str) -> Option<(f64, Unit)> {
    let text = text.trim();
    if let Ok(value) = text.parse::<f64>() {
        return value.is_finite().then_some((value, Unit::Number));
    }
    let (sign, size) = text.strip_prefix('-').map_or((1.0, text), |size| (-1.0, size.trim_start()));
    let (value, unit) = size_of(size)?;
    Some((sign * value, unit))
}

/// Reads a quantity without a sign.
fn size_of(text: &str) -> Option<(f64, Unit)> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    if let Some(share) = text.strip_suffix('%') {
        return Some((number(share)? / 100.0, Unit::Share));
    }
    if let Some(count) = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet")) {
        return Some((number(count)?, Unit::Packets));
    }
    in_si(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_in_si_units() {
        assert_eq!(quantity("400 ms"), Some((0.4, Unit::Seconds)));
        assert_eq!(quantity("-1.5 %"), Some((-0.015, Unit::Share)));
        assert_eq!(quantity("4.7 Mb/s"), Some((4.7e6, Unit::BitsPerSecond)));
        assert_eq!(quantity(" 1e-3 "), Some((0.001, Unit::Number)));
        assert_eq!(quantity("50 packets"), Some((50.0, Unit::Packets)));
        for text in ["", "x", "5 %%", "NaN", "--5 ms", "- %"] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }

    #[test]
    fn keys_name_their_units() {
        let of = |path| Unit::of(path);
        assert_eq!([of("flows.*.delay_s.p999"), of("flows.*.delay_s.p90")], [Unit::Seconds; 2]);
        assert_eq!(of("nodes.n1.queues.*.backlog_packets.mean"), Unit::Packets);
        assert_eq!(of("totals.loss_ratio"), Unit::Share);
        assert_eq!(of("flows.a.goodput_bps"), Unit::BitsPerSecond);
        assert_eq!(of("nodes.n1.sojourn_mean_s"), Unit::Seconds);
        assert_eq!(of("nodes.n1.mac.attempts"), Unit::Number);
    }

    #[test]
    fn a_share_is_not_held_against_a_time() {
        assert!(Unit::Seconds.takes(Unit::Number) && Unit::Seconds.takes(Unit::Seconds));
        assert!(!Unit::Seconds.takes(Unit::Share) && !Unit::Number.takes(Unit::Seconds));
        assert!(Unit::Number.takes(Unit::Share) && Unit::Number.takes(Unit::Packets));
    }
}
