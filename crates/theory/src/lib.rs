//! Closed forms and solvers that the simulator is held to: the saturated 802.11 cell ([`dcf`]) and the classical
//! single-server queues ([`queueing`]).
//!
//! Here live models that a reader can hold beside their source, equation by equation. Nothing here simulates, draws
//! random numbers or reads a scenario: the simulator must be able to differ from it. Arithmetic goes through `libm`, so
//! that a predicted value is the same on every machine.

pub mod dcf;
pub mod queueing;
