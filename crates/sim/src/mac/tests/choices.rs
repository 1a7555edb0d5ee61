//! Choices that the standard leaves open, under each convention.

use super::*;

fn with(first_access: FirstAccess) -> Conventions {
    Conventions { first_access, ..conventions() }
}

/// The number of slots that the station has drawn.
fn backoff(bench: &Bench) -> Option<u16> {
    bench.station.contention.contenders[0].backoff
}

#[test]
fn on_an_idle_medium_a_packet_may_wait_for_difs_or_for_a_backoff_too() {
    // The medium has been idle for 1 ms.
    let mut bench = Bench::new(with(FirstAccess::Immediate));
    bench.offer(1_000);
    assert_eq!((bench.deadline(), backoff(&bench)), (1_000, None));
    for waits in [FirstAccess::Difs, FirstAccess::DifsOrBackOff] {
        let mut bench = Bench::new(with(waits));
        bench.offer(1_000);
        assert_eq!((bench.deadline(), backoff(&bench)), (1_050, None));
    }
    let mut bench = Bench::new(with(FirstAccess::BackOff));
    bench.offer(1_000);
    let slots = u64::from(backoff(&bench).expect("drawn"));
    assert_eq!(bench.deadline(), 1_050 + 20 * slots);
}

#[test]
fn what_begins_within_difs_costs_a_backoff_by_the_standard_and_none_in_ns_3() {
    for (convention, sends, draws) in [
        (FirstAccess::Immediate, 1_050, true),
        (FirstAccess::Difs, 1_070, false),
        (FirstAccess::DifsOrBackOff, 1_070, true),
    ] {
        let mut bench = Bench::new(with(convention));
        bench.busy(0);
        bench.idle(1_000);
        bench.offer(1_020);
        // DIFS from the end of what was on the air, or from the packet's arrival.
        assert_eq!(bench.deadline(), sends);
        bench.busy(1_030);
        assert_eq!(backoff(&bench).is_some(), draws);
        bench.idle(2_000);
        let slots = u64::from(backoff(&bench).unwrap_or(0));
        assert_eq!(bench.deadline(), 2_050 + 20 * slots);
    }
}

#[test]
fn a_packet_that_joins_while_an_ack_is_owed_goes_difs_after_the_ack_in_ns_3() {
    for (convention, draws) in [
        (FirstAccess::Immediate, true),
        (FirstAccess::Difs, false),
        (FirstAccess::DifsOrBackOff, false),
        (FirstAccess::BackOff, true),
    ] {
        // The packet is the answer to what has just come in, before the medium is reported idle.
        let mut bench = Bench::new(with(convention));
        bench.busy(0);
        let answer = bench.station.received(at(966), &data(PEER, ME, 314), &bench.rules);
        assert!(answer.takes);
        bench.offer(966);
        bench.idle(966);
        assert_eq!(backoff(&bench).is_some(), draws);
        let ack = bench.sends_at(976);
        assert_eq!(ack.kind, Kind::Ack);
        bench.sent(1_280, &ack);
        let slots = u64::from(backoff(&bench).unwrap_or(0));
        assert_eq!(bench.deadline(), 1_280 + 50 + 20 * slots);
    }
    // Another frame is on the air when the packet arrives.
    let mut bench = Bench::new(with(FirstAccess::Difs));
    bench.hears(0, 966, &data(PEER, ME, 314));
    bench.busy(970);
    bench.offer(972);
    assert!(backoff(&bench).is_some());
}

#[test]
fn a_cts_goes_out_into_a_busy_medium_unless_asked_not_to() {
    for (answer_rts, sends) in [(AnswerRts::UnlessReserved, true), (AnswerRts::UnlessBusy, false)] {
        let rules = Conventions { answer_rts, ..conventions() };
        let mut bench = Bench::new(rules);
        bench.hears(0, 352, &control(Kind::Rts, ME, 1_604));
        bench.busy(357);
        if sends {
            assert_eq!(bench.sends_at(362).kind, Kind::Cts);
            continue;
        }
        assert_eq!(bench.deadline(), 362);
        assert!(matches!(bench.station.timer(at(362), false, &bench.rules), Due::Wait));
        assert!(bench.is_silent());
        // A packet of its own waits as if there had been no RTS: DIFS and a back-off after the medium.
        bench.offer(400);
        bench.idle(709);
        let slots = u64::from(backoff(&bench).expect("the medium was busy"));
        assert_eq!(bench.deadline(), 709 + 50 + 20 * slots);
    }
    // On an idle medium both answer.
    let mut bench = Bench::new(Conventions { answer_rts: AnswerRts::UnlessBusy, ..conventions() });
    bench.hears(0, 352, &control(Kind::Rts, ME, 1_604));
    assert_eq!(bench.sends_at(362).kind, Kind::Cts);
}
