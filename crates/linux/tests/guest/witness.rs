//! Fate of every packet of two sockets, as `witness.bpf.c` sees it.

use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder};
use std::collections::BTreeMap;

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/witness.bpf.o"));
/// As in the program.
const REASONS: usize = 256;

pub(super) struct Witness {
    object: Object,
    _links: Vec<Link>,
}

impl Witness {
    pub(super) fn new() -> Self {
        let object = ObjectBuilder::default().open_memory(PROGRAM).unwrap().load().unwrap();
        let links = object.progs_mut().map(|program| program.attach().unwrap()).collect();
        Self { object, _links: links }
    }

    /// Packets of a socket that devices completed, and dropped ones by the kernel's number of the reason.
    pub(super) fn freed(&self, socket: usize) -> (u64, BTreeMap<usize, u64>) {
        let map = self.object.maps().find(|map| map.name() == "freed").unwrap();
        let count = |reason: usize| {
            let index = u32::try_from(socket * REASONS + reason).unwrap();
            let bytes = map.lookup(&index.to_ne_bytes(), MapFlags::ANY).unwrap().unwrap();
            u64::from_ne_bytes(bytes.try_into().unwrap())
        };
        let dropped = (1..REASONS).map(|reason| (reason, count(reason))).filter(|(_, count)| *count > 0);
        (count(0), dropped.collect())
    }
}

/// Number of times at which the kernel left its programs out, for any packet: it lets no BPF program interrupt itself.
pub(super) fn missed() -> u64 {
    let ours = ProgInfoIter::default().filter(|one| one.name == "consumed" || one.name == "dropped");
    ours.map(|one| one.recursion_misses).sum()
}
