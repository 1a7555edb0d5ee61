//! The results of a few networks, to the last bit. A change of the model shows here first.
//!
//! For a network of `networks` and a seed, each line of `fingerprints.csv` has the number of events and the FNV-1a hash of the
//! outcome as JSON. A commit that changes a line says why; `make fingerprints` records all lines anew. All arithmetic is in
//! integers, or in IEEE doubles with functions of `libm`, so that the lines hold on every machine.

use crate::networks::{NETWORKS, network};
use sim::World;
use std::fmt::Write as _;

const RECORDED: &str = include_str!("fingerprints.csv");

/// Files that the networks name.
const FILES: [(&str, &[u8]); 2] = [
    ("walk.ns_movements", include_bytes!("networks/walk.ns_movements")),
    ("replay.pcap", include_bytes!("../../../scenarios/reference/replay.pcap")),
];

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn found() -> String {
    let mut found = "network,seed,events,fnv1a\n".to_owned();
    for (name, text) in NETWORKS {
        let mut network = network(text);
        for (key, attachment) in network.attachments() {
            let file = FILES.iter().find(|(file, _)| *file == attachment.path());
            attachment.attach(file.unwrap_or_else(|| panic!("{name}: no file of {key}")).1.into());
        }
        for seed in [1, 2] {
            let world = World::new(&network, seed).unwrap_or_else(|error| panic!("{name}: {error}"));
            let outcome = world.finish();
            assert!(outcome.flows.iter().any(|flow| flow.received_packets > 0), "{name} carries nothing");
            let json = serde_json::to_vec(&outcome).expect("an outcome has a JSON form");
            writeln!(found, "{name},{seed},{},{:016x}", outcome.events, fnv(&json)).expect("a string takes all");
        }
    }
    found
}

#[test]
fn results_are_what_they_were() {
    let found = found();
    if found != RECORDED {
        let changed: Vec<&str> = found.lines().filter(|line| !RECORDED.lines().any(|old| old == *line)).collect();
        panic!("these results changed; if they were meant to, `make fingerprints`:\n{}", changed.join("\n"));
    }
}

#[test]
#[ignore = "make fingerprints: writes the file"]
#[expect(clippy::disallowed_methods, reason = "it records the results")]
fn record() {
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fingerprints.csv"), found()).expect("a writable file");
}
