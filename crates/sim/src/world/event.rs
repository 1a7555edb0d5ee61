//! Kinds of events in a network.

use crate::engine::{FlowId, Handle, NodeId, PortId, Slot, WireId};

/// Kind of event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A source makes a packet, or begins a transfer.
    Emit { flow: FlowId },
    /// A saturated flow starts.
    Saturate { flow: FlowId },
    /// A saturated or greedy flow stops.
    Cease { flow: FlowId },
    /// A timer of a connection expires, unless it has been set to another time.
    Timer { connection: Slot },
    /// A station's deadline has come, unless it has been set to another time.
    Deadline { node: NodeId },
    /// The front of a frame reaches the listener with this index; one event may serve further listeners, too.
    Front { of: Handle, listener: u32 },
    /// All listeners have read the BSS colour of a frame.
    Colour { of: Handle },
    /// The sender has sent the whole frame.
    Sent { of: Handle },
    /// The tail of a frame leaves the listener with this index; one event may serve further listeners, too.
    Tail { of: Handle, listener: u32 },
    /// The interval of a port's controller is over.
    Control { node: NodeId, port: PortId },
    /// A port that held back its packets may release one, unless the release has been set to another time.
    Ready { node: NodeId, port: PortId },
    /// The last bit of a packet has been sent over a wired link.
    WireSent { wire: WireId },
    /// The last bit of the first packet under way on a wired link has arrived.
    WireArrives { wire: WireId },
    /// A routing protocol's deadline has come at a node, unless it has been set to another time.
    Route { node: NodeId },
    /// The random delay of a routing message is over.
    Message { node: NodeId, packet: Handle },
    /// A flow's gate (admission control) has to act, unless its deadline has been set to another time.
    Gate { flow: FlowId },
    /// A note to the neighbours is due at a node.
    Note { node: NodeId },
    /// A station that can sleep has reached its idle timeout, or wakes for a beacon, unless the time has moved.
    PowerSave { node: NodeId },
    /// A node begins or ceases to be present.
    Presence { node: NodeId },
    /// A step of the time series ends.
    Step,
    /// The warm-up ends.
    WarmedUp,
}
