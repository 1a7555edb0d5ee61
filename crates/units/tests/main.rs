//! The integration tests of crate `units`: one binary, so that its dependencies are linked once.

mod bounds;
mod text;
