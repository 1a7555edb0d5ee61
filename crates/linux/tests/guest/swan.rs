//! SWAN's testbed on a real kernel (section VI of the document): five stations that all hear each other, of which four
//! send TCP in a ring and one sends UDP of 80 bytes every 20 ms to one of them, with and without rate control.
//! `tests/live/swan.py` makes the runs and judges the document's statements on them; a short one is a test.

use super::chain::{Chain, at, inside, install_at};
use super::medium::CELL;
use super::{load, now, pause_until, run_number};
use control::{AnyController, Controller as _, Limit, Name, Parameters, Seen, swan_rate};
use linux::Start;
use linux::device::bpf::{Credit, Discipline, Mechanism, Slot};
use queue::{End, Purge};
use rustix::net::sockopt::set_ip_tos;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::thread::{JoinHandle, spawn};
use units::{Duration, Instant, Positive};

const STATIONS: usize = 5;
/// Payload of UDP in bytes: 32 kb/s.
const PAYLOAD: usize = 80;
const EVERY: Duration = Duration::from_millis(20);
const PORT: u16 = 5_000;
/// Packets that Linux gave an interface at that time (`txqueuelen`).
const LIMIT: Limit = Limit::Packets(100);
const MECHANISM: Mechanism =
    Mechanism { hard: LIMIT, fallback: LIMIT, overflow: End::Tail, purge: Purge::Tail, burst: queue::LONGEST_PACKET };
const WARM_UP: Duration = Duration::from_secs(10);
const REAL_TIME: u8 = 46;

/// Traffic of the stations.
#[derive(Clone, Copy)]
enum Case {
    /// UDP alone; counts the packets that take longer than each of these times.
    Alone,
    /// With TCP that nothing holds back.
    Original,
    /// With TCP under rate control, with this bound of the MAC delay.
    Controlled(Duration),
}

/// A station with the controller of its best effort.
struct Station {
    slot: Slot,
    controller: Option<AnyController>,
    next: Instant,
    /// Rates of each period, in bit/s: the one that held, and the one at which best effort left.
    rates: Vec<(f64, f64)>,
    late: u64,
    rate: f64,
}

impl Station {
    fn new(discipline: &Discipline, node: usize, late_after: Option<Duration>) -> Self {
        let parameters = late_after.map(|late_after| Parameters {
            swan_rate: Some(swan_rate::Params {
                mac_delay: Positive::<Duration>::new(late_after).unwrap(),
                ..swan_rate::Params::default()
            }),
            ..Parameters::default()
        });
        let build = |parameters| AnyController::new(Name::SwanRate, &parameters, &LIMIT.into()).unwrap();
        let controller = parameters.map(build);
        let mut slot = discipline.free_slot(MECHANISM, control::Measures::default(), now()).unwrap();
        let (measures, every, at_once) = (control::Measures::default(), Duration::from_millis(1), now());
        let start = Start {
            orders: LIMIT.into(),
            measures,
            late_after,
            classes: true,
            marks: false,
            hops: false,
            every,
            at: at_once,
        };
        slot.begin(&start).unwrap();
        discipline.release_by(&mut slot, Some(Credit::default())).unwrap();
        install_at(node, &mut slot);
        slot.take_interval(now()).unwrap();
        let interval = Duration::from_secs(1);
        Self { slot, controller, next: now() + interval, rates: Vec::new(), late: 0, rate: f64::INFINITY }
    }

    /// Ends a period.
    fn turn(&mut self) {
        let queue = self.slot.take_interval(now()).unwrap();
        let beside = self.slot.beside();
        let actual = queue.sent.bytes.bits() as f64 / queue.length.as_secs_f64();
        self.rates.push((self.rate, actual));
        self.late += beside.late;
        if let Some(controller) = &mut self.controller {
            let radio = control::Radio { late: beside.late, ..control::Radio::default() };
            let orders = controller.update(&Seen { queue, radio: Some(radio), heard: &[] });
            self.slot.obey(&orders).unwrap();
            self.rate = orders.rate.map_or(f64::INFINITY, |rate| rate.as_bps() as f64);
        }
        self.next += Duration::from_secs(1);
    }
}

/// A greedy flow from a station to the next in the ring; ends when the stream is shut down.
struct Flow {
    stream: TcpStream,
    threads: [JoinHandle<u64>; 2],
}

impl Flow {
    fn new(from: usize, to: usize) -> Self {
        let listener = inside(to, || TcpListener::bind(("0.0.0.0", PORT)).unwrap());
        let stream = inside(from, || TcpStream::connect((format!("10.8.0.{}", to + 1), PORT)).unwrap());
        let (mut other, _) = listener.accept().unwrap();
        let mut sender = stream.try_clone().unwrap();
        let send = spawn(move || {
            while sender.write_all(&[0; 8_192]).is_ok() {}
            0
        });
        let receive = spawn(move || {
            let (mut buffer, mut bytes) = ([0; 8_192], 0);
            while let Ok(length @ 1..) = other.read(&mut buffer) {
                bytes += length as u64;
            }
            bytes
        });
        Self { stream, threads: [send, receive] }
    }

    /// Returns all bytes received.
    fn end(self) -> u64 {
        self.stream.shutdown(Shutdown::Both).unwrap();
        self.threads.map(|thread| thread.join().unwrap()).iter().sum()
    }
}

/// Measurements of a run.
struct Outcome {
    /// MAC delay of each packet of UDP after the warm-up.
    delays: Vec<Duration>,
    /// Rates of each station that sends TCP, by period: the one that held, and the actual one; bit/s.
    rates: Vec<Vec<(f64, f64)>>,
    /// Packets of UDP that were settled after the warm-up. Three or more that end together have fewer delays.
    settled: u64,
    late: u64,
    /// Bytes that TCP delivered, warm-up included.
    bytes: u64,
    sent: u64,
    received: u64,
}

fn run(case: Case, length: Duration) -> Outcome {
    let discipline = load();
    let late_after = |node: usize| match case {
        Case::Controlled(late_after) if node > 0 => Some(late_after),
        _ => None,
    };
    let mut stations: Vec<Station> =
        (0..STATIONS).map(|node| Station::new(&discipline, node, late_after(node))).collect();
    let has_tcp = !matches!(case, Case::Alone);
    let flow = |from: usize| Flow::new(from, if from + 1 < STATIONS { from + 1 } else { 1 });
    let flows: Vec<Flow> = if has_tcp { (1..STATIONS).map(flow).collect() } else { Vec::new() };
    let sink = inside(1, || UdpSocket::bind(("0.0.0.0", PORT)).unwrap());
    sink.set_read_timeout(Some(std::time::Duration::from_millis(200))).unwrap();
    let receive = spawn(move || {
        let (mut buffer, mut received, mut idle) = ([0; PAYLOAD], 0, 0);
        while idle < 10 {
            let is_here = sink.recv(&mut buffer).is_ok();
            (received, idle) = if is_here { (received + 1, 0) } else { (received, idle + 1) };
        }
        received
    });
    let source = UdpSocket::bind("0.0.0.0:0").unwrap();
    source.connect(("10.8.0.2", PORT)).unwrap();
    set_ip_tos(&source, REAL_TIME << 2).unwrap();

    let begun = now();
    let (warm_at, end) = (begun + WARM_UP, begun + WARM_UP + length);
    for station in &mut stations {
        station.next = begun + Duration::from_secs(1);
    }
    let (mut next, mut sent, mut settled, mut delays) = (begun, 0, 0, Vec::new());
    while now() < end {
        if next <= now() {
            source.send(&[0; PAYLOAD]).unwrap();
            sent += 1;
            // The packet before this one leaves the account when this one is handed down.
            stations[0].slot.take_interval(now()).unwrap();
            let service = stations[0].slot.beside().class.unwrap().service;
            if service.n > 0 && now() > warm_at {
                settled += service.n;
                // If two were completed together, the first one's time follows from the mean.
                delays.extend((service.n > 1).then(|| service.mean * service.n - service.last));
                delays.push(service.last);
            }
            next += EVERY;
        }
        for station in stations.iter_mut().skip(1).filter(|station| station.next <= now()) {
            station.turn();
        }
        let turns = stations.iter().skip(1).map(|station| station.next).min().unwrap();
        pause_until(next.min(turns).min(end));
    }
    // The radios still have frames: nothing is held back any more, so that flows end soon.
    let bytes = flows.into_iter().map(Flow::end).sum();
    for (node, station) in stations.iter_mut().enumerate() {
        station.slot.obey(&LIMIT.into()).unwrap();
        at(node, &format!("tc qdisc del dev wlan{node} root"));
    }
    let received = receive.join().unwrap();
    discipline.unload().unwrap();
    let warm = usize::try_from(WARM_UP.as_nanos() / 1_000_000_000).unwrap();
    let rates = stations.iter().skip(1).map(|station| station.rates[warm..].to_vec()).collect();
    let late = stations.iter().map(|station| station.late).sum();
    Outcome { delays, rates, settled, late, bytes, sent, received }
}

fn cell() -> Chain {
    std::fs::write("/proc/sys/net/core/wmem_default", "262144").unwrap();
    let mut cell = Chain::of(STATIONS, CELL);
    // TCP of that time, and its window.
    cell.set("tcp_congestion_control", "reno");
    cell.set("tcp_rmem", "4096 65536 65536");
    // Until all that talk to each other are peers.
    for node in 0..STATIONS {
        let to = if node + 1 < STATIONS { node + 2 } else { 2 };
        at(node, &format!("until ping -c 1 -W 1 10.8.0.{to} > /dev/null; do true; done"));
    }
    cell
}

fn mean(delays: &[Duration]) -> Duration {
    delays.iter().copied().sum::<Duration>() / (delays.len() as u64).max(1)
}

/// Returns the time that so many of 1000 packets do not exceed.
fn permille(delays: &[Duration], of: usize) -> Duration {
    let mut sorted = delays.to_vec();
    sorted.sort_unstable();
    sorted[(sorted.len() * of / 1_000).min(sorted.len() - 1)]
}

#[test]
#[ignore = "needs the guest"]
fn rate_control_shortens_the_mac_delay_of_real_time_beside_tcp() {
    let length = Duration::from_secs(20);
    let cell = cell();
    let d = Duration::from_millis(10);
    let [original, controlled] = [Case::Original, Case::Controlled(d)].map(|case| run(case, length));
    cell.end();
    for (name, outcome) in [("original", &original), ("controlled", &controlled)] {
        let [mean, tail] = [mean(&outcome.delays), permille(&outcome.delays, 990)].map(Duration::as_secs_f64);
        let Outcome { sent, received, bytes, late, .. } = outcome;
        println!(
            "{name}: {} delays, mean {:.2} ms, 99 % {:.2} ms; {received} of {sent} packets, {bytes} B of TCP, {late} late",
            outcome.delays.len(),
            mean * 1e3,
            tail * 1e3
        );
        assert!(outcome.received * 100 >= outcome.sent * 99, "{received} of {sent}");
        // A packet every 20 ms, of which the last is not settled.
        let expected = length.as_nanos() / EVERY.as_nanos();
        assert!(expected.abs_diff(outcome.settled) <= expected / 50, "{}", outcome.settled);
    }
    assert!(mean(&controlled.delays) < mean(&original.delays));
    assert!(permille(&controlled.delays, 990) < permille(&original.delays, 990));
    assert!(controlled.late > 0 && controlled.bytes < original.bytes);
    for station in &controlled.rates {
        for &(rate, actual) in station {
            // In a second the bucket lets a burst of 2304 B and a packet of 1500 B more than its rate pass.
            assert!(actual <= rate * 1.001 + 8.0 * (2_304.0 + 1_500.0), "{actual} bit/s left at a rate of {rate}");
        }
    }
}

#[test]
#[ignore = "for a table"]
fn runs_of_a_seed() {
    let text = std::fs::read_to_string("/tmp/cases").unwrap();
    let mut words = text.split_whitespace();
    let length = Duration::from_secs(words.next().unwrap().parse().unwrap());
    let cell = cell();
    for word in words {
        let case = match word {
            "alone" => Case::Alone,
            "original" => Case::Original,
            millis => Case::Controlled(Duration::from_micros(millis.parse().unwrap())),
        };
        let Outcome { delays, rates, late, bytes, sent, received, .. } = run(case, length);
        let micros: Vec<f64> = delays.iter().map(|delay| (delay.as_secs_f64() * 1e7).round() / 10.0).collect();
        let rates: Vec<Vec<[Value; 2]>> = rates
            .into_iter()
            .map(|station| station.into_iter().map(|(s, a)| [s, a].map(|rate| json!(rate.round()))).collect())
            .collect();
        let seconds = length.as_secs_f64();
        println!(
            "\nFIGURES {}",
            json!({ "case": word, "seed": run_number(), "seconds": seconds, "delays_us": micros, "rates_bps": rates,
                    "late": late, "tcp_bytes": bytes, "sent": sent, "received": received })
        );
    }
    cell.end();
}
