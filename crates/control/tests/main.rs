//! The integration tests of crate `control`: one binary, so that its dependencies are linked once.

mod add_a_controller;
mod every_controller;

// Where the example of `add_a_controller` looks for them: at the root of the crate that it stands in.
use control::{Controller, Count, Interval, Invalid, Limit, Needs, Orders, Period, Reads, Scheme, Seen, Sets, Site};
