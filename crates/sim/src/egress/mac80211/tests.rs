//! The scheduler driven by hand: without ports; packets always wait unless a test says otherwise.

use super::*;
use crate::config::HardwareQueuePer;

/// Returns a scheduler for this many stations and a port for broadcasts, without categories.
fn scheduler(stations: u32) -> Scheduler {
    by(stations, Mac80211::default())
}

/// Returns the same under these rules.
fn by(stations: u32, rules: Mac80211) -> Scheduler {
    let mut layout = Layout::by_category(1);
    layout.groups = stations as usize + 1;
    layout.stations = (1..=stations).collect();
    Scheduler::new(&layout, rules, None)
}

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Releases packets with these airtimes in microseconds, by port, until none may be released. Returns the pending
/// airtime of each port.
fn fill(scheduler: &mut Scheduler, lengths: &[u64]) -> Vec<Duration> {
    while let Some(port) = scheduler.grant(Instant::ZERO, 0, |_| true, |_| true) {
        scheduler.passes(port, us(lengths[port.place()]));
    }
    scheduler.shares.iter().map(|share| share.pending).collect()
}

/// Lists ports that have packets.
fn list(scheduler: &mut Scheduler, ports: std::ops::Range<usize>) {
    ports.map(PortId::at).for_each(|port| scheduler.joins(Instant::ZERO, port));
}

#[test]
fn a_station_alone_fills_the_hardware_to_the_higher_limit() {
    let mut scheduler = scheduler(1);
    scheduler.joins(Instant::ZERO, 0.into());
    // The 13th would make 13 ms: at 12 ms it may no longer be released.
    assert_eq!(fill(&mut scheduler, &[1_000, 0]), [us(12_000), us(0)]);
    scheduler.completed(0.into(), us(1_000));
    // A round was refused. The next round is again the first, in which the station has had its turn.
    assert_eq!(fill(&mut scheduler, &[1_000, 0]), [us(11_000), us(0)]);
    assert_eq!(fill(&mut scheduler, &[1_000, 0]), [us(12_000), us(0)]);
    assert_eq!(scheduler.pending(), us(12_000));
}

#[test]
fn a_round_begins_below_a_limit_that_grows_with_the_stations() {
    // 12 ms and 2.5 ms for every further queue in the list.
    for (stations, limit) in [(1, 12_000), (2, 14_500), (3, 17_000), (10, 34_500), (40, 109_500)] {
        let mut scheduler = scheduler(stations);
        list(&mut scheduler, 0..stations as usize);
        for (pending, begins) in [(0, true), (limit - 1, true), (limit, false), (limit + 1, false)] {
            scheduler.categories[0].pending = us(pending);
            scheduler.begin_round(0);
            assert_eq!(scheduler.categories[0].is_open, begins, "{pending} us, {stations} stations");
        }
    }
    let mut empty = scheduler(1);
    empty.categories[0].pending = us(1_000_000);
    empty.begin_round(0);
    assert!(empty.categories[0].is_open, "a round of no station is never refused");
}

#[test]
fn in_a_round_each_station_fills_to_its_own_limit() {
    let mut scheduler = scheduler(8);
    list(&mut scheduler, 0..8);
    // The last port to be listed begins. Two with 12 ms reach the threshold of 24 ms; the others have 5 ms each.
    let fives = us(5_000);
    assert_eq!(
        fill(&mut scheduler, &[1_000; 9])[..8],
        [fives, fives, fives, fives, fives, fives, us(12_000), us(12_000)]
    );
    // 54 ms are pending. No round begins above 12 + 7 * 2.5 = 29.5 ms, whichever port has room.
    scheduler.completed(7.into(), us(12_000));
    scheduler.completed(6.into(), us(12_000));
    assert_eq!(fill(&mut scheduler, &[1_000; 9])[6..8], [us(0), us(0)], "30 ms are pending");
    scheduler.completed(0.into(), us(1_000));
    // 29 ms are pending. In the first round all have had their turns.
    fill(&mut scheduler, &[1_000; 9]);
    assert_eq!(fill(&mut scheduler, &[1_000; 9])[..8], [fives; 8]);
}

#[test]
fn a_round_is_all_of_mac80211s_own_loop_and_mt76_goes_on() {
    for (pull_loop, expected) in [(PullLoop::Mac80211, [2, 2]), (PullLoop::Mt76, [8, 8])] {
        let mut scheduler = by(2, Mac80211 { pull_loop, ..Mac80211::default() });
        list(&mut scheduler, 0..2);
        let mut passed = [0, 0];
        // Each has two packets, and two more when the other has sent its own. With 14 ms pending a round may begin,
        // with 16 ms none.
        let mut left = [2, 2];
        while let Some(port) = scheduler.grant(Instant::ZERO, 0, |port| left[port.place()] > 0, |_| true) {
            scheduler.passes(port, us(1_000));
            passed[port.place()] += 1;
            left[port.place()] -= 1;
            if left[port.place()] == 0 && passed[port.place()] < 12 {
                let other = 1 - port.place();
                left[other] = if passed[other] < 12 { 2 } else { 0 };
                scheduler.joins(Instant::ZERO, PortId::at(other));
            }
        }
        assert_eq!(passed, expected, "{pull_loop:?}");
    }
}

#[test]
fn a_station_in_debt_waits_until_the_others_have_used_as_much() {
    let mut scheduler = scheduler(2);
    list(&mut scheduler, 0..2);
    scheduler.charge(Instant::ZERO, 1.into(), us(256 + 2_560));
    let mut deficit = 0;
    while let Some(port) = scheduler.grant(Instant::ZERO, 0, |_| true, |_| true) {
        if port == 1.into() && scheduler.shares[port].pending.is_zero() {
            assert_eq!(scheduler.shares[0.into()].pending, us(12_000), "the other had its turn before");
            deficit = scheduler.shares[port].deficit + 1;
        }
        scheduler.passes(port, us(1_000));
    }
    // It gained 256 us each of the ten times that it was passed over.
    assert_eq!(deficit, 1);
}

#[test]
fn a_queue_in_debt_stays_listed_for_a_while_and_counts() {
    let mut scheduler = scheduler(2);
    list(&mut scheduler, 0..2);
    scheduler.shares[1.into()].deficit = -1;
    scheduler.categories[0].turns.clear();
    for (port, waits, at, listed) in
        [(0, false, 0, false), (1, false, 0, true), (1, false, 200, false), (0, true, 0, true)]
    {
        scheduler.shares[port.into()].listed = false;
        scheduler.list(Instant::ZERO + Duration::from_millis(at), port.into(), waits);
        assert_eq!(scheduler.shares[port.into()].listed, listed, "port {port}");
    }
}

#[test]
fn a_station_that_had_nothing_for_long_does_not_pay() {
    let mut scheduler = scheduler(1);
    scheduler.joins(Instant::ZERO, 0.into());
    scheduler.charge(Instant::ZERO + ACTIVE, 0.into(), us(300));
    scheduler.charge(Instant::ZERO + ACTIVE + us(1), 0.into(), us(300));
    assert_eq!(scheduler.shares[0.into()].deficit, 256_000 - 300_000);
}

#[test]
fn a_frame_that_is_sent_again_is_charged_for_100_ms_after_each_turn() {
    let mut layout = Layout::by_category(1);
    (layout.groups, layout.stations) = (3, vec![1, 2]);
    let mut scheduler = scheduler(2);
    let mut hardware = Hardware::new(RING, HardwareQueuePer::default(), 1);
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    let mut turn = |scheduler: &mut Scheduler, now, held: &[u32]| {
        scheduler.turn(now, 0, &layout, &mut hardware, held.iter().copied())
    };
    // Both have frames that failed; the first is served.
    assert_eq!(turn(&mut scheduler, at(0), &[1, 2]), Some(1));
    scheduler.charge(at(0), 0.into(), us(4_000));
    // The second sends for two seconds, of which it pays what it sends in 100 ms.
    (0..200).for_each(|step| scheduler.charge(at(10 * step), 1.into(), us(1_000)));
    assert_eq!(scheduler.shares[1.into()].used, us(11_000));
    scheduler.charge(at(2_000), 0.into(), us(1_000));
    assert_eq!(scheduler.shares[0.into()].used, us(4_000), "its own frame waits, too, and is not renewed");
    assert_eq!(turn(&mut scheduler, at(2_000), &[1, 2]), Some(1));
    scheduler.charge(at(2_000), 0.into(), us(8_000));
    assert_eq!(turn(&mut scheduler, at(2_010), &[1, 2]), Some(2), "the first has used 12 ms since");
}

#[test]
fn broadcasts_have_the_limit_that_is_set() {
    for (limit, expected) in [(Some(50), 50), (Some(7), 7)] {
        let broadcast_limit = limit.map(Duration::from_millis);
        let mut scheduler = by(1, Mac80211 { broadcast_limit, ..Mac80211::default() });
        list(&mut scheduler, 0..2);
        assert_eq!(fill(&mut scheduler, &[1_000, 1_000]), [us(12_000), us(expected * 1_000)]);
    }
}

#[test]
fn without_a_limit_broadcasts_fill_the_hardware_queue_and_count_for_nobody() {
    let mut scheduler = scheduler(1);
    list(&mut scheduler, 0..2);
    let passed = std::cell::Cell::new(0);
    let has_room = |port| port != 1.into() || passed.get() < 2_016;
    while let Some(port) = scheduler.grant(Instant::ZERO, 0, |_| true, has_room) {
        passed.set(passed.get() + u32::from(port == 1.into()));
        let pending = scheduler.passes(port, us(1_000));
        assert_eq!(pending.is_zero(), port == 1.into());
    }
    assert_eq!((passed.get(), scheduler.pending()), (2_016, us(12_000)));
}

#[test]
fn the_limits_hold_whatever_comes_and_goes() {
    let mut scheduler = scheduler(3);
    list(&mut scheduler, 0..3);
    let lengths = [90, 2_100, 4_092, 0];
    for step in 0..10_000_usize {
        let pending = fill(&mut scheduler, &lengths);
        for (pending, length) in pending.iter().zip(lengths).take(3) {
            assert!(*pending < us(12_000 + length), "{pending:?} in step {step}");
        }
        let port = step * step % 7 % 3;
        if pending[port] >= us(lengths[port]) {
            scheduler.completed(PortId::at(port), us(lengths[port]));
            scheduler.charge(Instant::ZERO, PortId::at(port), us(lengths[port]));
        }
    }
    // Ports that are full may not pass above the threshold: at most one packet beyond it, and 5 ms of each other port.
    assert!(scheduler.pending < us(24_000 + 4_092 + 2 * 5_000), "{:?}", scheduler.pending);
}
