//! Reading a recording never panics, whatever the bytes, and what it is read as can be run.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sim::World;
use sim::config::Network;

const NETWORK: &str = "duration = \"100 ms\"\n\
    [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"5 m\"\n[queue]\nlimit = 10\n\
    [[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n1\"\ntraffic = { kind = \"replay\", file = \"fuzz.pcap\" }\n";

fuzz_target!(|bytes: &[u8]| {
    let mut network: Network = toml::from_str(NETWORK).expect("it is fixed");
    for (_, file) in network.attachments() {
        file.attach(bytes.into());
    }
    match World::new(&network, 1) {
        Ok(world) => assert!(world.finish().flows[0].sent_packets > 0),
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
});
