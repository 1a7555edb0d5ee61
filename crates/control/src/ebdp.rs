//! eBDP, the emulated bandwidth-delay product: the limit is the number of packets that the MAC serves within a target
//! delay at the average service time, plus some for bursts (section IV, Algorithm 1).
//!
//! The document is that of `docs/controllers/buffer-sizing.md`; its names are in parentheses. Choices made here:
//!
//! - B8: the first formula of the limit lacks `c`; Algorithm 1 has it.
//! - The largest limit (`Q_max_eBDP`) is not stated; eBDP takes the queue's hard limit. The average begins with its
//!   first sample; before that sample the hard limit applies.
//! - Algorithm 1 computes the limit at each arrival; this controller computes it every `interval`.

use crate::{Controller, Invalid, Limit, Measures, Needs, Orders, Period, Reads, Scheme, Seen, Sets, Site};
use core::num::NonZeroU32;
use units::{Duration, Positive, Share, with_defaults};

with_defaults! {
    /// Parameters of eBDP. The queue's `limit` is the upper bound (`Q_max_eBDP`).
    pub struct Params as "Ebdp" {
        /// Longest wait (`T_max`). Default 200 ms: about the longest round trip of most flows in the Internet.
        pub t_max: Positive<Duration> => Duration::from_millis(200),
        /// Margin in packets for bursts and varying service times (`c`). Default 5, found by experiment.
        pub c: NonZeroU32 => 5,
        /// Weight of the newest packet in the mean service time (`W`), above 0 and at most 1. Default 0.001: about the
        /// last 1000 packets.
        pub weight: Positive<Share> => 0.001,
        /// Control interval, at least 100 us. Default 10 ms, in which the average of service times hardly moves.
        pub interval: Period => Duration::from_millis(10),
    }
}

/// The controller. It has no state: the queue measures the average service time (`T_serv`).
#[derive(Clone, Debug)]
pub struct Ebdp {
    params: Params,
    hard_limit: Limit,
}

impl Scheme for Ebdp {
    type Params = Params;
    const TARGET: Option<&'static str> = Some("t_max");

    /// Builds the controller with the site's hard limit as `Q_max_eBDP`; every parameter set is valid.
    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        Ok(Self { params: params.clone(), hard_limit: site.hard_limit })
    }
}

impl Controller for Ebdp {
    fn needs(&self) -> Needs {
        let measures = Measures { service_weight: Some(self.params.weight.get()), ..Measures::default() };
        Needs { measures, ..Needs::new(self.params.interval.get(), Reads::AVERAGE, Sets::LIMIT) }
    }

    fn begin(&self) -> Orders {
        self.hard_limit.into()
    }

    /// Orders `min(T_max / T_serv + c, Q_max_eBDP)`.
    fn update(&mut self, seen: &Seen) -> Orders {
        let Some(t_serv) = seen.queue.service_ewma else { return self.begin() };
        let size = self.params.t_max.get().as_secs_f64() / t_serv.as_secs_f64() + f64::from(self.params.c.get());
        self.hard_limit.below(size).into()
    }

    fn target_delay(&self) -> Option<Duration> {
        Some(self.params.t_max.get())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::Interval;
    use proptest::prelude::*;
    use std::string::ToString;
    use units::Bytes;

    fn ebdp(change: impl FnOnce(&mut Params), hard_limit: Limit) -> Ebdp {
        let mut params = Params::default();
        change(&mut params);
        Ebdp::new(&params, &hard_limit.into()).unwrap()
    }

    fn served_in(micros: u64) -> Interval {
        Interval { service_ewma: Some(Duration::from_micros(micros)), ..Interval::default() }
    }

    #[test]
    fn the_limit_is_what_the_mac_serves_within_the_target_and_c_more() {
        let mut ebdp = ebdp(|_| (), Limit::Packets(1_600));
        // 13.5 Mb/s and packets of 1000 B: 592.6 us each, 0.2 / 0.0005926 = 337.5; with 5 more the 343rd packet is
        // taken while 342 wait, which is fewer than 342.5.
        assert_eq!(ebdp.update(&served_in(592).into()).limit, Limit::Packets(343));
        // 0.2 / 0.004 + 5 = 55 exactly.
        assert_eq!(ebdp.update(&served_in(4_000).into()).limit, Limit::Packets(55));
        // A service time above the target leaves c and a part of a packet.
        assert_eq!(ebdp.update(&served_in(400_000).into()).limit, Limit::Packets(6));
    }

    #[test]
    fn the_hard_limit_is_the_largest_size_and_the_first() {
        let mut ebdp = ebdp(|_| (), Limit::Packets(400));
        assert_eq!(ebdp.update(&Interval::default().into()).limit, Limit::Packets(400), "nothing was served yet");
        assert_eq!(ebdp.update(&served_in(100).into()).limit, Limit::Packets(400), "2005 packets");
        assert_eq!(ebdp.update(&served_in(0).into()).limit, Limit::Packets(400), "no service time: no end of packets");
    }

    #[test]
    fn a_limit_in_bytes_counts_full_packets() {
        let mut ebdp = ebdp(|_| (), Limit::Bytes(Bytes::new(100_000)));
        assert_eq!(ebdp.update(&served_in(4_000).into()).limit, Limit::Bytes(Bytes::new(82_500)), "55 times 1500 B");
        assert_eq!(ebdp.update(&served_in(1_000).into()).limit, Limit::Bytes(Bytes::new(100_000)));
    }

    #[test]
    fn it_asks_for_the_average_that_the_document_describes() {
        let ebdp = ebdp(|_| (), Limit::Packets(400));
        assert_eq!(ebdp.needs().measures.service_weight, Some(0.001));
        assert_eq!(ebdp.needs().interval, Duration::from_millis(10));
        assert_eq!(ebdp.target_delay(), Some(Duration::from_millis(200)));
        assert_eq!(ebdp.warning(), None);
    }

    #[test]
    fn parameters_that_cannot_work_are_refused() {
        let read = |json| serde_json::from_str::<Params>(json).map_err(|error| error.to_string());
        assert_eq!(read("{}"), Ok(Params::default()));
        for (json, message) in [
            (r#"{"t_max":"0 s"}"#, "\"0 s\" is zero; expected a duration above zero"),
            (r#"{"c":0}"#, "expected a nonzero u32"),
            (r#"{"c":-1}"#, "expected a nonzero u32"),
            (r#"{"weight":0}"#, "expected a number above zero and at most 1"),
            (r#"{"weight":-0.1}"#, "expected a number above zero and at most 1"),
            (r#"{"weight":1.001}"#, "floating point `1.001`, expected a number above zero and at most 1"),
            (r#"{"interval":"99 us"}"#, "\"99 us\" is out of range; it must be at least 100 us"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(message), "{json}: {error}");
        }
    }

    proptest! {
        #[test]
        fn every_limit_is_within_c_and_the_hard_limit(
            services in prop::collection::vec(prop::option::of(any::<u64>()), 1..20),
            t_max in 1_u64.., c in 1_u32.., weight in 1e-9_f64..=1.0, hard: u32, in_bytes: bool,
        ) {
            let hard_limit = if in_bytes { Limit::Bytes(Bytes::new(hard.into())) } else { Limit::Packets(hard) };
            let change = |p: &mut Params| {
                p.t_max = Positive::<Duration>::new(Duration::from_nanos(t_max)).unwrap();
                p.c = NonZeroU32::new(c).unwrap();
                p.weight = Positive::<Share>::new(weight).unwrap();
            };
            let mut ebdp = ebdp(change, hard_limit);
            for service in services {
                let service_ewma = service.map(Duration::from_nanos);
                match ebdp.update(&Interval { service_ewma, ..Interval::default() }.into()).limit {
                    Limit::Packets(n) => prop_assert!(!in_bytes && n <= hard && n >= c.min(hard)),
                    Limit::Bytes(n) => {
                        let least = Bytes::new(1_500) * u64::from(c);
                        prop_assert!(in_bytes && n.count() <= hard.into() && n >= least.min(Bytes::new(hard.into())));
                    }
                }
            }
        }
    }
}
