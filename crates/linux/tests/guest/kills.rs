//! `kill -9` at random moments, under traffic.

use super::overload::LEN;
use super::program::{Program, nothing_is_left, queue, said};
use super::slow_link::SlowLink;
use super::stress::setting;
use super::{HEADERS, now, pause_until, shell, towards};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use units::Duration;

/// Default number of kills; `KILLS` sets another.
const KILLS: u64 = 200;
/// Bytes per second; a packet takes 8 ms.
const LINK: u64 = 125_000;
/// 1.6 Mb/s.
const OFFERED_EVERY: Duration = Duration::from_millis(5);
/// Longest time until a packet leaves: a chunk of 4 KiB takes 33 ms, twice for safety.
const GOES_ON_WITHIN: Duration = Duration::from_millis(66);
/// The heartbeat's time, and a second in which the next packet comes.
const FALLS_BACK_WITHIN: Duration = Duration::from_secs(6);
/// Most packets that the fall-back limit allows.
const FALLBACK: u64 = 100;
/// ADTH at 200 ms decides every 100 ms, in which the link takes 12.5 KB and at most 4 KiB more: 33 packets in 200 ms.
const GOVERNED: u64 = 33;
/// Seed of the moments; any will do.
const SEED: u64 = 20_261_121;

/// Numbers that are spread well enough (Knuth's MMIX generator; its high bits).
pub(super) struct Moments(pub(super) u64);

impl Moments {
    pub(super) fn below(&mut self, bound: Duration) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let nanos = (u128::from(self.0 >> 33) * u128::from(bound.as_nanos())) >> 31;
        Duration::from_nanos(u64::try_from(nanos).unwrap())
    }
}

fn traffic(enough: Arc<AtomicBool>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let socket = towards(9);
        let mut next = now();
        while !enough.load(Ordering::Relaxed) {
            // The kernel has no queue for a moment while one replaces another.
            let _ = socket.send(&[0; LEN - HEADERS]);
            next += OFFERED_EVERY;
            pause_until(next);
        }
    })
}

/// Number of packets that the link took.
fn sent() -> u64 {
    std::fs::read_to_string("/sys/class/net/sl0/statistics/tx_packets").unwrap().trim().parse().unwrap()
}

fn waiting() -> u64 {
    let shown = shell("tc -j -s qdisc show dev sl0 root");
    shown.split("\"qlen\":").nth(1).unwrap().split([',', '}']).next().unwrap().parse().unwrap()
}

fn goes_on() {
    let before = sent();
    pause_until(now() + GOES_ON_WITHIN);
    assert!(sent() > before, "no packet leaves: {}", said());
}

#[test]
#[ignore = "needs the guest"]
fn traffic_survives_kills_and_the_last_agent_finds_and_leaves_all_in_order() {
    let link = SlowLink::new(LINK);
    shell("tc qdisc replace dev sl0 root handle 7: pfifo limit 77");
    let before = shell("tc -j qdisc show dev sl0");
    let enough = Arc::new(AtomicBool::new(false));
    let sender = traffic(Arc::clone(&enough));

    let governed = "attach sl0 --backend bpf --set controller=adth --set adth.target_delay=200ms";
    let begun = now();
    Program::attached(governed, "sl0").kill();
    // Half of the moments lie before it has attached, half while it governs.
    let span = now().since(begun) * 2;
    let mut moments = Moments(SEED);
    let kills = setting("KILLS", KILLS);
    for _ in 1..kills {
        let program = Program::start(governed);
        pause_until(now() + moments.below(span));
        program.kill();
        goes_on();
        // Our queue stays from the first kill on: the next agent takes it over.
        assert!(queue("sl0").contains("\"sluice\""), "{}", queue("sl0"));
    }
    println!("{kills} kills within {} ms; after each the queue was ours", span.as_nanos() / 1_000_000);

    // An agent that dies leaves a limit above the fall-back.
    let high = Program::attached("attach sl0 --backend bpf --set controller=none --set limit=1000", "sl0");
    pause_until(now() + Duration::from_secs(3));
    high.kill();
    let full = waiting();
    assert!(full > FALLBACK, "{full}");
    pause_until(now() + FALLS_BACK_WITHIN);
    assert!(waiting() <= FALLBACK, "{}", waiting());
    goes_on();

    let last = Program::attached(governed, "sl0");
    pause_until(now() + Duration::from_secs(3));
    assert!(waiting() <= GOVERNED, "{}", waiting());
    last.stop();
    assert_eq!(shell("tc -j qdisc show dev sl0"), before);
    goes_on();
    nothing_is_left();
    enough.store(true, Ordering::Relaxed);
    sender.join().unwrap();
    link.end();
}
