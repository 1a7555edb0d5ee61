//! Crate `sim`'s test of fingerprints, for WebAssembly: the results have the same bytes there as on any other machine.
//! `make wasm` runs it with Node.

#[cfg(test)]
#[path = "../../crates/sim/tests/fingerprints.rs"]
mod fingerprints;
#[cfg(test)]
#[path = "../../crates/sim/tests/networks/mod.rs"]
mod networks;
