//! A*: the smaller of eBDP's limit and ALT's (section V-F). eBDP follows a change of the channel within about a
//! thousand packets. ALT then removes, over minutes, the packets that several flows do not need.
//!
//! Both parts run as they do alone: eBDP in each interval of A*, and ALT whenever an interval of ALT has passed.

use crate::alt::{self, Alt};
use crate::ebdp::{self, Ebdp};
use crate::{Controller, Interval, Invalid, Limit, Measures, Needs, Orders, Scheme, Seen, Sets, Site, Warning};
use serde::{Deserialize, Serialize};
use units::Duration;

/// Parameters of the two parts of A*.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Astar"))]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Limit from service times.
    pub ebdp: ebdp::Params,
    /// Limit from idle and busy time.
    pub alt: alt::Params,
}

/// The controller: its two parts, ALT's limit, and the idle and busy time since ALT last ran.
#[derive(Clone, Debug)]
pub struct Astar {
    ebdp: Ebdp,
    alt: Alt,
    alt_limit: Limit,
    length: Duration,
    idle: Duration,
    busy: Duration,
}

impl Scheme for Astar {
    type Params = Params;
    const TARGET: Option<&'static str> = Some("ebdp.t_max");

    /// # Errors
    /// The errors of the two parts.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        let ebdp = Ebdp::new(&params.ebdp, site).map_err(|invalid| invalid.within("ebdp"))?;
        let alt = Alt::new(&params.alt, site).map_err(|invalid| invalid.within("alt"))?;
        let alt_limit = alt.begin().limit;
        Ok(Self { ebdp, alt, alt_limit, length: Duration::ZERO, idle: Duration::ZERO, busy: Duration::ZERO })
    }

    fn begin_from(&mut self, limit: Limit) -> bool {
        let begins = self.alt.begin_from(limit);
        if begins {
            self.alt_limit = self.alt.begin().limit;
        }
        begins
    }
}

impl Controller for Astar {
    fn needs(&self) -> Needs {
        let (ebdp, alt) = (self.ebdp.needs(), self.alt.needs());
        let measures = Measures { service_weight: ebdp.measures.service_weight, ..alt.measures };
        Needs { measures, ..Needs::new(ebdp.interval, ebdp.reads.and(alt.reads), Sets::LIMIT) }
    }

    /// Returns ALT's limit, because eBDP has measured nothing yet.
    fn begin(&self) -> Orders {
        self.alt.begin()
    }

    /// Orders `min(Q_eBDP, q_ALT)`.
    fn update(&mut self, seen: &Seen) -> Orders {
        self.length += seen.queue.length;
        self.idle += seen.queue.idle;
        self.busy += seen.queue.busy;
        if self.length >= self.alt.needs().interval {
            let Self { idle, busy, .. } = *self;
            self.alt_limit = self.alt.update(&Interval { idle, busy, ..Interval::default() }.into()).limit;
            (self.length, self.idle, self.busy) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        }
        self.ebdp.update(seen).limit.smaller(self.alt_limit).into()
    }

    fn target_delay(&self) -> Option<Duration> {
        self.ebdp.target_delay()
    }

    fn warning(&self) -> Option<Warning> {
        self.alt.warning().map(|warning| warning.within("alt"))
    }
}

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
        let astar = Astar::new(&from(60), &Limit::Packets(1_000).into()).unwrap();
        assert_eq!(astar.begin().limit, Limit::Packets(60));
        let mut blind = Astar::new(&Params::default(), &Limit::Packets(1_000).into()).unwrap();
        assert!(blind.begin_from(Limit::Packets(120)));
        assert_eq!(blind.begin().limit, Limit::Packets(120));
        // eBDP has measured nothing yet.
        assert_eq!(blind.update(&Interval::default().into()).limit, Limit::Packets(120));
    }

    /// Starts ALT at this many packets.
    fn from(packets: u32) -> Params {
        let alt = alt::Params { initial: NonZeroU32::new(packets), ..alt::Params::default() };
        Params { alt, ..Params::default() }
    }

    /// An interval of 10 ms with `idle` of idle time, and packets served in `service_us` each.
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
        let mut astar = Astar::new(&from(100), &Limit::Packets(400).into()).unwrap();
        // 0.2 / 0.004 + 5 = 55, and ALT's 100.
        assert_eq!(astar.update(&seen(0, 4_000).into()).limit, Limit::Packets(55));
        // 0.2 / 0.001 + 5 = 205.
        assert_eq!(astar.update(&seen(0, 1_000).into()).limit, Limit::Packets(100));
    }

    #[test]
    fn alt_decides_once_an_interval_of_its_own_from_all_that_passed() {
        let mut astar = Astar::new(&from(100), &Limit::Packets(400).into()).unwrap();
        for _ in 0..49 {
            assert_eq!(astar.update(&seen(10, 1_000).into()).limit, Limit::Packets(100));
        }
        for _ in 49..99 {
            assert_eq!(astar.update(&seen(0, 1_000).into()).limit, Limit::Packets(100));
        }
        // 0.5 s idle and 0.5 s busy by now: 100 + 10 * 0.5 - 0.5 = 104.5.
        assert_eq!(astar.update(&seen(10, 1_000).into()).limit, Limit::Packets(105));
        for _ in 0..99 {
            assert_eq!(astar.update(&seen(0, 1_000).into()).limit, Limit::Packets(105));
        }
        assert_eq!(astar.update(&seen(0, 1_000).into()).limit, Limit::Packets(104), "104.5 - 1 = 103.5");
    }

    #[test]
    fn it_measures_what_both_parts_ask_for() {
        let params = Params { alt: alt::Params { idle_threshold: 3, ..alt::Params::default() }, ..Params::default() };
        let astar = Astar::new(&params, &Limit::Packets(400).into()).unwrap();
        assert_eq!(astar.needs().measures, Measures { service_weight: Some(0.001), idle_threshold: 3 });
        assert_eq!(astar.needs().interval, Duration::from_millis(10));
        assert_eq!(astar.target_delay(), Some(Duration::from_millis(200)));
        assert_eq!(astar.warning(), None);
    }

    #[test]
    fn refusals_and_warnings_name_the_key_of_the_part() {
        let build = |json| Astar::new(&serde_json::from_str(json).unwrap(), &Limit::Packets(400).into());
        let refused = |json| build(json).unwrap_err().to_string();
        assert_eq!(refused(r#"{"alt":{"q_min":2000}}"#), "alt.q_min must not be above q_max");
        assert_eq!(refused(r#"{"alt":{"initial":2000}}"#), "alt.initial must be from q_min to q_max");
        let warning = build(r#"{"alt":{"a1":100}}"#).unwrap().warning().unwrap();
        assert_eq!(warning.to_string().split(' ').next(), Some("alt.a1"));
    }

    proptest! {
        #[test]
        fn no_limit_is_above_that_of_a_part(
            times in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()), 1..20), hard: u32,
            in_bytes: bool,
        ) {
            let hard_limit = if in_bytes { Limit::Bytes(Bytes::new(hard.into())) } else { Limit::Packets(hard) };
            let mut astar = Astar::new(&Params::default(), &hard_limit.into()).unwrap();
            let mut ebdp = Ebdp::new(&ebdp::Params::default(), &hard_limit.into()).unwrap();
            for (length, idle, busy, service) in times {
                let [length, idle, busy, service] = [length, idle, busy, service].map(Duration::from_nanos);
                let seen = Interval { length, idle, busy, service_ewma: Some(service), ..Interval::default() };
                let limit = astar.update(&seen.into()).limit;
                prop_assert_eq!(limit, limit.smaller(ebdp.update(&seen.into()).limit));
                prop_assert_eq!(limit, limit.smaller(astar.alt_limit));
            }
        }
    }
}
