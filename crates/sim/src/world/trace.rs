//! A trace of frames, for tests and for looking closely.

use super::World;
use crate::mac::{BROADCAST, Frame, Kind};
use units::Instant;

/// Something that a node did with a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// When.
    pub at: Instant,
    /// Which node.
    pub node: String,
    /// What it did.
    pub event: TraceEvent,
    /// `RTS`, `CTS`, `DATA` or `ACK`.
    pub frame: &'static str,
    /// The node that the frame is for; `*` for all.
    pub to: String,
}

/// What a node does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// It starts to send it.
    Sends,
    /// It has received all of it, intact.
    Hears,
}

impl World {
    /// Notes a frame, when a trace is kept.
    #[inline]
    pub(super) fn note_frame(&mut self, node: u32, event: TraceEvent, frame: &Frame) {
        let Some(trace) = &mut self.trace else { return };
        let kind = match frame.kind {
            Kind::Rts => "RTS",
            Kind::Cts => "CTS",
            Kind::Data { .. } => "DATA",
            Kind::Ack => "ACK",
        };
        let to = if frame.to == BROADCAST { "*".to_owned() } else { self.nodes[frame.to as usize].name.clone() };
        trace.push(Trace { at: self.now, node: self.nodes[node as usize].name.clone(), event, frame: kind, to });
    }
}
