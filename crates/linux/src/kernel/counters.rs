//! What the kernel counts of a queue, whatever holds it.

/// What a discipline counts. All but the backlog only grow, and wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that left; each segment of a large one counts.
    pub sent_packets: u64,
    /// Their bytes with link headers.
    pub sent_bytes: u64,
    /// Packets discarded. Wraps at 32 bits.
    pub dropped: u32,
    /// Packets that wait; a large one counts once.
    pub backlog_packets: u32,
    /// Bytes that wait, with link headers.
    pub backlog_bytes: u32,
}
