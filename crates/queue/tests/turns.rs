//! The law of `turns`, by hand-made cases and by its properties. In one long file, since one host drives it in all.

use crate::piece::{Piece, at, piece, queue as build};
use proptest::prelude::*;
use queue::turns::{Law, Mark, Pace, Ports, Rule, Turn};
use queue::{Ecn, Queue};
use std::collections::VecDeque;
use units::{Bytes, Duration, Instant, Positive};

const LONG: Bytes = Bytes::new(1_500);
const TURN: Duration = Duration::from_micros(3_600);
/// Number of packets for which an aggregate has room.
const ROOM: u32 = 64;

pub(crate) fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn law(target: Duration, ports: usize) -> Law {
    Law::new(Positive::<Duration>::new(target).expect("above zero"), ports, 1)
}

/// What waits at each port: packets of 1500 B, and before them thin ones. A port's packets take `airtime` each.
struct Host {
    waiting: Vec<u32>,
    thin: Vec<u32>,
    airtime: Vec<Duration>,
}

impl Ports for Host {
    fn waits(&self, port: usize) -> bool {
        self.waiting[port] + self.thin[port] > 0
    }

    fn has_thin(&self, port: usize) -> bool {
        self.thin[port] > 0
    }

    fn has_room(&self, _: usize) -> bool {
        true
    }

    fn turn(&self, _: usize) -> Turn {
        Turn { airtime: TURN, packets: ROOM }
    }
}

impl Host {
    /// Ports with many packets, which take these airtimes each.
    fn busy(law: &mut Law, airtime: &[u64]) -> Self {
        let ports = airtime.len();
        (0..ports).for_each(|port| law.joined(Instant::ZERO, port, LONG, false));
        Self {
            waiting: vec![1_000_000; ports],
            thin: vec![0; ports],
            airtime: airtime.iter().map(|&micros| us(micros)).collect(),
        }
    }

    /// Releases all that may be released and returns the ports of the packets.
    fn release(&mut self, law: &mut Law, now: Instant) -> Vec<usize> {
        let mut released = Vec::new();
        while let Some(port) = law.next(now, 0, self) {
            let thin = self.thin[port] > 0;
            let waiting = if thin { &mut self.thin } else { &mut self.waiting };
            waiting[port] -= 1;
            law.released(now, port, LONG, self.airtime[port], thin);
            released.push(port);
        }
        released
    }
}

#[test]
fn one_turn_waits_behind_the_one_in_flight_however_many_stations_there_are() {
    for stations in [1, 2, 8, 64] {
        let mut law = law(us(50_000), stations);
        let mut host = Host::busy(&mut law, &vec![200; stations]);
        let released = host.release(&mut law, Instant::ZERO);
        // 18 packets of 200 us are 3.6 ms.
        assert_eq!(released.len(), 36, "{stations} stations");
        assert!(released[..18].iter().all(|&port| port == released[0]), "an aggregate is whole: {released:?}");
        assert_eq!(released[18] == released[0], stations == 1);
        assert_eq!(law.pending(), us(7_200));
        // While one packet of the first turn is not yet done, nothing is released; after it, the next turn is.
        let end = Instant::ZERO + us(4_000);
        (0..17).for_each(|_| law.completed(end, released[0], us(200)));
        assert!(host.release(&mut law, end).is_empty());
        law.completed(end, released[0], us(200));
        assert_eq!(host.release(&mut law, end).len(), 18);
    }
}

#[test]
fn short_packets_make_no_turn_longer_than_an_aggregate_and_the_turns_of_others_no_shorter() {
    let mut law = law(us(50_000), 2);
    let mut host = Host::busy(&mut law, &[10, 200]);
    for _ in 0..100 {
        let now = Instant::ZERO;
        let released = host.release(&mut law, now);
        let turns: Vec<&[usize]> = released.chunk_by(|one, next| one == next).collect();
        // A station keeps the turn until it is in debt.
        assert!(turns.iter().all(|turn| turn.len() % if turn[0] == 0 { ROOM as usize } else { 18 } == 0), "{turns:?}");
        for port in released {
            law.sent(now, port, host.airtime[port]);
            law.answered(port);
            law.completed(now, port, host.airtime[port]);
        }
    }
    // As many as two turns of a station whose packets are long.
    let pace = law.pace(Instant::ZERO, 1, LONG);
    assert!(pace.most.count() > 7_000_000_000 / 150_000, "{pace:?}");
}

/// A turn that short packets end early counts with what was left of it. So two turns still bound the packets of others.
#[test]
fn short_packets_make_no_bound_smaller() {
    let bound = |airtime: u64| {
        let mut law = law(us(1), 2);
        let mut host = Host::busy(&mut law, &[airtime, 200]);
        for _ in 0..100 {
            for port in host.release(&mut law, Instant::ZERO) {
                law.sent(Instant::ZERO, port, host.airtime[port]);
                law.answered(port);
                law.completed(Instant::ZERO, port, host.airtime[port]);
            }
        }
        law.pace(Instant::ZERO, 1, LONG).most.count() as f64
    };
    let (short, long) = (bound(10), bound(200));
    assert!((short / long - 1.0).abs() < 0.02, "{short} and {long}");
}

#[test]
fn a_port_whose_station_sleeps_has_no_turn_until_it_wakes_and_then_the_next() {
    let mut law = law(us(50_000), 2);
    let mut host = Host::busy(&mut law, &[200; 2]);
    let kept = std::mem::take(&mut host.waiting[1]);
    assert_eq!(host.release(&mut law, Instant::ZERO), [0; 36]);
    (host.waiting[1], host.thin[1]) = (kept, 1);
    law.joins_again(1, true);
    assert_eq!(host.release(&mut law, Instant::ZERO), [1], "its thin packet at once");
    let end = Instant::ZERO + us(4_000);
    law.completed(end, 1, us(200));
    (0..18).for_each(|_| law.completed(end, 0, us(200)));
    assert_eq!(host.release(&mut law, end), [1; 18]);
}

#[test]
fn stations_of_unlike_rates_get_equal_airtime() {
    let airtime = [100, 200, 1_900, 3_700];
    let mut law = law(us(50_000), 4);
    let mut host = Host::busy(&mut law, &airtime);
    let (mut flying, mut used, mut now) = (VecDeque::new(), [0_u64; 4], Instant::ZERO);
    while now.since(Instant::ZERO) < Duration::from_secs(10) {
        flying.extend(host.release(&mut law, now));
        let port = flying.pop_front().expect("something is always in flight");
        now += us(airtime[port]);
        used[port] += airtime[port];
        law.sent(now, port, us(airtime[port]));
        law.answered(port);
        law.completed(now, port, us(airtime[port]));
    }
    let (sum, squares) = used.iter().fold((0.0, 0.0), |(sum, squares), &used| {
        let used = used as f64;
        (sum + used, squares + used * used)
    });
    assert!(sum * sum / (4.0 * squares) > 0.999, "{used:?}");
}

/// Serves eight busy ports for ten seconds; a ninth gets `packets` at once every 33 ms, and its station sends for
/// `sends`. Returns the most packets of others that pass before the first of them.
fn passed_by(packets: u32, sends: Duration) -> usize {
    let mut law = law(us(100_000), 9);
    let mut host = Host::busy(&mut law, &[200; 9]);
    host.waiting[8] = 0;
    let (mut now, mut next, mut most) = (Instant::ZERO, Instant::ZERO, 0);
    let mut flying = VecDeque::new();
    let mut waits: Option<usize> = None;
    while now < Instant::from_nanos(10_000_000_000) {
        if now >= next && host.waiting[8] == 0 {
            host.waiting[8] = packets;
            law.pace(now, 8, LONG);
            law.joined(now, 8, LONG, false);
            law.received(now, 8, sends);
            (next, waits) = (next + us(33_000), Some(0));
        }
        for port in host.release(&mut law, now) {
            if port == 8 && now.since(Instant::ZERO) > us(1_000_000) {
                most = waits.take().map_or(most, |passed| most.max(passed));
            }
            waits = waits.map(|passed| passed + 1);
            flying.push_back(port);
        }
        let port: usize = flying.pop_front().expect("eight are busy");
        now += us(200);
        law.sent(now, port, us(200));
        law.answered(port);
        law.completed(now, port, us(200));
    }
    most
}

/// Each of nine shares is 3.7 ms in 33 ms.
#[test]
fn a_burst_of_a_station_below_its_share_waits_for_no_round() {
    assert!(passed_by(15, Duration::ZERO) <= 18, "with four fifths of its share it waits for a turn at most");
    assert!(passed_by(9, us(800)) <= 18, "so it does with two thirds, of which it sends a part");
    assert!(passed_by(36, Duration::ZERO) > 3 * 18, "who has more than its share waits for others");
}

#[test]
fn a_thin_packet_goes_before_all_turns_and_while_two_are_in_flight() {
    let mut law = law(us(50_000), 3);
    let mut host = Host::busy(&mut law, &[200; 3]);
    host.release(&mut law, Instant::ZERO);
    host.thin[1] = 2;
    law.joined(Instant::ZERO, 1, LONG, true);
    host.thin[2] = 1;
    law.joined(Instant::ZERO, 2, LONG, true);
    // The stations in turn, a packet each.
    assert_eq!(host.release(&mut law, Instant::ZERO), [1, 2, 1]);
    // A station that sends much itself is the last.
    law.received(Instant::ZERO, 1, us(10_000));
    (host.thin[1], host.thin[2]) = (1, 2);
    for port in [1, 2, 2] {
        law.joined(Instant::ZERO, port, LONG, true);
    }
    assert_eq!(host.release(&mut law, Instant::ZERO), [2, 2, 1]);
}

#[test]
fn what_a_station_may_have_waiting_is_what_it_sends_in_the_target_of_own_air() {
    // Before anything was measured: 150 ns a byte, a stretch of 1.2 (1228 of 1024), one station, turns of 3.6 ms.
    let pace = law(us(50_000), 1).pace(Instant::ZERO, 0, LONG);
    assert_eq!(pace.most.count(), 50_000_000 * 1_000 / 150_000);
    // What exceeds two turns may wait for no longer than this, in wall time.
    let (stays, wall) = pace.patience.expect("it loses its patience");
    assert_eq!((stays.count(), wall), (2 * 24_000, Duration::from_nanos(50_000_000 * 1_228 / 1_024)));
    // (300 us + 225 us) x 1.2 x 2, since a second station would have its turn.
    assert_eq!(pace.gap, Some(Duration::from_nanos(525_000 * 1_228 / 1_024 * 2)));
    // A target below two turns gives two turns, each of which is at least a full packet.
    let mut law = law(us(1), 1);
    assert_eq!(law.pace(Instant::ZERO, 0, LONG).most.count(), 2 * 24_000);
    for step in 0..100 {
        law.released(Instant::ZERO + us(step), 0, LONG, us(40_000), false);
        law.completed(Instant::ZERO + us(step), 0, us(40_000));
    }
    assert_eq!(law.pace(Instant::ZERO + us(100), 0, LONG).most.count(), 3_000, "it takes 40 ms for a packet");
}

#[test]
fn what_is_for_all_may_have_waiting_what_half_of_the_air_sends() {
    let mut law = law(us(100_000), 9).with_groups(8);
    let mut host = Host::busy(&mut law, &[200; 9]);
    for step in 0..1_000 {
        answered(&mut law, &mut host, Instant::ZERO + us(step * 1_000));
    }
    let [one, all] = [7, 8].map(|port| law.pace(Instant::ZERO + us(1_000_000), port, LONG).most.count());
    // Half of the air, compared with a ninth.
    assert!((10 * all).abs_diff(45 * one) < one, "{one} {all}");
}

/// The bound of a station beside strangers is the one that it has without them: what they send makes nothing late.
#[test]
fn strangers_on_the_air_take_no_packets_of_a_station() {
    let bounds = |wall: u64, rule| {
        let mut law = law(us(100_000), 1).without(rule);
        for step in 1..1_000 {
            law.released(Instant::ZERO + us((step - 1) * wall), 0, LONG, us(1_000), false);
            law.completed(Instant::ZERO + us(step * wall), 0, us(1_000));
        }
        let pace = law.pace(Instant::ZERO + us(1_000 * wall), 0, LONG);
        (pace.most.count(), pace.patience.map(|(_, time)| time.as_nanos() / 1_000_000))
    };
    let (alone, beside) = (bounds(1_000, None), bounds(5_000, None));
    assert!(alone.0.abs_diff(beside.0) < 50 && alone.1 == Some(100) && beside.1 == Some(500), "{alone:?} {beside:?}");
    let (alone, beside) = (bounds(1_000, Some(Rule::OwnAir)), bounds(5_000, Some(Rule::OwnAir)));
    assert!(alone.0 > 4 * beside.0 && alone.1 == beside.1, "{alone:?} {beside:?}");
    assert_eq!(bounds(1_000, Some(Rule::Patience)).1, None);
}

#[test]
fn a_shorter_round_makes_shorter_turns_and_bounds_what_waits() {
    let later = Instant::ZERO + Duration::from_millis(200);
    let bounds = [(1_000_000, 18, 18 * 1_333), (100_000, 7, 8_680), (1, 1, 3_000)];
    for (bulk, packets, most) in bounds {
        let mut law = law(us(1), 64).with_bulk_delay(Positive::<Duration>::new(us(bulk)));
        let mut host = Host::busy(&mut law, &[200; 64]);
        // Stations are counted where packets are released: 64 of them.
        let released = host.release(&mut law, later);
        assert!(released.iter().take_while(|&&port| port == released[0]).count() == packets, "{released:?}");
        if bulk == 1_000_000 {
            // A round takes 276 ms: both turns stay.
            assert!(law.pace(later, 0, LONG).most.count().abs_diff(2 * 24_000) < 100);
            continue;
        }
        // What one turn sends stays allowed until turns have become shorter.
        let pace = law.pace(later, 0, LONG);
        assert!(pace.most.count() >= most && pace.most.count() <= 24_000, "{pace:?}");
    }
}

#[test]
fn packets_are_marked_where_more_than_a_turn_waits_and_by_their_senders_reaction() {
    let mark = |ecn| law(us(50_000), 1).with_ecn(ecn).pace(Instant::ZERO, 0, LONG).mark;
    // 3.6 ms at 150 ns a byte; 50 ms of own air.
    let target = Duration::from_nanos(50_000_000 * 1_228 / 1_024);
    assert_eq!((mark(false), mark(true)), (None, Some(Mark { target, turn: Bytes::new(24_000) })));
    let mark = Mark { target: us(50_000), ..mark(true).expect("it marks") };
    let hits = |ecn, micros, bytes| mark.hits(ecn, us(micros), Bytes::new(bytes));
    // L4S: half of the target and a turn.
    assert!(hits(Ecn::Ect1, 25_001, 24_001));
    assert!(!hits(Ecn::Ect1, 25_000, 24_001) && !hits(Ecn::Ect1, 25_001, 24_000));
    // Others: the target and one and a half turns.
    assert!(hits(Ecn::Ect0, 50_001, 36_001));
    assert!(!hits(Ecn::Ect0, 50_000, 36_001) && !hits(Ecn::Ect0, 50_001, 36_000));
    assert!(!hits(Ecn::NotEct, 60_000, 60_000) && !hits(Ecn::Ce, 60_000, 60_000));
    assert!(!Mark { target: us(1), turn: Bytes::new(u64::MAX) }.hits(Ecn::Ect0, us(9), Bytes::new(u64::MAX)));
}

#[test]
fn what_is_behind_a_packet_and_its_own_wait_decide_about_its_mark() {
    let mut queue = queue();
    let mark = Some(Mark { target: us(8_000), turn: Bytes::new(3_000) });
    queue.set_pace(Pace { gap: None, most: Bytes::new(100_000), patience: None, longest: None, mark });
    let fields = [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::Ect1];
    for (number, ecn) in (0..).zip(fields) {
        queue.enqueue(at(0), Piece { ecn, ..piece(7, number) }, &mut |_| panic!("dropped"));
    }
    let mut take = |millis| queue.take(at(millis), 0, &mut |_| ()).expect("packets wait").packet.ecn;
    let left = [3, 10, 10, 10, 10, 10, 10, 10].map(&mut take);
    // The first leaves early. At 1000 B each, 4000 B are less than a turn and a half, 3000 B are a turn.
    assert_eq!(left, [Ecn::Ect1, Ecn::Ce, Ecn::NotEct, Ecn::Ce, Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::Ect1]);
    assert_eq!(queue.totals().marked.packets, 2);
}

#[test]
fn a_rule_can_be_left_out() {
    let without = |rule| law(us(50_000), 3).without(Some(rule));
    let pace = |mut law: Law| law.pace(Instant::ZERO, 0, LONG);
    let (full, two) = (pace(law(us(50_000), 3)), Bytes::new(2 * 3_600_000_000 / 150_000));
    let wall = full.patience.map(|(_, wall)| wall);
    assert_eq!(pace(without(Rule::ThinFirst)), Pace { gap: None, ..full });
    assert_eq!(pace(without(Rule::Prediction)), Pace { most: two, patience: None, longest: wall, ..full });
    assert_eq!(pace(law(us(1), 3).without(Some(Rule::TwoTurns))).most.count(), two.count() / 2);

    // Half of a turn is done: the next turn sends what another half allows, and thin packets are sent all the same.
    let mut law = without(Rule::WholeTurns);
    let mut host = Host::busy(&mut law, &[200; 3]);
    let released = host.release(&mut law, Instant::ZERO);
    assert_eq!(released.len(), 18);
    (0..9).for_each(|_| law.completed(Instant::ZERO + us(2_000), released[0], us(200)));
    assert_eq!(host.release(&mut law, Instant::ZERO + us(2_000)), [1; 9]);
    law.joined(Instant::ZERO, 2, LONG, true);
    host.thin[2] = 1;
    assert_eq!(host.release(&mut law, Instant::ZERO + us(2_000)), [2]);

    // A station that has sent for 100 ms waits until its share has paid for it, or goes on.
    let paid_at = |mut law: Law| {
        let mut host = Host::busy(&mut law, &[200; 3]);
        (0..3).for_each(|port| law.received(Instant::ZERO, port, us(100_000)));
        host.release(&mut law, Instant::ZERO).len()
    };
    assert_eq!([paid_at(self::law(us(50_000), 3)), paid_at(without(Rule::ReceivedAirtime))], [0, 36]);
}

#[test]
fn thin_packets_of_a_station_get_its_share_of_the_air_and_no_more() {
    let mut law = law(us(50_000), 1);
    let mut thin = 0_u64;
    // 200 packets of 1500 B in each 10 ms for 10 s: 525 us each, and at most half of the own air, beside one other station.
    for packet in 0..200_000_u64 {
        let now = Instant::ZERO + us(packet * 50);
        if law.pace(now, 0, LONG).gap.is_some() {
            law.joined(now, 0, LONG, true);
            thin += 1;
        }
    }
    let share = thin as f64 * 525e-6 / 10.0 * 1_228.0 / 1_024.0;
    assert!((share - 0.5).abs() < 0.005, "{share}");
}

#[test]
fn a_call_is_thin_however_many_stations_are_busy() {
    let mut law = law(us(50_000), 101);
    let mut host = Host::busy(&mut law, &[20; 100]);
    let second = Instant::ZERO + us(1_000_000);
    for step in 0..1_000 {
        host.release(&mut law, Instant::ZERO + us(step * 1_000));
    }
    // A hundredth of the time is 3 ms in 300 ms: its share alone would ask for 36 ms and more between two packets.
    assert_eq!(law.pace(second, 100, Bytes::new(200)).gap, Some(us(10_000)));
}

#[test]
fn debts_of_any_size_are_paid_without_delay_for_others_and_in_few_steps() {
    let mut law = law(us(50_000), 2);
    let mut host = Host::busy(&mut law, &[200, 200]);
    // The station owes an hour of air, as one that sends for long does at an access point.
    law.charge(Instant::ZERO, 0, Duration::from_secs(3_600));
    assert!(host.release(&mut law, Instant::ZERO).iter().all(|&port| port == 1));
    // Once alone it sends at once, whatever it owes.
    (0..36).for_each(|_| law.completed(Instant::ZERO, 1, us(200)));
    host.waiting[1] = 0;
    assert_eq!(host.release(&mut law, Instant::ZERO).len(), 36);
}

#[test]
fn what_a_station_sends_is_paid_by_its_share_of_the_time() {
    let mut law = law(us(50_000), 1);
    let mut host = Host::busy(&mut law, &[200]);
    // It is alone, and a turn is excused: the rest is worth 6.4 ms, which nobody else needs.
    law.received(Instant::ZERO, 0, us(10_000));
    assert!(host.release(&mut law, Instant::ZERO).is_empty());
    let (port, at) = law.ready_at(0).expect("it comes again");
    assert_eq!((port, at), (0, Instant::ZERO + us(6_400)));
    assert!(host.release(&mut law, Instant::ZERO + us(6_399)).is_empty());
    assert_eq!(host.release(&mut law, at).len(), 36);
    assert_eq!(law.ready_at(0), None);
    // Thin packets do not wait.
    law.received(at, 0, us(10_000));
    host.thin[0] = 1;
    law.joined(at, 0, LONG, true);
    assert_eq!(host.release(&mut law, at), [0]);
}

/// Releases what may be released, which is sent and answered at once, and returns the ports of the packets.
fn answered(law: &mut Law, host: &mut Host, now: Instant) -> Vec<usize> {
    let released = host.release(law, now);
    for &port in &released {
        law.sent(now, port, us(200));
        law.answered(port);
        law.completed(now, port, us(200));
    }
    released
}

#[test]
fn what_a_station_has_sent_keeps_its_packets_back_for_a_second_at_most() {
    // The first station sleeps for this part of each 100 ms.
    for (stations, asleep) in [(2, 0), (4, 0), (4, 80)] {
        let mut law = law(us(50_000), stations);
        let mut host = Host::busy(&mut law, &vec![200; stations]);
        // After a second, in which the number of busy stations becomes known, four seconds of an unslowed upload.
        let (mut last, mut longest) = (us(1_000_000), Duration::ZERO);
        for step in 0..5_000 {
            let now = Instant::ZERO + us(step * 1_000);
            if step > 1_000 {
                law.received(now, 0, us(900));
            }
            host.waiting[0] = if step % 100 < asleep { 0 } else { 1_000_000 };
            if asleep > 0 && step % 100 == asleep {
                law.joins_again(0, false);
            }
            if answered(&mut law, &mut host, now).contains(&0) {
                longest = longest.max(us(step * 1_000).saturating_sub(last));
                last = us(step * 1_000);
            }
        }
        let goes_on = us(5_000_000).saturating_sub(last) <= us(1_010_000 + asleep * 1_000);
        let within = us(990_000)..=us(1_010_000 + asleep * 1_000);
        assert!(goes_on && within.contains(&longest), "{stations} stations, {asleep} ms: {longest}");
    }
}

/// Returns how many frames to a station fail before it counts as absent, if this part of the frames to others fails.
fn frames_until_absent(fail_of_ten: u64) -> usize {
    let mut law = law(us(50_000), 2);
    let mut host = Host::busy(&mut law, &[200, 200]);
    host.release(&mut law, Instant::ZERO);
    for step in 0..2_000 {
        law.sent(Instant::ZERO, 0, us(200));
        if step % 10 >= fail_of_ten {
            law.answered(0);
        }
    }
    let is_absent = |law: &mut Law| {
        law.sent(Instant::ZERO, 1, us(200));
        !law.may_repeat(1)
    };
    1 + std::iter::repeat_with(|| is_absent(&mut law)).take_while(|absent| !absent).count()
}

#[test]
fn a_station_is_absent_when_so_many_failures_are_no_chance() {
    let frames = [0, 1, 5].map(frames_until_absent);
    // The failures have a probability below 1 in 1024, and one more is the frame whose answer may still come.
    assert!(frames[0] <= 4 && frames[0] < frames[1] && frames[1] < 6 && (8..=14).contains(&frames[2]), "{frames:?}");
}

#[test]
fn a_station_that_does_not_answer_has_no_precedence_and_a_packet_a_turn() {
    let mut law = law(us(50_000), 2);
    let mut host = Host::busy(&mut law, &[200, 200]);
    host.release(&mut law, Instant::ZERO);
    (0..9).for_each(|_| law.sent(Instant::ZERO, 1, us(4_000)));
    assert_eq!((law.may_repeat(0), law.may_repeat(1)), (true, false));
    host.thin = vec![1, 1];
    (0..2).for_each(|port| law.joined(Instant::ZERO, port, LONG, true));
    assert_eq!(host.release(&mut law, Instant::ZERO), [0]);
    // It has been given up. Once it has paid for its earlier frames, a packet is tried for each turn of the other.
    law.answered(0);
    (0..19).for_each(|_| law.completed(Instant::ZERO, 0, us(200)));
    (0..18).for_each(|_| law.completed(Instant::ZERO, 1, us(200)));
    let mut tried = [0; 2];
    for round in 0..60 {
        let now = Instant::ZERO + us(round * 4_000);
        for port in host.release(&mut law, now) {
            tried[port] += 1;
            law.sent(now, port, us(200));
            if port == 0 {
                law.answered(0);
            }
            law.completed(now, port, us(200));
        }
    }
    assert!(tried[1] >= 20 && (18..=54).contains(&(tried[0] / tried[1])), "{tried:?} packets");
    law.answered(1);
    assert!(law.may_repeat(1));
    assert!(
        (0..2).any(
            |_| host.release(&mut law, Instant::ZERO + us(400_000)).iter().filter(|&&port| port == 1).count() >= 18
        )
    );
}

#[test]
fn of_what_has_waited_for_all_of_its_time_one_packet_is_dropped_and_short_ones_stay() {
    let drops = |bytes: u64, leaves: u64| {
        let mut queue = queue();
        let patience = Some((Bytes::new(3_000), us(50_000)));
        queue.set_pace(Pace { gap: None, most: Bytes::new(100_000), patience, longest: None, mark: None });
        let mut gone = Vec::new();
        for tick in 0..200 {
            let packet = Piece { bytes, ..piece(7, tick) };
            queue.enqueue(at(tick.into()), packet, &mut |_| gone.push(u64::from(tick)));
            // From the tenth tick on as many leave as come.
            while tick >= 10 && queue.backlog().packets > leaves {
                queue.take(at(tick.into()), 0, &mut |_| ());
            }
        }
        gone
    };
    // From the fourth tick on more than 3000 B wait, and one packet is dropped each 50 ms. Three packets are no more.
    assert_eq!(drops(1_000, 9), [53, 103, 153]);
    assert_eq!(drops(1_000, 3), [0; 0]);
    assert_eq!(drops(100, 60), [0; 0], "ACKs");
}

#[test]
fn a_flow_is_thin_by_its_part_of_what_its_station_sends() {
    let thin = |flows: u64, gap: u64| {
        let mut queue = queue();
        queue.set_pace(Pace {
            gap: Some(us(2_000)),
            most: Bytes::new(1_000_000),
            patience: None,
            longest: None,
            mark: None,
        });
        let put = |queue: &mut Queue<Piece>, millis, flow| queue.enqueue(at(millis), piece(flow, 0), &mut |_| ());
        // Two packets of each: the first is thin, the second waits.
        (0..2).for_each(|_| (0..flows).for_each(|flow| put(&mut queue, 0, 10 + flow)));
        put(&mut queue, 0, 7);
        while queue.thin_packets() > 0 {
            queue.take(at(0), 0, &mut |_| ());
        }
        put(&mut queue, gap, 7);
        queue.thin_packets() > 0
    };
    // The gap must exceed 2 ms, 6 ms, and 10 ms, which is the most.
    assert_eq!(
        [(1, 1), (1, 2), (3, 5), (3, 6), (9, 9), (9, 10)].map(|(flows, gap)| thin(flows, gap)),
        [false, true, false, true, false, true]
    );
}

#[test]
fn contention_windows_grow_with_the_stations_that_send_and_while_the_sender_has_most_of_the_medium() {
    let after = |stretch: u64, (stations, sends): (usize, u64), rule: Option<Rule>| {
        let (mut law, mut now) = (law(us(50_000), 12).without(rule), Instant::ZERO);
        for _ in 0..1_000 {
            law.released(now, 0, LONG, us(1_000), false);
            law.sent(now, 0, us(1_000));
            (0..stations).for_each(|port| law.received(now, port, us(sends)));
            now += us(stretch);
            law.completed(now, 0, us(1_000));
        }
        (law.windows(now, 0), law.windows(now + us(999_999), 0))
    };
    let shown = [(1_400, (0, 0)), (4_000, (3, 600)), (4_800, (3, 900)), (9_000, (10, 500)), (9_000, (10, 100))]
        .map(|(stretch, stations)| after(stretch, stations, None));
    // The last ten send little; other networks have half of their time.
    let expected = [Some([31, 3]), Some([15, 15]), Some([15, 15]), Some([63, 63]), None];
    assert_eq!(shown, expected.map(|windows| (windows, None)));
    assert_eq!(after(9_000, (10, 500), Some(Rule::WideWindow)), (None, None));
}

#[derive(Clone, Debug)]
enum Step {
    Comes(usize, u64),
    Releases,
    Ends(usize),
    Charged(usize, u64),
    Received(usize, u64),
    Waits(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_usize..5, prop_oneof![Just(0_u64), 40_u64..3_000, Just(u64::MAX)]).prop_map(|(port, len)| Step::Comes(port, len)),
        2 => Just(Step::Releases),
        2 => (0_usize..500).prop_map(Step::Ends),
        1 => (0_usize..5, prop_oneof![0_u64..10_000_000, Just(u64::MAX)]).prop_map(|(port, air)| Step::Charged(port, air)),
        1 => (0_usize..5, 0_u64..10_000_000).prop_map(|(port, air)| Step::Received(port, air)),
        2 => prop_oneof![0_u64..30_000_000, Just(u64::MAX / 64)].prop_map(Step::Waits),
    ];
    prop::collection::vec(step, 0..300)
}

proptest! {
    /// Whatever comes, no more is in flight than two turns and thin packets, what is pending is accounted for, and a
    /// port with packets gets a turn when nothing is in flight.
    #[test]
    fn the_law_holds_whatever_comes(
        steps in steps(),
        airtime in prop::collection::vec(1_u64..20_000, 5),
        bulk in prop::option::of(1_u64..1_000_000),
        rule in prop::option::of(prop::sample::select(vec![Rule::ThinFirst, Rule::WholeTurns, Rule::Prediction])),
    ) {
        let bulk = bulk.and_then(|bulk| Positive::<Duration>::new(us(bulk)));
        let mut law = law(us(50_000), 5).with_bulk_delay(bulk).without(rule);
        let mut host = Host { waiting: vec![0; 5], thin: vec![0; 5], airtime: airtime.iter().map(|&air| us(air)).collect() };
        let (mut now, mut flying) = (Instant::ZERO, Vec::new());
        let longest = us(*airtime.iter().max().expect("five ports"));
        for step in steps {
            match step {
                Step::Comes(port, len) => {
                    let Pace { gap, most, .. } = law.pace(now, port, Bytes::new(len));
                    prop_assert!(most >= Bytes::new(3_000));
                    let thin = gap.is_some() && len < 100;
                    if thin { host.thin[port] += 1 } else { host.waiting[port] += 1 }
                    law.joined(now, port, Bytes::new(len), thin);
                }
                Step::Releases => {
                    let thin: u32 = host.thin.iter().sum();
                    let before = flying.len();
                    flying.extend(host.release(&mut law, now));
                    let bulk = (flying.len() - before) as u64 - u64::from(thin - host.thin.iter().sum::<u32>());
                    prop_assert_eq!(host.thin.iter().sum::<u32>(), 0, "thin packets do not wait");
                    prop_assert!(longest * bulk <= (TURN + longest) * 2 * bulk.max(1));
                    // A port with packets is released, or will be, while nothing is in flight.
                    let held = law.ready_at(0).is_some_and(|(_, at)| at > now);
                    prop_assert!(!flying.is_empty() || held || host.waiting.iter().all(|&waiting| waiting == 0));
                }
                Step::Ends(which) if !flying.is_empty() => {
                    let port = flying.swap_remove(which % flying.len());
                    law.completed(now, port, host.airtime[port]);
                }
                Step::Ends(_) => {}
                Step::Charged(port, air) => law.charge(now, port, Duration::from_nanos(air)),
                Step::Received(port, air) => law.received(now, port, Duration::from_nanos(air)),
                Step::Waits(nanos) => now += Duration::from_nanos(nanos),
            }
            let pending: Duration = flying.iter().map(|&port| host.airtime[port]).sum();
            prop_assert_eq!(law.pending(), pending);
        }
    }
}

/// A queue with a target of 50 ms, on its own.
pub(crate) fn queue() -> Queue<Piece> {
    build("discipline = \"turns\"\nturns.target_delay = \"50 ms\"")
}
