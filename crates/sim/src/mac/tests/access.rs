//! Contention of a category, and changes of its parameters.

use super::*;

/// Contention parameters: a space of 110 us, windows from 15 to 63.
fn other(rules: &Conventions) -> Access {
    let orders = control::Access { aifsn: 5, cw_min: 15, cw_max: 63, txop: us(3_000) };
    rules.ordered(rules.access[0], Some(orders))
}

#[test]
fn orders_are_told_in_slots_and_what_cannot_be_is_made_to_fit() {
    let rules = conventions();
    let Access { space, cw_min, cw_max, after_timeout, txop_limit } = other(&rules);
    assert_eq!([space, after_timeout, txop_limit], [us(110), us(0), us(3_000)]);
    assert_eq!([cw_min, cw_max], [15, 63]);
    let wrong = rules.ordered(rules.access[0], Some(control::Access { aifsn: 0, cw_min: 15, cw_max: 7, txop: us(0) }));
    assert_eq!((wrong.space, wrong.cw_min, wrong.cw_max), (us(30), 15, 15));
    assert_eq!(rules.ordered(rules.access[0], None), rules.access[0]);
    // If slots count from a space after a time-out, the ordered space holds there too.
    let mut rules = conventions();
    rules.access[0].after_timeout = us(50);
    assert_eq!(other(&rules).after_timeout, us(110));
}

#[test]
fn a_category_with_nothing_to_do_contends_otherwise_at_once() {
    let mut bench = Bench::new(without_backoff());
    let access = Access { cw_min: 0, cw_max: 0, ..other(&bench.rules) };
    bench.station.contention.set_access(0, |_| access);
    bench.busy(0);
    bench.idle(1_000);
    bench.offer(1_000);
    assert_eq!(bench.deadline(), 1_110);
}

#[test]
fn a_back_off_that_is_due_ends_as_it_began() {
    let mut bench = Bench::new(conventions());
    bench.busy(0);
    bench.offer(500);
    bench.idle(1_000);
    let before = bench.deadline();
    let access = other(&bench.rules);
    bench.station.contention.set_access(0, |_| access);
    bench.busy(1_010);
    bench.idle(2_010);
    assert_eq!(bench.deadline(), before + 1_010);
    assert_eq!(bench.station.contention.contenders[0].cw, 31);
    bench.sends_at(before + 1_010);
    let rules = bench.rules.clone();
    bench.station.fail(at(5_000), &rules);
    assert_eq!((bench.station.contention.contenders[0].cw, bench.station.contention.access[0]), (63, access));
}

#[test]
fn a_window_that_has_grown_stays_within_the_new_bounds_and_the_same_orders_again_leave_it_alone() {
    // From 31, 63 and 255 slots the failure after the order makes 63, 127 and 511 by the old rule.
    for (failures, cw_min, cw) in [(0, 15, 63), (1, 15, 127), (3, 15, 400), (0, 80, 80)] {
        let mut station = Bench::new(conventions()).station;
        station.contention.contenders[0].backoff = Some(1);
        (0..failures).for_each(|_| station.contention.widen(0));
        let access = Access { cw_min, cw_max: 400, ..other(&conventions()) };
        station.contention.set_access(0, |_| access);
        station.contention.widen(0);
        assert_eq!(
            (station.contention.contenders[0].cw, station.contention.access[0]),
            (cw, access),
            "after {failures} failures"
        );
        station.contention.set_access(0, |_| access);
        station.contention.widen(0);
        assert_eq!(station.contention.contenders[0].cw, (2 * cw + 1).min(400));
    }
    let mut station = Bench::new(conventions()).station;
    station.contention.contenders[0].backoff = Some(1);
    station.contention.widen(0);
    station.contention.set_access(0, |_| other(&conventions()));
    station.contention.narrow(0);
    assert_eq!(station.contention.contenders[0].cw, 15);
}

#[test]
fn the_window_is_the_smallest_again_after_more_failures_in_a_row_than_the_retry_limit() {
    let windows = |rules: &Conventions| {
        let mut station = Bench::new(rules.clone()).station;
        [0; 9].map(|_| {
            station.contention.fail(0, rules);
            station.contention.contenders[0].cw
        })
    };
    let rules = conventions();
    assert_eq!(windows(&rules), [63, 127, 255, 511, 1023, 1023, 1023, 31, 63]);
    let twice = Conventions { short_retry_limit: 2, ..conventions() };
    assert_eq!(windows(&twice), [63, 127, 31, 63, 127, 31, 63, 127, 31]);
    let kept = Conventions { window_reset: WindowReset::GivenUp, ..twice };
    assert_eq!(windows(&kept)[2..], [255, 511, 1023, 1023, 1023, 1023, 1023]);
    // A success in between counts from the beginning again.
    let mut station = Bench::new(rules.clone()).station;
    (0..7).for_each(|_| station.contention.fail(0, &rules));
    station.contention.narrow(0);
    station.contention.fail(0, &rules);
    assert_eq!(station.contention.contenders[0].cw, 63);
}

#[test]
fn who_wins_for_a_trigger_that_is_no_longer_needed_takes_no_slots_from_the_other_categories() {
    let mut bench = Bench::new(Conventions { categories: 2, ..conventions() });
    bench.station.contention.wanting = 0b11;
    bench.station.contention.soliciting = 0b01;
    bench.station.contention.contenders[0].backoff = Some(2);
    bench.station.contention.contenders[1].backoff = Some(9);
    bench.busy(0);
    bench.idle(1_000);
    assert_eq!(bench.deadline(), 1_000 + 50 + 2 * 20);
    let Bench { station, rules } = &mut bench;
    station.win(at(1_090), rules);
    assert!(station.forgoes(at(1_090), NotNow::NobodyKnown, rules));
    assert_eq!((station.contention.wanting, station.contention.soliciting), (0b10, 0));
    assert_eq!(bench.deadline(), 1_000 + 50 + 9 * 20);
    // The count of slots continues where it stopped.
    bench.busy(1_150);
    assert_eq!(bench.station.contention.contenders[1].backoff, Some(9 - 6));
}
