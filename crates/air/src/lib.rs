//! The air as a C library: `libsluice`.
//!
//! It wraps [`emulate::Medium`] in functions that C, and programs that can call C, can call. This crate has only the
//! border, its checks and a caller's data: no model, no clock, and no global except the last error of a thread.
//! `include/sluice.h` is made from this file. Only `border` turns raw pointers into values.

#![expect(unsafe_code, reason = "C's callers give raw pointers, and find functions by their names")]
#![expect(clippy::missing_safety_doc, reason = "callers read the header, whose head says what they promise")]
#![expect(clippy::doc_markdown, reason = "the comments are those of the header")]
#![deny(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block, unsafe_op_in_unsafe_fn)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::print_stdout, clippy::print_stderr)]

mod border;

use border::{Refused, bytes, c_text, guarded, on, texts};
use emulate::{Medium, NotLoaded, NotSent};
use std::ffi::{CString, c_char};
use std::ptr;
use std::time::Duration;

/// Version of this interface: `sluice_open` checks that the header and the library have the same version.
pub const SLUICE_VERSION: u32 = 1;

/// No time: nothing more happens, or an error occurred.
pub const SLUICE_NEVER: u64 = u64::MAX;

/// A network that takes packets at its real nodes and returns them at their destinations.
pub struct Air {
    /// `None` after a panic within a call: the network's state can no longer be used.
    medium: Option<Box<Medium>>,
    nodes: Vec<Node>,
    /// The bytes of the last delivery, which a caller may read.
    arrived: Vec<u8>,
}

/// A real node as callers see it.
#[derive(Debug)]
struct Node {
    name: CString,
    /// IPv4 and IPv6 address.
    addresses: [CString; 2],
}

/// A packet that has arrived. Its texts and bytes are valid until the next poll or until its air is closed.
#[repr(C)]
#[derive(Debug)]
pub struct Delivery {
    /// Time at which the packet arrived.
    pub at_ns: u64,
    /// Time at which the packet was pushed.
    pub sent_ns: u64,
    /// Name of the node at which the packet was pushed.
    pub from: *const c_char,
    /// Name of the node at which the packet arrived.
    pub to: *const c_char,
    /// Its payload; for an IP packet, the whole packet.
    pub bytes: *const u8,
    /// Number of these bytes.
    pub length: usize,
    /// DSCP (upper six bits) and ECN field (lower two bits), which is 3 if a queue marked the packet.
    pub tos: u8,
    /// Number of nodes that the packet passed, access points not counted.
    pub routers: u8,
}

/// Returns the version of the library's interface.
#[unsafe(no_mangle)]
pub extern "C" fn sluice_version() -> u32 {
    SLUICE_VERSION
}

/// Opens a scenario: a file, or the id of a built-in one such as "home". `version` is SLUICE_VERSION. `settings` has
/// keys as for `sluice run --set`, one per line ("duration = 20 s"), or is NULL. Returns NULL on an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_open(
    version: u32,
    scenario: *const c_char,
    seed: u64,
    settings: *const c_char,
) -> *mut Air {
    // SAFETY: the caller's promise, in the header.
    unsafe { opened(version, [scenario, settings], |scenario, set| Medium::open(scenario, seed, set)) }
}

/// As sluice_open, but from a scenario's text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_open_text(
    version: u32,
    scenario: *const c_char,
    seed: u64,
    settings: *const c_char,
) -> *mut Air {
    let read = |text: &str, set: &[&str]| Medium::read("scenario", text, seed, set);
    // SAFETY: the caller's promise, in the header.
    unsafe { opened(version, [scenario, settings], read) }
}

/// Closes an air. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_close(air: *mut Air) {
    // SAFETY: the caller's promise, in the header.
    guarded((), || unsafe { border::taken(air) }.map(drop));
}

/// Returns the number of the real nodes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_nodes(air: *mut Air) -> usize {
    // SAFETY: the caller's promise, in the header.
    unsafe { on(air, 0, |air| Ok(air.nodes.len())) }
}

/// Returns the name of a real node; `place` is its index in the scenario's order, from 0. NULL if there is no such
/// node. The name is valid until the air is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_node(air: *mut Air, place: usize) -> *const c_char {
    // SAFETY: the caller's promise, in the header.
    unsafe { on(air, ptr::null(), |air| Ok(air.node(place)?.name.as_ptr())) }
}

/// Returns a real node's address of IP version 4 or 6, which sluice_send_packet uses. NULL on an error. The address is
/// valid until the air is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_address(air: *mut Air, place: usize, version: u32) -> *const c_char {
    let address = |air: &mut Air| match (version, &air.node(place)?.addresses) {
        (4, [four, _]) => Ok(four.as_ptr()),
        (6, [_, six]) => Ok(six.as_ptr()),
        _ => Err(format!("the IP version is {version}: expected 4 or 6")),
    };
    // SAFETY: the caller's promise, in the header.
    unsafe { on(air, ptr::null(), address) }
}

/// Pushes a UDP datagram with this payload at the node `from` for the node `to`, or "broadcast"; on the air it has
/// headers of UDP and IPv4. `tos`: DSCP (upper six bits) and ECN field. The network is simulated up to `now_ns`, which is not before
/// sluice_now(); what arrives until then waits for a poll. A full queue is no error: the packet is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_send(
    air: *mut Air,
    now_ns: u64,
    from: *const c_char,
    to: *const c_char,
    payload: *const u8,
    length: usize,
    tos: u8,
) -> i32 {
    let send = |air: &mut Air| {
        // SAFETY: the caller's promise, in the header.
        let [from, to] = unsafe { texts([(from, "from"), (to, "to")]) }?;
        // SAFETY: the caller's promise, in the header.
        let payload = unsafe { bytes(payload, length) }?;
        air.push(|medium| medium.send(Duration::from_nanos(now_ns), from, to, payload, tos))
    };
    // SAFETY: the caller's promise, in the header.
    unsafe { on(air, -1, send) }
}

/// Pushes an IP packet at the node `from`. It goes to the real node with its destination address, or for multicast and
/// broadcast to all real nodes. It waits in the queue for its DSCP and flow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_send_packet(
    air: *mut Air,
    now_ns: u64,
    from: *const c_char,
    packet: *const u8,
    length: usize,
) -> i32 {
    let send = |air: &mut Air| {
        // SAFETY: the caller's promise, in the header.
        let [from] = unsafe { texts([(from, "from")]) }?;
        // SAFETY: the caller's promise, in the header.
        let packet = unsafe { bytes(packet, length) }?;
        air.push(|medium| medium.send_packet(Duration::from_nanos(now_ns), from, packet))
    };
    // SAFETY: the caller's promise, in the header.
    unsafe { on(air, -1, send) }
}

/// Returns 1 with the first packet that arrives up to `until_ns` and was not polled yet, or 0 without one. The network
/// is simulated only up to that arrival, so that an answer leaves at that time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_poll(air: *mut Air, until_ns: u64, delivery: *mut Delivery) -> i32 {
    // SAFETY: the caller's promise, in the header.
    unsafe { polled(air, until_ns, delivery, Some) }
}

/// As sluice_poll, for packets of sluice_send_packet. They come as they arrive: with their ECN field, and with their
/// TTL less the number of routers that they passed. Packets whose TTL ran out are left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_poll_packet(air: *mut Air, until_ns: u64, delivery: *mut Delivery) -> i32 {
    let carried = |delivery: emulate::Delivery| {
        let bytes = delivery.clone().into_packet()?;
        Some(emulate::Delivery { bytes, ..delivery })
    };
    // SAFETY: the caller's promise, in the header.
    unsafe { polled(air, until_ns, delivery, carried) }
}

/// Returns the time up to which the network has been simulated; SLUICE_NEVER on an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_now(air: *mut Air) -> u64 {
    // SAFETY: the caller's promise, in the header.
    unsafe { on(air, SLUICE_NEVER, |air| air.with(|medium| nanoseconds(medium.now()))) }
}

/// Returns the time of the next poll. Nothing arrives before it unless something is pushed. SLUICE_NEVER after the end
/// of the run, or on an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_next(air: *mut Air) -> u64 {
    let next = |medium: &mut Medium| medium.next_event().map_or(SLUICE_NEVER, nanoseconds);
    // SAFETY: the caller's promise, in the header.
    unsafe { on(air, SLUICE_NEVER, |air| air.with(next)) }
}

/// Returns the end of the run, the scenario's `duration`; SLUICE_NEVER on an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sluice_end(air: *mut Air) -> u64 {
    // SAFETY: the caller's promise, in the header.
    unsafe { on(air, SLUICE_NEVER, |air| air.with(|medium| nanoseconds(medium.end()))) }
}

/// Returns this thread's last error as a sentence; empty if there was none. Valid until the thread's next error.
#[unsafe(no_mangle)]
pub extern "C" fn sluice_error() -> *const c_char {
    border::last_error()
}

impl Air {
    fn new(medium: Medium) -> Result<Self, Refused> {
        let node = |name: &str| {
            let [four, six] = medium.addresses(name).ok_or("a real node has addresses")?;
            let addresses = [c_text(&four.to_string())?, c_text(&six.to_string())?];
            Ok(Node { name: c_text(name)?, addresses })
        };
        let nodes: Result<Vec<Node>, Refused> = medium.nodes().map(node).collect();
        Ok(Self { nodes: nodes?, medium: Some(Box::new(medium)), arrived: Vec::new() })
    }

    fn node(&self, place: usize) -> Result<&Node, Refused> {
        let count = self.nodes.len();
        self.nodes.get(place).ok_or_else(|| format!("no real node {place}: {count} nodes, numbered from 0"))
    }

    /// Calls the network. A panic in the call ends the air.
    fn with<T>(&mut self, call: impl FnOnce(&mut Medium) -> T) -> Result<T, Refused> {
        let mut medium = self.medium.take().ok_or("a fault has ended this air")?;
        let given = call(&mut medium);
        self.medium = Some(medium);
        Ok(given)
    }

    fn push(&mut self, send: impl FnOnce(&mut Medium) -> Result<(), NotSent>) -> Result<i32, Refused> {
        self.with(send)?.map(|()| 0).map_err(|refusal| refusal.to_string())
    }

    /// Returns the name of a real node, for C.
    fn name(&self, name: &str) -> *const c_char {
        let found = self.nodes.iter().find(|node| node.name.as_bytes() == name.as_bytes());
        found.map_or(ptr::null(), |node| node.name.as_ptr())
    }
}

/// Opens an air with a scenario and settings.
///
/// # Safety
/// Texts are NULL, or they end with a zero byte.
unsafe fn opened(
    version: u32,
    [scenario, settings]: [*const c_char; 2],
    open: impl FnOnce(&str, &[&str]) -> Result<Medium, NotLoaded>,
) -> *mut Air {
    guarded(ptr::null_mut(), || {
        if version != SLUICE_VERSION {
            return Err(format!("libsluice has interface version {SLUICE_VERSION}, but its caller has {version}"));
        }
        let settings = if settings.is_null() { c"".as_ptr() } else { settings };
        // SAFETY: the caller's promise.
        let [scenario, settings] = unsafe { texts([(scenario, "scenario"), (settings, "settings")]) }?;
        let set: Vec<&str> = settings.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let medium = open(scenario, &set).map_err(|error| error.to_string())?;
        Ok(Box::into_raw(Box::new(Air::new(medium)?)))
    })
}

/// Polls until there is a delivery that `carried` accepts.
///
/// # Safety
/// `air` is as for `on`; `delivery` is NULL, or it can be written to.
unsafe fn polled(
    air: *mut Air,
    until_ns: u64,
    delivery: *mut Delivery,
    carried: impl Fn(emulate::Delivery) -> Option<emulate::Delivery>,
) -> i32 {
    let until = Duration::from_nanos(until_ns);
    let poll = |air: &mut Air| {
        // SAFETY: the caller's promise.
        let place = unsafe { border::place(delivery) }?;
        let found = air.with(|medium| std::iter::from_fn(|| medium.poll(until)).find_map(carried))?;
        let Some(emulate::Delivery { at, sent, from, to, bytes, tos, routers }) = found else { return Ok(0) };
        air.arrived = bytes;
        let (from, to) = (air.name(&from), air.name(&to));
        let (bytes, length) = (air.arrived.as_ptr(), air.arrived.len());
        let (at_ns, sent_ns) = (nanoseconds(at), nanoseconds(sent));
        place.write(Delivery { at_ns, sent_ns, from, to, bytes, length, tos, routers });
        Ok(1)
    };
    // SAFETY: the caller's promise.
    unsafe { on(air, -1, poll) }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(SLUICE_NEVER)
}
