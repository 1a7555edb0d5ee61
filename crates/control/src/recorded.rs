//! Format in which a queue's measurements and orders are recorded: one JSON object per line.

use crate::{Access, Heard, Interval, Limit, Mark, Note, Orders, Radio, Seen};
use serde::{Deserialize, Serialize};
use units::{Duration, Rate};

/// One line: what the controller measured in an interval, and what it ordered. An absent key means that the host
/// measured or ordered no such quantity. Recordings made before a key existed thus stay readable.
///
/// `H` holds the neighbours' notes. The host chooses this list type, because this crate has no heap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(serialize = "H: Serialize + AsRef<[Heard]>", deserialize = "H: Deserialize<'de> + Default"))]
pub struct Decision<H> {
    /// End of the interval, counted from the start of the recording.
    pub at: Duration,
    /// Measurements of the queue.
    pub seen: Interval,
    /// Measurements of the radio, if the controller uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<Radio>,
    /// Newest note of each neighbour, if the controller uses notes.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub heard: H,
    /// Ordered limit.
    pub limit: Limit,
    /// Ordered rate limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Which packets were to be marked.
    #[serde(default, skip_serializing_if = "units::is_default")]
    pub mark: Mark,
    /// Ordered contention parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Ordered threshold of the low transmission level, in packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_up_to: Option<u32>,
    /// Ordered note.
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
    /// Makes the line for the measurements `seen`, which end at `at`, and for the orders that followed.
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

    /// Returns the same line with these orders.
    #[must_use]
    pub fn with(self, orders: &Orders) -> Self {
        let Orders { limit, rate, mark, access, low_up_to, note } = *orders;
        Self { limit, rate, mark, access, low_up_to, note, ..self }
    }
}

fn is_empty(heard: &impl AsRef<[Heard]>) -> bool {
    heard.as_ref().is_empty()
}
