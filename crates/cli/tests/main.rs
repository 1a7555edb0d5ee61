//! The integration tests of crate `cli`: one binary, so that its dependencies are linked once.

#![expect(clippy::unwrap_used, reason = "all of this is tests")]

mod additions;
mod admission;
mod agent;
mod agent_keys;
mod attack;
mod bad_input;
mod ceilings;
mod claims;
mod command;
mod emulate;
mod first_steps;
mod governed_link;
mod governs;
mod interrupts;
mod live;
mod namespace;
mod observe;
mod outputs;
mod privileges;
mod recordings;
mod strangers;
mod sweep;
mod traces;
mod trial;
mod trials;
