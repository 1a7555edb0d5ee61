//! Tests of the RFC's procedures message by message, worked out by hand.

use super::super::table::{Offer, Seen, Table, newer};
use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_route_over_three_hops_is_found_message_by_message() {
    let mut net = Net::new(4, &chain(4), &config::Aodv { ttl_start: 7, ..plain() });
    let first = net.send(0, 3);
    net.run(SECOND);
    assert_eq!(
        net.sent(),
        [
            "0>* RREQ 0 #1 for 3 #? h0 t7",
            "1>* RREQ 0 #1 for 3 #? h1 t6",
            "2>* RREQ 0 #1 for 3 #? h2 t5",
            "3>2 RREP 3 #0 for 0 h0",
            "2>1 RREP 3 #0 for 0 h1",
            "1>0 RREP 3 #0 for 0 h2",
        ]
    );
    assert_eq!(net.data[first].fate, Fate::Arrived { hops: 3 });
    let route = net.nodes[0].table.find(3).unwrap();
    assert_eq!((route.next, route.hops, route.sequence, route.known), (1, 3, Some(0), true));
    // 6.7: node 1 tells node 0 when the route to 3, or to 2, breaks.
    assert_eq!(net.nodes[1].table.find(3).unwrap().precursors, [0]);
    assert_eq!(net.nodes[1].table.find(2).unwrap().precursors, [0]);
    // The reply and the packet have kept the reverse route alive; its number is the originator's.
    let back = net.nodes[3].table.find(0).unwrap();
    assert_eq!((back.next, back.hops, back.sequence), (2, 3, Some(1)));
    // A second packet needs no message.
    net.send(0, 3);
    net.run(SECOND);
    assert_eq!((net.sent().len(), net.arrived()), (0, 2));
}

#[test]
fn rings_widen_until_the_destination_answers() {
    let mut net = Net::new(12, &chain(12), &plain());
    net.send(0, 11);
    net.run(SECOND * 10);
    let own: Vec<String> = net.sent().into_iter().filter(|line| line.starts_with("0>")).collect();
    assert_eq!(
        own,
        [
            "0>* RREQ 0 #1 for 11 #? h0 t1",
            "0>* RREQ 0 #2 for 11 #? h0 t3",
            "0>* RREQ 0 #3 for 11 #? h0 t5",
            "0>* RREQ 0 #4 for 11 #? h0 t7",
            "0>* RREQ 0 #5 for 11 #? h0 t35",
        ]
    );
    assert_eq!(net.arrived(), 1);
    // 6.4: RING_TRAVERSAL_TIME is 2 x 40 ms x (TTL + 2): 240 + 400 + 560 + 720 ms before the last request, and then 11
    // ms there and 11 back. The route has MY_ROUTE_TIMEOUT, 6 s, from then on.
    let route = net.nodes[0].table.find(11).unwrap();
    assert_eq!(route.expires, Instant::ZERO + Duration::from_millis(1920 + 22 + 6000));
}

#[test]
fn an_unreachable_destination_is_given_up_after_a_binary_back_off() {
    let mut net = Net::new(2, &[], &config::Aodv { ttl_start: 35, rreq_retries: 3, ..plain() });
    let lost = net.send(0, 1);
    let request = |times: usize| vec!["0>* RREQ"; times];
    let heads = |net: &mut Net| net.sent().iter().map(|line| line[..8].to_owned()).collect::<Vec<_>>();
    // NET_TRAVERSAL_TIME is 2 x 40 ms x 35 = 2.8 s: requests at 0, 2.8 and 8.4 s, the end at 19.6 s.
    for (until, requests) in [(2799, 1), (8399, 1), (19_599, 1)] {
        net.run(Instant::from_nanos(until * 1_000_000).since(net.now));
        assert_eq!(heads(&mut net), request(requests), "at {until} ms");
        assert_eq!(net.data[lost].fate, Fate::UnderWay);
    }
    net.run(Duration::from_millis(1));
    assert_eq!(net.data[lost].fate, Fate::Lost(LossCause::NoRoute));
    assert_eq!(net.nodes[0].counts.searches_failed, 1);
    assert_eq!(net.nodes[0].deadline, Instant::NEVER);
}

#[test]
fn a_node_on_the_way_replies_and_tells_the_destination_when_asked() {
    let given = config::Aodv { ttl_start: 7, gratuitous_rrep: true, ..plain() };
    let mut net = Net::new(5, &[(0, 1), (1, 2), (2, 3), (4, 1)], &given);
    net.send(0, 3);
    net.run(SECOND);
    net.sent();
    // Node 1 knows node 3 at two hops; it replies to 4 and tells 3 about 4.
    let packet = net.send(4, 3);
    net.run(SECOND);
    assert_eq!(
        net.sent(),
        ["4>* RREQ 4 #1 for 3 #? h0 t7", "1>4 RREP 3 #0 for 4 h2", "1>2 RREP 4 #1 for 3 h1", "2>3 RREP 4 #1 for 3 h2",]
    );
    assert_eq!(net.data[packet].fate, Fate::Arrived { hops: 3 });
    assert_eq!(net.nodes[1].table.find(3).unwrap().precursors, [0, 4]);
    assert_eq!(net.next(3, 4), Some(2));
    // With the D flag the request reaches the destination itself.
    let links = [(0, 1), (1, 2), (2, 3), (4, 1), (5, 1)];
    let mut net = Net::new(6, &links, &config::Aodv { destination_only: true, ..given });
    net.send(0, 3);
    net.run(SECOND);
    net.send(4, 3);
    net.run(SECOND);
    assert!(net.sent().contains(&"3>2 RREP 3 #0 for 4 h0".to_owned()));
    // A destination that has come nearer answers directly, with the number of the longer route; no node forwarded that.
    net.join(1, 3);
    let packet = net.send(5, 3);
    net.run(Duration::from_millis(100));
    assert_eq!((net.data[packet].fate, net.next(1, 3)), (Fate::Arrived { hops: 2 }, Some(3)));
}

#[test]
fn a_broken_link_is_told_to_those_who_use_it() {
    let mut net = Net::new(5, &[(0, 1), (4, 1), (1, 2), (2, 3)], &config::Aodv { ttl_start: 7, ..plain() });
    net.send(0, 3);
    net.send(4, 3);
    net.run(SECOND);
    net.sent();
    net.cut(2, 3);
    let lost = net.send(0, 3);
    net.run(SECOND);
    // Node 2 has one precursor, node 1 two: one unicast, one broadcast. The number grows where the link broke (6.11).
    assert_eq!(net.sent(), ["2>1 RERR 3 #1", "1>* RERR 3 #1"]);
    assert_eq!(net.data[lost].fate, Fate::Failed);
    for node in [0, 1, 2, 4] {
        assert_eq!(net.next(node, 3), None);
        assert_eq!(net.nodes[node as usize].table.find(3).unwrap().sequence, Some(1));
    }
    // The next search starts from the old distance (6.4) and asks for a newer route than the broken one.
    net.join(2, 3);
    net.send(0, 3);
    net.run(SECOND);
    let sent = net.sent();
    assert_eq!(sent[0], "0>* RREQ 0 #2 for 3 #1 h0 t5");
    assert!(sent.contains(&"1>0 RREP 3 #1 for 0 h2".to_owned()), "{sent:?}");
    assert_eq!(net.next(0, 3), Some(1));
}

#[test]
fn data_without_a_route_makes_an_error_for_who_sent_it() {
    let mut net = Net::new(3, &chain(3), &config::Aodv { ttl_start: 7, ..plain() });
    net.send(0, 2);
    net.run(SECOND);
    net.sent();
    // Node 1's link breaks, and its route error to node 0 is lost.
    net.loses = Box::new(|from, to, message| (from, to) == (1, 0) && matches!(message, Message::Error { .. }));
    net.cut(1, 2);
    net.send(0, 2);
    net.run(Duration::from_millis(100));
    assert_eq!(net.next(0, 2), Some(1));
    net.loses = Box::new(|_, _, _| false);
    let lost = net.send(0, 2);
    net.run(Duration::from_millis(100));
    assert_eq!(net.data[lost].fate, Fate::Lost(LossCause::NoRoute));
    assert_eq!(net.next(0, 2), None);
}

#[test]
fn sequence_numbers_roll_over() {
    assert!(newer(1, 0) && !newer(0, 1) && !newer(5, 5));
    assert!(newer(0, u32::MAX) && newer(5, u32::MAX - 5) && !newer(u32::MAX - 5, 5));
    assert!(newer(1 << 31, 1) && !newer((1 << 31) + 1, 1));
    let mut net = Net::new(3, &chain(3), &config::Aodv { ttl_start: 7, ..plain() });
    net.nodes[0].sequence = u32::MAX - 1;
    net.nodes[2].sequence = u32::MAX;
    for _ in 0..4 {
        net.send(0, 2);
        net.run(SECOND);
        net.cut(1, 2);
        net.send(0, 2);
        net.run(SECOND);
        net.join(1, 2);
    }
    let number = |line: &String| Some(line.split(" h").next()?.strip_prefix("0>* RREQ ")?.to_owned());
    let numbers: Vec<String> = net.sent().iter().filter_map(number).collect();
    assert_eq!(numbers, ["0 #4294967295 for 2 #?", "0 #0 for 2 #0", "0 #1 for 2 #1", "0 #2 for 2 #2",]);
    assert_eq!(net.arrived(), 4);
}

#[test]
fn two_ends_that_look_for_each_other_at_once_both_find_a_route() {
    let mut net = Net::new(5, &chain(5), &config::Aodv { ttl_start: 7, ..plain() });
    let packets = [net.send(0, 4), net.send(4, 0)];
    net.run(SECOND);
    for packet in packets {
        assert_eq!(net.data[packet].fate, Fate::Arrived { hops: 4 });
    }
    // The requests meet in the middle: each gives the reverse route for the other, and is fresh enough for a reply.
    let replies = net.sent().into_iter().filter(|line| line.contains("RREP")).count();
    assert!(replies <= 8, "{replies} replies");
}

#[test]
fn a_node_makes_ten_requests_a_second() {
    let mut net = Net::new(30, &[], &config::Aodv { ttl_start: 35, ..plain() });
    (1..=25).for_each(|destination| {
        net.send(0, destination);
    });
    for (until, requests) in [(999, 10), (1999, 10), (2799, 5)] {
        net.run(Instant::from_nanos(until * 1_000_000).since(net.now));
        assert_eq!(net.sent().len(), requests, "until {until} ms");
    }
}

#[test]
fn a_neighbour_that_stops_greeting_is_gone_after_two_seconds() {
    let given = config::Aodv { ttl_start: 7, hello: true, my_route_timeout: Some(SECOND * 60), ..plain() };
    let mut net = Net::new(4, &chain(4), &given);
    let mut sent = 0;
    net.send(0, 3);
    for _ in 0..10 {
        net.send(0, 3);
        net.run(SECOND);
    }
    assert!(net.sent().iter().filter(|line| line.contains("HELLO")).count() >= 12);
    net.cut(1, 2);
    let cut = net.now;
    while net.next(1, 3).is_some() {
        net.run(Duration::from_millis(10));
        sent += 1;
    }
    // More than one hello interval after the cut, and at most two.
    assert!(sent > 0 && net.now.since(cut) > SECOND && net.now.since(cut) <= SECOND * 2 + Duration::from_millis(10));
    net.run(Duration::from_millis(10));
    assert_eq!(net.next(0, 3), None);
    assert!(net.sent().iter().any(|line| line.starts_with("1>0 RERR")));
}

#[test]
fn a_broken_route_is_repaired_on_the_spot() {
    // 0 - 1 - 2 - 3 and a detour 2 - 4 - 3.
    let links = [(0, 1), (1, 2), (2, 3), (2, 4), (4, 3)];
    let given = config::Aodv { ttl_start: 7, local_repair: true, ..plain() };
    let mut net = Net::new(5, &links, &given);
    net.send(0, 3);
    net.run(SECOND);
    net.sent();
    net.cut(2, 3);
    let saved = net.send(0, 3);
    net.run(SECOND);
    // TTL: the larger of the last distance (1) and half the hops back (1), plus two; then a longer route is told.
    let sent = net.sent();
    assert_eq!(sent[0], "2>* RREQ 2 #1 for 3 #1 h0 t3");
    assert!(sent.contains(&"2>1 RERR 3 #1 N".to_owned()), "{sent:?}");
    assert_eq!(net.data[saved].fate, Fate::Arrived { hops: 4 });
    assert_eq!((net.next(0, 3), net.nodes[2].counts.repairs), (Some(1), 1));
    // Where there is no detour, the packet is lost and the users of the route are told.
    net.cut(4, 3);
    let lost = net.send(0, 3);
    net.run(SECOND);
    assert_eq!(net.data[lost].fate, Fate::Lost(LossCause::NoRoute));
    assert_eq!(net.next(0, 3), None);
}

#[test]
fn a_repaired_route_that_is_as_long_as_before_is_told_to_nobody() {
    // 0 - 1 - 2, and from there two paths of two hops to 5.
    let links = [(0, 1), (1, 2), (2, 3), (3, 5), (2, 4), (4, 5)];
    let given = config::Aodv { ttl_start: 7, local_repair: true, ..plain() };
    let mut net = Net::new(6, &links, &given);
    net.send(0, 5);
    net.run(SECOND);
    net.sent();
    let hop = net.next(2, 5).expect("a route");
    net.cut(2, hop);
    let saved = net.send(0, 5);
    net.run(SECOND);
    assert_eq!((net.data[saved].fate, net.nodes[2].counts.repairs), (Fate::Arrived { hops: 4 }, 1));
    let sent = net.sent();
    assert!(!sent.iter().any(|line| line.contains("RERR 5")), "{sent:?}");
}

#[test]
fn who_does_not_get_replies_is_not_listened_to_for_a_while() {
    // Node 1 hears node 0, but its replies do not reach it; nodes 2 and 3 are the detour.
    let mut net = Net::new(5, &[(0, 1), (1, 4), (0, 2), (2, 3), (3, 4)], &config::Aodv { ttl_start: 7, ..plain() });
    net.loses = Box::new(|from, to, _| (from, to) == (1, 0));
    let first = net.send(0, 4);
    net.run(Duration::from_millis(500));
    assert_eq!(net.data[first].fate, Fate::UnderWay);
    // BLACKLIST_TIMEOUT is 2 x 2.8 s. The next request reaches node 4 by the other path first, then all go there.
    net.run(SECOND);
    assert_eq!(net.data[first].fate, Fate::Arrived { hops: 3 });
    assert!(net.nodes[1].table.find(0).unwrap().blacklisted > net.now);
}

#[test]
fn an_unacknowledged_reply_counts_as_lost() {
    for lost in [false, true] {
        let mut net = Net::new(3, &chain(3), &config::Aodv { ttl_start: 7, rrep_ack: true, ..plain() });
        net.loses = Box::new(move |_, _, message| lost && matches!(message, Message::ReplyAck));
        net.send(0, 2);
        net.run(SECOND);
        let (sent, until) = (net.sent(), net.nodes[2].table.find(1).unwrap().blacklisted);
        assert!(sent.contains(&"1>2 RREP-ACK".to_owned()) && sent.contains(&"0>1 RREP-ACK".to_owned()));
        assert_eq!((until > net.now, until > Instant::ZERO), (lost, lost));
    }
}

#[test]
fn an_unused_route_expires_and_packets_keep_it_alive() {
    let mut net = Net::new(3, &chain(3), &config::Aodv { ttl_start: 7, ..plain() });
    // Each use extends the route by ACTIVE_ROUTE_TIMEOUT, 3 s, at every node on the path, and the reverse route too.
    for _ in 0..20 {
        net.send(0, 2);
        net.run(Duration::from_millis(2900));
        assert_eq!((net.next(0, 2), net.next(1, 2), net.next(1, 0)), (Some(1), Some(2), Some(0)), "at {:?}", net.now);
    }
    assert_eq!(net.sent().iter().filter(|line| line.starts_with("0>* RREQ")).count(), 1);
    net.run(Duration::from_millis(110));
    assert_eq!((net.next(0, 2), net.next(1, 2), net.next(1, 0)), (None, None, None));
}

#[test]
fn a_number_that_others_go_by_grows_when_the_route_breaks() {
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    let offer = |sequence, hops, next| Offer { destination: 7, sequence, hops, next, until: at(100) };
    let mut table = Table::default();
    table.learn(offer(4, 1, 7), at(0)).expect("the first");
    // Unused, the route expires and its number grows. The neighbour is heard again, its number is not.
    table.learn_neighbour(7, at(200), SECOND);
    assert_eq!(table.find(7).map(|route| (route.sequence, route.known)), Some((Some(5), false)));
    // Its next request comes by the longer path. It goes on with the number 5, and so do routes through this node.
    assert!(table.learn(offer(5, 2, 1), at(300)).is_none(), "the neighbour is nearer");
    let route = table.valid(7, at(300)).expect("still there");
    route.invalidate(None);
    assert_eq!(route.sequence, Some(6), "a reply of those that go through this node is old");
}

#[test]
fn requests_are_told_apart_by_number_and_age() {
    let lasts = Duration::from_millis(5600);
    let mut seen = Seen::default();
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    assert!(seen.is_first(7, at(0), lasts) && !seen.is_first(7, at(1), lasts));
    assert!(seen.is_first(9, at(2), lasts) && seen.is_first(8, at(3), lasts) && !seen.is_first(8, at(4), lasts));
    assert!(seen.is_first(200, at(5), lasts) && !seen.is_first(9, at(6), lasts) && seen.is_first(199, at(7), lasts));
    // After a time without any request, all is forgotten: a node that restarts is heard again.
    assert!(seen.is_first(7, at(5607 + 1), lasts));
    let mut seen = Seen::default();
    assert!(
        seen.is_first(u32::MAX, at(0), lasts)
            && seen.is_first(0, at(1), lasts)
            && !seen.is_first(u32::MAX, at(2), lasts)
    );
}

#[test]
fn the_oldest_packet_makes_way_in_a_full_buffer() {
    let mut net = Net::new(2, &[], &plain());
    let packets: Vec<usize> = (0..65).map(|_| net.send(0, 1)).collect();
    net.run(Duration::from_millis(1));
    assert_eq!(net.data[packets[0]].fate, Fate::Lost(LossCause::Buffer));
    assert_eq!(net.nodes[0].held(), 64);
    net.check_packets();
}
