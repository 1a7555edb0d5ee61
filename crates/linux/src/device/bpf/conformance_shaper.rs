//! Drives the leaky bucket in C and in crate `queue` side by side, and requires equal times.

use super::conformance::{InKernel, START, STEPS, draw};
use super::mechanism::Mechanism;
use control::{Limit, Measures};
use queue::{End, Purge, Shaper};
use units::{Bytes, Duration, Instant, Rate};

const MECHANISM: Mechanism = Mechanism {
    hard: Limit::Packets(9),
    fallback: Limit::Packets(9),
    overflow: End::Tail,
    purge: Purge::Tail,
    burst: queue::LONGEST_PACKET,
};

/// Returns the number of compared steps; `None` if programs cannot be loaded.
fn drive(burst: Bytes, seed: u64) -> u32 {
    let Some(mut kernel) = InKernel::new(MECHANISM, Measures::default()) else { return 0 };
    kernel.settings.burst = burst.bits();
    kernel.write();
    let mut rust = Shaper::new(burst);
    let (mut state, mut now, mut waited) = (seed, START, 0);
    for step in 0..STEPS {
        now += Duration::from_nanos(draw(&mut state, 20_000_000));
        let ready_at = if draw(&mut state, 40) == 0 {
            // Rates from one bit per second to 100 Gb/s; zero: no rate.
            let digits = u32::try_from(draw(&mut state, 12)).unwrap();
            let rate = draw(&mut state, 10_u64.pow(digits));
            rust.set_rate(now, (rate > 0).then_some(Rate::bps(rate)));
            kernel.call([5, now.as_nanos(), 0, rate, 0, 0, 0, 0])[4]
        } else {
            // Some packets are large and split by the network card.
            let most = if draw(&mut state, 20) == 0 { 65_536 } else { 1_500 };
            let len = 1 + draw(&mut state, most);
            rust.leaves(now, Bytes::new(len));
            kernel.call([4, now.as_nanos(), len, 0, 0, 0, 0, 0])[4]
        };
        let ready_at = Instant::from_nanos(ready_at).max(now);
        assert_eq!(ready_at, rust.ready_at().max(now), "burst {burst}, seed {seed}, step {step}");
        waited += u32::from(ready_at > now);
    }
    assert!(waited > STEPS / 10, "{waited} packets had to wait");
    STEPS
}

#[test]
fn the_bucket_in_c_is_ready_when_that_in_rust_is() {
    let bursts = [0, 2_304, 100_000].map(Bytes::new);
    let compared: u32 = bursts.into_iter().zip(1..).map(|(burst, seed)| drive(burst, seed)).sum();
    if compared == 0 {
        eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
    } else {
        assert_eq!(compared, 3 * STEPS);
    }
}
