//! Maps of the discipline: their names and sizes, and how the agent reads them.

use super::mechanism::room;
use super::shared::{FIRST_MAJOR, MOST_QUEUES, Measured};
use crate::error::{Error, Unfit};
use control::Limit;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::io;

/// Kind of the discipline, as in `tc qdisc`.
pub(super) const KIND: &str = "sluice";
/// Major number in the handle of the first queue.
#[expect(clippy::cast_possible_truncation, reason = "a major number has 16 bits")]
pub(super) const FIRST: u32 = FIRST_MAJOR as u32;
#[expect(clippy::cast_possible_truncation, reason = "there are 16")]
pub(super) const QUEUES: u32 = MOST_QUEUES as u32;
/// Number of elements in each map: each queue has a second element for real time, see `shared.h`.
pub(super) const ELEMENTS: u32 = QUEUES * 2;
/// Largest number of entries in the ring of each element; the maps then take 50 MB.
const MOST_PLACES: u32 = 1 << 16;
const FEWEST_PLACES: u32 = 1 << 10;
pub(super) const LINK: &str = "link";
pub(super) const SETTINGS: &str = "settings";
pub(super) const MEASURED: &str = "measured";
pub(super) const RING: &str = "ring";
pub(super) const STATIONS_MAP: &str = "stations";
/// Tables of the packets below the queue; they are variables of the BPF programs.
pub(super) const BELOW: &str = "below";
/// Maps that stay when the agent ends.
pub(super) const SHARED: [&str; 5] = [SETTINGS, MEASURED, RING, STATIONS_MAP, BELOW];

/// Returns the name under which a map is kept: without the dots of a variables' map, which the kernel forbids there.
pub(super) fn kept_as(map: &str) -> &str {
    map.strip_prefix(".bss.").unwrap_or(map)
}

/// Returns the number of entries that a ring needs for this hard limit: a power of two.
pub(super) fn places(most: Limit) -> Result<u32, Error> {
    let packets = match most {
        Limit::Packets(packets) => packets,
        Limit::Bytes(bytes) => room(bytes),
    };
    match packets.max(FEWEST_PLACES).checked_next_power_of_two() {
        Some(places) if places <= MOST_PLACES => Ok(places),
        _ => Err(Unfit::Room { room: MOST_PLACES, limit: most }.into()),
    }
}

/// Reads the counters until two successive readings are equal, so that no packet has changed them meanwhile.
pub(super) fn read_measured(map: &MapHandle, number: u32) -> Result<Measured, Error> {
    let read = || {
        let bytes = map.lookup(&number.to_ne_bytes(), MapFlags::ANY).map_err(|error| refused("read", &error));
        bytes.map(|bytes| bytes.as_deref().and_then(Measured::from_bytes).unwrap_or_default())
    };
    let mut last = read()?;
    for _ in 0..16 {
        let next = read()?;
        if next == last {
            break;
        }
        last = next;
    }
    Ok(last)
}

/// Returns the error of a removal; if nothing was there to remove, that is no error.
pub(super) fn removed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes an error from libbpf's: `what` says what was done to the discipline.
pub(super) fn refused(what: &str, error: &libbpf_rs::Error) -> Error {
    let what = format!("{what} the queue discipline");
    match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => Error::NotPermitted { what, needs: "CAP_BPF and CAP_PERFMON" },
        _ => Error::Kernel { what, source: io::Error::other(format!("{error:#}")) },
    }
}
