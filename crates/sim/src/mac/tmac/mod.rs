//! T-MAC: stations that hear each other send in order of the age of their packets, as in Lamport's mutual exclusion.
//!
//! Source: a reconstruction (`docs/tmac.md`) from abstracts: the papers' frames, time-outs and rules for
//! losses were not available. Rule by rule:
//!
//! | rule | what | where |
//! |---|---|---|
//! | R1 | a packet's key is when its first node made it; a node sends its oldest | `keys`, discipline `oldest-first` |
//! | R2 | before data a request with the key, for a list of neighbours | `request` |
//! | R3 | who has nothing older grants, in the order of the list; who has stays silent | `request` |
//! | R4 | data follow the receiver's grant and a quorum; else a wait for a younger key, or for a time | `request` |
//! | R5 | data and acknowledgements tell the sender's next key | `keys` |
//! | R6 | what was heard expires | `keys` |
//! | R7 | after some refused requests plain DCF | `request` |
//!
//! The variant "table" has only R1, R5 and R6: a station defers by its rank among the keys that it has heard. With
//! requests a station defers in the same way before it asks.
//!
//! The host gives a station the key of the oldest packet of its node, and the keys in other stations' frames. All nodes
//! have the same clock here, so that Lamport's correction of clocks has no effect.

mod keys;
mod request;
mod state;

pub(crate) use keys::{KEY, Key, Sign, Tells};
pub(super) use request::slots;
pub(crate) use state::{TmacRules, TmacState};
