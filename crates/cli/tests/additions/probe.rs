//! A controller that reads all measurements of a radio and its neighbours' notes, sends notes and orders a rate. A test
//! adds it to a copy of the workspace, because hosts measure, record and replay more than the registered schemes read.

use crate::{Controller, Count, Invalid, Limit, Needs, Note, Orders, Period, Radio, Reads, Scheme, Seen, Sets, Site};
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// Parameters of the probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Probe"))]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Time between two decisions, at least 100 us. Default 100 ms.
    pub interval: Period,
}

impl Default for Params {
    fn default() -> Self {
        Self { interval: const { Period::new(Duration::from_millis(100)).expect("long enough") } }
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Probe {
    params: Params,
    hard_limit: Limit,
}

impl Scheme for Probe {
    type Params = Params;

    fn new(params: &Params, site: &Site) -> Result<Self, Invalid> {
        Ok(Self { params: params.clone(), hard_limit: site.hard_limit })
    }
}

impl Controller for Probe {
    fn needs(&self) -> Needs {
        let sets = Sets::LIMIT.and(Sets::RATE).and(Sets::NOTE);
        let needs = Needs::new(self.params.interval.get(), Reads::RADIO.and(Reads::NOTES), sets);
        Needs { late_after: Some(Duration::from_millis(2)), ..needs }
    }

    fn begin(&self) -> Orders {
        self.hard_limit.into()
    }

    /// Makes every quantity change an order.
    fn update(&mut self, seen: &Seen) -> Orders {
        let radio = seen.radio.unwrap_or_default();
        let Radio { busy, sending, contenders, phy_rate, frames, mpdus, aggregate_max, late, real_time, hops, .. } =
            radio;
        let heard = seen
            .heard
            .iter()
            .fold(u64::from(contenders), |sum, heard| sum ^ heard.age.as_nanos() ^ u64::from(heard.from));
        let small = 20 + (frames ^ mpdus ^ late ^ busy.as_nanos() ^ sending.as_nanos()) % 10;
        let limit = match self.hard_limit {
            Limit::Packets(most) => Limit::Packets(u32::try_from(small).unwrap_or(most).min(most)),
            Limit::Bytes(most) => Limit::Bytes(Bytes::new(small * 1_500).min(most)),
        };
        let backlog = Count { packets: heard, bytes: real_time + aggregate_max };
        let domain = u16::try_from(contenders.saturating_add(1)).unwrap_or(u16::MAX);
        let note = Note { domain, hops, rate: phy_rate, backlog, ..Note::default() };
        Orders { rate: (!phy_rate.is_zero()).then_some(phy_rate), note: Some(note), ..limit.into() }
    }
}
