//! A link whose rate steps from 10 to 1 and then to 5 Mb/s while it is offered 16 Mb/s.
//!
//! The bounds follow from the algorithm and from the link; they were set before anything was measured.
//!
//! - A queue of `limit` packets takes `limit * packet / rate` to leave. Without a controller that is 8 s at 1 Mb/s.
//! - Below the queue the terminal holds up to 12 KiB: 98 ms at 1 Mb/s.
//! - The link takes packets from the queue in chunks of up to 4 KiB. ADTH estimates from the bytes sent in an interval,
//!   which may include one chunk more than the rate gives: by that part a single packet may exceed the target. The mean
//!   may not.
//! - ADTH knows the new rate after the first interval that lies entirely behind the step: two intervals at most. A
//!   packet that comes then is in time. One that came before leaves within the new limit's time.

use super::governor::Governor;
use super::overload::{LEN, OFFERED_EVERY, offer};
use super::slow_link::{BELOW_THE_QUEUE, CHUNK, SlowLink};
use super::{MECHANISM, load, now, pause_until};
use control::{Limit, Name, Parameters, adth};
use units::{Duration, Instant, Positive};

/// Bytes per second, and duration.
const PHASES: [(u64, Duration); 3] = [
    (1_250_000, Duration::from_secs(3)),
    // A packet that comes at the step waits for 1000 others if nothing governs.
    (125_000, Duration::from_secs(10)),
    (625_000, Duration::from_secs(3)),
];
const WARM_UP: Duration = Duration::from_secs(1);
const TARGET: Duration = Duration::from_millis(100);
/// ADTH's default interval, and the largest delay of its calls by the test, which looks before it sends.
const INTERVAL: Duration = Duration::from_millis(50);
/// With the two bytes that end it on the link.
const WIRE: u64 = LEN as u64 + 2;

struct Outcome {
    /// Start of each phase, and end of the last one.
    at: [Instant; 4],
    /// Send time and delay of each packet.
    delays: Vec<(Instant, Duration)>,
    received: u64,
}

impl Outcome {
    /// Packets sent between two times.
    fn between(&self, from: Instant, to: Instant) -> impl Iterator<Item = (Instant, Duration)> {
        self.delays.iter().copied().filter(move |(sent, _)| (from..to).contains(sent))
    }

    fn mean(&self, from: Instant, to: Instant) -> Duration {
        let (n, sum) = self.between(from, to).fold((0, Duration::ZERO), |(n, sum), (_, delay)| (n + 1, sum + delay));
        assert!(n > 0, "nothing came of what was sent from {from:?} to {to:?}");
        sum / n
    }

    fn most(&self, from: Instant, to: Instant) -> Duration {
        self.between(from, to).map(|(_, delay)| delay).max().unwrap_or_default()
    }

    /// Time after the start of a phase at which the last packet came with a longer delay, whenever it was sent.
    fn late_until(&self, phase: usize, bound: Duration) -> Duration {
        let [from, to] = [self.at[phase], self.at[phase + 1]];
        let came = |(sent, delay): (Instant, Duration)| sent + delay;
        let late = self.between(self.at[0], to).filter(|(_, delay)| *delay > bound).map(came).max();
        late.map_or(Duration::ZERO, |last| last.since(from.min(last)))
    }

    /// Time after the start of a phase at which the last packet with a longer delay was sent.
    fn late_for(&self, phase: usize, bound: Duration) -> Duration {
        let [from, to] = [self.at[phase], self.at[phase + 1]];
        self.between(from, to)
            .filter(|(_, delay)| *delay > bound)
            .last()
            .map_or(Duration::ZERO, |(sent, _)| sent.since(from))
    }
}

fn run(name: Name, parameters: &Parameters) -> Outcome {
    let discipline = load();
    let link = SlowLink::new(PHASES[0].0);
    let mut governor = Governor::new(&discipline, name, parameters, "sl0");
    let mut at = [now(); 4];
    for (phase, (rate, length)) in PHASES.into_iter().enumerate() {
        link.set_rate(rate);
        at[phase + 1] = at[phase] + length;
        offer(at[phase + 1], || {
            governor.turn();
        });
    }
    // What waits leaves first.
    pause_until(now() + Duration::from_secs(2));
    let seen = governor.seen();
    assert_eq!(seen.arrived.packets, seen.sent.packets + seen.dropped.packets);
    let received = link.end();
    assert_eq!(received.packets, seen.sent.packets);
    discipline.unload().unwrap();
    Outcome { at, delays: received.delays, received: received.packets }
}

fn time_of(bytes: u64, rate: u64) -> Duration {
    Duration::from_nanos(bytes * 1_000_000_000 / rate)
}

/// Contents of the terminal, and the packet itself.
fn below(phase: usize) -> Duration {
    time_of(BELOW_THE_QUEUE + WIRE, PHASES[phase].0)
}

/// Longest wait of a packet under a limit from one interval at the rate of a phase.
fn longest(phase: usize) -> Duration {
    TARGET + time_of(TARGET.as_nanos() * CHUNK / INTERVAL.as_nanos(), PHASES[phase].0)
}

fn show(outcome: &Outcome, name: &str) {
    let ms = |span: Duration| format!("{:.1}", span.as_secs_f64() * 1e3);
    let [start, down, up, end] = outcome.at;
    println!("{name}: {} packets received; delays in ms", outcome.received);
    println!("  10 Mb/s: mean {}, most {}", ms(outcome.mean(start + WARM_UP, down)), ms(outcome.most(start, down)));
    for (phase, rate, from, to) in [(1, 1, down, up), (2, 5, up, end)] {
        let settled = from + INTERVAL * 4;
        let (late, most) = (outcome.late_for(phase, longest(phase) + below(phase)), outcome.most(from, to));
        let (settled_mean, settled_most) = (outcome.mean(settled, to), outcome.most(settled, to));
        println!(
            "  {rate} Mb/s: most {}; late for {}; above the target until {}; from 200 ms on mean {}, most {}",
            ms(most),
            ms(late),
            ms(outcome.late_until(phase, TARGET + below(phase))),
            ms(settled_mean),
            ms(settled_most)
        );
    }
}

/// The link never waits for packets: it has carried all but one in a hundred of what it could, for bytes that SLIP
/// writes as two and for the first packets.
fn is_used(outcome: &Outcome) {
    let carried: u64 = PHASES.iter().map(|(rate, length)| rate * length.as_nanos() / 1_000_000_000 / WIRE).sum();
    assert!(outcome.received * 100 >= carried * 99, "{} of {carried}", outcome.received);
}

#[test]
#[ignore = "needs the guest"]
fn adth_keeps_its_target_when_the_rate_steps_down_and_up() {
    let target_delay = Positive::<Duration>::new(TARGET).expect("a target above zero");
    let params = adth::Params { target_delay, ..adth::Params::default() };
    let outcome = run(Name::Adth, &Parameters { adth: Some(params), ..Parameters::default() });
    show(&outcome, "adth, 100 ms");
    let [start, down, up, end] = outcome.at;
    let turn = INTERVAL + OFFERED_EVERY;
    is_used(&outcome);

    assert!(outcome.mean(start + WARM_UP, down) <= TARGET + below(0));
    let peak = longest(0) + turn * 2 + longest(1) + below(1);
    assert!(outcome.most(start + WARM_UP, down + turn * 2) <= peak, "{peak:?}");
    assert!(outcome.late_for(1, longest(1) + below(1)) <= turn * 2);
    // Packets from before the fall of the limit are gone when the link has carried what the limit allows.
    assert!(outcome.late_until(1, longest(1) + below(1)) <= turn * 2 + longest(1) + below(1));
    assert!(outcome.mean(down + turn * 2, up) <= TARGET + below(1));
    // Waiting packets leave faster after the step up, and a larger rate gives a larger limit.
    assert!(outcome.late_for(2, longest(1) + below(1)).is_zero());
    assert!(outcome.late_for(2, longest(2) + below(2)) <= turn * 2);
    assert!(outcome.mean(up + turn * 2, end) <= TARGET + below(2));
}

#[test]
#[ignore = "needs the guest"]
fn without_a_controller_a_step_down_multiplies_the_delay() {
    let outcome = run(Name::None, &Parameters::default());
    show(&outcome, "none");
    let [_, down, up, _] = outcome.at;
    let Limit::Packets(limit) = MECHANISM.hard else { unreachable!("the tests' limits are packets") };
    is_used(&outcome);
    let full = time_of(u64::from(limit) * WIRE, PHASES[1].0);
    let most = outcome.most(down, up);
    assert!(most >= full * 9 / 10, "{most:?}");
    // Half a percent for bytes that SLIP writes as two.
    assert!(most <= full + full / 200 + below(1), "{most:?}");
}
