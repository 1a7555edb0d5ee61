//! Counters and slots of the discipline, and what it leaves behind.

use super::slow_link::SlowLink;
use super::stress::setting;
use super::{HEADERS, MECHANISM, dummy, install, load, now, pause_until, shell, towards};
use control::{Interval, Limit, Measures};
use linux::device::bpf::{Credit, Discipline, FOLDER, Governed, Order};
use linux::kernel::rtnetlink::ROOT;
use linux::{Device, Error, Place, Restorer, STATE_FOLDER, Start, Wish};
use std::path::Path;
use units::{Bytes, Duration, Instant};

const LEN: usize = 1_000;

fn send(network: u8, packets: u32) {
    let socket = towards(network);
    for _ in 0..packets {
        socket.send(&[0; LEN - HEADERS]).unwrap();
    }
}

/// Start of a queue as in [`MECHANISM`].
pub(super) fn start() -> Start {
    let (orders, every) = (MECHANISM.hard.into(), Duration::from_millis(1));
    Start {
        orders,
        measures: Measures::default(),
        late_after: None,
        classes: false,
        marks: false,
        hops: false,
        every,
        at: now(),
    }
}

/// Attaches a queue as in [`MECHANISM`] to an interface.
pub(super) fn attach(device: &str) -> Result<Governed, Error> {
    let place = Place { device: device.into(), parent: ROOT, state_folder: STATE_FOLDER.into() };
    let wish = Wish { place, ..Wish::default() };
    Governed::attach(&wish, MECHANISM, Order::Arrival, &start(), &linux::Looks::open().unwrap())
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
    install(&mut one, "one");
    let mut two = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&mut two, "two");
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
    assert!(!Path::new(FOLDER).exists());
}

#[test]
#[ignore = "needs the guest"]
fn the_next_agent_finds_the_queue_as_it_was_left() {
    let discipline = load();
    dummy("one", 1);
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&mut slot, "one");
    let handle = slot.handle();
    // As at the end of a process, whatever ends it: the pins and the queue stay.
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

#[test]
#[ignore = "needs the guest"]
fn a_queue_that_is_refused_leaves_the_slot_to_whom_it_serves() {
    let discipline = load();
    dummy("one", 1);
    dummy("two", 2);
    let mut one = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&mut one, "one");
    send(1, 5);
    // The slot is taken: the kernel refuses this queue, and destroys the part that it had begun.
    shell(&format!("! tc qdisc replace dev two root handle {:x}: sluice", one.handle() >> 16));
    assert!(one.interface().unwrap().is_some());
    let two = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    assert_ne!(one.handle(), two.handle());
    assert_eq!(one.take_interval(now()).unwrap().sent.packets, 5);
    shell("ip link del one; ip link del two");
    assert_eq!(one.interface().unwrap(), None);
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn agents_that_begin_and_end_together_do_not_break_each_other() {
    const TOGETHER: u8 = 8;
    let rounds = setting("ROUNDS", 100);
    for number in 0..TOGETHER {
        dummy(&format!("d{number}"), 10 + number);
    }
    for round in 0..rounds {
        let begin = std::sync::Barrier::new(usize::from(TOGETHER));
        let agent = |number: u8| {
            begin.wait();
            let mut device = attach(&format!("d{number}")).unwrap_or_else(|error| panic!("round {round}: {error}"));
            let interval = device.take_interval(now()).unwrap_or_else(|error| panic!("round {round}: {error}"));
            begin.wait();
            device.restore().unwrap_or_else(|error| panic!("round {round}: {error}"));
            interval
        };
        let agent = &agent;
        std::thread::scope(|threads| {
            let agents: Vec<_> = (0..TOGETHER).map(|number| threads.spawn(move || agent(number))).collect();
            for ended in agents {
                balanced(&ended.join().unwrap());
            }
        });
        assert!(!Path::new(FOLDER).exists(), "round {round}");
    }
    for number in 0..TOGETHER {
        shell(&format!("ip link del d{number}"));
    }
}

#[test]
#[ignore = "needs the guest"]
fn a_queue_that_goes_while_it_is_full_frees_its_packets_and_its_slot() {
    let discipline = load();
    for how_it_goes in
        ["tc qdisc replace dev sl0 root pfifo", "ip link set sl0 down; tc qdisc del dev sl0 root", "true"]
    {
        // So slow that almost nothing leaves.
        let link = SlowLink::new(1_000);
        let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
        install(&mut slot, "sl0");
        // The command may have taken longer than an agent may be silent.
        slot.take_interval(now()).unwrap();
        send(9, 500);
        assert!(slot.backlog().unwrap().packets > 400);
        shell(how_it_goes);
        // This removes the interface, and with it a queue that is still there.
        link.end();
        assert_eq!(slot.interface().unwrap(), None);
        assert_eq!(slot.backlog().unwrap().packets, 0);
        let interval = slot.take_interval(now()).unwrap();
        balanced(&interval);
        assert!(interval.arrived.packets >= 500 && interval.dropped.packets > 400, "{interval:?}");
    }
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn an_interface_that_is_renamed_keeps_its_queue_and_one_that_moves_away_loses_it() {
    let discipline = load();
    dummy("one", 1);
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&mut slot, "one");
    shell("ip link set one name uno");
    slot.take_interval(now()).unwrap();
    send(1, 10);
    assert_eq!(slot.take_interval(now()).unwrap().sent.packets, 10);
    shell("ip netns add away; ip link set uno netns away");
    assert_eq!(slot.interface().unwrap(), None);
    shell("ip netns del away");
    discipline.unload().unwrap();
}

#[test]
#[ignore = "needs the guest"]
fn a_governed_interface_gets_its_former_queue_back_and_nothing_stays_loaded() {
    dummy("one", 1);
    for former in ["tc qdisc replace dev one root handle 7: pfifo limit 77", "tc qdisc del dev one root"] {
        shell(former);
        let before = shell("tc -j qdisc show dev one");
        let mut device = attach("one").unwrap();
        assert!(shell("tc qdisc show dev one").contains("sluice"));
        device.take_interval(now()).unwrap();
        send(1, 10);
        assert_eq!(device.take_interval(now()).unwrap().sent.packets, 10);
        device.restore().unwrap();
        assert_eq!(shell("tc -j qdisc show dev one"), before);
        assert!(!Path::new(FOLDER).exists());
    }
    shell("ip link del one");
}

#[test]
#[ignore = "needs the guest"]
fn what_an_agent_left_that_was_killed_while_it_loaded_or_unloaded_is_taken_away() {
    let folder = Path::new(FOLDER);
    // The first thing that is made, and the last that is removed.
    std::fs::create_dir(folder).unwrap();
    Discipline::unload_unused(folder).unwrap();
    assert!(!folder.exists());
    drop(load());
    // The last thing that is made, and the first that is removed.
    std::fs::remove_file(folder.join("link")).unwrap();
    Discipline::unload_unused(folder).unwrap();
    assert!(!folder.exists());
    // What is in use stays.
    let discipline = load();
    dummy("one", 1);
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&mut slot, "one");
    Discipline::unload_unused(folder).unwrap();
    assert!(folder.join("link").exists());
    shell("ip link del one");
    Discipline::unload_unused(folder).unwrap();
    assert!(!folder.exists());
}

#[test]
#[ignore = "needs the guest"]
fn a_queue_that_another_program_replaced_is_reported_and_left_alone() {
    dummy("one", 1);
    let mut device = attach("one").unwrap();
    shell("tc qdisc replace dev one root handle 9: pfifo limit 99");
    let said = device.take_interval(now()).unwrap_err();
    assert!(matches!(said, Error::Replaced { .. }), "{said}");
    assert!(matches!(device.restore(), Err(Error::Replaced { .. })));
    assert!(shell("tc qdisc show dev one").contains("limit 99"));
    drop(device);
    let mut device = attach("one").unwrap();
    shell("ip link del one");
    let said = device.take_interval(now()).unwrap_err();
    assert!(matches!(said, Error::Gone { .. }), "{said}");
    device.restore().unwrap();
    assert!(!Path::new(FOLDER).exists());
}

#[test]
#[ignore = "needs the guest"]
fn what_an_agent_wrote_down_is_enough_to_put_the_former_queue_back() {
    dummy("one", 1);
    shell("tc qdisc replace dev one root handle 7: pfifo limit 77");
    let before = shell("tc -j qdisc show dev one");
    let device = attach("one").unwrap();
    // An agent that panics: its device is out of reach.
    let restorer = Restorer::new(Path::new(STATE_FOLDER), "one", ROOT);
    std::mem::forget(device);
    send(1, 5);
    restorer.restore().unwrap();
    assert_eq!(shell("tc -j qdisc show dev one"), before);
    let discipline = load();
    assert!(discipline.is_unused().unwrap());
    discipline.unload().unwrap();
    shell("ip link del one");
}

#[test]
#[ignore = "needs the guest"]
fn what_waits_survives_attaching_new_settings_and_detaching() {
    const PACKETS: u32 = 100;
    // A tenth of a second for waiting packets at each change, and none is lost.
    let link = SlowLink::new(1_250_000);
    shell("tc qdisc replace dev sl0 root handle 7: pfifo limit 1000");
    send(9, PACKETS);
    let mut device = attach("sl0").unwrap();
    send(9, PACKETS);
    device.apply(&Limit::Packets(500).into()).unwrap();
    let discipline = load();
    let handle = 0x51c0_0000;
    let mut slot = discipline.take_over(handle, MECHANISM, Measures::default(), now()).unwrap();
    assert!(slot.backlog().unwrap().packets > 0);
    for credit in [Some(Credit::default()), None, Some(Credit { packets: 1, ..Credit::default() })] {
        discipline.release_by(&mut slot, credit).unwrap();
        send(9, PACKETS / 10);
    }
    drop((slot, discipline));
    device.restore().unwrap();
    assert!(shell("tc qdisc show dev sl0").contains("pfifo 7:"));
    let offered = u64::from(PACKETS * 2 + PACKETS / 10 * 3);
    pause_until(now() + Duration::from_millis(500));
    // Ours begin with zeros; the kernel sends some by itself.
    let received = link.end().delays;
    assert_eq!(received.iter().filter(|(sent, _)| *sent == Instant::ZERO).count() as u64, offered);
}
