//! The kernel's disciplines beside ours on the same slow link: 8 Mb/s of UDP into 5 Mb/s, and downloads.
//!
//! The bounds were set before anything was measured. A packet of 1000 bytes takes 1002 on the link, 1.6032 ms; one of a
//! download 2.4032 ms; the terminal below the queue holds up to 12 KiB, 19.7 ms.
//!
//! - A FIFO of 1000 packets is full within three seconds, and each packet waits for those before it.
//! - ADTH's target is the queue's; the terminal's contents and a packet come on top.
//! - The link never lacks packets, whatever holds them, and takes one chunk of the terminal (4 KiB) at a time. Ten
//!   seconds of one run may contain one chunk more than those of another, and at either end a packet that is only
//!   partly in them.
//! - `fq_codel` and `cake` give each flow a queue, and a flow that sends little goes first: it waits for the terminal's
//!   contents and the packet that is being taken, whatever the download does. A chunk is taken at once: 4 KiB and that
//!   packet.

use super::downloads::{LINK, ROUND_TRIP, Times, download, wait};
use super::holder::{Holder, Kind};
use super::medium::draw;
use super::network::{AT_CLIENT, CLIENT, Network, SERVER, within};
use super::slow_link::{BELOW_THE_QUEUE, CHUNK};
use super::{HEADERS, now, pause_until, run_number};
use control::{Name, Parameters, adth};
use std::net::UdpSocket;
use units::{Duration, Instant, Positive};

/// Length of an IP packet, in bytes.
const LEN: usize = 1_000;
const WIRE: u64 = LEN as u64 + 2;
/// 8 Mb/s.
const OFFERED_EVERY: Duration = Duration::from_millis(1);
/// Time until a FIFO of 1000 packets is full.
const WARM_UP: Duration = Duration::from_secs(4);
/// Time for which the receiver waits after the last packet.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);

/// Result of a flow that offers more than the link carries.
pub(super) struct Udp {
    /// Delays from `send` to the far end of packets sent during the measurement, sorted.
    pub(super) delays: Vec<Duration>,
    /// Bytes that came in that time, relative to what the link can carry.
    pub(super) goodput: f64,
}

impl Udp {
    pub(super) fn mean(&self) -> Duration {
        self.delays.iter().copied().sum::<Duration>() / self.delays.len() as u64
    }

    pub(super) fn p99(&self) -> Duration {
        percentile(&self.delays, 99)
    }
}

/// Percentile of sorted times.
pub(super) fn percentile(times: &[Duration], percent: usize) -> Duration {
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

pub(super) fn adth(target: u64) -> Kind {
    let target_delay = Positive::<Duration>::new(Duration::from_millis(target)).expect("a target above zero");
    let params = adth::Params { target_delay, ..adth::Params::default() };
    Kind::ours(Name::Adth, Parameters { adth: Some(params), ..Parameters::default() })
}

/// Offers 8 Mb/s for a time after the warm-up.
pub(super) fn udp(kind: &Kind, measured: Duration) -> Udp {
    std::fs::write("/proc/sys/net/core/rmem_default", "4194304").unwrap();
    let network = Network::new(LINK, Duration::ZERO);
    let mut holder = Holder::new(kind, "sl0");
    let receiver = within(AT_CLIENT, move || {
        let socket = UdpSocket::bind((CLIENT, 5_001)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let (mut packet, mut came) = ([0; LEN], Vec::new());
        while let Ok(length) = socket.recv(&mut packet) {
            let sent = Instant::from_nanos(u64::from_be_bytes(packet[..8].try_into().unwrap()));
            came.push((sent, now(), length + HEADERS));
        }
        came
    });
    // The flow's start within the terminal's rhythm is random.
    let begin = now() + Duration::from_millis(500) + Duration::from_micros(draw(&mut run_number(), 50_000));
    let (start, end) = (begin + WARM_UP, begin + WARM_UP + measured);
    let sender = within(SERVER, move || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.connect((CLIENT, 5_001)).unwrap();
        let mut next = begin;
        while next < end {
            pause_until(next);
            let mut payload = [0; LEN - HEADERS];
            payload[..8].copy_from_slice(&now().as_nanos().to_be_bytes());
            socket.send(&payload).unwrap();
            next += OFFERED_EVERY;
        }
    });
    while !receiver.is_finished() {
        holder.turn();
        pause_until(holder.next());
    }
    sender.join().unwrap();
    let came = receiver.join().unwrap();
    network.end();
    holder.end();
    let timely = |at: &Instant| (start..end).contains(at);
    let bytes: usize = came.iter().filter(|(_, at, _)| timely(at)).map(|(_, _, length)| length).sum();
    let mut delays: Vec<Duration> =
        came.iter().filter(|(sent, ..)| timely(sent)).map(|(sent, at, _)| at.since(*sent)).collect();
    delays.sort_unstable();
    let carried = LINK as f64 * measured.as_secs_f64() * LEN as f64 / WIRE as f64;
    Udp { delays, goodput: bytes as f64 / carried }
}

fn on_the_link(bytes: u64) -> Duration {
    Duration::from_nanos(bytes * 1_000_000_000 / LINK)
}

#[test]
#[ignore = "needs the guest"]
fn adth_bounds_a_flow_that_does_not_yield_and_loses_no_goodput() {
    let measured = Duration::from_secs(10);
    let fifo = udp(&Kind::Kernel("pfifo limit 1000"), measured);
    let show = |name, udp: &Udp| {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!("{name:9} mean {:.1} ms, p99 {:.1} ms, {:.2} %", ms(udp.mean()), ms(udp.p99()), udp.goodput * 100.0);
    };
    show("pfifo", &fifo);
    assert!(fifo.mean() >= on_the_link(WIRE * 900), "{:?}", fifo.mean());
    let governed = udp(&adth(50), measured);
    show("adth", &governed);
    let most = Duration::from_millis(50) + on_the_link(BELOW_THE_QUEUE + WIRE);
    assert!(governed.p99() <= most, "{:?}", governed.p99());
    let edges = (CHUNK + 2 * WIRE) as f64 / (LINK as f64 * measured.as_secs_f64());
    assert!(governed.goodput >= fifo.goodput - edges, "{} and {}", governed.goodput, fifo.goodput);
}

#[test]
#[ignore = "needs the guest"]
fn the_kernels_fair_queues_let_a_small_flow_pass_a_download() {
    let times = Times { warm_up: Duration::from_secs(5), run: Duration::from_secs(15) };
    for kind in ["fq_codel", "cake"] {
        let outcome = download(&Kind::Kernel(kind), times);
        println!("{kind:9} ping {:.1} ms, goodput {:.1} %", outcome.ping(), outcome.goodput * 100.0);
        let below = on_the_link(BELOW_THE_QUEUE + CHUNK).as_secs_f64() * 1e3;
        let most = ROUND_TRIP.as_secs_f64() * 1e3 + below + wait(1.0);
        assert!(outcome.ping() <= most, "{kind}: {} ms, more than {most}", outcome.ping());
        assert_eq!(outcome.pings_lost, 0, "{kind}");
    }
}
