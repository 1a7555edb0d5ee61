//! The integration tests of crate `lab`: one binary, so that its dependencies are linked once.

mod parser;
mod recorded;
mod standalone;
