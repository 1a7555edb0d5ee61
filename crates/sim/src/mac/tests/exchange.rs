//! Tests of frame exchanges: time-outs, attempts, RTS and CTS, reservations, responses.

use super::*;

#[test]
fn a_frame_that_began_within_the_time_out_decides_at_its_end() {
    let ack = control(Kind::Ack, ME, 0);
    for case in 0..5 {
        let mut bench = Bench::new(without_backoff());
        bench.offer(1_000);
        bench.sends_for(966);
        bench.busy(1_980);
        assert!(matches!(bench.station.timer(at(2_188), true, &bench.rules), Due::Wait));
        assert!(bench.is_silent());
        let answer = match case {
            0 => bench.station.received(at(2_284), &ack, &bench.rules),
            1 => bench.station.received(at(2_284), &control(Kind::Ack, OTHER, 0), &bench.rules),
            2 => bench.station.received(at(2_284), &control(Kind::Cts, ME, 0), &bench.rules),
            3 => bench.station.received(at(2_284), &data(PEER, ME, 314), &bench.rules),
            _ => bench.station.spoilt(at(2_284), true, &bench.rules),
        };
        bench.idle(2_284);
        let answer = bench.told(answer);
        assert_eq!(answer.failed, (case != 0).then_some(Unanswered::Data), "case {case}");
        assert_eq!(answer.finished.is_some(), case == 0, "case {case}");
        match case {
            0 => assert!(bench.is_silent()),
            // The data in its place is acknowledged first.
            3 => assert_eq!(bench.sends_at(2_294).kind, Kind::Ack),
            4 => assert!(bench.sends_at(2_284 + 364).retry),
            _ => assert!(bench.sends_at(2_284 + 50).retry),
        }
    }
}

#[test]
fn energy_without_a_header_does_not_end_the_wait_for_an_ack() {
    let mut bench = Bench::new(without_backoff());
    bench.offer(1_000);
    bench.sends_for(966);
    let answer = bench.hears_bad(1_970, 2_100, false);
    assert!(answer.failed.is_none());
    assert_eq!(bench.deadline(), 2_188);
    assert_eq!(bench.times_out().failed, Some(Unanswered::Data));
    // DIFS has passed at the time-out, so the slots (here none) count from it.
    assert_eq!(bench.deadline(), 2_188);
    let mut rules = without_backoff();
    rules.access[0].after_timeout = us(50);
    let mut bench = Bench::new(rules);
    bench.offer(1_000);
    bench.sends_for(966);
    bench.times_out();
    assert_eq!(bench.deadline(), 2_188 + 50);
}

#[test]
fn seven_attempts_without_rts_and_seven_at_the_rts() {
    for rts_threshold in [None, Some(Bytes::new(500))] {
        let mut bench = Bench::new(Conventions { rts_threshold, ..conventions() });
        bench.offer(0);
        for attempt in 1..=7 {
            let (_, frame) = bench.sends_for(966);
            assert_eq!(frame.kind == Kind::Rts, rts_threshold.is_some());
            assert_eq!(frame.sequence, 0);
            let answer = bench.times_out();
            let expected = if rts_threshold.is_some() { Unanswered::Rts } else { Unanswered::Data };
            assert_eq!(answer.failed, Some(expected));
            assert_eq!(answer.finished.is_some(), attempt == 7, "attempt {attempt}");
            assert!(answer.finished.is_none_or(|finished| !finished.delivered));
        }
        assert!(bench.is_free() && bench.is_silent());
    }
}

#[test]
fn four_attempts_at_data_after_a_cts_and_the_two_counts_are_apart() {
    let mut bench = Bench::new(Conventions { rts_threshold: Some(Bytes::new(500)), ..conventions() });
    bench.offer(0);
    for attempt in 1..=4 {
        // Two RTS fail before each of the first three that are answered: six in all, one below the limit.
        for _ in 0..if attempt == 4 { 0 } else { 2 } {
            bench.sends_for(352);
            assert!(bench.times_out().finished.is_none());
        }
        let (start, rts) = bench.sends_for(352);
        assert!(rts.kind == Kind::Rts && rts.reserves == us(30 + 304 + 966 + 304));
        let cts = control(Kind::Cts, ME, 1_290);
        assert!(bench.hears(start + 362, start + 666, &cts).failed.is_none());
        let frame = bench.sends_at(start + 676);
        assert_eq!((frame.reserves, frame.retry), (us(314), attempt > 1), "only data sent before carry the Retry bit");
        bench.sent(start + 676 + 966, &frame);
        let answer = bench.times_out();
        assert_eq!(answer.failed, Some(Unanswered::Data));
        assert_eq!(answer.finished.is_some(), attempt == 4, "attempt {attempt}");
    }
}

#[test]
fn data_no_longer_than_the_threshold_go_without_rts() {
    for (threshold, kind) in [(1_063, true), (1_064, false)] {
        let rules = Conventions { rts_threshold: Some(Bytes::new(threshold)), ..conventions() };
        let mut bench = Bench::new(rules);
        bench.offer(1_000);
        assert_eq!(bench.sends_at(1_000).kind == Kind::Rts, kind);
        let mut bench = Bench::new(Conventions { rts_threshold: Some(Bytes::new(0)), ..conventions() });
        bench.offer_to(1_000, BROADCAST);
        assert!(matches!(bench.sends_at(1_000).kind, Kind::Data { .. }), "a broadcast has no RTS");
    }
}

#[test]
fn the_window_doubles_with_each_failure_and_shrinks_after_the_last() {
    let mut largest = [0; 8];
    let mut after_success = 0;
    for seed in 0..400 {
        let mut bench = Bench::with_seed(conventions(), seed);
        bench.offer(0);
        for most in &mut largest[1..7] {
            bench.sends_for(966);
            let timeout = bench.deadline();
            bench.times_out();
            *most = (bench.deadline() - timeout).div_euclid(20).max(*most);
        }
        bench.sends_for(966);
        let timeout = bench.deadline();
        assert!(bench.times_out().finished.is_some());
        bench.offer(timeout);
        largest[7] = (bench.deadline() - timeout).div_euclid(20).max(largest[7]);
        // Two fail, and the third does not.
        for _ in 0..2 {
            bench.sends_for(966);
            bench.times_out();
        }
        let (start, _) = bench.sends_for(966);
        bench.hears(start + 976, start + 1_280, &control(Kind::Ack, ME, 0));
        bench.offer(start + 1_280);
        after_success = ((bench.deadline() - start - 1_330) / 20).max(after_success);
    }
    let windows = [63, 127, 255, 511, 1023, 1023, 31];
    for (found, window) in largest[1..].iter().zip(windows) {
        // The largest of 400 draws lies in the upper twentieth, except in one case in 10^9.
        assert!((window * 19 / 20..=window).contains(found), "{largest:?}");
    }
    assert!((30..=31).contains(&after_success));
}

#[test]
fn a_frame_for_another_station_reserves_the_medium() {
    let mut bench = Bench::new(without_backoff());
    bench.hears(0, 1_000, &data(PEER, OTHER, 314));
    bench.offer(1_100);
    assert_eq!(bench.deadline(), 1_314 + 50);
    // The reservation only grows.
    bench.hears(1_110, 1_120, &control(Kind::Ack, OTHER, 0));
    assert_eq!(bench.deadline(), 1_314 + 50);
    bench.hears(1_130, 1_140, &control(Kind::Cts, OTHER, 500));
    assert_eq!(bench.deadline(), 1_640 + 50);
    // A frame for this station does not reserve the medium against it.
    bench.hears(1_150, 1_200, &control(Kind::Cts, ME, 5_000));
    assert_eq!(bench.deadline(), 1_640 + 50);
}

#[test]
fn a_packet_that_comes_under_a_reservation_draws_a_backoff() {
    let drawn = (0..20).map(|seed| {
        let mut bench = Bench::with_seed(conventions(), seed);
        bench.hears(0, 1_000, &data(PEER, OTHER, 1_000));
        // Idle for DIFS, but reserved (10.3.4.2: physical and virtual carrier sense).
        bench.offer(1_500);
        (bench.deadline() - 2_050) / 20
    });
    assert!(drawn.sum::<u64>() > 0);
}

#[test]
fn an_rts_is_answered_unless_the_medium_is_reserved_and_data_always_are() {
    let rts = control(Kind::Rts, ME, 1_604);
    let mut bench = Bench::new(conventions());
    bench.hears(0, 352, &rts);
    let cts = bench.sends_at(362);
    assert_eq!((cts.kind, cts.to, cts.reserves), (Kind::Cts, PEER, us(1_604 - 10 - 304)));
    let mut bench = Bench::new(conventions());
    bench.hears(0, 352, &control(Kind::Rts, OTHER, 1_604));
    bench.hears(600, 952, &rts);
    assert!(bench.is_silent());
    assert!(bench.hears(1_000, 1_900, &data(PEER, ME, 314)).takes);
    let ack = bench.sends_at(1_910);
    assert_eq!((ack.kind, ack.to, ack.reserves), (Kind::Ack, PEER, Duration::ZERO));
    bench.sent(2_214, &ack);
    // Reserved until 352 + 1604.
    bench.hears(2_300, 2_652, &rts);
    assert_eq!(bench.sends_at(2_662).kind, Kind::Cts);
}

/// 10.22.2.4: a NAV that the sender of an RTS has set itself does not keep a QoS station from answering it.
#[test]
fn under_edca_an_rts_from_who_reserved_the_medium_is_answered() {
    for (categories, from, answers) in [(4, PEER, true), (4, OTHER, false), (1, PEER, false)] {
        let mut bench = Bench::new(Conventions { categories, ..conventions() });
        bench.hears(0, 352, &Frame { from: PEER, ..control(Kind::Rts, OTHER, 1_604) });
        bench.hears(600, 952, &Frame { from, ..control(Kind::Rts, ME, 1_604) });
        assert_eq!(!bench.is_silent(), answers, "{categories} categories, from {from}");
    }
    // The CTS of another station shows whose exchange it is.
    let mut bench = Bench::new(Conventions { categories: 4, ..conventions() });
    bench.hears(0, 304, &Frame { from: OTHER, ..control(Kind::Cts, PEER, 1_290) });
    bench.hears(600, 952, &Frame { from: PEER, ..control(Kind::Rts, ME, 1_604) });
    assert_eq!(bench.sends_at(962).kind, Kind::Cts);
}

#[test]
fn a_repetition_is_acknowledged_too_and_not_taken() {
    let mut bench = Bench::new(conventions());
    for (begin, retry) in [(0, false), (2_000, true)] {
        let answer = bench.hears(begin, begin + 966, &Frame { retry, ..data(PEER, ME, 314) });
        assert_eq!((answer.takes, answer.duplicate), (!retry, retry));
        let ack = bench.sends_at(begin + 976);
        assert!(bench.sent(begin + 1_280, &ack).is_none());
    }
    assert!(bench.is_silent());
}

#[test]
fn a_broadcast_is_taken_and_not_acknowledged() {
    let mut bench = Bench::new(conventions());
    assert!(bench.hears(0, 966, &data(PEER, BROADCAST, 0)).takes);
    assert!(bench.is_silent());
    assert!(!bench.hears(1_000, 1_966, &data(PEER, OTHER, 314)).takes);
}

#[test]
fn a_response_goes_first_and_leaves_the_backoff_as_it_was() {
    let (mut bench, slots) = Bench::backing_off(5);
    bench.hears(1_050 + 30, 2_100, &data(PEER, ME, 314));
    // The medium's edges before the response, and other noise, do not move the deadline.
    bench.busy(2_105);
    bench.idle(2_107);
    let ack = bench.sends_at(2_110);
    assert_eq!(ack.kind, Kind::Ack);
    assert!(bench.sent(2_414, &ack).is_none());
    assert_eq!(bench.deadline(), 2_414 + 50 + 20 * (slots - 1));
    assert!(matches!(bench.sends_at(2_464 + 20 * (slots - 1)).kind, Kind::Data { .. }));
}

#[test]
fn a_packet_taken_while_a_response_is_owed_or_sent_draws_a_backoff() {
    for sending in [false, true] {
        let drawn = (0..20).map(|seed| {
            let mut bench = Bench::with_seed(conventions(), seed);
            bench.hears(0, 1_000, &data(PEER, ME, 314));
            if !sending {
                bench.offer(1_000);
            }
            let ack = bench.sends_at(1_010);
            if sending {
                bench.offer(1_100);
            }
            bench.sent(1_314, &ack);
            (bench.deadline() - 1_364) / 20
        });
        assert!(drawn.sum::<u64>() > 0);
    }
}

#[test]
fn after_a_response_on_a_medium_that_stays_busy_the_station_waits() {
    let (mut bench, slots) = Bench::backing_off(5);
    bench.hears(1_060, 2_100, &data(PEER, ME, 314));
    let ack = bench.sends_at(2_110);
    bench.station.sent(at(2_414), &ack, &bench.rules);
    assert!(bench.is_silent(), "another signal is still there");
    bench.idle(3_000);
    assert_eq!(bench.deadline(), 3_050 + 20 * slots);
}

#[test]
fn an_rts_for_a_station_that_awaits_a_cts_fails_its_own_and_is_answered() {
    let rules = Conventions { rts_threshold: Some(Bytes::new(500)), ..without_backoff() };
    let mut bench = Bench::new(rules);
    bench.offer(0);
    bench.sends_for(352);
    let answer = bench.hears(360, 712, &control(Kind::Rts, ME, 1_604));
    assert_eq!(answer.failed, Some(Unanswered::Rts));
    let cts = bench.sends_at(722);
    assert_eq!(cts.kind, Kind::Cts);
    bench.sent(1_026, &cts);
    assert_eq!(bench.sends_at(1_076).kind, Kind::Rts);
}

#[test]
fn after_a_cts_data_follow_whatever_the_medium_does() {
    let rules = Conventions { rts_threshold: Some(Bytes::new(500)), ..conventions() };
    let mut bench = Bench::new(rules);
    bench.offer(0);
    bench.sends_for(352);
    bench.hears(362, 666, &control(Kind::Cts, ME, 1_290));
    bench.busy(668);
    bench.idle(670);
    bench.busy(671);
    assert!(matches!(bench.sends_at(676).kind, Kind::Data { .. }));
}

#[test]
fn numbers_have_12_bits() {
    let mut bench = Bench::new(without_backoff());
    for n in 0..5_000_u64 {
        let start = (n + 1) * 10_000;
        bench.offer_to(start, BROADCAST);
        let frame = bench.sends_at(start);
        assert_eq!((u64::from(frame.sequence), frame.retry), (n % 4_096, false));
        bench.sent(start + 1_504, &frame);
    }
}
