//! Turns without any option: of the stations of an access point, and where the driver pushes back.

use super::chain::at;
use super::medium::{CELL, Medium};
use super::network::within;
use super::overload::offer;
use super::program::{Program, nothing_is_left, queue, run, said, until_said};
use super::radios::{access_point, join_at, unload, with_aql};
use super::slow_link::{BELOW_THE_QUEUE, SlowLink};
use super::stress::setting;
use super::{HEADERS, now, pause_until, shell, towards};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Instant};

/// 10 Mb/s.
const LINK: u64 = 1_250_000;
const WARM_UP: Duration = Duration::from_secs(3);
const PROBED_EVERY: Duration = Duration::from_millis(50);
/// 802.11b at 11 Mb/s, as the air between the radios is: one frame a turn.
const HOSTAPD: &str = "ssid=turns\nhw_mode=b\nchannel=1\nbeacon_int=1000\nsupported_rates=110\nbasic_rates=110\n";
const BULK: u16 = 4_000;
const PROBE: u16 = 4_001;
/// Bulk that is offered to all stations together, in packets of 1000 bytes a second: 1.7 times what the air carries.
const OFFERED: u64 = 1_100;

#[test]
#[ignore = "needs the guest"]
fn without_any_option_a_driver_that_pushes_back_has_turns() {
    let link = SlowLink::new(LINK);
    let program = Program::attached("attach sl0", "sl0");
    assert!(said().contains("grade 3, turns"), "{}", said());
    let thin = towards(9);
    let port = thin.local_addr().unwrap().port();
    let start = now();
    let mut next = start + WARM_UP;
    offer(start + Duration::from_secs(8), || {
        if now() >= next {
            next += PROBED_EVERY;
            thin.send(&now().as_nanos().to_be_bytes()).unwrap();
        }
    });
    let status = shell("/tmp/sluice status");
    assert!(status.contains("turns (grade 3)"), "{status}");
    pause_until(now() + Duration::from_secs(1));
    program.stop();
    assert!(!queue("sl0").contains("sluice"));
    let received = link.end();
    let of = |thin: bool| {
        let all = received.delays.iter().zip(&received.port);
        all.filter(move |((sent, _), from)| *sent >= start + WARM_UP && (**from == port) == thin)
            .map(|((_, delay), _)| *delay)
    };
    let (slowest, bulk) = (of(true).max().unwrap(), of(false).max().unwrap());
    println!("{} thin packets within {slowest:?}, bulk within {bulk:?}, {} in all", of(true).count(), received.packets);
    // What the terminal holds, and the packet on its way into it.
    let below = Duration::from_nanos((BELOW_THE_QUEUE + 2_000) * 1_000_000_000 / LINK);
    assert!(of(true).count() > 90 && slowest <= below, "{slowest:?}");
    assert!(bulk <= Duration::from_millis(120) + below, "{bulk:?}");
    // The link never lacks packets.
    assert!(received.packets > 9_000, "{}", received.packets);
    nothing_is_left();
}

/// Bytes that wait at the root of an interface.
fn waiting(device: &str) -> u64 {
    let shown = shell(&format!("tc -j -s qdisc show dev {device} root"));
    shown.split("\"backlog\":").nth(1).unwrap().split([',', '}']).next().unwrap().parse().unwrap()
}

/// Without an agent the law goes on: no more waits than is sent in the target.
#[test]
#[ignore = "needs the guest"]
fn after_a_kill_no_more_waits_than_is_sent_in_the_target() {
    let link = SlowLink::new(LINK);
    let before = queue("sl0");
    let program = Program::attached("attach sl0 --target-delay 400ms", "sl0");
    offer(now() + Duration::from_secs(3), || ());
    let governed = waiting("sl0");
    program.kill();
    let (killed, mut most) = (now(), 0);
    let mut next = killed + Duration::from_secs(1);
    offer(killed + Duration::from_secs(8), || {
        if now() >= next {
            next += Duration::from_secs(1);
            most = most.max(waiting("sl0"));
        }
    });
    println!("{governed} B wait with an agent, at most {most} B in 8 s after its kill");
    // The rate is measured to a tenth.
    assert!(governed > LINK / 5 && most <= LINK * 4 / 10 * 11 / 10, "{governed} and {most} B");
    assert_eq!(run("detach sl0"), Some(0), "{}", said());
    assert_eq!(queue("sl0"), before);
    nothing_is_left();
    assert!(link.end().packets > 12_000);
}

/// Of so many flows, each of which sends less than its share, together twice what the link carries.
#[test]
#[ignore = "needs the guest"]
fn however_many_flows_send_no_more_waits_than_is_sent_in_the_target() {
    const MANY: u16 = 1_700;
    const PAYLOAD: usize = 1_400 - HEADERS;
    let link = SlowLink::new(LINK);
    let program = Program::attached("attach sl0", "sl0");
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&socket, 16_000_000).unwrap();
    let every = Duration::from_nanos(1_400 * 1_000_000_000 / LINK / 2);
    let (start, mut most, mut number) = (now(), 0, 0_u16);
    let mut next = start;
    while now() < start + Duration::from_secs(6) {
        let _ = socket.send_to(&stamped::<PAYLOAD>(), ("10.9.9.2", 10_000 + number % MANY));
        number = (number + 1) % (MANY * 8);
        if number % 500 == 0 && now() > start + WARM_UP {
            most = most.max(waiting("sl0"));
        }
        next += every;
        pause_until(next);
    }
    pause_until(now() + Duration::from_secs(1));
    program.stop();
    let mut delays: Vec<Duration> =
        link.end().delays.into_iter().filter(|(sent, _)| *sent > start + WARM_UP).map(|(_, delay)| delay).collect();
    delays.sort_unstable();
    let below = Duration::from_nanos((BELOW_THE_QUEUE + 2_000) * 1_000_000_000 / LINK);
    let (all, middle, longest) = (delays.len(), delays[delays.len() / 2], delays[delays.len() - 1]);
    println!(
        "{MANY} flows: at most {most} B wait; of {all} packets half wait {middle:?}, none longer than {longest:?}"
    );
    assert!(most <= LINK / 10 * 11 / 10, "{most} B");
    // What is thin has half of the link.
    assert!(longest < Duration::from_millis(200) + below, "{longest:?}");
    assert!(all > 2_000 && middle < Duration::from_millis(100) + below, "{all} packets, {middle:?}");
}

/// An access point and its stations, which are in namespaces of their own.
pub(super) struct Cell {
    medium: Medium,
    stations: usize,
    /// Networks of the access point, on one radio; stations join them in turn.
    networks: usize,
}

/// The access point's interface of a network.
fn interface(network: usize) -> String {
    if network == 0 { "wlan0".into() } else { format!("ap{network}") }
}

impl Cell {
    pub(super) fn new(stations: usize, networks: usize) -> Self {
        with_aql(&format!("radios={}", stations + 1));
        let medium = Medium::new(stations + 1, CELL);
        let more =
            |network| format!("bss={}\nbssid=02:00:00:00:00:{network:02}\nssid=turns{network}\n", interface(network));
        let more: String = (1..networks).map(more).collect();
        access_point(&format!("{HOSTAPD}{more}"));
        for network in 0..networks {
            let device = interface(network);
            shell(&format!("ip addr add 10.8.{network}.1/24 dev {device}; ip link set {device} gso_max_segs 1"));
            shell(&format!(
                "sysctl -qw net.ipv6.conf.{device}.disable_ipv6=1; iw dev {device} set bitrates legacy-2.4 11"
            ));
        }
        for station in 1..=stations {
            let device = format!("wlan{station}");
            let network = station % networks;
            let ssid = if network == 0 { "turns".into() } else { format!("turns{network}") };
            shell(&format!(
                "ip netns add n{station}; iw phy $(cat /sys/class/net/{device}/phy80211/name) set netns name n{station}"
            ));
            at(station, &format!("sysctl -qw net.ipv6.conf.{device}.disable_ipv6=1; ip link set {device} up"));
            join_at(station, station, &format!("{ssid} 2412"));
            let address = format!("10.8.{network}.{}", station + 1);
            at(station, &format!("ip addr add {address}/24 dev {device}"));
            at(station, &format!("ip neigh add 10.8.{network}.1 lladdr 02:00:00:00:00:{network:02} dev {device}"));
            let from = interface(network);
            shell(&format!("ip neigh add {address} lladdr 02:00:00:00:{station:02x}:00 dev {from}"));
        }
        Self { medium, stations, networks }
    }

    pub(super) fn end(self) {
        shell("kill $(pidof hostapd)");
        // While there is a medium, the radios wait for its answers.
        println!("{} statuses came before the driver expected them", self.medium.counts.early.load(Ordering::Relaxed));
        drop(self.medium);
        unload();
    }

    /// Offers all stations more than the air carries, and probes the first.
    fn run(&self, length: Duration) -> Outcome {
        self.run_with(length, 0)
    }

    /// As [`run`](Self::run); what is offered to the first station has this type of service.
    fn run_with(&self, length: Duration, tos: u8) -> Outcome {
        for setting in ["wmem_default", "rmem_default"] {
            std::fs::write(format!("/proc/sys/net/core/{setting}"), "16777216").unwrap();
        }
        let ends = Arc::new(AtomicBool::new(false));
        let start = now() + WARM_UP;
        let listen = |station: usize, port: u16| {
            let ends = Arc::clone(&ends);
            within(&format!("n{station}"), move || receive(port, start, &ends))
        };
        let sinks: Vec<_> = (1..=self.stations).map(|station| listen(station, BULK)).collect();
        let probed = listen(1, PROBE);
        let to = |station: usize, port| {
            let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
            socket.connect((format!("10.8.{}.{}", station % self.networks, station + 1), port)).unwrap();
            socket
        };
        let bulk: Vec<UdpSocket> = (1..=self.stations).map(|station| to(station, BULK)).collect();
        rustix::net::sockopt::set_ip_tos(&bulk[0], tos).unwrap();
        let probe = to(1, PROBE);
        let every = Duration::from_nanos(1_000_000_000 / OFFERED);
        let (mut next, mut next_probe, mut sent) = (now(), start, 0);
        while now() < start + length {
            for socket in bulk.iter().cycle().skip(sent).take(1) {
                socket.send(&stamped::<{ 1_000 - HEADERS }>()).unwrap();
            }
            sent += 1;
            if now() >= next_probe {
                next_probe += PROBED_EVERY;
                probe.send(&stamped::<64>()).unwrap();
            }
            next += every;
            pause_until(next);
        }
        pause_until(now() + Duration::from_secs(2));
        ends.store(true, Ordering::Relaxed);
        let mut delays = probed.join().unwrap();
        delays.sort_unstable();
        let of_stations: Vec<Vec<Duration>> = sinks.into_iter().map(|sink| sink.join().unwrap()).collect();
        let counts = of_stations.iter().map(Vec::len).collect();
        let mut bulk = of_stations.concat();
        bulk.sort_unstable();
        Outcome { delays, bulk, counts, length }
    }
}

fn stamped<const LEN: usize>() -> [u8; LEN] {
    let mut payload = [0; LEN];
    payload[..8].copy_from_slice(&now().as_nanos().to_be_bytes());
    payload
}

/// Delays of the packets that were sent from a time on.
fn receive(port: u16, from: Instant, ends: &AtomicBool) -> Vec<Duration> {
    let socket = UdpSocket::bind(("0.0.0.0", port)).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    let (mut delays, mut payload) = (Vec::new(), [0; 1_000]);
    while !ends.load(Ordering::Relaxed) {
        if socket.recv(&mut payload).is_ok() {
            let sent = Instant::from_nanos(u64::from_be_bytes(payload[..8].try_into().unwrap()));
            if sent >= from {
                delays.push(now().since(sent));
            }
        }
    }
    delays
}

struct Outcome {
    /// Of the probes, and of bulk, the shortest first.
    delays: Vec<Duration>,
    bulk: Vec<Duration>,
    /// Bulk packets that each station got.
    counts: Vec<usize>,
    length: Duration,
}

/// The 99th percentile in ms.
fn p99(sorted: &[Duration]) -> f64 {
    sorted[sorted.len() * 99 / 100].as_secs_f64() * 1e3
}

impl Outcome {
    fn p99(&self) -> f64 {
        p99(&self.delays)
    }

    fn mbps(&self) -> f64 {
        self.counts.iter().sum::<usize>() as f64 * 8e-3 / self.length.as_secs_f64()
    }

    /// Jain's index of what stations got.
    fn jain(&self) -> f64 {
        let sum = self.counts.iter().sum::<usize>() as f64;
        let squares: f64 = self.counts.iter().map(|count| (*count as f64).powi(2)).sum();
        sum * sum / squares / self.counts.len() as f64
    }

    fn show(&self, how: &str, stations: usize) {
        let (probe, bulk, probes) = (self.p99(), p99(&self.bulk), self.delays.len());
        let (mbps, jain) = (self.mbps(), self.jain());
        println!(
            "{how:8} {stations} stations: p99 of {probes} probes {probe:.1} ms, bulk {bulk:.0} ms, {mbps:.2} Mb/s, Jain {jain:.3}"
        );
    }
}

/// Attaches with these options, and waits until it says which grade it took.
fn attached(options: &str, grade: &str) -> Program {
    attached_to("wlan0", options, grade)
}

fn attached_to(interface: &str, options: &str, grade: &str) -> Program {
    let program = Program::start(format!("attach {interface} {options}").trim());
    until_said(grade, 1);
    program
}

/// Without an agent release by credit ends, and mac80211 holds all that waits.
#[test]
#[ignore = "needs the guest"]
fn after_a_kill_the_queue_of_stations_becomes_empty() {
    let cell = Cell::new(2, 1);
    let before = queue("wlan0");
    let program = attached("", "grade 2, turns of the stations");
    let (governed, after) = std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            pause_until(now() + WARM_UP + Duration::from_secs(1));
            let governed = waiting("wlan0");
            program.kill();
            pause_until(now() + Duration::from_secs(6));
            let look = || {
                pause_until(now() + Duration::from_millis(100));
                waiting("wlan0")
            };
            (governed, std::iter::repeat_with(look).take(15).max().unwrap())
        });
        let outcome = cell.run(Duration::from_secs(10));
        outcome.show("killed", 2);
        assert!(outcome.mbps() > 4.0 && outcome.jain() > 0.9, "traffic passes");
        seen.join().unwrap()
    });
    println!("{governed} B wait with an agent, at most {after} B from 6 s after its kill on");
    assert!(governed > 5_000 && after == 0, "{governed} and {after} B");
    assert_eq!(run("detach wlan0"), Some(0), "{}", said());
    assert_eq!(queue("wlan0"), before);
    nothing_is_left();
    cell.end();
}

#[test]
#[ignore = "needs the guest"]
fn without_any_option_stations_have_turns_and_the_former_queue_comes_back() {
    let cell = Cell::new(2, 1);
    let before = queue("wlan0");
    let program = attached("", "grade 2, turns of the stations");
    let status = shell("/tmp/sluice status");
    assert!(status.contains("turns of stations (grade 2)"), "{status}");
    let outcome = cell.run(Duration::from_secs(4));
    outcome.show("grade 2", 2);
    assert!(outcome.p99() < 30.0 && outcome.jain() > 0.99);
    assert!(queue("wlan0").contains("sluice"));
    program.stop();
    assert_eq!(queue("wlan0"), before);
    // One that is killed leaves it; the next one takes it over, and `detach` restores it.
    attached("", "grade 2").kill();
    assert!(queue("wlan0").contains("sluice"));
    let next = attached("", "grade 2");
    assert!(cell.run(Duration::from_secs(2)).p99() < 30.0);
    next.kill();
    assert_eq!(run("detach wlan0"), Some(0), "{}", said());
    assert_eq!(queue("wlan0"), before);
    // Without a place for BPF objects it says so, and takes the next grade.
    shell("umount /sys/fs/bpf");
    let program = attached("", "grade 2 (turns in Sluice's own BPF discipline) cannot be used: ");
    assert!(said().contains("grade 1, the knobs"), "{}", said());
    program.stop();
    shell("mount -t bpf bpf /sys/fs/bpf");
    attached("--backend knobs", "grade 1").stop();
    cell.end();
}

#[test]
#[ignore = "needs the guest"]
fn beside_stations_that_are_offered_too_much_a_ping_waits_less_than_by_default() {
    let stations = usize::try_from(setting("STATIONS", 8)).unwrap();
    let cell = Cell::new(stations, 1);
    let length = Duration::from_secs(setting("SECONDS", 10));
    let default = cell.run(length);
    default.show("default", stations);
    let program = attached("--backend knobs", "grade 1");
    let knobs = cell.run(length);
    knobs.show("grade 1", stations);
    program.stop();
    let program = attached("", "grade 2");
    let turns = cell.run(length);
    turns.show("grade 2", stations);
    println!("{}", shell("tc -s qdisc show dev wlan0 root"));
    program.stop();
    // A frame on the air and one behind it, of 1.6 ms each, and an access of its own.
    assert!(turns.p99() < 8.0 && turns.mbps() > 0.95 * default.mbps() && turns.jain() > 0.98);
    assert!(knobs.p99() < 0.8 * default.p99() && knobs.mbps() > 0.98 * default.mbps());
    // Of the 100 ms that bulk may wait, 40 are left, and the knobs let 32 packets wait.
    for (options, grade, whole) in [("--backend knobs", "grade 1", &knobs), ("", "grade 2", &turns)] {
        let program = attached(&format!("--bulk-delay 40ms {options}"), grade);
        let short = cell.run(length);
        short.show(&format!("{grade}, 40 ms"), stations);
        program.stop();
        // What more stations have in flight takes longer than that.
        let is_short = p99(&short.bulk) < 0.8 * p99(&whole.bulk) || stations > 8;
        assert!(is_short && short.mbps() > 0.9 * whole.mbps() && short.jain() > 0.98);
    }
    cell.end();
}

/// With two networks of one radio, turns of both together are in flight as those of one would be.
#[test]
#[ignore = "needs the guest"]
fn two_networks_of_a_radio_wait_no_longer_than_one() {
    let length = Duration::from_secs(setting("SECONDS", 6));
    let outcomes = [1, 2].map(|networks| {
        let cell = Cell::new(4, networks);
        let programs: Vec<Program> =
            (0..networks).map(|network| attached_to(&interface(network), "", "grade 2")).collect();
        let outcome = cell.run(length);
        outcome.show(&format!("{networks} SSIDs"), 4);
        programs.into_iter().for_each(Program::stop);
        nothing_is_left();
        cell.end();
        outcome
    });
    let [one, two] = &outcomes;
    // A frame of 1000 B takes 1.3 ms.
    assert!(two.p99() <= one.p99() + 3.0, "{} and {} ms", one.p99(), two.p99());
    assert!(two.mbps() > 0.95 * one.mbps() && two.jain() > 0.98, "{} Mb/s, {}", two.mbps(), two.jain());
}

/// AF11 and AF21, which Linux takes for best effort, and which three bits of the code point alone would not.
#[test]
#[ignore = "needs the guest"]
fn a_code_point_of_best_effort_gets_no_more_than_its_share() {
    let cell = Cell::new(2, 1);
    let program = attached("", "grade 2");
    for tos in [10 << 2, 18 << 2] {
        let outcome = cell.run_with(Duration::from_secs(setting("SECONDS", 3)), tos);
        outcome.show(&format!("TOS {tos}"), 2);
        assert!(outcome.p99() < 30.0 && outcome.jain() > 0.98, "{tos}");
    }
    program.stop();
    cell.end();
}
