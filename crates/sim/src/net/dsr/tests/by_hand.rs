//! Headers, caches and short exchanges, worked out by hand.

use super::super::cache::Paths;
use super::super::settings::{NearRequest, RouteCache};
use super::*;
use crate::net::dsr::longest_header;
use units::Bytes;

fn route(nodes: &[u32]) -> Route {
    Route::of(nodes.iter().copied()).expect("no node twice")
}

fn message(nodes: &[u32], content: Content) -> Message {
    Message { header: Header::new(route(nodes)), content }
}

#[test]
fn headers_are_as_long_as_the_rfc_says() {
    let given = Settings::RFC;
    let ns2 = Settings { reply_bytes: 9, ..given.clone() };
    let bytes = Bytes::new;
    // The fixed portion of 4 B, the option's 4 B, 4 B for each node between the ends.
    assert_eq!(Header::new(route(&[0, 1])).length(), bytes(8));
    assert_eq!(Header::new(route(&[0, 1, 2, 3])).length(), bytes(16));
    assert_eq!((Header::NONE.length(), longest_header()), (bytes(0), bytes(64)));
    let broken = Broken { from: 1, to: 2 };
    let request = |broken| Content::Request { id: 1, target: 9, hops_left: 3, broken };
    assert_eq!(message(&[0], request(None)).length(&given), bytes(12));
    assert_eq!(message(&[0, 1, 2], request(None)).length(&given), bytes(20));
    assert_eq!(message(&[0], request(Some(broken))).length(&given), bytes(28));
    // 3 B and two addresses, padded to 12 B, behind a source route of two hops.
    let reply = Content::Reply { route: route(&[0, 1, 2]) };
    assert_eq!(message(&[2, 1, 0], reply).length(&given), bytes(12 + 12));
    // ns-2 counts 5 B and three addresses, aligned to 20 B.
    assert_eq!(message(&[2, 1, 0], reply).length(&ns2), bytes(12 + 20));
    assert_eq!(message(&[1, 0], Content::Error { broken }).length(&given), bytes(8 + 16));
}

#[test]
fn a_route_has_each_node_once() {
    assert_eq!(Route::of([1, 2, 1]), None);
    assert_eq!(Route::of(0..17), None);
    let way = route(&[4, 5, 6, 7]);
    assert_eq!((way.back_from(2), way.rest_from(2)), (route(&[6, 5, 4]), route(&[6, 7])));
    assert_eq!((way.hops(), way.position(6), way.uses(5, 6), way.uses(6, 5)), (3, Some(2), true, false));
    assert_eq!(route(&[1, 4]).then(&way), None);
    assert_eq!((way.back_from(9), way.rest_from(9)), (route(&[7, 6, 5, 4]), Route::EMPTY));
}

#[test]
fn of_two_ways_of_equal_length_a_node_takes_the_one_it_asked_for() {
    let (now, until) = (Instant::ZERO, Instant::ZERO + Duration::from_secs(1));
    for overheard_first in [false, true] {
        let mut paths = Paths::new(&Settings::RFC);
        for wanted in [!overheard_first, overheard_first] {
            paths.add(&route(if wanted { &[0, 1, 9] } else { &[0, 2, 9] }), wanted, now, until);
        }
        assert_eq!(paths.find(9, false, now), Some(route(&[0, 1, 9])), "{overheard_first}");
        // A shorter route is placed before it.
        paths.add(&route(&[0, 9]), false, now, until);
        assert_eq!(paths.find(9, false, now), Some(route(&[0, 9])));
    }
}

#[test]
fn a_search_asks_the_neighbours_and_30_ms_later_all() {
    let mut net = Net::chain(4);
    let packet = net.send(0, 3);
    net.run(Duration::from_millis(60));
    assert_eq!(net.data[packet].fate, Fate::Arrived { hops: 3 });
    let asked: Vec<_> = net.sent.iter().filter(|(_, message)| message.destination().is_none()).collect();
    // A first request to neighbours alone, in vain; then requests by 0, 1 and 2.
    assert_eq!(asked.iter().map(|(from, _)| *from).collect::<Vec<_>>(), [0, 0, 1, 2]);
    let replies = net.sent.iter().filter(|(_, message)| matches!(message.content, Content::Reply { .. }));
    assert_eq!(replies.map(|(from, _)| *from).collect::<Vec<_>>(), [3, 2, 1]);
    // The next packet needs no message, and neither does one of a node on the path, in either direction.
    let before = net.sent.len();
    for (from, to) in [(0, 3), (1, 3), (3, 0), (2, 0)] {
        let packet = net.send(from, to);
        net.run(Duration::from_millis(20));
        assert!(net.arrived(packet), "{from} to {to}");
    }
    assert_eq!(net.sent.len(), before);
}

#[test]
fn requests_back_off() {
    let asked = |given: Settings| {
        let mut net = Net::new(2, &[], &Settings { jitter: Duration::ZERO, ..given });
        net.send(0, 1);
        let mut times = Vec::new();
        for millis in 0..29_000_u64 {
            net.run(Duration::from_millis(1));
            if net.sent.len() > times.len() {
                times.push(millis);
            }
        }
        times
    };
    // To neighbours first; to all 30 ms later, then after 0.5, 1, 2, 4, 8 and 10 s.
    let rfc = asked(Settings::RFC);
    assert_eq!(rfc.len(), 8, "{rfc:?}");
    assert!(rfc[1].abs_diff(rfc[0] + 30) <= 2 && rfc[2].abs_diff(500) <= 3 && rfc[3].abs_diff(1500) <= 5, "{rfc:?}");
    assert!(rfc[6].abs_diff(15_500) <= 10 && rfc[7].abs_diff(25_500) <= 10, "{rfc:?}");
    // Both kinds each time, after 2, 8 and 10 s.
    let ns2 = Settings {
        request_period: Duration::from_secs(2),
        request_backoff: 4,
        near_request: NearRequest::Each,
        ..Settings::RFC
    };
    let ns2 = asked(ns2);
    assert_eq!(ns2.len(), 8, "{ns2:?}");
    assert!(ns2[2].abs_diff(2000) <= 4 && ns2[4].abs_diff(10_000) <= 8 && ns2[6].abs_diff(20_000) <= 12, "{ns2:?}");
}

#[test]
fn a_packet_is_salvaged_and_its_sender_told() {
    // 0 - 1 - 2 - 3 and 1 - 4 - 3.
    let mut net = Net::chain(4);
    net.nodes.push(Dsr::new(4, &net.given, Stream::new(7, "n4", Purpose::ROUTING)));
    net.links.push(Vec::new());
    let first = net.send(0, 3);
    net.run(Duration::from_millis(100));
    assert!(net.arrived(first));
    net.join(1, 4);
    net.join(4, 3);
    // Node 1 answers for 3 too, and may be first; the second packet takes the short path, and 1 overhears it.
    for (from, to) in [(4, 3), (4, 3), (1, 4)] {
        let other = net.send(from, to);
        net.run(Duration::from_millis(100));
        assert!(net.arrived(other));
    }
    net.cut(1, 2);
    net.sent.clear();
    let saved = net.send(0, 3);
    net.run(Duration::from_millis(20));
    assert_eq!(net.data[saved].fate, Fate::Arrived { hops: 3 });
    assert_eq!(net.nodes[1].counts.salvaged, 1);
    let errors = net.sent.iter().filter(|(_, message)| matches!(message.content, Content::Error { .. }));
    let broken = Broken { from: 1, to: 2 };
    assert_eq!(errors.map(|(_, message)| message.content).collect::<Vec<_>>(), [Content::Error { broken }]);
    // The sender does not try the broken link again.
    let second = net.send(0, 3);
    net.run(Duration::from_millis(100));
    assert!(net.arrived(second));
    assert_eq!(net.nodes[1].counts.link_failures, 1);
}

#[test]
fn without_salvage_the_packet_is_lost() {
    let given = Settings { max_salvage_count: 0, jitter: Duration::ZERO, ..Settings::RFC };
    let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3)], &given);
    net.send(0, 3);
    net.run(Duration::from_millis(100));
    net.cut(1, 2);
    let lost = net.send(0, 3);
    net.run(Duration::from_millis(100));
    assert_eq!(net.data[lost].fate, Fate::Lost);
}

#[test]
fn a_node_that_comes_near_shortens_the_route() {
    for cache in [RouteCache::Links, RouteCache::Paths] {
        let given = Settings { cache, jitter: Duration::ZERO, ..Settings::RFC };
        let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3)], &given);
        net.send(0, 3);
        net.run(Duration::from_millis(100));
        net.join(0, 2);
        let long = net.send(0, 3);
        net.run(Duration::from_millis(100));
        let short = net.send(0, 3);
        net.run(Duration::from_millis(100));
        let hops = |packet: usize| net.data[packet].fate;
        assert_eq!((hops(long), hops(short)), (Fate::Arrived { hops: 3 }, Fate::Arrived { hops: 2 }), "{cache:?}");
        assert_eq!(net.nodes[2].counts.shortenings, 1);
        // Another packet is overheard soon after: there is no second reply.
        net.tell(2, |dsr, cx| dsr.overhear_data(&Header::new(route(&[0, 1, 2, 3])), cx));
        assert_eq!(net.nodes[2].counts.shortenings, 1);
    }
}

#[test]
fn caches_are_bounded_and_forget() {
    for cache in [RouteCache::Links, RouteCache::Paths] {
        let given = Settings { cache, cache_links: 6, cache_paths: 2, cache_overheard: 2, ..Settings::RFC };
        let mut dsr = Dsr::new(0, &given, Stream::new(7, "n0", Purpose::ROUTING));
        let mut out = Output::default();
        let mut cx = Context { now: Instant::ZERO, given: &given, out: &mut out };
        for last in 10..40 {
            dsr.cache.add(&route(&[0, last, last + 100]), &cx);
            assert_eq!(dsr.cache.find(last + 100, true, &mut cx), Some(route(&[0, last, last + 100])));
        }
        let known = (10..40).filter(|&last| dsr.cache.find(last + 100, false, &mut cx).is_some()).count();
        assert!((2..=3).contains(&known), "{cache:?}: {known}");
        cx.now = Instant::ZERO + Duration::from_secs(301);
        assert!((10..40).all(|last| dsr.cache.find(last + 100, false, &mut cx).is_none()), "{cache:?}");
    }
}

#[test]
fn a_search_for_a_packet_that_is_gone_waits_for_the_next_one() {
    let given = Settings { buffer_time: Duration::from_millis(10), ..Settings::RFC };
    let mut net = Net::new(2, &[], &given);
    for millis in [1000, 5000, 700] {
        let packet = net.send(0, 1);
        net.run(Duration::from_millis(millis));
        assert_eq!(net.data[packet].fate, Fate::Lost);
        // No deadline lies in the past.
        assert!(net.nodes[0].deadline > net.now);
    }
}

#[test]
fn a_route_that_is_learnt_by_the_way_frees_the_packets_that_wait() {
    // Nobody answers node 1; then node 0 asks for it.
    for millis in [0, 30] {
        let given = Settings {
            jitter: Duration::ZERO,
            replies_from_cache: false,
            buffer_check: Duration::from_millis(millis),
            ..Settings::RFC
        };
        let mut net = Net::new(2, &[], &given);
        let waits = net.send(1, 0);
        net.run(Duration::from_millis(100));
        net.join(0, 1);
        net.send(0, 1);
        // One hop each for the request and the packet; with ns-2's rule up to two periods more.
        net.run(Duration::from_millis(5));
        assert!(net.arrived(waits) || millis > 0);
        net.run(Duration::from_millis(60));
        assert!(net.arrived(waits));
    }
}

#[test]
fn packets_of_others_wait_until_somebody_tells_of_a_route() {
    let given = Settings {
        jitter: Duration::ZERO,
        salvage_search: true,
        replies_from_cache: false,
        request_period: Duration::from_secs(2),
        request_backoff: 4,
        ..Settings::RFC
    };
    let mut net = Net::new(4, &[(0, 1), (1, 2), (2, 3)], &given);
    net.send(0, 3);
    net.run(Duration::from_millis(100));
    net.cut(1, 2);
    net.cut(0, 1);
    let header = Header { at: 0, ..Header::new(route(&[0, 1, 2, 3])) };
    let pass = |net: &mut Net| {
        net.data.push(Data { origin: 0, destination: 3, fate: Fate::UnderWay, hops: 0 });
        let packet = net.packets.insert(net.data.len() - 1);
        let header = net.tell(1, |dsr, cx| dsr.forward(header, cx)).expect("it is on the way");
        net.events.push(net.now, Event::Data { from: 1, packet, header });
        net.data.len() - 1
    };
    let packets = [pass(&mut net), pass(&mut net), pass(&mut net)];
    net.sent.clear();
    // The neighbours are asked once. Each time a search may continue, one packet is given up: after 2 s, then 8 s.
    net.run(Duration::from_millis(1900));
    let fates = |net: &Net| packets.map(|packet| net.data[packet].fate);
    assert_eq!(fates(&net), [Fate::UnderWay; 3]);
    net.run(Duration::from_millis(300));
    assert_eq!(fates(&net), [Fate::Lost, Fate::UnderWay, Fate::UnderWay]);
    let asked =
        |net: &Net| net.sent.iter().filter(|(from, message)| *from == 1 && message.destination().is_none()).count();
    assert_eq!(asked(&net), 1);
    // A request of the other end reveals the route.
    net.join(1, 2);
    let content = Content::Request { id: 9, target: 1, hops_left: 3, broken: None };
    net.tell(1, |dsr, cx| dsr.receive(message(&[3, 2], content), cx));
    net.run(Duration::from_millis(100));
    assert_eq!(fates(&net), [Fate::Lost, Fate::Arrived { hops: 2 }, Fate::Arrived { hops: 2 }]);
    assert_eq!(asked(&net), 1);
}

#[test]
fn a_reply_on_its_way_teaches_the_way_behind_it() {
    let given = Settings { learn_forwarded_replies: false, ..Settings::RFC };
    let mut dsr = Dsr::new(1, &given, Stream::new(7, "n1", Purpose::ROUTING));
    let mut out = Output::default();
    let cx = &mut Context { now: Instant::ZERO, given: &given, out: &mut out };
    dsr.receive(message(&[2, 1, 0], Content::Reply { route: route(&[0, 1, 2]) }), cx);
    assert_eq!(dsr.cache.find(2, false, cx), Some(route(&[1, 2])));
    assert_eq!(dsr.cache.find(0, false, cx), None);
}
