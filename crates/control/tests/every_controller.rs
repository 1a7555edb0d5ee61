//! Properties of every controller in the registry.

use control::{
    AnyController, Controller as _, Count, Heard, Interval, Limit, Link, Name, Note, Parameters, Radio, Reads, Seen,
    Served, Sets, Stat,
};
use proptest::prelude::*;
use units::{Bytes, Duration, Energy, Rate};

#[test]
fn a_name_reads_as_it_is_written() {
    for name in Name::ALL {
        assert_eq!(name.to_string().parse(), Ok(*name));
        assert_eq!(serde_json::to_string(name).unwrap(), format!("\"{name}\""));
    }
    let error = "codel".parse::<Name>().unwrap_err().to_string();
    assert!(error.starts_with("no controller has this name; the names are none, adth"), "{error}");
}

#[test]
fn the_constructor_builds_what_the_name_says() {
    for name in Name::ALL {
        let controller = AnyController::new(*name, &Parameters::default(), &Limit::Packets(1_000).into()).unwrap();
        assert_eq!(controller.name(), *name);
        assert!(!controller.needs().interval.is_zero());
    }
}

#[test]
fn parameters_are_those_of_the_table_of_the_name() {
    let parameters: Parameters = serde_json::from_str(r#"{"adth":{"interval":"30 ms"}}"#).unwrap();
    let controller = AnyController::new(Name::Adth, &parameters, &Limit::Packets(1_000).into()).unwrap();
    assert_eq!(controller.needs().interval, Duration::from_millis(30));
    assert!(serde_json::from_str::<Parameters>(r#"{"none":{}}"#).is_err());
}

#[test]
fn what_a_scheme_refuses_is_named_by_its_place_in_the_queues_table() {
    let refused = |json, name| {
        let parameters: Parameters = serde_json::from_str(json).unwrap();
        AnyController::new(name, &parameters, &Limit::Packets(400).into()).unwrap_err().to_string()
    };
    assert_eq!(refused(r#"{"adth":{"phi_min":2}}"#, Name::Adth), "adth.phi_min must not be above phi_max");
    let nested = refused(r#"{"astar":{"alt":{"q_min":2000}}}"#, Name::Astar);
    assert_eq!(nested, "astar.alt.q_min must not be above q_max");
    let parameters: Parameters = serde_json::from_str(r#"{"astar":{"alt":{"a1":100}}}"#).unwrap();
    let astar = AnyController::new(Name::Astar, &parameters, &Limit::Packets(400).into()).unwrap();
    assert!(astar.warning().unwrap().to_string().starts_with("astar.alt.a1 is not below"));
}

#[test]
fn a_target_can_be_set_where_one_is_promised() {
    for name in Name::ALL {
        let controller = AnyController::new(*name, &Parameters::default(), &Limit::Packets(400).into()).unwrap();
        assert_eq!(controller.target_delay().is_some(), name.target().is_some(), "{name}");
    }
}

#[test]
fn who_says_that_it_begins_from_a_limit_does() {
    let known = Limit::Packets(50);
    for name in Name::ALL {
        let mut controller = AnyController::new(*name, &Parameters::default(), &Limit::Packets(400).into()).unwrap();
        let blind = controller.begin();
        let begins = controller.begin_from(known);
        assert_eq!(controller.begin(), if begins { known.into() } else { blind }, "{name}");
    }
}

#[test]
fn an_interval_can_be_recorded_and_replayed() {
    let seen = Interval { length: Duration::from_nanos(100_000_001), backlog_max: 7, ..Interval::default() };
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<Interval>(&text).unwrap(), seen);
}

#[test]
fn a_recording_from_before_idle_time_was_measured_can_be_replayed() {
    let mut old = serde_json::to_value(Interval { backlog_max: 7, ..Interval::default() }).unwrap();
    let fields = old.as_object_mut().unwrap();
    for absent in ["idle", "busy"] {
        fields.remove(absent).unwrap();
    }
    assert!(!fields.contains_key("service_ewma"));
    assert_eq!(serde_json::from_value::<Interval>(old).unwrap(), Interval { backlog_max: 7, ..Interval::default() });
}

#[test]
fn a_recording_holds_what_was_seen_and_ordered_and_what_is_absent_takes_no_room() {
    type Decision = control::Decision<Vec<Heard>>;
    let queue = Interval { backlog_max: 7, ..Interval::default() };
    let plain = Decision::new(Duration::from_secs(1), &queue.into(), &Limit::Packets(9).into());
    let text = serde_json::to_string(&plain).unwrap();
    let seen = serde_json::to_string(&queue).unwrap();
    assert_eq!(text, format!("{{\"at\":\"1 s\",\"seen\":{seen},\"limit\":9}}"), "as before there was more");
    assert_eq!(serde_json::from_str::<Decision>(&text).unwrap(), plain);

    let link = |node| Link { node, time: Duration::from_micros(1_500), packets: 90, hops: 2 };
    let links = [link(77), link(5)].into_iter().collect();
    let note = Note { domain: 3, hops: 2, rate: Rate::mbps(11), backlog: Count::default(), links };
    let heard = [Heard { from: 7, age: Duration::from_millis(20), note }];
    let radio =
        Radio { busy: Duration::from_nanos(3_040_001), late: 2, real_time: Bytes::new(188), ..Radio::default() };
    let seen = Seen { queue, radio: Some(radio), heard: &heard };
    let access = Some(control::Access { aifsn: 2, cw_min: 15, cw_max: 31, txop: Duration::ZERO });
    let mark = control::Mark::Set { of: 8, index: 3 };
    let orders = control::Orders {
        rate: Some(Rate::kbps(64)),
        mark,
        access,
        low_up_to: Some(4),
        note: Some(note),
        limit: Limit::Packets(9),
    };
    let full = Decision::new(Duration::from_secs(1), &seen, &orders);
    let text = serde_json::to_string(&full).unwrap();
    let read: Decision = serde_json::from_str(&text).unwrap();
    assert_eq!(read, full);
    assert_eq!((read.seen().queue, read.seen().radio, read.seen().heard), (seen.queue, seen.radio, seen.heard));
    assert_eq!(plain.with(&orders), Decision { radio: None, heard: Vec::new(), ..full });
    // A radio whose earlier host told fewer values.
    let less = text.replacen("\"late\":2,", "", 1);
    assert_ne!(less, text);
    assert_eq!(serde_json::from_str::<Decision>(&less).unwrap().radio, Some(Radio { late: 0, ..radio }));
}

fn extreme() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>(), 0_u64..2_000]
}

fn any_stat() -> impl Strategy<Value = Stat> {
    (extreme(), extreme(), extreme(), extreme()).prop_map(|(n, mean, max, last)| Stat {
        n,
        mean: Duration::from_nanos(mean),
        max: Duration::from_nanos(max),
        last: Duration::from_nanos(last),
    })
}

fn any_count() -> impl Strategy<Value = Count> {
    (extreme(), extreme()).prop_map(|(packets, bytes)| Count { packets, bytes: Bytes::new(bytes) })
}

fn any_interval() -> impl Strategy<Value = Interval> {
    let counts = (any_count(), any_count(), any_count(), any_count());
    let stats = (any_stat(), any_stat(), any_stat(), any_stat());
    (extreme(), extreme(), counts, stats).prop_map(|(length, backlog_max, counts, stats)| {
        let (arrived, sent, dropped, backlog) = counts;
        let (service, departure_gap, sojourn, nodal) = stats;
        let (length, service_ewma) = (Duration::from_nanos(length), (service.n > 0).then_some(service.last));
        let (idle, busy) = (nodal.last, sojourn.last);
        Interval {
            length,
            arrived,
            sent,
            dropped,
            backlog,
            backlog_max,
            service,
            departure_gap,
            sojourn,
            nodal,
            service_ewma,
            idle,
            busy,
        }
    })
}

proptest! {
    #[test]
    fn no_input_panics_or_exceeds_the_hard_limit(
        intervals in prop::collection::vec(any_interval(), 1..20), hard: u32, in_bytes: bool,
    ) {
        let hard_bytes = Bytes::new(hard.into());
        let hard_limit = if in_bytes { Limit::Bytes(hard_bytes) } else { Limit::Packets(hard) };
        for name in Name::ALL {
            let mut controller = AnyController::new(*name, &Parameters::default(), &hard_limit.into()).unwrap();
            for seen in &intervals {
                match controller.update(&(*seen).into()).limit {
                    Limit::Packets(packets) => prop_assert!(!in_bytes && packets <= hard),
                    Limit::Bytes(bytes) => prop_assert!(in_bytes && bytes <= hard_bytes),
                }
            }
        }
    }
    #[test]
    fn what_a_scheme_does_not_say_that_it_reads_never_changes_its_orders(
        rounds in prop::collection::vec((any_seen(), any_seen()), 1..12), hard in 1_u32..5_000,
    ) {
        for name in Name::ALL {
            let build = || AnyController::new(*name, &Parameters::default(), &Limit::Packets(hard).into()).unwrap();
            let (mut told, mut misled) = (build(), build());
            let needs = told.needs();
            prop_assert_eq!(misled.begin(), told.begin());
            for (seen, other) in &rounds {
                // Neither shows more than it may; in all other values the two differ.
                let changed = mixed(seen, other, needs.reads);
                let (orders, changed) = (told.update(&seen.shown()), misled.update(&changed.shown()));
                prop_assert_eq!(orders, changed, "{}", name);
                prop_assert_eq!(told.available(), misled.available(), "{}", name);
                for (kind, given) in [
                    (Sets::RATE, orders.rate.is_some()),
                    (Sets::MARK, orders.mark != control::Mark::None),
                    (Sets::ACCESS, orders.access.is_some()),
                    (Sets::LEVEL, orders.low_up_to.is_some()),
                    (Sets::NOTE, orders.note.is_some()),
                ] {
                    prop_assert!(!given || needs.sets.contains(kind), "{} does not say that it orders this", name);
                }
            }
        }
    }
}

/// What [`Seen`] borrows, owned.
#[derive(Clone, Debug)]
struct Sight {
    queue: Interval,
    radio: Radio,
    heard: Vec<Heard>,
}

impl Sight {
    fn shown(&self) -> Seen<'_> {
        Seen { queue: self.queue, radio: Some(self.radio), heard: &self.heard }
    }
}

/// Returns `seen` in what is read, and `other` in everything else but the interval's length.
fn mixed(seen: &Sight, other: &Sight, reads: Reads) -> Sight {
    let mut mixed = Sight { queue: Interval { length: seen.queue.length, ..other.queue }, ..other.clone() };
    let (to, from) = (&mut mixed.queue, &seen.queue);
    if reads.contains(Reads::COUNTS) {
        (to.arrived, to.sent, to.dropped, to.backlog) = (from.arrived, from.sent, from.dropped, from.backlog);
        to.backlog_max = from.backlog_max;
    }
    if reads.contains(Reads::SOJOURN) {
        to.sojourn = from.sojourn;
    }
    if reads.contains(Reads::GAP) {
        to.departure_gap = from.departure_gap;
    }
    if reads.contains(Reads::SERVICE) {
        (to.service, to.nodal) = (from.service, from.nodal);
    }
    if reads.contains(Reads::AVERAGE) {
        to.service_ewma = from.service_ewma;
    }
    if reads.contains(Reads::OCCUPANCY) {
        (to.idle, to.busy) = (from.idle, from.busy);
    }
    let (to, from) = (&mut mixed.radio, &seen.radio);
    if reads.contains(Reads::MEDIUM) {
        (to.busy, to.sending) = (from.busy, from.sending);
    }
    if reads.contains(Reads::CONTENDERS) {
        to.contenders = from.contenders;
    }
    if reads.contains(Reads::LINK) {
        to.phy_rate = from.phy_rate;
    }
    if reads.contains(Reads::AGGREGATES) {
        (to.frames, to.mpdus, to.aggregate_max) = (from.frames, from.mpdus, from.aggregate_max);
        to.aggregate_mpdus_max = from.aggregate_mpdus_max;
    }
    if reads.contains(Reads::LATE) {
        to.late = from.late;
    }
    if reads.contains(Reads::OVERHEARD) {
        (to.real_time, to.real_time_new) = (from.real_time, from.real_time_new);
    }
    if reads.contains(Reads::HOPS) {
        to.hops = from.hops;
    }
    if reads.contains(Reads::LEVELS) {
        to.levels = from.levels;
    }
    if reads.contains(Reads::NOTES) {
        mixed.heard.clone_from(&seen.heard);
    }
    mixed
}

fn any_radio() -> impl Strategy<Value = Radio> {
    let times = (extreme(), extreme(), any::<u32>());
    let link = (extreme(), extreme(), extreme(), extreme());
    let real_time = (extreme(), extreme());
    let levels = [any_served(), any_served()];
    (times, link, extreme(), real_time, any::<(u8, u8)>(), levels).prop_map(
        |(times, link, late, real_time, small, levels)| Radio {
            busy: Duration::from_nanos(times.0),
            sending: Duration::from_nanos(times.1),
            contenders: times.2,
            phy_rate: Rate::bps(link.0),
            frames: link.1,
            mpdus: link.2,
            aggregate_max: Bytes::new(link.3),
            aggregate_mpdus_max: small.0,
            late,
            real_time: Bytes::new(real_time.0),
            real_time_new: Bytes::new(real_time.1),
            hops: small.1,
            levels,
        },
    )
}

fn any_served() -> impl Strategy<Value = Served> {
    (extreme(), extreme(), extreme()).prop_map(|(packets, time, energy)| Served {
        packets,
        time: Duration::from_nanos(time),
        energy: Energy::nanojoules(energy),
    })
}

fn any_link() -> impl Strategy<Value = Link> {
    (any::<u32>(), extreme(), any::<u32>(), any::<u8>()).prop_map(|(node, time, packets, hops)| Link {
        node,
        time: Duration::from_nanos(time),
        packets,
        hops,
    })
}

fn any_heard() -> impl Strategy<Value = Heard> {
    let links = prop::collection::vec(any_link(), 0..20);
    let note = (any::<u16>(), any::<u8>(), extreme(), any_count(), links);
    (any::<u32>(), extreme(), note).prop_map(|(from, age, (domain, hops, rate, backlog, links))| Heard {
        from,
        age: Duration::from_nanos(age),
        note: Note { domain, hops, rate: Rate::bps(rate), backlog, links: links.into_iter().collect() },
    })
}

fn any_seen() -> impl Strategy<Value = Sight> {
    (any_interval(), any_radio(), prop::collection::vec(any_heard(), 0..4)).prop_map(|(queue, radio, heard)| Sight {
        queue,
        radio,
        heard,
    })
}
