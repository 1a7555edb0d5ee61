//! Events in a network, each with its own time.

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
    /// A timer of a connection expires, unless the timer has moved.
    Timer { connection: Slot },
    /// A station's deadline, unless it has moved.
    Deadline { node: NodeId },
    /// The front of a frame reaches its `listener`-th listener, and possibly later ones.
    Front { of: Handle, listener: u32 },
    /// All listeners have read the colour of a frame.
    Colour { of: Handle },
    /// The sender has sent all of a frame.
    Sent { of: Handle },
    /// The tail of a frame leaves its `listener`-th listener, and possibly later ones.
    Tail { of: Handle, listener: u32 },
    /// The interval of the controller of a node's port is over.
    Control { node: NodeId, port: PortId },
    /// A port that held its packets back may release one, unless the time of release has moved.
    Ready { node: NodeId, port: PortId },
    /// The last bit of a packet has been sent over a wired link.
    WireSent { wire: WireId },
    /// The last bit of the first packet under way on a wired link has arrived.
    WireArrives { wire: WireId },
    /// The deadline of a node's routing protocol, unless it has moved.
    Route { node: NodeId },
    /// The random delay of a routing message is over.
    Message { node: NodeId, packet: Handle },
    /// The gate of a flow is due, unless its time has moved.
    Gate { flow: FlowId },
    /// A note of a node is due.
    Note { node: NodeId },
    /// A station that can sleep has reached its idle timeout, or wakes for a beacon, unless the time has moved.
    PowerSave { node: NodeId },
    /// A node comes or goes.
    Presence { node: NodeId },
    /// A step of the time series ends.
    Step,
    /// The warm-up ends.
    WarmedUp,
}
