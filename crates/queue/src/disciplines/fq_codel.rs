//! FQ-CoDel (RFC 8290): deficit round robin over flows, new flows first, with a CoDel for each flow.

use super::codel::{self, Law, Source, State};
use super::flow_queues::{FlowLaw, FlowQueues, Shape};
use crate::account::Waiting;
use crate::packet::Packet;
use std::num::NonZeroU32;
use units::{Bytes, Duration, Instant, Positive, Within, with_defaults};

with_defaults! {
    /// FQ-CoDel with the parameter names of RFC 8290. The packet limit is `limit`.
    pub struct Params as "FqCodel" {
        /// Acceptable standing wait per flow (TARGET). Default 5 ms.
        pub target: Positive<Duration> = codel::Params::default().target,
        /// Time above TARGET before the first drop (INTERVAL). Default 100 ms.
        pub interval: Positive<Duration> = codel::Params::default().interval,
        /// Backlog of a flow up to which CoDel drops no packet. Default 1514 B.
        pub mtu: Bytes = codel::Params::default().mtu,
        /// Bytes per flow and round, at least 256 B. Default 1514 B.
        pub quantum: Within<Bytes, 256> => Bytes::new(1514),
        /// Hash buckets: 1 to 65536. Default 1024.
        pub flows: Within<u32, 1, 65_536> => 1024,
        /// Largest number of packets dropped at once from the longest queue, up to half of it. Default 64.
        pub drop_batch: NonZeroU32 => 64,
        /// ECN marks instead of drops. Default true.
        pub ecn: bool = true,
    }
}

impl Params {
    /// Returns the parameters of each flow's CoDel.
    fn law(&self) -> Law {
        let Self { target, interval, mtu, ecn, .. } = *self;
        Law::new(&codel::Params { target, interval, mtu, ecn })
    }
}

/// Packets of each flow, with a CoDel for each flow.
pub(crate) type FqCodel<P> = FlowQueues<P, Law>;

impl FlowLaw for Law {
    type Params = Params;
    type State = State;

    fn new(params: &Params, _seed: u64) -> Self {
        params.law()
    }

    fn shape(params: &Params) -> Shape {
        let (flows, quantum) = (params.flows.get(), params.quantum.get().count());
        Shape { flows, quantum, drop_batch: params.drop_batch.get() }
    }

    fn dequeue<P: Packet>(
        &mut self,
        state: &mut State,
        now: Instant,
        source: &mut impl Source<P>,
    ) -> Option<Waiting<P>> {
        Law::dequeue(self, state, now, source)
    }

    fn overflowed(&mut self, state: &mut State, _now: Instant, packets: u32) {
        state.overflowed(packets);
    }
}

impl<P: Packet> FqCodel<P> {
    /// Sets new parameters of CoDel, which apply from the next packet on.
    pub(crate) fn follow(&mut self, params: &Params) {
        self.law = params.law();
    }
}
