//! Node B (10.9.1.2 and 10.9.2.1) is between A (10.9.1.1) on the link of interface 1 and C (10.9.2.2) on that of
//! interface 2. D (10.9.3.3) is behind C.

use super::*;
use proptest::prelude::*;

const A: Ipv4Addr = Ipv4Addr::new(10, 9, 1, 1);
const C: Ipv4Addr = Ipv4Addr::new(10, 9, 2, 2);
const D: Ipv4Addr = Ipv4Addr::new(10, 9, 3, 3);
const B: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 9, 1, 2), Ipv4Addr::new(10, 9, 2, 1)];
const NOWHERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const BY_A: Neighbour = Neighbour { index: 1, address: A };
const BY_C: Neighbour = Neighbour { index: 2, address: C };
const START: Instant = Instant::from_nanos(1_000_000_000_000);
const ROOM: Room = Room { available: Some(Rate::kbps(300)), at_most: None };

struct OfB;

impl Routes for OfB {
    fn to(&mut self, address: Ipv4Addr) -> Option<Hop> {
        match address {
            A => Some(Hop::Via(BY_A, B[0])),
            C | D => Some(Hop::Via(BY_C, B[1])),
            own if B.contains(&own) => Some(Hop::Here),
            _ => None,
        }
    }
}

fn message(kind: Kind, source: Ipv4Addr, destination: Ipv4Addr) -> Message {
    let (source, destination) = (source.into(), destination.into());
    let (bottleneck, rate) = (Rate::mbps(1), Rate::kbps(200));
    Message { kind, hops: 1, number: 7, bottleneck, source, destination, port: 0, flow: 5, rate }
}

/// Returns what a new relay sends after this message.
fn taken(from: Peer, message: Message) -> Vec<Posted> {
    Relay::default().take(START, from, message, ROOM, &mut OfB)
}

/// A program of user 1.
fn program(name: impl Into<u64>) -> Peer {
    Peer::Program(Program { name: name.into(), user: 1 })
}

const FROM_A: Peer = Peer::Neighbour(BY_A);
const FROM_C: Peer = Peer::Neighbour(BY_C);

#[test]
fn a_probe_is_lowered_and_goes_on_and_its_answer_comes_back_as_it_is() {
    let probe = message(Kind::Probe, A, D);
    let lowered = Message { hops: 2, bottleneck: Rate::kbps(300), ..probe };
    assert_eq!(taken(FROM_A, probe), [Posted { to: FROM_C, message: lowered }]);
    let less = Message { bottleneck: Rate::kbps(100), ..probe };
    assert_eq!(taken(FROM_A, less)[0].message.bottleneck, Rate::kbps(100));
    let answer = message(Kind::Answer, A, D);
    assert_eq!(taken(FROM_C, answer), [Posted { to: FROM_A, message: Message { hops: 2, ..answer } }]);
    // A host that has not seen the flow cannot ask it to regulate.
    let regulate = message(Kind::Regulate, A, D);
    assert_eq!(taken(FROM_C, regulate), []);
    let mut relay = Relay::default();
    relay.take(START, FROM_A, probe, ROOM, &mut OfB);
    let mut asked = |flow| relay.take(START, FROM_C, Message { flow, ..regulate }, ROOM, &mut OfB);
    assert_eq!(asked(5), [Posted { to: FROM_A, message: Message { hops: 2, ..regulate } }]);
    assert_eq!(asked(6), []);
}

#[test]
fn a_node_that_says_nothing_sets_no_bound_and_one_that_is_full_sets_zero() {
    let lowered = |available| {
        let room = Room { available, at_most: None };
        let posted = Relay::default().take(START, FROM_A, message(Kind::Probe, A, D), room, &mut OfB);
        posted[0].message.bottleneck
    };
    assert_eq!(lowered(None), Rate::mbps(1));
    assert_eq!(lowered(Some(Rate::bps(0))), Rate::bps(0));
}

#[test]
fn the_destination_answers_the_neighbour_that_asked_and_lowers_nothing() {
    let probe = message(Kind::Probe, A, B[0]);
    let answer = Message { kind: Kind::Answer, ..probe };
    assert_eq!(taken(FROM_A, probe), [Posted { to: FROM_A, message: answer }]);
}

/// A host that has not asked gets no answer, and each message causes at most one.
#[test]
fn who_names_another_as_source_or_destination_is_not_heard() {
    for (source, destination) in [(C, A), (D, A), (NOWHERE, D), (B[1], D), (A, A)] {
        assert_eq!(taken(FROM_A, message(Kind::Probe, source, destination)), [], "{source} {destination}");
    }
    // A answers only for itself, and sends nothing about flows of others.
    for kind in [Kind::Answer, Kind::Regulate, Kind::Present] {
        for destination in [C, D, NOWHERE, B[1]] {
            assert_eq!(taken(FROM_A, message(kind, C, destination)), [], "{kind:?} {destination}");
        }
    }
    assert_eq!(taken(FROM_A, message(Kind::Answer, C, A)).len(), 1);
    // The first is a stranger on A's link, the second has A's address on another link.
    let stranger = Peer::Neighbour(Neighbour { index: 1, address: Ipv4Addr::new(10, 9, 1, 77) });
    assert_eq!(taken(stranger, message(Kind::Probe, A, D)), []);
    let elsewhere = Peer::Neighbour(Neighbour { index: 2, address: A });
    assert_eq!(taken(elsewhere, message(Kind::Probe, A, D)), []);
    let v6 = Message { destination: "2001:db8::1".parse().unwrap(), ..message(Kind::Probe, A, D) };
    assert_eq!(taken(FROM_A, v6), []);
}

#[test]
fn a_probe_to_where_no_route_leads_or_after_too_many_hops_goes_no_further() {
    assert_eq!(taken(FROM_A, message(Kind::Probe, A, NOWHERE)), []);
    let tired = Message { hops: crate::admission::message::MOST_HOPS, ..message(Kind::Probe, A, D) };
    assert_eq!(taken(FROM_A, tired), []);
}

#[test]
fn a_program_gets_the_answer_to_its_last_probe_and_requests_for_its_flow() {
    let mut relay = Relay::default();
    let unspecified = Ipv4Addr::UNSPECIFIED;
    let asked = Message { hops: 0, port: 5_004, ..message(Kind::Probe, unspecified, D) };
    let posted = relay.take(START, program(40_000_u64), asked, ROOM, &mut OfB);
    let sent = Message { hops: 1, bottleneck: Rate::kbps(300), source: B[1].into(), ..asked };
    assert_eq!(posted, [Posted { to: FROM_C, message: sent }]);
    // Another program has a flow to the same destination.
    let other = Message { number: 8, flow: 6, ..asked };
    relay.take(START, program(40_001_u64), other, ROOM, &mut OfB);

    let mut back = |kind, number, flow, at| {
        let message = Message { number, flow, ..message(kind, B[1], D) };
        let posted = relay.take(at, FROM_C, message, ROOM, &mut OfB);
        posted.iter().map(|posted| posted.to).collect::<Vec<_>>()
    };
    let [first, second] = [program(40_000_u64), program(40_001_u64)];
    assert_eq!(back(Kind::Answer, 7, 5, START), [first]);
    assert_eq!(back(Kind::Answer, 9, 5, START), [], "a number that nobody waits for");
    assert_eq!(back(Kind::Regulate, 0, 5, START), [first]);
    assert_eq!(back(Kind::Regulate, 0, 6, START), [second]);
    assert_eq!(back(Kind::Regulate, 0, 0, START), [], "nobody's flow");
    assert_eq!(back(Kind::Regulate, 0, 5, START + FORGOTTEN_AFTER), [], "they were not heard again");
}

#[test]
fn a_program_that_says_that_it_is_there_goes_on_waiting_for_its_answer() {
    let (mut relay, program) = (Relay::default(), program(40_000_u64));
    let asked = message(Kind::Probe, Ipv4Addr::UNSPECIFIED, D);
    relay.take(START, program, asked, ROOM, &mut OfB);
    let later = START + Duration::from_secs(29);
    let present = Message { kind: Kind::Present, number: 0, ..asked };
    // The message goes on along the path.
    let posted = relay.take(later, program, present, ROOM, &mut OfB);
    assert_eq!(posted.iter().map(|posted| posted.to).collect::<Vec<_>>(), [FROM_C]);
    let answer = relay.take(later + Duration::from_secs(29), FROM_C, message(Kind::Answer, B[1], D), ROOM, &mut OfB);
    assert_eq!(answer.len(), 1);
}

#[test]
fn a_flow_to_this_very_machine_is_answered_at_once() {
    let asked = message(Kind::Probe, Ipv4Addr::UNSPECIFIED, B[0]);
    let posted = taken(program(40_000_u64), asked);
    let answer = Message { kind: Kind::Answer, bottleneck: Rate::kbps(300), ..asked };
    assert_eq!(posted, [Posted { to: program(40_000_u64), message: answer }]);
}

#[test]
fn a_user_with_too_many_programs_takes_no_place_of_another_users() {
    let mut relay = Relay::default();
    let asked = message(Kind::Probe, Ipv4Addr::UNSPECIFIED, D);
    let other = Peer::Program(Program { name: 9_999, user: 2 });
    let at = |seconds| START + Duration::from_secs(seconds);
    relay.take(at(0), other, Message { number: 77, ..asked }, ROOM, &mut OfB);
    let (mut names, mut served) = (0..1_000_u64, 0);
    for seconds in 1..=20 {
        for name in names.by_ref().take(50) {
            served += relay.take(at(seconds), program(name), asked, ROOM, &mut OfB).len();
        }
    }
    assert_eq!(relay.programs.len(), MOST_PROGRAMS);
    // Programs without an entry are not served: 63 of 150 in 3 s, the time for which probes are open.
    assert_eq!(served, 6 * 63 + 50 + 13);
    let answer = Message { number: 77, ..message(Kind::Answer, B[1], D) };
    let posted = relay.take(at(20), FROM_C, answer, ROOM, &mut OfB);
    assert_eq!(posted.iter().map(|posted| posted.to).collect::<Vec<_>>(), [other]);
    // Another user's program is served while the first user sends as much as he may.
    assert_eq!(relay.take(at(20), program(9_u64), asked, ROOM, &mut OfB), []);
    assert_eq!(relay.take(at(20), other, asked, ROOM, &mut OfB).len(), 1);
}

/// Sixty-four users ask as often as they may; another user asks once.
#[test]
fn a_program_whose_probe_is_open_is_not_forgotten_for_others_and_waits_for_its_answer() {
    let mut relay = Relay::default();
    let asked = message(Kind::Probe, Ipv4Addr::UNSPECIFIED, D);
    let quiet = Peer::Program(Program { name: 9_999, user: 9_999 });
    relay.take(START, quiet, Message { number: 77, ..asked }, ROOM, &mut OfB);
    for name in 0..1_000_u64 {
        let loud = Peer::Program(Program { name, user: u32::try_from(name).unwrap() });
        let posted = relay.take(START + Duration::from_millis(name), loud, asked, ROOM, &mut OfB);
        assert_eq!(posted.len(), usize::from(name < 63), "{name}");
    }
    let answer = Message { number: 77, ..message(Kind::Answer, B[1], D) };
    let later = START + Duration::from_millis(2_999);
    assert_eq!(relay.take(later, FROM_C, answer, ROOM, &mut OfB).len(), 1);
    // After its answer the program gives way like others. No program waits for longer than an answer takes.
    let next = Peer::Program(Program { name: 5_000, user: 5_000 });
    assert_eq!(relay.take(later, next, asked, ROOM, &mut OfB).len(), 1);
    assert!(relay.programs.iter().all(|asked| Peer::Program(asked.program) != quiet));
}

/// Requests to regulate arrive with the destination's address, as fast as they are read.
#[test]
fn forged_requests_to_regulate_reach_no_program_and_take_nothing_from_answers() {
    let mut relay = Relay::default();
    let (caller, asked) = (program(1_u64), Message { hops: 0, ..message(Kind::Probe, Ipv4Addr::UNSPECIFIED, D) });
    relay.take(START, caller, asked, ROOM, &mut OfB);
    for millis in (0..10_000).step_by(5) {
        let now = START + Duration::from_millis(millis);
        for flow in [0, 1, 2, 3].repeat(8) {
            let forged = Message { flow, ..message(Kind::Regulate, B[1], D) };
            assert_eq!(relay.take(now, FROM_C, forged, ROOM, &mut OfB), []);
        }
        // A sender that has heard the flow knows its number, but still prevents no answer.
        for _ in 0..32 {
            relay.take(now, FROM_C, message(Kind::Regulate, B[1], D), ROOM, &mut OfB);
        }
        if millis % 1_000 == 0 {
            assert_eq!(relay.take(now, caller, asked, ROOM, &mut OfB).len(), 1);
            assert_eq!(relay.take(now, FROM_C, message(Kind::Answer, B[1], D), ROOM, &mut OfB).len(), 1);
        }
    }
}

#[test]
fn what_a_node_admits_together_stays_below_its_bound() {
    let mut relay = Relay::default();
    let room = Room { available: None, at_most: Some(Rate::kbps(500)) };
    let at = |seconds| START + Duration::from_secs(seconds);
    let mut probe = |flow, at| {
        let probe = Message { flow, ..message(Kind::Probe, A, D) };
        relay.take(at, FROM_A, probe, room, &mut OfB)[0].message.bottleneck
    };
    // Each flow needs 200 kb/s, and two fit.
    let left: Vec<Rate> = (0..8).map(|flow| probe(flow, at(0))).collect();
    assert_eq!(left, [500, 300, 100, 100, 100, 100, 100, 100].map(Rate::kbps));
    assert_eq!(probe(1, at(0)), Rate::kbps(300), "a flow that asks again does not stand in its own way");
    // Another node refused the second flow, which says so. The first flow lives, and after 3 s only it counts.
    let present = |flow, rate| Message { flow, rate, ..message(Kind::Present, A, D) };
    relay.take(at(1), FROM_A, present(0, Rate::kbps(200)), room, &mut OfB);
    let ended = relay.take(at(1), FROM_A, present(1, Rate::bps(0)), room, &mut OfB);
    assert_eq!(ended.iter().map(|posted| posted.to).collect::<Vec<_>>(), [FROM_C], "the others of the path hear it");
    let mut probe = |flow, at| {
        let probe = Message { flow, ..message(Kind::Probe, A, D) };
        relay.take(at, FROM_A, probe, room, &mut OfB)[0].message.bottleneck
    };
    assert_eq!(probe(9, at(1)), Rate::kbps(300));
    assert_eq!(probe(10, at(30)), Rate::kbps(300));
    assert_eq!(probe(11, at(40)), Rate::kbps(500));
}

/// Probes arrive with other hosts' addresses, as fast as they are read, next to an admitted flow.
#[test]
fn forged_sources_take_nothing_from_flows_nor_from_those_who_ask() {
    let mut relay = Relay::default();
    let (caller, asked) = (program(1_u64), Message { hops: 0, ..message(Kind::Probe, Ipv4Addr::UNSPECIFIED, D) });
    relay.take(START, caller, asked, ROOM, &mut OfB);
    let forged = |host| {
        let address = Ipv4Addr::new(10, 9, 1, host);
        (Peer::Neighbour(Neighbour { index: 1, address }), message(Kind::Probe, address, D))
    };
    for millis in (0..10_000).step_by(5) {
        let now = START + Duration::from_millis(millis);
        for host in 100..132 {
            let (from, probe) = forged(host);
            assert_eq!(relay.take(now, from, probe, ROOM, &mut OfB), []);
        }
        if millis % 1_000 == 0 {
            // The flow is asked to regulate, probes and is answered; other flows are still forwarded, too.
            assert_eq!(relay.take(now, FROM_C, message(Kind::Regulate, B[1], D), ROOM, &mut OfB).len(), 1);
            assert_eq!(relay.take(now, caller, asked, ROOM, &mut OfB).len(), 1);
            assert_eq!(relay.take(now, FROM_C, message(Kind::Answer, B[1], D), ROOM, &mut OfB).len(), 1);
        }
    }
}

#[test]
fn the_source_of_marked_packets_is_asked_ten_times_a_second_at_most_and_for_one_packet_never() {
    let mut relay = Relay::default();
    let flow = Flow { source: A, destination: B[0], port: 5_004 };
    for (port, flow) in [(5_004, 5), (5_006, 6)] {
        let announced = Message { port, flow, ..message(Kind::Present, A, B[0]) };
        assert_eq!(relay.take(START, FROM_A, announced, ROOM, &mut OfB), []);
    }
    let nothing = Rate::bps(0);
    let message =
        Message { number: 0, bottleneck: nothing, port: 5_004, rate: nothing, ..message(Kind::Regulate, A, B[0]) };
    let expected = [Posted { to: FROM_A, message }];
    let at = |millis| START + Duration::from_millis(millis);
    assert_eq!(relay.marked(at(0), flow, &mut OfB), [], "anybody can forge one");
    assert_eq!(relay.marked(at(99), flow, &mut OfB), []);
    assert_eq!(relay.marked(at(100), flow, &mut OfB), expected);
    assert_eq!(relay.marked(at(100), Flow { port: 5_006, ..flow }, &mut OfB), []);
    assert_eq!(relay.marked(at(199), flow, &mut OfB), []);
    assert_eq!(relay.marked(at(200), Flow { port: 5_006, ..flow }, &mut OfB)[0].message.flow, 6);
    assert_eq!(relay.marked(at(200), flow, &mut OfB), expected);
    // After a second of silence one packet is again alone.
    assert_eq!(relay.marked(at(1_200), flow, &mut OfB), []);
    // These are packets that are only forwarded, packets without a route, and packets of no announced flow.
    for other in [Flow { destination: D, ..flow }, Flow { source: NOWHERE, ..flow }, Flow { port: 5_008, ..flow }] {
        assert_eq!(relay.marked(at(1_500), other, &mut OfB), []);
        assert_eq!(relay.marked(at(1_700), other, &mut OfB), []);
    }
    // The node forgets a flow that ends.
    let ended = Message { kind: Kind::Present, hops: 1, ..message };
    relay.take(at(1_800), FROM_A, ended, ROOM, &mut OfB);
    assert_eq!(relay.marked(at(1_800), flow, &mut OfB), []);
    assert_eq!(relay.marked(at(1_900), flow, &mut OfB), []);
}

#[test]
fn flows_that_are_too_many_are_asked_later() {
    let mut relay = Relay::default();
    let flow = |port| Flow { source: A, destination: B[0], port };
    relay.take(START, FROM_A, message(Kind::Present, A, B[0]), ROOM, &mut OfB);
    let mut asked = |at| (0..1_000).filter(|port| !relay.marked(at, flow(*port), &mut OfB).is_empty()).count();
    assert_eq!(asked(START), 0);
    assert_eq!(asked(START + Duration::from_millis(100)), MOST_MARKED);
}

proptest! {
    /// No amplification: a neighbour's message causes at most one message to neighbours, of the same length, and one to
    /// each program of this machine. The answer to a probe goes to the node that asked.
    #[test]
    fn one_message_leaves_for_one_that_comes_and_an_answer_to_who_asked(
        kind in prop::sample::select(vec![Kind::Probe, Kind::Answer, Kind::Regulate, Kind::Present]),
        from in prop::sample::select(vec![FROM_A, FROM_C, Peer::Neighbour(Neighbour { index: 9, address: NOWHERE })]),
        ends in prop::sample::select(vec![A, C, D, B[0], B[1], NOWHERE])
            .prop_flat_map(|one| (Just(one), prop::sample::select(vec![A, C, D, B[0], B[1], NOWHERE]))),
        hops in 0..=32_u8,
        number in any::<u64>(),
    ) {
        let mut relay = Relay::default();
        relay.take(START, program(1_u64), message(Kind::Probe, Ipv4Addr::UNSPECIFIED, D), ROOM, &mut OfB);
        let came = Message { hops, number, ..message(kind, ends.0, ends.1) };
        let posted = relay.take(START, from, came, ROOM, &mut OfB);
        let to_neighbours = posted.iter().filter(|posted| matches!(posted.to, Peer::Neighbour(_))).count();
        prop_assert!(to_neighbours <= 1 && posted.len() <= 1);
        for posted in posted {
            let is_answer = kind == Kind::Probe && posted.message.kind == Kind::Answer;
            prop_assert_eq!(is_answer, posted.to == from);
            prop_assert!(posted.message.bottleneck <= came.bottleneck);
        }
    }

    /// The kernel's monotonic clock never steps. If it did, every sender would be served again later.
    #[test]
    fn a_clock_that_steps_harms_nothing(times in prop::collection::vec(0..1_u64 << 62, 1..300)) {
        let mut relay = Relay::default();
        let flow = Flow { source: A, destination: B[0], port: 5_004 };
        let asked = message(Kind::Probe, Ipv4Addr::UNSPECIFIED, D);
        for (port, time) in (0..=u16::MAX).zip(&times) {
            let at = Instant::from_nanos(*time);
            relay.take(at, program(port), asked, ROOM, &mut OfB);
            relay.marked(at, flow, &mut OfB);
            prop_assert!(relay.programs.len() <= MOST_PROGRAMS && relay.marked.len() <= MOST_MARKED);
        }
        let last = Instant::from_nanos(times.iter().copied().max().unwrap_or_default());
        let later = last + Duration::from_secs(60);
        prop_assert_eq!(relay.take(later, program(1_u64), asked, ROOM, &mut OfB).len(), 1);
        relay.take(later, FROM_A, message(Kind::Present, A, B[0]), ROOM, &mut OfB);
        relay.marked(later, flow, &mut OfB);
        prop_assert_eq!(relay.marked(later + REGULATION_EVERY, flow, &mut OfB).len(), 1);
    }
}
