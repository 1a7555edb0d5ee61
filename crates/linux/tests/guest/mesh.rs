//! Queues of mac80211 interfaces under release by credit.

use super::chain::{Chain, NODES, Sink, at, install_at, send};
use super::queues::attach;
use super::{MECHANISM, load, now, pause_until, shell};
use control::{AnyController, Controller as _, Interval, Name, Parameters, adth};
use libbpf_rs::query::{ProgInfoIter, ProgramInfo};
use linux::Device;
use linux::device::bpf::{Below, Credit, Discipline, Slot};
use std::sync::atomic::Ordering;
use units::{Duration, Instant, Positive};

/// One exchange with a packet of the tests, without backoff: DIFS, a frame of 1078 B at 11 Mb/s, SIFS, ACK.
const EXCHANGE: Duration = Duration::from_micros(50 + 192 + 784 + 10 + 304);
/// The longest first backoff, 31 slots of 20 us; half of it on average.
const BACK_OFF: Duration = Duration::from_micros(620);
/// Allowance for the kernel and the tests per packet and hop: 100 000 instructions.
const COMPUTING: Duration = Duration::from_micros(200);
/// 6.2 Mb/s on the air, of which the first hop carries less than half.
pub(super) const OFFERED_EVERY: Duration = Duration::from_micros(1_400);
pub(super) const WARM_UP: Duration = Duration::from_secs(5);
const RUN: Duration = Duration::from_secs(60);
/// The nodes that send data.
pub(super) const SENDERS: usize = NODES - 1;
/// ADTH section 4.2.1 and its claim adth-s1a: its loss exceeds a FIFO's by at most this share of the offered packets.
const MORE_LOSS: f64 = 0.08;

/// Packets without a completion: at the end at most one per node, and one in this many of those given up meanwhile.
const UNANSWERED: u64 = 1;
const ONE_IN: u64 = 1_000;

/// From `scenarios/live/chain.toml`, means of ten seeds: packets that come in the 55 seconds after the warm-up, and a
/// service time. Tolerance: a tenth (docs/live-safety.md).
const SIMULATED_PACKETS: u64 = 17_600;
const SIMULATED_SERVICE: Duration = Duration::from_micros(3_090);

/// A node's queue with its controller, and its measurements after the warm-up.
struct Node {
    slot: Slot,
    controller: AnyController,
    next_update: Instant,
    /// Start of the test.
    below: Below,
    seen: Interval,
    /// Sum over packets, and their number.
    nodal: (Duration, u64),
    service: (Duration, u64),
}

impl Node {
    fn new(discipline: &Discipline, node: usize, controller: AnyController) -> Self {
        let mut slot = discipline.free_slot(MECHANISM, controller.needs().measures, now()).unwrap();
        discipline.release_by(&mut slot, Some(Credit::default())).unwrap();
        install_at(node, &mut slot);
        slot.take_interval(now()).unwrap();
        let (below, seen, nodal, service) = Default::default();
        Self { slot, controller, next_update: now(), below, seen, nodal, service }
    }

    /// Discards all earlier measurements.
    fn begin(&mut self) {
        self.slot.take_interval(now()).unwrap();
        self.below = self.slot.below().unwrap();
        self.next_update = now();
    }

    fn update(&mut self, warm_at: Instant) {
        let at = now();
        if at < self.next_update {
            return;
        }
        let interval = self.take_interval();
        if at >= warm_at {
            for (sum, stat) in [(&mut self.nodal, interval.nodal), (&mut self.service, interval.service)] {
                *sum = (sum.0 + stat.mean * stat.n, sum.1 + stat.n);
            }
        }
        self.slot.set_limit(self.controller.update(&interval.into()).limit).unwrap();
        self.next_update = at + self.controller.needs().interval.min(Duration::from_secs(1));
    }

    fn take_interval(&mut self) -> Interval {
        let interval = self.slot.take_interval(now()).unwrap();
        self.seen.arrived.packets += interval.arrived.packets;
        self.seen.sent.packets += interval.sent.packets;
        self.seen.dropped.packets += interval.dropped.packets;
        self.seen.backlog = interval.backlog;
        interval
    }
}

pub(super) struct Outcome {
    offered: u64,
    received: u64,
    /// Packets that came after the warm-up and before the end: mean delay and number.
    delay: Duration,
    pub(super) timely: u64,
    /// Delays of the same packets.
    pub(super) delays: Vec<Duration>,
    nodes: Vec<Node>,
}

impl Outcome {
    /// Share of the packets offered after the warm-up of a run of [`RUN`] that was lost, but for those after the end.
    fn loss(&self) -> f64 {
        let offered = (RUN - WARM_UP).as_nanos() / OFFERED_EVERY.as_nanos();
        #[expect(clippy::cast_precision_loss, reason = "thousands")]
        let (received, offered) = (self.timely as f64, offered as f64);
        1.0 - received / offered
    }

    fn show(&self, name: &str) {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let of = |(sum, n): (Duration, u64)| ms(sum / n.max(1));
        let Self { offered, received, timely, .. } = self;
        print!("{name:5} offered {offered} received {received}, {timely} in time, delay {:.1} ms;", ms(self.delay));
        for node in &self.nodes {
            let dropped = node.seen.dropped.packets;
            print!(" nodal {:.1} ms, service {:.3} ms, dropped {dropped};", of(node.nodal), of(node.service));
        }
        println!();
    }

    /// `delay` is the simulated one, in milliseconds; tolerance: a fifth.
    fn is_as_simulated(&self, delay: u64) {
        let (simulated, within) = (Duration::from_millis(delay), Duration::from_millis(delay) / 5);
        assert!(self.delay + within >= simulated && self.delay <= simulated + within, "{:?}, {delay} ms", self.delay);
        assert!(self.timely.abs_diff(SIMULATED_PACKETS) * 10 <= SIMULATED_PACKETS, "{}", self.timely);
        for node in &self.nodes {
            let service = (node.service.0 / node.service.1).as_nanos();
            let simulated = SIMULATED_SERVICE.as_nanos();
            assert!(service.abs_diff(simulated) * 10 <= simulated, "{service} ns");
        }
    }

    /// Accounts for every packet: those that the medium gave up are in `failed`. A completion that comes while the same
    /// processor handles another is not seen, `unseen` of them: the kernel lets no BPF program interrupt itself.
    fn is_accounted_for(&self, failed: u64, unseen: u64) {
        let mut came = self.offered;
        for (number, node) in self.nodes.iter().enumerate() {
            let Interval { arrived, sent, dropped, backlog, .. } = node.seen;
            assert_eq!(arrived.packets, sent.packets + dropped.packets + backlog.packets, "node {number}");
            assert_eq!(backlog.packets, 0, "node {number}");
            let (before, after) = (node.below, node.slot.below().unwrap());
            let (taken, completed) = (after.taken - before.taken, after.completed - before.completed);
            let lost = after.lost - before.lost;
            println!("      node {number}: {taken} taken, {completed} completed, {lost} given up");
            assert_eq!(taken, sent.packets, "node {number}");
            // It is given up when the next packet leaves, and after the last there is none.
            assert!(taken - completed - lost <= UNANSWERED, "node {number}");
            assert!(lost * ONE_IN < taken, "node {number}");
            came -= dropped.packets;
        }
        assert_eq!(self.nodes[0].seen.arrived.packets, self.offered);
        assert_eq!(came, self.received + failed);
        println!("      completions not seen: {unseen}");
    }
}

/// Number of times at which the programs that trace freed packets were left out.
fn unseen() -> u64 {
    let ours = |program: &ProgramInfo| program.name == "sluice_consumed" || program.name == "sluice_dropped";
    ProgInfoIter::default().filter(ours).map(|program| program.recursion_misses).sum()
}

/// Offers too much to the chain for a time, under a controller at each node.
pub(super) fn overload(chain: &Chain, name: Name, parameters: &Parameters, length: Duration) -> Outcome {
    let failed = || chain.medium.counts.failed.load(Ordering::Relaxed);
    let before = failed();
    let discipline = load();
    let unseen_before = unseen();
    let controller = || AnyController::new(name, parameters, &MECHANISM.hard.into()).unwrap();
    let mut nodes: Vec<Node> = (0..SENDERS).map(|node| Node::new(&discipline, node, controller())).collect();
    let sink = Sink::new();
    // Code that runs for the first time is read from the host, while the guest's clock runs away.
    send(OFFERED_EVERY * 4, now() + Duration::from_millis(500), || ());
    pause_until(now() + Duration::from_millis(500));
    nodes.iter_mut().for_each(Node::begin);
    let start = now();
    let warm_at = start + WARM_UP;
    let offered = send(OFFERED_EVERY, start + length, || nodes.iter_mut().for_each(|node| node.update(warm_at)));
    // What waits leaves first.
    while nodes.iter().any(|node| node.slot.backlog().unwrap().packets > 0) {
        pause_until(now() + Duration::from_millis(100));
        for node in &mut nodes {
            node.take_interval();
        }
    }
    pause_until(now() + Duration::from_millis(300));
    for node in &mut nodes {
        node.take_interval();
    }
    let delays: Vec<_> = sink.end().into_iter().filter(|(sent, _)| *sent >= start).collect();
    for node in 0..SENDERS {
        at(node, &format!("tc qdisc del dev wlan{node} root"));
    }
    let in_time = |&&(sent, delay): &&(Instant, Duration)| (warm_at..start + length).contains(&(sent + delay));
    let warm: Vec<Duration> = delays.iter().filter(in_time).map(|(_, delay)| *delay).collect();
    let timely = warm.len() as u64;
    let delay = warm.iter().copied().sum::<Duration>() / timely;
    let outcome = Outcome { offered, received: delays.len() as u64, delay, timely, delays: warm, nodes };
    outcome.show(name.as_str());
    outcome.is_accounted_for(failed() - before, unseen() - unseen_before);
    discipline.unload().unwrap();
    outcome
}

#[test]
#[ignore = "needs the guest"]
fn a_packet_takes_the_time_on_the_air_of_both_its_hops() {
    let chain = Chain::new();
    let sink = Sink::new();
    let sent = send(Duration::from_millis(50), now() + Duration::from_secs(5), || {});
    pause_until(now() + Duration::from_millis(100));
    let received = sink.end();
    chain.end();
    assert_eq!(received.len() as u64, sent);
    let mean = received.iter().map(|(_, delay)| *delay).sum::<Duration>() / sent;
    println!("two hops, alone: {:.3} ms", mean.as_secs_f64() * 1e3);
    // The first hop goes out at once, without DIFS; the relay draws a backoff. The last ACK is not waited for.
    let least = EXCHANGE * 2 - Duration::from_micros(50 + 10 + 304);
    assert!(mean >= least && mean <= least + BACK_OFF / 2 + COMPUTING * 2, "{mean:?}, {least:?}");
}

#[test]
#[ignore = "needs the guest"]
fn adth_holds_the_delay_of_each_hop_at_its_target_where_a_fifo_fills_up() {
    let chain = Chain::new();
    let fifo = overload(&chain, Name::None, &Parameters::default(), RUN);
    // Each packet of the source waits for 1000 before it, and each of those for its exchange and the relay's.
    assert!(fifo.delay >= EXCHANGE * 2 * 900, "{:?}", fifo.delay);
    fifo.is_as_simulated(3_354);
    for (target, delay) in [(50, 62), (100, 131), (200, 273)] {
        let target = Duration::from_millis(target);
        let target_delay = Positive::<Duration>::new(target).expect("a target above zero");
        let params = adth::Params { target_delay, ..adth::Params::default() };
        let adth = overload(&chain, Name::Adth, &Parameters { adth: Some(params), ..Parameters::default() }, RUN);
        for (number, node) in adth.nodes.iter().enumerate() {
            let (nodal, service) = (node.nodal.0 / node.nodal.1, node.service.0 / node.service.1);
            // A limit is a whole number of packets.
            assert!(nodal <= target + service, "node {number}: {nodal:?} at {target:?}");
        }
        assert!(adth.delay <= (target + EXCHANGE * 4) * 2, "{:?} at {target:?}", adth.delay);
        assert!(adth.loss() <= fifo.loss() + MORE_LOSS, "{} against {}", adth.loss(), fifo.loss());
        adth.is_as_simulated(delay);
    }
    chain.end();
}

#[test]
#[ignore = "needs the guest"]
fn completions_that_never_come_do_not_stop_a_queue() {
    let chain = Chain::new();
    let discipline = load();
    let mut node = Node::new(
        &discipline,
        0,
        AnyController::new(Name::None, &Parameters::default(), &MECHANISM.hard.into()).unwrap(),
    );
    let sink = Sink::new();
    let credit = Credit::default();
    let mut phase = |seconds: u64| {
        let before = node.slot.below().unwrap();
        send(OFFERED_EVERY, now() + Duration::from_secs(seconds), || node.update(Instant::NEVER));
        let after = node.slot.below().unwrap();
        println!("{seconds} s: {:?} more taken, {} lost", after.taken - before.taken, after.lost - before.lost);
        (after.taken - before.taken, after.lost - before.lost)
    };
    let (with_all, _) = phase(4);
    chain.medium.swallow_one_in(1);
    let (without, lost) = phase(4);
    // Two may always be below, until they are given up.
    let least = 2 * Duration::from_secs(4).as_nanos() / (credit.expiry + credit.look_every).as_nanos() - 2;
    assert!(without >= least && lost >= least - 2, "{without} taken, {lost} lost, {least} expected");
    chain.medium.swallow_one_in(0);
    // Those without a completion are given up first.
    phase(1);
    let (again, lost) = phase(4);
    assert!(again * 10 >= with_all * 9, "{again} against {with_all}");
    assert!(lost <= unseen(), "{lost} given up");
    assert!(!sink.end().is_empty());
    at(0, "tc qdisc del dev wlan0 root");
    discipline.unload().unwrap();
    chain.end();
}

#[test]
#[ignore = "needs the guest"]
fn attaching_to_an_interface_of_mac80211_makes_packets_wait_there() {
    let chain = Chain::new();
    let before = shell("tc -j qdisc show dev wlan0");
    let sink = Sink::new();
    let mut device = attach("wlan0").unwrap();
    device.take_interval(now()).unwrap();
    let mut most = 0;
    let sent = send(OFFERED_EVERY, now() + Duration::from_secs(2), || {
        most = most.max(device.take_interval(now()).unwrap().backlog.packets);
    });
    device.restore().unwrap();
    assert_eq!(shell("tc -j qdisc show dev wlan0"), before);
    // More than half of the offered load exceeds what the air carries.
    let offered = Duration::from_secs(2).as_nanos() / OFFERED_EVERY.as_nanos();
    assert!(most > offered / 4, "{most} of {offered}");
    // Waiting packets went down to the radio before the queue was removed.
    pause_until(now() + Duration::from_secs(5));
    assert_eq!(sink.end().len() as u64, sent - chain.medium.counts.failed.load(Ordering::Relaxed));
    chain.end();
}
