//! Counters, slots, what is left behind.

use super::{HEADERS, MECHANISM, PINS, dummy, install, load, now, shell, towards};
use control::{Interval, Measures};
use std::path::Path;
use units::Bytes;

const LEN: usize = 1_000;

fn send(network: u8, packets: u32) {
    let socket = towards(network);
    for _ in 0..packets {
        socket.send(&[0; LEN - HEADERS]).unwrap();
    }
}

fn balanced(interval: &Interval) {
    assert_eq!(interval.arrived.packets, interval.sent.packets + interval.dropped.packets + interval.backlog.packets);
}

#[test]
#[ignore = "needs the guest"]
fn two_interfaces_have_queues_and_counters_of_their_own() {
    let discipline = load();
    dummy("one", 1);
    dummy("two", 2);
    let mut one = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&one, "one");
    let mut two = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&two, "two");
    assert_ne!(one.handle(), two.handle());
    one.take_interval(now()).unwrap();
    two.take_interval(now()).unwrap();
    send(1, 10);
    send(2, 30);
    let (first, second) = (one.take_interval(now()).unwrap(), two.take_interval(now()).unwrap());
    balanced(&first);
    balanced(&second);
    assert_eq!((first.sent.packets, second.sent.packets), (10, 30));
    // The link's header does not count.
    assert_eq!(second.sent.bytes, Bytes::new(30 * LEN as u64));
    shell("ip link del one; ip link del two");
    assert_eq!((one.interface().unwrap(), two.interface().unwrap()), (None, None));
    discipline.unload().unwrap();
    assert!(!Path::new(PINS).exists());
}

#[test]
#[ignore = "needs the guest"]
fn the_next_agent_finds_the_queue_as_it_was_left() {
    let discipline = load();
    dummy("one", 1);
    let slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&slot, "one");
    let handle = slot.handle();
    // What the end of a process does, whatever ends it: the pins and the queue stay.
    drop((slot, discipline));
    send(1, 5);
    let discipline = load();
    let mut slot = discipline.take_over(handle, MECHANISM, Measures::default(), now()).unwrap();
    assert!(slot.interface().unwrap().is_some());
    send(1, 7);
    assert_eq!(slot.take_interval(now()).unwrap().sent.packets, 7);
    shell("ip link del one");
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn a_handle_without_a_slot_is_refused() {
    let discipline = load();
    dummy("one", 1);
    for handle in ["", "handle 77:", "handle 51d0:"] {
        let refusal = format!("! tc qdisc replace dev one root {handle} sluice");
        shell(&refusal);
    }
    assert!(!shell("tc qdisc show dev one").contains("sluice"));
    shell("ip link del one");
    discipline.unload().unwrap();
}
