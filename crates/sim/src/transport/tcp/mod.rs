//! TCP with data in one direction: two state machines that take segments and the time, and yield segments.
//!
//! A host calls [`Sender::receive`] or [`Sender::expire`] (at [`Sender::deadline`] or later), then [`Sender::next`]
//! until it yields none; the [`Receiver`] is used in the same way. Octets are only numbered, never stored.
//! `docs/tcp.md` says what is modelled and what is not.

pub(crate) mod bqm;
mod congestion;
mod delivery;
mod pacer;
mod rack;
mod ranges;
mod receiver;
mod recovery;
mod rto;
mod scoreboard;
mod segment;
mod sender;
mod settings;

pub(crate) use crate::config::{Congestion, FriendlyGrowth, Recovery, RecoveryEnd, RttSamples, SlowStart};
pub(crate) use delivery::Sample;
pub(crate) use pacer::Pace;
pub(crate) use receiver::Receiver;
pub(crate) use segment::{Block, Report, Sacks, Segment};
pub(crate) use sender::{Counts, Sender};
pub(crate) use settings::Settings;

#[cfg(test)]
mod tests;
