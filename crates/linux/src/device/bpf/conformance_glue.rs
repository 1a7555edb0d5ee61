//! The code between the kernel's packets and the law, on the same artificial packets as in Rust: which station gets a
//! packet. For the accounting of large packets and drops see `tests/guest/glue.rs`.

use super::conformance::draw;
use super::shared::{STATIONS, Station};
use super::stations::{name, places};
use libbpf_rs::{MapCore, MapFlags, ObjectBuilder, ProgramInput};
use std::collections::BTreeMap;

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/turns_conformance.bpf.o"));
/// Access categories of DSCP 0, 46, 34 and 8.
const LANES: [(u8, u32); 4] = [(0, 2), (46, 0), (34, 1), (8, 3)];

/// Makes a table of stations as an agent does, and the entry of each station; a station without an entry is left out.
fn table(key: u64, addresses: &[[u8; 6]]) -> (Vec<u8>, BTreeMap<[u8; 6], u32>) {
    let mut stations = vec![Station::default(); usize::try_from(STATIONS).unwrap()];
    stations[0].address = key;
    let mut known = BTreeMap::new();
    for address in addresses {
        if let Some(place) = places(key, name(*address)).find(|place| stations[*place].address == 0) {
            stations[place].address = name(*address);
            known.insert(*address, u32::try_from(place).unwrap());
        }
    }
    (stations.into_iter().flat_map(Station::to_bytes).collect(), known)
}

#[test]
fn a_packet_is_of_the_port_that_its_receiver_and_its_code_point_say() {
    let open = ObjectBuilder::default().open_memory(PROGRAM).unwrap();
    let object = match open.load() {
        Ok(object) => object,
        Err(_) if !rustix::process::geteuid().is_root() => {
            eprintln!("skipped: to load a program into the kernel needs CAP_BPF");
            return;
        }
        Err(error) => panic!("{error:#}"),
    };
    let program = object.progs_mut().find(|program| program.name() == "port").unwrap();
    let map = object.maps().find(|map| map.name() == "stations").unwrap();
    let mut random = 20_261_128;
    for _ in 0..20 {
        let key = draw(&mut random, 1 << 63) | 1 << 63 | 1;
        let group = [0xff; 6];
        let mut addresses = vec![group];
        // The addresses include pairs that differ in one byte.
        addresses.extend((0..80_u8).map(|number| match number {
            0..6 => {
                let mut near = [2, 0, 0, 0, 0, 0];
                near[usize::from(number)] ^= 4;
                near
            }
            _ => [2, 0, number, 0, 0, number],
        }));
        let (bytes, known) = table(key, &addresses);
        let bytes: Vec<u8> = bytes.into_iter().cycle().take(map.value_size() as usize).collect();
        map.update(&0_u32.to_ne_bytes(), &bytes, MapFlags::ANY).unwrap();
        assert!(known.len() > 40 && known.len() < addresses.len(), "{}", known.len());
        // All groups are one receiver. A receiver without an entry counts as station 0.
        let groups = [[1, 0, 0x5e, 0, 0, 1], [0x33, 0x33, 0, 0, 0, 1]].map(|address| (address, known[&group]));
        let of = |address: &[u8; 6]| (*address, known.get(address).copied().unwrap_or(0));
        for (address, station) in addresses.iter().map(of).chain(groups).chain([([2, 9, 9, 9, 9, 9], 0)]) {
            for (dscp, lane) in LANES {
                let mut frame = vec![3; 60];
                frame[..6].copy_from_slice(&address);
                frame[12..16].copy_from_slice(&[8, 0, 0x45, dscp << 2]);
                let input = ProgramInput { data_in: Some(&frame), ..ProgramInput::default() };
                let port = program.test_run(input).unwrap().return_value;
                let lane = if address[0] & 1 == 0 || station == 0 { lane } else { 2 };
                assert_eq!(port, station * 4 + lane, "{address:x?}, DSCP {dscp}");
            }
        }
    }
}
