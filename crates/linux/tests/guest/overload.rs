//! Controllers on a link that is offered more than it carries.

use super::governor::Governor;
use super::slow_link::{BELOW_THE_QUEUE, SlowLink};
use super::{HEADERS, MECHANISM, install, load, now, pause_until, towards};
use control::{Interval, Limit, Measures, Name, Parameters, adth};
use units::{Duration, Instant, Positive};

/// 10 Mb/s.
const LINK: u64 = 1_250_000;
pub(super) const LEN: usize = 1_000;
/// Time of one packet on the link.
const SERVICE: Duration = Duration::from_micros(800);
/// Time between two offered packets: 16 Mb/s.
pub(super) const OFFERED_EVERY: Duration = Duration::from_micros(500);
const WARM_UP: Duration = Duration::from_secs(2);
const RUN: Duration = Duration::from_secs(6);

struct Outcome {
    /// Mean delay of the packets sent after the warm-up, from `send` to the far end of the link.
    delay: Duration,
    offered: u64,
    /// Sums over the run.
    seen: Interval,
    received: u64,
}

/// Offers 16 Mb/s to the link until a time; `each` runs before every packet. Returns how many packets it offered.
pub(super) fn offer(until: Instant, mut each: impl FnMut()) -> u64 {
    let socket = towards(9);
    let mut offered = 0;
    let mut next = now();
    while now() < until {
        each();
        let mut payload = [0; LEN - HEADERS];
        payload[..8].copy_from_slice(&now().as_nanos().to_be_bytes());
        socket.send(&payload).unwrap();
        offered += 1;
        next += OFFERED_EVERY;
        pause_until(next);
    }
    offered
}

/// Offers too much to the link under a controller.
fn overload(name: Name, parameters: &Parameters) -> Outcome {
    let discipline = load();
    let link = SlowLink::new(LINK);
    let mut governor = Governor::new(&discipline, name, parameters, "sl0");
    let start = now();
    let offered = offer(start + RUN, || {
        governor.turn();
    });
    // What waits leaves first.
    pause_until(now() + Duration::from_secs(2));
    let seen = governor.seen();
    let received = link.end();
    discipline.unload().unwrap();
    Outcome { delay: received.mean_delay(start + WARM_UP), offered, seen, received: received.packets }
}

fn accounted(outcome: &Outcome) {
    let Interval { arrived, sent, dropped, backlog, .. } = outcome.seen;
    assert_eq!(arrived.packets, sent.packets + dropped.packets + backlog.packets);
    assert_eq!(backlog.packets, 0);
    assert!(arrived.packets >= outcome.offered, "{} offered, {} came", outcome.offered, arrived.packets);
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
        let target_delay = Positive::<Duration>::new(target).expect("a target above zero");
        let params = adth::Params { target_delay, ..adth::Params::default() };
        let governed = overload(Name::Adth, &Parameters { adth: Some(params), ..Parameters::default() });
        show(&governed, "adth", &format!("{} ms", target.as_nanos() / 1_000_000));
        accounted(&governed);
        // The target is the node's, without the terminal below. The limit is a whole number of packets.
        let below = Duration::from_nanos(BELOW_THE_QUEUE * 1_000_000_000 / LINK);
        assert!(governed.delay <= target + below + SERVICE, "{:?} at {target:?}", governed.delay);
        // The link never lacks packets: at most the contents of the fuller queue at the end are missing.
        assert!(governed.received + 1_000 >= fifo.received, "{} and {}", governed.received, fifo.received);
    }
}

#[test]
#[ignore = "needs the guest"]
fn with_an_agent_that_is_silent_traffic_goes_on_under_the_fall_back_limit() {
    let discipline = load();
    let link = SlowLink::new(LINK);
    let mut slot = discipline.free_slot(MECHANISM, Measures::default(), now()).unwrap();
    install(&mut slot, "sl0");
    let Limit::Packets(fallback) = MECHANISM.fallback else { unreachable!("the tests' limits are packets") };
    let start = now();
    slot.take_interval(start).unwrap();
    // The agent was heard last at the start.
    offer(start + Duration::from_secs(4), || {});
    let full = slot.backlog().unwrap().packets;
    assert!(full > 900, "{full} packets wait");
    offer(start + Duration::from_secs(8), || {});
    let fallen_back = slot.backlog().unwrap().packets;
    assert!(fallen_back <= fallback.into(), "{fallen_back} packets wait");
    slot.take_interval(now()).unwrap();
    offer(now() + Duration::from_secs(2), || {});
    let heard = slot.backlog().unwrap().packets;
    assert!(heard > 900, "{heard} packets wait");
    assert!(link.end().packets > 9_000);
    discipline.unload().unwrap();
}
