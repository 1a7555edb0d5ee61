//! Event handlers, layer by layer: a source's packet goes down by `sources`, `routing`, `handover`, `station` and
//! `air`, and up again by `aggregate`, `delivery` and `transport`. Flows that ask for admission go by `admission`
//! besides, and `energy` is told where joules are counted.

mod admission;
mod aggregate;
mod air;
mod delivery;
mod energy;
mod handover;
mod measured;
mod notes;
mod routing;
mod sources;
mod station;
mod statistics;
mod steering;
mod transport;
mod turns;
mod wired;

pub(crate) use admission::MESSAGE;
