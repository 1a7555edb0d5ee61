//! T-MAC: stations that hear each other send in the order of their packets' age, as in Lamport's mutual exclusion.
//!
//! Source: a reconstruction (`docs/tmac.md`) from abstracts: the papers' frames, time-outs and rules for losses were
//! not available. The rules are:
//!
//! | rule | what | where |
//! |---|---|---|
//! | R1 | a packet's key is the time at which its first node made it; nodes send the oldest packet first | `keys` |
//! | R2 | before data a node sends a request with the key to a list of neighbours | `request` |
//! | R3 | neighbours without an older packet grant, in the list's order; those with one stay silent | `request` |
//! | R4 | data follow the receiver's grant and a quorum; else a wait for a younger key, or for a time | `request` |
//! | R5 | data and acknowledgements report the sender's next key | `keys` |
//! | R6 | a key that was heard expires | `keys` |
//! | R7 | after some refused requests the node uses plain DCF | `request` |
//!
//! The variant "table" has only R1, R5 and R6: a station defers for each older key that it has heard. With requests a
//! station defers in the same way before it sends a request.
//!
//! The host gives a station the key of its node's oldest packet, and the keys in other stations' frames. All nodes have
//! the same clock, so Lamport's correction of clocks would have no effect.

mod keys;
mod request;
mod state;

pub(crate) use keys::{KEY, Key, Sign, Tells};
pub(super) use request::slots;
pub(crate) use state::{TmacRules, TmacState};
