//! The controllers on a link that is offered more than it carries.

use super::slow_link::{BELOW_THE_QUEUE, SlowLink};
use super::{HEADERS, MECHANISM, install, load, now, shell};
use control::{Controller, Interval, LimitController, Name, Parameters, adth};
use std::net::UdpSocket;
use std::thread::sleep;
use units::{Duration, Instant};

/// 10 Mb/s.
const LINK: u64 = 1_250_000;
const LEN: usize = 1_000;
/// One packet on the link.
const SERVICE: Duration = Duration::from_micros(800);
/// Between two packets that are offered: 16 Mb/s.
const OFFERED_EVERY: Duration = Duration::from_micros(500);
const WARM_UP: Duration = Duration::from_secs(2);
const RUN: Duration = Duration::from_secs(6);

struct Outcome {
    /// Mean over the packets that were sent after the warm-up, from `send` to the far end of the link.
    delay: Duration,
    sent: u64,
    /// Sums over the run.
    seen: Interval,
    received: u64,
}

/// Offers too much to the link under a controller.
fn overload(name: Name, parameters: &Parameters) -> Outcome {
    let mut controller = Controller::new(name, parameters, MECHANISM.hard).unwrap();
    let discipline = load();
    let link = SlowLink::new(LINK);
    let mut slot = discipline.free_slot(MECHANISM, controller.measures(), now()).unwrap();
    install(&slot, "sl0");
    // Enough for all that waits, or the socket would hold the sender back.
    shell("sysctl -qw net.core.wmem_default=16777216");
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect("10.9.9.2:9").unwrap();
    // What the kernel says on a new interface is not ours to count. Commands are done: the clock runs evenly from here.
    let start = now();
    slot.take_interval(now()).unwrap();
    let mut seen = Interval::default();
    let mut sent = 0;
    let (mut next_packet, mut next_update) = (now(), now());
    while now() < start + RUN {
        if next_update <= now() {
            let interval = slot.take_interval(now()).unwrap();
            add(&mut seen, &interval);
            slot.set_limit(controller.update(&interval)).unwrap();
            next_update = now() + controller.interval().min(Duration::from_secs(1));
        }
        let mut payload = [0; LEN - HEADERS];
        payload[..8].copy_from_slice(&now().as_nanos().to_be_bytes());
        // A packet that the queue drops is no error of the socket's.
        sent += u64::from(socket.send(&payload).is_ok());
        next_packet += OFFERED_EVERY;
        pause_until(next_packet);
    }
    // What waits leaves first.
    pause_until(now() + Duration::from_secs(2));
    add(&mut seen, &slot.take_interval(now()).unwrap());
    let received = link.end();
    discipline.unload().unwrap();
    Outcome { delay: received.mean_delay(start + WARM_UP), sent, seen, received: received.packets }
}

fn add(sum: &mut Interval, interval: &Interval) {
    sum.arrived.packets += interval.arrived.packets;
    sum.sent.packets += interval.sent.packets;
    sum.dropped.packets += interval.dropped.packets;
    sum.backlog = interval.backlog;
}

fn pause_until(then: Instant) {
    sleep(std::time::Duration::from_nanos(then.since(now().min(then)).as_nanos()));
}

fn accounted(outcome: &Outcome) {
    let Interval { arrived, sent, dropped, backlog, .. } = outcome.seen;
    assert_eq!(arrived.packets, sent.packets + dropped.packets + backlog.packets);
    assert_eq!(backlog.packets, 0);
    assert!(arrived.packets >= outcome.sent, "{} offered, {} came", outcome.sent, arrived.packets);
    assert_eq!(outcome.received, sent.packets);
}

#[test]
#[ignore = "needs the guest"]
fn adth_holds_the_delay_at_its_target_where_a_fifo_fills_up() {
    println!("controller  target    delay  received");
    let show = |outcome: &Outcome, name: &str, target: &str| {
        println!("{name:10} {target:>7} {:>5.1} ms {:>9}", outcome.delay.as_secs_f64() * 1e3, outcome.received);
    };
    let fifo = overload(Name::None, &Parameters::default());
    show(&fifo, "none", "-");
    accounted(&fifo);
    // It is full before the warm-up ends: 1000 packets, of which each waits for those before it.
    assert!(fifo.delay > SERVICE * 900, "{:?}", fifo.delay);
    for target in [50, 100, 200].map(Duration::from_millis) {
        let params = adth::Params { target_delay: target, ..adth::Params::default() };
        let governed = overload(Name::Adth, &Parameters { adth: Some(params), ..Parameters::default() });
        show(&governed, "adth", &format!("{} ms", target.as_nanos() / 1_000_000));
        accounted(&governed);
        // The target is the node's; the terminal below it is a device that the discipline does not see. The limit is a
        // whole number of packets.
        let below = Duration::from_nanos(BELOW_THE_QUEUE * 1_000_000_000 / LINK);
        assert!(governed.delay <= target + below + SERVICE, "{:?} at {target:?}", governed.delay);
        // The link is never idle for want of packets: what is missing is at most what the fuller queue held at the end.
        assert!(governed.received + 1_000 >= fifo.received, "{} and {}", governed.received, fifo.received);
    }
}
