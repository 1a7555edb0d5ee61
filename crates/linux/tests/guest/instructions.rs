//! What a packet costs, in executed instructions: for the guest's clock `instructions`, on which one takes 1 ns.

use super::{HEADERS, MECHANISM, dummy, install, load, now, shell, towards};
use control::Measures;
use linux::bpf::Credit;
use units::{Duration, Instant};

const PACKETS: usize = 2_000;
/// The aim, set before there was anything to measure: over pfifo, with everything on.
const MOST_OVER_PFIFO: u64 = 1_300;

/// The median of a `send` of 1000 bytes into an empty queue, until the device has the packet. Reading the clock is in
/// it, as often for every discipline.
fn median(network: u8) -> u64 {
    let socket = towards(network);
    let cost = |_| {
        let before: Instant = now();
        socket.send(&[0; 1_000 - HEADERS]).unwrap();
        now().since(before)
    };
    // The first packets fill caches of the kernel's.
    let mut costs: Vec<Duration> = (0..PACKETS + 64).map(cost).skip(64).collect();
    costs.sort_unstable();
    costs[PACKETS / 2].as_nanos()
}

#[test]
#[ignore = "needs the guest and its clock 'instructions'"]
fn a_packet_costs_at_most_1300_instructions_more_than_in_pfifo() {
    shell("modprobe -a sch_fq_codel sch_fq sch_cake");
    let discipline = load();
    dummy("one", 1);
    println!("instructions per send, empty queue");
    let show = |kind: &str| {
        let cost = median(1);
        println!("{kind:16} {cost}");
        cost
    };
    show("noqueue");
    let mut plain = 0;
    for kind in ["pfifo", "pfifo_head_drop", "fq_codel", "fq", "cake"] {
        shell(&format!("tc qdisc replace dev one root {kind}"));
        let cost = show(kind);
        if kind == "pfifo" {
            plain = cost;
        }
    }
    shell("tc qdisc del dev one root");
    let measures = Measures { service_weight: Some(0.02), idle_threshold: 2 };
    let mut slot = discipline.free_slot(MECHANISM, measures, now()).unwrap();
    install(&slot, "one");
    let at_will = show("sluice");
    discipline.release_by(&mut slot, Some(Credit::default())).unwrap();
    let by_credit = show("sluice, credit");
    assert!(slot.below().unwrap().completed > PACKETS as u64);
    shell("tc qdisc replace dev one root pfifo");
    show("pfifo beside it");
    shell("ip link del one");
    discipline.unload().unwrap();
    for ours in [at_will, by_credit] {
        assert!(ours <= plain + MOST_OVER_PFIFO, "{ours} against {plain}");
    }
}
