//! Tests of T-MAC at one station: SIFS 10, CTS and grants 304, the slot of a grant 314. The key makes data 6 us longer
//! (8 B at 11 Mb/s: 1072 B in 972 us) and an ACK 64 us (22 B at 1 Mb/s: 368 us).

use super::*;
use crate::mac::{KEY, Key, Sign, Tells, TmacRules};

/// Duration of data by plain DCF.
const DATA: u64 = 972;
/// Duration of the exchange after the grants: SIFS, data, SIFS, ACK.
const THEN: u64 = 10 + DATA + 10 + 368;

const RULES: TmacRules = TmacRules {
    requests: true,
    quorum: 0.5,
    attempts: 4,
    request_wait: us(4_000),
    deferral: us(2_000),
    expiry: us(20_000),
    activity: us(100_000),
    neighbours: 3,
};

fn bench(age: TmacRules) -> Bench {
    let mut rules = Conventions { tmac: Some(age), key: KEY, ..without_backoff() };
    rules.timing.lengthen_responses(KEY);
    Bench::new(rules)
}

const fn key(millis: u64) -> Key {
    Key { stamp: Instant::from_nanos(millis * 1_000_000), origin: 0, serial: 0 }
}

impl Bench {
    /// Gives the station a packet with this key for its peer.
    fn has(&mut self, micros: u64, own: Key) {
        self.offer(micros);
        self.station.take_turn(at(micros), Some(own), &self.rules);
    }

    /// Receives data of a neighbour with this tag, after which the medium is idle.
    fn learns(&mut self, begin: u64, end: u64, from: u32, tells: Tells, own: Option<Key>) {
        self.busy(begin);
        self.station.tmac.as_mut().expect("T-MAC").hear_key(at(end), from, tells, Sign::Sends, 1);
        self.station.received(at(end), &data(from, OTHER, 0), &self.rules);
        self.station.take_turn(at(end), own, &self.rules);
        self.idle(end);
    }

    /// Receives a grant for the station.
    fn is_granted(&mut self, begin: u64, from: u32) {
        self.hears(begin, begin + 304, &Frame { kind: Kind::Grant, from, ..control(Kind::Grant, ME, 0) });
    }
}

#[test]
fn a_station_alone_with_its_receiver_asks_it_and_sends_after_its_grant() {
    let mut bench = bench(RULES);
    bench.has(1_000, key(1));
    let request = bench.sends_at(1_000);
    assert_eq!(request.kind, Kind::Request { asked: 1, then: us(THEN) });
    // An RTS, the key, a duration and a number: 31 B.
    assert_eq!((request.psdu(KEY), request.to, request.reserves), (Bytes::new(31), PEER, us(314)));
    bench.sent(1_440, &request);
    bench.is_granted(1_450, PEER);
    // The slot of one grant, and SIFS.
    let sent = bench.sends_at(1_440 + 314 + 10);
    assert!(matches!(sent.kind, Kind::Data { .. }) && sent.psdu(KEY) == Bytes::new(1_072));
    assert_eq!(sent.reserves, us(10 + 368));
}

#[test]
fn the_receiver_has_to_grant_and_so_have_enough_of_the_others() {
    // Of three that are asked, two have to grant by a quorum of a half.
    for (granting, granted) in
        [(&[PEER, OTHER][..], true), (&[PEER, 3], true), (&[OTHER, 3], false), (&[PEER], false), (&[], false)]
    {
        let mut bench = bench(RULES);
        bench.learns(0, 400, OTHER, Tells::Empty, None);
        bench.learns(500, 900, 3, Tells::Empty, None);
        bench.learns(950, 990, 4, Tells::Empty, None);
        bench.has(1_100, key(1));
        let request = bench.sends_at(1_100);
        let Kind::Request { asked, .. } = request.kind else { panic!("{request:?}") };
        assert_eq!((asked, request.psdu(KEY)), (3, Bytes::new(31 + 12)), "the receiver and two of three neighbours");
        bench.sent(1_600, &request);
        let places = [PEER, OTHER, 3].iter().zip(0_u64..);
        for (from, place) in places.filter(|(from, _)| granting.contains(from)) {
            bench.is_granted(1_610 + 314 * place, *from);
        }
        let end = 1_600 + 3 * 314 + 10;
        assert_eq!(bench.deadline(), end);
        if granted {
            assert!(matches!(bench.sends_at(end).kind, Kind::Data { .. }), "{granting:?}");
        } else {
            assert!(bench.times_out().failed.is_none());
            bench.station.take_turn(at(end), Some(key(1)), &bench.rules);
            assert_eq!(bench.deadline(), end + 4_000, "it waits for T_req: {granting:?}");
        }
    }
}

#[test]
fn a_younger_key_ends_the_wait_of_a_refused_station_and_an_older_one_does_not() {
    for (told, ends) in [(Tells::Next(key(9)), true), (Tells::Empty, true), (Tells::Next(key(2)), false)] {
        let mut bench = bench(TmacRules { deferral: us(0), ..RULES });
        bench.has(1_000, key(5));
        let (start, _) = bench.sends_for(440);
        bench.times_out();
        bench.station.take_turn(at(start + 764), Some(key(5)), &bench.rules);
        bench.learns(2_000, 2_900, OTHER, told, Some(key(5)));
        assert_eq!(bench.deadline(), if ends { 2_900 + 50 } else { start + 764 + 4_000 }, "{told:?}");
    }
}

#[test]
fn after_four_requests_in_vain_data_go_by_plain_dcf_and_then_it_asks_again() {
    let mut bench = bench(RULES);
    bench.has(1_000, key(1));
    for _ in 0..4 {
        let (_, request) = bench.sends_for(440);
        assert!(matches!(request.kind, Kind::Request { .. }));
        let end = bench.station.deadline;
        assert!(bench.times_out().finished.is_none(), "a request is no attempt at the data");
        bench.station.take_turn(end, Some(key(1)), &bench.rules);
    }
    let (start, sent) = bench.sends_for(DATA);
    assert!(matches!(sent.kind, Kind::Data { .. }) && !sent.retry);
    bench.hears(start + DATA + 10, start + DATA + 378, &control(Kind::Ack, ME, 0));
    bench.has(start + 4_000, key(2));
    assert!(matches!(bench.sends_for(440).1.kind, Kind::Request { .. }));
}

#[test]
fn it_grants_in_its_slot_if_it_has_nothing_older_and_the_medium_is_not_reserved() {
    let request = control(Kind::Request { asked: 3, then: us(THEN) }, OTHER, 3 * 314);
    for (own, place, reserved, granted) in [
        (None, 0, false, true),
        (Some(key(6)), 2, false, true),
        (Some(key(4)), 1, false, false),
        (None, 1, true, false),
    ] {
        let mut bench = bench(RULES);
        if reserved {
            bench.hears(100, 400, &control(Kind::Cts, OTHER, 5_000));
        }
        bench.busy(1_000);
        bench.station.tmac.as_mut().expect("T-MAC").hear_key(at(1_440), PEER, Tells::Next(key(5)), Sign::Asks, 1);
        bench.station.consider(at(1_440), &request, key(5), own, place, &bench.rules);
        bench.station.received(at(1_440), &request, &bench.rules);
        bench.idle(1_440);
        if !granted {
            assert!(bench.is_silent(), "{own:?} {place} {reserved}");
            continue;
        }
        let grant = bench.sends_at(1_440 + 10 + 314 * place as u64);
        assert_eq!((grant.kind, grant.to, grant.psdu(KEY)), (Kind::Grant, PEER, Bytes::new(14)));
        // The receiver, which is asked first, reserves for the data too.
        let rest = 314 * (2 - place as u64) + if place == 0 { THEN } else { 0 };
        assert_eq!(grant.reserves, us(rest));
    }
}

#[test]
fn a_station_defers_for_each_older_key_until_it_expires() {
    let table = TmacRules { requests: false, expiry: us(5_000), ..RULES };
    let mut bench = bench(table);
    bench.learns(0, 400, OTHER, Tells::Next(key(1)), None);
    bench.learns(500, 900, 3, Tells::Next(key(2)), None);
    bench.learns(1_000, 1_400, 4, Tells::Next(key(7)), None);
    // Two keys are older than its own.
    bench.has(2_000, key(5));
    assert_eq!(bench.deadline(), 2_000 + 2 * 2_000);
    // The first has sent its packet and tells a younger one. At 5500 us the second's key is 4600 us old, and counts.
    bench.learns(5_000, 5_500, OTHER, Tells::Next(key(8)), Some(key(5)));
    assert_eq!(bench.deadline(), 5_500 + 2_000);
    // At 6000 us the key has expired.
    bench.busy(5_900);
    bench.station.tmac.as_mut().expect("T-MAC").hear_key(at(6_000), 4, Tells::Nothing, Sign::Responds, 1);
    bench.station.take_turn(at(6_000), Some(key(5)), &bench.rules);
    bench.idle(6_000);
    assert_eq!(bench.deadline(), 6_050);
    assert!(matches!(bench.sends_for(DATA).1.kind, Kind::Data { .. }));
}

#[test]
fn who_renews_its_key_but_never_sends_is_not_waited_for_longer_than_a_key_counts() {
    let mut bench = bench(TmacRules { requests: false, expiry: us(5_000), ..RULES });
    let mut now = 1_000;
    bench.busy(900);
    bench.has(now, key(5));
    // Before the station can send, a neighbour acknowledges a frame each millisecond and tells an older key each time.
    let mut tells = |bench: &mut Bench| {
        bench.busy(now);
        now += 300;
        bench.station.tmac.as_mut().expect("T-MAC").hear_key(at(now), OTHER, Tells::Next(key(1)), Sign::Responds, 1);
        bench.station.take_turn(at(now), Some(key(5)), &bench.rules);
        bench.idle(now);
        now += 700;
        bench.deadline()
    };
    let due: Vec<u64> = (0..6).map(|_| tells(&mut bench)).collect();
    // It has deferred since 1300 us and does so until 6300 us; after that it waits only for DIFS.
    assert_eq!(due, [3_300, 4_300, 5_300, 6_300, 6_300, 6_350]);
}
