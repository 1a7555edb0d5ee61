//! Real packets that are injected at a node and taken out at another.

use crate::networks::{chain, network, run};
use sim::{Arrival, Datagram, Way, World};
use units::{Bytes, Duration, Instant};

fn world(text: &str, seed: u64) -> World {
    World::new(&network(text), seed).expect("a network that can be built")
}

fn refusal(text: &str) -> String {
    World::new(&network(text), 1).err().expect("a refusal").to_string()
}

/// Nodes of `[nodes]` that are real.
fn real(nodes: &[u32]) -> String {
    nodes.iter().fold(String::new(), |text, node| text + &format!("[[node]]\nname = \"n{node}\"\nreal = true\n"))
}

/// Injects a packet now.
fn inject(world: &mut World, from: u32, to: u32, datagram: Datagram) -> bool {
    let way = way(world, from, to);
    world.outside().inject(way, datagram)
}

fn way(world: &World, from: u32, to: u32) -> Way {
    world.ways().find(|way| (way.from, way.to) == (from, to)).expect("such a way")
}

fn datagram(length: u64, content: u8) -> Datagram {
    Datagram { bytes: Box::new([content]), length: Bytes::new(length), tos: 0, key: 0 }
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

/// Runs to the end and returns all that arrive.
fn arrivals(world: &mut World) -> Vec<Arrival> {
    let mut all = Vec::new();
    while !world.finished() {
        world.run_to(Instant::NEVER);
        all.extend(std::iter::from_fn(|| world.outside().take_arrival()));
    }
    all
}

/// Two senders that saturate a chain of three.
const LOAD: &str = "[[flow]]\nname = \"load\"\nfrom = \"n1\"\nto = \"n0\"\n\
                    traffic = { kind = \"saturated\", packet = \"1000 B\" }\n";

#[test]
fn a_packet_takes_the_time_of_its_frame_and_comes_out_as_it_went_in() {
    let mut world = world(&(chain(2, "1 s", "") + &real(&[0, 1])), 1);
    world.run_to(at(10_000));
    assert!(inject(&mut world, 0, 1, datagram(1_028, 7)));
    let found = arrivals(&mut world);
    // 1064 B at 11 Mb/s after the long preamble, and 30 m at the speed of light.
    let expected = at(10_000) + Duration::from_nanos(192_000 + 1_064 * 8_000 / 11 + 1 + 100);
    let [Arrival { at: came, sent, ref bytes, tos: 0, routers: 0, .. }] = found[..] else { panic!("{found:?}") };
    assert_eq!((sent, &bytes[..]), (at(10_000), &[7][..]));
    assert!(came.since(expected).max(expected.since(came)) < Duration::from_micros(1), "{came:?} {expected:?}");
    let flow = &world.finish().flows[0];
    assert_eq!((flow.name.as_str(), flow.kind.as_str()), ("n0-n1", "real"));
    assert_eq!((flow.sent_packets, flow.received_packets, flow.goodput_bps), (1, 1, 1_028.0 * 8.0));
}

#[test]
fn the_same_pushes_give_the_same_arrivals_however_the_run_is_cut() {
    let push = |seed: u64, step: u64| {
        let mut world = world(&(chain(3, "300 ms", "") + &real(&[0, 2]) + LOAD), seed);
        let mut all = Vec::new();
        for us in (0..290_000).step_by(usize::try_from(step).unwrap()) {
            while world.now() < at(us) {
                world.run_to(at(us));
                all.extend(std::iter::from_fn(|| world.outside().take_arrival()));
            }
            if us % 5_000 == 0 {
                inject(&mut world, 0, 2, datagram(500 + us / 1_000, u8::try_from(us / 5_000).unwrap()));
            }
        }
        all.extend(arrivals(&mut world));
        (all, world.finish())
    };
    let (first, outcome) = push(1, 5_000);
    assert!(first.len() > 40 && first.is_sorted_by_key(|arrival| arrival.at), "{}", first.len());
    assert_eq!((first.clone(), outcome.flows), {
        let (again, outcome) = push(1, 1_000);
        (again, outcome.flows)
    });
    assert_ne!(first, push(2, 5_000).0);
}

#[test]
fn a_run_pauses_at_each_arrival_and_tells_when_something_may_come() {
    let mut world = world(&(chain(2, "1 s", "") + &real(&[0, 1])), 1);
    assert_eq!(world.next_event(), at(1_000_000), "an idle network has no event before its end");
    for content in [1, 2] {
        inject(&mut world, 0, 1, datagram(100, content));
    }
    assert!(world.next_event() < at(10_000));
    world.run_to(at(900_000));
    let paused = world.now();
    assert!(paused < at(2_000));
    // The run does not continue before it is taken.
    world.run_to(at(900_000));
    assert_eq!((world.now(), world.next_event()), (paused, paused));
    assert_eq!(world.outside().take_arrival().map(|arrival| (arrival.at, arrival.bytes[0])), Some((paused, 1)));
    assert_eq!(world.outside().take_arrival(), None);
    world.run_to(at(900_000));
    assert_eq!(world.outside().take_arrival().map(|arrival| arrival.bytes[0]), Some(2));
    world.run_to(at(900_000));
    assert_eq!(world.now(), at(900_000));
}

#[test]
fn routers_are_counted_and_access_points_are_none() {
    for routing in ["", "[routing]\nprotocol = \"aodv\"\n", "[routing]\nprotocol = \"dsr\"\n"] {
        let mut world = world(&(chain(4, "2 s", "") + &real(&[0, 3]) + routing), 1);
        inject(&mut world, 0, 3, datagram(1_500, 0));
        inject(&mut world, 3, 0, datagram(21, 0));
        let mut passed: Vec<(u32, u8)> =
            arrivals(&mut world).iter().map(|arrival| (arrival.way.to, arrival.routers)).collect();
        passed.sort_unstable();
        assert_eq!(passed, [(0, 2), (3, 2)], "{routing}");
    }
    let text = "duration = \"1 s\"\n[[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
        [[node]]\nname = \"sta\"\nposition = [\"5 m\", \"0 m\"]\nreal = true\n\
        [[node]]\nname = \"server\"\nrole = \"wired\"\nreal = true\n\
        [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"5 ms\"\n";
    let mut world = world(text, 1);
    let (sta, server) = (way(&world, 1, 2), way(&world, 2, 1));
    world.outside().inject(sta, datagram(84, 0));
    world.outside().inject(server, datagram(84, 0));
    assert_eq!(arrivals(&mut world).iter().map(|arrival| arrival.routers).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn a_queue_marks_real_packets_and_what_it_drops_is_forgotten() {
    let queue = "[queue]\nlimit = 1000\ndiscipline = \"codel\"\ncodel = { target = \"1 ms\", interval = \"10 ms\", \
                 ecn = true }\n";
    let mut world = world(&(chain(2, "2 s", queue) + &real(&[0, 1])), 1);
    let way = way(&world, 0, 1);
    for number in 0..1_200 {
        // ECT(1) of every other one.
        let tos = 46 << 2 | u8::from(number % 2 == 0);
        world.outside().inject(way, Datagram { tos, ..datagram(1_000, tos & 3) });
    }
    let found = arrivals(&mut world);
    let (marked, plain): (Vec<&Arrival>, Vec<_>) = found.iter().partition(|arrival| arrival.tos == 46 << 2 | 3);
    assert!(marked.len() > 10 && marked.iter().all(|arrival| arrival.bytes[0] == 1), "{}", marked.len());
    assert!(plain.iter().all(|arrival| arrival.tos == 46 << 2 | arrival.bytes[0]));
    let outcome = world.finish();
    assert!(outcome.nodes[0].queues[0].dropped_packets >= 200);
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent_packets, flow.received_packets), (1_200, found.len() as u64));
}

#[test]
fn the_code_point_gives_the_access_category() {
    let text = chain(2, "1 s", "[mac]\naccess = \"edca\"\n") + &real(&[0, 1]);
    let mut world = world(&text, 1);
    let way = way(&world, 0, 1);
    // RFC 8325, figure 1, and IEEE 802.11-2016, table 10-1.
    let points =
        [(0, "be"), (46, "vo"), (48, "vo"), (34, "vi"), (24, "vi"), (18, "be"), (10, "be"), (8, "bk"), (63, "vo")];
    for (number, _) in points {
        world.outside().inject(way, Datagram { tos: number << 2, ..datagram(100, 0) });
    }
    assert_eq!(arrivals(&mut world).len(), points.len());
    let outcome = world.finish();
    for queue in &outcome.nodes[0].queues {
        let expected = points.iter().filter(|(_, name)| *name == queue.name).count() as u64;
        assert_eq!(queue.sent_packets, expected, "{}", queue.name);
    }
}

#[test]
fn keys_tell_flows_of_the_same_nodes_apart() {
    let queue = "[queue]\nlimit = 1000\ndiscipline = \"fq-codel\"\n";
    let sparse = |key: u32| {
        let mut world = world(&(chain(2, "2 s", queue) + &real(&[0, 1])), 1);
        let way = way(&world, 0, 1);
        for _ in 0..100 {
            world.outside().inject(way, datagram(1_500, 0));
        }
        world.outside().inject(way, Datagram { key, ..datagram(100, 1) });
        arrivals(&mut world).iter().position(|arrival| arrival.bytes[0] == 1).expect("it arrives")
    };
    assert!(sparse(0) > 90, "it waits behind its own flow");
    assert!(sparse(1) < 4, "a new flow goes first");
}

#[test]
fn a_lone_real_node_and_a_name_that_is_taken_are_refused() {
    let lone = refusal(&(chain(3, "1 s", "") + &real(&[1])));
    assert_eq!(lone, "`n1` is the only real node: set `real = true` for a second node");
    let taken = chain(2, "1 s", "") + &real(&[0, 1]) + &LOAD.replace("\"load\"", "\"n0-n1\"");
    assert_eq!(refusal(&taken), "two flows are called `n0-n1`");
    let apart = "duration = \"1 s\"\n[radio]\nrange = \"30 m\"\n\
        [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"40 m\"\n";
    let refused = refusal(&(apart.to_owned() + &real(&[0, 1])));
    assert!(refused.contains("`n0`") && refused.contains("`n1`"), "{refused}");
}

#[test]
fn a_packet_to_all_without_access_points_is_one_frame_at_the_basic_rate_whatever_the_limit_of_its_txop() {
    for more in
        ["", "[routing]\nprotocol = \"aodv\"\n", "[routing]\nprotocol = \"dsr\"\n", "[mac]\naccess = \"edca\"\n"]
    {
        let mut world = world(&(chain(4, "1 s", "") + &real(&[0, 1, 3]) + more), 1);
        // The simulated node 2 hears it, too. Node 3 would hear it at the next hop.
        let way = way(&world, 1, World::ALL);
        world.run_to(at(10_000));
        assert!(world.outside().inject(way, Datagram { tos: 46 << 2, ..datagram(1_500, 7) }));
        let found = arrivals(&mut world);
        let [Arrival { way: Way { from: 1, to: 0, .. }, at: came, ref bytes, tos: 184, routers: 0, .. }] = found[..]
        else {
            panic!("{more}: {found:?}")
        };
        // 1 Mb/s after the long preamble. EDCA's frame has two bytes more.
        let frame = if more.contains("edca") { 1_538 } else { 1_536 };
        let expected = at(10_000 + 192 + frame * 8);
        assert!(came.since(expected) < Duration::from_micros(1) && bytes[..] == [7], "{more}: {came:?} {expected:?}");
        let outcome = world.finish();
        let flow = outcome.flows.last().expect("it was used");
        assert_eq!((flow.name.as_str(), flow.received_packets, flow.loss_ratio), ("n1-broadcast", 1, 0.5));
    }
}

#[test]
fn a_station_that_roams_gets_packets_to_all_from_its_present_access_point() {
    let text = "duration = \"4 s\"\n\
        node = [\n{ name = \"a\", role = \"access-point\", position = [\"0 m\", \"0 m\"] },\n\
        { name = \"b\", role = \"access-point\", position = [\"40 m\", \"0 m\"] },\n\
        { name = \"sta\", position = [\"20 m\", \"0 m\"], real = true, access_point = \"a\", \
          roaming.moves = [{ time = \"2 s\", access_point = \"b\" }] },\n\
        { name = \"server\", role = \"wired\", real = true },\n]\n\
        wired = [{ between = [\"a\", \"b\"], rate = \"1 Gb/s\" }, { between = [\"server\", \"a\"], rate = \"1 Gb/s\" }]\n";
    let mut world = world(text, 1);
    let nodes: Vec<u32> = world.ways().filter(|way| way.to == World::ALL).map(|way| way.from).collect();
    for us in [1_000_000, 3_000_000] {
        world.run_to(at(us));
        for &from in &nodes {
            assert!(inject(&mut world, from, World::ALL, datagram(100, 1)));
        }
        world.run_to(at(us + 100_000));
        let mut to = Vec::new();
        while world.now() < at(us + 900_000) {
            to.extend(std::iter::from_fn(|| world.outside().take_arrival()).map(|arrival| arrival.way.to));
            world.run_to(at(us + 900_000));
        }
        to.sort_unstable();
        assert_eq!(to, nodes);
    }
}

#[test]
fn real_nodes_that_send_nothing_change_nothing() {
    let with = run(&(chain(3, "1 s", "") + &real(&[0, 2]) + LOAD), 3);
    let without = run(&(chain(3, "1 s", "") + LOAD), 3);
    assert_eq!((&with.flows[0], &with.nodes), (&without.flows[0], &without.nodes));
    assert_eq!(with.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(), ["load", "n0-n2", "n2-n0"]);
}
