//! The integration tests of crate `queue`: one binary, so that its dependencies are linked once.

mod ahead;
mod biased;
mod disciplines;
mod dualpi2;
mod fifo;
mod measures;
mod piece;
mod settings;
mod turns;
mod turns_queue;
