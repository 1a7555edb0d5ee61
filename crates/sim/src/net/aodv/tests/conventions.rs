//! Conventions where the RFC leaves a choice, tested message by message.

use super::*;
use crate::config::{ErrorsTo, RepairBy, RepairWithin, ReplyWait};

const SECOND: Duration = Duration::from_secs(1);

/// A chain of six nodes with a route from end to end; then the link after `node` is cut under a packet.
fn broken_after(node: u32, given: &config::Aodv) -> Net {
    let mut net = Net::new(6, &chain(6), &config::Aodv { ttl_start: 7, ..given.clone() });
    net.send(0, 5);
    net.run(SECOND);
    net.sent();
    net.cut(node, node + 1);
    net.send(0, 5);
    net
}

#[test]
fn the_nearer_half_repairs_and_the_farther_tells() {
    let given = config::Aodv { local_repair: true, repair_within: RepairWithin::NearerHalf, ..plain() };
    // At node 2 the packet has come two hops and has three ahead of it; at node 3 it is the other way round.
    let mut net = broken_after(2, &given);
    net.run(Duration::from_millis(20));
    assert_eq!(net.sent(), ["2>1 RERR 3 #?, 5 #1", "1>0 RERR 5 #1"]);
    let mut net = broken_after(3, &given);
    net.run(Duration::from_millis(20));
    assert_eq!(net.sent()[..2], ["3>2 RERR 4 #?", "3>* RREQ 3 #1 for 5 #1 h0 t4"]);
}

#[test]
fn a_repair_by_a_whole_search_goes_on_until_the_link_is_back() {
    let given = config::Aodv { local_repair: true, repair_by: RepairBy::WholeSearch, ..plain() };
    let mut net = broken_after(3, &given);
    net.run(SECOND * 3);
    let own = net.sent().into_iter().filter(|line| line.starts_with("3>*")).collect::<Vec<_>>();
    // The rings of a search from the old distance, 4 and 6, and then the whole network.
    assert_eq!(own, ["3>* RREQ 3 #1 for 5 #1 h0 t4", "3>* RREQ 3 #2 for 5 #1 h0 t6", "3>* RREQ 3 #3 for 5 #1 h0 t35"]);
    net.join(3, 4);
    net.run(SECOND * 4);
    assert_eq!(net.arrived(), 2);
    // With a single request the packet would have been lost.
    let mut net = broken_after(3, &config::Aodv { repair_by: RepairBy::OneRequest, ..given });
    net.run(SECOND * 4);
    assert_eq!(net.data[1].fate, Fate::Lost(LossCause::NoRoute));
}

#[test]
fn after_a_search_in_vain_nothing_is_asked_for_a_while() {
    let given = config::Aodv { ttl_start: 35, search_hold: SECOND * 10, ..plain() };
    let mut net = Net::new(2, &[], &given);
    let first = net.send(0, 1);
    // Requests at 0 and 2.8 s; the search fails at 8.4 s.
    net.run(SECOND * 9);
    assert_eq!((net.data[first].fate, net.sent().len()), (Fate::Lost(LossCause::NoRoute), 2));
    let second = net.send(0, 1);
    net.run(SECOND * 9);
    assert_eq!((net.data[second].fate, net.sent().len()), (Fate::UnderWay, 0));
    net.run(SECOND);
    assert_eq!(net.sent(), ["0>* RREQ 0 #3 for 1 #? h0 t35"]);
    // A node that has no packet by then does not ask.
    net.run(SECOND * 60);
    net.sent();
    assert_eq!((net.data[second].fate, net.nodes[0].deadline), (Fate::Lost(LossCause::NoRoute), Instant::NEVER));
    // A route that appears by itself is used at once.
    net.send(0, 1);
    net.run(SECOND * 9);
    let third = net.send(0, 1);
    net.join(0, 1);
    net.send(1, 0);
    net.run(SECOND);
    assert!(matches!(net.data[third].fate, Fate::Arrived { .. }));
}

#[test]
fn a_reply_is_waited_for_as_long_as_the_last_ones_took() {
    let given = config::Aodv { ttl_start: 7, reply_wait: ReplyWait::Measured, ..plain() };
    let mut net = Net::new(4, &chain(4), &given);
    net.send(0, 3);
    net.run(SECOND * 20);
    net.sent();
    // Six milliseconds over three hops: 2 ms a hop. TTL 5, then 7, then all, each twice its TTL; then twice and so on.
    net.cut(2, 3);
    let lost = net.send(0, 3);
    for (until, requests) in [(19, 1), (28, 1), (139, 1), (279, 1)] {
        let from = net.now;
        net.run(Duration::from_millis(until) - (from.since(Instant::ZERO) - SECOND * 20));
        let own = net.sent().iter().filter(|line| line.starts_with("0>")).count();
        assert_eq!(own, requests, "at {until} ms");
    }
    net.run(SECOND);
    assert_eq!(net.data[lost].fate, Fate::Lost(LossCause::NoRoute));
}

#[test]
fn an_error_goes_to_all_and_a_lost_message_breaks_no_link_where_that_is_so() {
    let mut net = broken_after(2, &config::Aodv { errors_to: ErrorsTo::All, ..plain() });
    net.run(Duration::from_millis(20));
    assert_eq!(net.sent(), ["2>* RERR 3 #?, 5 #1", "1>* RERR 5 #1"]);
    for (message_failures, next) in [(true, None), (false, Some(0))] {
        let given = config::Aodv { ttl_start: 7, message_failures, ..plain() };
        let mut net = Net::new(4, &chain(4), &given);
        // Node 1 has a route to 0 from its request, and cannot hand it the reply.
        net.loses = Box::new(|from, to, message| (from, to) == (1, 0) && matches!(message, Message::Reply(_)));
        net.send(0, 3);
        net.run(Duration::from_millis(100));
        assert_eq!(net.next(1, 0), next, "{message_failures}");
    }
}

#[test]
fn a_lost_packet_breaks_no_link_where_only_missing_hellos_do() {
    for (packet_failures, next) in [(true, None), (false, Some(3))] {
        let given = config::Aodv { ttl_start: 7, packet_failures, hello: true, ..plain() };
        let mut net = Net::new(6, &chain(6), &given);
        net.send(0, 5);
        net.run(SECOND * 2);
        net.cut(2, 3);
        net.send(0, 5);
        net.run(Duration::from_millis(20));
        assert_eq!((net.next(2, 5), net.data[1].fate), (next, Fate::Failed), "{packet_failures}");
        net.run(SECOND * 3);
        assert_eq!(net.next(2, 5), None, "{packet_failures}: no hello has come for two seconds");
    }
}
