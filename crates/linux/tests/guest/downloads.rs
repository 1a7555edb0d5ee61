//! Downloads by the kernel's CUBIC over a link of 5 Mb/s, under each of the controllers: goodput and round trips.
//!
//! The bounds were set before anything was measured. A packet of 1500 bytes takes 1502 on the link, 2.4032 ms; without
//! load the round trip is 40 ms and the link's time for the packet itself.
//!
//! - CUBIC fills whatever there is: the queue reaches its limit. After a loss its window falls to 0.7 of what is on the
//!   way, and the queue still holds `0.7 (limit + bdp) - bdp`: with the bandwidth-delay product `bdp` of 17 packets 695 of
//!   1000 packets, 57 of 88.
//! - eBDP's limit is `T_max / T_serv + c`: 83.2 and 5. The average service time is right within 2 %: it keeps the share
//!   `exp(-n / 1000)` of its first sample, of which nothing is left after 8,300 packets in the first 20 s; one packet
//!   in 84 is a small one of the ping, 1.2 %; chunks of the terminal (3 packets) move it by 3 in 1000.
//! - ALT shrinks by one packet per second while the queue is never empty, from its initial limit. It grows by ten per
//!   second while it is empty, which is less than half a second of the slow start and a hundredth of the time after it:
//!   at most 45 are left after 20 s, and 17 to 20 fewer after 20 s more. A limit that stands still fails.
//! - A*'s limit is the smaller of the two at each moment.

use super::holder::{Holder, Kind};
use super::network::{AT_CLIENT, CLIENT, Network, SERVER, within};
use super::slow_link::BELOW_THE_QUEUE;
use super::{now, pause_until, shell};
use control::{Limit, Name, Parameters, alt, astar, ebdp};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Instant};

/// 5 Mb/s.
pub(super) const LINK: u64 = 625_000;
const WIRE: u64 = 1_502;
/// Payload bytes of a packet: without IP and TCP headers and the time stamp.
const PAYLOAD: u64 = 1_448;
pub(super) const ROUND_TRIP: Duration = Duration::from_millis(40);
pub(super) const WARM_UP: Duration = Duration::from_secs(20);
pub(super) const RUN: Duration = Duration::from_secs(40);
const PING_EVERY: Duration = Duration::from_millis(200);
/// Longer than a full FIFO takes, 2.4 s.
const LONGEST_TRIP: std::time::Duration = std::time::Duration::from_secs(4);
/// Initial limit of ALT, in packets: from its default, the largest, nothing would happen within a minute.
const ALT_FROM: u32 = 60;

pub(super) struct Outcome {
    /// Goodput: payload bytes per second from the first to the last that the client read, relative to the link's.
    pub(super) goodput: f64,
    /// Round trips of small UDP packets through the same queue.
    pub(super) pings: Vec<Duration>,
    pub(super) pings_lost: usize,
    /// The kernel's smoothed round trip of the connection, once per second, in milliseconds.
    tcp: Vec<f64>,
    /// Limit in packets at the end of each interval after the warm-up; empty for the kernel's disciplines.
    limits: Vec<u32>,
    backlog_max: u64,
}

impl Outcome {
    pub(super) fn ping(&self) -> f64 {
        self.pings.iter().map(|ping| ping.as_secs_f64() * 1e3).sum::<f64>() / self.pings.len() as f64
    }

    pub(super) fn tcp(&self) -> f64 {
        self.tcp.iter().sum::<f64>() / self.tcp.len() as f64
    }

    fn limits(&self) -> (u32, u32) {
        (*self.limits.iter().min().unwrap(), *self.limits.iter().max().unwrap())
    }
}

/// Bytes that the client reads until the server ends, and the time for that.
fn client() -> (u64, Duration) {
    let listener = TcpListener::bind((CLIENT, 5_001)).unwrap();
    let echo = UdpSocket::bind((CLIENT, 5_002)).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    std::thread::spawn(move || {
        let mut ping = [0; 64];
        while let Ok((length, from)) = echo.recv_from(&mut ping) {
            if length == 0 || echo.send_to(&ping[..length], from).is_err() {
                return;
            }
        }
    });
    let (start, mut bytes) = (now(), 0);
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        bytes += length as u64;
    }
    (bytes, now().since(start))
}

fn server(enough: &Arc<AtomicBool>) {
    let mut stream = TcpStream::connect((CLIENT, 5_001)).unwrap();
    let zeros = vec![0; 1 << 16];
    while !enough.load(Ordering::Relaxed) {
        stream.write_all(&zeros).unwrap();
    }
}

/// Returns the round trips of pings between two times, and how many were lost.
fn ping(from: Instant, to: Instant) -> (Vec<Duration>, usize) {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect((CLIENT, 5_002)).unwrap();
    let answers = socket.try_clone().unwrap();
    answers.set_read_timeout(Some(LONGEST_TRIP)).unwrap();
    let mut next = from;
    pause_until(next);
    let receiver = std::thread::spawn(move || {
        let (mut trips, mut answer) = (Vec::new(), [0; 64]);
        while let Ok(8..) = answers.recv(&mut answer) {
            let stamp = Instant::from_nanos(u64::from_be_bytes(answer[..8].try_into().unwrap()));
            trips.push(now().since(stamp));
        }
        trips
    });
    let (mut sent, mut question) = (0, [0; 64]);
    while next < to {
        question[..8].copy_from_slice(&now().as_nanos().to_be_bytes());
        socket.send(&question).unwrap();
        sent += 1;
        next += PING_EVERY;
        pause_until(next);
    }
    let trips = receiver.join().unwrap();
    let lost = sent - trips.len();
    (trips, lost)
}

/// Returns the kernel's smoothed round trip of the server's connection, in milliseconds.
fn tcp_round_trip() -> f64 {
    let shown = shell("ip netns exec server ss -tinH dport = :5001");
    let after = shown.split(" rtt:").nth(1).unwrap();
    after.split('/').next().unwrap().parse().unwrap()
}

/// Time for the queue to settle, and the end of the measurement.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) warm_up: Duration,
    pub(super) run: Duration,
}

const TIMES: Times = Times { warm_up: WARM_UP, run: RUN };

pub(super) fn download(kind: &Kind, times: Times) -> Outcome {
    let network = Network::new(LINK, ROUND_TRIP);
    let mut holder = Holder::new(kind, "sl0");
    let enough = Arc::new(AtomicBool::new(false));
    let at_client = within(AT_CLIENT, client);
    pause_until(now() + Duration::from_millis(100));
    let (start, end) = (now() + times.warm_up, now() + times.run);
    let at_server = within(SERVER, {
        let enough = Arc::clone(&enough);
        move || server(&enough)
    });
    let pinging = within(SERVER, move || ping(start, end));
    let (mut tcp, mut limits, mut backlog_max) = (Vec::new(), Vec::new(), 0);
    let mut next_look = start;
    // Everything that the server has written leaves first.
    while !at_client.is_finished() {
        let is_measured = (start..end).contains(&now());
        if let Some(seen) = holder.turn()
            && is_measured
        {
            backlog_max = backlog_max.max(seen.backlog_max);
            let Some(Limit::Packets(limit)) = holder.limit() else { unreachable!("the tests' limits are packets") };
            limits.push(limit);
        }
        if is_measured && now() >= next_look {
            tcp.push(tcp_round_trip());
            next_look += Duration::from_secs(1);
        }
        enough.store(now() >= end, Ordering::Relaxed);
        pause_until(holder.next());
    }
    let (bytes, took) = at_client.join().unwrap();
    let goodput = bytes as f64 / took.as_secs_f64() / (LINK * PAYLOAD / WIRE) as f64;
    let (pings, pings_lost) = pinging.join().unwrap();
    at_server.join().unwrap();
    network.end();
    holder.end();
    Outcome { goodput, pings, pings_lost, tcp, limits, backlog_max }
}

fn show(outcome: &Outcome, name: &str) {
    let Outcome { goodput, pings, pings_lost, backlog_max, .. } = outcome;
    let most = pings.iter().max().unwrap().as_secs_f64() * 1e3;
    let (ping, tcp, (least, largest), sent) =
        (outcome.ping(), outcome.tcp(), outcome.limits(), pings.len() + pings_lost);
    println!(
        "{name:6} goodput {:.1} %, ping {ping:.1} ms (most {most:.1}, {pings_lost} of {sent} lost), TCP {tcp:.1} ms, limit \
         {least} to {largest}, most that waited {backlog_max}",
        goodput * 100.0
    );
}

/// Returns the time of so many packets on the link, in milliseconds.
pub(super) fn wait(packets: f64) -> f64 {
    packets * WIRE as f64 * 1e3 / LINK as f64
}

/// Returns the round trips between CUBIC's least queue and a full one, with the terminal's contents.
fn is_between(outcome: &Outcome, least: f64, most: f64) {
    let empty = ROUND_TRIP.as_secs_f64() * 1e3;
    let below = BELOW_THE_QUEUE as f64 * 1e3 / LINK as f64;
    for round_trip in [outcome.ping(), outcome.tcp()] {
        let bounds = empty + wait(least)..=empty + below + wait(most + 2.0);
        assert!(bounds.contains(&round_trip), "{round_trip} ms, not in {bounds:?}");
    }
}

pub(super) fn alt() -> alt::Params {
    alt::Params { initial: NonZeroU32::new(ALT_FROM), ..alt::Params::default() }
}

#[test]
#[ignore = "needs the guest"]
fn a_download_fills_a_fifo_and_waits_as_long_in_it() {
    let outcome = download(&Kind::ours(Name::None, Parameters::default()), TIMES);
    show(&outcome, "none");
    assert!(outcome.goodput > 0.95);
    assert!(outcome.backlog_max > 950);
    is_between(&outcome, 695.0, 1_000.0);
}

#[test]
#[ignore = "needs the guest"]
fn ebdp_bounds_the_wait_of_a_download() {
    let params = ebdp::Params::default();
    let promised = params.t_max.get().as_secs_f64() * 1e3 / wait(1.0) + 5.0;
    let outcome = download(&Kind::ours(Name::Ebdp, Parameters { ebdp: Some(params), ..Parameters::default() }), TIMES);
    show(&outcome, "ebdp");
    assert!(outcome.goodput > 0.95);
    let (least, largest) = outcome.limits();
    assert!(f64::from(least) > promised * 0.98 - 1.0 && f64::from(largest) < promised * 1.02 + 1.0);
    assert!(outcome.backlog_max + 2 >= least.into() && outcome.backlog_max <= largest.into());
    is_between(&outcome, 57.0, promised * 1.02);
}

#[test]
#[ignore = "needs the guest"]
fn alt_takes_away_what_a_download_does_not_need() {
    let outcome = download(&Kind::ours(Name::Alt, Parameters { alt: Some(alt()), ..Parameters::default() }), TIMES);
    show(&outcome, "alt");
    // The link is used for at least 1 / (1 + b1 / a1) of the time.
    assert!(outcome.goodput > 1.0 / 1.1);
    falls_as_alt_does(&outcome);
    is_between(&outcome, 0.0, ALT_FROM.into());
}

fn falls_as_alt_does(outcome: &Outcome) {
    let (least, largest) = outcome.limits();
    assert!(largest <= ALT_FROM - 15, "{largest}");
    assert!((17..=20).contains(&(largest - least)), "from {largest} to {least}");
    assert_eq!((outcome.limits.first(), outcome.limits.last()), (Some(&largest), Some(&least)));
}

#[test]
#[ignore = "needs the guest"]
fn astar_is_never_above_ebdp_or_alt() {
    let params = astar::Params { ebdp: ebdp::Params::default(), alt: alt() };
    let outcome =
        download(&Kind::ours(Name::Astar, Parameters { astar: Some(params), ..Parameters::default() }), TIMES);
    show(&outcome, "astar");
    assert!(outcome.goodput > 1.0 / 1.1);
    falls_as_alt_does(&outcome);
    is_between(&outcome, 0.0, ALT_FROM.into());
}
