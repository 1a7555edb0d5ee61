//! One flow over a link against theory. Each tolerance is derived before anything is measured.
//!
//! The formulas leave out at most two round trips of a cycle, from one loss to the next: one until the loss is seen,
//! one of recovery in which the window does not grow.

use super::link::{Link, Lost, Ours, Seen, Verdict, watch};
use super::trace::{plain, trace};
use crate::transport::tcp::*;
use units::{Bytes, Duration, Rate};

/// Segments of 1000 octets in packets of 1052: 10 000 of them take 8.416 s at 10 Mb/s.
const PACKET_BITS: f64 = 1052.0 * 8.0;

fn settings(congestion: Congestion, recovery: Recovery) -> Settings {
    let advertised_window = Bytes::new(100_000_000);
    Settings { congestion, recovery, advertised_window, ..Settings::default() }
}

/// A link whose round trip holds `product` packets, with one-way delays of 50 ms.
fn link_of(product: u64, buffer: usize) -> Link {
    // A packet in service is one of those that the round trip holds.
    let rate = Rate::bps((product - 1) * 1052 * 8 * 10);
    let [from, to] = [100, 500].map(Duration::from_secs);
    Link { rate, delay: Duration::from_millis(50), buffer, lost: Lost::None, from, to }
}

/// Utilisation of the link.
fn utilisation(seen: &Seen, link: &Link) -> f64 {
    seen.goodput / 1000.0 * PACKET_BITS / link.rate.as_bps() as f64
}

fn judge(what: &str, measured: f64, expected: f64, tolerance: f64) -> Verdict {
    let holds = (measured / expected - 1.0).abs() <= tolerance;
    let verdict = if holds { Verdict::Holds } else { Verdict::Differs };
    println!("{what}: {measured:.4}, theory {expected:.4}, tolerance {:.1} %: {verdict:?}", 100.0 * tolerance);
    verdict
}

fn close(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let verdict = judge(what, measured, expected, tolerance);
    assert_eq!(verdict, Verdict::Holds, "{what}: {measured} instead of {expected}");
}

/// Utilisation and mean window of additive increase with halving, for a round trip of `product` and a buffer of `buffer` packets.
///
/// The window `W` goes from `(P + B) / 2` to `P + B`. Below `P` the round trip takes `T = P / mu` and the rate is `W / T`, above
/// it the rate is `mu` and the round trip `W / mu`; the window grows by one a round trip. So a cycle carries
/// `3/8 (P + B)^2` packets, and lasts `(P - W_min) P / mu + ((P + B)^2 - P^2) / (2 mu)`.
fn sawtooth(product: f64, buffer: f64) -> (f64, f64) {
    let most = product + buffer;
    let least = most / 2.0;
    // Times in units of 1 / mu; with a large buffer the window never is below P.
    let bend = product.max(least);
    let below = (bend - least) * product;
    let above = (most * most - bend * bend) / 2.0;
    let area = product * (bend * bend - least * least) / 2.0 + (most.powi(3) - bend.powi(3)) / 3.0;
    let packets = (most * most - least * least) / 2.0;
    (packets / (below + above), area / (below + above))
}

#[test]
fn the_closed_form_is_the_known_one() {
    // 3/4 (1 + b)^2 / (1 + b + b^2) for b = B/P up to 1.
    for b in [0.0_f64, 0.3, 0.7, 1.0] {
        let known = 0.75 * (1.0 + b).powi(2) / (1.0 + b + b * b);
        assert!((sawtooth(100.0, 100.0 * b).0 - known).abs() < 1e-9);
    }
    assert!((sawtooth(100.0, 250.0).0 - 1.0).abs() < 1e-9);
}

#[test]
fn a_short_buffer_leaves_the_link_idle_as_the_sawtooth_says() {
    for recovery in [Recovery::Sack, Recovery::NewReno, Recovery::Reno] {
        for (product, buffer) in [(100, 25), (100, 50), (100, 75), (40, 20)] {
            let link = link_of(product, buffer);
            let seen = watch(&mut Ours::new(&settings(Congestion::Reno, recovery)), &link);
            // A cycle has W_max / 2 round trips.
            let tolerance = 4.0 / (product as f64 + buffer as f64);
            let (share, window) = sawtooth(product as f64, buffer as f64);
            let name = format!("{recovery:?}, {product} + {buffer} packets");
            close(&format!("utilisation of {name}"), utilisation(&seen, &link), share, tolerance);
            // Fast recovery without SACK inflates the window.
            if recovery == Recovery::Sack {
                close(&format!("mean window of {name}"), seen.window / 1000.0, window, tolerance);
            }
        }
    }
}

#[test]
fn a_buffer_of_the_bandwidth_delay_product_keeps_the_link_busy() {
    for recovery in [Recovery::Sack, Recovery::NewReno, Recovery::Reno] {
        for buffer in [100, 200] {
            let link = link_of(100, buffer);
            let seen = watch(&mut Ours::new(&settings(Congestion::Reno, recovery)), &link);
            // The pause of half a window after a loss just empties such a buffer; what is lost is sent twice: one packet a
            // cycle of some 3/8 W_max^2.
            close(&format!("{recovery:?}, 100 + {buffer} packets"), utilisation(&seen, &link), 1.0, 0.01);
        }
    }
}

#[test]
fn cubic_keeps_the_link_busy_with_less() {
    // It falls to 0.7 of the window: 0.7 (P + B) >= P for B = 0.43 P.
    let link = link_of(100, 50);
    let seen = watch(&mut Ours::new(&settings(Congestion::Cubic, Recovery::Sack)), &link);
    close("CUBIC, 100 + 50 packets", utilisation(&seen, &link), 1.0, 0.01);
}

/// A link that never queues, with a round trip of 0.1 s, that loses as `lost` says.
fn lossy(lost: Lost, seconds: u64) -> Link {
    let [from, to] = [100, 100 + seconds].map(Duration::from_secs);
    let rate = Rate::bps(1_000_000_000_000);
    Link { rate, delay: Duration::from_millis(50), buffer: 100_000, lost, from, to }
}

/// Segments a round trip over such a link.
fn rate(seen: &Seen) -> f64 {
    seen.goodput / 1000.0 * 0.1
}

#[test]
fn reno_follows_the_law_of_the_square_root() {
    use Verdict::{Differs, Holds};
    // One loss in each 1/p packets: a sawtooth from W/2 to W carries 3/8 W^2 of them, sqrt(3 / 2p) a round trip on average. As
    // octets are counted, delayed acknowledgements change nothing; counting acknowledgements would give sqrt(3 / 4p).
    let cases = [(400, 500), (2000, 1000), (10_000, 2000)];
    for (delayed_ack, verdicts) in [(0, [Holds, Holds, Holds]), (200, [Holds, Differs, Differs])] {
        for ((packets, seconds), expected) in cases.into_iter().zip(verdicts) {
            let delay = Duration::from_millis(delayed_ack);
            let settings = Settings { delayed_ack: delay, ..settings(Congestion::Reno, Recovery::Sack) };
            let seen = watch(&mut Ours::new(&settings), &lossy(Lost::Every(packets), seconds));
            let law = (1.5 * packets as f64).sqrt();
            // A cycle has W_max / 2 = 2/3 of the mean round trips.
            let tolerance = 2.0 / (law * 2.0 / 3.0);
            let name = format!("1/p = {packets}, acknowledgements wait for {delayed_ack} ms");
            // What differs is the rate, not the window. A segment without a second one is acknowledged a round trip later, with
            // the first of the next, and what the window has beyond whole segments is not used: up to two segments a round trip.
            assert_eq!(judge(&name, rate(&seen), law, tolerance), expected, "{name}");
            close(&format!("mean window, {name}"), seen.window / 1000.0, law, tolerance);
            let held = seen.window / 1000.0 - rate(&seen);
            assert!(expected == Holds || (0.5..=2.0).contains(&held), "{name}: {held}");
            // First written as the held segment alone, at most 1.1 a round trip: missed, with 1.17 and 1.46.
            let alone = (0.5..=1.1).contains(&held);
            assert!(expected == Holds || !alone, "{name}: the held segment alone explains it after all, {held}");
        }
    }
}

#[test]
fn random_losses_raise_the_constant_of_the_law() {
    // Between losses n packets with mean 1/p go by, and W^2 grows by 2 n; a loss divides it by 4. With X = p W^2 before a loss,
    // X = 2 (e0 + e1/4 + e2/16 ...), and the rate is 2 / E[sqrt X] / sqrt(p) = 1.31 / sqrt(p) (Mathis et al. 1997, table 1).
    for (p, seconds) in [(4e-3, 1000), (1e-3, 2000), (2.5e-4, 4000)] {
        let settings = settings(Congestion::Reno, Recovery::Sack);
        let seen = watch(&mut Ours::new(&settings), &lossy(Lost::Random(p), seconds));
        let law = 1.31 / p.sqrt();
        // Two round trips of a cycle, as above, and three standard errors: cycles vary by some 0.7 of their mean.
        let tolerance = 2.0 / (law * 2.0 / 3.0) + 2.0 / (seen.losses as f64).sqrt();
        close(&format!("random p = {p}, {} losses", seen.losses), rate(&seen), law, tolerance);
    }
}

#[test]
fn cubic_has_the_windows_of_the_rfc() {
    use Verdict::{Differs, Holds};
    // RFC 9438, 5.1, table 1: average windows for a round trip of 0.1 s; at 1e-3 that of Reno, by the friendly region.
    for (packets, average, expected) in [(1000, 38.0, Holds), (10_000, 187.0, Differs), (100_000, 1054.0, Differs)] {
        let p = 1.0 / packets as f64;
        let settings = settings(Congestion::Cubic, Recovery::Sack);
        let seen = watch(&mut Ours::new(&settings), &lossy(Lost::Every(packets), 1000));
        let tolerance = 2.0 * p * average;
        assert_eq!(judge(&format!("CUBIC, p = {p}"), rate(&seen), average, tolerance), expected, "p = {p}");
        if expected == Holds {
            continue;
        }
        // The table is a fixed point that hardly attracts: on the plateau a W_max too high or too low by a part e meets the next
        // loss within a part of e^3 of itself. So a flow stays where it came from, and fast convergence, which the table leaves
        // out, takes it down at first. The same equations without packets, from 0.6 and 1.6 of the table's windows:
        let [low, high] = [(0.6, true), (1.6, false)].map(|(part, converges)| fluid(p, part * average, converges));
        println!("without packets: {low:.1} to {high:.1}");
        assert!((low * (1.0 - tolerance)..=high * (1.0 + tolerance)).contains(&rate(&seen)), "p = {p}");
    }
}

/// The mean window that the equations of RFC 9438 give as a fluid after a hundred losses, each after `1 / p` packets, from a
/// first loss at `window`; `converges`: with fast convergence.
fn fluid(p: f64, window: f64, converges: bool) -> f64 {
    let (mut w_max, mut at_loss, mut mean) = (window, window, 0.0);
    for _ in 0..100 {
        let prior = at_loss;
        w_max = if converges && at_loss < w_max { 0.85 * at_loss } else { at_loss };
        let start = 0.7 * at_loss;
        w_max = w_max.max(start);
        let k = ((w_max - start) / 0.4).cbrt();
        let (mut round_trips, mut packets, mut friendly) = (0.0, 0.0, start);
        while packets < 1.0 / p {
            let cubic = 0.4 * (0.1 * round_trips - k).powi(3) + w_max;
            at_loss = cubic.max(friendly);
            friendly += 0.02 * if friendly < prior { 9.0 / 17.0 } else { 1.0 };
            packets += 0.02 * at_loss;
            round_trips += 0.02;
        }
        mean = packets / round_trips;
    }
    mean
}

#[test]
fn a_queue_of_seconds_causes_no_timeout_but_where_the_smoothed_time_lags() {
    // 400 packets at 1 Mb/s are 3.4 s: the smoothed round-trip time and the timer follow as the queue fills, and each loss is
    // found by SACK. But where the first slow start doubles the queue each round trip, and all samples of a round trip weigh as
    // one (RFC 7323, appendix G), the smoothed time is 0.45 s when the queue is full, and the timer of 2.8 s does not wait
    // for the first repetition, which arrives.
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        for timestamps in [true, false] {
            for slow_start in [SlowStart::Acks, SlowStart::Bytes] {
                let rto_min = Duration::from_millis(200);
                let settings = Settings { slow_start, rto_min, timestamps, ..settings(congestion, Recovery::Sack) };
                let mut ends = Ours::new(&settings);
                watch(&mut ends, &Link { rate: Rate::mbps(1), ..link_of(100, 400) });
                assert!(ends.counts().recoveries > 1, "{congestion:?}");
                let lags = timestamps && slow_start == SlowStart::Bytes;
                assert_eq!(ends.counts().timeouts, u64::from(lags), "{congestion:?}, {timestamps}, {slow_start:?}");
            }
        }
    }
}

#[test]
fn bbr_fills_the_link_with_little_queue() {
    // Without SACK, repairing what a short buffer lost takes a round trip per segment.
    let all = [(100, 1000), (100, 25), (100, 100), (40, 20)];
    for (recovery, buffers) in [(Recovery::Sack, &all[..]), (Recovery::NewReno, &all[..1]), (Recovery::Reno, &all[..1])]
    {
        for &(product, buffer) in buffers {
            let link = Link { from: Duration::from_secs(20), to: Duration::from_secs(60), ..link_of(product, buffer) };
            let mut ends = Ours::new(&settings(Congestion::Bbr, recovery));
            let used = utilisation(&watch(&mut ends, &link), &link);
            // Pacing at 0.99 of the rate, 0.2 s of each 10 s with four segments, and the losses of a short buffer.
            assert!(used > 0.95, "{recovery:?}, {product} + {buffer} packets: {used}");
            let longest = |from: f64, to: f64| {
                let within = ends.round_trips.iter().filter(|(at, _)| (from..to).contains(&at.as_secs_f64()));
                within.map(|(_, rtt)| rtt.as_secs_f64()).fold(0.0, f64::max)
            };
            // After the handshake ten segments become a product in log2(P / 10) round trips, which a sample shows in the next.
            // Then there are four of at most 2.89 products, until three had no growth. Of the queue of 1.89 products a part of
            // 1 - 1 / 2.89 leaves per round trip, and the last of it is measured a round trip later.
            let startup = 0.1 * (3.0 + (product as f64 / 10.0).log2() + 4.0 * 2.89 + 1.89 / (1.0 - 1.0 / 2.89));
            let (at_first, later) = (longest(0.0, startup), longest(startup, 60.0));
            let name = format!("{recovery:?}, {product} + {buffer} packets, {startup} s");
            assert!(at_first < 0.3 && later < 0.21, "{name}: {at_first} s, then {later} s");
        }
    }
}

#[test]
fn bbr_does_not_mind_random_losses() {
    let mut ends = Ours::new(&settings(Congestion::Bbr, Recovery::Sack));
    let link = Link {
        lost: Lost::Random(0.01),
        from: Duration::from_secs(20),
        to: Duration::from_secs(60),
        ..link_of(100, 100)
    };
    let used = utilisation(&watch(&mut ends, &link), &link);
    assert!(used > 0.94 && ends.counts().timeouts == 0, "{used}");
}

#[test]
fn bbr_paces() {
    let steps = Settings { congestion: Congestion::Bbr, ..plain(Recovery::Sack, 4) };
    trace(steps, None)(&[
        // 2.89 windows of four segments per round trip of 100 ms: 8.65 ms per segment.
        ("syn-ack", "0 deadline=8.650519"),
        ("timer", "1 deadline=8.650519"),
        ("timer", "2"),
        ("timer", "3 cwnd=4"),
        ("timer", ""),
        // Two of them fit, and the second is not due yet.
        ("ack 2", "4 cwnd=6"),
        ("timer", "5"),
        ("timer", "6"),
        ("ack 2 sack 3 window 0", ""),
    ]);
}
