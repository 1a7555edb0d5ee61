//! The integration tests of crate `theory`: one binary, so that its dependencies are linked once.

mod alt;
mod ampdu;
mod closed_network;
mod contention;
mod dcf;
mod dnb;
mod draws;
mod edca;
mod edca_slots;
mod hidden;
mod malone;
mod swan;
mod tmac;
