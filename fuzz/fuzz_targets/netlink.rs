//! Reading what the kernel tells over netlink and in mac80211's files never panics, whatever the bytes, and comes to an end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use linux::kernel::{nl80211, rtnetlink};
use linux::telemetry::stations;

fuzz_target!(|bytes: &[u8]| {
    let (links, qdiscs) = rtnetlink::told(bytes);
    // Each has a header of 16 bytes at least.
    assert!((links.len() + qdiscs.len()) * 16 <= bytes.len());
    let _ = nl80211::told(bytes);
    let _ = stations::read(&String::from_utf8_lossy(bytes));
});
