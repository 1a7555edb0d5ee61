//! A*: the smaller of eBDP's limit and ALT's (section V-F). eBDP follows a change of the channel within about a thousand
//! packets; ALT then takes away, over minutes, what the multiplexing of flows makes superfluous.
//!
//! Both parts run as they do alone, eBDP's every one of its intervals, which are A*'s too, ALT's each time that its own
//! has passed.

use crate::alt::{self, Alt};
use crate::ebdp::{self, Ebdp};
use crate::{Interval, Invalid, Limit, LimitController, Measures, Warning};
use serde::{Deserialize, Serialize};
use units::Duration;

/// Parameters of A*: those of its two parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Astar"))]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Of the part that follows the service time.
    pub ebdp: ebdp::Params,
    /// Of the part that follows idle and busy time.
    pub alt: alt::Params,
}

/// The controller: its two parts, ALT's limit, and the idle and busy time that ALT has yet to see.
#[derive(Clone, Debug)]
pub struct Astar {
    ebdp: Ebdp,
    alt: Alt,
    alt_limit: Limit,
    length: Duration,
    idle: Duration,
    busy: Duration,
}

impl Astar {
    /// A* with `params` for a queue that can hold at most `hard_limit`.
    ///
    /// # Errors
    /// Those of its parts.
    pub fn new(params: &Params, hard_limit: Limit) -> Result<Self, Invalid> {
        let refuse = |Invalid { parameter, why }| Invalid { parameter: own_key(parameter), why };
        let ebdp = Ebdp::new(&params.ebdp, hard_limit).map_err(refuse)?;
        let mut alt = Alt::new(&params.alt, hard_limit).map_err(refuse)?;
        let alt_limit = alt.update(&Interval::default());
        Ok(Self { ebdp, alt, alt_limit, length: Duration::ZERO, idle: Duration::ZERO, busy: Duration::ZERO })
    }
}

impl LimitController for Astar {
    fn interval(&self) -> Duration {
        self.ebdp.interval()
    }

    /// `min(Q_eBDP, q_ALT)`
    fn update(&mut self, seen: &Interval) -> Limit {
        self.length += seen.length;
        self.idle += seen.idle;
        self.busy += seen.busy;
        if self.length >= self.alt.interval() {
            let Self { idle, busy, .. } = *self;
            self.alt_limit = self.alt.update(&Interval { idle, busy, ..Interval::default() });
            (self.length, self.idle, self.busy) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        }
        self.ebdp.update(seen).smaller(self.alt_limit)
    }

    fn target_delay(&self) -> Option<Duration> {
        self.ebdp.target_delay()
    }

    fn measures(&self) -> Measures {
        Measures { service_weight: self.ebdp.measures().service_weight, ..self.alt.measures() }
    }

    /// ALT's: eBDP has measured nothing yet.
    fn initial(&self) -> Option<Limit> {
        self.alt.initial()
    }

    fn begin_from(&mut self, limit: Limit) -> bool {
        let begins = self.alt.begin_from(limit);
        if let Some(limit) = self.alt.initial().filter(|_| begins) {
            self.alt_limit = limit;
        }
        begins
    }

    fn warning(&self) -> Option<Warning> {
        self.alt.warning().map(|Warning { parameter, why }| Warning { parameter: own_key(parameter), why })
    }
}

/// The key of a part's parameter within the queue's table.
fn own_key(of_part: &str) -> &'static str {
    KEYS.into_iter().find(|key| key.strip_prefix("astar.") == Some(of_part)).unwrap_or("astar")
}

/// The parameters that its parts refuse or warn of.
const KEYS: [&str; 8] = [
    "astar.ebdp.t_max",
    "astar.ebdp.weight",
    "astar.ebdp.interval",
    "astar.alt.a1",
    "astar.alt.b1",
    "astar.alt.interval",
    "astar.alt.q_min",
    "astar.alt.initial",
];

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use core::num::NonZeroU32;
    use proptest::prelude::*;
    use std::string::ToString;
    use units::Bytes;

    #[test]
    fn it_begins_where_alt_does() {
        let astar = Astar::new(&from(60), Limit::Packets(1_000)).unwrap();
        assert_eq!(astar.initial(), Some(Limit::Packets(60)));
        let mut blind = Astar::new(&Params::default(), Limit::Packets(1_000)).unwrap();
        assert!(blind.begin_from(Limit::Packets(120)));
        assert_eq!(blind.initial(), Some(Limit::Packets(120)));
        // eBDP has measured nothing yet.
        assert_eq!(blind.update(&Interval::default()), Limit::Packets(120));
    }

    /// Starts ALT at so many packets.
    fn from(packets: u32) -> Params {
        let alt = alt::Params { initial: NonZeroU32::new(packets), ..alt::Params::default() };
        Params { alt, ..Params::default() }
    }

    /// 10 ms of which so many were idle, with packets served in so many microseconds.
    fn seen(idle_ms: u64, service_us: u64) -> Interval {
        Interval {
            length: Duration::from_millis(10),
            idle: Duration::from_millis(idle_ms),
            busy: Duration::from_millis(10 - idle_ms),
            service_ewma: Some(Duration::from_micros(service_us)),
            ..Interval::default()
        }
    }

    #[test]
    fn the_smaller_limit_holds() {
        let mut astar = Astar::new(&from(100), Limit::Packets(400)).unwrap();
        // 0.2 / 0.004 + 5 = 55, and ALT's 100.
        assert_eq!(astar.update(&seen(0, 4_000)), Limit::Packets(55));
        // 0.2 / 0.001 + 5 = 205.
        assert_eq!(astar.update(&seen(0, 1_000)), Limit::Packets(100));
    }

    #[test]
    fn alt_decides_once_an_interval_of_its_own_from_all_that_passed() {
        let mut astar = Astar::new(&from(100), Limit::Packets(400)).unwrap();
        for _ in 0..49 {
            assert_eq!(astar.update(&seen(10, 1_000)), Limit::Packets(100));
        }
        for _ in 49..99 {
            assert_eq!(astar.update(&seen(0, 1_000)), Limit::Packets(100));
        }
        // 0.5 s idle and 0.5 s busy by now: 100 + 10 * 0.5 - 0.5 = 104.5.
        assert_eq!(astar.update(&seen(10, 1_000)), Limit::Packets(105));
        for _ in 0..99 {
            assert_eq!(astar.update(&seen(0, 1_000)), Limit::Packets(105));
        }
        assert_eq!(astar.update(&seen(0, 1_000)), Limit::Packets(104), "104.5 - 1 = 103.5");
    }

    #[test]
    fn it_measures_what_both_parts_ask_for() {
        let params = Params { alt: alt::Params { idle_threshold: 3, ..alt::Params::default() }, ..Params::default() };
        let astar = Astar::new(&params, Limit::Packets(400)).unwrap();
        assert_eq!(astar.measures(), Measures { service_weight: Some(0.001), idle_threshold: 3 });
        assert_eq!(astar.interval(), Duration::from_millis(10));
        assert_eq!(astar.target_delay(), Some(Duration::from_millis(200)));
        assert_eq!(astar.warning(), None);
    }

    #[test]
    fn refusals_and_warnings_name_the_key_of_the_part() {
        let build = |json| Astar::new(&serde_json::from_str(json).unwrap(), Limit::Packets(400));
        let refused = |json| build(json).unwrap_err().to_string();
        assert_eq!(refused(r#"{"ebdp":{"weight":2}}"#), "astar.ebdp.weight must be above zero and at most 1");
        assert_eq!(refused(r#"{"alt":{"q_min":2000}}"#), "astar.alt.q_min must not be above q_max");
        assert_eq!(refused(r#"{"alt":{"initial":2000}}"#), "astar.alt.initial must be from q_min to q_max");
        let warning = build(r#"{"alt":{"a1":100}}"#).unwrap().warning().unwrap();
        assert_eq!(warning.parameter, "astar.alt.a1");
        let zero = Duration::ZERO;
        for change in [
            |p: &mut Params, zero| p.ebdp.t_max = zero,
            |p: &mut Params, zero| p.ebdp.interval = zero,
            |p: &mut Params, zero| p.alt.interval = zero,
            |p: &mut Params, _| p.alt.a1 = 0.0,
            |p: &mut Params, _| p.alt.b1 = 0.0,
        ] {
            let mut params = Params::default();
            change(&mut params, zero);
            let refused = Astar::new(&params, Limit::Packets(400)).unwrap_err();
            assert!(KEYS.contains(&refused.parameter), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn no_limit_is_above_that_of_a_part(
            times in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()), 1..20), hard: u32,
            in_bytes: bool,
        ) {
            let hard_limit = if in_bytes { Limit::Bytes(Bytes::new(hard.into())) } else { Limit::Packets(hard) };
            let mut astar = Astar::new(&Params::default(), hard_limit).unwrap();
            let mut ebdp = Ebdp::new(&ebdp::Params::default(), hard_limit).unwrap();
            for (length, idle, busy, service) in times {
                let [length, idle, busy, service] = [length, idle, busy, service].map(Duration::from_nanos);
                let seen = Interval { length, idle, busy, service_ewma: Some(service), ..Interval::default() };
                let limit = astar.update(&seen);
                prop_assert_eq!(limit, limit.smaller(ebdp.update(&seen)));
                prop_assert_eq!(limit, limit.smaller(astar.alt_limit));
            }
        }
    }
}
