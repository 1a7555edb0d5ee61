//! Format of a queue's recording: one JSON object per line.

use crate::{Access, Heard, Interval, Limit, Mark, Note, Orders, Radio, Seen};
use serde::{Deserialize, Serialize};
use units::{Duration, Rate};

/// One line: the controller's measurements of an interval, and its orders. An absent key means that the host measured
/// or ordered no such quantity, so that recordings made before a key existed stay readable.
///
/// `H` holds the neighbours' notes: a list type of the host's choice, as this crate has no heap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(serialize = "H: Serialize + AsRef<[Heard]>", deserialize = "H: Deserialize<'de> + Default"))]
pub struct Decision<H> {
    /// End of the interval, since the start of the recording.
    pub at: Duration,
    /// Measurements of the queue.
    pub seen: Interval,
    /// Measurements of the radio, if the controller uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<Radio>,
    /// Newest note of each neighbour, if the controller uses notes.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub heard: H,
    /// Limit ordered.
    pub limit: Limit,
    /// Rate limit ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Packets to mark.
    #[serde(default, skip_serializing_if = "units::is_default")]
    pub mark: Mark,
    /// Contention parameters ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Threshold of the low transmission level, in packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_up_to: Option<u32>,
    /// Note ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
    /// Limit from which the host restarted the controller before this interval, see
    /// [`begin_from`](crate::Scheme::begin_from).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin_from: Option<Limit>,
    /// Seed of the controller's random numbers ([`Site::seed`](crate::Site::seed)).
    #[serde(default, skip_serializing_if = "units::is_default")]
    pub seed: u64,
}

impl<H: AsRef<[Heard]>> Decision<H> {
    /// Makes the line for the measurements `seen` up to `at` and the orders that followed.
    pub fn new<'a>(at: Duration, seen: &Seen<'a>, orders: &Orders) -> Self
    where
        H: From<&'a [Heard]>,
    {
        let Orders { limit, rate, mark, access, low_up_to, note } = *orders;
        let (seen, radio, heard) = (seen.queue, seen.radio, seen.heard.into());
        Self { at, seen, radio, heard, limit, rate, mark, access, low_up_to, note, begin_from: None, seed: 0 }
    }

    /// Returns all measurements that the controller got.
    pub fn seen(&self) -> Seen<'_> {
        Seen { queue: self.seen, radio: self.radio, heard: self.heard.as_ref() }
    }

    /// Returns the line with these orders instead.
    #[must_use]
    pub fn with(self, orders: &Orders) -> Self {
        let Orders { limit, rate, mark, access, low_up_to, note } = *orders;
        Self { limit, rate, mark, access, low_up_to, note, ..self }
    }
}

fn is_empty(heard: &impl AsRef<[Heard]>) -> bool {
    heard.as_ref().is_empty()
}
