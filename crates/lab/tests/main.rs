//! The integration tests of crate `lab`: one binary, so that its dependencies are linked once.

mod baseline;
mod forecasts;
mod kept;
mod recorded;
mod standalone;
