//! Where a station is in an exchange.

/// Event that a station's own transmissions wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Access to the medium: for a packet, or to finish the back-off after the last one.
    Access,
    /// The end of a response (ACK, CTS or BlockAck) that it sends.
    Responding,
    /// The end of its own frame.
    Sending,
    /// CTS.
    AwaitCts,
    /// SIFS: after a CTS, or after an exchange in a TXOP that goes on.
    Cleared,
    /// ACK.
    AwaitAck,
    /// BlockAck.
    AwaitBlockAck,
    /// Answers of several stations to its trigger for data or the size of their queues.
    AwaitParts,
    /// Grants of T-MAC, until all that were asked have had their time.
    AwaitGrants,
}

/// How the data of an exchange were announced to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cleared {
    /// Not announced.
    No,
    /// By a CTS to self, or by an earlier frame of this TXOP.
    Yes,
    /// By RTS and CTS.
    ByRts,
}
