//! Closed forms and solvers that the simulator is held to: the saturated 802.11 cell ([`dcf`]), also with
//! aggregates ([`ampdu`]) and with access categories ([`edca`]), the cell of different and unsaturated stations
//! ([`malone`]), two hidden senders ([`hidden`]), the classical single-server queues ([`queueing`]), the buffer that ALT
//! sizes under TCP ([`alt`]), SWAN's real-time devices beside best effort ([`swan`]), and which losses a receiver that knows of
//! discard priorities holds for congestion ([`bqm`]).
//!
//! Here live models that a reader can hold beside their source, equation by equation. Nothing here simulates, draws
//! random numbers or reads a scenario: the simulator must be able to differ from it. Arithmetic goes through `libm`, so
//! that a predicted value is the same on every machine.

pub mod alt;
pub mod ampdu;
pub mod bqm;
pub mod dcf;
pub mod edca;
mod error;
mod fixed_point;
pub mod hidden;
pub mod malone;
pub mod queueing;
mod slot;
pub mod swan;

pub use error::Error;
