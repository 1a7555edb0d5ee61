//! The bare event queue, and whole runs of the networks that `make bench` also runs in ns-3.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim::World;
use sim::config::Network;
use sim::engine::EventQueue;
use std::hint::black_box;
use units::Instant;

/// Pops the earliest event and pushes a later one, with as many pending as a cell or a mesh has.
fn queue(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event queue, pop and push");
    for pending in [32, 256, 2_048] {
        let mut events = EventQueue::default();
        let mut random = 1_u64;
        // Gaps of 0 to 2^20 ns, about a millisecond, from a linear congruential generator (Knuth's MMIX constants).
        let mut gap = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random >> 44
        };
        for event in 0..pending {
            events.push(Instant::from_nanos(gap()), event);
        }
        group.throughput(Throughput::Elements(1));
        group.bench_function(pending.to_string(), |bencher| {
            bencher.iter(|| {
                let (now, event) = events.pop().expect("as many as were pushed");
                events.push(Instant::from_nanos(now.as_nanos() + gap()), black_box(event));
            });
        });
    }
    group.finish();
}

/// Eleven simulated seconds of a saturated cell, and the chain of ADTH's scenario 1(a).
fn network(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("network");
    group.sample_size(10);
    let cell = |stations: u32| {
        format!(
            "duration = \"11 s\"\n[radio]\npropagation = \"range\"\n\
             [nodes]\ncount = {}\nplacement = \"circle\"\nspacing = \"1 m\"\n\
             [[flow]]\nname = \"up\"\nfrom = \"*\"\nto = \"n0\"\n\
             traffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n",
            stations + 1
        )
    };
    let chain = "duration = \"100 s\"\n[radio]\nrange = \"30 m\"\n\
         [nodes]\ncount = 3\nplacement = \"chain\"\nspacing = \"30 m\"\n\
         [queue]\ndiscipline = \"drop-head\"\n\
         [[flow]]\nname = \"forward\"\nfrom = \"n0\"\nto = \"n2\"\n\
         traffic = { kind = \"cbr\", rate = \"1.8 Mb/s\", packet = \"1000 B\" }\n\
         [[flow]]\nname = \"backward\"\nfrom = \"n2\"\nto = \"n0\"\nstart = \"25 s\"\n\
         traffic = { kind = \"cbr\", rate = \"1.8 Mb/s\", packet = \"1000 B\" }\n";
    for (name, text) in
        [("cell of 10, 11 s", cell(10)), ("cell of 50, 11 s", cell(50)), ("chain, 100 s", chain.to_owned())]
    {
        let network: Network = toml::from_str(&text).expect("a valid description");
        group.bench_function(name, |bencher| {
            bencher.iter(|| World::new(black_box(&network), 1).expect("it can be built").finish());
        });
    }
    group.finish();
}

criterion_group!(benches, queue, network);
criterion_main!(benches);
