//! The integration tests of crate `experiment`: one binary, so that its dependencies are linked once.

mod every_key;
mod fingerprinted;
#[path = "../../sim/tests/networks/all.rs"]
mod networks;
mod parser;
