//! The library as its callers use it: from C, Python, Go and Node, with valid and with random arguments.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

mod callers;
mod header;
